"""How a task's skills are chosen: policy, resolver, one bounded proposal, and the context that delivers the choice.

Owns no state and must never call an agent; trials and probes call the same functions.
"""
