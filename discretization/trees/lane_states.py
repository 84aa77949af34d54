"""States of bodies in SIMD groups (`discretization.trees.body_lanes`): load, predict, commit and store them.

States stay in SIMD lanes from one step to the next. They are written to `State` at the end of a march, and after each step of a
model in which other code reads them.
"""

from __future__ import annotations

from discretization.assembly.extrapolation import (
    all_larger,
    at_next,
    differences_of,
    largest_of_each,
    of_means,
    renewed,
)
from discretization.assembly.frame_formulas import accelerations, changes, predicted, to_a_place
from discretization.assembly.mean_velocities import mean_of, place_of
from discretization.memory import DIFFERENCES, MEANS
from discretization.memory import WIDTH as NUMBERS
from discretization.trees.body_lanes import (
    END,
    FORETOLD,
    FRAME,
    INCREMENT,
    INERTIA,
    MASS,
    MOMENTUM0,
    PLACE0,
    POSE,
    QUAT0,
    REST,
    ROTATION0,
    ROTATION1,
    SPIN0,
    TURN,
    VELOCITY0,
    move_group,
    place_at,
)
from rigid.compilation.decorators import flat_kernel, inner_kernel, small_kernel
from rigid.kinematics.rotations import cayley_turn, inverse_tangent, rotation_matrix
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
from rigid.linear_algebra import apply, apply_transposed, minus, plus, times

SMALLEST = 5e-324  # smallest positive number
# predictors: accelerations of the last step, or their divided differences; weighted mean velocities, or the last mean
BY_LAST, BY_DIFFERENCES, BY_MEANS, BY_LAST_MEAN = range(4)


@flat_kernel
def _load6_at(x, k):
    a, b = load3_at(x, k), load3_at(x, k + 3)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@flat_kernel
def _store6_at(x, into, k):
    store3_at((x[0], x[1], x[2]), into, k)
    store3_at((x[3], x[4], x[5]), into, k + 3)


@small_kernel
def _remembered(memory, n, foreseen):
    """Return the number of rows of six in the history of a frame, and the distance from one row to the next in memory.

    `n`: number of acceleration entries of all frames.
    """
    if of_means(foreseen):
        return 1 + MEANS, n
    count = differences_of(memory, n)
    return (1 + DIFFERENCES if count > 0 else 1), count


@inner_kernel
def take_up(system, lanes, foreseen, state, work):
    """Load states, masses, inertias and the predictor history (accelerations, differences or means) from `state`
    into the groups.
    """
    frames, start, memory = system.frames, lanes.poses, state.memory
    places, n = lanes.places, NUMBERS * state.r.shape[0]
    rows, count = _remembered(memory, n, foreseen)
    for group in range(lanes.kind.shape[0]):
        at, s = place_at(group, FRAME), group * POSE
        store4_at(rows4(state.quat, places, at), start, s + QUAT0)
        store3_at(rows3(state.r, places, at), start, s + PLACE0)
        store3_at(rows3(state.v, places, at), start, s + VELOCITY0)
        store3_at(rows3(state.Omega, places, at), start, s + SPIN0)
        store9_at(rows9(frames.inertia, places, at), start, s + INERTIA)
        store(rows1(frames.mass, places, at)[0], start, (s + MASS) * WIDTH)
        for k in range(rows):
            first = n + (k - 1) * count if k > 0 else 0
            rate = rows6(memory[first : first + n], places, at)
            _store6_at(rate, lanes.rates, group * lanes.rates.shape[1] + NUMBERS * k)


@inner_kernel
def put_down(lanes, foreseen, state, work):
    """Store states and the predictor history of the groups in `state`."""
    start, memory = lanes.poses, state.memory
    places, n = lanes.places, NUMBERS * state.r.shape[0]
    rows, count = _remembered(memory, n, foreseen)
    for group in range(lanes.kind.shape[0]):
        at, s = place_at(group, FRAME), group * POSE
        put_rows4(load4_at(start, s + QUAT0), state.quat, places, at)
        put_rows3(load3_at(start, s + PLACE0), state.r, places, at)
        put_rows3(load3_at(start, s + VELOCITY0), state.v, places, at)
        put_rows3(load3_at(start, s + SPIN0), state.Omega, places, at)
        for k in range(rows):
            first = n + (k - 1) * count if k > 0 else 0
            rate = _load6_at(lanes.rates, group * lanes.rates.shape[1] + NUMBERS * k)
            put_rows6(rate, memory[first : first + n], places, at)


