"""Equilibria of a system in the Cayley chart: Newton, load steps, arc-length, branches, relaxation."""
