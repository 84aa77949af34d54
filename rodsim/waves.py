"""Compute frequencies of waves along a straight, uniform rod: exact, with given elements and masses, and with integrators.

A wave x(S, t) = x exp(i (k S - omega t)) in a rod along e1, x = (u, theta), with small strains, satisfies

    Gamma = u' + e1 x theta,  K = theta':    (B^H C B - omega^2 diag(rho_A, J_rho)) x = 0,   B = [[i k, hat(e1)], [0, i k]]   (1)

with six branches: for a diagonal C longitudinal and torsional waves, and Timoshenko's lower (bending) and upper (shear) branch
in both planes. In elements of length L with p + 1 nodes Bloch's theorem gives the last node exp(i k L) times the motion of the
first. With element matrices K_e, M_e and P (p + 1 nodes from p)

    (P^H K_e P - omega^2 P^H M_e P) x = 0                                                                                    (2)

which has p frequencies per branch, those of k and of k + 2 pi j/L. A single branch has them in the order of |k + 2 pi j/L|;
frequencies of bending and shear are assigned to the waves whose motions they resemble most. In time, `em` is the midpoint rule
for linear systems, and its compositions are sums of it,

    omega_h = sum_i (2/h) atan(omega c_i h/2),   c the fractions of the substeps                                             (3)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import ArrayLike

from discretization.rod_matrices import mass_matrix, stiffness_matrix
from discretization.space.rod_elements import order_of
from discretization.time.composition import substep_fractions
from discretization.time.em_family import EM_FAMILY, em_integrator
from rigid.checks import number, word
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.argument_types import ElementName, RodMass
from rodsim.components.model_warnings import ModelCheckWarning
from rodsim.components.sections import Section
from rodsim.model import Model

LONGITUDINAL, TORSIONAL, BENDING, SHEAR = BRANCHES = ("longitudinal", "torsional", "bending", "shear")
# branch -> moving components of (u, theta), and index of the frequency from the lowest; bending is in the plane of d1 and d2
_MOVES = {LONGITUDINAL: ((0,), 0), TORSIONAL: ((3,), 0), BENDING: ((1, 5), 0), SHEAR: ((1, 5), 1)}
MOST_NODES = 400.0  # nodes per wavelength
_HAT_E1 = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class Wave(NamedTuple):
    """An angular frequency and the complex motion at S = 0, normalised by the mass."""

    omega: float  # rad/s
    motion: Floats  # (m,) complex amplitudes of the moving components


def exact_wave(section: Section, k: float, branch: str) -> Wave:
    """Return the exact wave (1) of a rod of this section; k: wave number, rad/m, negative for a wave that travels backwards."""
    rows, which = _branch(section, branch)
    B = np.zeros((6, 6), complex)
    B[:3, :3] = B[3:, 3:] = 1j * number("wave", "k", k) * np.eye(3)
    B[:3, 3:] = _HAT_E1
    K = B.conj().T @ section.stiffness @ B
    M = np.diag([*[section.mass_per_length] * 3, *section.inertia_per_length])
    M[3:, 3:] = section.rotary_inertia
    square, motions = scipy.linalg.eigh(K[np.ix_(rows, rows)], M[np.ix_(rows, rows)])
    return Wave(float(np.sqrt(max(square[which], 0.0))), motions[:, which])


class Cell:
    """One element of a straight rod: its matrices, and the waves of a rod made of such elements.

    element, mass: as in `Model.add_rod`; length: length of the element, m.
    """

    def __init__(self, section: Section, element: ElementName, mass: RodMass, length: float) -> None:
        self.section, self.length = section, number("cell", "length", length, positive=True)
        self.p = order_of(element)
        model = Model("cell")
        model.add_rod("rod", [(0, 0, 0), (self.length, 0, 0)], section, self.p, mass=mass, element=element)
        with warnings.catch_warnings():  # a cell may be shorter than its thickness
            warnings.simplefilter("ignore", ModelCheckWarning)
            built = model.build()
        of_rod = slice(6, None)  # rows after those of the ground
        self.K = stiffness_matrix(built.system, built.state).toarray()[of_rod, of_rod]
        self.M = mass_matrix(built.system, built.state).toarray()[of_rod, of_rod]
        self.S = built.layout.rods[0].arclength

    def wave(self, k: float, branch: str) -> Wave:
        """Return the discrete wave (2) of the wave number k, rad/m, at most pi p/L.

        Shorter waves alias to longer ones at the nodes.
        """
        rows, _ = _branch(self.section, branch)
        most = np.pi * self.p / self.length
        if not 0 < k <= most * (1 + 1e-12):
            raise ModelError(f"wave: k = {k:g} rad/m; nodes of this rod resolve waves of k in (0, {most:g}]")
        n, p = len(rows), self.p
        use = np.concatenate([6 * a + np.array(rows) for a in range(p + 1)])
        P = np.zeros((n * (p + 1), n * p), complex)
        P[: n * p] = np.eye(n * p)
        P[n * p :, :n] = np.exp(1j * k * self.length) * np.eye(n)
        K, M = (P.conj().T @ A[np.ix_(use, use)] @ P for A in (self.K, self.M))
        square, motions = scipy.linalg.eigh(0.5 * (K + K.conj().T), 0.5 * (M + M.conj().T))
        best = self._like(k, branch, M @ motions)
        return Wave(float(np.sqrt(max(square[best], 0.0))), motions[:, best])

    def _like(self, k: float, branch: str, momenta: Floats) -> int:
        """Return which motion is the wave of k, among those with the same exp(i k L).

        `momenta`: M times the motions, as columns.
        """
        zone = 2 * np.pi / self.length
        folded = k + zone * np.arange(-self.p, self.p + 1)
        half = 0.5 * zone * self.p
        # all wave numbers that the nodes can represent, as many as motions
        wave_numbers = folded[(folded > -half * (1 - 1e-9)) & (folded < half * (1 + 1e-9))]
        if branch in (LONGITUDINAL, TORSIONAL):
            return int(np.sum(np.abs(wave_numbers) < abs(k) * (1 - 1e-9)))  # a chain's bands never cross
        waves = [(other, x) for other in (BENDING, SHEAR) for x in wave_numbers]
        like = np.array([np.abs(self._sampled(x, other).conj() @ momenta) ** 2 for other, x in waves])
        of_wave, of_motion = scipy.optimize.linear_sum_assignment(-like)
        matches = [other == branch and abs(x - k) < 1e-9 * half for other, x in waves]
        return int(of_motion[np.flatnonzero(np.array(matches)[of_wave])[0]])

    def _sampled(self, k: float, branch: str) -> Floats:
        """Return the exact wave of k, sampled at the nodes."""
        return np.kron(np.exp(1j * k * self.S[: self.p]), exact_wave(self.section, k, branch).motion)


def _branch(section: Section, branch: str) -> tuple[tuple[int, ...], int]:
    """Return the moving components and the frequency index of a branch.

    Raises ModelError if the stiffness is not diagonal and finite.
    """
    word("wave", "branch", branch, BRANCHES)
    if section.rigid_strains:
        raise ModelError(
            f"wave: {' and '.join(section.rigid_strains)} of the section is rigid; give finite EA and GA"
        )
    if np.abs(section.stiffness - np.diag(np.diag(section.stiffness))).max() > 0:
        raise ModelError(
            "wave: the section's stiffness is not diagonal, its branches are not of one kind; give EA, GA, GJ, EI"
        )
    return _MOVES[branch]


def frequency_in_time(omega: ArrayLike, h: float, integrator: str = "em") -> Floats:
    """Return the angular frequency (3) that steps h of an integrator give a vibration of frequency omega, rad/s.

    `integrator`: `em`, or a composition of it, such as `em4`, `em6`, `em8`.
    """
    fractions = _substeps("wave", integrator, joined=False)
    x = np.multiply.outer(np.asarray(omega, float), fractions) * (0.5 * h)
    return np.asarray(2.0 / h * np.arctan(x).sum(axis=-1))


def _substeps(owner: str, integrator: str, joined: bool) -> Floats:
    """Return the fractions of a step that are the substeps of an integrator made of `em`.

    `joined`: True if the model has joints, for which `em` halves the substeps.
    """
    scheme = em_integrator(integrator)
    if scheme is None or not scheme.is_composition:
        # integrators with parameters have different equations
        known = [
            name
            for name in EM_FAMILY
            if "(" not in name and (it := em_integrator(name)) and it.is_composition
        ]
        raise ModelError(f"{owner}: integrator '{integrator}'; give {', '.join(known)}")
    return (
        np.array(scheme.fractions)
        if scheme.fractions
        else substep_fractions(scheme.order, joined and not scheme.hidden)
    )


def resonances(integrator: str, joined: bool = True) -> Floats:
    """Return omega h, ascending, at which a step of an integrator advances a vibration by m whole turns: (3) is 2 pi m/h.

    The integrator is em4, em6, em8 or their -ggl. The error that a step makes in such a vibration repeats in phase in the next
    one. `em` has no resonance, as its step advances the phase by less than pi.

    `joined`: True if the model has joints, for which em4, em6 and em8 halve their substeps.

    Raises ModelError for other integrators.
    """
    fractions = _substeps("resonances", integrator, joined)

    def turns(x: ArrayLike) -> Floats:
        """Return the number of turns by which a step advances a vibration with omega h = x."""
        return np.asarray(np.arctan(np.multiply.outer(x, 0.5 * fractions)).sum(axis=-1) / np.pi)

    samples = np.geomspace(1.0, 1e3, 4000)
    roots = [
        scipy.optimize.brentq(lambda x, m=m: float(turns(x)) - m, samples[k], samples[k + 1])
        for m in range(1, len(fractions))
        for k in np.flatnonzero(np.diff(np.sign(turns(samples) - m)))
    ]
    return np.sort(roots)


def frequency_error(section: Section, element: str, mass: str, branch: str, k: float, nodes: float) -> float:
    """Return the relative frequency error: omega of (2) over omega of (1), minus 1, with `nodes` nodes per wavelength."""
    length = order_of(element) * 2 * np.pi / (k * nodes)
    discrete = _cell(section, element, mass, length).wave(k, branch)
    return discrete.omega / exact_wave(section, k, branch).omega - 1


_cell = lru_cache(maxsize=256)(Cell)


def nodes_needed(section: Section, element: str, mass: str, branch: str, k: float, error: float) -> float:
    """Return the least number of nodes per wavelength, at least 2, for a relative frequency error below `error`.

    The error stays below from there up to MOST_NODES.
    """

    def excess(nodes: float) -> float:
        """Return by how much the frequency error exceeds `error`."""
        return abs(frequency_error(section, element, mass, branch, k, nodes)) - error

    return _least(excess, np.geomspace(2.0, MOST_NODES, 40), xtol=1e-3)


def steps_needed(error: float, integrator: str = "em") -> float:
    """Return the least number of steps per period from which on the relative frequency error stays below `error`."""

    def excess(steps: float) -> float:
        """Return by how much the frequency error exceeds `error`."""
        return abs(float(frequency_in_time(2 * np.pi, 1 / steps, integrator)) / (2 * np.pi) - 1) - error

    return _least(excess, np.geomspace(1.0, 1e5, 400), xtol=1e-6)


def _least(excess: Callable[[float], float], candidates: Floats, xtol: float) -> float:
    """Return the least number from which on `excess` stays negative up to the last of `candidates`, which ascend."""
    enough = candidates[-1]
    for few in candidates[-2::-1]:  # from many to few, because the error may change sign in between
        if excess(few) > 0:
            return float(scipy.optimize.brentq(excess, few, enough, xtol=xtol))
        enough = few
    return float(enough)
