"""Sections shared by several tests."""

from __future__ import annotations

import numpy as np

from rodsim import Section


def round_section(
    radius: float,
    density: float,
    E: float,
    G: float | None = None,
    shear: float = 27 / 28,
    **stiffness: float,
) -> Section:
    """A circular section, with PyElastica's laws by default: G = E/1.5; `stiffness`: given EA or GA."""
    A, inertia, G = np.pi * radius**2, np.pi * radius**4 / 4, E / 1.5 if G is None else G
    return Section.from_stiffness(
        GJ=2 * G * inertia,
        EI=E * inertia,
        mass_per_length=density * A,
        inertia_per_length=density * inertia * np.array([2.0, 1.0, 1.0]),
        **{"EA": E * A, "GA": shear * G * A} | stiffness,
    )
