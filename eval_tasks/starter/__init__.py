"""A start for somebody's own skills: the drafts that follow from a library, and the project that holds them.

Must never change a file of the library, nor write into a folder that holds anything.
"""
