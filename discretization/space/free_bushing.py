"""Bushing with a free axis: a compliant bearing, whose rotation about that axis is not limited.

The rotation vector of `bushing` is defined only while the total rotation is below pi, regardless of the stiffness. If nothing
resists a rotation about one axis, e_1 of the markers, the coordinates of the bearing are used instead, with e = p_b - p_a and
the axes a_i, b_i of both markers,

    u   = (e . a_1, e . a_2, e . a_3)                   the displacement, in the axes of marker a                (1)
    t   = f(w) k,  k = 2 S/T,  w = k . k/4                                                                       (2)
          S = (-a_3 . b_1, a_2 . b_1),  T = 1 + a_1 . b_1                                                        (3)
    phi = atan2(a_3 . b_2 - a_2 . b_3, a_2 . b_2 + a_3 . b_3)                                                    (4)

The vector t, rad, is the rotation vector, along a_2 and a_3, of the shortest rotation that takes a_1 to b_1. The vector k is
2 tan(angle/2) times its axis, and f is that of `strain_functions`; t is defined up to nearly pi. The angle phi, rad, is the
remaining rotation about the axis. Only dampers need phi, and only its changes, so that no revolutions are counted.
V = (u, 0, t) . C (u, 0, t)/2. Properties that differ between directions across the axis rotate with marker a, the housing of the
bearing.

S, T and both numbers of (4) are bilinear in the poses, so that with bars for averages over a step

    m . dt = ck . dk,  ck = fbar m + f[]/2 (m . kbar) kbar,   Tbar dk = 2 dS - kbar dT                             (5)

exactly; phi changes as the angle of `torsion_spring`. Numbers: those of a bushing with e_1 along the free axis, but the entry of
the length is 1 if a tilt is resisted, else 0: the axis may then rotate without limit, too.
"""

from __future__ import annotations

import numpy as np

from discretization.space import se3_dual
from discretization.space.bushing import (
    MARKERS,
    law,
    marker,
    replace_by_marker_poses,
    shifted,
    transform_to_frames,
)
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import (
    Kind,
    StrainEnergy,
    dissipation,
    dual_function,
    frame,
    no_bend,
    store,
    value_function,
    vector,
)
from rigid.interactions.torsion_spring import rotation_over_step
from rigid.linear_algebra import average, dot, minus, plus, times
from rigid.system import Floats

FREE = 3  # index of the free rotation among the six coordinates


@inline_kernel
def tilt_between(a, b, resisted):
    """Return k and T of (2), (3); `resisted`: 0 if nothing resists a tilt, then k = 0."""
    T = 1.0 + dot(a[1], b[1])
    if resisted == 0.0:  # the tilt is not used
        return (0j, 0j), 2.0 + 0j
    return (-2.0 * dot(a[3], b[1]) / T, 2.0 * dot(a[2], b[1]) / T), T


@inline_kernel
def rotation_between(a, b):
    """Return cosine and sine terms of (4), and three vectors that `rotation_over_step` averages, too."""
    c, s = dot(a[2], b[2]) + dot(a[3], b[3]), dot(a[3], b[2]) - dot(a[2], b[3])
    return c, s, a[2], a[3], b[2]


@inline_kernel
def squared(k):
    """Return w of (2)."""
    return 0.25 * (k[0] * k[0] + k[1] * k[1])


@inline_kernel
def coordinates(a, b, resisted):
    """Return u and (0, t) between two markers."""
    e = minus(b[0], a[0])
    k, _ = tilt_between(a, b, resisted)
    w = squared(k)
    f, _, _, _, _, _ = se3_dual.complex_differences(w, w)
    return (dot(e, a[1]), dot(e, a[2]), dot(e, a[3])), (0j, f * k[0], f * k[1])


@inline_kernel
def coordinates_at(y, X):
    """Return u and (0, t) between the markers on the frames y."""
    return coordinates(marker(frame(y, 0), 0, X), marker(frame(y, 1), 1, X), X[MARKERS])


