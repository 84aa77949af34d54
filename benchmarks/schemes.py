"""`python -m benchmarks.schemes`: what a step costs with every integrator, beside `em` with the same step.

Rods (B1, the flying spaghetti) and chains of bars (B3) of 10 to 1000 elements or bars. All schemes go round in turn, and a
ratio is that to the steps of `em` just before: other work on the machine hits both. Times are those of the processor.
`benchmarks.spaghetti` looks at what the schemes compute.

Changed against B1: lumped masses, as schemes with momenta need their inverse to be local; and sections with some extension
along the rod (moments 20, 11, 11 in place of 20, 10, 10 kg m), without which the mass of directors is singular.
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
from discretization.time.integrate import Trajectory, integrate, solver_for
from discretization.time.integrators import parse
from discretization.time.stepper import Stepper
from rodsim import Model

ROD = replace(B1, inertia_per_length=(20.0, 11.0, 11.0))
STEPS = {"rod": 0.02, "chain": 0.01}  # s; steps h
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
_LEAST_S = 0.2  # that a measured march takes at least, unless it has _MOST steps
_FEWEST, _MOST = 2, 200


@dataclass(frozen=True)
class Cost:
    """What steps of a scheme cost on a model; the matrix is Newton's, all but times the same in every run."""

    case: str
    size: int  # elements, or bars
    scheme: str
    chart: str
    us: float  # microseconds an element and step
    ratio: float  # to `em`
    iterations: float  # of Newton's method a step
    unknowns: float  # a frame
    colours: int
    band: int  # half bandwidth of what is left without interior unknowns
    kib: float  # of Newton's matrix and its factors, a frame


def model_of(case: str, size: int) -> Model:
    """The rod with `size` elements or the chain of `size` bars."""
    return rod_model(ROD, size, "lumped") if case == "rod" else chain_model(B3_500, size)


def seconds(march: Callable[[int], Any], steps: int) -> float:
    """Processor time of `steps` steps, on one thread: other work on the machine counts less than on the clock."""
    begin = process_time()
    march(steps)
    return process_time() - begin


def steps_for(march: Callable[[int], Any]) -> int:
    """Steps that take about `_LEAST_S`; they have run once then."""
    seconds(march, 1)
    return int(np.clip(np.ceil(_LEAST_S / seconds(march, 1)), _FEWEST, _MOST))


def em_march(model: Model, h: float) -> Callable[[int], Any]:
    """Steps of `em` from the initial state."""
    built = model.build()
    stepper = Stepper(built.system, h, 2, built.load_values)
    return lambda steps: stepper.advance(built.state, 0, steps)


def costs(case: str, size: int, schemes: Sequence[tuple[str, str]], repeats: int) -> list[Cost]:
    """One for `em` and one for each scheme."""
    h, model = STEPS[case], model_of(case, size)
    reference = em_march(model, h)
    em_steps = steps_for(reference)
    charts = {chart: model.mechanical_system(chart) for _, chart in schemes}
    marches = [_march(charts[chart], name, h) for name, chart in schemes]
    counts = [steps_for(march) for march in marches]
    times: list[list[float]] = [[] for _ in schemes]
    ratios: list[list[float]] = [[] for _ in schemes]
    em_times = []
    for _ in range(repeats):
        for k, (march, count) in enumerate(zip(marches, counts, strict=True)):
            em_times.append(seconds(reference, em_steps) / em_steps)
            times[k].append(seconds(march, count) / count)
            ratios[k].append(times[k][-1] / em_times[-1])
    _, report = reference(em_steps)
    em_iterations = report.iterations / em_steps
    found = [Cost(case, size, "em", "", 1e6 * median(em_times) / size, 1.0, em_iterations, 6, 0, 0, 0.0)]
    for k, (name, chart) in enumerate(schemes):
        run: Trajectory = marches[k](counts[k])
        solver, _ = solver_for(parse(name), run.system)
        frames = int((run.system.data.frames.each.orientation >= 0).sum())
        found.append(
            Cost(
                case,
                size,
                name,
                chart,
                1e6 * median(times[k]) / size,
                median(ratios[k]),
                float(np.mean(run.iterations[1:])),
                len(solver.x) / frames,
                len(solver.pattern.colours.start) - 1,
                solver.pattern.band,
                _bytes(solver) / frames / 1024,
            )
        )
    return found


def _march(system: Any, name: str, h: float) -> Callable[[int], Trajectory]:
    return lambda steps: integrate(system, name, h, steps * h)


def _bytes(value: Any) -> int:
    """Of all arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(_bytes(part) for part in value) if isinstance(value, tuple) else 0


def exponent(rows: Sequence[Cost]) -> float:
    """Of the time a step over the size, between the smallest and the largest."""
    first, last = min(rows, key=lambda c: c.size), max(rows, key=lambda c: c.size)
    return (
        1.0 + log(last.us / first.us) / log(last.size / first.size)
        if last.size > first.size
        else float("nan")
    )


def table(found: Sequence[Cost]) -> str:
    """Markdown: a row for each scheme; times for all sizes, the rest at the largest."""
    sizes = sorted({c.size for c in found})
    lines = []
    for case in dict.fromkeys(c.case for c in found):
        own = [c for c in found if c.case == case]
        heads = "".join(f" {n} |" for n in sizes)
        lines += [
            f"| {case}: us an element and step |{heads} exponent | to `em` | iterations | unknowns | colours | band | KiB |",
            "|---|" + "---|" * (len(sizes) + 7),
        ]
        key = lambda c: (c.scheme, c.chart)  # noqa: E731
        order = {key(c): k for k, c in enumerate(own)}
        for (scheme, chart), group in groupby(sorted(own, key=lambda c: (order[key(c)], c.size)), key):
            rows = list(group)
            last = rows[-1]
            times = "".join(f" {c.us:.3g} |" for c in rows)
            matrix = f" {last.unknowns:.0f} | {last.colours} | {last.band} | {last.kib:.0f} |"
            lines.append(
                f"| {scheme}{', ' + chart if chart else ''} |{times} {exponent(rows):.2f} | {last.ratio:.1f} | "
                f"{last.iterations:.1f} |" + (matrix if chart else "  |  |  |  |")
            )
        lines.append("")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables of `docs/integrators.md`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.schemes", description=__doc__)
    parser.add_argument("--case", action="append", choices=list(STEPS), help="only this one")
    parser.add_argument("--size", action="append", type=int, help="elements or bars (10, 32, 100, 320, 1000)")
    parser.add_argument("--scheme", action="append", help="only these, such as 'GGL-EM'")
    parser.add_argument("--repeats", type=int, default=3, help="rounds; medians count (default 3)")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = parser.parse_args(argv)
    schemes = [row for row in SCHEMES if not arguments.scheme or row[0] in arguments.scheme]
    found = []
    for case in arguments.case or STEPS:
        for size in sorted(arguments.size or SIZES):
            found += costs(case, size, schemes, arguments.repeats)
    print(table(found))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(c) for c in found], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
