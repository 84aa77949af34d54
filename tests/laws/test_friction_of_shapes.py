"""Friction and restitution between shapes, compared with closed forms.

Inclines and planks slide by Coulomb's law, balls start to roll, impacts have their restitution;
friction acts at the height where surfaces touch. test_shape_collisions.py asserts for all pairs of shapes that
energy plus dissipation is constant in impacts.
"""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import Friction, Model
from tests.support.contacts import ground
from tests.support.solids import (
    ALONG_X,
    ALONG_Y,
    GROUND_POINT,
    MESHES,
    ON_CORNER,
    ON_EDGE,
    ON_VERTEX,
    STEEL,
    UP,
    A,
    G,
    K,
    R,
    add,
    change,
    roof,
    run,
    twist,
)

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
FRICTION_ANGLE_FACTORS = pytest.mark.parametrize("part", [0.96, 1.04])  # of the angle of friction


# --- inclines


WALL = 0.07 / 2**0.5  # height of a capsule in a groove above both of its walls, and half of their distance
INCLINES = {  # shape, its orientation, its height, the surface below, the total normal force over the weight
    "hull on a box": ("hexagon", UP, A / 2 + R, "box", 1.0),
    "capsule on a box": ("capsule", ALONG_Y, 0.02, "box", 1.0),
    "hull on triangles": ("hexagon", UP, A / 2 + R, "field", 1.0),
    "mesh on triangles": ("rounded fine cube", UP, A / 2, "rounded sheet", 1.0),
    "box on a plane": ("box", UP, A / 2, "plane", 1.0),
    # each wall, at 45 degrees, carries 1/sqrt 2 of the weight
    "capsule in a groove": ("long capsule", ALONG_Y, WALL, "groove", 2**0.5),
}


@pytest.mark.parametrize(("shape", "quat", "height", "floor", "pressed"), INCLINES.values(), ids=INCLINES)
@FRICTION_ANGLE_FACTORS
def test_body_on_an_incline_slides_above_the_friction_angle_only(shape, quat, height, floor, pressed, part):
    mu = 0.4
    tilt = part * np.arctan(mu * pressed)
    model = Model("incline", gravity=(0, G * np.sin(tilt), -G * np.cos(tilt)))
    if floor == "groove":
        ends = [(0, -1, 0), (0, 2, 0)]
        below = [model.add_solid(f"wall {x}", model.ground.at((x, 0, 0)), ends, 0.02) for x in (-WALL, WALL)]
    elif floor == "box":
        below = add(model, "box", "below", (0, 0, -0.05), size=(0.6, 2.0, 0.1), held=True)
    elif floor == "plane":
        below = add(model, floor, "below")
    else:
        top = R if floor.startswith("rounded") else 0.0
        below = add(model, floor, "below", (0, 0, -top), on_ground=True)
    surface = add(model, shape, "it", (0, -0.1, height - G * np.cos(tilt) / K), quat)
    model.add_contact("c", surface, below, K, friction=mu, damping=10.0)
    result = run(model, 0.3, every=10)
    body = result.body("it")
    distance, gained = body.r[-1, 1] - body.r[10, 1], body.v[-1, 1] - body.v[10, 1]  # after it has settled
    assert (abs(distance) < 1e-4) == (part < 1.0)
    if part > 1.0:
        assert gained == pytest.approx(G * (np.sin(tilt) - mu * pressed * np.cos(tilt)) * 0.2, rel=0.05)
    assert change(result.energy["total"] + result.dissipation) < 1e-12
    assert np.diff(result.dissipation).min() > -1e-15


