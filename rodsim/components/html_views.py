"""Show models, rods, bodies, joints and sections as small tables in notebooks; the model is not built for this."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from rodsim.components.section_energies import RIGID_STRAINS, STIFFNESSES
from rodsim.html_tables import MOST_ROWS, line, page, some, table, text

_ROD = ("rod", "length (m)", "elements", "section", "")
_UNITS = ("N", "N", "N", "N m²", "N m²", "N m²")


def model_html(model: Any) -> str:
    """Return the contents of a model as HTML tables, by name."""
    parts = [line(f"gravity {text(model.gravity)} m/s²" if model.gravity.any() else "no gravity")]
    if model.rods:
        parts.append(table(_ROD, map(_rod, _first_items(model.rods)), len(model.rods)))
    if model.bodies:
        parts.append(
            table(
                ("body", "mass (kg)", "at (m)", ""), map(_body, _first_items(model.bodies)), len(model.bodies)
            )
        )
    if model.joints:
        rows = ((joint.name, joint.kind, str(joint.a), str(joint.b)) for joint in _first_items(model.joints))
        parts.append(table(("joint", "kind", "a", "b"), rows, len(model.joints)))
    rows_of_others = _other_rows(model)
    if rows_of_others:
        parts.append(table(("other entries", "", "names"), rows_of_others))
    if not (model.rods or model.bodies):
        parts.append(line("empty: use add_rod, add_body"))
    return page(f"Model '{model.name}'", *parts)


def _first_items(things: dict[str, Any]) -> Iterable[Any]:
    """Iterate over as many values as a table shows."""
    return islice(things.values(), MOST_ROWS)


def _body(body: Any) -> tuple[Any, ...]:
    """Return the row of a body: name, mass (kg), position (m) and velocities that are not zero."""
    moves = [
        f"{symbol} = {text(value)} {unit}"
        for symbol, value, unit in (("v", body.velocity, "m/s"), ("ω", body.angular_velocity, "rad/s"))
        if value is not None and value.any()
    ]
    return body.name, body.properties.mass, body.position, ", ".join(moves)


def _other_rows(model: Any) -> list[tuple[str, int, str]]:
    """Return kind, number and names of the entries other than joints, and of the driven frames."""
    kinds: dict[str, list[str]] = {}
    for entry in model.entries:
        if entry.table != "joints":
            kinds.setdefault(entry.plural, []).append(entry.name)
    kinds["driven frames"] = list(model.driven)
    return [(kind, len(names), some(names)) for kind, names in kinds.items() if names]


def _rod(rod: Any) -> tuple[Any, ...]:
    """Return the row of a rod in a table with the header `_ROD`."""
    section = "varies along it" if callable(rod.section) else section_words(rod.section)
    elements = f"{rod.n_elements} {rod.element}"
    return rod.name, rod.stress_free.length, elements, section, "closed" if rod.closed else ""


def rod_html(rod: Any) -> str:
    """Return the HTML table of one rod."""
    return page(f"Rod '{rod.name}'", table(_ROD, [_rod(rod)]))


def body_html(body: Any) -> str:
    """Return the HTML table of one rigid body: mass, principal moments and pose."""
    properties = body.properties
    rows = [
        ("mass", properties.mass, "kg"),
        ("principal moments", properties.principal_moments, "kg m²"),
        ("at", body.position, "m"),
        ("orientation (w, x, y, z)", body.orientation, ""),
        ("centre of mass", body.center, "m"),
    ]
    return page(f"Body '{body.name}'", table(("", "", ""), rows))


def joint_html(joint: Any) -> str:
    """Return the HTML table of one joint: its two parts and its other arguments."""
    arguments = {name: getattr(joint, name) for name in joint.fields() if name != "kind"}
    rows = [(name, x) for name, x in arguments.items() if x is not None and len(np.atleast_1d(x))]
    return page(f"Joint '{joint.name}', {joint.kind}", table(("", ""), rows))


def section_html(section: Any) -> str:
    """Return the HTML tables of a section: stiffness, mass and other data; the whole matrix if strains are coupled."""
    C = section.stiffness
    rigid = [k for name in section.rigid_strains for k in RIGID_STRAINS[name]]
    rows: list[tuple[str, Any, str]] = [
        (name, "rigid", "") if k in rigid else (name, C[k, k], unit)
        for k, (name, unit) in enumerate(zip(STIFFNESSES, _UNITS, strict=True))
    ]
    rows.append(("mass per length", section.mass_per_length, "kg/m"))
    rows.append(("inertia per length", section.inertia_per_length, "kg m"))
    if section.sides != (0.0, 0.0):
        rows.append(("width (d2), height (d3)", section.sides, "m"))
    elif section.radius:
        rows.append(("radius", section.radius, "m"))
    if section.center != (0.0, 0.0) or section.product_of_inertia:
        rows.append(("centre of mass (d2, d3)", section.center, "m"))
        rows.append(("product of inertia", section.product_of_inertia, "kg m"))
    if np.any(section.damping):
        of_strains = np.delete(np.diag(section.damping), rigid) / np.delete(np.diag(C), rigid)
        times = np.unique(np.round(of_strains, 12))
        damping_times = times[0] if len(times) == 1 else of_strains
        rows.append(("damping time", damping_times, "s"))
    if section.relaxation:
        rows.append(("relaxation time", section.relaxation, "s"))
    parts = [table(("", "", ""), rows, most=len(rows))]
    if np.any(C - np.diag(np.diag(C))):
        parts.append(table(("stiffness", *STIFFNESSES), zip(STIFFNESSES, *C, strict=True)))
    if section.law_expression:
        parts.append(
            line(f"stored energy W = {section.law_expression}, parameters {text(section.law_parameters)}")
        )
    elif section.law >= 0:
        from discretization.space.laws import LAWS

        law = LAWS[section.law]
        parameters = ", ".join(
            f"{k} = {text(v)}" for k, v in zip(law.parameters, section.law_parameters, strict=True)
        )
        parts.append(line(f"law: {law.word} {parameters}"))
    return page("Section", *parts)


def section_words(section: Any) -> str:
    """Return a short description of a section: its size and mass per length."""
    if section.sides != (0.0, 0.0):
        shape = f"{text(section.sides[0])} x {text(section.sides[1])} m"
    else:
        shape = f"radius {text(section.radius)} m" if section.radius else "stiffness given"
    return f"{shape}, {text(section.mass_per_length)} kg/m"
