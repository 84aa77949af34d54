"""Forces that move along rods: wheels on a bridge, a load that travels on a cable.

A force F at the distance x from the start of a rod acts on the nodes of the element there, with the parts l_a(x) F. The functions
l_a interpolate displacements on the element: linearly between two frames, else with its order p. They are averaged over the
length of a spread force: a train of the length L and the total force F moves with the load F/L per length. What lies beyond the
ends of the rod does not act, so that a train longer than the rod enters it, covers it and leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from discretization.interaction_table import Interaction
from discretization.space.interpolation import nodes
from rigid.interactions.loads import MOVING_FORCE
from rigid.signals import VectorFunction, vector_function
from rigid.system import Floats, Ints
from rodsim.components.base import (
    NEGLIGIBLE,
    NOT_NEGATIVE,
    ROD,
    VARYING,
    CheckContext,
    ExternalValues,
    InteractionComponent,
    Poses,
    component,
    describe_time_function,
    parameter,
)
from rodsim.components.joint_forces import SCALAR, scalar_function
from rodsim.components.model_parts import Rod

_ROUNDING = 1e-9  # relative to the length of the rod: a force this near its ends still acts


@component
class MovingForce(InteractionComponent):
    """A force that moves along a rod."""

    key, word, list_description = "moving_forces", "moving force", "forces that move along rods"
    on: Rod = parameter(ROD, "name of a rod")
    position: Any = parameter(
        SCALAR, "distance from the start of the stress-free rod: a number or a function of time [m]"
    )
    force: Any = parameter(VARYING, "constant vector, or a function of time along a direction [N]")
    length: float = parameter(
        NOT_NEGATIVE, "length over which it is spread evenly; may be longer than the rod [m]", 0.0
    )
    function: VectorFunction  # times (k,), s -> forces (k, 3), N

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        values["function"] = vector_function(context.owner, values["force"])

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        return [
            Interaction(MOVING_FORCE, [node], np.zeros(6), NEGLIGIBLE) for node in poses.frames_of(self.on)
        ]

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        count = len(poses.frames_of(self.on))
        elements = _Elements(poses.meshes[self.on.name], self.on.stress_free.length)
        place = scalar_function(f"{self.word} '{self.name}'", self.position)
        values = partial(_nodal_forces, elements, place, self.function, self.length)
        if callable(self.position) or callable(self.force):
            return [ExternalValues(count, values, self.position if callable(self.position) else self.force)]
        forces = values(np.zeros(1))[0].tolist()
        described = {"value": describe_time_function(1.0), "factor": forces, "base": [0.0, 0.0, 0.0]}
        return [ExternalValues(count, values, 1.0, (), described)]

    def __repr__(self) -> str:
        return f"<moving force '{self.name}' on {self.on}>"


class _Elements:
    """Elements of a rod along its length, with their interpolations of displacements."""

    def __init__(self, mesh: Any, length: float):
        """Gather the elements of a meshed rod; length: that of the stress-free rod, m."""
        if len(mesh.elements.length):
            self.nodes: Ints = mesh.elements.frames
        else:
            self.nodes = mesh.spans.frames[:, : int(mesh.spans.order[0]) + 1]
        self.n_nodes = len(mesh.mass)
        self.start: Floats = length * mesh.fractions[self.nodes[:, 0]]
        self.end = np.append(self.start[1:], length)
        self.node_positions = nodes(self.nodes.shape[1] - 1)

    def weights(self, x: Floats) -> Floats:
        """Return the parts (k, n) of the nodes in a unit force at the distances x (k,), m, from the start of the rod."""
        out = np.zeros((len(x), self.n_nodes))
        near = _ROUNDING * self.end[-1]
        inside = np.flatnonzero((x >= self.start[0] - near) & (x <= self.end[-1] + near))
        e = np.clip(np.searchsorted(self.start, x[inside], "right") - 1, 0, len(self.start) - 1)
        local = (x[inside] - self.start[e]) / (self.end[e] - self.start[e])
        for a, part in enumerate(self._interpolation(local)):
            out[inside, self.nodes[e, a]] += part
        return out

    def spread_weights(self, x: Floats, length: float) -> Floats:
        """Return the parts (k, n) of the nodes in a unit force that is spread over `length` around x (k,), m."""
        out = np.zeros((len(x), self.n_nodes))
        xi, w = legendre.leggauss(self.nodes.shape[1] - 1)
        for e, (start, end) in enumerate(zip(self.start, self.end, strict=True)):
            first, last = np.maximum(x - 0.5 * length, start), np.minimum(x + 0.5 * length, end)
            covered = np.maximum(last - first, 0.0)
            if not covered.any():
                continue
            points = 0.5 * (first + last)[:, None] + 0.5 * covered[:, None] * xi
            local = (points - start) / (end - start)
            for a, part in enumerate(self._interpolation(local)):
                out[:, self.nodes[e, a]] += 0.5 * covered / length * (part @ w)
        return out

    def _interpolation(self, x: Floats) -> list[Floats]:
        """Return the interpolation of each node of an element at the fractions x of its length."""
        return [
            np.prod([(x - b) / (a - b) for k, b in enumerate(self.node_positions) if k != j], axis=0)
            for j, a in enumerate(self.node_positions)
        ]


def _nodal_forces(
    elements: _Elements, place: Any, force: VectorFunction, length: float, times: Floats
) -> Floats:
    """Return the forces (k, n, 3), N, of the nodes at times (k,), s."""
    x = place(times)
    parts = elements.spread_weights(x, length) if length > 0.0 else elements.weights(x)
    forces: Floats = parts[:, :, None] * force(times)[:, None, :]
    return forces
