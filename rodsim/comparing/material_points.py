"""Compute motions of material points of a result by name: "block", "block@0.1,0,0", "cord@0.5".

Between two nodes of a rod a point lies on the curve of constant strain through both sections,

    r(x) = r_a + R_a V(x theta) x u,   theta = log(R_a^T R_b),   u = V(theta)^-1 R_a^T (r_b - r_a)          (1)
    V(theta) = I + (1 - cos phi)/phi^2 hat(theta) + (phi - sin phi)/phi^3 hat(theta)^2,  phi = |theta|      (2)

which is the exact shape of an element "se3", and of third order in the element length for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigid import quaternions
from rigid.system import Floats
from rodsim.components.part_lookup import quote_names
from rodsim.components.point_syntax import parse_point
from rodsim.results.errors import ResultError, UnknownName
from rodsim.results.result import Result

SAME_PLACE = 1e-9  # relative to a rod's length: points closer to a node are at the node
SERIES_LIMIT = 1e-2  # rad below which (2) is evaluated by its series, which is exact to round-off there


class Motion(NamedTuple):
    """Position of a material point and orientation of its section or body at all outputs."""

    label: str
    part: str
    r: Floats  # (T, 3) positions, m
    quat: Floats  # (T, 4) quaternions, part to inertial axes
    between_nodes: bool  # whether (1) was used


def motion(result: Result, file: str, text: str) -> Motion:
    """Return the motion of the point that `text` names: a body or rod, followed by @ and a position on it.

    For a body the position is X, Y, Z in m from its reference point in body axes; for a rod the fraction of its stress-free
    length; for a body that replaces a rod either. Without @: the reference point, or the middle of a rod.
    """
    part, position = _part_and_position(result, file, text)
    if part in result.rods:
        if len(position) not in (0, 1):
            raise ResultError(
                f"compare: '{text}': '{part}' of {file} is a rod; give a fraction, as '{part}@0.5'"
            )
        return _on_rod(result, text, part, position[0] if position else 0.5)
    nodes = _replaced_rod(result, part)
    if nodes is not None and len(position) != 3:
        return _on_rigid_twin(result, text, part, nodes, position[0] if position else 0.5)
    if len(position) not in (0, 3):
        raise ResultError(
            f"compare: '{text}': '{part}' of {file} is a body; give a point, as '{part}@0.1,0,0'"
        )
    body = result.body(part)
    X = body.layout.reference + (np.array(position) if position else np.zeros(3))
    return Motion(text, part, body.point(X), body.quat, False)


def default_points(a: Result, b: Result) -> list[str]:
    """Return the points that both results have under the same name: reference points of bodies; start, middle and end of rods."""
    points = []
    for name in parts_of(a):
        have_fractions = [has_fractions(result, name) for result in (a, b)]
        if name not in parts_of(b) or have_fractions[0] != have_fractions[1]:
            continue
        points += [f"{name}@{s:g}" for s in (0.0, 0.5, 1.0)] if have_fractions[0] else [name]
    return points


def parts_of(result: Result) -> list[str]:
    """Return the names of rods and bodies."""
    return [*result.rods, *result.bodies]


def has_fractions(result: Result, name: str) -> bool:
    """Return whether positions on the part are fractions of a length: for rods, and bodies that replace a rod."""
    return name in result.rods or _replaced_rod(result, name) is not None


def _replaced_rod(result: Result, name: str) -> dict[str, Any] | None:
    """Return the node data of the rod that a body replaces; None if it replaces none."""
    described: dict[str, Any] | None = result.description.get("bodies", {}).get(name, {}).get("rod")
    return described


def _part_and_position(result: Result, file: str, text: str) -> tuple[str, tuple[float, ...]]:
    """Return the name of the part and the numbers of the position; raise UnknownName or ResultError if one is invalid."""
    point = parse_point(text, parts_of(result))
    if point.part not in parts_of(result):
        raise UnknownName(
            f"compare: no rod or body '{point.part}' in {file}; it has {describe_parts(result)}"
        )
    if point.position is None:
        raise ResultError(
            f"compare: '{text}' of {file}: '{point.where}' is not a position; give a fraction, or x,y,z"
        )
    return point.part, point.position


def describe_parts(result: Result) -> str:
    """Return the parts of a result in words."""
    kinds = (("rod", "rods", result.rods), ("body", "bodies", result.bodies))
    words = []
    for one, many, names in kinds:
        if names:
            words.append(f"{one if len(names) == 1 else many} {quote_names(names)}")
    return " and ".join(words) or "no parts"


def _fraction(text: str, s: float) -> float:
    """Return s; raise ResultError if it is outside [0, 1]."""
    if not 0.0 <= s <= 1.0:
        raise ResultError(f"compare: '{text}': {s:g} is outside [0, 1]; give the fraction of the length")
    return s


def _on_rod(result: Result, text: str, name: str, s: float) -> Motion:
    """Return the motion of the point of a rod at the fraction s of its length."""
    rod = result.rod(name)
    r, quat, at = rod.r, rod.quat, rod.arclength
    if rod.layout.closed:  # append the first node as the end of the loop
        length = result.description.get("rods", {}).get(name, {}).get("length", at[-1] + at[1])
        r, quat = (np.concatenate([values, values[:, :1]], axis=1) for values in (r, quat))
        at = np.append(at, float(length))
    return Motion(text, name, *along(at / at[-1], r, quat, _fraction(text, s)))


def _on_rigid_twin(result: Result, text: str, name: str, nodes: dict[str, Any], s: float) -> Motion:
    """Return the motion of the point at the fraction s of the rod that a body replaces."""
    body = result.body(name)
    positions, quats = (np.array(nodes[what])[None] for what in ("r", "quat"))
    X, _, inside = along(np.array(nodes["s"]), positions, quats, _fraction(text, s))
    return Motion(text, name, body.point(body.layout.reference + X[0]), body.quat, inside)


def along(fractions: Floats, r: Floats, quat: Floats, s: float) -> tuple[Floats, Floats, bool]:
    """Evaluate (1) at s; return positions (T, 3), quaternions (T, 4), and whether s is between nodes.

    r (T, n, 3) and quat (T, n, 4) are those of the nodes at `fractions` (n,).
    """
    nearest = int(np.argmin(np.abs(fractions - s)))
    if abs(fractions[nearest] - s) <= SAME_PLACE:
        return r[:, nearest], quat[:, nearest], False
    k = int(np.searchsorted(fractions, s)) - 1
    x = (s - fractions[k]) / (fractions[k + 1] - fractions[k])
    return *_between(r[:, k], quat[:, k], r[:, k + 1], quat[:, k + 1], x), True


def _between(ra: Floats, qa: Floats, rb: Floats, qb: Floats, x: float) -> tuple[Floats, Floats]:
    """Evaluate (1) between two nodes at the fraction x of the element."""
    theta = quaternions.to_rotation_vector(quaternions.multiply(quaternions.conjugate(qa), qb))
    d = quaternions.rotate(quaternions.conjugate(qa), rb - ra)
    phi, small, safe = _angle(theta)
    c = np.where(small, 1 / 12 + phi**2 / 720, (1 - safe / 2 / np.tan(safe / 2)) / safe**2)
    u = d - np.cross(theta, d) / 2 + c * np.cross(theta, np.cross(theta, d))  # V^-1 d
    part = _left_jacobian_product(x * theta, x * u)
    return ra + quaternions.rotate(qa, part), quaternions.multiply(
        qa, quaternions.from_rotation_vector(x * theta)
    )


def _angle(theta: Floats) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Return phi of (2), whether its series is used, and phi by which one may divide, each (T, 1)."""
    phi = np.linalg.norm(theta, axis=-1, keepdims=True)
    small = phi < SERIES_LIMIT
    return phi, small, np.where(small, 1.0, phi)


def _left_jacobian_product(theta: Floats, u: Floats) -> Floats:
    """Return V(theta) u by (2)."""
    phi, small, safe = _angle(theta)
    b = 0.5 * np.sinc(phi / (2 * np.pi)) ** 2
    c = np.where(small, 1 / 6 - phi**2 / 120, (safe - np.sin(safe)) / safe**3)
    return u + b * np.cross(theta, u) + c * np.cross(theta, np.cross(theta, u))
