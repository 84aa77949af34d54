"""Compute the eigenvalues nearest to zero by shift-invert iteration with the saddle-point (KKT) matrix.

Conservative, M x'' + K x + G^T y = 0, G x = 0, x = exp(lambda t) phi, mu = -lambda^2:

    K phi + G^T y = mu M phi:   Lanczos in the product of M on P M, P the inverse of K - sigma M with G (`saddle_point`)   (1)

P maps into the null space of G, on whose complement P M has eigenvalue zero, so that an iteration started in the range of P
stays in it. Unknowns without mass follow the others quasi-statically and add no eigenvalues. P includes them if the start is in
the range of P M; full matrices are reduced to the other unknowns (`slow_motions`). If there are motions without stiffness, K is
singular. The shift is therefore negative, with about the magnitude of the lowest other eigenvalue: the first shift is as small as
round-off allows; if eigenvalues zero are found, the next one is taken from the first spectrum.
Small models are solved on the null space of G, with full matrices.

Internal states a with equations of first order (`evolving_interactions` (2)) are appended to x in (2), with

    M^ = (M 0; 0 0),   D^ = (D 0; Lz 1),   K^ = (K H; Ly L),   G^ = (G 0)                                     (4)

With full matrices z = (phi, lambda phi, a): each internal state has one eigenvalue.

With D = C + Gyr or unsymmetric K, on z = (phi, lambda phi):

    (lambda^2 M + lambda D + K) phi + G^T y = 0:
    x+ = -P(sigma^2 M + sigma D + K) (M v + (D + sigma M) x),   v+ = sigma x+ + x,   eigenvalues 1/(lambda - sigma)  (2)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access
from numpy.typing import NDArray

from discretization.linear.blas_threads import one_thread
from discretization.linearisation.equations import Linearised
from discretization.linearisation.matrices import array
from discretization.linearisation.saddle_point import SaddlePointSolver
from discretization.linearisation.uncoupled_sets import uncoupled_sets
from rigid.errors import ModelError
from rigid.system import Floats, Ints

EPS = 2.220446049250313e-16
NOISE = 50.0  # multiple of the round-off of an entry's share below which eigenvalues are zero
DENSE = 60  # largest number of degrees of freedom for which all eigenvalues are computed
LARGEST_RELATIVE_NOISE = (
    1e-11  # largest accepted round-off of the highest eigenvalue, relative to the lowest one
)
BLURRED = 10.0  # error of eigenvalues of a full matrix, as a multiple of the round-off of the highest
RANK = 1e-10  # singular values below this part of the largest one are zero
POSE_ROUNDOFF = 16.0  # multiple of eps: rounding of positions, rotations and the strains between them
CLEAR = 100.0  # multiple of its noise up to which the lowest eigenvalue is computed again with a shift
BLOCK = 40  # LAPACK workspace per unknown: the columns of its blocks, and some spare
DOUBLE = 1e-4  # |lambda| of a double eigenvalue zero due to rounding, relative to the shift
ALL = 60  # largest number of unknowns for which computing all eigenvalues is faster than a few
SMALL = 200  # largest number of unknowns for which full matrices are faster than the Lanczos iteration


class Spectrum(NamedTuple):
    """Eigenvalues and modes, sorted by distance from zero."""

    values: NDArray  # (k,) eigenvalues lambda, 1/s
    vectors: NDArray  # (k, size) modes
    zero: NDArray  # (k,) True if an eigenvalue is zero to round-off
    noise: Floats  # (k,) round-off of |lambda|^2, 1/s^2


def conservative(lin: Linearised, n: int) -> tuple[Floats, Floats, NDArray]:
    """Return the eigenvalues and modes of (1) nearest to zero.

    They are mu (k,), 1/s^2, phi (k, size) with phi M phi = 1, and (k,) True if mu is zero to round-off; k = n, or fewer if there
    are fewer.
    """
    size = count_finite_eigenvalues(lin)
    if size <= SMALL and lin.free <= 2 * SMALL:
        with one_thread(lin.size):
            reduced = _reduced(lin)
            return _supported(lin, n, reduced) or _dense(lin, n, reduced)
    if n >= size - 1 or size <= DENSE:
        return _dense(lin, n, _reduced(lin))
    with one_thread():
        return _lowest(lin, n, size)


def _lowest(lin: Linearised, n: int, size: int) -> tuple[Floats, Floats, NDArray]:
    """Return what `conservative` returns, by the Lanczos iteration; `size`: number of finite eigenvalues."""
    floor = 4.0 * EPS * float(squared_frequencies(lin).max(initial=0.0))
    shift = 100.0 * floor
    for _ in range(3):
        mu, phi = _lanczos(lin, -shift, min(n + 1, size - 2))
        zero = np.abs(mu) <= noise(lin, phi)
        nonzero = np.abs(mu[~zero])
        best_shift = 0.5 * float(nonzero.min()) if len(nonzero) else 0.0
        if not zero.any() or not len(nonzero) or 0.25 * shift <= best_shift <= 4.0 * shift:
            break
        shift = best_shift
    while zero.any():  # copies of a multiple eigenvalue appear only by rounding: search for another one
        one, mode = _lanczos(lin, -shift, 1, phi)
        if not np.abs(one) <= noise(lin, mode):
            break
        mu, phi, zero = np.append(mu, one), np.concatenate([phi, mode]), np.append(zero, True)
    order = np.argsort(np.abs(mu))[:n]
    order = order[np.argsort(np.where(zero[order], 0.0, mu[order]), kind="stable")]
    return mu[order], phi[order], zero[order]


def _lanczos(
    lin: Linearised, sigma: float, n: int, known_modes: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the n eigenvalues mu of (1) nearest to the shift `sigma`, 1/s^2, and their modes (n, size), by Lanczos.

    `known_modes`: modes (k, size) to which the iteration is kept orthogonal in M.
    """
    saddle = SaddlePointSolver(scipy.sparse.csr_matrix(lin.K - sigma * lin.M), lin.G)

    def solve(b: NDArray) -> NDArray:
        x = saddle.solve(np.ravel(b))
        return x if known_modes is None else x - (known_modes @ (lin.M @ x)) @ known_modes

    P = scipy.sparse.linalg.LinearOperator((lin.size, lin.size), matvec=solve, dtype=float)
    start = solve(np.random.default_rng(1).standard_normal(lin.size))
    massless = massless_unknowns(lin)
    if len(massless):  # start with motions of these unknowns that follow unknowns with mass
        load = np.zeros(lin.size)
        load[massless] = start[massless]
        _check_stiffened(lin, saddle.solve(load)[None])
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
    """Return the round-off (k,) of phi K phi for modes phi (k, size) with phi M phi = 1, 1/s^2.

    It includes the entries' shares, added as random signs add, the round-off of the multipliers, and that of the forces in the
    state.
    """
    # use displacements only, as rotations may have almost no inertia
    squares = squared_frequencies(lin).reshape(-1, 6)
    highest = float(squares[:, :3].max(initial=0.0)) or float(squares.max(initial=0.0))
    return np.maximum(NOISE * EPS * _root_sum_squares(lin, phi), EPS * highest) + _pose_roundoff(lin, phi)


