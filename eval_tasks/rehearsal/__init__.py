"""The rehearsal: a loopback model that follows a registered script, behind the real agent.

It never stands in for the agent itself, and what comes of it never counts as evidence about a model.
"""
