"""Run PyElastica's friction validation cases, parallel rods, bouncing ball, and rod at a cylinder.

    python -m benchmarks.rod_contacts

The errors refer to closed forms, except the last, whose cylinder is compared with its position for small
steps. PyElastica's rows have the elements and steps of its files, and the fewest elements and longest steps
that still work there. With two elements the parallel rods reach a thousandfold speed; a rod of four rolls
with 1e-4 s, not with 2e-4 s. Times include everything except compilation; each row is the least of some
rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import atan2, cos, pi, sin, sqrt
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from rodsim import Cylinder, Friction, Model, Result, Section, Sphere, simulate
from rodsim.components.model_parts import Rod
from rodsim.components.surfaces import SolidSurface

G, RADIUS, ROUNDS = 9.80665, 0.025, 3
SLOPE, FORCE, COUPLE, FACTOR = (
    0.15 * pi,
    9.0,
    0.1,
    0.4,
)  # N/m, N m/m along the rod; factor of its moments of inertia
BALL, BALL_SPRING, HEIGHT, THROWN = 0.05, 1e4, 1.0, 1.0  # m, N/m, m, m/s
PLACES = ("parallel rods", "bouncing ball", "rod at cylinder")
SPEED, PAIRS = 0.05, 148e3  # m/s; N/m, of all element pairs of the parallel rods together


class Outcome(NamedTuple):
    """Result of one run."""

    error: float  # relative error of the translational energy; for `PLACES` error of a position, m
    seconds: float  # processor time, s


def round_section(
    radius: float, density: float, EA: float, GA: float, GJ: float, EI: float, inertia: float = 1.0
) -> Section:
    """Round section with these stiffnesses; inertia: factor of its moments."""
    A, I = pi * radius**2, pi / 4 * radius**4
    return Section.from_stiffness(
        EA=EA,
        GA=GA,
        GJ=GJ,
        EI=EI,
        mass_per_length=density * A,
        inertia_per_length=density * I * inertia * np.array([2.0, 1.0, 1.0]),
        radius=radius,
    )


def elastic(radius: float, density: float, E: float, shear_modulus: float) -> Section:
    """PyElastica's section: 27/28 of the area shears."""
    A, I = pi * radius**2, pi / 4 * radius**4
    return round_section(radius, density, E * A, 27 / 28 * shear_modulus * A, 2 * shear_modulus * I, E * I)


def on_the_ground(
    n: int = 1,
    stiffness: float = 1e6,
    bristle: float = 1e5,
    *,
    E: float = 1e9,
    slope: float = 0.0,
    inertia: float = 1.0,
    speed: float = 0.0,
    friction: Any = 0.0,
    anisotropy: Any = (1.0, 1.0, 1.0),
    **contact: Any,
) -> tuple[Model, Rod]:
    """A rod of 1 m and 1 kg along z, on a plane inclined about z, at the depth of its weight."""
    I = pi / 4 * RADIUS**4
    section = round_section(RADIUS, 1.0 / (pi * RADIUS**2), 1e4, 1e4, E / 1.5 * 2 * I, E * I, inertia)
    model, normal = Model("rod", gravity=(0, -G, 0)), np.array([sin(slope), cos(slope), 0])
    rod = model.add_rod(
        "rod", [(0, 0, 0), (0, 0, 1)], section, n, velocity=(speed, 0, 0), angular_velocity=(0, 0, 0)
    )
    plane = model.add_plane("ground", model.ground.at((G * cos(slope) / stiffness - RADIUS) * normal), normal)
    rubs = replace(Friction.of(friction), tangential_stiffness=bristle, anisotropy=anisotropy)
    model.add_contact("rubs", plane, rod, stiffness=stiffness, friction=rubs, **contact)
    return model, rod


def two_rods(n: int, inclination: float, gap: float, stiffness: float) -> Model:
    """Two rods: the first falls on the second with 5 cm/s, inclined by an angle in degrees; `gap` is the
    initial distance, m.
    """
    radius, E = 0.01, 3e5
    section, a = elastic(radius, 1750.0, E, E / 1.5), np.deg2rad(inclination)
    along, normal = np.array([0, cos(a), sin(a)]), np.array([0, -sin(a), cos(a)])
    model, start = Model("rods"), (2 * radius + gap) * normal
    one = model.add_rod(
        "one", [start, start + 0.5 * along], section, n, velocity=-SPEED * normal, mass="lumped"
    )
    two = model.add_rod("two", [(0, 0, 0), (0, 0.5, 0)], section, n, velocity=(0, 0, 0), mass="lumped")
    model.add_contact("meet", one, two, stiffness=stiffness)
    return model


def parallel_rods() -> Model:
    """Two rods of one element each, from 18 cm."""
    return two_rods(1, 0.0, 0.18, PAIRS / 0.5)


