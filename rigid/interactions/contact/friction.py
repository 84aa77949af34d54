"""What a contact loses in a step: along the normal, by sliding, rolling and drilling. One force for all that touches.

From the sums of `touching`: the mean normal n = force/|force|, the point c = place/Q, the rate w = power/(h Q) at which the gap
closes. Own variables, the last numbers: a bristle zeta (3), in components of the first frame, and whether it slides.

Along the normal the gradient of V is taken once more, times

    phi = b w/sqrt(w^2 + v^2) + C w, not below -1                                                                     (1)

so that Q (1 + b) resists on the way in and Q (1 - b) on the way out, of a restitution e where b = (1 - e^2)/(1 + e^2), at all
speeds far above v; C is the factor of Hunt and Crossley. It dissipates phi (V1 - V0) >= 0, and the total N = |force| (1 + phi)
never pulls.

Across it acts a bristle of the stiffness k, and beside it a damper, d = mu_s N/(10 v) with the static mu_s: without it what
is caught would ring for ever, and break loose too early. The points of both sides that are at c in the mean of both ends move
against each other by s, less its part along n. With z0 = F^-1/2 zeta, zeta turned into the plane across n at its length,

    P* = k z0 + (k/2 + d/h) s,   P = P* min(1, mu N/|P*|),   T = F P,   mu the static or, where it slides, the kinetic one (2)

T acts on both at c. On an element of a rod F multiplies parts along and across it by factors of mu, one of three for the way
forth, back and aside; else it is 1. Where P = P*, z1 = z0 + s: the work T . s is that of the bristle, k z . F z/2 = k |zeta|^2/2,
and of the damper. Where P is less, z1 = P/k; or, if that would gain, z0 + (P - k z0)/(k/2 + d/h): both behind what slides by
(P* - P)/(k/2 + d/h), which cannot gain. Between stick and slip T has no jump. What slides steadily has P = mu N s/|s|: each part
against its own part of the slip. A bristle that turns round between forth and back keeps at most what it had and was given.

Against the relative turn theta in the step acts a moment with lengths l of drilling and rolling,

    N (l_d f(theta_n) + l_r f(theta_t)),   f(theta) = theta/sqrt(|theta|^2 + (h 1e-3/s)^2)                            (3)

All of it is compiled twice: of complex numbers, for complex steps, and of real ones, where none is taken (`resist`).

Source: restitution by a hysteresis of the force: Walton and Braun, Journal of Rheology 30 (1986) 949; (1), second term: Hunt and
Crossley, Journal of Applied Mechanics 42 (1975) 440; bristles: Cundall and Strack, Geotechnique 29 (1979) 47.
"""

from rigid.compilation.decorators import small_kernel
from rigid.interactions.contact.gaps import size_of
from rigid.interactions.contact.touching import origin, takes_steps
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

# places behind the numbers of the energy: (1), (2), (3), factors of mu
B, C, REST, STATIC, KINETIC, STIFFNESS, DRILL, ROLL, FORTH, BACK, SIDE, ZETA = range(12)
SLIDING, SIZE, OWN = 14, 15, 4
SLOWEST = 1e-3  # rad/s
CREEP = 10.0  # of v: there the damper alone is at the limit; slower, and impacts with friction cost many more iterations
LEAST = 1e-200  # N: below it one does not divide by it


@small_kernel
def zero(x):
    """Of the type of a vector."""
    return times(0.0, x)


@small_kernel
def step_of(x):
    """What is imaginary of a vector, as it stands; of real ones nothing."""
    return minus(x, real(x))


@small_kernel
def expects(lam):
    """Whether Newton's method says what it expects."""
    return lam.shape[0] > SEEN and lam[EXPECTED].real < UNKNOWN


@small_kernel
def normal_factor(X, at, w, lam):
    """(1)."""
    found = X[at + C] * w
    size = square_root(w * w + X[at + REST] * X[at + REST])
    if size.real > 0.0:
        way = w / size
        if lam.shape[0] > SEEN:
            lam[SEEN], lam[SEEN + 1], lam[SEEN + 2] = w.real, way.real, 1.0 / size.real
        if expects(lam):
            way = way.real + (1.0 - lam[EXPECTED].real * way.real) / size.real * (w - w.real)
        found += X[at + B] * way
    return found if found.real > -1.0 else 0.0 * found - 1.0


