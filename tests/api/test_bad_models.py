"""Models that make no sense: each error names the part and the cure, before any step."""

import numpy as np
import pytest

from rigid.inertia import MassProperties, PointMass
from rigid.signals import Sine
from rodsim import Box, Material, Model, ModelError, Section, equilibrium, modes, simulate

X, Y, Z = np.eye(3)


def bar(model, name="bar", position=(0.5, 0, 0), **more):
    return model.add_body(name, Box(1.0, 0.1, 0.1, mass=1.0), position=position, **more)


def hinged():
    model = Model("hinged")
    own = bar(model)
    model.add_joint("hinge", "revolute", model.ground, own, at=(0, 0, 0), axis=Z)
    return model, own


def test_a_load_on_what_nothing_holds_is_named_with_the_part():
    model, _ = hinged()
    loose = bar(model, "loose", (3, 0, 0))
    model.add_force("push", loose.at((0, 0, 0)), X)
    with pytest.raises(
        ModelError, match=r"body 'loose': nothing joins it.*load 'push' acts on it.*hold it by a joint"
    ):
        equilibrium(model)


@pytest.mark.parametrize(
    ("kind", "load", "words"),
    [
        (
            "revolute",
            "moment",
            r"body 'bar' turns about \(0, 0, 1\); hold it by a joint, a spring or a drive",
        ),
        ("prismatic", "force", r"body 'bar' moves along \(0, 0, 1\); hold it by"),
    ],
)
def test_a_free_mechanism_under_a_load_is_told_its_freedom(kind, load, words):
    model = Model("free")
    own = bar(model)
    model.add_joint("j", kind, model.ground, own, at=(0, 0, 0), axis=Z)
    if load == "moment":
        model.add_moment("load", own, Z)
    else:
        model.add_force("load", own.at((0, 0, 0)), Z)
    with pytest.raises(
        RuntimeError, match="there is a motion that no joint and no stiffness holds: " + words
    ):
        equilibrium(model)


def test_points_that_do_not_meet_are_named_with_their_gap():
    model, own = hinged()
    other = bar(model, "other", (1.5, 0, 0))
    model.add_joint("pin", "spherical", own.at((0.5, 0, 0)), other.at((-0.5, 0, 0)))
    model.add_joint("back", "spherical", other.at((0.5, 0, 0)), model.ground.at((2.0, 0.1, 0)))
    with pytest.raises(
        ModelError,
        match=r"joint 'back': \|g\| = 0.1 m at t = 0 .*\(ground - bar - other - ground\) does not close.*; move one of them",
    ):
        model.build()


@pytest.mark.parametrize(
    "shape", [lambda: PointMass(0.0), lambda: Box(1, 1, 1, mass=0.0), lambda: MassProperties(0.0, (1, 1, 1))]
)
def test_what_has_no_mass_is_refused_with_what_to_take_instead(shape):
    with pytest.raises(ModelError, match=r"mass = 0, .*join its neighbours.*or give it a small mass"):
        shape()


def test_drives_against_each_other_and_against_a_clamp_are_named():
    model, own = hinged()
    model.add_drive("one", "hinge", Sine(0.1, 1.0))
    model.add_drive("two", "hinge", Sine(0.2, 1.0))
    with pytest.raises(
        ModelError, match=r"drive 'one' .*and drive 'two' .*drive against each other.*leave one of them out"
    ):
        model.build()
    model, own = hinged()
    model.add_drive("one", "hinge", Sine(0.1, 1.0))
    model.add_joint("clamp", "weld", model.ground, own, at=(1, 0, 0))
    with pytest.raises(ModelError, match="drive 'one' of joint 'hinge' prescribes what joints fix already"):
        model.build()


def test_modes_of_a_mechanism_are_told_apart_and_say_which_part_moves():
    model = Model("chain")
    section = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000))
    arm = bar(model)
    rod = model.add_rod("rod", [(1, 0, 0), (2, 0, 0)], section, 4)
    model.add_joint("hinge", "revolute", model.ground, arm, at=(0, 0, 0), axis=Z)
    model.add_joint("elbow", "revolute", arm, rod.start, at=(1, 0, 0), axis=Z)
    found = modes(model, 4)
    assert found.kinds.count("rigid") == 2
    assert list(found.frequency[:2]) == [0.0, 0.0]
    assert found.kinds[2] == "oscillates"
    assert found.most(0).startswith(("rod 'rod'", "body 'arm'"))
    assert found.text().count("rigid") == 2


def test_a_body_without_moments_is_named_with_what_asks_for_its_rotation():
    model = Model("point")
    point = model.add_body("point", PointMass(1.0))
    model.add_joint("hinge", "revolute", model.ground, point, at=(0, 0, 0), axis=Z)
    with pytest.raises(
        ModelError, match=r"'point' has no moment of inertia.*joint 'hinge' asks for its rotation; hold it"
    ):
        simulate(model, t_end=0.1, dt=0.1)
