"""Laws of tendons: exact work, constant curvature, capstan, losses, momenta, order, scenes, messages."""

from itertools import pairwise

import numpy as np
import pytest

from rodsim import (
    Box,
    Model,
    ModelError,
    Result,
    ResultError,
    Section,
    Sphere,
    audit,
    controllers,
    equilibrium,
    measures,
    modes,
    simulate,
)

DT = 0.01
LENGTH, OFFSET, EI = 1.0, 0.1, 4.0
STIFF = Section.from_stiffness(
    EA=1e5, GA=1e5, GJ=3.0, EI=EI, mass_per_length=1.5, inertia_per_length=(4e-3, 2e-3, 2e-3)
)


def arm(points=8, **tendon):
    """Return a clamped rod along x with a tendon at a distance along it, towards -z."""
    model = Model("arm")
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], STIFF, points, up=(0, 1, 0))
    model.add_joint("clamp", "clamp", rod.start)
    eyelets = [rod.at(k / points, (0, OFFSET, 0)) for k in range(points + 1)]
    model.add_tendon("tendon", eyelets, **tendon)
    return model


def crossed(tension="2 + 3*sin(5*t)", **friction):
    """Return two bodies on hinges, and a tendon over points of both and of the ground, two of them on one body."""
    model = Model("crossed", gravity=(0, -9.81, 1.0))
    upper = model.add_body("upper", Box(1.0, 0.1, 0.1, mass=2.0), position=(0.5, 0, 0))
    model.add_joint("shoulder", "spherical", "ground", upper, at=(0, 0, 0))
    lower = model.add_body("lower", Box(1.0, 0.1, 0.1, mass=1.0), position=(1.5, 0, 0))
    model.add_joint("elbow", "revolute", upper, lower, at=(1, 0, 0), axis=(0, 0, 1))
    points = ["ground@0,0.4,0.1", upper.at((0, 0.2, 0)), upper.at((0.4, 0.2, 0)), lower.at((0.1, 0.1, 0.1))]
    model.add_tendon("tendon", points, tension, **friction)
    for k, (a, b) in enumerate(pairwise(points)):
        if k != 1:
            model.add_sensor(f"length {k}", measures.distance(a, b))
    return model


def lengths(result):
    """Return the length of the tendon of `crossed` at all outputs, without the part of fixed length."""
    return result.sensor("length 0").value + result.sensor("length 2").value


def imbalance(result):
    """Return the error of the balance of energy, work and dissipation at all outputs, J."""
    total = result.energy["total"]
    return total - total[0] - result.work + result.dissipation


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_work_of_a_tendon_is_minus_its_tension_times_the_change_of_its_length(solver):
    result = simulate(crossed(), 0.5, DT, solver=solver, output_every=1, progress=False)
    tension = 2.0 + 3.0 * np.sin(5.0 * (result.t[:-1] + 0.5 * DT))
    assert np.diff(result.work) == pytest.approx(-tension * np.diff(lengths(result)), abs=1e-13)
    assert np.abs(result.work).max() > 1e-2
    assert np.abs(imbalance(result)).max() < 1e-12


@pytest.mark.parametrize("integrator", ["em4", "em-ggl", "em-d(0.8)", "EML", "EM-G", "mG(2)", "GL-SPARK(2)"])
def test_every_family_accepts_a_tendon_and_converges_to_the_same_motion(integrator):
    result = simulate(crossed(), 0.4, 0.005, integrator, output_every=2, progress=False)
    assert audit(result).ok
    reference = simulate(crossed(), 0.4, 0.002, "em8", progress=False)
    assert result.body("lower").r[-1] == pytest.approx(reference.body("lower").r[-1], abs=2e-3)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_tendon_between_free_bodies_conserves_momenta(friction):
    model = Model("free")
    balls = [
        model.add_body(f"ball {k}", Sphere(0.1, mass=1.0 + k), position=(0.3 * k, 0.2 * (k % 2), 0.1 * k))
        for k in range(4)
    ]
    points = [ball.at((0.05, 0.02 * k, 0)) for k, ball in enumerate(balls)]
    model.add_tendon("tendon", points, 2.0, friction=friction, slip_rate=0.05)
    result = simulate(model, 0.2, DT, output_every=1, progress=False)
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert momentum == pytest.approx(np.tile(momentum[0], (len(momentum), 1)), abs=1e-13)
    assert np.abs(imbalance(result)).max() < 1e-12
    assert (result.dissipation[-1] > 1e-3) == bool(friction)


