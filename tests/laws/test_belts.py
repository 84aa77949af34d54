"""Laws of drums with inertia and of belts: closed-form motions and frequencies, full turns, balances, momenta, messages."""

import numpy as np
import pytest

from rodsim import (
    Box,
    Cylinder,
    Drum,
    Model,
    ModelError,
    Pulley,
    Result,
    Sphere,
    audit,
    equilibrium,
    modes,
    simulate,
)

G, DT, Y = 9.81, 0.01, (0, 1, 0)
UPRIGHT = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # takes the axis of a cylinder to y


def add_wheel(model, name, x, radius, inertia, rate=0.0, on="ground"):
    """Add a wheel on a hinge about y."""
    body = model.add_body(
        name,
        Cylinder(radius, 0.05, mass=2.0 * inertia / radius**2),
        (x, 0, 0),
        UPRIGHT,
        angular_velocity=(0, rate, 0),
    )
    model.add_joint(f"hinge of {name}", "revolute", on, body, at=(x, 0, 0), axis=Y)
    return body


def add_weight(model, name, mass, place):
    """Add a weight on a vertical rail."""
    body = model.add_body(name, Box(0.1, 0.1, 0.1, mass=mass), position=place)
    model.add_joint(f"rail of {name}", "prismatic", "ground", body, at=place, axis=(0, 0, 1))
    return body


def imbalance(result):
    """Return the error of the balance of energy, work and dissipation at all outputs, J."""
    total = result.energy["total"]
    return total - total[0] - result.work + result.dissipation


def rotation(result, name):
    """Return the rate of rotation about y at all outputs, rad/s."""
    return -result.body(name).Omega[:, 2]  # the axis of the cylinder is -y


def test_rope_over_a_drum_with_inertia_moves_weights_as_an_atwood_machine():
    """a = (m1 - m2) g/(m1 + m2 + I/rho^2); the tensions of both parts differ."""
    radius, inertia, m1, m2 = 0.2, 0.1, 3.0, 2.0
    model = Model("atwood", gravity=(0, 0, -G))
    a, b = add_weight(model, "a", m1, (-radius, 0, -2)), add_weight(model, "b", m2, (radius, 0, -5))
    drum = Drum(add_wheel(model, "drum", 0.0, 0.1, inertia), Y, radius)
    model.add_tendon("left", [a, drum])
    model.add_tendon("right", [drum, b])
    result = simulate(model, 1.0, DT, "em8", output_every=1, progress=False)
    expected = (m1 - m2) * G / (m1 + m2 + inertia / radius**2)
    assert result.body("a").r[:, 2] + 2.0 == pytest.approx(-0.5 * expected * result.t**2, abs=1e-11)
    assert result.body("b").r[:, 2] + 5.0 == pytest.approx(0.5 * expected * result.t**2, abs=1e-11)
    assert result.tendon("left").tension == pytest.approx(m1 * (G - expected), rel=1e-6)
    assert result.tendon("right").tension == pytest.approx(m2 * (G + expected), rel=1e-6)
    assert np.abs(imbalance(result)).max() < 1e-12


def test_weight_unwinds_a_rope_from_a_drum_through_several_turns():
    """a = m g/(m + I/rho^2)"""
    radius, inertia, mass = 0.1, 0.02, 2.0
    model = Model("winch", gravity=(0, 0, -G))
    weight = add_weight(model, "weight", mass, (radius, 0, -1))
    model.add_tendon("rope", [Drum(add_wheel(model, "drum", 0.0, 0.1, inertia), Y, radius), weight])
    result = simulate(model, 1.2, 0.005, "em8", output_every=1, progress=False)
    fall = 0.5 * mass * G / (mass + inertia / radius**2) * result.t**2
    assert fall[-1] / (2.0 * np.pi * radius) > 5.0  # turns
    assert result.body("weight").r[:, 2] + 1.0 == pytest.approx(-fall, abs=1e-10)
    assert result.tendon("rope").wrap[:, 0] == pytest.approx(-fall / radius, abs=1e-9)
    assert result.tendon("rope").length == pytest.approx(1.0, abs=1e-12)


