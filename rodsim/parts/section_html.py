"""Show a section as a small table in notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from rodsim.html_tables import line, page, table, text

STIFFNESSES = ("EA", "GA2", "GA3", "GJ", "EI2", "EI3")
UNITS = ("N", "N", "N", "N m²", "N m²", "N m²")


def section_html(section: Any) -> str:
    """Return the HTML tables of a section: stiffness, mass and other data; the whole matrix if strains are coupled."""
    C = section.stiffness
    rows: list[tuple[str, Any, str]] = [*zip(STIFFNESSES, np.diag(C), UNITS, strict=True)]
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
        times = np.unique(np.round(np.diag(section.damping) / np.diag(C), 12))
        told = times[0] if len(times) == 1 else np.diag(section.damping) / np.diag(C)
        rows.append(("damping time", told, "s"))
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
        given = ", ".join(
            f"{k} = {text(v)}" for k, v in zip(law.parameters, section.law_parameters, strict=True)
        )
        parts.append(line(f"law: {law.word} {given}"))
    return page("Section", *parts)


def section_words(section: Any) -> str:
    """Return a short description of a section: its size and mass per length."""
    if section.sides != (0.0, 0.0):
        shape = f"{text(section.sides[0])} x {text(section.sides[1])} m"
    else:
        shape = f"radius {text(section.radius)} m" if section.radius else "stiffness given"
    return f"{shape}, {text(section.mass_per_length)} kg/m"
