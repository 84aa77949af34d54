"""Measure the cost of a step of every integrator, compared with `em` with the same step.

    python -m benchmarks.schemes

Rods (B1, the flying spaghetti) and chains of bars (B3) of 10 to 1000 elements or bars are in motion. `em-ggl`
takes them to the step `FIRST`, from which every scheme continues. After `WARM` steps, which determine its
multipliers, the next `STEPS` are measured, the same ones for all sizes. All schemes are measured in turn, and
a ratio is that to the steps of `em` just before: other work on the machine affects both. Times are processor
times. `benchmarks.spaghetti` compares the solutions of the schemes.

Differences from B1: lumped masses, as schemes with momenta need their inverse to be local; and sections with
some extension along the rod (moments 20, 11, 11 in place of 20, 10, 10 kg m), without which the mass of
directors is singular.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from math import log
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.cases import B1, B3_500
from benchmarks.rodsim_cases import chain_model, rod_model
from discretization.time.integrate import March, initial
from discretization.time.integrators import parse
from discretization.time.mechanical_stepper import system_in_chart
from discretization.time.stepper import Stepper
from discretization.time.trajectory import Start, Trajectory
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim import Model

ROD = replace(B1, inertia_per_length=(20.0, 11.0, 11.0))
LENGTHS = {"rod": 0.02, "chain": 0.01}  # s; steps h
FIRST, WARM, STEPS = 50, 3, 10
SIZES = 10, 32, 100, 320, 1000
SCHEMES = (
    ("EML-kappa", "quaternion"),
    ("REML", "quaternion"),
    ("EM-G", "director"),
    ("GGL-EM", "director"),
    ("VI-B(0.5, 0.5)", "director"),
    ("mG(1)", "director"),
    ("mG(2, 2)", "director"),
    ("GL-SPARK(2)", "director"),
    ("GL-SPARK(2)", "quaternion-gamma"),
)
_LEAST_S = 0.2  # least measured time of a round, by repetition of the same steps


@dataclass(frozen=True)
class Cost:
    """Cost of steps of a scheme on a model; data are those of Newton's matrix, all but times the same in
    every run.
    """

    case: str
    size: int  # elements, or bars
    scheme: str
    chart: str
    us: float  # microseconds for each element and step
    ratio: float  # to `em`
    iterations: float  # Newton iterations of a step
    matrices: float  # matrices computed for them
    unknowns: float  # a frame
    colours: int
    band: int  # half bandwidth after elimination of interior unknowns
    kib: float  # bytes of Newton's matrix and its factors for each frame


def model_of(case: str, size: int) -> Model:
    """The rod with `size` elements or the chain of `size` bars."""
    return rod_model(ROD, size, "lumped") if case == "rod" else chain_model(B3_500, size)


def seconds(march: Callable[[], Any]) -> float:
    """Processor time on one thread, s: other work on the machine matters less than for wall time."""
    begin = process_time()
    march()
    return process_time() - begin


def costs(case: str, size: int, schemes: Sequence[tuple[str, str]], repeats: int) -> list[Cost]:
    """Costs of `em` and of each scheme."""
    h, built = LENGTHS[case], model_of(case, size).build()
    stepper = Stepper(built.system, h, 2, built.load_values)
    # to velocities consistent with the joints
    moved, _ = Stepper(built.system, h, 2, built.load_values, hidden=True).advance(built.state, 0, FIRST)
    warmed, _ = stepper.advance(moved, FIRST, WARM)
    reference = _timer_of(lambda: stepper.advance(warmed, FIRST + WARM, STEPS))
    charts = {
        chart: system_in_chart(case, built.system, moved, chart, built.load_values) for _, chart in schemes
    }
    runs = [Run(charts[chart], name, h) for name, chart in schemes]
    marches = [_timer_of(run.march) for run in runs]
    times: list[list[float]] = [[] for _ in schemes]
    ratios: list[list[float]] = [[] for _ in schemes]
    em_times = []
    for _ in range(repeats):
        for k, march in enumerate(marches):
            em_times.append(reference() / STEPS)
            times[k].append(march() / STEPS)
            ratios[k].append(times[k][-1] / em_times[-1])
    _, report = stepper.advance(warmed, FIRST + WARM, STEPS)
    em_iterations = report.iterations / STEPS
    em_us = 1e6 * median(em_times) / size
    rows = [Cost(case, size, "em", "", em_us, 1.0, em_iterations, em_iterations, 6, 0, 0, 0.0)]
    for k, (name, chart) in enumerate(schemes):
        last_state, matrices = runs[k].march()
        solver = runs[k].integration._solver
        frames = int((charts[chart].data.frames.entries.orientation >= 0).sum())
        rows.append(
            Cost(
                case,
                size,
                name,
                chart,
                1e6 * median(times[k]) / size,
                median(ratios[k]),
                float(np.mean(last_state.iterations[1:])),
                matrices / STEPS,
                len(solver.x) / frames,
                len(solver.pattern.colours.start) - 1,
                solver.pattern.band,
                _bytes(solver) / frames / 1024,
            )
        )
    return rows


class Run:
    """A scheme in progress: the measured steps begin after `WARM` steps."""

    def __init__(self, system: Any, name: str, h: float):
        self.name, self.h, self.integration = name, h, March(system, parse(name))
        begin = FIRST * h + h * np.arange(WARM + 1)
        self._start = self._advance(begin, initial(system)._replace(t=begin[0])).at(-1)
        self._times = self._start.t + h * np.arange(STEPS + 1)

    def march(self) -> tuple[Trajectory, int]:
        """Take the measured steps; return the number of matrices computed for them."""
        before = self.integration.matrices
        return self._advance(self._times, self._start), self.integration.matrices - before

    def _advance(self, t: Floats, start: Start) -> Trajectory:
        run, failure = self.integration.run(self.h, t, start)
        if failure is not None:
            raise ModelError(f"{self.name} at t = {run.t[-1]:.4g}: {failure.reason}; measure a smaller size")
        return run


def _timer_of(march: Callable[[], Any]) -> Callable[[], float]:
    """Return a function that measures the seconds of `march`, averaged over as many calls as take about
    `_LEAST_S`.
    """
    march()
    count = int(np.ceil(_LEAST_S / seconds(march)))

    def repeat() -> None:
        for _ in range(count):
            march()

    return lambda: seconds(repeat) / count


def _bytes(value: Any) -> int:
    """Bytes of all arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(_bytes(part) for part in value) if isinstance(value, tuple) else 0


