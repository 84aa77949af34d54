"""Compute the connected components of a graph."""

from __future__ import annotations

import numpy as np
import scipy  # submodules are loaded lazily

from rigid.system import Ints

_FEW = 200  # number of edges up to which Python is faster than scipy


def components(edges: Ints, nodes: int) -> Ints:
    """Return the component label of each node, (nodes,); nodes connected by the edges (2, k) have equal labels.

    Edges may occur more than once. At most `_FEW` edges are handled by union-find in Python, more by scipy.
    """
    k = edges.shape[1]
    if k > _FEW:
        graph = scipy.sparse.coo_matrix((np.ones(k), edges), shape=(nodes, nodes))
        labels: Ints = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        return labels
    parent = list(range(nodes))

    def root(node: int) -> int:
        """Return the root of a node's tree in the union-find forest; halve the path to it."""
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    for a, b in edges.T.tolist():
        parent[root(a)] = root(b)
    return np.array([root(node) for node in range(nodes)], np.int64)
