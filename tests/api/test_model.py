"""Putting a model together: where anchors and joints end up, what stress-free means, refusals."""

import numpy as np
import pytest

from discretization.interaction_table import loads_of
from discretization.state_measures import energies
from rigid import quaternions
from rodsim import Box, Cone, Material, Model, Section
from rodsim.building.build import Placement

SECTION = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000.0))
LINE = [(0, 0, 0), (1, 0, 0)]
RING = [(np.cos(a), np.sin(a), 0) for a in 2 * np.pi * np.arange(20) / 20]


@pytest.mark.parametrize("up", [None, (1, 0, 1), (0, -1, 0.3)])
def test_a_rod_that_begins_in_its_stress_free_shape_has_no_stress(up):
    angle = np.linspace(0.3, 2.3, 30)
    arc = np.stack([np.cos(angle), np.sin(angle), 0.2 * angle], axis=1)
    model = Model("arc")
    model.add_rod("arc", arc, SECTION, 10, up=up, stress_free=arc)
    built = model.build()
    assert energies(built.system, built.state).elastic < 1e-20  # round-off, squared, of E A L = 6e5 J


def test_the_end_of_a_closed_rod_is_its_start_also_when_rounded():
    model = Model("ring")
    ring = model.add_rod("ring", RING, SECTION, 12, closed=True)
    for k, s in enumerate((0.0, 1.0, 1.0 - 1e-12)):
        model.add_force(f"f{k}", ring.at(s), (0, 0, 1))
    built = model.build()
    assert list(loads_of(built.system.others).frame) == [1, 1, 1]
    assert len(built.layout.rods[0].frames) == 12


def test_a_joint_on_a_lone_body_at_the_origin_forgives_rounding():
    """The two points differ in the last digit; the model has no other size than their distance from the origin."""
    model = Model("pendulum")
    body = model.add_body("b", Box(1, 2, 3, mass=1), orientation=(np.cos(0.3), np.sin(0.3), 0, 0))
    point = quaternions.rotate(body.orientation, (0.1, 0.2, 0.3)) * (1 + 2e-16)
    model.add_joint("j", "spherical", model.ground.at(point), body.at((0.1, 0.2, 0.3)))
    assert len(model.build().state.lam) == 3


def test_points_of_all_sorts_of_parts_are_placed_where_they_are():
    """All at once, and each alone, to the bit; from the frames of their parts, which are in the centres of mass."""
    model = Model("parts")
    turn = quaternions.normalize(np.array([0.8, 0.3, -0.2, 0.45]))
    cone = model.add_body("cone", Cone(0.2, 0.5, density=10.0), (1.0, 2.0, 3.0), turn)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 1, 0)], Section.circular(0.1, Material(1e7, 0.3, 1e3)), 4)
    driven = model.add_driven("driven", (0.0, 1.0, 0.0), turn)
    anchors = [own.at((0.1, -0.2, 0.3)) for own in (cone, model.ground, driven)]
    anchors += [rod.at(0.5, (0.0, 0.01, 0.02)), cone.at((0.0, 0.0, 0.0))]
    placement = Placement(model)
    frames = [1, 0, 7, 4, 1]
    for anchor, placed, frame in zip(anchors, placement.placed(anchors), frames, strict=True):
        assert placed.world == pytest.approx(anchor.position, abs=1e-14)
        own = quaternions.rotate(placement.quat[frame], placed.X)
        assert placement.r[frame] + own == pytest.approx(anchor.position, abs=1e-14)
        assert placed.frame == frame
        assert np.array_equal(placement.place(anchor).world, placed.world)
    assert placement.r[1] == pytest.approx(cone.center, abs=1e-14)
    assert placement.placed([]) == []
