"""Eigenvalues nearest to zero by shift and inversion on the saddle-point matrix.

Conservative, M x'' + K x + G^T y = 0, G x = 0, x = exp(lambda t) phi, mu = -lambda^2:

    K phi + G^T y = mu M phi:   Lanczos in the product of M on P M, P the inverse of K - sigma M with G (`saddle`)   (1)

P maps into the null space of G, whose complement has eigenvalue zero of P M, so that a start in the range of P never
leaves it. What has no mass follows the rest and has no eigenvalue of its own; P finds it with the rest, from a start in
the range of P M, and full matrices are without it (`slow_motions`). Where motions cost nothing K is singular; the shift
then stands below zero, about as far as the lowest other eigenvalue: first one as small as round-off allows, then, where
zeros were found, that which the first spectrum tells.
Small models are solved on that null space itself, by full matrices.

States a that follow equations of first order (`evolving` (2)) stand behind x in (2), with

    M^ = (M 0; 0 0),   D^ = (D 0; Lz 1),   K^ = (K H; Ly L),   G^ = (G 0)                                     (4)

in full matrices z = (phi, lambda phi, a): each state has one eigenvalue.

With D = C + Gyr or unsymmetric K, on z = (phi, lambda phi):

    (lambda^2 M + lambda D + K) phi + G^T y = 0:
    x+ = -P(sigma^2 M + sigma D + K) (M v + (D + sigma M) x),   v+ = sigma x+ + x,   eigenvalues 1/(lambda - sigma)  (2)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numpy.typing import NDArray

from discretization.linear.one_thread import one_thread
from discretization.linearisation.equations import Linearised
from discretization.linearisation.matrices import array
from discretization.linearisation.saddle import Saddle
from discretization.linearisation.uncoupled import uncoupled
from rigid.errors import ModelError
from rigid.system import Floats, Ints

EPS = 2.220446049250313e-16
NOISE = 50.0  # times the round-off of an entry's share: eigenvalues below are zero
DENSE = 60  # unknowns less constraints up to which everything is computed
DROWNED = 1e-11  # of the lowest eigenvalue: more round-off of the highest than this is too much
BLURRED = 10.0  # times the round-off of the highest: what eigenvalues of a full matrix are known to
RANK = 1e-10  # of the largest singular value
OF_PLACES = 16.0  # rounding of places, turns and the strains between them
CLEAR = 100.0  # times its noise: a lowest eigenvalue that may be zero is looked at with a shift
BLOCK = 40  # columns that LAPACK takes at a time, and some
DOUBLE = 1e-4  # of the shift: |lambda| of a double eigenvalue that is zero but for rounding
ALL = 60  # unknowns up to which all eigenvalues are found sooner than a few
SMALL = 200  # the same up to which full matrices are sooner solved than Lanczos' iteration


class Spectrum(NamedTuple):
    """Eigenvalues and motions, from the nearest to zero."""

    values: NDArray  # lambda, 1/s
    vectors: NDArray  # (k, size)
    zero: NDArray  # (k,) whether an eigenvalue is zero to round-off
    noise: Floats  # (k,) of |lambda|^2, 1/s^2


def conservative(lin: Linearised, n: int) -> tuple[Floats, Floats, NDArray]:
    """mu (k,), phi (k, size) with phi M phi = 1, and which mu are zero to round-off; k = n or as many as there are."""
    size = finite(lin)
    if size <= SMALL and lin.free <= 2 * SMALL:
        with one_thread(lin.size):
            reduced = _reduced(lin)
            return _held(lin, n, reduced) or _dense(lin, n, reduced)
    if n >= size - 1 or size <= DENSE:
        return _dense(lin, n, _reduced(lin))
    with one_thread():
        return _lowest(lin, n, size)


def _lowest(lin: Linearised, n: int, size: int) -> tuple[Floats, Floats, NDArray]:
    """The same by Lanczos' iteration; size: finite eigenvalues."""
    floor = 4.0 * EPS * float(squares(lin).max(initial=0.0))
    shift = 100.0 * floor
    for _ in range(3):
        mu, phi = _lanczos(lin, -shift, min(n + 1, size - 2))
        zero = np.abs(mu) <= noise(lin, phi)
        others = np.abs(mu[~zero])
        wanted = 0.5 * float(others.min()) if len(others) else 0.0
        if not zero.any() or not len(others) or 0.25 * shift <= wanted <= 4.0 * shift:
            break
        shift = wanted
    while zero.any():  # copies of one eigenvalue come by rounding alone: is there another beside those found?
        one, beside = _lanczos(lin, -shift, 1, phi)
        if not np.abs(one) <= noise(lin, beside):
            break
        mu, phi, zero = np.append(mu, one), np.concatenate([phi, beside]), np.append(zero, True)
    order = np.argsort(np.abs(mu))[:n]
    order = order[np.argsort(np.where(zero[order], 0.0, mu[order]), kind="stable")]
    return mu[order], phi[order], zero[order]


