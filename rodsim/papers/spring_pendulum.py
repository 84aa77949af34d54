"""Study of a mass on a nonlinear spring through the origin, in spherical coordinates with M(q): 000 sec. 5.2."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from discretization.time.integrate import Trajectory, integrate
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.symbolic.systems import symbolic_system
from rigid.system import Floats
from rodsim.papers.claims import Line, Study, drift, halved, largest, observed_order, sweep

NAME = "spring-pendulum"
H = 0.01
T_END = 1.0
EA = 300.0
Q0, V0 = (1.05, np.pi / 2, 0.0), (0.0, 1.0, 1.0)


@cache
def spring_pendulum() -> MechanicalSystem:
    """Return the system of 000 (110)-(112): q = (r, theta, phi), m = 1, l0 = 1, V = EA (r^2 - 1)^2/8, no gravity.

    The potential is passed as one function of q, and therefore has Gonzalez' derivative in q, 000 (71), as in the paper.
    """
    r, theta, phi = sp.symbols("r theta phi")
    return symbolic_system(
        "spring pendulum",
        [r, theta, phi],
        q0=Q0,
        v0=V0,
        M=sp.diag(1, r**2, r**2 * sp.sin(theta) ** 2),
        V=sp.Rational(EA) / 8 * (r**2 - 1) ** 2,
        symmetries={"p_phi": (np.zeros((3, 3)), np.array([0.0, 0.0, 1.0]))},
    )


@cache
def run(integrator: str = "EML", h: float = H) -> Trajectory:
    """Integrate the example to t = 1."""
    return integrate(spring_pendulum(), integrator, h, T_END)


def cartesian(q: Floats) -> Floats:
    """Return the Cartesian position (3,) of the mass."""
    r, theta, phi = q
    return r * np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])


@cache
def reference() -> Floats:
    """Return the position (3,) at t = 1 of x'' = -EA (|x|^2 - 1)/2 x, in Cartesian coordinates, by a method of order 8."""

    def rate(t: float, y: Floats) -> Floats:
        """Return the time derivative of y = (x, x')."""
        x = y[:3]
        return np.concatenate([y[3:], -EA / 2 * (x @ x - 1.0) * x])

    start = np.concatenate([cartesian(np.array(Q0)), Q0[0] * np.array([0.0, 1.0, -1.0])])
    end: Floats = solve_ivp(rate, (0.0, T_END), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:3, -1]
    return end


def magnitude(value: float) -> int:
    """Return the exponent of the nearest power of ten."""
    return round(float(np.log10(value)))


def study() -> Study:
    """Check what EML conserves if the mass depends on the coordinates: 000 Figs. 3, 4."""
    result = Study(NAME, "Spring pendulum in spherical coordinates", "000 sec. 5.2")
    example = run()
    kinetic, potential = example.kinetic(), example.potential()
    generalised, total = example.generalised_energy(), example.total_energy()
    result.claim(
        "000 Fig. 3: kinetic and potential energy are exchanged",
        f"T falls to {kinetic.min():.3f} and rises to {kinetic.max():.3f}, V to {potential.max():.3f}",
        float(np.corrcoef(kinetic, potential)[0, 1]) < -0.99,
    )
    increments = largest(np.diff(generalised))
    result.claim(
        "000 Fig. 4: the generalised energy is conserved exactly",
        f"increments {increments:.1e}, drift {drift(generalised):.1e} of {generalised[0]:.3f}",
        increments < 1e-14 and drift(generalised) < 1e-13,
    )
    steps_of_total = largest(np.diff(total))
    result.claim(
        "000 Fig. 4: the total energy is conserved only down to an order of 1e-4",
        f"increments {steps_of_total:.2e}, deviation {drift(total):.2e}",
        magnitude(drift(total)) == -4 and magnitude(steps_of_total) == -4,
    )
    _momentum(result, example)
    exact, steps, lines = reference(), halved(H, range(5)), []
    for name in ("EML", "MPL"):
        errors = sweep(
            steps, lambda h, name: float(np.linalg.norm(cartesian(run(name, h).q[-1]) - exact)), name
        )
        lines.append(errors.line(name))
        result.claim_orders(
            f"000 sec. 6: {name}: second-order accuracy",
            {name: errors.order},
            2,
            f"order {errors.order:.3f} against the motion in Cartesian coordinates, error {errors.errors[0]:.1e} with h = {H}",
        )
    order = observed_order(steps, [drift(run("EML", h).total_energy()) for h in steps])
    result.claim(
        "000 prop. 4.6: generalised and total energy differ where the mass depends on q",
        f"by {drift(total):.1e}; the difference shrinks with order {order:.3f}",
        drift(total) > 1e-6 and abs(order - 2) < 0.1,
    )
    t, energies = example.t, {"T": kinetic, "V": potential, "E": generalised}
    result.panel("Energy", "t", "energy", [Line(name, t, values) for name, values in energies.items()])
    result.panel("Total energy", "t", "increment of T + V", [Line("", t[1:], np.diff(total))])
    result.panel("Generalised energy", "t", "increment of E", [Line("", t[1:], np.diff(generalised))])
    result.panel("Position at t = 1", "h", "error", lines, "log")
    return result


def _momentum(result: Study, example: Trajectory) -> None:
    """Check remark 4.5 of 000 for the cyclic coordinate phi."""
    (symmetry,) = example.system.symmetries
    drifts = {"EML": drift(example.momentum(symmetry)), "MPL": drift(run("MPL").momentum(symmetry))}
    finer = drift(run("EML", H / 4).momentum(symmetry))
    result.claim(
        "000 remark 4.5: the integrator conserves the momentum maps of the system's symmetries",
        f"p_phi changes by {drifts['EML']:.1e} of {example.p[0, 2]:.3f} (h/4: {finer:.1e}); with MPL by {drifts['MPL']:.1e}",
        drifts["EML"] < 1e-12,
        reason="Gonzalez' derivative (71), (130) adds a term along the whole of q1 - q0, which has a component along "
        "the cyclic angle; only derivatives built from the invariants of the symmetry, as for quaternions in "
        "sec. 4.3, are orthogonal to it. The midpoint rule has no such term and keeps p_phi.",
    )
