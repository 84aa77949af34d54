"""Describe in words the equilibria of a result, and the state from which it started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rigid.system import Floats
    from rodsim.results.layout import Layout


class OutputLabels(NamedTuple):
    """Hold the labels of outputs in pictures: times, or load factors for equilibria."""

    t: Floats  # (T,) times, s; for equilibria load factors, or lengths of the path
    shown: Floats  # (T,) values shown
    name: str  # name of the shown quantity
    unit: str  # unit of the shown quantity, with a leading space

    @classmethod
    def of(cls, layout: Layout, t: Floats) -> OutputLabels:
        """Build the labels of a result with this layout and outputs at `t` (T,), s."""
        statics = layout.description.get("statics")
        if not statics:
            return cls(t, t, "t", " s")
        factors = np.array(statics["load_factor"], float)
        return cls(t, factors if len(factors) == len(t) else t, "load factor", "")

    def at(self, t: float) -> float:
        """Return the shown value at t, linear between outputs."""
        return float(np.interp(t, self.t, self.shown))

    def words(self, t: float, digits: int) -> str:
        """Return the shown value at t as text, with name and unit."""
        return f"{self.name} = {self.at(t):.{digits}f}{self.unit}"

    def span(self, t0: float, t1: float, digits: int) -> str:
        """Return the range of shown values from t0 to t1 as text."""
        return f"{self.name} = {self.at(t0):.{digits}f} to {self.at(t1):.{digits}f}{self.unit}"


def describe_origin(description: dict[str, Any]) -> list[str]:
    """Return lines about equilibria and start for `rodsim info`; [] for a run from the model's initial state."""
    lines = []
    statics = description.get("statics")
    if statics:
        factors = statics["load_factor"]
        reached = f"load factors {min(factors):.6g} to {max(factors):.6g}" if factors else "none found"
        lines.append(f"equilibria ({statics['method']}): {reached}")
        for event in statics.get("events", []):
            at = ", ".join(f"{name} = {value:.6g}" for name, value in event["monitors"].items())
            lines.append(
                f"  {event['kind']} at load factor {event['load_factor']:.9g}{f' ({at})' if at else ''}"
            )
        if "relaxation" in statics:
            lines.append(
                f"  load steps ended at {statics['relaxation']['from']:.6g}; those beyond were found by relaxation"
            )
    if unstable := describe_instability(description):
        lines.append(f"  {unstable}")
    if statics and "unbalanced" in statics:
        lines.append(f"  rounding leaves {statics['unbalanced']:.2g} of the loads unbalanced")
    start = description.get("start")
    if start:
        lines.append(f"began with {describe_start(start)}")
        lines += [f"  changed: {change}" for change in start["changes"]] or ["  nothing changed"]
    return lines


def describe_start(start: dict[str, Any]) -> str:
    """Describe the state from which a result started; `start`: the entry `description["start"]`."""
    if start["output"] is not None:
        return f"output {start['output']} (t = {start['t']:g}) of '{start['model']}'"
    if "spin" in start:
        x, y, z = start["spin"]
        return f"a steady rotation of '{start['model']}' with ({x:g}, {y:g}, {z:g}) rad/s"
    return f"a state of '{start['model']}'"


def describe_instability(description: dict[str, Any]) -> str:
    """Return a line that reports an unstable last equilibrium; "" if it is not unstable."""
    unstable = (description.get("statics") or {}).get("unstable")
    if unstable is None:
        return ""
    plural = "s" if unstable["pivots"] > 1 else ""
    return f"unstable from load factor {unstable['from']:.6g} on: {unstable['pivots']} negative pivot{plural} at the end"
