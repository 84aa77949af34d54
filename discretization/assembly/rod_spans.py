"""Assemble spans in a Cayley energy-momentum step: rod elements between several frames, each a block of residual and matrix.

A span returns its discrete forces F (6 per frame: force, torque) and, if requested, their derivatives with respect to dr and eta
of every frame at the end of the step. They come from the closed form of its element, called through a function pointer, so that
elements a model does not use are not compiled. Closed forms that support it are evaluated for eight spans at a time
(`discretization.assembly.span_lanes`), and so are strings (`discretization.assembly.string_lanes`). An element without a
closed form is evaluated from its duals (`discretization.assembly.generic_assembly`).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.generic_assembly import (
    EnergyDuals,
    begin_generic,
    energy_duals,
    fill_generic_tangent,
    generic_dissipation,
)
from discretization.assembly.span_lanes import (
    SpanLanes,
    add_span_lanes,
    fits_lanes,
    span_lanes,
    strains_in_lanes,
)
from discretization.assembly.stress_rounding import largest_entries, stress_rounding
from discretization.assembly.string_lanes import StringLanes, add_string_lanes, string_lanes
from discretization.internal_variables import BRANCH
from discretization.memoization import copied
from discretization.space.closed_form_spans import (
    FORCE,
    MATRIX_ROWS,
    SPAN,
    STRAINS_END,
    STRAINS_START,
    forces_at,
)
from discretization.space.interpolation import MOST, leading
from discretization.space.maxwell_branch import begin_branch, relax_branch
from discretization.space.rod_elements import BY_NUMBER
from discretization.space.rod_gauss_points import BEHIND, FIRST, POINT
from discretization.space.spans import (
    MOST_FRAMES,
    dissipations_of,
    energies_of,
    no_spans,
    numbers_of,
    simple_strings,
    viscous,
)
from rigid.compilation.decorators import address_of, internal_kernel
from rigid.kinematics.rotations import load4, relative_half
from rigid.lanes import WIDTH
from rigid.linear_algebra import load3, minus, plus, times
from rigid.system import Floats, Ints

IN_LANES = -1
ROTATION_LIMIT = 1  # status of a span with a frame rotated by more than pi relative to its middle frame


class SpanWork(NamedTuple):
    """Arrays of a step with m spans."""

    forces: Ints  # (m,) address of the closed form; 0: from duals, IN_LANES: eight at a time
    order: Ints  # (m,) order of the element
    first: Ints  # (m + 1,) first point of a span
    at: Ints  # (m + 1,) offset of the parameters of a span
    numbers: Floats  # parameters in the layout of the elements
    viscosity: Floats  # parameters with the damping in place of the stiffness
    viscous: np.ndarray  # (m,) uint8, 1 if the span dissipates
    scale: Floats  # (m, 4) result of `largest_entries`, maximum over the points of a span
    leading: Floats  # (MOST + 1, MOST_FRAMES) weights of the shared mass, by order
    K: Floats  # (MATRIX_ROWS, 6 MOST_FRAMES) derivatives by column, forces, strains: see `closed_form_spans`
    duals: EnergyDuals
    lanes: SpanLanes
    strings: StringLanes
    lane: Ints  # (m,) 8 group + lane of a span, -1: assembled alone
    alone: Ints  # (k,) spans assembled alone
    sequence: Ints  # (m,) all spans, ordered so that those of a lane group are consecutive


def span_work(system: Any, numbering: Any, closed: bool = True, eight: bool = True) -> SpanWork:
    """Allocate the arrays of the spans of a system.

    `closed`: True to use closed forms. `eight`: True to use closed forms for eight spans at a time if available.
    """
    if not len(system.spans.kind):
        none: SpanWork = copied(_without_spans())
        return none
    return _span_work(system.spans, numbering, closed, eight)


@functools.cache
def _without_spans() -> SpanWork:
    """Return the cached arrays of a system without spans."""
    return _span_work(no_spans(), None, True, True)


def _span_work(spans: Any, numbering: Any, closed: bool, eight: bool) -> SpanWork:
    """Allocate the arrays of these spans."""
    m, order, first = len(spans.kind), spans.order, spans.first
    at = np.concatenate([[0], np.cumsum(FIRST + POINT * order)]).astype(np.int64)
    numbers, viscosity = np.zeros((2, at[-1]))
    for p in np.unique(order):
        use = np.flatnonzero(order == p)
        rows = at[use][:, None] + np.arange(FIRST + POINT * p)
        numbers[rows] = numbers_of(spans, use, spans.stiffness, spans.strain0)
        viscosity[rows] = numbers_of(spans, use, spans.damping)
    in_lanes = fits_lanes(spans) & closed & eight
    addresses = np.where(in_lanes, IN_LANES, 0)
    for kind in np.unique(spans.kind[~in_lanes]):
        if closed and BY_NUMBER[kind].closed:
            addresses[(spans.kind == kind) & ~in_lanes] = address_of(BY_NUMBER[kind].forces())
    simple = simple_strings(spans) & closed
    lanes, lane = span_lanes(spans, in_lanes, at, numbering), np.full(m, -1)
    # the last lanes of a group repeat its last span; `np.unique` returns the first of them
    of_lanes, place = np.unique(lanes.addresses[:, SPAN].ravel(), return_index=True)
    lane[of_lanes] = place
    scale = np.zeros((m, 4))
    if m:
        of_points = largest_entries(np.abs(spans.stiffness) + np.abs(spans.branch), spans.damping)
        scale = np.maximum.reduceat(of_points, first[:-1])
    of_orders = np.zeros((MOST + 1, MOST_FRAMES))
    for p in range(1, MOST + 1):
        of_orders[p, : p + 1] = leading(p)
    lossy = np.zeros(m, np.uint8)
    lossy[viscous(spans)] = 1
    return SpanWork(
        forces=addresses,
        order=order,
        first=first,
        at=at,
        numbers=numbers,
        viscosity=viscosity,
        viscous=lossy,
        strings=string_lanes(spans, np.flatnonzero(simple), numbers, at, numbering),
        scale=scale,
        leading=of_orders,
        K=np.zeros((MATRIX_ROWS, 6 * MOST_FRAMES)),
        duals=energy_duals(energies_of(spans), dissipations_of(spans), m),
        lanes=lanes,
        lane=lane,
        alone=np.flatnonzero(~in_lanes & ~simple),
        sequence=np.argsort(lane, kind="stable"),
    )


@internal_kernel
def add_span_noise(system, numbering, work, h):
    """Add the round-off of the forces of the spans to the round-off levels."""
    spans, arrays, noise = system.spans, work.spans, work.noise
    for m in range(spans.kind.size):
        p = arrays.order[m]
        L = spans.length[m] / p
        # slopes at a point are sums of about p differences over an interval
        s = arrays.scale[m]
        force, moment = stress_rounding((p * s[0], p * s[1], p * s[2], p * s[3]), L, h)
        for a in range(p + 1):
            at = numbering.frame[spans.frames[m, a]]
            for i in range(3):
                noise[at + i] += force
                noise[at + 3 + i] += moment


@internal_kernel
def begin_spans(system, state, work, h):
    """Set the viscosities for a step of length h if there are relaxing (Maxwell) branches."""
    spans, arrays = system.spans, work.spans
    if work.internal_offsets.branch == work.internal_offsets.drive:
        return
    for m in range(spans.kind.size):
        if arrays.forces[m] == 0:
            begin_generic(
                arrays.duals, m, h, state.internal[work.internal_offsets.branch + BRANCH * arrays.first[m] :]
            )
            continue
        for g in range(arrays.first[m + 1] - arrays.first[m]):
            point = arrays.first[m] + g
            if spans.relaxation[point] > 0.0:
                D = arrays.viscosity[arrays.at[m] + FIRST + POINT * g : arrays.at[m + 1]]
                material = spans.damping[point], spans.branch[point], spans.relaxation[point]
                at = work.internal_offsets.branch + BRANCH * point
                begin_branch(material, state.internal[at : at + BRANCH], h, D, BEHIND)


@internal_kernel
def passed_pi(state, work, frames, p):
    """Return whether the rotation of a frame relative to the middle frame of its span passed pi in this step."""
    m = frames[p // 2]
    for a in range(p + 1):
        f = frames[a]
        before = relative_half(load4(state.quat[m]), load4(state.quat[f]))[0]
        if before * relative_half(load4(work.q1[m]), load4(work.q1[f]))[0] <= 0.0:
            return True
    return False


@internal_kernel
def add_spans(system, numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all spans; return 0 or ROTATION_LIMIT."""
    spans, arrays, K = system.spans, work.spans, work.spans.K
    residual, values = work.residual, work.values
    add_string_lanes(state, work, h, tangent)
    if arrays.lanes.order.size > 0 and add_span_lanes(system, state, work, h, tangent) != 0:
        return ROTATION_LIMIT
    for which in range(arrays.alone.size):
        m = arrays.alone[which]
        p, frames = arrays.order[m], spans.frames[m]
        if passed_pi(state, work, frames, p):
            return ROTATION_LIMIT
        if arrays.forces[m] != 0:
            X, D = (
                arrays.numbers[arrays.at[m] : arrays.at[m + 1]],
                arrays.viscosity[arrays.at[m] : arrays.at[m + 1]],
            )
            ratio = 1.0 / h if arrays.viscous[m] != 0 else 0.0
            closed = forces_at(arrays.forces[m])
            closed(state.r, work.dr, work.R0, work.R1, frames, X, D, ratio, tangent, K)
        else:
            fill_generic_tangent(arrays.duals, state.r, work, m, h, tangent, K)
        if spans.coupling[m] != 0.0:
            _add_shared_mass(system, state, work, m, h, tangent)
        for a in range(p + 1):
            at = numbering.frame[frames[a]]
            for i in range(6):
                residual[at + i] += h * K[FORCE, 6 * a + i]
        if not tangent:
            continue
        for b in range(p + 1):
            stride = numbering.span_stride[m, b]
            for a in range(p + 1):
                corner = numbering.span_base[m, a, b]
                for j in range(6):
                    column, to = K[6 * b + j], corner + j * stride
                    for i in range(6):
                        values[to + i] += h * column[6 * a + i]
    return 0


