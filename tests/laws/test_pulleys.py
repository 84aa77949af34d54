"""Laws of tendons over pulleys and drums: closed-form motions, lift-off, momenta, order, messages."""

import numpy as np
import pytest

from rodsim import (
    Box,
    ConvergenceError,
    Cylinder,
    Drum,
    Model,
    ModelError,
    Pulley,
    Section,
    Sphere,
    audit,
    equilibrium,
    modes,
    simulate,
)

G, DT = 9.81, 0.01
Y = (0, 1, 0)


def weights(m, masses, places):
    """Add weights on vertical rails at these places."""
    bodies = []
    for k, (mass, place) in enumerate(zip(masses, places, strict=True)):
        bodies.append(m.add_body(f"weight {k}", Box(0.1, 0.1, 0.1, mass=mass), position=place))
        m.add_joint(f"rail {k}", "prismatic", "ground", bodies[k], at=place, axis=(0, 0, 1))
    return bodies


def atwood(**tendon):
    """Return two weights on a rope over a pulley, at its tangents."""
    model = Model("atwood", gravity=(0, 0, -G))
    a, b = weights(model, (3.0, 2.0), ((-0.2, 0, -2), (0.2, 0, -2)))
    model.add_tendon("rope", [a, Pulley("ground@0,0,0", Y, 0.2), b], **tendon)
    return model


def imbalance(result):
    """Return the error of the balance of energy, work and dissipation at all outputs, J."""
    total = result.energy["total"]
    return total - total[0] - result.work + result.dissipation


def test_inextensible_rope_over_a_pulley_moves_weights_as_an_atwood_machine():
    result = simulate(atwood(), 0.5, DT, output_every=1, progress=False)
    a, rope = G / 5.0, result.tendon("rope")
    assert result.body("weight 0").r[:, 2] + 2.0 == pytest.approx(-0.5 * a * result.t**2, abs=1e-12)
    assert rope.tension == pytest.approx(2.0 * 3.0 * 2.0 * G / 5.0, rel=1e-9)
    assert rope.length == pytest.approx(4.0 + 0.2 * np.pi, abs=1e-13)
    assert rope.wrap == pytest.approx(np.pi, abs=1e-12)
    assert np.abs(imbalance(result)).max() < 1e-12


def block_and_tackle(mass, **tendon):
    """Return a block with a pulley, which hangs on two parts of a rope; a weight pulls its end over a second pulley."""
    model = Model("tackle", gravity=(0, 0, -G))
    block, weight = weights(model, (3.0, mass), ((0, 0, -2), (0.4, 0, -2)))
    pulleys = [Pulley(block, Y, 0.1, -1), Pulley("ground@0.25,0,0", Y, 0.15, 1)]
    model.add_tendon("rope", ["ground@-0.1,0,0", *pulleys, weight], **tendon)
    return model


def test_pulley_on_a_block_halves_the_force():
    """m1 a + 4 m2 a = (2 m2 - m1) g, and the second weight moves twice as far."""
    result = simulate(block_and_tackle(1.8), 0.5, DT, output_every=1, progress=False)
    a = (2.0 * 1.8 - 3.0) * G / (3.0 + 4.0 * 1.8)
    rise = result.body("weight 0").r[:, 2] + 2.0
    assert rise == pytest.approx(0.5 * a * result.t**2, abs=1e-11)
    assert result.body("weight 1").r[:, 2] + 2.0 == pytest.approx(-2.0 * rise, abs=1e-11)


def test_small_motions_of_a_block_on_an_elastic_rope_have_the_closed_form_frequency():
    """The rope with stiffness k lengthens by 2 z of the block and -z of the weight, which hangs still: a 2 x 2 system."""
    m, k = 1.5, 4000.0
    model = block_and_tackle(m, stiffness=k)
    computed = np.sort(np.abs(modes(model, start=equilibrium(model)).values.imag))
    pull = np.array([2.0 / np.sqrt(3.0), 1.0 / np.sqrt(m)])
    assert computed[-1] == pytest.approx(np.sqrt(k * pull @ pull), rel=1e-9)


TENDONS = {
    "given": {"tension": "4 + 3*sin(5*t)"},
    "elastic": {"stiffness": 60.0, "length": 2.5},
    "inextensible": {},
    "winch": {"stiffness": 60.0, "length": "2.6 - 0.5*t"},
}


