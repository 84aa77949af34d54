"""Tighten the overhand knot of `examples/contact/knot.py` with rodsim and with DisMech.

python -m benchmarks.tight_knots

DisMech is a discrete elastic rod code with implicit contact. The rod has no shear, as in that code: both have
the same limit, that of surfaces without penetration. The state of the pull is given by s, the length of the
rod minus the distance of its ends.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import NamedTuple

import numpy as np

from examples.contact.knot import RADIUS, RUBBER, B, path
from rigid.system import Floats
from rodsim import Model, Section, equilibrium, signals, simulate

LOOP = 12.0  # initial radius of the loop, in radii of the rod
STIFF = 100.0  # GA over EA
LENGTH = float(np.linalg.norm(np.diff(path(LOOP * RADIUS), axis=0), axis=1).sum())
START = LENGTH - float(np.ptp(path(LOOP * RADIUS)[[0, -1], 0]))  # s, m
SPEED, TIGHT = 0.05, 0.12  # m/s, m
PLACES = np.linspace(0.14, 0.36, 45)  # s, m, where forces are compared


class Pulled(NamedTuple):
    """History of a pulled knot, at each output (k,)."""

    short: Floats  # s, m
    pull: Floats  # N, at the free end
    loop: Floats  # m, radius of the loop from the curvature opposite the braid
    depth: Floats  # largest contact depth of the strands over the diameter
    energy: Floats  # J, elastic and kinetic
    work: Floats  # J, work at the ends
    lost: Floats  # J, losses if reported by the program: friction, damping
    seconds: float  # processor time, s, from rest


def knot(n: int, stiffness: float, stations: int, friction: float = 0.0, speed: float | None = None) -> Model:
    """A knot of n elements; with a `speed`, m/s, its ends move apart after a second of acceleration,
    otherwise they are fixed.
    """
    model, points = Model("knot"), path(LOOP * RADIUS)
    A = np.pi * RADIUS**2
    EA = RUBBER.E * A
    section = Section.from_stiffness(
        EA=EA,
        GA=STIFF * EA,
        GJ=2.0 * RUBBER.shear_modulus / RUBBER.E * B,
        EI=B,
        mass_per_length=RUBBER.density * A,
        inertia_per_length=[x * RUBBER.density * np.pi / 4.0 * RADIUS**4 for x in (2.0, 1.0, 1.0)],
        damping_time=RUBBER.damping_time,
        radius=RADIUS,
    )
    rod = model.add_rod("rod", points, section, n, stress_free=[(0, 0, 0), (LENGTH, 0, 0)])
    for name, kind, end, at, way in (
        ("left", "weld", rod.start, points[0], -0.5),
        ("right", "spherical", rod.end, points[-1], 0.5),
    ):
        if speed is not None:
            hand = model.add_driven(
                f"{name} hand", at, displacement=signals.SpinUp(speed * way, 1.0).along((1, 0, 0))
            )
            model.add_joint(name, kind, hand, end, at=at)
        else:
            model.add_joint(name, kind, model.ground, end, at=at)
    model.add_contact("braid", rod, stiffness=stiffness, stations=stations, friction=friction, radius=RADIUS)
    return model


class Shape(NamedTuple):
    """Geometry of a knot from the points of its rod."""

    depth: float  # largest contact depth of the strands over the diameter
    loop: float  # m, 1/curvature half-way between the contacts of the strands


def shape_of(points: Floats) -> Shape:
    """Geometry of points (n, 3), m, joined by segments; segments closer than pi times the rod radius along
    the arc are excluded.
    """
    starts, sides = points[:-1], np.diff(points, axis=0)
    lengths = np.linalg.norm(sides, axis=1)
    arc = np.append(0.0, np.cumsum(lengths))
    i, j = np.nonzero(arc[None, :-1] - arc[1:, None] >= np.pi * RADIUS)
    u, v, w = sides[i], sides[j], starts[i] - starts[j]
    a, b, c, d, e = (np.einsum("ij,ij->i", *pair) for pair in ((u, u), (u, v), (v, v), (u, w), (v, w)))
    s = np.clip((b * e - c * d) / np.maximum(a * c - b * b, 1e-30), 0.0, 1.0)
    t = np.clip((b * s + e) / c, 0.0, 1.0)
    s = np.clip((b * t - d) / a, 0.0, 1.0)
    gap = np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1) / (2.0 * RADIUS)
    near = gap < 1.1
    between = float(np.mean(0.5 * (arc[i] + s * lengths[i] + arc[j] + t * lengths[j])[near]))
    tangents = sides / lengths[:, None]
    across = np.linalg.norm(np.cross(tangents[:-1], tangents[1:]), axis=1)
    cosine = np.einsum("ij,ij->i", tangents[:-1], tangents[1:])
    curvature = 4.0 * across / (1.0 + cosine) / (lengths[:-1] + lengths[1:])
    around = between + np.linspace(-1.0, 1.0, 9) * RADIUS
    return Shape(1.0 - float(gap.min()), 1.0 / float(np.interp(around, arc[1:-1], curvature).mean()))


def at_rest(n: int = 240, stiffness: float = 3e6, stations: int = 2) -> Floats:
    """Points (n + 1, 3) of the knot at rest without friction, m."""
    return np.asarray(equilibrium(knot(n, stiffness, stations)).rod("rod").r[-1])


def pulled(
    n: int,
    dt: float,
    *,
    stiffness: float,
    stations: int,
    friction: float,
    speed: float = SPEED,
    last: float = TIGHT,
    every: int = 1,
) -> Pulled:
    """Pull from rest, without friction at first, until s is `last`."""
    statics = equilibrium(knot(n, stiffness, stations, friction, 0.0))
    model, begun = knot(n, stiffness, stations, friction, speed), process_time()
    t_end = dt * np.ceil(((START - last) / speed + 0.5) / dt)
    result = simulate(model, t_end, dt, output_every=every, start=statics, progress=False)
    seconds = process_time() - begun
    rod = result.rod("rod")
    shapes = [shape_of(r) for r in rod.r]
    return Pulled(
        LENGTH - (rod.r[:, -1, 0] - rod.r[:, 0, 0]),
        result.joint("right").force[:, 0],
        np.array([shape.loop for shape in shapes]),
        np.array([shape.depth for shape in shapes]),
        result.energy["total"],
        result.work,
        result.dissipation,
        seconds,
    )


def at_places(knot_run: Pulled, values: Floats) -> Floats:
    """Values at `PLACES`; equal values of s come from a knot with fixed ends."""
    order = np.argsort(knot_run.short)
    return np.interp(PLACES, knot_run.short[order], values[order])


def error(knot_run: Pulled, limits: Sequence[Pulled]) -> float:
    """Root mean square error of the pull at `PLACES`, relative to the mean of `limits`."""
    return float(
        np.sqrt(
            np.mean(
                (
                    at_places(knot_run, knot_run.pull)
                    / np.mean([at_places(x, x.pull) for x in limits], axis=0)
                    - 1.0
                )
                ** 2
            )
        )
    )


def main() -> None:
    runs: dict[str, Callable[[], Pulled]] = {}
    fine: dict[float, list[Pulled]] = {}
    for mu in (0.0, 0.1):
        for n, dt, k, stations in ((120, 0.01, 3e5, 3), (180, 0.01, 3e6 if mu else 3e5, 3 if mu else 2)):
            runs[f"mu {mu}, rodsim, {n} elements, {dt} s, {k:.0e} N/m^2"] = partial(
                pulled, n, dt, stiffness=k, stations=stations, friction=mu, every=2
            )
        fine[mu] = [pulled(360, 0.005, stiffness=3e6, stations=2, friction=mu, every=4)]
    if importlib.util.find_spec("py_dismech"):
        from benchmarks.peers import dismech_knots

        curve = at_rest()
        for mu in (0.0, 0.1):
            for n, dt, k in ((160, 0.04, 1e4), (160, 0.04, 3e3)):
                runs[f"mu {mu}, DisMech, {n} segments, {dt} s, {k:.0e} N/m"] = partial(
                    dismech_knots.pulled, curve, n, dt, stiffness=k, delta=2.5e-4, friction=mu, dtol=1e-3
                )
    for name, run in runs.items():
        knot_run = run()
        mu = float(name.split()[1].rstrip(","))
        pull = " ".join(f"{T:.3f}" for T in at_places(knot_run, knot_run.pull)[::-11])
        lost = float(knot_run.work[-1] - knot_run.work[0] - knot_run.energy[-1] + knot_run.energy[0])
        print(
            f"{name}: {knot_run.seconds:.1f} s, error {error(knot_run, fine[mu]):.3f}, {pull} N, "
            f"depth {knot_run.depth.max():.3f}, "
            f"work less energy {lost:.2e} J, reported losses {knot_run.lost[-1]:.2e} J"
        )


if __name__ == "__main__":
    main()
