"""Model of a box spinning freely in space (001 sec. 5.1), its runs by mG(k) and BG(k), and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from discretization.time.bubnov import GlobalSolution, solve_global
from discretization.time.integrate import Trajectory, integrate
from discretization.time.integrators import scheme
from discretization.time.symplecticity import newton_matrix
from rigid import quaternions
from rigid.charts.multibody import rotating_body
from rigid.mechanics.mechanical_system import INVERSE_MASS, MechanicalSystem
from rigid.system import Floats
from rodsim.papers.claims import Convergence, relative_drift, sweep, sweep_runs

H = 0.05
T_END = 5.0
CHARTS = ("quaternion", "director")
MULTIPLIERS = ("continuous", "discontinuous")
DEGREES = (1, 2, 3)
POINTS = (1, 2, 3, 4, 5)
EXACT_ZERO = 1e-13  # relative drifts below this are round-off

MASS, EDGES = 12.0, np.array([5.0, 2.0, 1.0])  # edges l, b, h along the body axes
OMEGA = np.array([0.0, 5.0, 1.0])

# Exact orientation by Jacobi's elliptic functions, to all digits; the sign is that of the continuous motion.
EXACT = {
    0.5: np.array([0.28837077069485813, -0.092593233055660488, 0.88095256238729484, 0.36358131776043319]),
    1.0: np.array([-0.51434319098225891, 0.56878161970832927, 0.23583779747811397, 0.59692468892887077]),
    2.0: np.array([0.046900230201381378, -0.23493761392624066, -0.049669638602144921, -0.96960693735700676]),
}

# steps (mG) and element lengths (BG) of the convergence study by degree k; h = 0.025 occurs for every k
STEPS_MG = {1: (0.025, 0.0125, 0.00625), 2: (0.05, 0.025, 0.0125), 3: (0.1, 0.05, 0.025)}
LENGTHS_BG = {1: (0.025, 0.0125), 2: (0.025, 0.0125), 3: (0.05, 0.025)}


@cache
def spinning_box(chart: str = "quaternion", inertia: str = "alpha") -> MechanicalSystem:
    """Return the box, m = 12, about its centre of mass; J = (5, 26, 29)."""
    squares = EDGES**2
    J = MASS / 12.0 * (squares.sum() - squares)
    if chart == "director":
        return rotating_body("spinning box", J, OMEGA, chart=chart)
    return rotating_body("spinning box", J, OMEGA, inertia=inertia)


def rational(system: MechanicalSystem) -> MechanicalSystem:
    """Return the system with T* = p . M(q)^-1 p / 2 for any q, 001 (58), instead of the polynomial for unit quaternions."""
    return replace(system, data=system.data._replace(flags=system.data.flags & ~INVERSE_MASS))


def energy_drift(run: Trajectory) -> float:
    """Return the drift of the energy, relative to its initial value."""
    return relative_drift(run.hamiltonian())


def momentum_drift(run: Trajectory) -> float:
    """Return the drift of the angular momentum L2, relative to its initial value."""
    return relative_drift(run.momentum(run.system.symmetries[1]))


@cache
def march(chart: str, k: int, points: int, h: float = H, t_end: float = T_END) -> Trajectory:
    """Integrate the box by mG(k) with `points` Gauss points per step."""
    return integrate(spinning_box(chart), "mG", h, t_end, k=k, gauss=points)


@cache
def reference() -> Trajectory:
    """Integrate the reference by GL-SPARK(3), h = 1/400, to t = 5; it differs from the exact orientation by 4e-14 at t = 2."""
    return integrate(spinning_box(inertia="gamma"), "GL-SPARK", 1.0 / 400.0, T_END, s=3)


def orientation(t: float, chart: str) -> Floats:
    """Return the coordinates (n,) of the reference at time `t` in a chart; `t` must be a multiple of 1/400."""
    return in_chart(reference().q[round(400.0 * t)], chart)


def in_chart(q: Floats, chart: str) -> Floats:
    """Return the coordinates (n,) of the orientation `q` (a unit quaternion) in a chart."""
    directors: Floats = quaternions.to_matrix(q).T.ravel()
    return directors if chart == "director" else q


def error(run: Trajectory, chart: str) -> float:
    """Return the relative error of q at the end of a run, 001 (66)."""
    exact = orientation(float(run.t[-1]), chart)
    return float(np.linalg.norm(run.q[-1] - exact) / np.linalg.norm(exact))


@cache
def mg_errors(chart: str, k: int, t_end: float = T_END) -> Convergence:
    """Return the errors of mG(k) at `t_end` in the convergence study."""
    return sweep(STEPS_MG[k], lambda h: error(integrate(spinning_box(chart), "mG", h, t_end, k=k), chart))


@cache
def _guess(chart: str, h: float, t_end: float) -> tuple[Floats, Floats]:
    """Compute the initial guess (q, p) of BG(k), a motion integrated by mG(2)."""
    run = integrate(spinning_box(chart), "mG", h, t_end, k=2)
    return run.q, run.p


@cache
def solve(
    chart: str, k: int, elements: int, t_end: float, multipliers: str, condition: bool = False
) -> GlobalSolution:
    """Solve for the whole motion by BG(k), starting Newton's method from a motion by mG(2)."""
    system, h = spinning_box(chart), t_end / elements
    guess = _guess(chart, h / k, t_end)
    return solve_global(system, h, t_end, k=k, multipliers=multipliers, guess=guess, condition=condition)


