"""Chambers: tubes of a constant cross-section A along points of frames, filled with a gas or a liquid.

A tube through the points has the volume A (l + c): l is the length of `rigid.interactions.tendon_length`, c what does not change
(dead volume over A, and the length between points of one frame). Its filling pushes each two neighbouring points apart with the
force f = A p, as a tendon of the tension -f; p is the pressure above that of the surroundings p_a.

    gas      f = G (l + c)^-n - F_a      G = A p_0 (l_0 + c)^n,  F_a = A p_a,  p_0 absolute, n polytropic exponent    (1)
    liquid   f = k (L - l)               k = A^2 B/V_0,  A (L + c): volume of the liquid without pressure             (2)

The force over a step is -(V_1 - V_0)/(l_1 - l_0), the discrete derivative of the energy. With a = l_0 + c and d = (l_1 - l_0)/a,

    gas      f = G a^-n phi(d) - F_a,    phi(d) = ((1 + d)^(1-n) - 1)/((1 - n) d) = 1 - n d/2 + n (n+1) d^2/6 - ...    (3)
    liquid   f = k (L - (l_0 + l_1)/2)                                                                                (4)

A liquid does not cavitate here: its pressure may become negative. Where its volume varies, L is constant in a step, and the
energy counts as work. Numbers: X_in and X_out of each frame, then c, G, n, F_a of a gas, or L, k of a liquid, and three from
outside whose sum is added to L.
"""

from __future__ import annotations

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import MAX_FRAMES, Kind, dual_function, no_bend, value_function
from rigid.interactions.measure_forces import force_of
from rigid.interactions.pressure import nothing
from rigid.interactions.tendon_length import (
    PER_FRAME,
    change_of_length,
    count_of_frames,
    length_of,
    write_tension,
)

CHAMBERS = 10  # number of their loop in `em`, after that of tendons
GAS, LIQUID, PUMPED = 4, 2, 5  # count of the numbers behind the points
_FEW = 1e-5  # changes d below which the derivative of phi is a series


@inline_kernel
def mean_power(d, n):
    """Return phi (3) of complex d, without the difference of two powers."""
    if d == 0.0:
        return 1.0 + 0.0 * d
    log = 2.0 * cmath.atanh(d / (2.0 + d))  # log(1 + d)
    half = cmath.tanh(0.5 * (1.0 - n) * log)
    return log / d if n == 1.0 else 2.0 * half / ((1.0 - half) * (1.0 - n) * d)


@inline_kernel
def force_of_gas(c, G, n, F_a, first, change):
    """Return f of (3), N, of complex lengths; first: l_0; change: l_1 - l_0, m."""
    a = first + c
    return G * cmath.exp(-n * cmath.log(a)) * mean_power(change / a, n) - F_a


@inline_kernel
def slope_of_gas(c, G, n, first, change):
    """Return the derivative of f (3) to l_1, N/m, of real numbers."""
    a = first + c
    d = change / a
    if abs(d) < _FEW:
        slope = -0.5 * n + n * (n + 1.0) / 3.0 * d
    else:
        slope = ((1.0 + d) ** -n - mean_power(complex(d), n).real) / d
    return G * a ** (-n - 1.0) * slope


@inline_kernel
def push_and_slope(X, first, change):
    """Return f over a step, N, and its derivative to l_1, N/m; first: l_0; change: l_1 - l_0, m."""
    at = PER_FRAME * count_of_frames(X)
    if X.shape[0] - at == GAS:
        c, G, n = X[at], X[at + 1], X[at + 2]
        force = force_of_gas(c, G, n, X[at + 3], complex(first), complex(change)).real
        return force, slope_of_gas(c, G, n, first, change)
    length = X[at] + (force_of(X, at + 2) if X.shape[0] - at == PUMPED else 0.0)
    return X[at + 1] * (length - first - 0.5 * change), -0.5 * X[at + 1]


@value_function
def gas_energy(y, X, out):
    """Write the potential energy of (1)."""
    at = PER_FRAME * count_of_frames(X)
    length, n = length_of(y, X), X[at + 2]
    log = cmath.log(length + X[at])
    power = -log if n == 1.0 else cmath.exp((1.0 - n) * log) / (n - 1.0)
    out[0] = X[at + 1] * power + X[at + 3] * length


@dual_function
def gas_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of the energy of a gas."""
    at = PER_FRAME * count_of_frames(X)
    change = change_of_length(y0, y1, X)
    force = force_of_gas(X[at], X[at + 1], X[at + 2], X[at + 3], length_of(y0, X), change)
    write_tension(y0, y1, X, -lam[0] * force, out)


@value_function
def liquid_energy(y, X, out):
    """Write the potential energy of (2)."""
    at = PER_FRAME * count_of_frames(X)
    pressed = X[at] - length_of(y, X)
    out[0] = 0.5 * X[at + 1] * pressed * pressed


@dual_function
def liquid_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of the energy of a liquid."""
    at = PER_FRAME * count_of_frames(X)
    pressed = X[at] - length_of(y0, X) - 0.5 * change_of_length(y0, y1, X)
    write_tension(y0, y1, X, -lam[0] * X[at + 1] * pressed, out)


@dual_function
def pumped_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of the energy of a liquid with the volume that holds in this step."""
    at = PER_FRAME * count_of_frames(X)
    pressed = X[at] + force_of(X, at + 2) - length_of(y0, X) - 0.5 * change_of_length(y0, y1, X)
    write_tension(y0, y1, X, -lam[0] * X[at + 1] * pressed, out)


_COUNTS = range(2, MAX_FRAMES + 1)
# kinds by their number of frames
GAS_CHAMBERS = {
    n: Kind(f"chamber of gas of {n} frames", n, 0, gas_energy, gas_dual, no_bend, loop=CHAMBERS)
    for n in _COUNTS
}
LIQUID_CHAMBERS = {
    n: Kind(f"chamber of liquid of {n} frames", n, 0, liquid_energy, liquid_dual, no_bend, loop=CHAMBERS)
    for n in _COUNTS
}
PUMPED_CHAMBERS = {
    n: Kind(
        f"chamber of varying volume of {n} frames",
        n,
        0,
        nothing,
        pumped_dual,
        no_bend,
        works=True,
        signal=PER_FRAME * n + 2,
        potential=True,
        loop=CHAMBERS,
    )
    for n in _COUNTS
}
