"""Build the arrays of loads: loads at points, then nodal loads of distributed loads and of wind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_table import loads_of, table_of
from rigid.errors import ModelError, PartName
from rigid.signals import ConstantVector, VectorFunction, VectorSignal
from rigid.system import FORCE, MOMENT, Floats, Ints, Loads
from rodsim.building.distributed_loads import LoadedElements, loaded_elements, nodal_values
from rodsim.building.joint_rows import JointMarkers
from rodsim.building.placement import Placement
from rodsim.components.base import ExternalValues, InteractionComponent
from rodsim.components.forces import Gravity, MassDamping
from rodsim.components.joint_forces import JointForce
from rodsim.components.loads import DistributedLoad, Load
from rodsim.components.model_data import ModelData
from rodsim.components.part_lookup import ErrorContext


class Wind(NamedTuple):
    """Hold the load on a part that is damped relative to a moving medium."""

    name: str
    kind: int = FORCE
    following: bool = False


class OnJoint(NamedTuple):
    """Hold the kind of a joint force, whose components are in the axes of the moving parts."""

    name: str
    kind: int
    following: bool = True


class LineLoad(NamedTuple):
    """Hold the loads on several frames of a distributed load, a joint force or a wind."""

    entry: DistributedLoad | OnJoint | Wind
    frames: Ints
    values: Callable[[Floats], Floats]
    user_value: Any  # value from the user
    of_one: Callable[[], Floats] | None = (
        None  # nodal loads (n, 3) if the value is the output 1 of a controller
    )
    points: Floats | None = None  # (n, 3) points of application in frame axes, m; None: the origins
    directions: Floats | None = None  # (n, 3) directions along which the loads act at all times, if known


def line_loads(
    model: ModelData, placement: Placement, joint_markers: Sequence[JointMarkers]
) -> list[LineLoad]:
    """Return the loads on several frames: of distributed loads on the meshed rods, of joint forces, and then of parts damped
    relative to a moving medium.

    joint_markers: markers of each joint of the model.
    """
    loads = []
    for entry in model.line_loads.values():
        spread = loaded_elements(entry, placement.meshes[entry.on.name])
        values = nodal_values(f"load '{entry.name}'", entry, spread)
        frames = placement.first[entry.on.name] + spread.frames
        loads.append(LineLoad(entry, frames, values, entry.value, partial(_of_one, entry, spread)))
    markers_by_joint = dict(zip(model.joints, joint_markers, strict=False))
    for force in model.joint_forces.values():
        loads.append(_joint_force(force, markers_by_joint[force.joint.name], placement))
    for other in model.others.values():
        if isinstance(other, MassDamping) and other.ambient is not None:
            frames = placement.frames_of(other.on)
            pushed = other.rate * placement.frames.mass[frames]
            loads.append(LineLoad(Wind(other.name), frames, _wind(other.ambient, pushed), other.ambient))
        if isinstance(other, Gravity):
            loads.append(_gravity(other, placement))
    return loads


def _joint_force(force: JointForce, markers: JointMarkers, placement: Placement) -> LineLoad:
    """Return the loads of a joint force on its moving parts: the value along the axis on b, its negative on a."""
    sides = [(markers.b, 1.0), (markers.a, -1.0)]
    moving = [(marker, sign) for marker, sign in sides if placement.frames.fixed[marker.frame] == 0]
    directions = np.array([sign * marker.axes[:, 2] for marker, sign in moving])
    kind, function = MOMENT if force.of == "angle" else FORCE, force.function
    return LineLoad(
        OnJoint(force.name, kind),
        np.array([marker.frame for marker, _ in moving], np.int64),
        lambda times: np.reshape(function(times), (-1, 1, 1)) * directions,
        force.value,
        lambda: directions,
        np.array([marker.X for marker, _ in moving]),
        directions,
    )


def _gravity(gravity: Gravity, placement: Placement) -> LineLoad:
    """Return the weights of all moving frames in a field of gravity."""
    frames = np.flatnonzero((placement.frames.fixed == 0) & (placement.frames.mass > 0.0))
    mass, value = placement.frames.mass[frames], gravity.value
    direction = np.asarray(value.direction if isinstance(value, VectorSignal) else np.zeros(3))
    return LineLoad(
        Wind(gravity.name), frames, _wind(gravity.function, mass), value, lambda: mass[:, None] * direction
    )


def _of_one(entry: DistributedLoad, spread: LoadedElements) -> Floats:
    """Return the nodal loads (n, 3) of a load whose value is 1 along its direction."""
    constant = dataclasses.replace(entry, value=entry.value.direction)
    return nodal_values(f"load '{entry.name}'", constant, spread)(np.zeros(1))[0]


def _wind(ambient: VectorFunction, pushed: Floats) -> Callable[[Floats], Floats]:
    """Return a function of times (k,), s, that gives the forces of frames (k, n, 3), N; `pushed`: damping (n,), kg/s."""
    return lambda t: ambient(t)[:, None, :] * pushed[:, None]


class EntryInput(NamedTuple):
    """Hold external values of an entry that is not a load."""

    entry: InteractionComponent
    values: ExternalValues


def entry_inputs(model: ModelData, placement: Placement) -> list[EntryInput]:
    """Return the external values of all entries other than loads, in the order of the table of interactions."""
    return [
        EntryInput(entry, values)
        for entry in model.interactions
        for values in entry.external_values(placement)
    ]


_DIGITS = 14  # decimal digits of directions, so that they do not depend on the size of a load

_NO_LOADS = loads_of(table_of())


def load_arrays(model: ModelData, placement: Placement, lines: list[LineLoad]) -> Loads:
    """Return the table of all loads, in the order of `load_values`."""
    if not model.loads and not lines:
        return _NO_LOADS
    entries = list(model.loads.values())
    placed = [placement.place(entry.on) for entry in entries]
    counts = [1] * len(entries) + [len(line.frames) for line in lines]
    all_entries: list[Load | DistributedLoad | OnJoint | Wind] = [*entries, *(line.entry for line in lines)]
    frames = [np.array([p.frame for p in placed], dtype=np.int64), *(line.frames for line in lines)]
    X = np.zeros((sum(counts), 3))
    X[: len(placed)] = np.array([p.X for p in placed]).reshape(-1, 3)
    first = len(placed)
    for line in lines:
        if line.points is not None:
            X[first : first + len(line.frames)] = line.points
        first += len(line.frames)
    return Loads(
        np.repeat(np.array([entry.kind for entry in all_entries], dtype=np.int64), counts),
        np.concatenate(frames),
        X,
        np.repeat(np.array([entry.following for entry in all_entries], dtype=np.uint8), counts),
    )


def load_names(model: ModelData, lines: list[LineLoad]) -> list[str]:
    """Return the name of each load, in the order of `load_values`, without loads from signals of other entries."""
    return [*model.loads, *(line.entry.name for line in lines for _ in line.frames)]


def load_directions(model: ModelData, lines: list[LineLoad]) -> Floats:
    """Return unit vectors (loads, 3) along which the loads act at all times, in the order of `load_values`.

    A row is 0 if the load is zero, nan if its direction is not known.
    """
    if not model.loads and not lines:
        return np.zeros((0, 3))
    values = [(1, entry.value) for entry in model.loads.values()]
    for line in lines:
        if line.directions is None:
            values.append((len(line.frames), getattr(line.entry, "value", None)))
        else:
            values += [(1, direction) for direction in line.directions]
    directions_of_loads = [np.empty((0, 3))]
    for count, value in values:
        known = value.direction if isinstance(value, VectorSignal) else value
        unknown = known is None or callable(known)
        directions_of_loads.append(
            np.tile(np.full(3, np.nan) if unknown else np.asarray(known, float), (count, 1))
        )
    directions = np.concatenate(directions_of_loads)
    size = np.linalg.norm(directions, axis=1, keepdims=True)
    unit = directions / np.where(size == 0.0, 1.0, size)
    return np.asarray(np.round(unit, _DIGITS))


class LoadFunction(NamedTuple):
    """Hold a load at a point, or a distributed load, as a function of time."""

    name: str
    n_loads: int  # number of nodal loads
    function: Callable[
        [Floats], Floats
    ]  # times (k,), s -> (k, n_loads, 3), or (k, 1, 3) or (k, 3) for equal values
    user_value: Any  # value from the user, or the function of an entry


class LoadValues:
    """Evaluate all loads of a model: times (k,), s -> (k, loads, 3), N or N m.

    `functions`: one for each load, in the order of the loads. A call raises ModelError if a value is not finite.
    """

    def __init__(self, functions: Sequence[LoadFunction]) -> None:
        self.functions = tuple(functions)
        self.total = sum(function.n_loads for function in functions)

    @property
    def vary(self) -> bool:
        """Return True if one of the loads varies with time."""
        return any(is_varying(function.user_value) for function in self.functions)

    def __call__(self, times: Floats) -> Floats:
        out, k = np.empty((len(times), self.total, 3)), 0
        for name, count, function, _ in self.functions:
            with ErrorContext("load", name):
                values = np.asarray(function(times))
                values = values[:, None] if values.ndim == 2 else values
                if values.shape[1] == 1:  # component by component this is five times as fast
                    for i in range(3):
                        out[:, k : k + count, i] = values[:, :, i]
                else:
                    out[:, k : k + count] = values
            bad = ~np.isfinite(values).all(axis=(1, 2))
            k += count
            if bad.any():
                raise ModelError(
                    f"load '{name}': value at t = {times[np.argmax(bad)]:g} s is not finite",
                    about=[PartName("load", name)],
                )
        return out


def is_varying(value: Any) -> bool:
    """Return True if value that the user gave for a load varies with time."""
    return callable(value) and not isinstance(value, ConstantVector)


def load_values(model: ModelData, lines: list[LineLoad], inputs: Sequence[EntryInput]) -> LoadValues:
    """Return the values of all loads of a model as a function of time; inputs: result of `entry_inputs`."""
    functions = [LoadFunction(name, 1, entry.function, entry.value) for name, entry in model.loads.items()]
    functions += [
        LoadFunction(line.entry.name, len(line.frames), line.values, line.user_value) for line in lines
    ]
    functions += [
        LoadFunction(entry.name, values.interactions, values.function, values.user_value)
        for entry, values in inputs
    ]
    return LoadValues(functions)
