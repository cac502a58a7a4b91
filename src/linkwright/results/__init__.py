"""States, channels and trajectories read by name; files and tables."""
