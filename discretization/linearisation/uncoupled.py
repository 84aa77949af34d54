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
    A: Floats  # (m, m) of these
    B: Floats


def uncoupled(A: Floats, B: Floats) -> list[Set]:
    """The sets of two symmetric matrices (n, n), each as small as can be."""
    order, ends = np.empty(len(A), np.int64), np.zeros(len(A) + 1, np.int64)
    blocks = np.empty((2, A.size))
    found, first, at = [], 0, 0
    for last in ends[1 : 1 + _collect(A, B, order, ends, blocks)].tolist():
        m = last - first
        found.append(Set(order[first:last], *blocks[:, at : at + m * m].reshape(2, m, m)))
        first, at = last, at + m * m
    return found


@allocating_kernel
def _collect(A, B, order, ends, blocks):
    """Number of sets; order: set behind set; ends: where each ends, from 0 on; blocks: their entries of A and B."""
    seen, last, sets, at = np.zeros(len(A), np.bool_), 0, 0, 0
    for start in range(len(A)):
        if seen[start]:
            continue
        first, here = last, last
        order[last], seen[start] = start, True
        last += 1
        while here < last:
            a = order[here]
            for b in range(len(A)):
                if not seen[b] and (A[a, b] != 0.0 or B[a, b] != 0.0):
                    order[last], seen[b] = b, True
                    last += 1
            here += 1
        for a in order[first:last]:
            for b in order[first:last]:
                blocks[0, at], blocks[1, at] = A[a, b], B[a, b]
                at += 1
        sets += 1
        ends[sets] = last
    return sets