def _noise_bound(lin: Linearised, x: Floats) -> float:
    """Return an upper bound of `noise` for one mode x (size,), 1/s^2.

    It uses |K| instead of squares and signs, and |phi_a|^2 + |phi_b|^2 in (3).
    """
    entries, sizes = np.abs(lin.full("K")), np.abs(x)
    shares, sums = float(sizes @ entries @ sizes), entries.sum(axis=1).reshape(-1, 3).sum(axis=1)
    of_places = 2.0 * float((sizes * sizes).reshape(-1, 3).sum(axis=1) @ sums)
    return EPS * (
        max(NOISE * shares, float(squared_frequencies(lin).max(initial=0.0))) + POSE_ROUNDOFF * of_places
    )


def _pose_roundoff(lin: Linearised, phi: NDArray) -> Floats:
    """Return the round-off (k,) of phi K phi due to rounded poses.

    Poses are known to eps. Forces between frames are then known to eps times their stiffness s, and they contribute to K, so that

        phi K phi to OF_PLACES eps sum of s_ab |phi_a - phi_b|^2,   s_ab the largest entry of a block of K            (3)

    plus s_aa |phi_a|^2, s_aa being the excess of the diagonal block over its neighbours. Displacements and rotations are
    separate.
    """
    out = np.zeros(len(phi))
    for kind, (a, b, s) in enumerate(_sizes(lin)):
        x, n = phi.reshape(len(phi), -1, 2, 3)[:, :, kind], lin.size // 6
        off_diagonal = a != b
        diagonal = np.bincount(a[~off_diagonal], s[~off_diagonal], n)
        a, b, s = a[off_diagonal], b[off_diagonal], s[off_diagonal]
        beyond = np.maximum(diagonal - np.bincount(a, s, n), 0.0)
        out += 0.5 * (np.abs(x[:, a] - x[:, b]) ** 2).sum(axis=2) @ s + (np.abs(x) ** 2).sum(axis=2) @ beyond
    return POSE_ROUNDOFF * EPS * out


