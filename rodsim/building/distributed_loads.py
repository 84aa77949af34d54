"""Distributed loads of rods: forces and moments per length, as the loads of the nodes that do the same work.

    f_a(t) = sum over elements of the integral of l_a(x) q(s(x), t) dx                                      (1)

with the element's own interpolation of displacements l_a, linear between two frames, of order p on a span, by Gauss points that
are exact for a load of order p + 1 along it. A constant dead load is thus to the last bit what gravity is to a rod of constant
mass. Following loads have components in the sections' axes and turn with the nodes. What they do is counted like the work of
any load: exactly.
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
from rodsim.building.meshing import RodMesh
from rodsim.parts.load_entries import DistributedEntry


class Spread(NamedTuple):
    """(1) of one load, on m elements with p + 1 points and nodes each."""

    frames: Ints  # (k,) nodes that carry it, counted from the first of the rod
    places: Floats  # (m, p + 1) fractions of the length
    nodes: Ints  # (m, p + 1) numbers among `frames`
    weights: Floats  # (m, p + 1, p + 1) m, of element, node and point

    def at_nodes(self, q: Floats) -> Floats:
        """(1) of loads (t, m, p + 1, 3) at the places: (t, k, 3); of fewer components as many."""
        each = np.matmul(self.weights, q)
        found = np.zeros((len(q), len(self.frames), q.shape[-1]))
        for a in range(self.nodes.shape[1]):  # of several elements no two have one node at the same end
            found[:, self.nodes[:, a]] += each[:, :, a]
        return found


def spread_of(entry: DistributedEntry, mesh: RodMesh) -> Spread:
    """Nodes, places and weights of a load on a meshed rod."""
    total, fractions = entry.rod.stress_free.length, mesh.fractions
    if len(mesh.elements.length):
        spans, lengths, order = mesh.elements.frames, mesh.elements.length, 1
    else:
        order = int(mesh.spans.order[0])
        spans, lengths = mesh.spans.frames[:, : order + 1], mesh.spans.length
    start = fractions[spans[:, 0]]
    share = lengths / total
    middle = start + 0.5 * share
    inside = (middle > entry.between[0]) & (middle < entry.between[1])
    xi, w = legendre.leggauss(order + 1)
    x, w = 0.5 + 0.5 * xi, 0.5 * w
    own = nodes(order)
    shape = np.stack([_lagrange(own, a, x) for a in range(order + 1)])  # (p + 1, points)
    carrying, numbers = np.unique(spans[inside], return_inverse=True)
    return Spread(
        carrying,
        start[inside, None] + share[inside, None] * x,
        numbers.reshape(-1, order + 1),
        lengths[inside, None, None] * (w * shape),
    )


def _lagrange(own: Floats, a: int, x: Floats) -> Floats:
    others = np.delete(own, a)
    value: Floats = np.prod((x[:, None] - others) / (own[a] - others), axis=1)
    return value


def nodal_values(owner: str, entry: DistributedEntry, spread: Spread) -> Callable[[Floats], Floats]:
    """Times (k,) -> loads of the nodes (k, n, 3)."""
    value, places = entry.value, spread.places
    if isinstance(value, Field):
        return lambda t: spread.at_nodes(
            value.sampled(owner, places.ravel(), t).reshape(-1, *places.shape, 3)
        )
    if isinstance(value, VectorSignal) or not callable(value):
        total = spread.at_nodes(np.ones((1, *places.shape, 1)))
        if isinstance(value, VectorSignal):
            return lambda t: value(t)[:, None, :] * total
        return lambda t: np.tile(value * total, (len(t), 1, 1))

    each = places.ravel().tolist()

    def sampled(times: Floats) -> Floats:
        def what(k: int) -> str:
            return f"value at s = {each[k % len(each)]:g}, t = {times[k // len(each)]:g}"

        q = vectors(owner, (value(s, t) for t in times.tolist() for s in each), what)
        return spread.at_nodes(q.reshape(len(times), *places.shape, 3))

    return sampled
