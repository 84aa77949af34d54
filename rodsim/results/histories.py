"""The history of one rod, body or joint, read from a result when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discretization.drives import at_states, driven_rows
from rigid.interactions import evaluation
from rigid.interactions.constraints import first_rows, groups_of
from rigid.quaternions import rotate
from rigid.system import Constraints, Floats, Ints, State
from rodsim.results.errors import ResultError
from rodsim.results.layout import BodyLayout, JointLayout, RodLayout
from rodsim.results.sources import Source


def _columns(source: Source, name: str, numbers: Ints) -> NDArray[Any]:
    """Items `numbers` of the second axis of the array `name`, for all outputs."""
    if len(numbers) == 0:
        return source.read(name, (slice(None), slice(0, 0)))
    low, high = int(numbers.min()), int(numbers.max()) + 1
    # one block from the file; picking single columns there is slow
    return source.read(name, (slice(None), slice(low, high)))[:, numbers - low]


class RodHistory:
    """A rod: arrays [t, node, ...] of its cross-sections, [t, element, ...] of its elements."""

    def __init__(self, source: Source, layout: RodLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def name(self) -> str:
        return self.layout.name

    @property
    def arclength(self) -> Floats:
        """(n_nodes,) m, in the stress-free shape"""
        return self.layout.arclength

    @cached_property
    def r(self) -> Floats:
        """(T, n_nodes, 3) m, positions"""
        return _columns(self._source, "r", self.layout.frames)

    @cached_property
    def quat(self) -> Floats:
        """(T, n_nodes, 4) unit quaternions (w, x, y, z), section to inertial axes"""
        return _columns(self._source, "quat", self.layout.frames)

    @cached_property
    def v(self) -> Floats:
        """(T, n_nodes, 3) m/s, velocities, inertial axes"""
        return _columns(self._source, "v", self.layout.frames)

    @cached_property
    def Omega(self) -> Floats:
        """(T, n_nodes, 3) rad/s, angular velocities, section axes"""
        return _columns(self._source, "Omega", self.layout.frames)

    @cached_property
    def _strains(self) -> Floats:
        return _columns(self._source, "strains", self.layout.elements)

    @cached_property
    def _stresses(self) -> Floats:
        return _columns(self._source, "stresses", self.layout.elements)

    @property
    def Gamma(self) -> Floats:
        """(T, n_elements, 3) stretch and shear, section axes"""
        return self._strains[..., :3]

    @property
    def K(self) -> Floats:
        """(T, n_elements, 3) 1/m, twist and bending, section axes"""
        return self._strains[..., 3:]

    @property
    def N(self) -> Floats:
        """(T, n_elements, 3) N, normal and shear forces, section axes"""
        return self._stresses[..., :3]

    @property
    def M(self) -> Floats:
        """(T, n_elements, 3) N m, torque and bending moments, section axes"""
        return self._stresses[..., 3:]


class BodyHistory:
    """A rigid body: arrays [t, ...]."""

    def __init__(self, source: Source, layout: BodyLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def name(self) -> str:
        return self.layout.name

    @cached_property
    def center_of_mass(self) -> Floats:
        """(T, 3) m"""
        return self._source.read("r", (slice(None), self.layout.frame))

    @cached_property
    def quat(self) -> Floats:
        """(T, 4) unit quaternions (w, x, y, z), body to inertial axes"""
        return self._source.read("quat", (slice(None), self.layout.frame))

    @cached_property
    def Omega(self) -> Floats:
        """(T, 3) rad/s, body-fixed axes"""
        return self._source.read("Omega", (slice(None), self.layout.frame))

    @property
    def omega(self) -> Floats:
        """(T, 3) rad/s, inertial axes"""
        return rotate(self.quat, self.Omega)

    @property
    def r(self) -> Floats:
        """(T, 3) m, the reference point"""
        return self.point(self.layout.reference)

    @property
    def v(self) -> Floats:
        """(T, 3) m/s, of the reference point, inertial axes"""
        v = self._source.read("v", (slice(None), self.layout.frame))
        return v + rotate(self.quat, np.cross(self.Omega, self.layout.reference))

    def point(self, X: Floats) -> Floats:
        """(T, 3) m, where the point X (m, body axes, from the centre of mass) is."""
        return self.center_of_mass + rotate(self.quat, X)


class JointHistory:
    """A joint between a and b: its multipliers, and what it does to b; to a it does the opposite.

    Multipliers are means over the last step and are paired with the directors at its end: forces converge
    with order 1.
    """

    def __init__(self, source: Source, layout: JointLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def name(self) -> str:
        return self.layout.name

    @property
    def kind(self) -> str:
        return self.layout.kind

    @cached_property
    def multipliers(self) -> Floats:
        """(T, rows) one for each scalar equation of the joint"""
        return self._source.read("lam", (slice(None), slice(*self.layout.rows)))

    @property
    def force(self) -> Floats:
        """(T, 3) N, on b, inertial axes"""
        return self._wrench[0]

    @property
    def moment(self) -> Floats:
        """(T, 3) N m, on b about the joint's point on b, inertial axes"""
        return self._wrench[1]

    @cached_property
    def _wrench(self) -> tuple[Floats, Floats]:
        constraints = self._constraints()
        a, b = constraints.frames[0]
        r, quat = (
            np.stack([self._source.read(name, (slice(None), int(f))) for f in (a, b)], axis=1)
            for name in ("r", "quat")
        )
        alone = constraints._replace(frames=np.tile([0, 1], (len(constraints.kind), 1)))
        if len(driven_rows(alone)):
            gradients = self._driven_gradients(alone, r, quat)
        else:
            gradients = evaluation.gradients(groups_of(alone), r, quat)
        # the equations of motion contain + G^T lam: what acts on b is -lam times the gradient
        on_b = -np.einsum("tm,tmi->ti", self.multipliers, gradients[:, :, 1])
        force = on_b[:, :3]
        return force, on_b[:, 3:] - np.cross(rotate(quat[:, 1], constraints.Xb[0]), force)

    def _driven_gradients(self, alone: Constraints, r: Floats, quat: Floats) -> Floats:
        """Of constraints with the driven numbers of every output."""
        every = self._source.layout.constraints
        assert every is not None
        first = first_rows(every.kind)[driven_rows(every)]
        mine = (first >= self.layout.rows[0]) & (first < self.layout.rows[1])
        drive = self._source.read("drive")[:, : len(first)][:, mine]
        none = np.zeros((len(r), 0))
        state = State(r, quat, r, r, none, none, none, none, drive=drive)
        own, flat = at_states(alone, state)
        found = evaluation.gradients(groups_of(own), flat.r, flat.quat)
        return found.reshape(len(r), -1, *found.shape[1:])

    def _constraints(self) -> Constraints:
        """The constraints of this joint."""
        every = self._source.layout.constraints
        if every is None:
            raise ResultError(
                f"joint '{self.name}': the layout of this result has no constraints; use `.multipliers`"
            )
        first = first_rows(every.kind)
        mine = (first >= self.layout.rows[0]) & (first < self.layout.rows[1])
        return Constraints(**{name: values[mine] for name, values in every._asdict().items()})
