"""Shared models and helpers: rod elements."""

import numpy as np

from discretization.space import cayley_element, lagrange_element, midpoint_element, relative_element
from discretization.space.rod_gauss_points import POINT
from rigid import quaternions
from rigid.mechanics.mechanical_system import call
from tests.support.interactions import random_rotation

FAMILIES = (lagrange_element, relative_element, cayley_element, midpoint_element)
LENGTH, TAU = 0.8, 0.7


def poses(kind, rng, bend=0.5):
    """Poses (p + 1, 4, 3) of a strongly bent and stretched element; rotations between frames of size `bend`."""
    quat = [random_rotation(rng, rng.uniform(0, 3))]
    for _ in range(kind.arity - 1):
        quat.append(quaternions.multiply(quat[-1], random_rotation(rng, bend)))
    directors = np.swapaxes(quaternions.to_matrix(np.array(quat)), 1, 2)
    return np.concatenate([rng.normal(size=(kind.arity, 1, 3)), directors], axis=1)


def value(kind, y, X):
    out = np.zeros(3, complex)
    call(kind.value, (np.ascontiguousarray(y, complex), X, out))
    return out[0]


def strains(kind, y):
    """Strains (p, 6), Gamma and K, at the quadrature points."""
    p = kind.arity - 1
    family = next(family for family in FAMILIES if kind in family.ENERGIES.values())
    out = np.zeros(6 * p, complex)
    X = np.concatenate([[p, LENGTH], np.zeros(POINT * p)])
    call(family.STRAINS[p].value, (np.ascontiguousarray(y, complex), X, out))
    return out.real.reshape(p, 6)