def elements_bg(k: int, t_end: float = T_END) -> tuple[int, ...]:
    """Return the numbers of elements of the convergence study; all are even, since odd numbers have other error constants."""
    return tuple(2 * round(t_end / (2 * h)) for h in LENGTHS_BG[k])


def largest_error(run: Trajectory, chart: str, k: int) -> float:
    """Return the largest relative error of q at the ends of the elements, which coincide with steps of the reference."""
    q, t = run.q[::k], run.t[::k]
    exact = np.array([orientation(float(time), chart) for time in t])
    return float(np.max(np.linalg.norm(q - exact, axis=1) / np.linalg.norm(exact, axis=1)))


def bg_errors(
    chart: str, k: int, multipliers: str, t_end: float, elements: Sequence[int]
) -> tuple[Convergence, Convergence]:
    """Return the errors of BG(k) at `t_end` and the largest errors over the run, by the length of the elements."""
    lengths = t_end / np.array(elements)
    runs = dict(zip(lengths, (solve(chart, k, n, t_end, multipliers) for n in elements), strict=True))
    at_end = sweep_runs(runs, lambda run: error(run, chart))
    return at_end, sweep_runs(runs, lambda run: largest_error(run, chart, k))


def bg_condition(k: int, multipliers: str, t_end: float = 0.25) -> Convergence:
    """Return the condition numbers of Newton's matrix of BG(k) in quaternions, by the length of the elements."""

    def condition(h: float) -> float:
        """Return the condition number with elements of length h."""
        number = solve("quaternion", k, round(t_end / h), t_end, multipliers, condition=True).condition
        assert number is not None
        return number

    return sweep(t_end / np.array([8, 16, 32]), condition)


@cache
def mg_condition(chart: str, k: int, undifferentiated: bool = False) -> Convergence:
    """Return the condition numbers of Newton's matrix of mG(k) by the step.

    `undifferentiated`: True if the constraint rows of the matrix are multiplied by h, as h G q'.
    """
    system = spinning_box(chart)

    def condition(h: float) -> float:
        """Return the condition number with a step h."""
        matrix = newton_matrix(system, scheme("mG", k=k), h)
        if undifferentiated:
            matrix[2 * system.n * k :] *= h
        return float(np.linalg.cond(matrix))

    return sweep([1e-4, 1e-5], condition)


@cache
def recovered(chart: str, k: int, elements: int, t_end: float = 0.5) -> float:
    """Solve by BG(k) for the motion between two given orientations, and return the relative error of p(0)."""
    system = spinning_box(chart)
    run = solve_global(system, t_end / elements, t_end, k=k, q_end=in_chart(EXACT[t_end], chart))
    p0 = system.momentum(system.q0, system.v0)
    return float(np.linalg.norm(run.p[0] - p0) / np.linalg.norm(p0))
