"""Assemble strings (`discretization.space.string_forces`) in `em`, eight at a time in SIMD lanes (`rigid.lanes`).

Only the displacements of the two frames of a string count. Of each of its four blocks, which are one 3 x 3 matrix K except for
the sign, K is added to aa and bb and subtracted from ab and ba. If the last group has fewer than eight strings, its remaining
lanes repeat the last one and are added to the trash entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.space.interpolation import leading
from discretization.space.rod_gauss_points import BEHIND, FIRST, STRAIN0
from discretization.space.spans import SLACK
from discretization.space.string_forces import force_of_stress, strains_over_step, tensile_stress
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.lane_arrays import zeros_in_lanes
from rigid.lanes import WIDTH, add_rows4, load, numbers1, rows3
from rigid.linear_algebra import minus, times
from rigid.system import Floats, Ints

# rows of `StringLanes.addresses`
(
    FRAME_A,
    FRAME_B,
    VISCOSITY,
    FORCES_A,
    FORCES_B,
    AA,
    AB,
    BA,
    BB,
    STRIDE_A,
    STRIDE_B,
    NO_STRIDE,
    N_ADDRESSES,
) = range(13)
LENGTH, STIFFNESS, REST, SHARED, CONSTANTS = range(5)  # rows of `StringLanes.constant`


class StringLanes(NamedTuple):
    """Groups of eight strings, all of which carry compression or none."""

    slack: np.ndarray  # (groups,) bool: True if they carry no compression
    addresses: (
        Ints  # (groups, N_ADDRESSES, 8) frames, addresses of viscosities, forces and blocks, column strides
    )
    couples: np.ndarray  # (groups,) bool: True if some of them have a consistent mass
    # (groups, CONSTANTS, 8): length, m, EA, N, stress-free strain, momentum of a consistent mass over v_b - v_a, kg
    constant: Floats


def string_lanes(spans: Any, use: Ints, numbers: Floats, at: Ints, numbering: Any) -> StringLanes:
    """Build the lane arrays of the strings `use`; numbers, at: as in `SpanWork`."""
    slack = spans.law[spans.first[use]] == SLACK
    parts = [use[slack == kind] for kind in (False, True)]
    groups = [-(-len(part) // WIDTH) for part in parts]
    rows = [np.minimum(np.arange(k * WIDTH), len(part) - 1) for part, k in zip(parts, groups, strict=True)]
    span = np.concatenate([part[row] for part, row in zip(parts, rows, strict=True)])
    real = np.concatenate(
        [np.arange(k * WIDTH) < len(part) for part, k in zip(parts, groups, strict=True)]
    ).astype(bool)
    addresses = np.zeros((N_ADDRESSES, len(span)), np.int64)
    a, b = spans.frames[span, :2].T
    addresses[FRAME_A], addresses[FRAME_B], addresses[VISCOSITY] = a, b, at[span] + FIRST
    if len(span):
        addresses[FORCES_A], addresses[FORCES_B] = numbering.frame[a], numbering.frame[b]
        addresses[AA:STRIDE_A] = numbering.span_base[span, :2, :2].reshape(-1, 4).T
        addresses[STRIDE_A:NO_STRIDE] = numbering.span_stride[span, :2].T
        addresses[FORCES_A:AA, ~real] = numbering.size
        addresses[AA:STRIDE_A, ~real] = numbering.n_values
        addresses[STRIDE_A:NO_STRIDE, ~real] = 0
    count = len(span) // WIDTH
    constant = zeros_in_lanes(count, CONSTANTS)
    first = at[span] + FIRST
    shared = 2.0 * leading(1)[1] ** 2 * spans.coupling[span]
    columns = spans.length[span], numbers[first], numbers[first + STRAIN0], shared
    constant[:] = np.stack(columns).reshape(CONSTANTS, count, WIDTH).swapaxes(0, 1)
    return StringLanes(
        slack=np.repeat([False, True], groups),
        couples=(spans.coupling[span] != 0.0).reshape(-1, WIDTH).any(axis=1),
        addresses=np.ascontiguousarray(addresses.reshape(N_ADDRESSES, -1, WIDTH).swapaxes(0, 1)),
        constant=constant,
    )


@inline_kernel
def _between(x, addresses, first):
    """Return the difference of two rows of an array (n, 3): of frame b less that of frame a."""
    return minus(rows3(x, addresses, first + FRAME_B * WIDTH), rows3(x, addresses, first + FRAME_A * WIDTH))


@internal_kernel
def add_string_lanes(state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all strings: elastic and viscous forces, momentum of a consistent mass."""
    lanes, residual, viscosity = work.spans.strings, work.residual, work.spans.viscosity
    addresses, viscous = lanes.addresses, work.viscous or work.dissipation.law.size > 0
    for group in range(lanes.slack.shape[0]):
        first, c = group * N_ADDRESSES * WIDTH, group * CONSTANTS * WIDTH
        L, EA = load(lanes.constant, c + LENGTH * WIDTH), load(lanes.constant, c + STIFFNESS * WIDTH)
        rest = load(lanes.constant, c + REST * WIDTH)
        change = _between(work.dr, addresses, first)
        start, end, g0, g1 = strains_over_step(_between(state.r, addresses, first), change, L)
        e0, e1 = g0 - rest, g1 - rest
        N, dN = 0.5 * (e0 + e1), 0.5 + 0.0 * e0
        if lanes.slack[group]:
            N, dN = tensile_stress(e0, e1)
        N, dN = EA * N, EA * dN
        if viscous:
            D = numbers1(viscosity, addresses, first + VISCOSITY * WIDTH, 0)[0]
            behind = numbers1(viscosity, addresses, first + VISCOSITY * WIDTH, BEHIND)[0]
            N, dN = N + (D * (g1 - g0) + behind) / h, dN + D / h
        n, u, along, across = force_of_stress(start, end, L, N, dN)
        n, across = times(h, n), h * across
        if lanes.couples[group]:
            rate = minus(times(1.0 / h, change), _between(state.v, addresses, first))
            shared = load(lanes.constant, c + SHARED * WIDTH)
            n, across = minus(n, times(shared, rate)), across - shared / h
        none = first + NO_STRIDE * WIDTH
        add_rows4(
            _and_zero(times(-1.0, n)), residual, addresses, addresses, first + FORCES_A * WIDTH, none, 0
        )
        add_rows4(_and_zero(n), residual, addresses, addresses, first + FORCES_B * WIDTH, none, 0)
        if tangent:
            x, y, z = times(h * along[0], u), times(h * along[1], u), times(h * along[2], u)
            _add_column(work.values, addresses, first, (x[0] + across, x[1], x[2]), 0)
            _add_column(work.values, addresses, first, (y[0], y[1] + across, y[2]), 1)
            _add_column(work.values, addresses, first, (z[0], z[1], z[2] + across), 2)


@inline_kernel
def _and_zero(x):
    """Return a vector and a zero, which is added to a rotation: four numbers are added faster than three."""
    return x[0], x[1], x[2], 0.0


@inline_kernel
def _add_column(values, addresses, first, column, j):
    """Add column j of K to the blocks aa and bb, and subtract it from ab and ba."""
    of_a, of_b = first + STRIDE_A * WIDTH, first + STRIDE_B * WIDTH
    column, less = _and_zero(column), _and_zero(times(-1.0, column))
    add_rows4(column, values, addresses, addresses, first + AA * WIDTH, of_a, j)
    add_rows4(less, values, addresses, addresses, first + BA * WIDTH, of_a, j)
    add_rows4(less, values, addresses, addresses, first + AB * WIDTH, of_b, j)
    add_rows4(column, values, addresses, addresses, first + BB * WIDTH, of_b, j)
