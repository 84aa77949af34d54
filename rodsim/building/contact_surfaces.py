"""Describe contact surfaces at t = 0: chords of rods, parts that joints join, parameters of contact laws and losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.table import BARRIER, POLYNOMIAL, slopes
from rigid.errors import ModelError, PartName
from rigid.solids import Features, Hull
from rigid.system import Floats, Ints
from rodsim.building.placement import Placed, Placement
from rodsim.components.base import perpendicular_to
from rodsim.components.contacts import (
    LAWS,
    Contact,
    Pair,
    Surface,
    stiffness_of,
)
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import SAME_NODE, Anchor, Rod, part_of, section_at
from rodsim.components.surfaces import (
    SURFACES_ON_PARTS,
    MeshSurface,
    PlaneSurface,
    SolidSurface,
    SurfaceComponent,
)


class Segments(NamedTuple):
    """Hold the chords of a rod between neighbouring nodes."""

    frames: Ints  # (e, 2) frames at both ends
    begin: Floats  # (e,) m, arclength of the first end, along the stress-free rod
    length: Floats  # (e,) m, stress-free lengths
    radius: Floats  # (e,) m, contact radii

    def near(self, rod: Rod, s: float, within: float) -> NDArray[np.bool_]:
        """Return (e,) True for chords of `rod` within the distance `within`, m, of the fraction s of its length.

        Along a closed rod distances are measured either way.
        """
        arc, around = s * rod.stress_free.length, rod.stress_free.length
        is_near, reach = np.zeros(len(self.begin), bool), within + SAME_NODE * float(self.length.sum())
        for place in (arc, arc - around, arc + around) if rod.closed else (arc,):
            is_near |= (self.begin - reach <= place) & (place <= self.begin + self.length + reach)
        return is_near


def segments_of(rod: Rod, placed: Placement, radius: float | None) -> Segments:
    """Return the chords of a rod with the given radius (m), by default with the radius of its sections.

    Raises ModelError if the centres of the sections are off the curve of the rod.
    """
    mesh, frames = placed.meshes[rod.name], placed.frames_of(rod)
    if np.any(mesh.center):
        raise ModelError(
            f"{rod}: its sections have centres off its curve, which contact does not support; remove `with_centers`",
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


def describe_surfaces(model: ModelData, placed: Placement) -> dict[str, dict[str, Any]]:
    """Describe spheres, solids, planes and meshes for the result, by their names.

    Positions and directions are in the axes of their frames. A mesh has its number among the meshes of
    `discretization.contact.table`.
    """
    descriptions: dict[str, dict[str, Any]] = {}
    for surface in surfaces_on_parts(model):
        at = placed.place(surface.on)
        description: dict[str, Any] = {
            "kind": surface.word,
            "frame": int(at.frame),
            "X": np.asarray(at.X, float).tolist(),
        }
        if isinstance(surface, PlaneSurface):
            description["normal"] = np.asarray(placed.local(at.frame, surface.normal), float).tolist()
            description["sides"] = _plane_rectangle(placed, at, surface.normal)
        elif isinstance(surface, SolidSurface):
            features = features_on(surface, placed)
            description["points"], description["circles"] = (
                features.points.tolist(),
                features.circles.tolist(),
            )
            description["radius"] = features.radius
            if surface.is_round:
                description["profile"] = profile_of(features).tolist()
        elif isinstance(surface, MeshSurface):
            description["mesh"], description["radius"] = (
                list(model.meshes).index(surface.name),
                surface.radius,
            )
        else:
            description["radius"] = surface.radius
        descriptions[surface.name] = description
    return descriptions


def surfaces_on_parts(model: ModelData) -> Iterator[Any]:
    """Yield all surfaces of the model except rods."""
    for kind in SURFACES_ON_PARTS:
        yield from getattr(model, kind.table).values()


def features_on(surface: SolidSurface | MeshSurface, placed: Placement) -> Features:
    """Return points and circles of a solid, from the origin of its frame; for a mesh those of its convex hull."""
    X = placed.place(surface.on).X
    if isinstance(surface, MeshSurface):
        features = Hull(surface.corners[0]).features(f"{surface.word} '{surface.name}'", surface.radius)
    else:
        features = surface.features(placed.bodies)
    circles = features.circles + np.concatenate([X, np.zeros(4)])
    return features._replace(points=X + features.points, circles=circles)


def profile_of(features: Features) -> Floats:
    """Return the profile of a body of revolution, (c, 2), m: radius and height of its corners.

    The format is that of `rigid.kinematics.cores`.
    """
    rims = features.circles[:, [6, 2]]
    low, high = rims[0] * (-1.0, 1.0), rims[-1] * (-1.0, 1.0)  # flat ends
    for tip in features.points[:, 2]:
        if tip < rims[0, 1]:
            low = np.array([0.0, tip])
        else:
            high = np.array([0.0, tip])
    return np.concatenate([low[None], rims, high[None]])


def _plane_rectangle(placed: Placement, at: Placed, normal: Floats) -> list[list[float]]:
    """Return the rectangle that represents a plane in files: its corner and both sides (3,), m, frame axes.

    The rectangle encloses the model at t = 0.
    """
    side = perpendicular_to(normal)
    axes = np.stack([np.cross(side, normal), side])
    along = (placed.r[1:] - at.world) @ axes.T if len(placed.r) > 1 else np.zeros((1, 2))
    low, high = along.min(axis=0) - placed.size, along.max(axis=0) + placed.size
    corner = at.X + placed.local(at.frame, low @ axes)
    sides = [placed.local(at.frame, vector * axis) for vector, axis in zip(high - low, axes, strict=True)]
    return [np.asarray(vector, float).tolist() for vector in (corner, *sides)]


# --- parts that joints join


class JoinedParts:
    """Look up which parts are joined by joints, and at which anchors."""

    def __init__(self, model: ModelData) -> None:
        self._anchors: dict[frozenset[int], list[dict[int, Anchor | None]]] = {}
        for joint in model.joints.values():
            ends = {
                id(_part(side)): side if isinstance(side, Anchor) else None for side in (joint.a, joint.b)
            }
            self._anchors.setdefault(frozenset(ends), []).append(ends)
        self._parts = {part for both in self._anchors for part in both}

    def at(self, x: Surface, y: Surface) -> list[tuple[Anchor | None, Anchor | None]]:
        """Return, for each joint between the parts of two surfaces, its anchors on both; None if that side is not an anchor."""
        one, other = id(_part(x)), id(_part(y))
        if one not in self._parts or other not in self._parts:
            return []
        return [(ends[one], ends[other]) for ends in self._anchors.get(frozenset((one, other)), [])]


def _part(surface_or_anchor: object) -> object:
    """Return the part of a surface or of an anchor."""
    return part_of(
        surface_or_anchor.on if isinstance(surface_or_anchor, SurfaceComponent) else surface_or_anchor
    )


def touching_pairs(entry: Contact, joined: JoinedParts) -> Iterator[Pair]:
    """Yield the pairs of a contact, without pairs whose parts a joint joins.

    Such a pair stays if the contact consists of it alone, or if a rod is in it, most of which is away from the joint.
    """
    for pair in entry.pairs:
        of_rod = isinstance(pair.b, Rod)
        if of_rod or entry.is_single_pair or not joined.at(*pair):
            yield pair


# --- parameters of laws and losses


def contact_law(entry: Contact, pair: Pair) -> Floats:
    """Return the parameters (4,) of the contact law: number of the law, stiffness k, exponent n, activation distance.

    For a polynomial law: its number and three coefficients.
    """
    if entry.coefficients:
        return np.array([POLYNOMIAL, *entry.coefficients])
    k = stiffness_of(pair) if entry.stiffness is None else entry.stiffness
    return np.array([LAWS.index(entry.law), k, entry.exponent, entry.reach or 0.0])


def contact_losses(entry: Contact, pair: Pair) -> Floats:
    """Return the parameters of the losses of a contact.

    They are b, c, v_rest, both coefficients of friction, k_t (for rods per length), drill, roll, forth, back, side.

    b = (1 - e^2)/(1 + e^2): the force is 1 + b times that of the law during compression and 1 - b times during separation, so
    that a fraction e^2 of the energy remains.
    """
    e, k = (
        entry.restitution,
        max(contact_law(entry, pair)[1:]) if entry.coefficients else contact_law(entry, pair)[1],
    )
    tangential = k if entry.tangential_stiffness is None else entry.tangential_stiffness
    b = (1.0 - e**2) / (1.0 + e**2)
    resistance = (entry.drilling_length, entry.rolling, *entry.anisotropy)
    return np.array([b, entry.damping, entry.rest_speed, *entry.friction, tangential, *resistance])


def has_losses(entry: Contact) -> bool:
    """Return True if the contact dissipates energy."""
    return (
        entry.restitution < 1.0
        or max(entry.damping, entry.friction[0], entry.rolling, entry.drilling_length) > 0.0
    )


def law_slope(law: Floats, depth: float) -> float:
    """Return the stiffness of a law at a depth (m), N/m; for rods per length."""
    return float(6.0 * law[1] if law[0] == BARRIER else slopes(law, depth))