def test_tendon_along_a_rod_bends_it_to_a_circle_in_the_limit_of_many_points():
    """The curvature is T d/EI; errors of the positions fall with the square of the distance of the points."""
    tension = 20.0
    curvature = tension * OFFSET / EI
    exact = np.array([np.sin(curvature), 0.0, np.cos(curvature) - 1.0]) / curvature
    tips = [equilibrium(arm(n, tension=tension)).rod("rod").r[-1, -1] for n in (10, 20, 40)]
    assert tips[2] == pytest.approx(exact, abs=4e-4)  # it is also pressed and sheared
    assert np.abs(tips[1] - tips[0]).max() / np.abs(tips[2] - tips[1]).max() == pytest.approx(4.0, rel=0.05)


def test_tendon_robot_reaches_the_published_solution_of_its_differential_equations():
    """A backbone under gravity and a tendon at 15 mm: tip of the equations of Rucker and Webster (2011), solved to 1e-6 m."""
    E, G, radius, offset, discs = 200e9, 80e9, 1e-3, 0.01506, (40, 80)
    A, second_moment = np.pi * radius**2, np.pi * radius**4 / 4
    section = Section.from_stiffness(
        EA=E * A,
        GA=G * A,
        GJ=2 * G * second_moment,
        EI=E * second_moment,
        mass_per_length=8000 * A,
        inertia_per_length=8000 * second_moment,
    )
    tips = []
    for n in discs:
        model = Model("robot", gravity=(9.81, 0, 0))
        rod = model.add_rod("backbone", [(0, 0, 0), (0, 0, 0.5)], section, n, up=(0, 1, 0))
        model.add_joint("wall", "clamp", rod.start)
        model.add_tendon("tendon", [rod.at(k / n, (0, offset, 0)) for k in range(n + 1)], 15.0)
        tips.append(equilibrium(model).rod("backbone").r[-1, -1])
    extrapolated = (4.0 * tips[1] - tips[0]) / 3.0
    assert extrapolated == pytest.approx([0.182212, 0.0, 0.453229], abs=1e-6)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_friction_over_three_points_is_that_of_a_capstan(direction):
    """The tension behind a rope that slips over an angle of wrap phi is T exp(-mu phi), or T exp(mu phi) if it slips back."""
    tension, mu, mass = 10.0, 0.4, 2.0
    model = Model("capstan")
    weight = model.add_body(
        "weight", Box(0.1, 0.1, 0.1, mass=mass), position=(0, 0, -9), velocity=(0, 0, 5 * direction)
    )
    model.add_joint("rail", "prismatic", "ground", weight, at=(0, 0, 0), axis=(0, 0, 1))
    points = ["ground@1,0,0", "ground@0,0,0", weight]
    model.add_tendon("rope", points, tension, friction=mu)
    result = simulate(model, 0.3, DT, output_every=1, progress=False)
    force = mass * np.diff(result.body("weight").v[:, 2]) / DT
    assert force == pytest.approx(tension * np.exp(-direction * mu * np.pi / 2), rel=1e-11)


