"""Validation cases by the program of the papers: same scheme and step, so equal numbers to its Newton tolerance."""

from __future__ import annotations

from functools import partial

import numpy as np

from discretization.time.integrate import Trajectory, integrate
from rodsim.papers import heavy_top, mass_spring, pendulum
from rodsim.validation.case import Case, Meshes, Values, reference_values_at

METIS = "metis, the program of the papers, tolerance 1e-9 a step"
# EML, h = 0.1: t -> q, p
MASS_SPRING = {
    0.5: (0.455316150351, 1.55531615035, -0.389437992218, 1.4657707416, 0.389200184584, 0.389200184584),
    5.0: (-0.614053245601, 0.485946754399, -0.0238754490063, -0.240455967087, -1.20421870889, -1.20421870889),
    10.0: (0.869890660899, 1.9698906609, 0.304267983434, 0.355237241731, -0.551483627316, -0.551483627316),
}
# EML, h = 0.01: t -> q
HEAVY_TOP = {
    0.1: (0.685507574491, 0.414423734698, 0.175223963204, 0.572388763126),
    1.0: (0.908357509955, -0.287280636255, -0.0400578763599, -0.301250455075),
    2.0: (0.58006227945, 0.393584961818, -0.00404106218983, -0.713163585446),
}
# VI-S, h = 0.05: t -> q, p
PENDULUM = {t: np.concatenate(pendulum.PUBLISHED[t][:2]) for t in (0.5, 5.0)}


def states(run: Trajectory, what: str, times: tuple[float, ...]) -> Values:
    """Return q, or q and p, of a run at some times."""
    steps = {t: round(t / run.h) for t in times}
    return {
        f"{what}({t:g})": run.q[k] if what == "q" else np.append(run.q[k], run.p[k]) for t, k in steps.items()
    }


def by_mass_spring(_: int) -> Values:
    """Integrate two masses in redundant coordinates with a singular mass."""
    return states(mass_spring.run(), "q, p", tuple(MASS_SPRING))


def by_heavy_top(_: int) -> Values:
    """Integrate a cone that rotates about its tip."""
    return states(heavy_top.run("EML"), "q", tuple(HEAVY_TOP))


def by_pendulum(_: int) -> Values:
    """Integrate a point mass on the unit sphere."""
    run = integrate(pendulum.pendulum(), "VI-S", pendulum.H, max(PENDULUM))
    return states(run, "q, p", tuple(PENDULUM))


_case = partial(Case, source=METIS, slow=True)
CASES = (
    _case(
        name="metis-mass-spring",
        title="Mass-spring system in redundant coordinates",
        known=reference_values_at("q, p", MASS_SPRING, 1e-8, 1.0),
        run=by_mass_spring,
        meshes=Meshes("", "EML, h = 0.1"),
    ),
    _case(
        name="metis-heavy-top",
        title="Heavy top about its tip",
        known=reference_values_at("q", HEAVY_TOP, 1e-8, 1.0),
        run=by_heavy_top,
        meshes=Meshes("", "EML, h = 0.01"),
    ),
    _case(
        name="metis-pendulum",
        title="Mathematical pendulum in three dimensions",
        known=reference_values_at("q, p", PENDULUM, 1e-8, 5.0),
        run=by_pendulum,
        meshes=Meshes("", "VI-S, h = 0.05"),
    ),
)
