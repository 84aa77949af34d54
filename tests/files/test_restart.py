"""Restart from a stored state: what is preserved, what moves along, and the recorded changes of the model."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import (
    Box,
    MassProperties,
    Model,
    ModelError,
    Newton,
    Section,
    audit,
    equilibrium,
    signals,
    simulate,
)
from rodsim.warnings import InitialVelocityWarning
from tests.support.statics_models import section, square


def tumbling(center: tuple[float, float, float], mass: float = 2.0) -> Model:
    """A free body whose centre of mass is off its reference point."""
    model = Model("tumbling")
    model.add_body(
        "body",
        MassProperties(mass, np.diag([0.3, 0.4, 0.5]), np.array(center)),
        position=(0.1, 0.2, 0.3),
        velocity=(1.0, 0.5, -0.2),
        angular_velocity=(2.0, -1.0, 3.0),
    )
    return model


def test_restart_keeps_the_reference_point_if_the_centre_of_mass_changes() -> None:
    first = simulate(tumbling((0.2, 0.0, 0.1)), 0.3, 0.01, progress=False)
    restarted = simulate(tumbling((-0.1, 0.3, 0.0)), 0.01, 0.01, start=first, progress=False)
    before, after = first.body("body"), restarted.body("body")
    np.testing.assert_allclose(after.r[0], before.r[-1], atol=1e-14)
    np.testing.assert_allclose(after.quat[0], before.quat[-1], atol=0.0)
    np.testing.assert_allclose(after.v[0], before.v[-1], atol=1e-14)
    assert restarted.description["start"]["changes"] == []


def test_restart_names_changed_masses_and_moments() -> None:
    first = simulate(tumbling((0.2, 0.0, 0.1)), 0.02, 0.01, progress=False)
    heavier = tumbling((0.2, 0.0, 0.1), mass=3.0)
    changes = simulate(heavier, 0.01, 0.01, start=first, progress=False).description["start"]["changes"]
    assert changes == ["body 'body': mass 2 -> 3"]
    rounder = Model("tumbling")
    rounder.add_body("body", MassProperties(2.0, np.diag([0.4, 0.4, 0.4]), np.array([0.2, 0.0, 0.1])))
    (changes,) = simulate(rounder, 0.01, 0.01, start=first, progress=False).description["start"]["changes"]
    assert changes.startswith("body 'body': inertia [[0.3")
    assert "-> [[0.4" in changes


def two_rods(second: Section, load: str = "push") -> Model:
    model = Model("two rods")
    for k, cross_section in enumerate((square(0.05), second)):
        rod = model.add_rod(f"rod {k}", [(0, k, 0), (1, k, 0)], cross_section, 3)
        model.add_joint(f"clamp {k}", "clamp", rod.start)
    model.add_force(load, rod.end, (0.0, 0.01, 0.0))
    return model


def test_restart_names_the_changed_rod_and_accepts_changed_loads() -> None:
    first = equilibrium(two_rods(square(0.05)))
    (changes,) = equilibrium(two_rods(square(0.06)), start=first).description["start"]["changes"][:1]
    assert changes.startswith("rod 'rod 1'")
    changes = " ".join(
        equilibrium(two_rods(square(0.05), "pull"), start=first).description["start"]["changes"]
    )
    assert changes == "load 'pull' is new load 'push' is gone"


def moved_strip() -> tuple[Model, dict]:
    """A strip between two clamps, of which the second moves."""
    model = Model("strip")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(EA=1e4, GA=5e3, GJ=2.0, EI=2.0), 8)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    return model, {"right": {"displacement": (-0.2, 0.1, 0.0), "rotation": (0, 0, 0.4)}}


@pytest.mark.parametrize("index", [-1, 1])
def test_moved_clamps_stay_where_the_stored_equilibrium_had_them(index: int) -> None:
    model, motions = moved_strip()
    path = equilibrium(model, method=Newton(first_step=0.25), motions=motions)
    assert len(path.t) > 2
    run = simulate(moved_strip()[0], 0.05, 0.01, start=path, start_time=path.t[index], progress=False)
    assert np.abs(run.state().r - path.state(index if index > 0 else path.n_outputs - 1).r).max() < 1e-9
    assert "'right' stays where" in run.description["start"]["changes"][-1]


def test_prescribed_rotation_is_about_the_joint_or_the_given_point() -> None:
    """Half a revolution about z: a rod that moves rigidly comes to the other side."""
    for about, expected in ((None, (-1.0, 0.0, 0.0)), ((0.5, 0.0, 0.0), (0.0, 0.0, 0.0))):
        for way_round in (False, True):
            model = Model("carried")
            rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], square(0.05), 3)
            ends = (model.ground, rod.start) if way_round else (rod.start, model.ground)
            model.add_joint("held", "weld", *ends, at=(0, 0, 0))
            motion = {"rotation": (0, 0, np.pi)} | ({} if about is None else {"about": about})
            result = equilibrium(model, motions={"held": motion})
            np.testing.assert_allclose(result.rod("rod").r[-1, -1], expected, atol=1e-9)
            assert result.energy["elastic"][-1] < 1e-15


def wound(stiffness: float = 0.02) -> Model:
    model = Model("clock")
    body = model.add_body("wheel", Box(1, 1, 1, mass=0.6), angular_velocity=(0, 0, 10.0))
    model.add_joint("axle", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_spring("spring", model.ground, body, stiffness, along="rotation", axis=(0, 0, 1))
    return model


def test_restart_continues_the_revolutions_of_a_torsion_spring() -> None:
    first = simulate(wound(), 1.0, 0.01, progress=False)  # some ten radians
    restarted = simulate(wound(), 0.5, 0.01, start=first, progress=False)
    uninterrupted = simulate(wound(), 1.5, 0.01, progress=False)
    assert first.energy["spring"][-1] > 0.5 * 0.02 * 9.0**2
    assert restarted.energy["spring"][0] == pytest.approx(first.energy["spring"][-1], rel=1e-12)
    np.testing.assert_allclose(restarted.state().quat, uninterrupted.state().quat, atol=1e-11)


def test_restart_names_a_moved_joint() -> None:
    first = equilibrium(two_rods(square(0.05)))
    other = Model("two rods")
    for k in (0, 1):
        rod = other.add_rod(f"rod {k}", [(0, k, 0), (1, k + 0.1 * k, 0)], square(0.05), 3)
        other.add_joint(f"clamp {k}", "clamp", rod.start)
    with pytest.raises(ModelError, match=r"'clamp 1': its axes are 5.71 degrees apart at the stored state"):
        simulate(other, 0.01, 0.01, start=first, progress=False)


def test_restart_resets_work_and_losses() -> None:
    def swinging() -> Model:
        model = Model("damped", gravity=(0, 0, -9.81))
        body = model.add_body("bob", Box(0.1, 0.1, 0.1, mass=1.0), position=(1.0, 0, 0))
        model.add_spring(
            "string", model.ground.at((0, 0, 0)), body.at((0, 0, 0)), 100.0, length=1.0, damping=5.0
        )
        model.add_force("push", body.at((0, 0, 0)), (1.0, 0, 0))
        return model

    first = simulate(swinging(), 0.5, 0.01, progress=False)
    assert first.dissipation[-1] > 0.01
    restarted = simulate(swinging(), 0.2, 0.01, start=first, progress=False)
    assert restarted.dissipation[0] == 0.0
    assert restarted.audit_column("work")[0] == 0.0
    assert audit(restarted).energy_balance < 1e-12


def arm(motion: signals.Signal) -> Model:
    """A bar on a driven hinge, with another one behind it on a spring."""
    model = Model("arm", gravity=(0.0, 0.0, -9.81))
    bar = model.add_body("bar", Box(1.0, 0.1, 0.1, density=1000.0), position=(0.5, 0.0, 0.0))
    model.add_joint("pin", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_drive("motor", "pin", motion)
    weight = model.add_body("weight", Box(0.2, 0.1, 0.1, density=500.0), position=(1.3, 0.0, 0.0))
    model.add_bushing("coupling", bar, weight, 200.0, at=(1.1, 0, 0))
    return model


def test_restarted_drive_continues_from_the_joint_coordinate() -> None:
    forward, back = signals.SmoothStep(0.5, 0.0, 0.4), signals.SmoothStep(-0.3, 0.0, 0.4)
    first = simulate(arm(forward), 0.5, 0.01, output_every=1, progress=False)
    restarted = simulate(arm(back), 0.5, 0.01, output_every=1, start=first, progress=False)
    uninterrupted = simulate(
        arm((lambda t: forward(t) + back(t - 0.5), lambda t: forward.rate(t) + back.rate(t - 0.5))),
        1.0,
        0.01,
        output_every=1,
        progress=False,
    )
    np.testing.assert_allclose(restarted.state().r, uninterrupted.state().r, atol=1e-11)
    assert restarted.joint("pin").angle[-1] == pytest.approx(0.2, abs=1e-12)
    work = uninterrupted.drive_work("motor")
    np.testing.assert_allclose(restarted.drive_work("motor"), work[50:] - work[50], atol=1e-10)
    assert audit(restarted).ok
    at_rest = equilibrium(arm(back), start=first)
    assert at_rest.joint("pin").angle[-1] == pytest.approx(0.5, abs=1e-12)


def test_restart_with_another_drive_rate_is_recorded_as_an_impact() -> None:
    first = simulate(arm(signals.SmoothStep(0.5, 0.0, 0.4)), 0.5, 0.01, progress=False)
    with pytest.warns(InitialVelocityWarning, match="'bar'"):
        restarted = simulate(arm(signals.Steady(2.0)), 0.1, 0.01, start=first, progress=False)
    (jump,) = [
        words for words in restarted.description["start"]["changes"] if words.startswith("velocities jump")
    ]
    assert "rates that drives begin with" in jump
    assert restarted.joint("pin").angle_rate[0] == pytest.approx(2.0, rel=1e-12)
    assert audit(restarted).ok


def shaken_ball(
    displacement: signals.Signal, position: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Model:
    model = Model("shaken")
    shaker = model.add_driven("shaker", position=position, displacement=displacement.along((1, 0, 0)))
    ball = model.add_body("ball", Box(0.2, 0.2, 0.2, density=100.0), position=(0.0, 0.0, 0.5))
    model.add_spring("spring", shaker.at((0, 0, 0)), ball.at((0, 0, 0)), stiffness=30.0, length=0.5)
    return model


def test_restarted_driven_frame_must_start_at_its_position() -> None:
    first = simulate(shaken_ball(signals.SmoothStep(0.1, 0.0, 0.2)), 0.3, 0.01, progress=False)
    with pytest.raises(
        ModelError, match=r"driven 'shaker': begins 0.1 m .* give it position = \[0.1, 0.0, 0.0\]"
    ):
        simulate(shaken_ball(signals.SmoothStep(0.1, 0.0, 0.2)), 0.1, 0.01, start=first, progress=False)
    restarted = simulate(
        shaken_ball(signals.SmoothStep(0.1, 0.0, 0.2), (0.1, 0, 0)), 0.3, 0.01, start=first, progress=False
    )
    assert audit(restarted).ok
    np.testing.assert_allclose(restarted.state(0).r, first.state().r, atol=1e-15)
    assert restarted.state().r[2, 0] == pytest.approx(0.2, abs=1e-15)
    begun = simulate(
        shaken_ball(signals.Sine(0.02, 1.0), (0.1, 0, 0)), 0.1, 0.01, start=first, progress=False
    )
    assert begun.state(0).v[2] == pytest.approx([0.02 * 2 * np.pi, 0, 0], rel=1e-12)


def soft(relaxes: bool) -> Model:
    """A clamped rod under its weight."""
    elastic = section(EA=1600.0, GA=800.0, GJ=12.0, EI=16.0)
    model = Model("soft", gravity=(0.0, 0.0, -9.81))
    rod = model.add_rod(
        "rod", [(0, 0, 0), (1, 0, 0)], elastic.with_relaxation(0.3, fraction=0.5) if relaxes else elastic, 4
    )
    model.add_joint("clamp", "clamp", rod.start)
    return model


def test_restart_keeps_or_initialises_relaxation_branches() -> None:
    first = simulate(soft(True), 0.3, 0.01, output_every=1, progress=False)
    restarted = simulate(soft(True), 0.2, 0.01, output_every=1, start=first, progress=False)
    uninterrupted = simulate(soft(True), 0.5, 0.01, output_every=1, progress=False)
    np.testing.assert_allclose(restarted.state().internal, uninterrupted.state().internal, atol=1e-10)
    assert np.abs(uninterrupted.state().internal).max() > 1e-3
    statics = equilibrium(soft(False))
    begun = simulate(soft(True), 0.2, 0.01, output_every=1, start=statics, progress=False)
    strains = statics.strains(statics.n_outputs - 1)
    np.testing.assert_allclose(
        begun.layout.internal.part(begun.state(0).internal, "branch"), strains, atol=1e-14
    )
    assert "branches that relax are new" in begun.description["start"]["changes"][-1]
    assert audit(begun).ok


def supported_body(stiffness: float = 50.0, damping: float = 0.1, rest_length: float = 0.0) -> Model:
    """A body on a spring and a bushing."""
    model = Model("held")
    body = model.add_body("body", Box(0.2, 0.2, 0.2, density=100.0))
    model.add_spring("line", model.ground.at((1, 0, 0)), body.at((0, 0, 0)), 40.0, damping=damping)
    model.add_bushing(
        "rubber", model.ground, body, stiffness, at=(0, 0, 0), rest=(rest_length, 0, 0, 0, 0, 0)
    )
    return model


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({}, ""),
        ({"stiffness": 60.0}, "interaction 'rubber': stiffness"),
        ({"damping": 0.3}, "spring 'line': damping"),
        ({"rest_length": 0.1}, "interaction 'rubber': rest"),
    ],
)
def test_restart_records_changed_interactions(other: dict, words: str) -> None:
    first = simulate(supported_body(), 0.02, 0.01, progress=False)
    changes = simulate(supported_body(**other), 0.01, 0.01, start=first, progress=False).description["start"][
        "changes"
    ]
    assert len(changes) == bool(words)
    assert "".join(changes).startswith(words)


def test_restart_from_an_older_file_compares_numbers() -> None:
    first = simulate(supported_body(), 0.02, 0.01, progress=False)
    del first.layout.description["springs"]["line"]["damping"]
    same, other = (
        simulate(supported_body(damping=x), 0.01, 0.01, start=first, progress=False) for x in (0.1, 0.3)
    )
    assert same.description["start"]["changes"] == []
    assert other.description["start"]["changes"] == ["damper: other numbers"]
