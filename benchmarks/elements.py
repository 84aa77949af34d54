"""Measure accuracy and cost of the rod elements: `python -m benchmarks.elements` (tables of docs/evidence/elements.md).

--space    error in space alone of the rods of `benchmarks.mass_distributions` and of a right-angle cantilever,
           by intervals between nodes; the same step for all, compared with relative(4) with 160 intervals
--fronts   least time for an error in space and time of B1 and B2, by element and integrator, all in one run
--order    errors of an equilibrium, the 45 degree bend under 600, in the tip and in the stored energy, and their
           orders
--cost     time of a Newton iteration for each unknown on 1000 intervals, compared with `se3`, in turn
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import B1, B2, RodCase
from benchmarks.mass_distributions import CASES, MassCase, error
from benchmarks.rodsim_cases import rod_model
from discretization.space.rod_elements import SE3, WORDS, order_of
from discretization.time.stepper import Stepper
from rigid.errors import ConvergenceError
from rigid.system import State
from rodsim import Model, Section, equilibrium, signals, simulate

Floats = NDArray[np.float64]
FINEST = "relative(4)", 160
INTERVALS = 10, 20, 40, 80
_POINTS, _OUTPUTS = 5, 40
INTERVALS_AT_REST = {1: (8, 16, 32), 2: (8, 16, 32), 3: (6, 12, 24), 4: (8, 16, 32)}  # by order
LENGTH = 25.0 * np.pi  # of the bend


def right_angle(
    n_elements: int, mass: str, element: str = SE3, inertia: tuple[float, float, float] = (20.0, 10.0, 10.0)
) -> Model:
    """The right-angle cantilever of Simo and Vu-Quoc (1988), `n_elements` along both legs, with a force pulse
    at the elbow.
    """
    section = Section.from_stiffness(
        EA=1e6, GA=1e6, GJ=1e3, EI=1e3, mass_per_length=1.0, inertia_per_length=inertia
    )
    model = Model("right angle")
    first = model.add_rod("base", [(0, 0, 0), (10, 0, 0)], section, n_elements, mass=mass, element=element)
    rod = model.add_rod("rod", [(10, 0, 0), (10, 10, 0)], section, n_elements, mass=mass, element=element)
    model.add_joint("clamp", "clamp", first.start)
    model.add_joint("elbow", "weld", first.end, rod.start)
    pulse = signals.Triangle(peak=50.0, t_peak=1.0, t_end=2.0)
    model.add_force("force", rod.start, pulse.along((0.0, 0.0, 1.0)))
    return model


RODS = {**CASES, "right angle": MassCase("right-angle cantilever", right_angle, 10.0, 0.02)}


def positions_of(case: MassCase, element: str, n_elements: int, mass: str) -> Floats:
    """Positions (outputs, points, 3) of points that are ends of elements."""
    every = max(1, round(case.t_end / case.h) // _OUTPUTS)
    positions = (
        simulate(
            case.model(n_elements, mass, element), case.t_end, case.h, output_every=every, progress=False
        )
        .rod("rod")
        .r
    )
    return positions[:, :: (positions.shape[1] - positions.shape[1] % 2) // _POINTS][:, : _POINTS + 1]


def space(elements: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Rows of the table of errors in space."""
    yield f"| rod | element | {' | '.join(map(str, INTERVALS))} |\n|---|---|{'---|' * len(INTERVALS)}"
    for name in names:
        case = RODS[name]
        exact = positions_of(case, *FINEST, "mean")
        length = case.model(10, "mean").rods["rod"].stress_free.length
        for element in elements:
            cells = []
            for n in INTERVALS:
                if n % (_POINTS * order_of(element)):
                    cells.append("")
                    continue
                try:
                    cells.append(f"{error(positions_of(case, element, n, 'mean'), exact, length):.1e}")
                except ConvergenceError:
                    cells.append("fails")
            yield f"| {case.title} | `{element}` | {' | '.join(cells)} |"


ORDERS = {"em": 2, "em4": 4, "em6": 6}
MESHES = {
    "se3": (20, 40, 80, 160, 320),
    "lagrange(2)": (20, 40, 80),
    "lagrange(3)": (9, 18, 36, 72),
    "relative(2)": (10, 20, 40, 80, 120),
    "relative(4)": (8, 16, 32, 48),
}
STEPS = {
    "B1": {"em": (0.1, 0.05, 0.025, 0.0125, 0.005), "em4": (0.25, 0.125, 0.0625), "em6": (0.5, 0.25, 0.125)},
    "B2": {
        "em": (0.02, 0.01, 0.005, 0.0025, 0.001),
        "em4": (0.04, 0.02, 0.01, 0.005),
        "em6": (0.04, 0.02, 0.01),
    },
}
EXACT = {"B1": ("relative(4)", 120, "em6", 0.0625), "B2": ("relative(4)", 120, "em6", 0.005)}
ERRORS = 1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5


def best_mass(case: RodCase, element: str) -> str:
    """The best mass distribution for `se3`; it matters little for the other elements."""
    return "lumped" if case.clamped or element != SE3 else "consistent"


def ends(case: RodCase, element: str, n: int, scheme: str, h: float) -> tuple[Floats, float]:
    """Positions (2, 3) of the rod ends at the end of time, and the process time of the march, s."""
    built = rod_model(case, n, best_mass(case, element), element).build()
    stepper = Stepper(built.system, h, ORDERS[scheme], built.load_values)
    begin = process_time()
    state, _ = stepper.advance(built.state, 0, round(case.t_end / h))
    seconds = process_time() - begin
    return state.r[[1, -1]], seconds


