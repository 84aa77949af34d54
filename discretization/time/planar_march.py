"""Compute a step of `em` of a planar model, from the state in space and back to it.

A step begins with the part of the state that lies in the plane and ends by adding the changes of the step to the state. It
therefore depends on the state alone, bit-identically, wherever runs are divided. In between the state is not updated: from
substep to substep, and from step to step if the directions of the plane and of all bodies in it are axes, so that no number is
rounded on the way.

The matrix costs little more than the residual, and with a new one Newton's method converges quadratically. It is recomputed in
each iteration unless the last contraction shows that the present factors suffice. If the last two residuals predict that the
next correction will leave less than a hundredth of round-off, it is the last one (`discretization.time.newton`): the step adds
it to the state unrounded.
"""

from discretization.assembly.actuated_elements import WORK_DUE
from discretization.assembly.predictor import (
    count_known_means,
    factors_of,
    store_mean,
    update_record,
    weights_at,
)
from discretization.assembly.workspace import NOISE_FACTOR
from discretization.integrator_memory import WIDTH as IN_SPACE
from discretization.planar.actuations import begin_actuations, work_of_last_step, work_of_step
from discretization.planar.arrays import (
    AOM,
    AX,
    AY,
    COINCIDENT,
    DX,
    DY,
    FINE,
    G1,
    G2,
    HINGE,
    IN_PLANE,
    MPSI,
    MX,
    MY,
    N1,
    N2,
    OM,
    PSI,
    R1,
    R2,
    R3,
    RX,
    RY,
    VX,
    VY,
    W0,
    Z0,
)
from discretization.planar.drives import account_drives, begin_drives, end_drives
from discretization.planar.element_lanes import element_dissipation, largest_relative_displacement
from discretization.planar.joints import raise_joint_roundoff, set_end_rotation
from discretization.planar.low_rank_update import solve_with_couplings
from discretization.planar.springs import end_springs, largest_relative_elongation
from discretization.planar.step import (
    begin_step,
    evaluate,
    load_state_in_plane,
    load_step,
    raise_load_roundoff,
    set_start_rotation,
    store_state_in_plane,
)
from discretization.time.newton import (
    CONVERGED,
    FOLDED,
    NOT_CONVERGED,
    NOT_FINITE,
    SINGULAR,
    STALLED,
)
from discretization.time.planar_newton import (
    add_corrections,
    begin_open_chain,
    largest_rotation,
    solve_open_chain,
)
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.lanes import most, root

NEGLIGIBLE = 1e-3  # residual/noise that needs no correction
SAFE = 1e5  # residual/noise that is accepted if the iteration has stalled
LEFT = 0.01  # predicted residual/noise after the last correction
QUADRATIC = 0.01  # contraction below which convergence is taken as quadratic
LEAST = 1e-150  # smallest round-off level: the product of two of them does not underflow
# contraction of the first residual over the rotation of the first correction; chains of bars 0.4, one in ten 4
CURVED = 4.0
INTACT = (
    3  # index in the loop's `count`: 1 if a failed step leaves the state at the end of the last whole step
)
# rad, or fraction of an element: size of a last correction whose square changes stretched rods by round-off only
SMALL = 1e-8


@inline_kernel
def level_of_frame(frame):
    """Return the residual of a frame in units of its round-off level, and a sum of its parts, which is not finite if a part is
    not.
    """
    force, moment = frame[N1] + LEAST, frame[N2] + LEAST
    r1, r2, r3 = abs(frame[R1]), abs(frame[R2]), abs(frame[R3])
    return most(most(r1, r2) * moment, r3 * force) / (force * moment), r1 + r2 + r3


@inline_kernel
def level_of_hinge(w):
    """Return the residual of the rows of a hinge in units of its round-off level, and a sum of its parts."""
    g1, g2 = abs(w[G1]), abs(w[G2])
    return most(g1, g2) * w[FINE], g1 + g2


@internal_kernel
def _level(tables, work):
    """Return the largest residual in units of its round-off level; -1 if it is not finite."""
    worst = total = 0.0
    for s in range(work.hinges.shape[0]):
        level, size = level_of_frame(work.frames[s])
        worst, total = most(worst, level), total + size
        if tables.kind[s] == HINGE:
            level, size = level_of_hinge(work.hinges[s])
            worst, total = most(worst, level), total + size
    if not total < 1e300:
        return -1.0
    for k in range(tables.items.shape[0]):
        worst = max(worst, _level_of_rows(tables, work, tables.items[k]))
    for k in range(tables.closing.shape[0]):
        worst = max(worst, _level_of_rows(tables, work, tables.closing[k]))
    return worst if worst < 1e300 else -1.0