def test_differential_drum_lifts_a_block_by_half_the_difference_of_its_radii():
    """With c = (r1 - r2)/2: the block sinks by c theta, theta'' = m g c/(I + m c^2)."""
    r1, r2, inertia, mass = 0.25, 0.15, 0.05, 4.0
    c = 0.5 * (r1 - r2)
    model = Model("windlass", gravity=(0, 0, -G))
    block = add_weight(model, "block", mass, (0.5 * (r2 - r1), 0, -3))
    wheel = add_wheel(model, "drum", 0.0, 0.2, inertia)
    rope = [Drum(wheel, Y, r1, -1), Pulley(block, Y, 0.5 * (r1 + r2), -1), Drum(wheel, Y, r2, -1)]
    model.add_tendon("rope", rope)
    result = simulate(model, 1.0, 0.005, "em8", output_every=1, progress=False)
    theta = 0.5 * mass * G * c / (inertia + mass * c**2) * result.t**2
    assert result.body("block").r[:, 2] + 3.0 == pytest.approx(-c * theta, abs=1e-10)
    assert np.abs(rotation(result, "drum")[-1]) == pytest.approx(2.0 * theta[-1], rel=1e-9)
    assert theta[-1] > 4.0 * np.pi


@pytest.mark.parametrize("side", [1, -1])
def test_taut_rope_between_two_drums_on_coils_has_the_frequencies_of_two_inertias(side):
    """The elongation is r1 theta1 - side r2 theta2, for a straight and a crossed rope."""
    k, coil, radii, inertias = 300.0, 2.0, np.array([0.1, 0.25]), np.array([0.02, 0.03])
    model = Model("drums")
    wheels = [add_wheel(model, f"wheel {j}", 0.8 * j, 0.1, inertias[j]) for j in range(2)]
    for j, wheel in enumerate(wheels):
        model.add_spring(f"coil {j}", "ground", wheel, coil, along="rotation", axis=Y)
    drums = [
        Drum(wheel, Y, radius, sense) for wheel, radius, sense in zip(wheels, radii, (1, side), strict=True)
    ]
    model.add_tendon("rope", drums, stiffness=k, length=0.7)
    pull = radii * (1, -side) / np.sqrt(inertias)
    exact = np.sqrt(np.linalg.eigvalsh(np.diag(coil / inertias) + k * np.outer(pull, pull)))
    computed = np.sort(modes(model, start=equilibrium(model)).values.imag)
    assert computed[computed > 0.1] == pytest.approx(exact, rel=1e-9)


# --- belts

RADII, INERTIAS, STIFFNESS = (0.1, 0.2), (0.02, 0.05), 2000.0


def belt_drive(rate=0.0, side=1, pretension=50.0, **model_arguments):
    """Return two wheels with a belt, which runs at this speed, m/s."""
    model = Model("drive", **model_arguments)
    drums = []
    for k, sense in enumerate((1, side)):
        wheel = add_wheel(model, f"wheel {k}", 0.7 * k, RADII[k], INERTIAS[k], sense * rate / RADII[k])
        drums.append(Drum(wheel, Y, RADII[k], sense))
    model.add_belt("belt", drums, stiffness=STIFFNESS, pretension=pretension)
    return model


@pytest.mark.parametrize("side", [1, -1])
def test_belt_drive_has_the_frequency_of_both_spans(side):
    """omega^2 = 2 k (r1^2/I1 + r2^2/I2); the pretension does not matter."""
    exact = np.sqrt(2.0 * STIFFNESS * sum(r**2 / inertia for r, inertia in zip(RADII, INERTIAS, strict=True)))
    assert np.abs(modes(belt_drive(side=side)).values.imag).max() == pytest.approx(exact, rel=1e-9)


def test_stiffness_of_a_span_is_EA_over_its_length():
    values = []
    for stiffness in ({"stiffness": 1400.0 / 0.7}, {"EA": 1400.0}):
        model = Model("equal")
        drums = [Drum(add_wheel(model, f"wheel {k}", 0.7 * k, 0.1, 0.02), Y, 0.1) for k in range(2)]
        model.add_belt("belt", drums, pretension=5.0, **stiffness)
        values.append(modes(model).values.imag.max())
    assert values[0] == pytest.approx(values[1], rel=1e-12)


