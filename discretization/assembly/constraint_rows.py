"""Assemble constraints in a Cayley energy-momentum step: rows g(1) = 0, their impulses, round-off levels.

The module uses the closed forms of any kind of constraint (`rigid.interactions.kinds.ClosedForms`). Rows and columns of the
matrix are the dual of a constraint for unit multipliers, pulled back at the end of the step (rows) and in the mean (columns).
One loop per kind is generated from its closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discretization.assembly.workspace import (
    EPS,
    add_pair_forces,
    norm,
    rotate_at_both_ends,
    three,
    unit_vector,
)
from rigid.compilation.decorators import internal_kernel, named_internal_kernel, named_kernel
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.kinds import Kind, has_closed_forms
from rigid.linear_algebra import average, load3, minus, plus
from rigid.system import COINCIDENT, PERPENDICULAR

REGULARISATION = 1e-8  # fraction of the scale of a constraint; 1e-10 saves a Newton iteration, but round-off accumulates in lam


@internal_kernel
def begin_constraints(numbering, state, work, h, extent):
    """Compute scale and round-off level of the constraint rows; `extent`: size of the model, m."""
    facts, frames = work.facts, numbering.row_frames
    for c in range(numbering.row.shape[0]):
        scale = 2.0 / abs(h) * facts.lightest[c]
        work.scale[c] = scale
        reach = 1.0
        if facts.turns[c] == 0:
            reach = 0.1 * extent
            for k in range(frames.shape[1]):
                if frames[c, k] < 0:
                    break
                reach += norm(state.r[frames[c, k]])
            reach += facts.reach[c]
        level = 2.0 * EPS * scale * reach * facts.size[c]
        for i in range(numbering.rows[c]):
            work.noise[numbering.row[c] + i] = level


@internal_kernel
def regularise_redundant(numbering, work):
    """Subtract REGULARISATION (times the scale) from the diagonal of the multipliers of redundant constraints.

    This makes the solution unique. The residual, which decides convergence, is not changed. The part of these multipliers that
    does no work keeps its initial value.
    """
    for k in range(numbering.repeating.shape[0]):
        c, base = numbering.repeating[k], numbering.repeating_base[k]
        for i in range(numbering.rows[c]):
            work.values[base + i + i * numbering.row_stride[c]] -= REGULARISATION * work.scale[c]


@internal_kernel
def add_constraint_noise(numbering, work):
    """Raise the round-off levels of the frames by the round-off of the current constraint impulses."""
    facts, frames = work.facts, numbering.row_frames
    for c in range(numbering.row.shape[0]):
        impulse = 0.0
        for i in range(numbering.rows[c]):
            impulse += abs(work.lam[numbering.lam[c] + i])
        impulse *= EPS * work.scale[c] * facts.size[c]
        for k in range(frames.shape[1]):
            if frames[c, k] < 0:
                break
            at = numbering.frame[frames[c, k]]
            for i in range(3):
                work.noise[at + i] += impulse
                work.noise[at + 3 + i] += facts.arm[c] * impulse


def _rows_by_pull(number: int, pull: Any, rows: int) -> Any:
    """Generate the kernel that adds rows and columns of the multipliers: duals of unit multipliers at the end and in the mean."""

    def add_rows(scale: Any, mean: Any, end: Any, block: Any) -> None:
        values, base, sa, sb, sc = block
        for i in range(rows):
            unit = unit_vector(i, scale)
            force, torque_a, torque_b = pull(unit, mean)
            force1, torque_a1, torque_b1 = pull(unit, end)
            for j in range(3):
                values[base[4] + j + i * sc] -= force[j]
                values[base[4] + 3 + j + i * sc] += torque_a[j]
                values[base[5] + j + i * sc] += force[j]
                values[base[5] + 3 + j + i * sc] += torque_b[j]
                values[base[6] + i + j * sa] -= force1[j]
                values[base[6] + i + (3 + j) * sa] += torque_a1[j]
                values[base[7] + i + j * sb] += force1[j]
                values[base[7] + i + (3 + j) * sb] += torque_b1[j]

    return named_kernel(f"add_rows_{number}", add_rows)


def _loop(number: int, kind: Kind) -> Any:
    """Generate the loop over all constraints of one kind, with its closed forms compiled into it."""
    closed = kind.closed
    assert closed is not None
    value, pull, add_tangent = closed.value, closed.pull, closed.add_tangent
    add_rows = closed.add_rows or _rows_by_pull(number, closed.pull, kind.rows)
    rows, directed = kind.rows, bool({"Ua", "Ub"} & set(kind.columns))

    def add(system: Any, numbering: Any, state: Any, work: Any, tangent: Any) -> None:
        constraints, facts = system.constraints, work.facts
        for k in range(facts.first[number], facts.first[number + 1]):
            c = facts.closed[k]
            a, b = constraints.frames[c, 0], constraints.frames[c, 1]
            xa0, xa1, xa = rotate_at_both_ends(work, a, load3(constraints.Xa[c]))
            xb0, xb1, xb = rotate_at_both_ends(work, b, load3(constraints.Xb[c]))
            d0 = plus(minus(load3(state.r[b]), load3(state.r[a])), minus(xb0, xa0))
            d1 = plus(minus(load3(work.r1[b]), load3(work.r1[a])), minus(xb1, xa1))
            ua1 = ua = ub1 = ub = (0.0, 0.0, 0.0)
            if directed:
                _, ua1, ua = rotate_at_both_ends(work, a, load3(constraints.Ua[c]))
                _, ub1, ub = rotate_at_both_ends(work, b, load3(constraints.Ub[c]))
            mean, end = (ua, ub, xa, xb, average(d0, d1)), (ua1, ub1, xa1, xb1, d1)
            row, scale = numbering.row[c], work.scale[c]
            g = value(end, constraints.value[c])
            for i in range(rows):
                work.residual[row + i] += scale * g[i]
            lam = three(work.lam, numbering.lam[c], rows, scale)
            force, torque_a, torque_b = pull(lam, mean)
            add_pair_forces(work.residual, numbering.frame[a], numbering.frame[b], force, torque_a, torque_b)
            if tangent:
                values, base = work.values, numbering.constraint_base[c]
                sa, sb = numbering.frame_stride[a], numbering.frame_stride[b]
                block = values, base, sa, sb, numbering.row_stride[c]
                add_rows(scale, mean, end, block)
                add_tangent(lam, mean, end, (values, (base[0], base[1], base[2], base[3]), sa, sb))

    return named_internal_kernel(f"add_constraints_{number}", add)


def _after(name: str, number: int, add: Any, add_next: Any) -> Any:
    """Generate a kernel that calls `add` if there are constraints of kind `number`, and then `add_next`."""

    def add_both(system: Any, numbering: Any, state: Any, work: Any, tangent: Any) -> None:
        if work.facts.first[number] < work.facts.first[number + 1]:
            add(system, numbering, state, work, tangent)
        add_next(system, numbering, state, work, tangent)

    return named_internal_kernel(f"add_{name}_from_{number}", add_both)


@internal_kernel
def _add_none(system, numbering, state, work, tangent):
    pass


COMMON = (COINCIDENT, PERPENDICULAR)  # kinds of ball joints, hinges, universal joints, welds, clamps


def has_only_common_constraints(system: Any) -> bool:
    """Return whether only rods and joints with `COMMON` constraints act."""
    return not len(system.others.kind) and set(COMMON).issuperset(system.constraints.kind.tolist())


def _adding(name: str, numbers: Sequence[int]) -> Any:
    """Generate a kernel that adds residual and, if `tangent`, matrix of the constraints of these kinds.

    Its arguments are system, numbering, state, work, tangent.
    """
    add: Any = _add_none
    for number in reversed(numbers):
        add = _after(name, number, _LOOPS[number], add)
    return add


_LOOPS = {
    number: _loop(number, kind)
    for number, kind in enumerate(CONSTRAINTS)
    if has_closed_forms(kind) and not kind.driven
}
add_constraints = _adding("constraints", list(_LOOPS))
add_common_constraints = _adding("common_constraints", COMMON)
