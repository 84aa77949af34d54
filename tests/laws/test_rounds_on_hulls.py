"""Cylinders and cones that meet boxes, hulls, capsules and each other: what is kept, rests, rolls, how round they are."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.core_gaps import between_cores, from_cores
from discretization.contact.core_numbers import POINTS_OF_RIM, with_facets
from discretization.contact.table import Hull, Round
from rigid.errors import ConvergenceError, ModelError
from rigid.interactions.contact.round_hulls import ROUND_HULLS
from rigid.kinematics.cores import POLYTOPE
from rigid.kinematics.facets import facet_axes, mean_slopes, next_axis
from rodsim import Box, Model, audit, simulate
from tests.support.contacts import CYLINDER, SIGNS, core_block, dual, touch, turned
from tests.support.solids import (
    ACROSS,
    ALONG_X,
    ALONG_Y,
    BODIES,
    ON_CORNER,
    UP,
    A,
    G,
    K,
    R,
    about,
    add,
    change,
    run,
)

SHORT = 1.0 - np.cos(
    np.pi / POINTS_OF_RIM
)  # of the radius: by how much a rim is too small between its points
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


MEETINGS = {  # shape and orientation of the first, of the second, and its place
    "cylinder on a box, lying": ("box", UP, "cylinder", ALONG_Y, (0.02, 0.03, 0.105)),
    "cylinder on a box, over its edge": ("box", UP, "cylinder", about((1, 0, 0), 0.02), (0.04, 0.03, 0.107)),
    "cylinder on a box, on its rim": ("box", UP, "cylinder", about((1, 1, 0), 0.7), (0.01, 0.02, 0.125)),
    "box on a cylinder, edge on side": ("cylinder", ALONG_X, "box", ACROSS, (0.005, 0.01, 0.13)),
    "box on a cylinder, corner on end": ("cylinder", UP, "box", ON_CORNER, (0.01, 0.005, 0.14)),
    "cylinder on a hexagon": ("hexagon", UP, "cylinder", about((0.3, 1, 0), 0.4), (0.02, 0.01, 0.12)),
    "cylinders, crossed": ("cylinder", ALONG_X, "cylinder", ALONG_Y, (0.01, 0.02, 0.11)),
    "cylinders, end on end": ("cylinder", UP, "cylinder", about((1, 0, 0), 0.05), (0.01, 0.02, 0.107)),
    "cylinders, side by side": ("cylinder", ALONG_X, "cylinder", ALONG_X, (0.03, 0.02, 0.102)),
    "cone on a cylinder, on its tip": ("cylinder", UP, "cone", about((1, 0, 0), 0.2), (0.01, 0.005, 0.047)),
    "cone on a box, lying": ("box", UP, "cone", about((1, 0.2, 0), 1.15), (0.01, 0.04, 0.055)),
    "capsule on a cylinder, across": ("cylinder", ALONG_Y, "capsule", ALONG_X, (0.01, 0.01, 0.08)),
    "capsule on a cylinder, over its rim": ("cylinder", UP, "capsule", ALONG_X, (0.03, 0.01, 0.08)),
}


@pytest.mark.parametrize(
    ("name", "loses"),
    [*((name, True) for name in MEETINGS), *((name, False) for name in list(MEETINGS)[::4])],
)
def test_round_bodies_that_collide_keep_energy_and_momenta(name, loses):
    losses = {"friction": (0.4, 0.3), "restitution": 0.6} if loses else {}
    one, quat, other, turn, place = MEETINGS[name]
    model = Model("pair", gravity=(0, 0, 0))
    a = add(model, one, "a", (0, 0, 0), quat, (0, 0, 0), (0.3, -0.2, 0.1))
    b = add(model, other, "b", place, turn, (0.1, 0, -1.0))
    model.add_contact("c", a, b, 4e5, **losses)
    result = run(model, 0.015, 5e-4, every=2)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").energy.max() > 0.01 * energy[0]
    assert result.contact("c").gap.min() == pytest.approx(-result.contact("c").depth.max(), abs=SHORT * A)
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 0.05 * energy[0]) == loses
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert loses or audit(result).ok


@pytest.mark.parametrize(
    ("below", "quat", "part"),
    [("box", ALONG_Y, 1.0), ("box", UP, 16.0), ("cylinder", UP, 16.0)],
    ids=["lying", "standing", "on another"],
)
def test_a_cylinder_laid_flat_rests_at_the_depth_of_the_law(below, quat, part):
    """That of the law where it lies, of half of it for each point of its rim where it stands; it spins as fast as it did."""
    k = 1e6
    model = Model("lies", gravity=(0, 0, -G))
    base = add(model, below, "base", (0, 0, -A / 2), held=True)
    spin = (0, 0, 2.0) if part > 1.0 else (0, 0, 0)
    it = add(model, "cylinder", "it", (0, 0, A / 2 - G / (part * k)), quat, omega=spin)
    model.add_contact("c", base, it, k)
    result = run(model, 0.05, every=5)
    own = result.body("it")
    assert result.newton_iterations.max() < 1.1 or part > 1.0
    assert np.abs(own.r - own.r[0]).max() < 1e-12
    assert np.abs(own.Omega - own.Omega[0]).max() < 1e-10
    assert result.contact("c").normal_force == pytest.approx(G, rel=1e-9)


def test_a_cylinder_rolls_down_a_box_as_on_a_plane_and_feels_no_facet():
    tilt = 0.3
    model = Model("incline", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    base = model.add_body("base", Box(1.0, 1.0, 0.1, mass=1.0), (0.3, 0.2, -0.05))
    model.add_joint("held", "clamp", base.at((0, 0, 0)))
    it = add(model, "cylinder", "it", (0, 0, A / 2 - G * np.cos(tilt) / K), ALONG_Y)
    model.add_contact("c", model.add_solid("base", base, radius=R), it, K, friction=0.5, damping=10.0)
    own = run(model, 0.3, every=10).body("it")
    assert own.r[-1, 0] == pytest.approx(G * np.sin(tilt) * 0.3**2 / 3, rel=1e-3)
    assert np.ptp(own.r[:, 2]) < 1e-12


def test_facets_are_inside_of_a_cylinder_by_less_than_is_told():
    """As seen by a tetrahedron of next to no size, in all directions: no nearer than the cylinder, and next to as near."""
    rng, size = np.random.default_rng(3), 1e-6
    core = core_block(Round(0, np.zeros(3), CYLINDER, 0.0))
    point = core_block(Hull(0, size * SIGNS[[0, 3, 5, 6]], 0.0))
    X, exact, found, most = np.concatenate([point, with_facets(core)]), np.zeros(1), np.zeros(1), 0.0
    middle = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    for _ in range(100):
        x = rng.normal(size=3)
        x *= rng.uniform(0.5, 1.0) / np.linalg.norm(x)
        points = np.concatenate([x + middle @ turned(rng, 1.0), middle @ turned(rng, rng.uniform(0.0, 3.0))])
        between_cores(points, np.array([[0, 0, 4, 4]]), X, np.array([[0, len(point)]]), found)
        from_cores(points, np.array([[0, 0, 4, 4]]), core, np.array([0]), exact)
        assert -2.0 * size < found[0] - exact[0] < SHORT * CYLINDER[1, 0] + 2.0 * size
        most = max(most, found[0] - exact[0])
    assert most > 0.5 * SHORT * CYLINDER[1, 0]


def test_two_cylinders_side_by_side_are_as_far_apart_as_told():
    """In all directions across their axes, however one is turned: further than round ones by what is told of both at most."""
    rng, found = np.random.default_rng(4), np.zeros(1)
    core = core_block(Round(0, np.zeros(3), CYLINDER, 0.0))
    first = with_facets(core, POLYTOPE)
    X, most, r = np.concatenate([first, with_facets(core)]), 0.0, CYLINDER[1, 0]
    middle = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    for _ in range(50):
        way, turn = rng.uniform(0.0, 2.0 * np.pi, 2)
        c, s = np.cos(turn), np.sin(turn)
        R = np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)])
        points = np.concatenate([middle @ R, 0.8 * np.array([np.cos(way), np.sin(way), 0.0]) + middle])
        between_cores(points, np.array([[0, 0, 4, 4]]), X, np.array([[0, len(first)]]), found)
        assert -1e-12 < found[0] - (0.8 - 2.0 * r) < 2.0 * SHORT * r + 1e-12
        most = max(most, found[0] - (0.8 - 2.0 * r))
    assert most > SHORT * r


@pytest.mark.parametrize("angle", [0.3, 2.0])
def test_facets_do_not_turn_with_the_body(angle):
    """However far about its axis in a step: forces stay, and no moment acts about that."""
    t, found = touch(ROUND_HULLS), []
    for turn in (0.0, angle):
        c, s = np.cos(turn), np.sin(turn)
        y1 = t.y1.copy()
        y1[1, 1:] = np.array([(c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)]) @ y1[1, 1:]
        y1[1, 0] += np.array([0.1, -0.05]) @ (t.y1[1, 1:3] - y1[1, 1:3])  # about its own axis
        found.append(dual(t.kind, t.y0, y1, t.X).real)
    assert np.abs(found[0]).max() > 1.0
    assert np.abs(found[1][:, 0] - found[0][:, 0]).max() < 1e-12 * np.abs(found[0]).max()
    assert np.abs(found[1][0] - found[0][0]).max() < 1e-12 * np.abs(found[0]).max()


def axes_at(a):
    found = facet_axes(tuple(a + 0j), next_axis(tuple(a + 0j)), 0.0)
    return np.array(found[:2]), found[2]


def test_what_lies_on_the_side_of_a_box_has_points_of_its_rims_there():
    for k in range(3):
        for turn in np.linspace(0.1, 6.0, 7):
            a, up = np.roll((np.cos(turn), np.sin(turn), 0.0), k), np.roll((0.0, 0.0, 1.0), k)
            axes, _ = axes_at(a)
            assert np.abs(axes @ up).max() == pytest.approx(1.0, abs=1e-14)
            assert axes @ a == pytest.approx([0.0, 0.0], abs=1e-14)


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-3, 0.1])
def test_mean_slopes_of_facets_say_all_that_moves(size):
    rng = np.random.default_rng(1)
    for _ in range(5):
        a = rng.normal(size=3)
        b = a / np.linalg.norm(a) + size * rng.normal(size=3)
        a, b = (tuple(own / np.linalg.norm(own) + 0j) for own in (a, b))
        axis = next_axis(tuple(np.add(a, b)))
        one = facet_axes(a, axis, 0.0)
        other = facet_axes(b, axis, one[2].real)
        slopes = np.array(mean_slopes(a, b, axis, one, other))
        moved = np.array(other[:2]) - np.array(one[:2])
        left = moved - np.einsum("ikc,k->ic", slopes, np.subtract(b, a))
        assert np.abs(left).max() < 4e-15


def test_what_round_bodies_cannot_do_to_each_other_is_said():
    model = Model("no", gravity=(0, 0, 0))
    one, other = add(model, "box", "a", (0, 0, 0)), add(model, "cylinder", "b", (0, 0, 0.09))
    model.add_contact("c", one, other, K)
    with pytest.raises(ModelError, match=r"solid 'b' is 0.01 m inside of solid 'a' at t = 0"):
        run(model, 0.01)
    model = Model("sharp", gravity=(0, 0, 0))
    bodies = [model.add_body(name, BODIES["cylinder"], (k, 0, 0)) for k, name in enumerate("ab")]
    with pytest.raises(ModelError, match=r"solid 'a' and solid 'b' have no rounding, .* give radius="):
        model.add_contact("c", *(model.add_solid(own.name, own) for own in bodies), K)
    model = Model("hard", gravity=(0, 0, 0))
    one, other = (
        add(model, "cylinder", "a", (0, 0, 0)),
        add(model, "cylinder", "b", (0, 0, 0.101), v=(0, 0, -30)),
    )
    model.add_contact("c", one, other, K)
    with pytest.raises(
        ConvergenceError, match=r"a cylinder or cone in contact is pressed through .* of 0.01 m"
    ):
        simulate(model, 0.01, 1e-4, progress=False)
