"""Twist, writhe and link of polygons: Calugareanu and White's law holds for the polygon itself."""

import numpy as np
import pytest

from rigid.quaternions import rotate
from rodsim import Material, Model, Section, signals, simulate
from rodsim.results.twist_and_writhe import ends_of, twist, writhe


def quaternions(d1, d2):
    """Section axes (n, 4): d1, and d2 without its component along d1."""
    from scipy.spatial.transform import Rotation

    d1 = d1 / np.linalg.norm(d1, axis=-1, keepdims=True)
    d2 = d2 - np.sum(d1 * d2, axis=-1, keepdims=True) * d1
    d2 = d2 / np.linalg.norm(d2, axis=-1, keepdims=True)
    axes = np.stack([d1, d2, np.cross(d1, d2)], axis=-1)
    return Rotation.from_matrix(axes).as_quat(scalar_first=True)


def torus_knot(n, p=2, q=3):
    """Nodes and section axes, d2 out of the torus: p times round, q times through; right-handed."""
    t = 2 * np.pi * np.arange(n) / n
    out = np.column_stack([np.cos(q * t) * np.cos(p * t), np.cos(q * t) * np.sin(p * t), -np.sin(q * t)])
    r = 2 * np.column_stack([np.cos(p * t), np.sin(p * t), 0 * t]) + out
    return r, quaternions(np.roll(r, -1, axis=0) - np.roll(r, 1, axis=0), out)


@pytest.mark.parametrize(("p", "q"), [(2, 3), (3, 2), (2, 5)])
@pytest.mark.parametrize("n", [40, 97])
def test_link_of_a_knot_is_that_of_its_frame_on_the_torus(n, p, q):
    """The edge winds about the knot p q times, to round-off on a coarse polygon; with opposite sign for the
    mirror image.
    """
    r, quat = torus_knot(n, p, q)
    assert twist(r, quat, closed=True) + writhe(r) == pytest.approx(p * q, abs=1e-12)
    across = np.diag([1.0, 1.0, -1.0])
    d1, d2 = (rotate(quat, np.eye(3)[k]) @ across for k in (0, 1))
    assert twist(r @ across, quaternions(d1, d2), closed=True) + writhe(r @ across) == pytest.approx(-p * q)


def test_link_of_every_frame_of_a_closed_polygon_is_an_integer():
    random = np.random.default_rng(3)
    t = 2 * np.pi * np.arange(60) / 60
    waves = np.array([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t), np.cos(3 * t), np.sin(3 * t)])
    r = np.einsum("mcw,wn->mnc", random.normal(size=(20, 3, 6)), waves)
    directors = np.einsum("mcw,wn->mnc", random.normal(size=(20, 3, 6)), waves)
    tilted = (
        np.roll(r, -1, axis=1) - np.roll(r, 1, axis=1) + 0.1 * random.normal(size=r.shape)
    )  # sections shear
    link = twist(r, quaternions(tilted, directors), closed=True) + writhe(r)
    assert np.abs(link - np.round(link)).max() < 1e-11
    assert len(set(np.round(link))) > 2


def test_writhe_is_the_integral_of_gauss():
    r = np.random.default_rng(5).normal(size=(7, 3))
    ends = np.random.default_rng(6).normal(size=(2, 3))
    x, w = np.polynomial.legendre.leggauss(60)
    x, w = 0.5 * (x + 1), 0.5 * w

    def integral(a, b, c, d, rays=(False, False)):
        """Gauss integral from a to b and from c to d; a ray extends from its second point, or backwards from
        its first.
        """

        def place(p, q, ray):
            at = (x / (1 - x) if ray else x)[:, None]
            return p + at * (q - p), w / ((1 - x) ** 2 if ray else 1.0)

        (one, w1), (two, w2) = place(a, b, rays[0]), place(c, d, rays[1])
        between = one[:, None] - two[None]
        value = between @ np.cross(b - a, d - c) / np.linalg.norm(between, axis=-1) ** 3
        return w1 @ value @ w2

    pairs = [(i, j) for i in range(7) for j in range(i + 2, 7) if (i, j) != (0, 6)]
    closed = np.vstack([r, r[:1]])
    gauss = sum(integral(closed[i], closed[i + 1], closed[j], closed[j + 1]) for i, j in pairs)
    assert writhe(r) == pytest.approx(gauss / (2 * np.pi), abs=1e-6)
    gauss = sum(integral(r[i], r[i + 1], r[j], r[j + 1]) for i, j in pairs if j < 6)
    gauss += sum(integral(r[i], r[i + 1], r[6], r[6] + ends[1], (False, True)) for i in range(5))
    gauss += sum(-integral(r[0], r[0] - ends[0], r[j], r[j + 1], (True, False)) for j in range(1, 6))
    gauss += -integral(r[0], r[0] - ends[0], r[6], r[6] + ends[1], (True, True))
    assert writhe(r, ends) == pytest.approx(gauss / (2 * np.pi), abs=1e-4)


def test_helix_has_the_twist_of_its_torsion_and_the_writhe_of_its_turns():
    """Three turns of slope c about z, d2 to the axis: twist 3 c, so that with ends along z writhe is 3 (1 - c)."""
    t = np.linspace(0, 6 * np.pi, 301)
    pitch = 0.5
    c = pitch / np.hypot(1.0, pitch)
    r = np.column_stack([np.cos(t), np.sin(t), pitch * t])
    tangent = np.column_stack([-np.sin(t), np.cos(t), pitch + 0 * t])
    quat = quaternions(tangent, -np.column_stack([np.cos(t), np.sin(t), 0 * t]))
    assert twist(r, quat) == pytest.approx(3 * c, rel=1e-3)
    upright = np.array([(0, 0, 1.0), (0, 0, 1.0)])
    assert writhe(r, upright) == pytest.approx(3 * (1 - c), rel=1e-2)
    assert np.array_equal(
        writhe(np.stack([r, r]), np.stack([upright, upright])), np.repeat(writhe(r, upright), 2)
    )


def test_buckled_twisted_rod_conserves_its_linking_number():
    """On a coarse mesh, at every output: link is the applied end rotation, while a part of it becomes writhe."""
    section = Section.circular(0.01, Material(E=1e8, nu=0.5, density=1000.0))
    model = Model("twisted")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    model.add_joint("held", "clamp", rod.start)
    motor = model.add_driven("motor", (1, 0, 0), turn=signals.Steady(2 * np.pi * 2.8), axis=(1, 0, 0))
    model.add_joint("turned", "prismatic", motor, rod.end, at=(1, 0, 0), axis=(1, 0, 0))
    model.add_mass_damping("air", rod, 2.0, rotation=1e-3)
    model.add_force("aside", rod.at(0.5), (0, 0, -0.1))
    result = simulate(model, 1.0, 5e-3, output_every=10, progress=False)
    history = result.rod("rod")
    assert np.abs(history.link - 2.8 * result.t).max() < 1e-10
    assert np.abs(history.writhe).max() > 0.1
    assert np.array_equal(ends_of(history.quat)[:, 0], rotate(history.quat[:, 0], np.array([1.0, 0, 0])))
