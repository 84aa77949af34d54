"""Support symbols in pictures: joints to the ground as blocks or cones, driven frames as three axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discretization.drives import DRIVEN
from rigid.joints import holds_all, holds_points
from rigid.system import Floats, Ints
from rodsim.results.layout import JointLayout, Layout
from rodsim.results.shapes import Shape, box, fixed_shape

SUPPORT = np.array([96, 102, 112]) / 255
AXES = np.array([[196, 66, 56], [66, 140, 80], [62, 100, 176]]) / 255  # x, y, z
# (4, 3) colours by owner number, after the colours of the parts
COLORS = np.concatenate([SUPPORT[None], AXES])
# side of a block and height of a cone, relative to the scene; enlarged so that they protrude from the parts that they hold
SIZE = 0.03
LENGTH, THIN = 0.06, 0.005  # length and thickness of an axis of a driven frame, relative to the scene
SIDES = 16  # number of sides of a cone


def supports(layout: Layout, size: float, up: Floats, first_owner: int) -> Iterator[Shape]:
    """Yield the support symbols of a layout.

    `size`: size of the scene, m. `up`: (3,) unit vector. `first_owner`: owner number of the first colour of `COLORS`.
    """
    half, outward = _half_thickness(layout), _outward(layout)
    for joint in layout.joints:
        if joint.frames is None or 0 not in joint.frames:
            continue
        frame, X = _place(joint)
        reach = max(half.get(frame, 0.0) for frame in joint.frames)
        # joints that leave no motion free are blocks, aligned with the frame that they hold; others are cones with the joint
        # at the apex, aligned with `up`
        if holds_all(joint.kind):
            side = SIZE * size + 2.0 * reach
            # in front of the end of a rod
            shift = np.array([outward.get(frame, 0.0) - 1.0, -1.0, -1.0])
            yield fixed_shape(frame, first_owner, *box(X + 0.5 * side * shift, side * np.eye(3)))
        else:
            corners, faces = _cone(up)
            height = SIZE * size + 1.5 * reach
            yield fixed_shape(
                frame, first_owner, np.tile(X, (len(corners), 1)), faces, upright=height * corners
            )
    fixed = np.zeros(0) if layout.system is None else layout.system.frames.fixed
    for frame in np.flatnonzero(fixed == DRIVEN).tolist():
        for k in range(3):
            sides = np.full(3, THIN * size)
            sides[k] = (LENGTH + THIN / 2) * size
            yield fixed_shape(
                frame, first_owner + 1 + k, *box(np.full(3, -0.5 * THIN * size), np.diag(sides))
            )


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
    signs: dict[int, float] = {}
    for rod in layout.rods:
        if not rod.closed:
            signs |= {int(rod.frames[0]): -1.0, int(rod.frames[-1]): 1.0}
    return signs


def _half_thickness(layout: Layout) -> dict[int, float]:
    """Return the half thickness of rods and bodies by frame, m.

    Supports are enlarged by it, because a thick part would hide its support.
    """
    thickness: dict[int, float] = {}
    for rod in layout.rods:
        half = np.maximum(rod.radius, 0.5 * rod.sides.max(axis=1))
        thickness.update(zip(rod.frames.tolist(), half.tolist(), strict=True))
    for body in layout.bodies:
        if len(body.vertices):
            thickness[body.frame] = 0.5 * float(np.ptp(body.vertices, axis=0).min())
    return thickness


def _cone(up: Floats) -> tuple[Floats, Ints]:
    """Return vertices (SIDES + 2, 3) and faces of a cone of height 1 below its apex, which is at the origin."""
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    side /= np.linalg.norm(side)
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = 0.5 * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * np.cross(up, side)) - up
    k = np.arange(SIDES)
    following, apex, base = (k + 1) % SIDES, np.full(SIDES, SIDES), np.full(SIDES, SIDES + 1)
    faces = np.concatenate([np.stack([apex, k, following], 1), np.stack([base, following, k], 1)])
    return np.concatenate([ring, np.zeros((1, 3)), -up[None]]), faces
