"""Compute equilibria of a system in the Cayley chart: Newton's method, load steps, arc-length, branches, dynamic relaxation."""
