"""Two heavy tops with exact solutions, and measurements on them over scans of alpha and gamma.

Measured are errors, Newton iterations and the largest stable steps. One top nutates (A = 1, C = 1/2, m g l = 1); the other,
a fast one, is in steady precession (C/A = 0.118).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from discretization.time.integrate import Trajectory, integrate
from rigid import quaternions
from rigid.charts.multibody import rotating_body
from rigid.errors import ConvergenceError
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.system import Floats
from rodsim.papers.claims import drift

TYPES = ("alpha", "gamma")
VERTICAL = 2  # index of the angular momentum about e3 among the symmetries


METHODS = (
    "IMS",
    "EMS",
    "GL-SPARK(1)",
    "GL-SPARK(2)",
    "GL-SPARK(3)",
    "Lobatto-IIIA-B(2)",
    "Lobatto-IIIA-B(3)",
    "Lobatto-IIIA-B(4)",
)
ACCURATE = "GL-SPARK(3)"
BY_GAUSS = ("IMS", "GL-SPARK(1)", "GL-SPARK(2)", "GL-SPARK(3)")  # midpoint rule and Gauss nodes
BY_LOBATTO = ("Lobatto-IIIA-B(2)", "Lobatto-IIIA-B(3)", "Lobatto-IIIA-B(4)")


class Top(NamedTuple):
    """A heavy top on its tip: moments of inertia about the tip, initial state, and step and end time of a scan."""

    name: str
    J: tuple[float, float, float]
    tilt: float
    Omega: tuple[float, float, float]  # initial angular velocity, body-fixed
    l: float
    weight: float
    h: float
    t_end: float

    @property
    def mean(self) -> float:
        """Mean of the principal moments."""
        return sum(self.J) / 3.0

    def system(self, inertia: str, parameter: float) -> MechanicalSystem:
        """Return the top in quaternions, with alpha or gamma = `parameter` (kg m^2)."""
        return _system(self, inertia, parameter)


@cache
def _system(top: Top, inertia: str, parameter: float) -> MechanicalSystem:
    """Build the system of a top; it is cached, since scans run one system many times."""
    return rotating_body(
        top.name,
        np.array(top.J),
        np.array(top.Omega),
        about(0, top.tilt),
        weights=[(np.array([0.0, 0.0, top.l]), np.array([0.0, 0.0, -top.weight]))],
        inertia=inertia,
        parameter=parameter,
    )


NUTATING = Top("nutating top", (1.0, 1.0, 0.5), np.pi / 4, (0.0, 0.3, 5.0), 1.0, 1.0, 0.05, 2.0)
FAST = Top(
    "fast top",
    (0.0045062219624928597, 0.0045062219624928597, 0.00053014376029327761),
    np.pi / 3,
    (0.0, 8.6602540378443865, 140.6),
    0.075,
    9.81 * 0.70685834705770348,
    0.002,
    0.08,
)
# Exact Euler angles of the nutating top, R = Rz(phi) Rx(theta) Rz(psi): t, cos theta, phi, psi.
EXACT = (
    (1.0, 0.69480858289599775, 0.44159085841886367, 4.6898567962717980),
    (2.0, 0.69018080256771737, 0.92790474962603016, 9.3542838609193610),
)
TOPS = (NUTATING, FAST)
SCAN = np.geomspace(0.1, 10.0, 13)  # alpha or gamma over the mean of the moments
COARSE_SCAN = np.array([0.25, 0.5, 0.75, 1.0, 2.0])
AT_MEAN = 3  # index of 1.0 in `COARSE_SCAN`
FIRST_STEP, GROWTH, STEPS = 0.5, 1.2, 50  # stability scan, up to the first run that ends early
MANY_TURNS = 1000.0  # largest h, 800 turns of the spin: no restriction, every method fails long before
ITERATION_STEPS = 0.2 / 1.17 ** np.arange(12)  # steps from 0.2 down to about a sixth of it


def about(axis: int, angle: float) -> Floats:
    """Return the quaternion of a rotation about a coordinate axis."""
    return quaternions.from_axis_angle(np.eye(3)[axis], angle)


def exact_quaternion(cos_theta: float, phi: float, psi: float) -> Floats:
    """Return the quaternion of Euler angles."""
    tilt = about(0, float(np.arccos(cos_theta)))
    return quaternions.multiply(quaternions.multiply(about(2, phi), tilt), about(2, psi))


def precessing_quaternion(t: float) -> Floats:
    """Return the quaternion of the fast top at time t: precession 10 rad/s, spin 135.6 rad/s."""
    return exact_quaternion(np.cos(FAST.tilt), 10.0 * t, 135.6 * t)


def angle_between(a: Floats, b: Floats) -> Floats:
    """Return the angle (n,) of the rotation from orientation a to b (n, 4); |a| = 1 is not required."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    chord = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return 4.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))


