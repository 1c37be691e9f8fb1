"""The agent's homes of the two profiles: which skills they hold, how they are built, and what was recorded of them.

Must never change a golden install once its inventory is written.
"""
