"""Springs and dampers with a force law (`rigid.interactions.laws`), in three coordinates of two frames.

    length        x = |p_b - p_a|
    displacement  x = u_a . (p_b - p_a),  u_a = R_a U
    angle         x of u_b from u_a about u_a x w_a, as in `torsion_spring`: within half a turn of a middle           (1)

Springs are energies V(x): the step's force is Q(x0, x1), the divided difference of V, on the discrete derivative of x. Dampers:
the force F(dx/dt) with F(0) = 0, in a step F((x1 - x0)/h), dissipates if x F(x) >= 0. The numbers are those of the coordinate,
then those of the law.
"""

import cmath
from functools import partial

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import point_on_plane, spring
from rigid.interactions.distance import add_central_force, between
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    Kind,
    StrainEnergy,
    dissipation,
    dual_function,
    no_bend,
    stress_function,
    tangent_function,
    value_function,
)
from rigid.interactions.laws import law_force, law_quotient, law_value, with_constant
from rigid.interactions.torsion_spring import (
    TURN,
    angle_of,
    change_of_angle,
    real_directions,
    rotated_pair,
    rotation_angle_dual,
    spread,
    start_and_change,
    torque_of_moment,
    turning,
    write_couple,
)
from rigid.linear_algebra import average, dot, minus, times
from rigid.system import Floats

# offsets of the law's numbers: after (Xa, Xb), (Xa, Xb, Ua), (Ua, Wa, Ub, middle)
LENGTH_LAW, DISPLACEMENT_LAW, ANGLE_LAW = 6, 9, 10
MIDDLE = 9


@inline_kernel
def length_of(d):
    """Return the length |d|."""
    return cmath.sqrt(dot(d, d))


@value_function
def length_value(y, X, out):
    """Write the energy V(l)."""
    out[0] = law_value(X, LENGTH_LAW, length_of(between(y, X)))


@inline_kernel
def pull_length(force, d, length, X, out):
    """Write the dual of the force along d, whose mean length is `length`; zero if that is zero."""
    if length == 0.0:
        add_central_force(times(0j, d), X, out)
        return
    add_central_force(times(force / length, d), X, out)


@dual_function
def length_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of V(l): the force Q(l0, l1) dbar/lbar on p_b, as l1 - l0 = dbar . (d1 - d0)/lbar."""
    d0, d1 = between(y0, X), between(y1, X)
    l0, l1 = length_of(d0), length_of(d1)
    force = lam[0] * law_quotient(X, LENGTH_LAW, l0, l1)
    pull_length(force, average(d0, d1), 0.5 * (l0 + l1), X, out)


@dual_function
def length_step(y0, y1, X, lam, out):
    """Write the dual of the damper over a step: the force F((l1 - l0)/h) dbar/lbar; lam = 1/h."""
    d0, d1 = between(y0, X), between(y1, X)
    d, length = average(d0, d1), 0.5 * (length_of(d0) + length_of(d1))
    rate = 0j if length == 0.0 else lam[0] * dot(d, minus(d1, d0)) / length
    pull_length(law_force(X, LENGTH_LAW, rate), d, length, X, out)


@dual_function
def length_rate(y, z, X, lam, out):
    """Write the dual of the damper: the force F(dl/dt) d/l."""
    d = between(y, X)
    length = length_of(d)
    rate = 0j if length == 0.0 else lam[0] * dot(d, between(z, X)) / length
    pull_length(law_force(X, LENGTH_LAW, rate), d, length, X, out)


@inline_kernel
def displacement(y, X):
    """Return the displacement x, u_a and d."""
    u, d = point_on_plane.factors(y, X)
    return dot(u, d), u, d


@value_function
def displacement_value(y, X, out):
    """Write the energy V(x)."""
    out[0] = law_value(X, DISPLACEMENT_LAW, displacement(y, X)[0])


@dual_function
def displacement_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of V(x): the force Q(x0, x1) on the bilinear x."""
    x0, u0, d0 = displacement(y0, X)
    x1, u1, d1 = displacement(y1, X)
    force = lam[0] * law_quotient(X, DISPLACEMENT_LAW, x0, x1)
    point_on_plane.write_dual_of_product(average(u0, u1), average(d0, d1), X, force, out)


