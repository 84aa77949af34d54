"""Reproduce published examples of the field and compare them with the claims of their papers: `rodsim reproduce`.

Each module holds the systems of one example as functions, and `study()`, which runs the example.
"""