@internal_kernel
def _add_shared_mass(system, state, work, m, h, tangent):
    """Add the rate of the momentum -coupling a_i sum a_j v_j, shared by a consistent mass, as a force."""
    spans, arrays, K = system.spans, work.spans, work.spans.K
    p, frames = arrays.order[m], spans.frames[m]
    a = arrays.leading[p]
    rate = (0.0, 0.0, 0.0)
    for k in range(p + 1):
        f = frames[k]
        rate = plus(rate, times(a[k], minus(times(1.0 / h, load3(work.dr[f])), load3(state.v[f]))))
    shared = 2.0 * spans.coupling[m] / h
    for k in range(p + 1):
        for i in range(3):
            K[FORCE, 6 * k + i] -= shared * a[k] * rate[i]
            if tangent:
                for l in range(p + 1):
                    K[6 * l + i, 6 * k + i] -= shared / h * a[k] * a[l]


@internal_kernel
def add_span_masses(system, numbering, hidden, work, h, tangent):
    """Add the terms of spans with a consistent mass to 2 M W/h in `discretization.assembly.velocity_constraints` (1)."""
    spans, arrays = system.spans, work.spans
    for m in range(spans.kind.size):
        if spans.coupling[m] == 0.0:
            continue
        p, frames = arrays.order[m], spans.frames[m]
        a, shared = arrays.leading[p], 2.0 * spans.coupling[m] / h
        mean = (0.0, 0.0, 0.0)
        for k in range(p + 1):
            mean = plus(mean, times(a[k], load3(hidden.W[frames[k], 0:3])))
        for k in range(p + 1):
            if hidden.has_correction[frames[k]] == 0:
                continue
            at = numbering.frame[frames[k]] + 6
            for i in range(3):
                work.residual[at + i] -= shared * a[k] * mean[i]
                if tangent:
                    for l in range(p + 1):
                        if hidden.has_correction[frames[l]] != 0:
                            to = numbering.span_base[m, k, l] + 6 + i
                            to += (6 + i) * numbering.span_stride[m, l]
                            work.values[to] -= shared * a[k] * a[l]


