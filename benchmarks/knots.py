"""Loose overhand knots: their pull and the contact force of their strands, in the limit of the published law.

    python -m benchmarks.knots

For a rod of radius h and bending stiffness B, whose loop has the radius R opposite the braid and is pulled by T,
with epsilon = (h/R)^(1/2):

    T = B/(2 R^2) (1 + 4 a/pi epsilon + O(epsilon^2)),    P = sigma B/(h^(1/2) R^(3/2)) (1 + O(epsilon))      (1)

The braid is long compared with h and short compared with R. Half the distance of its strands is a complex
number D(S) in units of h, at the arc length S in units of (h R)^(1/2). It minimises the bending energy

    1/2 integral |D''|^2 dS,   |D| >= 1,   D'' -> -1/2, 1/2 at both ends,   three half turns                  (2)

sigma is the integral of its contact force |D''''|; a follows from D -> S^2/4 - a S + ..: the strands leave the
braid crossed, inclined by a epsilon. The loop is a circle except for the angle 2 a epsilon of additional
rotation, for which its closure needs the tension 2 a/pi epsilon B/R^2; n . t + B kappa^2/2, which is constant
along the rod, gives (1).

Sources: Audoly, Clauvelin, Neukirch, Phys. Rev. Lett. 99, 164301, 2007, for T at epsilon = 0 and sigma = 0.492,
the factor of mu in T; a and its term follow as above.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.interpolate import CubicSpline
from scipy.sparse.linalg import spsolve

from examples.contact.knot import RADIUS, RUBBER, B, path
from rigid.system import Floats
from rodsim import Model, Section, equilibrium
from rodsim.statics.equilibrium_results import Equilibrium

PARTS = ("left tail", "left strand", "loop", "right strand", "right tail")
THINNER = 0.6  # from knot to knot


class Braid(NamedTuple):
    sigma: float
    slope: float  # a
    reach: float  # half the length on which the strands touch, in units of (h R)^(1/2)


def braid(n: int = 600, length: float = 12.0, stiffest: float = 1e4) -> Braid:
    """The solution of (2) on n intervals from -length to length, by Newton's method with penalty springs that
    push outwards.
    """
    S, m = np.linspace(-length, length, n + 1), n + 1
    d = S[1] - S[0]
    second = sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(m - 2, m)) / d**2
    bending = sparse.block_diag([d * second.T @ second] * 2).tocsr()
    load = np.zeros(2 * m)
    load[[1, m - 1]], load[[0, m - 2]] = 0.5 / d, -0.5 / d  # the curvatures at the ends
    angle, near = 1.5 * np.pi * (1.0 + np.tanh(S / 3.0)), 1.1 * np.exp(-((S / 3.0) ** 2))
    x = np.concatenate([np.sign(S) * S**2 / 4.0 - near * np.cos(angle), -near * np.sin(angle)])

    def pushed(x: Floats) -> tuple[Floats, Floats]:
        radius = np.hypot(x[:m], x[m:])
        return np.minimum(radius - 1.0, 0.0), x.reshape(2, m) / radius

    def energy(x: Floats, k: float) -> float:
        return float(x @ (0.5 * (bending @ x) - load) + 0.5 * k * d * np.sum(pushed(x)[0] ** 2))

    k, damping = 10.0, 1e-3
    while True:
        change = np.inf
        while change > 1e-9:
            depth, (y, z) = pushed(x)
            normal, across = k * d * (depth < 0.0), k * d * depth / np.hypot(x[:m], x[m:])
            yy, yz, zz = (
                sparse.diags_array(v)
                for v in (
                    normal * y * y + across * z * z,
                    (normal - across) * y * z,
                    normal * z * z + across * y * y,
                )
            )
            force = bending @ x - load + k * d * np.concatenate([depth * y, depth * z])
            tangent, least = bending + sparse.block_array([[yy, yz], [yz, zz]]), energy(x, k)
            while True:
                step = spsolve((tangent + damping * d * sparse.eye_array(2 * m)).tocsc(), -force)
                change = float(np.abs(step).max())
                if change < 0.5 and energy(x + step, k) <= least + 1e-13 * abs(least):
                    break
                damping *= 4.0
            x, damping = x + step, max(0.3 * damping, 1e-12)
        if k >= stiffest:
            break
        k *= 10.0
    depth = pushed(x)[0]
    far = 0.5 * length < S
    return Braid(
        k * d * float(-depth.sum()), float(-np.polyfit(S[far], x[:m][far], 2)[1]), float(S[depth < 0.0].max())
    )


def knot(curve: CubicSpline, radius: float, per: float, strand: float = 5.0) -> Model:
    """A knot of a rod along a curve over its arc length (m), of which only the strands touch, with `per`
    elements on (h R)^(1/2).

    radius: h of its section, m, with the same B for any radius. The middle of the loop stays in the plane of
    symmetry: without friction nothing else would prevent the knot from moving along the rod and around it.
    """
    model, length = Model("loose knot"), curve.x[-1]
    E = (
        4.0 * B / (np.pi * radius**4)
    )  # all but B changes with the radius: otherwise shear would matter in a braid short compared with it
    section = Section.circular(radius, replace(RUBBER, E=E))
    aside = np.linspace(0.1, 0.45, 4000) * length
    crossing = aside[np.linalg.norm(curve(length / 2 - aside) - curve(length / 2 + aside), axis=1).argmin()]
    loop = crossing / np.pi
    half = strand * np.sqrt(radius * loop)
    cuts = [0.0, *(length / 2 + way * crossing + at for way in (-1, 1) for at in (-half, half)), length]
    fine = round(2 * strand * per)
    rods = [
        model.add_rod(
            name,
            curve(np.linspace(a, b, 60 * n + 1)),
            section,
            n,
            stress_free=[(0, 0, 0), (b - a, 0, 0)],
            up=(0, 0, 1),
        )
        for name, a, b, n in zip(PARTS, cuts, cuts[1:], (40, fine, 60, fine, 40), strict=False)
    ]
    for k, (one, other) in enumerate(pairwise(rods)):
        model.add_joint(f"weld {k}", "weld", one.end, other.start)
    model.add_joint("left", "clamp", rods[0].start)
    model.add_joint("right", "spherical", model.ground, rods[-1].end, at=curve(length))
    model.add_joint("symmetry", "point_on_line", model.ground, rods[2].at(0.5), axis=(0, 1, 0))
    stiffness = 20.0 * B / (radius * loop) ** 2  # a depth of a fiftieth of h
    model.add_contact("braid", rods[1], rods[3], stiffness=stiffness, stations=8, radius=radius)
    return model


def along(points: Floats, arc: Floats | None = None) -> CubicSpline:
    """Curve through points as a function of arc length, m."""
    if arc is None:
        arc = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    return CubicSpline(arc, points)


def curve_of(statics: Equilibrium) -> CubicSpline:
    points, arc = [statics.rod(PARTS[0]).r[-1, :1]], [np.zeros(1)]
    for name in PARTS:
        rod = statics.rod(name)
        points.append(rod.r[-1, 1:])
        arc.append(arc[-1][-1] + np.asarray(rod.layout.arclength)[1:])
    return along(np.concatenate(points), np.concatenate(arc))


class Loose(NamedTuple):
    epsilon: float
    pull: float  # T over B/(2 R^2)
    inside: float  # n . t + B kappa^2/2 opposite the braid, over the same
    sigma: float  # P over B/(h^(1/2) R^(3/2)), with the R whose circle pulls with T


def measured(statics: Equilibrium, radius: float) -> Loose:
    loop = statics.rod("loop")
    middle = loop.K.shape[1] // 2
    curvature = float(np.linalg.norm(loop.K[-1, middle, 1:]))
    circle, T = 0.5 * B * curvature**2, float(statics.joint("right").force[-1, 0])
    P = float(statics.contact("braid").normal_force[-1])
    by_pull = np.sqrt(B / (2.0 * T))
    inside = 1.0 + float(loop.N[-1, middle, 0]) / circle
    return Loose(np.sqrt(radius * curvature), T / circle, inside, P * np.sqrt(radius) * by_pull**1.5 / B)


def loose(count: int = 7, per: float = 8.0, first: float = 40.0) -> list[Loose]:
    """Measure knots of rods, each thinner than the one before, of the same B; each starts with the shape
    found for the one before.
    """
    curve, out = along(path(first * RADIUS, tail=7.0)), []
    for k in range(-1, count):
        radius = RADIUS * THINNER ** max(k, 0)
        statics = equilibrium(knot(curve, radius, 4.0 if k < 0 else per, 7.0 if k < 0 else 5.0))
        curve = curve_of(statics)
        out += [measured(statics, radius)] * (k >= 0)
    return out


def limit(x: Floats, y: Floats) -> float:
    """Extrapolate to x = 0 by a parabola."""
    return float(np.polyfit(x, y, 2)[-1])


if __name__ == "__main__":
    for n in (300, 600, 1200):
        print(f"braid, {n} intervals: sigma {{:.4f}}, a {{:.3f}}, touches to {{:.2f}}".format(*braid(n)))
    knots = loose()
    for each in knots:
        print("epsilon {:.4f}: T {:.4f}, n . t + B kappa^2/2 {:.4f} of B/(2 R^2), sigma {:.4f}".format(*each))
    epsilon, pull, inside, sigma = np.transpose(knots)
    print(
        f"limits: {limit(epsilon, pull):.3f}, {limit(epsilon, inside):.3f}, {limit(epsilon * pull**0.25, sigma):.3f}"
    )
