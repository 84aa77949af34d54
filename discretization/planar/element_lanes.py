"""Forces and blocks of planar elements in SIMD lanes (`rigid.lanes`), eight elements at a time.

It is the planar version of `discretization.assembly.element_lanes`. An element's numbers are read directly from the rows of its
frames, and its contributions are added there, by transposes. Quantities that are constant in a step are stored number by
number, eight elements side by side. A group with fewer than eight elements repeats its last element; the extra lanes add to the
ground and to a dummy block that is never read.
"""

from __future__ import annotations

import numpy as np

from discretization.assembly.stress_rounding import stress_rounding
from discretization.planar.arrays import C0, D11, MX, MY, N1, N_FRAME, VX, W0
from discretization.planar.element import (
    C11,
    C12,
    C13,
    C22,
    C23,
    C33,
    E1,
    E2,
    E3,
    EX,
    EY,
    LENGTH,
    START,
    TAU,
    W1,
    W2,
    W3,
    Y1,
    Y2,
    forces,
    linear_part,
    start_of_step,
    tangent,
    with_damping,
)
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.lanes import (
    WIDTH,
    add_rows2,
    add_rows12,
    load,
    numbers2,
    numbers4,
    numbers7,
    put_rows12,
    rows1,
    rows3,
    rows4,
    rows9,
    store,
)
from rigid.linear_algebra import dot
from rigid.system import Ints

# Rows of `ElementLanes.offsets`: number of the element; frame numbers in the system; offsets in `Work.frames` of the frames, of
# their residuals and of their round-off levels; numbers of the blocks with rows of a and columns of b and vice versa; zeros.
ITEM, FRAME_A, FRAME_B, AT_A, AT_B, FORCES_A, FORCES_B, ROUNDOFF_A, ROUNDOFF_B, AB, BA, NOTHING, N_PLACES = (
    range(13)
)


