"""Evaluate local conservation laws of a rod from states stored at its nodes: residuals of the box-averaged differences of

    density_t + flux_S = source                                                       (43)

    energy              h = T + U - rho_A a . phi          flux -(n . phi_t + m . w)    source -d
    momentum            rho_A phi_t                        flux -n                      source rho_A a
    angular momentum    phi x rho_A phi_t + I_rho w        flux -(phi x n + m)          source phi x rho_A a
    material momentum   phi_S . rho_A phi_t + omega . I_rho w      flux U - T - n . phi_S - m . omega - rho_A a . phi

with a uniform acceleration a, and d the power that the material loses. A box consists of a time step and the halves of the two
elements at an inner node. Strains, stresses and fluxes are evaluated at the middles of the elements; a density is the mean over
the halves, a flux that of both times. The residuals are of second order in step and element length together (for the last law,
if the rod is uniform). The laws use states alone, so they apply to any element and any integrator. They are not discrete laws
of these, so residuals are small, not zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.continuum.material import E1, Material
from discretization.continuum.quaternions import E, apply, conjugate, inner, product
from rigid.errors import ModelError
from rigid.system import Floats


class LocalLaws(NamedTuple):
    """Residuals at the middles of steps and the inner nodes: (n_times - 1, n_nodes - 2), vectors with (..., 3)."""

    t: Floats  # middles of the steps (n_times - 1,), s
    S: Floats  # inner nodes (n_nodes - 2,), m
    energy: Floats  # W/m
    momentum: Floats  # N/m
    angular_momentum: Floats  # N
    material_momentum: Floats  # N/m


class Term(NamedTuple):
    """Terms of one law in all boxes: density_t + flux_S - source = residual.

    Arrays (n_times - 1, n_nodes - 2), vectors with (..., 3).
    """

    rate: Floats
    flux: Floats
    source: Floats

    @property
    def residual(self) -> Floats:
        """Return the residual of the law, rate + flux - source."""
        return np.asarray(self.rate + self.flux - self.source)


class LocalTerms(NamedTuple):
    """The terms of all laws, with the fields of `LocalLaws`."""

    t: Floats
    S: Floats
    energy: Term
    momentum: Term
    angular_momentum: Term
    material_momentum: Term


class Loading(NamedTuple):
    """Stresses, energies and losses of the rod at the middles of the elements, (n_times, n_elements, ...)."""

    stress: Floats  # (..., 6) (N, M), N and N m, section axes
    energy: Floats  # U, J/m
    lost: Floats  # d, W/m


class Strains(NamedTuple):
    """Strains at the middles of the elements, (..., n_elements, n)."""

    Gamma: Floats  # stretch and shear
    Omega: Floats  # twist and bending, 1/m
    phi_S: Floats  # inertial axes
    E: Floats  # rotation (..., 3, 3)


def middle_strains(S: Floats, r: Floats, quat: Floats) -> Strains:
    """Compute strains by differences over each element.

    phi_S = (r_b - r_a)/L, Omega = 2 L(q^c)(q_b - q_a)/L, q the mean of unit length. S (n,), m; r (..., n, 3), m;
    quat (..., n, 4), of either sign.
    """
    length = np.diff(S)[:, None]
    a, b = quat[..., :-1, :], quat[..., 1:, :]
    b = np.where(inner(a, b)[..., None] < 0, -b, b)
    mean = a + b
    mean /= np.sqrt(inner(mean, mean))[..., None]
    phi_S, rotation = np.diff(r, axis=-2) / length, E(mean)
    bend = 2 * product(conjugate(mean), b - a)[..., 1:] / length
    return Strains(apply(rotation.swapaxes(-1, -2), phi_S) - E1, bend, phi_S, rotation)


def local_laws(
    rod: Material,
    t: ArrayLike,
    S: ArrayLike,
    r: ArrayLike,
    quat: ArrayLike,
    v: ArrayLike,
    Omega: ArrayLike,
    rest: tuple[ArrayLike, ArrayLike] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    gravity: ArrayLike = (0.0, 0.0, 0.0),
) -> LocalLaws:
    """Compute the residuals of the local laws on a grid of stored states.

    Parameters
    ----------
    rod : Material
        Its entries may have a first axis of n_elements: sections that change along the rod.
    t : (n_times,) array
        Times, s, increasing.
    S : (n_nodes,) array
        Stress-free arc length of the nodes, m, increasing.
    r : (n_times, n_nodes, 3) array
        Positions, m.
    quat : (n_times, n_nodes, 4) array
        Unit quaternions.
    v : (n_times, n_nodes, 3) array
        Velocities, inertial axes, m/s.
    Omega : (n_times, n_nodes, 3) array
        Angular velocities, section axes, rad/s.
    rest : (Gamma, Omega), optional
        Strains without stress, each (3,) or (n_elements, 3), by `middle_strains` of the stress-free shape. By default 0.
    gravity : (3,) array, optional
        Uniform acceleration, m/s^2. By default 0.

    Returns
    -------
    LocalLaws

    Raises
    ------
    ModelError
        If shapes do not fit, t or S do not increase, or there are fewer than two times or three nodes.

    Notes
    -----
    For a closed rod repeat its first two nodes at the end, with increasing S; every node is then an inner one.
    """
    grid = _Grid(*(np.asarray(x, float) for x in (t, S, r, quat, v, Omega)))
    _check(grid)
    strains = middle_strains(grid.S, grid.r, grid.quat)
    stretch, bend = strains.Gamma - np.asarray(rest[0], float), strains.Omega - np.asarray(rest[1], float)
    stress = np.concatenate([apply(rod.C_N, stretch), apply(rod.C_M, bend)], axis=-1)
    U = 0.5 * inner(np.concatenate([stretch, bend], axis=-1), stress)
    loading = Loading(stress, U, np.zeros_like(U))
    terms = local_terms(rod.rho_A, rod.J_rho, *grid, loading, gravity)
    return LocalLaws(terms.t, terms.S, *(term.residual for term in terms[2:]))


def local_terms(
    rho_A: ArrayLike,
    J_rho: ArrayLike,
    t: ArrayLike,
    S: ArrayLike,
    r: ArrayLike,
    quat: ArrayLike,
    v: ArrayLike,
    Omega: ArrayLike,
    loading: Loading,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
) -> LocalTerms:
    """Compute the terms of the laws with stresses and energies of a rod element (`loading`); other arguments as in `local_laws`.

    `rho_A`, `J_rho`: mass and inertia per length as in `Material`. Differences over a bent element do not measure its stretch:
    for a slender rod their error is EA (Omega L)^2/24; an element's own stress has no such error.
    """
    grid = _Grid(*(np.asarray(x, float) for x in (t, S, r, quat, v, Omega)))
    _check(grid)
    a = np.asarray(gravity, float)
    strains = middle_strains(grid.S, grid.r, grid.quat)
    n, m = apply(strains.E, loading.stress[..., :3]), apply(strains.E, loading.stress[..., 3:])
    U = loading.energy
    omega = apply(strains.E, strains.Omega)
    rho = np.broadcast_to(np.asarray(rho_A, float), grid.S.size - 1)[:, None]

    rotation = E(grid.quat)
    w = apply(rotation, grid.Omega)
    J = np.asarray(J_rho, float)
    ends = [_End(J, rho, *(x[:, side] for x in (grid.r, grid.v, grid.Omega, rotation, w))) for side in _SIDES]
    r_bar, v_bar, w_bar = (0.5 * (x[:, _SIDES[0]] + x[:, _SIDES[1]]) for x in (grid.r, grid.v, w))
    T_bar = 0.5 * (ends[0].T + ends[1].T)
    fall = (rho * a)[None]
    height = [-inner(fall, end.r) for end in ends]

    def law(densities: list[Floats], flux: Floats, source: list[Floats] | None = None) -> Term:
        """Return the term of one law in the boxes; densities and sources at both ends of every element."""
        rate = np.diff(_boxes(grid, densities), axis=0) / _as(np.diff(grid.t), densities[0], 0)
        jump = np.diff(flux, axis=1) / _as(_widths(grid.S), flux, 1)
        supply = np.zeros_like(rate)
        if source is not None:
            of_times = _boxes(grid, source)
            supply = 0.5 * (of_times[1:] + of_times[:-1])
        return Term(rate, 0.5 * (jump[1:] + jump[:-1]), supply)

    return LocalTerms(
        0.5 * (grid.t[1:] + grid.t[:-1]),
        grid.S[1:-1],
        law(
            [end.T + U + high for end, high in zip(ends, height, strict=True)],
            -(inner(n, v_bar) + inner(m, w_bar)),
            [-loading.lost, -loading.lost],
        ),
        law([end.p for end in ends], -n, [np.broadcast_to(fall, end.p.shape) for end in ends]),
        law(
            [np.cross(end.r, end.p) + end.spin for end in ends],
            -(np.cross(r_bar, n) + m),
            [np.cross(end.r, np.broadcast_to(fall, end.r.shape)) for end in ends],
        ),
        law(
            [inner(strains.phi_S, end.p) + inner(omega, end.spin) for end in ends],
            U - T_bar - inner(n, strains.phi_S) - inner(m, omega) - inner(fall, r_bar),
        ),
    )


_SIDES = slice(None, -1), slice(1, None)  # nodes at the starts and at the ends of the elements


class _Grid(NamedTuple):
    """Stored states."""

    t: Floats
    S: Floats
    r: Floats
    quat: Floats
    v: Floats
    Omega: Floats


class _End:
    """One end of every element, with the section of that element: position, momenta and kinetic energy per length."""

    def __init__(
        self, J_rho: Floats, rho: Floats, r: Floats, v: Floats, Omega: Floats, rotation: Floats, w: Floats
    ):
        spin = apply(J_rho, Omega)
        self.r, self.p, self.spin = r, rho * v, apply(rotation, spin)
        self.T = 0.5 * (inner(v, self.p) + inner(Omega, spin))


def _widths(S: Floats) -> Floats:
    """Return the lengths of the boxes of the inner nodes: half of both elements."""
    return 0.5 * (S[2:] - S[:-2])


def _boxes(grid: _Grid, ends: list[Floats]) -> Floats:
    """Return the means over the boxes of a density given at the start and the end of every element."""
    start, end = ends
    half = _as(0.5 * np.diff(grid.S), start, 1)
    return np.asarray(
        (half[:, :-1] * end[:, :-1] + half[:, 1:] * start[:, 1:]) / _as(_widths(grid.S), start, 1)
    )


def _as(x: Floats, like: Floats, axis: int) -> Floats:
    """Reshape x (n,) to broadcast along an axis of arrays such as `like`."""
    shape = [1] * like.ndim
    shape[axis] = x.size
    return x.reshape(shape)


def _check(grid: _Grid) -> None:
    """Raise ModelError if shapes do not fit or t or S do not increase."""
    if grid.t.ndim != 1 or grid.S.ndim != 1 or grid.t.size < 2 or grid.S.size < 3:
        raise ModelError(
            f"local laws: t {grid.t.shape}, S {grid.S.shape}; give at least two times and three nodes"
        )
    for name, size in (("r", 3), ("quat", 4), ("v", 3), ("Omega", 3)):
        shape, expected = getattr(grid, name).shape, (grid.t.size, grid.S.size, size)
        if shape != expected:
            raise ModelError(f"local laws: {name} has shape {shape}; give {expected}")
    for name in ("t", "S"):
        if not np.all(np.diff(getattr(grid, name)) > 0):
            raise ModelError(
                f"local laws: {name} is not strictly increasing; give it in order, without repetition"
            )
