"""Hulls that meet hulls, boxes and capsules: what is kept, rests, holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from rigid.errors import ConvergenceError, ModelError
from rigid.hull_faces import shares_of
from rodsim import Box, Capsule, Model, audit, simulate
from tests.support.solids import (
    ACROSS,
    CORNERS,
    HEXAGON,
    ON_CORNER,
    ON_EDGE,
    UP,
    A,
    G,
    K,
    R,
    about,
    change,
    run,
)

TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / 3**0.5
SHAPES = {"cube": CORNERS * (0.5 * A - R), "hexagon": A * HEXAGON, "tetrahedron": 0.06 * TETRAHEDRON}
ALONG_X = (0.5**0.5, 0.0, 0.5**0.5, 0.0)
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


def add(
    model, shape, name, place, quat=UP, v=(0, 0, 0), omega=(0, 0, 0), mass=1.0, held=False, size=(A, A, A)
):
    """A body with one of SHAPES, of the inertia of a cube, or a box, or a capsule."""
    own = Capsule(0.02, 0.1, mass=mass) if shape == "capsule" else Box(*size, mass=mass)
    body = model.add_body(name, own, place, quat, v, omega)
    if held:
        model.add_joint(f"{name} held", "clamp", body.at((0, 0, 0)))
    if shape in SHAPES:
        return model.add_solid(name, body.at((0, 0, 0)), SHAPES[shape], R)
    return model.add_solid(name, body, radius=R * (shape == "box"))


MEETINGS = {  # shape and orientation of the first, of the second, and its place
    "cubes, corner first": ("cube", UP, "cube", ON_CORNER, (0.01, 0.02, 0.14)),
    "cube on a box, edge on edge": ("cube", ON_EDGE, "box", ACROSS, (0.005, 0.01, 0.145)),
    "hexagon on a box, flat": ("box", UP, "hexagon", UP, (0.02, 0.03, 0.109)),
    "tetrahedron on a hexagon": ("hexagon", UP, "tetrahedron", about((1, 0, 0), 0.3), (0.01, 0.02, 0.11)),
    "capsule on a hexagon, over its edge": ("hexagon", UP, "capsule", ALONG_X, (0.08, 0.01, 0.08)),
    "capsule on a box, on end": ("box", UP, "capsule", about((0, 1, 0), 0.4), (0.02, 0.01, 0.125)),
}


@pytest.mark.parametrize(
    ("name", "loses"), [*((name, True) for name in MEETINGS), (next(iter(MEETINGS)), False)]
)
def test_hulls_that_collide_keep_energy_and_momenta(name, loses):
    losses = {"friction": (0.4, 0.3), "restitution": 0.6} if loses else {}
    one, quat, other, turned, place = MEETINGS[name]
    model = Model("pair", gravity=(0, 0, 0))
    a = add(model, one, "a", (0, 0, 0), quat, (0, 0, 0), (0.3, -0.2, 0.1))
    b = add(model, other, "b", place, turned, (0.1, 0, -1.0), mass=2.0)
    model.add_contact("c", a, b, 4e5, **losses)
    result = run(model, 0.03, 5e-4, every=3)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").energy.max() > 0.01 * energy[0]
    assert result.distance("b", "a") == pytest.approx(result.contact("c").gap, abs=1e-9)
    assert result.contact("c").gap.min() == pytest.approx(-result.contact("c").depth.max())
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 0.05 * energy[0]) == loses
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.body("a").v + 2.0 * result.body("b").v) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert loses or audit(result).ok


@pytest.mark.parametrize("shapes", [("cube", "box"), ("cube", "cube")])
def test_a_stack_of_cubes_as_hulls_rests_as_deep_as_one_of_boxes(shapes):
    """To round-off, with one iteration a step."""
    model, z = Model("stack", gravity=(0, 0, -G)), 0.0
    each = [add(model, shapes[0], "base", (0, 0, -0.5 * A), held=True)]
    for k in range(2):
        z += 0.5 * A - (2 - k) * G / 1e6
        each.append(add(model, shapes[k % 2], f"it {k}", (0, 0, z)))
        z += 0.5 * A
    model.add_contact("c", each, stiffness=1e6)
    result = run(model, 0.05, every=25)
    assert result.newton_iterations.max() < 1.1
    for k in range(2):
        own = result.body(f"it {k}")
        assert np.abs(own.r - own.r[0]).max() < 1e-13
        assert np.abs(own.quat[:, 1:]).max() < 1e-9
    assert result.contact("c").normal_force == pytest.approx(3.0 * G, rel=1e-9)


@pytest.mark.parametrize("shape", ["hexagon", "capsule"])
def test_what_lies_flat_on_a_box_rests_at_the_depth_of_the_law(shape):
    """As on a plane, by the vertices of its face; a capsule by both ends, or where it crosses the edges of a bar."""
    k = 1e6
    for half in (0.2, 0.03) if shape == "capsule" else (0.2,):
        model = Model("lies", gravity=(0, 0, -G))
        base = add(model, "box", "base", (0, 0, -0.05), held=True, size=(2 * half, 0.4, 0.1))
        height, quat = (0.055, UP) if shape == "hexagon" else (0.02, ALONG_X)
        part = shares_of(ConvexHull(SHAPES[shape]))[:6].sum() if shape == "hexagon" else 1.0
        it = add(model, shape, "it", (0, 0, height - G / (part * k)), quat)
        model.add_contact("c", base, it, k)
        result = run(model, 0.05, every=25)
        own = result.body("it")
        assert result.newton_iterations.max() < 1.1
        assert np.abs(own.r - own.r[0]).max() < 1e-12
        assert np.abs(own.quat - own.quat[0]).max() < 1e-9


@pytest.mark.parametrize("shape", ["hexagon", "capsule"])
@pytest.mark.parametrize("part", [0.96, 1.04])
def test_a_hull_on_an_incline_sticks_below_the_angle_of_friction_and_slides_above(shape, part):
    mu, k = 0.4, 1e5
    tilt = part * np.arctan(mu)
    model = Model("incline", gravity=(0, G * np.sin(tilt), -G * np.cos(tilt)))
    base = add(model, "box", "base", (0, 0, -0.05), held=True, size=(0.6, 2.0, 0.1))
    height, quat = (0.055, UP) if shape == "hexagon" else (0.02, about((1, 0, 0), np.pi / 2))
    it = add(model, shape, "it", (0, -0.3, height - G * np.cos(tilt) / k), quat)
    model.add_contact("c", base, it, k, friction=mu, damping=10.0)
    own = run(model, 0.3, 1e-3, every=10).body("it")
    way, gained = own.r[-1, 1] - own.r[10, 1], own.v[-1, 1] - own.v[10, 1]  # when the bristle has settled
    assert (abs(way) < 1e-4) == (part < 1.0)
    if part > 1.0:
        assert gained == pytest.approx(G * (np.sin(tilt) - mu * np.cos(tilt)) * 0.2, rel=0.05)


@pytest.mark.parametrize("shape", ["hexagon", "tetrahedron"])
def test_hulls_come_back_with_their_restitution(shape):
    """A face, or a vertex, straight on the middle of a box that is held."""
    e, v = 0.7, 1.0
    model = Model("bounce", gravity=(0, 0, 0))
    base = add(model, "box", "base", (0, 0, -0.05), held=True, size=(0.4, 0.4, 0.1))
    n = TETRAHEDRON[0]
    axis = np.cross(n, (0, 0, -1.0))
    quat = UP if shape == "hexagon" else about(axis, np.arccos(-n[2]))
    it = add(model, shape, "it", (0, 0, 0.06 if shape == "hexagon" else 0.072), quat, (0, 0, -v))
    model.add_contact("c", base, it, K, restitution=e)
    own = run(model, 0.04, 2e-4).body("it")
    assert own.v[-1, 2] == pytest.approx(e * v, rel=0.01)
    assert np.abs(own.Omega).max() < 1e-6


def test_what_hulls_cannot_do_to_each_other_is_said():
    model = Model("no", gravity=(0, 0, 0))
    one, other = add(model, "cube", "a", (0, 0, 0)), add(model, "hexagon", "b", (0, 0, 0.09))
    model.add_contact("c", one, other, K)
    with pytest.raises(ModelError, match=r"solid 'b' is 0.015 m inside of solid 'a' at t = 0"):
        run(model, 0.01)
    model = Model("hard", gravity=(0, 0, 0))
    model.add_contact(
        "c", add(model, "cube", "a", (0, 0, 0)), add(model, "hexagon", "b", (0, 0, 0.106), v=(0, 0, -30.0)), K
    )
    with pytest.raises(ConvergenceError, match=r"a hull in contact is pressed through .* of 0.01 m"):
        simulate(model, 0.01, 1e-4, progress=False)