def bouncing_ball() -> Model:
    """A ball thrown up above a plane."""
    model = Model("ball", gravity=(0, -G, 0))
    body = model.add_body("ball", Sphere(BALL, density=1000.0), (0, HEIGHT, 0), velocity=(0, THROWN, 0))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 1, 0))
    model.add_contact("bounce", model.add_sphere("ball", body, BALL), floor, stiffness=BALL_SPRING)
    return model


def bounce(t: float, weighs: bool = True) -> float:
    """Height of the ball: parabolas, and half periods on the spring of the plane, where PyElastica omits the
    weight.
    """
    omega = sqrt(BALL_SPRING / (1000.0 * 4 / 3 * pi * BALL**3))
    hits = sqrt(THROWN**2 + 2 * G * (HEIGHT - BALL))
    sag = G / omega**2 if weighs else 0.0
    touch = 2 * (pi - atan2(hits, omega * sag)) / omega
    begin = (THROWN + hits) / G
    if t < begin:
        return HEIGHT + THROWN * t - G * t**2 / 2
    since = (t - begin) % (touch + 2 * hits / G)
    if since < touch:
        return BALL - sag + sag * cos(omega * since) - hits / omega * sin(omega * since)
    return BALL + hits * (since - touch) - G * (since - touch) ** 2 / 2


def add_cylinder(
    model: Model,
    name: str,
    place: tuple[float, float, float],
    velocity: tuple[float, float, float] = (0, 0, 0),
) -> SolidSurface:
    """Add PyElastica's cylinder, which touches there by the segment of its axis."""
    body = model.add_body(name, Cylinder(0.1, 0.5, density=1750.0), place, velocity=velocity)
    return model.add_solid(name, body.at((0, 0, 0)), [(0, 0, -0.25), (0, 0, 0.25)], radius=0.1)


def rod_at_cylinder(n: int = 10) -> Model:
    """A rod parallel to a cylinder, with damping of the rod."""
    model = Model("cylinder", gravity=(0, 0, 0))
    velocity, section = (-0.2, 0, 0), elastic(0.1, 1750.0, 3e5, 1e5)
    rod = model.add_rod("rod", [(0, 0, 0), (0, 0, 0.5)], section, n, velocity=velocity, mass="lumped")
    model.add_mass_damping("damper", rod, 0.01)
    model.add_contact("meet", add_cylinder(model, "cylinder", (-1, 0, 0.25)), rod, stiffness=5e4 / 0.01)
    return model


def exact(case: str, peer: bool = False) -> float:
    """Exact translational energy, J; for parallel rods the position of the first, m."""
    down = G * sin(SLOPE)
    omega = sqrt(2 * PAIRS / (1750.0 * pi * 1e-4 * 0.5))
    return {
        "axial": 0.25**2 / 2 * (FORCE - 0.4 * G) ** 2,
        "incline": 2 * (0.5 * down) ** 2 / 9,
        "couple": 2 * (COUPLE / (3 * RADIUS)) ** 2,
        "slide to roll": 0.5 / (1 + FACTOR / 2) ** 2,
        "parallel rods": 0.02 - SPEED / 2 * pi / omega,
        "bouncing ball": bounce(2.0, not peer),
        "rod at cylinder": -2.13548,
    }[case]


def error_of(case: str, value: float, peer: bool = False) -> float:
    """Relative error; for positions in m."""
    should = exact(case, peer)
    return abs(value - should) / (1.0 if case in PLACES else should)


def of_rodsim(case: str, make: Callable[[], Model], t_end: float, h: float) -> Outcome:
    """Measure a user's call of a model."""
    begin = process_time()
    result: Result = simulate(make(), t_end, h, output_every=round(t_end / h), progress=False)
    seconds = process_time() - begin
    if case in PLACES:
        place = {
            "parallel rods": lambda: result.rod("one").r[-1, :, 2].mean(),
            "bouncing ball": lambda: result.body("ball").r[-1, 1],
            "rod at cylinder": lambda: result.body("cylinder").r[-1, 0],
        }[case]()
        return Outcome(error_of(case, place), seconds)
    v = result.rod("rod").v[-1].mean(axis=0)
    return Outcome(error_of(case, v @ v / 2), seconds)


def of_pyelastica(case: str, n: int, h: float) -> Outcome:
    """Run n elements with steps of h."""
    from benchmarks.peers.pyelastica_contacts import (
        bouncing_ball,
        on_the_ground,
        parallel_rods,
        rod_at_cylinder,
    )

    if case in PLACES:
        run = {
            "parallel rods": parallel_rods,
            "bouncing ball": bouncing_ball,
            "rod at cylinder": rod_at_cylinder,
        }
        ended = run[case](n, h)
        return Outcome(error_of(case, ended.place, True), ended.whole_s)
    ended = {
        "axial": lambda: on_the_ground(n, h, 0.25, E=1e5, force=FORCE, static=(0.8, 0.4, 0.4)),
        "incline": lambda: on_the_ground(n, h, 0.5, slope=SLOPE),
        "couple": lambda: on_the_ground(n, h, 1.0, couple=COUPLE),
        "slide to roll": lambda: on_the_ground(n, h, 2.0, inertia=FACTOR, speed=1.0),
    }[case]()
    return Outcome(error_of(case, ended.translation), ended.whole_s)


