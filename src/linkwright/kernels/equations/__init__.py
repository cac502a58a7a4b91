"""The functions of one mechanism over any scalar, from which kernels are traced."""
