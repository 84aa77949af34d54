"""The SE(3) rod element: objectivity, exactness for constant strain, discrete derivative, tangent."""

import numpy as np
import pytest
from scipy.linalg import expm

from discretization.space.se3_element import E0, START, discrete_forces, start_of_step, strains, strains_along
from rigid import quaternions
from rigid.kinematics.rotations import cayley_rotation

LENGTH, H = 0.8, 0.1


def constant_strain_pose(Gamma, K, s):
    """Exact pose of a rod of constant strain after the arc length s: exponential of the twist on SE(3)."""
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0, -K[2], K[1]], [K[2], 0, -K[0]], [-K[1], K[0], 0]]
    twist[:3, 3] = np.add(Gamma, (1, 0, 0))
    pose = expm(s * twist)
    return pose[:3, 3], quaternions.from_matrix(pose[:3, :3])


SHAPES = {
    "straight": ((0, 0, 0), (0, 0, 0)),
    "pure bending": ((0, 0, 0), (0, 0, 2.5)),
    "arc with twist": ((0, 0, 0), (1.5, 0.3, -2.0)),
    "stretched and sheared helix": ((0.2, 0.1, -0.3), (1.0, 2.0, 0.5)),
    "nearly straight": ((1e-9, 0, 0), (0, 1e-9, 1e-8)),
    "3 rad": ((0.1, 0, 0.2), (0, 3.0 / LENGTH, 0)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_constant_strain_is_exact_with_one_element(shape):
    Gamma, K = SHAPES[shape]
    r, q = constant_strain_pose(Gamma, K, LENGTH)
    computed = strains([[0, 0, 0]], [[1, 0, 0, 0]], [r], [q], [LENGTH])[0]
    assert np.abs(computed - [*Gamma, *K]).max() < 1e-12


def test_strains_are_objective():
    rng = np.random.default_rng(1)
    ra, rb = rng.standard_normal((2, 10, 3))
    qa = quaternions.normalize(rng.standard_normal((10, 4)))
    qb = quaternions.multiply(qa, quaternions.from_rotation_vector(rng.standard_normal((10, 3))))
    g = quaternions.normalize(rng.standard_normal(4))
    before = strains(ra, qa, rb, qb, LENGTH)
    moved = [
        x
        for r, q in ((ra, qa), (rb, qb))
        for x in (np.add(quaternions.rotate(g, r), (3, 4, 5)), quaternions.multiply(g, q))
    ]
    assert np.abs(strains(*moved, LENGTH) - before).max() < 1e-12


def test_strains_along_a_rod_are_bitwise_those_of_its_elements():
    rng = np.random.default_rng(3)
    r, quat, length = rng.standard_normal((6, 3)), rng.standard_normal((6, 4)), 0.5 + rng.random(5)
    computed = strains_along(r, quat, length)
    assert np.array_equal(computed, strains(r[:-1], quat[:-1], r[1:], quat[1:], length))


def floats(x):
    return tuple(float(v) for v in np.ravel(x))


def step(bend, viscosity=0.0, seed=0, eta=None, tangent=False, diagonal=False):
    """One step of one element: forces (9,), their tangent, work, change of energy, dissipation."""
    rng = np.random.default_rng(seed)
    qa0 = quaternions.normalize(rng.standard_normal(4))
    qb0 = quaternions.multiply(qa0, quaternions.from_rotation_vector(bend * rng.standard_normal(3)))
    e0, de = rng.standard_normal(3), 0.2 * rng.standard_normal(3)
    psi_a, psi_b = 0.3 * rng.standard_normal((2, 3))
    X = rng.standard_normal((6, 6))
    C, strain0 = X @ X.T, 0.1 * rng.standard_normal(6)
    if diagonal:
        C = np.diag(np.diag(C))
    D = viscosity * C
    qa1, qb1 = (np.array(cayley_rotation(floats(p), floats(q))) for p, q in ((psi_a, qa0), (psi_b, qb0)))
    e1 = e0 + de
    if eta is not None:
        e1 = e1 + eta[:3]
        qa1, qb1 = (
            quaternions.multiply(quaternions.from_rotation_vector(x), q)
            for x, q in ((eta[3:6], qa1), (eta[6:], qb1))
        )
    A0, A1, B0, B1 = (floats(quaternions.to_matrix(q)) for q in (qa0, qa1, qb0, qb1))
    start, strain1, K = np.empty(START), np.empty(6), np.empty((9, 9))
    material = LENGTH, C, D, diagonal
    start_of_step((A0, B0, floats(qa0), floats(qb0), floats(e0)), material, strain0, H, start)
    poses0, poses1 = (A0, B0, floats(e0)), (A1, B1, floats(qa1), floats(qb1), floats(e1))
    status, *forces = discrete_forces(poses0, poses1, start, material, H, tangent, strain1, K)
    assert status == 0
    forces = np.concatenate(forces)
    work = forces @ np.concatenate([de, psi_a, psi_b])
    first, last = start[E0 : E0 + 6], strain1
    energy = (
        LENGTH / 2 * ((last - strain0) @ C @ (last - strain0) - (first - strain0) @ C @ (first - strain0))
    )
    lost = LENGTH / H * (last - first) @ D @ (last - first)
    return forces, K, work, energy, lost, (e0 + e1) / 2


BENDS = [1e-9, 0.05, 0.3, 0.9]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bend", BENDS)
def test_work_over_a_step_is_the_change_of_energy(bend, seed):
    _, _, work, energy, _, _ = step(bend, seed=seed)
    assert abs(work - energy) < 1e-13 * (1 + abs(energy))


@pytest.mark.parametrize("bend", BENDS)
def test_viscous_work_is_the_dissipation(bend):
    _, _, work, energy, lost, _ = step(bend, viscosity=0.3)
    assert lost > 0
    assert abs(work - energy - lost) < 1e-12 * (1 + lost)


@pytest.mark.parametrize("bend", BENDS)
def test_internal_forces_have_no_resultant_moment(bend):
    forces, *_, ebar = step(bend)
    moment = forces[3:6] + forces[6:9] + np.cross(ebar, forces[:3])
    assert np.abs(moment).max() < 1e-14 * (1 + np.abs(forces).max())


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("viscosity", [0.0, 0.1])
@pytest.mark.parametrize("bend", BENDS)
def test_tangent_is_the_derivative_of_the_forces(bend, viscosity, diagonal):
    _, K, *_ = step(bend, viscosity, tangent=True, diagonal=diagonal)
    size = 1e-6
    columns = []
    for eta in np.eye(9) * size:
        up, down = (step(bend, viscosity, eta=sign * eta, diagonal=diagonal)[0] for sign in (1, -1))
        columns.append((up - down) / (2 * size))
    assert np.abs(K - np.array(columns).T).max() < 1e-8 * np.abs(K).max()