@inline_kernel
def spread(y0, y1, resisted, N, M, out):
    """Write the dual on the markers, with the work N . du + M . (dphi, dt), to `out` (2, 4, 3)."""
    a0, b0, a1, b1 = frame(y0, 0), frame(y0, 1), frame(y1, 0), frame(y1, 1)
    (k0, T0), (k1, T1) = tilt_between(a0, b0, resisted), tilt_between(a1, b1, resisted)
    f0, f1, F, _, _, _ = se3_dual.complex_differences(squared(k0), squared(k1))
    f, p, q = 0.5 * (f0 + f1), 0.5 * (k0[0] + k1[0]), 0.5 * (k0[1] + k1[1])
    along, scale = 0.5 * F * (M[1] * p + M[2] * q), 4.0 / (T0 + T1)
    z2, z3 = scale * (f * M[1] + along * p), scale * (f * M[2] + along * q)  # (5)
    d = -0.5 * (z2 * p + z3 * q)
    _, ratio, _, _, middle = rotation_over_step(rotation_between(a0, b0), rotation_between(a1, b1))
    c, s = M[0] * ratio * middle[0], M[0] * ratio * middle[1]
    e = average(minus(b0[0], a0[0]), minus(b1[0], a1[0]))
    A1, A2, A3 = average(a0[1], a1[1]), average(a0[2], a1[2]), average(a0[3], a1[3])
    B1, B2, B3 = average(b0[1], b1[1]), average(b0[2], b1[2]), average(b0[3], b1[3])
    n = plus(times(N[0], A1), plus(times(N[1], A2), times(N[2], A3)))
    on_a1 = plus(times(N[0], e), times(d, B1))
    on_a2 = plus(plus(times(N[1], e), times(z3, B1)), minus(times(-s, B2), times(c, B3)))
    on_a3 = plus(minus(times(N[2], e), times(z2, B1)), minus(times(c, B2), times(s, B3)))
    store((times(-1.0, n), on_a1, on_a2, on_a3), out, 0)
    on_b1 = plus(times(d, A1), minus(times(z3, A2), times(z2, A3)))
    on_b2 = minus(times(c, A3), times(s, A2))
    on_b3 = minus(times(-c, A2), times(s, A3))
    store((n, on_b1, on_b2, on_b3), out, 1)


@value_function
def value(y, X, out):
    """Write V to `out[0]`, J."""
    u, t = coordinates_at(y, X)
    u, t = se3_dual.unloaded(u, t, X[MARKERS:])
    N, M = se3_dual.stress_of(u, t, X[MARKERS:])
    out[0] = 0.5 * (dot(u, N) + dot(t, M))


@value_function
def strains(y, X, out):
    """Write u, 0, t to `out` (6,)."""
    u, t = coordinates_at(y, X)
    for i in range(3):
        out[i], out[3 + i] = u[i], t[i]


@dual_function
def strain_dual(y0, y1, X, lam, out):
    """Write the dual of the stress `lam` (6,) on the strains to `out` (2, 4, 3); the fourth strain is always 0."""
    frames = replace_by_marker_poses(y0, y1, X)
    spread(y0, y1, X[MARKERS], vector(lam, 0), (0j, lam[4], lam[5]), out)
    transform_to_frames(out, X, frames, y0, y1)


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of V, the force of the mean coordinates, to `out` (2, 4, 3)."""
    frames = replace_by_marker_poses(y0, y1, X)
    u0, t0 = coordinates(frame(y0, 0), frame(y0, 1), X[MARKERS])
    u1, t1 = coordinates(frame(y1, 0), frame(y1, 1), X[MARKERS])
    u, t = se3_dual.unloaded(average(u0, u1), average(t0, t1), X[MARKERS:])
    N, M = se3_dual.stress_of(u, t, X[MARKERS:])
    spread(y0, y1, X[MARKERS], times(lam[0], N), (0j, lam[0] * M[1], lam[0] * M[2]), out)
    transform_to_frames(out, X, frames, y0, y1)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the damping of the change of the coordinates, phi included, to `out` (2, 4, 3)."""
    frames = replace_by_marker_poses(y0, y1, X)
    a0, b0, a1, b1 = frame(y0, 0), frame(y0, 1), frame(y1, 0), frame(y1, 1)
    u0, t0 = coordinates(a0, b0, X[MARKERS])
    u1, t1 = coordinates(a1, b1, X[MARKERS])
    delta, _, _, _, _ = rotation_over_step(rotation_between(a0, b0), rotation_between(a1, b1))
    N, M = se3_dual.stress_of(minus(u1, u0), (delta, t1[1] - t0[1], t1[2] - t0[2]), X[MARKERS:])
    spread(y0, y1, X[MARKERS], times(lam[0], N), times(lam[0], M), out)
    transform_to_frames(out, X, frames, y0, y1)


