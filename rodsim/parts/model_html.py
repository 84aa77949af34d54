"""Show a model as small tables in notebooks; the model is not built for this."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from rodsim.html_tables import MOST_ROWS, line, page, some, table, text
from rodsim.parts.entries import Contents
from rodsim.parts.model_parts import Body
from rodsim.parts.part_html import ROD_HEADER, rod_row


def model_html(model: Contents) -> str:
    """Return the contents of a model as HTML tables, by name."""
    parts = [line(f"gravity {text(model.gravity)} m/s²" if model.gravity.any() else "no gravity")]
    if model.rods:
        parts.append(table(ROD_HEADER, map(rod_row, _first(model.rods)), len(model.rods)))
    if model.bodies:
        parts.append(
            table(("body", "mass (kg)", "at (m)", ""), map(_body, _first(model.bodies)), len(model.bodies))
        )
    if model.joints:
        rows = ((joint.name, joint.kind, str(joint.a), str(joint.b)) for joint in _first(model.joints))
        parts.append(table(("joint", "kind", "a", "b"), rows, len(model.joints)))
    others = _others(model)
    if others:
        parts.append(table(("besides", "", "called"), others))
    if not (model.rods or model.bodies):
        parts.append(line("nothing in it yet: add_rod, add_body"))
    return page(f"Model '{model.name}'", *parts)


def _first(things: dict[str, Any]) -> Iterable[Any]:
    """Iterate over as many values as a table shows."""
    return islice(things.values(), MOST_ROWS)


def _body(body: Body) -> tuple[Any, ...]:
    """Return the row of a body: name, mass (kg), position (m) and velocities that are not zero."""
    moves = [
        f"{symbol} = {text(value)} {unit}"
        for symbol, value, unit in (("v", body.velocity, "m/s"), ("ω", body.angular_velocity, "rad/s"))
        if value is not None and value.any()
    ]
    return body.name, body.properties.mass, body.position, ", ".join(moves)


def _others(model: Contents) -> list[tuple[str, int, str]]:
    """Return kind, number and names of the entries other than joints, and of the driven frames."""
    kinds: dict[str, list[str]] = {}
    for entry in model.entries:
        if entry.table != "joints":
            kinds.setdefault(entry.plural, []).append(entry.name)
    kinds["driven frames"] = list(model.driven)
    return [(kind, len(names), some(names)) for kind, names in kinds.items() if names]
