"""Models and helpers of several test files: solids."""

from __future__ import annotations

import numpy as np

from rigid import quaternions
from rodsim import Box, Capsule, Cone, Cylinder, Material, Section, simulate


def run(model, t_end, h=1e-3, every=1, **more):
    return simulate(model, t_end, h, output_every=every, progress=False, **more)


def change(values):
    return np.abs(values - values[0]).max()


G, K, A, R = 9.81, 1e5, 0.1, 0.005  # A: side of a cube, R: its rounding
UP = (1.0, 0.0, 0.0, 0.0)


def about(axis, angle):
    n = np.array(axis, float)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * n / np.linalg.norm(n)])


ON_EDGE = about((1, 0, 0), np.pi / 4)  # an edge along x is lowest
ACROSS = quaternions.multiply(about((0, 0, 1), 1.1), ON_EDGE)
ON_CORNER = about((1, -1, 0), np.arctan(2**0.5))


def add_box(model, name, place, quat=UP, v=(0.0, 0.0, 0.0), omega=None, mass=1.0, size=(A, A, A), radius=R):
    body = model.add_body(name, Box(*size, mass=mass), place, quat, v, omega)
    return model.add_solid(name, body, radius=radius)


MEETINGS = {  # orientation and place of the first, of the second, velocity of the second; then what touches
    "flat": (UP, (0, 0, 0), UP, (0.02, 0.03, 0.105), (0.1, 0.0, -1.0)),
    "corner first": (UP, (0, 0, 0), ON_CORNER, (0.01, 0.02, 0.14), (0.1, 0.0, -1.0)),
    "edge first": (UP, (0, 0, 0), ACROSS, (0.01, 0.0, 0.125), (0.1, 0.0, -1.0)),
    "edge on edge": (ON_EDGE, (0, 0, 0), ACROSS, (0.005, 0.01, 0.145), (0.1, 0.0, -1.0)),
    "edges square": (ON_EDGE, (0, 0, 0), about((0, 1, 0), np.pi / 4), (0, 0.01, 0.145), (0.0, 0.0, -1.0)),
    "edge to face": (ON_EDGE, (0, 0, 0), UP, (0.02, 0.01, 0.125), (0.0, 0.1, -1.0)),
}
BALL = 0.03


CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


TURNS = np.arange(6) * np.pi / 3.0
HEXAGON = np.array([(np.cos(t), np.sin(t), z) for z in (-0.5, 0.5) for t in TURNS])


def cube(half=0.05):
    """Vertices, and triangles turned outward."""
    corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, [own for a, b, c, d in quads for own in ((a, b, c), (a, c, d))]


RUBBER = Section.circular(0.01, Material(E=1e6, nu=0.45, density=1000))


ALONG_Y, ALONG_X = about((1, 0, 0), np.pi / 2), about((0, 1, 0), np.pi / 2)
BODIES = {
    "box": Box(A, A, A, mass=1.0),
    "cylinder": Cylinder(A / 2, A, mass=1.0),
    "cone": Cone(A / 2, A, mass=1.0),
    "capsule": Capsule(0.02, 0.1, mass=1.0),
}


def add(model, shape, name, place, quat=UP, v=(0, 0, 0), omega=(0, 0, 0), held=False):
    body = model.add_body(name, BODIES.get(shape, BODIES["box"]), place, quat, v, omega)
    if held:
        model.add_joint(f"{name} held", "clamp", body.at((0, 0, 0)))
    if shape == "hexagon":
        return model.add_solid(name, body.at((0, 0, 0)), A * HEXAGON, R)
    return model.add_solid(name, body, radius=R * (shape != "capsule"))
