"""Shapes of pictures at a state."""

from rodsim.results.shapes import join


def triangles_of(shapes, state, owner):
    """Those (n, 3, 3) of one owner."""
    whole = join(list(shapes))
    return whole.place(state)[whole.faces[whole.owner[whole.faces[:, 0]] == owner]]
