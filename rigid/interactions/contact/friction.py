"""Dissipative contact forces of a step: restitution along the normal, sliding, rolling and drilling.

Each interaction has one force for all of its contact points.

The inputs are the contact sums (`contact_sums`). From these follow the mean normal n = force/|force|, the point c = place/Q, and
the rate w = power/(h Q) at which the gap closes. The internal variables are the last parameters: a bristle zeta (3), in
components of the first frame, and a flag that is 1 while the contact slides.

Along the normal the gradient of V is added again, multiplied by

    phi = b w/sqrt(w^2 + v^2) + C w, not below -1                                                                     (1)

so that Q (1 + b) resists on the way in and Q (1 - b) on the way out. With b = (1 - e^2)/(1 + e^2) this gives the restitution e
at all speeds far above v. C is the factor of Hunt and Crossley. The force dissipates phi (V1 - V0) >= 0, and the total N =
|force| (1 + phi) never pulls.

Across the normal a bristle of the stiffness k acts in parallel with a damper, d = mu_s N/(10 v) with the static coefficient
mu_s. Without the damper a contact that sticks would oscillate for ever, and would start to slide too early. The material
points of both sides that are at c in the mean of both ends of the step move relative to each other by s, without its part
along n. With z0 = F^-1/2 zeta, where zeta is rotated into the plane across n and keeps its length,

    P* = k z0 + (k/2 + d/h) s,   P = P* min(1, mu N/|P*|),   T = F P,   mu the static or, where it slides, the kinetic one (2)

(2) is a return mapping: the elastic prediction P* is scaled back to the friction limit. T acts on both sides at c. On an
element of a rod F multiplies the parts along and across it by factors of mu: there are three, for sliding forwards,
backwards and sideways. On other surfaces F is 1. If P = P*, then z1 = z0 + s: the work T . s is stored in the bristle, k z
. F z/2 = k |zeta|^2/2, and dissipated by the damper. If P is less, then z1 = P/k; or, if that would gain energy, z1 = z0 +
(P - k z0)/(k/2 + d/h). Both lag behind the slip by (P* - P)/(k/2 + d/h), which cannot gain energy. T is continuous between
sticking and sliding. Steady sliding gives P = mu N s/|s|: each part of the force opposes its own part of the slip. A
bristle that changes its direction from forwards to backwards keeps at most the energy that it had and received.

Against the relative rotation theta of the step acts a moment with the lengths l of drilling and rolling,

    N (l_d f(theta_n) + l_r f(theta_t)),   f(theta) = theta/sqrt(|theta|^2 + (h 1e-3/s)^2)                            (3)

All functions are compiled twice: for complex numbers, which complex steps need, and for real numbers if there is no complex
step (`write_dissipative_duals`).

Source: restitution by a hysteresis of the force: Walton and Braun, Journal of Rheology 30 (1986) 949; (1), second term: Hunt
and Crossley, Journal of Applied Mechanics 42 (1975) 440; bristles: Cundall and Strack, Geotechnique 29 (1979) 47.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.contact.contact_sums import is_differentiated, origin
from rigid.interactions.contact.gaps import size_of
from rigid.interactions.kinds import (
    EXPECTED,
    SEEN,
    UNKNOWN,
    add_dual,
    frame,
    value_function,
    vector,
)
from rigid.kinematics.poses import direction, mean_pose, on_point, point
from rigid.linear_algebra import average, cross, dot, minus, plus, real, square_root, times

# offsets in X behind the parameters of the energy: (1), (2), (3), factors of mu
B, C, REST, STATIC, KINETIC, STIFFNESS, DRILL, ROLL, FORWARD, BACKWARD, SIDEWAYS, ZETA = range(12)
SLIDING, SIZE, N_INTERNAL = 14, 15, 4
SLOWEST = 1e-3  # rate at which rolling and drilling resistance saturate, (3), rad/s
# multiple of v at which the damper alone reaches the limit; if less, impacts with friction take many more iterations
CREEP = 10.0
LEAST = 1e-200  # N, the least force to divide by


@inline_kernel
def zero(x):
    """Return a zero vector of the type of x."""
    return times(0.0, x)


@inline_kernel
def step_of(x):
    """Return the imaginary part of a vector as an imaginary vector (the complex step); zero for a real vector."""
    return minus(x, real(x))


@inline_kernel
def has_expected_values(lam):
    """Return True if `lam` holds the predicted signs of Newton's method (see `rigid.interactions.kinds.Condensed`)."""
    return lam.shape[0] > SEEN and lam[EXPECTED].real < UNKNOWN


