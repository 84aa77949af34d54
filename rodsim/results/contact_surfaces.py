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
from rodsim.results.scene import Surface

PLANE, BALL = np.array([172, 178, 187]) / 255, np.array([120, 140, 150]) / 255
COLORS = np.stack([PLANE, BALL])  # by owner, after the colours of the support symbols
MESHES = 8  # number of cells of a grid along its longer side
BAR = 0.004  # width of the bars of a grid, as part of the size of the scene
MARGIN = 0.06  # margin of a grid around the surfaces that may touch it, as part of the size of the scene
TURNS, RISES = 24, 12  # numbers of triangulation steps of a sphere: around the axis, from pole to pole
_RHO = 4  # offset of the radius in the numbers of an interaction


class ContactSurfaces:
    """Drawn surfaces of contacts at any state; each is fixed to one frame."""

    def __init__(self, layout: Layout, size: float, states: Sequence[State], first_owner: int) -> None:
        """Prepare the surfaces.

        `size`: size of the scene, m. `states`: states in which a grid covers all that may touch its plane. `first_owner`:
        colour index of the first of `COLORS`.
        """
        parts: list[tuple[int, int, Floats, Floats, Ints]] = []  # owner, frame, vertices, normals, faces
        if layout.system is not None:
            parts += [
                (0, frame, *_net(corner, sides, size))
                for frame, corner, sides in _planes(layout.system, states)
            ]
            parts += [
                (0, frame, *_shaded(vertices, faces)) for _, frame, vertices, faces in _triangles(layout)
            ]
            parts += [(1, frame, *_ball(centre, radius)) for frame, centre, radius in _spheres(layout)]
        counts = [len(vertices) for _, _, vertices, _, _ in parts]
        starts = np.cumsum([0, *counts])
        self._frame = np.repeat(np.array([frame for _, frame, *_ in parts], np.int64), counts)
        self._X = np.concatenate([np.zeros((0, 3)), *(own[2] for own in parts)])
        self._normals = np.concatenate([np.zeros((0, 3)), *(own[3] for own in parts)])
        faces = [own[4] + start for own, start in zip(parts, starts, strict=False)]
        self._faces = np.concatenate([np.zeros((0, 3), np.int64), *faces])
        self._owner = first_owner + np.repeat(np.array([own[0] for own in parts], np.int64), counts)

    def surface(self, state: State) -> Surface:
        """Return all surfaces at `state` as one."""
        R = to_matrix(state.quat)[self._frame]
        vertices = state.r[self._frame] + np.einsum("nij,nj->ni", R, self._X)
        return Surface(vertices, np.einsum("nij,nj->ni", R, self._normals), self._faces, self._owner)


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


def _net(corner: Floats, sides: Floats, size: float) -> tuple[Floats, Floats, Ints]:
    """Return the grid of bars along both sides of a rectangle: vertices (n, 3), normals (n, 3) and faces (f, 3)."""
    lengths = np.linalg.norm(sides, axis=1)
    axes, lengths = sides / lengths[:, None], lengths + 2.0 * MARGIN * size
    corner = corner - MARGIN * size * axes.sum(axis=0)
    pitch, width = lengths.max() / MESHES, BAR * size
    thick = width * np.cross(*axes)
    boxes = []
    for k in range(2):
        along, across = lengths[k] * axes[k], axes[1 - k]
        count = max(1, round(lengths[1 - k] / pitch))
        for at in np.linspace(0.0, lengths[1 - k], count + 1):
            origin = corner + (at - 0.5 * width) * across - 0.5 * thick
            boxes.append(_bar(origin, along, width * across, thick))
    triangles = np.concatenate(boxes)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    vertices = triangles.reshape(-1, 3)
    return vertices, np.repeat(normals, 3, axis=0), np.arange(len(vertices)).reshape(-1, 3)


def _bar(origin: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Return the triangles (12, 3, 3) of the box with the edges a, b and c, counter-clockwise seen from outside."""
    if np.dot(np.cross(a, b), c) < 0.0:
        a, b = b, a
    faces = []
    for u, v, w in ((a, b, c), (b, c, a), (c, a, b)):
        for start, p, q in ((origin, v, u), (origin + w, u, v)):
            faces += [(start, start + p, start + p + q), (start, start + p + q, start + q)]
    return np.array(faces)


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
            faces = [own[2] + k * n for k, own in enumerate(balls)]
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


def _shaded(vertices: Floats, faces: Ints) -> tuple[Floats, Floats, Ints]:
    """Return vertices, normals and faces of a mesh with flat shading: each face has its own vertices."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return corners.reshape(-1, 3), np.repeat(normals, 3, axis=0), np.arange(3 * len(faces)).reshape(-1, 3)


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


def _ball(centre: Floats, radius: float) -> tuple[Floats, Floats, Ints]:
    """Return vertices, normals and faces of a triangulated sphere."""
    rise, turn = np.meshgrid(
        np.linspace(0, np.pi, RISES + 1), 2 * np.pi * np.arange(TURNS) / TURNS, indexing="ij"
    )
    normals = np.stack([np.sin(rise) * np.cos(turn), np.sin(rise) * np.sin(turn), np.cos(rise)], axis=-1)
    i, j = np.meshgrid(np.arange(RISES), np.arange(TURNS), indexing="ij")
    a, b = TURNS * i + j, TURNS * i + (j + 1) % TURNS
    faces = np.stack([a, a + TURNS, b + TURNS, a, b + TURNS, b], axis=-1).reshape(-1, 3)
    return centre + radius * normals.reshape(-1, 3), normals.reshape(-1, 3), faces
