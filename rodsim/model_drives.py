"""The part of `Model` that prescribes motions: driven frames, driven joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import direction, shown, unit_quaternion, vector
from rigid.errors import ModelError
from rigid.motions import STILL, FrameMotion, scalar_motion, vector_motion
from rodsim.model_springs import LawSprings
from rodsim.parts.entries import DriveEntry, JointEntry
from rodsim.parts.model_parts import Driven

# coordinates of a joint that may be driven, by its kind
COORDINATES = {
    "revolute": ("angle",),
    "prismatic": ("displacement",),
    "cylindrical": ("angle", "displacement"),
}


class Drives(LawSprings):
    """Prescribed motion."""

    def add_driven(
        self,
        name: str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        displacement: Any = None,
        turn: Any = None,
        axis: ArrayLike | None = None,
        attitude: Any = None,
    ) -> Driven:
        """Add a frame whose whole motion is a function of time; joints, springs and rods attach to it as to the ground.

        position (3,), orientation (w, x, y, z): from which it starts. displacement: m, a smooth signal
        `.along(direction)`, a list of
        them that is added up, a function t -> (3,), or a pair (function, its rate). turn: rad, about the world direction
        `axis` (3,) through it: a smooth signal, a function t -> angle, or such a pair. attitude: in the place of
        turn, a function
        t -> unit quaternion (w, x, y, z). Its place at t = 0 is what they say there. To prescribe the place of one point,
        join it to the frame with a spherical joint.

        Smooth signals are Sine, SmoothStep, SmoothTable, SpinUp, Steady and Constant. The rate of a function is found by
        differences over 3e-4 s to both sides, also before t = 0.

        Raises ModelError where turn comes without axis or with attitude, or a motion is not smooth.
        """
        self._new(name)
        owner = f"driven '{name}'"
        if (turn is None) != (axis is None):
            raise ModelError(f"{owner}: `turn` and `axis` belong together; give both or none")
        if attitude is not None and turn is not None:
            raise ModelError(f"{owner}: has both turn and attitude; give one of them")
        if attitude is not None and not callable(attitude):
            raise ModelError(
                f"{owner}: attitude = {shown(attitude)} is no function t -> quaternion; give one"
            )
        motion = FrameMotion(
            owner,
            vector(owner, "position", position),
            unit_quaternion(owner, "orientation", orientation),
            vector_motion(f"{owner}: displacement", displacement),
            None if axis is None else direction(owner, "axis", axis),
            STILL if turn is None else scalar_motion(f"{owner}: turn", turn),
            attitude,
        )
        r, quat, _, _ = motion(np.zeros(1))
        driven = Driven(name, motion, r[0], quat[0])
        self.driven[name] = driven
        return driven

    def add_drive(self, name: str, joint: JointEntry | str, value: Any, of: str | None = None) -> DriveEntry:
        """Prescribe the coordinate of a joint: it changes from its value at t = 0 by value(t) - value(0).

        joint: a `JointEntry` or its name. value: a smooth signal, a function t -> number, or a pair (function, its
        rate); rad of
        revolute, m of prismatic joints. of: "angle" or "displacement", of a joint that has both. The angle is that by
        which b has turned
        against a about the joint's axis, the displacement that of b along it. `result.joint(name)` tells force and moment
        of the drive, `result.drive_work(name)` its work.

        Raises ModelError where the joint has no coordinate to drive, or `value` is not smooth enough to be a motion.
        """
        self._new_among(self.drives, "drive", name)
        owner = f"drive '{name}'"
        for table, what in ((self.joints, "joint"), (self.gears, "gear")):
            if name in table:
                raise ModelError(f"{owner}: there is already a {what} '{name}'; choose another name")
        entry = self.joints.get(joint) if isinstance(joint, str) else joint
        if not isinstance(entry, JointEntry) or self.joints.get(entry.name) is not entry:
            raise ModelError(f"{owner}: {shown(joint)} is no joint of this model; give one, or its name")
        known = COORDINATES.get(entry.kind)
        if known is None:
            raise ModelError(
                f"{owner}: a {entry.kind} joint has no coordinate to drive; use one of {', '.join(COORDINATES)}, "
                "or a driven frame"
            )
        if of is None and len(known) > 1:
            raise ModelError(
                f"{owner}: say which coordinate of '{entry.name}': of={' or '.join(map(repr, known))}"
            )
        if of is not None and of not in known:
            raise ModelError(f"{owner}: a {entry.kind} joint has no {of}; drive its {' or '.join(known)}")
        drive = DriveEntry(name, entry, of or known[0], scalar_motion(owner, value))
        self.drives[name] = drive
        return drive
