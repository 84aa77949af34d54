"""Spring-damper in the angle from u_a to u_b about u_a x w_a: V = k (alpha - angle0)^2/2.

With c = u_a . u_b, s = w_a . u_b the angle is atan2(s, c); its change over a step is delta = atan2(X, Y),
X = c0 s1 - s0 c1 = cbar (s1 - s0) - sbar (c1 - c0), so that

    moment m = k (alpha_0 + delta/2 - angle0) + c delta/h                                                   (1)
    torque on a  m rho ((cbar wbar_a - sbar ubar_a) x ubar_b),  on b minus that,  rho = delta/X             (2)

with the angle alpha_0 at the start of the step, does exactly the work of V, minus the dissipation c (delta/h)^2 h of a damper c
parallel to the spring. V is a function of the poses and counts no revolutions: alpha is the angle nearest to `branch`, which the
time loop updates.
"""

import cmath
import math

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
from rigid.kinematics.poses import direction, on_direction
from rigid.linear_algebra import (
    average,
    cross,
    dot,
    dyad,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    times,
    turned_right,
)
from rigid.system import Floats

TURN = 2.0 * math.pi
TORSIONS = 2  # number of its loop in `em`
DAMPING, BRANCH = 11, 12  # offsets of c and the branch among the numbers: Ua, Wa, Ub, k, angle0, c, branch


@inline_kernel
def rotated_pair(y, X):
    """Return c, s, u_a, w_a, u_b at the poses y."""
    a = frame(y, 0)
    u, w = direction(a, vector(X, 0)), direction(a, vector(X, 3))
    b = direction(frame(y, 1), vector(X, 6))
    return dot(u, b), dot(w, b), u, w, b


@inline_kernel
def argument(c, s):
    """Return the angle of (c, s) and, for a complex step, its first derivative along the imaginary parts.

    A complex logarithm would mix the tiny imaginary parts with the real ones and lose them.
    """
    square = c.real * c.real + s.real * s.real
    return math.atan2(s.real, c.real) + 1j * (c.real * s.imag - s.real * c.imag) / square


@inline_kernel
def angle_of(c, s, branch):
    """Return the angle of (c, s) that is nearest to the branch."""
    angle = argument(c, s)
    return angle + 2.0 * math.pi * round((branch.real - angle.real) / (2.0 * math.pi))


@value_function
def value(y, X, out):
    """Write the energy k (alpha - angle0)^2/2."""
    c, s, _, _, _ = rotated_pair(y, X)
    angle = angle_of(c, s, X[BRANCH]) - X[10]
    out[0] = 0.5 * X[9] * angle * angle


@inline_kernel
def turning(y0, y1, X):
    """Return `rotation_over_step` for the pairs at both ends of a step."""
    return rotation_over_step(rotated_pair(y0, X), rotated_pair(y1, X))


@inline_kernel
def rotation_over_step(start, end):
    """Return delta and delta/X of a step, c and s at its start, and the means of c, s, u, w, b."""
    c0, s0, u0, w0, b0 = start
    c1, s1, u1, w1, b1 = end
    radii = cmath.sqrt((c0 * c0 + s0 * s0) * (c1 * c1 + s1 * s1))
    cross = c0 * s1 - s0 * c1
    delta = argument(c0 * c1 + s0 * s1, cross)
    ratio = 1.0 + delta * delta / 6.0 + 7.0 * delta**2 * delta**2 / 360.0
    if abs(delta.real) > 1e-3:
        ratio = delta / (cross / radii)
    middle = 0.5 * (c0 + c1), 0.5 * (s0 + s1), average(u0, u1), average(w0, w1), average(b0, b1)
    return delta, ratio / radii, c0, s0, middle


