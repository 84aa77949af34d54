"""Section forces along rods between the points where elements have them, for diagrams.

On an element of order p stresses are known at p Gauss points. They satisfy the equilibrium of a piece of rod without loads
on it,

    M' = -K x M - (e1 + Gamma) x N,   N' = -K x N                                                             (1)

with the total strains (Gamma, K). On an element, N and M are the sum of two polynomials. The first is the integral of the
polynomial through the right sides of (1) at the Gauss points. The second, of order p - 1, makes the values at these points
those of the element. Without distributed loads the diagrams of elements between two frames are exact for nodal forces; with
loads along the rod they are of order p in N and p + 1 in M.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import polynomial

from discretization.space.interpolation import points
from rigid.system import Floats
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.result import Result
from rodsim.results.rod_interpolation import order_of, rod_length

PLACES = 17  # positions per element at which diagrams are evaluated


class SectionForces(NamedTuple):
    """Forces and moments along a rod; both ends of every element are included, where they may jump.

    Attributes
    ----------
    s : ndarray (k,)
        Stress-free arc lengths, m.
    N : ndarray (k, 3)
        Normal force and shear forces in section axes, N.
    M : ndarray (k, 3)
        Torque and bending moments in section axes, N m.
    """

    s: Floats
    N: Floats
    M: Floats


def along_rod(layout: Layout, rod: RodLayout, strain: Floats, stress: Floats) -> SectionForces:
    """Return the section forces of a rod from total strains and stresses (g, 6) at its points."""
    assert layout.system is not None
    p = order_of(layout.system, rod)
    ends = np.append(rod.arclength, rod_length(layout, rod)) if rod.closed else rod.arclength
    ends = ends[::p]
    e, s = strain.reshape(-1, p, 6), stress.reshape(-1, p, 6)
    Gamma, K, N, M = e[..., :3].copy(), e[..., 3:], s[..., :3], s[..., 3:]
    Gamma[..., 0] += 1.0
    length = np.diff(ends)[:, None, None]
    x = np.linspace(0.0, 1.0, PLACES)
    values = []
    for known, slope in ((N, -np.cross(K, N)), (M, -np.cross(K, M) - np.cross(Gamma, N))):
        values.append(_reconstructed(p, known, length * slope, x).reshape(-1, 3))
    places = (ends[:-1, None] + np.diff(ends)[:, None] * x).ravel()
    return SectionForces(places, *values)


def _reconstructed(p: int, known: Floats, slope: Floats, x: Floats) -> Floats:
    """Return functions (m, k, 3) on [0, 1] at x (k,) with the slopes and values (m, p, 3) at the Gauss points."""
    gauss = points(p)[0]
    through = np.linalg.inv(polynomial.polyvander(gauss, p - 1))  # values at Gauss points -> coefficients
    integral = np.zeros((p + 1, p))
    integral[1:] = through / np.arange(1, p + 1)[:, None]
    rise, there = polynomial.polyvander(gauss, p) @ integral, polynomial.polyvander(x, p) @ integral
    missing = known - np.einsum("ab,mbi->mai", rise, slope)
    values = polynomial.polyvander(x, p - 1) @ through
    out: Floats = np.einsum("ka,mai->mki", values, missing) + np.einsum("kb,mbi->mki", there, slope)
    return out


def last_section_forces(result: Result, name: str) -> SectionForces:
    """Return the section forces of a rod at the last output of a result."""
    history, layout = result.rod(name), result.layout
    if layout.system is None:
        raise ResultError(
            f"rod '{name}': the file is of an older version without the model; compute it again"
        )
    rod = next(rod for rod in layout.rods if rod.name == name)
    strain = np.concatenate([history.Gamma[-1], history.K[-1]], axis=1)
    strain = strain + layout.system.rods.points.strain0[rod.elements]
    return along_rod(layout, rod, strain, np.concatenate([history.N[-1], history.M[-1]], axis=1))
