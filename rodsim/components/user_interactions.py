"""Entries for user-defined interactions between anchors: a kind registered by a script, or an energy of measures as text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid import checks, quaternions
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.kinds import Kind
from rigid.interactions.measures import WIDTHS
from rigid.system import Floats
from rodsim.components.base import (
    DIRECTION,
    NEGLIGIBLE,
    CheckContext,
    ExternalValues,
    FollowedOutput,
    InteractionComponent,
    ParameterType,
    Poses,
    anchor,
    angle_directions,
    component,
    describe_time_function,
    parameter,
    perpendicular_to,
)
from rodsim.components.controllers import Output
from rodsim.components.joint_forces import SCALAR, scalar_function
from rodsim.components.model_parts import Anchor, Ground, Rod
from rodsim.components.part_lookup import find_part_or_point
from rodsim.components.section_energies import text_of
from rodsim.interactions import kernel_calls
from rodsim.interactions.kind_checks import complex_poses
from rodsim.interactions.measures import Measure
from rodsim.interactions.registration import UserKind, find_user_kind, register_kind
from rodsim.interactions.text_energies import (
    EnergyExpression,
    MeasureTerm,
    acts_on_axes,
    energy_kind,
    energy_parameters,
    parse_energy,
)


def _as_anchor(context: CheckContext, value: Any) -> Anchor:
    """Return `value` as an anchor of the model; the ground stands for its origin."""
    return anchor(context, "", value.at((0.0, 0.0, 0.0)) if isinstance(value, Ground) else value)


def _check_apart(owner: str, anchors: Sequence[Anchor]) -> None:
    """Raise ModelError if two anchors are on the same body or at the same cross-section of a rod."""
    positions = [(x.part.name, x.s if isinstance(x.part, Rod) else 0.0) for x in anchors]
    for place in positions:
        if positions.count(place) > 1:
            raise ModelError(f"{owner}: has two anchors on {place[0]}; give points of different parts")


def _check_text(context: CheckContext, what: str, value: Any) -> str:
    """Return an energy as text; a sympy expression is converted."""
    return value if isinstance(value, str) else text_of(value, context.owner)


def _check_measures(context: CheckContext, what: str, value: Any) -> dict[str, Measure]:
    """Check a mapping of names to measures."""
    if not isinstance(value, Mapping) or not all(isinstance(m, Measure) for m in value.values()):
        raise ModelError(
            f'{context.owner}: measures = {shown(value)}; give {{"d": measures.distance(a, b)}}, of rodsim.measures'
        )
    return {str(name): m for name, m in value.items()}


def _check_parameters(context: CheckContext, what: str, value: Any) -> dict[str, float]:
    """Check that all parameters are numbers."""
    return {key: checks.number(context.owner, key, x) for key, x in value.items()}


def _copy_numbers(context: CheckContext, what: str, value: Any) -> dict[str, Any]:
    """Return the numbers with arrays copied."""
    return {key: np.array(x) if np.ndim(x) else x for key, x in value.items()}


def points_by_name(owner: str, model: Any, value: Any) -> Any:
    """Replace names by points of the model."""
    return [find_part_or_point(owner, model, x) if isinstance(x, str) else x for x in value]


def _measures_by_name(owner: str, model: Any, value: Any) -> Any:
    """Replace names of points in measures by points of the model."""
    if not isinstance(value, Mapping):
        return value
    measures = {}
    for word, m in value.items():
        ends = {end: getattr(m, end) for end in ("a", "b") if isinstance(getattr(m, end, None), str)}
        named = {
            end: find_part_or_point(f"{owner}, measure '{word}'", model, text) for end, text in ends.items()
        }
        measures[word] = replace(m, **named) if named else m
    return measures


TEXT, PARAMETERS = ParameterType("text", _check_text), ParameterType("parameters", _check_parameters)
MEASURES = ParameterType("measures", _check_measures, by_name=_measures_by_name)
KIND = ParameterType("kind", lambda context, what, value: find_user_kind(context.owner, value))
ANCHORS = ParameterType(
    "anchors",
    lambda context, what, value: tuple(_as_anchor(context, x) for x in value),
    by_name=points_by_name,
)
NUMBERS = ParameterType("numbers", _copy_numbers)


@component
class AnchoredInteraction(InteractionComponent):
    """Base class of entries between any number of anchors."""

    anchors: tuple[Anchor, ...]

    @property
    def references(self) -> Iterator[Any]:
        yield from self.anchors

    @abstractmethod
    def anchor_pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of anchor numbers between which the entry acts."""

    @abstractmethod
    def levers(self, X: Floats) -> list[Floats | None]:
        """Return for each frame the point (3,), m, on which the entry acts, in frame axes; None: it acts on the axes instead."""


