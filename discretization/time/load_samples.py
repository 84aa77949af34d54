"""Check that steps resolve how loads change within them: compute the impulse of each load that a step misses.

In a step of length h a scheme evaluates a load f at few points c_i with weights b_i. Gauss's rule of ten points (x_j, w_j)
evaluates it between them. The step misses the impulse

    dJ = h |sum_j w_j f(t + x_j h) - sum_i b_i f(t + c_i h)|                                               (1)

of a force. This impulse would move the mass m of all bodies that the force can set in motion, over a run of length T, by dJ T/m.
A step resolves the load if that is at most `SHARE` of the requested error e L:

    dJ <= SHARE e L m/T,   of a moment:  dJ <= SHARE e L m k/T                                               (2)

with a radius of gyration k. Changes between two of the ten points, which are at most h/7 apart, are not detected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.components import components
from discretization.interaction_groups import groups_of
from discretization.interaction_table import loads_of
from discretization.system import System
from rigid.system import MOMENT, Floats, Ints

POINTS = 10  # points of Gauss's rule in a step
SHARE = 0.1
_X, _W = (0.5 * x for x in np.polynomial.legendre.leggauss(POINTS))
_X += 0.5


class LoadSamples:
    """Samples of the loads of a system.

    load_values: times (k,) -> (k, loads, 3). points, weights: c, b of (1). gyration: (n,) k of the frames, m. size: L, m.
    rate: e L/T, m/s.
    """

    def __init__(
        self,
        system: System,
        load_values: Callable[[Floats], Floats],
        points: Floats,
        weights: Floats,
        gyration: Floats,
        size: float,
        rate: float,
    ) -> None:
        self._values = load_values
        self._points = np.concatenate([_X, points])
        self._weights = np.concatenate([_W, -weights])
        part = _parts_that_move(system)
        frames = _moving_frames(system)
        inertia = np.bincount(part, np.where(system.frames.fixed == 0, system.frames.mass, 0.0))[part[frames]]
        radius = np.zeros(part.max() + 1)
        np.maximum.at(radius, part, gyration)
        several = np.bincount(part) > 1
        # radius of gyration of a rod of that length
        radius[several] = np.maximum(radius[several], size / np.sqrt(12.0))
        loads = loads_of(system.others)
        # these loads come first in `system.signals`
        turning = np.flatnonzero(loads.kind == MOMENT)
        inertia[turning] *= radius[part[frames[turning]]]
        self._allowed = np.where(inertia > 0.0, SHARE * rate * inertia, np.inf)

    def unresolved(self, h: float, starts: Floats) -> Floats:
        """Return the largest dJ of each step (k,), relative to the bound (2)."""
        times = (starts[:, None] + h * self._points).ravel()
        values = self._values(times).reshape(len(starts), len(self._points), -1, 3)
        unresolved = h * np.linalg.norm(np.einsum("j,kjli->kli", self._weights, values), axis=2)
        largest: Floats = (unresolved / self._allowed).max(axis=1)
        return largest


def _moving_frames(system: System) -> Ints:
    """Return one frame (l,) that each load acts on: the first one that can move, if there is one."""
    frames = system.others.frames[system.signals]
    can_move = (frames >= 0) & (system.frames.fixed[frames] == 0)
    first: Ints = frames[np.arange(len(frames)), np.argmax(can_move, axis=1)]
    return first


def _parts_that_move(system: System) -> Ints:
    """Return the number of the connected part that each frame belongs to, (n,); interactions between movable frames connect
    them.
    """
    frames = system.frames.fixed
    edges = [np.zeros((2, 0), np.int64)]
    for acting in groups_of(system):
        joined = acting.group.frames
        for other in joined.T[1:]:
            both = np.stack([joined[:, 0], other])
            moving = (both >= 0).all(axis=0) & (frames[both] == 0).all(axis=0)
            edges.append(both[:, moving])
    part = components(np.concatenate(edges, axis=1), len(frames))
    return np.unique(part, return_inverse=True)[1]