@pytest.mark.parametrize("side", [1, -1])
def test_running_belt_keeps_the_ratio_of_speeds_through_many_turns(side):
    result = simulate(belt_drive(5.0, side), 4.0, 0.005, "em8", progress=False)
    rates = [rotation(result, f"wheel {k}") for k in range(2)]
    assert np.abs(rates[0]) == pytest.approx(5.0 / RADII[0], abs=1e-9)
    assert rates[1] == pytest.approx(side * RADII[0] / RADII[1] * rates[0], abs=1e-9)
    assert result.belt("belt").tension == pytest.approx(50.0, abs=1e-8)
    assert 5.0 * 4.0 / RADII[0] > 30.0 * 2.0 * np.pi  # turns of the first wheel


def test_difference_of_the_tensions_is_the_torque_that_the_belt_carries():
    """A motor at the first wheel, a brake at the second that balances it: T1 - T0 = M/r1 around an oscillation."""
    model = belt_drive(2.0)
    model.add_joint_force("motor", "hinge of wheel 0", 3.0)
    model.add_joint_force("brake", "hinge of wheel 1", -6.0)
    result = simulate(model, 1.0, 1e-3, output_every=1, progress=False)
    tension = result.belt("belt").tension
    assert tension.sum(axis=1) == pytest.approx(100.0, abs=1e-9)
    difference = np.abs(tension[:, 0] - tension[:, 1])
    assert difference.mean() == pytest.approx(30.0, rel=0.01)
    assert result.belt("belt").elongation == pytest.approx(tension / STIFFNESS, abs=1e-14)
    assert np.abs(imbalance(result)).max() < 1e-11 * result.energy["total"].max()
    assert audit(result).ok


def test_span_becomes_slack_and_taut_again():
    model = belt_drive(pretension=10.0)
    model.add_joint_force("motor", "hinge of wheel 0", "30*sin(40*t)")
    result = simulate(model, 0.5, 1e-3, output_every=1, progress=False)
    tension = result.belt("belt").tension
    slack = tension == 0.0
    assert slack.any(axis=0).all()
    assert not slack.all(axis=1).any()
    assert np.abs(imbalance(result)).max() < 1e-11 * result.energy["total"].max()


def test_belt_around_three_drums_balances_energy():
    model = Model("three")
    drums = []
    for k, (x, z, radius) in enumerate(((0, 0, 0.1), (0.5, 0.6, 0.15), (1.0, 0, 0.2))):
        body = model.add_body(
            f"wheel {k}",
            Cylinder(radius, 0.05, mass=2.0),
            (x, 0, z),
            UPRIGHT,
            angular_velocity=(0, 3.0 / radius, 0),
        )
        model.add_joint(f"hinge {k}", "revolute", "ground", body, at=(x, 0, z), axis=Y)
        drums.append(Drum(body, Y, radius))
    model.add_belt("belt", drums, EA=2000.0, pretension=20.0)
    model.add_joint_force("motor", "hinge 1", 1.0)
    result = simulate(model, 1.0, 0.002, output_every=10, progress=False)
    assert result.belt("belt").tension[0] == pytest.approx(20.0, abs=1e-11)
    assert np.ptp(result.belt("belt").tension, axis=0).max() > 1.0
    assert np.abs(imbalance(result)).max() < 1e-11 * result.energy["total"].max()
    rates = np.abs([rotation(result, f"wheel {k}") * drum.radius for k, drum in enumerate(drums)])
    assert rates[:, -1] == pytest.approx(rates[:, -1].mean(), rel=0.03)
    assert rates[:, -1].mean() > 5.0


def test_belt_on_a_free_frame_conserves_momenta():
    model = Model("free")
    base = model.add_body(
        "base", Box(1.0, 0.2, 0.2, mass=3.0), (0.35, 0.2, 0), angular_velocity=(0.1, 0.2, 0.3)
    )
    drums = []
    for k in range(2):
        wheel = model.add_body(f"wheel {k}", Cylinder(0.1, 0.05, mass=1.0), (0.7 * k, 0, 0), UPRIGHT)
        model.add_joint(f"hinge {k}", "revolute", base, wheel, at=(0.7 * k, 0, 0), axis=Y)
        drums.append(Drum(wheel, Y, 0.1))
    model.add_belt("belt", drums, stiffness=500.0, pretension=5.0)
    model.add_joint_force("motor", "hinge 0", 0.5)
    result = simulate(model, 0.5, 0.005, output_every=1, progress=False)
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert momentum == pytest.approx(np.tile(momentum[0], (len(momentum), 1)), abs=1e-12)
    assert np.abs(imbalance(result)).max() < 1e-11


