"""Random changes of inputs: each takes a generator and something sound, and returns something that may be unsound."""
