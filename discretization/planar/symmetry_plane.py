"""Decide whether a model is mirror-symmetric about a plane, from everything that acts: return the plane, or why there is none.

The motion of a mirrored model is the mirrored motion. If the model equals its mirror image, nothing ever leaves the plane.
The conditions are:

    positions, velocities, gravity    lie in the plane; spins are along its normal
    inertia                           the normal is a principal axis
    rods                              sections are mirror-symmetric: stiffness, damping and strains at rest do not couple
                                      in-plane strains (stretch, shear, bending about the normal) with the others;
                                      actuations exert stresses of in-plane strains alone
    joints                            the mirror maps them to themselves: `discretization.planar.joint_rows`
    loads                             act in the plane at all times: their directions are constant and known

The tolerance is `SYMMETRY_TOLERANCE` times the largest value of the same quantity. Anything that is not checked here has no
planar form: such a model is solved in space.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    SPRINGS,
    TORSIONS,
    loads_of,
    signals_of,
    springs_of,
    torsions_of,
    without_loads,
)
from discretization.internal_variables import DRIVE, internal_variables
from discretization.memoization import memoized, per_structure, per_tables
from discretization.planar.joint_rows import (
    SUPPORTED,
    WITHOUT_POINTS,
    Asymmetric,
    Row,
    planar_constraint_rows,
)
from discretization.planar.mirror_symmetry import (
    INERTIA,
    NO_AXIS,
    POSITIONS,
    SPINS,
    SYMMETRY_TOLERANCE,
    UNDECIDED,
    VELOCITIES,
    WEIGHT,
    common_normal,
    find_asymmetry,
    model_extents,
)
from discretization.planar.symmetry_input import Symmetry
from discretization.space.se3_dual import SE3_ACTUATION
from discretization.system import System
from rigid import quaternions
from rigid.interactions.constraints import CONSTRAINTS
from rigid.system import COINCIDENT, FORCE, Floats, Ints, State
from rigid.vectors import cross, lengths, norm

_AXES = np.eye(3)
_ACTUATION = INTERACTIONS.index(SE3_ACTUATION)
# smallest size of a model: relative to its distance from the origin (where positions are rounded), and in m
_ROUNDED, _LEAST = 1e-3, 1e-9


class SymmetryPlane(NamedTuple):
    """Plane in which a model moves."""

    basis: Floats  # (3, 3) rows: two directions in the plane, then the normal, their cross product
    offset: float  # distance from the origin along the normal, m
    rows: Sequence[Row] = ()  # constraint rows of the joints that remain in the plane

    @property
    def normal(self) -> Floats:
        """Return the unit normal (3,)."""
        return np.asarray(self.basis[2])


def find_symmetry_plane(system: System, symmetry: Symmetry) -> SymmetryPlane | str:
    """Return the plane about which a model and its state are symmetric, or, as text, why there is none."""
    state, directions, known_normal = symmetry
    if reason := _unsupported(system):
        return reason
    if len(directions) and not np.isfinite(directions).all():
        return "a load is a function of time whose direction is not known"
    reasons = []
    for normal in _candidates(system, state, directions) if known_normal is None else [known_normal]:
        plane = SymmetryPlane(_basis(normal), float(normal @ state.r[_moving(system)[0]]))
        extent, distance = model_extents(state.r, _moving(system))
        reach = max(extent, _ROUNDED * distance, _LEAST)
        asymmetry = next(_asymmetries(system, state, directions, plane, reach), None)
        if asymmetry is None:
            try:
                return plane._replace(rows=planar_constraint_rows(system, state, *plane[:2], reach))
            except Asymmetric as asymmetric:
                asymmetry = str(asymmetric)
        reasons.append(asymmetry)
    return reasons[0]


@memoized(per_structure)
def _moving(system: System) -> Any:
    """Return the indices of the frames that move."""
    return np.flatnonzero(system.frames.fixed == 0)


_SUPPORTED = "elements", "constraints", "others", "controls"
_NOT_SUPPORTED = {
    "spans": "its rods have other elements than those of two frames",
    "contacts": "surfaces may touch",
}


@memoized(per_structure)
def _unsupported(system: System) -> str:
    """Return the first text of `_unsupported_properties`, or ""."""
    return next(_unsupported_properties(system), "")


def _unsupported_properties(system: System) -> Iterator[str]:
    """Yield a text for each property of the system that has no planar form."""
    if not len(_moving(system)):
        yield "nothing moves"
    if (system.frames.fixed > 1).any():
        yield "parts have prescribed motion"
    if np.flatnonzero(system.frames.fixed).tolist() != [0]:
        yield "frames other than the ground are fixed"
    for table in system.filled:
        if table not in _SUPPORTED:
            yield _NOT_SUPPORTED[table]
    acting = without_loads(system.others).kind
    unsupported = acting[~np.isin(acting, (SPRINGS, TORSIONS, _ACTUATION))]
    if len(unsupported):
        yield f"{INTERACTIONS[int(unsupported[0])].name}s act, which have no planar form"
    unsupported_joints = np.setdiff1d(system.constraints.kind, SUPPORTED)
    if len(unsupported_joints):
        yield f"joints have constraints '{CONSTRAINTS[int(unsupported_joints[0])].name}', which have no planar form"
    if (system.frames.fixed[system.elements.frames] != 0).any():
        yield "a rod ends in a fixed frame"
    variables = internal_variables(system)
    if variables.size > int((acting == TORSIONS).sum()) + DRIVE * variables.drive + variables.sampled:
        yield "an interaction has internal variables"


def _basis(normal: Floats) -> Floats:
    """Return two directions across the normal and the normal itself (3, 3); axes of space if the normal is one of them."""
    return _basis_of(normal.tobytes())


@functools.lru_cache(maxsize=32)
def _basis_of(content: bytes) -> Floats:
    """Cached part of `_basis`: arrays as bytes are hashable."""
    normal = np.frombuffer(content)
    k = int(np.argmin(np.abs(normal)))
    first = _AXES[k] - normal[k] * normal
    first /= norm(first)
    return np.array([first, cross(normal, first), normal])


def _in_space(system: System, state: State, vectors: Floats, frames: np.ndarray) -> Floats:
    """Rotate body-fixed vectors (k, 3) of these frames into the axes of space."""
    return np.asarray(quaternions.rotate(state.quat[frames], vectors))


def _across(system: System, state: State, directions: Floats) -> Iterator[Floats]:
    """Yield groups of vectors (k, 3) that lie in the plane if there is one, one group for each sort."""
    moving, c = _moving(system), system.constraints
    yield state.r[moving] - state.r[moving[0]]
    yield system.gravity[None]
    yield state.v[moving]
    if n := len(system.elements.frames):
        yield _in_space(system, state, np.tile(_AXES[0], (n, 1)), system.elements.frames[:, 0])
    pointed = ~np.isin(c.kind, WITHOUT_POINTS)
    for X, side in ((c.Xa, 0), (c.Xb, 1)):
        f = c.frames[pointed, side]
        yield state.r[f] + _in_space(system, state, X[pointed], f) - state.r[moving[0]]
    for points in _points_of_springs(system, state):
        yield points - state.r[moving[0]]
    if not len(directions):
        return
    loads = loads_of(system.others)
    following, force = loads.following != 0, loads.kind == FORCE
    world = directions.copy()
    world[following] = _in_space(system, state, directions[following], loads.frame[following])
    yield world[force]
    yield _in_space(system, state, loads.X[force], loads.frame[force])


def _candidates(system: System, state: State, directions: Floats) -> list[Floats]:
    """Return the normals that are possible.

    If the vectors that must lie in the plane span a plane, its normal is the one candidate. If they are along one line or
    absent, candidates are spins and the axes of joints, of sections and of inertia.
    """
    axis = _axis_across(system, state, directions)
    if axis is not None:
        return [axis]
    spanned, total = _AXES[:0], np.zeros((3, 3))
    for vectors in _across(system, state, directions):
        size = lengths(vectors).max(initial=0.0)
        if size > 0.0:
            _, sizes, V = np.linalg.svd(np.concatenate([total, vectors / size]), full_matrices=False)
            spanned, total = V[sizes > 1e-8], sizes[:, None] * V
        if len(spanned) >= 2:  # vectors after these must fit, or they are the reason why there is no plane
            return [_snapped(cross(spanned[0], spanned[1]))]
    moving, c = _moving(system), system.constraints
    use = c.kind != COINCIDENT
    f, torsions = system.elements.frames[:, 0], torsions_of(system.others)
    axes = np.concatenate(
        [
            _in_space(system, state, cross(torsions.Ua, torsions.Wa), torsions.frames[:, 0]),
            _in_space(system, state, state.Omega[moving], moving),
            _in_space(system, state, c.Ub[use], c.frames[use, 1]),
            _in_space(system, state, c.Ua[use], c.frames[use, 0]),
            *(_in_space(system, state, np.tile(axis, (len(f), 1)), f) for axis in _AXES[1:]),
            _AXES,
            np.swapaxes(np.linalg.eigh(system.frames.inertia[moving])[1], 1, 2)[:1].reshape(-1, 3)
            @ quaternions.to_matrix(state.quat[moving[0]]).T,
        ]
    )
    axes = axes - (axes @ spanned.T) @ spanned if len(spanned) else axes
    sizes = np.linalg.norm(axes, axis=1)
    distinct = np.unique(np.round([_snapped(x) for x in axes[sizes > 1e-3 * sizes.max()]], 13), axis=0)
    return [x / np.linalg.norm(x) for x in distinct]


def _axis_across(system: System, state: State, directions: Floats) -> Floats | None:
    """Return the axis of space that is normal to the first vectors that fix a plane, or None if it is not an axis of space.

    Most models have such an axis. The result is that of the singular vectors, without computing them.
    """
    gram = np.zeros((3, 3))
    for vectors in _across(system, state, directions):
        axis = common_normal(vectors, gram)
        if axis != UNDECIDED:
            return None if axis == NO_AXIS else _AXES[axis].copy()
    return None


def _snapped(x: Floats) -> Floats:
    """Return the unit vector along x with its largest component positive; components at round-off level become 0."""
    x = x / norm(x)
    x = np.where(np.abs(x) < 1e-14, 0.0, x)
    x = x / norm(x)
    return np.asarray(x * np.sign(x[np.argmax(np.abs(x))]) + 0.0)


def _leaves(vectors: Floats, normal: Floats) -> bool:
    """Return True if some of the vectors (k, 3) have a component along the normal."""
    size = lengths(vectors).max(initial=0.0)
    return bool((np.abs(vectors @ normal) > SYMMETRY_TOLERANCE * size).any())


def _asymmetries(
    system: System, state: State, directions: Floats, plane: SymmetryPlane, extent: float
) -> Iterator[str]:
    """Yield a text for each property, other than the joints, that is not its own mirror image."""
    n = plane.normal
    frames, poses = (system.frames.inertia, _moving(system), system.gravity), (state.r, state.quat)
    asymmetry = find_asymmetry(poses, (state.v, state.Omega), *frames, n, plane.offset, extent)
    if asymmetry in _ASYMMETRIES:
        yield _ASYMMETRIES[asymmetry]
    yield from _of_elements(system, state, n)
    yield from _of_actuations(system, state, n)
    yield from _of_springs(system, state, plane, extent)
    yield from _of_loads(system, state, directions, n)


_ASYMMETRIES = {
    POSITIONS: "its parts do not lie in one plane",
    WEIGHT: "gravity is not in the plane",
    SPINS: "an angular velocity is not about the normal of the plane",
    VELOCITIES: "a velocity leaves the plane",
    INERTIA: "the normal of the plane is not a principal axis of inertia of a part",
}


def _of_elements(system: System, state: State, n: Floats) -> Iterator[str]:
    """Yield a text for each asymmetry of the rod elements."""
    elements = system.elements
    if not len(elements.length):
        return
    normals = quaternions.rotate(quaternions.conjugate(state.quat), n)
    of_a, of_b = (normals[elements.frames[:, k]] for k in (0, 1))
    if (np.abs(of_a - of_b) > SYMMETRY_TOLERANCE).any() or (np.abs(of_a[:, 0]) > SYMMETRY_TOLERANCE).any():
        yield "a rod does not lie in the plane"
    T = axes_of(of_a)
    for name, matrices in (("stiffness", elements.stiffness), ("damping", elements.damping)):
        turned = rotate_section_matrices(matrices, T)
        size = np.sqrt(np.abs(np.einsum("mii->mi", turned))) + 1e-300
        size = size[:, :, None] * size[:, None, :]
        mixed = np.ix_(range(len(turned)), (0, 1, 5), (2, 3, 4))
        if (np.abs(turned[mixed]) > SYMMETRY_TOLERANCE * size[mixed]).any():
            yield f"the {name} of a section couples in-plane strains with the others"
    strains = np.concatenate(
        [np.einsum("mij,mj->mi", T, x) for x in (elements.strain0[:, :3], elements.strain0[:, 3:])], 1
    )
    size = max(1.0, float(np.abs(strains[:, 3:] * elements.length[:, None]).max()))
    out = np.abs(strains[:, (2, 3, 4)]) * np.stack(
        [np.ones_like(elements.length), elements.length, elements.length], 1
    )
    if (out > SYMMETRY_TOLERANCE * size).any():
        yield "the stress-free shape of a rod leaves the plane"


class Actuations(NamedTuple):
    """Actuations of elements of two frames."""

    value: Ints  # (z,) row of the values from outside
    element: Ints  # (z,) number of the element
    stress: Floats  # (z, 6) stress for the value 1, in the axes of the section


@memoized(per_tables)
def actuations_of(system: System) -> Actuations:
    """Return the actuations of a system."""
    table = system.others
    rows = np.flatnonzero(table.kind == _ACTUATION)
    if not len(rows):
        return Actuations(rows, rows, np.zeros((0, 6)))
    element = {pair: m for m, pair in enumerate(map(tuple, system.elements.frames.tolist()))}
    first = table.first[rows] + 2  # order and length of the element come first
    return Actuations(
        np.searchsorted(signals_of(table), rows),
        np.array([element[a, b] for a, b in table.frames[rows, :2].tolist()], np.int64),
        table.numbers[first[:, None] + np.arange(6)],
    )


def actuation_in_plane(actuations: Actuations, T: Floats) -> Floats:
    """Return the stresses (z, 6) of actuations in the axes T (m, 3, 3) of their elements: `axes_of`."""
    turned = np.einsum("zij,zkj->zki", T[actuations.element], actuations.stress.reshape(-1, 2, 3))
    return turned.reshape(-1, 6)


def _of_actuations(system: System, state: State, n: Floats) -> Iterator[str]:
    """Yield a text if the stress of an actuation is not one of strains in the plane."""
    actuations = actuations_of(system)
    if not len(actuations.value):
        return
    of_a = quaternions.rotate(quaternions.conjugate(state.quat[system.elements.frames[:, 0]]), n)
    stress = np.abs(actuation_in_plane(actuations, axes_of(of_a)))
    out = stress[:, (2, 3, 4)] > SYMMETRY_TOLERANCE * stress.max(axis=1, keepdims=True)
    if out.any():
        yield "an actuation bends, twists or shears a rod out of the plane"


def _of_springs(system: System, state: State, plane: SymmetryPlane, extent: float) -> Iterator[str]:
    """Yield a text for each asymmetry of the springs."""
    for points in _points_of_springs(system, state):
        if (np.abs(points @ plane.normal - plane.offset) > 10.0 * SYMMETRY_TOLERANCE * extent).any():
            yield "a spring does not lie in the plane"
    if TORSIONS in system.others.kind.tolist():
        torsions = torsions_of(system.others)
        a, b = torsions.frames.T
        for U, f in ((torsions.Ua, a), (torsions.Wa, a), (torsions.Ub, b)):
            if _leaves(_in_space(system, state, U, f), plane.normal):
                yield "a torsion spring does not rotate in the plane"


def _points_of_springs(system: System, state: State) -> Iterator[Floats]:
    """Yield the end points (k, 3) of all springs in space, m: those on frames a, then those on frames b."""
    if SPRINGS in system.others.kind.tolist():
        springs = springs_of(system.others)
        for X, f in zip((springs.Xa, springs.Xb), springs.frames.T, strict=True):
            yield state.r[f] + _in_space(system, state, X, f)


def axes_of(normals: Floats) -> Floats:
    """Return the section axes (m, 3, 3) in the frame's axes: axis 1, the one across it in the plane, and the normal."""
    first = _AXES[0] - normals[:, :1] * normals
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, cross(normals, first), normals], axis=1)


