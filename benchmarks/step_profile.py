"""Measure the parts of a Newton iteration of `em` and whole steps.

python -m benchmarks.step_profile [elements ...]

Parts in ns for each element of a clamped rod in space, steps in us. Use NUMBA_CPU_NAME=znver3, or another
processor without AVX-512, for its instructions. The least of interleaved rounds; processor time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgbsv

from benchmarks.kernels import iterations
from discretization.assembly.element_lanes import add_elements
from discretization.assembly.numbering import number_unknowns
from discretization.assembly.step_equations import _inertia, assemble, begin_step, move
from discretization.assembly.workspace import workspace
from discretization.time.newton import correct, factor, solve
from discretization.time.stepper import Stepper
from rigid.compilation.decorators import allocating_kernel
from rodsim import Model, Section
from rodsim.building.build import Built

H, ROUNDS = 1e-3, 7
SECTION = Section.from_stiffness(
    EA=2e4, GA=1e4, GJ=4.0, EI=(5.0, 5.0), mass_per_length=1.0, inertia_per_length=(1e-3, 5e-4, 5e-4)
)


def rod(n: int) -> Built:
    """A clamped rod, pushed at its end, elements of 10 cm."""
    model = Model("rod", gravity=(0, 0, -9.81))
    added = model.add_rod("rod", [(0, 0, 0), (0.1 * n, 0, 0)], SECTION, n_elements=n)
    model.add_joint("clamp", "clamp", added.start)
    model.add_force("push", added.end, (0, 1, 0.2))
    return model.build()


@allocating_kernel
def _elements(system, numbering, state, work, h, n):
    for _ in range(n):
        add_elements(work, h, True)


@allocating_kernel
def _forces(system, numbering, state, work, h, n):
    for _ in range(n):
        add_elements(work, h, False)


@allocating_kernel
def _frames(system, numbering, state, work, h, n):
    for _ in range(n):
        _inertia(system, numbering, state, work, h, True)


@allocating_kernel
def _moves(system, numbering, state, work, h, n):
    for _ in range(n):
        move(system, state, work)


@allocating_kernel
def _assemblies(system, numbering, state, work, h, n):
    for _ in range(n):
        assemble(system, numbering, state, work, h, True)


@allocating_kernel
def _factors(system, numbering, state, work, h, n):
    for _ in range(n):
        assemble(system, numbering, state, work, h, True)
        factor(numbering, work)


@allocating_kernel
def _solutions(system, numbering, state, work, h, n):
    for _ in range(n):
        for i in range(numbering.size):
            work.rhs[i] = 1e-6
        solve(numbering, work)


@allocating_kernel
def _iterate(system, numbering, state, work, h, n):
    for _ in range(n):
        assemble(system, numbering, state, work, h, False)
        work.rhs[:] = 0.0
        solve(numbering, work)
        correct(system, numbering, work)
        move(system, state, work)


PARTS = {
    "elements: residual and tangent, in place": _elements,
    "elements: residual": _forces,
    "inertia with tangent": _frames,
    "move": _moves,
    "all of residual and matrix": _assemblies,
    "the same with factors": _factors,
    "solution": _solutions,
    "a fresh iteration": iterations,
    "an iteration with factors in hand": _iterate,
}


def measured(n: int) -> dict[str, float]:
    """Times of the parts, ns for each element, and of a step, us."""
    built = rod(n)
    system, state = built.system, built.state
    stepper = Stepper(system, H, 2, built.load_values)
    state, _ = stepper.advance(stepper.start(state), 0, 20)
    numbering = number_unknowns(system)
    work = workspace(system, numbering)
    work.dr[1:] = H * state.v[1:]
    begin_step(system, numbering, state, work, H)
    move(system, state, work)
    models = system, numbering, state, work, H
    repeats, steps = max(1, 20_000 // n), max(4, 20_000 // n)
    actions: dict[str, Callable[[], Any]] = {
        name: lambda part=part: part(*models, repeats) for name, part in PARTS.items()
    }
    assemble(*models, True)
    size, band = numbering.size, numbering.band
    matrix = np.asfortranarray(work.values[: numbering.n_values].reshape(size, 3 * band + 1).T)
    actions["a step, us"] = lambda: stepper.advance(state, 20, steps)
    least = dict.fromkeys([*actions, "dgbsv"], np.inf)
    for _ in range(ROUNDS + 1):  # the first compiles
        for name, action in actions.items():
            began = process_time()
            action()
            least[name] = min(least[name], process_time() - began)
        buffer, x = matrix.copy(order="F"), np.ones(size)
        began = process_time()
        dgbsv(band, band, buffer, x, overwrite_ab=True, overwrite_b=True)
        least["dgbsv"] = min(least["dgbsv"], process_time() - began)
    times = {name: least[name] / repeats / n * 1e9 for name in PARTS}
    times["factors (difference)"] = times["the same with factors"] - times["all of residual and matrix"]
    times["one LAPACK band solve (dgbsv)"] = least["dgbsv"] / n * 1e9
    times["a fresh iteration over one"] = times["a fresh iteration"] / times["one LAPACK band solve (dgbsv)"]
    times["a step, us"] = least["a step, us"] / steps * 1e6
    return times


def main() -> None:
    """Print the table."""
    sizes = [int(word) for word in sys.argv[1:]] or [100, 1000, 10_000]
    columns = [measured(n) for n in sizes]
    print("| | " + " | ".join(map(str, sizes)) + " |")
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(f"{column[name]:.3g}" for column in columns) + " |")


if __name__ == "__main__":
    main()
