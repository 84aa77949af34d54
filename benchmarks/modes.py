"""Tables of docs/evidence/modes.md: frequencies of beams compared with exact ones, element order, cost of modes.

python -m benchmarks.modes
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from discretization.linearisation.equations import Linearised
from rodsim import Model, Section
from rodsim.papers.claims import observed_order
from rodsim.small_motions.linear_equations import linearise
from rodsim.small_motions.modal_analysis import Modes, modes
from rodsim.small_motions.steady_rotations import steady_rotation

STEEL = {"E": 210e9, "nu": 0.3, "rho": 7850.0, "kappa": 5 / 6}
# Timoshenko beams of steel, length 1 m, thickness 0.1 and 0.01 m, rad/s; from the exact transcendental equations
EXACT = {
    (0.1, "CF"): (520.8406417227, 3121.577765398, 8210.226133092, 14893.08694845, 22671.33501137),
    (0.1, "FF"): (3226.328042872, 8392.29936429, 15307.92942179, 23357.94448762, 32124.64881),
    (0.1, "PP"): (1449.407741837, 5538.767542316, 11669.15740299, 19210.91314761, 27669.5737686),
    (0.1, "CC"): (3131.332872854, 8024.842753356, 14504.25900209, 22024.4215271, 30244.18941989),
    (0.01, "CF"): (52.49286792255, 328.8105118624, 919.9715478895, 1800.757618815, 2972.464578777),
    (0.01, "FF"): (333.9297006579, 919.85967917, 1801.476754341, 2973.937832348, 4435.129882544),
    (0.01, "PP"): (147.3365094156, 589.0469046202, 1324.236614988, 2351.424055953, 3668.554464637),
    (0.01, "CC"): (333.820164498, 919.3502212818, 1800.084116645, 2970.990588975, 4429.777196486),
}
SHEAR_RIGID = {
    (0.1, "CF"): (523.9565822203, 3246.341371431, 8928.827863769, 17064.42735079, 27355.67458448),
    (0.1, "FF"): (3273.64783203, 8816.067969519, 16789.94488118, 26825.48388784, 38579.9988363),
    (0.1, "PP"): (1467.591816316, 5799.827424469, 12797.34433047, 22164.5269533, 33552.06944097),
    (0.1, "CC"): (3323.521575714, 9036.401545555, 17350.72299552, 27911.19339752, 40357.13378892),
}
EULER_BERNOULLI = {
    (0.1, "CF"): (524.9705590116, 3289.934335005, 9211.911401612, 18051.6697479, 29840.70353425),
    (0.1, "FF"): (3340.519102354, 9208.269539343, 18051.89007853, 29840.69129251, 44576.84460749),
    (0.1, "PP"): (1473.614687081, 5894.458748324, 13262.53218373, 23577.8349933, 36840.36717703),
    (0.1, "CC"): (3340.519102354, 9208.269539343, 18051.89007853, 29840.69129251, 44576.84460749),
}


class Benchmark(NamedTuple):
    """A beam of the dynamics benchmarks, length 10."""

    EI: float
    GA: float
    mass: float  # per length
    inertia: float  # per length
    ends: str
    exact: tuple[float, ...]


BENCHMARKS = {
    "flying spaghetti 3D": Benchmark(
        500.0,
        1e4,
        1.0,
        10.0,
        "FF",
        (2.033798362526, 4.08203765684, 6.367859928754, 8.634256572217, 10.89938935775),
    ),
    "flying spaghetti 2D": Benchmark(
        100.0,
        1e4,
        1.0,
        10.0,
        "FF",
        (0.9096019256069, 1.826291545604, 2.848415461263, 3.86206751205, 4.874870159179),
    ),
    "elbow leg": Benchmark(
        1e3,
        1e6,
        1.0,
        10.0,
        "CF",
        (0.9152580345521, 3.457380432705, 6.990041877562, 10.29100760941, 13.59418680738),
    ),
    "spin-up beam": Benchmark(
        1.4e4,
        1e7,
        1.2,
        6e-4,
        "CF",
        (3.797562869935, 23.79264510527, 66.5917337132, 130.4121363381, 215.4069212551),
    ),
}
ELEMENTS = (
    ("se3", "lumped", (16, 32, 64)),
    ("se3", "mean", (16, 32, 64)),
    ("se3", "consistent", (16, 32, 64)),
    ("lagrange(2)", "lumped", (16, 32, 64)),
    ("lagrange(2)", "consistent", (16, 32, 64)),
    ("relative(2)", "lumped", (16, 32, 64)),
    ("relative(2)", "consistent", (16, 32, 64)),
    ("lagrange(3)", "lumped", (12, 24, 48)),
    ("lagrange(3)", "consistent", (12, 24, 48)),
    ("relative(4)", "lumped", (8, 16, 32)),
    ("relative(4)", "consistent", (8, 16, 32)),
)


def steel(thickness: float, theory: str = "Timoshenko") -> Section:
    """A square section; shear-rigid for Rayleigh's theory, without rotary inertia for Euler and Bernoulli's."""
    A, I = thickness**2, thickness**4 / 12
    E, rho = STEEL["E"], STEEL["rho"]
    G = E / (2 * (1 + STEEL["nu"]))
    GA = STEEL["kappa"] * G * A * (1.0 if theory == "Timoshenko" else 1e5)
    rotary = rho * I * (1e-5 if theory == "Euler-Bernoulli" else 1.0)
    return Section.from_stiffness(
        EA=E * A,
        GA=GA,
        GJ=2 * G * I,
        EI=E * I,
        mass_per_length=rho * A,
        inertia_per_length=(2 * rotary, rotary, rotary),
    )


def section_of(beam: Benchmark) -> Section:
    """Section of a benchmark."""
    return Section.from_stiffness(
        EA=1e6, GA=beam.GA, GJ=beam.EI, EI=beam.EI, mass_per_length=beam.mass, inertia_per_length=beam.inertia
    )


def beam_model(section: Section, ends: str, element: str, mass: str, n: int, length: float = 1.0) -> Model:
    """A straight rod; ends: two of C (clamped), P (pinned), F (free)."""
    model = Model("beam")
    rod = model.add_rod("rod", [(0, 0, 0), (length, 0, 0)], section, n, element=element, mass=mass)
    for name, anchor, end in (("start", rod.start, ends[0]), ("end", rod.end, ends[1])):
        if end == "C":
            model.add_joint(name, "clamp", anchor)
        elif end == "P":
            model.add_joint(name, "spherical", model.ground, anchor)
    return model


def bending(spectrum: Modes, count: int) -> np.ndarray:
    """Frequencies, rad/s, of the bending modes of a straight rod along x with equal stiffness in both planes."""
    moves = np.abs(spectrum.shapes) ** 2
    across = moves[..., [1, 2]].sum(axis=(1, 2))
    size = moves[..., [0, 1, 2]].sum(axis=(1, 2)) + (moves[..., 3] * 1e-2).sum(axis=1)
    use = [k for k, kind in enumerate(spectrum.kinds) if kind != "rigid" and across[k] > 0.5 * size[k]]
    return np.asarray(spectrum.omega[use][0 : 2 * count : 2])


def frequencies(
    section: Section, ends: str, element: str, mass: str, n: int, count: int, length: float = 1.0
) -> np.ndarray:
    """The lowest bending frequencies, rad/s."""
    return bending(modes(beam_model(section, ends, element, mass, n, length), 4 * count + 12), count)


def errors(element: str, mass: str, numbers: tuple[int, ...], ends: str = "CF", count: int = 3) -> np.ndarray:
    """Relative errors (numbers, count) on the thick beam."""
    exact = np.array(EXACT[0.1, ends][:count])
    return np.array([frequencies(steel(0.1), ends, element, mass, n, count) / exact - 1.0 for n in numbers])


def order(element: str, mass: str, numbers: tuple[int, ...], ends: str = "CF", mode: int = 1) -> float:
    """Observed order of one frequency."""
    return observed_order([1 / n for n in numbers], np.abs(errors(element, mass, numbers, ends)[:, mode]))


def cost(n: int, count: int = 10) -> tuple[float, float, Linearised]:
    """Seconds to linearise a clamped rod of n elements, and to compute its modes from scratch."""
    built = beam_model(steel(0.1), "CF", "se3", "mean", n).build()
    begin = time.perf_counter()
    lin = linearise(built)
    middle = time.perf_counter()
    modes(built, count)
    return middle - begin, time.perf_counter() - middle, lin


# Wright, Smith, Thresher and Wang, J. Appl. Mech. 49 (1982) 197: uniform cantilever without hub, flap frequencies by speed,
# both in units of sqrt(EI/(m L^4))
WRIGHT = {
    1: (3.6816, 22.1810, 61.8418),
    2: (4.1373, 22.6149, 62.2732),
    3: (4.7973, 23.3203, 62.9850),
    4: (5.5850, 24.2733, 63.9668),
    6: (7.3604, 26.8091, 66.6839),
    8: (9.2568, 29.9954, 70.2930),
    10: (11.2023, 33.6404, 74.6493),
    12: (13.1702, 37.6031, 79.6145),
}


def turning_modes(speed: float, hub: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Flap and lag frequencies of a slender blade of unit length, mass and stiffness that rotates about z."""
    section = Section.from_stiffness(
        EA=1e8, GA=1e8, GJ=1.0, EI=1.0, mass_per_length=1.0, inertia_per_length=1e-9
    )
    model = Model("blade")
    rod = model.add_rod(
        "rod", [(hub, 0, 0), (hub + 1, 0, 0)], section, 24, element="relative(4)", mass="lumped"
    )
    model.add_joint("root", "clamp", rod.start)
    built, spin = model.build(), (0, 0, speed)
    spectrum = modes(built, 14, steady_rotation(built, spin), spin=spin)
    moves = np.abs(spectrum.shapes).max(axis=1)
    return spectrum.omega[moves[:, 2] > 0.1][:3], spectrum.omega[moves[:, 1] > 0.1][:3]


