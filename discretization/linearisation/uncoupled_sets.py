"""Decompose an eigenproblem into uncoupled sets of unknowns (connected components of both matrices).

A straight rod along an axis stretches, twists and bends in two planes; a plane frame moves in its plane and out of it. Solving
with a full matrix of n unknowns costs n^3 operations, with four of n/4 a sixteenth of that. Every nonzero entry couples, even if
it is due to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.compilation.decorators import allocating_kernel
from rigid.system import Floats, Ints


class UncoupledSet(NamedTuple):
    """A set of unknowns that are not coupled to others, with their parts of both matrices."""

    unknowns: Ints  # (m,) indices
    A: Floats  # (m, m) entries for these unknowns
    B: Floats  # (m, m) entries for these unknowns


def uncoupled_sets(A: Floats, B: Floats) -> list[UncoupledSet]:
    """Return the smallest uncoupled sets of unknowns of two symmetric matrices (n, n)."""
    order, ends = np.empty(len(A), np.int64), np.zeros(len(A) + 1, np.int64)
    blocks = np.empty((2, A.size))
    sets, first, at = [], 0, 0
    for last in ends[1 : 1 + _collect(A, B, order, ends, blocks)].tolist():
        m = last - first
        sets.append(UncoupledSet(order[first:last], *blocks[:, at : at + m * m].reshape(2, m, m)))
        first, at = last, at + m * m
    return sets


@allocating_kernel
def _collect(A, B, order, ends, blocks):
    """Collect the uncoupled sets and return their number.

    `order`: (n,) unknowns, set after set; `ends`: offsets of the ends of the sets, from 0 on; `blocks`: entries of A and B for
    each set.
    """
    visited, last, sets, at = np.zeros(len(A), np.bool_), 0, 0, 0
    for start in range(len(A)):
        if visited[start]:
            continue
        first, here = last, last
        order[last], visited[start] = start, True
        last += 1
        while here < last:
            a = order[here]
            for b in range(len(A)):
                if not visited[b] and (A[a, b] != 0.0 or B[a, b] != 0.0):
                    order[last], visited[b] = b, True
                    last += 1
            here += 1
        for a in order[first:last]:
            for b in order[first:last]:
                blocks[0, at], blocks[1, at] = A[a, b], B[a, b]
                at += 1
        sets += 1
        ends[sets] = last
    return sets
