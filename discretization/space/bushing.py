"""Bushing between two markers: an SE(3) rod element of length 1 with any symmetric 6 x 6 stiffness and damping.

A marker is the pose (p, e_1, e_2, e_3) of a point with axes fixed on a frame, linear in the frame's pose:

    p = r + sum_j X_j d_j,   e_k = sum_j Q_jk d_j                                                           (1)

Its coordinates are the strains (u, theta n) of `se3_dual` at L = 1. The vector theta n, rad, is the rotation vector of the
relative rotation of the markers, by the angle theta about n, up to nearly pi. It has the same components in the axes of both
markers. The vector u, m, is the displacement of the screw motion from marker a to marker b: (u, theta n) is the logarithm of
their relative pose. Without a rotation u = p_b - p_a in the axes of the markers; for a small rotation u is p_b - p_a in axes
half-way between both. V = (u, theta n) . C (u, theta n)/2 and its moments do not depend on which marker is called a. Numbers:
X_a, Q_a, X_b, Q_b (row by row), then the numbers of the element. Its stress-free strains are (-1, 0, 0, 0, 0, 0) plus the
wanted ones, since the element measures its stretch from 1.
"""

from __future__ import annotations

import numpy as np

from discretization.space import se3_dual
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import (
    Kind,
    StrainEnergy,
    dissipation,
    dual_function,
    frame,
    no_bend,
    store,
    stress_function,
    value_function,
    vector,
)
from rigid.linear_algebra import average, dot, minus, plus, times
from rigid.system import Floats

MARKERS = 24  # count of the numbers of both markers, which precede the numbers of the element


@inline_kernel
def combined(x, y, z, a, b, c):
    """Return x a + y b + z c."""
    return plus(times(x, a), plus(times(y, b), times(z, c)))


@inline_kernel
def marker(pose, k, X):
    """Return the pose (1) of marker k on a frame with this pose."""
    r, d1, d2, d3 = pose
    i = 12 * k
    return (
        plus(r, combined(X[i], X[i + 1], X[i + 2], d1, d2, d3)),
        combined(X[i + 3], X[i + 6], X[i + 9], d1, d2, d3),
        combined(X[i + 4], X[i + 7], X[i + 10], d1, d2, d3),
        combined(X[i + 5], X[i + 8], X[i + 11], d1, d2, d3),
    )


@inline_kernel
def spread_on_frames(out, k, X):
    """Replace the dual on marker k in `out` by the dual on its frame."""
    f, f1, f2, f3 = frame(out, k)
    i = 12 * k
    store(
        (
            f,
            plus(times(X[i], f), combined(X[i + 3], X[i + 4], X[i + 5], f1, f2, f3)),
            plus(times(X[i + 1], f), combined(X[i + 6], X[i + 7], X[i + 8], f1, f2, f3)),
            plus(times(X[i + 2], f), combined(X[i + 9], X[i + 10], X[i + 11], f1, f2, f3)),
        ),
        out,
        k,
    )


@inline_kernel
def replace_by_marker_poses(y0, y1, X):
    """Replace the poses of both frames in y0 and y1, which may be one array, by those of the markers; return the frames."""
    a0, b0, a1, b1 = frame(y0, 0), frame(y0, 1), frame(y1, 0), frame(y1, 1)
    m0, n0, m1, n1 = marker(a0, 0, X), marker(b0, 1, X), marker(a1, 0, X), marker(b1, 1, X)
    store(m0, y0, 0)
    store(n0, y0, 1)
    store(m1, y1, 0)
    store(n1, y1, 1)
    return a0, b0, a1, b1


@inline_kernel
def transform_to_frames(out, X, frames, y0, y1):
    """Replace the dual on both markers in `out` by the dual on their frames, and restore the frames in y0 and y1."""
    spread_on_frames(out, 0, X)
    spread_on_frames(out, 1, X)
    store(frames[0], y0, 0)
    store(frames[1], y0, 1)
    store(frames[2], y1, 0)
    store(frames[3], y1, 1)


@inline_kernel
def strains_at(y, X):
    """Return Gamma, K of the element between the markers, with its stretch measured from 1."""
    a, b = marker(frame(y, 0), 0, X), marker(frame(y, 1), 1, X)
    Y, k, _ = se3_dual.invariants(a, b, minus(b[0], a[0]), 1.0)
    u = 0.25 * dot(k, k)
    f, _, _, p, _, _ = se3_dual.complex_differences(u, u)
    return se3_dual.strain_of(Y, k, f, p, 1.0)