@inline_kernel
def normal_factor(X, at, w, lam):
    """Return phi of (1) for the rate w, with the predicted derivative of the sign if `lam` has one; write w for Newton's
    method.
    """
    phi = X[at + C] * w
    size = square_root(w * w + X[at + REST] * X[at + REST])
    if size.real > 0.0:
        sign = w / size
        if lam.shape[0] > SEEN:
            lam[SEEN], lam[SEEN + 1], lam[SEEN + 2] = w.real, sign.real, 1.0 / size.real
        if has_expected_values(lam):
            sign = sign.real + (1.0 - lam[EXPECTED].real * sign.real) / size.real * (w - w.real)
        phi += X[at + B] * sign
    return phi if phi.real > -1.0 else 0.0 * phi - 1.0


@inline_kernel
def apply_inverse(a, b, c, x):
    """Return the coefficients of the vectors a, b, c in the linear combination that equals x."""
    u = cross(b, c)
    inverse_determinant = 1.0 / dot(a, u)
    return (
        inverse_determinant * dot(x, u),
        inverse_determinant * dot(x, cross(c, a)),
        inverse_determinant * dot(x, cross(a, b)),
    )


@inline_kernel
def change(y0, y1, k):
    """Return the change of the pose of frame k in the step, y1 - y0."""
    a, b = frame(y0, k), frame(y1, k)
    return minus(b[0], a[0]), minus(b[1], a[1]), minus(b[2], a[2]), minus(b[3], a[3])


@inline_kernel
def mean(y0, y1, k):
    """Return the mean of both poses of frame k."""
    return mean_pose(frame(y0, k), frame(y1, k))


@inline_kernel
def lever(y, c):
    """Return the body-fixed point X with r + R X = c."""
    return apply_inverse(y[1], y[2], y[3], minus(c, y[0]))


@inline_kernel
def inverse_director_inertia(y, x):
    """Return J^-1 x, J = sum of |d|^2 I - d d^T: a moment x on a frame has the dual f_k = (J^-1 x) x d_k."""
    square = dot(y[1], y[1]) + dot(y[2], y[2]) + dot(y[3], y[3])
    return apply_inverse(_column(y, square, 0), _column(y, square, 1), _column(y, square, 2), x)


@inline_kernel
def _column(y, square, i):
    """Return column i of J of `inverse_director_inertia`."""
    x = -(y[1][0] * y[1][i] + y[2][0] * y[2][i] + y[3][0] * y[3][i])
    u = -(y[1][1] * y[1][i] + y[2][1] * y[2][i] + y[3][1] * y[3][i])
    v = -(y[1][2] * y[1][i] + y[2][2] * y[2][i] + y[3][2] * y[3][i])
    return x + (square if i == 0 else 0.0), u + (square if i == 1 else 0.0), v + (square if i == 2 else 0.0)


@inline_kernel
def rotation_by(y, z):
    """Return the rotation (Cayley vector) of a step with mean pose y and change z: a moment M does the work M . rotation."""
    return inverse_director_inertia(y, plus(cross(y[1], z[1]), plus(cross(y[2], z[2]), cross(y[3], z[3]))))


@inline_kernel
def on_rotation(y, M):
    """Return the dual of a moment M on a frame with the pose y."""
    u = inverse_director_inertia(y, M)
    return zero(M), cross(u, y[1]), cross(u, y[2]), cross(u, y[3])


@inline_kernel
def across(x, n):
    """Return x without its part along the unit vector n."""
    return minus(x, times(dot(x, n), n))


