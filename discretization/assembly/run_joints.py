"""Joints to the ground and loads of eight runs side by side (`discretization.assembly.run_lanes`).

Points in one place and directions at an angle, between a frame that moves and one that does not: the sums of
`discretization.assembly.constraint_rows` and `discretization.assembly.step_equations`, lane by lane in their order.
"""

from __future__ import annotations

from discretization.assembly.element_lanes import E0, START
from discretization.assembly.run_lanes import (
    BLOCK,
    add3_at,
    add_part,
    load3_at,
    load9_at,
)
from discretization.assembly.workspace import EPS
from discretization.linear.block_band import SIZE
from rigid.compilation.decorators import flat_kernel, inner_kernel
from rigid.interactions import coincident
from rigid.lanes import WIDTH, larger, load, root, store, where_less
from rigid.linear_algebra import (
    apply,
    average,
    cross,
    dot,
    dyad,
    hat,
    matrix_times,
    minus,
    plus,
    times,
    turned_right,
)
from rigid.system import COINCIDENT, FORCE

_pull_points = coincident.pull


@flat_kernel
def _norm(x):
    return root(dot(x, x))


@flat_kernel
def _turned(own, f, X):
    """As of `discretization.assembly.workspace`."""
    x0, x1 = apply(load9_at(own.R0, 9 * f), X), apply(load9_at(own.R1, 9 * f), X)
    return x0, x1, average(x0, x1)


@inner_kernel
def begin_joints(own, h):
    """Scales, noise levels and multipliers of constraints, rounding of loads."""
    joints, loads = own.joints, own.loads
    extent = load(own.extent, 0)
    for c in range(joints.kind.shape[0]):
        at = c * WIDTH
        scale = 2.0 / abs(h) * load(joints.lightest, at)
        store(scale, joints.scale, at)
        reach = 0.0 * scale + 1.0
        if joints.kind[c] == COINCIDENT:
            reach = 0.1 * extent
            reach = reach + _norm(load3_at(own.r0, 3 * joints.frames[c, 0]))
            reach = reach + _norm(load3_at(own.r0, 3 * joints.frames[c, 1]))
            reach = reach + load(joints.reach, at)
        level = 2.0 * EPS * scale * reach * load(joints.size, at)
        for i in range(joints.rows[c]):
            store(level, own.noise, (joints.row[c] + i) * WIDTH)
            place = (joints.lam[c] + i) * WIDTH
            store(h * load(joints.before, place) / scale, joints.impulse, place)
    for l in range(loads.frame.shape[0]):
        if own.block[loads.frame[l]] < 0:
            continue
        at, size = own.place[loads.frame[l]], EPS * abs(h) * _norm(load3_at(loads.value, 3 * l))
        moment = size
        if loads.kind[l] == FORCE:
            moment = size * _norm(load3_at(loads.X, 3 * l))
            add3_at((size, size, size), own.noise, at)
        add3_at((moment, moment, moment), own.noise, at + 3)


@inner_kernel
def raise_noise(own):
    """Noise levels by the rounding of the present impulses, of the runs that own.takes says."""
    joints, takes = own.joints, load(own.takes, 0)
    for c in range(joints.kind.shape[0]):
        impulse = 0.0 * takes
        for i in range(joints.rows[c]):
            lam = load(joints.impulse, (joints.lam[c] + i) * WIDTH)
            impulse = impulse + larger(lam, lam)
        impulse = impulse * (EPS * load(joints.scale, c * WIDTH) * load(joints.size, c * WIDTH))
        impulse = where_less(0.5, takes, impulse, 0.0)
        turned = load(joints.arm, c * WIDTH) * impulse
        for f in joints.frames[c]:
            if own.block[f] >= 0:
                add3_at((impulse, impulse, impulse), own.noise, own.place[f])
                add3_at((turned, turned, turned), own.noise, own.place[f] + 3)


