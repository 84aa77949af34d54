"""Draw contact surfaces in pictures: planes as grids of bars, and spheres and meshes that no drawn shape encloses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discretization.contact.table import CAPSULE, SPHERE
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import groups_of
from discretization.system import System
from rigid.interactions.contact.circles import PLANE_CIRCLE, RADIUS
from rigid.interactions.contact.losses import WITH_PLANES
from rigid.interactions.contact.planes import CENTRE, PLANE_ROD, PLANE_SPHERE
from rigid.interactions.contact.touching import N
from rigid.quaternions import to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.distances import SURFACES, mesh_of
from rodsim.results.layout import Layout
from rodsim.results.shapes import Shape, box, fixed_shape

PLANE, BALL = np.array([172, 178, 187]) / 255, np.array([120, 140, 150]) / 255
COLORS = np.stack([PLANE, BALL])  # by owner, after the colours of the support symbols
MESHES = 8  # number of cells of a grid along its longer side
BAR = 0.004  # width of the bars of a grid, as part of the size of the scene
MARGIN = 0.06  # margin of a grid around the surfaces that may touch it, as part of the size of the scene
TURNS, RISES = 24, 12  # numbers of triangulation steps of a sphere: around the axis, from pole to pole
_RHO = 4  # offset of the radius in the numbers of an interaction


def shapes(layout: Layout, size: float, states: Sequence[State], first_owner: int) -> Iterator[Shape]:
    """Yield the drawn surfaces of contacts.

    `size`: size of the scene, m. `states`: states in which a grid covers all that may touch its plane. `first_owner`: owner
    number of the first colour of `COLORS`.
    """
    if layout.system is None:
        return
    for frame, corner, sides in _planes(layout.system, states):
        for bar in _net(corner, sides, size):
            yield fixed_shape(frame, first_owner, *bar)
    for _, frame, vertices, faces in _triangles(layout):
        yield fixed_shape(frame, first_owner, vertices, faces)
    for frame, centre, radius in _spheres(layout):
        yield fixed_shape(frame, first_owner + 1, *_ball(centre, radius))


def _planes(system: System, states: Sequence[State]) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield for each plane its frame, and a rectangle that covers the surfaces that may touch it in the states.

    The rectangle is given by a corner (3,) and its sides (2, 3), m, frame axes.
    """
    met: dict[tuple[int, bytes], list[tuple[int, Floats]]] = {}
    kinds = [INTERACTIONS.index(kind) for kind in WITH_PLANES]
    for own in groups_of(system.others, np.flatnonzero(np.isin(system.others.kind, kinds))):
        for frames, numbers in zip(own.frames, own.numbers, strict=True):
            X = np.zeros(3) if own.kind is PLANE_ROD else numbers[CENTRE : CENTRE + 3]
            reach = numbers[_RHO] + (numbers[RADIUS] if own.kind is PLANE_CIRCLE else 0.0)
            of_plane = met.setdefault((int(frames[0]), numbers[N : N + 6].tobytes()), [])
            of_plane += [(int(frame), np.append(X, reach)) for frame in frames[1:]]
    for (frame, plane), each in met.items():
        normal, point = np.frombuffer(plane).reshape(2, 3)
        side = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
        side /= np.linalg.norm(side)
        axes = np.stack([np.cross(side, normal), side])
        partners, X = np.array([own for own, _ in each]), np.array([own for _, own in each])
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        for state in states:
            R = to_matrix(state.quat)
            places = state.r[partners] + np.einsum("nij,nj->ni", R[partners], X[:, :3])
            local = ((places - state.r[frame]) @ R[frame] - point) @ axes.T
            low = np.fmin(low, (local - X[:, 3:]).min(axis=0))
            high = np.fmax(high, (local + X[:, 3:]).max(axis=0))
        if np.all(np.isfinite(low)):
            yield frame, point + low @ axes, (high - low)[:, None] * axes


def _net(corner: Floats, sides: Floats, size: float) -> Iterator[tuple[Floats, Ints]]:
    """Yield the bars of a grid along both sides of a rectangle: vertices (8, 3) and faces (12, 3)."""
    lengths = np.linalg.norm(sides, axis=1)
    axes, lengths = sides / lengths[:, None], lengths + 2.0 * MARGIN * size
    corner = corner - MARGIN * size * axes.sum(axis=0)
    pitch, width = lengths.max() / MESHES, BAR * size
    thick = width * np.cross(*axes)
    for k, hand in ((0, 1.0), (1, -1.0)):
        along, across = lengths[k] * axes[k], axes[1 - k]
        count = max(1, round(lengths[1 - k] / pitch))
        for at in np.linspace(0.0, lengths[1 - k], count + 1):
            origin = corner + (at - 0.5 * width) * across - 0.5 * hand * thick
            yield box(origin, np.array([along, width * across, hand * thick]))


