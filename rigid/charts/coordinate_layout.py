"""Lay out the coordinates of frames in a chart, and compute coordinates, velocities, names and symmetries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # submodules are loaded on first access

from rigid import quaternions
from rigid.mechanics.mechanical_system import Symmetry
from rigid.system import Floats, Frames, Ints


class CoordinateLayout:
    """Offsets of the coordinates of each frame.

    `position`, `orientation`: (f,) offsets of r and of the quaternion or directors, -1 if there are none; `size`: coordinates of
    an orientation; `n`: all coordinates; `internal`: internal constraints.
    """

    def __init__(self, frames: Frames, chart: str, orientation_only: Sequence[int]):
        """Assign offsets to the frames that are not fixed; those in `orientation_only` have an orientation only."""
        self.size = 4 if chart == "quaternion" else 9
        self.position = np.full(len(frames.mass), -1, np.int64)
        self.orientation = np.full(len(frames.mass), -1, np.int64)
        self.n = self.internal = 0
        for f, fixed in enumerate(frames.fixed):
            if fixed:
                continue
            if f not in orientation_only:
                self.position[f] = self.n
                self.n += 3
            self.orientation[f] = self.n
            self.n += self.size
            self.internal += 1 if chart == "quaternion" else 6

    def coordinates(self, r: Floats, quat: Floats, chart: str) -> Floats:
        """Return the coordinates q (n,) of the poses r (f, 3), m, and quat (f, 4)."""
        q = np.zeros(self.n)
        for f, (at, to) in enumerate(zip(self.position, self.orientation, strict=True)):
            if at >= 0:
                q[at : at + 3] = r[f]
            if to >= 0:
                values = quat[f] if chart == "quaternion" else quaternions.to_matrix(quat[f]).T.ravel()
                q[to : to + self.size] = values
        return q

    def velocities(self, quat: Floats, v: Floats, Omega: Floats, chart: str) -> Floats:
        """Return dq/dt (n,) of velocities v (f, 3), m/s, and body-fixed angular velocities Omega (f, 3), rad/s."""
        rate = np.zeros(self.n)
        for f, (at, to) in enumerate(zip(self.position, self.orientation, strict=True)):
            if at >= 0:
                rate[at : at + 3] = v[f]
            if to < 0:
                continue
            if chart == "quaternion":
                rate[to : to + 4] = 0.5 * quaternions.multiply(quat[f], np.concatenate([[0.0], Omega[f]]))
            else:
                R = quaternions.to_matrix(quat[f])
                rate[to : to + 9] = np.cross(R @ Omega[f], R.T).ravel()
        return rate

    def names(self, chart: str) -> tuple[str, ...]:
        """Return the names (n,) of the coordinates."""
        names = [""] * self.n
        for f, (at, to) in enumerate(zip(self.position, self.orientation, strict=True)):
            if at >= 0:
                names[at : at + 3] = [f"r{f}{axis}" for axis in "xyz"]
            if to >= 0:
                suffixes = (
                    "wxyz" if chart == "quaternion" else [f"d{k}{axis}" for k in "123" for axis in "xyz"]
                )
                names[to : to + self.size] = [f"q{f}{part}" for part in suffixes]
        return tuple(names)

    def symmetries(self, chart: str, r: Floats) -> tuple[Symmetry, ...]:
        """Return the momentum maps of common translations and rotations; the model decides which of them are symmetries."""
        maps = []
        positions, orientations = self.position[self.position >= 0], self.orientation[self.orientation >= 0]
        if len(positions):
            for i, axis in enumerate("xyz"):
                tau = np.zeros(self.n)
                tau[positions + i] = 1.0
                maps.append(Symmetry(f"P{axis}", scipy.sparse.csr_array((self.n, self.n)), tau))
        for i, axis in enumerate("xyz"):
            e = np.eye(3)[i]
            spin = np.cross(e, np.eye(3)).T  # x -> e x x
            if chart == "quaternion":
                unit = np.concatenate([[0.0], e])
                turns = np.stack([0.5 * quaternions.multiply(unit, basis) for basis in np.eye(4)], axis=1)
                blocks = [(positions, spin), (orientations, turns)]
            else:
                blocks = [(positions, spin), *((orientations + 3 * k, spin) for k in range(3))]
            maps.append(Symmetry(f"L{axis}", _on_diagonal(self.n, blocks), np.zeros(self.n)))
        return tuple(maps)


def _on_diagonal(n: int, blocks: Sequence[tuple[Ints, Floats]]) -> scipy.sparse.csr_array:
    """Return a sparse (n, n) matrix with each block (k, k) repeated at its offsets on the diagonal."""
    entries: list[tuple[Ints, Ints, Floats]] = []
    for offsets, block in blocks:
        i, j = np.nonzero(block)
        entries += [
            (
                (offsets[:, None] + i).ravel(),
                (offsets[:, None] + j).ravel(),
                np.tile(block[i, j], len(offsets)),
            )
        ]
    rows, columns, values = (np.concatenate(column) for column in zip(*entries, strict=True))
    at = rows.astype(np.int32), columns.astype(np.int32)
    matrix = scipy.sparse.csr_array((values, at), shape=(n, n))
    matrix.sort_indices()
    return matrix
