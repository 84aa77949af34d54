"""Pictures show what may be touched: planes as nets, spheres that no shape shows."""

import numpy as np
import pytest

from rigid import quaternions
from rigid.inertia import MassProperties
from rigid.system import State
from rodsim import Box, Material, Model, Section, Sphere
from rodsim.results.contact_surfaces import BAR, COLORS, MARGIN, ContactSurfaces

PLANE, BALL = range(2)
SIZE = 2.0


def model():
    """A ball, a box with a ball on a side and a rod with a knob above a floor; the floor of a deck that leans."""
    made = Model("m")
    deck = made.add_body("deck", Box(1, 1, 0.1, density=1), (0, 0, -1), (np.cos(0.2), np.sin(0.2), 0, 0))
    ball = made.add_body("ball", Sphere(0.05, density=1), (1, 2, 3))
    block = made.add_body("block", Box(0.2, 0.2, 0.2, density=1), (0.4, 0, 1))
    rod = made.add_rod(
        "rod", [(0, 0, 2), (1, 0, 2)], Section.circular(0.01, Material(E=1e6, nu=0.3, density=1)), 4
    )
    spheres = [
        made.add_sphere("all", ball, 0.05),
        made.add_sphere("side", block.at((-0.1, 0, 0)), 0.02),
        made.add_sphere("inner", block, 0.1),
        made.add_sphere("knob", rod.end, 0.03),
        made.add_sphere("tip", rod.start, 0.01),
        made.add_sphere("point", rod.at(0.5), 0.0),
    ]
    floor = made.add_plane("floor", deck.at((0, 0, 0.05)), quaternions.rotate(deck.orientation, [0.0, 0, 1]))
    made.add_contact("it", spheres, floor, stiffness=1e4)
    made.add_contact("two", spheres[0], spheres[1], stiffness=1e4)
    made.add_contact("lie", rod, floor)
    return made


def drawn(built, states, at):
    surface = ContactSurfaces(built.layout, SIZE, states, 7).surface(at)
    corners = surface.vertices[surface.faces]
    owner = surface.owner[surface.faces[:, 0]] - 7
    return surface, [corners[owner == k] for k in range(len(COLORS))]


def volume(triangles):
    a, b, c = triangles.transpose(1, 0, 2)
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6


def moved(state: State) -> State:
    """All of it turned and carried, and the ball on its own."""
    turn = quaternions.from_rotation_vector(np.array([0.3, -1.0, 0.5]))
    r = quaternions.rotate(turn, state.r) + np.array([1.0, -2.0, 3.0])
    quat = quaternions.multiply(np.broadcast_to(turn, state.quat.shape), state.quat)
    r[0], quat[0] = state.r[0], state.quat[0]
    return state._replace(r=r, quat=quat)


def test_a_net_lies_in_its_plane_below_all_that_meets_it_and_goes_with_it():
    built = model().build()
    deck, ball = (own.frame for own in built.layout.bodies[:2])
    far = built.state._replace(r=built.state.r.copy())
    far.r[ball, 1] += 5.0
    for state in (built.state, moved(built.state)):
        net = drawn(built, [built.state, far], state)[1][PLANE].reshape(-1, 3)
        local = quaternions.rotate(quaternions.conjugate(state.quat[deck]), net - state.r[deck])
        assert np.abs(local[:, 2] - 0.05).max() == pytest.approx(0.5 * BAR * SIZE, abs=1e-12)
        places = [
            quaternions.rotate(quaternions.conjugate(own.quat[deck]), own.r - own.r[deck])
            for own in (built.state, far)
        ]
        met = np.concatenate([own[1:][np.arange(1, len(own)) != deck] for own in places])[:, :2]
        edge = MARGIN * SIZE
        for way, sign in ((np.min, -1.0), (np.max, 1.0)):
            beyond = sign * (way(local[:, :2], axis=0) - way(met, axis=0))
            assert np.all(beyond >= edge - 1e-12)
            assert np.all(beyond < edge + 0.25)  # radii, levers and half a bar


