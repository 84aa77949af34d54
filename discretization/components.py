"""Which nodes of a graph hang together."""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are asked for

from rigid.system import Ints

_FEW = 200  # edges that Python follows quicker than scipy


def components(edges: Ints, nodes: int) -> Ints:
    """(nodes,) a number for each, the same for those that edges (2, k) connect; edges may be there more than once."""
    k = edges.shape[1]
    if k > _FEW:
        graph = scipy.sparse.coo_matrix((np.ones(k), edges), shape=(nodes, nodes))
        found: Ints = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        return found
    above = list(range(nodes))

    def root(node: int) -> int:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    for a, b in edges.T.tolist():
        above[root(a)] = root(b)
    return np.array([root(node) for node in range(nodes)], np.int64)
