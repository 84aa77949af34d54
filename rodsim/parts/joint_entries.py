"""What a user may say of a joint, checked against what its kind takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from rigid.checks import direction, number, shown
from rigid.errors import ModelError
from rigid.joints import JOINTS, Joint
from rigid.joints.generic import ROTATIONS, TRANSLATIONS
from rigid.system import Floats

SQUARE = 1e-9  # cosine of axes that count as perpendicular


def kind_of(name: str, kind: Any) -> type[Joint]:
    """The class of a joint; ModelError says which there are."""
    if not isinstance(kind, str) or kind not in JOINTS:
        near = difflib.get_close_matches(str(kind), JOINTS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ModelError(
            f"joint '{name}': kind = {shown(kind)} is not known; choose one of {', '.join(JOINTS)}{hint}"
        )
    return JOINTS[kind]


def check_axes(owner: str, joint: type[Joint], axis: Any, second: Any) -> tuple[Floats | None, Floats | None]:
    """Unit directions of a joint, as many as it has; a shaft without another one goes on straight."""
    if joint.axis and axis is None:
        raise ModelError(f"{owner}: needs a direction; give `axis=`")
    if not joint.axis and axis is not None:
        raise ModelError(f"{owner}: has no axis; leave `axis=` out")
    if not joint.second_axis and second is not None:
        raise ModelError(f"{owner}: has no second axis; leave `second_axis=` out")
    if axis is None:
        return None, None
    first = direction(owner, "axis", axis)
    if joint.second_axis != "perpendicular":
        return first, None if second is None else _bent(owner, first, direction(owner, "second_axis", second))
    if second is None:
        raise ModelError(f"{owner}: turns about two axes; give `second_axis=`, that of its second part")
    other = direction(owner, "second_axis", second)
    cosine = float(first @ other)
    if abs(cosine) > SQUARE:
        raise ModelError(
            f"{owner}: axis and second_axis are at {np.degrees(np.arccos(cosine)):.6g} degrees; give two at 90"
        )
    other = other - cosine * first
    return first, other / np.linalg.norm(other)


def _bent(owner: str, first: Floats, other: Floats) -> Floats:
    """The shaft of the second part; straight back is no way for it to go."""
    if float(first @ other) < -1.0 + SQUARE:
        raise ModelError(
            f"{owner}: second_axis goes straight back along axis; give that of the shaft going on"
        )
    return other


def check_numbers(
    owner: str, joint: type[Joint], length: Any, pitch: Any, locked: Any
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """What a joint is told besides where it is; it refuses what it does not take."""
    for word, value in (("length", length), ("pitch", pitch), ("locked", locked)):
        if value is not None and word not in joint.takes:
            raise ModelError(f"{owner}: has no {word}; leave `{word}=` out")
    if "pitch" in joint.takes:
        if pitch is None or number(owner, "pitch", pitch) == 0.0:
            raise ModelError(f"{owner}: says not how far it moves in a turn; give `pitch=`, m, but not 0")
        pitch = number(owner, "pitch", pitch)
    return (
        None if length is None else number(owner, "length", length, positive=True),
        pitch,
        _locked(owner, locked) if "locked" in joint.takes else (),
    )


def _locked(owner: str, locked: Any) -> tuple[str, ...]:
    known = (*TRANSLATIONS, *ROTATIONS)
    names = tuple(locked) if isinstance(locked, Iterable) and not isinstance(locked, str) else ()
    wrong = [name for name in names if not isinstance(name, str) or name not in known]
    if not names or wrong or len(set(names)) < len(names):
        given = shown(wrong[0]) if wrong else shown(locked)
        raise ModelError(
            f"{owner}: locked = {given}; name what it locks, each once, of {', '.join(known)} (axes of its first part)"
        )
    return tuple(name for name in known if name in names)
