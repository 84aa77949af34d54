"""Measure a step of heaps of 50 to 1000 rods, and what a heap conserves (docs/evidence/solvers.md).

    python -m benchmarks.heaps

Soft rods of 20 elements lie on each other in a box of planes. They are placed one after the other, each on
the highest of those that it crosses, and relax for some steps in which their velocities are reduced; the same
seed gives the same heap. With `--layers` they begin as a settled pile: crossed layers with the contact depth
of their weight. They come to rest except for what the stations of a crossing let through; then the parts of a
step are also timed separately. At the end of every run all pairs of segments are checked: touching pairs that
are in no list, and contact depths.

`--balance STEPS` runs 20 rods of few elements instead: energy without friction, dissipation with it.

`--rest STEPS` lets a heap with friction and restitution fall and come to rest by these losses, by viscosity
(`--viscous`) and by rolling resistance (`--rolling`). It prints a line for every tenth of a second and ends
at rest (`at_rest`). `--after STEPS` then reports the remaining motion. `--file` stores the state of the last
line, from which the same command resumes bit for bit.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from discretization.contact.closest_points import distances
from discretization.contact.neighbour_search import prepare_search
from discretization.contact.table import BOTH, Contacts, Rod, contacts_of, points_of
from discretization.interaction_table import history_variable_counts
from discretization.internal_variables import first_history_variable, internal_variables
from discretization.state_measures import energies
from discretization.system import System
from discretization.time.contact_stepper import ContactStepper
from discretization.time.newton import factor, solve
from discretization.time.stepper import Stepper
from discretization.time.stepper_base import copy_state
from rigid.interactions.contact.friction import DRILL, N_INTERNAL, ROLL
from rigid.system import Floats, State
from rodsim import Friction, Material, Model, Section
from rodsim.results.layout import RodLayout

RADIUS, LENGTH, ELEMENTS = 0.01, 0.5, 20  # m
SPACING = 0.04  # m, distance of rods in a layer of a settled pile
WIDTH = 0.6  # m, of the box of 50 rods; its size grows with the number of rods
STIFFNESS, STATIONS = 1e6, 5  # N/m2; intervals of an element
SOFT = 2e5  # Pa, Young's modulus of the rods
LOSS = (0.3, 0.0, 0.02, 0.3, 0.3, 1e5, 0.0, 0.0, 1.0, 1.0, 1.0)
STEP = 5e-4  # s
REST = 20  # steps in which a pile relaxes
RESTING = 1e-12  # kinetic energy of a heap at rest, relative to the lost energy


class Heap(NamedTuple):
    """Rods in a box."""

    system: System
    state: State
    h: float  # s

    def stepper(self) -> ContactStepper:
        """Stepper of `em`."""
        return ContactStepper(self.system, self.h, lambda system: Stepper(system, self.h))


def lay_rods(count: int, width: float, seed: int = 0) -> Floats:
    """Ends (count, 2, 3) of straight rods in a box of this width, m, each above those it crosses."""
    way = np.random.default_rng(seed)
    ends = np.zeros((count, 2, 3))
    for k in range(count):
        while True:
            angle = way.uniform(0.0, np.pi)
            half = 0.5 * LENGTH * np.array([np.cos(angle), np.sin(angle)])
            middle = way.uniform(-0.5 * width, 0.5 * width, 2)
            if np.all(np.abs(middle) + np.abs(half) < 0.5 * width - 1.2 * RADIUS):
                break
        ends[k, :, :2] = middle - half, middle + half
        flat = ends[: k + 1] * [1.0, 1.0, 0.0]
        numbers = np.arange(k)
        both = np.stack([0 * numbers + 2 * k, 0 * numbers + 2 * k + 1, 2 * numbers, 2 * numbers + 1], axis=1)
        distance = np.empty(k)
        distances(np.ascontiguousarray(flat.reshape(-1, 3)), both, distance)
        below = ends[:k, 0, 2][distance < 2.0 * RADIUS]
        ends[k, :, 2] = max(below.max(initial=-1.0) + 2.001 * RADIUS, 1.001 * RADIUS)
    return ends


def packed(count: int, seed: int = 0) -> tuple[Floats, tuple[float, float]]:
    """Ends (count, 2, 3) of rods in crossed layers with the contact depth of their weight, m, and the widths
    of the box that they fill: a settled pile of four layers for any number of rods.
    """
    way = np.random.default_rng(seed)
    cells, cell = max(count // 50, 1), 1.04 * LENGTH
    across = max(k for k in range(1, cells + 1) if cells % k == 0 and k * k <= cells)
    sides, rows = np.array([across, cells // across]), int(cell / SPACING)
    in_layer = cells * rows
    layers = -(-count // in_layer)
    crossings, weight = LENGTH / SPACING, 1000.0 * np.pi * RADIUS**2 * LENGTH * 9.81
    number, layer = np.arange(layers * in_layer) % in_layer, np.arange(layers * in_layer) // in_layer
    along = layer % 2  # the axis of these rods
    row, place = np.divmod(number, sides[along])
    middle = (place + 0.5 - 0.5 * sides[along]) * cell
    aside = (row + 0.5 + way.uniform(-0.1, 0.1, len(row))) * cell / rows - 0.5 * sides[1 - along] * cell
    angle = way.uniform(-0.02, 0.02, len(row))
    load = np.arange(layers)[::-1] * weight / crossings
    depth = (0.75 * load / (STIFFNESS * np.sqrt(4.0 * RADIUS))) ** (2.0 / 3.0)
    height = 0.999 * RADIUS + np.concatenate([[0.0], np.cumsum(2.0 * RADIUS - depth)])
    ends, rods = np.zeros((len(row), 2, 3)), np.arange(len(row))
    for end, sign in enumerate((-0.5, 0.5)):
        ends[rods, end, along] = middle + sign * LENGTH * np.cos(angle)
        ends[rods, end, 1 - along] = aside + sign * LENGTH * np.sin(angle)
        ends[rods, end, 2] = height[layer]
    return ends[:count], (float(sides[0] * cell), float(sides[1] * cell))


def _all_pairs(rods: Sequence[RodLayout], loss: tuple[float, ...], stations: int) -> Contacts:
    """Contact surfaces of the rods, in which each is paired with each other."""
    surfaces = [Rod(rod.frames, np.diff(rod.arclength), RADIUS) for rod in rods]
    listed, n = contacts_of(surfaces), len(surfaces)
    one, other = np.triu_indices(n, 1)
    p = len(one)
    return listed._replace(
        pairs=np.stack([one, other], axis=1).astype(np.int64),
        law=np.tile([0.0, STIFFNESS, 1.0, 0.0], (p, 1)),
        loss=np.tile(loss, (p, 1)),
        stations=np.full(p, stations),
        side=np.full(p, BOTH),
    )


def heap(
    count: int,
    elements: int = ELEMENTS,
    rubbing: bool = False,
    h: float = STEP,
    seed: int = 0,
    *,
    in_layers: bool = False,
    E: float = SOFT,
    viscous: float = 0.0,
    rolling: float = 0.0,
    stations: int = STATIONS,
) -> Heap:
    """Create a heap of rods as they are placed.

    rubbing: with friction and restitution; in_layers: a settled pile; E: Young's modulus, Pa; viscous: s,
    viscosity of the rods over their stiffness; rolling: m, resistance to rolling and drilling with friction;
    stations: intervals of an element.
    """
    width = WIDTH * (max(count, 50) / 50.0) ** (1.0 / 3.0)
    ends, widths = packed(count, seed) if in_layers else (lay_rods(count, width, seed), (width, width))
    model = Model("heap", gravity=(0.0, 0.0, -9.81))
    section = Section.circular(RADIUS, Material(E=E, nu=0.45, density=1000.0, damping_time=viscous))
    planes = [model.add_plane("floor", model.ground.at((0.0, 0.0, 0.0)), (0, 0, 1))]
    for name, x, y in (("left", -1, 0), ("right", 1, 0), ("front", 0, -1), ("back", 0, 1)):
        foot = model.ground.at((0.5 * widths[0] * x, 0.5 * widths[1] * y, 0.0))
        planes.append(model.add_plane(name, foot, (-x, -y, 0)))
    rods = [
        model.add_rod(f"rod {k + 1}", [tuple(a), tuple(b)], section, elements)
        for k, (a, b) in enumerate(ends)
    ]
    friction, restitution = (0.3, 0.5) if rubbing else (0.0, 1.0)
    model.add_contact(
        "walls",
        rods,
        planes,
        stiffness=STIFFNESS,
        friction=Friction(friction, rolling=rolling, drilling=rolling),
        restitution=restitution,
    )
    built = model.build()
    loss = (*LOSS[:DRILL], rolling, rolling, *LOSS[ROLL + 1 :]) if rubbing else (0.0,) * len(LOSS)
    system = built.system._replace(contacts=_all_pairs(built.layout.rods, loss, stations))
    variables = np.pad(built.state.internal, (0, internal_variables(system).size - len(built.state.internal)))
    return Heap(system, built.state._replace(internal=variables), h)


def relax(pile: Heap, steps: int, every: int = 5, factor: float = 0.9) -> Heap:
    """Take steps in which the velocities are multiplied by `factor` every few steps."""
    stepper, state = pile.stepper(), pile.state
    state = stepper.start(state)
    for k in range(0, steps, every):
        state, _ = stepper.advance(state, k, every)
        state.v[:] *= factor
        state.Omega[:] *= factor
    return pile._replace(state=state)


def missed_pairs(stepper: ContactStepper, state: State) -> tuple[int, float]:
    """Number of touching pairs of segments of different rods that are in no list, and the least distance, m."""
    contacts, parts = stepper.contacts, prepare_search(stepper.contacts).parts
    points, known = points_of(contacts, state.r, state.quat), stepper._list_of(state).ends[:, [0, 2]]
    listed = {tuple(pair) for pair in np.sort(known, axis=1).tolist()}
    lacking, least = 0, np.inf
    for u in range(len(parts.surface)):
        v = np.flatnonzero(parts.surface > parts.surface[u])
        ends = np.concatenate([np.tile(parts.ends[u], (len(v), 1)), parts.ends[v]], axis=1)
        distance = np.empty(len(v))
        distances(points, ends, distance)
        least = min(least, float(distance.min(initial=np.inf)))
        touching = ends[distance < 2.0 * RADIUS][:, [0, 2]]
        lacking += sum(tuple(pair) not in listed for pair in np.sort(touching, axis=1).tolist())
    return lacking, least


class Cost(NamedTuple):
    """Cost of a step."""

    pairs: float  # segment pairs in a list, for each rod
    blocks: int  # matrix blocks that couple rods in the last step
    step: float  # s, in total
    lists: float  # s, for each list
    iterations: float  # of Newton
    memory: float  # MB, more at the end than after the first list
    rebuilds: int  # of lists


def cost(pile: Heap, steps: int = 20) -> tuple[Cost, State]:
    """Measure the cost of steps of a heap; return also its state at the end."""
    stepper = pile.stepper()
    state, _ = stepper.advance(pile.state, 0, 1)
    before, iterations, rebuilds, begun = _memory(), 0, 0, process_time()
    for k in range(steps):
        state, report = stepper.advance(state, 1 + k, 1)
        iterations += report.iterations
        rebuilds += report.list_rebuilds
    step_s = (process_time() - begun) / steps
    begun, fresh = process_time(), pile.stepper()
    listed = fresh._list_of(state)
    making = process_time() - begun
    blocks = int(stepper._list_of(state).stepper.work.counts[0])  # type: ignore[attr-defined]
    rods = len(stepper.contacts.kind)
    memory = _memory() - before
    return Cost(len(listed.ends) / rods, blocks, step_s, making, iterations / steps, memory, rebuilds), state


class Split(NamedTuple):
    """Times of the parts of an iteration, s: equations, equations with matrix, factors, one solution."""

    equations: float
    matrix: float
    factors: float
    solution: float


def split(pile: Heap, state: State, times: int = 3) -> Split:
    """Least of some times at the start of a step."""
    stepper = pile.stepper()
    listed = stepper._list_of(state)
    inner = listed.stepper
    assert isinstance(inner, Stepper)
    system, numbering, work, h = inner.system, inner.numbering, inner.work, pile.h
    begun = state._replace(
        memory=state.memory[: stepper._inner], internal=stepper._internal_variables(state, listed)
    )
    inner.march(copy_state(begun), h, np.zeros(1))
    times_s = np.full(4, np.inf)
    rhs = -work.residual[: numbering.size]

    def assemble(tangent: bool) -> None:
        inner._equations(system, numbering, None, begun, work, h, tangent)

    def factors() -> None:
        factor.face()(numbering, work)

    def solution() -> None:
        work.rhs[:] = rhs
        solve.face()(numbering, work)

    for _ in range(times + 1):
        for k, part in enumerate((lambda: assemble(False), lambda: assemble(True), factors, solution)):
            now = process_time()
            part()
            times_s[k] = min(times_s[k], process_time() - now)
    return Split(*times_s.tolist())


def _memory() -> float:
    """Largest memory so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def balance(
    steps: int, rubbing: bool, count: int = 20, elements: int = 4, E: float = SOFT
) -> tuple[float, float]:
    """Largest change of energy plus losses, relative to the initial energy, and the least loss of 100 steps,
    J.
    """
    pile = heap(count, elements, rubbing, E=E)
    stepper = pile.stepper()
    state = stepper.start(pile.state)
    total = [energies(pile.system, state).total]
    lost = [0.0]
    for k in range(0, steps, 100):
        state, _ = stepper.advance(state, k, 100)
        total.append(energies(pile.system, state).total)
        lost.append(float(state.totals[1]))
    change = max(abs(E + D - total[0]) for E, D in zip(total, lost, strict=True)) / abs(total[0])
    return change, min(b - a for a, b in pairwise(lost))


