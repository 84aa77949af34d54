"""Validation cases of rods that are actuated from inside: an arm under the pressure of a chamber along it."""

from __future__ import annotations

import numpy as np

from rodsim import measures
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.simulation import simulate
from rodsim.small_motions.modal_analysis import modes
from rodsim.statics.equilibria import equilibrium
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values, reference_values_at, values_at

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
AMPLITUDE, TIMES = 1e-3, (1.0, 2.0, 4.0)  # m, of the tip, s
ELEMENTS, STEPS = (80, 160), (0.02, 0.01)


def mode(s: float) -> float:
    """Return the first shape of a clamped beam at the fraction s of its length, 1 at the tip."""
    z = ROOT * s
    ratio = (np.cosh(ROOT) + np.cos(ROOT)) / (np.sinh(ROOT) + np.sin(ROOT))
    return float(0.5 * (np.cosh(z) - np.cos(z) - ratio * (np.sinh(z) - np.sin(z))))


def arm(n: int, offset: float, bent: float = 0.0) -> Model:
    """Return the arm along x with a chamber of n straight pieces at y = -offset, m.

    If the tip is bent by so much, m, the arm starts stretched as under the pressure and bent as its first mode.
    """
    model = Model("pneumatic arm")
    stretch = 1.0 + (STRETCH if bent else 0.0)
    rod = model.add_rod(
        "arm",
        lambda s: (stretch * LENGTH * s, bent * mode(s), 0.0),
        SECTION,
        n,
        stress_free=lambda s: (LENGTH * s, 0.0, 0.0),
        up=(0, 0, 1),
    )
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
    still = {
        "tip at rest": rod.r[-1, -1, :2],
        "curvature": rod.K[-1, 1:-1, 2].mean(),
        "omega": np.abs(values[0]),
    }
    run = simulate(arm(ELEMENTS[level], 0.0, AMPLITUDE), TIMES[-1], STEPS[level], output_every=(1, 2)[level])
    return still | values_at("tip", dict.fromkeys(TIMES), run, run.rod("arm").r[:, -1, 1])


# a curvature kappa of the stretched arm is (1 + epsilon) w'' of its deflection: EI w''''/(1 + epsilon)^2 = -MASS d^2w/dt^2
OMEGA = (ROOT / LENGTH) ** 2 * np.sqrt(EI / MASS) / (1 + STRETCH)
CASES = (
    Case(
        "pneumatic-arm",
        "Arm bent by the pressure of a chamber beside its axis; vibrating with the chamber on it",
        "exact, closed form",
        {
            "tip at rest": ReferenceValue(tip_at_rest(), 0.0, LENGTH),
            "curvature": ReferenceValue(CURVATURE, 0.0, CURVATURE),
            "omega": ReferenceValue(OMEGA, 4e-5 * OMEGA, OMEGA),  # shear and rotary inertia
        }
        | reference_values_at(
            "tip", {t: AMPLITUDE * np.cos(OMEGA * t) for t in TIMES}, 2e-4 * AMPLITUDE, AMPLITUDE
        ),
        pressurised,
        Meshes("80 elements, h = 0.02", "160 elements, h = 0.01", 2),
    ),
)
