"""Fluids, and the rods and bodies in them: buoyancy, drag, added mass, and forces of accelerated fluid.

A rod has all of them at its nodes. Buoyancy rho A g and added mass rho A C_a per stress-free length are lumped there, with half
of each adjacent interval. Drag acts on the two nodes of each interval, along and across its chord
(`rigid.interactions.fluid_drag`). A fluid reaches everywhere: a part that leaves the water keeps its forces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid.checks import array, number, shown, vector
from rigid.errors import ModelError
from rigid.interactions.added_mass import ADDED_MASSES
from rigid.interactions.fluid_drag import BODY_DRAG, LINE_DRAG
from rigid.interactions.loads import BUOYANCY
from rigid.signals import Steady
from rigid.system import Floats
from rodsim.components.base import (
    NEGLIGIBLE,
    NOT_NEGATIVE,
    NUMBER,
    POINT,
    POSITIVE,
    ROD,
    CheckContext,
    ExternalValues,
    InteractionComponent,
    ParameterType,
    Poses,
    component,
    describe_time_function,
    parameter,
)
from rodsim.components.flows import Current, Formula, check_current, check_waves, current_numbers
from rodsim.components.joint_forces import SCALAR, scalar_function
from rodsim.components.model_parts import Anchor, Body, Rod
from rodsim.components.sections import lowest_eigenvalue
from rodsim.components.varying_values import scaled_input


def _describe_flow(value: Any) -> Any:
    """Describe a current or waves for JSON."""
    if isinstance(value, tuple):
        return [_describe_flow(wave) for wave in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return {"type": type(value).__name__} | {name: np.asarray(x).tolist() for name, x in vars(value).items()}


CURRENT = ParameterType(
    "current", lambda context, what, value: check_current(context.owner, what, value), _describe_flow
)
WAVES = ParameterType(
    "waves", lambda context, what, value: check_waves(context.owner, what, value), _describe_flow
)


@component
class Fluid(InteractionComponent):
    """A fluid that fills space, such as the sea or the air, with a current and waves."""

    key, word, list_description = "fluids", "fluid", "fluids with currents and waves"
    density: float = parameter(POSITIVE, "density [kg/m^3]")
    current: Floats | Current | None = parameter(
        CURRENT,
        "velocity of the current or wind: a vector, a power law, a table over height or formulas [m/s]",
        None,
    )
    factor: Any = parameter(
        SCALAR, "factor of the current over time: a number or a function of time [1]", 1.0
    )
    waves: tuple[Any, ...] = parameter(WAVES, "regular waves, which add", None)
    depth: float | None = parameter(POSITIVE, "depth of the water, for waves; default: deep water [m]", None)
    level: float = parameter(NUMBER, "height of the mean surface above the origin, for waves [m]", 0.0)
    build_up: float = parameter(NOT_NEGATIVE, "time over which waves grow from zero at the start [s]", 0.0)

    @property
    def moves(self) -> bool:
        """True if the fluid has a current or waves."""
        return self.current is not None or bool(self.waves)

    @property
    def accelerates(self) -> bool:
        """True if the flow has an acceleration: waves, or a current by formulas."""
        return bool(self.waves) or isinstance(self.current, Formula)

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        return []  # they are those of the parts in the fluid

    def flow_numbers(self, poses: Poses) -> list[float]:
        """Return the numbers of the flow in the layout of `rigid.interactions.flow_fields`, with the values at t = 0."""
        g = float(np.linalg.norm(poses.gravity))
        up = -poses.gravity / g if g > 0.0 else np.array([0.0, 0.0, 1.0])
        waves = self.waves or ()
        if waves and g == 0.0:
            raise ModelError(
                f"fluid '{self.name}': has waves, but the model has no gravity. Set the gravity of the model"
            )
        rows = [wave.numbers(up, g, self.depth, self.build_up) for wave in waves]
        factor = float(scalar_function(f"fluid '{self.name}'", self.factor)(np.zeros(1))[0])
        of_waves = [self.level, len(waves), *(x for row in rows for x in row)]
        return [factor, 0.0, 1.0, *up, *current_numbers(self.current), *of_waves]

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        return ()

    def flow_values(self, count: int) -> ExternalValues:
        """Return the values of `count` interactions: factor of the current, time, factor of waves."""
        owner, varies = f"fluid '{self.name}'", callable(self.factor)
        if not self.moves:
            return scaled_input(owner, 0.0, count=count)
        if not self.waves and not (isinstance(self.current, Formula) and self.current.varies):
            return scaled_input(
                owner, self.factor, (1.0, 0.0, 0.0), (0.0, 0.0, 1.0 if varies else 0.0), count
            )
        if not varies:
            return scaled_input(owner, Steady(1.0), (0.0, 1.0, 0.0), (float(self.factor), 0.0, 1.0), count)
        function = partial(_flow_values, scalar_function(owner, self.factor))
        return ExternalValues(count, function, self.factor)

    def __repr__(self) -> str:
        return f"<fluid '{self.name}' of {self.density:g} kg/m^3>"


def _flow_values(factor: Any, times: Floats) -> Floats:
    """Return the values (k, 3) of a current that varies beside waves, the same for all interactions."""
    return np.column_stack([factor(times), times, np.ones(len(times))])


def _find_fluid(context: CheckContext, what: str, value: Any) -> Fluid:
    """Return the fluid of the model that `value` is or names."""
    fluids = {name: entry for name, entry in context.model.others.items() if isinstance(entry, Fluid)}
    fluid = fluids.get(value) if isinstance(value, str) else value
    if not isinstance(fluid, Fluid) or fluids.get(fluid.name) is not fluid:
        known = ", ".join(fluids) or "none"
        raise ModelError(
            f"{context.owner}: {shown(value)} is not a fluid of this model; there are: {known}. Make one by add_fluid"
        )
    return fluid


FLUID = ParameterType("fluid", _find_fluid, lambda value: str(value.name))


def _buoyancy(fluid: Fluid, poses: Poses, volumes: Floats) -> ExternalValues:
    """Return the buoyancies of displaced volumes (n,), m^3, as external values."""
    forces = -fluid.density * volumes[:, None] * poses.gravity
    described = {"value": describe_time_function(1.0), "factor": forces.tolist(), "base": [0.0, 0.0, 0.0]}
    return ExternalValues(len(volumes), partial(_constant, forces), 1.0, (), described)


def _constant(forces: Floats, times: Floats) -> Floats:
    """Return constant forces (k, n, 3)."""
    return np.repeat(forces[None], len(times), axis=0)


@component
class SubmergedRod(InteractionComponent):
    """A rod in a fluid: buoyancy, drag and added mass of a circular section."""

    key, word, list_description = "submerged_rods", "submerged rod", "rods in fluids"
    rod: Rod = parameter(ROD, "name of the rod")
    fluid: Fluid = parameter(FLUID, "name of the fluid")
    diameter: float = parameter(POSITIVE, "outer diameter [m]")
    drag: float = parameter(
        NOT_NEGATIVE, "coefficient of drag across the rod, on the area d per length [1]", 1.2
    )
    tangential_drag: float = parameter(
        NOT_NEGATIVE, "coefficient of drag along the rod, on the area pi d per length [1]", 0.0
    )
    added_mass: float = parameter(NOT_NEGATIVE, "coefficient of added mass across the rod [1]", 1.0)
    tangential_added_mass: float = parameter(
        NOT_NEGATIVE,
        "coefficient of added mass along the rod; default: 0, and that across it for a string [1]",
        None,
    )
    buoyancy: float = parameter(NOT_NEGATIVE, "part of the displaced volume that lifts [1]", 1.0)

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        along, across = values["tangential_added_mass"], values["added_mass"]
        if along is None:
            values["tangential_added_mass"] = across if values["rod"].is_string else 0.0
        elif values["rod"].is_string and along != across:
            raise ModelError(
                f"{context.owner}: tangential_added_mass = {along:g}, but the nodes of a string have no axis. Remove it; it is "
                f"then {across:g} as across the string"
            )
        for name, other in context.model.others.items():
            if isinstance(other, SubmergedRod) and (other.rod, other.fluid) == (
                values["rod"],
                values["fluid"],
            ):
                raise ModelError(
                    f"{context.owner}: '{name}' puts the same rod into the same fluid. Remove one of them"
                )

    @property
    def _area(self) -> float:
        return 0.25 * math.pi * self.diameter**2

    def _lengths(self, poses: Poses) -> tuple[Floats, Floats]:
        """Return the lengths of the intervals and those of the nodes, m, free of stress."""
        mesh = poses.meshes[self.rod.name]
        ends = np.append(mesh.arclength, self.rod.stress_free.length) if self.rod.closed else mesh.arclength
        intervals = np.diff(ends)
        if self.rod.closed:
            return intervals, 0.5 * (intervals + np.roll(intervals, 1))
        return intervals, 0.5 * (np.append(intervals, 0.0) + np.append(0.0, intervals))

    @property
    def _drags(self) -> bool:
        """True if flow past the rod has forces."""
        return self.drag > 0.0 or self.tangential_drag > 0.0 or self.fluid.accelerates

    @property
    def _masses(self) -> bool:
        return self.added_mass > 0.0 or self.tangential_added_mass > 0.0

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        fluid, nodes = self.fluid, poses.frames_of(self.rod).tolist()
        intervals, lengths = self._lengths(poses)
        flow = fluid.flow_numbers(poses)
        interactions = []
        if self.buoyancy > 0.0:
            interactions += [Interaction(BUOYANCY, [node], np.zeros(6), NEGLIGIBLE) for node in nodes]
        if self._drags:
            normal = 0.25 * fluid.density * self.diameter * self.drag
            tangential = 0.25 * fluid.density * math.pi * self.diameter * self.tangential_drag
            displaced = 0.5 * fluid.density * self._area
            for k, length in enumerate(intervals.tolist()):
                numbers = np.array([normal * length, tangential * length, displaced * length, *flow])
                frames = [0, nodes[k], nodes[(k + 1) % len(nodes)]]
                interactions.append(Interaction(LINE_DRAG, frames, numbers, NEGLIGIBLE))
        if self._masses:
            kind, coefficients = (
                ADDED_MASSES[3, fluid.moves],
                np.array([self.tangential_added_mass, self.added_mass, self.added_mass]),
            )
            for node, length in zip(nodes, lengths.tolist(), strict=True):
                M = np.diag(fluid.density * self._area * length * coefficients)
                interactions.append(_added_mass(kind, node, M, flow))
        return interactions

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        intervals, lengths = self._lengths(poses)
        values = []
        if self.buoyancy > 0.0:
            values.append(_buoyancy(self.fluid, poses, self.buoyancy * self._area * lengths))
        if self._drags:
            values.append(self.fluid.flow_values(len(intervals)))
        if self._masses and self.fluid.moves:
            values.append(self.fluid.flow_values(len(lengths)))
        return values


def _added_mass(kind: Any, frame: int, M: Floats, flow: Sequence[float]) -> Interaction:
    """Return the interaction of an added mass in the axes of a frame."""
    flows, size = kind.arity == 2, len(M)
    numbers = np.array([*M.ravel(), *(flow if flows else ()), *np.zeros(size)])
    translation, rotation = float(np.abs(M[:3]).max()), float(np.abs(M[3:]).max(initial=0.0))
    reach = 1.0  # m, of motions in a step, at most; round-off is that of positions
    return Interaction(
        kind,
        [0, frame] if flows else [frame],
        numbers,
        (2.0 * translation * reach, 2.0 * (rotation + translation)),
    )


def _check_areas(context: CheckContext, what: str, value: Any) -> Floats:
    """Return three drag areas, not negative, from one or three numbers."""
    owner = context.owner
    areas = np.full(3, number(owner, what, value)) if np.ndim(value) == 0 else vector(owner, what, value)
    if areas.min() < 0.0:
        raise ModelError(
            f"{owner}: {what} = {shown(value)} has a negative number. Drag areas are zero or positive"
        )
    return areas


def _check_added_mass(context: CheckContext, what: str, value: Any) -> Floats:
    """Return a symmetric positive semidefinite matrix (6, 6) from one number, three, six, or the matrix."""
    owner, size = context.owner, np.asarray(value, dtype=object)
    if size.ndim == 0:
        matrix = np.diag([number(owner, what, value)] * 3 + [0.0] * 3)
    elif size.ndim == 1:
        diagonal = vector(owner, what, value, 3 if len(size) == 3 else 6)
        matrix = np.diag(np.append(diagonal, np.zeros(6 - len(diagonal))))
    else:
        matrix = array(owner, what, value, (6, 6))
    if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max(initial=1e-300):
        raise ModelError(f"{owner}: {what} is not symmetric. Give the symmetric matrix of the kinetic energy")
    lowest = lowest_eigenvalue(owner, what, matrix)
    if lowest < -1e-12 * np.abs(matrix).max():
        raise ModelError(f"{owner}: {what} has the eigenvalue {lowest:.3g}; it must not be negative")
    return 0.5 * (matrix + matrix.T)


AREAS = ParameterType("one or three numbers", _check_areas)
ADDED_MASS = ParameterType("added mass", _check_added_mass)


@component
class SubmergedBody(InteractionComponent):
    """A body in a fluid: buoyancy, drag and added mass at one of its points."""

    key, word, list_description = "submerged_bodies", "submerged body", "bodies in fluids"
    on: Anchor = parameter(
        POINT, "point of a body at which its forces act: centre of buoyancy", result_key="point"
    )
    fluid: Fluid = parameter(FLUID, "name of the fluid")
    volume: float = parameter(NOT_NEGATIVE, "displaced volume [m^3]", 0.0)
    drag_area: Floats = parameter(
        AREAS, "area times drag coefficient: one number, or three along the body's axes [m^2]", 0.0
    )
    added_mass: Floats = parameter(
        ADDED_MASS,
        "one number or three along the body's axes; with moments of inertia about the point six, or 6 x 6 [kg, kg m, kg m^2]",
        0.0,
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        if not isinstance(values["on"].part, Body):
            raise ModelError(
                f"{context.owner}: {values['on']} is not on a body. Give a point of a body, or use add_submerged_rod for a rod"
            )
        if values["volume"] == 0.0 and not values["drag_area"].any() and not values["added_mass"].any():
            raise ModelError(f"{context.owner}: has no force. Give volume=, drag_area= or added_mass=")

    @property
    def _drags(self) -> bool:
        return bool(self.drag_area.any()) or (self.volume > 0.0 and self.fluid.accelerates)

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        fluid, placed = self.fluid, poses.place(self.on)
        flow, interactions = fluid.flow_numbers(poses), []
        if self.volume > 0.0:
            interactions.append(
                Interaction(BUOYANCY, [placed.frame], np.concatenate([placed.X, np.zeros(3)]), NEGLIGIBLE)
            )
        if self._drags:
            D = 0.5 * fluid.density * np.diag(self.drag_area)
            numbers = np.array([*placed.X, *D.ravel(), fluid.density * self.volume, *flow])
            interactions.append(Interaction(BODY_DRAG, [0, placed.frame], numbers, NEGLIGIBLE))
        if self.added_mass.any():
            x, y, z = placed.X
            A = np.eye(6)  # velocities of the point from those of the frame's origin: V + W x X
            A[:3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
            M = A.T @ self.added_mass @ A
            size = 6 if M[3:].any() or M[:, 3:].any() else 3
            interactions.append(
                _added_mass(ADDED_MASSES[size, fluid.moves], placed.frame, M[:size, :size], flow)
            )
        return interactions

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        values = []
        if self.volume > 0.0:
            values.append(_buoyancy(self.fluid, poses, np.array([self.volume])))
        if self._drags:
            values.append(self.fluid.flow_values(1))
        if self.added_mass.any() and self.fluid.moves:
            values.append(self.fluid.flow_values(1))
        return values
