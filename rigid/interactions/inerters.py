"""Inertia against the rate of a measure: reflected inertia of a rotor on a joint, an inerter between two points.

An inertance J resists the rate w of a measure m of two frames (`rigid.interactions.measures`): it has the kinetic energy J w^2/2
and exerts the generalised force -J dw/dt. w is an internal variable. With the exact change dm of the measure over a step,

    (w0 + w1)/2 = dm/h,    J (w1 - w0)/h = -force,    J (w1^2 - w0^2)/2 = -force dm                           (1)

so that energy is conserved exactly. The force acts between the two frames: it does not change their total momenta. A rotor with
the inertia I behind a gear of ratio n has J = n^2 I; its gyroscopic moments are neglected, as usual for reflected inertia.
"""

from __future__ import annotations

from typing import Any

from rigid.interactions import measures
from rigid.interactions.kinds import (
    Condensed,
    InternalStateEquations,
    Kind,
    dissipation,
    dual_function,
    no_bend,
    tangent_function,
    value_function,
)
from rigid.interactions.point_on_plane import real_factors, write_tangent_of_product
from rigid.interactions.pressure import nothing
from rigid.interactions.torsion_spring import real_directions, torque_of_step, write_couple
from rigid.linear_algebra import dot


@tangent_function
def angle_tangent(y0, y1, X, lam, out, K):
    """Write the torque of the inertance of an angle and its derivatives, those of a torsion spring 4 J/h^2 (dm/2 - h w0/2)."""
    h = 1.0 / lam[0].real
    law = (4.0 * X[10] / (h * h), 0.0, 0.5 * h * X[11])
    start, end = real_directions(y0, X), real_directions(y1, X)
    _, _, torque, to_a, to_b = torque_of_step(law, h, 0.0, start, end)
    write_couple(K, torque, to_a, to_b)


@tangent_function
def displacement_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of the inertance of a displacement."""
    start, end, rate = real_factors(y0, X), real_factors(y1, X), lam[0].real
    change = dot(end[0], end[1]) - dot(start[0], start[1])
    force, slope = 2.0 * rate * X[9] * (rate * change - X[10]), 2.0 * rate * rate * X[9]
    write_tangent_of_product(force, slope, start, end, K)


def _inerter(word: str, tangent: Any = None) -> Kind:
    """Return the kind of an inertance against the rate of a measure.

    Its numbers are those of the measure, J, and the rate w at the start of a step. tangent: its closed form, if there is one.
    """
    of_step, add, of_pose = (getattr(measures, name) for name in (f"{word}_over_step", f"add_{word}", word))
    J = measures.WIDTHS[word]
    W = J + 1

    @dual_function
    def step_dual(y0, y1, X, lam, out):
        """Write J (w1 - w0)/h times the discrete derivative of the measure, lam = 1/h."""
        measures.clear_duals(out, 2)
        rate = lam[0] * of_step(y0, y1, 0, 1, X, 0)
        add(y0, y1, 0, 1, X, 0, 2.0 * lam[0] * X[J] * (rate - X[W]), out)

    @dual_function
    def end_rate(y0, y1, X, lam, out):
        """Write w1."""
        out[0, 0, 0] = 2.0 * lam[0] * of_step(y0, y1, 0, 1, X, 0) - X[W]

    @value_function
    def stored_energy(y, X, out):
        """Write J w^2/2."""
        out[0] = 0.5 * X[J] * X[W] * X[W]

    @value_function
    def measured(y, X, out):
        """Write the measure, whose rate is w."""
        out[0] = of_pose(y, 0, 1, X, 0)

    @dual_function
    def equations(y0, y1, X, lam, out):
        """Write the dual of a step of length lam[0] with w0, w1 in lam[1:], and (w0 + w1)/2 - dm/h."""
        h, w0, w1 = lam[0], lam[1], lam[2]
        measures.clear_duals(out, 3)
        add(y0, y1, 0, 1, X, 0, X[J] * (w1 - w0) / h, out)
        out[2, 0, 0] = 0.5 * (w0 + w1) - of_step(y0, y1, 0, 1, X, 0) / h

    at_rest = Kind(f"{word} inerter, at rest", 2, 0, nothing, no_bend, no_bend)
    states = InternalStateEquations(
        at_rest, nothing, equations, conserves=True, reverses=True, rate_of=measured
    )
    condensed = Condensed(update_internal=end_rate, stored_energy=stored_energy)
    kind = dissipation(f"{word} inerter", 2, step_dual, no_bend)
    return kind._replace(
        n_internal=1,
        condensed=condensed,
        state_equations=states,
        tangent=tangent,
        inertial=True,
        couple=word == "angle",
    )


INERTERS = {
    "distance": _inerter("distance"),
    "displacement": _inerter("displacement", displacement_tangent),
    "angle": _inerter("angle", angle_tangent),
}
