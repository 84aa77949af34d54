"""Rods, balls and planes in contact, as a user writes them; keywords are those of `add_contact`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rodsim import Friction, Material, Model, Section, Sphere
from tests.support.contacts import ground

CROSSING, NEARLY_PARALLEL, PARALLEL = (0.0, 1.0, 0.02), (1.0, 0.03, 0.004), (1.0, 0.0, 0.0)


def friction_options(static: float, kinetic: float, stiffness: float = 1e4) -> Friction:
    """Friction parameters with this bristle stiffness."""
    return Friction(kinetic, static=static, tangential_stiffness=stiffness)


def ball_on_floor(
    height: float = 1.0, v: Sequence[float] = (0, 0, 0), g: float = 9.80665, radius: float = 0.05, **options
) -> Model:
    """A ball of 5 cm, 0.52 kg above a floor; its surface may have another radius."""
    model = Model("ball", gravity=(0, 0, -g))
    body = model.add_body("ball", Sphere(0.05, density=1000), (0, 0, height), velocity=v)
    floor = model.add_plane("floor", model.ground.at((3, 4, 0)), (0, 0, 1))
    model.add_contact("on", model.add_sphere("ball", body, radius), floor, **{"stiffness": 1e4, **options})
    return model


def two_rods(
    direction: Sequence[float] = CROSSING, n: int = 10, stations: int = 6, mass: str = "mean", **options
) -> Model:
    """Free rods of 1 m and a radius of 1 cm; one falls on the other at 2 m/s and slides along it."""
    model, middle = Model("rods"), np.array([0.03, 0.01, 0.03])
    half = 0.5 * np.array(direction) / np.linalg.norm(direction)
    section = Section.rectangle(0.02, 0.016, Material(E=1e7, nu=0.3, density=1000))
    one = model.add_rod("one", [(-0.5, 0, 0), (0.5, 0, 0)], section, n, mass=mass)
    ends = [tuple(middle - half), tuple(middle + half)]
    other = model.add_rod("other", ends, section, n, velocity=(0.3, 0, -2.0), mass=mass)
    model.add_contact("meet", one, other, stiffness=4e6, radius=0.01, stations=stations, **options)
    return model


def balls(**options) -> Model:
    """Three balls that meet off one line."""
    model, spheres = Model("balls"), []
    for name, x, y, z, v in (("a", 0, 0, 0, 1.0), ("b", 0.2, 0.02, 0, 0.0), ("c", 0.4, 0, 0.03, -1.0)):
        body = model.add_body(name, Sphere(0.05, density=1000), (x, y, z), velocity=(v, 0, 0))
        spheres.append(model.add_sphere(name, body, 0.05))
    model.add_contact("meet", spheres, stiffness=1e4, exponent=1.5, **options)
    return model


def hills(**options) -> Model:
    """A ball and a rod fall on triangulated hills and move along them."""
    model = Model("hills", gravity=(0, 0, -9.81))
    vertices, triangles = ground(24, lambda x, y: 0.03 * np.sin(9 * x) * np.cos(7 * y))
    below = model.add_mesh("hills", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    place, v, omega = (-0.3, 0.2, 0.09), (1, 0.2, 0), (1, 0, 3)
    ball = model.add_body("ball", Sphere(0.05, density=1000), place, (1, 0, 0, 0), v, omega)
    rubber = Section.circular(0.01, Material(E=1e6, nu=0.45, density=1000))
    rod = model.add_rod("rod", [(0.0, -0.3, 0.06), (0.3, -0.3, 0.06)], rubber, 4, velocity=(0, 0.4, 0))
    model.add_contact("meet", model.add_sphere("ball", ball, 0.05), below, 2e4, **options)
    model.add_contact("lie", rod, below, 2e4, stations=8, **options)
    return model


def slider(speed: float = 2.0, **options) -> Model:
    """One element that lies along a supported rod of sixteen elements, and slides beyond its end. At first it is near more
    nodes
    than one bristle covers.
    """
    model = Model("slider", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000))
    rail = model.add_rod("rail", [(0, 0, 0), (1, 0, 0)], section, 16)
    for k in range(17):
        model.add_joint(f"node {k}", "clamp", rail.at(k / 16))
    ends = [(0.37, 0, 0.0199), (0.99, 0, 0.0199)]
    rod = model.add_rod("slider", ends, section, 1, velocity=(speed, 0, 0))
    model.add_contact("meet", rod, rail, stiffness=1e4, stations=10, **options)
    return model


def yarns(speed: float = 10.0, radius: float = 1e-4, n: int = 4) -> Model:
    """Two yarns; one of 1 cm is shot at another across it, 2.5 mm away."""
    model, section = Model("yarns"), Section.circular(radius, Material(E=1e9, nu=0.3, density=1000))
    one = model.add_rod("one", [(-0.005, 0, 0), (0.005, 0, 0)], section, n)
    ends = [(0, -0.005, 0.0025), (0, 0.005, 0.0025)]
    other = model.add_rod("other", ends, section, n, velocity=(0, 0, -speed))
    model.add_contact("meet", one, other, stiffness=1e9, stations=8)
    return model