def _lanczos(lin: Linearised, sigma: float, n: int, known: Floats | None = None) -> tuple[Floats, Floats]:
    """Beside the shift, and beside the eigenvectors `known` (k, size)."""
    saddle = Saddle(scipy.sparse.csr_matrix(lin.K - sigma * lin.M), lin.G)

    def solve(b: NDArray) -> NDArray:
        x = saddle.solve(np.ravel(b))
        return x if known is None else x - (known @ (lin.M @ x)) @ known

    P = scipy.sparse.linalg.LinearOperator((lin.size, lin.size), matvec=solve, dtype=float)
    start = solve(np.random.default_rng(1).standard_normal(lin.size))
    light = massless(lin)
    if len(light):  # of what moves with something that has mass alone
        push = np.zeros(lin.size)
        push[light] = start[light]
        _check_held(lin, saddle.solve(push)[None])
        start = solve(lin.M @ start)
    try:
        mu, phi = scipy.sparse.linalg.eigsh(
            lin.K, n, lin.M, sigma=sigma, OPinv=P, v0=start, ncv=min(max(2 * n + 10, 30), lin.size)
        )
    except scipy.sparse.linalg.ArpackNoConvergence as few:
        raise ModelError(
            f"modes: {len(few.eigenvalues)} of {n} modes converged; ask for fewer, or give parts without mass some"
        ) from None
    return mu, phi.T


def noise(lin: Linearised, phi: Floats) -> Floats:
    """What rounding leaves of phi K phi, phi M phi = 1: the entries' shares, as random signs add; of the multipliers; and of
    the state's own forces.
    """
    # of displacements: turns may have next to no inertia
    each = squares(lin).reshape(-1, 6)
    highest = float(each[:, :3].max(initial=0.0)) or float(each.max(initial=0.0))
    return np.maximum(NOISE * EPS * _shares(lin, phi), EPS * highest) + _of_places(lin, phi)


def _most_noise(lin: Linearised, x: Floats) -> float:
    """Not less than `noise` of one motion (size,): by |K| where that has squares and signs, and |phi_a|^2 + |phi_b|^2 in (3)."""
    entries, each = np.abs(lin.full("K")), np.abs(x)
    shares, sums = float(each @ entries @ each), entries.sum(axis=1).reshape(-1, 3).sum(axis=1)
    of_places = 2.0 * float((each * each).reshape(-1, 3).sum(axis=1) @ sums)
    return EPS * (max(NOISE * shares, float(squares(lin).max(initial=0.0))) + OF_PLACES * of_places)


def _of_places(lin: Linearised, phi: NDArray) -> Floats:
    """(k,) of what is known to eps: frames are, the forces between them to eps of their stiffness s, and these stiffen by it,

        phi K phi to OF_PLACES eps sum of s_ab |phi_a - phi_b|^2,   s_ab the largest entry of a block of K            (3)

    and s_aa, what it has beyond its neighbours, of |phi_a|^2; displacements and turns apart.
    """
    out = np.zeros(len(phi))
    for kind, (a, b, s) in enumerate(_sizes(lin)):
        x, n = phi.reshape(len(phi), -1, 2, 3)[:, :, kind], lin.size // 6
        beside = a != b
        own = np.bincount(a[~beside], s[~beside], n)
        a, b, s = a[beside], b[beside], s[beside]
        beyond = np.maximum(own - np.bincount(a, s, n), 0.0)
        out += 0.5 * (np.abs(x[:, a] - x[:, b]) ** 2).sum(axis=2) @ s + (np.abs(x) ** 2).sum(axis=2) @ beyond
    return OF_PLACES * EPS * out


