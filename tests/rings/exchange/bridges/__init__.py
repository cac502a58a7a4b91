"""Functions of JAX, PyTorch and CasADi."""
