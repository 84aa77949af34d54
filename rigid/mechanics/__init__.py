"""Mechanical systems in the form that integrators accept."""