def _sizes(lin: Linearised) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Of displacements, then of turns: both frames and the largest entry of each block of K (3, 3) that is not zero."""
    if lin.size <= SMALL:
        entries, places = np.abs(lin.full("K")), range(3)
        sizes = np.maximum.reduce([entries[i::3, j::3] for i in places for j in places])
    else:
        blocks = lin.K.tobsr((3, 3))
        of_blocks = np.abs(blocks.data).max(axis=(1, 2))
        sizes = scipy.sparse.csr_matrix(
            (of_blocks, blocks.indices, blocks.indptr), (blocks.shape[0] // 3,) * 2
        )
    for kind in (0, 1):
        own = sizes[kind::2, kind::2]
        if isinstance(own, np.ndarray):
            a, b = np.nonzero(own)
            yield a, b, own[a, b]
        else:
            found = own.tocoo()
            yield found.row, found.col, found.data


def _shares(lin: Linearised, phi: Floats) -> Floats:
    """Root of the sum of squares of the entries' parts in phi K phi."""
    squares = phi.T**2
    return np.asarray(np.sqrt(np.sum(squares * (stiffness_squares(lin) @ squares), axis=0)))


def stiffness_squares(lin: Linearised) -> Any:
    """Squares of the entries of K, full where it is small."""
    return lin.full("K") ** 2 if lin.size <= SMALL else lin.K.power(2)


class Reduced(NamedTuple):
    """M and K on the motions that are allowed."""

    Z: Motions
    M: Floats
    K: Floats


def _reduced(lin: Linearised) -> Reduced:
    Z = slow_motions(lin)
    return Reduced(Z, Z.onto(lin.full("M")), Z.onto(lin.full("K")))


def _held(lin: Linearised, n: int, reduced: Reduced) -> tuple[Floats, Floats, NDArray] | None:
    """Of a model that is held, stably: M y = K y/mu on the null space of G, the largest 1/mu; None where K is not positive.

    The largest are found to round-off; from K y = mu M y they would have that of the highest frequency.
    """
    Z, M, K = reduced
    if len(K) < n:
        return None
    try:
        inverse, y = _largest(M, K, n)
    except np.linalg.LinAlgError:
        return None
    if len(inverse) < n or inverse[-1] <= 0.0:
        return None
    mu, phi = 1.0 / inverse, Z.of(y / np.sqrt(inverse)).T
    if mu[0] <= CLEAR * _most_noise(lin, phi[0]) and mu[0] <= CLEAR * noise(lin, phi[:1])[0]:
        return None
    return mu, phi, np.zeros(n, bool)


def _dense(lin: Linearised, n: int, reduced: Reduced) -> tuple[Floats, Floats, NDArray]:
    """All at once, on the null space of G."""
    Z, M, K = reduced
    mu, y = _largest(K, M, len(K))
    mu, phi = mu[::-1], Z.of(y).T[::-1]
    known = noise(lin, phi)
    # what is zero but for rounding is no shift: beside it the inverse would be as singular as K
    low = np.abs(mu) > np.maximum(known, BLURRED * EPS * np.abs(mu).max())
    if (
        EPS * np.abs(mu).max() > DROWNED * np.abs(mu[low]).min(initial=np.inf)
        and mu.min() > -np.abs(mu[low]).min()
    ):
        # the highest, of next to no mass, blurs the lowest: these are the largest of the inverse, beside a shift
        shift = float(np.abs(mu[low]).min())
        with suppress(np.linalg.LinAlgError):
            _, y = _largest(M, K + shift * M, len(K))
            y = y / np.sqrt(np.einsum("ij,ij->j", y, M @ y))
            mu, phi = np.einsum("ij,ij->j", y, K @ y), Z.of(y).T
            known = noise(lin, phi)
    order = np.sort(np.argsort(np.abs(mu))[:n])
    phi = phi[order]
    # errors of mu are as large as those of the highest one, which turns without inertia make huge; its quotient has none
    mu = np.einsum("ki,ki->k", phi, (lin.full("K") @ phi.T).T)
    zero = np.abs(mu) <= known[order]
    order = np.argsort(np.where(zero, 0.0, mu), kind="stable")
    return mu[order], phi[order], zero[order]


def _largest(A: Floats, B: Floats, n: int) -> tuple[Floats, Floats]:
    """The n largest nu (k,) of A y = nu B y, k = n or all there are, and y (size, k) with y B y = 1; set by set.

    Raises LinAlgError where B is not positive.
    """
    sets = uncoupled(A, B)
    found = [_of_one_set(own.A, own.B, n) for own in sets]
    every = np.concatenate([nu for nu, _ in found])
    y, at = np.zeros((len(A), len(every))), 0
    for own, (_, part) in zip(sets, found, strict=True):
        y[own.unknowns, at : at + part.shape[1]] = part
        at += part.shape[1]
    use = np.argsort(-every, kind="stable")[:n]
    return every[use], y[:, use]


