"""Validation cases of rods that are actuated from inside: an arm under the pressure of a chamber along it."""

from __future__ import annotations

import numpy as np

from rodsim import measures
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.small_motions.modal_analysis import modes
from rodsim.statics.equilibria import equilibrium
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values

# A rubber arm, 1 cm thick, with a chamber of cross-section AREA along a line in it. The energy of the gas is -p times the volume,
# AREA times the length of the line. At the distance e from the axis this is int (1 + epsilon - e kappa) ds: a force p AREA and a
# couple p AREA e in all sections, however the arm is bent. A force of this size that pushed at the tip would buckle the arm.
LENGTH, AREA, OFFSET, PRESSURE = 0.5, 1e-5, 2.5e-3, 8e4  # m, m^2, m, Pa
EA, EI, MASS = 78.5, 4.9e-4, 0.0785  # N, N m^2, kg/m
SECTION = Section.from_stiffness(
    EA=EA, GA=100, GJ=3e-4, EI=EI, mass_per_length=MASS, inertia_per_length=(2e-11, 1e-11, 1e-11)
)
STRETCH, CURVATURE = PRESSURE * AREA / EA, PRESSURE * AREA * OFFSET / EI
ROOT = 1.875104068711961  # the first of cos z cosh z = -1
ELEMENTS = (80, 160)


def arm(n: int, offset: float) -> Model:
    """Return the arm along x with a chamber of n straight pieces at y = -offset, m."""
    model = Model("pneumatic arm")
    rod = model.add_rod("arm", [(0, 0, 0), (LENGTH, 0, 0)], SECTION, n, up=(0, 0, 1))
    model.add_joint("base", "clamp", rod.start)
    for k in range(n):
        ends = (rod.at(s / n, (0.0, -offset, 0.0)) for s in (k, k + 1))
        model.add_energy(f"chamber {k}", "-p*A*l", {"l": measures.distance(*ends)}, p=PRESSURE, A=AREA)
    return model


def tip_at_rest() -> tuple[float, float]:
    """Return the tip (x, y), m: the end of an arc of a circle."""
    angle, radius = CURVATURE * LENGTH, (1 + STRETCH) / CURVATURE
    return radius * np.sin(angle), radius * (1 - np.cos(angle))


def pressurised(level: int) -> Values:
    """Compute the bent arm at rest, and the vibration of one with the chamber on its axis."""
    rod = equilibrium(arm(ELEMENTS[level], OFFSET)).rod("arm")
    straight = arm(ELEMENTS[level], 0.0)
    values = modes(straight, 2, equilibrium(straight)).values
    return {"tip": rod.r[-1, -1, :2], "curvature": rod.K[-1, 1:-1, 2].mean(), "omega": np.abs(values[0])}


# a curvature kappa of the stretched arm is (1 + epsilon) w'' of its deflection: EI w''''/(1 + epsilon)^2 = -MASS d^2w/dt^2
OMEGA = (ROOT / LENGTH) ** 2 * np.sqrt(EI / MASS) / (1 + STRETCH)
CASES = (
    Case(
        "pneumatic-arm",
        "Arm bent by the pressure of a chamber beside its axis; vibration with the chamber on it",
        "exact, closed form",
        {
            "tip": ReferenceValue(tip_at_rest(), 0.0, LENGTH),
            "curvature": ReferenceValue(CURVATURE, 0.0, CURVATURE),
            "omega": ReferenceValue(OMEGA, 4e-5 * OMEGA, OMEGA),  # shear and rotary inertia
        },
        pressurised,
        Meshes("80 elements", "160 elements", 2),
    ),
)
