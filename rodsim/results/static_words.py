"""What a result says in words of its equilibria, and of the state it began with."""

from __future__ import annotations

from typing import Any


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
    if statics and "unstable" in statics:
        own = statics["unstable"]
        lines.append(
            f"  unstable from load factor {own['from']:.6g} on: {own['pivots']} negative pivots at the end"
        )
    if statics and "unbalanced" in statics:
        lines.append(f"  rounding leaves {statics['unbalanced']:.2g} of the loads unbalanced")
    start = description.get("start")
    if start:
        lines.append(f"began with output {start['output']} (t = {start['t']:g}) of '{start['model']}'")
        lines += [f"  changed: {change}" for change in start["changes"]] or ["  nothing changed"]
    return lines
