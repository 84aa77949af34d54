"""Validation cases of cantilevers in space and bent frames at rest: the Princeton beam, a helix, an L of two legs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rodsim.components.materials import Material
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.statics.equilibria import equilibrium
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values, reference_values_at
from rodsim.validation.rods_at_rest import cantilever, section

# Dowell and Traybar's beam of aluminium: 508 x 12.3777 x 3.2024 mm, as Obrezkov, Mikkola and Matikainen compute it
LENGTH, WIDE, THIN, E, NU = 0.508, 12.3777e-3, 3.2024e-3, 71.7e9, 0.31
TORSION = 0.198  # their torsion constant over I2 + I3, by Exudyn's test model
LOADS = {"P2": 8.896, "P3": 13.345}  # N, two and three pounds
ANGLES = (0, 15, 30, 45, 60, 75, 90)  # degrees, between the load and the direction of the wide side
# angle -> tip displacement, m: along the axis, down the wide side, down the thin side, at 13.345 N
PRINCETON = {
    0: (-0.00030466836708, -0.0160611788774, 0.0),
    15: (-0.00534066776724, -0.0165776519735, 0.064734218007),
    30: (-0.0172589222583, -0.0169897989327, 0.118179534218),
    45: (-0.0304529346961, -0.015621149906, 0.156774617721),
    60: (-0.0412573005951, -0.011963545832, 0.182003786208),
    75: (-0.0480856124803, -0.00647033530266, 0.196138733764),
    90: (-0.0504010153526, 0.0, 0.200683960608),
}
# results of ANSYS' beam elements, 10 to 199 of them: load -> angle -> tip down the wide side and down the thin side, m
ANSYS = {
    "P2": {
        0: (-0.0107141763, 0.0),
        15: (-0.01061328706, 0.04208232124),
        30: (-0.0101116963, 0.07939482948),
        45: (-0.008837226265, 0.108987937),
        60: (-0.006604665004, 0.129887616),
        75: (-0.003538889001, 0.142194370),
        90: (0.0, 0.146245978),
    },
    "P3": {
        0: (-0.01606423724, 0.0),
        15: (-0.01645825752, 0.06435812858),
        30: (-0.01665873206, 0.117735994),
        45: (-0.0151861844, 0.156467239),
        60: (-0.011578375, 0.181861627),
        75: (-0.006248967384, 0.196097131),
        90: (0.0, 0.200677707),
    },
}
MOMENT, HELIX_EI = np.array([1.7, -0.6, 3.1]), 2.0  # dead moment and bending stiffness of the helix
CORNER = (0.859228475392, -0.914052049662)  # tip displacement of the L


def princeton(of: Section, load: float, degrees: float, n_elements: int) -> np.ndarray:
    """Compute the displacement (3,) of the tip under a dead load, m."""
    model, rod = cantilever(of, LENGTH, n_elements)
    turned = np.deg2rad(degrees)
    model.add_force("load", rod.end, load * np.array([0.0, -np.cos(turned), np.sin(turned)]))
    r = equilibrium(model).rod("rod").r
    return np.asarray(r[-1, -1] - r[0, -1])


def princeton_exact(level: int) -> Values:
    """Compute the tip displacements for all angles of the largest load, with the torsion constant of the source."""
    G, A = E / 2 / (1 + NU), WIDE * THIN
    weak, strong = WIDE * THIN**3 / 12, THIN * WIDE**3 / 12
    of = section(E * A, G * A, [E * weak, E * strong], TORSION * G * (weak + strong))
    n = (16, 32)[level]
    return {f"u({degrees})": princeton(of, LOADS["P3"], degrees, n) for degrees in ANGLES}


def princeton_published(level: int) -> Values:
    """Compute the tip displacements with the section as a user enters it: its torsion constant is that of a rectangle."""
    of = Section.rectangle(WIDE, THIN, Material(E=E, nu=NU, density=2700.0))
    n = (16, 32)[level]
    return {
        f"{name}({degrees})": princeton(of, load, degrees, n)[1:]
        for name, load in LOADS.items()
        for degrees in ANGLES
    }


def helix(level: int) -> Values:
    """Compute the tip of a cantilever with GJ = EI, which a dead moment m winds into a helix.

    The moment rotates the section about m at the constant rate m/EI along the rod.
    """
    quantities: dict[str, Any] = {}
    for n in (1, 3):
        model, rod = cantilever(section(1e4, 5e3, HELIX_EI), 1.0, n)
        model.add_moment("moment", rod.end, MOMENT)
        quantities[f"tip({n})"] = equilibrium(model).rod("rod").r[-1, -1]
    return quantities


def corner(level: int) -> Values:
    """Compute Exudyn's LShapeGeomExactBeam2D: two legs of 1 m, 0.1 x 0.05 m, clamped, a force of 1e6 N along the first."""
    b, h, modulus, nu = 0.1, 0.05, 2.1e11, 0.3
    shear = 10 * (1 + nu) / (12 + 11 * nu) * modulus / 2 / (1 + nu) * b * h
    of = section(modulus * b * h, shear, modulus * b * h**3 / 12)
    model, n = Model("L"), (10, 20)[level]
    one = model.add_rod("one", [(0, 0, 0), (1, 0, 0)], of, n)
    two = model.add_rod("two", [(1, 0, 0), (1, 1, 0)], of, n)
    model.add_joint("wall", "clamp", one.start)
    model.add_joint("corner", "weld", one.end, two.start)
    model.add_force("pull", two.end, (1e6, 0.0, 0.0))
    r = equilibrium(model).rod("two").r
    return {"u": (r[-1, -1] - r[0, -1])[:2]}


