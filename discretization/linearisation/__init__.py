"""Linearised equations of motion: mass, damping, gyroscopic, stiffness and constraint matrices about a state, their spectra."""
