"""Study of the steady precession of a gyroscopic top in directors, its tip fixed by three constraints: 002 sec. 6.2, A.8."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from discretization.time.integrate import Trajectory, integrate
from rigid.inertia import MassProperties
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.symbolic.lagrange_top import lagrange_top
from rigid.system import Floats
from rodsim.model import Model
from rodsim.papers.claims import (
    Line,
    Study,
    curves,
    drift,
    largest,
    listed,
    momentum_constraints,
    named,
    scheme_velocity_constraints,
    sweep_runs,
)

NAME = "gyroscopic-top"
ORDERS = {"VI-S": 1, "VI-A": 2, "VI-B": 1, "GGL-EM": 2, "BS99": 1}
SCHEMES = tuple(ORDERS)
START = slice(0, 101)  # steps that the pictures show
MASS, INERTIA, LENGTH, GRAVITY = 0.7069, 5.3014e-4, 0.075, 9.81
INERTIA_TIP = INERTIA + MASS * LENGTH**2  # J1 about the tip
TILT, PRECESSION = np.pi / 3, 10.0
HEIGHT = LENGTH * np.cos(TILT)
SPIN = MASS * GRAVITY * LENGTH / (INERTIA * PRECESSION) + MASS * LENGTH**2 / INERTIA * PRECESSION * np.cos(
    TILT
)  # spin rate of steady precession, (112)
AXIS = np.array([0.0, -np.sin(TILT), np.cos(TILT)])  # d3 at the start, (108)
OMEGA = PRECESSION * np.array([0.0, 0.0, 1.0]) + SPIN * AXIS  # initial angular velocity (111), spatial
VERTICAL = 5  # index of the angular momentum about e3 among the symmetries of the chart
T_ORDER = 1e-3  # time at which (113), (114) measure the errors


@cache
def director_top() -> MechanicalSystem:
    """Return the top in directors, its tip at the origin: phi - l d3 = 0, which is l times 002 (104)."""
    model = Model("gyroscopic top", gravity=(0.0, 0.0, -GRAVITY))
    top = model.add_body(
        "top",
        MassProperties(MASS, INERTIA * np.eye(3)),
        position=LENGTH * AXIS,
        orientation=(np.cos(TILT / 2), np.sin(TILT / 2), 0.0, 0.0),
        velocity=np.cross(OMEGA, LENGTH * AXIS),
        angular_velocity=OMEGA,
    )
    model.add_joint("tip", "spherical", model.ground, top, at=(0.0, 0.0, 0.0))
    return model.mechanical_system("director")


@cache
def axis_and_momentum() -> MechanicalSystem:
    """Return the top in (d3, angular momentum), with J omega by (165)."""
    momentum = INERTIA_TIP * OMEGA + (INERTIA - INERTIA_TIP) * (AXIS @ OMEGA) * AXIS
    return lagrange_top(INERTIA_TIP, MASS * GRAVITY * LENGTH, AXIS, momentum)


def top_for(integrator: str) -> MechanicalSystem:
    """Return the system that an integrator of `SCHEMES` is applied to."""
    return axis_and_momentum() if integrator == "BS99" else director_top()


def height(run: Trajectory) -> Floats:
    """Return the height phi_3 (N + 1,) of the centre of mass; by 002 (167) for BS99."""
    return LENGTH * run.q[:, 2] if run.scheme.name == "BS99" else run.q[:, 2]


def momentum_of_centre(run: Trajectory) -> Floats:
    """Return p_1 (N + 1, 3); for BS99 the mass times 002 (168)."""
    if run.scheme.name == "BS99":
        return MASS * LENGTH / INERTIA_TIP * np.cross(run.p, run.q)
    return run.p[:, :3]


def vertical_momentum(run: Trajectory) -> Floats:
    """Return the angular momentum about e3 through the tip (N + 1,): 002 (107)."""
    if run.scheme.name == "BS99":
        return run.p[:, 2]
    return run.momentum(run.system.symmetries[VERTICAL])


def run_to_order(integrator: str, n: int) -> Trajectory:
    """Integrate the top to t = 0.001 in `n` steps."""
    return integrate(top_for(integrator), integrator, T_ORDER / n, T_ORDER)


def relative_distance(vector: Floats, reference: Floats) -> float:
    """Return |vector - reference|/|reference|."""
    return float(np.linalg.norm(vector - reference) / np.linalg.norm(reference))


def study() -> Study:
    """Check height, invariants, velocity constraints and orders: 002 Figs. 17-20."""
    result = Study(NAME, "Gyroscopic top in directors", "002 sec. 6.2")
    _precession(result)
    runs = {name: integrate(top_for(name), name, 0.002, 1.0) for name in SCHEMES}
    _heights(result, runs)
    _invariants(result, runs)
    _hidden(result, {name: run for name, run in runs.items() if name != "BS99"})
    _orders(result)
    return result


def _precession(result: Study) -> None:
    """Check the spin rate of 002 (112), and that it gives steady precession."""
    accurate = integrate(director_top(), "mG", 1e-3, 0.1, k=3)
    deviation = drift(height(accurate)) / HEIGHT
    result.claim(
        "002 (112): omega_s = 135.6 makes the centre of mass rotate at the constant height 0.0375",
        f"omega_s = {SPIN:.4f}; mG(3), h = 0.001: height {HEIGHT:.4f}, changes by {deviation:.1e} of it",
        abs(SPIN - 135.6) < 0.05 and abs(HEIGHT - 0.0375) < 1e-12 and deviation < 1e-8,
    )


def _heights(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Measure how far the height of the centre of mass departs from its constant exact value: 002 Fig. 17."""
    off = {name: 100.0 * largest(height(run) - HEIGHT) / HEIGHT for name, run in runs.items()}
    result.claim(
        "002 Fig. 17: with h = 0.002 the height is constant with none of the schemes",
        f"largest deviation to t = 1: {named(off, '.2f', ' %')}",
        min(off.values()) > 1e-2,
    )
    result.panel("Height of the centre of mass, h = 0.002", "t", "phi_3", curves(runs, height, START))


