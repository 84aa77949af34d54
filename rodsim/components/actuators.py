"""Actuators: forces on the coordinate of a joint or on a measure, with equations of their own, such as motors and cylinders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid import quaternions
from rigid.checks import number, shown
from rigid.errors import ModelError
from rigid.joints import JOINTS
from rigid.system import Floats
from rodsim.components.actuator_laws import (
    ActuatorLaw,
    check_actuator_law,
    describe_actuator_law,
    equations_of,
)
from rodsim.components.base import (
    JOINT,
    Attachment,
    CheckContext,
    ExternalValues,
    InteractionComponent,
    ParameterType,
    Poses,
    component,
    describe_time_function,
    parameter,
)
from rodsim.components.controllers import MEASURE_OF_POINTS
from rodsim.components.joint_forces import SCALAR
from rodsim.components.joints import COORDINATES, JointComponent, chosen_coordinate
from rodsim.components.model_parts import Anchor
from rodsim.components.user_interactions import (
    PARAMETERS,
    axes_about,
    external_values_of,
    force_scale,
    values_of_inputs,
)
from rodsim.interactions.measures import Measure
from rodsim.interactions.registration import INPUTS
from rodsim.interactions.state_equations import (
    COORDINATES as MEASURES,
)
from rodsim.interactions.state_equations import (
    StateEquations,
    parse_state_equations,
    state_equations_kind,
)


def _scalars(context: CheckContext, what: str, value: Any) -> dict[str, Any]:
    """Check scalars that may vary with time, by name."""
    if not isinstance(value, Mapping):
        raise ModelError(f"{context.owner}: inputs = {shown(value)}; give values by name")
    return {name: SCALAR.check(context, name, x) for name, x in value.items()}


LAW = ParameterType("actuator law", check_actuator_law, describe_actuator_law)
INPUT_VALUES = ParameterType(
    "varying scalars",
    _scalars,
    lambda values: {name: describe_time_function(x) for name, x in values.items()},
)


@component
class Actuator(InteractionComponent):
    """A force or moment between two parts with states and inputs: a motor, a cylinder, or equations as texts."""

    key, word, list_description = (
        "actuators",
        "actuator",
        "motors, cylinders and forces with equations of their own",
    )
    law: ActuatorLaw = parameter(LAW, "equations of its states, and its force")
    joint: JointComponent | None = parameter(JOINT, "name of the joint on whose coordinate it acts", None)
    of: str | None = parameter(
        ParameterType("choice", choices=COORDINATES), "the coordinate it acts on, if the joint has two", None
    )
    measure: Measure | None = parameter(
        MEASURE_OF_POINTS,
        "angle, displacement, coordinate or distance on which it acts, in place of a joint",
        None,
    )
    inputs: Mapping[str, Any] = parameter(INPUT_VALUES, "values of its inputs, by name [any]", None)
    initial: Mapping[str, float] = parameter(
        PARAMETERS, "initial values of its states, by name; default: 0 [any]", None
    )
    a: Attachment  # both ends, and its equations
    b: Attachment
    equations: StateEquations

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, joint, measure = context.owner, values["joint"], values["measure"]
        if (joint is None) == (measure is None):
            raise ModelError(
                f"{owner}: acts on a joint or on a measure, got {'neither' if joint is None else 'both'}"
            )
        if joint is not None:
            coordinates = lambda kind: JOINTS[kind].driven  # noqa: E731
            values["of"] = chosen_coordinate(owner, joint, values["of"], "act on", coordinates)
            coordinate, values["a"], values["b"] = values["of"], joint.a, joint.b
        else:
            if values["of"] is not None:
                raise ModelError(f"{owner}: of = '{values['of']}' is for joints; remove it")
            if measure.word not in MEASURES:
                raise ModelError(
                    f"{owner}: cannot act on a {measure.word}; give an angle, a displacement, a coordinate or a distance"
                )
            coordinate, values["a"], values["b"] = measure.word, measure.a, measure.b
        texts = equations_of(values["law"])
        given, values["initial"] = values["inputs"] or {}, values["initial"] or {}
        _check_names(owner, "an input", given, texts.inputs, required=True)
        _check_names(owner, "a state", values["initial"], texts.equations)
        values["inputs"] = {name: given[name] for name in texts.inputs}
        values["equations"] = parse_state_equations(
            owner, dict(texts.equations), (texts.force, texts.energy), texts.inputs, coordinate
        )

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        owner, equations = f"actuator '{self.name}'", self.equations
        frames, points, axis = self._placed(poses)
        if frames[0] == frames[1]:
            raise ModelError(f"{owner}: acts within one node or body; give two parts")
        axes = [quaternions.IDENTITY] * 2 if axis is None else axes_about(poses, frames, axis)
        levers = [poses.local(f, point - poses.r[f]) for f, point in zip(frames, points, strict=True)]
        anchors = [
            np.concatenate([X, quaternions.to_matrix(quat).ravel()])
            for X, quat in zip(levers, axes, strict=True)
        ]
        apart = points[1] - points[0]
        q = {"angle": 0.0, "distance": np.linalg.norm(apart)}.get(equations.coordinate)
        numbers = equations_of(self.law).parameters or {}
        parameters = [numbers[name] for name in equations.parameters]
        states = [
            number(owner, f"initial[{name!r}]", self.initial.get(name, 0.0)) for name in equations.states
        ]
        kind = state_equations_kind(equations)

        def packed(inputs: Any) -> Floats:
            """Return the numbers of the interaction with these inputs."""
            start = np.dot(axis, apart) if q is None else q  # type: ignore[arg-type]
            width = INPUTS if equations.inputs else 0
            padded = np.concatenate([inputs, np.zeros(width - len(inputs))])
            return np.concatenate([*anchors, parameters, [start], padded, states])

        count = len(self.inputs)
        size = force_scale(owner, kind, poses, frames, packed(np.ones(count)))
        return [
            Interaction(
                kind, frames, packed(values_of_inputs(owner, self.inputs, np.zeros(1))[0, 0, :count]), size
            )
        ]

    def _placed(self, poses: Poses) -> tuple[list[int], list[Floats], Floats | None]:
        """Return frames, points of action in the world, m, and the axis in the world, of both ends."""
        if self.joint is None:
            assert self.measure is not None
            places = [poses.place(anchor) for anchor in (self.a, self.b)]  # type: ignore[arg-type]
            directions = self.measure.directions
            return [x.frame for x in places], [x.world for x in places], directions[0] if directions else None
        point = self.joint.at
        if point is None:
            point = next(poses.place(x).world for x in (self.b, self.a) if isinstance(x, Anchor))
        return [poses.frame_of(x) for x in (self.a, self.b)], [point, point], self.joint.axis

    @property
    def states(self) -> dict[str, int]:
        return dict.fromkeys(self.equations.states, 0)

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        return external_values_of(f"actuator '{self.name}'", self.inputs)

    def __repr__(self) -> str:
        on = self.measure if self.joint is None else f"the {self.of} of joint '{self.joint.name}'"
        return f"<actuator '{self.name}': {type(self.law).__name__} on {on}>"


def _check_names(owner: str, what: str, given: Mapping[str, Any], known: Any, required: bool = False) -> None:
    """Raise ModelError if a name is not known or, with `required`, one is missing; what: article and word in messages."""
    names = ", ".join(known) or "none"
    for name in given:
        if name not in known:
            raise ModelError(f"{owner}: '{name}' is not {what} of its law, which has {names}")
    for name in known if required else ():
        if name not in given:
            raise ModelError(
                f"{owner}: give {name}=, {what} of its law: a number, a function of time, the output of a controller, or a "
                "sensor"
            )
