"""Compare steps of `em` by the solver for the structure of a model with those by the general solver.

python -m benchmarks.structured_solvers

Trees of bodies (leaf-to-root elimination) and planar models with three unknowns a frame, both with loops and
springs. Microseconds of processor time for a step of h = 10 ms, the fastest of several interleaved runs from
the same state, and iterations.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import process_time

import numpy as np

from discretization.planar.symmetry_input import Symmetry
from discretization.solver_selection import select_stepper
from rodsim import Box, Model, Section
from rodsim.components.model_parts import Anchor

H, RUNS, GRAVITY = 0.01, 7, (1.0, 2.0, -9.0)
KINDS = ("revolute", "spherical", "universal", "prismatic", "cylindrical", "revolute", "weld")


def chain(n: int, kind: str) -> Model:
    """Bars of 1 m in a line, fixed at one end; hinges about axes that differ from joint to joint."""
    rng = np.random.default_rng(1)
    model = Model("chain", gravity=GRAVITY)
    last = model.ground.at((0.0, 0.0, 0.0))
    for k in range(n):
        bar = model.add_body(f"bar {k}", Box(1.0, 0.1, 0.1, density=1000.0), position=(k + 0.5, 0.0, 0.0))
        axis = rng.standard_normal(3) if kind == "revolute" else None
        model.add_joint(f"joint {k}", kind, last, bar.at((-0.5, 0.0, 0.0)), axis=axis)
        last = bar.at((0.5, 0.0, 0.0))
    return model


def planar_chain(n: int, kind: str = "revolute") -> Model:
    """Bars of 1 m in a line, fixed at one end, falling in their plane."""
    model = Model("planar chain", gravity=(0.0, 0.0, -9.81))
    last = model.ground.at((0.0, 0.0, 0.0))
    for k in range(n):
        bar = model.add_body(f"bar {k}", Box(1.0, 0.1, 0.1, density=1000.0), position=(k + 0.5, 0.0, 0.0))
        model.add_joint(f"joint {k}", kind, last, bar.at((-0.5, 0.0, 0.0)), axis=(0.0, 1.0, 0.0))
        last = bar.at((0.5, 0.0, 0.0))
    return model


def sprung_chain(n: int) -> Model:
    """The planar chain with a spring from the first bar to the last."""
    model = planar_chain(n)
    bars = list(model.bodies.values())
    model.add_spring("spring", bars[0].at((0.0, 0.0, 0.0)), bars[-1].at((0.0, 0.0, 0.0)), stiffness=1e4)
    return model


def four_bars(n: int) -> Model:
    """n four-bars side by side, each with a bar of the one before it; unequal rockers."""
    model = Model("four-bars", gravity=(1.0, 0.0, -9.0))
    last = None
    for k in range(n + 1):
        height, x = 1.0 + 0.1 * (k % 3), 1.5 * k
        rocker = model.add_body(
            f"rocker {k}", Box(0.1, 0.1, height, density=1000.0), position=(x, 0.0, 0.5 * height)
        )
        model.add_joint(f"pin {k}", "revolute", model.ground, rocker, at=(x, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
        top = (x, 0.0, height)
        if last is not None:
            begin = np.array(last[1])
            along = np.array(top) - begin
            size, tilt = np.linalg.norm(along), np.arctan2(-along[2], along[0])
            quat = (np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0)
            bar = model.add_body(
                f"coupler {k}",
                Box(size, 0.1, 0.1, density=1000.0),
                position=begin + 0.5 * along,
                orientation=quat,
            )
            model.add_joint(f"left {k}", "spherical", last[0], bar, at=last[1])
            model.add_joint(f"right {k}", "spherical", bar, rocker, at=top)
        last = rocker, top
    return model


def cantilever(n: int) -> Model:
    """A rod of 1 m, clamped at one end, falling in its plane; soft enough to hang down."""
    model = Model("cantilever", gravity=(0.0, 0.0, -9.81))
    section = Section.from_stiffness(
        EA=1e5, GA=4e4, GJ=1.0, EI=(1.0, 1.5), mass_per_length=1.0, inertia_per_length=(2e-4, 1e-4, 1e-4)
    )
    rod = model.add_rod("rod", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], section, n)
    model.add_joint("clamp", "clamp", rod.start)
    return model


def lattice(n: int, kind: str) -> Model:
    """n by n fields of rods of two elements, welded or hinged at their nodes and clamped on the left, falling in their plane."""
    model = Model("lattice", gravity=(0.0, 0.0, -9.81))
    section = Section.from_stiffness(
        EA=1e5, GA=3e4, GJ=20.0, EI=30.0, mass_per_length=0.5, inertia_per_length=(2e-4, 1e-4, 1e-4)
    )
    ends: dict[tuple[int, int], Anchor] = {}
    fields = range(n + 1)
    level = [((x, y), (x + 1, y)) for y in fields for x in range(n)]
    upright = [((x + 1, y), (x + 1, y + 1)) for y in range(n) for x in range(n)]
    for i, nodes in enumerate(level + upright):
        rod = model.add_rod(f"rod {i}", [(x, 0.0, y) for x, y in nodes], section, 2, up=(0.0, 1.0, 0.0))
        for k, (node, end) in enumerate(zip(nodes, (rod.start, rod.end), strict=True)):
            first = ends.setdefault(node, end)
            about = {"at": (node[0], 0.0, node[1]), "axis": (0.0, 1.0, 0.0)} if kind == "revolute" else {}
            if first is not end:
                model.add_joint(f"node {i} {k}", kind, first, end, **about)
    for y in fields:
        model.add_joint(f"clamp {y}", "clamp", ends[0, y])
    return model


def branched(n: int) -> Model:
    """Bodies of different shapes on joints of several kinds, off their centres, each on one of the three
    before it.
    """
    rng = np.random.default_rng(3)
    model = Model("branched", gravity=GRAVITY)
    positions: list[np.ndarray] = []
    bodies = []
    for k in range(n):
        kind, parent = KINDS[k % len(KINDS)], -1 if k == 0 else int(rng.integers(max(0, k - 3), k))
        at = np.zeros(3) if k == 0 else positions[parent] + (0.3, 0.2, 0.1)
        positions.append(np.add(at, (0.4, -0.1, 0.2)))
        body = model.add_body(f"body {k}", Box(0.5 + 0.1 * k, 0.3, 0.2, density=100.0), position=positions[k])
        if kind == "universal":
            axes = {"axis": (1.0, 0.0, 0.0), "second_axis": (0.0, 1.0, 0.0)}
        else:
            axes = {} if kind in ("spherical", "weld") else {"axis": rng.standard_normal(3)}
        parent_part = model.ground if parent < 0 else bodies[parent]
        model.add_joint(f"joint {k}", kind, parent_part, body, at=at, **axes)
        bodies.append(body)
    return model


def tied(n: int) -> Model:
    """Bars in a line on hinges, a spring from the first to the last."""
    model = chain(n, "revolute")
    bars = list(model.bodies.values())
    model.add_spring("spring", bars[0].at((0.0, 0.1, 0.0)), bars[-1].at((0.0, 0.0, 0.1)), stiffness=1e3)
    return model


def ring(n: int, kinds: Sequence[str] = ("revolute",)) -> Model:
    """n bars from the ground along a bent half circle and back to it, on joints of these kinds in turn."""
    rng = np.random.default_rng(1)
    model = Model("ring", gravity=GRAVITY)
    angles = np.linspace(0.0, np.pi, n + 2)
    at = 1.5 * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    at += 0.3 * rng.standard_normal(at.shape)
    last = model.ground
    for k in range(n + 1):
        bar = model.ground
        if k < n:
            shape = Box(0.5 + 0.1 * k, 0.2, 0.1, density=500.0)
            bar = model.add_body(f"bar {k}", shape, position=0.5 * (at[k] + at[k + 1]))
        kind = kinds[k % len(kinds)]
        axis = rng.standard_normal(3) if kind == "revolute" else None
        model.add_joint(f"joint {k}", kind, last, bar, at=at[k], axis=axis)
        last = bar
    return model


def five_bars(n: int) -> Model:
    """n five-bars in a row, each with a rocker of the one before it; rockers on oblique hinges, two bars on balls between."""
    rng = np.random.default_rng(1)
    model = Model("five-bars", gravity=GRAVITY)
    last, before = None, np.zeros(3)
    for k in range(n + 1):
        foot = np.array((1.5 * k, 0.1 * (k % 2), 0.0))
        shape = Box(0.1, 0.12, 1.0 + 0.1 * (k % 3), density=1000.0)
        rocker = model.add_body(f"rocker {k}", shape, position=foot + np.array((0.0, 0.0, 0.5)))
        model.add_joint(f"pin {k}", "revolute", model.ground, rocker, at=foot, axis=rng.standard_normal(3))
        top = foot + np.array((0.0, 0.0, 1.0))
        if last is not None:
            points = before, 0.5 * (before + top) + np.array((0.0, 0.2, 0.4)), top
            parent = last
            for j in range(2):
                middle = 0.5 * (points[j] + points[j + 1])
                bar = model.add_body(f"bar {k} {j}", Box(0.8, 0.1, 0.12, density=1000.0), position=middle)
                model.add_joint(f"joint {k} {j}", "spherical", parent, bar, at=points[j])
                parent = bar
            model.add_joint(f"joint {k}", "spherical", parent, rocker, at=top)
        last, before = rocker, top
    return model


def four_bar() -> Model:
    """In space: crank and rocker on hinges, a ball joint and a universal joint between them and a bar."""
    model = Model("four-bar", gravity=GRAVITY)
    crank = model.add_body("crank", Box(0.1, 0.1, 0.5, density=1000.0), position=(0, 0, 0.25))
    rocker = model.add_body("rocker", Box(0.1, 0.1, 1.0, density=1000.0), position=(1.5, 0.4, 0.5))
    bar = model.add_body("bar", Box(1.6, 0.1, 0.1, density=1000.0), position=(0.75, 0.2, 0.75))
    model.add_joint("A", "revolute", model.ground, crank, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("B", "revolute", model.ground, rocker, at=(1.5, 0.4, 0), axis=(1, 0, 0.2))
    model.add_joint("C", "spherical", crank, bar, at=(0, 0, 0.5))
    model.add_joint("D", "universal", bar, rocker, at=(1.5, 0.4, 1.0), axis=(0, 0, 1), second_axis=(0, 1, 0))
    return model


def measured(model: Model, steps: int, order: int, planar: bool) -> list[tuple[float, float]]:
    """Microseconds of a step and iterations of a solve, by the general and by the structured solver."""
    built = model.build()
    symmetry = Symmetry(built.state, built.load_directions) if planar else None
    steppers = [
        select_stepper(built.system, H, order, built.load_values, shortcut=shortcut, symmetry=symmetry)
        for shortcut in (False, True)
    ]
    state = steppers[0].start(built.state)
    times = [(np.inf, 0.0)] * 2
    for run in range(RUNS + 1):
        for k, stepper in enumerate(steppers):
            began = process_time()
            _, report = stepper.advance(state, 0, steps)
            spent = process_time() - began
            if run > 0:  # the first one compiles
                times[k] = min(times[k][0], 1e6 * spent / steps), report.iterations / report.solves
    return times


def main(most: int = 500) -> None:
    """Print one line for each model."""
    cases = [
        (f"{n} {words}", chain(n, kind))
        for words, kind in (("oblique hinges", "revolute"), ("ball joints", "spherical"))
        for n in (5, 20, 100, 500)
        if n <= most
    ]
    cases.append(("15 mixed, branched", branched(15)))
    cases += [("four-bar in space", four_bar()), ("6 balls in a ring", ring(6, ("spherical",)))]
    cases += [(f"{n} oblique hinges in a ring", ring(n)) for n in (6, 20) if n <= most]
    cases += [(f"{n} five-bars in a row", five_bars(n)) for n in (1, 5, 20) if n <= most]
    cases += [(f"{n} oblique hinges and a spring", tied(n)) for n in (5, 20) if n <= most]
    cases += [(f"{n} planar hinges", planar_chain(n)) for n in (5, 20, 100, 500) if n <= most]
    cases += [(f"{n} planar hinges and a spring", sprung_chain(n)) for n in (5, 20) if n <= most]
    cases += [(f"{n} planar four-bars", four_bars(n)) for n in (1, 2, 5, 20) if n <= most]
    cases += [(f"planar cantilever, {n} elements", cantilever(n)) for n in (10, 20, 100, 500) if n <= most]
    cases += [
        (f"planar lattice, {n} by {n} fields, {words}", lattice(n, kind))
        for words, kind in (("welded", "weld"), ("hinged", "revolute"))
        for n in (2, 4, 8, 16)
        if n <= most
    ]
    print("| model | | general, us | iterations | structured, us | iterations | speed-up |")
    for words, model in cases:
        n = len(model.bodies) or int(words.split()[2])
        for order in (2, 4):
            steps = max(10, (2000 if order == 2 else 250) // n)
            (us, its), (special, own_its) = measured(model, steps, order, "planar" in words)
            name = "em" if order == 2 else f"em{order}"
            print(
                f"| {words} | {name} | {us:.1f} | {its:.2f} | {special:.1f} | {own_its:.2f} | {us / special:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