def test_run_goes_on_after_many_turns(tmp_path):
    """A resumed run is bit-identical; one that starts from another result keeps the tensions."""
    path = tmp_path / "run.vtkhdf"
    for t_end, resume in ((2.0, False), (2.5, True)):
        simulate(belt_drive(5.0), t_end, 0.005, output=path, resume=resume, output_every=20, progress=False)
    whole = simulate(belt_drive(5.0), 2.5, 0.005, output_every=20, progress=False)
    assert np.array_equal(Result.load(path).state().quat, whole.state().quat)
    assert np.array_equal(Result.load(path).state().internal, whole.state().internal)
    continued = simulate(belt_drive(), 0.5, 0.005, start=whole, output_every=20, progress=False)
    assert continued.belt("belt").tension[0] == pytest.approx(whole.belt("belt").tension[-1], abs=1e-9)


def test_turns_are_kept_where_a_run_starts_with_a_model_that_counts_other_angles():
    """A model with a weak coil, whose angle is counted too, keeps the turns of the belt."""
    before = simulate(belt_drive(5.0), 2.1, 0.005, output_every=20, progress=False)
    model = belt_drive()
    model.add_spring("coil", "ground", "wheel 0", 1e-9, along="rotation", axis=Y)
    after = simulate(model, 0.1, 0.005, start=before, progress=False)
    assert not any("belt" in change for change in after.description["start"]["changes"][:-1])
    assert after.belt("belt").tension[0] == pytest.approx(before.belt("belt").tension[-1], abs=1e-9)


def test_scene_keeps_a_belt(tmp_path):
    model = belt_drive(3.0, -1)
    path = model.save(tmp_path / "scene.yaml")
    ends = [simulate(m, 0.1, DT, progress=False).state().quat for m in (model, Model.load(path))]
    assert np.array_equal(*ends)


@pytest.mark.parametrize(
    ("drums", "arguments", "message"),
    [
        (1, {}, "has 1 drum. Give two or more"),
        ("wheel 0", {}, "Give a list of `Drum`s"),
        ([Pulley("ground@0,0,0", Y, 0.1)] * 2, {}, "Give a list of `Drum`s"),
        ([Drum("ball", Y, 0.1), Drum("ball@1,0,0", Y, 0.1)], {}, "drums 1 and 0 are both on body 'ball'"),
        (2, {"stiffness": None}, "has neither a stiffness nor EA"),
        (2, {"EA": 5.0}, "has a stiffness and EA"),
        (2, {"pretension": -1.0}, "pretension"),
        (2, {"stiffness": 0.0}, "stiffness"),
    ],
)
def test_message_names_the_belt_and_what_to_do(drums, arguments, message):
    model = Model()
    ball = model.add_body("ball", Sphere(0.1, mass=1.0))
    if isinstance(drums, int):
        drums = [Drum(ball, Y, 0.1), Drum("ground@1,0,0", Y, 0.1)][:drums]
    with pytest.raises(ModelError, match=message) as error:
        model.add_belt("belt", drums, **({"stiffness": 5.0} | arguments))
    assert "belt 'belt'" in str(error.value)


@pytest.mark.parametrize(
    ("distance", "side", "pretension", "message"),
    [
        (0.25, -1, 0.0, "the circles of drums 0 and 1 leave no room for a tangent"),
        (1.0, 1, 9.0, "pretension = 9 N stretches a span of .* from nothing"),
    ],
)
def test_belt_that_does_not_fit_its_drums_is_refused(distance, side, pretension, message):
    model = Model()
    ball = model.add_body("ball", Sphere(0.1, mass=1.0))
    drums = [Drum(ball, Y, 0.1), Drum(f"ground@{distance},0,0", Y, 0.2, side)]
    model.add_belt("belt", drums, stiffness=5.0, pretension=pretension)
    with pytest.raises(ModelError, match=message):
        simulate(model, 0.1, DT, progress=False)


def test_message_counts_the_drums_of_the_last_span_around():
    model = Model()
    a, b = (model.add_body(f"ball {k}", Sphere(0.1, mass=1.0), (k, 0, 0)) for k in range(2))
    drums = [Drum(a, Y, 0.1), Drum(b, Y, 0.1), Drum("ground@0.25,0,0.1", Y, 0.2, -1)]
    model.add_belt("belt", drums, stiffness=5.0)
    with pytest.raises(ModelError, match="drums 2 and 0 leave no room"):
        simulate(model, 0.1, DT, progress=False)