class Settling(NamedTuple):
    """State of a heap that comes to rest by its losses, at some time."""

    t: float  # s
    kinetic: float  # J
    speed: float  # m/s, root mean square of nodes
    lost: float  # J
    change: float  # change of energy plus losses, relative to the losses
    least: float  # J, lost in a step
    holding: int  # sticking bristles in the last step
    sliding: int  # sliding bristles
    iterations: float  # Newton iterations for each step since the line before
    most: int  # in one solve
    halvings: int
    step: float  # processor time, s, since the line before

    @property
    def at_rest(self) -> bool:
        """True if almost none of the lost energy is left, and nothing slides."""
        return self.kinetic < RESTING * self.lost and self.sliding == 0


class Course(NamedTuple):
    """Progress of a heap, from which a run is resumed."""

    state: State
    steps: int
    first: float  # J, its initial energy
    least: float = np.inf  # J, lost in a step
    most: int = 0  # most iterations of one solve
    halvings: int = 0
    iterations: int = 0
    seconds: float = 0.0  # processor time, s


def bristles(system: System, state: State) -> tuple[int, int]:
    """Numbers of sticking and of sliding bristles."""
    rows = internal_variables(system).part(state.internal, "bristle")
    rods = rows[rows[:, 0] > 0.0][:, 1 : 1 + N_INTERNAL]
    settles = history_variable_counts(system.others) == N_INTERNAL
    planes = state.internal[first_history_variable(system)[settles][:, None] + np.arange(N_INTERNAL)]
    bristle_rows = np.concatenate([rods, planes[planes.any(axis=1)]])
    slides = int(np.sum(bristle_rows[:, 3] > 0.5))
    return len(bristle_rows) - slides, slides


