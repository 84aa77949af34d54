"""Ratios of rodsim's kernels, measured side by side in one run.

Absolute times mean nothing on a shared machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
from scipy.linalg.lapack import dgbsv

from benchmarks.registry import CASES
from benchmarks.rodsim_cases import build
from discretization.assembly.numbering import number_unknowns
from discretization.assembly.step_equations import assemble, begin_step, move
from discretization.assembly.workspace import workspace
from discretization.time.newton import correct, factor, solve
from discretization.time.stepper import Stepper
from rigid.compilation.decorators import allocating_kernel
from rodsim.building.build import Built

H = 0.01


@allocating_kernel
def iterations(system, numbering, state, work, h, n):
    """n complete Newton iterations: residual, tangent, factors, solution, correction."""
    for _ in range(n):
        assemble(system, numbering, state, work, h, True)
        factor(numbering, work)
        work.rhs[:] = 0.0  # stay at the start of the step
        solve(numbering, work)
        correct(system, numbering, work)
        move(system, state, work)


def ratios(quick: bool = False) -> Iterator[tuple[str, float, str]]:
    """Rows (what, value, goal): Newton iterations over LAPACK's band solver, and the growth of the time of a
    step.
    """
    rod, chain = build(CASES["B1"], 1000), build(CASES["B3-500"], 500)
    for name, built in (("free rod of 1000 elements", rod), ("chain of 500 bars", chain)):
        full, mean = _newton_over_dgbsv(built)
        yield f"Newton iteration with new factors / dgbsv, {name}", full, "<= 3"
        yield f"Newton iteration, mean of a march / dgbsv, {name}", mean, "<= 3"
    sizes = [100, 1000, 10_000] if quick else [100, 1000, 10_000, 100_000]
    times = [_time_a_step(build(CASES["B1"], n), max(3, 20_000 // n)) for n in sizes]
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    yield f"exponent of time a step, {sizes[0]} to {sizes[-1]} elements", float(slope), "<= 1.05"


def _best(action: Callable[[], object], repeats: int = 9) -> float:
    best = np.inf
    for _ in range(repeats):
        begin = perf_counter()
        action()
        best = min(best, perf_counter() - begin)
    return best


def _newton_over_dgbsv(built: Built) -> tuple[float, float]:
    system, state = built.system, built.state
    numbering = number_unknowns(system)
    work = workspace(system, numbering)
    begin_step(system, numbering, state, work, H)
    move(system, state, work)
    assemble(system, numbering, state, work, H, True)
    band, size = numbering.band, numbering.size
    matrix = np.asfortranarray(work.values[: numbering.n_values].reshape(size, 3 * band + 1).T)
    rhs = np.random.default_rng(0).standard_normal(size)
    iterations(system, numbering, state, work, H, 1)
    buffer, x = matrix.copy(order="F"), rhs.copy()
    lapack = np.inf
    for _ in range(15):
        buffer[:], x[:] = matrix, rhs  # not timed; leaves the matrix in the cache
        begin = perf_counter()
        dgbsv(band, band, buffer, x, overwrite_ab=True, overwrite_b=True)
        lapack = min(lapack, perf_counter() - begin)
    iteration = _best(lambda: iterations(system, numbering, state, work, H, 5)) / 5
    stepper = Stepper(system, H, 2, built.load_values)
    state, _ = stepper.advance(state, 0, 20)
    begin = perf_counter()
    _, report = stepper.advance(state, 20, 20)
    march = (perf_counter() - begin) / report.iterations
    return iteration / lapack, march / lapack


def _time_a_step(built: Built, steps: int) -> float:
    stepper = Stepper(built.system, H, 2, built.load_values)
    state, _ = stepper.advance(built.state, 0, 1)
    return _best(lambda: stepper.advance(state, 1, steps), 3) / steps
