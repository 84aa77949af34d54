"""A single rod as data, supported at its start.

Equilibrium under an end load or a distributed load, or a motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.cases import Floats
from benchmarks.mechanisms import Triple


@dataclass(frozen=True)
class Slender:
    """One rod; the error is the distance of its end from `reached`, over `scale`.

    `t_end` is None for an equilibrium: rodsim solves for it; a program without statics simulates until it is
    at rest, with velocities that decay at the rate `damping`, 1/s, for `t_rest`.
    """

    name: str
    title: str
    curve: Callable[[Floats], Floats]  # (n,) fractions of the length -> (n, 3), stress-free curve
    normal: Triple  # d3, perpendicular to the plane of the curve
    length: float
    stiffness: tuple[float, float, float, float, float, float]  # EA, GA2, GA3, GJ, EI2, EI3
    mass_per_length: float
    inertia_per_length: Triple
    reached: Triple
    scale: float
    floor: float
    hinged: bool = False  # else clamped
    gravity: Triple = (0.0, 0.0, 0.0)
    end_force: Triple = (0.0, 0.0, 0.0)
    velocity: Callable[[Floats], Floats] | None = None  # (n,) -> (n, 3)
    thinning: bool = False  # sections conserve their volume when the rod stretches
    t_end: float | None = None
    t_rest: float = 0.0
    damping: float = 0.0

    def error(self, r: Floats) -> float:
        """Distance of the end at `r` from its reference, over `scale`."""
        return float(np.linalg.norm(np.asarray(r) - np.array(self.reached))) / self.scale
