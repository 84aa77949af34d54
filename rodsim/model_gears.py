"""The part of `Model` that couples the coordinates of joints: gears, racks, differentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rigid.checks import number, shown
from rigid.errors import ModelError
from rigid.joints import JOINTS
from rodsim.model_drives import Drives
from rodsim.parts.entries import Geared, GearEntry, JointEntry

COORDINATES = "angle", "displacement"  # of those that joints have
RATIOS = (
    1e-50,
    1e12,
)  # the smallest one; how much larger the largest one of a gear may be: more is lost in rounding


class Gears(Drives):
    """Coupled joints."""

    def add_gear(
        self,
        name: str,
        joints: Sequence[JointEntry | str],
        ratios: Sequence[float],
        of: Sequence[str | None] | None = None,
    ) -> GearEntry:
        """Couple the coordinates q of two joints or more: ratios[0] q_0 + ratios[1] q_1 + ... stays what it is at t = 0.

        Angles (rad, of b against a about the joint's axis) are counted through turns, displacements are in m. Wheels of 20
        and 30 teeth on parallel axes: ratios (20, 30); one inside the other: (20, -30); a rack on a pinion of radius r: (1, -r)
        of displacement and angle; a differential: (1, 1, -2) of both shafts and the cage. of: "angle" or "displacement" of each
        joint, None where it has one of them only.
        `result.joint(name)` tells what the gear does to each joint.

        Raises ModelError where a joint has no such coordinate, a ratio is zero or lost beside the others, or another
        gear couples the same.
        """
        self._new_among(self.gears, "gear", name)
        owner = f"gear '{name}'"
        for table, what in ((self.joints, "joint"), (self.drives, "drive")):
            if name in table:
                raise ModelError(f"{owner}: there is already a {what} '{name}'; choose another name")
        if isinstance(joints, str) or not isinstance(joints, Sequence) or len(joints) < 2:
            raise ModelError(
                f"{owner}: joints = {shown(joints)}; give two joints or more, to hold one use a drive"
            )
        given = [None] * len(joints) if of is None else of
        for what, values in (("ratios", ratios), ("of", given)):
            if (
                isinstance(values, str)
                or np.ndim(np.asarray(values, object)) != 1
                or len(values) != len(joints)
            ):
                raise ModelError(
                    f"{owner}: {what} = {shown(values)} for {len(joints)} joints; give one of each"
                )
        each = [self._geared(owner, *own) for own in zip(joints, ratios, given, strict=True)]
        self._check_gear(owner, each)
        entry = GearEntry(name, tuple(each))
        self.gears[name] = entry
        return entry

    def _geared(self, owner: str, joint: Any, ratio: Any, of: Any) -> Geared:
        entry = self.joints.get(joint) if isinstance(joint, str) else joint
        if not isinstance(entry, JointEntry) or self.joints.get(entry.name) is not entry:
            raise ModelError(f"{owner}: {shown(joint)} is no joint of this model; give one, or its name")
        known = [own for own in COORDINATES if own in JOINTS[entry.kind].coordinates]
        if not known:
            able = [kind for kind, own in JOINTS.items() if set(COORDINATES) & set(own.coordinates)]
            raise ModelError(
                f"{owner}: {entry.kind} joint '{entry.name}' has no coordinate to couple; use one of {', '.join(able)}"
            )
        if of is None and len(known) > 1:
            raise ModelError(
                f"{owner}: say which coordinate of '{entry.name}' in `of`: {' or '.join(map(repr, known))}"
            )
        if of is not None and of not in known:
            raise ModelError(
                f"{owner}: {entry.kind} joint '{entry.name}' has no {of}; couple its {' or '.join(known)}"
            )
        size = number(owner, f"ratio of '{entry.name}'", ratio)
        if size == 0.0:
            raise ModelError(
                f"{owner}: the ratio of '{entry.name}' is 0, which couples nothing; leave it out"
            )
        if abs(size) < RATIOS[0]:
            raise ModelError(
                f"{owner}: the ratio of '{entry.name}' is {size:g}, whose square is no number; only ratios to each other count: "
                "multiply all of them, or leave it out"
            )
        return Geared(entry, of or known[0], size)

    def _check_gear(self, owner: str, each: list[Geared]) -> None:
        """Neither a coordinate twice, nor two gears between the same coordinates."""
        coordinates = [(own.joint.name, own.of) for own in each]
        for joint, of in coordinates:
            if coordinates.count((joint, of)) > 1:
                raise ModelError(f"{owner}: has the {of} of '{joint}' twice; add its ratios up")
        sizes = [abs(own.ratio) for own in each]
        least = each[sizes.index(min(sizes))]
        if max(sizes) > RATIOS[1] * abs(least.ratio):
            raise ModelError(
                f"{owner}: the ratio of '{least.joint.name}', {least.ratio:g}, couples nothing beside {max(sizes):g}: it is lost "
                "in rounding; leave it out, or give ratios of like size"
            )
        mine = {key: own.ratio for key, own in zip(coordinates, each, strict=True)}
        for other in self.gears.values():
            theirs = {(own.joint.name, own.of): own.ratio for own in other.each}
            if set(theirs) != set(mine):
                continue
            factors = np.array([mine[key] / theirs[key] for key in mine])
            if np.ptp(factors) <= 1e-9 * np.abs(factors).max():
                raise ModelError(f"{owner}: repeats gear '{other.name}'; leave one of them out")
            if len(mine) == 2:
                raise ModelError(
                    f"{owner}: couples the same joints as gear '{other.name}' with other ratios, so that neither may move; "
                    "leave one of them out, or clamp the joints"
                )