@dual_function
def displacement_step(y0, y1, X, lam, out):
    """Write the dual of the damper over a step: the force F((x1 - x0)/h) on x; lam = 1/h."""
    x0, u0, d0 = displacement(y0, X)
    x1, u1, d1 = displacement(y1, X)
    force = law_force(X, DISPLACEMENT_LAW, lam[0] * (x1 - x0))
    point_on_plane.write_dual_of_product(average(u0, u1), average(d0, d1), X, force, out)


@dual_function
def displacement_rate(y, z, X, lam, out):
    """Write the dual of the damper: the force F(dx/dt) on x."""
    _, u, d = displacement(y, X)
    _, du, dd = displacement(z, X)
    point_on_plane.write_dual_of_product(
        u, d, X, law_force(X, DISPLACEMENT_LAW, lam[0] * (dot(du, d) + dot(u, dd))), out
    )


@inline_kernel
def _write_force(force, start, end, K):
    """Write the tangent of a force on x whose imaginary part is its derivative to x, over `COMPLEX_STEP`."""
    point_on_plane.write_tangent_of_product(force.real, force.imag / COMPLEX_STEP, start, end, K)


@tangent_function
def displacement_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of `displacement_dual`."""
    start, end = point_on_plane.real_factors(y0, X), point_on_plane.real_factors(y1, X)
    x0, x1 = dot(start[0], start[1]) + 0j, dot(end[0], end[1]) + COMPLEX_STEP * 1j
    _write_force(lam[0].real * law_quotient(X, DISPLACEMENT_LAW, x0, x1), start, end, K)


@tangent_function
def displacement_step_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of `displacement_step`."""
    start, end = point_on_plane.real_factors(y0, X), point_on_plane.real_factors(y1, X)
    change = dot(end[0], end[1]) - dot(start[0], start[1]) + COMPLEX_STEP * 1j
    _write_force(law_force(X, DISPLACEMENT_LAW, lam[0].real * change), start, end, K)


@value_function
def angle_value(y, X, out):
    """Write the energy V(x)."""
    c, s, _, _, _ = rotated_pair(y, X)
    out[0] = law_value(X, ANGLE_LAW, angle_of(c, s, X[MIDDLE]))


