"""What may touch what: surfaces of spheres, rods and solids, and the pairs of them between which there is contact.

A surface goes through points that move with frames: a sphere about one, a rod about the chords between its nodes, a capsule
about the chord between two of one frame, a box about its centre, with three points more in the middles of its sides along its
axes. So do hulls and bodies of revolution, whose three points are as far from the middle as any of their own; behind them stand
the vertices, or the corners of the profile. A mesh is all triangles of one frame; its four points span a tetrahedron around it,
so that no vertex moves further than the one of these that does. Where it meets another mesh its corners and ridges are two
surfaces more, behind all others: they follow from the points of their mesh (`completed`), so that no state remembers them.
Which parts are near enough to act changes in a run; `discretization.contact.search` finds them at a configuration, and
`discretization.contact.interactions` says what acts between them. Planes need no search: their interactions stand in
`System.others`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import Floats, Ints

# in a pair the stations are on the smaller number
SPHERE, ROD, CAPSULE, BOX, HULL, ROUND, MESH, CORNERS, RIDGES = 0, 1, 2, 3, 4, 5, 6, 7, 8
OF_HULLS = (
    (CAPSULE, BOX),
    (CAPSULE, HULL),
    (BOX, HULL),
    (HULL, HULL),
)  # kinds of two surfaces that are hulls to each other
OF_ROUNDS = tuple((own, ROUND) for own in (CAPSULE, BOX, HULL, ROUND))  # the second a hull with facets
ON_MESHES = (CAPSULE, BOX, HULL)  # kinds of surfaces that are hulls to meshes
OF_MESHES = (CORNERS, RIDGES)  # their points follow from those of a mesh on their frame
WITH_CORES = (BOX, HULL, ROUND)  # their first point is their middle, and all that is looked for
FIRST, SECOND, BOTH = 0, 1, 2  # whose stations are looked at; of both, each with half the stiffness
BARRIER, POLYNOMIAL = 1, 2  # numbers of the law whose reach counts, and of that of three coefficients
LAW, LOSS = 4, 11  # numbers of a law, of what is lost
SPANNED = 3.0  # sides of the box around a mesh that its points span
_BOX = np.array([[i, j, k] for i in (0.0, 1.0) for j in (0.0, 1.0) for k in (0.0, 1.0)])
ROUND_AXIS = (0.0, 0.0, 1.0)  # of bodies of revolution, in their frames


class Contacts(NamedTuple):
    """s surfaces through k points, p pairs of surfaces."""

    kind: Ints  # (s,) SPHERE, ROD, CAPSULE, BOX, HULL, ROUND, MESH, CORNERS or RIDGES
    first: Ints  # (s + 1,) points of surface i are first[i] .. first[i + 1] - 1, in order along a rod
    radius: Floats  # (s,) m
    frames: Ints  # (k,)
    X: Floats  # (k, 3) m, the point from the origin of its frame, frame axes; of nodes zero
    length: Floats  # (k,) m, stress-free, of the segment that begins there; 0: none does
    pairs: Ints  # (p, 2) surfaces, twice the same: of a rod with itself
    law: Floats  # (p, LAW) law, k, n, reach; of polynomials three coefficients behind the law
    loss: Floats  # (p, LOSS)
    stations: Ints  # (p,) intervals between the stations of an element
    side: Ints  # (p,) FIRST, SECOND or BOTH
    apart: Ints  # (x, 2) first points of segments, and points of spheres, that never touch: what a joint holds together
    vertices: Floats = np.zeros((0, 3))  # (v, 3) m, of all meshes, each in the axes of its frame
    triangles: Ints = np.zeros((0, 3), np.int64)  # (t, 3) of these vertices, mesh by mesh
    meshed: Ints = np.zeros(0, np.int64)  # (t,) surface of each triangle

    @property
    def tracked(self) -> int:
        """How many points do not follow from others: those of all surfaces but corners and ridges."""
        last = int(np.isin(self.kind, OF_MESHES, invert=True).sum())
        return int(self.first[last])


def meeting(contacts: Contacts) -> Ints:
    """Frames (k,) of the points of all surfaces that may touch another."""
    surface = np.repeat(np.arange(len(contacts.kind)), np.diff(contacts.first))
    found: Ints = contacts.frames[np.isin(surface, contacts.pairs)]
    return found


class Sphere(NamedTuple):
    """A surface."""

    frame: int
    X: Sequence[float] | Floats  # m, its centre
    radius: float

    @property
    def points(self) -> Floats:
        """(1, 3) m, frame axes, as of all surfaces."""
        return np.reshape(np.asarray(self.X, float), (1, 3))


class Rod(NamedTuple):
    """A surface: as many lengths as nodes where it is closed, else one less."""

    frames: Sequence[int] | Ints
    lengths: Sequence[float] | Floats
    radius: float

    @property
    def points(self) -> Floats:
        """Its nodes are the origins of their frames."""
        return np.zeros((len(self.frames), 3))


class Capsule(NamedTuple):
    """A surface."""

    frame: int
    X: Floats  # (2, 3) m, the ends of its axis
    radius: float

    @property
    def points(self) -> Floats:
        """Both ends."""
        return np.asarray(self.X, float)


class Box(NamedTuple):
    """A surface: a core that is rounded with the radius; its axes are those of the frame."""

    frame: int
    X: Floats  # (3,) m, its centre
    half: Floats  # (3,) m, of the sides of the core
    radius: float

    @property
    def points(self) -> Floats:
        """Its centre, and the middles of three sides."""
        return self.X + np.concatenate([np.zeros((1, 3)), np.diag(self.half)])


class Hull(NamedTuple):
    """A surface: a core, the hull of points that are its vertices, rounded with the radius."""

    frame: int
    X: Floats  # (v, 3) m
    radius: float

    @property
    def points(self) -> Floats:
        """Its middle, three as far from it as any, and its vertices."""
        return _around(self.X.mean(axis=0), self.X)


class Round(NamedTuple):
    """A surface: a core, a convex body of revolution about an axis along the third of its frame, rounded with the radius."""

    frame: int
    X: Floats  # (3,) m, a point of its axis
    profile: (
        Floats  # (c, 2) m, corners from below to above: radius, height above X; see `rigid.kinematics.cores`
    )
    radius: float

    @property
    def points(self) -> Floats:
        """Its middle, three as far from it as any, and the corners of its profile."""
        middle = 0.5 * (self.profile[:, 1].min() + self.profile[:, 1].max())
        corners = np.stack([self.profile[:, 0], 0.0 * self.profile[:, 0], self.profile[:, 1]], axis=1)
        return _around(self.X + np.array([0.0, 0.0, middle]), self.X + corners)


def _around(centre: Floats, X: Floats) -> Floats:
    """Points of a core: its middle, three as far from it as any, and these."""
    far = float(np.linalg.norm(X - centre, axis=1).max())
    return np.concatenate([centre[None], centre + far * np.eye(3), X])


class Mesh(NamedTuple):
    """A surface: triangles, and all that is within the radius of them."""

    frame: int
    vertices: Floats  # (v, 3) m, frame axes
    triangles: Ints  # (t, 3)
    radius: float

    @property
    def points(self) -> Floats:
        """Of a tetrahedron around it."""
        return _tetrahedron(self.vertices)


class Corners(NamedTuple):
    """A surface: balls about corners of a mesh on its frame."""

    frame: int
    X: Floats  # (c, 3) m
    radius: float

    @property
    def points(self) -> Floats:
        """All of them."""
        return self.X


class Ridges(NamedTuple):
    """A surface: what is about ridges of a mesh on its frame."""

    frame: int
    X: Floats  # (r, 2, 3) m, both ends of each
    radius: float

    @property
    def points(self) -> Floats:
        """Both ends of each."""
        return np.reshape(self.X, (-1, 3))


Surface = Sphere | Rod | Capsule | Box | Hull | Round | Mesh | Corners | Ridges
KINDS: tuple[type[Surface], ...] = (Sphere, Rod, Capsule, Box, Hull, Round, Mesh, Corners, Ridges)


class Pair(NamedTuple):
    """Of surfaces by their numbers."""

    one: int
    other: int
    law: Sequence[float] | Floats
    loss: Sequence[float] | Floats = (0.0,) * LOSS
    stations: int = 4
    side: int = BOTH


def contacts_of(
    surfaces: Sequence[Surface] = (),
    pairs: Sequence[Pair] = (),
    apart: Sequence[tuple[int, int]] = (),
) -> Contacts:
    """As arrays; corners and ridges stand behind all other surfaces.

    Raises ModelError where a pair names what is not there, or the same two surfaces as another.
    """
    places = [own.points for own in surfaces]
    frames = [_frames_of(own, len(at)) for own, at in zip(surfaces, places, strict=True)]
    lengths = [_lengths_of(own, len(at)) for own, at in zip(surfaces, places, strict=True)]
    meshes = [(k, own) for k, own in enumerate(surfaces) if isinstance(own, Mesh)]
    count = [len(each) for each in frames]
    behind = np.cumsum([0, *(len(own.vertices) for _, own in meshes)])
    kind = [KINDS.index(type(own)) for own in surfaces]
    found = Contacts(
        np.array(kind, np.int64),
        np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
        np.array([own.radius for own in surfaces], float),
        np.concatenate([np.zeros(0), *frames]).astype(np.int64),
        np.concatenate([np.zeros((0, 3)), *places]),
        np.concatenate([np.zeros(0), *lengths]),
        np.array([(own.one, own.other) for own in pairs], np.int64).reshape(-1, 2),
        _rows([own.law for own in pairs], LAW),
        _rows([own.loss for own in pairs], LOSS),
        np.array([own.stations for own in pairs], np.int64),
        np.array([own.side for own in pairs], np.int64),
        np.array(apart, np.int64).reshape(-1, 2),
        np.concatenate([np.zeros((0, 3)), *(own.vertices for _, own in meshes)]),
        np.concatenate(
            [
                np.zeros((0, 3), np.int64),
                *(own.triangles + k for (_, own), k in zip(meshes, behind, strict=False)),
            ]
        ),
        np.repeat(np.array([k for k, _ in meshes], np.int64), [len(own.triangles) for _, own in meshes] or 0),
    )
    _check_pairs(found)
    return found


def _rows(each: Sequence[Sequence[float] | Floats], size: int) -> Floats:
    """(p, size); most pairs share one array, which is looked at once."""
    own = {id(row): row for row in each}
    number = {key: k for k, key in enumerate(own)}
    distinct = np.array(list(own.values()), float).reshape(-1, size)
    found: Floats = distinct[np.array([number[id(row)] for row in each], np.int64)]
    return found


def _frames_of(own: Surface, n: int) -> Ints:
    """(n,) of its points."""
    return np.asarray(own.frames, np.int64) if isinstance(own, Rod) else np.full(n, own.frame, np.int64)


def _lengths_of(own: Surface, n: int) -> Floats:
    """(n,) m, of the segments that begin at its points; 0: none does."""
    if isinstance(own, Rod):
        return np.pad(np.asarray(own.lengths, float), (0, n - len(own.lengths)))
    if isinstance(own, Capsule):
        return np.array([float(np.linalg.norm(own.X[1] - own.X[0])), 0.0])
    return np.zeros(n)


def _tetrahedron(vertices: Floats) -> Floats:
    """(4, 3) m, of a tetrahedron around these: a corner of their box, and three times its sides from there."""
    low, sides = vertices.min(axis=0), np.ptp(vertices, axis=0)
    sides = SPANNED * np.maximum(sides, 1e-3 * sides.max())
    return low + np.concatenate([np.zeros((1, 3)), np.diag(sides)])


def _check_pairs(contacts: Contacts) -> None:
    if not len(contacts.pairs):
        return
    surfaces, both = len(contacts.kind), np.sort(contacts.pairs, axis=1)
    if np.any((both < 0) | (both >= surfaces)):
        raise ModelError(
            f"contacts: a pair names surface {both.max()}, there are {surfaces}; count them from 0"
        )
    alone = both[:, 0] == both[:, 1]
    if np.any(contacts.kind[both[alone, 0]] != ROD):
        raise ModelError(
            "contacts: a sphere, a solid or a mesh cannot touch itself; give two surfaces, or a rod alone"
        )
    each, count = np.unique(both, axis=0, return_counts=True)
    if np.any(count > 1):
        i, j = each[np.argmax(count)]
        raise ModelError(f"contacts: surfaces {i} and {j} are a pair {count.max()} times; give one of them")


def refuse(contacts: Contacts, who: str, instead: str = "run `simulate`") -> None:
    """Raise ModelError where there are pairs; who: what cannot take pairs that come and go; instead: what can."""
    if len(contacts.pairs):
        raise ModelError(
            f"{who} does not know contacts between surfaces, of which the model has {len(contacts.pairs)} pairs; leave them "
            f"out, or {instead}"
        )


def points_of(contacts: Contacts, r: Floats, quat: Floats) -> Floats:
    """(..., k, 3) of those that are tracked, of frames at r (..., n, 3) with orientations quat (..., n, 4)."""
    frames, X = contacts.frames[: contacts.tracked], contacts.X[: contacts.tracked]
    points: Floats = r[..., frames, :]
    levers = np.flatnonzero(np.any(X, axis=1))
    if len(levers):
        points[..., levers, :] += quaternions.rotate(quat[..., frames[levers], :], X[levers])
    return points


def at_bounds(contacts: Contacts, values: Floats) -> Floats:
    """(..., b, 3) of what goes linearly over each surface, by its values (..., k, 3) at the points that are tracked: there, and
    of meshes at the corners of the box around them, which span less than their points.
    """
    at = contacts.first[:-1][contacts.kind == MESH]
    if not len(at):
        return values
    arms = (values[..., at[:, None] + (1, 2, 3), :] - values[..., at, None, :]) / SPANNED
    of_boxes = values[..., at, None, :] + np.einsum("ba,...mac->...mbc", _BOX, arms)
    others = np.delete(values, (at[:, None] + np.arange(4)).ravel(), axis=-2)
    return np.concatenate([others, of_boxes.reshape(*values.shape[:-2], len(_BOX) * len(at), 3)], axis=-2)


def _mesh_under(contacts: Contacts, surface: int) -> int:
    """A mesh on the frame of a mesh, or of corners or ridges."""
    if contacts.kind[surface] == MESH:
        return surface
    begins = contacts.frames[contacts.first[:-1]]
    on_frame = (contacts.kind == MESH) & (begins == begins[surface])
    return int(np.flatnonzero(on_frame)[0])


def _axes(contacts: Contacts, mesh: int, points: Floats) -> Floats:
    """(3, 3), rows are the axes of its frame."""
    at = contacts.first[mesh]
    axes: Floats = points[at + 1 : at + 4] - points[at]
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return axes


def in_frame(contacts: Contacts, surface: int, points: Floats, places: Floats) -> Floats:
    """Places (..., 3) in the axes of the frame of a mesh, or of corners or ridges, by the points (k, 3) that are tracked."""
    mesh = _mesh_under(contacts, surface)
    at = contacts.first[mesh]
    found: Floats = contacts.X[at] + (places - points[at]) @ _axes(contacts, mesh, points).T
    return found


def from_frame(contacts: Contacts, surface: int, points: Floats, X: Floats) -> Floats:
    """Where places (..., 3) in these axes are."""
    mesh = _mesh_under(contacts, surface)
    at = contacts.first[mesh]
    found: Floats = points[at] + (X - contacts.X[at]) @ _axes(contacts, mesh, points)
    return found


def completed(contacts: Contacts, points: Floats) -> Floats:
    """(k, 3) all points, of those that are tracked: corners and ridges stand where their mesh does."""
    found = [points[: contacts.tracked]]
    for own in np.flatnonzero(np.isin(contacts.kind, OF_MESHES)).tolist():
        found.append(
            from_frame(contacts, own, points, contacts.X[contacts.first[own] : contacts.first[own + 1]])
        )
    return np.concatenate(found) if len(found) > 1 else found[0]


def box_around(contacts: Contacts, surface: int) -> Floats:
    """(8, 3) m, corners of a box around a mesh, its corners or its ridges, frame axes."""
    first, last = contacts.first[surface : surface + 2]
    X = contacts.X[first:last]
    if contacts.kind[surface] == MESH:
        low, sides = X[0], np.diagonal(X[1:] - X[0]) / SPANNED
    else:
        low, sides = X.min(axis=0), np.ptp(X, axis=0)
    found: Floats = low + _BOX * sides
    return found


def weakened(law: Floats, share: Floats | float) -> Floats:
    """Laws (..., LAW) with forces that are these parts (...) of theirs."""
    found = law.copy()
    found[..., 1] *= share
    found[..., 2:] *= np.where(law[..., 0] == POLYNOMIAL, share, 1.0)[..., None]
    return found


def slopes(law: Floats, depth: Floats | float) -> Floats:
    """(...) of powers and polynomials (..., LAW): how much more force a depth (...) gives, at that depth."""
    _, k, n, last = np.moveaxis(law, -1, 0)
    polynomial = law[..., 0] == POLYNOMIAL
    of_power = k * n * depth ** np.maximum(np.where(polynomial, 0.0, n) - 1.0, 0.0)
    return np.where(polynomial, k + depth * (2.0 * n + 3.0 * last * depth), of_power)


def reaches(contacts: Contacts) -> Floats:
    """(p,) m, distances of centre lines, or of middles of cores, below which there may be forces."""
    barrier = contacts.law[:, 0] == BARRIER
    around = contacts.radius + np.linalg.norm(half_sides(contacts, contacts.first[:-1]), axis=-1)
    cored = np.isin(contacts.kind, (HULL, ROUND))
    around[cored] += np.linalg.norm(sizes_of(contacts, contacts.first[:-1][cored]), axis=-1)
    found: Floats = around[contacts.pairs].sum(axis=1) + np.where(barrier, contacts.law[:, 3], 0.0)
    return found


def usual_reach(reach: Floats) -> float:
    """m, that half of all pairs have at most; 0 where there are none. A skin goes by this, not by the largest: of balls in a bowl
    that is a ball of 30 m all would be near.
    """
    return float(np.quantile(reach, 0.5, method="lower")) if len(reach) else 0.0


def sizes_of(contacts: Contacts, points: Ints) -> Floats:
    """(..., 3) m, of hulls and bodies of revolution with their middles in these points (...): as long as they go from there."""
    found: Floats = contacts.X[points + 1] - contacts.X[points]
    return found


def half_sides(contacts: Contacts, points: Ints) -> Floats:
    """(..., 3) m, of the cores of boxes with their centres in these points (...); of other points 0."""
    surface = np.searchsorted(contacts.first, points, side="right") - 1
    box = contacts.kind[surface] == BOX
    sides = np.minimum(points[..., None] + (1, 2, 3), len(contacts.X) - 1)
    arms = np.diagonal(contacts.X[sides] - contacts.X[points][..., None, :], axis1=-2, axis2=-1)
    found: Floats = np.where(box[..., None], arms, 0.0)
    return found
