"""Describe motions that cost no energy or release some, for messages about missing or unstable equilibria."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.linearisation import eigen
from discretization.linearisation.equations import Linearised, fill_zero_diagonal, linearise
from discretization.linearisation.steady_rotation import steady_motion
from discretization.relaxed_system import relaxed_state
from discretization.statics.equilibrium_system import EquilibriumSystem
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.building.build import Built
from rodsim.small_motions.linear_equations import frame_names

MOST = 6  # largest number of motions computed

Names = Callable[[int], str]


def at_rest(built: Built, statics: EquilibriumSystem) -> Linearised:
    """Return the linear equations at the state and under the loads of `statics`.

    Frames without mass get a measure of their motions as mass matrix.
    """
    names = frame_names(built.layout)
    system = statics.system_for_linearisation._replace(
        frames=statics.system.frames._replace(mass=built.system.frames.mass)
    )
    state = relaxed_state(built.system, system, statics.state)
    motion = steady_motion(system, state, None, np.zeros(3), names)
    lin = linearise(system, state, statics.values, motion, names, statics.idle)
    return lin.changed(M=fill_zero_diagonal(lin.stored("M")))


def describe_free_motions(built: Built, statics: EquilibriumSystem) -> str:
    """Return a message about motions that neither joints nor stiffness hold at the state of `statics`; "" if there are none."""
    try:
        return describe_loose_motions(at_rest(built, statics), statics.length, frame_names(built.layout))
    except ModelError:
        return ""


def describe_loose_motions(lin: Linearised, length: float, names: Names) -> str:
    """Return a message about motions that neither joints nor stiffness hold, from linear equations; "" if there are none.

    `length`: size of the model, m; `names`: frame number -> name.
    """
    lin = lin.changed(K=lin.symmetric_stiffness, unsymmetric=(), states=None)
    free = lin.free
    if free <= 0:
        return ""
    _, phi, zero = eigen.conservative(lin, min(MOST, free))
    if not np.any(zero):
        return ""
    shapes = lin.of_frames(phi[np.asarray(zero, bool)])
    descriptions = [describe_shape(shape, length, names) for shape in shapes]
    frames = list(dict.fromkeys(frame for frame, _ in descriptions))
    what = "is a motion" if len(descriptions) == 1 else f"are {len(descriptions)} motions"
    description = (
        f"{descriptions[0][1]}"
        if len(descriptions) == 1
        else f"of {' and of '.join(names(frame) for frame in frames)}"
    )
    return f"there {what} that no joint and no stiffness holds: {description}; hold it by a joint, a spring or a drive"


def describe_shape(shape: Floats, length: float, names: Names) -> tuple[int, str]:
    """Return the frame that moves most in a shape (n, 6), displacements and rotations, and its motion in words."""
    move, rotations = np.linalg.norm(shape[:, :3], axis=1), length * np.linalg.norm(shape[:, 3:], axis=1)
    frame = int(np.argmax(np.maximum(move, rotations)))
    turns = 2.0 * rotations[frame] > move[frame]
    along = shape[frame, 3:] if turns else shape[frame, :3]
    along = along / np.linalg.norm(along)
    along = along * np.sign(along[np.argmax(np.abs(along))])
    x, y, z = np.round(along, 3) + 0.0
    words = f"turns about ({x:g}, {y:g}, {z:g})" if turns else f"moves along ({x:g}, {y:g}, {z:g})"
    return frame, f"{names(frame)} {words}"