def _sizes(lin: Linearised) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield, for displacements and then for rotations, both frames and the largest entry of each nonzero block (3, 3) of K."""
    if lin.size <= SMALL:
        entries, axes = np.abs(lin.full("K")), range(3)
        sizes = np.maximum.reduce([entries[i::3, j::3] for i in axes for j in axes])
    else:
        blocks = lin.K.tobsr((3, 3))
        of_blocks = np.abs(blocks.data).max(axis=(1, 2))
        sizes = scipy.sparse.csr_matrix(
            (of_blocks, blocks.indices, blocks.indptr), (blocks.shape[0] // 3,) * 2
        )
    for kind in (0, 1):
        of_kind = sizes[kind::2, kind::2]
        if isinstance(of_kind, np.ndarray):
            a, b = np.nonzero(of_kind)
            yield a, b, of_kind[a, b]
        else:
            entries_of_kind = of_kind.tocoo()
            yield entries_of_kind.row, entries_of_kind.col, entries_of_kind.data


def _root_sum_squares(lin: Linearised, phi: Floats) -> Floats:
    """Return (k,) the root of the sum of squares of the entries' contributions to phi K phi."""
    squares = phi.T**2
    return np.asarray(np.sqrt(np.sum(squares * (stiffness_squares(lin) @ squares), axis=0)))


def stiffness_squares(lin: Linearised) -> Any:
    """Return the squares of the entries of K (size, size), as an array if K is small, else sparse."""
    return lin.full("K") ** 2 if lin.size <= SMALL else lin.K.power(2)


class Reduced(NamedTuple):
    """M and K reduced to the motions Z that joints allow, without those of unknowns without mass."""

    Z: MotionBasis
    M: Floats
    K: Floats


def _reduced(lin: Linearised) -> Reduced:
    """Return M and K on the motions of `slow_motions`."""
    Z = slow_motions(lin)
    return Reduced(Z, Z.onto(lin.full("M")), Z.onto(lin.full("K")))


def _supported(lin: Linearised, n: int, reduced: Reduced) -> tuple[Floats, Floats, NDArray] | None:
    """Return what `conservative` returns for a stably supported model, or None if K is not clearly positive.

    Solve M y = K y/mu on the null space of G for the largest 1/mu. These are exact to their own round-off; solutions of
    K y = mu M y would have the round-off of the highest frequency.
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
    if mu[0] <= CLEAR * _noise_bound(lin, phi[0]) and mu[0] <= CLEAR * noise(lin, phi[:1])[0]:
        return None
    return mu, phi, np.zeros(n, bool)


def _dense(lin: Linearised, n: int, reduced: Reduced) -> tuple[Floats, Floats, NDArray]:
    """Return what `conservative` returns, from all eigenvalues on the null space of G."""
    Z, M, K = reduced
    mu, y = _largest(K, M, len(K))
    mu, phi = mu[::-1], Z.of(y).T[::-1]
    roundoff = noise(lin, phi)
    # an eigenvalue that is zero up to rounding cannot be the shift: the shifted inverse would be as singular as K
    low = np.abs(mu) > np.maximum(roundoff, BLURRED * EPS * np.abs(mu).max())
    if (
        EPS * np.abs(mu).max() > LARGEST_RELATIVE_NOISE * np.abs(mu[low]).min(initial=np.inf)
        and mu.min() > -np.abs(mu[low]).min()
    ):
        # the highest eigenvalue (almost no mass) spoils the lowest: compute these as the largest of the shifted inverse
        shift = float(np.abs(mu[low]).min())
        with suppress(np.linalg.LinAlgError):
            _, y = _largest(M, K + shift * M, len(K))
            y = y / np.sqrt(np.einsum("ij,ij->j", y, M @ y))
            mu, phi = np.einsum("ij,ij->j", y, K @ y), Z.of(y).T
            roundoff = noise(lin, phi)
    order = np.sort(np.argsort(np.abs(mu))[:n])
    phi = phi[order]
    # errors of mu are as large as those of the highest one, huge for rotations without inertia; use the Rayleigh quotient
    mu = np.einsum("ki,ki->k", phi, (lin.full("K") @ phi.T).T)
    zero = np.abs(mu) <= roundoff[order]
    order = np.argsort(np.where(zero, 0.0, mu), kind="stable")
    return mu[order], phi[order], zero[order]


def _largest(A: Floats, B: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the n largest (or all) nu (k,) of A y = nu B y, and y (size, k) with y B y = 1; uncoupled sets are solved alone.

    Raises LinAlgError if B is not positive definite.
    """
    sets = uncoupled_sets(A, B)
    solutions = [_largest_of_set(subset.A, subset.B, n) for subset in sets]
    every = np.concatenate([nu for nu, _ in solutions])
    y, at = np.zeros((len(A), len(every))), 0
    for subset, (_, part) in zip(sets, solutions, strict=True):
        y[subset.unknowns, at : at + part.shape[1]] = part
        at += part.shape[1]
    use = np.argsort(-every, kind="stable")[:n]
    return every[use], y[:, use]


