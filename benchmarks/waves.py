"""Compute nodes for each wave length and steps for each period for 1 % and 0.1 % error of the frequency.

    python -m benchmarks.waves

A straight round rod (nu = 0.3); waves of twenty radii, on which bending and shear depend but not the others.
Elements of one order have the same waves on a straight rod: `lagrange(1)` those of `se3`, `relative(p)` those
of `lagrange(p)`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from rodsim import Material, Section
from rodsim.components.model_parts import MASSES
from rodsim.waves import BRANCHES, nodes_needed, steps_needed

RADIUS = 0.01
SECTION = Section.circular(RADIUS, Material(E=2.1e11, nu=0.3, density=7850.0))
ELEMENTS = ("se3", "lagrange(2)", "lagrange(3)", "lagrange(4)")
ERRORS = (1e-2, 1e-3)


def nodes(element: str, mass: str, branch: str, radii: float = 20.0) -> list[float]:
    """Nodes for each wave length for the ERRORS; waves are `radii` of the section long."""
    k = 2 * np.pi / (radii * RADIUS)
    return [nodes_needed(SECTION, element, mass, branch, k, error) for error in ERRORS]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables of `docs/evidence/waves.md`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waves", description=__doc__)
    parser.add_argument("--radii", type=float, default=20.0, help="length of the wave, in radii of the rod")
    arguments = parser.parse_args(argv)
    print(f"nodes a wave length of {arguments.radii:g} radii for 1 %, 0.1 % error of the frequency\n")
    print(f"| element, mass | {' | '.join(BRANCHES)} |\n|---|{'---|' * len(BRANCHES)}")
    for element in ELEMENTS:
        for mass in MASSES:
            columns = [
                ", ".join(f"{x:.1f}" for x in nodes(element, mass, branch, arguments.radii))
                for branch in BRANCHES
            ]
            print(f"| {element}, {mass} | {' | '.join(columns)} |", flush=True)
    print("\nsteps a period for 1 %, 0.1 % error of the frequency\n")
    print("| integrator | steps | solves |\n|---|---|---|")
    for integrator, solves in (("em", 1), ("em4", 5), ("em6", 9), ("em8", 17)):
        steps = [steps_needed(error, integrator) for error in ERRORS]
        columns = [", ".join(f"{x * many:.1f}" for x in steps) for many in (1, solves)]
        print(f"| {integrator} | {' | '.join(columns)} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
