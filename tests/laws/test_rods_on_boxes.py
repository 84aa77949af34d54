"""Rods that meet boxes: what is kept, what it is like on a plane, what rubs."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.listed_gaps import from_boxes
from rodsim import Model, audit
from tests.support.contacts import turned
from tests.support.solids import ON_EDGE, RUBBER, UP, about, add_box, change, run

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")
MEETINGS = {  # orientation of the box, ends of the rod above it
    "flat": (UP, [(-0.1, 0.01, 0.062), (0.1, 0.02, 0.062)]),
    "across an edge": (ON_EDGE, [(0.01, -0.1, 0.083), (0.02, 0.1, 0.084)]),
    "on its end": (UP, [(0.01, 0.02, 0.062), (0.03, 0.01, 0.25)]),
    "at a corner": (about((1, -1, 0), np.arctan(2**0.5)), [(-0.1, 0.0, 0.098), (0.1, 0.01, 0.099)]),
}


@pytest.mark.parametrize("losses", [{}, {"friction": 0.4, "restitution": 0.6}], ids=["kept", "lost"])
@pytest.mark.parametrize("name", MEETINGS)
def test_a_rod_that_falls_on_a_box_keeps_energy_and_momenta(name, losses):
    quat, ends = MEETINGS[name]
    model = Model("fall", gravity=(0, 0, 0))
    box = add_box(model, "box", (0, 0, 0), quat, omega=(0.3, -0.2, 0.1))
    rod = model.add_rod("rod", ends, RUBBER, 4, velocity=(0.2, 0.1, -1.0))
    model.add_contact("c", rod, box, 4e5, stations=16, **losses)
    result = run(model, 0.02, 2.5e-4)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").normal_force.max() > 1.0
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 1e-3 * energy[0]) == bool(losses)
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert audit(result).ok


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_rod_lies_and_slides_on_a_face_as_on_a_plane(friction):
    """Pushed along and aside: with friction it stops along, and comes to roll aside with two thirds of its speed."""
    k, found = 2e4, []
    deep = RUBBER.mass_per_length * 9.81 / k
    for on_box in (True, False):
        model = Model("slides", gravity=(0, 0, -9.81))
        ends = [(x, 0.01, 0.01 - deep) for x in (-0.1, 0.1)]
        rod = model.add_rod("rod", ends, RUBBER, 2, velocity=(0.3, 0.1, 0))
        if on_box:
            other = add_box(model, "box", (0, 0, -0.05), size=(1.0, 0.6, 0.1), radius=0.0)
            model.add_joint("held", "clamp", model.bodies["box"].at((0, 0, 0)))
        else:
            other = model.add_plane("plane", model.ground.at((0, 0, 0)), (0, 0, 1))
        model.add_contact("c", rod, other, k, friction=friction, stations=8)
        found.append(run(model, 0.15, 1e-3, every=10))
    one, plane = (own.rod("rod") for own in found)
    assert np.abs(one.r - plane.r).max() < 1e-9
    assert found[0].contact("c").tangential_force == pytest.approx(
        found[1].contact("c").tangential_force, abs=1e-6
    )
    along, aside = np.abs(one.v[-1, :, 0]).max(), one.v[-1, :, 1]
    assert (along < 0.05) == (friction > 0.0)
    assert aside == pytest.approx(0.1 * (2.0 / 3.0 if friction else 1.0), rel=0.03)


def test_segments_are_as_far_from_boxes_as_their_nearest_points():
    rng = np.random.default_rng(1)
    half, fine = np.array([0.3, 0.2, 0.1]), np.linspace(0.0, 1.0, 401)[:, None]
    signs = set()
    for _ in range(200):
        a, b = 0.6 * rng.normal(size=(2, 3))
        R = turned(rng, rng.uniform(0.0, 3.0))
        out = np.zeros(1)
        local = a + fine * (b - a)
        all_points = np.concatenate([[a, b, np.zeros(3)], np.diag(half)]) @ R + 0.3
        from_boxes(np.ascontiguousarray(all_points), np.array([[0, 1, 2, 2]]), np.array([[False, True]]), out)
        beyond = np.maximum(np.abs(local) - half, 0.0)
        least = np.linalg.norm(beyond, axis=1).min()
        signs.add(bool(out[0] > 0.0))
        if least > 0.0:
            assert out[0] == pytest.approx(least, abs=2e-3)
        else:  # out of the core by no less than its deepest point is below a face
            assert out[0] <= -(half - np.abs(local)).min(axis=1).max() + 1e-12
    assert signs == {True, False}