@inner_kernel
def begin_groups(lanes, work, h, foretold, by, latest, shown):
    """Begin a step: compute rotations and angular momenta at its start, and predict the increments. Return True if no body moves.

    `foretold`: the predictor. BY_LAST uses the accelerations of the last step, BY_DIFFERENCES (1) of
    `discretization.assembly.extrapolation`, BY_MEANS (1) of `discretization.assembly.mean_velocities`, BY_LAST_MEAN the last
    mean. `by`: the factors or weights w of (1); `latest`: as in `mean_velocities`; `shown`: as in `move_group`.
    """
    start, rates = lanes.poses, lanes.rates
    places, none = lanes.places, 0.0 * load(start, 0)
    sizes = none
    for group in range(lanes.kind.shape[0]):
        at, s, r = place_at(group, FRAME), group * POSE, group * lanes.rates.shape[1]
        R0, Omega = rotation_matrix(load4_at(start, s + QUAT0)), load3_at(start, s + SPIN0)
        put_rows9(R0, work.R0, places, at)
        store9_at(R0, start, s + ROTATION0)
        store3_at(apply(R0, apply(load9_at(start, s + INERTIA), Omega)), start, s + MOMENTUM0)
        a, alpha, v = load3_at(rates, r), load3_at(rates, r + 3), load3_at(start, s + VELOCITY0)
        if foretold >= BY_MEANS:
            mean, turning = _mean(rates, r + NUMBERS, latest, by), _mean(rates, r + NUMBERS + 3, latest, by)
            store3_at(mean, rates, r + FORETOLD)
            store3_at(turning, rates, r + FORETOLD + 3)
            if foretold == BY_LAST_MEAN:
                at = r + NUMBERS * (1 + latest)
                mean, turning = load3_at(rates, at), load3_at(rates, at + 3)
            a, alpha = times(2.0 / h, minus(mean, v)), times(2.0 / h, minus(turning, apply(R0, Omega)))
        elif foretold == BY_DIFFERENCES:
            a, alpha = _foreseen(a, rates, r + NUMBERS, by), _foreseen(alpha, rates, r + NUMBERS + 3, by)
        dr, psi = predicted(R0, v, Omega, a, alpha, h)
        dr = to_a_place(load3_at(start, s + PLACE0), dr)
        move_group(lanes, work, group, dr, psi, True, shown)
        for k in range(3):
            sizes = sizes + (abs(dr[k]) + abs(psi[k]))
    return largest(where_less(sizes, SMALLEST, 0.0, 1.0)) == 0.0


@flat_kernel
def _foreseen(D0, rates, k, by):
    """Extrapolate three numbers D0 to the next step; their divided differences begin at offset k."""
    a, b, c = load3_at(rates, k), load3_at(rates, k + NUMBERS), load3_at(rates, k + 2 * NUMBERS)
    d, e = load3_at(rates, k + 3 * NUMBERS), load3_at(rates, k + 4 * NUMBERS)
    return (
        at_next(D0[0], (a[0], b[0], c[0], d[0], e[0]), by),
        at_next(D0[1], (a[1], b[1], c[1], d[1], e[1]), by),
        at_next(D0[2], (a[2], b[2], c[2], d[2], e[2]), by),
    )


@small_kernel
def _mean(rates, k, latest, w):
    """Predict three mean velocities with weights w from the last eight means, which begin at offset k."""
    a, b, c, d = (
        load3_at(rates, k + NUMBERS * place_of(latest, 0)), load3_at(rates, k + NUMBERS * place_of(latest, 1)),
        load3_at(rates, k + NUMBERS * place_of(latest, 2)), load3_at(rates, k + NUMBERS * place_of(latest, 3)),
    )  # fmt: skip
    e, f, g, o = (
        load3_at(rates, k + NUMBERS * place_of(latest, 4)), load3_at(rates, k + NUMBERS * place_of(latest, 5)),
        load3_at(rates, k + NUMBERS * place_of(latest, 6)), load3_at(rates, k + NUMBERS * place_of(latest, 7)),
    )  # fmt: skip
    return (
        mean_of(w, (a[0], b[0], c[0], d[0], e[0], f[0], g[0], o[0])),
        mean_of(w, (a[1], b[1], c[1], d[1], e[1], f[1], g[1], o[1])),
        mean_of(w, (a[2], b[2], c[2], d[2], e[2], f[2], g[2], o[2])),
    )


