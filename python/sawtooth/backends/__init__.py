"""Where runs are run. Today there is the simulator."""
