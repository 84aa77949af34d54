"""What a result says in words of its equilibria, and of the state it began with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rigid.system import Floats
    from rodsim.results.layout import Layout


class Clock(NamedTuple):
    """What pictures say of the outputs of a result: their times, of equilibria their load factors."""

    t: Floats  # (T,) s; of equilibria the load factor, or the length of the path
    shown: Floats  # (T,) what is said of them
    name: str
    unit: str

    @classmethod
    def of(cls, layout: Layout, t: Floats) -> Clock:
        """Of a result with this layout, whose outputs are at t (T,)."""
        statics = layout.description.get("statics")
        if not statics:
            return cls(t, t, "t", " s")
        factors = np.array(statics["load_factor"], float)
        return cls(t, factors if len(factors) == len(t) else t, "load factor", "")

    def at(self, t: float) -> float:
        """What is shown at t, on straight lines between outputs."""
        return float(np.interp(t, self.t, self.shown))

    def words(self, t: float, digits: int) -> str:
        """The value with its name and unit."""
        return f"{self.name} = {self.at(t):.{digits}f}{self.unit}"

    def span(self, t0: float, t1: float, digits: int) -> str:
        """The range of values from t0 to t1."""
        return f"{self.name} = {self.at(t0):.{digits}f} to {self.at(t1):.{digits}f}{self.unit}"


def start_words(description: dict[str, Any]) -> list[str]:
    """Lines for `rodsim info`; none for a run from its initial state."""
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
                f"  load steps ended at {statics['relaxation']['from']:.6g}; what is beyond was found by relaxation"
            )
    if unstable := unstable_words(description):
        lines.append(f"  {unstable}")
    if statics and "unbalanced" in statics:
        lines.append(f"  rounding leaves {statics['unbalanced']:.2g} of the loads unbalanced")
    start = description.get("start")
    if start:
        lines.append(f"began with {described_start(start)}")
        lines += [f"  changed: {change}" for change in start["changes"]] or ["  nothing changed"]
    return lines


def described_start(start: dict[str, Any]) -> str:
    """What a result began with, of `description["start"]`."""
    if start["output"] is not None:
        return f"output {start['output']} (t = {start['t']:g}) of '{start['model']}'"
    if "spin" in start:
        x, y, z = start["spin"]
        return f"a steady rotation of '{start['model']}' with ({x:g}, {y:g}, {z:g}) rad/s"
    return f"a state of '{start['model']}'"


def unstable_words(description: dict[str, Any]) -> str:
    """A line that says that the last equilibrium is unstable; "" if it is not."""
    unstable = (description.get("statics") or {}).get("unstable")
    if unstable is None:
        return ""
    plural = "s" if unstable["pivots"] > 1 else ""
    return f"unstable from load factor {unstable['from']:.6g} on: {unstable['pivots']} negative pivot{plural} at the end"