@small_kernel
def solved(a, b, c, x):
    """Factors of the vectors a, b, c whose sum is x."""
    u = cross(b, c)
    each = 1.0 / dot(a, u)
    return each * dot(x, u), each * dot(x, cross(c, a)), each * dot(x, cross(a, b))


@small_kernel
def change(y0, y1, k):
    """Of the pose of frame k."""
    a, b = frame(y0, k), frame(y1, k)
    return minus(b[0], a[0]), minus(b[1], a[1]), minus(b[2], a[2]), minus(b[3], a[3])


@small_kernel
def mean(y0, y1, k):
    """Of both poses of frame k."""
    return mean_pose(frame(y0, k), frame(y1, k))


@small_kernel
def lever(y, c):
    """X with r + R X = c."""
    return solved(y[1], y[2], y[3], minus(c, y[0]))


@small_kernel
def turning(y, x):
    """J^-1 x, J = sum of |d|^2 I - d d^T: of a moment x on a frame the factor of its dual, f_k = (J^-1 x) x d_k."""
    square = dot(y[1], y[1]) + dot(y[2], y[2]) + dot(y[3], y[3])
    return solved(_column(y, square, 0), _column(y, square, 1), _column(y, square, 2), x)


@small_kernel
def _column(y, square, i):
    x = -(y[1][0] * y[1][i] + y[2][0] * y[2][i] + y[3][0] * y[3][i])
    u = -(y[1][1] * y[1][i] + y[2][1] * y[2][i] + y[3][1] * y[3][i])
    v = -(y[1][2] * y[1][i] + y[2][2] * y[2][i] + y[3][2] * y[3][i])
    return x + (square if i == 0 else 0.0), u + (square if i == 1 else 0.0), v + (square if i == 2 else 0.0)


@small_kernel
def turned_by(y, z):
    """The turn in a step with the mean pose y and the change z: a moment M does the work M . turn."""
    return turning(y, plus(cross(y[1], z[1]), plus(cross(y[2], z[2]), cross(y[3], z[3]))))


@small_kernel
def on_turn(y, M):
    """The dual of a moment."""
    u = turning(y, M)
    return zero(M), cross(u, y[1]), cross(u, y[2]), cross(u, y[3])


@small_kernel
def across(x, n):
    """Without its part along n."""
    return minus(x, times(dot(x, n), n))


@small_kernel
def knows_ways(X, at):
    """Whether mu depends on where the slip points."""
    return not (X[at + FORTH] == 1.0 and X[at + BACK] == 1.0 and X[at + SIDE] == 1.0)


@small_kernel
def ways(tangent, n, X, at):
    """e, the tangent across n, and factors of mu for what points along e, against it, and aside."""
    square, flat = dot(tangent, tangent), across(tangent, n)
    if square.real == 0.0 or not knows_ways(X, at):
        one = 1.0 + 0.0 * square
        return zero(flat), (one, one, one)
    left, side = dot(flat, flat), X[at + SIDE]
    lies = left / square  # a rod that stands upright on its end knows no way
    factors = side + lies * (X[at + FORTH] - side), side + lies * (X[at + BACK] - side), side + 0.0 * lies
    return (times(1.0 / square_root(left), flat) if left.real > 0.0 else zero(flat)), factors


@small_kernel
def scaled(x, way, of, power):
    """F^power x, F of the way that the vector `of` has."""
    e, (forth, back, side) = way
    p, q = forth if dot(of, e).real > 0.0 else back, side
    if p == 1.0 and q == 1.0:
        return x
    if power == 0.5:
        p, q = square_root(p), square_root(q)
    elif power == -0.5:
        p, q = 1.0 / square_root(p), 1.0 / square_root(q)
    return plus(times(q, x), times((p - q) * dot(x, e), e))