def settling(
    pile: Heap, steps: int, every: int, file: Path | None = None
) -> Iterator[tuple[Course, Settling]]:
    """Yield the progress of a heap slowed by its losses only; file: stores the `Course` of each line, from
    which a run is resumed.
    """
    stepper = pile.stepper()
    state = stepper.start(pile.state)
    course = Course(state, 0, energies(pile.system, state).total)
    if file is not None and file.exists():
        course = _load_course(file)
    while course.steps < steps:
        course, now = _advance(pile, stepper, course, every)
        if file is not None:
            _save_course(course, file)
        yield course, now


def _advance(pile: Heap, stepper: ContactStepper, course: Course, every: int) -> tuple[Course, Settling]:
    """Take some more steps."""
    state, steps_done, first, least, most, halvings, iterations, seconds = course
    begun, now = process_time(), 0
    for i in range(steps_done, steps_done + every):
        before = float(state.totals[1])
        state, report = stepper.advance(state, i, 1)
        least = min(least, float(state.totals[1]) - before)
        now += report.iterations
        halvings += report.halvings
        most = max(most, report.most_iterations)
    elapsed, lost, parts = process_time() - begun, float(state.totals[1]), energies(pile.system, state)
    steps_done, iterations, seconds = steps_done + every, iterations + now, seconds + elapsed
    course = Course(state, steps_done, first, least, most, halvings, iterations, seconds)
    speed = float(np.sqrt(np.mean(np.sum(state.v**2, axis=1))))
    change, t, step_s = abs(parts.total + lost - first) / lost, steps_done * pile.h, elapsed / every
    sticking, slide = bristles(pile.system, state)
    return course, Settling(
        t, parts.kinetic, speed, lost, change, least, sticking, slide, now / every, most, halvings, step_s
    )


