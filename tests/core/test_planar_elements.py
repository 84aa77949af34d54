"""The planar rod element, eight per vector: strains, forces and tangent of small and large rotations, mixed
in any order.
"""

import numpy as np
import pytest

from discretization.planar.element import (
    forces,
    linear_part,
    start_of_step,
    tangent,
    with_damping,
)
from discretization.planar.element_lanes import (
    AB,
    BA,
    FORCES_A,
    FORCES_B,
    ITEM,
    ROUNDOFF_A,
    ROUNDOFF_B,
    element_offsets,
)
from rigid.compilation.decorators import inline_kernel, kernel
from rigid.lanes import WIDTH, load, store

H = 0.01
# relative rotation at the start, and rotations of a step: of a fine mesh, a coarse one, a bow, and all of these mixed
TURNS = {
    "none": (np.zeros(8), 0.0),
    "fine": (1e-3 * np.linspace(-1.0, 1.0, 8), 1e-3),
    "coarse": (np.linspace(-0.2, 0.2, 8), 0.05),
    "bow": (np.linspace(-1.5, 1.5, 8), 0.4),
    "folded": (np.linspace(-2.5, 2.5, 8), 0.3),
    "all": (np.array([0.0, 1e-6, -1e-3, 0.02, -0.1, 0.4, 1.2, -2.0]), np.array([0, 1e-7, 1e-4, 0.02, 0.3, 0.9, 0.6, 0.1])),
}  # fmt: skip


@inline_kernel
def _at(x, i):
    return load(x, WIDTH * i)


@inline_kernel
def _nine(x, i):
    return (
        _at(x, i), _at(x, i + 1), _at(x, i + 2), _at(x, i + 3), _at(x, i + 4),
        _at(x, i + 5), _at(x, i + 6), _at(x, i + 7), _at(x, i + 8),
    )  # fmt: skip


@kernel
def _evaluated(x, h, out):
    """Evaluate eight elements of x (40, 8).

    Rows of x: w, z, c, s of a and of b at the start; c, s, psi of both at the end; e, its change, L, C, D,
    strain0.
    """
    e0, d, L = (_at(x, 14), _at(x, 15)), (_at(x, 16), _at(x, 17)), _at(x, 18)
    y, tau, E = start_of_step(
        (_at(x, 0), _at(x, 1), _at(x, 2), _at(x, 3)), (_at(x, 4), _at(x, 5), _at(x, 6), _at(x, 7)), e0, L
    )
    w, c = linear_part(_nine(x, 19), (_at(x, 37), _at(x, 38), _at(x, 39)), E)
    w, c = with_damping(w, c, _nine(x, 28), E, h)
    start = y, tau, w, c, e0
    a, b, e1 = (
        (_at(x, 2), _at(x, 3), _at(x, 8), _at(x, 9), _at(x, 10)),
        (_at(x, 6), _at(x, 7), _at(x, 11), _at(x, 12), _at(x, 13)),
        (e0[0] + d[0], e0[1] + d[1]),
    )
    status, F, E1, linearised = forces(start, a, b, e1, L)
    K = tangent(L, linearised)
    for i in range(3):
        store(E[i], out, WIDTH * i)
        store(E1[i], out, WIDTH * (3 + i))
    for i in range(4):
        store(F[i], out, WIDTH * (6 + i))
    for i in range(16):
        store(K[i], out, WIDTH * (10 + i))
    return status


class Eight:
    """Elements with random parameters, in a step of any size."""

    def __init__(self, name, seed=0):
        rng = np.random.default_rng(seed)
        relative, size = TURNS[name]
        self.at_a = rng.uniform(-3.0, 3.0, 8)
        self.at_b = self.at_a + relative
        self.angles = size * rng.uniform(-1.0, 1.0, (2, 8))
        self.L = rng.uniform(0.1, 2.0, 8)
        self.e0 = self.L * (
            np.stack([np.cos(self.at_a), np.sin(self.at_a)]) + 0.3 * rng.standard_normal((2, 8))
        )
        self.d = size * self.L * rng.standard_normal((2, 8))
        factors = [rng.standard_normal((8, 3, 3)) for _ in range(2)]
        self.C, self.D = (np.einsum("nij,nkj->nik", x, x) + np.eye(3) for x in factors)
        self.strain0 = 0.2 * rng.standard_normal((8, 3))

    def evaluate(self, angles=None, d=None):
        """Strains at both ends of the step, forces, tangent, status."""
        angles = self.angles if angles is None else angles
        d = self.d if d is None else d
        half = np.array([self.at_a, self.at_b]) / 2
        x = []
        for k, at in enumerate((self.at_a, self.at_b)):
            x += [np.cos(half[k]), np.sin(half[k]), np.cos(at), np.sin(at)]
        for k, at in enumerate((self.at_a, self.at_b)):
            x += [np.cos(at + angles[k]), np.sin(at + angles[k]), 2.0 * np.tan(angles[k] / 2)]
        x += [*self.e0, *d, self.L, *self.C.reshape(8, 9).T, *self.D.reshape(8, 9).T, *self.strain0.T]
        out = np.zeros((26, 8))
        status = _evaluated(np.array(x), H, out)
        return out[:3], out[3:6], out[6:10], out[10:].reshape(4, 4, 8), status

    def strains(self, angles, e):
        """Strains by equation (1)."""
        a, b = self.at_a + angles[0], self.at_b + angles[1]
        theta = b - a
        g = np.where(theta == 0.0, 1.0, theta / np.where(theta == 0.0, 1.0, np.sin(theta)))
        s = np.stack([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b)]) / (2 * self.L)
        y = np.stack([s[0] * e[0] + s[1] * e[1], s[0] * e[1] - s[1] * e[0]])
        return np.stack([g * y[0] - 1.0, g * y[1], theta / self.L])

    def energy(self, E):
        d = E.T - self.strain0
        return 0.5 * self.L * np.einsum("ni,nij,nj->n", d, self.C, d)