def check_inputs(context: CheckContext, user_kind: UserKind, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked values of the inputs of a kind, in their order; ModelError if one is missing or no scalar."""
    checked = {}
    for name in user_kind.inputs:
        if name not in values:
            raise ModelError(
                f"{context.owner}: give {name}=, an input of '{user_kind.name}': a number, a function of time, the output of a "
                "controller, or a sensor"
            )
        checked[name] = SCALAR.check(context, name, values[name])
    return checked


def values_of_inputs(owner: str, inputs: Mapping[str, Any], times: Floats) -> Floats:
    """Return the values (k, 1, 3) of up to three inputs of one interaction at times (k,), s."""
    values = np.zeros((len(times), 1, 3))
    for k, (name, value) in enumerate(inputs.items()):
        values[:, 0, k] = scalar_function(f"{owner}: {name}", value)(times)
    return values


def external_values_of(owner: str, inputs: Mapping[str, Any]) -> list[ExternalValues]:
    """Return the external values of an entry that makes one interaction with these inputs, if there are any."""
    if not inputs:
        return []
    function = partial(values_of_inputs, owner, inputs)
    varying = [value for value in inputs.values() if callable(value)]
    followed = [
        FollowedOutput(0, value, np.eye(3)[k])
        for k, value in enumerate(inputs.values())
        if isinstance(value, Output)
    ]
    user_value = varying[0] if len(varying) == 1 else function if varying else None
    return [ExternalValues(1, function, user_value, followed)]


def axes_about(poses: Poses, frames: Sequence[int], axis: Floats) -> list[Floats]:
    """Return a quaternion (4,) for each frame: axes, relative to its own, of which the third is a world axis.

    The axes of all frames coincide at t = 0.
    """
    first = perpendicular_to(axis)
    world = np.stack([first, np.cross(axis, first), axis])
    return [
        quaternions.from_matrix(np.stack([poses.local(frame, direction) for direction in world], axis=1))
        for frame in frames
    ]


@component
class UserInteraction(AnchoredInteraction):
    """An interaction of a kind registered by a script, see `Model.add_interaction`."""

    word, plural = "interaction", "interactions of your own"
    user_kind: UserKind = parameter(KIND, "a kind, or its name")
    anchors: tuple[Anchor, ...] = parameter(ANCHORS, "anchors, one for each frame of the kind")
    numbers: Mapping[str, Any] = parameter(NUMBERS, "numbers of its kind, by name [any]")
    axis: Floats | None = parameter(
        DIRECTION,
        "world direction at t = 0 of the third axis of every anchor; default: the axes of its part [1]",
        None,
    )
    axes: tuple[Floats, ...] = ()  # (4,) quaternion of each anchor relative to the axes of its part
    inputs: Mapping[str, Any] = field(default_factory=dict)  # values of the inputs, by name

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        user_kind, anchors = values["user_kind"], values["anchors"]
        if len(anchors) != user_kind.kind.arity:
            raise ModelError(
                f"{context.owner}: '{user_kind.name}' is of {user_kind.kind.arity} anchors, got {len(anchors)}"
            )
        _check_apart(context.owner, anchors)
        values["inputs"] = check_inputs(context, user_kind, values["numbers"])
        values["numbers"] = {key: x for key, x in values["numbers"].items() if key not in values["inputs"]}
        user_kind.packed(context.owner, values["numbers"])
        values["axes"] = (quaternions.IDENTITY,) * len(anchors)

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        sides = zip(self.anchors, changed["anchors"], self.axes, strict=True)
        axes = tuple(axes if new_anchor is here else section(here) for here, new_anchor, axes in sides)
        return replace(self, **changed, axes=axes)

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        owner = f"interaction '{self.name}'"
        placed = [poses.place(anchor) for anchor in self.anchors]
        frames = [place.frame for place in placed]
        if len(set(frames)) < len(frames):
            raise ModelError(f"{owner}: has two anchors at one node or body; give each its own")
        all_axes = self.axes if self.axis is None else axes_about(poses, frames, self.axis)
        anchors = [
            np.concatenate([place.X, quaternions.to_matrix(axes).ravel()])
            for place, axes in zip(placed, all_axes, strict=True)
        ]
        kind = register_kind(self.user_kind)
        loses = self.user_kind.dissipates and not kind.state_equations
        ones, values = (
            np.ones(len(self.inputs)),
            values_of_inputs(owner, self.inputs, np.zeros(1))[0, 0, : len(self.inputs)],
        )
        of_ones, X = (
            np.concatenate([*anchors, self.user_kind.packed(owner, self.numbers, inputs.tolist())])
            for inputs in (ones, values)
        )
        size = NEGLIGIBLE if loses else force_scale(owner, kind, poses, frames, of_ones)
        return [Interaction(kind, frames, X, size)]

    @property
    def states(self) -> dict[str, int]:
        widths, count = dict[str, int](), 0
        for name, width in reversed(self.user_kind.numbers):
            if count < self.user_kind.kind.n_internal:
                widths[name] = width
                count += max(width, 1)
        return dict(reversed(widths.items()))

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        return external_values_of(f"interaction '{self.name}'", self.inputs)

    def anchor_pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.anchors)), 2))

    def levers(self, X: Floats) -> list[Floats | None]:
        levers = X[: 12 * len(self.anchors)].reshape(-1, 12)[:, :3]
        return [None if turns else x for x, turns in zip(levers, self.user_kind.uses_axes, strict=True)]

    def described(self) -> dict[str, Any]:
        return {
            "kind": self.user_kind.name,
            "anchors": [str(anchor) for anchor in self.anchors],
            "numbers": {name: np.asarray(value, float).tolist() for name, value in self.numbers.items()},
            "code": self.user_kind.digest,
        } | (
            {"inputs": {name: describe_time_function(x) for name, x in self.inputs.items()}}
            if self.inputs
            else {}
        )


@dataclass(frozen=True)
class BoundMeasure(MeasureTerm):
    """One measure of an `EnergyInteraction`, with its two anchors given by their numbers `a` and `b`."""

    directions: tuple[Floats, ...]
    length: float | None

    def numbers(self, poses: Poses, anchors: tuple[Anchor, ...]) -> Floats:
        """Return the parameters of the measure in the order of `rigid.interactions.measures`."""
        a, b = poses.place(anchors[self.a]), poses.place(anchors[self.b])
        if self.word == "angle":
            return np.concatenate([*angle_directions(poses, a.frame, b.frame, self.directions[0]), [0.0]])
        local = [poses.local(f, u) for f, u in zip((a.frame, b.frame), self.directions, strict=False)]
        if self.word == "cosine":
            return np.concatenate(local)
        length = float(np.linalg.norm(b.world - a.world)) if self.length is None else self.length
        if self.word == "strain" and length == 0.0:
            raise ModelError(f"measure '{self.name}': its points coincide at t = 0; give length=")
        return np.concatenate([a.X, b.X, *local, [length] if self.word == "strain" else []])


@component
class EnergyInteraction(AnchoredInteraction):
    """An energy as a text of up to six named measures and of parameters."""

    key, word, list_description = "energies", "energy", "energies as texts of named measures"
    plural = "energies of measures"
    energy: str = parameter(
        TEXT, "energy as a function of the measures and parameters, such as k*(d - 1)**2/2 [J]"
    )
    measures: Mapping[str, Measure] = parameter(MEASURES, "measures of the energy, by name")
    parameters: Mapping[str, float] = parameter(
        PARAMETERS, "values of all other names in the energy [any]", None
    )
    anchors: tuple[Anchor, ...] = ()
    bound_measures: tuple[BoundMeasure, ...] = ()

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        anchors: list[Anchor] = []
        bound_measures = []
        values["parameters"] = values["parameters"] or {}
        for word, m in values["measures"].items():
            ends = []
            for end in (context.model.ground if m.a is None else m.a, m.b):
                anchor = _as_anchor(context, end)
                same = [k for k, x in enumerate(anchors) if x is anchor]
                anchors += [] if same else [anchor]
                ends.append(same[0] if same else len(anchors) - 1)
            _check_apart(f"{context.owner}, measure '{word}'", (anchors[ends[0]], anchors[ends[1]]))
            bound_measures.append(BoundMeasure(word, m.word, ends[0], ends[1], m.directions, m.length))
        parsed = parse_energy(
            context.owner, values["energy"], tuple(MeasureTerm(m.name, m.word, 0, 1) for m in bound_measures)
        )
        for name in values["parameters"]:
            if name not in parsed.parameters:
                raise ModelError(f"{context.owner}: does not contain the parameter '{name}'; remove it")
        for parameter_name in parsed.parameters:
            if parameter_name not in values["parameters"]:
                raise ModelError(
                    f"{context.owner}: contains '{parameter_name}', which is neither a measure nor a parameter; "
                    f"give {parameter_name}="
                )
        values |= {"energy": parsed.text, "anchors": tuple(anchors), "bound_measures": tuple(bound_measures)}

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        owner = f"energy '{self.name}'"
        parsed, frames = self._written(owner, [poses.place(anchor).frame for anchor in self.anchors])
        X = energy_parameters(
            parsed, [m.numbers(poses, self.anchors) for m in self.bound_measures], dict(self.parameters)
        )
        kind = energy_kind(parsed)
        return [Interaction(kind, frames, X, force_scale(owner, kind, poses, frames, X))]

    def _written(self, owner: str, of_anchors: list[int]) -> tuple[EnergyExpression, list[int]]:
        """Return the energy with its measures numbered by frames of the interaction, and these frames."""
        frames = list(dict.fromkeys(of_anchors))
        at = [frames.index(f) for f in of_anchors]
        measures = tuple(MeasureTerm(m.name, m.word, at[m.a], at[m.b]) for m in self.bound_measures)
        for m in measures:
            if m.a == m.b:
                raise ModelError(
                    f"{owner}: measure '{m.name}' is between two points of one node or body; give two apart"
                )
        return parse_energy(owner, self.energy, measures), frames

    def anchor_pairs(self) -> list[tuple[int, int]]:
        return [(m.a, m.b) for m in self.bound_measures]

    def levers(self, X: Floats) -> list[Floats | None]:
        levers_by_frame: dict[Any, list[Floats | None]] = {}
        at = 0
        for m in self.bound_measures:
            for k, (number, turns) in enumerate(acts_on_axes(m).items()):
                anchor = self.anchors[number]
                lever = None if turns else X[at + 3 * k : at + 3 * k + 3]
                levers_by_frame.setdefault((anchor.part.name, anchor.s), []).append(lever)
            at += WIDTHS[m.word]
        return [
            next((x for x in levers_of_frame if x is None or np.any(x)), levers_of_frame[0])
            for levers_of_frame in levers_by_frame.values()
        ]

    def described(self) -> dict[str, Any]:
        return {
            "kind": "energy",
            "energy": self.energy,
            "measures": {
                m.name: f"{m.word} from {self.anchors[m.a]} to {self.anchors[m.b]}"
                for m in self.bound_measures
            },
            "parameters": dict(self.parameters),
        }


_RATES = 1.0, 1e2, 1e4, 1e6, 1e8  # 1/s, reciprocals of the lengths of steps


def force_scale(owner: str, kind: Kind, poses: Poses, frames: list[int], X: Floats) -> tuple[float, float]:
    """Return the force (N) and moment (N m) that set the round-off level of the interaction.

    Both add the forces at t = 0 and their change over the distance of the frames, as the stiffness gives it.
    """
    r = poses.r[frames] - poses.r[frames[0]]
    y = complex_poses(r, poses.quat[frames])
    at_start = np.full(6 * len(frames), np.nan)
    for rate in (
        _RATES if kind.n_internal else _RATES[:1]
    ):  # stiff states may have no solution after a long step
        with np.errstate(all="ignore"):
            at_start = kernel_calls.to_wrenches(kernel_calls.dual(kind, y, y, X, rate), y)
        if np.all(np.isfinite(at_start)):
            break
    if not np.all(np.isfinite([kernel_calls.value(kind, y, X), *at_start])):
        raise ModelError(
            f"{owner}: its energy or its forces are not finite at t = 0; place its anchors elsewhere, or give other "
            "initial states"
        )
    reach = 1.0 + float(np.abs(r).max())
    forces = np.abs(at_start).reshape(-1, 6)
    K = np.nan_to_num(np.abs(kernel_calls.stiffness(kind, y, X, rate))).reshape(-1, 6, len(frames), 6)
    push = forces[:, :3].max() + K[:, :3, :, :3].max() * reach + K[:, 3:, :, :3].max()
    moment = forces[:, 3:].max() + K[:, :3, :, 3:].max() * reach + K[:, 3:, :, 3:].max()
    return float(push), float(moment)
