"""External damping: the surroundings slow a frame down by the force -c v on its origin and the moment -R C Omega.

Both are quadratic in the rate of the pose: with the Euler tensor E = tr(C)/2 I - C, C = tr(E) I - E,

    power lost   c |dr/dt|^2 + sum_kl E_kl dd_k/dt . dd_l/dt = c |v|^2 + Omega . C Omega                                (1)

so that, proportional to mass and inertia, it is Rayleigh's damping alpha M. Over a step of length h the forces are c (r1 - r0)/h
and sum_l E_kl (d_l1 - d_l0)/h on the directors: linear in the poses, the same in all charts.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import dissipation, dual_function, frame, store, tangent_function
from rigid.linear_algebra import average, cross, minus, plus, real, times

RATE, TENSOR = 0, 1  # offsets of c and, row by row, of E among the numbers


@inline_kernel
def _resist(z, X, lam, out):
    """Write the dual to a change z = (r, d1, d2, d3) of the pose, times lam."""
    r, d1, d2, d3 = z
    i = TENSOR
    store(
        (
            times(lam * X[RATE], r),
            times(lam, plus(times(X[i], d1), plus(times(X[i + 1], d2), times(X[i + 2], d3)))),
            times(lam, plus(times(X[i + 3], d1), plus(times(X[i + 4], d2), times(X[i + 5], d3)))),
            times(lam, plus(times(X[i + 6], d1), plus(times(X[i + 7], d2), times(X[i + 8], d3)))),
        ),
        out,
        0,
    )


@inline_kernel
def _change(a, b):
    """Return the change (dr, dd1, dd2, dd3) from the pose a to the pose b."""
    return minus(b[0], a[0]), minus(b[1], a[1]), minus(b[2], a[2]), minus(b[3], a[3])


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write the dual to the change of the pose over a step, lam = 1/h."""
    _resist(_change(frame(y0, 0), frame(y1, 0)), X, lam[0], out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write the dual to the rate z of the pose, lam = 1."""
    _resist(frame(z, 0), X, lam[0], out)


@tangent_function
def tangent(y0, y1, X, lam, out, K):
    """Write `step_dual` and its tangent K (6, 6) to (dr, eta) at the end of the step, in real numbers.

    A rotation eta changes d_k1 by eta x d_k1, and changes the mean, which is the lever arm of the force, by half of that.
    """
    rate, c = lam[0].real, lam[0].real * X[RATE]
    a, b = frame(y0, 0), frame(y1, 0)
    _resist(_change(a, b), X, lam[0], out)
    d = real(b[1]), real(b[2]), real(b[3])
    f = real(frame(out, 0)[1]), real(frame(out, 0)[2]), real(frame(out, 0)[3])
    dbar = average(real(a[1]), d[0]), average(real(a[2]), d[1]), average(real(a[3]), d[2])
    for j in range(3):
        e = 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0
        directors = cross(e, d[0]), cross(e, d[1]), cross(e, d[2])
        torque = 0.0, 0.0, 0.0
        for k in range(3):
            i = TENSOR + 3 * k
            pulls = plus(
                times(X[i], directors[0]), plus(times(X[i + 1], directors[1]), times(X[i + 2], directors[2]))
            )
            torque = plus(
                torque, plus(times(0.5, cross(directors[k], f[k])), times(rate, cross(dbar[k], pulls)))
            )
        for i in range(3):
            K[j, i] = c if i == j else 0.0
            K[j, 3 + i] = K[3 + j, i] = 0.0
            K[3 + j, 3 + i] = torque[i]
    out[0, 3, 0] = 1.0


DRAG = dissipation("external damping", 1, step_dual, rate_dual)._replace(tangent=tangent)