@inline_kernel
def spread(moment, middle, X, out):
    """Write the dual of moment (c ds - s dc), with ds = w . db + b . dw and dc = u . db + b . du."""
    c, s, u, w, beta = middle
    fu, fw = (
        on_direction(times(-moment * s, beta), vector(X, 0)),
        on_direction(times(moment * c, beta), vector(X, 3)),
    )
    store((fu[0], plus(fu[1], fw[1]), plus(fu[2], fw[2]), plus(fu[3], fw[3])), out, 0)
    store(on_direction(times(moment, minus(times(c, w), times(s, u))), vector(X, 6)), out, 1)


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of V: the moment k (alpha_0 + delta/2 - angle0)."""
    delta, ratio, c0, s0, middle = turning(y0, y1, X)
    start = angle_of(c0, s0, X[BRANCH])
    spread(lam[0] * X[9] * (start + 0.5 * delta - X[10]) * ratio, middle, X, out)


@value_function
def unwrapped_angle(y, X, out):
    """Write the angle alpha, which is the strain."""
    c, s, _, _, _ = rotated_pair(y, X)
    out[0] = angle_of(c, s, X[BRANCH])


@dual_function
def rotation_angle_dual(y0, y1, X, lam, out):
    """Write the dual of the moment lam on the angle, for any branch."""
    _, ratio, _, _, middle = turning(y0, y1, X)
    spread(lam[0] * ratio, middle, X, out)


@stress_function
def law(e, X, out):
    """Write the stress k (alpha - angle0)."""
    out[0] = X[9] * (e[0] - X[10])


def shifted(X: Floats, de: Floats, dstress: Floats) -> Floats:
    """Return the numbers X with angle0 reduced by de."""
    X[:, 10] -= de[:, 0]
    return X


@inline_kernel
def angle_over_sine(a):
    """Return a/sin(a) and its derivative, |a| < pi."""
    if abs(a) < 0.02:
        x = a * a
        return 1.0 + x / 6.0 * (1.0 + 7.0 * x / 60.0), a / 3.0 * (1.0 + 7.0 * x / 30.0 + 31.0 * x * x / 840.0)
    s = math.sin(a)
    return a / s, (s - a * math.cos(a)) / (s * s)


@inline_kernel
def torque_of_step(law, h, alpha, start, end):
    """Evaluate the real closed form of (2) and its derivatives.

    Returns the change of the angle, the dissipation over the step, the torque on a, and its derivatives to eta_a and eta_b, two
    matrices. `law`: k, c, angle0; `start`, `end`: u_a, w_a, u_b.
    """
    stiffness, damping, angle0 = law
    delta = change_of_angle(start, end)
    moment = stiffness * (alpha + 0.5 * delta - angle0) + damping * delta / h  # (1)
    torque, to_a, to_b = torque_of_moment(moment, 0.5 * stiffness + damping / h, delta, start, end)
    return delta, damping * delta * delta / h, torque, to_a, to_b


@inline_kernel
def _along(pose, X, at):
    """Return the direction X[at:] of a real pose (4, 3)."""
    return (
        X[at] * pose[1, 0] + X[at + 1] * pose[2, 0] + X[at + 2] * pose[3, 0],
        X[at] * pose[1, 1] + X[at + 1] * pose[2, 1] + X[at + 2] * pose[3, 1],
        X[at] * pose[1, 2] + X[at + 1] * pose[2, 2] + X[at + 2] * pose[3, 2],
    )


@inline_kernel
def real_directions(y, X):
    """Return u_a, w_a, u_b at the real poses y."""
    a, b = y[0].real, y[1].real
    return _along(a, X, 0), _along(a, X, 3), _along(b, X, 6)


@inline_kernel
def start_and_change(start, end, branch):
    """Return the angle at the start that is nearest to the branch, and its change; `start`, `end`: u_a, w_a, u_b."""
    u, w, b = start
    return angle_of(dot(u, b) + 0j, dot(w, b) + 0j, branch).real, change_of_angle(start, end)


@inline_kernel
def change_of_angle(start, end):
    """Return the change of the angle over a step, rad; `start`, `end`: u_a, w_a, u_b."""
    (u0, w0, b0), (u1, w1, b1) = start, end
    c0, s0, c1, s1 = dot(u0, b0), dot(w0, b0), dot(u1, b1), dot(w1, b1)
    return math.atan2(c0 * s1 - s0 * c1, c0 * c1 + s0 * s1)


@inline_kernel
def torque_of_moment(moment, slope, delta, start, end):
    """Return the torque (2) on a of a moment, and its derivatives to eta_a and eta_b, two matrices.

    `slope`: derivative of the moment to the change `delta` of the angle; `start`, `end`: u_a, w_a, u_b.
    """
    (u0, w0, b0), (u1, w1, b1) = start, end
    c0, s0, c1, s1 = dot(u0, b0), dot(w0, b0), dot(u1, b1), dot(w1, b1)
    square = c1 * c1 + s1 * s1
    radii = math.sqrt((c0 * c0 + s0 * s0) * square)
    ratio, dratio = angle_over_sine(delta)
    rho = ratio / radii
    c, s = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
    u, w, b = average(u0, u1), average(w0, w1), average(b0, b1)
    q, q1 = minus(times(c, w), times(s, u)), times(0.5, minus(times(c, w1), times(s, u1)))
    tau = cross(q, b)
    torque = times(moment * rho, tau)  # (2)
    # the rates of c1 and s1 are dc . (eta_a - eta_b), ds . (eta_a - eta_b)
    dc, ds = cross(u1, b1), cross(w1, b1)
    ddelta = times(1.0 / square, minus(times(c1, ds), times(s1, dc)))
    dradius = times(1.0 / square, plus(times(c1, dc), times(s1, ds)))
    row = times(slope * rho, ddelta)
    row = plus(row, times(moment, minus(times(dratio / radii, ddelta), times(rho, dradius))))
    common = outer(tau, row)
    half = 0.5 * moment * rho
    common = matrix_plus(common, matrix_times(half, outer(cross(w, b), dc)))
    common = matrix_plus(common, matrix_times(-half, outer(cross(u, b), ds)))
    to_a = matrix_plus(common, matrix_times(moment * rho, dyad(q1, b)))
    to_b = matrix_plus(matrix_times(-1.0, common), matrix_times(half, turned_right(q, b1)))
    return torque, to_a, to_b


@inline_kernel
def write_couple(K, torque, to_a, to_b):
    """Write a torque on a, its reaction on b, and their derivatives to both rotations into K, as `Kind.tangent` does."""
    for i in range(3):
        K[12, 3 + i], K[12, 9 + i] = torque[i], -torque[i]
    for i in range(3):
        for j in range(3):
            K[3 + j, 3 + i], K[3 + j, 9 + i] = to_a[3 * i + j], -to_a[3 * i + j]
            K[9 + j, 3 + i], K[9 + j, 9 + i] = to_b[3 * i + j], -to_b[3 * i + j]


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write the dual of the damper over a step: the moment c delta lam, lam = 1/h."""
    delta, ratio, _, _, middle = turning(y0, y1, X)
    spread(lam[0] * X[DAMPING] * delta * ratio, middle, X, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write the dual of the damper: the moment c dalpha/dt, dalpha/dt = (c s' - s c')/(c^2 + s^2)."""
    c, s, u, w, b = rotated_pair(y, X)
    _, _, du, dw, db = rotated_pair(z, X)
    dc, ds = dot(du, b) + dot(u, db), dot(dw, b) + dot(w, db)
    square = c * c + s * s
    spread(lam[0] * X[DAMPING] * (c * ds - s * dc) / (square * square), (c, s, u, w, b), X, out)


TORSION_DAMPER = dissipation("torsion damper", 2, step_dual, rate_dual)

TORSION_SPRING = Kind(
    "torsion spring",
    2,
    0,
    value,
    dual,
    no_bend,
    columns=("Ua", "Wa", "Ub", "stiffness", "angle0", "damping"),
    strain_energy=StrainEnergy(1, unwrapped_angle, rotation_angle_dual, law, shifted, TURN),
    n_internal=1,
    count=unwrapped_angle,
    parallel_damper=(TORSION_DAMPER, DAMPING),
    loop=TORSIONS,
    couple=True,
)
