"""Newton-Euler on the tree: mass matrix, bias, recursions, joint wrenches."""