@inline_kernel
def is_anisotropic(X, at):
    """Return True if mu depends on the direction of the slip."""
    return not (X[at + FORWARD] == 1.0 and X[at + BACKWARD] == 1.0 and X[at + SIDEWAYS] == 1.0)


@inline_kernel
def direction_factors(tangent, n, X, at):
    """Return e, the unit tangent of the rod across n, and the factors of mu for slip along e, against it, and sideways."""
    square, flat = dot(tangent, tangent), across(tangent, n)
    if square.real == 0.0 or not is_anisotropic(X, at):
        one = 1.0 + 0.0 * square
        return zero(flat), (one, one, one)
    flat_square, side = dot(flat, flat), X[at + SIDEWAYS]
    projection = flat_square / square  # a rod that stands upright on its end has no direction
    factors = (
        side + projection * (X[at + FORWARD] - side),
        side + projection * (X[at + BACKWARD] - side),
        side + 0.0 * projection,
    )
    return (times(1.0 / square_root(flat_square), flat) if flat_square.real > 0.0 else zero(flat)), factors


@inline_kernel
def scaled(x, anisotropy, of, power):
    """Return F^power x, where F is evaluated for the direction (forwards or backwards) of the vector `of`.

    `anisotropy`: result of `direction_factors`. `power`: 1.0, 0.5 or -0.5.
    """
    e, (forth, back, side) = anisotropy
    p, q = forth if dot(of, e).real > 0.0 else back, side
    if p == 1.0 and q == 1.0:
        return x
    if power == 0.5:
        p, q = square_root(p), square_root(q)
    elif power == -0.5:
        p, q = 1.0 / square_root(p), 1.0 / square_root(q)
    return plus(times(q, x), times((p - q) * dot(x, e), e))


@inline_kernel
def limit_bristle(P, size, limit, by_force, lam):
    """Return P limit/|P|, with the derivative that follows from the predicted sign.

    `by_force`: part of the complex step of P that comes from the normal force; it has no effect along P.
    """
    x = times(limit / size, P)
    if not has_expected_values(lam):
        return x
    on, factor = times(1.0 / size.real, real(P)), limit.real / size.real
    expected = lam[EXPECTED + 1].real, lam[EXPECTED + 2].real, lam[EXPECTED + 3].real
    dP_at_fixed_N = minus(step_of(P), by_force)
    moved = plus(minus(dP_at_fixed_N, times(dot(on, dP_at_fixed_N), expected)), across(by_force, on))
    moved = plus(times(limit - limit.real, on), times(factor, moved))
    return plus(times(factor, real(P)), moved)


@inline_kernel
def bristle(y, X, at, n, s, N, anisotropy, lam):
    """Return T of (2), the bristle at the end of the step, and whether the contact slides.

    `y`: mean pose of the first frame. `n`: normal. `s`: slip across n. `N`: normal force. `anisotropy`: result of
    `direction_factors`.
    """
    zeta, k = vector(X, at + ZETA), X[at + STIFFNESS]
    damps = 0.0 * lam[0]
    if X[at + REST].real > 0.0:
        damps = lam[0] * X[at + STATIC] / (CREEP * X[at + REST])
    resists = 0.5 * k + damps * N
    u = across(direction(y, zeta), n)
    square, reduced_square = dot(zeta, zeta), dot(u, u)
    if square.real > 0.0 and reduced_square.real > 0.0:
        u = times(square_root(square / reduced_square), u)
    z = scaled(u, anisotropy, u, -0.5)
    P = plus(times(k, z), times(resists, s))
    size, limit = size_of(P), N * X[at + STATIC]
    if X[at + SLIDING].real > 0.5:
        limit = N * X[at + KINETIC]
    slides, end = size.real > limit.real, plus(z, s)
    if lam.shape[0] > SEEN:
        for i in range(3):
            lam[SEEN + 3 + i] = P[i].real
        lam[SEEN + 6] = limit.real
    if slides:
        P = limit_bristle(P, size, limit, times(damps.real * (N - N.real), real(s)), lam)
    T = scaled(P, anisotropy, P, 1.0)
    if lam.shape[0] > SEEN:  # Newton's method needs forces alone
        return T, zero(T), slides
    if slides:
        end = times(1.0 / k, P)
    zeta_end = scaled(end, anisotropy, end, 0.5)
    dissipated = dot(T, s) - 0.5 * k * (dot(zeta_end, zeta_end) - dot(u, u))
    if slides and dissipated.real < 0.0:
        end = plus(z, times(1.0 / resists, minus(P, times(k, z))))
        zeta_end = scaled(end, anisotropy, end, 0.5)
        dissipated = dot(T, s) - 0.5 * k * (dot(zeta_end, zeta_end) - dot(u, u))
    if (
        dissipated.real < 0.0 and (dot(z, anisotropy[0]) * dot(end, anisotropy[0])).real < 0.0
    ):  # the direction has changed: forwards and backwards have different factors
        square = dot(zeta_end, zeta_end)
        reduced_square = square + 2.0 * dissipated / k
        zeta_end = (
            times(square_root(reduced_square / square), zeta_end)
            if reduced_square.real > 0.0
            else zero(zeta_end)
        )
    return T, zeta_end, slides


