"""Read the history of one rod or body from a result on first access.

Histories of joints are in `rodsim.results.joint_history`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rigid.checks import shown
from rigid.quaternions import rotate
from rigid.system import Floats, Ints
from rodsim.results.array_sources import Source
from rodsim.results.errors import ResultError
from rodsim.results.layout import BodyLayout, RodLayout
from rodsim.results.rod_interpolation import element_arc_lengths, rod_interpolation_to, rod_length
from rodsim.results.twist_and_writhe import ends_of, twist, writhe

OF_ELEMENTS = ("Gamma", "K", "N", "M")


def _columns(source: Source, name: str, numbers: Ints) -> NDArray[Any]:
    """Return the items `numbers` of the second axis of the stored array `name`, for all outputs (T, k, ...)."""
    if len(numbers) == 0:
        return source.read(name, (slice(None), slice(0, 0)))
    low, high = int(numbers.min()), int(numbers.max()) + 1
    # read one contiguous block: HDF5 is slow at selecting single columns
    return source.read(name, (slice(None), slice(low, high)))[:, numbers - low]


class RodHistory:
    """Hold the history of one rod: arrays (T, n_nodes, ...) of its sections, (T, n_elements, ...) of its elements.

    `Result.rod` returns it. Positions, rotations and velocities are given at the nodes; strains `Gamma`, `K` and stresses `N`,
    `M` are given for the elements, at the arc lengths `s_element`.

    Examples
    --------
    >>> cord = result.rod("cord")
    >>> cord.r.shape, cord.N.shape
    ((6, 5, 3), (6, 4, 3))
    >>> bool(cord.r[0, 0, 2] == 0.0)
    True
    """

    def __init__(self, source: Source, layout: RodLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def name(self) -> str:
        """Return the name of the rod."""
        return self.layout.name

    @property
    def arclength(self) -> Floats:
        """(n_nodes,) arc lengths of the nodes in the stress-free shape, m."""
        return self.layout.arclength

    @cached_property
    def r(self) -> Floats:
        """(T, n_nodes, 3) positions of the nodes, m."""
        return _columns(self._source, "r", self.layout.frames)

    @cached_property
    def quat(self) -> Floats:
        """(T, n_nodes, 4) unit quaternions (w, x, y, z) that rotate section axes to inertial axes."""
        return _columns(self._source, "quat", self.layout.frames)

    @cached_property
    def v(self) -> Floats:
        """(T, n_nodes, 3) velocities of the nodes in inertial axes, m/s."""
        return _columns(self._source, "v", self.layout.frames)

    @cached_property
    def Omega(self) -> Floats:
        """(T, n_nodes, 3) angular velocities of the sections in section axes, rad/s."""
        return _columns(self._source, "Omega", self.layout.frames)

    @property
    def omega(self) -> Floats:
        """(T, n_nodes, 3) angular velocities of the sections in inertial axes, rad/s."""
        return rotate(self.quat, self.Omega)

    @cached_property
    def _strains(self) -> Floats:
        """(T, n_elements, 6) strains of the elements (Gamma, K) in section axes."""
        return _columns(self._source, "strains", self.layout.elements)

    @cached_property
    def _stresses(self) -> Floats:
        """(T, n_elements, 6) stresses of the elements (N, M) in section axes, N and N m."""
        return _columns(self._source, "stresses", self.layout.elements)

    @property
    def Gamma(self) -> Floats:
        """(T, n_elements, 3) stretch and shear strains of the elements in section axes."""
        return self._strains[..., :3]

    @property
    def K(self) -> Floats:
        """(T, n_elements, 3) twist and bending strains of the elements in section axes, 1/m."""
        return self._strains[..., 3:]

    @property
    def N(self) -> Floats:
        """(T, n_elements, 3) normal and shear forces of the elements in section axes, N."""
        return self._stresses[..., :3]

    @property
    def M(self) -> Floats:
        """(T, n_elements, 3) torques and bending moments of the elements in section axes, N m."""
        return self._stresses[..., 3:]

    @cached_property
    def s_element(self) -> Floats:
        """(n_elements,) arc lengths in the stress-free shape at which Gamma, K, N and M are given, m."""
        return element_arc_lengths(self._source.layout, self.layout)

    @cached_property
    def twist(self) -> Floats:
        """(T,) twist: turns of the sections about the axis of the rod, right-handed turns positive.

        Each element must be twisted by less than half a turn.
        """
        return twist(self.r, self.quat, self.layout.closed)

    @cached_property
    def writhe(self) -> Floats:
        """(T,) writhe: turns of the axis of the rod about itself.

        An open rod is extended by straight rays along d1 of its ends.
        """
        return writhe(self.r, None if self.layout.closed else ends_of(self.quat))

    @property
    def link(self) -> Floats:
        """(T,) linking number, the sum of twist and writhe, in turns.

        For a closed rod it is a whole number; for an open rod it counts the turns of the ends about their axes. It changes by
        two when strands pass through each other.
        """
        return self.twist + self.writhe

    def along(self, field: str, fractions: ArrayLike) -> Floats:
        """Return a strain or stress at fractions of the stress-free length (T, k, 3).

        `field`: "Gamma", "K", "N" or "M". `fractions`: (k,) numbers; 0 and 1 are the ends. Values are interpolated linearly
        between the arc lengths `s_element` and extrapolated to the ends, which is second-order accurate. Raises ResultError for
        another field, or for a fraction outside of [0, 1].
        """
        positions = np.atleast_1d(np.asarray(fractions, float))
        if field not in OF_ELEMENTS:
            raise ResultError(
                f"rod '{self.name}': along: {field!r} is not a quantity of elements. Use one of {', '.join(OF_ELEMENTS)}"
            )
        if positions.ndim > 1 or not bool(np.all((positions >= 0.0) & (positions <= 1.0))):
            raise ResultError(f"rod '{self.name}': fractions = {shown(fractions)}; give numbers from 0 to 1")
        layout = self._source.layout
        interpolation = rod_interpolation_to(layout, self.layout, positions * rod_length(layout, self.layout))
        return interpolation.of(getattr(self, field))


class BodyHistory:
    """Hold the history of one rigid body: arrays (T, ...).

    `Result.body` returns it. `r` and `v` are position and velocity of the reference point of the body's shape; `point` returns
    the positions of any other point.

    Examples
    --------
    >>> block = result.body("block")
    >>> block.r.shape, block.quat.shape
    ((6, 3), (6, 4))
    >>> block.point((0.05, 0.0, 0.0)).shape
    (6, 3)
    """

    def __init__(self, source: Source, layout: BodyLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def name(self) -> str:
        """Return the name of the body."""
        return self.layout.name

    @cached_property
    def center_of_mass(self) -> Floats:
        """(T, 3) positions of the centre of mass, m."""
        return self._source.read("r", (slice(None), self.layout.frame))

    @cached_property
    def quat(self) -> Floats:
        """(T, 4) unit quaternions (w, x, y, z) that rotate body axes to inertial axes."""
        return self._source.read("quat", (slice(None), self.layout.frame))

    @cached_property
    def Omega(self) -> Floats:
        """(T, 3) angular velocities in body-fixed axes, rad/s."""
        return self._source.read("Omega", (slice(None), self.layout.frame))

    @property
    def omega(self) -> Floats:
        """(T, 3) angular velocities in inertial axes, rad/s."""
        return rotate(self.quat, self.Omega)

    @property
    def r(self) -> Floats:
        """(T, 3) positions of the reference point, m."""
        return self.point(self.layout.reference)

    @property
    def v(self) -> Floats:
        """(T, 3) velocities of the reference point in inertial axes, m/s."""
        v = self._source.read("v", (slice(None), self.layout.frame))
        return v + rotate(self.quat, np.cross(self.Omega, self.layout.reference))

    def point(self, X: Floats) -> Floats:
        """Return the positions (T, 3), m, of the body-fixed point X (m, body axes, measured from the centre of mass)."""
        return self.center_of_mass + rotate(self.quat, X)