def meshes(layout: Layout) -> Iterator[tuple[str, int, Floats, Ints]]:
    """Yield name, frame, vertices (n, 3) in its axes and triangles (f, 3) of the contact surfaces that files contain.

    These are planes, and those meshes, spheres and balls of solids that are not part of a drawn shape.
    """
    shown = _bounds(layout)
    for name, told in layout.description.get(SURFACES, {}).items():
        X = np.array(told["X"])
        if "mesh" in told:
            yield from (own for own in _triangles(layout) if own[0] == name)
            continue
        if "sides" in told:
            corner, a, b = np.array(told["sides"])
            yield (
                name,
                told["frame"],
                corner + np.array([0.0 * a, a, a + b, b]),
                np.array([[0, 1, 2], [0, 2, 3]]),
            )
            continue
        radius, centres = told.get("radius", 0.0), told.get("points", [X])
        seen = [x for x in np.array(centres) if radius > 0.0 and not _hidden(shown, told["frame"], x, radius)]
        if seen:
            balls = [_ball(x, radius) for x in seen]
            n = len(balls[0][0])
            faces = [own[1] + k * n for k, own in enumerate(balls)]
            yield name, told["frame"], np.concatenate([own[0] for own in balls]), np.concatenate(faces)


def _triangles(layout: Layout) -> Iterator[tuple[str, int, Floats, Ints]]:
    """Yield name, frame, vertices and triangles of the meshes that the drawn shape of their body does not enclose."""
    shown = _bounds(layout)
    for name, told in layout.description.get(SURFACES, {}).items():
        found = mesh_of(layout, told)
        if found is None:
            continue
        vertices, faces = found
        low, high = shown.get(told["frame"], (np.full(3, np.inf), np.full(3, -np.inf)))
        slack = 0.02 * float(np.ptp(vertices, axis=0).max())
        if not (np.all(low - slack <= vertices.min(axis=0)) and np.all(vertices.max(axis=0) <= high + slack)):
            yield name, told["frame"], vertices, faces


def _hidden(shown: dict[int, tuple[Floats, Floats]], frame: int, X: Floats, radius: float) -> bool:
    """Return whether the bounds of what is drawn on a frame enclose a sphere that is fixed to it."""
    low, high = shown.get(frame, (np.full(3, np.inf), np.full(3, -np.inf)))
    slack = 0.02 * radius
    return bool(np.all(low - slack <= X - radius) and np.all(X + radius <= high + slack))


def _spheres(layout: Layout) -> Iterator[tuple[int, Floats, float]]:
    """Yield frame, centre in its axes and radius of spheres, and of both ends of capsules, that no drawn shape encloses."""
    assert layout.system is not None
    found = [*_on_planes(layout.system), *_on_surfaces(layout.system)]
    shown = _bounds(layout)
    for frame, numbers in dict.fromkeys(found):
        *X, radius = np.frombuffer(numbers).tolist()
        if radius > 0.0 and not _hidden(shown, frame, np.array(X), radius):
            yield frame, np.array(X), radius


def _on_planes(system: System) -> Iterator[tuple[int, bytes]]:
    """Yield frame, and centre with radius as bytes, of the spheres that may touch planes."""
    others = system.others
    for own in groups_of(others, np.flatnonzero(others.kind == INTERACTIONS.index(PLANE_SPHERE))):
        for frames, numbers in zip(own.frames, own.numbers, strict=True):
            yield int(frames[1]), np.append(numbers[CENTRE : CENTRE + 3], numbers[_RHO]).tobytes()


def _on_surfaces(system: System) -> Iterator[tuple[int, bytes]]:
    """Yield frame, and centre with radius as bytes, of spheres and ends of capsules that may touch other surfaces than planes.

    Other kinds of surfaces are omitted because some of their points do not lie on them.
    """
    contacts = system.contacts
    for k in np.flatnonzero(np.isin(contacts.kind, (SPHERE, CAPSULE))):
        for at in range(contacts.first[k], contacts.first[k + 1]):
            yield int(contacts.frames[at]), np.append(contacts.X[at], contacts.radius[k]).tobytes()


def _bounds(layout: Layout) -> dict[int, tuple[Floats, Floats]]:
    """Return by frame the bounds (lowest and highest coordinates) of what is drawn on it, m, frame axes."""
    found = {}
    for rod in layout.rods:
        for frame, radius in zip(rod.frames.tolist(), rod.radius.tolist(), strict=True):
            found[frame] = np.full(3, -radius), np.full(3, radius)
    for body in layout.bodies:
        if len(body.vertices):
            found[body.frame] = body.vertices.min(axis=0), body.vertices.max(axis=0)
    return found


def _ball(centre: Floats, radius: float) -> tuple[Floats, Ints]:
    """Return vertices and faces of a triangulated sphere."""
    rise, turn = np.meshgrid(
        np.linspace(0, np.pi, RISES + 1), 2 * np.pi * np.arange(TURNS) / TURNS, indexing="ij"
    )
    normals = np.stack([np.sin(rise) * np.cos(turn), np.sin(rise) * np.sin(turn), np.cos(rise)], axis=-1)
    i, j = np.meshgrid(np.arange(RISES), np.arange(TURNS), indexing="ij")
    a, b = TURNS * i + j, TURNS * i + (j + 1) % TURNS
    faces = np.stack([a, a + TURNS, b + TURNS, a, b + TURNS, b], axis=-1).reshape(-1, 3)
    return centre + radius * normals.reshape(-1, 3), faces