def run_of(
    top: Top, method: str, inertia: str, factor: float, h: float, t_end: float, **options: Any
) -> Trajectory:
    """Integrate a top with alpha or gamma = `factor` times the mean moment."""
    return integrate(top.system(inertia, factor * top.mean), method, h, t_end, **options)


@cache
def reference_of(top: Top) -> Floats:
    """Return orientations (N + 1, 4) at the steps of a scan, by GL-SPARK(3) with a tenth of the step."""
    fine = run_of(top, ACCURATE, "gamma", 1.0, top.h / 10.0, top.t_end)
    return fine.q[::10] / np.linalg.norm(fine.q[::10], axis=1, keepdims=True)


def scan_errors(top: Top, method: str, inertia: str) -> Floats:
    """Return the largest angle to the reference over the run, for each factor of the scan; infinite if Newton's method fails."""
    errors = np.full(len(SCAN), np.inf)
    for k, factor in enumerate(SCAN):
        try:
            run = run_of(top, method, inertia, factor, top.h, top.t_end)
        except ConvergenceError:
            continue
        errors[k] = angle_between(run.q, reference_of(top)).max()
    return errors


Scan = Mapping[tuple[str, str], Floats]


@cache
def scan_of(top: Top) -> Scan:
    """Return the errors over the scan by (type, method)."""
    return {(inertia, method): scan_errors(top, method, inertia) for inertia in TYPES for method in METHODS}


def best_factor(errors: Floats) -> float:
    """Return the factor of the scan with the smallest error."""
    return float(SCAN[int(np.argmin(errors))])


@cache
def mean_iterations(method: str, inertia: str, factor: float) -> float:
    """Return the mean Newton iterations per step of the nutating top, to |r| < 1e-9, over six steps of each size."""
    counts = []
    for h in ITERATION_STEPS:
        try:
            run = run_of(NUTATING, method, inertia, factor, h, 6 * h, tolerance=1e-9)
        except ConvergenceError:
            return float("inf")
        counts.append(run.iterations[1:].mean())
    return float(np.mean(counts))


def outcome(method: str, inertia: str, factor: float, h: float) -> str:
    """Return how 50 steps of the nutating top end.

    "stable", "fails" (Newton's method fails), or "blows up" (the energy changes by its own size).
    """
    try:
        run, failed = run_of(NUTATING, method, inertia, factor, h, STEPS * h), False
    except ConvergenceError as error:
        run, failed = error.trajectory, True
    energy = run.energy()
    if drift(energy) >= energy[0]:
        return "blows up"
    return "fails" if failed else "stable"


class Stability(NamedTuple):
    """The largest h up to which all steps are stable (0: none), and how the next one ends."""

    h: float
    end: str


@cache
def largest_stable_step(method: str, inertia: str, factor: float) -> Stability:
    """Find the largest stable step by increasing the step by a fifth until one is not stable."""
    before, h = 0.0, FIRST_STEP
    while (end := outcome(method, inertia, factor, h)) == "stable" and h < MANY_TURNS:
        before, h = h, GROWTH * h
    return Stability(before, end)
