"""Mechanical systems made of sympy expressions."""
