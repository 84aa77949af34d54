"""Shapes of pictures at a state."""

from rodsim.results.shapes import join


def triangles_of(shapes, state, owner):
    """Triangles (n, 3, 3) of one owner."""
    surface = join(list(shapes))
    return surface.place(state)[surface.faces[surface.owner[surface.faces[:, 0]] == owner]]
