"""The energy of a rod in Exudyn, which does not report it: from the poses and velocities of the nodes."""

from __future__ import annotations

import numpy as np

from benchmarks.cases import Floats, RodCase


def rod_energy(case: RodCase, r: Floats, R: Floats, v: Floats, Omega: Floats) -> float:
    """Kinetic, potential and elastic energy, J: constant SE(3) strains, consistent mass matrix of an element.

    `r`, `v` (n, 3); `R` (n, 3, 3), section axes in its columns, d1 along the rod; `Omega` (n, 3) in them.
    """
    n_elements = len(r) - 1
    element = case.length / n_elements
    velocity = np.hstack([v, Omega])
    per_length = np.array([case.mass_per_length] * 3 + list(case.inertia_per_length))
    a, b = velocity[:-1], velocity[1:]
    kinetic = element / 6.0 * float(np.sum((a * a + a * b + b * b) @ per_length))
    potential = -case.mass_per_length * element * float(np.sum(0.5 * (r[:-1] + r[1:]) @ case.weight))
    strain = np.array([_strains(r[i : i + 2], R[i : i + 2], element) for i in range(n_elements)])
    elastic = 0.5 * element * float(np.sum(strain**2 @ np.array(case.stiffness)))
    return kinetic + potential + elastic


def _strains(r: Floats, R: Floats, length: float) -> Floats:
    """(Gamma, K) of an element, from the SE(3) logarithm of its relative pose; stress-free when straight."""
    relative = R[0].T @ R[1]
    w = 0.5 * np.array(
        [relative[2, 1] - relative[1, 2], relative[0, 2] - relative[2, 0], relative[1, 0] - relative[0, 1]]
    )
    s, c = np.linalg.norm(w), 0.5 * (np.trace(relative) - 1.0)
    theta = float(np.arctan2(s, c))
    phi = w * (theta / s if theta > 1e-8 else 1.0)
    d = R[0].T @ (r[1] - r[0])
    # Inverse of the tangent map: d - phi x d / 2 + (1 - theta/2 cot(theta/2)) / theta^2 phi x (phi x d).
    b = (1.0 - 0.5 * theta / np.tan(0.5 * theta)) / theta**2 if theta > 1e-4 else 1.0 / 12.0
    u = d - 0.5 * np.cross(phi, d) + b * np.cross(phi, np.cross(phi, d))
    return np.concatenate([u / length - [1.0, 0.0, 0.0], phi / length])
