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

# rows of `SpanLanes.addresses` after those of `closed_form_spans`: addresses of forces, column strides and blocks, frame by frame
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
    addresses: Ints  # (groups, N_ADDRESSES, 8) addresses
    K: Floats  # (MATRIX_ROWS, 6 MOST_FRAMES, 8) output of the closed form, see `closed_form_spans`


def fits_lanes(spans: Any) -> np.ndarray:
    """Return which spans are assembled eight at a time ((m,) bool).

    A span qualifies if its element has a closed form for eight lanes and its material is linear and not relaxing. Its element
    type must have at least `MIN_SPANS` such spans.
    """
    known = np.array([element.in_lanes for element in BY_NUMBER])
    fits: np.ndarray = known[spans.kind]
    if not fits.any():
        return fits
    nonlinear = (spans.law >= 0) | (spans.relaxation > 0.0)
    fits &= np.add.reduceat(nonlinear, spans.first[:-1]) == 0
    many = np.bincount(spans.kind[fits], minlength=len(known)) >= MIN_SPANS
    return fits & many[spans.kind]


def span_lanes(spans: Any, which: np.ndarray, at: Ints, numbering: Any) -> SpanLanes:
    """Build the lane arrays of the spans selected by `which` (m,), whose parameters begin at the offsets `at` (m + 1,)."""
    kinds = np.unique(spans.kind[which])
    groups = [_group(spans, np.flatnonzero(which & (spans.kind == kind)), at, numbering) for kind in kinds]
    addresses = np.concatenate([np.zeros((0, N_ADDRESSES, WIDTH), np.int64), *groups])
    if not len(addresses):
        return _none(addresses)
    counts = [len(of_kind) for of_kind in groups]
    functions = [address_of(BY_NUMBER[kind].lane_forces()) for kind in kinds]
    order = np.repeat([BY_NUMBER[kind].order for kind in kinds], counts)
    return SpanLanes(
        forces=np.repeat(functions, counts),
        order=order,
        couples=np.any(spans.coupling[addresses[:, SPAN]], axis=1).astype(np.uint8),
        addresses=addresses,
        K=np.zeros((MATRIX_ROWS, 6 * MOST_FRAMES, WIDTH)),
    )


def _none(addresses: Ints) -> SpanLanes:
    """Return lane arrays without any group."""
    number, flag = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    return SpanLanes(number, number, flag, addresses, np.zeros((0, 6 * MOST_FRAMES, WIDTH)))