@dual_function
def angle_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of V(x): the moment Q(x0, x0 + delta) on the angle."""
    delta, ratio, c0, s0, middle = turning(y0, y1, X)
    start = angle_of(c0, s0, X[MIDDLE])
    spread(lam[0] * law_quotient(X, ANGLE_LAW, start, start + delta) * ratio, middle, X, out)


@dual_function
def angle_step(y0, y1, X, lam, out):
    """Write the dual of the damper over a step: the moment F(delta/h); lam = 1/h."""
    delta, ratio, _, _, middle = turning(y0, y1, X)
    spread(law_force(X, ANGLE_LAW, lam[0] * delta) * ratio, middle, X, out)


@inline_kernel
def _write_moment(moment, delta, start, end, K):
    """Write the couple of a moment whose imaginary part is its derivative to the angle, over `COMPLEX_STEP`."""
    torque, to_a, to_b = torque_of_moment(moment.real, moment.imag / COMPLEX_STEP, delta, start, end)
    write_couple(K, torque, to_a, to_b)


@tangent_function
def angle_tangent(y0, y1, X, lam, out, K):
    """Write the torques of `angle_dual` and their derivatives."""
    start, end = real_directions(y0, X), real_directions(y1, X)
    alpha, delta = start_and_change(start, end, X[MIDDLE])
    moment = lam[0].real * law_quotient(X, ANGLE_LAW, alpha + 0j, alpha + delta + COMPLEX_STEP * 1j)
    _write_moment(moment, delta, start, end, K)


@tangent_function
def angle_step_tangent(y0, y1, X, lam, out, K):
    """Write the torques of `angle_step` and their derivatives."""
    start, end = real_directions(y0, X), real_directions(y1, X)
    delta = change_of_angle(start, end)
    _write_moment(law_force(X, ANGLE_LAW, lam[0].real * (delta + COMPLEX_STEP * 1j)), delta, start, end, K)


@dual_function
def angle_rate(y, z, X, lam, out):
    """Write the dual of the damper: the moment F(dx/dt), dx/dt = (c s' - s c')/(c^2 + s^2)."""
    c, s, u, w, b = rotated_pair(y, X)
    _, _, du, dw, db = rotated_pair(z, X)
    dc, ds = dot(du, b) + dot(u, db), dot(dw, b) + dot(w, db)
    square = c * c + s * s
    moment = law_force(X, ANGLE_LAW, lam[0] * (c * ds - s * dc) / square)
    spread(moment / square, (c, s, u, w, b), X, out)


@stress_function
def length_law(e, X, out):
    """Write the stress F(l)."""
    out[0] = law_force(X, LENGTH_LAW, e[0])


@value_function
def displacement_strain(y, X, out):
    """Write the displacement x, which is the strain."""
    out[0] = displacement(y, X)[0]


@dual_function
def displacement_strain_dual(y0, y1, X, lam, out):
    """Write the dual of the force lam on the bilinear x."""
    _, u0, d0 = displacement(y0, X)
    _, u1, d1 = displacement(y1, X)
    point_on_plane.write_dual_of_product(average(u0, u1), average(d0, d1), X, lam[0], out)


@stress_function
def displacement_law(e, X, out):
    """Write the stress F(x)."""
    out[0] = law_force(X, DISPLACEMENT_LAW, e[0])


@value_function
def angle_strain(y, X, out):
    """Write the angle x, which is the strain."""
    c, s, _, _, _ = rotated_pair(y, X)
    out[0] = angle_of(c, s, X[MIDDLE])


@stress_function
def angle_law(e, X, out):
    """Write the stress F(x)."""
    out[0] = law_force(X, ANGLE_LAW, e[0])


def _shifted(at: int, X: Floats, de: Floats, dstress: Floats) -> Floats:
    """Return the numbers X with the constant dstress added to the law at the offset `at`; its argument x does not change."""
    return with_constant(X, at, dstress[:, 0])


LENGTH_SPRING = Kind(
    "spring with a law of its length",
    2,
    0,
    length_value,
    length_dual,
    no_bend,
    strain_energy=StrainEnergy(
        1, spring.length, spring.length_dual, length_law, partial(_shifted, LENGTH_LAW)
    ),
)
DISPLACEMENT_SPRING = Kind(
    "spring with a law of a displacement",
    2,
    0,
    displacement_value,
    displacement_dual,
    no_bend,
    strain_energy=StrainEnergy(
        1,
        displacement_strain,
        displacement_strain_dual,
        displacement_law,
        partial(_shifted, DISPLACEMENT_LAW),
    ),
    tangent=displacement_tangent,
)
ANGLE_SPRING = Kind(
    "spring with a law of an angle",
    2,
    0,
    angle_value,
    angle_dual,
    no_bend,
    strain_energy=StrainEnergy(
        1, angle_strain, rotation_angle_dual, angle_law, partial(_shifted, ANGLE_LAW), TURN
    ),
    couple=True,
    tangent=angle_tangent,
)
LENGTH_DAMPER = dissipation("damper with a law of the rate of its length", 2, length_step, length_rate)
DISPLACEMENT_DAMPER = dissipation(
    "damper with a law of the rate of a displacement", 2, displacement_step, displacement_rate
)._replace(tangent=displacement_step_tangent)
ANGLE_DAMPER = dissipation("damper with a law of the rate of an angle", 2, angle_step, angle_rate)._replace(
    couple=True, tangent=angle_step_tangent
)