@inner_kernel
def add_joints(own, tangent):
    """Residual and, on demand, matrix."""
    joints = own.joints
    for k in range(joints.closed.shape[0]):
        c = joints.closed[k]
        if joints.kind[c] == COINCIDENT:
            _add_points(own, c, tangent)
        else:
            _add_directions(own, c, tangent)


@flat_kernel
def _add_value(own, place, g):
    store(load(own.residual, place * WIDTH) + g, own.residual, place * WIDTH)


@flat_kernel
def _add_entry(block, place, x):
    store(load(block, place * WIDTH) + x, block, place * WIDTH)


@inner_kernel
def _add_points(own, c, tangent):
    joints = own.joints
    a, b = joints.frames[c, 0], joints.frames[c, 1]
    _, xa1, xa = _turned(own, a, load3_at(joints.Xa, 3 * c))
    _, xb1, xb = _turned(own, b, load3_at(joints.Xb, 3 * c))
    d1 = plus(minus(load3_at(own.r1, 3 * b), load3_at(own.r1, 3 * a)), minus(xb1, xa1))
    row, scale = joints.row[c], load(joints.scale, c * WIDTH)
    add3_at(times(scale, d1), own.residual, row)
    lam = times(scale, load3_at(joints.impulse, joints.lam[c]))
    force, torque_a, torque_b = _pull_points(lam, (xa, xb, xa, xb, d1))
    side, torque, x, x1, sign = b, torque_b, xb, xb1, 1.0
    if own.block[b] < 0:
        side, torque, x, x1, sign, force = a, torque_a, xa, xa1, -1.0, times(-1.0, force)
    at = own.place[side]
    add3_at(force, own.residual, at)
    add3_at(torque, own.residual, at + 3)
    if tangent:
        i, j, first = own.block[side], row // SIZE, row % SIZE
        up, down = _couplings(own, i, j)
        base = min(i, j) * BLOCK
        for k in range(3):
            _add_entry(up, base + k + SIZE * (first + k), sign * scale)
            _add_entry(down, base + first + k + SIZE * k, sign * scale)
        add_part(up, base, 3, first, 1.0, matrix_times(sign * scale, hat(x)))
        add_part(down, base, first, 3, 1.0, matrix_times(-sign * scale, hat(x1)))
        add_part(own.own, i * BLOCK, 3, 3, 0.5 * sign, dyad(x1, lam))


@flat_kernel
def _couplings(own, i, j):
    """Blocks of rows i and columns j, of rows j and columns i."""
    return (own.beside, own.below) if i < j else (own.below, own.beside)


@inner_kernel
def _add_directions(own, c, tangent):
    joints = own.joints
    a, b = joints.frames[c, 0], joints.frames[c, 1]
    _, ua1, ua = _turned(own, a, load3_at(joints.Ua, 3 * c))
    _, ub1, ub = _turned(own, b, load3_at(joints.Ub, 3 * c))
    row, scale = joints.row[c], load(joints.scale, c * WIDTH)
    _add_value(own, row, scale * (dot(ua1, ub1) - load(joints.value, c * WIDTH)))
    lam = scale * load(joints.impulse, joints.lam[c] * WIDTH)
    torque = times(lam, cross(ua, ub))
    on_b = own.block[b] >= 0
    side = b if on_b else a
    if on_b:
        torque = times(-1.0, torque)
    add3_at(torque, own.residual, own.place[side] + 3)
    if tangent:
        i, j, first = own.block[side], row // SIZE, row % SIZE
        up, down = _couplings(own, i, j)
        base = min(i, j) * BLOCK
        mean, end = times(scale, cross(ua, ub)), times(scale, cross(ua1, ub1))
        half = 0.5 * lam
        if on_b:
            mean, end = times(-1.0, mean), times(-1.0, end)
            add_part(own.own, i * BLOCK, 3, 3, -half, turned_right(ua, ub1))
        else:
            add_part(own.own, i * BLOCK, 3, 3, half, dyad(ua1, ub))
        add3_at(mean, up, base + 3 + SIZE * first)
        for k in range(3):
            _add_entry(down, base + first + SIZE * (3 + k), end[k])


