"""All rod elements of a model: two-frame elements with a linear material, which are evaluated in lanes, then spans.

Properties, strains and stresses of rods are read through this module; only the loops that evaluate elements depend on which
arrays store an element. Strains and stresses are evaluated at points: one per two-frame element, then the points of the spans in
their order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.space import spans
from discretization.space.elements import Elements
from discretization.space.interpolation import leading
from discretization.space.se3_element import element_strains
from discretization.space.spans import Spans
from rigid.interactions import evaluation
from rigid.system import Floats, Ints


class Points(NamedTuple):
    """Points where strains and stresses are evaluated: of two-frame elements, then of spans."""

    frames: Ints  # (g, 2) frames on both sides of a point
    weight: Floats  # (g,) length of the rod that a point represents, m
    stiffness: Floats  # (g, 6, 6)
    damping: Floats  # (g, 6, 6)
    strain0: Floats  # (g, 6)


class Rods(NamedTuple):
    """Rod elements of a model, by the arrays that store them."""

    elements: Elements
    spans: Spans

    @property
    def points(self) -> Points:
        """All points; a two-frame element has one."""
        if not len(self.spans.kind):
            return Points(*self.elements[:5])
        columns = zip(self.elements[:5], self.spans[4:9], strict=True)
        return Points(*(np.concatenate(column) for column in columns))

    @property
    def first(self) -> int:
        """Number of the first point of the spans."""
        return len(self.elements.length)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.first + len(self.spans.weight)

    @property
    def orders(self) -> Ints:
        """Order of each element, (e,), which is also its number of points."""
        return np.concatenate([np.ones(self.first, np.int64), self.spans.order])

    @property
    def order_at(self) -> Ints:
        """Order of the element of each point, (g,)."""
        return np.repeat(self.orders, self.orders)

    @property
    def viscous(self) -> bool:
        """True if some element dissipates."""
        return bool(
            np.any(self.elements.damping) or np.any(self.spans.damping) or np.any(self.spans.relaxation)
        )

    @property
    def relaxing(self) -> np.ndarray:
        """True for each point with a Maxwell branch, (g,)."""
        return np.concatenate([np.zeros(self.first, bool), self.spans.relaxation > 0.0])

    @property
    def branches(self) -> int:
        """Number of points with a branch in `State.internal`: all points of spans if one of them relaxes, else 0."""
        return len(self.spans.weight) if np.any(self.spans.relaxation) else 0

    @property
    def linear(self) -> np.ndarray:
        """True for each point with a linear material, (g,)."""
        return np.concatenate([np.ones(self.first, bool), self.spans.law < 0])

    @property
    def shared_masses(self) -> tuple[Ints, Floats]:
        """Pairs (k, 2) of frames and their couplings (k,), kg: total kinetic energy - coupling |v_b - v_a|^2/2.

        Since the a_i of a span sum to zero, |sum a_i v_i|^2 is minus the sum of a_i a_j |v_i - v_j|^2 over its pairs.
        """
        span_table = self.spans
        pairs, couplings = [self.elements.frames.reshape(-1, 2)], [self.elements.coupling]
        for order in sorted(set(span_table.order[span_table.coupling != 0.0].tolist())):
            use = (span_table.order == order) & (span_table.coupling != 0.0)
            a, (i, j) = leading(order), np.triu_indices(order + 1, 1)
            pairs.append(span_table.frames[use][:, np.stack([i, j], axis=1)].reshape(-1, 2))
            couplings.append((-span_table.coupling[use, None] * (a[i] * a[j])).ravel())
        return np.concatenate(pairs), np.concatenate(couplings)

    def lumped(self) -> Rods:
        """Return these rods without masses that frames share."""
        elements, span_table = self
        if not (elements.coupling.any() or span_table.coupling.any()):
            return self
        return Rods(
            elements._replace(coupling=np.zeros_like(elements.coupling)),
            span_table._replace(coupling=np.zeros_like(span_table.coupling)),
        )

    def undamped(self) -> Rods:
        """Return these rods without viscosity of the sections; Maxwell branches are unchanged."""
        elements, span_table = self
        if not (elements.damping.any() or span_table.damping.any()):
            return self
        return Rods(
            elements._replace(damping=np.zeros_like(elements.damping)),
            span_table._replace(damping=np.zeros_like(span_table.damping)),
        )

    def relaxed(self) -> Rods:
        """Return these rods with fully relaxed branches, that is without branches."""
        return self._replace(spans=self.spans._replace(relaxation=np.zeros_like(self.spans.relaxation)))

    def strained(self, strain: Floats) -> Rods:
        """Return these rods with stress-free strains that are less by `strain` (g, 6)."""
        elements, span_table = self
        return Rods(
            elements._replace(strain0=elements.strain0 - strain[: self.first]),
            span_table._replace(strain0=span_table.strain0 - strain[self.first :]),
        )


def strains(rods: Rods, r: Floats, quat: Floats) -> Floats:
    """Return the strains (Gamma, K) - strain0 (..., g, 6) at poses (..., n, 3), (..., n, 4)."""
    elements, n, m = rods.elements, r.shape[-2], rods.first
    positions, quaternions = (np.ascontiguousarray(a).reshape(-1, a.shape[-1]) for a in (r, quat))
    count = len(positions) // n
    # many states of one model are evaluated as one state of many copies of the model
    frames = (n * np.arange(count)[:, None, None] + elements.frames.reshape(-1, 2)).reshape(-1, 2)
    strain = np.empty((count * m, 6))
    element_strains(frames, np.tile(elements.length, count), positions, quaternions, strain)
    strain = strain.reshape(*r.shape[:-2], m, 6) - elements.strain0
    if len(rods.spans.kind):
        of_spans = evaluation.values(spans.strains_of(rods.spans), r, quat)
        strain = np.concatenate([strain, of_spans.reshape(*strain.shape[:-2], -1, 6)], axis=-2)
    return strain


def stresses(rods: Rods, strain: Floats, branch: Floats) -> Floats:
    """Return the stresses (N, M) (..., g, 6) of strains and of branch strains.

    strain: as returned by `strains`; branch (..., points of spans or 0, 6): strains of the Maxwell branches.
    """
    span_table, m = rods.spans, rods.first
    stress: Floats = np.sum(rods.points.stiffness * strain[..., None, :], axis=-1)
    if np.any(span_table.law >= 0):
        stress[..., m:, :] = spans.with_laws(span_table, strain[..., m:, :], stress[..., m:, :])
    if branch.shape[-2]:
        stress[..., m:, :] += np.sum(span_table.branch * branch[..., None, :], axis=-1)
    return stress


def densities(rods: Rods, strain: Floats, branch: Floats) -> Floats:
    """Return the stored energies per length (..., g), J/m, of the section, its law and its Maxwell branch."""
    span_table, m = rods.spans, rods.first
    density: Floats = 0.5 * squares(rods.points.stiffness, strain)
    if np.any(span_table.law >= 0):
        density[..., m:] = spans.energies_with_laws(span_table, strain[..., m:, :], density[..., m:])
    if branch.shape[-2]:
        density[..., m:] += 0.5 * squares(span_table.branch, branch)
    return density


def elastic_energies(
    rods: Rods, r: Floats, quat: Floats, strain: Floats, stress: Floats, branch: Floats
) -> Floats:
    """Return the stored energies (...,), J, at poses with these strains and stresses."""
    span_table, m = rods.spans, rods.first
    energies = 0.5 * summed(rods.elements.length * np.sum(strain[..., :m, :] * stress[..., :m, :], axis=-1))
    if len(span_table.kind):
        energies = energies + summed(evaluation.values(spans.energies_of(span_table), r, quat))
    if branch.shape[-2]:
        energies = energies + 0.5 * summed(span_table.weight * squares(span_table.branch, branch))
    return energies


def branch_losses(rods: Rods, branch: Floats) -> Floats:
    """Return the power per length (..., g), W/m, lost in Maxwell branches: see `discretization.space.maxwell_branch`."""
    losses = np.zeros((*branch.shape[:-2], rods.n_points))
    if branch.shape[-2]:
        tau = rods.spans.relaxation
        rate = np.divide(1.0, tau, out=np.zeros_like(tau), where=tau > 0.0)
        losses[..., rods.first :] = rate * squares(rods.spans.branch, branch)
    return losses


def summed(values: Floats) -> Floats:
    """Return the sum over the last axis. A matrix product is not used: its order of summation depends on the number of states."""
    sums: Floats = np.sum(np.ascontiguousarray(values), axis=-1)
    return sums


def squares(matrices: Floats, q: Floats) -> Floats:
    """Return q . C q (..., g)."""
    values: Floats = np.sum(q * np.sum(matrices * q[..., None, :], axis=-1), axis=-1)
    return values
