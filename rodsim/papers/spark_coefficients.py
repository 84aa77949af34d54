"""Check the coefficients of SPARK methods against the conditions and the tables printed in the appendix of 004."""

from __future__ import annotations

import numpy as np

from discretization.time import tableaux
from discretization.time.quadrature import lobatto
from rigid.system import Floats


def quadrature_residual(b: Floats, c: Floats, to: int) -> float:
    """Return the residual of condition B: largest |sum b_i c_i^(k-1) - 1/k|, k = 1..to."""
    return max(abs(float(b @ c ** (k - 1)) - 1.0 / k) for k in range(1, to + 1))


def stage_residual(A: Floats, nodes: Floats, at: Floats, to: int) -> float:
    """Return the residual of condition C: largest |sum_j a_ij c_j^(k-1) - at_i^k/k|, k = 1..to."""
    rows = [float(np.abs(A @ nodes ** (k - 1) - at**k / k).max()) for k in range(1, to + 1)]
    return max(rows, default=0.0)


def gauss_lobatto_residual(s: int) -> float:
    """Return the largest residual of 004 (A.15), (A.16), with k = 1..s - 1 in Ctilde."""
    table, ct = tableaux.gauss_lobatto(s), lobatto(s + 1)[0]
    return max(
        quadrature_residual(table.b, table.c, 2 * s),
        stage_residual(table.A, table.c, table.c, s),
        quadrature_residual(table.b_tilde, ct, 2 * s),
        stage_residual(table.A_tilde, ct, table.c, s - 1),
        stage_residual(table.A_bar, table.c, ct, s),
        float(np.abs(table.A_tilde[:, 0] - table.b_tilde[0]).max()),
        float(np.abs(table.A_tilde[:, -1]).max()),
    )


def lobatto_residual(s: int) -> float:
    """Return the largest residual of 004 (A.13), (A.14); B holds to k = 2s - 2, the degree of Lobatto's rule."""
    table = tableaux.lobatto_3a_3b(s)
    c = table.c
    return max(
        quadrature_residual(table.b, c, 2 * s - 2),
        stage_residual(table.A, c, c, s),
        stage_residual(table.A_hat, c, c, s - 2),
        float(np.abs(table.A_hat[:, 0] - table.b[0]).max()),
        float(np.abs(table.A_hat[:, -1]).max()),
    )


def printed_tables() -> dict[str, tuple[tableaux.Tableau, tableaux.Tableau]]:
    """Return the coefficients printed in 004 A.2, each with the tableau of `discretization.time.tableaux`."""
    r = np.sqrt(3.0)
    half = np.array([0.5, 0.5])
    a2, hat2 = np.array([[0, 0], [0.5, 0.5]]), np.array([[0.5, 0], [0.5, 0]])
    a3 = np.array([[0, 0, 0], [5, 8, -1], [4, 16, 4]]) / 24.0
    hat3 = np.array([[1, -1, 0], [1, 2, 0], [1, 5, 0]]) / 6.0
    simpson = np.array([1, 4, 1]) / 6.0
    gauss2 = np.array([[0.25, 0.25 - r / 6], [0.25 + r / 6, 0.25]])
    tilde2 = np.array([[1 / 6, 1 / 3 - r / 6, 0], [1 / 6, 1 / 3 + r / 6, 0]])
    bar2 = np.array([[0, 0], [0.25 + r / 8, 0.25 - r / 8], [0.5, 0.5]])
    one = np.ones((1, 1))
    return {
        "Lobatto IIIA-B, 2 stages": (
            tableaux.Tableau(a2, hat2, hat2, a2, half, half, np.array([0.0, 1.0])),
            tableaux.lobatto_3a_3b(2),
        ),
        "Lobatto IIIA-B, 3 stages": (
            tableaux.Tableau(a3, hat3, hat3, a3, simpson, simpson, np.array([0.0, 0.5, 1.0])),
            tableaux.lobatto_3a_3b(3),
        ),
        "Gauss-Lobatto, 1 stage": (
            tableaux.Tableau(
                one / 2, one / 2, np.array([[0.5, 0]]), np.array([[0.0], [1.0]]), one[0], half, one[0] / 2
            ),
            tableaux.gauss_lobatto(1),
        ),
        "Gauss-Lobatto, 2 stages": (
            tableaux.Tableau(
                gauss2, gauss2, tilde2, bar2, half, simpson, np.array([0.5 - r / 6, 0.5 + r / 6])
            ),
            tableaux.gauss_lobatto(2),
        ),
    }


def table_difference(ours: tableaux.Tableau, printed: tableaux.Tableau) -> float:
    """Return the largest difference of two sets of coefficients."""
    return max(float(np.abs(a - b).max()) for a, b in zip(ours, printed, strict=True))
