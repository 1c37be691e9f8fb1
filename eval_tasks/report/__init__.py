"""The report's words, tables, pictures and exports, each made of metrics alone.

Must never compute a number that `metrics.json` does not hold.
"""
