"""States of bodies in SIMD groups (`discretization.trees.body_lanes`): load, predict, commit and store them.

States stay in SIMD lanes from one step to the next. They are written to `State` at the end of a march, and after each step of a
model in which other code reads them.
"""

from __future__ import annotations

from discretization.assembly.frame_formulas import (
    accelerations,
    predict_increments,
    round_displacement,
    velocity_change,
    velocity_changes,
)
from discretization.assembly.predictor import predicted_vector, store_mean_vector
from discretization.integrator_memory import MEANS
from discretization.integrator_memory import WIDTH as NUMBERS
from discretization.trees.body_lanes import (
    END,
    FRAME,
    INCREMENT,
    INERTIA,
    MASS,
    MOMENTUM0,
    POSE,
    POSITION0,
    QUAT0,
    REMAINDER,
    ROTATION0,
    ROTATION1,
    SPIN0,
    TURN,
    VELOCITY0,
    displace_group,
    index_offset,
    move_group,
)
from discretization.trees.spanning_tree import POINT
from rigid.compilation.decorators import always_inline_kernel, internal_kernel
from rigid.kinematics.rotations import cayley_rotation, inverse_tangent, rotation_matrix
from rigid.lane_arrays import view_in_lanes
from rigid.lane_vectors import load3_at, load4_at, load9_at, store3_at, store4_at, store9_at
from rigid.lanes import (
    WIDTH,
    largest,
    load,
    put_rows3,
    put_rows4,
    put_rows6,
    put_rows9,
    rows1,
    rows3,
    rows4,
    rows6,
    rows9,
    store,
    where_less,
)
from rigid.linear_algebra import apply, apply_transposed, load3, plus, store3, times

SMALLEST = 5e-324  # smallest positive number


@always_inline_kernel
def _load6_at(x, k):
    """Load six numbers at offset k as SIMD lanes."""
    a, b = load3_at(x, k), load3_at(x, k + 3)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@always_inline_kernel
def _store6_at(x, into, k):
    """Store six numbers at offset k."""
    store3_at((x[0], x[1], x[2]), into, k)
    store3_at((x[3], x[4], x[5]), into, k + 3)


@internal_kernel
def load_body_groups(system, lanes, state, work, history):
    """Load states, masses, inertias, accelerations and, if there is one, the predictor history from `state` into the
    groups.
    """
    frames, start, memory = system.frames, lanes.poses, state.memory
    offsets, n = lanes.offsets, NUMBERS * state.r.shape[0]
    rows = 1 + MEANS if history else 1
    for group in range(lanes.kind.shape[0]):
        at, s = index_offset(group, FRAME), group * POSE
        store4_at(rows4(state.quat, offsets, at), start, s + QUAT0)
        store3_at(rows3(state.r, offsets, at), start, s + POSITION0)
        store3_at(rows3(state.v, offsets, at), start, s + VELOCITY0)
        store3_at(rows3(state.Omega, offsets, at), start, s + SPIN0)
        store9_at(rows9(frames.inertia, offsets, at), start, s + INERTIA)
        store(rows1(frames.mass, offsets, at)[0], start, (s + MASS) * WIDTH)
        for k in range(rows):
            first = n * k
            rate = rows6(memory[first : first + n], offsets, at)
            _store6_at(rate, lanes.rates, group * lanes.rates.shape[1] + NUMBERS * k)


@internal_kernel
def store_body_groups(lanes, state, work, history):
    """Store states, accelerations and, if there is one, the predictor history of the groups in `state`."""
    start, memory = lanes.poses, state.memory
    offsets, n = lanes.offsets, NUMBERS * state.r.shape[0]
    rows = 1 + MEANS if history else 1
    for group in range(lanes.kind.shape[0]):
        at, s = index_offset(group, FRAME), group * POSE
        put_rows3(load3_at(start, s + POSITION0), state.r, offsets, at)
        put_rows3(load3_at(start, s + VELOCITY0), state.v, offsets, at)
        if lanes.kind[group] != POINT:
            put_rows4(load4_at(start, s + QUAT0), state.quat, offsets, at)
            put_rows3(load3_at(start, s + SPIN0), state.Omega, offsets, at)
        for k in range(rows):
            first = n * k
            rate = _load6_at(lanes.rates, group * lanes.rates.shape[1] + NUMBERS * k)
            put_rows6(rate, memory[first : first + n], offsets, at)


