"""The System: one object over all stages."""
