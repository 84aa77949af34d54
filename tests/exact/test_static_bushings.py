"""Bushings, springs with laws and drives in equilibria and modes: closed forms of a body on a bushing."""

import numpy as np
import pytest

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import at_rest, chosen, is_dissipation, springs_of
from rodsim import Box, Model, Section, SpringLaw, equilibrium, modes
from tests.support.completeness import forces, loaded, pressed

K, K_TURN, MASS = 4e3, 50.0, 2.0


def on_a_bushing(force=(0.0, 0.0, 0.0)):
    model = Model("mount")
    body = model.add_body("body", Box(0.3, 0.2, 0.1, mass=MASS))
    stiffness = np.diag([K, 2 * K, 3 * K, K_TURN, 2 * K_TURN, 3 * K_TURN])
    model.add_bushing("mount", model.ground.at((0, 0, 0)), body.at((0, 0, 0)), stiffness)
    model.add_force("pull", body.at((0, 0, 0)), force)
    return model


def test_bushing_deflection_is_force_over_stiffness():
    r = equilibrium(on_a_bushing((8.0, 0.0, 0.0))).body("body").r[-1]
    assert r == pytest.approx((8.0 / K, 0.0, 0.0), abs=1e-12)


def test_body_on_a_bushing_has_six_exact_frequencies():
    model = on_a_bushing()
    inertia = np.diag(model.bodies["body"].properties.inertia)
    exact = np.sqrt(np.concatenate([K * np.array([1, 2, 3]) / MASS, K_TURN * np.array([1, 2, 3]) / inertia]))
    result = modes(model, 6)
    assert np.sort(result.omega) == pytest.approx(np.sort(exact), rel=1e-9)


def test_nonlinear_spring_force_balances_the_weight():
    """F = k x + b x^3."""
    k, b = 100.0, 4e4
    model = Model("hanger", gravity=(0, 0, -9.81))
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=MASS), position=(0, 0, -1.0))
    model.add_joint("rail", "prismatic", model.ground, body, at=(0, 0, -1), axis=(0, 0, 1))
    law = SpringLaw.function(lambda x: k * (x - 1.0) + b * (x - 1.0) ** 3, 0.5, 1.5)
    model.add_spring("spring", model.ground.at((0, 0, 0)), body.at((0, 0, 0)), law=law)
    z = -equilibrium(model).body("body").r[-1, 2] - 1.0
    assert k * z + b * z**3 == pytest.approx(MASS * 9.81, rel=1e-6)


def test_driven_model_rests_at_the_start_of_its_drive():
    """A crank held by its drive: the drive carries the moment of the weight."""
    model = Model("crank", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(1.0, 0.1, 0.1, mass=MASS), position=(0.5, 0, 0))
    hinge = model.add_joint("hinge", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_drive("motor", hinge, lambda t: 0.3 * t)
    result = equilibrium(model)
    assert result.body("bar").r[-1] == pytest.approx((0.5, 0, 0), abs=1e-12)
    assert abs(result.joint("motor").moment[-1, 1]) == pytest.approx(MASS * 9.81 * 0.5, rel=1e-9)


def test_bushing_equals_a_massless_rod_of_one_se3_element():
    """Stiffness C/L from end to end, unstressed at the distance L: both measure the screw motion between the ends."""
    length = 0.5
    C = np.array([800.0, 300.0, 400.0, 2.0, 3.0, 5.0])

    def loaded(rod):
        model = Model("arm")
        body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=MASS), position=(length, 0, 0))
        if rod:
            section = Section.from_stiffness(
                EA=C[0],
                GA=tuple(C[1:3]),
                GJ=C[3],
                EI=tuple(C[4:]),
                mass_per_length=1.0,
                inertia_per_length=1.0,
            )
            arm = model.add_rod("arm", [(0, 0, 0), (length, 0, 0)], section, n_elements=1, up=(0, 0, 1))
            model.add_joint("wall", "clamp", arm.start)
            model.add_joint("glue", "weld", arm.end, body)
        else:
            reference = (length, 0, 0, 0, 0, 0)
            model.add_bushing(
                "arm", model.ground.at((0, 0, 0)), body.at((0, 0, 0)), C / length, rest=reference
            )
        model.add_force("pull", body, (3.0, -4.0, 6.0))
        model.add_moment("turn", body, (0.5, -0.3, 0.2))
        statics = equilibrium(model).body("body")
        return np.concatenate([statics.r[-1], statics.quat[-1]])

    as_rod = loaded(rod=True)
    assert abs(as_rod[1]) > 0.02
    assert loaded(rod=False) == pytest.approx(as_rod, abs=1e-10)


def test_interactions_at_rest_exclude_dissipation():
    """Dissipative interactions are removed with their parameters; without any, the table itself is returned."""
    interactions = forces().build().system.others
    conservative = at_rest(interactions)
    selected = [not is_dissipation(INTERACTIONS[k]) for k in interactions.kind.tolist()]
    assert 0 < sum(selected) < len(selected)
    assert conservative.kind.tolist() == interactions.kind[selected].tolist()
    springs = springs_of(interactions)
    assert springs.damping.any()
    assert not springs_of(conservative).damping.any()
    assert np.array_equal(springs_of(conservative).stiffness, springs.stiffness)
    assert at_rest(chosen(interactions, np.zeros(len(selected), bool))).first.tolist() == [0]
    damped = pressed().build().system.others  # by dampers without a spring
    assert any(is_dissipation(INTERACTIONS[k]) for k in damped.kind)
    assert not any(is_dissipation(INTERACTIONS[k]) for k in at_rest(damped).kind)
    still = loaded().build().system.others
    assert at_rest(still) is still