@internal_kernel
def _level_of_rows(tables, work, item):
    """Return the largest residual of the rows of an item in units of its round-off level; 1e300 if it is not finite."""
    worst = 0.0
    for i in range(2 if tables.sort[item] == COINCIDENT else 1):
        ratio = abs(work.rows[item, i, 12]) / work.rows[item, i, 13]
        if not ratio < 1e300:
            return 1e300
        worst = max(worst, ratio)
    return worst


@internal_kernel
def _is_small(tables, work):
    """Return whether the correction rotates frames, and displaces those of an element or a spring relatively, by at most
    SMALL.
    """
    return (
        largest_rotation(work) <= SMALL
        and max(largest_relative_elongation(tables, work), largest_relative_displacement(tables, work))
        <= SMALL
    )


@internal_kernel
def _no_correction(work):
    """Set the last correction to zero; return CONVERGED."""
    for s in range(work.hinges.shape[0]):
        frame = work.frames[s]
        frame[MX] = frame[MY] = frame[MPSI] = 0.0
    for j in range(work.impulse_correction.shape[0]):
        work.impulse_correction[j, 0] = work.impulse_correction[j, 1] = 0.0
    return CONVERGED


@inline_kernel
def needs_new_matrix(level, rotation):
    """Return whether the second correction needs a new matrix after a first one that rotates frames by `rotation`, if nothing is
    stretched.

    Both contractions are assumed to be of this size, because a matrix changes by that much; if they are not, the next residual
    shows it.
    """
    contraction = CURVED * rotation
    return level * contraction * contraction > LEFT


@internal_kernel
def newton(tables, work, h, values, max_iterations, count):
    """Solve the step's equations from the present increments; count: (2,) iterations and factorisations, which are added."""
    before, iteration, fresh = 1e300, 0, False  # fresh: the last correction used a new matrix
    tangent, known = (
        True,
        False,
    )  # tangent: the matrix is wanted; known: the residual is known to be too large for old factors
    while True:
        if evaluate(tables, work, h, values, tangent) != 0:
            return FOLDED
        if iteration < 2 and not known:
            raise_joint_roundoff(tables, work, 1.0)
        level = _level(tables, work)
        if level < 0.0:
            return NOT_FINITE
        if level <= NEGLIGIBLE:
            return _no_correction(work)
        solved = NOISE_FACTOR if iteration == 0 else tables.solved  # as in `discretization.time.newton`
        contraction = level / before
        if not tangent and level > solved and (contraction > QUADRATIC or level * contraction > LEFT):
            tangent = known = True
            continue
        if level > solved:
            if fresh and iteration > 2 and contraction > STALLED and level <= SAFE:
                return _no_correction(work)
            if iteration == max_iterations:
                return NOT_CONVERGED
        predicted = level * contraction * (contraction if tangent else 1.0)
        last = level <= solved or (
            not tables.elements.viscous  # losses are computed from strains at the end
            and iteration > 0
            and contraction <= QUADRATIC
            and predicted <= LEFT
        )
        count[1] += tangent
        if solve_with_couplings(tables, work, not tangent) != 0:
            return _no_correction(work) if level <= solved else SINGULAR
        if last and (level <= solved or _is_small(tables, work)):
            return CONVERGED
        fresh, rotation = tangent, largest_rotation(work)
        add_corrections(work, rotation)
        # if the present factors suffice for the next correction, no matrix is computed: they reduce the error by the
        # contraction
        if iteration == 0:
            stretches = tables.elements.ends.shape[0] > 0 or tables.spring.shape[0] > 0
            tangent = stretches or needs_new_matrix(level, rotation)
        else:
            tangent = contraction > QUADRATIC or predicted * contraction * contraction > LEFT
        before, known = level, False
        iteration += 1
        count[0] += 1


@internal_kernel
def account(tables, state, work, h, values):
    """Add the work of loads and drives, with the last correction, and the dissipation of the step to state.totals."""
    for l in range(tables.load.shape[0]):
        frame = work.frames[tables.on[l]]
        psi = frame[PSI] + (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI]
        set_end_rotation(frame, psi)
        fx, fy, torque, _, _, _ = load_step(tables, work, values, l)
        state.totals[0] += fx * (frame[DX] + frame[MX]) + fy * (frame[DY] + frame[MY]) + torque * psi
    state.totals[0] += account_drives(tables, state, work, h)
    if tables.elements.viscous:
        state.totals[1] += element_dissipation(tables, work, h)


