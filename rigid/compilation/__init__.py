"""How kernels are compiled, kept and called."""
