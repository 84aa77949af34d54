"""Frames of straight beams as data: rigidly joined where their ends coincide, clamped and loaded at points.

Units are SI. The section axis d1 is along the beam, d3 is `up` made perpendicular to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.cases import Floats
from benchmarks.mechanisms import Triple


@dataclass(frozen=True)
class Beam:
    """A straight beam; its number of elements is `elements` times the resolution."""

    start: Triple
    end: Triple
    elements: int = 1


@dataclass(frozen=True)
class Frame:
    """Beams of one section; the error is the distance of the watched point from `reached`, over `scale`.

    `t_end` is None for an equilibrium; then the loads grow in equal steps. A motion begins at rest under the
    full loads. With `frequencies`, rad/s, the lowest ones are computed, and the error is the largest relative
    one.
    """

    name: str
    title: str
    beams: tuple[Beam, ...]
    stiffness: tuple[float, float, float, float, float, float]  # EA, GA2, GA3, GJ, EI2, EI3
    clamps: tuple[Triple, ...]
    forces: tuple[tuple[Triple, Triple], ...]  # (point, force)
    moments: tuple[tuple[Triple, Triple], ...]
    watched: Triple
    reached: Triple
    scale: float
    floor: float
    up: Triple = (0.0, 0.0, 1.0)
    mass_per_length: float = 1.0
    inertia_per_length: Triple = (1e-3, 1e-3, 1e-3)
    t_end: float | None = None
    planar: bool = False  # in the plane z = 0
    frequencies: tuple[float, ...] = ()

    def error(self, r: Floats) -> float:
        """Distance of the watched point at `r` from its reference, over `scale`."""
        return float(np.linalg.norm(r - np.array(self.reached))) / self.scale

    def error_of_frequencies(self, omega: Floats) -> float:
        """Largest relative error of `omega`, rad/s, as many as `frequencies`."""
        return float(np.max(np.abs(omega / np.array(self.frequencies) - 1.0)))


def rectangle(E: float, nu: float, height: float, width: float, shear: Triple) -> tuple[float, ...]:
    """(EA, GA2, GA3, GJ, EI2, EI3) of a rectangle with height along d2 and width along d3; factors of GJ (J =
    I2 + I3), GA2 and GA3.
    """
    G, A = E / (2.0 * (1.0 + nu)), height * width
    I2, I3 = height * width**3 / 12.0, width * height**3 / 12.0
    return E * A, shear[1] * G * A, shear[2] * G * A, shear[0] * G * (I2 + I3), E * I2, E * I3
