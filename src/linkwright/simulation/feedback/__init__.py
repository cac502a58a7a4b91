"""A controller in a run: its contract, its place at a mechanism, sensors, actuators, and the numbers of a controlled run."""
