"""Convert distributed loads of rods, forces and moments per length, to work-equivalent loads of the nodes.

    f_a(t) = sum over elements of the integral of l_a(x) q(s(x), t) dx                                      (1)

l_a is the element's interpolation of displacements: linear between two frames, of order p on a span. The integrals use Gauss
points that are exact for a load of order p + 1 along the element. A constant dead load is thus bit-identical to gravity on a
rod of constant mass. Following loads have components in the sections' axes and rotate with the nodes. Their work is accounted
for exactly, as for any load.

A `Field` that is narrow compared with an element is integrated adaptively, at each time separately. If the integrals of an
element with FIRST panels differ from those over the whole element, the number of panels is doubled until they no longer change.
Functions of one position and time would be called too often for that; a warning states by how much their integrals are off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from discretization.space.interpolation import nodes
from rigid.checks import vectors
from rigid.signals import Field, VectorSignal
from rigid.system import Floats, Ints
from rigid.user_warnings import warn_user
from rodsim.building.meshing import RodMesh
from rodsim.components.loads import DistributedLoad
from rodsim.components.model_warnings import ModelCheckWarning

# first and largest number of panels of an element: detects a load 1/16 wide, integrates one 1/1000 wide
FIRST_PANELS, MOST_PANELS = 4, 512
INTEGRAL_TOLERANCE = (
    1e-4  # integrals are equal within this fraction of the largest integral of |q| over an element
)
WARNING_ERROR = (
    0.01  # error of a function's integrals that gives a warning, as a fraction of that integral of |q|
)
MAX_CHECKED_CALLS = 20  # calls in which that error is checked, each at one time
_PLACES = 1_000_000  # largest number of times and positions evaluated at once


class LoadedElements(NamedTuple):
    """Hold the elements and nodes of equation (1) for one load, m elements with p + 1 nodes each."""

    frames: Ints  # (k,) nodes that carry the load, counted from the first node of the rod
    start: Floats  # (m,) fractions of the rod's length at which elements begin
    length_fractions: Floats  # (m,) lengths of elements as fractions of the rod's length
    lengths: Floats  # (m,) lengths of elements, m
    nodes: Ints  # (m, p + 1) indices of the nodes of each element in `frames`

    def rule(self, panels: int = 1) -> QuadratureRule:
        """Return Gauss points and weights on all elements, each divided into `panels` equal parts."""
        order = self.nodes.shape[1] - 1
        xi, w = legendre.leggauss(order + 1)
        x, w = 0.5 + 0.5 * xi, 0.5 * w
        x = ((np.arange(panels)[:, None] + x) / panels).ravel()
        w = np.tile(w / panels, panels)
        node_positions = nodes(order)
        shape = np.stack([_lagrange(node_positions, a, x) for a in range(order + 1)])  # (p + 1, points)
        fractions = self.start[:, None] + self.length_fractions[:, None] * x
        return QuadratureRule(fractions, self.lengths[:, None, None] * (w * shape), self.lengths[:, None] * w)

    def chosen(self, which: Ints) -> LoadedElements:
        """Return a `LoadedElements` on the elements with these indices only."""
        return LoadedElements(
            self.frames,
            self.start[which],
            self.length_fractions[which],
            self.lengths[which],
            self.nodes[which],
        )

    def at_nodes(self, contributions: Floats) -> Floats:
        """Sum the contributions of elements (t, m, p + 1, c) at the nodes, (t, k, c)."""
        sums = np.zeros((len(contributions), len(self.frames), contributions.shape[-1]))
        for a in range(self.nodes.shape[1]):  # no two elements have the same node at the same position a
            sums[:, self.nodes[:, a]] += contributions[:, :, a]
        return sums


class QuadratureRule(NamedTuple):
    """Hold positions and weights of a quadrature of (1)."""

    fractions: Floats  # (m, points) fractions of the rod's length
    weights: Floats  # (m, p + 1, points) weights of each element, node and point, m
    measure: Floats  # (m, points) weights of the length itself, m

    def integrals(self, q: Floats) -> Floats:
        """Integrate loads q (t, m, points, 3) to nodal contributions (t, m, p + 1, 3)."""
        contributions: Floats = np.matmul(self.weights, q)
        return contributions

    def sizes(self, q: Floats) -> Floats:
        """Integrate |q| over each element, (t, m); q: (t, m, points, 3)."""
        totals: Floats = np.sum(self.measure * np.linalg.norm(q, axis=-1), axis=2)
        return totals


def loaded_elements(entry: DistributedLoad, mesh: RodMesh) -> LoadedElements:
    """Return nodes and elements of a load on a meshed rod."""
    total, fractions = entry.on.stress_free.length, mesh.fractions
    if len(mesh.elements.length):
        spans, lengths, order = mesh.elements.frames, mesh.elements.length, 1
    else:
        order = int(mesh.spans.order[0])
        spans, lengths = mesh.spans.frames[:, : order + 1], mesh.spans.length
    start = fractions[spans[:, 0]]
    length_fractions = lengths / total
    middle = start + 0.5 * length_fractions
    inside = (middle > entry.between[0]) & (middle < entry.between[1])
    carrying, numbers = np.unique(spans[inside], return_inverse=True)
    return LoadedElements(
        carrying, start[inside], length_fractions[inside], lengths[inside], numbers.reshape(-1, order + 1)
    )


def _lagrange(node_positions: Floats, a: int, x: Floats) -> Floats:
    """Evaluate the Lagrange polynomial of node a of the nodes `node_positions` at x."""
    other_nodes = np.delete(node_positions, a)
    value: Floats = np.prod((x[:, None] - other_nodes) / (node_positions[a] - other_nodes), axis=1)
    return value


def nodal_values(owner: str, entry: DistributedLoad, spread: LoadedElements) -> Callable[[Floats], Floats]:
    """Return a function of times (k,), s, that gives the loads of the nodes (k, n, 3), N or N m."""
    value, rule = entry.value, spread.rule()
    if isinstance(value, Field):
        return _adaptive(owner, value, spread)
    if isinstance(value, VectorSignal) or not callable(value):
        total = spread.at_nodes(rule.integrals(np.ones((1, *rule.fractions.shape, 1))))
        if isinstance(value, VectorSignal):
            return lambda t: value(t)[:, None, :] * total
        return lambda t: np.tile(value * total, (len(t), 1, 1))

    def at(fractions: Floats, times: Floats) -> Floats:
        fraction_list = fractions.ravel().tolist()

        def what(k: int) -> str:
            return f"value at s = {fraction_list[k % len(fraction_list)]:g}, t = {times[k // len(fraction_list)]:g}"

        q = vectors(owner, (value(s, t) for t in times.tolist() for s in fraction_list), what)
        return q.reshape(len(times), *fractions.shape, 3)

    fine = spread.rule(4 * FIRST_PANELS)
    looks = 0

    def sampled(times: Floats) -> Floats:
        nonlocal looks
        q = at(rule.fractions, times)
        contributions = rule.integrals(q)
        if looks < MAX_CHECKED_CALLS and len(times):
            looks += 1
            k = len(times) // 2
            exact = at(fine.fractions, times[k : k + 1])
            off = np.abs(fine.integrals(exact) - contributions[k]).max()
            if off > WARNING_ERROR * fine.sizes(exact).max(initial=0.0):
                looks = MAX_CHECKED_CALLS
                length_fractions = contributions[k].sum(axis=(0, 1)) @ fine.integrals(exact)[0].sum(
                    axis=(0, 1)
                )
                square = np.sum(fine.integrals(exact)[0].sum(axis=(0, 1)) ** 2)
                ratio = (
                    f"{length_fractions / square:.3g} times what it should be"
                    if square > 0.0
                    else "not zero, as it should be"
                )
                warn_user(
                    f"{owner}: it varies so much along an element that its total at t = {times[k]:.4g} s is {ratio}. "
                    "Give a `signals.Field`, which is integrated adaptively, or use more elements",
                    ModelCheckWarning,
                )
        return spread.at_nodes(contributions)

    return sampled


def _adaptive(owner: str, field: Field, spread: LoadedElements) -> Callable[[Floats], Floats]:
    """Return a function of times (k,), s, that gives the loads of the nodes (k, n, 3), with adaptive quadrature.

    Each element has as many panels as it needs at each time.
    """
    one, few = spread.rule(), spread.rule(FIRST_PANELS)

    def at(rule: QuadratureRule, times: Floats) -> Floats:
        return field.sampled(owner, rule.fractions.ravel(), times).reshape(-1, *rule.fractions.shape, 3)

    def of_times(times: Floats) -> Floats:
        contributions = one.integrals(at(one, times))
        q = at(few, times)
        finer, most = few.integrals(q), few.sizes(q).max(axis=1, initial=0.0)
        open_ = np.abs(finer - contributions).max(axis=(2, 3)) > INTEGRAL_TOLERANCE * most[:, None]  # (t, m)
        panels = FIRST_PANELS
        while open_.any():
            contributions[open_] = finer[open_]
            panels *= 2
            if panels > MOST_PANELS:
                break
            rows, columns = np.flatnonzero(open_.any(axis=1)), np.flatnonzero(open_.any(axis=0))
            rule = spread.chosen(columns).rule(panels)
            finer[np.ix_(rows, columns)] = rule.integrals(at(rule, times[rows]))
            open_ &= np.abs(finer - contributions).max(axis=(2, 3)) > INTEGRAL_TOLERANCE * most[:, None]
        return spread.at_nodes(contributions)

    def values(times: Floats) -> Floats:
        block = max(1, _PLACES // max(1, few.fractions.size))
        parts = [of_times(times[k : k + block]) for k in range(0, len(times), block)]
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    return values
