"""Where runs are run: in the simulator, or on real kernels."""
