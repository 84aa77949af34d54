"""Models of the statics tests, with their reference values."""

from __future__ import annotations

from typing import Any

import numpy as np

from rodsim import Model, Section


def section(**stiffness: float) -> Section:
    """A section of this stiffness; its inertia has no effect in statics."""
    return Section.from_stiffness(**stiffness, mass_per_length=1.0, inertia_per_length=1.0)


def square(width: float, E: float = 1e7, G: float = 5e6) -> Section:
    """A square section with GJ = G (I2 + I3) and no shear factor."""
    A, I = width**2, width**4 / 12
    return section(EA=E * A, GA=G * A, GJ=2 * G * I, EI=E * I)


def cantilever(
    material: Section, length: float, n: int, element: str = "se3", axis: int = 0
) -> tuple[Model, Any, Any]:
    """A straight rod along an axis, clamped at its start: the model, start and end."""
    model = Model("cantilever")
    rod = model.add_rod("rod", [np.zeros(3), length * np.eye(3)[axis]], material, n, element=element)
    model.add_joint("clamp", "clamp", rod.start)
    return model, rod.start, rod.end


def bend(width: float, force: float, n: int, element: str = "se3") -> Model:
    """The 45 degree bend of Bathe and Bolourchi: an arc of radius 100, a force across its plane."""

    def arc(s: float) -> np.ndarray:
        return 100.0 * np.array([np.sin(np.pi / 4 * s), 1.0 - np.cos(np.pi / 4 * s), 0.0])

    model = Model("bend")
    rod = model.add_rod("rod", arc, square(width), n, element=element)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("tip", rod.end, (0.0, 0.0, force))
    return model


# width, force, tip displacement: converged to 1e-12
BENDS = (
    (10.0, 6e6, (-23.6450124765, -13.6320739122, 54.0950270112)),
    (1.0, 600.0, (-23.560239545, -13.6045213473, 53.4748587918)),
    (0.1, 0.06, (-23.5593922766, -13.6042464954, 53.4686610454)),
    (0.01, 6e-6, (-23.5593838039, -13.6042437469, 53.4685990684)),
)


def lee_frame(n: int, element: str, following: bool = False, load: float = 2e4) -> tuple[Model, Any]:
    """Lee's frame, rigid in shear, constrained to its plane; the load at a fifth of the beam."""
    material = section(EA=4.32e7, GA=4.32e12, GJ=1.44e9, EI=1.44e7)
    model = Model("Lee's frame")
    column = model.add_rod("column", [(0, 0, 0), (0, 120, 0)], material, n, element=element, up=(0, 0, 1))
    beam = model.add_rod("beam", [(0, 120, 0), (120, 120, 0)], material, n, element=element, up=(0, 0, 1))
    model.add_joint("foot", "revolute", column.start, model.ground, axis=(0, 0, 1))
    model.add_joint("corner", "weld", column.end, beam.start)
    model.add_joint("end", "revolute", beam.end, model.ground, axis=(0, 0, 1))
    point = beam.at(0.2)
    # d3 of the beam is up = e_z, d1 along it: d2 = e_z x e_x = e_y
    model.add_force("load", point, (0.0, -load, 0.0), following)
    return model, point


LEE_FOLLOWING = ((35437.9945, 42.6445571, -69.2944226), (-13908.4117, 79.8202515, -46.3456421))