def fronts(case: RodCase, elements: Sequence[str], repeats: int = 2) -> Iterator[str]:
    """Rows of the table of times (ms), each of the best mesh and step."""
    exact = ends(case, *EXACT[case.name])[0]
    runs = [
        (element, scheme, n, h)
        for element in elements
        for scheme, steps in STEPS[case.name].items()
        for n in MESHES[element]
        for h in steps
    ]
    measured: dict[tuple[str, str, int, float], list[float]] = {}
    for _ in range(repeats):
        for run in runs:
            try:
                r, seconds = ends(case, run[0], run[2], run[1], run[3])
            except ConvergenceError:
                continue
            distance = float(np.linalg.norm(r - exact, axis=1).max()) / case.length
            before = measured.get(run, [np.inf, np.inf])
            measured[run] = [distance, min(before[1], seconds)]
    yield f"| {case.name} | {' | '.join(f'{bound:.0e}' for bound in ERRORS)} |\n|---|{'---|' * len(ERRORS)}"
    for element in elements:
        for scheme in STEPS[case.name]:
            cells = []
            for bound in ERRORS:
                good = [
                    (seconds, run[2], run[3])
                    for run, (distance, seconds) in measured.items()
                    if run[:2] == (element, scheme) and distance <= bound
                ]
                best = min(good, default=None)
                cells.append(f"{1e3 * best[0]:.0f} ({best[1]}, {best[2]:g})" if best else "")
            yield f"| `{element}` with `{scheme}` | {' | '.join(cells)} |"


def bend(n_elements: int, element: str) -> Model:
    """Bathe and Bolourchi's (1979) bend: an eighth of a circle of radius 100, square section 1, a force across its plane."""

    def arc(s: float) -> Floats:
        return 100.0 * np.array([np.sin(np.pi / 4 * s), 1.0 - np.cos(np.pi / 4 * s), 0.0])

    section = Section.from_stiffness(
        EA=1e7, GA=5e6, GJ=1e7 / 12, EI=1e7 / 12, mass_per_length=1.0, inertia_per_length=1.0
    )
    model = Model("bend")
    rod = model.add_rod("rod", arc, section, n_elements, element=element)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("tip", rod.end, (0.0, 0.0, 600.0))
    return model


def bent(n_elements: int, element: str) -> tuple[Floats, float]:
    """Position of the tip and stored energy of the bend in equilibrium."""
    result = equilibrium(bend(n_elements, element))
    return result.rod("rod").r[-1, -1], float(result.energy["elastic"][-1])


def orders(elements: Sequence[str]) -> Iterator[str]:
    """Rows of the table of an equilibrium's errors."""
    tip, energy = bent(*reversed(FINEST))
    yield "| element | intervals | tip, of the length | order | energy, relative | order |\n|---|---|---|---|---|---|"
    for element in elements:
        before: tuple[float, float] | None = None
        for n in INTERVALS_AT_REST[order_of(element)]:
            r, stored = bent(n, element)
            errors = float(np.linalg.norm(r - tip)) / LENGTH, abs(stored / energy - 1.0)
            rates = (
                ["", ""]
                if before is None
                else [f"{np.log2(b / f):.2f}" for b, f in zip(before, errors, strict=True)]
            )
            yield f"| `{element}` | {n} | {errors[0]:.1e} | {rates[0]} | {errors[1]:.1e} | {rates[1]} |"
            before = errors


def cost(elements: Sequence[str], n: int = 1000, rounds: int = 15, steps: int = 4) -> Iterator[str]:
    """Rows of the table of costs: each round measures all elements in turn; the least over all rounds counts."""
    models: dict[str, tuple[Stepper, State, int]] = {}
    for element in elements:
        built = rod_model(B1, n, "mean", element).build()
        stepper = Stepper(built.system, 0.02, 2, built.load_values)
        models[element] = stepper, stepper.advance(built.state, 0, 10)[0], stepper.numbering.size
    least = dict.fromkeys(elements, np.inf)
    iterations = {}
    for _ in range(rounds):
        for element, (stepper, state, size) in models.items():
            begin = process_time()
            _, report = stepper.advance(state, 10, steps)
            iterations[element] = report.iterations
            least[element] = min(least[element], (process_time() - begin) / (report.iterations * size))
    yield f"| element | iterations of {steps} steps | us an iteration and unknown | over `{elements[0]}` |\n|---|---|---|---|"
    for element in elements:
        ratio = least[element] / least[elements[0]]
        yield f"| `{element}` | {iterations[element]} | {1e6 * least[element]:.2f} | {ratio:.2f} |"


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line, flush=True)
    print()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the requested tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elements", description=__doc__)
    parser.add_argument("--space", action="store_true")
    parser.add_argument("--fronts", action="store_true")
    parser.add_argument("--order", action="store_true")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--element", action="append", choices=list(WORDS), help="only these")
    parser.add_argument("--rod", action="append", choices=list(RODS), help="only these")
    arguments = parser.parse_args(argv)
    elements = arguments.element or [SE3, "lagrange(2)", "relative(2)", "relative(4)"]
    if arguments.space:
        _print(space(elements, arguments.rod or list(RODS)))
    if arguments.fronts:
        for case in (B1, B2):
            _print(fronts(case, arguments.element or list(MESHES)))
    if arguments.order:
        _print(orders(arguments.element or WORDS))
    if arguments.cost:
        _print(cost([SE3, *(word for word in arguments.element or WORDS if word not in (SE3, "midpoint"))]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
