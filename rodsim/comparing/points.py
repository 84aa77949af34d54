"""Material points of a result by name: "block", "block@0.1,0,0", "cord@0.5"; where they are at all outputs.

Between two nodes of a rod a point lies on the curve of constant strain through both sections,

    r(x) = r_a + R_a V(x theta) x u,   theta = log(R_a^T R_b),   u = V(theta)^-1 R_a^T (r_b - r_a)          (1)
    V(theta) = I + (1 - cos phi)/phi^2 hat(theta) + (phi - sin phi)/phi^3 hat(theta)^2,  phi = |theta|      (2)

which is the shape of an element "se3" itself, and of third order in its length for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rigid import quaternions
from rigid.system import Floats
from rodsim.results.errors import ResultError, UnknownName
from rodsim.results.result import Result

SAME_PLACE = 1e-9  # of a rod's length: closer to a node than this is at it
SERIES = 1e-2  # rad below which (2) is taken by its series, exact there to round-off


class Motion(NamedTuple):
    """A material point and the turn of the section or body it belongs to, at all outputs."""

    label: str
    part: str
    r: Floats  # (T, 3) m
    quat: Floats  # (T, 4), part to inertial axes
    between_nodes: bool  # whether (1) was used


def motion(result: Result, file: str, text: str) -> Motion:
    """The motion of the point `text` names: a body or a rod, and behind an @ where on it.

    Of a body that is X, Y, Z in m from its reference point in its own axes; of a rod the fraction of its stress-free
    length; a body that stands for a rod takes both. Without an @: the reference point, the middle of a rod.
    """
    part, where = _split(result, file, text)
    place = _numbers(file, text, where)
    if part in result.rods:
        if len(place) not in (0, 1):
            raise ResultError(
                f"compare: '{text}': '{part}' of {file} is a rod; give a fraction, as '{part}@0.5'"
            )
        return _on_rod(result, text, part, place[0] if place else 0.5)
    nodes = _stands_for_rod(result, part)
    if nodes is not None and len(place) != 3:
        return _on_twin(result, text, part, nodes, place[0] if place else 0.5)
    if len(place) not in (0, 3):
        raise ResultError(
            f"compare: '{text}': '{part}' of {file} is a body; give a point, as '{part}@0.1,0,0'"
        )
    body = result.body(part)
    X = body.layout.reference + (np.array(place) if place else np.zeros(3))
    return Motion(text, part, body.point(X), body.quat, False)


def usual_points(a: Result, b: Result) -> list[str]:
    """Points that both results have by the same name: reference points of bodies, start, middle and end of rods."""
    found = []
    for name in parts_of(a):
        of_both = [has_fractions(result, name) for result in (a, b)]
        if name not in parts_of(b) or of_both[0] != of_both[1]:
            continue
        found += [f"{name}@{s:g}" for s in (0.0, 0.5, 1.0)] if of_both[0] else [name]
    return found


def parts_of(result: Result) -> list[str]:
    """Names of rods and bodies."""
    return [*result.rods, *result.bodies]


def has_fractions(result: Result, name: str) -> bool:
    """Whether places on the part are fractions of a length: a rod, or a body that stands for one."""
    return name in result.rods or _stands_for_rod(result, name) is not None


def _stands_for_rod(result: Result, name: str) -> dict[str, Any] | None:
    described: dict[str, Any] | None = result.description.get("bodies", {}).get(name, {}).get("rod")
    return described


def _split(result: Result, file: str, text: str) -> tuple[str, str]:
    """Name of the part and what stands behind the last @; a name may contain one."""
    if text in parts_of(result):
        return text, ""
    part, _, where = text.rpartition("@")
    if part not in parts_of(result):
        raise UnknownName(
            f"compare: no rod or body '{part or text}' in {file}; it has {listed_parts(result)}"
        )
    return part, where


def listed_parts(result: Result) -> str:
    """The parts of a result in words."""
    kinds = (("rod", "rods", result.rods), ("body", "bodies", result.bodies))
    told = []
    for one, many, names in kinds:
        if names:
            shown = ", ".join(f"'{name}'" for name in names[:12]) + (" ..." if len(names) > 12 else "")
            told.append(f"{one if len(names) == 1 else many} {shown}")
    return " and ".join(told) or "no parts"


def _numbers(file: str, text: str, where: str) -> list[float]:
    try:
        place = [float(x) for x in where.split(",")] if where else []
    except ValueError:
        place = [np.nan]
    if not np.isfinite(place).all():
        raise ResultError(f"compare: '{text}' of {file}: '{where}' is no place; give a fraction, or x,y,z")
    return place


def _fraction(text: str, s: float) -> float:
    if not 0.0 <= s <= 1.0:
        raise ResultError(f"compare: '{text}': {s:g} is outside [0, 1]; give the fraction of the length")
    return s


def _on_rod(result: Result, text: str, name: str, s: float) -> Motion:
    rod = result.rod(name)
    r, quat, at = rod.r, rod.quat, rod.arclength
    if rod.layout.closed:  # once round to the first node
        length = result.description.get("rods", {}).get(name, {}).get("length", at[-1] + at[1])
        r, quat = (np.concatenate([values, values[:, :1]], axis=1) for values in (r, quat))
        at = np.append(at, float(length))
    return Motion(text, name, *along(at / at[-1], r, quat, _fraction(text, s)))


def _on_twin(result: Result, text: str, name: str, nodes: dict[str, Any], s: float) -> Motion:
    body = result.body(name)
    places, turns = (np.array(nodes[what])[None] for what in ("r", "quat"))
    X, _, inside = along(np.array(nodes["s"]), places, turns, _fraction(text, s))
    return Motion(text, name, body.point(body.layout.reference + X[0]), body.quat, inside)


def along(fractions: Floats, r: Floats, quat: Floats, s: float) -> tuple[Floats, Floats, bool]:
    """(1): position (T, 3) and quaternion (T, 4) at s; r (T, n, 3), quat (T, n, 4) at fractions (n,). And whether between
    nodes."""
    nearest = int(np.argmin(np.abs(fractions - s)))
    if abs(fractions[nearest] - s) <= SAME_PLACE:
        return r[:, nearest], quat[:, nearest], False
    k = int(np.searchsorted(fractions, s)) - 1
    x = (s - fractions[k]) / (fractions[k + 1] - fractions[k])
    return *_between(r[:, k], quat[:, k], r[:, k + 1], quat[:, k + 1], x), True


def _between(ra: Floats, qa: Floats, rb: Floats, qb: Floats, x: float) -> tuple[Floats, Floats]:
    theta = quaternions.to_rotation_vector(quaternions.multiply(quaternions.conjugate(qa), qb))
    d = quaternions.rotate(quaternions.conjugate(qa), rb - ra)
    phi = np.linalg.norm(theta, axis=-1, keepdims=True)
    small = phi < SERIES
    safe = np.where(small, 1.0, phi)
    c = np.where(small, 1 / 12 + phi**2 / 720, (1 - safe / 2 / np.tan(safe / 2)) / safe**2)
    u = d - np.cross(theta, d) / 2 + c * np.cross(theta, np.cross(theta, d))  # V^-1 d
    part = _displaced(x * theta, x * u)
    return ra + quaternions.rotate(qa, part), quaternions.multiply(
        qa, quaternions.from_rotation_vector(x * theta)
    )


def _displaced(theta: Floats, u: Floats) -> Floats:
    """(2): V(theta) u."""
    phi = np.linalg.norm(theta, axis=-1, keepdims=True)
    small = phi < SERIES
    safe = np.where(small, 1.0, phi)
    b = 0.5 * np.sinc(phi / (2 * np.pi)) ** 2
    c = np.where(small, 1 / 6 - phi**2 / 120, (safe - np.sin(safe)) / safe**3)
    return u + b * np.cross(theta, u) + c * np.cross(theta, np.cross(theta, u))
