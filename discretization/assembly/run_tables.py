"""Which models eight runs of which march side by side (`discretization.assembly.run_lanes`), and their numbers in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discretization.assembly.element_lanes import START
from discretization.assembly.run_lanes import BLOCK, Joints, Lanes, LoadsOfRuns
from discretization.assembly.stress_rounding import largest_entries
from discretization.interaction_table import loads_of, without_loads
from discretization.linear.block_band import SIZE
from discretization.system import System
from rigid.lane_arrays import room, stacked
from rigid.lanes import WIDTH
from rigid.system import COINCIDENT, PERPENDICULAR, Floats, Ints, State

_KNOWN = (COINCIDENT, PERPENDICULAR)  # kinds of constraints


_TAKEN = {"elements", "constraints", "others"}


def key_of(system: System, numbering: Any, work: Any) -> tuple[Any, ...]:
    """What runs must have in common to march side by side; () where they cannot.

    They can where frames and joints of six rows to the ground, clamps and welds, make a block tridiagonal matrix, and nothing
    acts but SE(3) elements of a linear material, gravity, these joints and loads.
    """
    elements, constraints, facts = system.elements, system.constraints, work.facts
    loads = loads_of(system.others)
    moving = system.frames.fixed == 0
    if not (
        numbering.blocks
        and not len(numbering.repeating)
        and set(system.filled) <= _TAKEN
        and not len(without_loads(system.others).kind)
        and not np.any(system.frames.fixed > 1)
        and len(facts.closed) == len(constraints.kind)
        and np.isin(constraints.kind, _KNOWN).all()
        and (moving[constraints.frames].sum(axis=1) == 1).all()
        and _order(system) is not None
    ):
        return ()
    arrays = (
        moving,
        numbering.frame,
        numbering.row,
        elements.frames,
        constraints.kind,
        constraints.frames,
        facts.closed,
        loads.kind,
        loads.frame,
        loads.following,
        work.elements.diagonal,
    )
    switches = numbering.size, work.elements.couples, work.viscous, work.solved
    return (*switches, *(array.tobytes() for array in arrays))


def _order(system: System) -> Ints | None:
    """Elements in an order in which their blocks can be added one after the other; None: there is none.

    Where elements stand eight by eight, those of one such group are added to the blocks of their first frames, then to those of
    their second ones. One by one from the last of a group to its first gives these sums in a rod.
    """
    frames, moving = system.elements.frames, system.frames.fixed == 0
    pairs = np.sort(frames, axis=1)
    if len(np.unique(pairs, axis=0)) < len(pairs):
        return None
    every = np.arange(len(frames))
    order = [every[first : first + WIDTH][::-1] for first in range(0, len(frames), WIDTH)]
    for group in order:
        sides: dict[int, list[int]] = {}
        for pair in frames[group].tolist():
            for side, f in enumerate(pair):
                if moving[f]:
                    sides.setdefault(f, []).append(side)
        if any(met not in ([0], [1], [0, 1]) for met in sides.values()):
            return None
    return np.concatenate([np.zeros(0, np.int64), *order])


def lanes_of(steppers: Sequence[Any]) -> Lanes:
    """Of up to eight steppers of one key, each with `system`, `numbering` and `work`; lanes without one repeat the last.

    `left` is for who marches to write.
    """
    system, numbering, work = steppers[0].system, steppers[0].numbering, steppers[0].work
    runs = [steppers[min(run, len(steppers) - 1)] for run in range(WIDTH)]

    def numbers(read: Any) -> Floats:
        lanes: Floats = stacked([np.asarray(read(run), float) for run in runs])
        return lanes

    def of_system(table: str, column: str, *shape: int) -> Floats:
        return numbers(lambda run: getattr(getattr(run.system, table), column)).reshape(-1, *shape, WIDTH)

    def of_facts(column: str) -> Floats:
        return numbers(lambda run: getattr(run.work.facts, column))

    own = {id(run.system.elements): run.system.elements for run in runs}
    scales = {key: largest_entries(elements.stiffness, elements.damping) for key, elements in own.items()}
    n, m, N, blocks = len(system.frames.mass), len(system.elements.length), numbering.size, numbering.blocks
    block = np.where(system.frames.fixed == 0, numbering.frame // SIZE, -1)
    matrix, number, lam = room(3, blocks, BLOCK), np.zeros((5, WIDTH), np.int64), len(work.lam)
    table, loads = system.constraints, loads_of(system.others)
    order = _order(system)
    assert order is not None
    joints = Joints(
        closed=work.facts.closed,
        kind=table.kind,
        frames=table.frames,
        rows=numbering.rows,
        row=numbering.row,
        lam=numbering.lam,
        **{name: of_system("constraints", name, 3) for name in ("Xa", "Xb", "Ua", "Ub")},
        value=of_system("constraints", "value"),
        **{name: of_facts(name) for name in ("lightest", "reach", "arm", "size")},
        scale=room(len(table.kind)),
        before=room(lam),
        impulse=room(lam),
    )
    state = State(
        r=room(n, 3),
        quat=room(n, 4),
        v=room(n, 3),
        Omega=room(n, 3),
        lam=joints.before,
        own=room(0),
        memory=room(6 * n),
        totals=room(2),
    )
    return Lanes(
        block=block,
        place=np.minimum(numbering.frame, N),
        frames=system.elements.frames,
        order=order,
        diagonal=work.elements.diagonal,
        couples=work.elements.couples,
        mass=of_system("frames", "mass"),
        inertia=of_system("frames", "inertia", 9),
        length=of_system("elements", "length"),
        stiffness=of_system("elements", "stiffness", 36),
        damping=of_system("elements", "damping", 36),
        strain0=of_system("elements", "strain0", 6),
        coupling=of_system("elements", "coupling"),
        scale=stacked([scales[id(run.system.elements)] for run in runs]),
        viscous=work.viscous,
        gravity=numbers(lambda run: run.system.gravity),
        state=state,
        r0=state.r,
        q0=state.quat,
        v0=state.v,
        Omega0=state.Omega,
        rate=state.memory.reshape(n, 6, WIDTH),
        R0=room(n, 9),
        dr=room(n, 3),
        psi=room(n, 3),
        r1=room(n, 3),
        q1=room(n, 4),
        R1=room(n, 9),
        solution=room(2, n, 3),
        start=room(m, START),
        strain1=room(m, 6),
        residual=room(N + 6),
        noise=room(N + 6),
        rhs=room(N + 6),
        last=room(N + 6),
        size=N,
        matrix=matrix,
        own=matrix[0],
        below=matrix[1],
        beside=matrix[2],
        most=room(),
        terms=room(),
        extent=room(),
        totals=state.totals,
        cleared=_cleared(block[system.elements.frames], blocks),
        joints=joints,
        loads=LoadsOfRuns(
            loads.kind,
            loads.frame,
            loads.following,
            numbers(lambda run: loads_of(run.system.others).X),
            room(len(loads.kind), 3),
        ),
        left=room(),
        level=room(),
        before=room(),
        takes=room(),
        at=number[0],
        looked=number[1],
        iteration=number[2],
        fresh=number[3],
        factored=number[4],
    )


def _cleared(ends: Ints, blocks: int) -> Ints:
    """First entries of blocks of the matrix that are added to: all but those that elements put between two frames."""
    put = ends[(ends >= 0).all(axis=1)].min(axis=1)
    beside = np.setdiff1d(np.arange(blocks), put)
    return np.concatenate([np.arange(blocks), blocks + beside, 2 * blocks + beside]) * BLOCK
