"""Paths of tendons and belts in pictures and files: points, and arcs on pulleys and drums.

A path has a fixed number of points: one for each point that the tendon passes, ARC + 1 for each circle. The contact points follow
from the poses, and the angles of wrap from the counted variables of a state (`rigid.interactions.reeved_tendons`); a pulley with
a negative angle is passed straight. Of a drum a full circle is drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.interaction_table import counted_variable_counts
from rigid.interactions.reeved_tendons import PER_STOP, count_of_stops
from rigid.quaternions import rotate
from rigid.system import Floats, Ints, State
from rodsim.results.layout import Layout

ARC = 24  # number of segments of an arc
PATH = "path"  # key in descriptions of result files: the frame, C, A and R of each stop


class TendonPath(NamedTuple):
    """Path of one tendon or belt with n stops, see `rigid.interactions.reeved_tendons`."""

    name: str
    frames: Ints  # (n,)
    centres: Floats  # (n, 3) m, frame axes
    axes: Floats  # (n, 3) frame axes
    radii: Floats  # (n,) m, signed; 0: a point
    angle: Ints  # (n,) index of the counted angle in the block "angle" of a state; -1: none
    closed: bool  # a belt

    @property
    def size(self) -> int:
        """Number of points."""
        return int(np.where(self.radii != 0.0, ARC + 1, 1).sum()) + self.closed

    def points(self, layout: Layout, state: State) -> Floats:
        """Return the points (..., size, 3), m, in one state or in many (leading axes)."""
        lead = state.r.shape[:-2]
        r, quat = state.r.reshape(-1, *state.r.shape[-2:]), state.quat.reshape(-1, *state.quat.shape[-2:])
        quats = quat[:, self.frames]
        shape = (*quats.shape[:2], 3)
        c = r[:, self.frames] + rotate(quats, np.broadcast_to(self.centres, shape))
        n = rotate(quats, np.broadcast_to(self.axes, shape))
        wraps = self._wraps(layout, state.internal.reshape(len(r), -1))
        touched = self._touched(wraps)
        pieces = [self._piece(k, c, n, wraps, touched) for k in range(len(self.radii))]
        points = np.concatenate([*pieces, pieces[0][:, :1]] if self.closed else pieces, axis=1)
        for k in range(1, points.shape[1]):  # stops that are passed straight
            missing = np.isnan(points[:, k, 0])
            points[missing, k] = points[missing, k - 1]
        return points.reshape(*lead, self.size, 3)

    def touches(self, layout: Layout, state: State) -> NDArray[np.bool_]:
        """Return which stops (n,) the tendon touches in a state: all but the pulleys that it has come off."""
        touched: NDArray[np.bool_] = self._touched(self._wraps(layout, state.internal[None]))[0]
        return touched

    def distance_of_axes(self, state: State, a: int, b: int) -> tuple[float, float]:
        """Return the distance of stops a and b in a state, across the axes, and that below which they have no tangent, m."""
        quats = state.quat[self.frames[[a, b]]]
        d = np.diff(state.r[self.frames[[a, b]]] + rotate(quats, self.centres[[a, b]]), axis=0)[0]
        axes = rotate(quats, self.axes[[a, b]])
        n = axes[0] if self.radii[a] != 0.0 else axes[1]
        facing = -1.0 if axes[0] @ axes[1] < 0.0 else 1.0
        return float(np.linalg.norm(np.cross(n, d))), float(abs(facing * self.radii[b] - self.radii[a]))

    def _wraps(self, layout: Layout, internal: Floats) -> Floats:
        """Return the angles of wrap (T, n) from internal variables (T, k); zero at points."""
        wraps, acts = np.zeros((len(internal), len(self.radii))), self.angle >= 0
        wraps[:, acts] = layout.internal.part(internal, "angle")[:, self.angle[acts]]
        return wraps

    def _touched(self, wraps: Floats) -> NDArray[np.bool_]:
        """Return which stops (T, n) the tendon touches."""
        touched = np.ones(wraps.shape, bool)
        if not self.closed:
            touched[:, 1:-1] = wraps[:, 1:-1] >= 0.0
        return touched

    def _piece(self, k: int, c: Floats, n: Floats, wraps: Floats, touched: Any) -> Floats:
        """Return the points (T, 1 or ARC + 1, 3) of stop k; nan where the tendon does not touch it."""
        radius, count = self.radii[k], len(self.radii)
        if radius == 0.0:
            return c[:, k, None]
        ends = {
            step: self._contact(k, self._neighbour(k, step, touched), step, c, n)
            for step in (-1, 1)
            if self.closed or 0 <= k + step < count
        }
        begin = ends.get(-1, ends.get(1))
        assert begin is not None
        if self.closed:
            a, b = (x - c[:, k] for x in (ends[-1], ends[1]))
            turned = np.arctan2(np.sum(n[:, k] * np.cross(a, b), axis=1), np.sum(a * b, axis=1))
            angle = np.sign(radius) * np.mod(np.sign(radius) * turned, 2.0 * np.pi)
        elif len(ends) == 2:
            angle = np.sign(radius) * wraps[:, k]
        else:  # a drum: the circle before the tendon leaves, or after it has reached it
            angle = np.full(len(c), 2.0 * np.pi * np.sign(radius))
        first = begin - c[:, k]
        side = np.cross(n[:, k], first)
        part = angle[:, None] * np.linspace(0.0, 1.0, ARC + 1)
        arc = (
            c[:, k, None] + np.cos(part)[..., None] * first[:, None] + np.sin(part)[..., None] * side[:, None]
        )
        arc[~touched[:, k]] = np.nan
        return arc

    def _neighbour(self, k: int, step: int, touched: Any) -> Ints:
        """Return the stop (T,) next to stop k that the tendon touches, in the direction `step`."""
        count, nearest = len(self.radii), np.full(len(touched), -1)
        for j in range(1, count):
            other = (k + step * j) % count
            if self.closed or 0 <= k + step * j < count:
                nearest = np.where((nearest < 0) & touched[:, other], other, nearest)
        return nearest

    def _contact(self, k: int, other: Ints, step: int, c: Floats, n: Floats) -> Floats:
        """Return the point of contact (T, 3) on circle k of the span to (step 1) or from (step -1) other stops (T,)."""
        axis, rows = n[:, k], np.arange(len(c))
        facing = np.where(np.sum(axis * n[rows, other], axis=1) < 0.0, -1.0, 1.0)
        d = step * (c[rows, other] - c[:, k])
        d -= np.sum(axis * d, axis=1, keepdims=True) * axis
        D = (step * (facing * self.radii[other] - self.radii[k]))[:, None]
        across = np.cross(axis, d)
        square = np.sum(d * d, axis=1, keepdims=True)
        u = (np.sqrt(np.maximum(square - D**2, 0.0)) * d - D * across) / np.maximum(square, 1e-300)
        return c[:, k] - self.radii[k] * np.cross(axis, u)


def paths_of(layout: Layout) -> list[TendonPath]:
    """Return the paths of all tendons and belts of a layout."""
    paths = []
    for name, described in layout.description.get("others", {}).items():
        if layout.system is None or not isinstance(described, dict) or PATH not in described:
            continue
        rows = np.array(described[PATH], float)
        angle, closed = np.full(len(rows), -1), described["kind"] == "belt"
        if not closed:
            indices = _counted_angles(layout, described)
            angle[rows[:, 7] != 0.0] = indices
        paths.append(
            TendonPath(
                name, rows[:, 0].astype(np.int64), rows[:, 1:4], rows[:, 4:7], rows[:, 7], angle, closed
            )
        )
    return paths


def _counted_angles(layout: Layout, described: dict[str, Any]) -> list[int]:
    """Return the indices of the counted angles of the circles of a tendon, in their order."""
    assert layout.system is not None
    table, indices = layout.system.others, []
    count = counted_variable_counts(table)
    first = np.cumsum(count) - count
    for e in range(
        described["first_interaction"], described["first_interaction"] + described["interactions"]
    ):
        if count[e]:
            X = table.numbers[table.first[e] : table.first[e + 1]]
            radii = X[: PER_STOP * count_of_stops(X)].reshape(-1, PER_STOP)[:, 9]
            indices += (first[e] + np.arange(np.count_nonzero(radii))).tolist()
    return indices
