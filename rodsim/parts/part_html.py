"""Show rods, bodies and joints as small tables in notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from rodsim.html_tables import page, table
from rodsim.parts.section_html import section_words
from rodsim.parts.sections import Section


def rod_row(rod: Any) -> tuple[Any, ...]:
    """Return the row of a rod in a table with the header `ROD_HEADER`."""
    section = section_words(rod.section) if isinstance(rod.section, Section) else "varies along it"
    elements = f"{rod.n_elements} {rod.element}"
    return rod.name, rod.stress_free.length, elements, section, "closed" if rod.closed else ""


ROD_HEADER = ("rod", "length (m)", "elements", "section", "")


def rod_html(rod: Any) -> str:
    """Return the HTML table of one rod."""
    return page(f"Rod '{rod.name}'", table(ROD_HEADER, [rod_row(rod)]))


def body_html(body: Any) -> str:
    """Return the HTML table of one rigid body: mass, principal moments and pose."""
    own = body.properties
    rows = [
        ("mass", own.mass, "kg"),
        ("principal moments", own.principal_moments, "kg m²"),
        ("at", body.position, "m"),
        ("orientation (w, x, y, z)", body.orientation, ""),
        ("centre of mass", body.center, "m"),
    ]
    return page(f"Body '{body.name}'", table(("", "", ""), rows))


def joint_html(joint: Any) -> str:
    """Return the HTML table of one joint: its two parts and its other arguments."""
    given = {name: getattr(joint, name) for name in joint.fields() if name != "kind"}
    rows = [(name, x) for name, x in given.items() if x is not None and len(np.atleast_1d(x))]
    return page(f"Joint '{joint.name}', {joint.kind}", table(("", ""), rows))
