"""Two-process grading of submissions.

Its modules must never let a submission's code share a process with a check.
"""
