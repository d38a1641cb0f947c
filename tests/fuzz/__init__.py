"""Fuzzing: random inputs, and what must hold of every one. `make fuzz` runs all kinds; see docs/validation/robustness.md."""
