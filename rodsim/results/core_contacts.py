"""Forces of contacts of hulls and bodies of revolution in stored states, pair by pair.

The resultants and their points of application are defined as for boxes in `rodsim.results.box_contacts`. The core of a solid is
its shape without the radius by which it is rounded.
"""

from __future__ import annotations

import numpy as np

from discretization.contact.core_gaps import between_cores, from_cores
from discretization.contact.table import ROUND_AXIS
from discretization.interaction_kinds import INTERACTIONS
from rigid import quaternions
from rigid.interactions.contact.core_points import CORE, CORE_OF_ROD, CORE_ROD, SPHERE_CORE
from rigid.interactions.contact.hulls import HULLS, A
from rigid.interactions.contact.round_hulls import ROUND_HULLS
from rigid.kinematics import cores
from rigid.system import Floats, Ints, State
from rodsim.results.box_contacts import together

# for each kind: which frames of a row are those of the kind, in its order; which of these is the core; offset of the block of
# numbers of the core, of two cores that of the first
_PARTS = {
    SPHERE_CORE.name: ([0, 2], 1, CORE),
    CORE_ROD.name: ([2, 0, 1], 0, CORE_OF_ROD),
    HULLS.name: ([0, 2], 1, A),
    ROUND_HULLS.name: ([0, 2], 1, A),
}


def has_cores(kind: int) -> bool:
    """Return whether `of_cores` evaluates rows of this kind."""
    return INTERACTIONS[kind].name in _PARTS


def of_cores(kind: int, frames: Ints, numbers: Floats, share: Floats, state: State) -> tuple[Floats, ...]:
    """Evaluate k contact rows with cores, all of one kind, in states (...).

    Arguments and results are those of `rodsim.results.box_contacts.of_boxes`: return the energy, its rate, the forces on the
    frames, the point of application and the gap.
    """
    which, at, block = _PARTS[INTERACTIONS[kind].name]
    V, rate, force, n, on_line, (r, quat) = together(kind, frames, numbers, which, at, state)
    rho, place, axes = numbers[:, 4], r[..., at, :], quat[..., at, :]
    first = np.full(len(numbers), block)
    if block == A:
        first += numbers[:, block + cores.SIZE].astype(np.int64)
    own = [x[k:] for x, k in zip(numbers, first, strict=True)]
    centre = place + quaternions.rotate(axes, np.array([x[:3] for x in own]))
    beyond = [extent(x, seen(n[..., k, :], axes[..., k, :])) for k, x in enumerate(own)]
    height = np.sum(n * (centre - on_line), axis=-1) + (1.0 - share) * rho + np.stack(beyond, axis=-1)
    if block == A:
        one = _middle(r[..., 0, :], quat[..., 0, :], numbers[:, block : block + 3])
    elif INTERACTIONS[kind] is SPHERE_CORE:
        one = _middle(r[..., 0, :], quat[..., 0, :], numbers[:, block - 3 : block])[..., [0, 0, 0, 0], :]
    else:
        one = r[..., [1, 2, 2, 2], :]
    middles = _middle(place, axes, np.array([x[:3] for x in own]))
    points = np.ascontiguousarray(np.concatenate([one, middles], axis=-2)).reshape(-1, 3)
    ends = 8 * np.arange(len(points) // 8)[:, None] + (0, int(INTERACTIONS[kind] is CORE_ROD), 4, 4)
    before = numbers.shape[1] * np.arange(len(numbers))
    gap, X = np.empty(len(ends)), np.ascontiguousarray(numbers).ravel()
    states = len(ends) // max(len(numbers), 1)
    if block == A:
        between_cores(
            points, ends, X, np.tile(np.column_stack([before + block, before + first]), (states, 1)), gap
        )
    else:
        from_cores(points, ends, X, np.tile(before + first, states), gap)
    return V, rate, force, on_line + height[..., None] * n, gap.reshape(V.shape) - rho


def _middle(r: Floats, quat: Floats, X: Floats) -> Floats:
    """Return points (..., k, 4, 3), m: the positions X (k, 3) in frames, and three points 1 m from them along the frame axes."""
    places = X[:, None] + np.concatenate([np.zeros((1, 3)), np.eye(3)])
    found: Floats = r[..., None, :] + quaternions.rotate(quat[..., None, :], places)
    return found


def seen(n: Floats, quat: Floats) -> Floats:
    """Return the components (..., 3) of vectors n in the axes of frames."""
    found: Floats = np.einsum("...ji,...j->...i", quaternions.to_matrix(quat), n)
    return found


def extent(core: Floats, n: Floats) -> Floats:
    """Return the support function (...) of a core, m: its extent from its centre along the directions n (..., 3), frame axes.

    `core`: block of numbers of the core, with the centre before it.
    """
    if core[cores.SORT] == cores.ROUND:
        profile = core[cores.PROFILE : cores.PROFILE + 2 * int(core[cores.CORNERS])].reshape(-1, 2)
        return _extent_around(n, core[cores.AXIS : cores.AXIS + 3], profile)
    vertices = core[cores.VERTICES : cores.VERTICES + 3 * int(core[cores.COUNTS])].reshape(-1, 3)
    if core[cores.SORT] == cores.FACETS:
        rims = np.column_stack([np.hypot(vertices[:, 0], vertices[:, 1]), vertices[:, 2]])
        return _extent_around(n, np.array(ROUND_AXIS), rims)
    found: Floats = (n @ vertices.T).max(axis=-1)
    return found


def _extent_around(n: Floats, axis: Floats, corners: Floats) -> Floats:
    """Return the support function (...) of a body of revolution, m; `corners` (c, 2): radius and height of its profile, m."""
    z = n @ axis
    across = np.sqrt(np.maximum(np.sum(n * n, axis=-1) - z * z, 0.0))
    found: Floats = (across[..., None] * corners[:, 0] + z[..., None] * corners[:, 1]).max(axis=-1)
    return found
