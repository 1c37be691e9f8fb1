"""Faults, kills, escapes and canaries: what the tests and `make chaos` do to an experiment, and what must come of it.

Must never be imported by the package.
"""