@flat_kernel
def _load_step(own, l):
    loads = own.loads
    f, F = loads.frame[l], load3_at(loads.value, 3 * l)
    F1 = F
    if loads.following[l] != 0:
        _, F1, F = _turned(own, f, F)
    _, x1, x = _turned(own, f, load3_at(loads.X, 3 * l))
    return F, cross(x, F), x1, x, F1


@inner_kernel
def add_loads_of_runs(own, h, tangent):
    """Residual and, on demand, matrix."""
    loads = own.loads
    for l in range(loads.frame.shape[0]):
        f = loads.frame[l]
        if own.block[f] < 0:
            continue
        F, torque, x1, x, F1 = _load_step(own, l)
        at, base, half = own.place[f], own.block[f] * BLOCK, 0.5 * h
        following = loads.following[l] != 0
        if loads.kind[l] == FORCE:
            add3_at(times(-h, F), own.residual, at)
            add3_at(times(-h, torque), own.residual, at + 3)
            if tangent:
                add_part(own.own, base, 3, 3, -half, dyad(x1, F))
                if following:
                    add_part(own.own, base, 0, 3, half, hat(F1))
                    add_part(own.own, base, 3, 3, -half, turned_right(x, F1))
        else:
            add3_at(times(-h, F), own.residual, at + 3)
            if tangent and following:
                add_part(own.own, base, 3, 3, half, hat(F1))


@inner_kernel
def correct_joints(own):
    """Multipliers by the corrections, of the runs that own.takes says."""
    joints, takes = own.joints, load(own.takes, 0)
    for c in range(joints.kind.shape[0]):
        for i in range(joints.rows[c]):
            place = (joints.lam[c] + i) * WIDTH
            lam = load(joints.impulse, place)
            more = lam + load(own.rhs, (joints.row[c] + i) * WIDTH)
            store(where_less(0.5, takes, more, lam), joints.impulse, place)


@inner_kernel
def _lost(own, h):
    """What elements dissipate in the step."""
    lost = 0.0 * load(own.extent, 0)
    for m in range(own.frames.shape[0]):
        for i in range(6):
            for j in range(6):
                rate_i, rate_j = _change(own, m, i), _change(own, m, j)
                damping = load(own.damping, (36 * m + 6 * i + j) * WIDTH)
                lost = lost + load(own.length, m * WIDTH) / h * rate_i * damping * rate_j
    return lost


@flat_kernel
def _change(own, m, i):
    return load(own.strain1, (6 * m + i) * WIDTH) - load(own.start, (START * m + E0 + i) * WIDTH)


@inner_kernel
def account_runs(own, h):
    """Work of the loads and dissipation of the elements in the step, to own.totals, and the multipliers at its end."""
    loads, joints = own.loads, own.joints
    done = 0.0 * load(own.extent, 0)
    lost = done
    for l in range(loads.frame.shape[0]):
        f = loads.frame[l]
        F, torque, _, _, _ = _load_step(own, l)
        dr, psi = load3_at(own.dr, 3 * f), load3_at(own.psi, 3 * f)
        done = done + (dot(F, dr) + dot(torque, psi) if loads.kind[l] == FORCE else dot(F, psi))
    if own.viscous:
        lost = _lost(own, h)
    store(load(own.totals, 0) + done, own.totals, 0)
    store(load(own.totals, WIDTH) + lost, own.totals, WIDTH)
    for c in range(joints.kind.shape[0]):
        for i in range(joints.rows[c]):
            place = (joints.lam[c] + i) * WIDTH
            lam = load(joints.impulse, place) + load(own.last, (joints.row[c] + i) * WIDTH)
            store(lam * load(joints.scale, c * WIDTH) / h, joints.before, place)
