"""Entries whose forces vary in time: forces on measures, and springs whose numbers vary.

A number that varies and enters an energy linearly is a generalised force on a measure. With a fixed spring k0 (l - l0)^2/2,

    k (l - L)^2/2 = k0 (l - l0)^2/2 + (k - k0) (l - l0)^2/2 - k (L - l0) l + terms without l                    (1)

so that the force k (L - l0) on l, and k0 - k on (l - l0)^2/2, is all that varies. Its work is that of a load; the energy of the
model is that of the fixed spring.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_table import Interaction
from discretization.space.interpolation import VALUES, points
from discretization.space.rod_elements import BY_NUMBER
from discretization.space.se3_dual import SE3_ACTUATION
from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.kinds import Kind
from rigid.interactions.measure_forces import MEASURE_FORCES
from rigid.system import Floats, Ints
from rodsim.components.base import (
    ROD,
    CheckContext,
    ExternalValues,
    InteractionComponent,
    ParameterType,
    Poses,
    angle_directions,
    choice,
    component,
    describe_time_function,
    distinct_frames,
    parameter,
)
from rodsim.components.controllers import MEASURE, Output
from rodsim.components.joint_forces import SCALAR, scalar_function
from rodsim.components.model_parts import Anchor, Rod, section_at
from rodsim.components.section_energies import RIGID_STRAINS
from rodsim.components.user_interactions import BoundMeasure
from rodsim.components.varying_values import FIRST, scaled_input
from rodsim.interactions.measures import Measure

_NO_INPUT = np.zeros(3)
_START = np.zeros(1)  # s


@component
class MeasureForce(InteractionComponent):
    """A generalised force on a measure; it does the work force x change of the measure."""

    key, word, list_description = "measure_forces", "measure force", "generalised forces on measures"
    measure: Measure = parameter(MEASURE, "scalar of two points or parts on which it acts")
    force: Any = parameter(
        SCALAR,
        "force conjugate to the measure, positive if it increases it: a number, or a function of time [N or N m]",
    )
    a: Anchor  # the two points of the measure
    b: Anchor

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        values["a"], values["b"] = values["measure"].a, values["measure"].b

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        measure, ends = self.measure, (self.a, self.b)
        frames = distinct_frames(poses, f"measure force '{self.name}'", *ends)
        bound = BoundMeasure(self.name, measure.word, 0, 1, measure.directions, measure.length)
        numbers, scale = bound.numbers(poses, ends), 1.0
        word = measure.word
        if word == "strain":  # its force is one on the distance, over the length
            word, scale, numbers = "distance", 1.0 / numbers[-1], numbers[:-1]
        places = [poses.place(end) for end in ends]
        arm = float(sum(np.linalg.norm(place.X) for place in places))
        size = (scale, scale * arm)
        if word == "displacement":
            size = (1.0, 1.0 + arm + float(np.linalg.norm(places[1].world - places[0].world)))
        elif word in ("angle", "cosine"):
            size = (0.0, 1.0)
        return [Interaction(MEASURE_FORCES[word], frames, np.concatenate([numbers, _NO_INPUT]), size)]

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        length = 1.0
        if self.measure.word == "strain":
            a, b = (poses.place(end).world for end in (self.a, self.b))
            length = self.measure.length or float(np.linalg.norm(b - a))
        return [scaled_input(f"measure force '{self.name}'", self.force, (1.0 / length, 0.0, 0.0))]

    def __repr__(self) -> str:
        return f"<measure force '{self.name}' of {self.measure}>"


STRAINS = ("Gamma1", "Gamma2", "Gamma3", "K1", "K2", "K3")


def _check_shape(context: CheckContext, what: str, value: Any) -> Any:
    """Return a function of the fraction s of the length, or the rows (s, x) of a table with increasing s."""
    if callable(value):
        return value
    rows = checks.array(context.owner, what, value, (None, 2))
    if len(rows) < 2 or np.any(np.diff(rows[:, 0]) <= 0.0):
        raise ModelError(
            f"{context.owner}: {what}: expected two or more rows (s, x) with increasing s, got {shown(value)}"
        )
    return rows


SHAPE = ParameterType("shape along a rod", _check_shape, describe_time_function)


@component
class Actuation(InteractionComponent):
    """Rest strains along a rod that vary in time: a component times a shape along the rod times a value."""

    key, word, list_description = "actuations", "actuation", "rest strains of rods that vary in time"
    on: Rod = parameter(ROD, "name of the rod", result_key="rod")
    strain: str = parameter(
        choice(*STRAINS), "component: stretch Gamma1, shears Gamma2 and Gamma3, twist K1, bendings K2 and K3"
    )
    value: Any = parameter(
        SCALAR, "rest strain where the shape is 1: a number, or a function of time [1 or 1/m]"
    )
    shape: Any = parameter(
        SHAPE,
        "factor along the rod: rows of fraction of the length and factor, straight lines between; default: 1 [1]",
        None,
    )

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        kind, frames, numbers = self._elements(poses)
        return [
            Interaction(kind, nodes, row, (0.0, 0.0))
            for nodes, row in zip(frames.tolist(), numbers, strict=True)
        ]

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        return [scaled_input(f"actuation '{self.name}'", self.value, count=len(self._elements(poses)[1]))]

    def _elements(self, poses: Poses) -> tuple[Kind, Ints, Floats]:
        """Return kind, frames (m, nodes) and numbers (m, ...) of the actuated elements, without those whose shape is zero."""
        mesh, first = poses.meshes[self.on.name], poses.first[self.on.name]
        spans = mesh.spans
        if np.any(spans.law >= 0):
            raise ModelError(
                f"actuation '{self.name}': the material of {self.on} is not linear, so that its rest strains do not act "
                "as a constant stress. Use a linear section"
            )
        if len(spans.kind):
            order = int(spans.order[0])
            kind, nodes = BY_NUMBER[spans.kind[0]].kernels().ACTUATIONS[order], spans.frames[:, : order + 1]
            length, stiffness, x = spans.length, spans.stiffness, points(order)[0]
        else:
            order, kind, nodes = 1, SE3_ACTUATION, mesh.elements.frames
            length, stiffness, x = mesh.elements.length, mesh.elements.stiffness, np.array([0.5])
        rigid = section_at(self.on, 0.0).rigid_strains
        if any(STRAINS.index(self.strain) in RIGID_STRAINS[name] for name in rigid):
            raise ModelError(
                f"actuation '{self.name}': {self.strain} of {self.on} is rigid; give its section a finite stiffness"
            )
        begin = mesh.fractions[nodes[:, 0]]
        fractions = (begin[:, None] + length[:, None] / self.on.stress_free.length * x).ravel()
        strains = np.zeros((len(fractions), 6))
        strains[:, STRAINS.index(self.strain)] = self._factors(fractions)
        centers = np.einsum("ga,mai->mgi", VALUES[order, :order, : order + 1], mesh.center[nodes]).reshape(
            -1, 3
        )
        strains[:, :3] += np.cross(strains[:, 3:], centers)
        stress = np.einsum("gij,gj->gi", stiffness, strains).reshape(len(length), -1)
        acts = stress.any(axis=1)
        columns = np.column_stack([np.full(len(length), float(order)), length, stress])[acts]
        return kind, first + nodes[acts], np.pad(columns, ((0, 0), (0, len(_NO_INPUT))))

    def _factors(self, fractions: Floats) -> Floats:
        """Return the shape at fractions (k,) of the length."""
        if self.shape is None:
            return np.ones(len(fractions))
        if callable(self.shape):
            owner = f"actuation '{self.name}'"
            return np.array(
                [checks.number(owner, f"shape at s = {s:g}", self.shape(float(s))) for s in fractions]
            )
        return np.interp(fractions, *self.shape.T)

    def __repr__(self) -> str:
        return f"<actuation '{self.name}' of {self.strain} of {self.on}>"


class FixedSpring(NamedTuple):
    """Constant numbers of the fixed spring of (1)."""

    stiffness: float  # k0: that at t = 0; 0 if a controller sets it
    free: (
        float | None
    )  # l0: the value without force at t = 0; None if a controller sets it, and by default: that of the pose


def fixed_spring(owner: str, stiffness: Any, free: Any) -> FixedSpring:
    """Return the fixed spring of a spring whose stiffness and value without force may vary.

    ModelError if both do and one follows a controller: their product is not linear in the output.
    """
    if callable(stiffness) and callable(free) and any(isinstance(x, Output) for x in (stiffness, free)):
        raise ModelError(
            f"{owner}: both its stiffness and its value without force vary, and one of them follows a controller. Keep one of "
            "them constant, or give functions of time"
        )
    none = free is None or isinstance(free, Output)
    return FixedSpring(
        0.0 if isinstance(stiffness, Output) else float(scalar_function(owner, stiffness)(_START)[0]),
        None if none else float(scalar_function(owner, free)(_START)[0]),
    )


@component
class SpringVariation(InteractionComponent):
    """A force on the measure of a spring whose numbers vary: what it exerts beyond the fixed spring of (1)."""

    word = "spring"
    spring: Any  # `Spring` or `TorsionSpring`

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        spring = self.spring
        frames = distinct_frames(poses, f"{spring.word} '{self.name}'", spring.a, spring.b)
        linear: tuple[str, list[Any], tuple[float, float]]
        if spring.axis is not None:
            directions = np.concatenate(angle_directions(poses, frames[0], frames[1], spring.axis))
            linear = "angle", [*directions, 0.0], (0.0, 1.0)
            squared = "twist", [*directions, self._free(poses)], (0.0, 2.0 * np.pi)
        else:
            places = [poses.place(end) for end in (spring.a, spring.b)]
            ends = [x for place in places for x in place.X]
            arm = float(sum(np.linalg.norm(place.X) for place in places))
            reach = 1.0 + _distance(poses, spring)
            linear = "distance", ends, (1.0, arm)
            squared = "stretch", [*ends, self._free(poses)], (reach, reach * arm)
        made = []
        for part, varies in zip((squared, linear), map(callable, spring.numbers), strict=True):
            if varies:
                kind, numbers = MEASURE_FORCES[part[0]], part[1]
                made.append(
                    Interaction(
                        kind, frames, np.array([*numbers, *_NO_INPUT, *[0.0] * kind.n_internal]), part[2]
                    )
                )
        return made

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        owner, (stiffness, free) = f"spring '{self.name}'", self.spring.numbers
        fixed, l0 = self.spring.fixed.stiffness, self._free(poses)
        squared = [scaled_input(owner, stiffness, (-1.0, 0.0, 0.0), (0.0, fixed, 0.0))]
        if not callable(free):
            return squared
        if not callable(stiffness):
            return [scaled_input(owner, free, (stiffness, 0.0, 0.0), (0.0, -stiffness * l0, 0.0))]
        of_time = [scalar_function(owner, value) for value in (stiffness, free)]

        def product(times: Floats) -> Floats:
            """Return k (L - l0) at times (k,), s, as values (k, 1, 3)."""
            k, length = (function(times) for function in of_time)
            return (k * (length - l0))[:, None, None] * np.array(FIRST)

        return [squared[0]._replace(described=None), ExternalValues(1, product, free)]

    def _free(self, poses: Poses) -> float:
        """Return l0 of (1), by default the value of the pose at t = 0."""
        free = self.spring.fixed.free
        if free is not None:
            return float(free)
        return 0.0 if self.spring.axis is not None else _distance(poses, self.spring)


def _distance(poses: Poses, spring: Any) -> float:
    """Return the distance of the points of a spring at t = 0, m."""
    return float(np.linalg.norm(poses.place(spring.b).world - poses.place(spring.a).world))
