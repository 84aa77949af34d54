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

from typing import Any

import numpy as np

from discretization.space.rod_points import FIRST, POINT, STRAIN0
from discretization.space.se3_element import element_strains
from discretization.space.spans import strains_of
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.system import Floats, State

_SMALL = 1e-4  # share of a correction, for differences of the strains of two-frame elements


class Strains:
    """Of all points: of two-frame elements first, then those of spans, as in `discretization.measures`."""

    def __init__(self, system: System, work: Any):
        self._elements, self._groups = system.elements, strains_of(system.spans)
        self._own = system.elements.strain0.copy()
        spans, own = system.spans, work.spans
        order = np.diff(own.first)
        span = np.repeat(np.arange(len(spans.kind)), order)
        local = np.arange(len(spans.weight)) - np.repeat(own.first[:-1], order)
        places = own.at[span] + FIRST + POINT * local + STRAIN0
        self._places = places[:, None] + np.arange(6)
        self._numbers, self._kept = own.numbers, own.numbers[self._places].copy()

    @property
    def count(self) -> int:
        """Points."""
        return len(self._own) + len(self._places)

    def of(self, r: Floats, quat: Floats) -> Floats:
        """Strains (points, 6) but for a constant."""
        found = np.empty((len(self._own), 6))
        element_strains(self._elements.frames, self._elements.length, r, quat, found)
        if not self._groups:
            return found
        return np.concatenate([found, evaluation.values(self._groups, r, quat).reshape(-1, 6)])

    def change(self, state: State, dr: Floats, turn: Floats) -> Floats:
        """B dy (points, 6) for dr (n, 3) and spatial turns (n, 3)."""
        m = len(self._own)
        ends = []
        for t in (_SMALL, -_SMALL) if m else ():
            found = np.empty((m, 6))
            quat = quaternions.multiply(quaternions.from_rotation_vector(t * turn), state.quat)
            element_strains(self._elements.frames, self._elements.length, state.r + t * dr, quat, found)
            ends.append(found)
        linear = (ends[0] - ends[1]) / (2.0 * _SMALL) if m else np.zeros((0, 6))
        if not self._groups:
            return linear
        moving = state._replace(v=dr, Omega=quaternions.rotate(quaternions.conjugate(state.quat), turn))
        return np.concatenate([linear, evaluation.rates(self._groups, moving).reshape(-1, 6)])

    def shift(self, by: Floats | None) -> None:
        """Stress-free strains of the system, in place: shifted (points, 6), or its own."""
        m = len(self._own)
        self._elements.strain0[:] = self._own if by is None else self._own + by[:m]
        if len(self._places):
            self._numbers[self._places] = self._kept if by is None else self._kept + by[m:]
