"""Models whose systems are given contacts after they are built."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discretization.contact.table import Pair, Rod, Sphere, contacts_of
from discretization.state_shapes import sizes_of
from discretization.system import System, fingerprint
from rodsim import Material, Model, Section
from rodsim import Sphere as Ball
from rodsim.results.layout import RodLayout

CROSSING, NEARLY_PARALLEL, PARALLEL = (0.0, 1.0, 0.02), (1.0, 0.03, 0.004), (1.0, 0.0, 0.0)


def replaced(model: Model, system: System) -> Model:
    """The model, which builds this system from now on."""
    built = model.build()
    sizes = sizes_of(system).own
    built.layout.system, built.layout.n_bristles = system, sizes.bristle
    built.layout.description["fingerprint"] = fingerprint(system)
    own = np.pad(built.state.own, (0, sizes.size - len(built.state.own)))
    built = built._replace(system=system, state=built.state._replace(own=own))
    model.build = lambda: built  # type: ignore[method-assign]
    return model


def touching(model: Model, surfaces: Sequence[Sphere | Rod], pairs: Sequence[Pair]) -> Model:
    """The model with contacts."""
    return replaced(model, model.build().system._replace(contacts=contacts_of(surfaces, pairs)))


def held_everywhere(model: Model, name: str) -> Model:
    """The model with a rod that does not move."""
    built = model.build()
    fixed = built.system.frames.fixed.copy()
    rod = next(own for own in built.layout.rods if own.name == name)
    fixed[rod.frames] = 1
    return replaced(model, built.system._replace(frames=built.system.frames._replace(fixed=fixed)))


def surface_of(rod: RodLayout, radius: float) -> Rod:
    return Rod(rod.frames, np.diff(rod.arclength), radius)


def two_rods(direction: Sequence[float] = CROSSING, n: int = 10, m: int = 6, lumped: bool = False) -> Model:
    """Free rods of 1 m and a radius of 1 cm; one falls on the other at 2 m/s and slides along it."""
    model, middle = Model("rods"), np.array([0.03, 0.01, 0.03])
    half = 0.5 * np.array(direction) / np.linalg.norm(direction)
    section = Section.rectangle(0.02, 0.016, Material(E=1e7, nu=0.3, density=1000))
    kind = {"mass": "lumped"} if lumped else {}
    model.add_rod("one", [(-0.5, 0, 0), (0.5, 0, 0)], section, n_elements=n, **kind)
    ends = [tuple(middle - half), tuple(middle + half)]
    model.add_rod("other", ends, section, n_elements=n, velocity=(0.3, 0, -2.0), **kind)
    rods = [surface_of(rod, 0.01) for rod in model.build().layout.rods]
    return touching(model, rods, [Pair(0, 1, (0, 4e6, 1, 0), stations=m)])


def balls(stiffness: float = 1e4) -> Model:
    """Three that meet, not in a line."""
    model = Model("balls")
    for name, x, y, z, v in (("a", 0, 0, 0, 1.0), ("b", 0.2, 0.02, 0, 0.0), ("c", 0.4, 0, 0.03, -1.0)):
        model.add_body(name, Ball(0.05, density=1000), position=(x, y, z), velocity=(v, 0, 0))
    surfaces = [Sphere(body.frame, (0, 0, 0), 0.05) for body in model.build().layout.bodies]
    law = (0, stiffness, 1.5, 0)
    return touching(model, surfaces, [Pair(0, 1, law), Pair(0, 2, law), Pair(2, 1, law)])


def exchanging(n: int = 5) -> Model:
    """Two soft rods side by side, one of which moves towards the other."""
    model, section = Model("exchange"), Section.circular(0.01, Material(E=3e5, nu=0.3, density=1750))
    model.add_rod("one", [(-0.25, 0, 0), (0.25, 0, 0)], section, n_elements=n, velocity=(0, 0.05, 0))
    model.add_rod("other", [(-0.25, 0.03, 0), (0.25, 0.03, 0)], section, n_elements=n)
    rods = [surface_of(rod, 0.01) for rod in model.build().layout.rods]
    return touching(model, rods, [Pair(0, 1, (0, 1e3, 1, 0))])


def carried(
    force: float = 10.0, stiffness: float = 1e4, speed: float = 0.7, n: int = 7, density: float = 1000
) -> Model:
    """A ball pressed on a straight rod that is held everywhere, where the force is in balance; it moves along the rod."""
    model, section = Model("carried"), Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000))
    model.add_rod("rail", [(0, 0, 0), (1, 0, 0)], section, n_elements=n)
    at = (0.1, 0, 0.03 - force / stiffness)
    ball = model.add_body("ball", Ball(0.02, density=density), position=at, velocity=(speed, 0, 0))
    model.add_force("press", ball.at((0, 0, 0)), (0, 0, -force))
    layout = held_everywhere(model, "rail").build().layout
    surfaces = [Sphere(layout.bodies[0].frame, (0, 0, 0), 0.02), surface_of(layout.rods[0], 0.01)]
    return touching(model, surfaces, [Pair(0, 1, (0, stiffness, 1, 0))])


def yarns(speed: float = 10.0, radius: float = 1e-4, n: int = 4) -> Model:
    """One of 1 cm is shot at another across it, 2.5 mm away."""
    model, section = Model("yarns"), Section.circular(radius, Material(E=1e9, nu=0.3, density=1000))
    model.add_rod("one", [(-0.005, 0, 0), (0.005, 0, 0)], section, n_elements=n)
    model.add_rod(
        "other", [(0, -0.005, 0.0025), (0, 0.005, 0.0025)], section, n_elements=n, velocity=(0, 0, -speed)
    )
    rods = [surface_of(rod, radius) for rod in model.build().layout.rods]
    return touching(model, rods, [Pair(0, 1, (0, 1e9, 1, 0), stations=8)])


def clamped() -> Model:
    """Two balls that are held, and would touch."""
    model = Model("clamped")
    for name, x in (("a", 0.0), ("b", 0.09)):
        ball = model.add_body(name, Ball(0.05, density=1000), position=(x, 0, 0))
        model.add_joint(f"{name} held", "clamp", ball, at=(x, 0, 0))
    surfaces = [Sphere(body.frame, (0, 0, 0), 0.05) for body in model.build().layout.bodies]
    return touching(model, surfaces, [Pair(0, 1, (0, 1e4, 1, 0))])