@small_kernel
def limited(P, size, limit, by_force, lam):
    """P limit/|P|, with the derivative that is expected; by_force: the part of the complex step of P that comes from the normal
    force, which says nothing along P.
    """
    x = times(limit / size, P)
    if not expects(lam):
        return x
    on, factor = times(1.0 / size.real, real(P)), limit.real / size.real
    expected = lam[EXPECTED + 1].real, lam[EXPECTED + 2].real, lam[EXPECTED + 3].real
    given = minus(step_of(P), by_force)
    moved = plus(minus(given, times(dot(on, given), expected)), across(by_force, on))
    moved = plus(times(limit - limit.real, on), times(factor, moved))
    return plus(times(factor, real(P)), moved)


@small_kernel
def bristle(y, X, at, n, s, N, way, lam):
    """(2): T, the bristle at the end, whether it slides; y: mean pose of the first frame."""
    zeta, k = vector(X, at + ZETA), X[at + STIFFNESS]
    damps = 0.0 * lam[0]
    if X[at + REST].real > 0.0:
        damps = lam[0] * X[at + STATIC] / (CREEP * X[at + REST])
    resists = 0.5 * k + damps * N
    u = across(direction(y, zeta), n)
    kept, left = dot(zeta, zeta), dot(u, u)
    if kept.real > 0.0 and left.real > 0.0:
        u = times(square_root(kept / left), u)
    z = scaled(u, way, u, -0.5)
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
        P = limited(P, size, limit, times(damps.real * (N - N.real), real(s)), lam)
    T = scaled(P, way, P, 1.0)
    if lam.shape[0] > SEEN:  # Newton's method asks for forces alone
        return T, zero(T), slides
    if slides:
        end = times(1.0 / k, P)
    ended = scaled(end, way, end, 0.5)
    lost = dot(T, s) - 0.5 * k * (dot(ended, ended) - dot(u, u))
    if slides and lost.real < 0.0:
        end = plus(z, times(1.0 / resists, minus(P, times(k, z))))
        ended = scaled(end, way, end, 0.5)
        lost = dot(T, s) - 0.5 * k * (dot(ended, ended) - dot(u, u))
    if (
        lost.real < 0.0 and (dot(z, way[0]) * dot(end, way[0])).real < 0.0
    ):  # it has turned round, forth is not back
        kept = dot(ended, ended)
        left = kept + 2.0 * lost / k
        ended = times(square_root(left / kept), ended) if left.real > 0.0 else zero(ended)
    return T, ended, slides


@small_kernel
def nearly_sign(theta, lam, which):
    """f(theta) of (3), with the derivative that is expected; which: 0 of drilling, 1 of rolling."""
    u, at = times(lam[0] / SLOWEST, theta), 3 * which
    if lam.shape[0] > SEEN:
        for i in range(3):
            lam[SEEN + 7 + at + i] = u[i].real
    over = 1.0 / square_root(1.0 + dot(u, u))
    if not expects(lam):
        return times(over, u)
    f, du = times(over.real, real(u)), step_of(u)
    expected = lam[EXPECTED + 4 + at].real, lam[EXPECTED + 5 + at].real, lam[EXPECTED + 6 + at].real
    return plus(f, times(over.real, minus(du, times(dot(f, du), expected))))


@small_kernel
def arms(y0, y1, of_one, arity, found, out):
    """Of both sides, from the weighted mean of their places to c."""
    one, other, total, each = zero(found[2]), zero(found[2]), 0.0 * found[0], 1.0 / found[0]
    for k in range(arity):
        weight = each * out[k, 1, 0]
        if weight != 0.0:
            r = average(origin(y0, k), origin(y1, k))
            if k < of_one:
                one, total = plus(one, times(weight, r)), total + weight
            else:
                other = plus(other, times(weight, r))
    c, total = times(each, found[2]), 1.0 / total
    return minus(c, times(total, one)), plus(c, times(total, other))