def _invariants(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check conservation of energy, of the vertical angular momentum, and of the invariants of BS99."""
    total = runs["GGL-EM"].energy()[0]  # BS99 omits the energy of the spin, a constant
    energies = {name: drift(run.energy()) / total for name, run in runs.items()}
    result.claim(
        "002 sec. 6.2: only GGL-EM conserves the energy",
        f"relative change: {named(energies)}",
        energies["GGL-EM"] < 1e-12 and min(x for name, x in energies.items() if name != "GGL-EM") > 1e-6,
    )
    result.claim_below(
        "002 sec. 6.2: all schemes conserve the angular momentum about the vertical",
        {name: drift(vertical_momentum(run)) for name, run in runs.items()},
        1e-14,
        f"change of {vertical_momentum(runs['GGL-EM'])[0]:.5f}: ",
    )
    top = runs["BS99"]
    along, unit = (drift(np.einsum("ij,ij->i", x, top.q)) for x in (top.p, top.q))
    result.claim(
        "002 (166), Bobenko and Suris (1.17): BS99 conserves |d3| and m . d3 too",
        f"change of |d3|^2 {unit:.1e}, of m . d3 {along:.1e}",
        unit < 1e-13 and along < 1e-14,
    )
    lines = curves(runs, lambda run: np.abs(run.energy() - run.energy()[0]) / total + 1e-17, START)
    result.panel("Energy, h = 0.002", "t", "|H - H(0)|/H(0)", lines, "semilog")
    lines = curves(runs, lambda run: vertical_momentum(run) / vertical_momentum(run)[0] - 1)
    result.panel("Angular momentum about the vertical, h = 0.002", "t", "J3/J3(0) - 1", lines)


def _hidden(result: Study, runs: Mapping[str, Trajectory]) -> None:
    """Check position and velocity constraints: 002 Fig. 20 and the text about it."""
    position = {name: float(run.position_residual().max()) for name, run in runs.items()}
    result.claim(
        "002 sec. 6.2: VI-S, VI-B and GGL-EM satisfy the position constraints at the ends of the steps, VI-A does not",
        f"max |g|: {named(position)}",
        position["VI-A"] > 1e-4 and max(value for name, value in position.items() if name != "VI-A") < 1e-14,
    )
    # columns 7 to 9 belong to the tip
    hidden = {name: np.abs(momentum_constraints(run)) for name, run in runs.items()}
    internal = {name: largest(values[:, :6]) for name, values in hidden.items()}
    linear = {name: largest(values[:, 6:]) for name, values in hidden.items()}
    result.claim(
        "002 Fig. 20: VI-S violates the velocity constraints but for the linear ones, 7 to 9, of the tip",
        f"max |G M^-1 p|: internal {internal['VI-S']:.2e}, of the tip {linear['VI-S']:.1e}",
        internal["VI-S"] > 1e-3 and linear["VI-S"] < 1e-14,
    )
    scale = largest(OMEGA)  # rad/s; |q| = 1, so these residuals are rates
    of_scheme = largest(scheme_velocity_constraints(runs["VI-B"]))
    result.claim(
        "002 sec. 6.2: VI-B (with its velocity) and GGL-EM satisfy the velocity constraints exactly, VI-A does not",
        f"GGL-EM |G M^-1 p| {internal['GGL-EM']:.1e}, VI-B |G v| {of_scheme:.1e}, VI-A |G M^-1 p| {internal['VI-A']:.2f}",
        max(internal["GGL-EM"], of_scheme) < 1e-14 * scale and internal["VI-A"] > 1e-3,
    )
    result.claim(
        "002 sec. 6.2: VI-B satisfies the velocity constraints on momenta",
        f"max |G M^-1 p| internal {internal['VI-B']:.1f}, of the tip {linear['VI-B']:.2f}",
        max(internal["VI-B"], linear["VI-B"]) < 1e-14 * scale,
        reason="VI-B imposes G(q1) v = 0 (82e) with a v that is not M^-1 p1 but differs by O(h) forces (82b), (82c); "
        "the forces that hold the directors of a fast top together are large.",
    )
    t, part = runs["VI-S"].t[1:101], slice(1, 101)
    lines = [Line(f"VI-S, constraint {k + 1}", t, hidden["VI-S"][part, k] + 1e-18) for k in (0, 2, 4, 6, 8)]
    lines.append(Line("GGL-EM, all", t, hidden["GGL-EM"][part].max(axis=1) + 1e-18, "--"))
    result.panel("Velocity constraints, h = 0.002", "t", "|G M^-1 p|", lines, "semilog")


def _orders(result: Study) -> None:
    """Check the orders of height and momentum: 002 Figs. 18, 19, with the errors (113), (114)."""
    reference = momentum_of_centre(integrate(director_top(), "GGL-EM", 5e-7, T_ORDER))[-1]
    check = momentum_of_centre(integrate(director_top(), "mG", 1e-4, T_ORDER, k=3))[-1]
    deviation = relative_distance(reference, check)
    result.claim(
        "002 (114): GGL-EM with h = 5e-7 gives a reference",
        f"differs from mG(3), h = 1e-4, by {deviation:.1e}, relative",
        deviation < 1e-10,
    )
    errors_of = {
        "height": lambda run: abs(height(run)[-1] - HEIGHT) / HEIGHT,
        "momentum of the centre": lambda run: relative_distance(momentum_of_centre(run)[-1], reference),
    }
    lines: dict[str, list[Line]] = {what: [] for what in errors_of}
    for colour, (name, order) in enumerate(ORDERS.items()):
        # The momentum of VI-S has a large second-order part: its order shows at smaller steps only.
        counts = {"": (128, 256, 512) if name == "VI-S" else (8, 16, 32, 64, 128)}
        if name in ("VI-A", "VI-B"):  # their errors alternate from step to step
            counts[", odd numbers of steps"] = (7, 15, 31, 63, 127)
        orders = []
        for parity, steps in counts.items():
            runs = {T_ORDER / n: run_to_order(name, n) for n in steps}
            for what, of in errors_of.items():
                errors = sweep_runs(runs, of)
                lines[what].append(errors.line(name + parity, f"C{colour}" + ("x:" if parity else "o-")))
                orders.append(errors.order)
        odd = f"; after odd numbers of steps {listed(orders[2:], '.2f')}" if orders[2:] else ""
        result.claim(
            f"002 Figs. 18, 19: {name}: order {order} in height and momentum",
            f"orders {listed(orders[:2], '.2f')}{odd}",
            max(abs(measured - order) for measured in orders) < 0.1,
        )
    for what, of_quantity in lines.items():
        result.panel(f"Error of the {what} at t = 0.001", "h", "relative error", of_quantity, "log")
