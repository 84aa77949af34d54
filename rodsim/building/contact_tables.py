"""Build the arrays of contacts.

A contact with a plane becomes interactions of two or three frames, which are always evaluated. The other contacts become a
table of surfaces and pairs (`discretization.contact.table`), whose near pairs are searched for during a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.contact import table
from discretization.contact.feature_edges import find_mesh_features
from discretization.contact.mesh_pairs import depth_of_ridges
from discretization.contact.neighbour_search import Candidates, candidates
from discretization.contact.pair_gaps import gaps
from discretization.contact.table import (
    BARRIER,
    Contacts,
    contacts_of,
    in_frame,
    points_of,
    scale_law,
    with_feature_points,
)
from discretization.interaction_table import Interaction
from discretization.space.interpolation import shares
from discretization.space.rod_elements import order_of
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.contact.circles import PLANE_CIRCLE
from rigid.interactions.contact.planes import PLANE_ROD, PLANE_SPHERE
from rigid.interactions.contact.sphere_rod_dissipation import PLANE_DISSIPATIONS
from rigid.system import Floats, Ints
from rigid.triangle_surfaces import is_inside
from rodsim.building.contact_checks import count_stations
from rodsim.building.contact_surfaces import (
    JoinedParts,
    contact_law,
    contact_losses,
    features_on,
    has_losses,
    law_slope,
    profile_of,
    segments_of,
    touching_pairs,
)
from rodsim.building.placement import Placed, Placement
from rodsim.components.base import NEGLIGIBLE
from rodsim.components.contacts import Contact, Pair, Surface, describe_surface
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Rod
from rodsim.components.part_lookup import ErrorContext
from rodsim.components.surfaces import SIDES, MeshSurface, PlaneSurface, SolidSurface, SphereSurface

MAX_PENETRATION = 0.1  # largest penetration at t = 0 as a fraction of the radius
ELEMENT_MARGIN = 1.05  # safety factor for the proposed number of elements: nodes come to lie elsewhere
MAX_POINT_PENETRATION = 1e-3  # largest penetration of points at t = 0 as a fraction of the size of the model
ON_PLANES = 8  # largest number of intervals of an element by default
MUCH_THICKER = 4.0  # ratio of radii above which one rod is a drum on which the other is wound
INITIAL_BRISTLE = np.zeros(4)  # initial values of the bristle (3) and of the sliding flag
MOST_VERTICES = 128  # largest number of vertices of a hull that meets more than planes
EDGE_STIFFNESS_FRACTION = 0.25  # share of the stiffness for two feature edges that cross
K_T, DRILL = 5, 6  # indices of the tangential stiffness and of the drilling length among the losses


# --- contacts with planes


def plane_contacts(model: ModelData, placed: Placement) -> tuple[list[Interaction], list[str], list[str]]:
    """Return the interactions of all contacts with planes, the name of the contact of each, and the names for planes of `a`.

    In each contact pairs whose plane is on its side `a` come first; the last list holds the names of these alone.
    """
    if not model.contacts:
        return [], [], []
    interactions: list[Interaction] = []
    names: list[str] = []
    of_a: list[str] = []
    joined = JoinedParts(model)
    for entry in model.contacts.values():
        with ErrorContext(entry.word, entry.name):
            pairs = [touching for touching in touching_pairs(entry, joined) if touching.has_plane]
            for which in (True, False):
                pairs_of_side = [touching for touching in pairs if (touching.a in entry.a) == which]
                made = [
                    other
                    for pair in pairs_of_side
                    for other in _interactions_with_plane(entry, pair, placed, joined)
                ]
                interactions += made
                names += [f"contact '{entry.name}'"] * len(made)
                of_a += [f"contact '{entry.name}'"] * len(made) * which
    return interactions, names, of_a


def _interactions_with_plane(
    entry: Contact, pair: Pair, placed: Placement, joined: JoinedParts
) -> Iterator[Interaction]:
    """Yield the interactions of a plane with a sphere, a solid, a mesh or the elements of a rod.

    Elements next to a joint of the rod at the plane are left out if the joint is behind the plane or at it.
    """
    plane, law, loss = pair.a, contact_law(entry, pair), contact_losses(entry, pair)
    assert isinstance(plane, PlaneSurface)
    foot = placed.place(plane.on)
    half_space = np.concatenate([placed.local(foot.frame, plane.normal), foot.X])
    if isinstance(pair.b, SphereSurface):
        centre, radius = placed.place(pair.b.on), pair.b.radius
        _check_apart(entry, pair, radius, float((centre.world - foot.world) @ plane.normal), placed.size)
        slope = law_slope(law, radius or placed.size)
        arm = float(np.linalg.norm(centre.X) + np.linalg.norm(foot.X))
        numbers = np.concatenate([law, [radius], half_space, centre.X])
        frames = [foot.frame, centre.frame]
        yield from _interactions(entry, PLANE_SPHERE, frames, numbers, _force_scale(slope, arm), loss)
        return
    if isinstance(pair.b, SolidSurface | MeshSurface):
        yield from _interactions_of_solid(entry, pair, placed, foot, half_space)
        return
    assert isinstance(pair.b, Rod)
    rod = pair.b
    segments = segments_of(rod, placed, entry.radius)
    gaps = (placed.r[segments.frames] - foot.world) @ plane.normal  # (e, 2)
    use = np.ones(len(gaps), bool)
    for _, anchor in joined.at(plane, rod):
        if anchor is not None:
            at_joint = segments.near(rod, anchor.s, 0.0)
            if np.any(
                at_joint & (gaps.min(axis=1) < segments.radius)
            ):  # the joint is behind the plane or at it
                use &= ~segments.near(rod, anchor.s, np.pi * float(segments.radius[at_joint].max()))
    if not use.any():
        raise ModelError(
            f"contact '{entry.name}': no element of {rod} is further from its joint at {describe_surface(plane)} than "
            f"pi times its radius; "
            "give the rod more elements, or exclude the pair with ignore="
        )
    worst = int(np.argmax(np.where(use, segments.radius - gaps.min(axis=1), -np.inf)))
    _check_apart(entry, pair, segments.radius[worst], float(gaps[worst].min()), placed.size)
    foot_arm, order = float(np.linalg.norm(foot.X)), order_of(rod.element)
    of_nodes = lengths_of_nodes(segments.length, order) if order > 1 else np.zeros((0, 2))
    for k in np.flatnonzero(use):
        length, radius = float(segments.length[k]), float(segments.radius[k])
        m, of_element = 1 if order > 1 else stations_on_plane(entry, length, radius), loss.copy()
        of_element[K_T] *= length
        slope = law_slope(law, radius or placed.size) * length
        numbers = np.concatenate([law, [radius], half_space, [m, length], *of_nodes[k : k + 1]])
        frames = [foot.frame, *segments.frames[k].tolist()]
        yield from _interactions(entry, PLANE_ROD, frames, numbers, _force_scale(slope, foot_arm), of_element)


def _interactions(
    entry: Contact,
    kind: Any,
    frames: Sequence[int],
    numbers: Floats,
    size: tuple[float, float],
    loss: Floats,
) -> Iterator[Interaction]:
    """Yield the interaction of a kind, and one of its losses if the contact dissipates energy."""
    yield Interaction(kind, frames, numbers, size)
    if has_losses(entry):
        yield Interaction(
            PLANE_DISSIPATIONS[kind], frames, np.concatenate([numbers, loss, INITIAL_BRISTLE]), NEGLIGIBLE
        )


def _interactions_of_solid(
    entry: Contact, pair: Pair, placed: Placement, foot: Placed, half_space: Floats
) -> Iterator[Interaction]:
    """Yield the interactions of a plane with each point and each circle of a solid, each with its share of the stiffness.

    A half-space touches a mesh as it touches the convex hull of the mesh.
    """
    plane, solid = pair.a, pair.b
    assert isinstance(plane, PlaneSurface)
    assert isinstance(solid, SolidSurface | MeshSurface)
    frame, features_of_solid = placed.frame_of(solid.on), features_on(solid, placed)
    law, loss = contact_law(entry, pair), contact_losses(entry, pair)
    normal, quat = placed.local(frame, plane.normal), placed.quat[frame]
    features = [(PLANE_SPHERE, x, 0.0) for x in features_of_solid.points]
    features += [(PLANE_CIRCLE, x, x[6] * _sine_between(x[3:6], normal)) for x in features_of_solid.circles]
    lowest = [
        float((placed.r[frame] + quaternions.rotate(quat, x[:3]) - foot.world) @ plane.normal) - low
        for _, x, low in features
    ]
    depth, barrier = features_of_solid.radius - min(lowest), entry.law == "barrier"
    _check_depth(
        entry, pair, depth, 0.0 if barrier else MAX_PENETRATION * (features_of_solid.half or placed.size)
    )
    for (kind, x, _), fraction in zip(features, features_of_solid.shares.tolist(), strict=True):
        of_feature, of_loss = scale_law(law, fraction), loss.copy()
        of_loss[K_T] *= fraction
        if kind is PLANE_CIRCLE:
            of_loss[DRILL] = entry.drilling_of_rim(x[6])
        numbers = np.concatenate([of_feature, [features_of_solid.radius], half_space, x])
        arm = float(np.linalg.norm(x[:3]) + x[6:].sum() + np.linalg.norm(foot.X))
        size = _force_scale(law_slope(of_feature, features_of_solid.half or placed.size), arm)
        yield from _interactions(entry, kind, [foot.frame, frame], numbers, size, of_loss)


def _sine_between(axis: Floats, normal: Floats) -> float:
    """Return the sine of the angle between two unit directions (3,)."""
    return float(np.linalg.norm(np.cross(axis, normal)))


def stations_on_plane(entry: Contact, length: float, radius: float) -> int:
    """Return the number of intervals of an element on a plane: as given, by default as long as the diameter."""
    if entry.stations is not None:
        return entry.stations
    if radius == 0.0:
        return ON_PLANES
    return int(np.clip(np.ceil(length / (2.0 * radius) - 1e-9), 1, ON_PLANES))


def lengths_of_nodes(length: Floats, order: int) -> Floats:
    """Return the lengths (e, 2), m, that the nodes of each chord represent.

    A node has the same share of its element's length as of its mass. The two chords at a node inside an element have half of
    that share each. `length`: (e,) lengths of the chords of elements of this order, m.
    """
    halves = shares(order).copy()
    halves[1:-1] *= 0.5
    of_element = np.stack([halves[:-1], halves[1:]], axis=1)  # (order, 2)
    totals = length.reshape(-1, order).sum(axis=1)
    return (totals[:, None, None] * of_element).reshape(-1, 2)


def _force_scale(slope: float, arm: float) -> tuple[float, float]:
    """Return the force and the moment that set the round-off scale of a contact."""
    return slope * (1.0 + arm), slope * (1.0 + arm) * arm


def _check_apart(entry: Contact, pair: Pair, radius: float, gap: float, size: float) -> None:
    """Raise ModelError if surfaces interpenetrate at t = 0; `gap`: distance (m) of the centre of a ball of this radius."""
    barrier = entry.law == "barrier"
    _check_depth(
        entry,
        pair,
        radius - gap,
        0.0 if barrier else (MAX_PENETRATION * radius if radius > 0.0 else MAX_POINT_PENETRATION * size),
    )


def _check_depth(entry: Contact, pair: Pair, depth: float, allowed: float) -> None:
    """Raise ModelError if a depth is greater than allowed; if no depth is allowed, touching is an error too."""
    if depth > allowed or depth == allowed == 0.0:
        _raise_interpenetration(entry, pair, depth, allowed)


def _raise_interpenetration(entry: Contact, pair: Pair, depth: float, allowed: float, cure: str = "") -> None:
    """Raise the ModelError about a pair that interpenetrates at t = 0."""
    reason = (
        f"more than {allowed:.3g} m, which would spring back" if allowed else "which a barrier does not allow"
    )
    one, other = pair if isinstance(pair.b, MeshSurface) else (pair.b, pair.a)
    inside = "itself" if one is other else describe_surface(other)
    cure = cure or "move one of them by that, give a smaller radius, or ignore the pair"
    raise ModelError(
        f"contact '{entry.name}': {describe_surface(one)} is {depth:.3g} m inside of {inside} at t = 0, {reason}; {cure}"
    )


# --- contacts without planes

_NO_CONTACTS = contacts_of()


class _Listing(NamedTuple):
    """Collect the surfaces and pairs of a `Contacts` table, and the contact of each pair."""

    surfaces: list[table.Surface]
    numbers: dict[tuple[int, float | None], int]  # index of each surface, by its id and the given radius
    pairs: list[table.Pair]
    apart: list[tuple[int, int]]  # pairs of points of chords and spheres that joints hold together
    of: list[tuple[Contact, Pair]]  # contact and surfaces of each pair of the table
    of_meshes: dict[int, tuple[int, int, float]]  # vertices and feature edges of meshes, see `_mesh_features`
    laws: dict[str, tuple[Floats, Floats]]  # law and losses of each contact, by name


def contact_table(model: ModelData, placed: Placement) -> tuple[Contacts, list[str]]:
    """Return the contact table and the name of the contact of each of its pairs.

    The first surface of a pair is on the side `a` of its contact.
    """
    if not model.contacts:
        return _NO_CONTACTS, []
    listing, joined = _Listing([], {}, [], [], [], {}, {}), JoinedParts(model)
    for mesh in model.meshes.values():  # the k-th mesh is the k-th surface of the table, in a contact or not
        _surface_index(listing, mesh, None, placed)
    entries_and_pairs = [(entry, list(touching_pairs(entry, joined))) for entry in model.contacts.values()]
    entries = [(entry, list(_ordered_surfaces(entry, pairs))) for entry, pairs in entries_and_pairs]
    for entry, pairs in entries:
        with ErrorContext(entry.word, entry.name):
            for ordered, _ in pairs:
                for surface in ordered:
                    _surface_index(listing, surface, entry.radius, placed)
    for entry, pairs in entries:
        with ErrorContext(entry.word, entry.name):
            for ordered, pair in pairs:
                _add_pair(listing, entry, ordered, pair, placed, model)
    if not listing.pairs and not any(
        isinstance(pair.b, MeshSurface) for _, pairs in entries_and_pairs for pair in pairs
    ):
        return _NO_CONTACTS, []
    first = np.cumsum([0, *(len(surface.points) for surface in listing.surfaces)])
    for entry, pair in listing.of:
        if isinstance(pair.b, Rod):
            with ErrorContext(entry.word, entry.name):
                listing.apart.extend(_joined_points(listing, first, entry, pair, placed, joined))
    made = contacts_of(listing.surfaces, listing.pairs, listing.apart)
    _check_start(made, listing, list(model.meshes.values()), placed)
    return made, [f"contact '{entry.name}'" for entry, _ in listing.of]


def _add_pair(
    listing: _Listing,
    entry: Contact,
    ordered: tuple[Surface, Surface],
    pair: Pair,
    placed: Placement,
    model: ModelData,
) -> None:
    """Add a pair to the table; two meshes add several pairs (`_add_meshes`)."""
    numbers = [_surface_index(listing, surface, entry.radius, placed) for surface in ordered]
    if not any(listing.surfaces[k].radius for k in numbers):
        raise ModelError(f"contact '{entry.name}': {pair} have no radius. Set the radius of one of them.")
    m = 1
    if pair.is_per_length:
        rods = [
            surface for surface in (listing.surfaces[k] for k in numbers) if isinstance(surface, table.Rod)
        ]
        longest = max(float(np.max(surface.lengths)) for surface in rods)
        m = count_stations(entry, pair, longest, placed, model)
    law, loss = _law_and_loss(listing, entry, pair)
    if isinstance(pair.a, MeshSurface) and isinstance(pair.b, MeshSurface):
        _add_meshes(listing, entry, pair, numbers, loss)
        return
    side = (
        _evaluated_side(*(listing.surfaces[k].radius for k in numbers)) if pair.is_per_length else table.BOTH
    )
    listing.pairs.append(table.Pair(numbers[0], numbers[1], law, loss, m, side))
    listing.of.append((entry, pair))


def _law_and_loss(listing: _Listing, entry: Contact, pair: Pair) -> tuple[Floats, Floats]:
    """Return law and losses of a pair: the same for all pairs of a contact, unless stiffnesses follow from materials."""
    of_all = entry.stiffness is not None or bool(entry.coefficients)
    if not of_all or entry.name not in listing.laws:
        loss = contact_losses(entry, pair) if has_losses(entry) else np.zeros(table.LOSS)
        listing.laws[entry.name] = contact_law(entry, pair), loss
    return listing.laws[entry.name]


def _ordered_surfaces(entry: Contact, pairs: list[Pair]) -> Iterator[tuple[tuple[Surface, Surface], Pair]]:
    """Yield both surfaces of each pair without a plane, the one of side `a` first, and the pair."""
    first = {id(surface) for surface in entry.a}
    for pair in pairs:
        if not pair.has_plane:
            yield (pair.a, pair.b) if id(pair.a) in first else (pair.b, pair.a), pair


def _add_meshes(listing: _Listing, entry: Contact, pair: Pair, numbers: list[int], loss: Floats) -> None:
    """Add the pairs of two meshes: vertices of each on the other, and feature edges across feature edges.

    Vertices near vertices would count twice; a pair of both sets of vertices with a negative share removes that.
    """
    corners, ridges, shares = zip(*(_mesh_features(listing, k) for k in numbers), strict=True)
    law, (one, other) = contact_law(entry, pair), numbers
    for a, b, fraction, losing in (
        (corners[0], other, shares[0], True),
        (one, corners[1], shares[1], True),
        (corners[0], corners[1], -min(shares), False),
        (ridges[0], ridges[1], EDGE_STIFFNESS_FRACTION, True),
    ):
        of_loss = loss * losing
        of_loss[K_T] *= abs(fraction)
        listing.pairs.append(table.Pair(a, b, scale_law(law, fraction), of_loss, 1, table.FIRST))
        listing.of.append((entry, pair))


def _mesh_features(listing: _Listing, mesh: int) -> tuple[int, int, float]:
    """Return the indices of the surfaces of a mesh's vertices and feature edges, and the share of the stiffness of a vertex.

    Both surfaces are appended after all others when they are first needed.
    """
    surface = listing.surfaces[mesh]
    assert isinstance(surface, table.Mesh)
    if mesh not in listing.of_meshes:
        features, first = find_mesh_features(surface.vertices, surface.triangles), len(listing.surfaces)
        listing.of_meshes[mesh] = first, first + 1, features.share
        listing.surfaces.append(
            table.Corners(surface.frame, surface.vertices[features.corners], surface.radius)
        )
        listing.surfaces.append(
            table.Ridges(surface.frame, surface.vertices[features.ridges], surface.radius)
        )
    return listing.of_meshes[mesh]


def _evaluated_side(one: float, other: float) -> int:
    """Return whose contact points are evaluated, from the two radii.

    For a rope on a drum only those of the rope count, since all of the wound rope is equally far from the axis of the drum.
    """
    if max(one, other) < MUCH_THICKER * min(one, other):
        return table.BOTH
    return table.FIRST if one < other else table.SECOND


def _surface_index(listing: _Listing, surface: Surface, radius: float | None, placed: Placement) -> int:
    """Return the index of a surface in the table; add it if it is not there yet."""
    key = (id(surface), radius if isinstance(surface, Rod) else None)
    if key in listing.numbers:
        return listing.numbers[key]
    if isinstance(surface, SphereSurface):
        at = placed.place(surface.on)
        made: table.Surface = table.Sphere(at.frame, at.X, surface.radius)
    elif isinstance(surface, SolidSurface):
        made = _solid_surface(surface, placed)
    elif isinstance(surface, MeshSurface):
        at = placed.place(surface.on)
        vertices, triangles = surface.corners
        made = table.Mesh(at.frame, at.X + vertices, triangles, surface.radius)
    else:
        assert isinstance(surface, Rod)
        segments = segments_of(surface, placed, radius)
        thin, thick = float(segments.radius.min()), float(segments.radius.max())
        if thick - thin > 1e-9 * thick:
            raise ModelError(
                f"{surface}: its radius varies from {thin:.3g} to {thick:.3g} m along it, but contact of rods needs a "
                "constant one; give radius="
            )
        made = table.Rod(placed.frames_of(surface), segments.length, thick)
    listing.surfaces.append(made)
    listing.numbers[key] = len(listing.surfaces) - 1
    return listing.numbers[key]


def _solid_surface(solid: SolidSurface, placed: Placement) -> table.Surface:
    """Return the surface of a solid: a box, a hull, a body of revolution or a capsule."""
    features, frame = features_on(solid, placed), placed.frame_of(solid.on)
    if solid.is_box:
        low, high = features.points.min(axis=0), features.points.max(axis=0)
        return table.Box(frame, 0.5 * (low + high), 0.5 * (high - low), features.radius)
    if solid.is_hull:
        if len(features.points) > MOST_VERTICES:
            raise ModelError(
                f"{describe_surface(solid)}: its hull has {len(features.points)} vertices, and may have {MOST_VERTICES} "
                f"where it touches "
                "more than planes; give fewer points as vertices="
            )
        return table.Hull(frame, features.points, features.radius)
    if solid.is_round:
        axis = features.circles[0, :3] * (1.0, 1.0, 0.0)
        return table.Round(frame, axis, profile_of(features), features.radius)
    if len(features.circles) or len(features.points) != 2:  # the shape of its body was changed afterwards
        raise ModelError(
            f"{describe_surface(solid)}: its body was given another shape, which can touch only planes; "
            "keep the shape of the body"
        )
    return table.Capsule(frame, features.points, features.radius)


def _check_sides(
    contacts: Contacts, of: list[tuple[Contact, Pair]], meshes: list[MeshSurface], points: Floats
) -> None:
    """Raise ModelError if a surface begins on the wrong side of a mesh whose `side` was given."""
    if all(mesh.side == SIDES[0] for mesh in meshes):
        return
    for (entry, pair), surfaces in zip(of, contacts.pairs.tolist(), strict=True):
        surface, other = surfaces if contacts.kind[surfaces[1]] == table.MESH else surfaces[::-1]
        if contacts.kind[other] != table.MESH:
            continue
        mesh = meshes[other]  # meshes are the first surfaces of the table
        if mesh.side == SIDES[0]:
            continue
        first = contacts.first[surface]
        # the centre of the core
        last = first + 1 if contacts.kind[surface] in table.WITH_CORES else contacts.first[surface + 1]
        surface_points = points[first:last]
        positions = in_frame(contacts, other, points, surface_points)
        triangles = contacts.triangles[contacts.meshed == other]
        wrong = is_inside(contacts.vertices, triangles, positions) != (mesh.side == SIDES[1])
        if wrong.any():
            which = pair.a if pair.b is mesh else pair.b
            with ErrorContext(entry.word, entry.name):
                raise ModelError(
                    f"contact '{entry.name}': {describe_surface(which)} is not {mesh.side} of "
                    f"{describe_surface(mesh)} at t = 0, at "
                    f"{surface_points[int(np.argmax(wrong))]}; move it, or give another side"
                )


def _joined_points(
    listing: _Listing, first: Ints, entry: Contact, pair: Pair, placed: Placement, joined: JoinedParts
) -> Iterator[tuple[int, int]]:
    """Yield pairs of points of both surfaces next to a joint between them, which do not collide.

    On a rod these are the chords within pi times its radius of the joint. `first`: index of the first point of each surface.
    """
    for anchors in joined.at(*pair):
        near = []
        for surface, anchor in zip(pair, anchors, strict=True):
            at = first[listing.numbers[id(surface), entry.radius if isinstance(surface, Rod) else None]]
            if not isinstance(surface, Rod):
                near.append(np.array([at]))
            elif anchor is None:
                near.append(np.zeros(0, np.int64))
            else:
                segments = segments_of(surface, placed, entry.radius)
                within = np.pi * float(segments.radius.max())
                near.append(at + np.flatnonzero(segments.near(surface, anchor.s, within)))
        yield from ((int(x), int(y)) for x in near[0] for y in near[1])


def _check_start(contacts: Contacts, listing: _Listing, meshes: list[MeshSurface], placed: Placement) -> None:
    """Raise ModelError if surfaces interpenetrate at t = 0."""
    if not listing.pairs:
        return
    points = np.ascontiguousarray(points_of(contacts, placed.r, placed.quat))
    _check_sides(contacts, listing.of, meshes, with_feature_points(contacts, points))
    candidate_pairs = candidates(contacts, points, 0.0)
    pair, depth = candidate_pairs.pair, -gaps(contacts, candidate_pairs, points)
    of_ridges = _feature_edge_depths(contacts, listing, points)
    pair = np.concatenate([pair, np.array([k for k, _ in of_ridges], np.int64)])
    depth = np.concatenate([depth, [edge_depth for _, edge_depth in of_ridges]])
    radii = contacts.radius[contacts.pairs[pair]]
    thin = np.where(radii.min(axis=1) > 0.0, radii.min(axis=1), radii.max(axis=1))
    allowed = np.where(contacts.law[pair, 0] == BARRIER, 0.0, MAX_PENETRATION * thin)
    inside = np.flatnonzero((depth > allowed) | ((allowed == 0.0) & (depth >= 0.0)))
    if not len(inside):
        return
    worst = int(inside[np.argmax((depth - allowed)[inside])])
    entry, meet = listing.of[pair[worst]]
    cure = ""
    if worst < len(candidate_pairs.pair):
        cure = _finer_mesh_advice(contacts, listing, candidate_pairs, points, worst, float(allowed[worst]))
    with ErrorContext(entry.word, entry.name):
        _raise_interpenetration(entry, meet, float(depth[worst]), float(allowed[worst]), cure)


def _finer_mesh_advice(
    contacts: Contacts,
    listing: _Listing,
    candidate_pairs: Candidates,
    points: Floats,
    worst: int,
    allowed: float,
) -> str:
    """Return a message on how many elements a rod needs if only its chord is too deep and both of its nodes are not; else "".

    The depth of a chord below the nodes of a curve is proportional to the square of its length.
    """
    chord_ends = candidate_pairs.ends[worst]
    entry, meet = listing.of[candidate_pairs.pair[worst]]
    surfaces = contacts.pairs[
        candidate_pairs.pair[worst], [candidate_pairs.side[worst], 1 - candidate_pairs.side[worst]]
    ].tolist()
    depth = -gaps(contacts, candidate_pairs, points)[worst]
    for rod in (x for x in meet if isinstance(x, Rod)):
        number = listing.numbers[id(rod), entry.radius]
        for k in (0, 2):
            if surfaces[k // 2] != number or chord_ends[k] == chord_ends[k + 1]:
                continue
            of_nodes = []
            for node in chord_ends[[k, k + 1]]:
                ends = candidate_pairs.ends.copy()
                ends[worst, [k, k + 1]] = node
                of_nodes.append(-gaps(contacts, candidate_pairs._replace(ends=ends), points)[worst])
            if max(of_nodes) < allowed:
                factor = np.sqrt((depth - max(of_nodes)) / (allowed - max(of_nodes)))
                n = int(np.ceil(ELEMENT_MARGIN * factor * rod.n_elements))
                return (
                    f"only chords between nodes of {rod} come so deep: give it n_elements = {n} instead of "
                    f"{rod.n_elements}"
                )
    return ""


def _feature_edge_depths(contacts: Contacts, listing: _Listing, points: Floats) -> list[tuple[int, float]]:
    """Return pairs of feature edges of two meshes, and how deep the edges are in triangles of the other mesh, m.

    An edge may go through a face far from all vertices.
    """
    below = {ridges: mesh for mesh, (_, ridges, _) in listing.of_meshes.items()}
    depths = []
    for k in np.flatnonzero(np.isin(contacts.pairs, list(below)).all(axis=1)).tolist():
        one, other = contacts.pairs[k].tolist()
        rho = float(contacts.radius[[one, other]].sum())
        for ridges, mesh in ((one, below[other]), (other, below[one])):
            depth = depth_of_ridges(contacts, ridges, mesh, points, rho)
            depths += [(k, depth)] * (depth > 0.0)
    return depths
