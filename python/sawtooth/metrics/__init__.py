"""Measures computed from a dataset's tables: one file each."""
