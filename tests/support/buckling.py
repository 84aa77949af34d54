"""Shared models and helpers: buckling."""

from scipy.optimize import brentq

from rodsim import Box, Model, Section

LENGTH = 2.0


def column(EA, GA, end="free", n=None, element="relative(4)", EI=3.0, load=1.0, gravity=0.0, pressed=0.0):
    """A column clamped at the bottom and loaded at the top; end: free, or guided along the column without rotation.

    pressed: load at which its unstressed model already has the compressed length.
    """
    n = n or (
        12 if end == "free" else 24
    )  # a quarter of a wave along it, or a full one: errors scale with their size^8
    section = Section.from_stiffness(
        EA=EA, GA=GA, GJ=2.0, EI=EI, mass_per_length=1.5, inertia_per_length=(0.02, 0.01, 0.01)
    )
    model = Model("column", gravity=(-gravity, 0, 0))
    line, short = [(0, 0, 0), (LENGTH, 0, 0)], LENGTH * (1 - pressed / EA)
    rod = model.add_rod(
        "rod", [(0, 0, 0), (short, 0, 0)], section, n, element=element, mass="lumped", stress_free=line
    )
    model.add_joint("foot", "clamp", rod.start)
    if end == "guided":
        model.add_joint("guide", "prismatic", model.ground, rod.end, axis=(1, 0, 0))
    if load:
        model.add_force("press", rod.end, (-load, 0, 0))
    return model


def critical(EA, GA, k, EI=3.0):
    """P (1 - P/EA + P/GA) = k^2 EI: the waves of theta'' EI + P (1 - P/EA + P/GA) theta = 0 on the compressed column."""
    P = k * k * EI
    return brentq(lambda p: p * (1 - p / EA + p / GA) - P, 0.0, EA / 4, xtol=1e-14 * P)


def links(n, stiffness=2.0, length=0.5):
    """A compressed column of n rigid bars with torsion springs at its hinges, moving in the plane of x and y."""
    model = Model("links")
    before = model.ground
    for k in range(n):
        bar = model.add_body(
            f"bar {k}", Box(length, 0.05, 0.05, mass=1.0), position=((k + 0.5) * length, 0, 0)
        )
        hinge = {"at": (k * length, 0, 0), "axis": (0, 0, 1)}
        model.add_joint(f"hinge {k}", "revolute", before, bar, **hinge)
        model.add_spring(f"spring {k}", before, bar, stiffness, along="rotation", axis=(0, 0, 1))
        before = bar
    model.add_force("press", before.at((length / 2, 0, 0)), (-1.0, 0, 0))
    return model