@small_kernel
def answer(X, at, lam, first, found, s, theta, tangent):
    """To a slip and a turn: phi, T, the moment, z1 of the bristle and whether it slides. first: mean pose of frame 0."""
    Q, force, _, power = found
    size = size_of(force)
    w = lam[0] * power / Q
    phi = normal_factor(X, at, w, lam)
    n, N = times(1.0 / size, force), size * (1.0 + phi)
    T, end, slides, M = zero(s), zero(s), False, zero(s)
    if X[at + STATIC].real > 0.0:
        T, end, slides = bristle(first, X, at, n, across(s, n), N, ways(tangent, n, X, at), lam)
    if resists_turns(X, at):
        M = times(N * X[at + DRILL], nearly_sign(times(dot(theta, n), n), lam, 0))
        M = plus(M, times(N * X[at + ROLL], nearly_sign(across(theta, n), lam, 1)))
    return phi, T, M, end, slides


@small_kernel
def resists_turns(X, at):
    """By drilling or rolling resistance."""
    return X[at + DRILL].real > 0.0 or X[at + ROLL].real > 0.0


@small_kernel
def acts(found):
    """Whether one may divide by the sums."""
    return found[0].real > LEAST and size_of(found[1]).real > LEAST


@small_kernel
def resist(y0, y1, X, lam, sides, found, tangent, out):
    """All that resists, into `out`, which has weights and forces of frames as `touching` says; phi, z1 of the bristle in
    components of the first frame, whether it slides. sides: how many frames are of the one, and how many there are; the point c
    is carried by the weighted mean of the places of a side, and turns about it with that of its turns: each node would else carry
    it on an arm along its element, which bends that. tangent: of the rod at the stations; zero: all ways are the same.
    """
    if takes_steps(y0, y1, X, lam, sides[1]):
        return resist_in(y0, y1, X, lam, sides, found, tangent, out)
    sums = found[0].real, real(found[1]), real(found[2]), found[3].real
    phi, zeta, slides = resist_in(y0.real, y1.real, X.real, lam.real, sides, sums, real(tangent), out.real)
    return phi + 0j, plus((0j, 0j, 0j), zeta), slides


@small_kernel
def resist_in(y0, y1, X, lam, sides, found, tangent, out):
    """`resist` in the numbers that are given, complex or real."""
    of_one, arity = sides
    at = X.shape[0] - SIZE
    s, theta, one, other = zero(found[1]), zero(found[1]), zero(found[1]), zero(found[1])
    if not acts(found):
        out[:] = 0.0
        return 0.0 * lam[0], s, False
    turns, each = resists_turns(X, at), 1.0 / found[0]
    carries = X[at + STATIC].real > 0.0 or turns
    if carries:
        one, other = arms(y0, y1, of_one, arity, found, out)
    for k in range(arity):
        weight = each * out[k, 1, 0]
        if weight != 0.0 and carries:
            y, z = mean(y0, y1, k), change(y0, y1, k)
            arm = one if k < of_one else other
            s = plus(s, times(weight, point(z, lever(y, plus(y[0], arm)))))
            if turns:
                theta = plus(theta, times(weight, turned_by(y, z)))
    first = mean(y0, y1, 0)
    phi, T, M, end, slides = answer(X, at, lam, first, found, s, theta, tangent)
    for k in range(arity):
        weight, normal = each * out[k, 1, 0], times(phi, frame(out, k)[0])
        out[k] = 0.0
        for i in range(3):
            out[k, 0, i] = normal[i]
        if weight != 0.0 and carries:
            y = mean(y0, y1, k)
            arm = one if k < of_one else other
            add_dual(on_point(times(weight, T), lever(y, plus(y[0], arm))), out, k)
            if turns:
                add_dual(on_turn(y, times(weight, M)), out, k)
    zeta = solved(first[1], first[2], first[3], end)
    kept, left = dot(end, end), dot(zeta, zeta)
    if left.real > 0.0:
        zeta = times(square_root(kept / left), zeta)
    return phi, zeta, slides


@small_kernel
def store_own(found, out):
    """Own variables at the end of a step, from what `resist` returns."""
    for i in range(3):
        out[0, 0, i] = found[1][i].real
    out[0, 1, 0] = 1.0 if found[2] else 0.0


@value_function
def kept(y, X, out):
    """k |zeta|^2/2."""
    at = X.shape[0] - SIZE
    zeta = vector(X, at + ZETA)
    out[0] = 0.5 * X[at + STIFFNESS] * dot(zeta, zeta)
