"""Strains of a system's rods and their linear change along a correction, for a tangent with predicted stresses.

A finite turn of a slender rod stretches it, by an error that the next correction takes away; the stress of that stretch is
EA/EI L^2 times those of its bending. Put into the tangent it makes Newton's method creep. The cure is to let the
stresses of the tangent follow their own linear prediction, as if they were unknowns:

    K(y, sigma),  sigma = C (e(y_before) + B dy - e0)   in place of   C (e(y) - e0)                          (1)

while the residual stays that of y. Converged, both are the same. Source: Magisano, Leonetti, Garcea, Int. J. Numer.
Meth. Engng 109 (2017), "mixed integration points". Since stresses are functions of e - e0, (1) is the tangent with e0
shifted by e(y) - e(y_before) - B dy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.space.closed_spans import STRAINS_END, forces_at
from discretization.space.rod_points import FIRST, POINT, STRAIN0
from discretization.space.se3_element import invariants, strains_of
from discretization.space.strain_functions import strain_functions
from discretization.system import System
from discretization.workspace import rotation_of, store_rotation
from rigid.compilation import kernel
from rigid.linear_algebra import load3, minus, plus, store3, times
from rigid.rotations import cayley_turn, load4, rotation_matrix
from rigid.system import Floats, State

_SMALL = 1e-4  # share of a correction, for differences of strains


class Poses(NamedTuple):
    """Room for the poses of all frames."""

    r: Floats
    quat: Floats
    R: Floats
    dr: Floats  # zeros


@kernel
def strains_along(system, numbering, state, work, poses, x, factor, out):
    """Strains (points, 6) but for a constant where the state is moved by factor x: elements, then points of spans."""
    frames = system.frames
    for f in range(frames.mass.shape[0]):
        r, q = load3(state.r[f]), load4(state.quat[f])
        if frames.fixed[f] == 0 and factor != 0.0:
            at = numbering.frame[f]
            r = plus(r, times(factor, load3(x[at : at + 3])))
            q = cayley_turn(times(factor, load3(x[at + 3 : at + 6])), q)
        store3(r, poses.r[f])
        poses.quat[f, 0], poses.quat[f, 1], poses.quat[f, 2], poses.quat[f, 3] = q
        store_rotation(poses.R, f, rotation_matrix(q))
    elements = system.elements
    for m in range(elements.length.shape[0]):
        a, b = elements.frames[m, 0], elements.frames[m, 1]
        L = elements.length[m]
        y, k, s, u, _ = invariants(
            rotation_of(poses.R, a),
            rotation_of(poses.R, b),
            load4(poses.quat[a]),
            load4(poses.quat[b]),
            minus(load3(poses.r[b]), load3(poses.r[a])),
            L,
        )
        g, _, p, _ = strain_functions(u)
        Gamma, K = strains_of(y, k, s, u, g, p, L)
        store3(Gamma, out[m, 0:3])
        store3(K, out[m, 3:6])
    spans, own = system.spans, work.spans
    first = elements.length.shape[0]
    for m in range(spans.kind.size):
        if (
            own.forces[m] == 0
        ):  # no closed form: its stresses are not predicted, Newton's method is a plain one for it
            for g in range(own.first[m], own.first[m + 1]):
                for i in range(6):
                    out[first + g, i] = 0.0
            continue
        X, D = own.numbers[own.at[m] : own.at[m + 1]], own.viscosity[own.at[m] : own.at[m + 1]]
        closed = forces_at(own.forces[m])
        closed(poses.r, poses.dr, poses.R, poses.R, spans.frames[m], X, D, 0.0, False, own.K)
        for g in range(own.first[m + 1] - own.first[m]):
            for i in range(6):
                out[first + own.first[m] + g, i] = own.K[STRAINS_END, 6 * g + i]


class Strains:
    """Of all points: of two-frame elements first, then those of spans, as in `discretization.measures`."""

    def __init__(self, system: System, numbering: Any, work: Any):
        self._models = system, numbering
        self._work, self._elements = work, system.elements
        self._own = system.elements.strain0.copy()
        spans, own = system.spans, work.spans
        order = np.diff(own.first)
        span = np.repeat(np.arange(len(spans.kind)), order)
        local = np.arange(len(spans.weight)) - np.repeat(own.first[:-1], order)
        places = own.at[span] + FIRST + POINT * local + STRAIN0
        self._places = places[:, None] + np.arange(6)
        self._numbers, self._kept = own.numbers, own.numbers[self._places].copy()
        n = len(system.frames.mass)
        self._poses = Poses(np.zeros((n, 3)), np.zeros((n, 4)), np.zeros((n, 3, 3)), np.zeros((n, 3)))

    @property
    def count(self) -> int:
        """Points."""
        return len(self._own) + len(self._places)

    def along(self, state: State, x: Floats, factor: float) -> Floats:
        """Strains (points, 6) but for a constant where the state is moved by factor x."""
        out = np.empty((self.count, 6))
        strains_along(*self._models, state, self._work, self._poses, x, factor, out)
        return out

    def change(self, state: State, x: Floats) -> Floats:
        """B dy (points, 6) of a correction."""
        return (self.along(state, x, _SMALL) - self.along(state, x, -_SMALL)) / (2.0 * _SMALL)

    def shift(self, by: Floats | None) -> None:
        """Stress-free strains of the system, in place: shifted (points, 6), or its own."""
        m = len(self._own)
        self._elements.strain0[:] = self._own if by is None else self._own + by[:m]
        if len(self._places):
            self._numbers[self._places] = self._kept if by is None else self._kept + by[m:]
