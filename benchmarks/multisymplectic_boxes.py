"""Test multisymplectic box schemes of a rod with all boundary conditions (docs/theory/rod_pde.md).

python -m benchmarks.multisymplectic_boxes

A soft rod of length 1 with waves of stretch, shear, bending and twist that need about one time unit from end
to end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discretization.continuum.local_laws import local_laws
from discretization.continuum.material import material
from discretization.continuum.quaternions import product, pure
from discretization.multisymplectic.euler_box import EulerBox
from discretization.multisymplectic.grid import Grid, grid
from discretization.multisymplectic.implicit_step import CompletedStep, take_step
from discretization.multisymplectic.local_law_residuals import local_law_residuals
from discretization.multisymplectic.preissmann import LEVELS, MIDDLE, PreissmannBox
from discretization.multisymplectic.spectra import matrix_rank, step_spectrum
from discretization.multisymplectic.time_integration import (
    Run,
    integrate,
    propagate_tangents,
    tangent_vectors,
)
from discretization.multisymplectic.variational_box import VariationalBox
from rigid.errors import ConvergenceError

Floats = NDArray[np.float64]

ROD = material(1.0, [0.08, 0.05, 0.05], [4.0, 3.0, 3.0], [0.3, 0.4, 0.4], 0.06)
SPIN = np.array([0.5, 0.8, -1.0])  # rad/s, rotation of the flight

SCHEMES: dict[str, Callable[[Grid], Any]] = {
    "Preissmann, middle": lambda g: PreissmannBox(g, MIDDLE, singular=True),
    "Preissmann, levels": lambda g: PreissmannBox(g, LEVELS, singular=True),
    "Euler box": EulerBox,
    "variational box": VariationalBox,
}
ENDS = {
    "free, free": ("free", "free"),
    "pinned, pinned": ("pinned", "pinned"),
    "clamped, free": ("clamped", "free"),
    "clamped, clamped": ("clamped", "clamped"),
    "held, free": ("held", "free"),
    "held, held": ("held", "held"),
    "periodic": ("periodic", "periodic"),
}


def straight(n: int, ends: tuple[str, str]) -> Grid:
    """The rod at rest."""
    s = np.linspace(0.0, 1.0, n + 1)
    none = np.zeros((n + 1, 3))
    return grid(
        ROD,
        1.0,
        none + s[:, None] * [1, 0, 0],
        none[:, :1] + [1.0, 0, 0, 0],
        none,
        none[:, :1] + np.zeros(4),
        ends,
    )


def bent(n: int, ends: tuple[str, str], angle: float = 0.6) -> Grid:
    """A bump with twist, in motion; at rest and straight at its ends."""
    s = np.linspace(0.0, 1.0, n + 1)
    bump = np.sin(np.pi * s) ** 2
    half_angle, twist, none = angle * bump / 2, 0.2 * angle * bump, 0 * s
    q = product(
        np.stack([np.cos(half_angle), none, none, np.sin(half_angle)], -1),
        np.stack([np.cos(twist), np.sin(twist), none, none], -1),
    )
    fine = np.linspace(0.0, 1.0, 20 * n + 1)
    heading = angle * np.sin(np.pi * fine) ** 2
    slopes = np.stack([np.cos(heading), np.sin(heading), 0 * fine], -1)
    steps = 0.5 * (slopes[1:] + slopes[:-1]) / (20 * n)
    phi = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])[::20]
    phi_t = bump[:, None] * [0.0, 0.2, 0.3]
    q_t = product(pure(bump[:, None] * [0.5, 0.2, -0.4]), q) / 2
    return grid(ROD, 1.0, phi, q, phi_t, q_t, ends)


def flight_velocity(s: Floats) -> tuple[Floats, Floats]:
    """v and omega (..., 3) of a released straight rod whose ends are initially free of force and moment."""
    c, e = np.cos(np.pi * s), np.sin(np.pi * s) / np.pi
    return np.stack([0.3 * c, SPIN[2] * e, -SPIN[1] * e], -1), c[..., None] * SPIN


def flight(n: int) -> Grid:
    """A free rod, initially straight, that stretches, bends and twists in flight."""
    s = np.linspace(0.0, 1.0, n + 1)
    v, w = flight_velocity(s)
    q = np.tile([1.0, 0, 0, 0], (n + 1, 1))
    return grid(ROD, 1.0, s[:, None] * [1, 0, 0], q, v, product(pure(w), q) / 2)


def flown(name: str, n: int, t_end: float = 0.4, per_element: int = 2) -> tuple[Any, Run]:
    """The flight by a scheme on n elements with per_element * n steps."""
    scheme = SCHEMES[name](flight(n))
    steps = per_element * n
    return scheme, integrate(scheme, scheme.start(), t_end / steps, steps)


def by_em(n: int, integrator: str = "em4", t_end: float = 0.4) -> Any:
    """The rod of the same flight by rodsim's element and integrator, 2 n steps, all of them stored."""
    from rodsim.components.sections import Section
    from rodsim.model import Model
    from rodsim.simulation import simulate

    def column_of(s: float, k: int) -> Any:
        return flight_velocity(np.array([s]))[k][0]

    model = Model("flight")
    section = Section.from_stiffness(
        EA=4.0, GA=3.0, GJ=0.3, EI=(0.4, 0.4), mass_per_length=1.0, inertia_per_length=(0.08, 0.05, 0.05)
    )
    model.add_rod(
        "rod",
        [(0, 0, 0), (1, 0, 0)],
        section,
        n,
        up=(0, 0, 1),
        velocity=lambda s: column_of(s, 0),
        angular_velocity=lambda s: column_of(s, 1),
    )
    return simulate(model, t_end, t_end / (2 * n), integrator)


