"""Distributed loads of rods: forces and moments per length, as the loads of the nodes that do the same work.

    f_a(t) = sum over elements of the integral of l_a(x) q(s(x), t) dx                                      (1)

with the element's own interpolation of displacements l_a, linear between two frames, of order p on a span, by Gauss points that
are exact for a load of order p + 1 along it. A constant dead load is thus to the last bit what gravity is to a rod of constant
mass. Following loads have components in the sections' axes and turn with the nodes. What they do is counted like the work of
any load: exactly.

A `Field` that is narrow compared with an element is integrated adaptively, at each time by itself: an element whose integrals
by FIRST panels differ from those of the element as a whole gets twice as many panels until they change no more. Functions of
one place and time are called often enough as it is; for them a warning says how far their integrals are off.
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
from rodsim.parts.load_entries import DistributedEntry
from rodsim.parts.model_warnings import DoubtfulModelWarning

FIRST, MOST_PANELS = (
    4,
    512,
)  # panels of an element: a load as narrow as 1/16 of it is seen, one of 1/1000 integrated
CLOSE = (
    1e-4  # of the integral of |q| over the element that has the most: integrals closer than that are equal
)
OFF = 0.01  # the same, of a function's integrals that are worth a warning
LOOKS = 20  # times at which those are looked at
_PLACES = 1_000_000  # times and places at once


class Spread(NamedTuple):
    """(1) of one load, on m elements with p + 1 nodes each."""

    frames: Ints  # (k,) nodes that carry it, counted from the first of the rod
    start: Floats  # (m,) fractions of the length
    share: Floats  # (m,) of elements in the length
    lengths: Floats  # (m,) m
    nodes: Ints  # (m, p + 1) numbers among `frames`

    def rule(self, panels: int = 1) -> Rule:
        """Gauss points in each of as many equal parts of all elements."""
        order = self.nodes.shape[1] - 1
        xi, w = legendre.leggauss(order + 1)
        x, w = 0.5 + 0.5 * xi, 0.5 * w
        x = ((np.arange(panels)[:, None] + x) / panels).ravel()
        w = np.tile(w / panels, panels)
        own = nodes(order)
        shape = np.stack([_lagrange(own, a, x) for a in range(order + 1)])  # (p + 1, points)
        places = self.start[:, None] + self.share[:, None] * x
        return Rule(places, self.lengths[:, None, None] * (w * shape), self.lengths[:, None] * w)

    def chosen(self, which: Ints) -> Spread:
        """On some of the elements."""
        return Spread(
            self.frames, self.start[which], self.share[which], self.lengths[which], self.nodes[which]
        )

    def at_nodes(self, each: Floats) -> Floats:
        """Sums at nodes (t, k, c) of what elements give to theirs (t, m, p + 1, c)."""
        found = np.zeros((len(each), len(self.frames), each.shape[-1]))
        for a in range(self.nodes.shape[1]):  # of several elements no two have one node at the same end
            found[:, self.nodes[:, a]] += each[:, :, a]
        return found


class Rule(NamedTuple):
    """Places and weights of an integration of (1)."""

    places: Floats  # (m, points) fractions of the length
    weights: Floats  # (m, p + 1, points) m, of element, node and point
    measure: Floats  # (m, points) m

    def integrals(self, q: Floats) -> Floats:
        """(t, m, p + 1, 3) of loads (t, m, points, 3)."""
        found: Floats = np.matmul(self.weights, q)
        return found

    def sizes(self, q: Floats) -> Floats:
        """(t, m) integrals of |q|."""
        found: Floats = np.sum(self.measure * np.linalg.norm(q, axis=-1), axis=2)
        return found


def spread_of(entry: DistributedEntry, mesh: RodMesh) -> Spread:
    """Nodes and elements of a load on a meshed rod."""
    total, fractions = entry.on.stress_free.length, mesh.fractions
    if len(mesh.elements.length):
        spans, lengths, order = mesh.elements.frames, mesh.elements.length, 1
    else:
        order = int(mesh.spans.order[0])
        spans, lengths = mesh.spans.frames[:, : order + 1], mesh.spans.length
    start = fractions[spans[:, 0]]
    share = lengths / total
    middle = start + 0.5 * share
    inside = (middle > entry.between[0]) & (middle < entry.between[1])
    carrying, numbers = np.unique(spans[inside], return_inverse=True)
    return Spread(carrying, start[inside], share[inside], lengths[inside], numbers.reshape(-1, order + 1))


def _lagrange(own: Floats, a: int, x: Floats) -> Floats:
    others = np.delete(own, a)
    value: Floats = np.prod((x[:, None] - others) / (own[a] - others), axis=1)
    return value


def nodal_values(owner: str, entry: DistributedEntry, spread: Spread) -> Callable[[Floats], Floats]:
    """Times (k,) -> loads of the nodes (k, n, 3)."""
    value, rule = entry.value, spread.rule()
    if isinstance(value, Field):
        return _adaptive(owner, value, spread)
    if isinstance(value, VectorSignal) or not callable(value):
        total = spread.at_nodes(rule.integrals(np.ones((1, *rule.places.shape, 1))))
        if isinstance(value, VectorSignal):
            return lambda t: value(t)[:, None, :] * total
        return lambda t: np.tile(value * total, (len(t), 1, 1))

    def at(places: Floats, times: Floats) -> Floats:
        each = places.ravel().tolist()

        def what(k: int) -> str:
            return f"value at s = {each[k % len(each)]:g}, t = {times[k // len(each)]:g}"

        q = vectors(owner, (value(s, t) for t in times.tolist() for s in each), what)
        return q.reshape(len(times), *places.shape, 3)

    fine = spread.rule(4 * FIRST)
    looks = 0

    def sampled(times: Floats) -> Floats:
        nonlocal looks
        q = at(rule.places, times)
        found = rule.integrals(q)
        if looks < LOOKS and len(times):
            looks += 1
            k = len(times) // 2
            exact = at(fine.places, times[k : k + 1])
            off = np.abs(fine.integrals(exact) - found[k]).max()
            if off > OFF * fine.sizes(exact).max(initial=0.0):
                looks = LOOKS
                share = found[k].sum(axis=(0, 1)) @ fine.integrals(exact)[0].sum(axis=(0, 1))
                whole = np.sum(fine.integrals(exact)[0].sum(axis=(0, 1)) ** 2)
                ratio = (
                    f"{share / whole:.3g} times what it should be"
                    if whole > 0.0
                    else "not zero, as it should be"
                )
                warn_user(
                    f"{owner}: it varies so much along an element that its total at t = {times[k]:.4g} s is {ratio}. "
                    "Give a `signals.Field`, which is integrated adaptively, or use more elements",
                    DoubtfulModelWarning,
                )
        return spread.at_nodes(found)

    return sampled


def _adaptive(owner: str, field: Field, spread: Spread) -> Callable[[Floats], Floats]:
    """Times (k,) -> loads of the nodes (k, n, 3), of elements with as many panels as each needs at each time."""
    one, few = spread.rule(), spread.rule(FIRST)

    def at(rule: Rule, times: Floats) -> Floats:
        return field.sampled(owner, rule.places.ravel(), times).reshape(-1, *rule.places.shape, 3)

    def of_times(times: Floats) -> Floats:
        found = one.integrals(at(one, times))
        q = at(few, times)
        finer, most = few.integrals(q), few.sizes(q).max(axis=1, initial=0.0)
        open_ = np.abs(finer - found).max(axis=(2, 3)) > CLOSE * most[:, None]  # (t, m)
        panels = FIRST
        while open_.any():
            found[open_] = finer[open_]
            panels *= 2
            if panels > MOST_PANELS:
                break
            rows, columns = np.flatnonzero(open_.any(axis=1)), np.flatnonzero(open_.any(axis=0))
            rule = spread.chosen(columns).rule(panels)
            finer[np.ix_(rows, columns)] = rule.integrals(at(rule, times[rows]))
            open_ &= np.abs(finer - found).max(axis=(2, 3)) > CLOSE * most[:, None]
        return spread.at_nodes(found)

    def values(times: Floats) -> Floats:
        block = max(1, _PLACES // max(1, few.places.size))
        parts = [of_times(times[k : k + block]) for k in range(0, len(times), block)]
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    return values
