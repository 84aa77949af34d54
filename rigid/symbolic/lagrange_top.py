"""Make Lagrange's top in its axis and angular momentum, the system of BS99: 002 (164), (165)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from rigid.checks import direction, number, vector
from rigid.mechanics.mechanical_system import LAGRANGE_TOP, MechanicalSystem, Symmetry
from rigid.symbolic.systems import symbolic_system


def lagrange_top(
    J1: float, weight: float, axis: ArrayLike, momentum: ArrayLike, name: str = "Lagrange top"
) -> MechanicalSystem:
    """Make a heavy symmetrical top on its tip: q = d3, p = m, T = |m|^2/(2 J1) up to a constant, V = weight d3 . e3.

    J1: moment of inertia about an axis through the tip perpendicular to d3, kg m^2; weight: m g l, N m; axis: d3 (3,) at the
    start; momentum: angular momentum (3,) about the tip in inertial axes, kg m^2/s. The system is for the integrator BS99 only.
    """
    J1 = number(name, "J1", J1, positive=True)
    d0, m0 = direction(name, "axis", axis), vector(name, "momentum", momentum)
    d = sp.symbols("d1:4")
    system = symbolic_system(
        name, d, q0=d0, v0=np.cross(m0, d0) / J1, M=J1 * sp.eye(3), V=number(name, "weight", weight) * d[2]
    )
    vertical = Symmetry("Lz", np.zeros((3, 3)), np.array([0.0, 0.0, 1.0]))  # p . e3
    flags = system.data.flags | LAGRANGE_TOP
    return replace(system, data=system.data._replace(flags=flags), p0=m0, symmetries=(vertical,))
