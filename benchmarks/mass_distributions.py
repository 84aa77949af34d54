"""Measure the effect of the translational mass of rods on the error in space.

    python -m benchmarks.mass_distributions

Nine rods move with lumped, mean and consistent masses on 10, 20 and 40 elements. The error is that in space
alone, against 320 elements with the same step: the largest distance of six points from their reference,
relative to the length of the rod. The table has its root mean square over all outputs, since one instant can
be lucky.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import B1, B2
from benchmarks.rodsim_cases import rod_model
from discretization.space.rod_elements import SE3
from rodsim import Material, Model, Section, Sphere, signals, simulate
from rodsim.components.model_parts import MASSES

Floats = NDArray[np.float64]
FINEST = 320
ELEMENTS = (10, 20, 40)
_POINTS = 5  # pieces between the points measured; divides all numbers of elements
_OUTPUTS = 40


@dataclass(frozen=True)
class MassCase:
    """A rod named "rod" that moves, its end of time and its step (s)."""

    title: str
    model: Callable[
        ..., Model
    ]  # function of a number of elements, a mass and optionally an element other than `se3`
    t_end: float
    h: float


def _blade(force: float) -> Callable[..., Model]:
    """A clamped blade, twisted by 0.4 rad, with bending-torsion coupling; an oscillating force acts at its
    tip.

    The stiffness is that of the composite beam of Wang, Sprague and Jonkman (2017).
    """
    return lambda n, mass, element=SE3: _swung_blade(n, mass, element, force)


def _swung_blade(n: int, mass: str, element: str, force: float) -> Model:
    C = 1e3 * np.diag([1368.17, 88.56, 38.78, 16.96, 59.12, 141.47])
    C[3, 4] = C[4, 3] = 17.61e3
    C[3, 5] = C[5, 3] = -0.351e3
    C[4, 5] = C[5, 4] = -0.370e3
    section = Section.from_stiffness(
        C=C, mass_per_length=0.08538, inertia_per_length=(1.4433e-2, 0.40972e-2, 1.0336e-2)
    )
    model = Model("blade")
    rod = model.add_rod("rod", [(0, 0, 0), (10, 0, 0)], section, n, mass=mass, element=element, twist=0.4)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("force", rod.end, lambda t: (0.0, 0.0, force * np.sin(10.0 * t)))
    return model


def _cable(n: int, mass: str, element: str = SE3) -> Model:
    """Half a circle between two hooks, straight without stress, released with a velocity to the side."""
    section = Section.circular(0.003, Material(E=1e7, nu=0.3, density=1000.0))
    radius = 1 / np.pi
    model = Model("cable", gravity=(0, 0, -9.81))
    rod = model.add_rod(
        "rod",
        lambda s: (-radius * np.cos(np.pi * s), 0.0, -radius * np.sin(np.pi * s)),
        section,
        n,
        mass=mass,
        element=element,
        stress_free=[(0, 0, 0), (1, 0, 0)],
        velocity=lambda s: (0.0, np.sin(np.pi * s), 0.5 * np.sin(2 * np.pi * s)),
    )
    model.add_joint("left", "spherical", model.ground, rod.start)
    model.add_joint("right", "spherical", model.ground, rod.end)
    return model


def _spring(n: int, mass: str, element: str = SE3) -> Model:
    """Three turns of wire that hang from a clamp and carry a ball."""

    def helix(s: float) -> tuple[float, float, float]:
        a = 6 * np.pi * s
        return 0.05 * np.cos(a), 0.05 * np.sin(a), -0.09 * s

    section = Section.circular(0.004, Material(E=1e9, nu=0.3, density=2000.0))
    model = Model("spring", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", helix, section, n, mass=mass, element=element)
    ball = model.add_body("ball", Sphere(0.02, mass=0.05), position=helix(1.0))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("weld", "weld", rod.end, ball)
    return model


def _carrier(n: int, mass: str, element: str = SE3) -> Model:
    """A cantilever that falls with a body on its end, three times its mass."""
    section = Section.circular(0.01, Material(E=1e8, nu=0.3, density=1000.0))
    model = Model("carrier", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, n, mass=mass, element=element)
    ball = model.add_body("ball", Sphere(0.05, mass=0.94), position=(1, 0, 0))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("weld", "weld", rod.end, ball)
    return model


def _ring(n: int, mass: str, element: str = SE3) -> Model:
    """A free rubber ring with an initial velocity: it becomes an ellipse, bends out of its plane and rotates."""
    section = Section.circular(0.03, Material(E=2e6, nu=0.45, density=1100.0))

    def velocity(s: float) -> tuple[float, float, float]:
        a = 2 * np.pi * s
        return 2.0 * np.cos(a), -2.0 * np.sin(a), 2.0 * np.cos(2 * a) + 0.5 * np.cos(a)

    def circle(s: float) -> tuple[float, float, float]:
        return np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0

    model = Model("ring")
    model.add_rod("rod", circle, section, n, closed=True, mass=mass, element=element, velocity=velocity)
    return model


def _tumbler(n: int, mass: str, element: str = SE3) -> Model:
    """A free straight rod that hardly bends, with an impulse at one end."""
    section = Section.circular(0.02, Material(E=1e9, nu=0.3, density=1000.0))
    model = Model("tumbler")
    rod = model.add_rod("rod", [(-0.5, 0, 0), (0.5, 0, 0)], section, n, mass=mass, element=element)
    blow = signals.Triangle(peak=40.0, t_peak=0.05, t_end=0.1)
    model.add_force("blow", rod.start, blow.along((0.0, 1.0, 0.3)))
    return model


CASES = {
    "spaghetti": MassCase("flying spaghetti", lambda *given: rod_model(B1, *given), 10.0, 0.05),
    "tumbler": MassCase("tumbling rod", _tumbler, 2.0, 0.01),
    "ring": MassCase("struck ring", _ring, 1.0, 0.005),
    "cantilever": MassCase("falling cantilever", lambda *given: rod_model(B2, *given), 1.0, 0.005),
    "blade": MassCase("blade, coupled stiffness", _blade(500.0), 2.0, 0.005),
    "whip": MassCase("the same blade, whipped", _blade(1500.0), 1.0, 0.0025),
    "cable": MassCase("hanging cable", _cable, 1.0, 0.005),
    "spring": MassCase("helical spring with a ball", _spring, 1.0, 0.005),
    "carrier": MassCase("rod with a body on its end", _carrier, 1.0, 0.005),
}


def positions_of(case: MassCase, n_elements: int, mass: str) -> Floats:
    """Positions (outputs, points, 3) of the measured points."""
    steps = round(case.t_end / case.h)
    every = max(1, steps // _OUTPUTS)
    rod = simulate(case.model(n_elements, mass), case.t_end, case.h, output_every=every, progress=False).rod(
        "rod"
    )
    return rod.r[:, :: n_elements // _POINTS]


def error(positions: Floats, exact: Floats, length: float) -> float:
    """Root mean square over the outputs of the largest relative distance of the points (see the module)."""
    distance = np.linalg.norm(positions - exact, axis=2).max(axis=1)
    return float(np.sqrt(np.mean(distance[1:] ** 2)) / length)


def errors(
    case: MassCase, elements: Sequence[int] = ELEMENTS, finest: int = FINEST
) -> dict[str, list[float]]:
    """Errors by mass, one for each number of elements."""
    exact = positions_of(case, finest, "mean")
    length = case.model(elements[0], "mean").rods["rod"].stress_free.length
    return {mass: [error(positions_of(case, n, mass), exact, length) for n in elements] for mass in MASSES}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table of `docs/evidence/elements.md`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mass_distributions", description=__doc__)
    parser.add_argument("--case", action="append", choices=list(CASES), help="only this one")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = parser.parse_args(argv)
    results = {}
    print(f"error in % of the length with {', '.join(map(str, ELEMENTS))} elements\n")
    print(f"| rod | {' | '.join(MASSES)} |\n|---|{'---|' * len(MASSES)}")
    for name in arguments.case or CASES:
        results[name] = errors(CASES[name])
        columns = [", ".join(f"{100 * x:.2g}" for x in row) for row in results[name].values()]
        print(f"| {CASES[name].title} | {' | '.join(columns)} |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
