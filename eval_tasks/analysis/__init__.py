"""Pure functions from a registration and its records to metrics.

Must never read a file, call an agent or count a file where the schedule counts.
"""
