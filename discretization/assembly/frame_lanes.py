"""Frames of a step of `em`, eight at a time in the lanes of `rigid.lanes`: start, prediction, inertia, corrections, end.

What stays the same in a step is kept number by number, eight frames side by side; all else is read where it stands and put where
it belongs, by 8 x 8 transposes. The lanes of a last group repeat its last frame: what they put is the same, what they add goes to
the dump. Where that group would be nearly empty its frames go one by one, with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.frame_formulas import (
    accelerations,
    balance,
    changes,
    rounding,
    spin_at_end,
    tangent_over_angle,
    turned_steadily,
    turning_inertia,
)
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.kinematics.rotations import cayley_turn, inverse_tangent, rotation_matrix
from rigid.lane_arrays import room
from rigid.lane_vectors import load3_at, load4_at, load9_at, store3_at, store4_at, store9_at
from rigid.lanes import (
    WIDTH,
    add_rows3,
    add_rows6,
    largest,
    load,
    numbers6,
    put6,
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
from rigid.linear_algebra import apply, apply_transposed, dot, load3, minus, plus, product, times
from rigid.system import Floats, Ints

MOST = 5000  # frames, of which what is kept for a step stays in the cache; more go one by one
FEWEST = 3  # frames of a last group that go side by side
MOST_TURNED = 2.25  # square of half the largest angle, rad, that `tangent_over_angle` is good for
# of a frame in a step: orientation, R0, r, v, Omega, R0 J Omega, inertia, mass
QUAT0, ROTATION0, PLACE0, VELOCITY0, SPIN0, MOMENTUM0, INERTIA, MASS, START = 0, 4, 13, 16, 19, 22, 25, 34, 35
# rows of `FrameLanes.places`: frames and first unknowns, which repeat; of what is added first residuals, first entries of blocks
# and of their moments' parts, and strides of columns
FRAME, UNKNOWN, FORCES, BLOCK, MOMENTS, STRIDE, N_PLACES = range(7)


class FrameLanes(NamedTuple):
    """Frames that move, eight after eight; those that are left, and those that do not move or as they are told."""

    places: Ints  # (groups, N_PLACES, 8): what a group needs is read in one go
    first: Ints  # (groups,) where its places begin
    alone: Ints  # (k,)
    held: Ints  # (k,)
    start: Floats  # (groups, START, 8)


def frame_lanes(
    fixed: np.ndarray, numbering: Any, fewest: int = FEWEST, kinds: Sequence[Ints] | None = None
) -> FrameLanes:
    """Of all frames; fixed (n,): 0 where one moves as the equations say.

    fewest: frames of a last group that is one; none go side by side where it is more than a group has. kinds: frames that may
    stand in one group, of all that move; by default any may.
    """
    if kinds is None:
        kinds = [np.flatnonzero(np.asarray(fixed) == 0)]
        fewest = fewest if len(kinds[0]) <= MOST else WIDTH + 1
    lanes, alone = [np.zeros((2, 0), np.int64)], [np.zeros(0, np.int64)]
    for own in kinds:
        left = len(own) % WIDTH
        together = len(own) - (left if left < fewest else 0) if fewest <= WIDTH else 0
        item = np.arange(-(-together // WIDTH) * WIDTH)
        lanes.append(np.stack([own[np.minimum(item, together - 1)], item >= together]))
        alone.append(own[together:])
    f, repeats = np.concatenate(lanes, axis=1)
    places = np.zeros((N_PLACES, len(f)), np.int64)
    stride = numbering.frame_stride[f]
    places[FRAME], places[UNKNOWN], places[FORCES] = f, numbering.frame[f], numbering.frame[f]
    places[BLOCK], places[STRIDE] = numbering.frame_base[f], stride
    places[MOMENTS] = places[BLOCK] + 3 + 3 * stride
    places[FORCES, repeats > 0] = numbering.size
    places[BLOCK : MOMENTS + 1, repeats > 0] = numbering.n_values
    places[STRIDE, repeats > 0] = 0
    return FrameLanes(
        places=group_by_group(places),
        first=np.arange(len(f) // WIDTH) * N_PLACES * WIDTH,
        alone=np.concatenate(alone),
        held=np.flatnonzero(np.asarray(fixed) != 0),
        start=room(len(f) // WIDTH, START),
    )


def group_by_group(places: Ints) -> Ints:
    """(n, 8 groups) -> (groups, n, 8)."""
    return np.ascontiguousarray(places.reshape(len(places), -1, WIDTH).swapaxes(0, 1))


@small_kernel
def has_groups(work):
    """Whether frames go side by side: what is called for none saves its registers, too."""
    return work.frames.first.shape[0] > 0


@small_kernel
def _number_at(x, k):
    return load(x, k * WIDTH)


@inner_kernel
def begin_frames(system, state, work):
    """Numbers of the step, with R0 into work.R0; the largest distance of a frame from the origin, m."""
    own, frames = work.frames, system.frames
    places, start = own.places, own.start
    far = 0.0
    for group in range(own.first.shape[0]):
        at, s = own.first[group], group * START
        q, r = rows4(state.quat, places, at), rows3(state.r, places, at)
        R0 = rotation_matrix(q)
        put_rows9(R0, work.R0, places, at)
        store4_at(q, start, s + QUAT0)
        store9_at(R0, start, s + ROTATION0)
        store3_at(r, start, s + PLACE0)
        store3_at(rows3(state.v, places, at), start, s + VELOCITY0)
        Omega, J = rows3(state.Omega, places, at), rows9(frames.inertia, places, at)
        store3_at(Omega, start, s + SPIN0)
        store3_at(apply(R0, apply(J, Omega)), start, s + MOMENTUM0)
        store9_at(J, start, s + INERTIA)
        store(rows1(frames.mass, places, at)[0], start, (s + MASS) * WIDTH)
        far = max(far, largest(dot(r, r)))
    return np.sqrt(far)


@inner_kernel
def put_noise(work, weight, h):
    """Round-off levels of what frames have of the equations; weight: |g|."""
    own, start = work.frames, work.frames.start
    for group in range(own.first.shape[0]):
        s = group * START
        J, mass = load9_at(start, s + INERTIA), _number_at(start, s + MASS)
        spin = apply(J, load3_at(start, s + SPIN0))
        force, moment = rounding(mass, J, load3_at(start, s + VELOCITY0), spin, weight, h)
        put6(
            (force, force, force, moment, moment, moment),
            work.noise,
            own.places,
            own.first[group] + WIDTH * UNKNOWN,
        )


@inner_kernel
def predict_frames(rates, work, h):
    """dr and psi with these accelerations, six numbers a frame."""
    own, start = work.frames, work.frames.start
    for group in range(own.first.shape[0]):
        at, s = own.first[group], group * START
        rate = rows6(rates, own.places, at)
        R0, v, Omega = (
            load9_at(start, s + ROTATION0),
            load3_at(start, s + VELOCITY0),
            load3_at(start, s + SPIN0),
        )
        dr, turn, z = turned_steadily(
            R0, v, Omega, (rate[0], rate[1], rate[2]), (rate[3], rate[4], rate[5]), h
        )
        psi = times(where_less(z, MOST_TURNED, tangent_over_angle(z), 1.0), turn)
        put_rows3(dr, work.dr, own.places, at)
        put_rows3(psi, work.psi, own.places, at)


@inner_kernel
def move_frames(work):
    """r1, q1, R1 of the increments."""
    own, start = work.frames, work.frames.start
    places = own.places
    for group in range(own.first.shape[0]):
        at, s = own.first[group], group * START
        q = cayley_turn(rows3(work.psi, places, at), load4_at(start, s + QUAT0))
        put_rows3(plus(load3_at(start, s + PLACE0), rows3(work.dr, places, at)), work.r1, places, at)
        put_rows4(q, work.q1, places, at)
        put_rows9(rotation_matrix(q), work.R1, places, at)


@inner_kernel
def add_inertia_of_frames(system, work, h, tangent):
    """As `discretization.assembly.step_equations` does."""
    own, start, values, gravity = work.frames, work.frames.start, work.values, load3(system.gravity)
    places = own.places
    for group in range(own.first.shape[0]):
        at, s = own.first[group], group * START
        mass, J, R0 = (
            _number_at(start, s + MASS),
            load9_at(start, s + INERTIA),
            load9_at(start, s + ROTATION0),
        )
        R1, psi = rows9(work.R1, places, at), rows3(work.psi, places, at)
        L1 = apply(R1, apply(J, spin_at_end(R0, load3_at(start, s + SPIN0), psi, h)))
        moment = minus(L1, load3_at(start, s + MOMENTUM0))
        force = balance(mass, load3_at(start, s + VELOCITY0), rows3(work.dr, places, at), gravity, h)
        both = force[0], force[1], force[2], moment[0], moment[1], moment[2]
        moments, stride = at + WIDTH * MOMENTS, at + WIDTH * STRIDE
        add_rows6(both, work.residual, places, places, at + WIDTH * FORCES, stride, 0)
        if not tangent:
            continue
        K = turning_inertia(product(R1, J), R0, R1, psi, L1, h)
        add_rows3((K[0], K[3], K[6]), values, places, places, moments, stride, 0)
        add_rows3((K[1], K[4], K[7]), values, places, places, moments, stride, 1)
        add_rows3((K[2], K[5], K[8]), values, places, places, moments, stride, 2)
        for lane in range(WIDTH):
            block, step = places[group, BLOCK, lane], places[group, STRIDE, lane] + 1
            share = 2.0 * start[group, MASS, lane] / h
            values[block] += share
            values[block + step] += share
            values[block + 2 * step] += share


@inner_kernel
def correct_frames(work, damping):
    """Add this share of the corrections in work.rhs."""
    own = work.frames
    places = own.places
    for group in range(own.first.shape[0]):
        at = own.first[group]
        more = numbers6(work.rhs, places, at + WIDTH * UNKNOWN, 0)
        dr, psi = rows3(work.dr, places, at), rows3(work.psi, places, at)
        eta = times(damping, (more[3], more[4], more[5]))
        put_rows3(plus(times(damping, (more[0], more[1], more[2])), dr), work.dr, places, at)
        put_rows3(plus(apply(inverse_tangent(psi), eta), psi), work.psi, places, at)


@inner_kernel
def commit_frames(rates, state, work, h):
    """The end of the step into the state, with the corrections in work.rhs, and its accelerations."""
    own, start = work.frames, work.frames.start
    places = own.places
    for group in range(own.first.shape[0]):
        at, s = own.first[group], group * START
        R0 = load9_at(start, s + ROTATION0)
        v0, Omega0 = load3_at(start, s + VELOCITY0), load3_at(start, s + SPIN0)
        dr, psi = rows3(work.dr, places, at), rows3(work.psi, places, at)
        more = numbers6(work.rhs, places, at + WIDTH * UNKNOWN, 0)
        faster, turn = (more[0], more[1], more[2]), apply(inverse_tangent(psi), (more[3], more[4], more[5]))
        rate, spin = times(1.0 / h, dr), times(1.0 / h, apply_transposed(R0, psi))
        dv, dOmega = changes(rate, spin, v0, Omega0, faster, apply_transposed(R0, turn), h)
        a, alpha = accelerations(R0, rows9(work.R1, places, at), dv, dOmega, h)
        put_rows6((a[0], a[1], a[2], alpha[0], alpha[1], alpha[2]), rates, places, at)
        put_rows3(plus(v0, dv), state.v, places, at)
        put_rows3(plus(Omega0, dOmega), state.Omega, places, at)
        put_rows3(plus(load3_at(start, s + PLACE0), plus(dr, faster)), state.r, places, at)
        put_rows4(cayley_turn(plus(psi, turn), load4_at(start, s + QUAT0)), state.quat, places, at)
