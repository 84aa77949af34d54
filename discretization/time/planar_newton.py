"""Solve steps of planar open chains on hinges under weights and loads: Newton's method judged by the size of its corrections.

No round-off levels are needed: the rotations of the corrections predict the next one (`discretization.time.newton_stopping`) as
in space. The size of a negligible correction is smaller here, because fewer numbers are rounded.

Joint impulses start from the inverse dynamics of the predicted motion, from the leaves to the root:

    lam_s = (sum of those of its children) + h f - 2 m (dr/h - v0)                                                   (1)

Newton's matrix contains torques of impulses on rotating levers. With the impulses of the step before, the error after the first
correction is its size times the error of the impulses. With (1) it is the square of its size.
"""

from discretization.planar.arrays import C0, DX, DY, G1, G2, MPSI, MX, MY, PSI, R1, R2, R3, S0, VX, VY
from discretization.planar.elimination import back_substitute_hinges, eliminate_hinges, resolve_hinges
from discretization.planar.joints import begin_hinges
from discretization.planar.step import add_bodies, add_loads, along, begin_bodies
from discretization.time.newton import CONVERGED, MAX_ROTATION, NOT_CONVERGED, NOT_FINITE, SINGULAR
from discretization.time.newton_stopping import can_reuse_tangent, is_converged_after
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.lanes import most

# fraction of the largest rotation of the step: size of a negligible correction; the energy is known to this part
NEGLIGIBLE_CORRECTION = 1.5e-17
MIN_ROTATION = 1e-6  # rad, used as the largest rotation if nothing moves


@inline_kernel
def is_chain_converged(size, before, iteration, solved, reuse_factors, rotation):
    """Return whether no further correction is needed, as `is_converged_after` does; sizes are relative to `rotation`, the
    largest rotation of the step.
    """
    return is_converged_after(
        size, before, iteration, 0.1 * solved * rotation, reuse_factors, NEGLIGIBLE_CORRECTION * rotation
    )


@inline_kernel
def can_reuse_chain_tangent(size, before, rotation, bodies):
    """Return whether the correction after one of this size reuses its tangents."""
    return can_reuse_tangent(size, before, NEGLIGIBLE_CORRECTION * rotation, bodies)


@internal_kernel
def predicted_rotation(work):
    """Return the largest predicted rotation of the step, rad."""
    rotation = 0.0 * work.frames[0, PSI] + MIN_ROTATION
    for s in range(work.hinges.shape[0]):
        rotation = most(rotation, abs(work.frames[s, PSI]))
    return rotation


@internal_kernel
def begin_impulses(tables, work, h, values):
    """Set the initial impulses of the hinges by (1)."""
    rate, gx, gy = 1.0 / h, h * tables.gravity[0], h * tables.gravity[1]
    for s in range(work.hinges.shape[0]):
        frame, mass = work.frames[s], tables.mass[s]
        frame[R1] = mass * gx - 2.0 * mass * (frame[DX] * rate - frame[VX])
        frame[R2] = mass * gy - 2.0 * mass * (frame[DY] * rate - frame[VY])
    for l in range(tables.load.shape[0]):
        if tables.moment[l] == 0:
            _add_force(tables, work, h, values, l)
    for s in range(work.hinges.shape[0]):
        frame, next_, lam, sign = (
            work.frames[s], work.frames[tables.parent[s]], work.lam[tables.hinge[s]], tables.sign[s]
        )  # fmt: skip
        fx, fy = frame[R1], frame[R2]
        next_[R1] += fx
        next_[R2] += fy
        lam[0], lam[1] = sign * fx, sign * fy


