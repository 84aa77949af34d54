"""Assemble spans (higher-order beam elements) of a linear material in `em`, eight at a time in SIMD lanes (`rigid.lanes`).

The closed form of an element for eight spans (`discretization.space.closed_form_spans`) is called through a function pointer.
Data of frames and spans are gathered from their tables. Forces and matrix blocks are scattered to the addresses that
`discretization.assembly.numbering` assigns. Gather and scatter use 8 x 8 transposes. If the last group has fewer than eight
spans, its remaining lanes repeat the last span and are added to the trash entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.space.closed_form_spans import (
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
    put_vector,
    set_entry,
    vector_at,
)
from discretization.space.rod_elements import BY_NUMBER
from discretization.space.spans import MOST_FRAMES
from rigid.compilation.decorators import address_of, inline_kernel, internal_kernel
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

# rows of `SpanLanes.places` after those of `closed_spans`: addresses of forces, column strides and blocks, frame by frame
FORCES = FULL + 1
STRIDES = FORCES + MOST_FRAMES
BLOCKS = STRIDES + MOST_FRAMES
NO_STRIDE = BLOCKS + MOST_FRAMES**2
N_ADDRESSES = NO_STRIDE + 1
ADDRESSES = N_ADDRESSES * WIDTH  # numbers of a group
MIN_SPANS = 4  # minimum number of spans of an element type: eight lanes take as long as three single spans


class SpanLanes(NamedTuple):
    """Groups of eight spans with the same element type."""

    forces: Ints  # (groups,) addresses of the closed forms
    order: Ints  # (groups,) order of the element
    couples: np.ndarray  # (groups,) uint8, 1 if some span has a consistent mass
    places: Ints  # (groups, N_PLACES, 8) addresses
    K: Floats  # (MATRIX_ROWS, 6 MOST_FRAMES, 8) output of the closed form, see `closed_spans`


def fits_lanes(spans: Any) -> np.ndarray:
    """Return which spans are assembled eight at a time ((m,) bool).

    A span qualifies if its element has a closed form for eight lanes and its material is linear and not relaxing. Its element
    type must have at least FEWEST such spans.
    """
    known = np.array([element.in_lanes for element in BY_NUMBER])
    found: np.ndarray = known[spans.kind]
    if not found.any():
        return found
    beyond = (spans.law >= 0) | (spans.relaxation > 0.0)
    found &= np.add.reduceat(beyond, spans.first[:-1]) == 0
    many = np.bincount(spans.kind[found], minlength=len(known)) >= MIN_SPANS
    return found & many[spans.kind]


def span_lanes(spans: Any, which: np.ndarray, at: Ints, numbering: Any) -> SpanLanes:
    """Build the lane arrays of the spans selected by `which` (m,), whose parameters begin at the offsets `at` (m + 1,)."""
    kinds = np.unique(spans.kind[which])
    groups = [_group(spans, np.flatnonzero(which & (spans.kind == kind)), at, numbering) for kind in kinds]
    places = np.concatenate([np.zeros((0, N_ADDRESSES, WIDTH), np.int64), *groups])
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
    """Return lane arrays without any group."""
    number, flag = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    return SpanLanes(number, number, flag, places, np.zeros((0, 6 * MOST_FRAMES, WIDTH)))


def _group(spans: Any, use: Ints, at: Ints, numbering: Any) -> Ints:
    """Return the addresses (groups, N_PLACES, 8) of the spans `use`, which all have the same element type."""
    n, p = len(use), int(spans.order[use[0]])
    span = use[np.minimum(np.arange(-(-n // WIDTH) * WIDTH), n - 1)]
    places = np.zeros((N_ADDRESSES, len(span)), np.int64)
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
    return np.ascontiguousarray(places.reshape(N_ADDRESSES, -1, WIDTH).swapaxes(0, 1))


@inline_kernel
def _folded(state, work, places, first, p):
    """Return whether the rotation of a frame relative to the middle frame of its span passed pi in this step, in any lane."""
    m = first + (FRAMES + p // 2) * WIDTH
    before, after = rows4(state.quat, places, m), rows4(work.q1, places, m)
    for a in range(p + 1):
        at = first + (FRAMES + a) * WIDTH
        half0 = relative_half(before, rows4(state.quat, places, at))[0]
        half1 = relative_half(after, rows4(work.q1, places, at))[0]
        if largest(-half0 * half1) >= 0.0:
            return True
    return False


@internal_kernel
def _ratio(own, group, h):
    """Return the factor of the viscosities, 1/h; 0 if no span of the group is viscous."""
    for lane in range(WIDTH):
        if own.viscous[own.lanes.places[group, SPAN, lane]] != 0:
            return 1.0 / h
    return 0.0


@internal_kernel
def add_span_lanes(system, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all groups.

    Return 0, or 1 if the rotation of a frame relative to the middle frame of its span passed pi.
    """
    own = work.spans.lanes
    places, K = own.places, own.K
    for group in range(own.order.size):
        p, first = own.order[group], group * ADDRESSES
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


@inline_kernel
def _six(K, row, i, h):
    """Return the six numbers h K[row, i:i + 6]."""
    a, b = vector_at(K, row, i), vector_at(K, row, i + 3)
    return h * a[0], h * a[1], h * a[2], h * b[0], h * b[1], h * b[2]


@internal_kernel
def _add_matrix(own, group, h, values):
    """Add the tangent columns of eight spans to their matrix blocks."""
    places, K, p, first = own.places, own.K, own.order[group], group * ADDRESSES
    for column in range(6 * (p + 1)):
        b = column // 6
        stride, i = first + (STRIDES + b) * WIDTH, column % 6
        for a in range(p + 1):
            at = first + (BLOCKS + MOST_FRAMES * a + b) * WIDTH
            add_rows6(_six(K, column, 6 * a, h), values, places, places, at, stride, i)


@internal_kernel
def _add_shared_mass(system, state, work, group, h, tangent):
    """Add the inertial forces of the consistent mass shared by the frames of a span, for eight spans.

    `discretization.assembly.rod_spans._add_shared_mass` computes the same forces for one span.
    """
    own, first = work.spans.lanes, group * ADDRESSES
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
                    set_entry(number_at(K, 6 * l + i, 6 * k + i) - less, K, 6 * l + i, 6 * k + i)


@internal_kernel
def strains_in_lanes(poses, own, m, ratio):
    """Write the strains of span m at both ends of a step to the rows STRAINS_START and STRAINS_END of `own.K`.

    The closed form is evaluated at the first span of a group (lane 0), so the spans of a group must be visited in their order.
    `poses`: r, dr, R0, R1. `ratio`: factor of the viscosities.
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