def test_spheres_are_drawn_where_no_shape_shows_them():
    built = model().build()
    state = moved(built.state)
    surface, (_, balls) = drawn(built, [built.state], state)
    each = len(balls) // 2
    assert each * 2 == len(balls)
    for corners, radius, (frame, X) in zip(
        np.split(balls, 2),
        (0.02, 0.03),
        ((built.layout.bodies[2].frame, [-0.1, 0, 0]), (built.layout.rods[0].frames[-1], [0, 0, 0])),
        strict=True,
    ):
        centre = state.r[frame] + quaternions.rotate(state.quat[frame], np.array(X))
        assert np.linalg.norm(corners - centre, axis=2) == pytest.approx(radius, abs=1e-14)
        assert 0.9 < volume(corners - centre) / (4 / 3 * np.pi * radius**3) < 1.0
    assert np.linalg.norm(surface.normals, axis=1) == pytest.approx(1.0)


def test_bars_are_closed_and_their_normals_point_out():
    built = model().build()
    surface, (net, _) = drawn(built, [built.state], built.state)
    bars = net.reshape(-1, 12, 3, 3)
    own = surface.normals[surface.faces[surface.owner[surface.faces[:, 0]] == 7][:, 0]].reshape(-1, 12, 3)
    for bar, normals in zip(bars, own, strict=True):
        middle = bar.reshape(-1, 3).mean(axis=0)
        sides = [np.ptp((bar.reshape(-1, 3) - middle) @ axis) for axis in normals[::4]]
        assert volume(bar - middle) > 0
        assert sorted(sides)[:2] == pytest.approx([BAR * SIZE] * 2)
        assert np.all(np.einsum("ni,ni->n", bar.mean(axis=1) - middle, normals) > 0)


def test_a_model_without_contacts_has_none():
    made = Model("m")
    made.add_body("ball", Sphere(0.05, density=1))
    built = made.build()
    assert len(ContactSurfaces(built.layout, SIZE, [built.state], 0).surface(built.state).faces) == 0


def test_bodies_without_a_shape_are_drawn_as_what_they_touch_with():
    """A ring's side, a knob at its end, a sharp hull; points in one plane, and what has a shape of its own, add nothing."""
    made = Model("m")
    inertia = 1e-4 * np.eye(3)
    link = made.add_body("link", MassProperties(0.1, inertia), (0, 0, 1))
    die = made.add_body("die", MassProperties(0.1, inertia), (1, 0, 1))
    shaped = made.add_body("shaped", Box(0.1, 0.1, 0.1, density=1), (2, 0, 1))
    corners = 0.05 * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    side = made.add_solid("side", link.at((0, 0, 0)), [(0, 0, 0), (0.1, 0, 0)], radius=0.02)
    knob = made.add_sphere("knob", link.at((0.1, 0, 0)), 0.03)
    solids = [
        side,
        knob,
        made.add_solid("die", die.at((0, 0, 0)), corners),
        made.add_solid("flat", shaped.at((0, 0, 0)), corners[:4]),
    ]
    floor = made.add_plane("floor", made.ground.at((0, 0, 0)), (0, 0, 1))
    made.add_contact("fall", solids, floor, stiffness=1e4)
    inner = made.add_solid("inner", shaped.at((0, 0, 0)), 0.8 * corners, radius=0.005)
    made.add_contact("meet", inner, knob, stiffness=1e4)
    drawn_bodies = made.build().layout.bodies
    parts = [own.vertices[own.faces] for own in drawn_bodies]
    exact = np.pi * 0.02**2 * (0.1 + 4 / 3 * 0.02) + 4 / 3 * np.pi * 0.03**3
    assert 0.85 < volume(parts[0]) / exact < 1.0
    assert volume(parts[1]) == pytest.approx(1e-3, rel=1e-12)
    assert len(parts[2]) == 12
    assert np.allclose(drawn_bodies[0].vertices.max(axis=0), [0.13, 0.03, 0.03])
    bare = ContactSurfaces(made.build().layout, SIZE, [made.build().state], 7).surface(made.build().state)
    assert not np.any(bare.owner == 7 + BALL)  # each is hidden by what is drawn