def _of_one_set(A: Floats, B: Floats, n: int) -> tuple[Floats, Floats]:
    """The same of unknowns that hang together, from small to large."""
    size = len(A)
    # what scipy's `eigh` calls, less what stands around it; both matrices are symmetric, and read by columns there
    if size <= ALL or n >= size:
        nu, y, failed = scipy.linalg.lapack.dsygvd(A.T, B.T)
        first, last = max(size - n, 0), size
    else:
        nu, y, last, _, failed = scipy.linalg.lapack.dsygvx(
            A.T, B.T, range="I", il=size - n + 1, iu=size, lwork=BLOCK * size
        )
        first = 0
    if failed:
        raise np.linalg.LinAlgError(f"LAPACK gives {failed}")
    return nu[first:last], y[:, first:last]


class Motions(NamedTuple):
    """Motions T (size, k), the columns; unknowns of which each moves alone first."""

    size: int
    alone: Ints  # (a,) unknowns
    others: Ints  # (o,)
    along: Floats  # (o, k - a) of the others in the rest of the motions

    def of(self, y: Floats) -> Floats:
        """T y of y (k, ...)."""
        x = np.empty((self.size, *y.shape[1:]), y.dtype)
        x[_range(self.alone)], x[self.others] = y[: len(self.alone)], self.along @ y[len(self.alone) :]
        return x

    def onto(self, A: Floats) -> Floats:
        """T^T A T of a symmetric A (size, size)."""
        among = _range(self.alone)
        of_alone = A[among][:, among]
        if not self.along.shape[1]:
            return np.asarray(of_alone)
        beside = A[np.ix_(self.alone, self.others)] @ self.along
        of_others = self.along.T @ (A[np.ix_(self.others, self.others)] @ self.along)
        return np.block([[of_alone, beside], [beside.T, of_others]])

    @property
    def matrix(self) -> Floats:
        """T."""
        return self.of(np.eye(len(self.alone) + self.along.shape[1]))


def _range(places: Ints) -> Any:
    """The same as a slice where they follow each other: that is quicker."""
    first, count = (int(places[0]), len(places)) if len(places) else (0, 0)
    follow = count == 0 or places[-1] - first + 1 == count
    return slice(first, first + count) if follow else places


def allowed(G: Any) -> Motions:
    """Orthonormal motions that the joints allow; G full or sparse."""
    rows = array(G)
    known = rows.any(axis=0)  # unknowns that a joint knows of
    alone, others = np.flatnonzero(~known), np.flatnonzero(known)
    _, values, directions = np.linalg.svd(rows[:, others], full_matrices=True)
    rank = int((values > RANK * values.max(initial=0.0)).sum())
    return Motions(rows.shape[1], alone, others, directions[rank:].T)


def null_space(G: Any) -> Floats:
    """The same as an array (size, free)."""
    return allowed(G).matrix


def massless(lin: Linearised) -> Ints:
    """Unknowns that have no mass."""
    return np.flatnonzero(_diagonal(lin, "M") == 0.0)


def _diagonal(lin: Linearised, name: str) -> Floats:
    found: Floats = (lin.full(name) if lin.size <= SMALL else getattr(lin, name)).diagonal()
    return found


def squares(lin: Linearised) -> Floats:
    """(size,) K_ii/M_ii, 1/s^2; zero of what has no mass."""
    m = _diagonal(lin, "M")
    return np.asarray(np.where(m > 0.0, np.abs(_diagonal(lin, "K")), 0.0) / np.where(m > 0.0, m, 1.0))


def finite(lin: Linearised) -> int:
    """How many pairs of eigenvalues there are: freedoms less those that move nothing that has mass."""
    light = massless(lin)
    if not len(light):
        return lin.free
    held = lin.G[:, light]
    held = held[np.diff(held.indptr) > 0].toarray()
    rank = np.linalg.matrix_rank(held, tol=RANK * np.abs(held).max()) if held.size else 0
    return lin.free - len(light) + int(rank)


