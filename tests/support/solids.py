"""Bodies and surfaces of the contact tests, by name. Only `add` creates them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from rodsim import Box, Capsule, Cone, Cylinder, Friction, Material, Model, Section, Sphere, simulate
from tests.support.contacts import ground

G, K = 9.81, 1e5  # m/s^2; a stiffness, N/m
A, R = 0.1, 0.005  # side of a cube, its rounding
BALL = 0.03  # radius of a sphere
RUBBER = Section.circular(0.01, Material(E=1e6, nu=0.45, density=1000))
THICK = Section.circular(0.05, Material(E=1e6, nu=0.3, density=1000))
STEEL = Section.circular(0.02, Material(E=2e11, nu=0.3, density=7800))
GROUND_POINT = (0.0, 0.0, 0.0)


def run(model, t_end, h=1e-3, every=1, **options):
    return simulate(model, t_end, h, output_every=every, progress=False, **options)


def change(values):
    """Return the largest difference from the first output."""
    return np.abs(values - values[0]).max()


# --- orientations


def about(axis, angle):
    """Return the quaternion of a rotation by `angle` about `axis` of any length."""
    n = np.array(axis, float)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * n / np.linalg.norm(n)])


def rotation(quat):
    return Rotation.from_quat(np.roll(quat, -1, axis=-1))  # SciPy has the scalar part last


def twist(angle, quat):
    """Return `quat` rotated further by `angle` about the vertical."""
    return np.roll((Rotation.from_rotvec((0.0, 0.0, angle)) * rotation(quat)).as_quat(), 1)


UP = (1.0, 0.0, 0.0, 0.0)
ALONG_X, ALONG_Y = about((0, 1, 0), np.pi / 2), about((1, 0, 0), np.pi / 2)  # of the z axis of a body
ON_EDGE = about((1, 0, 0), np.pi / 4)  # an edge of a cube along x is lowest
ACROSS = twist(1.1, ON_EDGE)
ON_CORNER = about((1, -1, 0), np.arctan(2**0.5))
ON_VERTEX = about((-1, 1, 0), np.arccos(-(3**-0.5)))  # the first vertex of TETRAHEDRON is lowest


# --- shapes

SIGNS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
CUBE = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]  # triangles of SIGNS, outward
CUBE += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
HEXAGON = np.array([(np.cos(t), np.sin(t), z) for z in (-0.5, 0.5) for t in np.arange(6) * np.pi / 3.0])
TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / 3**0.5
WEDGE = np.array([(x, y, z) for z in (-0.1, 0.1) for x, y in ((0, 0), (0.2, 0), (0, 0.2))], float)
FACES = [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5)]
PRISM = np.array([(x, y, z) for z in (-0.04, 0.04) for x, y in ((-0.06, -0.04), (0.06, -0.04), (0.02, 0.06))])


def trough(half=0.05):
    """Vertices and triangles of a bar along y with a groove in its upper side."""
    outline = 0.03 * np.array([(-2, 0), (2, 0), (2, 2), (1, 2), (1, 1), (-1, 1), (-1, 2), (-2, 2)], float)
    n = len(outline)
    ends = [np.insert(outline, 1, y, axis=1) for y in (-half, half)]
    end = np.array([(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)])
    k = np.arange(n)
    sides = [(k, (k + 1) % n, (k + 1) % n + n), (k, (k + 1) % n + n, k + n)]
    return np.concatenate(ends), np.concatenate([end, n + end, *(np.stack(s, axis=1) for s in sides)])


def fine_cube(n):
    """Vertices and triangles of a cube with n x n squares a side."""
    flat, triangles = ground(n)
    sides = [np.roll(flat + np.array([0, 0, z]), axis, axis=1) for axis in range(3) for z in (-1.0, 1.0)]
    faces = np.concatenate([triangles + k * len(flat) for k in range(6)])
    return np.concatenate(sides) * (0.5 * A - R), faces


def roof(bend, width=1.0, half=0.5, top=0.0):
    """Vertices and triangles of two rectangles that meet at a ridge along x with this angle between them."""
    y, z = width * np.cos(0.5 * bend), top - width * np.sin(0.5 * bend)
    sides = [(x, side, z) for side in (y, -y) for x in (half, -half)]
    return np.array([(half, 0, top), (-half, 0, top), *sides]), [(0, 2, 1), (1, 2, 3), (0, 1, 4), (1, 5, 4)]


def tube(radius, length, around, along=2):
    """Vertices and triangles of a tube along x."""
    s, turns = np.linspace(0.0, length, along + 1), 2 * np.pi * np.arange(around) / around
    ring = radius * np.stack([0 * turns, np.cos(turns), np.sin(turns)], axis=1)
    i, j = (k.ravel() for k in np.indices((along, around)))
    a, b = i * around + j, i * around + (j + 1) % around
    faces = np.concatenate([np.stack([a, b, b + around], 1), np.stack([a, b + around, a + around], 1)])
    return (ring + s[:, None, None] * (1.0, 0, 0)).reshape(-1, 3), faces


BODIES = {
    "box": (Box, A, A, A),
    "cylinder": (Cylinder, A / 2, A),
    "cone": (Cone, A / 2, A),
    "capsule": (Capsule, 0.02, 0.1),
    "long capsule": (Capsule, 0.05, 0.4),
    "sphere": (Sphere, BALL),
    "solid sphere": (Sphere, BALL),
}
HULLS = {  # vertices and rounding
    "hull cube": (SIGNS * (0.5 * A - R), R),
    "hexagon": (A * HEXAGON, R),
    "tetrahedron": (0.06 * TETRAHEDRON, R),
    "prism": (PRISM, R),
    "bar": ([(0, -0.2, 0), (0, 0.2, 0)], 0.02),
    "flat hull": (0.1 * SIGNS[::2], 0.01),
    "hull of 140 vertices": (
        [(0.1 * np.cos(t), 0.1 * np.sin(t), z) for t in np.arange(70) * np.pi / 35 for z in (-0.1, 0.1)],
        0.0,
    ),
}
MESHES = {  # vertices and triangles; with a radius R if the name begins with "rounded"
    "closed cube": (0.05 * SIGNS, CUBE),
    "wide closed cube": (0.1 * SIGNS, CUBE),
    "spear": ((0.01, 0.01, 0.25) * SIGNS, CUBE),
    "pipe": tube(0.008, 0.4, 48, 4),
    "cube": ((0.5 * A - R) * SIGNS, CUBE),
    "fine cube": fine_cube(3),
    "trough": trough(),
    "peak": (
        0.05 * np.array([(0, 0, 1), (2, 2, 0), (-2, 2, 0), (-2, -2, 0), (2, -2, 0)]),
        [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1)],
    ),
    "roof": roof(2.0 * np.arctan(0.5), 0.05 * 5**0.5, 0.3, 0.05),
    "plate": (
        np.array([(-0.3, -0.3, 0), (0.02, -0.3, 0), (0.02, 0.3, 0), (-0.3, 0.3, 0)]),
        [(0, 1, 2), (0, 2, 3)],
    ),
    "sheet": ground(3, half=0.2),
    "field": ground(8, half=0.8),
    "hills": ground(12, lambda x, y: 0.04 * np.sin(9 * x + 1) * np.cos(11 * y), 0.4),
}


def add(
    model, shape, name, place=GROUND_POINT, quat=UP, v=GROUND_POINT, omega=GROUND_POINT, *,
    mass=1.0, size=None, radius=None, held=False, on_ground=False, elements=4, side="both",
):  # fmt: skip
    """Add a body with a surface of this shape, both called `name`. Return the surface.

    Bodies of hulls and meshes have the inertia of a cube. The first number of the `size` of a sphere or
    capsule is its radius. If `held`, the body is clamped to the ground; `on_ground` omits the body.
    The `place` of a rod is that of both its ends; a plane is horizontal.
    """
    if shape == "rod":
        return model.add_rod(name, place, RUBBER, elements, velocity=v)
    if shape in ("thick rod", "ring"):  # through the origin
        a = 2 * np.pi * np.arange(12) / 12
        ring = 0.3 * np.stack([np.cos(a) - 1.0, np.sin(a), 0 * a], axis=1)
        curve = ring if shape == "ring" else [(-0.2, -0.01, 0), (0.25, 0.02, 0)]
        return model.add_rod(name, curve, THICK, 12 if shape == "ring" else 3, closed=shape == "ring")
    if shape == "plane":
        return model.add_plane(name, model.ground.at(place), (0, 0, 1))
    if shape == "raft":  # a plane on top of a free body
        body = model.add_body(name, Box(1.0, 1.0, 0.1, mass=3.0), place, quat, v, omega)
        return model.add_plane(name, body.at((0, 0, 0.05)), (0, 0, 1))
    make, *usual = BODIES.get(shape, BODIES["box"])
    if on_ground:
        body, middle = model.ground, model.ground.at(place)
    else:
        body = model.add_body(name, make(*(size or usual), mass=mass), place, quat, v, omega)
        middle = body.at(GROUND_POINT)
    if held:
        model.add_joint(f"{name} is held", "clamp", middle)
    if shape == "sphere":
        return model.add_sphere(name, middle, (size or usual)[0] if radius is None else radius)
    if shape in HULLS:
        return model.add_solid(name, middle, *HULLS[shape])
    if shape in BODIES:
        rounding = 0.0 if make in (Capsule, Sphere) else R if radius is None else radius
        return model.add_solid(name, body, radius=rounding)
    vertices, triangles = MESHES[shape.removeprefix("rounded ")]
    side = "outside" if shape == "closed cube" else side
    rounding = R if shape.startswith("rounded ") else 0.0
    return model.add_mesh(name, middle, vertices=vertices, triangles=triangles, radius=rounding, side=side)


# --- impacts

CONSERVATIVE, DISSIPATIVE, BARRIER = "without losses", "with losses", "barrier"
RUBS = {"friction": (0.4, 0.3), "restitution": 0.6}


class Collision(NamedTuple):
    """The first surface rotates at the origin; the second comes from `place` with the velocity `v`."""

    one: str
    quat: Any
    other: str
    other_quat: Any
    place: Any
    v: tuple[float, float, float] = (0.1, 0.0, -1.0)
    omega: tuple[float, float, float] = GROUND_POINT  # of the second
    mass: float = 1.0  # of the second
    size: tuple[float, ...] | None = None  # of the second
    k: float = 4e5
    reach: float = 0.01  # of the barrier
    losses: dict = RUBS
    t_end: float = 0.015
    h: float = 5e-4
    every: int = 2
    ways: tuple[str, ...] = (CONSERVATIVE, DISSIPATIVE)
    part: float = 0.08  # of the energy, at least stored and dissipated
    balance: float = 1e-12  # relative
    audits: bool = False  # with losses, too: an audit takes as long as the run

    def model(self, way=CONSERVATIVE, start=None, **contact):
        """`start`: position, orientation, velocity, angular velocity of both, instead of those of the table; `contact`: law and
        losses instead of the defaults.
        """
        first = (GROUND_POINT, self.quat, GROUND_POINT, (0.3, -0.2, 0.1))
        second = (self.place, self.other_quat, self.v, self.omega)
        first, second = start or (first, second)
        model = Model("collision", gravity=GROUND_POINT)
        a = add(model, self.one, "a", *first)
        b = add(model, self.other, "b", *second, mass=self.mass, size=self.size)
        options = {"stations": 16} if self.other == "rod" else {}
        if contact:
            model.add_contact("c", a, b, **contact, **options)
        elif way == BARRIER:
            model.add_contact("c", a, b, 1e4, law="barrier", reach=self.reach, **options)
        else:
            model.add_contact("c", a, b, self.k, **(self.losses if way == DISSIPATIVE else {}), **options)
        return model

    def run(self, way=CONSERVATIVE, t_end=None, start=None):
        return run(self.model(way, start), t_end or self.t_end, self.h, self.every)


def _rod_over(x, y, z):
    return [(x - 0.1, y, z - 0.018), (x + 0.1, y + 0.01, z - 0.018)]


FAST = (0.2, 0.1, -1.0)
ON_A_HULL = {  # shape, orientation, where a ball comes from
    "a prism, face": ("prism", UP, (0.0, 0.005, 0.08)),
    "a prism, edge": ("prism", about((1, 0, 0), np.pi / 2), (0.025, 0.0, 0.098)),
    "a cylinder, rim": ("cylinder", UP, (0.046, 0.01, 0.085)),
    "a cylinder, side": ("cylinder", about((1, 0, 0), np.pi / 2), (0.02, 0.01, 0.083)),
    "a cone, side": ("cone", about((0, 1, 0), 1.0), (0.05, 0.01, 0.13)),
    "a cone, tip": ("cone", about((1, 0, 0), np.pi), (0.002, 0.001, 0.028)),
}
_TABLE = [  # every n-th row also runs without losses; common settings; rows
    (
        1,
        {"mass": 2.0, "t_end": 0.06, "audits": True, "ways": (CONSERVATIVE, DISSIPATIVE, BARRIER), "part": 0.1, "balance": 1e-13,
         "losses": RUBS | {"friction": Friction(0.3, static=0.4, rolling=1e-3, drilling=1e-3)}},
        {
            "box on box, flat": ("box", UP, "box", UP, (0.02, 0.03, 0.105)),
            "box on box, corner first": ("box", UP, "box", ON_CORNER, (0.01, 0.02, 0.14)),
            "box on box, edge first": ("box", UP, "box", ACROSS, (0.01, 0.0, 0.125)),
            "box on box, edge on edge": ("box", ON_EDGE, "box", ACROSS, (0.005, 0.01, 0.145)),
            "box on box, edges square": ("box", ON_EDGE, "box", about((0, 1, 0), np.pi / 4), (0, 0.01, 0.145), (0, 0, -1.0)),
            "box on box, edge to face": ("box", ON_EDGE, "box", UP, (0.02, 0.01, 0.125), (0, 0.1, -1.0)),
        },
    ),
    (
        1,
        {"mass": 2.0, "k": K, "reach": 0.02, "t_end": 0.15, "h": 1e-3,
         "ways": (CONSERVATIVE, DISSIPATIVE, BARRIER), "part": 0.1},
        {
            f"capsule on capsule, {name}": ("long capsule", ALONG_X, "long capsule", quat, place, v)
            for name, quat, place, v in [
                ("crosswise", ALONG_Y, (0.03, 0.02, 0.11), (-0.1, 0, -1.0)),
                ("end to end", ALONG_X, (0.51, 0.01, 0), (-1.0, 0, 0)),
                ("parallel", ALONG_X, (0.1, 0, 0.11), (-0.1, 0, -1.0)),
                ("nearly parallel", twist(0.02, ALONG_X), (0.1, 0, 0.11), (-0.1, 0, -1.0)),
                ("askew", twist(0.8, ALONG_X), (0.15, 0.02, 0.11), (0, -0.1, -1.0)),
                ("on its end", UP, (0.1, 0.01, 0.31), (0, 0, -1.0)),
            ]
        },
    ),
    (
        4,
        {"v": FAST, "mass": 0.5, "h": 2.5e-4, "every": 4},
        {f"sphere on {name}": (shape, quat, "sphere", UP, place) for name, (shape, quat, place) in ON_A_HULL.items()},
    ),
    (
        5,
        {"v": FAST, "h": 2.5e-4, "every": 4},
        {f"rod on {name}": (shape, quat, "rod", UP, _rod_over(*place)) for name, (shape, quat, place) in ON_A_HULL.items()},
    ),
    (
        1,
        {"v": FAST, "t_end": 0.02, "h": 2.5e-4, "audits": True},
        {
            "rod on a box, flat": ("box", UP, "rod", UP, [(-0.1, 0.01, 0.062), (0.1, 0.02, 0.062)]),
            "rod across an edge of a box": ("box", ON_EDGE, "rod", UP, [(0.01, -0.1, 0.083), (0.02, 0.1, 0.084)]),
            "rod on a box, on its end": ("box", UP, "rod", UP, [(0.01, 0.02, 0.062), (0.03, 0.01, 0.25)]),
            "rod at a corner of a box": ("box", ON_CORNER, "rod", UP, [(-0.1, 0, 0.098), (0.1, 0.01, 0.099)]),
            "rod across an edge of triangles": ("closed cube", ON_EDGE, "rod", UP, [(0.01, -0.1, 0.083), (0.02, 0.1, 0.084)]),
        },
    ),
    (
        1,
        {"v": FAST, "omega": (2.0, 3.0, 1.0), "mass": 0.5, "size": (0.05,), "k": 1e5, "t_end": 0.02, "h": 2.5e-4, "audits": True},
        {
            "sphere on triangles, face": ("closed cube", UP, "sphere", UP, (0.02, 0.013, 0.102)),
            "sphere on triangles, edge": ("closed cube", ON_EDGE, "sphere", UP, (0.01, 0.003, 0.124)),
            "sphere on triangles, corner": ("closed cube", ON_CORNER, "sphere", UP, (0.003, 0.002, 0.14)),
        },
    ),
    (
        3,
        {"mass": 2.0, "t_end": 0.03, "every": 3},
        {
            "hull on hull, corner first": ("hull cube", UP, "hull cube", ON_CORNER, (0.01, 0.02, 0.14)),
            "box on hull, edge on edge": ("hull cube", ON_EDGE, "box", ACROSS, (0.005, 0.01, 0.145)),
            "hexagon on box, flat": ("box", UP, "hexagon", UP, (0.02, 0.03, 0.109)),
            "tetrahedron on hexagon": ("hexagon", UP, "tetrahedron", about((1, 0, 0), 0.3), (0.01, 0.02, 0.11)),
            "capsule on hexagon, over its edge": ("hexagon", UP, "capsule", ALONG_X, (0.08, 0.01, 0.08)),
            "capsule on box, on end": ("box", UP, "capsule", about((0, 1, 0), 0.4), (0.02, 0.01, 0.125)),
        },
    ),
    (
        4,
        {},
        {
            "cylinder on box, lying": ("box", UP, "cylinder", ALONG_Y, (0.02, 0.03, 0.105)),
            "cylinder on box, over its edge": ("box", UP, "cylinder", about((1, 0, 0), 0.02), (0.04, 0.03, 0.107)),
            "cylinder on box, on its rim": ("box", UP, "cylinder", about((1, 1, 0), 0.7), (0.01, 0.02, 0.125)),
            "box on cylinder, edge on side": ("cylinder", ALONG_X, "box", ACROSS, (0.005, 0.01, 0.13)),
            "box on cylinder, corner on end": ("cylinder", UP, "box", ON_CORNER, (0.01, 0.005, 0.14)),
            "cylinder on hexagon": ("hexagon", UP, "cylinder", about((0.3, 1, 0), 0.4), (0.02, 0.01, 0.12)),
            "cylinders, crossed": ("cylinder", ALONG_X, "cylinder", ALONG_Y, (0.01, 0.02, 0.11)),
            "cylinders, end on end": ("cylinder", UP, "cylinder", about((1, 0, 0), 0.05), (0.01, 0.02, 0.107)),
            "cylinders, side by side": ("cylinder", ALONG_X, "cylinder", ALONG_X, (0.03, 0.02, 0.102)),
            "cone on cylinder, on its tip": ("cylinder", UP, "cone", about((1, 0, 0), 0.2), (0.01, 0.005, 0.047)),
            "cone on box, lying": ("box", UP, "cone", about((1, 0.2, 0), 1.15), (0.01, 0.04, 0.055)),
            "capsule across a cylinder": ("cylinder", ALONG_Y, "capsule", ALONG_X, (0.01, 0.01, 0.08)),
            "capsule over the rim of a cylinder": ("cylinder", UP, "capsule", ALONG_X, (0.03, 0.01, 0.08)),
        },
    ),
    (
        3,
        {},
        {
            "face of a box on a peak": ("peak", UP, "box", about((1, 0.2, 0), 0.02), (0.01, 0, 0.1005)),
            "edge of a box across a roof": ("roof", UP, "box", about((0, 1, 0), np.pi / 4), (0, 0.01, 0.1191)),
            "face of a box on a roof": ("roof", UP, "box", UP, (0, 0.01, 0.1005)),
            "box over the border of a plate": ("plate", UP, "box", about((0, 1, 0), 0.3), (0.04, 0.01, 0.0484)),
            "box on hills": ("hills", UP, "box", about((1, 0.3, 0), 0.5), (0.02, 0.03, 0.1099)),
            "capsule across a roof": ("roof", UP, "capsule", about((1, 0, 0), np.pi / 2 - 0.05), (0, 0.01, 0.0701)),
            "capsule on hills": ("hills", UP, "capsule", ALONG_X, (0.02, 0.03, 0.0567)),
            "hexagon on a peak": ("peak", UP, "hexagon", about((1, 0.2, 0), 0.1), (0.01, 0, 0.1058)),
            "cylinder across a roof": ("roof", UP, "cylinder", ALONG_Y, (0, 0.01, 0.1005)),
            "cylinder on hills": ("hills", UP, "cylinder", ALONG_X, (0.02, 0.03, 0.087)),
            "cone on hills": ("hills", UP, "cone", about((1, 0, 0), 0.3), (0.02, 0.03, 0.027)),
        },
    ),
    (
        3,
        {"mass": 2.0, "t_end": 0.02},
        {
            "meshes, corner on face": ("rounded cube", UP, "rounded cube", ON_CORNER, (0.01, 0.02, 0.145)),
            "meshes, edge on edge": ("rounded cube", ON_EDGE, "rounded cube", ACROSS, (0.005, 0.01, 0.147)),
            "mesh on a finer one": ("rounded fine cube", UP, "rounded cube", about((1, 0.3, 0), 0.01), (0.02, 0.03, 0.107)),
            "edge across a trough": ("rounded trough", UP, "rounded cube", ON_EDGE, (0.01, 0.01, 0.1345)),
            "mesh across a trough": ("rounded trough", UP, "rounded fine cube", about((0, 0.1, 1), 0.5), (0.01, 0.01, 0.121)),
            "two troughs": ("rounded trough", about((1, 0, 0), np.pi), "rounded trough", about((0, 0, 1), 1.2), (0.01, 0, 0.012)),
            "face of a mesh on a peak": ("rounded peak", UP, "rounded cube", about((1, 0.2, 0), 0.02), (0.01, 0, 0.1115)),
            "mesh on rounded hills": ("rounded hills", UP, "rounded cube", about((1, 0.3, 0), 0.5), (0.02, 0.03, 0.1149)),
        },
    ),
    (
        1,
        {"mass": 2.0, "t_end": 0.02, "part": 0.01},
        {
            "mesh over the border of a sheet": ("rounded sheet", UP, "rounded cube", about((0, 1, 0), 0.3), (0.2, 0.01, 0.0579)),
        },
    ),
    (
        1,
        {"v": FAST, "omega": (2.0, -1.0, 3.0), "ways": ()},  # only to the first contact
        {
            "sphere on a sphere": ("sphere", UP, "sphere", UP, (0.004, 0.003, 2 * BALL + 0.002)),
            "sphere on a ring": ("ring", UP, "sphere", UP, (0.004, 0.003, BALL + 0.052)),
            "sphere on a plane": ("raft", UP, "sphere", UP, (0.1, 0.2, BALL + 0.052)),
            "sphere on a box": ("box", UP, "sphere", UP, (0.004, 0.003, BALL + A / 2 + 0.002)),
            "rod on a rod": ("thick rod", UP, "rod", UP, [(-0.02, -0.2, 0.062), (0.03, 0.2, 0.062)]),
            "rod on a ring": ("ring", UP, "rod", UP, [(-0.02, -0.2, 0.062), (0.03, 0.2, 0.062)]),
            "rod on a plane": ("raft", UP, "rod", UP, [(-0.02, -0.2, 0.062), (0.03, 0.2, 0.062)]),
            "capsule on a plane": ("raft", UP, "capsule", ALONG_X, (0.1, 0.2, 0.072)),
            "box on a plane": ("raft", UP, "box", ON_CORNER, (0.1, 0.2, (A / 2 - R) * 3**0.5 + R + 0.052)),
        },
    ),
    (
        1,
        {"v": FAST, "k": 1e4, "size": (0.1, 0.3), "t_end": 0.3, "every": 4},
        {"cylinder on the plane of a raft": ("raft", UP, "cylinder", about((0.6, 0.8, 0), 0.6), (0.1, 0.2, 0.3))},
    ),
]  # fmt: skip
COLLISIONS = {
    name: Collision(*row)._replace(**({"ways": (DISSIPATIVE,)} if i % n else {}), **settings)
    for n, settings, rows in _TABLE
    for i, (name, row) in enumerate(rows.items())
}