def rotate_section_matrices(matrices: Floats, T: Floats) -> Floats:
    """Return section matrices (m, 6, 6) in the axes T (m, 3, 3)."""
    both = np.zeros((len(T), 6, 6))
    both[:, :3, :3] = both[:, 3:, 3:] = T
    return np.asarray(both @ matrices @ both.transpose(0, 2, 1))


def _of_loads(system: System, state: State, directions: Floats, n: Floats) -> Iterator[str]:
    """Yield a text for each asymmetry of the loads."""
    if not len(directions):
        return
    loads = loads_of(system.others)
    following, force = loads.following != 0, loads.kind == FORCE
    world = directions.copy()
    world[following] = _in_space(system, state, directions[following], loads.frame[following])
    size = np.linalg.norm(world, axis=1)
    along = np.abs(world @ n)
    across = np.linalg.norm(world - np.outer(world @ n, n), axis=1)
    if (np.where(force, along, across) > SYMMETRY_TOLERANCE * size).any():
        yield "a load leaves the plane"
    acting = force & (size > 0.0)
    points = _in_space(system, state, loads.X[acting], loads.frame[acting])
    reach = np.linalg.norm(points, axis=1)
    if (np.abs(points @ n) > SYMMETRY_TOLERANCE * np.maximum(reach, 1.0)).any():
        yield "a load does not act in the plane"
