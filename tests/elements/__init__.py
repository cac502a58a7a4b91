"""Nets under the elements of a model: messages, structures, results, pictures and pickles, stored as they were and compared."""
