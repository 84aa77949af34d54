"""Compute the addresses of dense matrix blocks in band storage or in compressed columns.

In both, the block of the unknowns from i on and those from j on has its entry (k, l) at `base + k + l * stride[J]`, J the
vertex of j.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discretization.linear.band_gmres import FarBlocks, far_blocks
from discretization.linear.bordered_band import Border, entries_of_border
from rigid.system import Ints

Base = Callable[[Ints, Ints, Ints, Ints], Ints]  # unknowns i, j and their vertices -> address of their block


class Storage(NamedTuple):
    """Layout of the stored matrix entries."""

    base: Base
    stride: Ints  # (v + 1,) column stride of each vertex; the last entry serves fixed frames
    n_values: int
    indptr: Ints  # column pointers of compressed columns, else empty
    indices: Ints


def band_storage(size: int, half: int, n_vertices: int) -> Storage:
    """Return LAPACK band storage; `half`: half bandwidth, `size`: number of columns."""
    width = 3 * half + 1

    def base(i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
        return i + j * (width - 1) + 2 * half

    none = np.empty(0, dtype=np.int64)
    stride = np.full(n_vertices + 1, width - 1, dtype=np.int64)
    return Storage(base, stride, size * width, none, none)


def column_storage(pairs: Ints, start: Ints, weight: Ints) -> Storage:
    """Return compressed-column storage: the columns of one vertex share their pattern, a run of blocks sorted by row.

    `pairs` (e, 2): vertices that share a block. `start`, `weight` (v,): first unknown and number of unknowns of each vertex.
    """
    n_vertices = len(weight)
    by_column = np.lexsort((start[pairs[:, 0]], start[pairs[:, 1]]))
    block_row, block_column = pairs[by_column].T
    heights = weight[block_row]
    length = np.zeros(n_vertices, dtype=np.int64)
    np.add.at(length, block_column, heights)
    above = np.cumsum(heights) - heights
    first_block = np.searchsorted(start[block_column], start[block_column], side="left")
    offset = above - above[first_block]
    column_length = np.empty(int(weight.sum()), dtype=np.int64)
    for v_weight in np.unique(weight):
        chosen = np.flatnonzero(weight == v_weight)
        column_length[start[chosen][:, None] + np.arange(v_weight)] = length[chosen][:, None]
    indptr = np.concatenate([[0], np.cumsum(column_length)]).astype(np.int64)
    indices = np.empty(int(indptr[-1]), dtype=np.int64)
    for k in range(int(heights.max(initial=0))):
        for c in range(int(weight.max(initial=0))):
            use = (heights > k) & (weight[block_column] > c)
            at = indptr[start[block_column[use]] + c] + offset[use] + k
            indices[at] = start[block_row[use]] + k
    key = block_column * np.int64(n_vertices + 1) + block_row
    sorter = np.argsort(key)

    def base(i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
        index = np.searchsorted(key[sorter], vj * np.int64(n_vertices + 1) + vi)
        block = sorter[np.minimum(index, len(key) - 1)]
        return indptr[start[vj]] + (j - start[vj]) * length[vj] + offset[block] + (i - start[vi])

    return Storage(base, np.concatenate([length, [1]]), len(indices), indptr, indices)


def append_far_blocks(
    storage: Storage, pairs: Ints, start: Ints, weight: Ints, half: int
) -> tuple[Storage, FarBlocks]:
    """Append to band storage the blocks of vertex pairs (e, 2) that lie outside the band; return it and these blocks."""
    stride = int(storage.stride[0])
    outside = pairs[_outside(start, weight, half, pairs[:, 0], pairs[:, 1])]
    rows = start[outside]
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    outside, rows = outside[order], rows[order]
    far, entries = far_blocks(rows[:, 0], rows[:, 1], storage.n_values, stride)
    count = np.int64(len(weight))
    key = outside @ (count, 1)
    by_key = np.argsort(key)
    known = key[by_key]

    def base(i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
        addresses, behind = storage.base(i, j, vi, vj), _outside(start, weight, half, vi, vj)
        which = by_key[np.searchsorted(known, vi[behind] * count + vj[behind])]
        addresses[behind] = far.place[which] + (i - start[vi])[behind] + (j - start[vj])[behind] * stride
        return addresses

    return storage._replace(base=base, n_values=storage.n_values + entries), far


def append_border(storage: Storage, size: int, count: int) -> tuple[Storage, Border]:
    """Append the border of the last `count` of `size` unknowns to band storage; return it and the place of the border."""
    border, inner = Border(count, storage.n_values), size - count

    def base(i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
        addresses = storage.base(i, j, vi, vj)
        addresses = np.where(j >= inner, border.first + (j - inner) * size + i, addresses)
        rows = border.first + (count + i - inner) * size + j
        rows = np.where(j >= inner, border.first + 2 * count * size + i - inner, rows)
        return np.where(i >= inner, rows, addresses)

    n_values = storage.n_values + entries_of_border(count, size)
    return storage._replace(base=base, n_values=n_values), border


def _outside(start: Ints, weight: Ints, half: int, vi: Ints, vj: Ints) -> np.ndarray:
    """Return whether the blocks of vertex pairs have entries outside a band of this half bandwidth."""
    last = np.maximum(start[vi] + weight[vi], start[vj] + weight[vj]) - 1
    is_outside: np.ndarray = last - np.minimum(start[vi], start[vj]) > half
    return is_outside


class BlockAddresses(NamedTuple):
    """Addresses of blocks in a storage; all blocks of fixed frames are in the trash entries."""

    storage: Storage
    dump: int  # address of the trash entries: behind all others
    frame: Ints  # (n,) first unknown of a frame
    vertex: Ints  # (n,) vertex of a frame, -1: fixed

    def place(self, i: Ints, j: Ints, vi: Ints, vj: Ints) -> Ints:
        """Return the addresses (k,) of the blocks of the unknowns i and j of the vertices vi and vj."""
        out = np.full(len(i), self.dump, dtype=np.int64)
        moving = (vi >= 0) & (vj >= 0)
        out[moving] = self.storage.base(i[moving], j[moving], vi[moving], vj[moving])
        return out

    def of_frames(self, f: Ints, g: Ints) -> Ints:
        """Return the addresses (k,) of the blocks of the unknowns of the frames f and g."""
        return self.place(self.frame[f], self.frame[g], self.vertex[f], self.vertex[g])

    def of_pairs(self, pairs: Ints) -> Ints:
        """Return the addresses (k, 4) of the blocks aa, ab, ba, bb of pairs of frames (k, 2)."""
        a, b = pairs.reshape(-1, 2).T
        return np.stack([self.of_frames(i, j) for i in (a, b) for j in (a, b)], axis=1)

    def of_groups(self, frames: Ints) -> Ints:
        """Return the addresses (k, m, m) of the blocks of groups of frames (k, m); index -1: no frame."""
        out = np.full((*frames.shape, frames.shape[1]), self.dump, dtype=np.int64)
        for k in range(frames.shape[1]):
            for l in range(frames.shape[1]):
                use = np.flatnonzero((frames[:, k] >= 0) & (frames[:, l] >= 0))
                if len(use):
                    out[use, k, l] = self.of_frames(frames[use, k], frames[use, l])
        return out
