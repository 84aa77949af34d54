"""Assemble tendons of unknown tension and chambers in a Cayley energy-momentum step: closed forms, without coupling of distant
frames.

A chamber is a tendon whose tension is minus the force of its filling.

With m and e the gradients of the length, between the ends of the step and at its end, the tangent of a tendon is

    sum over segments of D   (between neighbours)   +   (dT/dl_1) m e^T   (elastic)  or  rows e, columns m   (inextensible)   (1)

What reaches over all frames is stored in the border of the matrix (`discretization.linear.bordered_band`). That of an elastic
tendon has an unknown of the factorisation alone, [B, h dT/dl_1 m; e^T, -1]. A matrix without a border has it in the blocks of all
frames.
"""

from __future__ import annotations

from discretization.assembly.spring_forces import add_central_tangent, change_of_length
from discretization.assembly.workspace import add_pair_forces, norm, rotate_at_both_ends
from rigid.compilation.decorators import internal_kernel
from rigid.interactions.chambers import CHAMBERS, push_and_slope
from rigid.interactions.measure_forces import central_force_of_step, force_of
from rigid.interactions.tendon_length import PER_FRAME, TENDONS, slope_of_tension, tension_of_step
from rigid.linear_algebra import average, cross, load3, minus, outer, plus, plus_identity, times

_WITH_INPUT = 5  # count of numbers behind the points if the length varies: L, k, three from outside


