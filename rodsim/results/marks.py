"""Draw support symbols in pictures: joints to the ground as blocks or cones, driven frames as three axes."""

from __future__ import annotations

import numpy as np

from discretization.drives import DRIVEN
from rigid.joints import holds_all, holds_points
from rigid.quaternions import to_matrix
from rigid.system import Floats, Ints, State
from rodsim.results.layout import JointLayout, Layout
from rodsim.results.scene import Surface

SUPPORT = np.array([96, 102, 112]) / 255
AXES = np.array([[196, 66, 56], [66, 140, 80], [62, 100, 176]]) / 255  # x, y, z
# (4, 3) colours by owner number, after the colours of the parts
COLORS = np.concatenate([SUPPORT[None], AXES])
# side of a block and height of a cone, relative to the scene; enlarged so that they protrude from the parts that they hold
SIZE = 0.03
LENGTH, THIN = 0.06, 0.005  # length and thickness of an axis of a driven frame, relative to the scene
SIDES = 16  # number of sides of a cone


class Marks:
    """Support symbols of a model; `surface` returns their surfaces at a state."""

    def __init__(self, layout: Layout, size: float, up: Floats, first_owner: int) -> None:
        """Build the symbols of a layout.

        `size`: size of the scene, m. `up`: (3,) unit vector. `first_owner`: owner number of the first colour of `COLORS`.
        """
        supports = [joint for joint in layout.joints if joint.frames is not None and 0 in joint.frames]
        places = [_place(joint) for joint in supports]
        self._frame = np.array([frame for frame, _ in places], dtype=np.int64)
        self._X = np.array([X for _, X in places]).reshape(-1, 3)
        half, outward = _half_thickness(layout), _outward(layout)
        shapes = []
        for k, joint in enumerate(supports):
            reach = max(half.get(frame, 0.0) for frame in joint.frames or ())
            # joints that leave no motion free are blocks, others are cones with the joint at the apex
            if holds_all(joint.kind):
                side = SIZE * size + 2.0 * reach
                shapes.append(side * box())
                # in front of the end of a rod
                self._X[k, 0] += 0.5 * side * outward.get(int(self._frame[k]), 0.0)
            else:
                shapes.append((SIZE * size + 1.5 * reach) * _cone(up))
        self._of_support = np.repeat(np.arange(len(shapes)), [len(shape) for shape in shapes])
        self._shape = np.concatenate([np.zeros((0, 3, 3)), *shapes])
        # blocks are aligned with the axes of the frame that they hold, cones with `up`
        self._turned = np.array([holds_all(joint.kind) for joint in supports], dtype=bool)[self._of_support]
        fixed = np.zeros(0) if layout.system is None else layout.system.frames.fixed
        self._driven = np.flatnonzero(fixed == DRIVEN)
        self._axes = [size * _axis(k) for k in range(3)]
        owners = [np.full(len(self._shape), first_owner)]
        for _ in self._driven:
            owners += [np.full(len(axis), first_owner + 1 + k) for k, axis in enumerate(self._axes)]
        self._owner: Ints = np.repeat(np.concatenate(owners).astype(np.int64), 3)
        self._faces: Ints = np.arange(len(self._owner), dtype=np.int64).reshape(-1, 3)

    def surface(self, state: State) -> Surface:
        """Return the triangles of all symbols at a state.

        Triangles share no vertices, so that edges are shaded sharp.
        """
        R = to_matrix(state.quat[self._frame])
        at = state.r[self._frame] + np.einsum("nij,nj->ni", R, self._X)
        shape = self._shape.copy()
        of_blocks = R[self._of_support[self._turned]]
        shape[self._turned] = np.einsum("nij,nkj->nki", of_blocks, shape[self._turned])
        parts = [shape + at[self._of_support][:, None]]
        for k in self._driven:
            R = to_matrix(state.quat[k])
            parts += [axis @ R.T + state.r[k] for axis in self._axes]
        triangles = np.concatenate(parts)
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        return Surface(triangles.reshape(-1, 3), np.repeat(normals, 3, axis=0), self._faces, self._owner)


def _place(joint: JointLayout) -> tuple[int, Floats]:
    """Return the frame and the point (3,), in its axes, m, at which a joint to the ground is drawn.

    The point on the moving part is preferred, because an equilibrium may have moved the one on the ground.
    """
    assert joint.frames is not None
    ground = joint.frames.index(0)
    # if the joint does not hold the points of a and b together, use the point on the ground
    side = 1 - ground if holds_points(joint.kind) else ground
    return joint.frames[side], joint.points[side]


def _outward(layout: Layout) -> dict[int, float]:
    """Return, by frame, the outward direction at both ends of open rods: -1 or 1 along d1."""
    found: dict[int, float] = {}
    for rod in layout.rods:
        if not rod.closed:
            found |= {int(rod.frames[0]): -1.0, int(rod.frames[-1]): 1.0}
    return found


def _half_thickness(layout: Layout) -> dict[int, float]:
    """Return the half thickness of rods and bodies by frame, m.

    Supports are enlarged by it, because a thick part would hide its support.
    """
    found: dict[int, float] = {}
    for rod in layout.rods:
        half = np.maximum(rod.radius, 0.5 * rod.sides.max(axis=1))
        found.update(zip(rod.frames.tolist(), half.tolist(), strict=True))
    for body in layout.bodies:
        if len(body.vertices):
            found[body.frame] = 0.5 * float(np.ptp(body.vertices, axis=0).min())
    return found


def box(low: Floats | None = None, high: Floats | None = None) -> Floats:
    """Return the triangles (12, 3, 3) of a box, counter-clockwise seen from outside.

    `low`, `high`: (3,) opposite corners; by default the box is a cube of side 1 about the origin.
    """
    low = np.full(3, -0.5) if low is None else low
    high = np.full(3, 0.5) if high is None else high
    faces = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for out in (0, 1):
            corners = np.empty((4, 3))
            corners[:, k] = (low, high)[out][k]
            corners[:, i] = np.array([low[i], high[i], high[i], low[i]])
            corners[:, j] = np.array([low[j], low[j], high[j], high[j]])
            a, b, c, d = corners if out else corners[::-1]
            faces += [(a, b, c), (a, c, d)]
    return np.array(faces)


def _cone(up: Floats) -> Floats:
    """Return the triangles (2 SIDES, 3, 3) of a cone of height 1 below its apex, which is at the origin."""
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    side /= np.linalg.norm(side)
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = 0.5 * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * np.cross(up, side)) - up
    following = np.roll(ring, -1, axis=0)
    apex, base = np.zeros_like(ring), np.broadcast_to(-up, ring.shape)
    return np.concatenate([np.stack([apex, ring, following], 1), np.stack([base, following, ring], 1)])


def _axis(k: int) -> Floats:
    """Return the triangles (12, 3, 3) of a thin box from the origin along the k-th axis, for a scene of size 1."""
    low, high = np.full(3, -THIN / 2), np.full(3, THIN / 2)
    high[k] = LENGTH
    return box(low, high)
