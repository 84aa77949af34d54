"""Evaluate one step of BS99, the discrete Lagrange top of Bobenko and Suris (1999), as in 002 (166).

    m1 - m0 = h mgl e3 x d0                                               (1)
    d1 - d0 = (h/J1) m1 x dbar                                            (2)

with the angular momentum m about the fixed point and the axis d; mgl e3 is the gradient of V. The scheme conserves |d|, m . e3
and m . d exactly.
"""

from typing import NamedTuple

from discretization.time.scheme import residual, update
from discretization.time.scratch_vectors import PerCoordinate, scratch


class Vectors(NamedTuple):
    """Scratch vectors of BS99."""

    V_d: PerCoordinate  # gradient of V


vectors = scratch(Vectors)


@residual
def bs99_residual(fn, D, S, W, x, r):
    """Evaluate the residual (1), (2); the system's q is the axis d, its p is the angular momentum m, its mass is J1."""
    d1, m1 = x[:3], x[3:6]
    V_d = vectors(W, D).V_d
    fn.gradient(S.q0, D, V_d)
    fn.mass(S.q0, D, W.square)
    rate = S.h / W.square[0, 0]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        r[3 + i] = m1[i] - S.p0[i] - S.h * (V_d[j] * S.q0[k] - V_d[k] * S.q0[j])  # (1)
        mean_j, mean_k = 0.5 * (S.q0[j] + d1[j]), 0.5 * (S.q0[k] + d1[k])
        r[i] = d1[i] - S.q0[i] - rate * (m1[j] * mean_k - m1[k] * mean_j)  # (2)


@update
def bs99_update(fn, D, S, W, x, q, p, v, lam, gam):
    """Store the state (d, m) of the unknowns x at the end of the step; v is the rate of d."""
    fn.mass(S.q0, D, W.square)
    for i in range(3):
        q[i], p[i] = x[i], x[3 + i]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        v[i] = (p[j] * q[k] - p[k] * q[j]) / W.square[0, 0]
