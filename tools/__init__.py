"""Generators of the data files in `src`: run from the repository, not installed."""
