"""States a user asks for: assembled, over a cycle, along a path, in equilibrium."""
