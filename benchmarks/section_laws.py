"""Measure the cost of section laws for each step, and the energy balance of a long run.

    python -m benchmarks.section_laws

A free rod in flight that stretches, bends and twists; laws of the same stiffness at zero strain. Steps of all
laws are timed in turn, in one run; a time is the least of the rounds, relative to that of the linear law.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from discretization.state_measures import energies
from discretization.time.stepper import Stepper
from rodsim import Model, Section

LINEAR = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
)
ENERGY = (
    "(EA*Gamma1**2 + GA2*Gamma2**2 + GA3*Gamma3**2 + GJ*K1**2)/2"
    " + m**2*(sqrt(1 + (EI2*K2**2 + EI3*K3**2)/m**2) - 1)"
)
LAWS = {
    "linear": LINEAR,
    "stiffening": LINEAR.with_law("stiffening", strain=0.1),
    "thinning": LINEAR.with_law("thinning"),
    "softening": LINEAR.with_law("softening", moment=20.0),
    "with_energy": LINEAR.with_energy(ENERGY, m=20.0),
    "with_relaxation": LINEAR.with_relaxation(0.1, fraction=0.5),
}
H = 0.01


def stepper(section: Section, element: str, n_elements: int) -> tuple[Stepper, object]:
    """The rod of this section, and its state at t = 0."""
    model = Model("rod")
    model.add_rod(
        "rod",
        lambda s: (s, 0.4 * np.sin(3 * s), 0.3 * s * s),
        section,
        n_elements,
        velocity=lambda s: (0.3, 8.0 * (s - 0.4) ** 2, 6.0 * s - 5.0 * s * s),
        angular_velocity=(0.4, -0.3, -1.0),
        element=element,
    )
    built = model.build()
    return Stepper(built.system, H), built.state


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table of `docs/evidence/elements.md`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.section_laws", description=__doc__)
    parser.add_argument("--elements", type=int, default=20)
    parser.add_argument("--steps", type=int, default=50, help="of a round")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args(argv)
    print(f"{arguments.elements} elements, {arguments.rounds} x {arguments.steps} steps of {H:g} s\n")
    print(
        "| element, law | time an iteration, by that of the linear law | iterations a step | balance/energy |"
    )
    print("|---|---|---|---|")
    for element in ("se3", "relative(2)"):
        runs = {word: stepper(section, element, arguments.elements) for word, section in LAWS.items()}
        first = {
            word: energies(law_stepper.system, state).total for word, (law_stepper, state) in runs.items()
        }
        states = {word: law_stepper.advance(state, 0, 1)[0] for word, (law_stepper, state) in runs.items()}
        least, iterations = dict.fromkeys(LAWS, np.inf), dict.fromkeys(LAWS, 0)
        for k in range(arguments.rounds):
            for word, (law_stepper, _) in runs.items():
                begin = perf_counter()
                states[word], report = law_stepper.advance(
                    states[word], 1 + k * arguments.steps, arguments.steps
                )
                least[word] = min(least[word], (perf_counter() - begin) / report.iterations)
                iterations[word] += report.iterations
        for word, (law_stepper, _) in runs.items():
            left = energies(law_stepper.system, states[word]).total + states[word].totals[1] - first[word]
            mean = iterations[word] / (arguments.rounds * arguments.steps)
            ratio = least[word] / least["linear"]
            print(
                f"| {element}, {word} | {ratio:.2f} | {mean:.2f} | {abs(left) / first[word]:.1e} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
