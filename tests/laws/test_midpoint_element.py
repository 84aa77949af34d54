"""The midpoint element discretises 003: its strains and energy are those of quaternions on a staggered grid."""

import numpy as np
import pytest

from discretization.continuum.kinematics import Gamma, Omega
from discretization.continuum.lagrangian import potential_density
from discretization.continuum.material import material
from discretization.space.midpoint_element import ENERGIES
from rigid import quaternions
from tests.support.interactions import random_rotation
from tests.support.rod_elements import LENGTH, poses, strains, value

KIND = ENERGIES[1]
N, M = [4.0, 3.0, 2.0], [0.3, 0.4, 0.5]


def midpoint_differences(y):
    """q, phi_S and q_S at the midpoint, q of length 1 and q_S in proportion: nodes have q_a . q_b > 0."""
    q = np.array([quaternions.from_matrix(directors.T) for directors in y[:, 1:]])
    q[1] *= np.sign(q[0] @ q[1])
    middle = np.linalg.norm(q.sum(axis=0)) / 2
    return q.sum(axis=0) / (2 * middle), (y[1, 0] - y[0, 0]) / LENGTH, (q[1] - q[0]) / (LENGTH * middle)


@pytest.mark.parametrize("bend", [1e-9, 1e-3, 0.5, 2.0, 3.0])
def test_strains_are_quaternion_differences(bend):
    y = poses(KIND, np.random.default_rng(1), bend)
    q, phi_S, q_S = midpoint_differences(y)
    exact = np.concatenate([Gamma(q, phi_S), Omega(q, q_S)])
    assert strains(KIND, y)[0] == pytest.approx(exact, abs=1e-13 / np.cos(bend / 2))


@pytest.mark.parametrize("bend", [1e-3, 0.5, 2.0])
def test_energy_is_the_paper_density_on_a_staggered_grid(bend):
    y = poses(KIND, np.random.default_rng(2), bend)
    q, phi_S, q_S = midpoint_differences(y)
    density = potential_density(material(1.0, [1.0, 1.0, 1.0], N, M, 1.0), q, phi_S, q_S)
    X = np.concatenate([[1.0, LENGTH], np.diag([*N, *M]).ravel(), np.zeros(12)])
    assert value(KIND, y, X).real == pytest.approx(LENGTH * density, rel=1e-12)


def test_pure_bending_strain_is_four_tan_of_a_quarter_angle():
    angle = 2.0
    y = np.tile(np.concatenate([np.zeros((1, 3)), np.eye(3)]), (2, 1, 1))
    y[1, 1:] = quaternions.to_matrix([np.cos(angle / 2), 0, 0, np.sin(angle / 2)]).T
    assert strains(KIND, y)[0, 3:] == pytest.approx([0, 0, 4 * np.tan(angle / 4) / LENGTH], rel=1e-14)


def test_strains_are_independent_of_the_quaternion_sign():
    """Frames rotated by more than pi in total are connected the short way."""
    rng = np.random.default_rng(3)
    y = poses(KIND, rng, 0.5)
    y[:, 1:] = y[:, 1:] @ quaternions.to_matrix(random_rotation(rng, 3.1)).T
    q, phi_S, q_S = midpoint_differences(y)
    assert strains(KIND, y)[0] == pytest.approx([*Gamma(q, phi_S), *Omega(q, q_S)], abs=1e-13)
