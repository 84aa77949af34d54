"""Airfoils: strips along a rod on which the wind acts by a polar (`rigid.interactions.airfoil`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid import quaternions
from rigid.checks import array, number, shown
from rigid.errors import ModelError
from rigid.interactions.airfoil import AIRFOIL, angle_of_attack
from rigid.system import Floats
from rodsim.components.base import (
    NEGLIGIBLE,
    NUMBER,
    PAIR,
    ROD,
    CheckContext,
    ExternalValues,
    InteractionComponent,
    ParameterType,
    Poses,
    component,
    parameter,
)
from rodsim.components.flows import Polar
from rodsim.components.model_parts import Rod
from rodsim.components.submerged_parts import FLUID, Fluid


def _check_polar(context: CheckContext, what: str, value: Any) -> Polar:
    """Check that a value is a Polar."""
    if not isinstance(value, Polar):
        raise ModelError(
            f"{context.owner}: polar = {shown(value)} is not a Polar. Give fluids.Polar(angle, lift, drag)"
        )
    return value


def _check_table(context: CheckContext, what: str, value: Any) -> Floats:
    """Return rows (s, value), increasing from s = 0 to 1; a number stands for a constant."""
    if np.ndim(value) == 0:
        constant = number(context.owner, what, value)
        return np.array([[0.0, constant], [1.0, constant]])
    rows = array(context.owner, what, value, (None, 2))
    if len(rows) < 2 or np.diff(rows[:, 0]).min() <= 0.0:
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)}. Give a number, or two or more rows (s, value) with increasing s"
        )
    return rows


def _describe_polar(polar: Polar) -> Any:
    return {name: np.asarray(values).tolist() for name, values in vars(polar).items()}


POLAR = ParameterType("polar", _check_polar, _describe_polar)
TABLE = ParameterType("number or table along a rod", _check_table)


@component
class Airfoil(InteractionComponent):
    """A rod as a blade or wing in a fluid: lift, drag and moment of strips by a polar."""

    key, word, list_description = "airfoils", "airfoil", "rods as blades and wings in fluids"
    rod: Rod = parameter(ROD, "name of the rod")
    fluid: Fluid = parameter(FLUID, "name of the fluid")
    polar: Polar = parameter(POLAR, "coefficients over the angle of attack")
    chord: Floats = parameter(TABLE, "chord: a number, or rows of fraction of the length and chord [m]")
    twist: Floats = parameter(
        TABLE, "angle of the leading edge from d2 of the section towards d3: a number, or rows [deg]", 0.0
    )
    centre: float = parameter(
        NUMBER, "distance of the forces from the nodes towards the leading edge, in chords [1]", 0.0
    )
    between: Floats = parameter(PAIR, "fractions of the length between which the fluid acts [1]", (0.0, 1.0))

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, (first, last) = context.owner, values["between"]
        if values["rod"].is_string:
            raise ModelError(
                f"{owner}: {values['rod']} is a string, whose sections have no directions. Give it a section with bending"
            )
        if not 0.0 <= first < last <= 1.0:
            raise ModelError(f"{owner}: between = {[first, last]}. Give two increasing fractions from 0 to 1")
        for what in ("chord", "twist"):
            s = values[what][[0, -1], 0]
            if s[0] > first or s[1] < last:
                raise ModelError(
                    f"{owner}: {what} is given from s = {s[0]:g} to {s[1]:g}, but the fluid acts from {first:g} to {last:g}. "
                    "Extend the table, or change between="
                )
        if values["chord"][:, 1].min() <= 0.0:
            raise ModelError(
                f"{owner}: chord = {values['chord'][:, 1].min():g} is not positive. Give positive chords"
            )

    def _strips(self, poses: Poses) -> tuple[list[int], Floats, Floats]:
        """Return the nodes on which the fluid acts, their fractions of the length, and the lengths of their strips, m."""
        mesh = poses.meshes[self.rod.name]
        s, length = mesh.fractions, self.rod.stress_free.length
        if self.rod.closed:
            middles = 0.5 * (s + np.append(s[1:], 1.0))
            lower, upper = np.append(middles[-1] - 1.0, middles[:-1]), middles
        else:
            middles = 0.5 * (s[1:] + s[:-1])
            lower, upper = np.append(s[0], middles), np.append(middles, s[-1])
        share = np.clip(upper, *self.between) - np.clip(lower, *self.between)
        acts = share > 0.0
        nodes = poses.frames_of(self.rod)[acts]
        return nodes.tolist(), np.clip(s[acts], *self.between), length * share[acts]

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        flow, polar = self.fluid.flow_numbers(poses), self.polar.numbers()
        interactions = []
        for node, s, length in zip(*self._strips(poses), strict=True):
            chord = float(np.interp(s, *self.chord.T))
            twist = np.radians(np.interp(s, *self.twist.T))
            leading = np.array([0.0, np.cos(twist), np.sin(twist)])
            upper = np.cross([1.0, 0.0, 0.0], leading)
            size = 0.5 * self.fluid.density * chord * length
            numbers = np.array(
                [*leading, *upper, *(self.centre * chord * leading), size, chord, *flow, *polar]
            )
            self._check_angle(poses, node, float(s), numbers)
            interactions.append(Interaction(AIRFOIL, [0, node], numbers, NEGLIGIBLE))
        return interactions

    def _check_angle(self, poses: Poses, node: int, s: float, numbers: Floats) -> None:
        """Raise ModelError if the polar does not contain the angle of attack of a strip at t = 0."""
        y, z, out = (np.zeros((2, 4, 3), complex) for _ in range(3))
        y[:, 1:] = np.eye(3)
        y[1, 0], y[1, 1:] = poses.r[node], quaternions.to_matrix(poses.quat[node]).T
        omega = quaternions.rotate(poses.quat[node], poses.Omega[node])
        z[1, 0], z[1, 1:] = poses.v[node], np.cross(omega, y[1, 1:].real)
        angle_of_attack(y, z, numbers, np.ones(1, complex), out)
        angle, speed = np.degrees(out[0, 0, 0].real), out[0, 0, 1].real
        first, last = self.polar.angle[[0, -1]]
        if speed > 0.0 and not first <= angle <= last:
            raise ModelError(
                f"airfoil '{self.name}': at t = 0 s the angle of attack at s = {s:g} is {angle:.4g} deg, but its polar covers "
                f"{first:g} to {last:g} deg. Give a polar with this angle, such as one from -180 to 180 deg"
            )

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        return [self.fluid.flow_values(len(self._strips(poses)[0]))]
