"""Tables of the Lagrange polynomials of order p = 1 to 4 on an element of length 1, with Gauss-Lobatto nodes and Gauss points.

    x(xi) = sum_a l_a(xi) x_a,   l_a(xi_b) = 1 where a = b, else 0;   nodes xi_a: 0, 1 and the roots of P_p'   (1)

p Gauss points integrate polynomials of order 2p - 1 exactly, as the p + 1 nodes do with the integrals of l_a as weights. One
point lies between each pair of neighbouring nodes, so that an element of order p has as many points as intervals. Indices of
the tables: order, point, node; entries that an order does not use are zero.
"""

from __future__ import annotations

import functools
from math import comb

import numpy as np
from numpy.polynomial import legendre

from rigid.system import Floats

MOST = 4  # largest order
ORDERS = range(1, MOST + 1)


def nodes(order: int) -> Floats:
    """Return the Gauss-Lobatto nodes (p + 1,) in [0, 1]."""
    inner = legendre.legroots(legendre.legder([0.0] * order + [1.0])).real if order > 1 else np.zeros(0)
    xi = np.concatenate([[-1.0], np.sort(inner), [1.0]])
    return 0.25 * (xi - xi[::-1]) + 0.5  # bitwise symmetric


def points(order: int) -> tuple[Floats, Floats]:
    """Return the Gauss points (p,) in (0, 1) and their weights (p,), with sum 1."""
    xi, weight = legendre.leggauss(order)
    return 0.5 + 0.5 * xi, 0.5 * weight


def shares(order: int) -> Floats:
    """Return the weights (p + 1,) of the nodes, the integrals of l_a."""
    _, weight = points(order)
    return weight @ VALUES[order, :order, : order + 1]


@functools.cache
def leading(order: int) -> Floats:
    """Return a (p + 1,) with  sum_ab (integral of l_a l_b - share_a delta_ab) x_a x_b = -(sum_a a_a x_a)^2.

    Both sums are quadratures of order 2p, which differ only in the square of the highest coefficient: the square of P_p has the
    integral 1/(2p + 1), and the sum 1/p at the nodes.
    """
    xi, p = nodes(order), order
    top = np.array([1.0 / np.prod(x - np.delete(xi, a)) for a, x in enumerate(xi)])
    return top / comb(2 * p, p) * np.sqrt((p + 1) / (p * (2 * p + 1)))


def _tables() -> tuple[Floats, Floats, Floats]:
    values, slopes = np.zeros((2, MOST + 1, MOST, MOST + 1))
    weights = np.zeros((MOST + 1, MOST))
    for p in ORDERS:
        x, weights[p, :p] = points(p)
        xi = nodes(p)
        for a in range(p + 1):
            other_nodes = np.delete(xi, a)
            below = np.prod(xi[a] - other_nodes)
            values[p, :p, a] = np.prod(x[:, None] - other_nodes, axis=1) / below
            for b in range(p):
                slopes[p, :p, a] += np.prod(x[:, None] - np.delete(other_nodes, b), axis=1) / below
        slopes[p, :p, p // 2] -= slopes[p, :p].sum(axis=1)  # the derivative of a constant is exactly zero
    return values, slopes, weights


# (order, point, node): l_a and dl_a/dxi at the points; (order, point): weights of the points
VALUES, SLOPES, WEIGHTS = _tables()
