"""Loads in a Cayley energy-momentum step: their values in their place, their rounding, forces and work.

Those of `rigid.interactions.loads` have real closed forms here (`rigid.interactions.kinds.Kind.loop`); another kind whose numbers
come from outside goes by its dual.
"""

from __future__ import annotations

from discretization.assembly.by_duals import kind_of, put_ends
from discretization.assembly.workspace import EPS, norm, turned
from rigid.compilation.decorators import inner_kernel
from rigid.interactions.blocks import pulled
from rigid.interactions.kinds import dual_at
from rigid.interactions.loads import FOLLOWING_FORCES, FORCES, VALUE
from rigid.linear_algebra import add3, add_at, cross, dot, dyad, hat, load3, times, turned_right


@inner_kernel
def put_signals(work, signals):
    """Values (l, 3) of the loads among their numbers, at the start of a step."""
    own = work.by_duals
    for l in range(own.signals.shape[0]):
        for i in range(3):
            own.interacting.numbers[own.signals[l, 1] + i] = signals[l, i]


@inner_kernel
def add_load_noise(numbering, work, h):
    """Raise the noise levels by the rounding of the loads: all there is on a body at rest."""
    own = work.by_duals
    for l in range(own.signals.shape[0]):
        e, at = own.signals[l, 0], own.signals[l, 1]
        entry = own.interacting.each[e]
        size = EPS * abs(h) * norm(load3(own.interacting.numbers[at : at + 3]))
        force, moment = 0.0, size
        if _is_force(own.loop[e]):
            force, moment = size, size * norm(load3(own.interacting.numbers[entry.first : entry.first + 3]))
        elif own.loop[e] == 0:
            force = size
        at = numbering.frame[entry.frames[0]]
        for i in range(3):
            work.noise[at + i] += force
            work.noise[at + 3 + i] += moment


@inner_kernel
def _is_force(loop):
    return loop % 2 == FORCES % 2  # those of moments are even


@inner_kernel
def _of_step(loop, entry, X, work):
    """Averaged force and torque over the step, then what the tangent needs: x1, x, value at the end, mean value."""
    f = entry.frames[0]
    F = F1 = load3(X[VALUE:])
    if loop >= FOLLOWING_FORCES:
        _, F1, F = turned(work, f, F)
    _, x1, x = turned(work, f, load3(X))
    if _is_force(loop):
        return F, cross(x, F), x1, x, F1, F
    return (0.0, 0.0, 0.0), F, x1, x, F1, F


@inner_kernel
def force_of_load(l, state, work):
    """Force and torque of load l over the step, with the value that stands among its numbers."""
    own = work.by_duals
    e = own.signals[l, 0]
    entry = own.interacting.each[e]
    X = own.interacting.numbers[entry.first : entry.last]
    if own.loop[e] > 0:
        force, torque, _, _, _, _ = _of_step(own.loop[e], entry, X, work)
        return force, torque
    put_ends(own, entry, 1, state.r, work)
    own.lam[0] = -1.0
    dual_of_kind = dual_at(kind_of(own.interacting, e).dual)
    dual_of_kind(own.start, own.end, X, own.lam, own.dual)
    force, torque = pulled(own.dual, own.start, own.end, 0)
    return (force[0].real, force[1].real, force[2].real), (torque[0].real, torque[1].real, torque[2].real)


@inner_kernel
def add_loads(numbering, work, h, tangent):
    """Residual and, on demand, matrix."""
    own, values, half = work.by_duals, work.values, 0.5 * h
    for l in range(own.signals.shape[0]):
        e = own.signals[l, 0]
        loop, entry = own.loop[e], own.interacting.each[e]
        if loop == 0:
            continue
        force, torque, x1, x, F1, F = _of_step(
            loop, entry, own.interacting.numbers[entry.first : entry.last], work
        )
        f = entry.frames[0]
        at = numbering.frame[f]
        add3(times(-h, force), work.residual[at : at + 3])
        add3(times(-h, torque), work.residual[at + 3 : at + 6])
        if not tangent:
            continue
        base, stride = numbering.frame_base[f], numbering.frame_stride[f]
        following = loop >= FOLLOWING_FORCES
        if _is_force(loop):
            add_at(values, base, stride, 1, 1, -half, dyad(x1, F))
            if following:
                add_at(values, base, stride, 0, 1, half, hat(F1))
                add_at(values, base, stride, 1, 1, -half, turned_right(x, F1))
        elif following:
            add_at(values, base, stride, 1, 1, half, hat(F1))


@inner_kernel
def work_of_loads(state, work):
    """What loads with closed forms have done in the step, J; that of others is among `taken_by_duals`."""
    own, done = work.by_duals, 0.0
    for l in range(own.signals.shape[0]):
        if own.loop[own.signals[l, 0]] == 0:
            continue
        f = own.interacting.each[own.signals[l, 0]].frames[0]
        force, torque = force_of_load(l, state, work)
        done += dot(force, load3(work.dr[f])) + dot(torque, load3(work.psi[f]))
    return done
