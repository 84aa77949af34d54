"""Friction of a tendon at the points that it passes: the tension falls from point to point as at a capstan.

A tendon of tension T_0 in the segment between the points 0 and 1 slips past point i at the rate v_i, positive towards point 0.
With the angle of wrap phi_i, that of its two segments, and the slip rate v_s over which friction builds up,

    T_i = T_(i-1) exp(-mu phi_i tanh(v_i/v_s)),   v_i = -d/dt sum_(j >= i) l_j                                      (1)

Over a step the change of each length replaces its rate, times 1/h, and phi_i is that of the mean segments. The dual is that of
the forces T_i - T_0, so that with those of a tendon without friction the tensions are T_i. What a step loses is never negative:

    sum_i (T_i - T_0) (l_i1 - l_i0) = sum_i (T_(i-1) - T_i) h v_i                                                   (2)

A tension that is not positive rubs nowhere. Numbers: X of each point, mu, v_s, and three from outside, whose sum is T_0.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import measures
from rigid.interactions.kinds import (
    InternalStateEquations,
    Kind,
    dissipation,
    dual_function,
    frame,
    no_bend,
    vector,
)
from rigid.interactions.measure_forces import force_of
from rigid.interactions.pressure import nothing
from rigid.interactions.torsion_spring import argument
from rigid.kinematics.poses import point
from rigid.linear_algebra import average, cross, dot, minus, plus, times

MAX_POINTS = 32  # largest number of points of a tendon with friction
_NUMBERS = 5  # numbers after the points: mu, v_s, three from outside
_STRAIGHT = 1e-28  # square of the sine of an angle of wrap that counts as zero


@inline_kernel
def _between(y, X, j):
    """Return the vector from point j to point j + 1."""
    return minus(point(frame(y, j + 1), vector(X, 3 * j + 3)), point(frame(y, j), vector(X, 3 * j)))


@inline_kernel
def _segment(first, second, X, j, are_rates):
    """Return the vector of segment j, its length, and the change of the length.

    first, second: the poses at both ends of a step, of which the mean is taken; if `are_rates`, poses and their rates.
    """
    a, b = _between(first, X, j), _between(second, X, j)
    if are_rates:
        d, length, change = a, cmath.sqrt(dot(a, a)), dot(a, b)
    else:
        d, length = average(a, b), 0.5 * (cmath.sqrt(dot(a, a)) + cmath.sqrt(dot(b, b)))
        change = 0.5 * dot(plus(a, b), minus(b, a))
    if length == 0.0:  # it has no direction
        return d, 1.0 + 0.0 * length, 0.0 * change
    return d, length, change / length


@inline_kernel
def _wrap(a, b):
    """Return the angle between the directions a and b; its derivative is zero where they are parallel."""
    c, s = dot(a, b), cross(a, b)
    square = dot(s, s)
    if square.real <= _STRAIGHT * (c.real * c.real + square.real):
        return 0.0 * c
    return argument(c, cmath.sqrt(square))


@inline_kernel
def _tanh(x):
    """Return tanh x and, for a complex step, its first derivative along the imaginary part."""
    t = math.tanh(x.real)
    return t + 1j * (1.0 - t * t) * x.imag


@inline_kernel
def _write_friction(first, second, X, rate, are_rates, out):
    """Write the dual of (1); rate: factor that makes a rate of the change of a length."""
    n = (X.shape[0] - _NUMBERS) // 3
    mu, slip_rate, tension = X[3 * n], X[3 * n + 1], force_of(X, 3 * n + 2)
    measures.clear_duals(out, n)
    if tension.real <= 0.0:
        return
    remaining = 0j  # change of the length from point j on
    for j in range(n - 1):
        remaining += _segment(first, second, X, j, are_rates)[2]
    before, length, change = _segment(first, second, X, 0, are_rates)
    exponent = 0j
    for j in range(1, n - 1):
        remaining -= change
        d, length, change = _segment(first, second, X, j, are_rates)
        exponent += mu * _wrap(before, d) * _tanh(rate * remaining / slip_rate)  # v_j = -rate x remaining
        before = d
        f = times(tension * (cmath.exp(exponent) - 1.0) / length, d)
        measures.add_force(out, j + 1, X, 3 * j + 3, f)
        measures.add_force(out, j, X, 3 * j, times(-1.0, f))


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write the dual of the friction over a step, lam = 1/h."""
    _write_friction(y0, y1, X, lam[0], False, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write the dual of the friction to the rates z of the poses, lam = 1."""
    _write_friction(y, z, X, lam[0], True, out)


@dual_function
def equations(y0, y1, X, lam, out):
    """Write the dual over a step of length lam[0]; there are no internal variables."""
    _write_friction(y0, y1, X, 1.0 / lam[0], False, out)


@dual_function
def no_force(y0, y1, X, lam, out):
    """Write zero: at rest the tension is the same everywhere."""
    measures.clear_duals(out, (X.shape[0] - _NUMBERS) // 3)


def _friction(points: int) -> Kind:
    """Return the kind of the friction of a tendon through this many points."""
    name, signal = f"tendon friction at {points} points", 3 * points + 2
    facts: dict[str, Any] = {"signal": signal, "potential": True}  # that of no force: at rest nothing rubs
    at_rest = Kind(f"{name}, at rest", points, 0, nothing, no_force, no_bend, works=True, **facts)
    kind = dissipation(name, points, step_dual, rate_dual)
    return kind._replace(state_equations=InternalStateEquations(at_rest, nothing, equations), **facts)


TENDON_FRICTIONS = {n: _friction(n) for n in range(3, MAX_POINTS + 1)}  # by the number of points
