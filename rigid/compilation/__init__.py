"""Compile, cache and call kernels."""