def _helix() -> np.ndarray:
    """Return the exact tip (3,) of the helix."""
    k = float(np.linalg.norm(MOMENT)) / HELIX_EI
    axis, e1 = MOMENT / np.linalg.norm(MOMENT), np.array([1.0, 0.0, 0.0])
    on_axis = np.dot(axis, e1) * axis
    return on_axis + (e1 - on_axis) * np.sin(k) / k + np.cross(axis, e1) * (1.0 - np.cos(k)) / k


PRINCETON_MESHES = Meshes("16 elements", "32 elements", 2)
CASES = (
    Case(
        "princeton",
        "Princeton beam of Dowell and Traybar 1975, 13.345 N at 0 to 90 degrees",
        "shooting, 12 digits (tests/support/shooting.py)",
        reference_values_at("u", PRINCETON, 1e-12, LENGTH),
        princeton_exact,
        PRINCETON_MESHES,
    ),
    Case(
        "princeton-published",
        "Princeton beam, 8.896 and 13.345 N, compared with ANSYS",
        "ANSYS beams of Obrezkov, Mikkola, Matikainen, Nonlinear Dyn. 109, 2022; numbers by Exudyn, ANCFBeamTest.py",
        # the programs of the source differ by 3e-4 m: one prevents warping of the section at the clamp
        reference_values_at("P2", ANSYS["P2"], 3e-4, LENGTH)
        | reference_values_at("P3", ANSYS["P3"], 3e-4, LENGTH),
        princeton_published,
        PRINCETON_MESHES,
    ),
    Case(
        "helix",
        "Cantilever wound into a helix by a dead moment",
        "exact, helix",
        {f"tip({n})": ReferenceValue(_helix(), 1e-11, 1.0) for n in (1, 3)},
        helix,
        Meshes("", "1 and 3 elements: constant strain is exact in each, round-off", None),
    ),
    Case(
        "l-frame",
        "L of two legs under a force, Exudyn's LShapeGeomExactBeam2D",
        "shooting, 12 digits (tests/support/shooting.py)",
        {"u": ReferenceValue(CORNER, 1e-12, 1.0)},
        corner,
        Meshes("10 elements a leg", "20 elements a leg", 2),
    ),
)
