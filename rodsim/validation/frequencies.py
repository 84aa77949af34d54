"""Validation cases of the frequencies of straight beams with shear and rotary inertia (Timoshenko)."""

from __future__ import annotations

import numpy as np

from rodsim.components.materials import Material
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.small_motions.modal_analysis import modes
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values

EXACT = "exact, roots of the frequency equation, 12 digits"
STEEL = Material(E=210e9, nu=0.3, density=7850.0)
# length 1, square sections: (side, ends, first bending frequencies, rad/s)
TABLE = {
    "thick, clamped-free": (0.1, "CF", (520.8406417227, 3121.577765398, 8210.226133092)),
    "thick, free-free": (0.1, "FF", (3226.328042872, 8392.29936429, 15307.92942179)),
    "thick, clamped-clamped": (0.1, "CC", (3131.332872854, 8024.842753356, 14504.25900209)),
    "slender, clamped-free": (0.01, "CF", (52.49286792255, 328.8105118624, 919.9715478895)),
    "slender, clamped-clamped": (0.01, "CC", (333.820164498, 919.3502212818, 1800.084116645)),
}
MODES = 16  # modes of both planes, and the stretching and twisting modes between them


def beams(level: int) -> Values:
    """Compute the frequencies of all beams of the table."""
    frequencies: dict[str, float] = {}
    for name, (side, ends, known) in TABLE.items():
        omega = bending(side, ends, (40, 80)[level])
        frequencies |= {f"{name}({k + 1})": omega[k] for k in range(len(known))}
    return frequencies


def bending(side: float, ends: str, n_elements: int) -> list[float]:
    """Return the frequencies of the bending modes, rad/s; the two modes of a square section are counted once."""
    model = Model("beam")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], Section.rectangle(side, side, STEEL), n_elements)
    for end, place in zip(ends, (rod.start, rod.end), strict=True):
        if end == "C":
            model.add_joint(f"wall {place.s:g}", "clamp", place)
    computed = modes(model, MODES + (6 if ends == "FF" else 0))
    moved = np.abs(computed.shapes).max(axis=1)  # (k, 6)
    across = [
        omega
        for omega, most, kind in zip(computed.omega, moved, computed.kinds, strict=True)
        if kind == "oscillates" and most[1:3].max() > 0.1 * max(most[0], side * most[3])
    ]
    return across[::2]


CASES = (
    Case(
        "beams",
        "Bending frequencies of straight beams, thick and slender",
        EXACT,
        {
            f"{name}({k + 1})": ReferenceValue(omega, 1e-11 * omega, omega)
            for name, (_, _, known) in TABLE.items()
            for k, omega in enumerate(known)
        },
        beams,
        Meshes("40 elements", "80 elements", 2),
        slow=True,
    ),
)
