"""Run a mooring line whose fairlead is moved with rodsim and with MoorDyn (benchmarks/README.md).

    python -m benchmarks.moorings

A chain of the OC3-Hywind spar, from the sea bed at 320 m to its fairlead, which surges by 2 m with a period of 10 s. Error:
the largest difference of the fairlead's tension in the last period from the mean of both programs' finest runs, over the
range of the tension in it. Rounds go through all runs in turn; times are medians of processor times.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from time import process_time
from typing import NamedTuple

import numpy as np

from rigid.system import Floats
from rodsim import Model, Section, curves, equilibrium


class Line(NamedTuple):
    """Data of the line, for both programs."""

    length: float = 902.2  # m
    d: float = 0.09  # m
    mass: float = 77.7066  # kg/m
    EA: float = 384.243e6  # N
    damping_time: float = 1e-3  # s
    Cd: float = 1.6
    CdAx: float = 0.1
    Ca: float = 1.0  # across and along the line
    bed: float = 1e5  # N/m^2, stiffness of the sea bed
    rho: float = 1025.0  # kg/m^3
    g: float = 9.80665  # m/s^2


class Outcome(NamedTuple):
    """Result of one run."""

    tension: Floats  # N, at the fairlead, every OUTPUT
    loop_s: float  # processor time, s, of the motion
    whole_s: float  # with model, static start and set-up


LINE = Line()
ANCHOR, FAIRLEAD = (0.0, 0.0, -320.0), (848.67, 0.0, -70.0)
SURGE, PERIOD, T_END, OUTPUT = 2.0, 10.0, 60.0, 0.2  # m, s, s, s
TOLERANCE = 1e-6  # Newton tolerance of a step: half the time of the default, same errors
ROUNDS = 5
TARGETS = (3e-2, 1e-2, 5e-3, 2e-3)


def displacement(t: Floats) -> Floats:
    """Surge of the fairlead, m; it grows in two periods."""
    grown: Floats = SURGE * (1.0 - np.exp(-((t / PERIOD) ** 2))) * np.sin(2 * np.pi * t / PERIOD)
    return grown


def model(n: int) -> Model:
    """Return the line of n elements."""
    model = Model("mooring", gravity=(0, 0, -LINE.g))
    chain = Section.string(
        EA=LINE.EA, mass_per_length=LINE.mass, radius=LINE.d / 2, damping_time=LINE.damping_time
    )
    line = model.add_rod(
        "line",
        curves.catenary(ANCHOR, FAIRLEAD, LINE.length, bed=ANCHOR[2]),
        chain,
        n,
        stress_free=[(0, 0, 0), (LINE.length, 0, 0)],
        mass="lumped",
    )
    motion = f"{SURGE}*(1-exp(-(t/{PERIOD})**2))*sin({2 * np.pi / PERIOD}*t)"
    vessel = model.add_driven("vessel", FAIRLEAD, displacement=[motion, 0.0, 0.0])
    model.add_joint("anchor", "spherical", "ground", line.start)
    model.add_joint("fairlead", "spherical", vessel, line.end)
    sea = model.add_fluid("sea", LINE.rho)
    model.add_submerged_rod(
        "wet line",
        line,
        sea,
        LINE.d,
        drag=LINE.Cd,
        tangential_drag=LINE.CdAx,
        added_mass=LINE.Ca,
        tangential_added_mass=LINE.Ca,
    )
    bed = model.add_plane("bed", model.ground.at((0, 0, ANCHOR[2] - LINE.d / 2)), (0, 0, 1))
    model.add_contact("lies", line, bed, stiffness=LINE.bed)
    return model


def of_rodsim(n: int, h: float, tolerance: float = TOLERANCE) -> Outcome:
    """Measure the equilibrium and the motion."""
    begun = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps longer than the contact's own motion are meant
        line = model(n)
        still = equilibrium(line, progress=False)
        prepared = line.prepare(
            t_end=T_END,
            dt=h,
            start=still,
            output_every=round(OUTPUT / h),
            tolerance=tolerance,
            progress=False,
        )
        ready = process_time()
        result = prepared.run()
    ended = process_time()
    tension = np.linalg.norm(result.joint("fairlead").force, axis=1)
    return Outcome(tension, ended - ready, ended - begun)


def of_moordyn(n: int, h: float) -> Outcome:
    """Run MoorDyn with the classical Runge-Kutta method, the cheapest of its explicit ones here."""
    from benchmarks.peers import moordyn_line

    return moordyn_line.run(n, h)


RUNS: list[tuple[str, Callable[[int, float], Outcome], int, float]] = [
    *(("rodsim", of_rodsim, n, h) for n in (20, 30, 40, 50, 60, 80) for h in (0.2, 0.1, 0.05)),
    *(  # the longest of its steps that are stable, and one shorter
        ("MoorDyn", of_moordyn, n, OUTPUT / steps)
        for n, many in (
            (20, (7, 8)),
            (30, (10, 12)),
            (40, (15, 18)),
            (50, (18, 22)),
            (60, (22, 26)),
            (80, (29, 34)),
        )
        for steps in many
    ),
]


def main(argv: Sequence[str] | None = None) -> int:
    """Print both programs' errors and times, and their times at equal error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.moorings", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of which the median counts")
    rounds = parser.parse_args(argv).rounds
    try:
        import moordyn  # noqa: F401
    except ImportError:
        print("MoorDyn is not installed: pip install moordyn")
        return 0
    last = slice(round((T_END - PERIOD) / OUTPUT), None)
    fine = [of_rodsim(320, 0.01).tension, of_moordyn(320, 5e-4).tension]
    limit = (fine[0] + fine[1])[last] / 2.0
    span = np.ptp(limit)
    print(f"at rest {fine[0][0] / 1e3:.2f} and {fine[1][0] / 1e3:.2f} kN")
    print(f"moved {limit.min() / 1e3:.1f} to {limit.max() / 1e3:.1f} kN")
    print(f"finest runs differ by {np.abs(fine[0] - fine[1])[last].max() / span:.1e}\n")
    measured: list[list[Outcome]] = [[] for _ in RUNS]
    for _ in range(rounds):
        for outcomes, (_, program, n, h) in zip(measured, RUNS, strict=True):
            outcomes.append(program(n, h))
    print("| program | elements | step, ms | error | loop, s | whole, s |\n|---|---|---|---|---|---|")
    rows = []
    for outcomes, (name, _, n, h) in zip(measured, RUNS, strict=True):
        error = np.abs(outcomes[0].tension[last] - limit).max() / span
        loop, whole = (float(np.median([getattr(x, key) for x in outcomes])) for key in ("loop_s", "whole_s"))
        rows.append((name, error, loop, whole))
        print(f"| {name} | {n} | {1e3 * h:.3g} | {error:.1e} | {loop:.3f} | {whole:.3f} |")
    print(
        "\n| error at most | MoorDyn, loop | rodsim, loop | ratio | MoorDyn, whole | rodsim, whole | ratio |"
    )
    print(f"|{'---|' * 7}")
    for target in TARGETS:
        cells = []
        for column in (2, 3):
            least = [
                min((row[column] for row in rows if row[0] == name and row[1] <= target), default=np.nan)
                for name in ("MoorDyn", "rodsim")
            ]
            cells += [f"{least[0]:.3f}", f"{least[1]:.3f}", f"{least[0] / least[1]:.2f}"]
        print(f"| {target:g} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
