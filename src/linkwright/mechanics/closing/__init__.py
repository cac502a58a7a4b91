"""Newton onto the loops, continuation, ranks, singular passages."""