def slow_motions(lin: Linearised) -> Motions:
    """T: the motions that the joints allow, where what has no mass follows.

    With N the motions of that alone and R those across: T = R - N (N^T K N)^-1 N^T K R, so that N^T K T = 0.
    """
    found, light = allowed(lin.full("G")), massless(lin)
    if not len(light):
        return found
    Z, own = found.matrix, null_space(lin.full("G")[:, light])
    N = np.zeros((lin.size, own.shape[1]))
    N[light] = own
    R = Z @ null_space(N.T @ Z)
    stiff = N.T @ (lin.K @ N)
    _, directions = np.linalg.eigh(0.5 * (stiff + stiff.T))
    _check_held(lin, (N @ directions).T)
    T = np.asarray(R - N @ np.linalg.solve(stiff, N.T @ (lin.K @ R)))
    return Motions(lin.size, np.zeros(0, np.int64), np.arange(lin.size), T)


def _check_held(lin: Linearised, motions: Floats) -> None:
    """Raise where one of these (k, size), of what has no mass, costs nothing."""
    cost = np.abs(np.einsum("ki,ki->k", motions, (lin.K @ motions.T).T))
    loose = cost <= NOISE * EPS * _shares(lin, motions)
    if loose.any():
        far = np.abs(lin.of_frames(motions[np.argmax(loose)])).max(axis=1)
        raise Floppy(int(np.argmax(far)))


class Floppy(Exception):
    """A motion of frames without mass, most of this one, costs nothing."""

    def __init__(self, frame: int) -> None:
        super().__init__(f"frame {frame} has no mass, and nothing holds it")
        self.frame = frame


def general(lin: Linearised, n: int) -> Spectrum:
    """The n eigenvalues nearest to zero with Im >= 0 (of a pair one) of (2)."""
    D = scipy.sparse.csr_matrix(lin.C + lin.gyroscopic)
    light = massless(lin)
    if len(light) and np.any(D[light].data):
        raise ModelError(
            "modes: a rod without mass is viscous or damped; give it mass, or leave the damping out (`undamped`)"
        )
    free, sigma = finite(lin), _general_shift(lin)
    own = lin.states
    if own is not None and len(light) and (own.H[light].nnz or own.Ly[:, light].nnz or own.Lz[:, light].nnz):
        raise ModelError(
            "modes: something with states of its own, or a section that relaxes, acts on a rod without mass; give it mass"
        )
    count = 0 if own is None else len(own.L)
    if 2 * free + count <= 4 * DENSE:
        with one_thread(2 * free + count):
            values, vectors = _dense_general(lin, D, sigma)
    elif 2 * n + 14 >= 2 * free + count:
        values, vectors = _dense_general(lin, D, sigma)
    else:
        with one_thread():
            values, vectors = _arnoldi(lin, D, n, sigma)
    zero = np.abs(values) ** 2 <= _noise_general(lin, vectors, sigma)
    upper = ~zero & (values.imag > -1e-9 * np.abs(values))
    order = np.argsort(np.abs(values), kind="stable")
    order = order[upper[order]]
    rest = _independent(vectors[zero], lin.M)
    values = np.concatenate([np.zeros(len(rest)), values[order]])[:n]
    vectors = np.concatenate([rest, vectors[order]])[:n]
    known = _noise_general(lin, vectors, sigma)
    return Spectrum(values, vectors, np.arange(len(values)) < len(rest), known)