@pytest.mark.parametrize("name", TURNS)
def test_strains_are_those_of_the_formulas(name):
    eight = Eight(name)
    E0, E1, _, _, status = eight.evaluate()
    assert status == 0
    assert np.abs(E0 - eight.strains(np.zeros((2, 8)), eight.e0)).max() < 1e-14 * 40
    assert np.abs(E1 - eight.strains(eight.angles, eight.e0 + eight.d)).max() < 1e-14 * 40


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TURNS)
def test_forces_do_the_work_of_energy_and_dissipation(name, seed):
    eight = Eight(name, seed)
    E0, E1, (n1, n2, ta, tb), _, _ = eight.evaluate()
    psi = 2.0 * np.tan(eight.angles / 2)
    work = n1 * eight.d[0] + n2 * eight.d[1] + ta * psi[0] + tb * psi[1]
    change = E1 - E0
    dissipated = eight.L / H * np.einsum("in,nij,jn->n", change, eight.D, change)
    size = eight.energy(E0) + eight.energy(E1) + dissipated
    assert np.abs((work - (eight.energy(E1) - eight.energy(E0)) - dissipated) / size).max() < 5e-14


@pytest.mark.parametrize("name", TURNS)
def test_forces_balance_each_other(name):
    """The mean forces have no moment about any point."""
    eight = Eight(name)
    _, _, (n1, n2, ta, tb), _, _ = eight.evaluate()
    e = eight.e0 + 0.5 * eight.d
    moment = e[0] * n2 - e[1] * n1 + ta + tb
    assert np.abs(moment).max() < 1e-13 * np.abs([n1, n2, ta, tb]).max()


@pytest.mark.parametrize("name", TURNS)
def test_the_tangent_is_the_derivative_of_the_forces(name):
    eight, step = Eight(name), 1e-6
    K = eight.evaluate()[3]
    for column in range(4):
        both = []
        for sign in (1.0, -1.0):
            angles, d = eight.angles.copy(), eight.d.copy()
            if column < 2:
                d[column] += sign * step
            else:
                angles[column - 2] += sign * step
            both.append(eight.evaluate(angles, d)[2])
        slope = (both[0] - both[1]) / (2 * step)
        assert np.abs(K[:, column] - slope).max() < 2e-7 * np.abs(K).max()


def test_relative_rotation_beyond_pi_is_reported():
    eight = Eight("fine")
    angles = eight.angles.copy()
    angles[0, 5], angles[1, 5] = -1.6, 1.6
    assert eight.evaluate(angles)[4] == 1
    angles[0, 5], angles[1, 5] = -1.5, 1.5
    assert eight.evaluate(angles)[4] == 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_accumulated_relative_rotation_beyond_pi_is_reported(sign):
    eight = Eight("none")
    eight.at_b[2] += 2.8 * sign
    angles = eight.angles.copy()
    for further, status in ((0.33, 0), (0.35, 1), (-2.8, 0)):
        angles[1, 2] = further * sign
        assert eight.evaluate(angles)[4] == status


@pytest.mark.parametrize("m", [1, 7, 8, 9, 16])
def test_padding_of_a_group_is_written_to_a_discarded_row(m):
    ends = np.stack([np.arange(m) + 1, np.arange(m)], axis=1)
    ends[::2] = ends[::2, ::-1]
    rows = element_offsets(np.arange(m + 2), ends, np.arange(m), m + 1)
    assert rows.shape[1] == WIDTH * -(-m // WIDTH)
    assert rows[ITEM, :m].tolist() == list(range(m))
    assert set(rows[ITEM, m:]) <= {m - 1}
    ground = element_offsets(np.arange(m + 2), np.full((1, 2), m + 1), np.zeros(1, int), m + 1)
    for row in (FORCES_A, FORCES_B, ROUNDOFF_A, ROUNDOFF_B):
        assert set(rows[row, m:]) <= {ground[row, 0]}
        assert ground[row, 0] not in rows[row, :m]
    assert set(rows[AB : BA + 1, m:].ravel()) <= {2 * (m + 1)}
    # the first of both kinds are the rows of the later position and the columns of the earlier one
    later = rows[AB, :m] - np.arange(m)
    assert (later == np.where(ends[:, 0] < ends[:, 1], m + 1, 0)).all()
    assert (rows[BA, :m] - np.arange(m) == m + 1 - later).all()