@inner_kernel
def commit_groups(lanes, work, h, foretold, by, latest):
    """Commit the end of a step to the states of the groups, and update the predictor history.

    `foretold`: BY_LAST if only accelerations are stored; `by`: `over_distances`; `latest`: as in `begin_groups`. Return the
    largest sizes of the divided differences, or the largest errors of (1) and of the last mean as predictions of the new mean.
    """
    start, end, rates = lanes.poses, lanes.end, lanes.rates
    none = 0.0 * load(start, 0)
    e = none, none, none, none, none, none
    for group in range(lanes.kind.shape[0]):
        s, t, r = group * POSE, group * END, group * lanes.rates.shape[1]
        R0, R1 = load9_at(start, s + ROTATION0), load9_at(end, t + ROTATION1)
        v0, Omega0 = load3_at(start, s + VELOCITY0), load3_at(start, s + SPIN0)
        dr, psi, faster = load3_at(end, t + INCREMENT), load3_at(end, t + TURN), load3_at(end, t + REST)
        turn = apply(inverse_tangent(psi), load3_at(end, t + REST + 3))
        rate, spin = times(1.0 / h, dr), times(1.0 / h, apply_transposed(R0, psi))
        dv, dOmega = changes(rate, spin, v0, Omega0, faster, apply_transposed(R0, turn), h)
        a, alpha = accelerations(R0, R1, dv, dOmega, h)
        v1, Omega1 = plus(v0, dv), plus(Omega0, dOmega)
        if foretold >= BY_MEANS:
            mean, turning = minus(v1, times(0.5 * h, a)), minus(apply(R1, Omega1), times(0.5 * h, alpha))
            e = _put_mean(mean, rates, r, latest, e)
            e = _put_mean(turning, rates, r + 3, latest, e)
        elif foretold == BY_DIFFERENCES:
            e = _renew(a, load3_at(rates, r), rates, r, by, e)
            e = _renew(alpha, load3_at(rates, r + 3), rates, r + 3, by, e)
        store3_at(a, rates, r)
        store3_at(alpha, rates, r + 3)
        store3_at(v1, start, s + VELOCITY0)
        store3_at(Omega1, start, s + SPIN0)
        store3_at(plus(load3_at(start, s + PLACE0), plus(dr, faster)), start, s + PLACE0)
        store4_at(cayley_turn(plus(psi, turn), load4_at(start, s + QUAT0)), start, s + QUAT0)
    return largest_of_each(e)


@flat_kernel
def _put_mean(now, rates, k, latest, e):
    """Append the means `now` of three velocities, whose accelerations begin at offset k, to the history; return the maximum of e
    and the errors of both predictions of them.
    """
    last = load3_at(rates, k + NUMBERS * (1 + latest))
    missed, beyond = minus(now, load3_at(rates, k + FORETOLD)), minus(now, last)
    store3_at(now, rates, k + NUMBERS * (1 + place_of(latest, MEANS - 1)))
    for i in range(3):
        e = all_larger(e, (missed[i], beyond[i], e[2], e[3], e[4], e[5]))
    return e


@flat_kernel
def _renew(now, D0, rates, k, by, e):
    """Update the divided differences of three numbers `now` that follow D0, whose data begin at offset k; return the maximum of e
    and the sizes of the differences.
    """
    a = load3_at(rates, k + NUMBERS)
    b, c = load3_at(rates, k + 2 * NUMBERS), load3_at(rates, k + 3 * NUMBERS)
    d, f = load3_at(rates, k + 4 * NUMBERS), load3_at(rates, k + 5 * NUMBERS)
    x = renewed(now[0], D0[0], (a[0], b[0], c[0], d[0], f[0]), by)
    y = renewed(now[1], D0[1], (a[1], b[1], c[1], d[1], f[1]), by)
    z = renewed(now[2], D0[2], (a[2], b[2], c[2], d[2], f[2]), by)
    store3_at((x[0], y[0], z[0]), rates, k + NUMBERS)
    store3_at((x[1], y[1], z[1]), rates, k + 2 * NUMBERS)
    store3_at((x[2], y[2], z[2]), rates, k + 3 * NUMBERS)
    store3_at((x[3], y[3], z[3]), rates, k + 4 * NUMBERS)
    store3_at((x[4], y[4], z[4]), rates, k + 5 * NUMBERS)
    return all_larger(all_larger(all_larger(e, x), y), z)
