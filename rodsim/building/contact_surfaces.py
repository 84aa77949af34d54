"""The surfaces of contacts at t = 0: segments of rods, what joints hold together, numbers of laws and losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from discretization.contact.table import BARRIER, POLYNOMIAL, slopes
from rigid.errors import ModelError, PartName
from rigid.solids import Features, Hull
from rigid.system import Floats, Ints
from rodsim.building.meshing import RodMesh
from rodsim.parts.contact_entries import (
    LAWS,
    ContactEntry,
    Pair,
    Surface,
    section_at,
    stiffness_of,
)
from rodsim.parts.entries import Contents
from rodsim.parts.entry import Place, Poses
from rodsim.parts.model_parts import SAME_NODE, Anchor, Body, Rod
from rodsim.parts.surface_entries import SURFACES_ON_PARTS, MeshEntry, PlaneEntry, SolidEntry, SurfaceEntry


class Placed(Poses, Protocol):
    """What is asked of `rodsim.building.build.Placement`."""

    meshes: dict[str, RodMesh]
    v: Floats
    size: float
    bodies: dict[str, Body]


class Segments(NamedTuple):
    """The chords of a rod."""

    frames: Ints  # (e, 2)
    begin: Floats  # (e,) m, along the rod without stress
    length: Floats  # (e,) m
    radius: Floats  # (e,) m

    def near(self, arc: float, around: float, within: float) -> NDArray[np.bool_]:
        """(e,) whether they are no further along the rod from the place `arc` than `within`, on a ring of length `around`."""
        found, reach = np.zeros(len(self.begin), bool), within + SAME_NODE * float(self.length.sum())
        for place in (arc, arc - around, arc + around) if np.isfinite(around) else (arc,):
            found |= (self.begin - reach <= place) & (place <= self.begin + self.length + reach)
        return found


def segments_of(rod: Rod, placed: Placed, radius: float | None) -> Segments:
    """With the radius that is given, or that of the sections."""
    mesh, frames = placed.meshes[rod.name], placed.frames_of(rod)
    if np.any(mesh.center):
        raise ModelError(
            f"{rod}: its sections have centres off its curve, which contact does not know; leave `with_centers` out",
            about=[PartName("rod", rod.name)],
        )
    ends = mesh.arclength if not rod.closed else np.append(mesh.arclength, rod.stress_free.length)
    chords = np.stack([frames, np.roll(frames, -1)], axis=1)[: len(ends) - 1]
    if radius is None:
        middles = 0.5 * (ends[1:] + ends[:-1]) / rod.stress_free.length
        same = None if callable(rod.section) else section_at(rod, 0.0).radius
        of_each = np.array([section_at(rod, s).radius if same is None else same for s in middles])
    else:
        of_each = np.full(len(chords), radius)
    return Segments(chords, ends[:-1], np.diff(ends), of_each)


def surfaces_of(model: Contents, placed: Placed) -> dict[str, dict[str, Any]]:
    """Of spheres, solids, planes and meshes, as a result remembers them: where they are, in the axes of their frames; of a mesh
    its number among those of `discretization.contact.table`.
    """
    found: dict[str, dict[str, Any]] = {}
    for own in surfaces_on_parts(model):
        at = placed.place(own.on)
        told: dict[str, Any] = {
            "kind": own.word,
            "frame": int(at.frame),
            "X": np.asarray(at.X, float).tolist(),
        }
        if isinstance(own, PlaneEntry):
            told["normal"] = np.asarray(placed.local(at.frame, own.normal), float).tolist()
            told["sides"] = _sides(placed, at, own.normal)
        elif isinstance(own, SolidEntry):
            features = features_on(own, placed)
            told["points"], told["circles"] = features.points.tolist(), features.circles.tolist()
            told["radius"] = features.radius
            if own.is_round:
                told["profile"] = profile_of(features).tolist()
        elif isinstance(own, MeshEntry):
            told["mesh"], told["radius"] = list(model.meshes).index(own.name), own.radius
        else:
            told["radius"] = own.radius
        found[own.name] = told
    return found


def surfaces_on_parts(model: Contents) -> Iterator[Any]:
    """All but rods."""
    for kind in SURFACES_ON_PARTS:
        yield from getattr(model, kind.table).values()


def features_on(own: SolidEntry | MeshEntry, placed: Placed) -> Features:
    """Its points and circles from the origin of its frame; of a mesh those of its hull."""
    X = placed.place(own.on).X
    if isinstance(own, MeshEntry):
        found = Hull(own.corners[0]).features(f"{own.word} '{own.name}'", own.radius)
    else:
        found = own.features(placed.bodies)
    circles = found.circles + np.concatenate([X, np.zeros(4)])
    return found._replace(points=X + found.points, circles=circles)


def profile_of(features: Features) -> Floats:
    """(c, 2) m, of a body of revolution: radius and height of its corners, as `rigid.kinematics.cores` has them."""
    rims = features.circles[:, [6, 2]]
    low, high = rims[0] * (-1.0, 1.0), rims[-1] * (-1.0, 1.0)  # flat ends
    for tip in features.points[:, 2]:
        if tip < rims[0, 1]:
            low = np.array([0.0, tip])
        else:
            high = np.array([0.0, tip])
    return np.concatenate([low[None], rims, high[None]])


def _sides(placed: Placed, at: Place, normal: Floats) -> list[list[float]]:
    """Corner, and both sides, m, frame axes: of the rectangle that files show of a plane, around the model at t = 0."""
    side = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    side /= np.linalg.norm(side)
    axes = np.stack([np.cross(side, normal), side])
    along = (placed.r[1:] - at.world) @ axes.T if len(placed.r) > 1 else np.zeros((1, 2))
    low, high = along.min(axis=0) - placed.size, along.max(axis=0) + placed.size
    corner = at.X + placed.local(at.frame, low @ axes)
    each = [placed.local(at.frame, own * axis) for own, axis in zip(high - low, axes, strict=True)]
    return [np.asarray(own, float).tolist() for own in (corner, *each)]


# --- what joints hold together


class Joined:
    """Which parts joints join, and where on rods."""

    def __init__(self, model: Contents) -> None:
        self._anchors: dict[frozenset[int], list[dict[int, Anchor | None]]] = {}
        for joint in model.joints.values():
            ends = {id(_part(own)): own if isinstance(own, Anchor) else None for own in (joint.a, joint.b)}
            self._anchors.setdefault(frozenset(ends), []).append(ends)
        self._parts = {part for both in self._anchors for part in both}

    def at(self, x: Surface, y: Surface) -> list[tuple[Anchor | None, Anchor | None]]:
        """Of each joint between the parts of two surfaces where it is on each."""
        one, other = id(_part(x)), id(_part(y))
        if one not in self._parts or other not in self._parts:
            return []
        return [(ends[one], ends[other]) for ends in self._anchors.get(frozenset((one, other)), [])]


def _part(own: object) -> object:
    if isinstance(own, SurfaceEntry):
        own = own.on
    return own.part if isinstance(own, Anchor) else own


def meeting(entry: ContactEntry, joined: Joined) -> Iterator[Pair]:
    """Its pairs without those that a joint holds together, where it is not of one pair alone; of rods some is left."""
    for pair in entry.pairs:
        of_rod = isinstance(pair.b, Rod)
        if of_rod or entry.only or not joined.at(*pair):
            yield pair


# --- numbers


def law_of(entry: ContactEntry, pair: Pair) -> Floats:
    """Law, k, n, reach; of a text its number and three coefficients."""
    if entry.coefficients:
        return np.array([POLYNOMIAL, *entry.coefficients])
    k = stiffness_of(pair) if entry.stiffness is None else entry.stiffness
    return np.array([LAWS.index(entry.law), k, entry.exponent, entry.reach or 0.0])


def loss_of(entry: ContactEntry, pair: Pair) -> Floats:
    """b, c, v_rest, both coefficients of friction, k_t (of rods per length), drill, roll, forth, back, side.

    b = (1 - e^2)/(1 + e^2): the force is 1 + b times that of the law on the way in and 1 - b times on the way out, so that the
    energy is e^2 of what it was.
    """
    e, k = entry.restitution, max(law_of(entry, pair)[1:]) if entry.coefficients else law_of(entry, pair)[1]
    tangential = k if entry.tangential_stiffness is None else entry.tangential_stiffness
    b = (1.0 - e**2) / (1.0 + e**2)
    resistance = (entry.drilling_length, entry.rolling, *entry.anisotropy)
    return np.array([b, entry.damping, entry.rest_speed, *entry.friction, tangential, *resistance])


def loses(entry: ContactEntry) -> bool:
    """Whether it takes energy."""
    return (
        entry.restitution < 1.0
        or max(entry.damping, entry.friction[0], entry.rolling, entry.drilling_length) > 0.0
    )


def slope_of(law: Floats, depth: float) -> float:
    """A stiffness at depths that occur, N/m; of rods per length."""
    return float(6.0 * law[1] if law[0] == BARRIER else slopes(law, depth))
