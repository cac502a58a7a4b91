"""Parallel robots: workspace, time-optimal motions, transmissions between motors and joints, identification."""
