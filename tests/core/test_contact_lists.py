"""Lists of pairs that may touch: no pair that is near is missed, and what could have passed is seen.

Of rods the same is asserted in test_heaps.py, of meshes in test_contact_geometry.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.nearest import passing
from rodsim import Model, Sphere, simulate


def test_every_pair_of_balls_that_is_near_acts() -> None:
    """Balls of all sizes bounce off each other; their energy is that of all pairs, listed or not."""
    way, k, n = np.random.default_rng(3), 1e4, 100
    radii, places, spheres = np.geomspace(0.01, 0.25, n), np.zeros((n, 3)), []
    model = Model("balls")
    i, j = np.triu_indices(n, 1)
    for b in range(n):
        while True:
            places[b] = way.uniform(-1, 1, 3)
            apart = np.linalg.norm(places[:b] - places[b], axis=1) - radii[:b] - radii[b]
            if apart.min(initial=1.0) > 0.0:
                break
        body = model.add_body(
            f"{b}", Sphere(radii[b], mass=1.0), tuple(places[b]), velocity=tuple(way.normal(size=3))
        )
        spheres.append(model.add_sphere(f"{b}", body, radii[b]))
    model.add_contact("all", spheres, stiffness=k)
    result = simulate(model, 0.3, 2e-3, output_every=5, progress=False)
    r = np.array([result.body(f"{b}").r for b in range(n)])
    gap = np.linalg.norm(r[i] - r[j], axis=2) - (radii[i] + radii[j])[:, None]
    energy = 0.5 * k * np.sum(np.maximum(-gap, 0.0) ** 2, axis=0)
    contact = result.contact("all")
    assert contact.touching.tolist() == np.sum(gap < 0.0, axis=0).tolist()
    assert contact.energy == pytest.approx(energy, rel=1e-10)
    assert result.energy["spring"] == pytest.approx(energy, rel=1e-10)
    assert contact.gap == pytest.approx(gap.min(axis=0), abs=1e-13)
    assert contact.touching.sum() > 50
    assert np.unique(np.argwhere(gap < 0.0)[:, 0]).size > 25  # pairs


@pytest.mark.parametrize(
    ("by", "passed"),
    [
        ((0.0, 0.0, -0.6), True),  # through
        ((0.0, 0.0, -0.3), True),  # into the other
        ((0.0, 0.0, -0.2), False),  # nearer
        ((0.0, 0.0, 0.3), False),  # away
        ((3.0, 0.0, 0.0), False),  # along
        ((0.0, 0.35, -0.18), True),  # along the other that it touches, further than they are apart
        ((0.0, 0.25, -0.14), False),
    ],
)
def test_what_could_have_passed_is_seen(by: tuple[float, float, float], passed: bool) -> None:
    """Crossing segments, one of which moves from 0.3 above the other; they touch at 0.2."""
    one = np.array([[-1.0, 0, 0.3], [1.0, 0, 0.3]])
    other = np.array([[0.0, -1.0, 0], [0.0, 1.0, 0]])
    points = np.stack([np.vstack([one + shift, other]) for shift in (np.zeros(3), np.array(by))])
    for ends in ([[0, 1, 2, 3]], [[2, 3, 0, 1]]):
        for order in (1, -1):  # in time
            out = np.zeros(1, np.uint8)
            passing(np.ascontiguousarray(points[::order]), np.array(ends), np.array([0.2]), out)
            assert bool(out[0]) == passed