def _largest_of_set(A: Floats, B: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the n largest (or all) nu of A y = nu B y in ascending order, and y, for one set of coupled unknowns."""
    size = len(A)
    # the LAPACK calls of scipy's `eigh` without its checks; both matrices are symmetric, LAPACK reads them by columns
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


class MotionBasis(NamedTuple):
    """Basis of motions T (size, k): its first columns move one unknown alone each."""

    size: int
    alone: Ints  # (a,) unknowns that are motions alone
    constrained: Ints  # (o,) the other unknowns, which joints constrain
    along: Floats  # (o, k - a) components of the other unknowns in the other motions

    def of(self, y: Floats) -> Floats:
        """Return T y (size, ...) for coefficients y (k, ...)."""
        x = np.empty((self.size, *y.shape[1:]), y.dtype)
        x[_range(self.alone)], x[self.constrained] = y[: len(self.alone)], self.along @ y[len(self.alone) :]
        return x

    def onto(self, A: Floats) -> Floats:
        """Return T^T A T (k, k) for a symmetric A (size, size)."""
        alone = _range(self.alone)
        of_alone = A[alone][:, alone]
        if not self.along.shape[1]:
            return np.asarray(of_alone)
        coupling = A[np.ix_(self.alone, self.constrained)] @ self.along
        of_others = self.along.T @ (A[np.ix_(self.constrained, self.constrained)] @ self.along)
        return np.block([[of_alone, coupling], [coupling.T, of_others]])

    @property
    def matrix(self) -> Floats:
        """The matrix T (size, k)."""
        return self.of(np.eye(len(self.alone) + self.along.shape[1]))


def _range(indices: Ints) -> Any:
    """Return the indices `indices` as a slice if they are contiguous, which is faster; else unchanged."""
    first, count = (int(indices[0]), len(indices)) if len(indices) else (0, 0)
    follow = count == 0 or indices[-1] - first + 1 == count
    return slice(first, first + count) if follow else indices


def allowed_motions(G: Any) -> MotionBasis:
    """Return orthonormal motions that the joints allow: the null space of G (m, size), full or sparse."""
    rows = array(G)
    is_constrained = rows.any(axis=0)  # True for unknowns that a joint constrains
    free, constrained = np.flatnonzero(~is_constrained), np.flatnonzero(is_constrained)
    _, values, directions = np.linalg.svd(rows[:, constrained], full_matrices=True)
    rank = int((values > RANK * values.max(initial=0.0)).sum())
    return MotionBasis(rows.shape[1], free, constrained, directions[rank:].T)


def null_space(G: Any) -> Floats:
    """Return an orthonormal basis of the null space of G (m, size) as an array (size, free)."""
    return allowed_motions(G).matrix


def massless_unknowns(lin: Linearised) -> Ints:
    """Return the indices of unknowns without mass."""
    return np.flatnonzero(_diagonal(lin, "M") == 0.0)


def _diagonal(lin: Linearised, name: str) -> Floats:
    """Return the diagonal (size,) of one of the matrices."""
    diagonal: Floats = (lin.full(name) if lin.size <= SMALL else getattr(lin, name)).diagonal()
    return diagonal


def squared_frequencies(lin: Linearised) -> Floats:
    """Return |K_ii|/M_ii, (size,), 1/s^2; zero for unknowns without mass."""
    m = _diagonal(lin, "M")
    return np.asarray(np.where(m > 0.0, np.abs(_diagonal(lin, "K")), 0.0) / np.where(m > 0.0, m, 1.0))


def count_finite_eigenvalues(lin: Linearised) -> int:
    """Return the number of finite pairs of eigenvalues: degrees of freedom less motions of massless unknowns alone."""
    massless = massless_unknowns(lin)
    if not len(massless):
        return lin.free
    light_rows = lin.G[:, massless]
    light_rows = light_rows[np.diff(light_rows.indptr) > 0].toarray()
    rank = np.linalg.matrix_rank(light_rows, tol=RANK * np.abs(light_rows).max()) if light_rows.size else 0
    return lin.free - len(massless) + int(rank)


def slow_motions(lin: Linearised) -> MotionBasis:
    """Return the motions T that the joints allow, with unknowns without mass following quasi-statically.

    With N the motions of massless unknowns alone and R those orthogonal to N: T = R - N (N^T K N)^-1 N^T K R, so that
    N^T K T = 0.
    """
    basis, massless = allowed_motions(lin.full("G")), massless_unknowns(lin)
    if not len(massless):
        return basis
    Z, of_light = basis.matrix, null_space(lin.full("G")[:, massless])
    N = np.zeros((lin.size, of_light.shape[1]))
    N[massless] = of_light
    R = Z @ null_space(N.T @ Z)
    stiff = N.T @ (lin.K @ N)
    _, directions = np.linalg.eigh(0.5 * (stiff + stiff.T))
    _check_stiffened(lin, (N @ directions).T)
    T = np.asarray(R - N @ np.linalg.solve(stiff, N.T @ (lin.K @ R)))
    return MotionBasis(lin.size, np.zeros(0, np.int64), np.arange(lin.size), T)


def _check_stiffened(lin: Linearised, motions: Floats) -> None:
    """Raise `UnstiffenedMotionError` if one of these motions (k, size) of massless unknowns has no stiffness."""
    cost = np.abs(np.einsum("ki,ki->k", motions, (lin.K @ motions.T).T))
    unstiffened = cost <= NOISE * EPS * _root_sum_squares(lin, motions)
    if unstiffened.any():
        far = np.abs(lin.of_frames(motions[np.argmax(unstiffened)])).max(axis=1)
        raise UnstiffenedMotionError(int(np.argmax(far)))


class UnstiffenedMotionError(Exception):
    """A motion of frames without mass has no stiffness; `frame` moves most in it."""

    def __init__(self, frame: int) -> None:
        super().__init__(f"frame {frame} has no mass, and nothing holds it")
        self.frame = frame


def general_spectrum(lin: Linearised, n: int) -> Spectrum:
    """Return the n eigenvalues of (2) nearest to zero with Im >= 0, one of each pair, and their modes."""
    D = scipy.sparse.csr_matrix(lin.C + lin.gyroscopic)
    massless = massless_unknowns(lin)
    if len(massless) and np.any(D[massless].data):
        raise ModelError(
            "modes: a rod without mass is viscous or damped; give it mass, or remove the damping (`undamped`)"
        )
    free, sigma = count_finite_eigenvalues(lin), _general_shift(lin)
    internal = lin.states
    if (
        internal is not None
        and len(massless)
        and (internal.H[massless].nnz or internal.Ly[:, massless].nnz or internal.Lz[:, massless].nnz)
    ):
        raise ModelError(
            "modes: an interaction with internal states, or a section that relaxes, acts on a rod without mass; give the rod mass"
        )
    count = 0 if internal is None else len(internal.L)
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
    zero_modes = _independent(vectors[zero], lin.M)
    values = np.concatenate([np.zeros(len(zero_modes)), values[order]])[:n]
    vectors = np.concatenate([zero_modes, vectors[order]])[:n]
    roundoff = _noise_general(lin, vectors, sigma)
    return Spectrum(values, vectors, np.arange(len(values)) < len(zero_modes), roundoff)


def _independent(vectors: NDArray, M: scipy.sparse.csr_matrix) -> Floats:
    """Return real modes, orthonormal in M, that span `vectors` (k, size): a double eigenvalue zero has one mode only."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors.conj(), (M @ vectors.T).T).real)
    moves = norms > EPS * norms.max(initial=0.0)  # omit modes of internal states alone
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
    """Return all eigenvalues of (2), or of (4), and modes (k, size), with full matrices."""
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
    if EPS * np.abs(values).max() ** 2 > LARGEST_RELATIVE_NOISE * sigma**2:  # shift as in `_dense`, with (2)
        S = np.linalg.inv(sigma * sigma * M + sigma * D0 + K)
        coefficient, below = -S @ (D0 + sigma * M), -S @ M
        nu, z = eig(np.block([[coefficient, below], [sigma * coefficient + np.eye(k), sigma * below]]))
        nu = np.where(np.abs(nu) > EPS * np.abs(nu).max(), nu, EPS * np.abs(nu).max())
        values = sigma + 1.0 / nu
    return values, (Z @ z[:k]).T


def _arnoldi(lin: Linearised, D: scipy.sparse.csr_matrix, n: int, sigma: float) -> tuple[NDArray, NDArray]:
    """Return eigenvalues of (2), or of (4), nearest to the shift sigma, and modes (k, size), by the Arnoldi iteration."""
    M, D, K, G = with_states(lin, D)
    size = M.shape[0]
    saddle = SaddlePointSolver(scipy.sparse.csr_matrix(sigma * sigma * M + sigma * D + K), G)
    coefficient = scipy.sparse.csr_matrix(D + sigma * M)

    def step(z: NDArray) -> NDArray:
        x, v = z[:size], z[size:]
        increment = -saddle.solve(M @ v + coefficient @ x)
        return np.concatenate([increment, sigma * increment + x])

    operator = scipy.sparse.linalg.LinearOperator(
        (2 * size, 2 * size), matvec=lambda z: step(np.ravel(z)), dtype=float
    )
    start = step(step(np.random.default_rng(1).standard_normal(2 * size)))
    n_vectors = 2 * n + 12  # two per pair, and some for modes without stiffness
    try:
        nu, z = scipy.sparse.linalg.eigs(
            operator, n_vectors, which="LM", v0=start, ncv=min(2 * n_vectors + 20, 2 * size)
        )
    except scipy.sparse.linalg.ArpackNoConvergence as few:
        raise ModelError(
            f"modes: {len(few.eigenvalues)} of {n_vectors} eigenvalues converged; ask for fewer modes"
        ) from None
    return sigma + 1.0 / nu, z[: lin.size].T


def with_states(lin: Linearised, D: Any) -> tuple[Any, Any, Any, Any]:
    """Return M, D, K, G of (4), sparse; those of (2) if there are no internal states."""
    internal = lin.states
    if internal is None:
        return lin.M, D, lin.K, lin.G
    m = len(internal.L)
    none, one = scipy.sparse.csr_matrix((m, m)), scipy.sparse.identity(m)
    side = scipy.sparse.csr_matrix((lin.size, m))
    blocks = (
        [[lin.M, side], [side.T, none]],
        [[D, side], [internal.Lz, one]],
        [[lin.K, internal.H], [internal.Ly, scipy.sparse.csr_matrix(internal.L)]],
        [[lin.G, scipy.sparse.csr_matrix((lin.G.shape[0], m))]],
    )
    M, D, K, G = (scipy.sparse.bmat(block_rows, format="csr") for block_rows in blocks)
    return M, D, K, G


def _general_shift(lin: Linearised) -> float:
    """Return a real shift, 1/s, a tenth of the lowest frequency that is not zero."""
    symmetric = lin.changed(K=lin.symmetric_stiffness, unsymmetric=(), states=None)
    mu, _, zero = conservative(symmetric, 8)
    nonzero = np.abs(mu[~zero])
    speed = max(float(np.abs(lin.motion.W).max()), float(np.abs(lin.motion.spin).max(initial=0.0)))
    scale = float(np.sqrt(nonzero.min())) if len(nonzero) else max(speed, 1.0)
    return 0.1 * scale


def _noise_general(lin: Linearised, vectors: NDArray, sigma: float) -> Floats:
    """Return the round-off (k,) of |lambda|^2, 1/s^2.

    A double eigenvalue zero is found only to the root of the round-off of 1/(lambda - sigma).
    """
    mass = np.array([np.vdot(x, lin.M @ x).real for x in vectors])
    of_real = [np.abs(x) for x in vectors]
    roundoff = NOISE * EPS * _root_sum_squares(lin, np.array(of_real)) + _pose_roundoff(lin, vectors)
    return np.asarray(roundoff / np.maximum(mass, 1e-300) + (DOUBLE * sigma) ** 2)
