"""Decoupled eigenproblems: no coupling between the sets, and together they give the modes of the full problem."""

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.transform import Rotation

from discretization.linearisation import eigen
from discretization.linearisation.uncoupled_sets import uncoupled_sets
from rodsim import Model, Section
from rodsim.small_motions.linear_equations import linearise
from rodsim.small_motions.modal_analysis import modes

SECTION = Section.from_stiffness(
    EA=3e4, GA=(2e4, 1.5e4), GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.3, 0.2)
)


def coupled(seed, n=23):
    """Two symmetric matrices, each coupling a few of n unknowns, not the same ones."""
    rng = np.random.default_rng(seed)
    K, M = np.diag(rng.uniform(1.0, 2.0, n)), np.diag(rng.uniform(1.0, 2.0, n))
    for A, pairs in ((K, 9), (M, 5)):
        for i, j in rng.integers(0, n, (pairs, 2)):
            A[i, j] = A[j, i] = rng.standard_normal()
    return K, M


@pytest.mark.parametrize("seed", range(5))
def test_uncoupled_sets_are_the_connected_components(seed):
    K, M = coupled(seed)
    sets = uncoupled_sets(K, M)
    _, label = scipy.sparse.csgraph.connected_components((K != 0) | (M != 0))
    components = {frozenset(block.unknowns.tolist()) for block in sets}
    assert components == {frozenset(np.flatnonzero(label == k).tolist()) for k in range(label.max() + 1)}
    assert sorted(np.concatenate([block.unknowns for block in sets])) == list(range(len(K)))
    for block in sets:
        among = np.ix_(block.unknowns, block.unknowns)
        assert (K[among] == block.A).all()
        assert (M[among] == block.B).all()


def beam(rotation, n):
    """A clamped rod in any direction, without equal stiffnesses."""
    model = Model("beam")
    along, up = rotation.apply([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rod = model.add_rod("rod", [(0, 0, 0), along], SECTION, n_elements=n, up=up, mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    return model


@pytest.mark.parametrize("n", [4, 12, 30])
def test_frequencies_and_shapes_of_a_rod_do_not_depend_on_its_direction(n):
    rotation = Rotation.from_rotvec([0.3, -0.8, 0.5])
    straight, tilted = modes(beam(Rotation.identity(), n), 10), modes(beam(rotation, n), 10)
    parts = [eigen._reduced(result.linear) for result in (straight, tilted)]
    assert [len(uncoupled_sets(reduced.K, reduced.M)) for reduced in parts] == [
        4,
        1,
    ]  # stretches, twists, bends in two planes
    assert straight.omega == pytest.approx(tilted.omega, rel=1e-11)
    rotated = rotation.inv().apply(tilted.shapes.reshape(-1, 3)).reshape(straight.shapes.shape)
    sign = np.sign(np.sum(rotated * straight.shapes, axis=(1, 2)))
    assert np.abs(sign[:, None, None] * rotated - straight.shapes).max() < 1e-7 * np.abs(rotated).max()


@pytest.mark.parametrize("count", [1, 3, 10, 24])
def test_requested_modes_are_the_lowest_of_all_sets(count):
    lin = linearise(beam(Rotation.identity(), 4))
    eigenvalues = np.sort(scipy.linalg.eigh(*(eigen._reduced(lin)[k] for k in (2, 1)), eigvals_only=True))
    mu, phi, zero = eigen.conservative(lin, count)
    assert mu == pytest.approx(eigenvalues[:count], rel=1e-9)
    assert not zero.any()
    M, K, allowed = lin.full("M"), lin.full("K"), eigen.null_space(lin.full("G"))
    assert phi @ M @ phi.T == pytest.approx(np.eye(count), abs=1e-11)
    residual = allowed.T @ (K @ phi.T - M @ phi.T * mu)
    assert np.abs(residual).max() < 1e-10 * np.abs(K @ phi.T).max()
