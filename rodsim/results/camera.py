"""Choose a camera that sees all points of a scene; both canvases use it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rigid.quaternions import conjugate, multiply
from rigid.system import Floats
from rodsim.results.errors import ResultError

ANGLE = np.radians(28.0)  # angle of view over the height of the picture, rad
MARGIN = 1.12  # factor by which the visible region is larger than the scene
FLAT = 0.08  # if the thickness of a scene over its size is below this, it is seen from straight ahead
THICK = 0.6  # if the extent across the plane of motion over that in it is above this, the plane is ignored
IN_PLANE = 1e-3  # a motion is planar if its relative part out of the plane is below this
ON_LINE = 0.02  # a motion is along a line if its relative part off the line is below this


@dataclass(frozen=True)
class Camera:
    """Perspective camera; the columns of `axes` point right, up and towards the viewer."""

    position: Floats  # (3,) m
    axes: Floats  # (3, 3)
    distance: float  # m, to the middle of the scene

    @property
    def focus(self) -> Floats:
        """Point (3,) in the middle of the picture, m."""
        return self.position - self.distance * self.axes[:, 2]

    def pixel(self, height: int) -> float:
        """Return the size (m) of a pixel at the middle of the scene, in a picture of `height` pixels."""
        return float(2 * np.tan(ANGLE / 2) * self.distance / height)

    def project(self, points: Floats, width: int, height: int) -> tuple[Floats, Floats]:
        """Project points (n, 3): return pixels (n, 2), from the top left, and distances (n,) along the view direction, m."""
        seen = (points - self.position) @ self.axes
        depth = -seen[:, 2]
        scale = height / 2 / np.tan(ANGLE / 2) / np.maximum(depth, 1e-9 * self.distance)
        pixels = np.stack([width / 2 + seen[:, 0] * scale, height / 2 - seen[:, 1] * scale], axis=1)
        return pixels, depth


def upward(gravity: Floats | None) -> Floats:
    """Return the direction (3,) that is up in a picture: opposite to gravity, or z without gravity."""
    if gravity is None or not np.any(gravity):
        return np.array([0.0, 0.0, 1.0])
    return -gravity / np.linalg.norm(gravity)


def view_direction(points: Floats, up: Floats, normal: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the direction towards the viewer, and up, for points (n, 3): normal to a flat scene, else obliquely from above.

    `normal` (3,): normal of the plane of motion (`plane_of_motion`); the view is along it unless the scene is thick.
    """
    if normal is not None and _is_thick(points, normal):
        normal = None
    if normal is None:
        variances, axes = np.linalg.eigh(np.cov(points.T))
        normal = axes[:, 0] if variances[0] < FLAT**2 * variances[1] else None
    if normal is not None:
        if abs(normal @ up) > 0.9:  # a scene in a horizontal plane: a map with y to the north
            north = np.array([0.0, 1.0, 0.0]) if abs(up[1]) < 0.9 else np.array([0.0, 0.0, 1.0])
            return up, north
        if abs(normal @ up) > 0.3:  # an inclined plane, from above
            return np.sign(normal @ up) * normal, up
        normal = normal - (normal @ up) * up
        normal /= np.linalg.norm(normal)
        if np.cross(up, normal) @ (1.0, 0.5, 0.25) < 0:
            normal = -normal  # x, else y, to the right
        direction = normal + 0.18 * up
        return direction / np.linalg.norm(direction), up
    side, front = side_front(up)
    direction = 0.45 * side + 0.8 * front + 0.42 * up
    return direction / np.linalg.norm(direction), up


def _is_thick(points: Floats, normal: Floats) -> bool:
    """Return whether the extent of a scene along the normal is large compared with its extent across it."""
    along = points @ normal
    across = points - np.outer(along, normal)
    return bool(np.ptp(along) > THICK * np.ptp(across, axis=0).max())


