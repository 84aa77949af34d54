"""Apply loads in a Cayley energy-momentum step: set their values, add round-off, forces and work.

The loads of `rigid.interactions.loads` have real closed forms here (`rigid.interactions.kinds.Kind.loop`), actuations of two-node
elements in `discretization.assembly.actuated_elements`, forces on distances in `discretization.assembly.spring_forces`. Another
kind with external values is assembled from its dual.
"""

from __future__ import annotations

from discretization.assembly.generic_assembly import DISSIPATES, kind_number, write_end_poses
from discretization.assembly.workspace import EPS, norm, rotate_at_both_ends
from discretization.space.se3_dual import ACTUATIONS
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.blocks import pulled
from rigid.interactions.kinds import dual_at, vector
from rigid.interactions.loads import FOLLOWING_FORCES, FORCES, POINT, VALUE
from rigid.interactions.measure_forces import DISTANCE_FORCES
from rigid.lanes import largest
from rigid.linear_algebra import add3, add_at, cross, dot, dyad, hat, load3, times, turned_right

# columns of `GenericAssembly.signals`
_PLACE, _VALUE, _FRAME, _LOOP = range(4)


@internal_kernel
def write_load_values(work, signals):
    """Copy the values (l, 3) of the loads into their parameters, at the start of a step."""
    generic = work.generic_groups
    for l in range(generic.signals.shape[0]):
        for i in range(3):
            generic.interacting.numbers[generic.signals[l, _VALUE] + i] = signals[l, i]


@internal_kernel
def add_load_noise(numbering, work, h):
    """Raise the round-off levels by the round-off of the loads, the only contribution on a body at rest."""
    generic = work.generic_groups
    X = generic.interacting.numbers
    for l in range(generic.signals.shape[0]):
        at, loop = numbering.frame[generic.signals[l, _FRAME]], generic.signals[l, _LOOP]
        if loop == ACTUATIONS:  # a part of a stress, whose round-off is counted
            continue
        value = norm(vector(X, generic.signals[l, _VALUE]))
        if loop == 0 or loop >= DISTANCE_FORCES:
            _add_noise_of_duals(generic, generic.signals[l, _PLACE], value, numbering, work, h)
            continue
        size = EPS * abs(h) * value
        force, moment = 0.0, size
        if _is_force(loop):
            force, moment = size, size * norm(_point(X, generic.signals[l, _VALUE]))
        for i in range(3):
            work.noise[at + i] += force
            work.noise[at + 3 + i] += moment


@internal_kernel
def _add_noise_of_duals(generic, e, value, numbering, work, h):
    """Add the round-off of interaction e, assembled from its duals, for inputs of length `value`.

    One with internal variables also acts without inputs. One that only dissipates has sizes of its forces per rate.
    """
    which = kind_number(generic.interacting, e)
    kind, entry = generic.interacting.kinds[which], generic.interacting.entries[e]
    grown = EPS * (max(1.0, value) if kind.n_internal > 0 else value)
    if kind.inertial != 0:
        grown /= abs(h)
    elif generic.takes[which] != DISSIPATES:
        grown *= abs(h)
    for k in range(kind.arity):
        at = numbering.frame[entry.frames[k]]
        for i in range(3):
            work.noise[at + i] += grown * generic.size[e, 0]
            work.noise[at + 3 + i] += grown * generic.size[e, 1]


@internal_kernel
def _is_force(loop):
    return loop % 2 == FORCES % 2  # loop numbers of forces are odd, of moments even


@internal_kernel
def _point(X, at):
    """Return the point of application of a load whose value has offset `at`."""
    return vector(X, at - VALUE + POINT)


@inline_kernel
def _is_at_frame(X, at):
    """Return whether a load acts at the position of its frame, in all lanes."""
    p = _point(X, at)
    return largest(abs(p[0]) + abs(p[1]) + abs(p[2])) == 0.0


@internal_kernel
def _of_step(loop, f, X, at, work):
    """Return mean force and torque over the step, then what the tangent needs: x1, x, value at the end, mean value."""
    F = F1 = vector(X, at)
    none = (0.0, 0.0, 0.0)
    if loop == FORCES and _is_at_frame(X, at):
        return F, none, none, none, F, F
    if loop >= FOLLOWING_FORCES:
        _, F1, F = rotate_at_both_ends(work, f, F)
    _, x1, x = rotate_at_both_ends(work, f, _point(X, at))
    if _is_force(loop):
        return F, cross(x, F), x1, x, F1, F
    return none, F, x1, x, F1, F


@internal_kernel
def evaluate_load(l, state, work, h):
    """Prepare `force_of_load` for load l over a step of length h, with the value in its parameters; return its number of
    frames.
    """
    generic = work.generic_groups
    if 0 < generic.signals[l, _LOOP] < ACTUATIONS:
        return 1
    which = kind_number(generic.interacting, generic.signals[l, _PLACE])
    kind = generic.interacting.kinds[which]
    entry = generic.interacting.entries[generic.signals[l, _PLACE]]
    write_end_poses(generic, entry, kind.arity, state.r, work)
    generic.lam[0] = 1.0 / h if generic.takes[which] & DISSIPATES else 1.0
    dual_of_kind = dual_at(kind.dual)
    dual_of_kind(
        generic.start,
        generic.end,
        generic.interacting.numbers[entry.first : entry.last],
        generic.lam,
        generic.dual,
    )
    return kind.arity


@internal_kernel
def force_of_load(l, k, work):
    """Return the k-th frame of load l, and force (N) and torque (N m) on it, after `evaluate_load`."""
    generic = work.generic_groups
    loop = generic.signals[l, _LOOP]
    if 0 < loop < ACTUATIONS:
        f = generic.signals[l, _FRAME]
        force, torque, _, _, _, _ = _of_step(
            loop, f, generic.interacting.numbers, generic.signals[l, _VALUE], work
        )
        return f, force, torque
    force, torque = pulled(generic.dual, generic.start, generic.end, k)
    return (
        generic.interacting.entries[generic.signals[l, _PLACE]].frames[k],
        (-force[0].real, -force[1].real, -force[2].real),
        (-torque[0].real, -torque[1].real, -torque[2].real),
    )


@internal_kernel
def add_loads(numbering, work, h, tangent):
    """Add residual and, if `tangent`, matrix of the loads with closed forms."""
    generic, values, half = work.generic_groups, work.values, 0.5 * h
    X = generic.interacting.numbers
    for l in range(generic.signals.shape[0]):
        f, loop = generic.signals[l, _FRAME], generic.signals[l, _LOOP]
        if not 0 < loop < ACTUATIONS:
            continue
        at, value = numbering.frame[f], generic.signals[l, _VALUE]
        if loop == FORCES and _is_at_frame(X, value):
            for i in range(3):
                work.residual[at + i] -= h * X[value + i]
            continue
        force, torque, x1, x, F1, F = _of_step(loop, f, X, value, work)
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


@internal_kernel
def work_of_loads(work):
    """Return the work of the loads with closed forms in the step, J; `generic_energy_taken` includes that of the others."""
    generic, total = work.generic_groups, 0.0
    for l in range(generic.signals.shape[0]):
        if not 0 < generic.signals[l, _LOOP] < ACTUATIONS:
            continue
        f, loop = generic.signals[l, _FRAME], generic.signals[l, _LOOP]
        force, torque, _, _, _, _ = _of_step(
            loop, f, generic.interacting.numbers, generic.signals[l, _VALUE], work
        )
        total += dot(force, load3(work.dr[f])) + dot(torque, load3(work.psi[f]))
    return total
