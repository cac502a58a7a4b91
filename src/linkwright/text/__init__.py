"""Texts that people write: quantities, units, expressions, ranges, tolerances, windows, measures, goals, patterns; read here alone."""