def exponent(rows: Sequence[Cost], an_iteration: bool = False) -> float:
    """Exponent of the size in the time of a step, or of a Newton iteration with its fraction of the matrices,
    between the smallest and the largest.
    """
    first, last = min(rows, key=lambda c: c.size), max(rows, key=lambda c: c.size)
    if last.size == first.size:
        return float("nan")
    growth = last.us / first.us
    if an_iteration:
        growth *= first.iterations / last.iterations
    return 1.0 + log(growth) / log(last.size / first.size)


def table(costs_measured: Sequence[Cost]) -> str:
    """Markdown table: a row for each scheme; times for all sizes, the other columns at the largest."""
    sizes = sorted({c.size for c in costs_measured})
    lines = []
    for case in dict.fromkeys(c.case for c in costs_measured):
        of_case = [c for c in costs_measured if c.case == case]
        heads = "".join(f" {n} |" for n in sizes)
        heads += (
            " exponent | an iteration | to `em` | iterations | matrices | unknowns | colours | band | KiB |"
        )
        lines += [
            f"| {case}: us an element and step |{heads}",
            "|---|" + "---|" * (len(sizes) + 9),
        ]
        key = lambda c: (c.scheme, c.chart)  # noqa: E731
        order = {key(c): k for k, c in enumerate(of_case)}
        for (scheme, chart), group in groupby(sorted(of_case, key=lambda c: (order[key(c)], c.size)), key):
            rows = list(group)
            last = rows[-1]
            times = "".join(f" {c.us:.3g} |" for c in rows)
            matrix = f" {last.unknowns:.0f} | {last.colours} | {last.band} | {last.kib:.0f} |"
            lines.append(
                f"| {scheme}{', ' + chart if chart else ''} |{times} {exponent(rows):.2f} | {exponent(rows, True):.2f} | "
                f"{last.ratio:.1f} | {last.iterations:.1f} | {last.matrices:.1f} |"
                + (matrix if chart else "  |  |  |  |")
            )
        lines.append("")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables of `docs/evidence/integrators.md`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.schemes", description=__doc__)
    parser.add_argument("--case", action="append", choices=list(LENGTHS), help="only this one")
    parser.add_argument("--size", action="append", type=int, help="elements or bars (10, 32, 100, 320, 1000)")
    parser.add_argument("--scheme", action="append", help="only these, such as 'GGL-EM'")
    parser.add_argument("--repeats", type=int, default=3, help="rounds; medians count (default 3)")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = parser.parse_args(argv)
    schemes = [row for row in SCHEMES if not arguments.scheme or row[0] in arguments.scheme]
    rows = []
    for case in arguments.case or LENGTHS:
        for size in sorted(arguments.size or SIZES):
            rows += costs(case, size, schemes, arguments.repeats)
    print(table(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(c) for c in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
