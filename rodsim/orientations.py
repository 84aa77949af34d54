"""Convert orientations of parts from all accepted forms to unit quaternions, and compute rotations between directions."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from rigid import quaternions
from rigid.checks import direction, numbers, shown, unit_quaternion
from rigid.errors import ModelError
from rigid.system import Floats

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

OrientationLike: TypeAlias = "ArrayLike | Rotation"

__all__ = ["align", "quaternion_of"]

ORTHOGONAL = 1e-6  # largest deviation of R^T R of a rotation matrix from the unit matrix


def align(axis: ArrayLike, direction: ArrayLike) -> Floats:
    """Return the smallest rotation that takes one direction to another.

    Parameters
    ----------
    axis : array_like, shape (3,)
        Direction before the rotation, of any length: for instance an axis of a shape.
    direction : array_like, shape (3,)
        Direction after the rotation, of any length. If it is opposite to `axis`, the rotation is half a turn about a direction
        perpendicular to both.

    Returns
    -------
    (4,) array
        Unit quaternion (w, x, y, z).

    Raises
    ------
    ModelError
        If a direction is not three finite numbers or has no length.

    Examples
    --------
    A cylinder, whose axis is z, along x:

    >>> from rodsim import Cylinder, Model
    >>> from rodsim.orientations import align
    >>> align((0, 0, 1), (1, 0, 0))
    array([0.70710678, 0.        , 0.70710678, 0.        ])
    >>> Model().add_body("roll", Cylinder(0.1, 0.5, mass=1.0), orientation=align((0, 0, 1), (1, 0, 0)))
    <Body 'roll': 1 kg at [0, 0, 0]>
    """
    a, b = _direction("axis", axis), _direction("direction", direction)
    middle = a + b
    half = float(np.linalg.norm(middle)) / 2.0  # cosine of half the angle
    across = np.cross(a, b)
    if half < 1e-9:
        across = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    size = float(np.linalg.norm(across))
    sine = float(np.linalg.norm(a - b)) / 2.0
    vector = across * (sine / size) if size > 0.0 else np.zeros(3)
    return quaternions.normalize(np.concatenate([[half], vector]))


def _direction(what: str, value: ArrayLike) -> Floats:
    """Return a checked unit vector (3,) for `align`."""
    return direction("align", what, value)


def quaternion_of(owner: str, what: str, value: OrientationLike) -> Floats:
    """Convert an orientation to a unit quaternion.

    Parameters
    ----------
    owner, what : str
        Object and argument, for messages.
    value : array_like or scipy.spatial.transform.Rotation
        Unit quaternion (w, x, y, z), rotation matrix (3, 3) whose columns are the axes of the part, or a single `Rotation`.

    Returns
    -------
    (4,) array
        Unit quaternion (w, x, y, z).

    Raises
    ------
    ModelError
        If `value` is none of these.
    """
    if _is_rotation(value):
        rotation = cast("Rotation", value)
        if not rotation.single:
            raise ModelError(f"{owner}: {what} has {len(rotation)} rotations. Give one of them.")
        x, y, z, w = rotation.as_quat()
        return quaternions.normalize([w, x, y, z])
    matrix = numbers(value)
    if matrix is None or matrix.shape != (3, 3):
        return unit_quaternion(owner, what, cast(ArrayLike, value))
    error = float(np.abs(matrix.T @ matrix - np.eye(3)).max()) if np.all(np.isfinite(matrix)) else np.inf
    if not error <= ORTHOGONAL or np.linalg.det(matrix) < 0.0:
        raise ModelError(
            f"{owner}: {what} = {shown(value)} is not a rotation matrix. Give orthogonal columns of length 1 that form a "
            "right-handed set."
        )
    return quaternions.normalize(quaternions.from_matrix(matrix))


def quaternions_of(owner: str, attitude: Callable[[float], Any]) -> Callable[[float], Any]:
    """Return a function of time with quaternions as values, from a function with orientations of any accepted form as values."""
    if np.shape(_plain(attitude(0.0))) == (4,):
        return attitude

    @functools.wraps(attitude)
    def attitude_as_quaternion(t: float) -> Floats:
        return quaternion_of(owner, f"attitude at t = {t:g}", attitude(t))

    return attitude_as_quaternion


def _plain(value: Any) -> Any:
    """Return the value, or None if it is scipy's `Rotation`."""
    return None if _is_rotation(value) else value


def _is_rotation(value: object) -> bool:
    """Return whether `value` is scipy's `Rotation`, without importing its module."""
    module = sys.modules.get("scipy.spatial.transform")
    return module is not None and isinstance(value, module.Rotation)
