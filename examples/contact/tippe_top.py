"""A tippe top inverts: a ball whose centre of mass is off its own centre, spun on a table with friction.

The ball has the radius R; its centre of mass is a = R/5 below its centre. It slides on its lowest point, and friction raises
the centre of mass until the top stands on its head. For any friction, Jellett's integral

    lambda = L . (R n - a e)                                                                           (1)

is conserved, with L about the centre of mass, n the vertical, e the axis towards the centre of the ball. With the moments of
inertia C about the axis and A across it, the least energy for a given lambda at the angle theta between n and e is

    V(theta) = lambda^2/(2 D) + m g (R - a cos theta),    D = C (a - R cos theta)^2 + A R^2 sin(theta)^2.  (2)

Sliding dissipates energy, so that the top tends to the minimum of V: upright, inverted or in between. It inverts for
1 - a/R < A/C < 1 + a/R and enough spin. Coulomb friction can stop it some degrees before, where it rolls.

Source: the conditions are those of S. Ebenfeld, F. Scheck, Annals of Physics 243 (1995) 195.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid import quaternions
from rigid.inertia import MassProperties
from rigid.system import Floats
from rodsim import Model, Result, simulate

RADIUS, MASS, G, STIFFNESS = 0.02, 0.02, 9.81, 1e4
AXIAL = 0.4 * MASS * RADIUS**2  # kg m^2, C
DEPTH = MASS * G / STIFFNESS  # m, at rest


class Top(NamedTuple):
    """Dimensions, mass properties and spin of a top."""

    off: float = 0.2  # a/R
    ratio: float = 1.0  # A/C
    spin: float = 150.0  # rad/s about the vertical
    tilt: float = 0.3  # rad, at first
    friction: float = 0.2

    @property
    def inertia(self) -> Floats:
        """Return the moments of inertia (3,), kg m^2."""
        return AXIAL * np.array([self.ratio, self.ratio, 1.0])


TOP = Top()


def model(top: Top) -> Model:
    """Return the top on the table, at the depth of contact of the state of rest."""
    made = Model("tippe top", gravity=(0.0, 0.0, -G))
    table = made.add_plane("table", made.ground.at((0, 0, 0)), (0, 0, 1))
    a, half = top.off * RADIUS, 0.5 * top.tilt
    body = made.add_body(
        "top",
        MassProperties(MASS, top.inertia),
        (0.0, 0.0, RADIUS - DEPTH - a * np.cos(top.tilt)),
        (np.cos(half), 0.0, np.sin(half), 0.0),
        velocity=(0, 0, 0),
        angular_velocity=(0.0, 0.0, top.spin),
    )
    shell = made.add_sphere("shell", body.at((0.0, 0.0, a)), RADIUS)
    made.add_contact("slides", shell, table, STIFFNESS, friction=top.friction)
    return made


def run(top: Top = TOP, t_end: float = 2.0, dt: float = 2e-4, progress: bool | None = None) -> Result:
    """Simulate the top."""
    return simulate(model(top), t_end, dt, output_every=max(1, round(t_end / dt / 500)), progress=progress)


def axis(result: Result) -> Floats:
    """Return the axis e, (T, 3)."""
    return quaternions.to_matrix(result.body("top").quat)[:, :, 2]


def jellett(result: Result, top: Top) -> Floats:
    """Return lambda (T,), kg m^3/s, by (1), with the lever arm to the contact point, R less the depth d.

    The depth changes slightly with the contact force. The rate of (1) due to it is L . n times that of d, so the integral of
    L . n with respect to d is added.
    """
    turned = quaternions.to_matrix(result.body("top").quat)
    L = np.einsum("tij,tj->ti", turned, result.body("top").Omega * top.inertia)
    up, depth = L[:, 2], result.contact("slides").depth
    on_arm = (RADIUS - depth) * up - top.off * RADIUS * np.sum(L * turned[:, :, 2], axis=1)
    return on_arm + np.append(0.0, np.cumsum(0.5 * (up[1:] + up[:-1]) * np.diff(depth)))


def rests(top: Top) -> float:
    """Return cos(theta) of the minimum of (2) that is reached downhill from the start, for the initial lambda."""
    a, start = top.off * RADIUS, np.cos(top.tilt)
    spun = start * (RADIUS * start - a) + top.ratio * RADIUS * (1.0 - start**2)  # lambda over C spin

    def V(cos: Floats) -> Floats:
        D = (a - RADIUS * cos) ** 2 + top.ratio * RADIUS**2 * (1.0 - cos**2)
        return 0.5 * AXIAL * (top.spin * spun) ** 2 / D - MASS * G * a * cos

    cos = np.linspace(-1.0, 1.0, 20001)
    values, k = np.pad(V(cos), 1, constant_values=np.inf), 1 + int(np.abs(cos - start).argmin())
    down = 1 if values[k + 1] < values[k - 1] else -1
    while values[k + down] < values[k]:
        k += down
    return float(cos[k - 1])


if __name__ == "__main__":
    top = TOP
    result = run(top)
    integral = jellett(result, top)
    heights = 1e3 * result.body("top").r[[0, -1], 2]
    print(
        f"e . n from {axis(result)[0, 2]:.3f} to {axis(result)[-1, 2]:.3f}, where (2) falls to {rests(top):.3f}"
    )
    print(f"its centre of mass rises from {heights[0]:.2f} to {heights[1]:.2f} mm")
    print(
        f"spin {top.spin:.1f} to {result.body('top').omega[-1, 2]:.1f} rad/s, "
        f"Jellett's integral +-{np.ptp(integral) / integral[0]:.1e}"
    )
    print(
        f"lost {result.dissipation[-1]:.4f} J, balance {np.ptp(result.energy['total'] + result.dissipation):.1e} J"
    )