def plane_of_motion(r: Floats, quat: Floats) -> Floats | None:
    """Return the unit normal (3,) of the plane in which frames move; None if the motion is not planar or along a line.

    `r` (t, n, 3), m, and `quat` (t, n, 4) are the poses of n frames at t times. With displacements d and vector parts w of the
    rotations since the first time, the normal n is perpendicular to all d and parallel to all w. It minimises the sum of
    (d . n)^2/L^2 + |w x n|^2, which must be zero for one direction only.
    """
    if len(r) < 2:
        return None
    d = (r - r[0]).reshape(-1, 3)
    size = float(np.abs(d).max(initial=0.0))
    if size > 0.0:
        d = d / size
    w = multiply(quat, conjugate(quat[:1]))[..., 1:].reshape(-1, 3)
    squares = d.T @ d + float(np.sum(w * w)) * np.eye(3) - w.T @ w
    values, axes = np.linalg.eigh(squares)
    planar = values[0] < IN_PLANE**2 * values[2] and values[1] > ON_LINE**2 * values[2]
    return axes[:, 0] if planar else None


# azimuth and elevation of the named views, degrees
VIEWS = {"front": (0.0, 0.0), "side": (90.0, 0.0), "top": (0.0, 90.0), "iso": (45.0, 35.26438968)}


def named_view(name: str, up: Floats) -> tuple[Floats, Floats]:
    """Return the direction towards the viewer, and up in the picture, for 'iso', 'front', 'side', 'top' or 'azimuth/elevation'.

    Angles are in degrees. Azimuth 0 is the front, with x (else y) to the right; azimuth 90 is the side that x points to;
    elevation 90 is from above.
    """
    try:
        azimuth, elevation = VIEWS[name] if name in VIEWS else (float(x) for x in name.split("/"))
        if not np.isfinite(azimuth) or not abs(elevation) <= 90:
            raise ValueError
    except ValueError:
        raise ResultError(
            f"render: view = '{name}' is unknown; give {', '.join(VIEWS)}, or azimuth/elevation in degrees such as 30/20, "
            "elevation from -90 to 90"
        ) from None
    side, front = side_front(up)
    a, e = np.radians([azimuth, elevation])
    around = np.cos(a) * front + np.sin(a) * side
    return np.cos(e) * around + np.sin(e) * up, np.cos(e) * up - np.sin(e) * around


def side_front(up: Floats) -> tuple[Floats, Floats]:
    """Return the horizontal directions to the right and towards the viewer in a view from the front."""
    side = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    side = side - (side @ up) * up
    side /= np.linalg.norm(side)
    return side, np.cross(side, up)


def fit(points: Floats, direction: ArrayLike, up: ArrayLike, aspect: float) -> Camera:
    """Return the nearest camera, in `direction` from the scene, that sees all points (n, 3); `aspect`: width/height."""
    towards_viewer = np.asarray(direction, float)
    towards_viewer = towards_viewer / np.linalg.norm(towards_viewer)
    right = np.cross(np.asarray(up, float), towards_viewer)
    if np.linalg.norm(right) < 1e-9:
        raise ResultError(f"camera: looks along 'up' = {np.asarray(up)}; give another view or another up")
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(towards_viewer, right), towards_viewer], axis=1)
    seen = points @ axes
    low, high = seen.min(axis=0), seen.max(axis=0)
    middle = (low + high) / 2
    tangents = np.tan(ANGLE / 2) * np.array([aspect, 1.0])
    distance = 0.0
    for _ in range(4):  # nearer points look larger: the middle of the picture is not that of the box
        offset = np.abs(seen[:, :2] - middle[:2]) * MARGIN / tangents
        distance = float((offset.max(axis=1) + seen[:, 2] - middle[2]).max())
        scaled = (seen[:, :2] - middle[:2]) / (distance - (seen[:, 2:] - middle[2]))
        middle[:2] += (scaled.min(axis=0) + scaled.max(axis=0)) / 2 * distance * 0.9
    size = float((high - low).max())
    distance = max(distance, 1e-3 * size, 1e-12)
    return Camera(position=axes @ middle + distance * towards_viewer, axes=axes, distance=distance)