@inline_kernel
def smoothed_sign(theta, lam, sign_index):
    """Return f(theta) of (3), with the derivative that follows from the predicted sign; `sign_index`: 0 for drilling, 1 for
    rolling.
    """
    u, at = times(lam[0] / SLOWEST, theta), 3 * sign_index
    if lam.shape[0] > SEEN:
        for i in range(3):
            lam[SEEN + 7 + at + i] = u[i].real
    over = 1.0 / square_root(1.0 + dot(u, u))
    if not has_expected_values(lam):
        return times(over, u)
    f, du = times(over.real, real(u)), step_of(u)
    expected = lam[EXPECTED + 4 + at].real, lam[EXPECTED + 5 + at].real, lam[EXPECTED + 6 + at].real
    return plus(f, times(over.real, minus(du, times(dot(f, du), expected))))


@inline_kernel
def arms(y0, y1, n_first, arity, sums, out):
    """Return the lever arms of both sides: from the weighted mean of the positions of their frames to c."""
    one, other, total, inverse_Q = zero(sums[2]), zero(sums[2]), 0.0 * sums[0], 1.0 / sums[0]
    for k in range(arity):
        weight = inverse_Q * out[k, 1, 0]
        if weight != 0.0:
            r = average(origin(y0, k), origin(y1, k))
            if k < n_first:
                one, total = plus(one, times(weight, r)), total + weight
            else:
                other = plus(other, times(weight, r))
    c, total = times(inverse_Q, sums[2]), 1.0 / total
    return minus(c, times(total, one)), plus(c, times(total, other))


@inline_kernel
def friction_forces(X, at, lam, first, sums, s, theta, tangent):
    """Return phi, T, the moment, the bristle z1 at the end and whether the contact slides, for a slip s and a rotation theta.

    `first`: mean pose of frame 0. `sums`: contact sums. `tangent`: tangent of the rod, or zero.
    """
    Q, force, _, power = sums
    size = size_of(force)
    w = lam[0] * power / Q
    phi = normal_factor(X, at, w, lam)
    n, N = times(1.0 / size, force), size * (1.0 + phi)
    T, end, slides, M = zero(s), zero(s), False, zero(s)
    if X[at + STATIC].real > 0.0:
        T, end, slides = bristle(first, X, at, n, across(s, n), N, direction_factors(tangent, n, X, at), lam)
    if resists_rotation(X, at):
        M = times(N * X[at + DRILL], smoothed_sign(times(dot(theta, n), n), lam, 0))
        M = plus(M, times(N * X[at + ROLL], smoothed_sign(across(theta, n), lam, 1)))
    return phi, T, M, end, slides


@inline_kernel
def resists_rotation(X, at):
    """Return True if the contact has drilling or rolling resistance."""
    return X[at + DRILL].real > 0.0 or X[at + ROLL].real > 0.0


