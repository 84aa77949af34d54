"""Spans of a linear material in a step of `em`, eight at a time in the lanes of `rigid.lanes`.

Their element has a closed form for eight (`discretization.space.closed_spans`), behind a pointer. Numbers of frames and spans
are read where they stand, forces and blocks are added where `discretization.assembly.numbering` puts them, by 8 x 8 transposes.
The lanes of a last group that has fewer spans repeat the last one and add to the dump.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.space.closed_spans import (
    FORCE,
    FRAMES,
    FULL,
    MATRIX_ROWS,
    NUMBERS,
    SPAN,
    STRAINS_END,
    STRAINS_START,
    lane_forces_at,
    number_at,
    put,
    put_vector,
    vector_at,
)
from discretization.space.rod_elements import BY_NUMBER
from discretization.space.spans import MOST_FRAMES
from rigid.compilation.decorators import address_of, inner_kernel, small_kernel
from rigid.kinematics.rotations import relative_half
from rigid.lanes import (
    WIDTH,
    add_rows6,
    largest,
    rows1,
    rows3,
    rows4,
)
from rigid.linear_algebra import minus, plus, times
from rigid.system import Floats, Ints

# rows of places behind those of `closed_spans`: of forces, strides of columns and blocks, frame by frame
FORCES = FULL + 1
STRIDES = FORCES + MOST_FRAMES
BLOCKS = STRIDES + MOST_FRAMES
NO_STRIDE = BLOCKS + MOST_FRAMES**2
N_PLACES = NO_STRIDE + 1
PLACES = N_PLACES * WIDTH  # of a group
FEWEST = 4  # spans of an element: eight lanes take as long as three spans alone


class SpanLanes(NamedTuple):
    """Eight spans after eight of one element."""

    forces: Ints  # (groups,) address of the closed form
    order: Ints  # (groups,)
    couples: np.ndarray  # (groups,) uint8 some span shares a consistent mass
    places: Ints  # (groups, N_PLACES, 8)
    K: Floats  # (MATRIX_ROWS, 6 MOST_FRAMES, 8), see `closed_spans`


def for_lanes(spans: Any) -> np.ndarray:
    """(m,) which spans go eight at a time: those of an element that can, whose material is linear, where there are FEWEST."""
    known = np.array([element.in_lanes for element in BY_NUMBER])
    found: np.ndarray = known[spans.kind]
    if not found.any():
        return found
    beyond = (spans.law >= 0) | (spans.relaxation > 0.0)
    found &= np.add.reduceat(beyond, spans.first[:-1]) == 0
    many = np.bincount(spans.kind[found], minlength=len(known)) >= FEWEST
    return found & many[spans.kind]


def span_lanes(spans: Any, which: np.ndarray, at: Ints, numbering: Any) -> SpanLanes:
    """Of the spans `which` (m,), whose numbers begin `at` (m + 1,), with room for a step."""
    kinds = np.unique(spans.kind[which])
    groups = [_group(spans, np.flatnonzero(which & (spans.kind == kind)), at, numbering) for kind in kinds]
    places = np.concatenate([np.zeros((0, N_PLACES, WIDTH), np.int64), *groups])
    if not len(places):
        return _none(places)
    each = [len(of_kind) for of_kind in groups]
    addresses = [address_of(BY_NUMBER[kind].lane_forces()) for kind in kinds]
    order = np.repeat([BY_NUMBER[kind].order for kind in kinds], each)
    return SpanLanes(
        forces=np.repeat(addresses, each),
        order=order,
        couples=np.any(spans.coupling[places[:, SPAN]], axis=1).astype(np.uint8),
        places=places,
        K=np.zeros((MATRIX_ROWS, 6 * MOST_FRAMES, WIDTH)),
    )


def _none(places: Ints) -> SpanLanes:
    number, flag = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    return SpanLanes(number, number, flag, places, np.zeros((0, 6 * MOST_FRAMES, WIDTH)))


def _group(spans: Any, use: Ints, at: Ints, numbering: Any) -> Ints:
    """Places (groups, N_PLACES, 8) of the spans `use`, all of one element."""
    n, p = len(use), int(spans.order[use[0]])
    span = use[np.minimum(np.arange(-(-n // WIDTH) * WIDTH), n - 1)]
    places = np.zeros((N_PLACES, len(span)), np.int64)
    frames = spans.frames[span, : p + 1].T
    points = spans.first[span][:, None] + np.arange(p)
    matrices = np.abs(spans.stiffness[points]) + np.abs(spans.damping[points])
    is_full = np.any(matrices * (1.0 - np.eye(6)), axis=(1, 2, 3)).reshape(-1, WIDTH).any(axis=1)
    places[FRAMES : FRAMES + p + 1], places[SPAN], places[NUMBERS] = frames, span, at[span]
    places[FULL] = np.repeat(is_full, WIDTH)
    places[FORCES : FORCES + p + 1] = numbering.frame[frames]
    places[STRIDES : STRIDES + p + 1] = numbering.span_stride[span, : p + 1].T
    places[BLOCKS:NO_STRIDE] = numbering.span_base[span].reshape(len(span), -1).T
    places[FORCES : FORCES + p + 1, n:] = numbering.size
    places[STRIDES : STRIDES + p + 1, n:] = 0
    places[BLOCKS:NO_STRIDE, n:] = numbering.n_values
    return np.ascontiguousarray(places.reshape(N_PLACES, -1, WIDTH).swapaxes(0, 1))


@small_kernel
def _folded(state, work, places, first, p):
    """Whether a frame of a span of a group passed pi against the middle one."""
    m = first + (FRAMES + p // 2) * WIDTH
    before, after = rows4(state.quat, places, m), rows4(work.q1, places, m)
    for a in range(p + 1):
        at = first + (FRAMES + a) * WIDTH
        half0 = relative_half(before, rows4(state.quat, places, at))[0]
        half1 = relative_half(after, rows4(work.q1, places, at))[0]
        if largest(-half0 * half1) >= 0.0:
            return True
    return False


@inner_kernel
def _ratio(own, group, h):
    """What viscosities count times: 1/h, or 0 where none of a group has one."""
    for lane in range(WIDTH):
        if own.viscous[own.lanes.places[group, SPAN, lane]] != 0:
            return 1.0 / h
    return 0.0


@inner_kernel
def add_span_lanes(system, state, work, h, tangent):
    """Residual and, on demand, matrix of all groups; 0, or 1 where frames of a span passed pi against the middle one."""
    own = work.spans.lanes
    places, K = own.places, own.K
    for group in range(own.order.size):
        p, first = own.order[group], group * PLACES
        if _folded(state, work, places, first, p):
            return 1
        closed, ratio = lane_forces_at(own.forces[group]), _ratio(work.spans, group, h)
        X, D = work.spans.numbers, work.spans.viscosity
        closed(state.r, work.dr, work.R0, work.R1, places[group], X, D, ratio, tangent, K)
        if own.couples[group] != 0:
            _add_shared_mass(system, state, work, group, h, tangent)
        for a in range(p + 1):
            at = first + (FORCES + a) * WIDTH
            add_rows6(
                _six(K, FORCE, 6 * a, h), work.residual, places, places, at, first + NO_STRIDE * WIDTH, 0
            )
        if tangent:
            _add_matrix(own, group, h, work.values)
    return 0


@small_kernel
def _six(K, row, i, h):
    """h K[row, i:i + 6]."""
    a, b = vector_at(K, row, i), vector_at(K, row, i + 3)
    return h * a[0], h * a[1], h * a[2], h * b[0], h * b[1], h * b[2]


@inner_kernel
def _add_matrix(own, group, h, values):
    """Columns of the tangents of eight spans, to where their blocks stand."""
    places, K, p, first = own.places, own.K, own.order[group], group * PLACES
    for column in range(6 * (p + 1)):
        b = column // 6
        stride, i = first + (STRIDES + b) * WIDTH, column % 6
        for a in range(p + 1):
            at = first + (BLOCKS + MOST_FRAMES * a + b) * WIDTH
            add_rows6(_six(K, column, 6 * a, h), values, places, places, at, stride, i)


@inner_kernel
def _add_shared_mass(system, state, work, group, h, tangent):
    """As of `discretization.assembly.rod_spans`, of eight."""
    own, first = work.spans.lanes, group * PLACES
    places, K, p = own.places, own.K, own.order[group]
    a = work.spans.leading[p]
    shared = 2.0 / h * rows1(system.spans.coupling, places, first + SPAN * WIDTH)[0]
    zero = 0.0 * shared
    rate = (zero, zero, zero)
    for k in range(p + 1):
        at = first + (FRAMES + k) * WIDTH
        mean = times(1.0 / h, rows3(work.dr, places, at))
        rate = plus(rate, times(a[k], minus(mean, rows3(state.v, places, at))))
    for k in range(p + 1):
        share = shared * a[k]
        put_vector(minus(vector_at(K, FORCE, 6 * k), times(share, rate)), K, FORCE, 6 * k)
        if tangent:
            for l in range(p + 1):
                less = share * (a[l] / h)
                for i in range(3):
                    put(number_at(K, 6 * l + i, 6 * k + i) - less, K, 6 * l + i, 6 * k + i)


@inner_kernel
def strains_in_lanes(poses, own, m, ratio):
    """Strains of span m of the lanes at both ends of a step into the rows of `own.K`; spans of a group in their order.

    poses: r, dr, R0, R1.
    """
    lanes, (r, dr, R0, R1) = own.lanes, poses
    group, lane = own.lane[m] // WIDTH, own.lane[m] % WIDTH
    p = lanes.order[group]
    if lane == 0:
        closed = lane_forces_at(lanes.forces[group])
        closed(r, dr, R0, R1, lanes.places[group], own.numbers, own.viscosity, ratio, False, lanes.K)
    for i in range(6 * p):
        own.K[STRAINS_START, i] = lanes.K[STRAINS_START, i, lane]
        own.K[STRAINS_END, i] = lanes.K[STRAINS_END, i, lane]
