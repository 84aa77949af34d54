"""Laws of the quaternion algebra and of the rotation kernels."""

import numpy as np
import pytest

from rigid import quaternions
from rigid.kinematics.rotations import cayley_rotation, inverse_tangent, rotated, rotation_matrix
from rigid.linear_algebra import product
from rigid.vectors import FEW, cross

rng = np.random.default_rng(0)
P, Q = quaternions.normalize(rng.standard_normal((2, 40, 4)))
ANGLES = [1.0, 1e-3, 1e-8, 1e-12, 1e-16]


def test_rotation_of_a_product_is_the_product_of_rotations():
    difference = quaternions.to_matrix(quaternions.multiply(P, Q)) - quaternions.to_matrix(
        P
    ) @ quaternions.to_matrix(Q)
    assert np.abs(difference).max() < 4e-15


def test_matrix_and_quaternion_are_inverse_to_each_other():
    recovered = quaternions.from_matrix(quaternions.to_matrix(P))
    assert np.abs(np.abs(np.sum(recovered * P, axis=1)) - 1).max() < 1e-15


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_half_turns_have_a_quaternion(axis):
    R = 2 * np.outer(axis, axis) - np.eye(3)
    assert np.allclose(quaternions.to_matrix(quaternions.from_matrix(R)), R, atol=1e-15)


def test_rotating_by_quaternion_is_rotating_by_matrix():
    x = rng.standard_normal((40, 3))
    assert np.allclose(
        quaternions.rotate(P, x), np.einsum("nij,nj->ni", quaternions.to_matrix(P), x), atol=1e-14
    )


@pytest.mark.parametrize("angle", [3.0, *ANGLES])
def test_exponential_and_logarithm_are_inverse_at_every_size(angle):
    w = angle * np.array([2.0, -1.0, 2.0]) / 3
    assert (
        np.abs(quaternions.to_rotation_vector(quaternions.from_rotation_vector(w)) - w).max() < 4e-16 * angle
    )


@pytest.mark.parametrize("size", ANGLES)
def test_cayley_rotation_has_the_angle_two_arctan_half(size):
    psi = size * np.array([2.0, -1.0, 2.0]) / 3
    w = psi / size * 2 * np.arctan(size / 2)
    turned = cayley_rotation(tuple(psi), (1.0, 0.0, 0.0, 0.0))
    assert np.abs(np.array(turned)[1:] - quaternions.from_rotation_vector(w)[1:]).max() < 3e-16 * size


def test_change_of_rotation_is_psi_cross_the_mean():
    psi, q = (0.7, -0.4, 1.1), tuple(float(x) for x in P[0])
    R0, R1 = (np.array(rotation_matrix(x)).reshape(3, 3) for x in (q, cayley_rotation(psi, q)))
    assert np.abs(R1 - R0 - np.cross(psi, (R0 + R1) / 2, axisb=0, axisc=0)).max() < 1e-15


def test_inverse_tangent_is_the_derivative_of_the_cayley_vector():
    psi, eta, step = np.array([0.7, -0.4, 1.1]), np.array([0.3, 0.9, -0.2]), 1e-6

    def cayley_vector(t):
        rotation = quaternions.from_rotation_vector(t * eta)
        q = quaternions.multiply(rotation, cayley_rotation(tuple(psi), (1.0, 0.0, 0.0, 0.0)))
        return 2 * q[1:] / q[0]

    difference = (cayley_vector(step) - cayley_vector(-step)) / (2 * step)
    Tinv = np.array(inverse_tangent(tuple(psi))).reshape(3, 3)
    assert np.abs(Tinv @ eta - difference).max() < 1e-9


def test_products_of_tuples_are_matrix_products():
    A, B = rng.standard_normal((2, 3, 3))
    C = product(tuple(A.ravel()), tuple(B.ravel()))
    assert np.allclose(np.reshape(C, (3, 3)), A @ B, atol=1e-15)


def test_single_vector_operations_are_bitwise_those_of_arrays():
    generator = np.random.default_rng(2)
    q, a, b = (generator.normal(size=(200, n)) * (generator.random((200, n)) < 0.8) for n in (4, 3, 3))
    for k in range(200):
        assert cross(a[k], b[k]).tobytes() == np.cross(a[k], b[k]).tobytes()
        assert quaternions.rotate(q[k], a[k]).tobytes() == quaternions.rotate(q, a)[k].tobytes()
    for n in (1, 2, FEW, FEW + 1):
        assert cross(a[:n], b[:n]).tobytes() == np.cross(a[:n], b[:n]).tobytes()
        assert quaternions.rotate(q[:n], a[:n]).tobytes() == quaternions.rotate(q, a)[:n].tobytes()
    assert cross(a[:0], b[:0]).shape == quaternions.rotate(q[:0], a[:0]).shape == (0, 3)
    turned = [rotated(tuple(p), tuple(x)) for p, x in zip(q.tolist(), a.tolist(), strict=True)]
    assert np.array(turned).tobytes() == quaternions.rotate(q, a).tobytes()
    assert cross(a, b).tobytes() == np.cross(a, b).tobytes()
    assert cross(a[:, None], b[:5]).tobytes() == np.cross(a[:, None], b[:5]).tobytes()