@internal_kernel
def strains_over_step(spans, arrays, poses, m, ratio):
    """Write the strains of span m at both ends of a step to `arrays.K`.

    The span must have a closed form, and spans must be visited in the order of `arrays.sequence`.
    `poses`: r, dr, R0, R1. `ratio`: factor of the viscosities, see `closed_form_spans`.
    """
    if arrays.forces[m] == IN_LANES:
        strains_in_lanes(poses, arrays, m, ratio)
        return
    r, dr, R0, R1 = poses
    X, D = arrays.numbers[arrays.at[m] : arrays.at[m + 1]], arrays.viscosity[arrays.at[m] : arrays.at[m + 1]]
    closed = forces_at(arrays.forces[m])
    closed(r, dr, R0, R1, spans.frames[m], X, D, ratio, False, arrays.K)


@internal_kernel
def span_dissipation(system, state, work, h):
    """Return the energy dissipated by viscous spans in the step, J; update relaxing branches to its end."""
    spans, arrays, K = system.spans, work.spans, work.spans.K
    dissipated = 0.0
    for which in range(arrays.sequence.size):
        m = arrays.sequence[which]
        if arrays.viscous[m] == 0 and arrays.lane[m] % WIDTH != 0:
            continue
        if arrays.forces[m] == 0:
            branch = state.internal[work.internal_offsets.branch + BRANCH * arrays.first[m] :]
            dissipated += generic_dissipation(arrays.duals, state.r, work, m, h, branch)
            continue
        strains_over_step(spans, arrays, (state.r, work.dr, work.R0, work.R1), m, 1.0 / h)
        if arrays.viscous[m] == 0:
            continue
        for g in range(arrays.first[m + 1] - arrays.first[m]):
            point, change = arrays.first[m] + g, K[STRAINS_END, 6 * g : 6 * g + 6]
            for i in range(6):
                change[i] -= K[STRAINS_START, 6 * g + i]
            if spans.relaxation[point] > 0.0:
                material = spans.branch[point], spans.relaxation[point]
                at = work.internal_offsets.branch + BRANCH * point
                branch = state.internal[at : at + BRANCH]
                dissipated += spans.weight[point] * relax_branch(material, change, h, branch)
            for i in range(6):
                for j in range(6):
                    dissipated += spans.weight[point] / h * change[i] * spans.damping[point, i, j] * change[j]
    return dissipated