def flying(tendon, gravity=(0, 0, 0)):
    """Return four free bodies in space with a tendon from a point of one over pulleys on two to a drum on the last."""
    model = Model("flying", gravity=gravity)
    bodies = [
        model.add_body(
            f"body {k}",
            Box(0.3, 0.2, 0.1, mass=1.0 + k),
            position=place,
            velocity=(0.3 * k, 0, -0.2 * k) if gravity or tendon else (0, 0, 0),
            angular_velocity=(0.1, 0.8 - 0.4 * k, 0.1 * k),
        )
        for k, place in enumerate(((-1, 0, -0.6), (-0.5, 0.02, 0.1), (0.5, 0, 0), (1, -0.03, -0.6)))
    ]
    circles = [
        Pulley(bodies[1].at((0.05, 0, 0.1)), Y, 0.2),
        Pulley(bodies[2], Y, 0.15),
        Drum(bodies[3], Y, 0.1),
    ]
    model.add_tendon("rope", [bodies[0].at((0, 0, 0.1)), *circles], **tendon)
    return model


@pytest.mark.parametrize("name", TENDONS)
@pytest.mark.filterwarnings("ignore::rigid.errors.InitialVelocityWarning")
def test_energy_balances_and_momenta_are_conserved(name):
    result = simulate(flying(TENDONS[name]), 0.6, DT, output_every=1, progress=False)
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert momentum == pytest.approx(np.tile(momentum[0], (len(momentum), 1)), abs=1e-12)
    assert np.abs(imbalance(result)).max() < 1e-11
    assert np.ptp(result.tendon("rope").wrap, axis=0).min() > 0.05
    assert audit(result).ok
    if name == "winch":
        stretch = np.maximum(result.tendon("rope").length - 2.6 + 0.5 * result.t, 0.0)
        assert result.tendon("rope").tension == pytest.approx(60.0 * stretch, abs=1e-11)
        assert stretch.max() > 0.1
    if name == "given":
        tension = 4.0 + 3.0 * np.sin(5.0 * (result.t[:-1] + 0.5 * DT))
        change = np.diff(result.tendon("rope").length)
        assert np.diff(result.work) == pytest.approx(-tension * change, abs=1e-12)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", TENDONS)
def test_length_at_the_start_is_that_which_has_left_the_drum(name, is_first):
    model = Model("unwound")
    ball = model.add_body("ball", Sphere(0.05, mass=1.0), position=(1, 0, -0.1))
    drum = Drum("ground@0,0,0", Y, 0.1, -1 if is_first else 1)
    model.add_tendon("rope", [drum, ball] if is_first else [ball, drum], **TENDONS[name])
    rope = simulate(model, DT, DT, progress=False).tendon("rope")
    assert rope.length[0] == pytest.approx(1.0, abs=1e-14)
    assert rope.wrap[0] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("name", TENDONS)
@pytest.mark.filterwarnings("ignore::rigid.errors.InitialVelocityWarning")
def test_motion_is_of_second_order(name):
    def end(dt):
        state = simulate(flying(TENDONS[name]), 0.32, dt, progress=False).state()
        return np.concatenate([state.r, state.quat], axis=1)

    coarse, middle, fine = (end(dt) for dt in (0.008, 0.004, 0.002))
    assert np.abs(coarse - middle).max() / np.abs(middle - fine).max() == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("integrator", ["em4", "em-ggl", "em-d(0.8)", "EML"])
def test_every_family_converges_to_the_same_motion(integrator):
    model = flying(TENDONS["elastic"])
    result = simulate(model, 0.4, 0.004, integrator, output_every=10, progress=False)
    assert audit(result).ok
    reference = simulate(model, 0.4, 0.002, "em8", progress=False)
    assert result.state().r == pytest.approx(reference.state().r, abs=3e-3)


def flicked():
    """Return a ball on an elastic rope over a pulley, which flies up, so that the rope comes off, and falls back."""
    model = Model("flicked", gravity=(0, 0, -G))
    ball = model.add_body("ball", Sphere(0.05, mass=1.0), position=(1.0, 0, -0.3), velocity=(1.5, 0, 4.0))
    model.add_tendon(
        "rope", ["ground@-1,0,-0.1", Pulley("ground@0,0,-0.2", Y, 0.2), ball], stiffness=5.0, length=1.5
    )
    return model


def test_rope_comes_off_a_pulley_and_lies_on_it_again():
    result = simulate(flicked(), 0.8, 0.005, output_every=1, progress=False)
    rope, ball = result.tendon("rope"), result.body("ball").r
    off = rope.wrap[:, 0] < 0.0
    assert not off[[0, -1]].any()
    assert 80 < off.sum() < 120
    straight = np.linalg.norm(ball - (-1, 0, -0.1), axis=1)
    assert rope.length[off] == pytest.approx(straight[off], abs=1e-13)
    assert np.all(rope.length[~off] > straight[~off])
    assert np.abs(imbalance(result)).max() < 1e-11
    assert audit(result).ok


