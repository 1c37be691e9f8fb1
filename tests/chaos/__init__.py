"""Faults of the provider, the agent and the machine, and what must come of each when the real doit meets it.

Must never be imported by the package.
"""