@internal_kernel
def add_tendons(numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all tendons of unknown tension and of all chambers."""
    generic = work.generic_groups
    for e in range(generic.loop.size):
        if _is_ours(generic.loop[e]):
            _add_tendon(e, numbering, state, work, h, tangent)


@internal_kernel
def _is_ours(loop):
    """Return whether `loop` is that of tendons or of chambers."""
    return loop in (TENDONS, CHAMBERS)


@internal_kernel
def _ends_of(entry, X, j, state, work):
    """Return d_0, d_1 of segment j, and x_a, x_b, x_a1, x_b1, the rotated points on both frames."""
    a, b, at = entry.frames[j], entry.frames[j + 1], PER_FRAME * j
    xa0, xa1, xa = rotate_at_both_ends(work, a, load3(X[at + 3 : at + 6]))
    xb0, xb1, xb = rotate_at_both_ends(work, b, load3(X[at + 6 : at + 9]))
    e0 = minus(load3(state.r[b]), load3(state.r[a]))
    e1 = plus(e0, minus(load3(work.dr[b]), load3(work.dr[a])))
    return plus(e0, minus(xb0, xa0)), plus(e1, minus(xb1, xa1)), xa, xb, xa1, xb1


@internal_kernel
def _tension_and_slope(loop, entry, X, state, work):
    """Return the tension of an elastic tendon or a chamber over the step, dT/dl_1, and the change of its length."""
    n = X.size // PER_FRAME
    first, change = 0.0, 0.0
    for j in range(n - 1):
        d0, d1, _, _, _, _ = _ends_of(entry, X, j, state, work)
        first += norm(d0)
        change += change_of_length(d0, d1)
    if loop == CHAMBERS:
        force, growth = push_and_slope(X, first, change)
        return -force, -growth, change
    stretch, stiffness = first - X[PER_FRAME * n], X[PER_FRAME * n + 1]
    if X.size == PER_FRAME * n + _WITH_INPUT:
        stretch -= force_of(X, PER_FRAME * n + 2)
    return tension_of_step(stiffness, stretch, change), slope_of_tension(stiffness, stretch, change), change


@internal_kernel
def _add_tendon(e, numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of tendon e."""
    generic = work.generic_groups
    entry, base, block = generic.interacting.entries[e], generic.base[e], generic.block
    X = generic.interacting.numbers[entry.first : entry.last]
    n = X.size // PER_FRAME
    inextensible, scale, tension, slope, length = entry.row >= 0, 1.0, 0.0, 0.0, 0.0
    if inextensible:
        scale = work.scale[entry.row]
        tension = scale * work.lam[numbering.lam[entry.row]]
    else:
        tension, slope, _ = _tension_and_slope(generic.loop[e], entry, X, state, work)
        tension, slope = h * tension, h * slope
    for i in range(PER_FRAME * n if tangent else 0):
        block[0, i], block[1, i] = 0.0, 0.0
    for j in range(n - 1):
        a, b = entry.frames[j], entry.frames[j + 1]
        d0, d1, xa, xb, xa1, xb1 = _ends_of(entry, X, j, state, work)
        mean = average(d0, d1)
        length += norm(d1)
        sigma, change_of_sigma = central_force_of_step(-tension, d0, d1)
        force = times(sigma, mean)
        add_pair_forces(
            work.residual,
            numbering.frame[a],
            numbering.frame[b],
            force,
            times(-1.0, cross(xa, force)),
            cross(xb, force),
        )
        if tangent:
            D = plus_identity(outer(times(change_of_sigma, mean), d1), 0.5 * sigma)
            bases = base[j, j], base[j, j + 1], base[j + 1, j], base[j + 1, j + 1]
            strides = numbering.frame_stride[a], numbering.frame_stride[b]
            add_central_tangent(D, (xa, xb, xa1, xb1, force), (work.values, bases, *strides))
            _add_gradient(block[0], j, _direction(mean, 0.5 * (norm(d0) + norm(d1))), xa, xb)
            _add_gradient(block[1], j, _direction(d1, norm(d1)), xa1, xb1)
    if inextensible:
        work.residual[numbering.row[entry.row]] += scale * (length - X[PER_FRAME * n])
    if tangent:
        _scatter_gradients(e, n, scale, slope, numbering, work)


@internal_kernel
def _direction(d, length):
    """Return d over a length, zero if this is zero."""
    return times(1.0 / length if length > 0.0 else 0.0, d)


@internal_kernel
def _add_gradient(gradient, j, u, xa, xb):
    """Add the gradient of the length of segment j along u to those of both of its frames, six numbers each."""
    on_a, on_b = cross(xa, u), cross(xb, u)
    for i in range(3):
        gradient[6 * j + i] -= u[i]
        gradient[6 * j + 3 + i] -= on_a[i]
        gradient[6 * j + 6 + i] += u[i]
        gradient[6 * j + 9 + i] += on_b[i]


@internal_kernel
def _scatter_gradients(e, n, scale, slope, numbering, work):
    """Add what couples all n frames of tendon e to the matrix: the gradients in the first two rows of `generic.block`."""
    generic, values, size = work.generic_groups, work.values, numbering.size
    entry, mean, end = generic.interacting.entries[e], generic.block[0], generic.block[1]
    inextensible, count = entry.row >= 0, numbering.border.rows
    if count > 0:
        factor = scale if inextensible else slope
        column = numbering.border.first + generic.border[e] * size
        row = column + count * size
        for k in range(n):
            at = numbering.frame[entry.frames[k]]
            for i in range(6 if at < size else 0):
                values[column + at + i] += factor * mean[6 * k + i]
                values[row + at + i] += scale * end[6 * k + i]
        if not inextensible:
            values[numbering.border.first + 2 * count * size + generic.border[e]] -= 1.0
        return
    for k in range(n):
        stride = numbering.frame_stride[entry.frames[k]]
        if inextensible:
            to, back = generic.row_base[e, k, 0], generic.row_base[e, k, 1]
            for i in range(6):
                values[to + i] += scale * mean[6 * k + i]
                values[back + i * stride] += scale * end[6 * k + i]
        elif slope != 0.0:
            for l in range(n):
                for j in range(6):
                    at = generic.base[e, l, k] + j * stride
                    for i in range(6):
                        values[at + i] += slope * mean[6 * l + i] * end[6 * k + j]


@internal_kernel
def work_of_tendons(state, work):
    """Return the work of the tendons of varying length and the chambers of varying volume in the step, J."""
    generic, total = work.generic_groups, 0.0
    for e in range(generic.loop.size):
        if _is_ours(generic.loop[e]):
            entry = generic.interacting.entries[e]
            X = generic.interacting.numbers[entry.first : entry.last]
            if X.size % PER_FRAME == _WITH_INPUT:
                tension, _, change = _tension_and_slope(generic.loop[e], entry, X, state, work)
                total -= tension * change
    return total