def test_motion_through_lift_off_is_of_second_order():
    def end(dt):
        return simulate(flicked(), 0.8, dt, progress=False).body("ball").r[-1]

    coarse, middle, fine = (end(dt) for dt in (0.01, 0.005, 0.0025))
    assert np.abs(coarse - middle).max() / np.abs(middle - fine).max() == pytest.approx(4.0, rel=0.4)


def test_pulley_that_a_rope_never_touches_does_not_act():
    states = []
    for pulleys in ([Pulley("ground@0,0,-1.5", Y, 0.2)], []):
        model = Model("under", gravity=(0, 0, -G))
        ball = model.add_body("ball", Sphere(0.05, mass=1.0), position=(1.0, 0, -0.9), velocity=(0.5, 0, 1.0))
        model.add_tendon("rope", ["ground@-1,0,-0.9", *pulleys, ball], stiffness=50.0, length=1.5)
        states.append(simulate(model, 0.1, DT, progress=False).state().r)
    assert states[0] == pytest.approx(states[1], abs=1e-13)


@pytest.mark.parametrize("tension", [0.1, None])
@pytest.mark.parametrize("swap", [False, True])
def test_run_stops_where_a_point_enters_a_pulley(tension, swap):
    """The message names the tendon, the point and the circle; the pulley that the rope has come off is none of them."""
    model = Model("hit")
    ball = model.add_body("ball", Sphere(0.05, mass=1.0), position=(1.0, 0, 0.1), velocity=(-2.0, 0, 0))
    lifted = Pulley("ground@0.3,0,-0.2", Y, 0.15)
    points = ["ground@-1,0,0.3", Pulley("ground@0,0,0", Y, 0.2), lifted, ball]
    if swap:
        points = [Pulley(x.on, Y, x.radius, -1) if isinstance(x, Pulley) else x for x in reversed(points)]
    model.add_tendon("rope", points, tension, stiffness=None if tension else 1.0)
    names = r"point 0 enters the circle of point 2" if swap else r"point 3 enters the circle of point 1"
    message = rf"t = 0\.\d+ s.*tendon 'rope': {names}: it is 0\.200\d+ m from its axis, with radius = 0\.2 m"
    with pytest.raises(ConvergenceError, match=message) as error:
        simulate(model, 1.0, DT, progress=False)
    r = error.value.result.body("ball").r
    assert 0.2 < np.hypot(*r[-1, [0, 2]]) < 0.22


def test_run_stops_where_two_pulleys_leave_no_room_for_a_tangent():
    model = Model("squeeze")
    cart = model.add_body("cart", Box(0.1, 0.1, 0.1, mass=1.0), position=(0.6, 0, 0), velocity=(-2.0, 0, 0))
    wheels = [Pulley("ground@0,0,0", Y, 0.1), Pulley(cart, Y, 0.2, -1)]
    model.add_tendon("rope", ["ground@0,0,1", *wheels, "ground@0,0,-1"], 0.1)
    with pytest.raises(
        ConvergenceError, match="'rope': the circles of points 1 and 2 leave no room"
    ) as error:
        simulate(model, 1.0, DT, progress=False)
    assert "needs more than 0.3 m" in str(error.value)


def test_message_names_the_tendon_that_enters_and_not_one_that_is_near():
    """Two balls fly at the same speed; that of the second tendon has 0.03 m less to go."""
    model = Model("two")
    for name, y, x in (("late", 0.0, 1.03), ("early", 1.0, 1.0)):
        ball = model.add_body(name, Sphere(0.05, mass=1.0), position=(x, y, 0), velocity=(-2.0, 0, 0))
        model.add_tendon(
            f"rope of {name}", [f"ground@-1,{y},0.3", Pulley(f"ground@0,{y},0", Y, 0.2), ball], 0.1
        )
    with pytest.raises(ConvergenceError, match="tendon 'rope of early': point 2 enters"):
        simulate(model, 1.0, DT, progress=False)


def test_drum_on_a_driven_frame_lifts_a_weight():
    """The drum rotates by the angle t^2; the work is that of the weight, m (g + a) times its way, 0.1 t^2."""
    model = Model("winch", gravity=(0, 0, -G))
    (weight,) = weights(model, (2.0,), ((0.1, 0, -1),))
    drum = model.add_driven("drum", turn=(lambda t: t**2, lambda t: 2.0 * t), axis=(0, -1, 0))
    model.add_tendon("rope", [Drum(drum, Y, 0.1), weight])
    result = simulate(model, 1.0, DT, progress=False)
    assert result.body("weight 0").r[-1, 2] + 1.0 == pytest.approx(0.1, abs=1e-10)
    assert result.tendon("rope").wrap[-1, 0] == pytest.approx(1.0, abs=1e-10)
    assert np.abs(imbalance(result)).max() < 1e-11


