"""Draw contact surfaces in pictures: planes as grids of bars, and spheres and meshes that no drawn shape encloses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import groups_of
from discretization.system import System
from rigid.interactions.contact.circles import PLANE_CIRCLE, RADIUS
from rigid.interactions.contact.contact_sums import N
from rigid.interactions.contact.planes import CENTRE, PLANE_ROD
from rigid.interactions.contact.sphere_rod_dissipation import PLANE_DISSIPATIONS
from rigid.quaternions import to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.distances import SURFACES, contact_mesh
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
    for name, frame, vertices, faces in meshes(layout, planes=False):
        is_mesh = "mesh" in layout.description[SURFACES][name]
        yield fixed_shape(frame, first_owner + (0 if is_mesh else 1), vertices, faces)


def _planes(system: System, states: Sequence[State]) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield for each plane its frame, and a rectangle that covers the surfaces that may touch it in the states.

    The rectangle is given by a corner (3,) and its sides (2, 3), m, frame axes.
    """
    points_of_plane: dict[tuple[int, bytes], list[tuple[int, Floats]]] = {}
    kinds = [INTERACTIONS.index(kind) for kind in PLANE_DISSIPATIONS]
    for group in groups_of(system.others, np.flatnonzero(np.isin(system.others.kind, kinds))):
        for frames, numbers in zip(group.frames, group.numbers, strict=True):
            X = np.zeros(3) if group.kind is PLANE_ROD else numbers[CENTRE : CENTRE + 3]
            reach = numbers[_RHO] + (numbers[RADIUS] if group.kind is PLANE_CIRCLE else 0.0)
            partners_of_plane = points_of_plane.setdefault((int(frames[0]), numbers[N : N + 6].tobytes()), [])
            partners_of_plane += [(int(frame), np.append(X, reach)) for frame in frames[1:]]
    for (frame, plane), partner_points in points_of_plane.items():
        normal, point = np.frombuffer(plane).reshape(2, 3)
        side = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
        side /= np.linalg.norm(side)
        axes = np.stack([np.cross(side, normal), side])
        partners, X = (
            np.array([group for group, _ in partner_points]),
            np.array([group for _, group in partner_points]),
        )
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        for state in states:
            R = to_matrix(state.quat)
            centres = state.r[partners] + np.einsum("nij,nj->ni", R[partners], X[:, :3])
            local = ((centres - state.r[frame]) @ R[frame] - point) @ axes.T
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
    for k, sign in ((0, 1.0), (1, -1.0)):
        along, across = lengths[k] * axes[k], axes[1 - k]
        count = max(1, round(lengths[1 - k] / pitch))
        for at in np.linspace(0.0, lengths[1 - k], count + 1):
            origin = corner + (at - 0.5 * width) * across - 0.5 * sign * thick
            yield box(origin, np.array([along, width * across, sign * thick]))


def meshes(layout: Layout, planes: bool = True) -> Iterator[tuple[str, int, Floats, Ints]]:
    """Yield name, frame, vertices (n, 3) in its axes and triangles (f, 3) of the contact surfaces that files contain.

    These are planes (unless `planes` is False), and those meshes, spheres and balls of solids that are not part of a drawn shape.
    """
    shown = _bounds(layout)
    for name, entry in layout.description.get(SURFACES, {}).items():
        X, frame = np.array(entry["X"]), entry["frame"]
        if "mesh" in entry:
            mesh = contact_mesh(layout, entry)
            if mesh and not _encloses(shown, frame, mesh[0], 0.02 * float(np.ptp(mesh[0], axis=0).max())):
                yield name, frame, *mesh
            continue
        if "sides" in entry:
            corner, a, b = np.array(entry["sides"])
            if planes:
                yield name, frame, corner + np.array([0.0 * a, a, a + b, b]), np.array([[0, 1, 2], [0, 2, 3]])
            continue
        radius, centres = entry.get("radius", 0.0), entry.get("points", [X])
        ends = radius * np.array([-np.ones(3), np.ones(3)])
        seen = [
            x
            for x in np.array(centres)
            if radius > 0 and not _encloses(shown, frame, x + ends, 0.02 * radius)
        ]
        if seen:
            balls = [_ball(x, radius) for x in seen]
            n = len(balls[0][0])
            faces = [ball[1] + k * n for k, ball in enumerate(balls)]
            yield name, frame, np.concatenate([ball[0] for ball in balls]), np.concatenate(faces)


def _encloses(shown: dict[int, tuple[Floats, Floats]], frame: int, points: Floats, slack: float) -> bool:
    """Return whether the bounds of what is drawn on a frame enclose points (n, 3) that are fixed to it, within `slack`, m."""
    low, high = shown.get(frame, (np.full(3, np.inf), np.full(3, -np.inf)))
    return bool(np.all(low - slack <= points) and np.all(points <= high + slack))


def _bounds(layout: Layout) -> dict[int, tuple[Floats, Floats]]:
    """Return by frame the bounds (lowest and highest coordinates) of what is drawn on it, m, frame axes."""
    bounds = {}
    for rod in layout.rods:
        for frame, radius in zip(rod.frames.tolist(), rod.radius.tolist(), strict=True):
            bounds[frame] = np.full(3, -radius), np.full(3, radius)
    for body in layout.bodies:
        if len(body.vertices):
            bounds[body.frame] = body.vertices.min(axis=0), body.vertices.max(axis=0)
    return bounds


def _ball(centre: Floats, radius: float) -> tuple[Floats, Ints]:
    """Return vertices and faces of a triangulated sphere."""
    rise, azimuth = np.meshgrid(
        np.linspace(0, np.pi, RISES + 1), 2 * np.pi * np.arange(TURNS) / TURNS, indexing="ij"
    )
    normals = np.stack(
        [np.sin(rise) * np.cos(azimuth), np.sin(rise) * np.sin(azimuth), np.cos(rise)], axis=-1
    )
    i, j = np.meshgrid(np.arange(RISES), np.arange(TURNS), indexing="ij")
    a, b = TURNS * i + j, TURNS * i + (j + 1) % TURNS
    faces = np.stack([a, a + TURNS, b + TURNS, a, b + TURNS, b], axis=-1).reshape(-1, 3)
    return centre + radius * normals.reshape(-1, 3), faces