@inline_kernel
def rates(y, z, resisted):
    """Return the rates of u and of (phi, t) if the markers y have the rates z: the product rule on (1) - (4)."""
    a, b, da, db = frame(y, 0), frame(y, 1), frame(z, 0), frame(z, 1)
    e, de = minus(b[0], a[0]), minus(db[0], da[0])
    du = (
        dot(de, a[1]) + dot(e, da[1]),
        dot(de, a[2]) + dot(e, da[2]),
        dot(de, a[3]) + dot(e, da[3]),
    )
    c, s, _, _, _ = rotation_between(a, b)
    dc = dot(da[2], b[2]) + dot(a[2], db[2]) + dot(da[3], b[3]) + dot(a[3], db[3])
    ds = dot(da[3], b[2]) + dot(a[3], db[2]) - dot(da[2], b[3]) - dot(a[2], db[3])
    dphi = (c * ds - s * dc) / (c * c + s * s)
    if resisted == 0.0:
        return du, (dphi, 0j, 0j)
    (p, q), T = tilt_between(a, b, resisted)
    dT = dot(da[1], b[1]) + dot(a[1], db[1])
    dp = (-2.0 * (dot(da[3], b[1]) + dot(a[3], db[1])) - p * dT) / T
    dq = (2.0 * (dot(da[2], b[1]) + dot(a[2], db[1])) - q * dT) / T
    w = squared((p, q))
    f, _, df, _, _, _ = se3_dual.complex_differences(w, w)
    dw = 0.5 * (p * dp + q * dq)
    return du, (dphi, f * dp + df * dw * p, f * dq + df * dw * q)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the damping of the rates of the coordinates to `out` (2, 4, 3).

    y: poses; z: their rates. The pose of a marker is linear in that of its frame, so that its rate is the marker of z.
    """
    frames = replace_by_marker_poses(y, z, X)
    du, dt = rates(y, z, X[MARKERS])
    N, M = se3_dual.stress_of(du, dt, X[MARKERS:])
    spread(y, y, X[MARKERS], times(lam[0], N), times(lam[0], M), out)
    transform_to_frames(out, X, frames, y, z)


FREE_BUSHING = Kind(
    "bushing with a free axis",
    2,
    0,
    value,
    dual,
    no_bend,
    strain_energy=StrainEnergy(6, strains, strain_dual, law, shifted),
)
FREE_BUSHING_DAMPER = dissipation("damper of a bushing with a free axis", 2, step_dual, rate_dual)


def free_axis(stiffness: Floats, damping: Floats) -> Floats | None:
    """Return the only direction (3,), in the axes of the markers, about which a stiffness (6, 6) does not resist rotation.

    If neither the stiffness nor the damping (6, 6) resists any rotation, the first axis is returned. The result is None if there
    is no such direction, or if there are two: a joint that resists rotation about only one axis has no tilt.
    """
    C = stiffness[3:, 3:]
    if not np.any(C):
        return None if np.any(damping[3:, 3:]) else np.array([1.0, 0.0, 0.0])
    sizes, directions = np.linalg.eigh(C)
    free = np.abs(sizes) <= 1e-14 * sizes[-1]
    return directions[:, 0] if np.sum(free) == 1 else None


def with_axis(axis: Floats) -> Floats:
    """Return axes (3, 3), columns, the first along `axis`; they are the axes of the markers if `axis` is one of them."""
    j = int(np.argmax(np.abs(axis)))
    n, p = axis * np.sign(axis[j]), np.eye(3)[(j + 1) % 3]
    p = p - n * (p @ n)
    p /= np.linalg.norm(p)
    return np.column_stack([n, p, np.cross(n, p)])


def free_numbers(markers: Floats, matrix: Floats, coordinates: Floats, resisted: bool) -> Floats:
    """Return the numbers of the bearing or of its damper.

    markers (24,), matrix (6, 6): as in `bushing`; coordinates (6,): (u, 0, t) without force; resisted: True if a tilt is
    resisted.
    """
    return np.concatenate([markers, [float(resisted)], matrix.ravel(), coordinates])