def test_equilibrium_of_a_weight_that_hangs_on_a_rope_between_two_pulleys():
    """Two weights hold the middle one: 2 T sin(a) = W, where a is the slope of the spans, tangent to both pulleys."""
    model = Model("hanging", gravity=(0, 0, -G))
    ends = weights(model, (2.0, 2.0), ((-1.1, 0, -2), (1.1, 0, -2)))
    middle = model.add_body("middle", Sphere(0.05, mass=1.5), position=(0, 0, -0.3))
    for k, (end, side) in enumerate(zip(ends, (1, -1), strict=True)):
        pulley = Pulley(f"ground@{-side},0,0", Y, 0.1, side)
        model.add_tendon(f"rope {k}", [end, pulley, middle])
    slope = np.arcsin(1.5 / 4.0)
    # from the centre of the pulley at -1: 0.1 (sin a, cos a) to the point of contact, then along (cos a, -sin a)
    span = (1.0 - 0.1 * np.sin(slope)) / np.cos(slope)
    expected = 0.1 * np.cos(slope) - span * np.sin(slope)
    rest = equilibrium(model)
    assert rest.body("middle").r[-1] == pytest.approx([0, 0, expected], abs=1e-9)
    assert rest.tendon("rope 0").tension[-1] == pytest.approx(2.0 * G, rel=1e-9)


def test_rope_several_times_around_a_pulley_keeps_its_turns():
    model = Model("turns", gravity=(0, 0, -G))
    a, b = weights(model, (3.0, 2.0), ((-0.2, 0, -2), (0.2, 0, -2)))
    model.add_tendon("rope", [a, Pulley("ground@0,0,0", Y, 0.2, turns=2), b])
    rope = simulate(model, 0.2, DT, output_every=1, progress=False).tendon("rope")
    assert rope.wrap == pytest.approx(5.0 * np.pi, abs=1e-12)
    assert rope.length == pytest.approx(4.0 + np.pi, abs=1e-12)


def test_tension_given_through_points_and_pulleys_is_that_of_all_pieces():
    """Straight pieces are forces of two points, pieces over pulleys are interactions of their own."""
    model = Model("pieces")
    soft = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=1.0, EI=1.0, mass_per_length=1.0, inertia_per_length=(2e-3, 1e-3, 1e-3)
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], soft, 4, up=(0, 1, 0))
    model.add_joint("clamp", "clamp", rod.start)
    guides = [
        rod.at(1.0, (0, 0.1, 0)),
        rod.at(0.5, (0, 0.1, 0)),
        rod.at(0.0, (0, 0.1, 0)),
        "ground@-0.1,0,-0.1",
    ]
    wheel = model.add_body("wheel", Cylinder(0.1, 0.1, mass=1.0), (-1.1, 0, -0.2), velocity=(0, 0, 0.1))
    model.add_tendon("rope", [*guides, Pulley(wheel, Y, 0.1, -1), "ground@-1,0,-1"], tension="2 + t")
    result = simulate(model, 0.2, 0.005, output_every=1, progress=False)
    rope = result.tendon("rope")
    tension = 2.0 + result.t[:-1] + 0.0025
    assert np.diff(result.work) == pytest.approx(-tension * np.diff(rope.length), abs=1e-12)
    assert rope.tension == pytest.approx(2.0 + result.t)
    assert rope.wrap.shape == (len(result.t), 1)
    assert np.abs(imbalance(result)).max() < 1e-12


# --- scenes and messages


@pytest.mark.filterwarnings("ignore::rigid.errors.InitialVelocityWarning")
def test_scene_keeps_pulleys_and_drums(tmp_path):
    for tendon in TENDONS.values():
        model = flying(tendon)
        path = model.save(tmp_path / "scene.yaml")
        ends = [simulate(m, 0.02, DT, progress=False).state().r for m in (model, Model.load(path))]
        assert np.array_equal(*ends)
    assert 'drum: "body 3"' in path.read_text()


def test_neighbouring_pulleys_may_have_opposite_axes():
    ends = []
    for axis, side in ((Y, 1), ((0, -2, 0), -1)):
        model = Model("pair")
        a, b = weights(model, (1.0, 2.0), ((-0.7, 0, -1), (0.7, 0, -1)))
        over = [Pulley("ground@-0.5,0,0", Y, 0.2), Pulley("ground@0.5,0,0", axis, 0.2, side)]
        model.add_tendon("rope", [a, *over, b], 3.0)
        ends.append(simulate(model, 0.1, DT, progress=False).state().r)
    assert np.array_equal(*ends)


