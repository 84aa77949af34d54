"""What is no argument of statics and linear analyses is named with what to give in its place."""

import pytest

from rodsim import Box, Model, ModelError, equilibrium
from rodsim.linear import Probe, Push, frequency_response


def hinged():
    model = Model("hinged", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(1, 0.1, 0.1, mass=1.0), position=(0, 0, -0.5))
    model.add_joint("hinge", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    return model


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loads": [1]}, r"loads = \[1\] goes by no names; give {name of a load"),
        (
            {"motions": {"hinge": 3}},
            "motion of joint 'hinge': what is given = 3 goes by no names; give {'displacement'",
        ),
        (
            {"monitors": [1], "method": "arc-length"},
            r"monitors = \[1\] goes by no names; give {name: \(point",
        ),
        ({"stop": 3, "method": "arc-length"}, "stop = 3 goes by no names"),
        ({"constant": 3}, "constant = 3 is no list; give names of loads"),
    ],
)
def test_what_goes_by_no_names_is_refused_by_equilibrium(given, words):
    with pytest.raises(ModelError, match=words):
        equilibrium(hinged(), **given)


def test_a_frequency_at_which_nothing_resists_is_named():
    model = hinged()
    model.gravity[:] = 0.0
    bar = model.bodies["bar"].at((0, 0, 0))
    with pytest.raises(ModelError, match="nothing resists a motion at omega = 0 rad/s"):
        frequency_response(model, [Push(bar, (1, 0, 0))], [Probe(bar, (1, 0, 0))], [0.0])