def _group(spans: Any, use: Ints, at: Ints, numbering: Any) -> Ints:
    """Return the addresses (groups, N_ADDRESSES, 8) of the spans `use`, which all have the same element type."""
    n, p = len(use), int(spans.order[use[0]])
    span = use[np.minimum(np.arange(-(-n // WIDTH) * WIDTH), n - 1)]
    addresses = np.zeros((N_ADDRESSES, len(span)), np.int64)
    frames = spans.frames[span, : p + 1].T
    points = spans.first[span][:, None] + np.arange(p)
    matrices = np.abs(spans.stiffness[points]) + np.abs(spans.damping[points])
    is_full = np.any(matrices * (1.0 - np.eye(6)), axis=(1, 2, 3)).reshape(-1, WIDTH).any(axis=1)
    addresses[FRAMES : FRAMES + p + 1], addresses[SPAN], addresses[NUMBERS] = frames, span, at[span]
    addresses[FULL] = np.repeat(is_full, WIDTH)
    addresses[FORCES : FORCES + p + 1] = numbering.frame[frames]
    addresses[STRIDES : STRIDES + p + 1] = numbering.span_stride[span, : p + 1].T
    addresses[BLOCKS:NO_STRIDE] = numbering.span_base[span].reshape(len(span), -1).T
    addresses[FORCES : FORCES + p + 1, n:] = numbering.size
    addresses[STRIDES : STRIDES + p + 1, n:] = 0
    addresses[BLOCKS:NO_STRIDE, n:] = numbering.n_values
    return np.ascontiguousarray(addresses.reshape(N_ADDRESSES, -1, WIDTH).swapaxes(0, 1))


@inline_kernel
def _folded(state, work, addresses, first, p):
    """Return whether the rotation of a frame relative to the middle frame of its span passed pi in this step, in any lane."""
    m = first + (FRAMES + p // 2) * WIDTH
    before, after = rows4(state.quat, addresses, m), rows4(work.q1, addresses, m)
    for a in range(p + 1):
        at = first + (FRAMES + a) * WIDTH
        half0 = relative_half(before, rows4(state.quat, addresses, at))[0]
        half1 = relative_half(after, rows4(work.q1, addresses, at))[0]
        if largest(-half0 * half1) >= 0.0:
            return True
    return False


@internal_kernel
def _ratio(arrays, group, h):
    """Return the factor of the viscosities, 1/h; 0 if no span of the group is viscous."""
    for lane in range(WIDTH):
        if arrays.viscous[arrays.lanes.addresses[group, SPAN, lane]] != 0:
            return 1.0 / h
    return 0.0


@internal_kernel
def add_span_lanes(system, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all groups.

    Return 0, or 1 if the rotation of a frame relative to the middle frame of its span passed pi.
    """
    lanes = work.spans.lanes
    addresses, K = lanes.addresses, lanes.K
    for group in range(lanes.order.size):
        p, first = lanes.order[group], group * ADDRESSES
        if _folded(state, work, addresses, first, p):
            return 1
        closed, ratio = lane_forces_at(lanes.forces[group]), _ratio(work.spans, group, h)
        X, D = work.spans.numbers, work.spans.viscosity
        closed(state.r, work.dr, work.R0, work.R1, addresses[group], X, D, ratio, tangent, K)
        if lanes.couples[group] != 0:
            _add_shared_mass(system, state, work, group, h, tangent)
        for a in range(p + 1):
            at = first + (FORCES + a) * WIDTH
            add_rows6(
                _six(K, FORCE, 6 * a, h),
                work.residual,
                addresses,
                addresses,
                at,
                first + NO_STRIDE * WIDTH,
                0,
            )
        if tangent:
            _add_matrix(lanes, group, h, work.values)
    return 0


@inline_kernel
def _six(K, row, i, h):
    """Return the six numbers h K[row, i:i + 6]."""
    a, b = vector_at(K, row, i), vector_at(K, row, i + 3)
    return h * a[0], h * a[1], h * a[2], h * b[0], h * b[1], h * b[2]


@internal_kernel
def _add_matrix(lanes, group, h, values):
    """Add the tangent columns of eight spans to their matrix blocks."""
    addresses, K, p, first = lanes.addresses, lanes.K, lanes.order[group], group * ADDRESSES
    for column in range(6 * (p + 1)):
        b = column // 6
        stride, i = first + (STRIDES + b) * WIDTH, column % 6
        for a in range(p + 1):
            at = first + (BLOCKS + MOST_FRAMES * a + b) * WIDTH
            add_rows6(_six(K, column, 6 * a, h), values, addresses, addresses, at, stride, i)


@internal_kernel
def _add_shared_mass(system, state, work, group, h, tangent):
    """Add the inertial forces of the consistent mass shared by the frames of a span, for eight spans.

    `discretization.assembly.rod_spans._add_shared_mass` computes the same forces for one span.
    """
    lanes, first = work.spans.lanes, group * ADDRESSES
    addresses, K, p = lanes.addresses, lanes.K, lanes.order[group]
    a = work.spans.leading[p]
    shared = 2.0 / h * rows1(system.spans.coupling, addresses, first + SPAN * WIDTH)[0]
    zero = 0.0 * shared
    rate = (zero, zero, zero)
    for k in range(p + 1):
        at = first + (FRAMES + k) * WIDTH
        mean = times(1.0 / h, rows3(work.dr, addresses, at))
        rate = plus(rate, times(a[k], minus(mean, rows3(state.v, addresses, at))))
    for k in range(p + 1):
        weighted = shared * a[k]
        put_vector(minus(vector_at(K, FORCE, 6 * k), times(weighted, rate)), K, FORCE, 6 * k)
        if tangent:
            for l in range(p + 1):
                less = weighted * (a[l] / h)
                for i in range(3):
                    set_entry(number_at(K, 6 * l + i, 6 * k + i) - less, K, 6 * l + i, 6 * k + i)


@internal_kernel
def strains_in_lanes(poses, arrays, m, ratio):
    """Write the strains of span m at both ends of a step to the rows STRAINS_START and STRAINS_END of `arrays.K`.

    The closed form is evaluated at the first span of a group (lane 0), so the spans of a group must be visited in their order.
    `poses`: r, dr, R0, R1. `ratio`: factor of the viscosities.
    """
    lanes, (r, dr, R0, R1) = arrays.lanes, poses
    group, lane = arrays.lane[m] // WIDTH, arrays.lane[m] % WIDTH
    p = lanes.order[group]
    if lane == 0:
        closed = lane_forces_at(lanes.forces[group])
        closed(r, dr, R0, R1, lanes.addresses[group], arrays.numbers, arrays.viscosity, ratio, False, lanes.K)
    for i in range(6 * p):
        arrays.K[STRAINS_START, i] = lanes.K[STRAINS_START, i, lane]
        arrays.K[STRAINS_END, i] = lanes.K[STRAINS_END, i, lane]
