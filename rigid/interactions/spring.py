"""Spring-damper between two points: V = k (l - l0)^2/2, l = |p_b - p_a|, and the force c dl/dt along the line.

Since l1 - l0 = dbar . (d1 - d0)/lbar exactly, d = p_b - p_a, the force

    sigma dbar,   sigma = (k (lbar - l0) + c dbar . (d1 - d0)/(h lbar))/lbar                                (1)

does exactly the work -(V1 - V0) minus the dissipation c (dl/h)^2 h of a damper c parallel to the spring.
"""

import cmath
import math

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.distance import add_central_force, between
from rigid.interactions.kinds import (
    Kind,
    StrainEnergy,
    dissipation,
    dual_function,
    no_bend,
    stress_function,
    value_function,
)
from rigid.linear_algebra import average, dot, minus, times
from rigid.system import Floats

SPRINGS = 1  # number of its loop in `em`
DAMPING = 8  # offset of c among the numbers: Xa, Xb, k, l0, c


@value_function
def value(y, X, out):
    """Write the energy k (l - l0)^2/2."""
    d = between(y, X)
    elongation = cmath.sqrt(dot(d, d)) - X[7]
    out[0] = 0.5 * X[6] * elongation * elongation


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of V: the force k (lbar - l0)/lbar dbar on p_b, its opposite on p_a."""
    d0, d1 = between(y0, X), between(y1, X)
    length = 0.5 * (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1)))
    if length == 0.0:  # the force has no direction
        add_central_force(times(0j, d0), X, out)
        return
    add_central_force(times(lam[0] * X[6] * (length - X[7]) / length, average(d0, d1)), X, out)


@value_function
def length(y, X, out):
    """Write the length l, which is the strain."""
    d = between(y, X)
    out[0] = cmath.sqrt(dot(d, d))


@dual_function
def length_dual(y0, y1, X, lam, out):
    """Write the dual of lam l: the force lam dbar/lbar on p_b, its opposite on p_a, none if lbar is zero.

    It follows from l1 - l0 = dbar . (d1 - d0)/lbar.
    """
    d0, d1 = between(y0, X), between(y1, X)
    mean = 0.5 * (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1)))
    if mean == 0.0:
        add_central_force(times(0j, d0), X, out)
        return
    add_central_force(times(lam[0] / mean, average(d0, d1)), X, out)


@stress_function
def law(e, X, out):
    """Write the stress k (l - l0)."""
    out[0] = X[6] * (e[0] - X[7])


def shifted(X: Floats, de: Floats, dstress: Floats) -> Floats:
    """Return the numbers X with the unstretched length reduced by de."""
    X[:, 7] -= de[:, 0]
    return X


@inline_kernel
def force_of_step(law, h, d0, d1):
    """Return sigma of (1) in real closed form, (d sigma/d l1)/l1, and the dissipation over the step; law: k, c, l0."""
    stiffness, damping, length0 = law
    first, last = math.sqrt(dot(d0, d0)), math.sqrt(dot(d1, d1))
    length = 0.5 * (first + last)
    if length == 0.0:
        return stiffness if length0 == 0.0 else 0.0, 0.0, 0.0
    elongation = dot(average(d0, d1), minus(d1, d0)) / length
    sigma = (stiffness * (length - length0) + damping * elongation / h) / length  # (1)
    slope = 0.0
    if last > 0.0:
        slope = (0.5 * stiffness + damping / h - 0.5 * sigma) / (length * last)
    return sigma, slope, damping * elongation * elongation / h


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write the dual of the damper over a step: the force c (l1 - l0) lam/lbar dbar on p_b, lam = 1/h."""
    d0, d1 = between(y0, X), between(y1, X)
    d, length = average(d0, d1), 0.5 * (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1)))
    if length == 0.0:
        add_central_force(times(0j, d), X, out)
        return
    elongation = dot(d, minus(d1, d0)) / length
    add_central_force(times(lam[0] * X[DAMPING] * elongation / length, d), X, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write the dual of the damper: the force c dl/dt d/l on p_b, dl/dt = d . d'/l."""
    d = between(y, X)
    square = dot(d, d)
    if square == 0.0:
        add_central_force(times(0j, d), X, out)
        return
    add_central_force(times(lam[0] * X[DAMPING] * dot(d, between(z, X)) / square, d), X, out)


DAMPER = dissipation("damper", 2, step_dual, rate_dual)

SPRING = Kind(
    "spring",
    2,
    0,
    value,
    dual,
    no_bend,
    columns=("Xa", "Xb", "stiffness", "length0", "damping"),
    strain_energy=StrainEnergy(1, length, length_dual, law, shifted),
    parallel_damper=(DAMPER, DAMPING),
    loop=SPRINGS,
)
