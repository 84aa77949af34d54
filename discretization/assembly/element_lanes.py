"""Assemble two-node SE(3) beam elements in a step of `em`, eight at a time in SIMD lanes (`rigid.lanes`).

The module computes forces and tangents and adds them to residual and matrix. Element data are gathered from the tables of the
frames, and blocks are scattered to the addresses of `discretization.assembly.numbering`, by 8 x 8 transposes. The order of the
elements and of the frames is therefore arbitrary. Data that are constant in a step are stored number by number, eight elements
next to each other. If a group has fewer than eight elements, its remaining lanes repeat the last one and are added to the trash
entry.

In models solved by fronts, groups are split into parts without a common frame, for threads
(`discretization.assembly.thread_team`). The groups of the elements between these parts come last. The parts do not depend on
the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.stress_rounding import largest_entries, stress_rounding
from discretization.space.se3_element import (
    AtStart,
    forces_over_step,
    invariants,
    linear_part,
    strains_of,
    tangent_over_step,
    with_damping,
)
from discretization.space.strain_functions import strain_functions
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.lanes import (
    WIDTH,
    add_rows6,
    add_rows12,
    largest,
    load,
    rows1,
    rows3,
    rows4,
    rows6,
    rows9,
    rows36,
    store,
)
from rigid.linear_algebra import (
    minus,
    plus,
    plus_identity,
    times,
)
from rigid.system import Floats, Ints

# Offsets in `ElementLanes.start`: y, k, s, u, scalar of the half rotation, constant part of w (4), strains, e, A, B at the start,
# length, blocks of dw/d(strains at the end), 2 coupling/h, v_b - v_a.
Y0, K0, S0, U0, HALF0, STRESS0, E0, POSITION0, A0, B0, LENGTH, C = 0, 3, 6, 7, 8, 9, 15, 21, 24, 33, 42, 43
COUPLING, RATE0, START = 79, 80, 83
# rows of `ElementLanes.addresses`
FRAME_A, FRAME_B, ITEM, FORCES_A, FORCES_B = range(5)
AA, AB, BA, BB, STRIDE_A, STRIDE_B, NO_STRIDE, N_ADDRESSES = range(5, 13)

APART, A_FIRST, B_FIRST = range(3)
_MOST_PARTS, _LEAST = 16, 64  # maximum number of parts, minimum number of elements of a part


class ElementLanes(NamedTuple):
    """Groups of eight elements."""

    addresses: Ints  # (N_ADDRESSES, 8 groups) indices of frames and elements, addresses of forces and blocks, column strides
    diagonal: np.ndarray  # (groups,) bool: stiffness and damping of all its elements are diagonal
    lane: Ints  # (m,) 8 group + lane of each element
    parts: Ints  # (parts + 1,) first groups of parts without a common frame; the last entry begins the elements between them
    rows: Ints  # (groups,) A_FIRST or B_FIRST if the rows of both frames of each element are adjacent, else APART
    couples: bool  # True if some element has coupling inertia
    length: Floats  # (8 groups,) element lengths, m
    scale: Floats  # (groups, 4, 8) result of `largest_entries`
    start: Floats  # (groups, START, 8) data constant in a step
    strain1: Floats  # (groups, 6, 8) strains at the end of the step
    columns: Floats  # (12, 12, 8) scratch: tangent columns of frames a and b


def element_lanes(elements: Any, numbering: Any) -> ElementLanes:
    """Build the lane arrays of the elements `discretization.space.elements`, with scratch arrays for a step."""
    n = len(elements.length)
    item, real, parts = _in_lanes(elements.frames, numbering)
    addresses = np.zeros((N_ADDRESSES, len(item)), np.int64)
    rows, lane = np.full(len(item) // WIDTH, APART), np.zeros(n, np.int64)
    if n:
        lane[item[real]] = np.flatnonzero(real)
        a, b = elements.frames[item].T
        addresses[FRAME_A], addresses[FRAME_B], addresses[ITEM] = a, b, item
        addresses[FORCES_A], addresses[FORCES_B] = numbering.frame[a], numbering.frame[b]
        addresses[AA : BB + 1] = numbering.element_base[item].T
        addresses[STRIDE_A], addresses[STRIDE_B] = numbering.frame_stride[a], numbering.frame_stride[b]
        addresses[FORCES_A : FORCES_B + 1, ~real] = numbering.size
        addresses[AA : BB + 1, ~real] = numbering.n_values
        for low, high, order in ((AA, BA, A_FIRST), (BA, AA, B_FIRST)):
            adjacent = (addresses[high] == addresses[low] + 6) & (
                addresses[high + 1] == addresses[low + 1] + 6
            )
            adjacent[~real] = True  # repetitions go to the trash entry
            rows[adjacent.reshape(-1, WIDTH).all(axis=1)] = order
        addresses[STRIDE_A : STRIDE_B + 1, ~real] = 0
    arrays = ElementLanes(
        addresses=addresses,
        diagonal=np.zeros(len(rows), bool),
        lane=lane,
        parts=parts,
        rows=rows,
        couples=False,
        length=np.zeros(len(item)),
        scale=np.zeros((len(rows), 4, WIDTH)),
        start=np.zeros((len(rows), START, WIDTH)),
        strain1=np.zeros((len(rows), 6, WIDTH)),
        columns=np.zeros((12, 12, WIDTH)),
    )
    return with_material_of(arrays, elements)


def with_material_of(lanes: ElementLanes, elements: Any) -> ElementLanes:
    """Return lane arrays with the material data of `elements`, which must have the same frames."""
    item = lanes.addresses[ITEM]
    if not len(item):
        return lanes
    stiffness, damping = elements.stiffness[item], elements.damping[item]
    diagonal = _diagonal(stiffness) & _diagonal(damping)
    return lanes._replace(
        diagonal=diagonal.reshape(-1, WIDTH).all(axis=1),
        couples=bool(np.any(elements.coupling)),
        length=elements.length[item],
        scale=_side_by_side(largest_entries(stiffness, damping)),
    )


def _in_lanes(frames: Ints, numbering: Any) -> tuple[Ints, np.ndarray, Ints]:
    """Return the element of each lane, whether a lane is not a repetition, and the first groups of the parts."""
    n = len(frames)
    count = min(_MOST_PARTS, n // _LEAST) if numbering.fronts.inner.size else 0
    part = np.arange(n) * count // max(n, 1)  # part of each element: consecutive elements share a frame
    unknown = numbering.frame[frames]
    first_part, last_part = np.full(numbering.size + 1, count), np.full(numbering.size + 1, -1)
    for side in (0, 1):
        at = np.minimum(unknown[:, side], numbering.size)
        np.minimum.at(first_part, at, part)
        np.maximum.at(last_part, at, part)
    common = first_part < last_part
    common[numbering.size] = False  # entry of fixed frames
    part[common[np.minimum(unknown, numbering.size)].any(axis=1)] = count
    lists = [np.flatnonzero(part == number) for number in range(count + 1)]
    groups = np.array([-(-len(elements) // WIDTH) for elements in lists])
    item = [
        elements[np.minimum(np.arange(k * WIDTH), len(elements) - 1)]
        for elements, k in zip(lists, groups, strict=True)
    ]
    real = [np.arange(k * WIDTH) < len(elements) for elements, k in zip(lists, groups, strict=True)]
    return np.concatenate(item), np.concatenate(real), np.concatenate([[0], np.cumsum(groups[:-1])])


def no_elements() -> ElementLanes:
    """Return lane arrays without elements."""
    none, rows = np.zeros(0, np.int64), np.zeros((0, 6, WIDTH))
    return ElementLanes(
        addresses=np.zeros((N_ADDRESSES, 0), np.int64), diagonal=np.zeros(0, bool), lane=none, parts=none, rows=none,
        couples=False, length=np.zeros(0), scale=rows, start=rows, strain1=rows, columns=rows
    )  # fmt: skip


def _side_by_side(numbers: Floats) -> Floats:
    """Rearrange an array (8 groups, k) to (groups, k, 8)."""
    return np.ascontiguousarray(numbers.reshape(-1, WIDTH, numbers.shape[1]).transpose(0, 2, 1))


def _diagonal(matrices: Floats) -> np.ndarray:
    """Return which of the matrices (m, 6, 6) are diagonal ((m,) bool)."""
    return np.logical_not((matrices * _OFF_DIAGONAL).any(axis=(1, 2)))


_OFF_DIAGONAL = 1.0 - np.eye(6)


@inline_kernel
def _load4(x, place):
    return load(x, place), load(x, place + WIDTH), load(x, place + 2 * WIDTH), load(x, place + 3 * WIDTH)


@inline_kernel
def _load3(x, place):
    return load(x, place), load(x, place + WIDTH), load(x, place + 2 * WIDTH)


@inline_kernel
def _load9(x, place):
    a, b, c = _load3(x, place), _load3(x, place + 3 * WIDTH), _load3(x, place + 6 * WIDTH)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@inline_kernel
def _store3(v, x, place):
    store(v[0], x, place)
    store(v[1], x, place + WIDTH)
    store(v[2], x, place + 2 * WIDTH)


@inline_kernel
def _store9(A, x, place):
    _store3((A[0], A[1], A[2]), x, place)
    _store3((A[3], A[4], A[5]), x, place + 3 * WIDTH)
    _store3((A[6], A[7], A[8]), x, place + 6 * WIDTH)


@inline_kernel
def _store_diagonal(A, x, place):
    store(A[0], x, place)
    store(A[4], x, place + 4 * WIDTH)
    store(A[8], x, place + 8 * WIDTH)


@inline_kernel
def _load_diagonal(x, place):
    """Load a diagonal matrix; off-diagonal entries are not read."""
    a, b, c = load(x, place), load(x, place + 4 * WIDTH), load(x, place + 8 * WIDTH)
    none = 0.0 * a
    return a, none, none, none, b, none, none, none, c


@inline_kernel
def _corner(S, i):
    """Return the 3 x 3 block of a matrix (36,) whose first number has index i."""
    return S[i], S[i + 1], S[i + 2], S[i + 6], S[i + 7], S[i + 8], S[i + 12], S[i + 13], S[i + 14]


@internal_kernel
def begin_elements(system, state, work, h):
    """Compute what the Newton iterations of a step share; add the round-off of the forces to `work.noise`."""
    lanes, elements = work.elements, system.elements
    addresses, start = lanes.addresses, lanes.start
    n_lanes, viscous = addresses.shape[1], work.viscous or work.dissipation.law.size > 0
    for group in range(lanes.diagonal.shape[0]):
        first, s = group * WIDTH, group * START * WIDTH
        a, b, item = FRAME_A * n_lanes + first, FRAME_B * n_lanes + first, ITEM * n_lanes + first
        A, B = rows9(work.R0, addresses, a), rows9(work.R0, addresses, b)
        e = minus(rows3(state.r, addresses, b), rows3(state.r, addresses, a))
        L = load(lanes.length, first)
        y, k, along, u, half = invariants(
            A, B, rows4(state.quat, addresses, a), rows4(state.quat, addresses, b), e, L
        )
        f, _, p, _ = strain_functions(u)
        Gamma, K = strains_of(y, k, along, u, f, p, L)
        stiffness = rows36(elements.stiffness, addresses, item)
        blocks = (
            _corner(stiffness, 0),
            _corner(stiffness, 3),
            _corner(stiffness, 18),
            _corner(stiffness, 21),
        )
        strain0 = rows6(elements.strain0, addresses, item)
        strain0_N, strain0_M = (strain0[0], strain0[1], strain0[2]), (strain0[3], strain0[4], strain0[5])
        w_N, w_M, blocks = linear_part((Gamma, K), (strain0_N, strain0_M), blocks)
        if viscous:
            damping = rows36(elements.damping, addresses, item)
            damping_blocks = (
                _corner(damping, 0),
                _corner(damping, 3),
                _corner(damping, 18),
                _corner(damping, 21),
            )
            w_N, w_M, blocks = with_damping((w_N, w_M, blocks), (Gamma, K), damping_blocks, h)
        NN, NM, MN, MM = blocks
        _store3(y, start, s + Y0 * WIDTH)
        _store3(k, start, s + K0 * WIDTH)
        store(along, start, s + S0 * WIDTH)
        store(u, start, s + U0 * WIDTH)
        store(half, start, s + HALF0 * WIDTH)
        _store3(w_N, start, s + STRESS0 * WIDTH)
        _store3(w_M, start, s + (STRESS0 + 3) * WIDTH)
        _store3(Gamma, start, s + E0 * WIDTH)
        _store3(K, start, s + (E0 + 3) * WIDTH)
        _store3(e, start, s + POSITION0 * WIDTH)
        _store9(A, start, s + A0 * WIDTH)
        _store9(B, start, s + B0 * WIDTH)
        store(L, start, s + LENGTH * WIDTH)
        if lanes.diagonal[group]:
            _store_diagonal(NN, start, s + C * WIDTH)
            _store_diagonal(MM, start, s + (C + 27) * WIDTH)
        else:
            _store9(NN, start, s + C * WIDTH)
            _store9(NM, start, s + (C + 9) * WIDTH)
            _store9(MN, start, s + (C + 18) * WIDTH)
            _store9(MM, start, s + (C + 27) * WIDTH)
        if lanes.couples:
            store(2.0 / h * rows1(elements.coupling, addresses, item)[0], start, s + COUPLING * WIDTH)
            dv0 = minus(rows3(state.v, addresses, b), rows3(state.v, addresses, a))
            _store3(dv0, start, s + RATE0 * WIDTH)
        force, moment = stress_rounding(_load4(lanes.scale, 4 * group * WIDTH), L, h)
        noise = (force, force, force, moment, moment, moment)
        add_rows6(
            noise,
            work.noise,
            addresses,
            addresses,
            FORCES_A * n_lanes + first,
            NO_STRIDE * n_lanes + first,
            0,
        )
        add_rows6(
            noise,
            work.noise,
            addresses,
            addresses,
            FORCES_B * n_lanes + first,
            NO_STRIDE * n_lanes + first,
            0,
        )


@always_inline_kernel
def _put(columns, column, row, factor, A):
    """Store factor times a 3 x 3 block of the tangent whose corner is in this column and row."""
    at, step = (12 * column + row) * WIDTH, 12 * WIDTH
    _store3((factor * A[0], factor * A[3], factor * A[6]), columns, at)
    _store3((factor * A[1], factor * A[4], factor * A[7]), columns, at + step)
    _store3((factor * A[2], factor * A[5], factor * A[8]), columns, at + 2 * step)


@inline_kernel
def _stiffness(start, s):
    """Load dw/d(strains at the end), block by block."""
    return (
        _load9(start, s + C * WIDTH),
        _load9(start, s + (C + 9) * WIDTH),
        _load9(start, s + (C + 18) * WIDTH),
        _load9(start, s + (C + 27) * WIDTH),
    )


@inline_kernel
def _diagonal_stiffness(start, s):
    """Load dw/d(strains at the end), block by block, if it is diagonal."""
    none = 0.0 * load(start, s + C * WIDTH)
    zero_block = (none, none, none, none, none, none, none, none, none)
    first, last = _load_diagonal(start, s + C * WIDTH), _load_diagonal(start, s + (C + 27) * WIDTH)
    return first, zero_block, zero_block, last


@internal_kernel
def add_elements(work, h, tangent):
    """Add residual and, if `tangent`, matrix of all elements.

    Return 0, or 1 if the relative rotation of the two frames of an element passed pi.
    """
    lanes = work.elements
    return add_groups(work, 0, lanes.diagonal.shape[0], lanes.columns, h, tangent)


@internal_kernel
def add_groups(work, begin, end, columns, h, tangent):
    """Add residual and, if `tangent`, matrix of the groups from `begin` to `end` (exclusive).

    `work`: object with `elements`, poses at the end of the step, and the arrays to add to. `columns`: scratch.
    Return 0, or 1 if the relative rotation of the two frames of an element passed pi.
    """
    lanes = work.elements
    addresses, start = lanes.addresses, lanes.start
    residual, values = work.residual, work.values
    n_lanes = addresses.shape[1]
    for group in range(begin, end):
        first, s = group * WIDTH, group * START * WIDTH
        a, b = FRAME_A * n_lanes + first, FRAME_B * n_lanes + first
        e0 = _load3(start, s + POSITION0 * WIDTH)
        # not r1_b - r1_a: far from the origin that difference would lose the digits that Newton needs
        moved = minus(rows3(work.dr, addresses, b), rows3(work.dr, addresses, a))
        e1 = plus(e0, moved)
        poses0 = _load9(start, s + A0 * WIDTH), _load9(start, s + B0 * WIDTH), e0
        poses1 = (
            rows9(work.R1, addresses, a),
            rows9(work.R1, addresses, b),
            rows4(work.q1, addresses, a),
            rows4(work.q1, addresses, b),
            e1,
        )
        half0, L = load(start, s + HALF0 * WIDTH), load(start, s + LENGTH * WIDTH)
        at_start = AtStart(
            _load3(start, s + Y0 * WIDTH),
            _load3(start, s + K0 * WIDTH),
            load(start, s + S0 * WIDTH),
            load(start, s + U0 * WIDTH),
            half0,
            _load3(start, s + STRESS0 * WIDTH),
            _load3(start, s + (STRESS0 + 3) * WIDTH),
        )
        diagonal = lanes.diagonal[group]
        stiffness = _diagonal_stiffness(start, s) if diagonal else _stiffness(start, s)
        half1, strains1, forces, averages = forces_over_step(poses0, poses1, at_start, L, stiffness, diagonal)
        if largest(-half0 * half1) >= 0.0:
            return 1
        _store3(strains1[0], lanes.strain1, group * 6 * WIDTH)
        _store3(strains1[1], lanes.strain1, (group * 6 + 3) * WIDTH)
        n, torque_a, torque_b = forces
        if lanes.couples:
            # momentum -coupling (v_b - v_a) of b and its opposite of a, as in (1)
            rate = minus(times(1.0 / h, moved), _load3(start, s + RATE0 * WIDTH))
            n = minus(n, times(load(start, s + COUPLING * WIDTH), rate))
        on_a = (-h * n[0], -h * n[1], -h * n[2], h * torque_a[0], h * torque_a[1], h * torque_a[2])
        on_b = (h * n[0], h * n[1], h * n[2], h * torque_b[0], h * torque_b[1], h * torque_b[2])
        none = NO_STRIDE * n_lanes + first
        add_rows6(on_a, residual, addresses, addresses, FORCES_A * n_lanes + first, none, 0)
        add_rows6(on_b, residual, addresses, addresses, FORCES_B * n_lanes + first, none, 0)
        if not tangent:
            continue
        # columns e1 = r_b - r_a, eta_a, eta_b; rows n (force on b, opposite on a), torques
        ne, na, nb, te, ta, tb, ue, ua, ub = tangent_over_step(poses1, averages, L, stiffness, diagonal)
        if lanes.couples:
            ne = plus_identity(ne, load(start, s + COUPLING * WIDTH) * (-1.0 / h))
        row_a = 6 if lanes.rows[group] == B_FIRST else 0
        row_b = 6 - row_a
        _put(columns, 0, row_a, h, ne)
        _put(columns, 0, row_a + 3, -h, te)
        _put(columns, 0, row_b, -h, ne)
        _put(columns, 0, row_b + 3, -h, ue)
        _put(columns, 3, row_a, -h, na)
        _put(columns, 3, row_a + 3, h, ta)
        _put(columns, 3, row_b, h, na)
        _put(columns, 3, row_b + 3, h, ua)
        _put(columns, 6, row_a, -h, ne)
        _put(columns, 6, row_a + 3, h, te)
        _put(columns, 6, row_b, h, ne)
        _put(columns, 6, row_b + 3, h, ue)
        _put(columns, 9, row_a, -h, nb)
        _put(columns, 9, row_a + 3, h, tb)
        _put(columns, 9, row_b, h, nb)
        _put(columns, 9, row_b + 3, h, ub)
        _add_columns(lanes, group, columns, values)
    return 0


@inline_kernel
def _add_columns(lanes, group, columns, values):
    """Add the tangent columns of eight elements to their matrix blocks."""
    addresses, rows = lanes.addresses, lanes.rows[group]
    n_lanes, first = addresses.shape[1], group * WIDTH
    for column in range(12):
        at, side = 12 * column * WIDTH, column // 6
        x, y = _load3(columns, at), _load3(columns, at + 3 * WIDTH)
        z, w = _load3(columns, at + 6 * WIDTH), _load3(columns, at + 9 * WIDTH)
        stride, upper, lower = (STRIDE_A + side) * n_lanes + first, AA + side, BA + side
        low = (x[0], x[1], x[2], y[0], y[1], y[2])
        high = (z[0], z[1], z[2], w[0], w[1], w[2])
        if rows == APART:
            add_rows6(low, values, addresses, addresses, upper * n_lanes + first, stride, column % 6)
            add_rows6(high, values, addresses, addresses, lower * n_lanes + first, stride, column % 6)
        else:
            both = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2], w[0], w[1], w[2])
            base = (upper if rows == A_FIRST else lower) * n_lanes + first
            add_rows12(both, values, addresses, addresses, base, stride, column % 6)


@internal_kernel
def write_end_strains(work):
    """Recompute the strains at the end of the step.

    Needed if frames have moved since the forces were evaluated, as by the final correction of Newton's method.
    """
    lanes = work.elements
    addresses, start = lanes.addresses, lanes.start
    n_lanes = addresses.shape[1]
    for group in range(lanes.diagonal.shape[0]):
        first, s = group * WIDTH, group * START * WIDTH
        a, b = FRAME_A * n_lanes + first, FRAME_B * n_lanes + first
        moved = minus(rows3(work.dr, addresses, b), rows3(work.dr, addresses, a))
        e, L = plus(_load3(start, s + POSITION0 * WIDTH), moved), load(start, s + LENGTH * WIDTH)
        A, B = rows9(work.R1, addresses, a), rows9(work.R1, addresses, b)
        y, k, along, u, _ = invariants(A, B, rows4(work.q1, addresses, a), rows4(work.q1, addresses, b), e, L)
        f, _, p, _ = strain_functions(u)
        Gamma, K = strains_of(y, k, along, u, f, p, L)
        _store3(Gamma, lanes.strain1, group * 6 * WIDTH)
        _store3(K, lanes.strain1, (group * 6 + 3) * WIDTH)


@internal_kernel
def strain_change(lanes, m, i):
    """Return the change of strain i of element m over the step."""
    group, lane = lanes.lane[m] // WIDTH, lanes.lane[m] % WIDTH
    return lanes.strain1[group, i, lane] - lanes.start[group, E0 + i, lane]