def first_step(
    name: str, make: Callable[..., Grid], n: int, ends: tuple[str, str], h: float
) -> tuple[Any, CompletedStep]:
    """A scheme and its first step; the initial guess if there is no solution."""
    scheme = SCHEMES[name](make(n, ends))
    start = scheme.start()
    try:
        return scheme, take_step(scheme, start, h)
    except ConvergenceError:
        x = scheme.guess(start, h)
        return scheme, CompletedStep(start, x, start, 0)


def two_form(name: str, n: int, ends: tuple[str, str], h: float = 0.02, steps: int = 6) -> float:
    """Largest residual of the discrete law along two tangent solutions that start with size 1."""
    scheme = SCHEMES[name](bent(n, ends))
    run = integrate(scheme, scheme.start(), h, steps)
    tangent = propagate_tangents(scheme, run, h, tangent_vectors(scheme, run.states[0]))
    return float(np.abs(scheme.two_form_residual(run, tangent, h)).max())


def law_norms(name: str, n: int) -> Floats:
    """Root mean squares of the residuals of the four local laws in the flight, by a scheme or by "em"."""
    if name == "em":
        result = by_em(n, "em")
        rod = result.rod("rod")
        laws = local_laws(ROD, result.t, np.linspace(0, 1, n + 1), rod.r, rod.quat, rod.v, rod.Omega)
    else:
        laws = local_law_residuals(*flown(name, n))
    return np.array([np.sqrt(np.mean(x**2)) for x in laws[2:]])


def steps_until_failure(
    name: str, ends: tuple[str, str], n: int = 9, h: float = 0.02, steps: int = 400
) -> tuple[int, float]:
    """Number of steps until Newton's method fails (all steps if it does not), and the ratio of the largest
    multiplier of the last step to that of the first.
    """
    scheme = SCHEMES[name](bent(n, ends))
    state, first, last = scheme.start(), 0.0, 0.0
    for k in range(steps):
        try:
            step = take_step(scheme, state, h, k * h)
        except ConvergenceError:
            return k, last / first
        state, last = step.new, float(np.abs(scheme.unknowns(step.x).lam).max())
        first = first or last
    return steps, last / first


def main() -> None:
    """Print all tables."""
    h = 0.02
    print("ends | scheme | deficiency straight, bent | least | radius, -1, growing | two-form")
    for label, ends in ENDS.items():
        for n in (5, 6) if label == "periodic" else (5,):
            for name in SCHEMES:
                ranks = [matrix_rank(*first_step(name, make, n, ends, h), h) for make in (straight, bent)]
                regular = ranks[0].deficiency == 0
                spectrum = step_spectrum(*first_step(name, straight, n, ends, h), h) if regular else None
                form = two_form(name, n, ends) if regular else float("nan")
                print(
                    f"{label} {n} | {name} | {ranks[0].deficiency}, {ranks[1].deficiency} of {ranks[0].size} | "
                    f"{ranks[0].least:.0e}, {ranks[1].least:.0e} | {spectrum} | {form:.1e}",
                    flush=True,
                )
    print("orders of the local laws (energy, momentum, angular, material), and norms with 32 elements")
    positions = by_em(128).rod("rod").r[-1]
    for name in list(SCHEMES)[1:]:
        norms = [law_norms(name, n) for n in (8, 16, 32)]
        errors = [
            np.abs(
                flown(name, n)[0].parts(flown(name, n)[1].states[-1])[0][:, :3] - positions[:: 128 // n]
            ).max()
            for n in (8, 16)
        ]
        print(
            name,
            np.log2(norms[-2] / norms[-1]).round(2),
            norms[-1],
            "against em",
            errors,
            np.log2(errors[0] / errors[1]).round(2),
            flush=True,
        )
    print("em", [np.abs(by_em(n, "em").rod("rod").r[-1] - positions[:: 128 // n]).max() for n in (8, 16)])
    for label in ("free, free", "clamped, free", "clamped, clamped", "pinned, pinned", "periodic"):
        print(label, [steps_until_failure(name, ENDS[label]) for name in list(SCHEMES)[:2]], flush=True)


if __name__ == "__main__":
    main()