@FRICTION_ANGLE_FACTORS
def test_box_stack_on_an_incline_slides_above_the_friction_angle_only(part):
    mu, k, n, t_end = 0.3, 1e6, 3, 0.3
    tilt = part * np.arctan(mu)
    model = Model("stack", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    floor, z, stack = add(model, "plane", "floor"), 0.0, []
    for i in range(n):
        z += 0.02 - (n - i) * G * np.cos(tilt) / k
        stack.append(add(model, "box", f"it {i}", (0, 0, z), size=(A, A, 0.04)))
        z += 0.02
    model.add_contact("floor", stack, floor, k, friction=mu)
    model.add_contact("stack", stack, stiffness=k, friction=mu)
    result = run(model, t_end, every=20)
    assert change(result.energy["total"] + result.dissipation) < 1e-13
    if part < 1.0:
        assert change(result.body("it 2").r) < 2e-3  # it rocks back on its springs and stays
        assert result.contact("stack").sliding[-1] == 0
    else:
        down = G * (np.sin(tilt) - mu * np.cos(tilt)) * t_end**2 / 2
        assert result.body("it 0").r[-1, 0] == pytest.approx(down, rel=0.1)


@pytest.mark.parametrize("floor", ["plane", "box"])
def test_cylinder_rolls_smoothly_down_a_plane_or_box(floor):
    """2/3 g sin(alpha), where R less the depth is the rolling radius."""
    tilt, t_end, of_box = 0.3, 0.3, floor == "box"
    model = Model("incline", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    place = {"place": (0.3, 0.2, -0.05), "size": (1.0, 1.0, 0.1), "held": True} if of_box else {}
    z = A / 2 - G * np.cos(tilt) / K
    surface = add(model, "cylinder", "it", (0, 0, z), ALONG_Y, radius=None if of_box else 0.0)
    rubs = (
        {"friction": 0.5, "damping": 10.0}
        if of_box
        else {"friction": Friction(0.5, tangential_stiffness=1e6)}
    )
    model.add_contact("c", add(model, floor, "below", **place), surface, K, **rubs)
    result = run(model, t_end, every=10)
    body, exact = result.body("it"), 0.5 * G * np.sin(tilt) * t_end**2 / (1.0 + 0.5 * (A / 2 / z) ** 2)
    assert body.r[-1, 0] == pytest.approx(exact, rel=1e-3 if of_box else 1e-4)
    assert np.ptp(body.r[:, 2]) < 1e-12
    assert change(result.energy["total"] + result.dissipation) < 1e-12


# --- bodies that slide, stick and spin


def test_box_sliding_on_a_plank_carries_it_along():
    """The floor is frictionless: both bodies reach the common velocity, with the distance and the heat of Coulomb's law."""
    mu, v, m, M = 0.3, 1.0, 1.0, 3.0
    model = Model("carried", gravity=(0, 0, -G))
    floor, low = add(model, "plane", "floor"), (m + M) * G / K
    plank = add(model, "box", "plank", (0, 0, 0.05 - low), size=(2.0, 0.4, 0.1), mass=M)
    box = add(model, "box", "box", (-0.3, 0, 0.12 - low - m * G / K), v=(v, 0, 0), size=(A, A, 0.04), mass=m)
    model.add_contact("floor", plank, floor, K)
    model.add_contact("rub", box, plank, K, friction=mu, rest_speed=1e-3)
    result = run(model, 0.4)
    box, plank, rub = result.body("box"), result.body("plank"), result.contact("rub")
    common, ends = m * v / (m + M), v / (mu * G * (1.0 + m / M))
    slid = box.r[:, 0] - plank.r[:, 0] + 0.3
    assert change(m * box.v[:, 0] + M * plank.v[:, 0]) < 1e-13
    assert plank.v[-1, 0] == pytest.approx(common, rel=1e-3)
    assert slid[-1] == pytest.approx(0.5 * v * ends, rel=2e-3)
    assert result.dissipation[-1] == pytest.approx(mu * m * G * slid[-1], rel=2e-3)
    assert change(result.energy["total"] + result.dissipation) < 1e-14
    half = int(0.5 * ends / 1e-3)
    slip = box.v[half, 0] - plank.v[half, 0]
    assert rub.tangential_force[half] == pytest.approx(mu * m * G, rel=2e-2)
    assert rub.slip_rate[half] == pytest.approx(slip, rel=2e-2)
    assert rub.loss_rate[half] == pytest.approx(mu * m * G * slip, rel=4e-2)


def test_sliding_ball_on_a_box_starts_to_roll():
    """The ball reaches 5/7 of its velocity, about the contact point one radius below its centre."""
    radius, v = 0.03, 0.5
    model = Model("roll", gravity=(0, 0, -G))
    box = add(model, "box", "box", (0, 0, -A / 2), size=(1.0, 0.4, A), held=True)
    place = (-0.3, 0, radius - 0.5 * G / K)
    ball = add(model, "sphere", "ball", place, v=(v, 0, 0), mass=0.5, size=(radius,))
    model.add_contact("c", ball, box, K, friction=0.4)
    result = run(model, 0.1)
    ball = result.body("ball")
    assert ball.v[-1, 0] == pytest.approx(5.0 * v / 7.0, rel=2e-3)
    assert ball.Omega[-1] == pytest.approx([0, ball.v[-1, 0] / radius, 0], abs=5e-3 * v / radius)
    assert change(result.energy["total"] + result.dissipation) < 1e-14


def mesh_on_sheet(gravity=(0, 0, -G), omega=GROUND_POINT, **losses):
    """A triangulated cube at rest on four corners."""
    model = Model("sheet", gravity=gravity)
    surface = add(model, "rounded cube", "it", (0.01, 0, A / 2 - G / K), omega=omega)
    model.add_contact(
        "c", surface, add(model, "rounded sheet", "below", (0, 0, -R), on_ground=True), K, **losses
    )
    return model


def test_corners_share_the_tangential_stiffness_of_the_law():
    """Each corner carries a quarter: the foot yields sideways by force over stiffness."""
    push = 1.0
    result = run(mesh_on_sheet((push, 0, -G), friction=0.5, damping=10.0), 0.1, 5e-4)
    foot = result.body("it").point((0, 0, -A / 2))[:, 0] - 0.01
    assert foot[100:].mean() == pytest.approx(push / K, rel=0.1)


def test_cube_spinning_on_a_sheet_is_braked_at_its_corners():
    """Each corner carries a quarter of the weight, at half of the diagonal."""
    mu = 0.3
    rate = run(mesh_on_sheet(omega=(0, 0, 5.0), friction=mu), 0.02).body("it").Omega[:, 2]
    braked = mu * G * (0.5 * A - R) * 2**0.5 / (A**2 / 6.0)
    assert (rate[5] - rate[-1]) / 0.015 == pytest.approx(braked, rel=0.02)


@pytest.mark.parametrize(
    ("mesh", "top"),
    [(MESHES["peak"], 0.05), (roof(1.0), 0.0), (ground(2), 0.0)],
    ids=["peak", "roof", "flat"],
)
def test_friction_on_a_solid_acts_at_the_mesh_height(mesh, top):
    """The mesh has no radius: the moment on the box is half of its height times the friction."""
    model = Model("lever", gravity=GROUND_POINT)
    below = model.add_mesh("below", model.ground.at(GROUND_POINT), vertices=mesh[0], triangles=mesh[1])
    surface = add(model, "box", "it", (0, 0, top + A / 2 - 2e-4), v=(0.5, 0, 0))
    model.add_contact("c", surface, below, K, friction=0.5)
    body = run(model, 1e-4, 2e-5).body("it")
    braked, rotated = 0.5 - body.v[-1, 0], body.Omega[-1, 1]
    assert braked > 1e-5
    assert A**2 / 6.0 * rotated / braked == pytest.approx(A / 2, rel=0.02)


@pytest.mark.parametrize("shape", ["box", "hull cube"])
@pytest.mark.parametrize("aside", [(0, 0), (0.0448, 0), (0, 0.0448), (-0.0448, 0), (0, -0.0448)], ids=str)
def test_friction_of_crossing_edges_is_proportional_to_their_normal_force(shape, aside):
    """At the middle of both edges, and close to an end of one, where its corner carries a part of the force."""
    mu, low = 0.4, 2**0.5 * (A / 2 - R) + R
    model = Model("crossing", gravity=GROUND_POINT)
    below = add(model, shape, "below", GROUND_POINT, ON_EDGE)
    surface = add(model, shape, "it", (*aside, 2.0 * low - 2e-4), twist(np.pi / 2, ON_EDGE), (0.5, 0.3, 0))
    model.add_contact("c", surface, below, K, friction=Friction(mu, tangential_stiffness=1e9))
    gained = run(model, 2e-5, 2e-6).body("it").v[-1] - (0.5, 0.3, 0)
    assert gained[2] > 1e-5
    assert np.hypot(*gained[:2]) == pytest.approx(mu * gained[2], rel=1e-3)
    assert gained[1] / gained[0] == pytest.approx(0.6, rel=1e-2)


# --- restitution


BOUNCES = {  # shape, its orientation, its height, the surface below, restitution
    "face on face, 0.3": ("box", UP, A / 2, "free box", 0.3),
    "face on face, 0.8": ("box", UP, A / 2, "free box", 0.8),
    "corner on face, 0.3": ("box", ON_CORNER, (A / 2 - R) * 3**0.5 + R, "free box", 0.3),
    "corner on face, 0.8": ("box", ON_CORNER, (A / 2 - R) * 3**0.5 + R, "free box", 0.8),
    "hull, face on face": ("hexagon", UP, A / 2 + R, "held box", 0.7),
    "hull, vertex on face": ("tetrahedron", ON_VERTEX, 0.06 + R, "held box", 0.7),
    "capsule on capsule": ("long capsule", ALONG_X, 0.05, "bar", 0.7),
    "capsule on sphere": ("long capsule", ALONG_X, 0.05, "small sphere", 0.7),
    "capsule on rod": ("long capsule", ALONG_X, 0.05, "clamped rod", 0.7),
}


@pytest.mark.parametrize(("shape", "quat", "height", "below", "e"), BOUNCES.values(), ids=BOUNCES)
def test_bodies_separate_with_the_given_restitution(shape, quat, height, below, e):
    """Central impacts. A rod keeps a small part of the energy in vibrations."""
    model, k = Model("bounce", gravity=GROUND_POINT), 4e5
    if below == "free box":
        under = add(model, "box", "under", (0, 0, -A / 2), size=(1.5 * A, 1.5 * A, A))
    elif below == "held box":
        under, k = add(model, "box", "under", (0, 0, -0.05), size=(0.4, 0.4, 0.1), held=True), K
    elif below == "bar":
        under, k = add(model, "bar", "under", (0, 0, -0.02), on_ground=True), K
    elif below == "small sphere":
        under, k = add(model, "sphere", "under", (0, 0, -0.02), size=(0.02,), on_ground=True), K
    else:
        under, k = model.add_rod("under", [(0, -0.05, -0.02), (0, 0.05, -0.02)], STEEL, 2), 1e6
        for end in (0.0, 1.0):
            model.add_joint(f"end {end:g}", "clamp", under.at(end))
    mass = 2.0 if shape == "box" else 1.0
    surface = add(model, shape, "it", (0, 0, height + 1e-3), quat, (0, 0, -1.0), mass=mass)
    model.add_contact("c", surface, under, k, restitution=e)
    result = run(model, 0.05, 2.5e-4, every=4)
    away = result.body("it").v[-1, 2] - (result.body("under").v[-1, 2] if below == "free box" else 0.0)
    assert away == pytest.approx(e, rel=0.01)
    assert result.contact("c").force[-1] == pytest.approx([0.0, 0.0, 0.0], abs=0.0)
    if shape in ("hexagon", "tetrahedron"):
        assert np.abs(result.body("it").Omega).max() < 1e-6
    assert change(result.energy["total"] + result.dissipation) < 1e-12
