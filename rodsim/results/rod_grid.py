"""Represent a rod of a result as a grid of boxes: evenly spaced nodes, sections between them, and loads on the boxes.

Box differences are of second order only if neighbouring elements have the same length. Nodes of elements of order p > 2 lie
at Gauss-Lobatto points; the grid uses the ends of the elements, and their middles if p is even. Strains and stresses are known
at p Gauss points; the polynomial through these points gives their values at the middles of the intervals.

Files store masses of nodes, which are sums over the points g of an element of weight_g l_a(x_g) rho_g (`meshing`). The
densities rho are determined from them by least squares. If the masses leave them undetermined (closed rods of an even number
of two-frame elements), the solution nearest to the mean of the rod is taken.

A load on a node belongs to the box in which the node lies. A load along a rod acts on all nodes of an element, with weights
that are symmetric about its middle. Elements of even order would share the load on the middle between boxes; for such loads
(`along`) boxes therefore extend from element to element.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # loads its submodules when they are first used
from numpy.typing import NDArray

from discretization.continuum.local_laws import Loading
from discretization.linear.sparse import sparse_lu
from discretization.space.interpolation import VALUES, points
from discretization.system import System
from rigid.system import Floats, Ints
from rodsim.results.errors import ResultError
from rodsim.results.layout import RodLayout
from rodsim.results.rod_interpolation import order_of

REGULARISATION = 1e-13  # regularisation: weight of the mean if the masses do not determine rho, relative to the masses' weight


class RodGrid(NamedTuple):
    """Hold n nodes and n - 1 intervals of a rod; if the rod is closed, the first two nodes are repeated at the end."""

    frames: Ints  # (n,) frames of the nodes
    S: Floats  # (n,) stress-free arc length, m
    rho_A: Floats  # (n - 1,) mass per length, kg/m
    J_rho: Floats  # (n - 1, 3, 3) rotational inertia per length, kg m
    points: Ints  # (m, p) rows of strains and stresses, element by element
    to_middles: Floats  # (k, p) interpolation from the points of an element to the middles of its k intervals
    uniform: bool  # True if section and stress-free strains are constant along the rod
    relaxing: bool  # True if a Maxwell branch relaxes
    nodes: Ints  # (N,) frames of all nodes of the rod
    shares: scipy.sparse.csr_matrix  # (n - 2, N) parts of the load on each node that belong to each box

    def loading(self, stress: Floats, energy: Floats, lost: Floats) -> Loading:
        """Return stress, energy and loss at the middles of the intervals, from their values (T, g, ...) at all points."""
        return Loading(*(self._at_middles(values) for values in (stress, energy, lost)))

    def _at_middles(self, values: Floats) -> Floats:
        interpolated = np.einsum("kp,tmp...->tmk...", self.to_middles, values[:, self.points])
        interpolated = interpolated.reshape(len(values), -1, *values.shape[2:])
        return interpolated[:, np.arange(len(self.S) - 1) % interpolated.shape[1]]

    def in_boxes(self, values: Floats) -> Floats:
        """Return loads or powers per length (T, n - 2, ...) in the boxes, from those (T, frames, ...) on all frames."""
        node_values = np.moveaxis(values[:, self.nodes], 1, 0)
        summed = self.shares @ node_values.reshape(len(self.nodes), -1)
        width = 0.5 * (self.S[2:] - self.S[:-2])
        return np.moveaxis((summed / width[:, None]).reshape(-1, *node_values.shape[1:]), 0, 1)

    def boxes_of(self, frames: Ints) -> NDArray[np.bool_]:
        """Return a mask (n - 2,) of the boxes that contain a node with one of these frames."""
        return np.asarray(self.shares @ np.isin(self.nodes, frames) > 0.0)


def rod_grid(system: System, rod: RodLayout, along: bool = False) -> RodGrid:
    """Build the grid of a rod; `along`: True if a load acts along the rod."""
    p = order_of(system, rod)
    parts = 2 - p % 2 if p > 1 and not along else 1
    step, n_elements = p // parts, len(rod.elements) // p
    every = system.rods.points
    weight = every.weight[rod.elements]
    density = _densities(system, rod, p, weight)
    free = every.strain0[rod.elements] * np.repeat([1.0, weight.sum()], 3)
    uniform = _even(density) and _even(every.stiffness[rod.elements]) and _even(free, 1.0)
    span_points = rod.elements - system.rods.first
    relaxing = False
    if span_points[0] >= 0:
        spans = system.spans
        columns = (spans.law[:, None], spans.parameters)
        uniform = uniform and all(
            _even(column[span_points].astype(float)) for column in columns if column.size
        )
        relaxing = bool(np.any(spans.relaxation[span_points] > 0.0))
    interval_weights = weight.reshape(-1, step)
    mean = np.einsum("ks,ksi->ki", interval_weights, density.reshape(-1, step, 10))
    mean /= interval_weights.sum(axis=1)[:, None]
    frames, S = rod.frames[::step], rod.arclength[::step]
    if rod.closed:
        frames, S = np.append(frames, frames[:2]), np.append(S, S[:2] + weight.sum())
    interval_index = np.arange(len(S) - 1) % len(mean)
    return RodGrid(
        frames,
        S,
        mean[interval_index, 0],
        mean[interval_index, 1:].reshape(-1, 3, 3),
        rod.elements.reshape(n_elements, p),
        scipy.interpolate.BarycentricInterpolator(points(p)[0], np.eye(p))((np.arange(parts) + 0.5) / parts),
        uniform,
        relaxing,
        rod.frames,
        _box_fractions(S, rod.arclength, weight.sum() if rod.closed else None),
    )


def _box_fractions(S: Floats, nodes: Floats, around: float | None) -> scipy.sparse.csr_matrix:
    """Return the parts (n - 2, N) of each node that belong to each box; a node between two boxes has half in each.

    `S` (n,): arc lengths of the grid, m; `nodes` (N,): arc lengths of all nodes, m; `around`: length of a closed rod, m, or
    None if the rod is open.
    """
    edges = 0.5 * (S[1:] + S[:-1])
    near = 1e-9 * (S[-1] - S[0])
    node_number = np.arange(len(nodes))
    if around is not None:
        nodes, node_number = np.append(nodes, nodes + around), np.append(node_number, node_number)
    box_before, box_after = np.searchsorted(edges, nodes - near) - 1, np.searchsorted(edges, nodes + near) - 1
    box, node = np.append(box_before, box_after), np.append(node_number, node_number)
    inside = (box >= 0) & (box < len(S) - 2)
    fraction = np.full(int(inside.sum()), 0.5)  # unless a node lies on an edge, both are the same box
    return scipy.sparse.csr_matrix(
        (fraction, (box[inside], node[inside])), shape=(len(S) - 2, int(node_number.max()) + 1)
    )


def _densities(system: System, rod: RodLayout, p: int, weight: Floats) -> Floats:
    """Return mass and inertia per length (points, 10), kg/m and kg m, from those of the nodes by least squares."""
    n, k = len(rod.frames), len(rod.elements)
    point = np.repeat(np.arange(k), p + 1)
    node = (p * (point // p) + np.tile(np.arange(p + 1), k)) % n
    weights = weight[:, None] * np.tile(VALUES[p, :p, : p + 1], (k // p, 1))
    A = scipy.sparse.coo_matrix((weights.ravel(), (node, point)), shape=(n, k)).tocsc()
    nodal = np.column_stack(
        [system.frames.mass[rod.frames], system.frames.inertia[rod.frames].reshape(-1, 9)]
    )
    density = np.tile(nodal.sum(axis=0) / weight.sum(), (k, 1))
    normal = (A.T @ A).tocsc()
    try:
        solve = sparse_lu(
            normal + REGULARISATION * normal.diagonal().max() * scipy.sparse.identity(k, format="csc")
        ).solve
    except RuntimeError:  # lengths of 1 and of 1e300 m
        raise ResultError(
            f"rod '{rod.name}': its masses do not fit its lengths; 'rodsim audit' says whether the file was changed"
        ) from None
    for _ in range(2):
        residual = A.T @ (nodal - A @ density)
        # the mean solves a uniform rod to rounding, which is not corrected
        if np.abs(residual).max() <= 1e-14 * np.abs(A.T @ nodal).max():
            break
        density += solve(residual)
    return np.asarray(density)


def _even(values: Floats, least: float = 0.0) -> bool:
    """Return True if all rows are equal to rounding; `least`: lower bound of the size of the numbers."""
    return bool(np.all(np.abs(values - values[0]) <= 1e-9 * max(np.abs(values).max(), least)))