@value_function
def value(y, X, out):
    """Write V to `out[0]`, J."""
    Gamma, K = strains_at(y, X)
    Gamma, K = se3_dual.unloaded(Gamma, K, X[MARKERS:])
    N, M = se3_dual.stress_of(Gamma, K, X[MARKERS:])
    out[0] = 0.5 * (dot(Gamma, N) + dot(K, M))


@value_function
def strains(y, X, out):
    """Write Gamma, K of the element between the markers to `out` (6,)."""
    Gamma, K = strains_at(y, X)
    for i in range(3):
        out[i], out[3 + i] = Gamma[i], K[i]


@dual_function
def strain_dual(y0, y1, X, lam, out):
    """Write the dual of the stress `lam` (6,) on the strains to `out` (2, 4, 3)."""
    frames = replace_by_marker_poses(y0, y1, X)
    start, end, functions = se3_dual.ends_of(y0, y1, 1.0)
    se3_dual.spread(y0, y1, start, end, functions, 1.0, vector(lam, 0), vector(lam, 3), out)
    transform_to_frames(out, X, frames, y0, y1)


@stress_function
def law(e, X, out):
    """Write the stress C (e - e0) to `out` (6,)."""
    Gamma, K = se3_dual.unloaded(vector(e, 0), vector(e, 3), X[MARKERS:])
    N, M = se3_dual.stress_of(Gamma, K, X[MARKERS:])
    for i in range(3):
        out[i], out[3 + i] = N[i], M[i]


def shifted(X: Floats, de: Floats, dstress: Floats) -> Floats:
    """Return the numbers X with stress-free strains that are less by `de`."""
    at = MARKERS + se3_dual.STRAIN0
    X[:, at : at + 6] -= de
    return X


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of V, the force of the mean strains, to `out` (2, 4, 3)."""
    frames = replace_by_marker_poses(y0, y1, X)
    start, end, functions = se3_dual.ends_of(y0, y1, 1.0)
    Gamma0, K0, Gamma1, K1 = se3_dual.strains_of(start, end, functions, 1.0)
    Gamma, K = se3_dual.unloaded(average(Gamma0, Gamma1), average(K0, K1), X[MARKERS:])
    N, M = se3_dual.stress_of(Gamma, K, X[MARKERS:])
    se3_dual.spread(y0, y1, start, end, functions, 1.0, times(lam[0], N), times(lam[0], M), out)
    transform_to_frames(out, X, frames, y0, y1)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the damping stress of the change of the strains to `out` (2, 4, 3)."""
    frames = replace_by_marker_poses(y0, y1, X)
    start, end, functions = se3_dual.ends_of(y0, y1, 1.0)
    Gamma0, K0, Gamma1, K1 = se3_dual.strains_of(start, end, functions, 1.0)
    N, M = se3_dual.stress_of(minus(Gamma1, Gamma0), minus(K1, K0), X[MARKERS:])
    se3_dual.spread(y0, y1, start, end, functions, 1.0, times(lam[0], N), times(lam[0], M), out)
    transform_to_frames(out, X, frames, y0, y1)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the damping stress of the strain rates to `out` (2, 4, 3).

    y: poses; z: their rates. The pose of a marker is linear in that of its frame, so that its rate is the marker of z.
    """
    frames = replace_by_marker_poses(y, z, X)
    at, _, functions = se3_dual.ends_of(y, y, 1.0)
    dGamma, dK = se3_dual.strain_rates(y, z, at, functions, 1.0)
    N, M = se3_dual.stress_of(dGamma, dK, X[MARKERS:])
    se3_dual.spread(y, y, at, at, functions, 1.0, times(lam[0], N), times(lam[0], M), out)
    transform_to_frames(out, X, frames, y, z)


BUSHING = Kind(
    "bushing", 2, 0, value, dual, no_bend, strain_energy=StrainEnergy(6, strains, strain_dual, law, shifted)
)
BUSHING_DAMPER = dissipation("damper of a bushing", 2, step_dual, rate_dual)


def bushing_numbers(markers: Floats, stiffness: Floats, coordinates: Floats) -> Floats:
    """Return the numbers of a bushing from its markers (24,), C (6, 6) and coordinates (u, theta n) (6,) without force."""
    stress_free = coordinates - np.array([1.0, 0, 0, 0, 0, 0])
    return np.concatenate([markers, [1.0], stiffness.ravel(), stress_free])


def damper_numbers(markers: Floats, damping: Floats) -> Floats:
    """Return the numbers of the damper of a bushing from its markers (24,) and D (6, 6)."""
    return np.concatenate([markers, [1.0], damping.ravel()])