def element_offsets(frame: Ints, ends: Ints, blocks: Ints, count: int) -> Ints:
    """Return `ElementLanes.offsets` for elements with the end frames `ends` (m, 2), elimination indices.

    frame: frame numbers in the system in elimination order, the ground's last; blocks (m,): number of the pair of blocks of each
    element. There are `count` pairs, each of a block with the columns of the earlier frame and one with its rows.
    """
    m = len(ends)
    item = np.minimum(np.arange(-(-m // WIDTH) * WIDTH), m - 1)
    a, b = ends[item].T
    late = np.where(a < b, count, 0)  # rows of the earlier frame, columns of the later one
    offsets = np.zeros((N_PLACES, len(item)), np.int64)
    offsets[ITEM], offsets[FRAME_A], offsets[FRAME_B] = item, frame[a], frame[b]
    offsets[AT_A], offsets[AT_B] = N_FRAME * a, N_FRAME * b
    offsets[AB], offsets[BA] = blocks[item] + late, blocks[item] + count - late
    a, b = np.where(np.arange(len(item)) < m, (a, b), len(frame) - 1)
    offsets[FORCES_A], offsets[FORCES_B] = N_FRAME * a + D11, N_FRAME * b + D11
    offsets[ROUNDOFF_A], offsets[ROUNDOFF_B] = N_FRAME * a + N1, N_FRAME * b + N1
    offsets[AB : BA + 1, m:] = 2 * count
    return offsets


@inline_kernel
def _at(start, s, column):
    """Load a column of the element data of a group as SIMD lanes."""
    return load(start, s + column * WIDTH)


@internal_kernel
def begin_elements(tables, state, work, h):
    """Compute the element data that all iterations of a step share; add the round-off of the forces to the round-off levels."""
    elements, basis = tables.elements, tables.basis
    offsets, lanes, start = elements.offsets, elements.offsets.shape[1], work.starts
    for group in range(work.starts.shape[0]):
        first, s = group * WIDTH, group * START * WIDTH
        wa, za, xa, ya = numbers4(work.frames, offsets, AT_A * lanes + first, W0)
        wb, zb, xb, yb = numbers4(work.frames, offsets, AT_B * lanes + first, W0)
        ex, ey = xb - xa, yb - ya
        if not tables.aligned:  # rotating the difference rounds less than the difference of rotated positions
            ra, rb = (
                rows3(state.r, offsets, FRAME_A * lanes + first),
                rows3(state.r, offsets, FRAME_B * lanes + first),
            )
            e = rb[0] - ra[0], rb[1] - ra[1], rb[2] - ra[2]
            ex, ey = (
                dot((basis[0, 0], basis[0, 1], basis[0, 2]), e),
                dot((basis[1, 0], basis[1, 1], basis[1, 2]), e),
            )
        ca, sa = numbers2(work.frames, offsets, AT_A * lanes + first, C0)
        cb, sb = numbers2(work.frames, offsets, AT_B * lanes + first, C0)
        item = ITEM * lanes + first
        L = rows1(elements.length, offsets, item)[0]
        y, tau, E = start_of_step((wa, za, ca, sa), (wb, zb, cb, sb), (ex, ey), L)
        w, c = linear_part(
            rows9(elements.stiffness, offsets, item), rows3(elements.strain0, offsets, item), E
        )
        if elements.viscous:
            w, c = with_damping(w, c, rows9(elements.damping, offsets, item), E, h)
        for column, x in ((Y1, y[0]), (Y2, y[1]), (TAU, tau), (W1, w[0]), (W2, w[1]), (W3, w[2])):
            store(x, start, s + column * WIDTH)
        for column, x in (
            (E1, E[0]),
            (E2, E[1]),
            (E3, E[2]),
            (EX, ex),
            (EY, ey),
            (LENGTH, L),
        ):
            store(x, start, s + column * WIDTH)
        for column, x in ((C11, c[0]), (C12, c[1]), (C13, c[2]), (C22, c[3]), (C23, c[4]), (C33, c[5])):
            store(x, start, s + column * WIDTH)
        roundoff = stress_rounding(rows4(elements.scale, offsets, item), L, h)
        zeros = NOTHING * lanes + first
        add_rows2(roundoff, work.frames, offsets, offsets, ROUNDOFF_A * lanes + first, zeros, 0)
        add_rows2(roundoff, work.frames, offsets, offsets, ROUNDOFF_B * lanes + first, zeros, 0)


@internal_kernel
def add_elements(tables, work, h, with_tangent):
    """Add forces and, if `with_tangent`, blocks of all elements; return 1 if an element rotated beyond pi, else 0."""
    elements = tables.elements
    offsets, lanes, start = elements.offsets, elements.offsets.shape[1], work.starts
    for group in range(work.starts.shape[0]):
        first, s = group * WIDTH, group * START * WIDTH
        zeros, forces_a, forces_b = (
            NOTHING * lanes + first,
            FORCES_A * lanes + first,
            FORCES_B * lanes + first,
        )
        ca0, sa0, ca, sa, pa, xa, ya = numbers7(work.frames, offsets, AT_A * lanes + first, C0)
        cb0, sb0, cb, sb, pb, xb, yb = numbers7(work.frames, offsets, AT_B * lanes + first, C0)
        dx, dy = xb - xa, yb - ya
        ex, ey = _at(start, s, EX), _at(start, s, EY)
        L, e1 = _at(start, s, LENGTH), (ex + dx, ey + dy)
        start_data = (
            (_at(start, s, Y1), _at(start, s, Y2)),
            _at(start, s, TAU),
            (_at(start, s, W1), _at(start, s, W2), _at(start, s, W3)),
            (
                _at(start, s, C11),
                _at(start, s, C12),
                _at(start, s, C13),
                _at(start, s, C22),
                _at(start, s, C23),
                _at(start, s, C33),
            ),
            (ex, ey),
        )
        a, b = (ca0, sa0, ca, sa, pa), (cb0, sb0, cb, sb, pb)
        status, (n1, n2, ta, tb), E, evaluation = forces(start_data, a, b, e1, L)
        if status != 0:
            return 1
        for i in range(3):
            store(E[i], work.strain1, (3 * group + i) * WIDTH)
        none = inertia = 0.0 * n1
        if elements.couples:
            factor = 2.0 / h * rows1(elements.coupling, offsets, ITEM * lanes + first)[0]
            va, wa = numbers2(work.frames, offsets, AT_A * lanes + first, VX)
            vb, wb = numbers2(work.frames, offsets, AT_B * lanes + first, VX)
            n1 = n1 - factor * (dx / h - (vb - va))
            n2 = n2 - factor * (dy / h - (wb - wa))
            inertia = factor / h
        n1, n2, ta, tb = h * n1, h * n2, h * ta, h * tb
        if not with_tangent:
            of_a = (none, none, none, -n1, none, none, none, -n2, none, none, none, ta)
            of_b = (none, none, none, n1, none, none, none, n2, none, none, none, tb)
            add_rows12(of_a, work.frames, offsets, offsets, forces_a, zeros, 0)
            add_rows12(of_b, work.frames, offsets, offsets, forces_b, zeros, 0)
            continue
        K = tangent(L, evaluation)
        k11, k12, k13, k14 = h * (K[0] - inertia), h * K[1], h * K[2], h * K[3]
        k21, k22, k23, k24 = h * K[4], h * (K[5] - inertia), h * K[6], h * K[7]
        k31, k32, k33, k34 = h * K[8], h * K[9], h * K[10], h * K[11]
        k41, k42, k43, k44 = h * K[12], h * K[13], h * K[14], h * K[15]
        of_a = (k11, k12, -k13, -n1, k21, k22, -k23, -n2, -k31, -k32, k33, ta)
        of_b = (k11, k12, k14, n1, k21, k22, k24, n2, k41, k42, k44, tb)
        add_rows12(of_a, work.frames, offsets, offsets, forces_a, zeros, 0)
        add_rows12(of_b, work.frames, offsets, offsets, forces_b, zeros, 0)
        ab = (-k11, -k12, -k14, none, -k21, -k22, -k24, none, k31, k32, k34, none)
        ba = (-k11, -k12, k13, none, -k21, -k22, k23, none, -k41, -k42, k43, none)
        put_rows12(ab, work.blocks, offsets, AB * lanes + first)
        put_rows12(ba, work.blocks, offsets, BA * lanes + first)
    return 0


@internal_kernel
def largest_relative_displacement(tables, work):
    """Return the largest displacement of the ends of an element against each other by the correction, divided by its length."""
    elements, largest = tables.elements, 0.0
    for m in range(elements.ends.shape[0]):
        A, B = work.frames[elements.ends[m, 0]], work.frames[elements.ends[m, 1]]
        shift = max(abs(B[MX] - A[MX]), abs(B[MY] - A[MY]))
        largest = max(largest, shift / elements.length[m])
    return largest


@internal_kernel
def element_dissipation(tables, work, h):
    """Return the energy that the dampers of all elements dissipate in the step, J."""
    elements, total = tables.elements, 0.0
    for m in range(elements.ends.shape[0]):
        group, lane = m // WIDTH, m % WIDTH
        for i in range(3):
            for j in range(3):
                rates = (
                    work.strain1[group, i, lane] - work.starts[group, E1 + i, lane],
                    work.strain1[group, j, lane] - work.starts[group, E1 + j, lane],
                )
                total += elements.length[m] / h * rates[0] * elements.damping[m, i, j] * rates[1]
    return total