def _save_course(course: Course, file: Path) -> None:
    """Replace the content of the file."""
    fresh = file.with_suffix(".new.npz")
    np.savez(fresh, *course.state, np.array(course[1:], float))
    fresh.replace(file)


def _load_course(file: Path) -> Course:
    with np.load(file) as read:
        *state, numbers = (read[name] for name in read.files)
    steps_done, first, least, most, halvings, iterations, seconds = numbers.tolist()
    counts = int(steps_done), first, least, int(most), int(halvings), int(iterations), seconds
    return Course(State(*state), *counts)


class Resting(NamedTuple):
    """A heap at rest, and its motion in further steps."""

    coordination: float  # touching rods for each rod
    deepest: float  # contact depth relative to the radii of two rods
    missed_pairs: int  # touching pairs that are in no list
    moved: float  # m, the largest displacement of a node
    kinetic: float  # J, the most
    lost: float  # J
    iterations: float  # a step
    slid: int  # bristles that slide at the end


def resting(pile: Heap, state: State, steps: int) -> Resting:
    """Take further steps from this state."""
    stepper = pile.stepper()
    state = begun = stepper.start(state)
    (lacking, least), pairs = missed_pairs(stepper, state), touching(stepper, state)
    most, moved, iterations = 0.0, 0.0, 0
    for k in range(steps):
        state, report = stepper.advance(state, k, 1)
        moved = max(moved, float(np.linalg.norm(state.r - begun.r, axis=1).max()))
        most, iterations = max(most, energies(pile.system, state).kinetic), iterations + report.iterations
    count, lost = len(stepper.contacts.kind), float(state.totals[1] - begun.totals[1])
    slid = bristles(pile.system, state)[1]
    per_step = iterations / max(steps, 1)
    return Resting(
        2.0 * pairs / count, 1.0 - least / (2.0 * RADIUS), lacking, moved, most, lost, per_step, slid
    )


