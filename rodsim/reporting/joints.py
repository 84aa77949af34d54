"""Joints in a report: magnitudes of forces and moments, and the choice of the joints to draw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rigid.system import Floats, Ints
from rodsim.results.array_sources import Key, Source
from rodsim.results.errors import ResultError
from rodsim.results.gear_history import GearHistory
from rodsim.results.result import Result


class JointLoads(NamedTuple):
    """Magnitudes of the joint wrench of one joint at T selected outputs."""

    name: str
    kind: str
    force: Floats  # (T,) magnitude of the force, N
    moment: Floats  # (T,) magnitude of the moment, N m
    determined: bool


class SelectedOutputs:
    """View of a result source that contains only some of its outputs."""

    def __init__(self, source: Source, outputs: Ints) -> None:
        self._source, self._outputs = source, outputs
        self.layout, self.n_outputs, self.path = source.layout, len(outputs), source.path

    def read(self, name: str, key: Key = ...) -> Floats:
        """Read an array at all selected outputs; the first entry of `key` is ignored, the others index the other axes."""
        inner = key[1:] if isinstance(key, tuple) else ()
        values: Floats = self._source.read(name, (self._outputs, *inner))
        return values

    def multipliers(self, rows: slice) -> Floats:
        """Return the multipliers of the selected outputs; computed for all outputs, because those of others are needed."""
        return self._source.multipliers(rows)[self._outputs]

    def read_all(self, names: Iterable[str], key: Key = ...) -> dict[str, Floats]:
        """Read several arrays at some of the selected outputs; `key`: an integer or a slice."""
        return self._source.read_all(names, self._outputs[key])


def joint_loads(result: Result, outputs: Ints) -> list[JointLoads]:
    """Return forces and moments of all joints but gears; empty if an older file lacks the data for them."""
    if not result.joints:
        return []
    source = result._source
    if len(outputs) < result.n_outputs:
        result = Result(SelectedOutputs(source, outputs))  # type: ignore[arg-type]
    loads = []
    with source.keep_open(), np.errstate(all="ignore"):
        for name in result.joints:
            joint = result.joint(name)
            if isinstance(joint, GearHistory):  # a gear acts on several joints
                continue
            try:
                force, moment = (np.linalg.norm(x, axis=1) for x in (joint.force, joint.moment))
            except ResultError:
                return []
            loads.append(JointLoads(name, joint.kind, force, moment, joint.determined))
    return loads


def most_loaded(joints: list[JointLoads], count: int) -> list[JointLoads]:
    """Return the `count` joints with the largest forces, in the order of the model."""
    sizes = np.array([np.nan_to_num(joint.force).max(initial=0.0) for joint in joints])
    return [joints[k] for k in np.sort(np.argsort(-sizes, kind="stable")[:count])]