def axial() -> Model:
    """A rod pulled along itself by more than friction holds."""
    model, rod = on_the_ground(1, 1e4, 1e7, E=1e5, damping=20.0, friction=(0.8, 0.4))
    model.add_distributed_load("pull", rod, (0, 0, FORCE))
    return model


def inclined(stiffness: float) -> Model:
    """A rod that rolls down."""
    return on_the_ground(1, stiffness, stiffness / 10, slope=SLOPE, friction=(0.4, 0.2))[0]


def turned(stiffness: float) -> Model:
    """A rod rotated by a couple, so that it rolls."""
    model, rod = on_the_ground(1, stiffness, stiffness / 10, friction=(0.4, 0.2))
    model.add_distributed_load("couple", rod, (0, 0, COUPLE), kind="moment")
    return model


def sliding() -> Model:
    """A sliding rod that begins to roll."""
    return on_the_ground(inertia=FACTOR, speed=1.0, friction=(0.4, 0.2))[0]


Run = tuple[str, int, float, Callable[[], Outcome]]


def rodsim_rows(case: str, make: Callable[[], Model], t_end: float, *steps: float) -> list[Run]:
    """Rows of rodsim."""
    return [("rodsim", 1, h, partial(of_rodsim, case, make, t_end, h)) for h in steps]


def pyelastica_rows(case: str, *rows: tuple[int, float]) -> list[Run]:
    """Rows of PyElastica."""
    return [("PyElastica", n, h, partial(of_pyelastica, case, n, h)) for n, h in rows]


CASES: dict[str, list[Run]] = {
    "axial": rodsim_rows("axial", axial, 0.25, 1e-3, 2.5e-4)
    + pyelastica_rows("axial", (50, 1e-5), (4, 1e-4), (4, 5e-4)),
    "incline": rodsim_rows("incline", partial(inclined, 1e6), 0.5, 5e-3)
    + rodsim_rows("incline", partial(inclined, 1e10), 0.5, 0.025)
    + pyelastica_rows("incline", (4, 1e-4), (2, 2e-4)),
    "couple": rodsim_rows("couple", partial(turned, 1e8), 1.0, 5e-3)
    + rodsim_rows("couple", partial(turned, 1e10), 1.0, 0.025)
    + pyelastica_rows("couple", (4, 1e-4), (4, 2e-4)),
    "slide to roll": rodsim_rows("slide to roll", sliding, 2.0, 1e-3)
    + pyelastica_rows("slide to roll", (4, 1e-4)),
    "parallel rods": rodsim_rows("parallel rods", parallel_rods, 10.0, 0.01, 0.1)
    + pyelastica_rows("parallel rods", (50, 5e-4), (50, 2.5e-4)),
    "bouncing ball": rodsim_rows("bouncing ball", bouncing_ball, 2.0, 4e-3, 2e-3, 1e-3)
    + pyelastica_rows("bouncing ball", (1, 1e-3), (1, 5e-4), (1, 1e-4), (1, 5e-5)),
    "rod at cylinder": rodsim_rows("rod at cylinder", partial(rod_at_cylinder, 1), 10.0, 0.01, 5e-3)
    + pyelastica_rows("rod at cylinder", (50, 5e-4), (50, 2.5e-4)),
}


def main() -> None:
    """Print the table."""
    try:
        import elastica  # noqa: F401
    except ImportError:
        print("PyElastica is not installed")
        return
    of_rodsim("axial", axial, 0.25, 0.0125)  # compiled
    of_rodsim("parallel rods", parallel_rods, 10.0, 0.1)
    of_rodsim("rod at cylinder", partial(rod_at_cylinder, 1), 10.0, 0.1)
    of_rodsim("bouncing ball", bouncing_ball, 2.0, 0.02)
    for case, n, h in (("axial", 4, 5e-4), ("bouncing ball", 1, 0.02), ("rod at cylinder", 50, 5e-4)):
        of_pyelastica(case, n, h)
    print(f"{'case':16s} {'program':12s} elements      step      error        s")
    for case, rows in CASES.items():
        rounds = [[run() for *_, run in rows] for _ in range(ROUNDS)]
        for k, (name, n, h, _) in enumerate(rows):
            seconds = min(outcomes[k].seconds for outcomes in rounds)
            print(f"{case:16s} {name:12s} {n:8d} {h:9.1e} {rounds[0][k].error:10.1e} {seconds:8.4f}")


if __name__ == "__main__":
    main()
