"""Select the constraint rows of a symmetric model that remain in its plane: rows that are their own mirror images.

The mirror maps the rows of a joint to rows of the same joint. Rows that it reverses have no multiplier, because no force of the
model acts that way. A direction across an axis in the plane may be at any angle to the plane: of two rows of a joint that are
linear in it,

    lam_1 g(u_1) + lam_2 g(u_2) = mu g(u),   u = c_1 u_1 + c_2 u_2 in the plane, c . c = 1,   lam = mu c     (1)

the other combination is reversed. Three rows keep triads aligned if e_1 . e_2 = e_2 . e_3 = e_3 . e_1 = 0 across the joint.
Their torque is along the normal n if lam_i = mu (e_k . n), i, j, k cyclic: it is that of one row between two directions of the
plane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from discretization.drives import at_states, has_driven_parameters
from discretization.internal_variables import part
from discretization.memoization import memoized, per_structure
from discretization.planar import arrays
from discretization.planar.mirror_symmetry import SYMMETRY_TOLERANCE, joint_distances_from_plane
from discretization.system import System
from rigid import quaternions
from rigid.interactions.constraints import CONSTRAINTS, first_rows
from rigid.interactions.driven_constraints import DRIVEN_ANGLE, DRIVEN_DISPLACEMENT
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Floats, Ints, State

_TURNED, _SHIFTED = (CONSTRAINTS.index(kind) for kind in (DRIVEN_ANGLE, DRIVEN_DISPLACEMENT))
WITHOUT_POINTS = PERPENDICULAR, _TURNED  # kinds of constraints without points
SUPPORTED = COINCIDENT, PERPENDICULAR, ALONG, DISTANCE, _TURNED, _SHIFTED
_NONE = np.zeros(3)
_NEITHER = "an axis of a joint is neither in the plane nor along its normal"


class Row(NamedTuple):
    """One row in the plane, or two rows of coincident points."""

    sort: int  # arrays.COINCIDENT, ANGLE, ALONG or DISTANCE
    constraint: int  # number of the constraint whose frames and points the row has
    Ua: Floats  # (3,) direction on a, body-fixed
    Ub: Floats  # (3,) direction on b, body-fixed
    value: float  # prescribed value
    lam: tuple[int, ...]  # multipliers of the system that belong to the row
    factors: tuple[float, ...]  # ratio of each of them to the multiplier of the row


class Asymmetric(Exception):
    """Raised if a joint is not its own mirror image; the message says why."""


class _Joints(NamedTuple):
    """Constraints of a model with their directions in space, as `planar_constraint_rows` needs them."""

    system: System
    state: State
    basis: Floats
    a: Floats  # (c, 3) directions on a, in space
    b: Floats  # (c, 3) directions on b, in space
    up_a: list[float]  # components of the directions on a along the normal
    up_b: list[float]  # components of the directions on b along the normal
    value: list[float]  # prescribed values
    lam: list[int]  # first multiplier of each constraint
    reach: float  # size of the model, m


def planar_constraint_rows(
    system: System, state: State, basis: Floats, offset: float, reach: float
) -> list[Row]:
    """Return the planar rows of all joints; reach: size of the model, m.

    Raises Asymmetric if some joints are not their own mirror images.
    """
    c, n, structure = system.constraints, basis[2], _structure_of(system)
    if structure.driven:
        c, _ = at_states(c, state, part(system, state, "drive"))
        system = system._replace(constraints=c)
    directions, up = np.empty((2, len(c.kind), 3)), np.empty((2, len(c.kind)))
    sides = c.frames, (c.Xa, c.Xb), (c.Ua, c.Ub), (state.r, state.quat)
    if (
        joint_distances_from_plane(*sides, structure.pointed, n, offset, directions, up)
        > 10.0 * SYMMETRY_TOLERANCE * reach
    ):
        raise Asymmetric("a joint does not lie in the plane")
    a, b = directions
    up_a, up_b = up.tolist()
    joints = _Joints(system, state, basis, a, b, up_a, up_b, c.value.tolist(), structure.lam, reach)
    planar_rows: list[Row] = []
    aligned_triads = _aligned_triads(joints, structure.of_three)
    for of_kind in structure.of_joints:
        for kind, rows in of_kind:
            if kind == COINCIDENT:
                planar_rows += [
                    Row(arrays.COINCIDENT, k, _NONE, _NONE, 0.0, (joints.lam[k],), (1.0,)) for k in rows
                ]
            elif kind == DISTANCE:
                planar_rows += [_single(joints, arrays.DISTANCE, k) for k in rows]
            elif kind == ALONG:
                planar_rows += _linear(joints, arrays.ALONG, rows)
            elif kind in (_TURNED, _SHIFTED):
                planar_rows.append(
                    _driven(joints, arrays.ANGLE if kind == _TURNED else arrays.ALONG, rows[0])
                )
            elif rows[0] in aligned_triads:
                planar_rows.append(aligned_triads[rows[0]])
            elif not all(_across_the_plane(joints, k) for k in rows):
                for same in _with_one_end(joints, rows):
                    planar_rows += _directed(joints, same)
    return planar_rows


class _Structure(NamedTuple):
    """Facts of the constraints that depend only on their kinds and joints."""

    pointed: Ints  # constraints that have points
    of_joints: list[list[tuple[int, list[int]]]]  # for each joint its kinds, each with its constraints
    of_three: list[list[int]]  # triples of rows that may keep triads aligned
    lam: list[int]  # first multiplier of each constraint
    driven: bool  # True if some constraints are driven


@memoized(per_structure)
def _structure_of(system: System) -> _Structure:
    """Return the structure of all constraints of a system."""
    c = system.constraints
    sorts: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for k, (number, kind) in enumerate(zip(c.joint.tolist(), c.kind.tolist(), strict=True)):
        sorts[number][kind].append(k)
    three = [rows for of_kind in sorts.values() if len(rows := of_kind.get(PERPENDICULAR, [])) == 3]
    pointed = np.flatnonzero(~np.isin(c.kind, WITHOUT_POINTS))
    of_joints = [list(of_kind.items()) for of_kind in sorts.values()]
    return _Structure(pointed, of_joints, three, first_rows(c).tolist(), has_driven_parameters(c))


def _single(joints: _Joints, sort: int, k: int) -> Row:
    """Return the planar row of constraint k with its directions, value and multiplier unchanged."""
    c = joints.system.constraints
    return Row(sort, k, c.Ua[k], c.Ub[k], float(c.value[k]), (joints.lam[k],), (1.0,))


def _driven(joints: _Joints, sort: int, k: int) -> Row:
    """Return the row of a drive whose directions lie in the plane, so that it rotates them about the normal.

    Raises Asymmetric if a direction leaves the plane.
    """
    directions = joints.a[k], joints.b[k] if sort == arrays.ANGLE else _NONE
    if any(abs(float(u @ joints.basis[2])) > SYMMETRY_TOLERANCE for u in directions):
        raise Asymmetric("a drive moves its joint out of the plane")
    return _single(joints, sort, k)


def _linear(joints: _Joints, sort: int, rows: Sequence[int]) -> Iterable[Row]:
    """Return the planar rows of rows that are linear in a direction on a, and whose other factor lies in the plane."""
    c = joints.system.constraints
    up = [float(joints.a[k] @ joints.basis[2]) for k in rows]
    values = [float(c.value[k]) for k in rows]
    if all(abs(x) <= SYMMETRY_TOLERANCE for x in up):
        return [_single(joints, sort, k) for k in rows]
    if any(abs(x) > SYMMETRY_TOLERANCE * max(joints.reach, 1.0) for x in values):
        raise Asymmetric("a joint holds its parts at an angle to the plane, or at a distance from it")
    size = float(np.hypot.reduce(up))
    if abs(size - 1.0) > SYMMETRY_TOLERANCE:
        raise Asymmetric(_NEITHER)
    if len(rows) == 1:
        return []
    if len(rows) > 2:
        raise Asymmetric(_NEITHER)
    factors = -up[1] / size, up[0] / size
    U = factors[0] * c.Ua[rows[0]] + factors[1] * c.Ua[rows[1]]
    return [Row(sort, rows[0], U, c.Ub[rows[0]], 0.0, (joints.lam[rows[0]], joints.lam[rows[1]]), factors)]


def _with_one_end(joints: _Joints, rows: Sequence[int]) -> Iterable[list[int]]:
    """Group the rows that have the same direction on b."""
    by_direction: dict[bytes, list[int]] = defaultdict(list)
    for k in rows:
        by_direction[joints.system.constraints.Ub[k].tobytes()].append(k)
    return by_direction.values()


def _across_the_plane(joints: _Joints, k: int) -> bool:
    """Return True if an axis along the normal is perpendicular to a direction of the plane: this adds no row.

    Every hinge has such rows.
    """
    return (
        abs(abs(joints.up_b[k]) - 1.0) <= SYMMETRY_TOLERANCE
        and abs(joints.up_a[k]) <= SYMMETRY_TOLERANCE
        and abs(joints.value[k]) <= SYMMETRY_TOLERANCE
    )


def _directed(joints: _Joints, rows: Sequence[int]) -> Iterable[Row]:
    """Return the planar rows of rows that hold the angle between directions, none of which `_across_the_plane` accepts."""
    up = abs(joints.up_b[rows[0]])
    if up <= SYMMETRY_TOLERANCE:
        return _linear(joints, arrays.ANGLE, rows)
    if abs(up - 1.0) > SYMMETRY_TOLERANCE:
        raise Asymmetric(_NEITHER)
    for k in rows:
        if abs(joints.up_a[k]) > SYMMETRY_TOLERANCE:
            raise Asymmetric(_NEITHER)
        if abs(joints.value[k]) > SYMMETRY_TOLERANCE:
            raise Asymmetric("a joint holds its parts at an angle to the plane, or at a distance from it")
    return []


def _aligned_triads(joints: _Joints, triples: Sequence[Sequence[int]]) -> dict[int, Row]:
    """Return the planar row of each triple of rows that keeps triads aligned, by the first row of the triple.

    Triples that do not keep triads aligned are omitted.
    """
    if not triples:
        return {}
    c, k = joints.system.constraints, np.array(triples)
    a, b, n = joints.a[k], joints.b[k], joints.basis[2]
    misalignment = np.abs(b - a[:, (1, 2, 0)]).max(axis=(1, 2))
    skew = np.abs(a @ a.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    aligned = (misalignment < SYMMETRY_TOLERANCE) & (skew < SYMMETRY_TOLERANCE) & ~c.value[k].any(axis=1)
    side = np.sign(np.linalg.det(a))  # triads may be left-handed
    factors = side[:, None] * (a[:, (2, 0, 1)] @ n)
    first = k[:, 0]
    Ua, Ub = (
        quaternions.rotate(quaternions.conjugate(joints.state.quat[c.frames[first, end]]), joints.basis[end])
        for end in (0, 1)
    )
    return {
        int(first[i]): Row(
            arrays.ANGLE,
            int(first[i]),
            Ua[i],
            Ub[i],
            0.0,
            tuple(joints.lam[row] for row in triples[i]),
            tuple(factors[i].tolist()),
        )
        for i in np.flatnonzero(aligned).tolist()
    }