@internal_kernel
def begin_groups(lanes, work, h, by, history, shown):
    """Begin a step: compute rotations and angular momenta at its start, and predict the increments. Return True if no body moves.

    by: factors of (1) of `discretization.assembly.predictor`; history: False if no means are stored; shown: as in `move_group`.
    """
    start, offsets, none = lanes.poses, lanes.offsets, 0.0 * load(lanes.poses, 0)
    sizes, n = none, NUMBERS if history else 0
    for group in range(lanes.kind.shape[0]):
        at, s, rates = index_offset(group, FRAME), group * POSE, view_in_lanes(lanes.rates)[group]
        if lanes.kind[group] == POINT:
            v = load3_at(start, s + VELOCITY0)
            dr = times(h, predicted_vector(rates, NUMBERS, n, v, load3(rates), h, by))
            dr = round_displacement(load3_at(start, s + POSITION0), dr)
            displace_group(lanes, work, group, dr, True, shown)
            sizes = sizes + (abs(dr[0]) + abs(dr[1]) + abs(dr[2]))
            continue
        R0, Omega = rotation_matrix(load4_at(start, s + QUAT0)), load3_at(start, s + SPIN0)
        put_rows9(R0, work.R0, offsets, at)
        store9_at(R0, start, s + ROTATION0)
        store3_at(apply(R0, apply(load9_at(start, s + INERTIA), Omega)), start, s + MOMENTUM0)
        v, w0 = load3_at(start, s + VELOCITY0), apply(R0, Omega)
        mean = predicted_vector(rates, NUMBERS, n, v, load3(rates), h, by)
        turning = predicted_vector(rates, NUMBERS + 3, n, w0, load3(rates[3:]), h, by)
        dr, psi = predict_increments(w0, mean, turning, h)
        dr = round_displacement(load3_at(start, s + POSITION0), dr)
        move_group(lanes, work, group, dr, psi, True, shown)
        for k in range(3):
            sizes = sizes + (abs(dr[k]) + abs(psi[k]))
    return largest(where_less(sizes, SMALLEST, 0.0, 1.0)) == 0.0


@always_inline_kernel
def _commit_points(lanes, group, h, w, history, errors):
    """Commit the end of a step to the state of a group of POINT bodies, as `commit_groups` does for others."""
    start, s, t = lanes.poses, group * POSE, group * END
    rates, v0 = view_in_lanes(lanes.rates)[group], load3_at(start, s + VELOCITY0)
    dr, remainder = load3_at(lanes.end, t + INCREMENT), load3_at(lanes.end, t + REMAINDER)
    dv = velocity_change(times(1.0 / h, dr), v0, remainder, h)
    a, v1 = times(1.0 / h, dv), plus(v0, dv)
    if history:
        errors = store_mean_vector(rates, NUMBERS, NUMBERS, v1, a, h, w, errors)
    store3(a, rates)
    store3_at(v1, start, s + VELOCITY0)
    store3_at(plus(load3_at(start, s + POSITION0), plus(dr, remainder)), start, s + POSITION0)
    return errors


@internal_kernel
def commit_groups(lanes, work, h, w, history):
    """Commit the end of a step to the states of the groups, and add it to the predictor history.

    w: weights of the step in (1) of `discretization.assembly.predictor`; history: False if no means are stored. Return the
    largest errors of both predictions of its mean velocities, as `store_mean` does.
    """
    start, end, none = lanes.poses, lanes.end, 0.0 * load(lanes.poses, 0)
    errors = none, none
    for group in range(lanes.kind.shape[0]):
        s, t, rates = group * POSE, group * END, view_in_lanes(lanes.rates)[group]
        if lanes.kind[group] == POINT:
            errors = _commit_points(lanes, group, h, w, history, errors)
            continue
        R0, R1 = load9_at(start, s + ROTATION0), load9_at(end, t + ROTATION1)
        v0, Omega0 = load3_at(start, s + VELOCITY0), load3_at(start, s + SPIN0)
        dr, psi, remainder = (
            load3_at(end, t + INCREMENT),
            load3_at(end, t + TURN),
            load3_at(end, t + REMAINDER),
        )
        rotation = apply(inverse_tangent(psi), load3_at(end, t + REMAINDER + 3))
        rate, spin = times(1.0 / h, dr), times(1.0 / h, apply_transposed(R0, psi))
        dv, dOmega = velocity_changes(rate, spin, v0, Omega0, remainder, apply_transposed(R0, rotation), h)
        a, alpha = accelerations(R0, R1, dv, dOmega, h)
        v1, Omega1 = plus(v0, dv), plus(Omega0, dOmega)
        if history:
            errors = store_mean_vector(rates, NUMBERS, NUMBERS, v1, a, h, w, errors)
            errors = store_mean_vector(rates, NUMBERS + 3, NUMBERS, apply(R1, Omega1), alpha, h, w, errors)
        store3(a, rates)
        store3(alpha, rates[3:])
        store3_at(v1, start, s + VELOCITY0)
        store3_at(Omega1, start, s + SPIN0)
        store3_at(plus(load3_at(start, s + POSITION0), plus(dr, remainder)), start, s + POSITION0)
        store4_at(cayley_rotation(plus(psi, rotation), load4_at(start, s + QUAT0)), start, s + QUAT0)
    return largest(errors[0]), largest(errors[1])
