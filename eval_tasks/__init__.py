"""Answers whether Lean with Auto selection completes coding cases as well as Full, and at what cost."""

__version__ = "0.1.0"
