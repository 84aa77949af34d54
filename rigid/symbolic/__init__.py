"""Mechanical systems from expressions."""