def main() -> None:
    """Print the tables."""
    print(
        "| element | mass | intervals: error of modes 1 to 3 (clamped-free, thickness 0.1) | order |\n|---|---|---|---|"
    )
    for element, mass, numbers in ELEMENTS:
        values = errors(element, mass, numbers)
        cells = "; ".join(
            f"{n}: " + ", ".join(f"{e:.1e}" for e in row) for n, row in zip(numbers, values, strict=True)
        )
        slope = observed_order([1 / n for n in numbers], np.abs(values[:, 1]))
        print(f"| {element} | {mass} | {cells} | {slope:.2f} |")
    print("\n| thickness | ends | largest error of modes 1 to 5 |\n|---|---|---|")
    for (thickness, ends), exact in EXACT.items():
        values = frequencies(steel(thickness), ends, "relative(4)", "consistent", 64, 5)
        print(f"| {thickness} | {ends} | {np.abs(values / np.array(exact) - 1).max():.1e} |")
    print("\n| speed | flap frequencies (published) | lag frequencies |\n|---|---|---|")
    for speed, published in WRIGHT.items():
        flap, lag = turning_modes(speed)
        both = ", ".join(f"{x:.4f} ({y:.4f})" for x, y in zip(flap, published, strict=True))
        print(f"| {speed} | {both} | {', '.join(f'{x:.4f}' for x in lag)} |")
    print("\n| elements | linearise, s | modes, s |\n|---|---|---|")
    cost(20)
    for n in (100, 1000, 10_000):
        seconds = cost(n)
        print(f"| {n} | {seconds[0]:.2f} | {seconds[1]:.2f} |")


if __name__ == "__main__":
    main()