def touching(stepper: ContactStepper, state: State) -> int:
    """Number of touching pairs of rods."""
    ends = stepper._list_of(state).ends
    distance = np.empty(len(ends))
    distances(points_of(stepper.contacts, state.r, state.quat), ends, distance)
    near = ends[distance < 2.0 * RADIUS][:, [0, 2]]
    surfaces = np.searchsorted(stepper.contacts.first, near, side="right") - 1
    return len(np.unique(np.sort(surfaces, axis=1), axis=0))


def _come_to_rest(count: int, arguments: argparse.Namespace) -> None:
    """Print lines until the heap rests, and its motion afterwards."""
    pile = heap(
        count,
        arguments.elements,
        rubbing=True,
        h=2.0 * STEP,
        E=arguments.modulus,
        viscous=arguments.viscous,
        rolling=arguments.rolling,
        stations=arguments.stations,
    )
    print(
        f"{count} rods: t/s  kinetic/J  mm/s  lost/J  change  least/J  hold  slide  iterations  most  halved  step/ms"
    )
    progress = None
    for progress in settling(pile, arguments.rest, round(0.1 / pile.h), arguments.file):
        _, now = progress
        print(
            f"{now.t:.1f} {now.kinetic:8.1e} {1e3 * now.speed:9.3g} {now.lost:8.3f} {now.change:8.1e} {now.least:8.1e}"
            f" {now.holding:6d} {now.sliding:5d} {now.iterations:6.1f} {now.most:4d} {now.halvings:4d} {1e3 * now.step:8.1f}",
            flush=True,
        )
        if now.at_rest:
            break
    if progress is None:
        return
    course, _ = progress
    print(f"{course.steps} steps, {course.iterations} iterations, {course.seconds:.0f} s", flush=True)
    final = resting(pile, course.state, arguments.after)
    print(
        f"{final.coordination:.1f} rods touch each, at most {final.deepest:.3f} of 2r deep, {final.missed} missed; "
        f"{arguments.after} steps more: moved {final.moved:.1e} m, kinetic {final.kinetic:.1e} J, lost {final.lost:.1e} J, "
        f"{final.iterations:.1f} iterations, {final.slid} slide",
        flush=True,
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rods", type=int, nargs="+", default=[50, 100, 200, 500, 1000])
    parser.add_argument("--settle", type=int, default=100, help="steps before the measurement")
    parser.add_argument(
        "--layers", action="store_true", help="start from a settled pile, and time the parts of a step"
    )
    parser.add_argument("--rubbing", action="store_true", help="with friction and restitution")
    parser.add_argument(
        "--balance", type=int, default=0, help="print balances of 20 rods over this number of steps"
    )
    parser.add_argument(
        "--modulus",
        type=float,
        default=SOFT,
        help="Pa, Young's modulus of rods with --balance or --rest",
    )
    parser.add_argument("--rest", type=int, default=0, help="steps of heaps that come to rest by friction")
    parser.add_argument("--elements", type=int, default=ELEMENTS, help="elements of each rod with --rest")
    parser.add_argument(
        "--viscous", type=float, default=0.0, help="s, viscosity over stiffness of rods with --rest"
    )
    parser.add_argument("--rolling", type=float, default=0.0, help="m, rolling resistance with --rest")
    parser.add_argument(
        "--stations", type=int, default=STATIONS, help="station intervals of each element with --rest"
    )
    parser.add_argument("--after", type=int, default=0, help="further steps of a heap at rest")
    parser.add_argument(
        "--file", type=Path, help="(.npz) state of the last line of --rest, from which it is resumed"
    )
    arguments = parser.parse_args(argv)
    if arguments.rest:
        for count in arguments.rods:
            _come_to_rest(count, arguments)
        return
    if arguments.balance:
        for rubbing in (False, True):
            change, least = balance(arguments.balance, rubbing, E=arguments.modulus)
            name = "friction" if rubbing else "frictionless"
            print(f"{name}: energy {change:.1e}, least loss of 100 steps {least:.1e} J", flush=True)
        return
    print("rods  pairs/rod  blocks  step/ms  exponent  list/ms  iterations  more/MB  missed  least/2r")
    measured: list[tuple[int, float]] = []
    for count in arguments.rods:
        h = STEP if arguments.layers else 2.0 * STEP
        pile = heap(count, rubbing=arguments.rubbing, h=h, in_layers=arguments.layers)
        pile = relax(pile, arguments.settle)
        if arguments.layers:
            pile = relax(pile, REST, factor=0.5)
        costs, state = cost(pile)
        lacking, least = missed_pairs(pile.stepper(), state)
        slope = np.log(costs.step / measured[0][1]) / np.log(count / measured[0][0]) if measured else np.nan
        measured.append((count, costs.step))
        print(
            f"{count:4d} {costs.pairs:10.1f} {costs.blocks:7d} {1e3 * costs.step:8.1f} {slope:9.2f} {1e3 * costs.lists:8.1f}"
            f" {costs.iterations:11.1f} {costs.memory:8.1f} {lacking:7d} {least / (2.0 * RADIUS):9.3f}",
            flush=True,
        )
        if arguments.layers:
            parts = ", ".join(f"{name} {1e3 * s:.1f}" for name, s in split(pile, state)._asdict().items())
            speed = np.sqrt(np.mean(np.sum(state.v**2, axis=1)))
            print(
                f"     ms: {parts}; {1e3 * speed:.1f} mm/s, {costs.rebuilds} lists in these steps", flush=True
            )


if __name__ == "__main__":
    main()
