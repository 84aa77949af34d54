"""Linearise a model whose loads grow with a factor, and compute its equilibria with the amplitudes of shapes held.

Newton's method finds the equilibrium at a given factor if K is regular. Next to a critical point K is singular: round-off
along its shapes phi decides how far a correction goes along them. These amplitudes can therefore be held:

    K x + G^T y + B m = -r,   G x = -g,   B^T x = 0,      B = M Phi                                           (1)
    K U + G^T Y - B S = 0,    G U = 0,    B^T U = 1,      S = U^T K U                                         (2)

is regular at critical points whose shapes are in Phi (Keller 1977). m are the forces that hold the amplitudes. They are zero,
to round-off, if the path does not go along phi, for instance because of symmetry. (2) is a step of inverse iteration for the
eigenvalues of K against M next to zero and their shapes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded lazily

from discretization.characteristic_length import extent
from discretization.linearisation import load_stiffness
from discretization.linearisation.equations import Linearised
from discretization.linearisation.perturbed_state import perturb_state
from discretization.state_measures import constraint_residual
from discretization.system import System
from rigid.errors import ConvergenceError
from rigid.system import Floats, State
from rodsim.building.build import Built
from rodsim.small_motions.bordered_systems import BorderedMatrix
from rodsim.small_motions.linear_equations import largest, under

ITERATIONS = 30  # largest number of Newton iterations
CONVERGED = 1e-12  # last correction relative to the model's size; last change relative to a factor
STALLED = 1e-5  # relative to the model's size: smaller corrections that do not halve are round-off
# correction relative to that size, and number of consecutive increases below it after which the iteration is ended
HOVERING, RISES = 1e-2, 6
EPS = 2.220446049250313e-16
ROUNDED = 4.0  # factor of the round-off of an entry's share in eigenvalues
NO_WORK = 1e-9  # relative to load times displacement: smaller work counts as zero


class ShapeConstrainedEquilibrium(NamedTuple):
    """An equilibrium except for the amplitudes of k shapes, and the forces that hold these amplitudes."""

    loaded: ProportionallyLoadedModel
    M: Any  # mass matrix (size, size), in whose product the amplitudes are held; None without shapes
    state: State
    factor: float
    lin: Linearised
    x: Floats  # (size,) x of (1), the remaining correction
    holding_forces: Floats  # (k,) m of (1), forces that hold the amplitudes
    shapes: Floats  # (k, size) eigenvectors of K after (2), shapes M shapes = 1
    squares: Floats  # (k,) eigenvalues of the shapes, 1/s^2
    noise: float  # round-off of the eigenvalues, 1/s^2
    pull: Floats  # (k, m) Y of (2), multipliers of the shapes
    saddle: BorderedMatrix  # factorised matrix of (1)

    @property
    def rate(self) -> Floats:
        """Derivative (size,) of the forces and moments of loads and weight with respect to the factor."""
        return self.loaded.rate(self.lin)

    def at(self, state: State, factor: float) -> ShapeConstrainedEquilibrium:
        """Solve (1) and (2) with the same shapes at another state and factor."""
        return self.loaded.with_fixed_shapes(state, factor, self.shapes, self.M)


class ProportionallyLoadedModel(NamedTuple):
    """A model whose loads and gravity have a constant part and a part that grows with a factor."""

    built: Built
    constant: Floats  # (l, 3) constant loads, N or N m
    growing: Floats  # (l, 3) growing loads for factor 1, N or N m
    gravity: tuple[Floats, Floats]  # constant and growing gravity (3,), m/s^2

    def system(self, factor: float) -> System:
        """Return the system with its gravity at this factor."""
        return self.built.system._replace(gravity=self.gravity[0] + factor * self.gravity[1])

    def values(self, factor: float) -> Floats:
        """Return the loads (l, 3) at this factor, including those at nodes that carry distributed loads."""
        return self.constant + factor * self.growing

    def linear(self, state: State, factor: float) -> Linearised:
        """Return the linear equations about a state under the loads of this factor."""
        built = self.built._replace(system=self.system(factor))
        return under(built, state, self.values(factor))

    def applied(self, lin: Linearised, factor: float) -> Floats:
        """Return the forces and moments (size,) of loads and weight at this factor on the frames of `lin`, in its state."""
        return self._by_frame(lin, factor)[1][lin.frames].ravel()

    def rate(self, lin: Linearised) -> Floats:
        """Return the derivative (size,) of the forces and moments of loads and weight with respect to the factor."""
        return self.grown(lin)[1][lin.frames].ravel()

    def grown(self, lin: Linearised) -> tuple[Floats, Floats]:
        """Return the growing loads (l, 3) for factor 1, and the forces and moments (n, 6) of these and the growing weight."""
        (values, forces), (values0, forces0) = (self._by_frame(lin, factor) for factor in (1.0, 0.0))
        return values - values0, forces - forces0

    def _by_frame(self, lin: Linearised, factor: float) -> tuple[Floats, Floats]:
        """Return the loads (l, 3), and the forces and moments (n, 6) of loads and weight, at this factor."""
        values = self.values(factor)
        return values, load_stiffness.applied_forces(self.system(factor), lin.state, values)

    def equilibrium_at(
        self,
        state: State,
        factor: float,
        shapes: Floats | None = None,
        M: scipy.sparse.csr_matrix | None = None,
    ) -> ShapeConstrainedEquilibrium:
        """Return the equilibrium next to a state by Newton's method; raise ConvergenceError if it does not converge.

        `shapes` (k, size): shapes whose amplitudes are held in the product of M, None for none.
        """
        size, change, rises = extent(state.r), np.inf, 0
        for _ in range(ITERATIONS):
            equilibrium = self.with_fixed_shapes(state, factor, shapes, M)
            by_frame, shapes = equilibrium.lin.of_frames(equilibrium.x), equilibrium.shapes
            before, change = change, largest(by_frame, size)
            if change <= CONVERGED * size:
                return equilibrium
            rises = rises + 1 if change > before else 0
            state = perturb_state(self.built.system, state, by_frame)
            if is_last(change, before, size):
                return self.with_fixed_shapes(state, factor, shapes, M)
            if not np.isfinite(change) or change > 10 * size or (rises == RISES and change < HOVERING * size):
                break
        raise ConvergenceError(
            t=factor,
            h=0.0,
            iterations=ITERATIONS,
            residual=change,
            message=(
                f"model '{self.built.layout.name}': no equilibrium found at load factor {factor:.6g}; where it has a limit "
                'point before, follow it by equilibrium(method="arc-length")'
            ),
        )

    def with_fixed_shapes(
        self, state: State, factor: float, shapes: Floats | None, M: scipy.sparse.csr_matrix | None
    ) -> ShapeConstrainedEquilibrium:
        """Solve (1) and (2) at a state."""
        lin = self.linear(state, factor)
        shapes = np.zeros((0, lin.size)) if shapes is None else shapes
        k = len(shapes)
        B = np.zeros((0, lin.size)) if M is None else (M @ shapes.T).T.reshape(k, lin.size)
        scale = 1.0 / np.maximum(np.linalg.norm(B, axis=1), 1e-300)
        saddle = BorderedMatrix(lin.K, lin.G, scale[:, None] * B, shapes)
        m = lin.G.shape[0]
        right, below = np.zeros((lin.size, 1 + k)), np.zeros((m + k, 1 + k))
        right[:, 0], below[:m, 0] = -lin.force, -lin.below(constraint_residual(self.built.system, state))
        below[m:, 1:] = np.diag(scale)
        solution, reactions = saddle.refined(right, below)
        x, U = solution[:, 0], solution[:, 1:]
        squares, rotated_shapes = (
            scipy.linalg.eigh(U.T @ (lin.K @ U), U.T @ (M @ U)) if k else (np.zeros(0), np.zeros((0, 0)))
        )
        holding_forces = rotated_shapes.T @ (scale * reactions[m:, 0])
        pull = (reactions[:m, 1:] @ rotated_shapes).T
        phi = (U @ rotated_shapes).T
        noise = (
            ROUNDED * EPS * np.sqrt(np.sum(phi.T**2 * (lin.K.power(2) @ phi.T**2), axis=0)).max(initial=0.0)
        )
        return ShapeConstrainedEquilibrium(
            self, M, state, factor, lin, x, holding_forces, phi, squares, float(noise), pull, saddle
        )


def is_last(change: float, before: float, size: float) -> bool:
    """Return True if Newton's method may end after a correction (m), from that before it and the model's size.

    It converges quadratically, so that the next one would be below CONVERGED; or both are round-off of stiff motions along
    soft ones.
    """
    return change <= 1e3 * CONVERGED * size or 0.5 * before < change <= STALLED * size


def work_scale(shapes: Floats, load: Floats) -> Floats:
    """Return a scale (k,) for the work of a load (size,) in shapes (k, size): as if it acted along the largest motions."""
    shape_parts, load_parts = (
        np.linalg.norm(part.reshape(-1, part.shape[-1] // 6, 2, 3), axis=-1) for part in (shapes, load)
    )
    return np.asarray(np.sum(shape_parts.max(axis=1) * load_parts.sum(axis=1), axis=1))
