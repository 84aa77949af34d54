"""Mechanical systems as integrators know them."""