def _independent(vectors: NDArray, M: scipy.sparse.csr_matrix) -> Floats:
    """Real motions that span these and are orthonormal in M: an eigenvalue zero that is double has one motion only."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors.conj(), (M @ vectors.T).T).real)
    moves = norms > EPS * norms.max(initial=0.0)  # a state alone is no motion
    vectors, norms = vectors[moves], norms[moves]
    if not len(vectors):
        return np.zeros((0, vectors.shape[1]))
    vectors = vectors / norms[:, None]
    real = np.concatenate([vectors.real, vectors.imag])
    gram = real @ (M @ real.T)
    squares, combinations = np.linalg.eigh(gram)
    use = squares > 1e-8 * squares.max()
    return np.asarray((combinations[:, use] / np.sqrt(squares[use])).T @ real)


def _dense_general(lin: Linearised, D: scipy.sparse.csr_matrix, sigma: float) -> tuple[NDArray, NDArray]:
    from scipy.linalg import eig

    Z = slow_motions(lin).matrix
    M, D0, K = (Z.T @ (A @ Z) for A in (lin.M, D, lin.K))
    k = len(M)
    inverse = np.linalg.inv(M)
    if lin.states is not None:
        H, L, Ly, Lz = Z.T @ lin.states.H, lin.states.L, lin.states.Ly @ Z, lin.states.Lz @ Z
        below = np.zeros((k, k)), np.eye(k), np.zeros((k, len(L)))
        A = np.block([[*below], [-inverse @ K, -inverse @ D0, -inverse @ H], [-Ly, -Lz, -L]])
        values, z = eig(A)
        return values, (Z @ z[:k]).T
    A = np.block([[np.zeros((k, k)), np.eye(k)], [-inverse @ K, -inverse @ D0]])
    values, z = eig(A)
    if EPS * np.abs(values).max() ** 2 > DROWNED * sigma**2:  # as in `_dense`; by (2)
        S = np.linalg.inv(sigma * sigma * M + sigma * D0 + K)
        right, below = -S @ (D0 + sigma * M), -S @ M
        nu, z = eig(np.block([[right, below], [sigma * right + np.eye(k), sigma * below]]))
        nu = np.where(np.abs(nu) > EPS * np.abs(nu).max(), nu, EPS * np.abs(nu).max())
        values = sigma + 1.0 / nu
    return values, (Z @ z[:k]).T


def _arnoldi(lin: Linearised, D: scipy.sparse.csr_matrix, n: int, sigma: float) -> tuple[NDArray, NDArray]:
    M, D, K, G = with_states(lin, D)
    size = M.shape[0]
    saddle = Saddle(scipy.sparse.csr_matrix(sigma * sigma * M + sigma * D + K), G)
    right = scipy.sparse.csr_matrix(D + sigma * M)

    def step(z: NDArray) -> NDArray:
        x, v = z[:size], z[size:]
        moved = -saddle.solve(M @ v + right @ x)
        return np.concatenate([moved, sigma * moved + x])

    operator = scipy.sparse.linalg.LinearOperator(
        (2 * size, 2 * size), matvec=lambda z: step(np.ravel(z)), dtype=float
    )
    start = step(step(np.random.default_rng(1).standard_normal(2 * size)))
    many = 2 * n + 12  # pairs, and what costs nothing
    try:
        nu, z = scipy.sparse.linalg.eigs(
            operator, many, which="LM", v0=start, ncv=min(2 * many + 20, 2 * size)
        )
    except scipy.sparse.linalg.ArpackNoConvergence as few:
        raise ModelError(
            f"modes: {len(few.eigenvalues)} of {many} eigenvalues converged; ask for fewer modes"
        ) from None
    return sigma + 1.0 / nu, z[: lin.size].T


def with_states(lin: Linearised, D: Any) -> tuple[Any, Any, Any, Any]:
    """M, D, K, G of (4), sparse."""
    own = lin.states
    if own is None:
        return lin.M, D, lin.K, lin.G
    m = len(own.L)
    none, one = scipy.sparse.csr_matrix((m, m)), scipy.sparse.identity(m)
    side = scipy.sparse.csr_matrix((lin.size, m))
    blocks = (
        [[lin.M, side], [side.T, none]],
        [[D, side], [own.Lz, one]],
        [[lin.K, own.H], [own.Ly, scipy.sparse.csr_matrix(own.L)]],
        [[lin.G, scipy.sparse.csr_matrix((lin.G.shape[0], m))]],
    )
    M, D, K, G = (scipy.sparse.bmat(each, format="csr") for each in blocks)
    return M, D, K, G


def _general_shift(lin: Linearised) -> float:
    """A real number beside zero, small against the lowest frequency."""
    symmetric = lin.changed(K=lin.symmetric_stiffness, unsymmetric=(), states=None)
    mu, _, zero = conservative(symmetric, 8)
    others = np.abs(mu[~zero])
    speed = max(float(np.abs(lin.motion.W).max()), float(np.abs(lin.motion.spin).max(initial=0.0)))
    scale = float(np.sqrt(others.min())) if len(others) else max(speed, 1.0)
    return 0.1 * scale


def _noise_general(lin: Linearised, vectors: NDArray, sigma: float) -> Floats:
    """Of |lambda|^2: a double eigenvalue zero is found to the root of the round-off of 1/(lambda - sigma) only."""
    mass = np.array([np.vdot(x, lin.M @ x).real for x in vectors])
    of_real = [np.abs(x) for x in vectors]
    own = NOISE * EPS * _shares(lin, np.array(of_real)) + _of_places(lin, vectors)
    return np.asarray(own / np.maximum(mass, 1e-300) + (DOUBLE * sigma) ** 2)