def test_friction_damps_small_motions_by_its_slope_at_rest():
    """A weight on a spring and a rope over a corner: the slope of the tension is c = T mu phi/v_s."""
    tension, mu, mass, stiffness, slip_rate = 10.0, 0.4, 2.0, 200.0, 0.5
    model = Model("capstan")
    weight = model.add_body("weight", Box(0.1, 0.1, 0.1, mass=mass), position=(0, 0, -1))
    model.add_joint("rail", "prismatic", "ground", weight, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_spring("spring", "ground@0,0,-3", weight, stiffness, length=2.0)
    points = ["ground@1,0,0", "ground@0,0,0", weight]
    model.add_tendon("rope", points, tension, friction=mu, slip_rate=slip_rate)
    values = modes(model, start=equilibrium(model)).values
    c = tension * mu * 0.5 * np.pi / slip_rate
    exact = complex(-0.5 * c / mass, np.sqrt(stiffness / mass - (0.5 * c / mass) ** 2))
    assert np.abs(values - exact).min() < 1e-9 * abs(exact)


def test_tendon_with_friction_bends_a_rod_less_towards_its_end():
    """With EI theta' = d T exp(-mu theta) the angle is theta = log(1 + mu T d s/EI)/mu while the tendon slips."""
    mu, tension = 0.5, 20.0
    model = arm(16, tension="t", friction=mu, slip_rate=1e-5)
    model.add_mass_damping("air", "rod", 2.0)
    result = simulate(model, tension, 0.1, progress=False)
    s = np.linspace(0.0, LENGTH, 4001)
    theta = np.log(1.0 + mu * tension * OFFSET / EI * s) / mu
    exact = np.array([np.trapezoid(np.cos(theta), s), 0.0, -np.trapezoid(np.sin(theta), s)])
    assert result.rod("rod").r[-1, -1] == pytest.approx(exact, abs=2e-3)
    assert np.sin(tension * OFFSET / EI) / (tension * OFFSET / EI) < exact[0] - 5e-3  # without friction
    assert np.all(np.diff(result.dissipation) > 0.0)
    assert np.abs(imbalance(result)).max() < 1e-12


def test_work_with_friction_is_that_of_the_tension_at_the_first_point_and_losses_are_not_negative():
    model = crossed("4 + 3*sin(5*t)", friction=0.4, slip_rate=1e-3)
    result = simulate(model, 1.0, DT, output_every=1, progress=False)
    tension = 4.0 + 3.0 * np.sin(5.0 * (result.t[:-1] + 0.5 * DT))
    assert np.diff(result.work) == pytest.approx(-tension * np.diff(lengths(result)), abs=1e-12)
    assert np.diff(result.dissipation).min() >= 0.0
    assert result.dissipation[-1] > 0.1
    assert np.abs(imbalance(result)).max() < 1e-11
    assert audit(result).ok


@pytest.mark.parametrize("slip_rate", [1e-3, 1e-4])
def test_rope_that_sticks_on_a_wheel_balances_the_energy(slip_rate):
    """Friction at small slip rates is a stiff force, whose round-off grows as its slope."""
    model = Model("wheel")
    weight = model.add_body("weight", Box(0.1, 0.1, 0.1, mass=2.0), position=(0, 0, -1))
    model.add_joint("rail", "prismatic", "ground", weight, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_spring("spring", "ground@0,0,-3", weight, 20.0, length=0.5)
    angles = np.linspace(0.0, np.pi, 9)[1:-1]
    rim = [f"ground@{0.1 + 0.1 * np.cos(x):.8f},0,{0.1 * np.sin(x):.8f}" for x in angles]
    points = ["ground@0.2,0,-5", *rim, "ground@0,0,-0.5", weight]
    model.add_tendon("rope", points, "40 + 5*t", friction=0.3, slip_rate=slip_rate)
    result = simulate(model, 0.2, 0.002, output_every=1, progress=False)
    assert np.abs(imbalance(result)).max() < 1e-11
    assert np.diff(result.dissipation).min() >= 0.0


@pytest.mark.parametrize("friction", [{}, {"friction": 0.3, "slip_rate": 0.5}])
def test_motion_is_of_second_order(friction):
    def angles(dt):
        return simulate(crossed("20 + 3*t", **friction), 0.32, dt, progress=False).state().quat

    coarse, middle, fine = (angles(dt) for dt in (0.008, 0.004, 0.002))
    assert np.abs(coarse - middle).max() / np.abs(middle - fine).max() == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("integrator", ["em", "EML-kappa"])
def test_friction_is_the_same_in_every_family(integrator):
    model = crossed(10.0, friction=0.3, slip_rate=0.5)
    result = simulate(model, 0.2, 0.002, integrator, progress=False)
    reference = simulate(model, 0.2, 0.0005, progress=False)
    assert result.body("lower").r[-1] == pytest.approx(reference.body("lower").r[-1], abs=1e-4)


def test_forces_at_equal_poses_are_those_of_measure_forces():
    models = [arm(6, tension=5.0), arm(6, tension=0.0)]
    rod = models[1].rods["rod"]
    for k in range(6):
        measure = measures.distance(*(rod.at(j / 6, (0, OFFSET, 0)) for j in (k, k + 1)))
        models[1].add_measure_force(f"pull {k}", measure, -5.0)
    ends = [simulate(model, 0.2, DT, progress=False).state().r for model in models]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_tendon_follows_a_controller():
    model = crossed(0.0)
    model.add_sensor("phi", measures.angle("upper", "lower", axis=(0, 0, 1)))
    law = controllers.Formula("50*(0.3 - phi)**2 + 5")
    winch = model.add_controller("winch", law, ["phi"], period=0.02)
    model.add_tendon("flexor", ["upper@0,0.2,0", "lower@0,0.2,0"], winch.output(), friction=0.0)
    model.add_tendon(
        "second", ["upper@0,0.2,0", "lower@0,0.3,0", "ground@1,2,0"], winch.output(), friction=0.2
    )
    result = simulate(model, 0.4, DT, output_every=1, progress=False)
    assert np.abs(imbalance(result)).max() < 1e-11
    with pytest.raises(ModelError, match="'flexor' follows a controller"):
        equilibrium(model)


def test_scene_keeps_points_tension_and_friction(tmp_path):
    model = crossed(friction=0.2)
    path = model.save(tmp_path / "scene.yaml")
    results = [simulate(m, 0.1, DT, progress=False).state().r for m in (model, Model.load(path))]
    assert np.array_equal(*results)
    assert "friction: 0.2" in path.read_text()


@pytest.mark.parametrize(
    ("points", "arguments", "message"),
    [
        (["bar"], {}, "Give two or more points"),
        ("bar", {}, "Give two or more points"),
        (["bar@0.1,0,0", "bar@0.1,0,0", "ground@0,0,1"], {}, "points 0 and 1 are the same point"),
        (["bar@0.1,0,0", "bar@0.2,0,0"], {}, "all its points are on body 'bar'"),
        (["ground@0,0,1", "bar"], {"friction": 0.1}, "has friction and 2 points.*3 to 32"),
        ([f"ground@0,{k},1" for k in range(32)] + ["bar"], {"friction": 0.1}, "33 points"),
        (["ground@0,0,1", "bar"], {"tension": -1.0}, "tension"),
        (["ground@0,0,1", "bar"], {"slip_rate": 0.0}, "slip_rate"),
    ],
)
def test_message_names_the_tendon_and_what_to_do(points, arguments, message):
    model = Model()
    model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    with pytest.raises(ModelError, match=message) as error:
        model.add_tendon("rope", points, **({"tension": 1.0} | arguments))
    assert "tendon 'rope'" in str(error.value)


def test_tendon_with_two_points_at_one_place_is_refused():
    model = Model()
    model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    model.add_tendon("rope", ["ground@0.1,0,0", "bar@0.1,0,0"], 1.0)
    with pytest.raises(ModelError, match="points 0 and 1 are at one place"):
        simulate(model, 0.1, DT, progress=False)


# --- tendons of unknown tension

G = 9.81


def hoist(parts, masses=(3.0, 1.0), **tendon):
    """Return two weights on rails; the rope runs `parts` times between the ceiling and the first, once to the second."""
    model = Model("hoist", gravity=(0, 0, -G))
    weights = []
    for k, mass in enumerate(masses):
        weights.append(
            model.add_body(f"weight {k}", Box(0.1, 0.1, 0.1, mass=mass), position=(float(k), 0, -5))
        )
        model.add_joint(f"rail {k}", "prismatic", "ground", weights[k], at=(k, 0, 0), axis=(0, 0, 1))
    points = [weights[0] if (parts - 1 - j) % 2 == 0 else "ground@0,0,0" for j in range(parts)]
    model.add_tendon("rope", [*points, "ground@0,0,0", "ground@1,0,0", weights[1]], **tendon)
    return model


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_rope_over_pulleys_moves_weights_as_an_atwood_machine(parts):
    """With n parts at the first weight: n^2 m2 a1 + m1 a1 = (n m2 - m1) g, and the second moves n times as far."""
    m1, m2 = 3.0, 1.4
    result = simulate(hoist(parts, (m1, m2)), 0.5, DT, output_every=1, progress=False)
    acceleration = (parts * m2 - m1) * G / (m1 + parts**2 * m2)
    fall = [result.body(f"weight {k}").r[:, 2] + 5.0 for k in range(2)]
    assert fall[0] == pytest.approx(0.5 * acceleration * result.t**2, abs=1e-11)
    assert fall[1] == pytest.approx(-parts * fall[0], abs=1e-12)
    rope = result.tendon("rope")
    assert rope.length == pytest.approx(np.full(len(result.t), 5.0 * (parts + 1) + 1.0), abs=1e-12)
    assert rope.tension == pytest.approx(np.full(len(result.t), m2 * (G - parts * acceleration)), abs=1e-9)
    assert np.abs(imbalance(result)).max() < 1e-11


def test_elastic_rope_is_slack_below_its_length_and_conserves_energy():
    """A weight that flies up is free until the rope is straight again, and returns with the same speed."""
    model = Model("bungee", gravity=(0, 0, -G))
    weight = model.add_body("weight", Box(0.1, 0.1, 0.1, mass=2.0), position=(0.5, 0, -2), velocity=(0, 0, 3))
    model.add_tendon("rope", ["ground@0,0,0", "ground@0.5,0,0", weight], stiffness=200.0, length=2.6)
    result = simulate(model, 4.0, DT, output_every=1, progress=False)
    z = result.body("weight").r[:, 2]
    free = (0.5 - z < 2.6) & (result.t < 0.6)
    assert np.all(free == (result.t < 0.6))
    exact = -2.0 + 3.0 * result.t - 0.5 * G * result.t**2
    assert z[free] == pytest.approx(exact[free], abs=1e-12)
    rope = result.tendon("rope")
    assert rope.length == pytest.approx(0.5 - z, abs=1e-14)
    assert rope.tension == pytest.approx(200.0 * np.maximum(rope.length - 2.6, 0.0), abs=1e-12)
    assert np.abs(z[~free] - exact[~free]).max() > 1.0
    assert np.abs(imbalance(result)).max() < 1e-11
    assert audit(result).ok


def test_elastic_tendon_of_one_segment_is_a_linear_spring():
    ends = []
    for kind in ("spring", "tendon", "winch", "varying spring"):
        model = Model(kind, gravity=(0, 0, -G))
        ball = model.add_body("ball", Sphere(0.1, mass=1.0), position=(0.4, 0, -1), velocity=(0, 0.3, 0))
        points, length = ("ground@0,0,0", ball.at((0.02, 0.01, 0.05))), "1 - 0.1*t"
        if kind == "tendon":
            model.add_tendon("line", points, stiffness=150.0, length=1.0)
        elif kind == "winch":
            model.add_tendon("line", points, stiffness=150.0, length=length)
        else:
            model.add_spring("line", *points, stiffness=150.0, length=1.0 if kind == "spring" else length)
        result = simulate(model, 0.5, DT, output_every=1, progress=False)
        assert np.abs(imbalance(result)).max() < 1e-11
        ends.append(result.state().r)
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    assert ends[3] == pytest.approx(ends[2], abs=1e-12)
    assert np.abs(ends[1] - ends[2]).max() > 1e-3


def ropes_of(**tendon):
    """Return a clamped rod and a body, and a tendon along the rod, over the body, to the ground."""
    model = Model("ropes", gravity=(0, -G, 0.3))
    section = Section.from_stiffness(
        EA=2e3, GA=2e3, GJ=30, EI=50, mass_per_length=1.0, inertia_per_length=(0.02, 0.01, 0.01)
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 6, up=(0, 1, 0), mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0), position=(1.3, 0.2, 0))
    eyelets = [rod.at(k / 6, (0, 0.05, 0)) for k in range(1, 7)]
    corners = [body.at((0, 0.05, 0)), body.at((0.05, -0.05, 0))]
    model.add_tendon("tendon", ["ground@0,0.3,0", *eyelets, *corners, "ground@1.5,1,0"], **tendon)
    return model


UNKNOWN = {
    "inextensible": {},
    "elastic": {"stiffness": 1e3},
    "winch": {"stiffness": 1e3, "length": "2.4 - 0.5*t"},
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("integrator", ["em4", "em-ggl", "em-d(0.9)", "EML", "EML-kappa"])
def test_every_family_integrates_tendons_of_unknown_tension(name, integrator):
    """The families assemble them in different ways: by closed forms with a border, by duals in charts."""
    model = ropes_of(**UNKNOWN[name])
    result = simulate(model, 0.05, 0.0025, integrator, output_every=2, progress=False)
    reference = simulate(model, 0.05, 0.00025, progress=False)
    assert result.body("body").r[-1] == pytest.approx(reference.body("body").r[-1], abs=2e-4)
    assert np.abs(reference.body("body").r[-1] - [1.3, 0.2, 0]).max() > 2e-3
    if name != "winch" or integrator[:3] != "EML":  # its work is that of forces in coordinates
        assert audit(result).ok


@pytest.mark.parametrize("name", UNKNOWN)
def test_motion_with_unknown_tension_is_of_second_order_and_balances_the_energy(name):
    def run(dt):
        return simulate(ropes_of(**UNKNOWN[name]), 0.064, dt, output_every=1, progress=False)

    coarse, middle, fine = (run(dt) for dt in (0.0005, 0.00025, 0.000125))
    r = [result.body("body").r[-1] for result in (coarse, middle, fine)]
    assert np.abs(r[0] - r[1]).max() / np.abs(r[1] - r[2]).max() == pytest.approx(4.0, rel=0.2)
    for result in (coarse, middle, fine):
        assert np.abs(imbalance(result)).max() < 1e-11


@pytest.mark.parametrize("tendon", [{}, {"stiffness": 50.0}])
def test_free_bodies_on_a_tendon_conserve_momenta(tendon):
    model = Model("free")
    balls = [
        model.add_body(
            f"ball {k}",
            Sphere(0.1, mass=1.0 + k),
            position=(0.3 * k, 0.2 * (k % 2), 0.1 * k),
            angular_velocity=(1, 2, k),
        )
        for k in range(4)
    ]
    points = [ball.at((0.05, 0.02 * k, 0)) for k, ball in enumerate([*balls, balls[1]])]
    model.add_tendon("tendon", points, **tendon)
    result = simulate(model, 0.3, DT, output_every=1, progress=False)
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert momentum == pytest.approx(np.tile(momentum[0], (len(momentum), 1)), abs=1e-12)
    assert np.abs(imbalance(result)).max() < 1e-12


@pytest.mark.parametrize("points", [8, 40])
def test_equilibrium_with_an_elastic_tendon_has_its_tension_everywhere(points):
    """The arc of curvature T d/EI, with T = k (l - L) and l = 1 - d x angle."""
    stiffness, shorter = 100.0, 0.2
    model = arm(points, stiffness=stiffness, length=LENGTH - shorter)
    bent = equilibrium(model)
    # T = k (L0 - d phi - L0 + shorter), phi = T d L0/EI
    tension = stiffness * shorter / (1.0 + stiffness * OFFSET**2 / EI)
    other = equilibrium(arm(points, tension=tension))
    assert bent.rod("rod").r[-1, -1] == pytest.approx(other.rod("rod").r[-1, -1], abs=2e-3)
    angle = tension * OFFSET / EI
    assert bent.rod("rod").r[-1, -1, 2] == pytest.approx((np.cos(angle) - 1.0) / angle, abs=5e-3)


def test_equilibrium_with_an_inextensible_tendon_hangs_a_weight():
    model = hoist(2, (2.0, 1.0))
    model.add_spring("stop", "ground@0,0,-6", "weight 0", 100.0, length=1.0)
    heavier = hoist(2, (2.0, 1.5))
    heavier.add_spring("stop", "ground@0,0,-6", "weight 0", 100.0, length=1.0)
    assert equilibrium(model).body("weight 0").r[-1, 2] == pytest.approx(-5.0, abs=1e-9)
    raised = (2 * 1.5 - 2.0) * G / 100.0
    assert equilibrium(heavier).body("weight 0").r[-1, 2] == pytest.approx(-5.0 + raised, abs=1e-9)


def test_history_has_lengths_and_tensions_that_vary(tmp_path):
    model = crossed("4 + 3*sin(5*t)", friction=0.2)
    model.add_sensor("phi", measures.angle("upper", "lower", axis=(0, 0, 1)))
    winch = model.add_controller("winch", controllers.Formula("5 + phi**2"), ["phi"], period=0.1)
    model.add_tendon("flexor", ["upper@0,0.2,0", "lower@0,0.2,0"], winch.output())
    model.add_tendon(
        "wound", ["ground@0,0.4,0", "lower@0,0.2,0", "lower@0,0.3,0"], stiffness=50.0, length="1.1 + 0.2*t"
    )
    model.add_tendon("python", ["ground@0,0.4,0", "lower@0,0.2,0"], lambda t: 1.0)
    result = simulate(model, 0.2, DT, output=tmp_path / "run.h5", output_every=1, progress=False)
    assert result.tendons == ["tendon", "flexor", "wound", "python"]
    tendon = result.tendon("tendon")
    assert tendon.length == pytest.approx(lengths(result) + 0.4, abs=1e-13)
    assert tendon.tension == pytest.approx(4.0 + 3.0 * np.sin(5.0 * result.t), abs=1e-12)
    held = result.controller("winch").output()
    assert result.tendon("flexor").tension[1:] == pytest.approx(held[1:], abs=1e-12)
    wound = result.tendon("wound")
    stretch = np.maximum(wound.length - 1.1 - 0.2 * result.t, 0.0)
    assert wound.tension == pytest.approx(50.0 * stretch, abs=1e-12)
    with pytest.raises(ResultError, match="'python': follows a function of Python"):
        _ = Result.load(tmp_path / "run.h5").tendon("python").tension
    with pytest.raises(ResultError, match="'ropes'"):
        result.tendon("ropes")


def test_scene_keeps_tendons_of_unknown_tension(tmp_path):
    for tendon in UNKNOWN.values():
        model = ropes_of(**tendon)
        path = model.save(tmp_path / "scene.yaml")
        ends = [simulate(m, 0.02, 0.002, progress=False).state().r for m in (model, Model.load(path))]
        assert np.array_equal(*ends)


@pytest.mark.parametrize(
    ("tendon", "message"),
    [
        ({"tension": 1.0, "stiffness": 5.0}, "has a tension and a stiffness. Give one of them"),
        ({"tension": 1.0, "length": 5.0}, "has a tension and a length"),
        ({"friction": 0.2}, "has friction, but no tension"),
        ({"length": "2 - t"}, "its length varies, and it is inextensible. Give a stiffness"),
        ({"length": -1.0}, "length"),
        ({"stiffness": 0.0}, "stiffness"),
    ],
)
def test_message_says_which_arguments_exclude_each_other(tendon, message):
    model = Model()
    model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    with pytest.raises(ModelError, match=message) as error:
        model.add_tendon("rope", ["ground@0,0,1", "bar"], **tendon)
    assert "tendon 'rope'" in str(error.value)


@pytest.mark.parametrize(
    ("tendon", "message"),
    [
        ({"length": 0.5}, r"tendon 'rope': \|g\| = 0.7 at t = 0"),
        ({"length": 0.05, "stiffness": 1.0}, "0.2 m of it lie between points that are fixed"),
        ({"stiffness": 1.0, "points": 70}, "passes 71 frames.*limit is 64"),
    ],
)
def test_tendon_that_does_not_fit_its_points_is_refused(tendon, message):
    model = Model()
    bar = model.add_body("bar", Box(0.5, 0.1, 0.1, mass=1.0))
    points = ["ground@0,0,1", bar.at((0, 0, 0)), bar.at((0.2, 0, 0))]
    if count := tendon.pop("points", 0):
        rod = model.add_rod("rod", [(0, 1, 0), (1, 1, 0)], STIFF, count - 1)
        points = ["ground@0,0,1", *(rod.at(k / (count - 1)) for k in range(count))]
    model.add_tendon("rope", points, **({"length": 1.2} | tendon))
    with pytest.raises(ModelError, match=message):
        simulate(model, 0.1, DT, progress=False)
