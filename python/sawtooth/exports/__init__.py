"""Runs in the formats of other programs: qlog, which qvis draws, and flent's data files."""
