"""Gear entries (gears, racks, differentials): linear couplings of joint coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rigid.checks import number, shown
from rigid.errors import ModelError
from rigid.joints import JOINTS
from rodsim.parts.entry import Asked, Entry, Sort, entry, joint_of, stated
from rodsim.parts.joint_entries import COORDINATES, JointEntry, chosen_coordinate

# smallest ratio; largest quotient of two ratios of a gear, beyond which the smaller one is lost in rounding
RATIOS = 1e-50, 1e12


class Geared(NamedTuple):
    """One term of a gear: a joint, its coordinate "angle" (rad) or "displacement" (m), and the ratio that multiplies it."""

    joint: JointEntry
    of: str
    ratio: float


@entry
class GearEntry(Entry):
    """Joints whose coordinates, each times its ratio, add up to what they are at t = 0."""

    key, word, many = "gears", "gear", "joints whose coordinates run together"
    table, namesakes = "gears", ("joints", "drives")
    joints: tuple[JointEntry, ...] = stated(Sort("joints"), "names of those whose coordinates run together")
    ratios: tuple[float, ...] = stated(
        Sort("ratios"), "one for each joint; of a rack the pinion's radius goes with the angle [1, m]"
    )
    of: tuple[str, ...] = stated(
        Sort("coordinates", choices=COORDINATES), "which coordinate of each joint, where it has two", None
    )

    @classmethod
    def complete(cls, asked: Asked, values: dict[str, Any]) -> None:
        owner, joints = asked.owner, values["joints"]
        if isinstance(joints, str) or not isinstance(joints, Sequence) or len(joints) < 2:
            raise ModelError(
                f"{owner}: joints = {shown(joints)}; give two joints or more, to hold one use a drive"
            )
        ratios, given = values["ratios"], values["of"]
        given = [None] * len(joints) if given is None else given
        for what, each in (("ratios", ratios), ("of", given)):
            if isinstance(each, str) or np.shape(np.asarray(each, object)) != (len(joints),):
                raise ModelError(
                    f"{owner}: {what} = {shown(each)} for {len(joints)} joints; give one of each"
                )
        coupled = [_geared(asked, *own) for own in zip(joints, ratios, given, strict=True)]
        _check(owner, coupled, asked.model.gears.values())
        values["joints"], values["of"], values["ratios"] = zip(*coupled, strict=True)

    @property
    def each(self) -> tuple[Geared, ...]:
        """Terms of the gear: joint, coordinate and ratio."""
        return tuple(map(Geared, self.joints, self.of, self.ratios))

    def described(self) -> Any:
        return [{"joint": own.joint.name, "of": own.of, "ratio": own.ratio} for own in self.each]


def _geared(asked: Asked, joint: Any, ratio: Any, of: Any) -> Geared:
    """Check one term of a gear; `of`: coordinate of the joint, None if the joint has only one."""
    owner, entry = asked.owner, joint_of(asked, "joint", joint)
    known = lambda kind: [own for own in COORDINATES if own in JOINTS[kind].coordinates]  # noqa: E731
    coordinate = chosen_coordinate(owner, entry, of, "couple", known)
    size = number(owner, f"ratio of '{entry.name}'", ratio)
    if size == 0.0:
        raise ModelError(f"{owner}: the ratio of '{entry.name}' is 0, which couples nothing; leave it out")
    if abs(size) < RATIOS[0]:
        raise ModelError(
            f"{owner}: the ratio of '{entry.name}' is {size:g}, whose square is no number; only ratios to each other count: "
            "multiply all of them, or leave it out"
        )
    return Geared(entry, coordinate, size)


def _check(owner: str, each: list[Geared], gears: Any) -> None:
    """Raise ModelError if a coordinate occurs twice, a ratio is lost in rounding, or the gear repeats or contradicts another."""
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
    for other in gears:
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