@inline_kernel
def is_active(sums):
    """Return True if the contact sums are large enough to divide by."""
    return sums[0].real > LEAST and size_of(sums[1]).real > LEAST


@inline_kernel
def write_dissipative_duals(y0, y1, X, lam, sides, sums, tangent, out):
    """Write all dissipative duals into `out`; return phi, the bristle at the end and whether the contact slides.

    On entry `out` holds the weights and forces of the frames as in `contact_sums`. The bristle is returned in components of the
    first frame. `sides`: number of frames of the first side, and number of all frames. `tangent`: tangent of the rod at the
    stations; zero if all directions of slip are equal.

    The point c is carried by the weighted mean of the positions of a side, and rotates about it by the weighted mean of its
    rotations. Otherwise each node would carry c on an arm along its element, which bends the element.
    """
    if is_differentiated(y0, y1, X, lam, sides[1]):
        return write_dissipative_duals_in(y0, y1, X, lam, sides, sums, tangent, out)
    real_sums = sums[0].real, real(sums[1]), real(sums[2]), sums[3].real
    phi, zeta, slides = write_dissipative_duals_in(
        y0.real, y1.real, X.real, lam.real, sides, real_sums, real(tangent), out.real
    )
    return phi + 0j, plus((0j, 0j, 0j), zeta), slides


@inline_kernel
def write_dissipative_duals_in(y0, y1, X, lam, sides, sums, tangent, out):
    """Compute the result of `write_dissipative_duals` in the arithmetic of the arguments, complex or real."""
    n_first, arity = sides
    at = X.shape[0] - SIZE
    s, theta, one, other = zero(sums[1]), zero(sums[1]), zero(sums[1]), zero(sums[1])
    if not is_active(sums):
        out[:] = 0.0
        return 0.0 * lam[0], s, False
    turns, inverse_Q = resists_rotation(X, at), 1.0 / sums[0]
    carries = X[at + STATIC].real > 0.0 or turns
    if carries:
        one, other = arms(y0, y1, n_first, arity, sums, out)
    for k in range(arity):
        weight = inverse_Q * out[k, 1, 0]
        if weight != 0.0 and carries:
            y, z = mean(y0, y1, k), change(y0, y1, k)
            arm = one if k < n_first else other
            s = plus(s, times(weight, point(z, lever(y, plus(y[0], arm)))))
            if turns:
                theta = plus(theta, times(weight, rotation_by(y, z)))
    first = mean(y0, y1, 0)
    phi, T, M, end, slides = friction_forces(X, at, lam, first, sums, s, theta, tangent)
    for k in range(arity):
        weight, normal = inverse_Q * out[k, 1, 0], times(phi, frame(out, k)[0])
        out[k] = 0.0
        for i in range(3):
            out[k, 0, i] = normal[i]
        if weight != 0.0 and carries:
            y = mean(y0, y1, k)
            arm = one if k < n_first else other
            add_dual(on_point(times(weight, T), lever(y, plus(y[0], arm))), out, k)
            if turns:
                add_dual(on_rotation(y, times(weight, M)), out, k)
    zeta = apply_inverse(first[1], first[2], first[3], end)
    square, square_of_zeta = dot(end, end), dot(zeta, zeta)
    if square_of_zeta.real > 0.0:
        zeta = times(square_root(square / square_of_zeta), zeta)
    return phi, zeta, slides


@inline_kernel
def store_internal_variables(result, out):
    """Store the internal variables at the end of a step in `out`; `result`: result of `write_dissipative_duals`."""
    for i in range(3):
        out[0, 0, i] = result[1][i].real
    out[0, 1, 0] = 1.0 if result[2] else 0.0


@value_function
def stored_energy(y, X, out):
    """Compute the energy k |zeta|^2/2 that is stored in the bristle, J."""
    at = X.shape[0] - SIZE
    zeta = vector(X, at + ZETA)
    out[0] = 0.5 * X[at + STIFFNESS] * dot(zeta, zeta)