@internal_kernel
def commit(state, work, h, w, history):
    """Advance the planar state to the end of the step, and add it to the predictor history, if there is one (`history`).

    w: weights of the step in (1) of `discretization.assembly.predictor`. Return the largest errors of both predictions of its
    mean velocities, as `store_mean` does.
    """
    rate, memory, frames = 1.0 / h, state.memory, work.hinges.shape[0]
    first, n = IN_SPACE * state.r.shape[0], IN_PLANE * frames
    errors = 0.0 * work.frames[0, VX], 0.0 * work.frames[0, VX]
    for s in range(frames):
        frame, i = work.frames[s], first + IN_PLANE * s
        rotation = (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI]
        # rounded as in the residual: the last correction belongs to that residual, and a difference would add up over steps
        dvx = 2.0 * ((frame[DX] * rate - frame[VX]) + frame[MX] * rate)
        dvy = 2.0 * ((frame[DY] * rate - frame[VY]) + frame[MY] * rate)
        dom = 2.0 * ((frame[PSI] * rate - frame[OM]) + rotation * rate)
        half = 0.5 * (frame[PSI] + rotation)
        w0, z0 = frame[W0] - half * frame[Z0], frame[Z0] + half * frame[W0]
        scale = 1.0 / root(w0 * w0 + z0 * z0)
        frame[W0], frame[Z0] = scale * w0, scale * z0
        set_start_rotation(frame)
        frame[RX] += frame[DX] + frame[MX]
        frame[RY] += frame[DY] + frame[MY]
        frame[VX] += dvx
        frame[VY] += dvy
        frame[OM] += dom
        frame[AX], frame[AY], frame[AOM] = dvx * rate, dvy * rate, dom * rate
        if history:
            errors = store_mean(memory, i, n, frame[VX] - 0.5 * dvx, w, errors)
            errors = store_mean(memory, i + 1, n, frame[VY] - 0.5 * dvy, w, errors)
            errors = store_mean(memory, i + 2, n, frame[OM] - 0.5 * dom, w, errors)
    for j in range(work.pull.shape[0]):
        work.pull[j, 0] = (work.lam[j, 0] + work.impulse_correction[j, 0]) * rate
        work.pull[j, 1] = (work.lam[j, 1] + work.impulse_correction[j, 1]) * rate
    return errors


@always_inline_kernel
def planar_step(context, state, substeps, k, last, values, max_iterations, count):
    """Take one substep of a planar model (`discretization.time.time_loop`); last: True for the last substep of the loop.

    The state need not be updated within a step. If the numbers of the plane are those of the state (`aligned`), it need not be
    updated before the last substep either. With rods in a plane that is not aligned, the planar state is read from the state at
    each substep.
    """
    tables, work, n = context.tables, context.work, len(substeps)
    history, h, stays_in_plane = (
        context.weights.shape[0] > 0,
        substeps[k % n],
        tables.aligned or tables.elements.ends.shape[0] == 0,
    )
    if k == 0 or not (tables.aligned or (stays_in_plane and k % n != 0)):
        load_state_in_plane(tables, state, work)
    actuated = tables.actuated.shape[0] > 0
    known = count_known_means(context.weights, state.memory, substeps, k)
    w = weights_at(context.weights, known, k % n)
    by = factors_of(state.memory, known, w)
    if tables.is_open_chain:
        begin_open_chain(tables, state, work, h, values, by, history)
        status = solve_open_chain(tables, work, h, values, max_iterations, count)
    else:
        begin_step(tables, state, work, h, by, history)
        if actuated:
            if count[WORK_DUE] != 0:
                state.totals[0] += work_of_step(work)
            begin_actuations(tables, work, values)
        begin_drives(tables, state, work, values)
        raise_load_roundoff(tables, work, h, values)
        status = newton(tables, work, h, values, max_iterations, count)
    if status != CONVERGED:
        if n == 1:  # the planar state is that at the start of the step, and the state in space may be too
            if k > 0 and tables.aligned:
                store_state_in_plane(tables, state, work)
            count[INTACT] = 1
        return status
    if tables.accounts:
        account(tables, state, work, h, values)
    end_springs(tables, state, work, h)
    errors = commit(state, work, h, w, history)
    if history:
        update_record(state.memory, h, known, errors)
    if last or not (stays_in_plane and ((k + 1) % n != 0 or (tables.aligned and n == 1))):
        store_state_in_plane(tables, state, work)
    if actuated:
        count[WORK_DUE] = 0 if last else 1
        if last:
            state.totals[0] += work_of_last_step(tables, state, work, h)
    end_drives(tables, state, values)
    return CONVERGED
