"""Run many steps of `em` with every rod element and every section law (docs/evidence/elements.md).

    python -m benchmarks.endurance

The flying spaghetti with half its load, on few nodes. After the end of the load energy and momenta are
constant; the table gives the largest relative change of the energy and of the angular momentum so far, after
increasing numbers of steps.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from time import process_time

import numpy as np

from benchmarks.cases import B1
from benchmarks.rodsim_cases import rod_model
from discretization.space.laws import LAWS
from discretization.space.rod_elements import SE3, WORDS
from discretization.state_measures import energies, momenta
from discretization.time.stepper import Stepper
from rodsim import Section

LINEAR = "linear"
CASE = replace(B1, peak=0.5 * B1.peak)  # so that five nodes suffice for every element
PARAMETERS = {"strain": 0.02, "moment": 250.0}  # far within the range of this rod
H, NODES = 0.05, 5
LAWS_MEASURED = (LINEAR, *(law.word for law in LAWS if set(law.parameters) <= set(PARAMETERS)))
PARTS = 10  # parts of a power of ten of steps, between which the energy is evaluated


def section_with(law: str, plain: Section) -> Section:
    """The section with this law; the parameters of its law are taken from `PARAMETERS` by name."""
    if law == LINEAR:
        return plain
    names = next(known.parameters for known in LAWS if known.word == law)
    return plain.with_law(law, **{name: PARAMETERS[name] for name in names})


def changes(element: str, law: str, steps: int) -> list[tuple[int, float, float]]:
    """Rows (steps, change of the energy, change of the angular momentum) after powers of ten of steps."""
    model = rod_model(CASE, NODES - 1, "mean", element, section=lambda plain: section_with(law, plain))
    built = model.build()
    stepper = Stepper(built.system, H, 2, built.load_values)
    loaded = round(CASE.t_energy / H)
    state, _ = stepper.advance(built.state, 0, loaded)
    E0, L0 = energies(built.system, state).total, momenta(built.system, state)[1]
    energy = change_of_L = 0.0
    rows, steps_done, decade = [], 0, 100
    while steps_done < steps:
        decade = min(10 * decade, steps)
        piece = max((decade - steps_done) // PARTS, 1)
        while steps_done < decade:
            count = min(piece, decade - steps_done)
            state, _ = stepper.advance(state, loaded + steps_done, count)
            steps_done += count
            energy = max(energy, abs(energies(built.system, state).total / E0 - 1.0))
            L = momenta(built.system, state)[1]
            change_of_L = max(change_of_L, float(np.linalg.norm(L - L0) / np.linalg.norm(L0)))
        rows.append((steps_done, energy, change_of_L))
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table of `docs/evidence/elements.md`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endurance", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--element", action="append", choices=list(WORDS), help="only this one")
    parser.add_argument("--law", action="append", choices=LAWS_MEASURED, help="only this one")
    arguments = parser.parse_args(argv)
    print(f"energy and angular momentum on {NODES} nodes\n")
    print("| element | law | change after steps: energy, angular momentum | s |\n|---|---|---|---|")
    for element in arguments.element or WORDS:
        for law in arguments.law or LAWS_MEASURED:
            if element == SE3 and law != LINEAR:
                continue
            begin = process_time()
            rows = changes(element, law, arguments.steps)
            seconds = process_time() - begin
            cells = "; ".join(f"{n:.0e}: {energy:.0e}, {momentum:.0e}" for n, energy, momentum in rows)
            print(f"| {element} | {law} | {cells} | {seconds:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