WRONG = {
    "radius": (["bar", Pulley("ground@0,0,1", Y, 0.0), "ground@1,0,0"], "point 1: radius = 0.0"),
    "negative radius": ([Drum("bar", Y, -0.1), "ground@1,0,0"], "point 0: radius = -0.1"),
    "axis": (["bar", Pulley("ground@0,0,1", (0, 0, 0), 0.1), "ground@1,0,0"], "point 1: axis"),
    "side": (["bar", Pulley("ground@0,0,1", Y, 0.1, 2), "ground@1,0,0"], "point 1: side = 2. Give 1"),
    "turns": (["bar", Pulley("ground@0,0,1", Y, 0.1, 1, -1), "ground@1,0,0"], "turns = -1 is too small"),
    "drum inside": (
        ["bar", Drum("ground@0,0,1", Y, 0.1), "ground@1,0,0"],
        "point 1 is a drum on the ground. A tendon ends",
    ),
    "pulley at the end": (["bar", Pulley("ground@0,0,1", Y, 0.1)], "point 1 is a pulley on the ground"),
    "the ground": (["bar", Pulley("ground", Y, 0.1), "ground@1,0,0"], "alone is not a point"),
    "too many": (
        ["bar", *(Pulley(f"ground@{k},0,1", Y, 0.1) for k in range(9)), "ground@9,0,0"],
        "passes 11 points with 9 pulleys and drums; the limits are 32 and 8",
    ),
    "too many points": (
        ["bar", Pulley("ground@0,0,1", Y, 0.1), *(f"ground@{k},0,0" for k in range(31))],
        "passes 33 points with 1 pulleys",
    ),
    "one body": (["bar", Pulley("bar@0,0,1", Y, 0.1), "bar@1,0,0"], "all its points are on body 'bar'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_message_names_the_stop_and_what_to_do(name):
    points, message = WRONG[name]
    model = Model()
    model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    with pytest.raises(ModelError, match=message) as error:
        model.add_tendon("rope", points)
    assert "tendon 'rope'" in str(error.value)


def test_friction_at_pulleys_is_refused():
    model = Model()
    model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    with pytest.raises(
        ModelError, match=r"has friction and passes pulleys. Set friction=0, or give points along the rim"
    ):
        model.add_tendon("rope", ["bar", Pulley("ground@0,0,1", Y, 0.1), "ground@1,0,0"], 1.0, friction=0.2)


PLACED = {
    "inside": (
        [Pulley("ground@0,0,0.05", Y, 0.1)],
        "point 0 lies inside the circle of point 1, 0.05 m from its axis",
    ),
    "overlap": (
        [Pulley("ground@0,0,1", Y, 0.2), Pulley("ground@0.3,0,1", Y, 0.2, -1)],
        "the circles of points 1 and 2 leave no room for a tangent: their axes are 0.3 m apart, and it needs more than 0.4",
    ),
    "axes": (
        [Pulley("ground@0,0,1", Y, 0.2), Pulley("ground@1,0,1", (0, 1, 0.1), 0.2)],
        "the axes of points 1 and 2, .* are not parallel",
    ),
    "plane": (
        [Pulley("ground@0,1,1", Y, 0.2)],
        "span between points 0 and 1 leaves the plane of its circle, by 1 m",
    ),
}


@pytest.mark.parametrize("tension", [None, 1.0])
@pytest.mark.parametrize("name", PLACED)
def test_circle_that_does_not_fit_its_neighbours_is_refused(name, tension):
    circles, message = PLACED[name]
    model = Model()
    model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    model.add_tendon("rope", ["bar", *circles, "ground@2,0,0"], tension)
    with pytest.raises(ModelError, match=message):
        simulate(model, 0.1, DT, progress=False)


@pytest.mark.parametrize("tension", [None, 1.0])
def test_messages_count_points_from_the_first_of_the_tendon(tension):
    model = Model()
    model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    points = ["ground@-3,0,0", "bar", Pulley("ground@0,0,0.05", Y, 0.1), "ground@2,0,0"]
    model.add_tendon("rope", points, tension)
    with pytest.raises(ModelError, match="point 1 lies inside the circle of point 2"):
        simulate(model, 0.1, DT, progress=False)


def test_inextensible_rope_of_another_length_is_refused():
    model = atwood(length=3.0)
    with pytest.raises(ModelError, match=r"tendon 'rope': \|g\| = 1.63"):
        simulate(model, 0.1, DT, progress=False)
