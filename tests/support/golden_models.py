"""Small models for each special path of a step: trees of one joint kind, loops, planar models, rods, nets.

`SHAPES`: name -> a function that returns the model and its step, s.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from rodsim import Box, MassProperties, Model, Section, Sphere, align

GRAVITY = (0.0, 0.0, -9.81)
SOFT = Section.from_stiffness(
    EA=1e5, GA=4e4, GJ=10.0, EI=(10.0, 15.0), mass_per_length=1.0, inertia_per_length=(2e-4, 1e-4, 1e-4)
)
AXES: dict[str, tuple[float, float, float] | None] = {
    "revolute": (0.6, 0.8, 0.0),
    "prismatic": (0.8, 0.0, 0.6),
    "cylindrical": (0.8, 0.0, 0.6),
    "universal": (0.0, 1.0, 0.0),
    "spherical": None,
    "planar": (0.0, 0.6, 0.8),
}


def chain(
    kinds: tuple[str, ...], n: int, axis: tuple[float, float, float] | None = None, dt: float = 5e-3
) -> tuple[Model, float]:
    """Bars of 0.2 m in a row from the ground, on joints of these kinds in turn."""
    model = Model("-".join(kinds), gravity=GRAVITY)
    support = model.ground.at((0.0, 0.0, 0.0))
    for k in range(n):
        kind = kinds[k % len(kinds)]
        bar = model.add_body(
            f"bar {k}",
            Box(0.2, 0.03, 0.02, density=1000.0),
            (0.2 * k + 0.1, 0.0, 0.0),
            angular_velocity=(0, 0, 0),
        )
        about = AXES[kind] if axis is None else axis
        second = {"second_axis": (0.0, 0.0, 1.0)} if kind == "universal" else {}
        model.add_joint(f"joint {k}", kind, support, bar.at((-0.1, 0.0, 0.0)), axis=about, **second)
        support = bar.at((0.1, 0.0, 0.0))
    return model, dt


def four_bars(n: int, tilt: float) -> tuple[Model, float]:
    """Four-bars in a row, in the plane x, y rotated about x by an angle, cranks with 1 m/s."""
    level = Rotation.from_rotvec([tilt, 0.0, 0.0])
    upright = level * Rotation.from_rotvec([0.0, 0.0, np.pi / 2])

    def turned(*vector: float) -> np.ndarray:
        return level.apply(vector)

    model = Model("four-bars", gravity=turned(0.0, -9.81, 0.0))
    bar = MassProperties(1.0, np.diag([1e-4, 1 / 12, 1 / 12]))
    cranks = [
        model.add_body(
            f"crank {k}", bar, turned(k, 0.5, 0), upright, turned(0.5, 0, 0), angular_velocity=(0, 0, -1)
        )
        for k in range(n + 1)
    ]
    for k, crank in enumerate(cranks):
        model.add_joint(
            f"foot {k}", "revolute", model.ground, crank, at=turned(k, 0, 0), axis=turned(0, 0, 1)
        )
    for k in range(n):
        coupler = model.add_body(f"coupler {k}", bar, turned(k + 0.5, 1, 0), level, turned(1, 0, 0))
        for side, crank, x in (("left", cranks[k], k), ("right", cranks[k + 1], k + 1)):
            model.add_joint(
                f"{side} {k}", "revolute", crank, coupler, at=turned(x, 1, 0), axis=turned(0, 0, 1)
            )
    return model, 0.01


def cantilever(n: int, direction: tuple[float, float, float], dt: float = 1e-3) -> tuple[Model, float]:
    """A falling rod, clamped at one end."""
    model = Model("cantilever", gravity=GRAVITY)
    rod = model.add_rod("rod", [(0.0, 0.0, 0.0), direction], SOFT, n)
    model.add_joint("clamp", "clamp", rod.start)
    return model, dt


def rods_on_a_tree() -> tuple[Model, float]:
    """A hinged body, a rod welded to it, another hinged body at its end."""
    model = Model("rods on a tree", gravity=GRAVITY)
    shape = Box(0.2, 0.1, 0.05, density=500.0)
    first = model.add_body("first", shape, (0.1, 0.0, 0.0))
    model.add_joint("pin", "revolute", model.ground.at((0, 0, 0)), first, axis=(0.6, 0.8, 0.0))
    rod = model.add_rod("rod", [(0.2, 0.0, 0.0), (1.2, 0.0, 0.0)], SOFT, 10)
    model.add_joint("weld", "weld", first.at((0.1, 0, 0)), rod.start)
    last = model.add_body("last", shape, (1.3, 0.0, 0.0))
    model.add_joint("hinge", "revolute", rod.end, last.at((-0.1, 0, 0)), axis=(0.0, 0.6, 0.8))
    return model, 1e-3


def net(n: int, planar: bool) -> tuple[Model, float]:
    """Rods that cross in n x n knots, supported at two corners, in a vertical or horizontal plane."""
    model = Model("net", gravity=GRAVITY)

    def at(x: float, y: float) -> tuple[float, float, float]:
        return (x, 0.0, y) if planar else (x, y, 0.0)

    knots: dict[tuple[int, int], list[object]] = {}
    for i in range(n):
        for j in range(n):
            for name, di, dj in (("x", 1, 0), ("y", 0, 1)):
                if i + di < n and j + dj < n:
                    rod = model.add_rod(f"{name} {i} {j}", [at(i, j), at(i + di, j + dj)], SOFT, 2)
                    knots.setdefault((i, j), []).append(rod.start)
                    knots.setdefault((i + di, j + dj), []).append(rod.end)
    for (i, j), (first, *remaining) in knots.items():
        for k, other in enumerate(remaining):
            model.add_joint(f"knot {i} {j} {k}", "weld", first, other)  # type: ignore[arg-type]
    for i, j in ((0, n - 1), (n - 1, n - 1)):
        model.add_joint(f"pin {i} {j}", "spherical", model.ground.at(at(i, j)), knots[i, j][0])  # type: ignore[arg-type]
    return model, 1e-3


def top() -> tuple[Model, float]:
    """A heavy top on a ball joint, with a spin of 100 rad/s."""
    model = Model("top", gravity=GRAVITY)
    inertia = MassProperties(1.0, np.diag([4e-3, 4e-3, 1e-3]))
    spin = np.array((0.0, 0.0, 100.0))
    body = model.add_body(
        "top", inertia, (0.06, 0.0, 0.08), align((0, 0, 1), (0.6, 0.0, 0.8)), angular_velocity=spin
    )
    model.add_joint("tip", "spherical", model.ground.at((0, 0, 0)), body.at((0, 0, -0.1)))
    return model, 1e-3


def springs() -> tuple[Model, float]:
    """Bodies in a vertical plane with springs between those that are not neighbours, on hinges."""
    model, dt = chain(("revolute",), 5, (0.0, 1.0, 0.0))
    for k in range(3):
        model.add_spring(f"across {k}", f"bar {k}", f"bar {k + 2}@0,0,0.05", 300.0, damping=0.5)
    return model, dt


def balls() -> tuple[Model, float]:
    """Three balls that fall on each other and roll."""
    model = Model("balls", gravity=GRAVITY)
    surfaces = []
    for k, place in enumerate(((0, 0, 0.1), (0.15, 0.02, 0.25), (-0.1, 0.05, 0.31))):
        body = model.add_body(f"ball {k}", Sphere(0.1, density=1000.0), place)
        surfaces.append(model.add_sphere(f"ball {k}", body, 0.1))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("balls", surfaces, stiffness=1e5, friction=0.3, restitution=0.8)
    for k, surface in enumerate(surfaces):
        model.add_contact(f"floor {k}", surface, floor, stiffness=1e5, friction=0.3, restitution=0.8)
    return model, 1e-3


MIXED = ("revolute", "spherical", "universal", "prismatic", "cylindrical")
IN_PLANE = (0.0, 1.0, 0.0)
SHAPES: dict[str, Callable[[], tuple[Model, float]]] = {
    **{f"{kind} chain": partial(chain, (kind,), 5) for kind in AXES},
    "mixed chain": partial(chain, MIXED, 10),
    "oblique hinges": partial(chain, ("revolute",), 20),
    "planar hinges": partial(chain, ("revolute",), 20, IN_PLANE),
    "ball chain": partial(chain, ("spherical",), 20),
    "four-bar": partial(four_bars, 1, 0.0),
    "oblique four-bars": partial(four_bars, 3, 0.7),
    "planar cantilever": partial(cantilever, 20, (1.0, 0.0, 0.0)),
    "cantilever": partial(cantilever, 20, (0.7, 0.2, 0.6)),
    "rods on a tree": rods_on_a_tree,
    "planar net": partial(net, 3, True),
    "net": partial(net, 3, False),
    "heavy top": top,
    "planar springs": springs,
    "falling balls": balls,
}
