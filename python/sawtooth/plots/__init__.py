"""Figures: one file per kind. Each takes plain data and returns a matplotlib figure fit for a paper."""
