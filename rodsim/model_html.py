"""A model as small tables, for notebooks; nothing is built for it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from rodsim.entries import Contents, JointEntry
from rodsim.parts import Body, Rod
from rodsim.sections import Section
from rodsim.tables import MOST_ROWS, line, page, some, table, text


def model_html(model: Contents) -> str:
    """What is in it, by name."""
    parts = [line(f"gravity {text(model.gravity)} m/s²" if model.gravity.any() else "no gravity")]
    if model.rods:
        header = ("rod", "length (m)", "elements", "section", "")
        parts.append(table(header, map(_rod, _first(model.rods)), len(model.rods)))
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


def rod_html(rod: Rod) -> str:
    """One rod."""
    header = ("rod", "length (m)", "elements", "section", "")
    return page(f"Rod '{rod.name}'", table(header, [_rod(rod)]))


def body_html(body: Body) -> str:
    """One rigid body."""
    own = body.properties
    rows = [
        ("mass", own.mass, "kg"),
        ("principal moments", own.principal_moments, "kg m²"),
        ("at", body.position, "m"),
        ("orientation (w, x, y, z)", body.orientation, ""),
        ("centre of mass", body.center, "m"),
    ]
    return page(f"Body '{body.name}'", table(("", "", ""), rows))


def joint_html(joint: JointEntry) -> str:
    """One joint: what it joins, and what it was given."""
    rows: list[tuple[str, Any]] = [("a", str(joint.a)), ("b", str(joint.b))]
    given = zip(joint._fields[4:], joint[4:], strict=True)
    rows += [(name, value) for name, value in given if value is not None and len(np.atleast_1d(value))]
    return page(f"Joint '{joint.name}', {joint.kind}", table(("", ""), rows))


def _first(things: dict[str, Any]) -> Iterable[Any]:
    return islice(things.values(), MOST_ROWS)


def _rod(rod: Rod) -> tuple[Any, ...]:
    section = section_words(rod.section) if isinstance(rod.section, Section) else "varies along it"
    elements = f"{rod.n_elements} {rod.element}"
    return rod.name, rod.stress_free.length, elements, section, "closed" if rod.closed else ""


def _body(body: Body) -> tuple[Any, ...]:
    moves = [
        f"{symbol} = {text(value)} {unit}"
        for symbol, value, unit in (("v", body.velocity, "m/s"), ("ω", body.angular_velocity, "rad/s"))
        if value is not None and value.any()
    ]
    return body.name, body.properties.mass, body.position, ", ".join(moves)


def section_words(section: Section) -> str:
    """In a few words."""
    if section.sides != (0.0, 0.0):
        shape = f"{text(section.sides[0])} x {text(section.sides[1])} m"
    else:
        shape = f"radius {text(section.radius)} m" if section.radius else "stiffness given"
    return f"{shape}, {text(section.mass_per_length)} kg/m"


def _others(model: Contents) -> list[tuple[str, int, str]]:
    """What stands between and acts on the parts, by kind."""
    kinds: dict[str, list[str]] = {}
    for name, entry in model.others.items():
        kinds.setdefault(entry.plural, []).append(name)
    found: list[tuple[str, list[str]]] = [
        ("springs", list(model.springs)),
        ("torsion springs", list(model.torsions)),
        *kinds.items(),
        ("loads", list(model.loads)),
        ("loads along rods", list(model.line_loads)),
        ("driven frames", list(model.driven)),
        ("drives", list(model.drives)),
        ("gears", list(model.gears)),
    ]
    return [(kind, len(names), some(names)) for kind, names in found if names]
