"""A model of two bodies and a rod, for tests of accepted and rejected arguments."""

from rodsim import Box, Material, Model, Section

RUBBER = Material(E=1e6, nu=0.4, density=1000.0)
CORD = Section.circular(0.01, RUBBER)
CUBE = Box(1, 1, 1, mass=1)
LINE = ((0, 0, 0), (1, 0, 0))


def model() -> Model:
    """Make bodies 'a' and 'b' and a rod 'r'."""
    made = Model("m")
    made.add_body("a", CUBE)
    made.add_body("b", CUBE, position=(2, 0, 0))
    made.add_rod("r", LINE, CORD, 4)
    return made
