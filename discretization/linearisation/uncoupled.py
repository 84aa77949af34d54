"""Unknowns that hang together: an eigenproblem falls into as many smaller ones as there are sets that nothing couples.

A straight rod along an axis stretches, twists and bends in two planes, a frame in a plane moves in it and out of it: full
matrices of n unknowns take n^3, four of n/4 a sixteenth of that. What is not zero couples, be it by rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.compilation.decorators import allocating_kernel
from rigid.system import Floats, Ints


class Set(NamedTuple):
    """Unknowns that nothing couples to others."""

    unknowns: Ints  # (m,)
    K: Floats  # (m, m) of these
    M: Floats


def uncoupled(K: Floats, M: Floats) -> list[Set]:
    """The sets of two symmetric matrices (n, n), each as small as can be."""
    order, ends = np.empty(len(K), np.int64), np.zeros(len(K) + 1, np.int64)
    blocks = np.empty((2, K.size))
    found, first, at = [], 0, 0
    for last in ends[1 : 1 + _collect(K, M, order, ends, blocks)].tolist():
        m = last - first
        found.append(Set(order[first:last], *blocks[:, at : at + m * m].reshape(2, m, m)))
        first, at = last, at + m * m
    return found


@allocating_kernel
def _collect(K, M, order, ends, blocks):
    """Number of sets; order: set behind set; ends: where each ends, from 0 on; blocks: their entries of K and M."""
    seen, last, sets, at = np.zeros(len(K), np.bool_), 0, 0, 0
    for start in range(len(K)):
        if seen[start]:
            continue
        first, here = last, last
        order[last], seen[start] = start, True
        last += 1
        while here < last:
            a = order[here]
            for b in range(len(K)):
                if not seen[b] and (K[a, b] != 0.0 or M[a, b] != 0.0):
                    order[last], seen[b] = b, True
                    last += 1
            here += 1
        for a in order[first:last]:
            for b in order[first:last]:
                blocks[0, at], blocks[1, at] = K[a, b], M[a, b]
                at += 1
        sets += 1
        ends[sets] = last
    return sets
