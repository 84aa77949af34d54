"""Determine the steady motion that a state is part of: rest, rotors that spin in place, or a rotation of everything.

The linearised equations have constant coefficients if the motion is constant in time as seen from axes that rotate with W:
frames rest in these axes, or spin about axes of rotational symmetry. Whether stiffness and joints are constant as well is
checked with the state after a further rotation (`rotated_state`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.characteristic_length import extent
from discretization.linearisation.inertia import SteadyMotion, cross_matrices, motion_at_rest, spatial_inertia
from discretization.system import System
from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import Floats, State

EQUAL_TOLERANCE = 1e-9  # relative difference up to which velocities belong to one motion
LATER_ANGLE = 0.5  # rotation of the fastest frame in `rotated_state`, rad

Names = Callable[[int], str]


def steady_motion(
    system: System, state: State, spin: Floats | None, about: Floats, names: Names
) -> SteadyMotion:
    """Return the steady motion with the velocities in `state`.

    `spin`: angular velocity (3,), rad/s, of the axes about the point `about` (3,), m; by default it follows from the velocities.
    If `spin` is set and no moving frame has a velocity, all frames rotate with the axes, including fixed ones. Otherwise each
    frame spins with its angular velocity relative to the axes. `names`: frame -> name, for messages.
    Raises ModelError if the velocities do not belong to a steady motion.
    """
    moving = system.frames.fixed == 0
    still = not (state.v.any() or state.Omega.any())
    if spin is None and (still or not (state.v[moving].any() or state.Omega[moving].any())):
        return motion_at_rest(len(state.r))
    omega = np.where(moving[:, None], quaternions.rotate(state.quat, state.Omega), 0.0)
    v = np.where(moving[:, None], state.v, 0.0)
    n = len(state.r)
    size = extent(state.r)
    speed = float(np.abs(omega).max(initial=0.0)) + float(np.abs(v).max(initial=0.0)) / size
    if spin is not None:
        at_rest = speed == 0.0
        motion = SteadyMotion(
            spin,
            about,
            np.zeros((n, 3)) if at_rest else np.where(moving[:, None], omega - spin, 0.0),
            at_rest,
        )
        if not at_rest:
            _check_carried(motion, state, v, moving, size * (speed + np.abs(spin).max()), names)
            _check_round(system, state, motion, names)
        return motion
    in_place = SteadyMotion(np.zeros(3), np.zeros(3), omega, True)
    if np.abs(v).max() <= EQUAL_TOLERANCE * speed * size and _not_round(system, state, in_place) is None:
        return in_place
    W = omega[moving].mean(axis=0)
    v0 = v[moving].mean(axis=0) - np.cross(W, state.r[moving].mean(axis=0))
    along = W * (W @ v0) / (W @ W) if np.any(W) else v0
    center = np.cross(W, v0) / (W @ W) if np.any(W) else np.zeros(3)
    motion = SteadyMotion(W, center, np.where(moving[:, None], omega - W, 0.0), False)
    spins = np.abs(motion.spin).max(axis=1)
    if spins.max() > EQUAL_TOLERANCE * speed:
        raise ModelError(
            f"{names(int(np.argmax(spins)))} rotates {spins.max():.3g} rad/s faster or slower than the others on average, and "
            "not all parts stay in their places: this is not a steady rotation; give `spin=`, the angular velocity of "
            "axes that rotate with the motion"
        )
    _check_carried(motion, state, v - along, moving, size * speed, names)
    return motion._replace(spin=np.zeros((n, 3)))


def _check_carried(
    motion: SteadyMotion, state: State, v: Floats, moving: Floats, speed: float, names: Names
) -> None:
    """Raise ModelError unless the origins of all moving frames rest in the axes."""
    carried = np.cross(motion.W, state.r - motion.center)
    off = np.where(moving, np.abs(v - carried).max(axis=1), 0.0)
    if off.max() > EQUAL_TOLERANCE * speed:
        worst = int(np.argmax(off))
        raise ModelError(
            f"{names(worst)} moves with {off[worst]:.3g} m/s against axes that rotate with {motion.W} rad/s: this is not "
            "a steady rotation; linearise about a state at rest, or give `spin=` and `about=` of the axes"
        )


def _not_round(system: System, state: State, motion: SteadyMotion) -> int | None:
    """Return the index of a frame whose spatial inertia changes while it spins in the axes, or None."""
    J, s = spatial_inertia(system, state), cross_matrices(motion.spin)
    change = np.abs(s @ J - J @ s).max(axis=(1, 2))
    fastest = max(np.abs(motion.spin).max(), np.abs(motion.W).max())
    off = change > EQUAL_TOLERANCE * fastest * np.abs(J).max(axis=(1, 2))
    return int(np.argmax(off * change)) if off.any() else None


def _check_round(system: System, state: State, motion: SteadyMotion, names: Names) -> None:
    """Raise ModelError if a spinning frame is not rotationally symmetric about its axis of spin."""
    worst = _not_round(system, state, motion)
    if worst is not None:
        raise ModelError(
            f"{names(worst)} is not round about the axis it spins about in axes that rotate with {motion.W} rad/s: the linear "
            "equations would change with time; give its angular velocity as `spin=`"
        )


def rotated_state(system: System, state: State, motion: SteadyMotion) -> State:
    """Return the state, as seen from the axes, after the fastest frame has rotated by LATER."""
    fixed = (system.frames.fixed != 0)[:, None]
    ground = np.zeros(3) if motion.ground else -motion.W
    spin = np.where(fixed, ground, motion.spin)
    fastest = float(np.abs(spin).max()) or 1.0  # 1.0 if nothing spins
    rotation = quaternions.from_rotation_vector(spin * LATER_ANGLE / fastest)
    arm = state.r - motion.center
    r = np.where(fixed, motion.center + quaternions.rotate(rotation, arm), state.r)
    return state._replace(r=r, quat=quaternions.multiply(rotation, state.quat))
