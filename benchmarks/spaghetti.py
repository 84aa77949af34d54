"""Compare the flying spaghetti with 1000 elements by four integrators, and their invariants.

    python -m benchmarks.spaghetti

The rod of `benchmarks.schemes`, with the load of B1 in a fifth of its time and twice as strong, so that one
and a half seconds show bending and free flight. Invariants are evaluated on the computed states after the
load.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.rodsim_cases import rod_model
from benchmarks.schemes import ROD
from discretization.state_measures import energies, momenta
from discretization.time.integrate import integrate
from discretization.time.stepper import Stepper
from rigid.system import Floats

CASE = replace(ROD, peak=400.0, t_peak=0.5, t_unloaded=1.0)
SCHEMES = ("em", ""), ("EML-kappa", "quaternion"), ("GGL-EM", "director"), ("GL-SPARK(2)", "director")


@dataclass
class Flight:
    """Centre lines (outputs, nodes, 3) and changes after the load, relative to the size; NaN: the scheme does
    not have the quantity.
    """

    scheme: str
    seconds: float
    r: Floats
    energy: float
    P: float
    L: float
    g: float
    Gv: float


def fly(name: str, chart: str, n_elements: int, h: float, t_end: float, outputs: int) -> Flight:
    """One run."""
    steps, loaded = round(t_end / h), round(CASE.t_unloaded / h)
    if name == "em":
        return _fly_em(n_elements, h, steps, loaded, outputs)
    system = rod_model(CASE, n_elements, "lumped").mechanical_system(chart)
    integrate(system, name, h, h)  # compiles, and determines the sparsity pattern
    begin = perf_counter()
    run = integrate(system, name, h, t_end)
    seconds = perf_counter() - begin
    maps = {s.name: run.momentum(s)[loaded:] for s in system.symmetries}
    regular = name != "EML-kappa"
    at = system.data.frames.entries.position
    columns = at[at >= 0][:, None] + np.arange(3)
    return Flight(
        name,
        seconds,
        run.q[:: steps // outputs][:, columns],
        _change(run.energy()[loaded:, None]),
        _change(np.column_stack([maps[f"P{axis}"] for axis in "xyz"])),
        _change(np.column_stack([maps[f"L{axis}"] for axis in "xyz"])),
        float(run.position_residual().max()),
        float(run.velocity_residual()[1:].max()) if regular else float("nan"),
    )


def _fly_em(n_elements: int, h: float, steps: int, loaded: int, outputs: int) -> Flight:
    built = rod_model(CASE, n_elements, "lumped").build()
    stepper = Stepper(built.system, h, 2, built.load_values)
    stepper.advance(built.state, 0, 1)
    state, seconds = built.state, 0.0
    r, invariants = [state.r[1:].copy()], []
    interval = steps // outputs
    for first in range(0, steps, interval):
        begin = perf_counter()
        state, _ = stepper.advance(state, first, interval)
        seconds += perf_counter() - begin
        r.append(state.r[1:].copy())
        if first + interval >= loaded:
            P, L = momenta(built.system, state)
            invariants.append([energies(built.system, state).total, *P, *L])
    values = np.array(invariants)
    changes = _change(values[:, :1]), _change(values[:, 1:4]), _change(values[:, 4:])
    unit = float(np.abs(np.linalg.norm(state.quat, axis=1) - 1.0).max())
    return Flight("em", seconds, np.array(r), *changes, unit, float("nan"))


def _change(values: Floats) -> float:
    """Largest change of vectors (k, :) relative to their size."""
    return float(np.abs(values - values[0]).max() / np.linalg.norm(values[0]))


def table(flights: Sequence[Flight]) -> str:
    """Markdown table; distances from `em`, the first scheme, over the length of the rod, at the end."""
    lines = [
        "| integrator | seconds | end, from `em` | energy | P | L | g | G v |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for f in flights:
        distance = np.linalg.norm(f.r[-1] - flights[0].r[-1], axis=1).max() / CASE.length
        Gv = "" if np.isnan(f.Gv) else f"{f.Gv:.0e}"
        lines.append(
            f"| {f.scheme} | {f.seconds:.3g} | {distance:.1e} | {f.energy:.0e} | {f.P:.0e} | {f.L:.0e} | {f.g:.0e} | {Gv} |"
        )
    return "\n".join(lines)


def draw(flights: Sequence[Flight], file: Path) -> None:
    """Draw the centre lines of all schemes on top of each other at every output."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot(projection="3d")
    styles = (("k", "-", 3.0), ("C0", "--", 2.0), ("C1", "-.", 1.5), ("C2", ":", 1.5))
    for flight, (colour, style, width) in zip(flights, styles, strict=False):
        for k, line in enumerate(flight.r):
            label = flight.scheme if k == 0 else None
            axes.plot(*line.T, color=colour, linestyle=style, linewidth=width, label=label)
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    axes.set_aspect("equal")
    axes.legend()
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table of `docs/evidence/integrators.md` and draw the rods."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spaghetti", description=__doc__)
    parser.add_argument("--elements", type=int, default=1000)
    parser.add_argument("--h", type=float, default=0.02, help="step (s)")
    parser.add_argument("--t-end", type=float, default=1.5, help="s; a multiple of five steps")
    parser.add_argument("--out", type=Path, help="folder for spaghetti.png")
    arguments = parser.parse_args(argv)
    outputs = 5
    flights = [fly(*row, arguments.elements, arguments.h, arguments.t_end, outputs) for row in SCHEMES]
    print(table(flights))
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        draw(flights, arguments.out / "spaghetti.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