@internal_kernel
def _add_force(tables, work, h, values, l):
    """Add the impulse of a load; a follower load acts as at the start of the step."""
    frame, value = work.frames[tables.on[l]], values[tables.load[l]]
    if tables.following[l] == 0:
        frame[R1] += h * along(tables.basis, 0, value)
        frame[R2] += h * along(tables.basis, 1, value)
        return
    across = tables.across[tables.on[l]]
    F, G = along(across, 0, value), along(across, 1, value)
    frame[R1] += h * (frame[C0] * F - frame[S0] * G)
    frame[R2] += h * (frame[S0] * F + frame[C0] * G)


@internal_kernel
def begin_open_chain(tables, state, work, h, values, by, history):
    """Begin a step of an open chain; by, history: as in `begin_bodies`."""
    begin_bodies(state, work, h, by, history)
    begin_hinges(tables, work)
    begin_impulses(tables, work, h, values)


@internal_kernel
def correct_open_chain(tables, work, h, values, reuse_factors):
    """Compute the corrections at the present increments into `work`; return the largest rotation, NaN if a correction is not
    finite.

    reuse_factors: True to reuse the tangents of the corrections before, False to compute new ones.
    """
    count, fresh = work.hinges.shape[0], not reuse_factors
    add_bodies(tables, work, h, fresh)
    add_loads(tables, work, h, values, fresh)
    if reuse_factors:
        resolve_hinges(tables, work, 0, count)
    else:
        eliminate_hinges(tables, work, 0, count)
    back_substitute_hinges(tables, work, count - 1, 0)
    return largest_rotation(work)


@internal_kernel
def largest_rotation(work):
    """Return the largest rotation of the corrections, rad; NaN if one is not finite."""
    largest = not_finite = 0.0 * work.frames[0, MPSI]
    for s in range(work.hinges.shape[0]):
        rotation = work.frames[s, MPSI]
        largest, not_finite = most(largest, abs(rotation)), not_finite + (rotation - rotation)
    return largest + not_finite


@internal_kernel
def add_corrections(work, largest):
    """Add the corrections to increments and impulses, all scaled down if they rotate a frame too far.

    largest: largest rotation of the corrections, rad.
    """
    damping = 1.0 if largest <= MAX_ROTATION else MAX_ROTATION / largest
    for s in range(work.hinges.shape[0]):
        frame = work.frames[s]
        frame[DX] += damping * frame[MX]
        frame[DY] += damping * frame[MY]
        frame[PSI] += damping * (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI]
    for j in range(work.lam.shape[0]):
        work.lam[j, 0] += damping * work.impulse_correction[j, 0]
        work.lam[j, 1] += damping * work.impulse_correction[j, 1]


@internal_kernel
def _failure_status(tables, work, h, values):
    """Return why corrections are not finite: SINGULAR or NOT_FINITE."""
    add_bodies(tables, work, h, False)
    add_loads(tables, work, h, values, False)
    total = 0.0
    for s in range(work.hinges.shape[0]):
        frame, w = work.frames[s], work.hinges[s]
        total += abs(frame[R1]) + abs(frame[R2]) + abs(frame[R3]) + abs(w[G1]) + abs(w[G2])
    return SINGULAR if total < 1e300 else NOT_FINITE


@internal_kernel
def solve_open_chain(tables, work, h, values, most_iterations, count):
    """Solve the equations of a step of an open chain from the present increments, as `discretization.time.planar_march.newton`
    does.
    """
    before, iteration, reuse_factors, rotation = 0.0, 0, False, predicted_rotation(work)
    while True:
        size = correct_open_chain(tables, work, h, values, reuse_factors)
        count[1] += not reuse_factors
        if not size < 1e300:
            return _failure_status(tables, work, h, values)
        if is_chain_converged(size, before, iteration + 1, tables.solved, reuse_factors, rotation):
            return CONVERGED
        if iteration == most_iterations:
            return NOT_CONVERGED
        add_corrections(work, size)
        reuse_factors = not reuse_factors and can_reuse_chain_tangent(
            size, before, rotation, work.hinges.shape[0]
        )
        before = size
        iteration += 1
        count[0] += 1
