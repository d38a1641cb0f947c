"""What Sawtooth is made of, and whether that may be: `make deny` and `make sbom`."""
