"""Generators of the reference digits: mpmath only, independent of linkwright."""
