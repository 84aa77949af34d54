"""Point masses and lines: bodies without moments of inertia, held by what asks for none."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from rodsim import Box, Law, MassProperties, Model, ModelError, PointMass, audit, simulate

EXACT = 1e-11
LINE = MassProperties(3.0, (0.25, 0.0, 0.25))  # along y, of length 1


def spring_chain():
    """Point masses on springs and a string, hung up."""
    model = Model("chain", gravity=(0, 0, -9.81))
    before = model.ground.at((0, 0, 0))
    for k in range(3):
        mass = model.add_body(
            str(k), PointMass(0.5 + k), position=(1.0 + k, 0.1 * k, 0), velocity=(0, 0.2, 0)
        )
        model.add_spring(f"s{k}", before, mass.at((0, 0, 0)), 200.0 * (k + 1), damping=0.0)
        before = mass.at((0, 0, 0))
    end = model.add_body("end", PointMass(1.0), position=(3.5, 0.2, 0))
    model.add_joint("string", "distance", before, end.at((0, 0, 0)))
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_point_masses_on_springs_move_as_their_equations_say(integrator):
    """Against scipy, without the string; and no mass turns."""
    model = spring_chain()
    model.joints.clear()
    masses, stiffness = np.array([0.5, 1.5, 2.5, 1.0]), [200.0, 400.0, 600.0]
    start = np.array([[1.0, 0, 0], [2.0, 0.1, 0], [3.0, 0.2, 0], [3.5, 0.2, 0]])
    rest = [1.0, np.hypot(1.0, 0.1), np.hypot(1.0, 0.1)]

    def rate(t, y):
        r, v = y.reshape(2, 4, 3)
        a = np.tile([0, 0, -9.81], (4, 1))
        for k in range(3):
            d = r[k] - (r[k - 1] if k else 0.0)
            f = stiffness[k] * (1 - rest[k] / np.linalg.norm(d)) * d
            a[k] -= f / masses[k]
            if k:
                a[k - 1] += f / masses[k - 1]
        return np.concatenate([v, a]).ravel()

    v0 = np.array([[0, 0.2, 0]] * 3 + [[0, 0, 0]])
    exact = solve_ivp(rate, (0, 1), np.concatenate([start, v0]).ravel(), rtol=1e-10, atol=1e-11).y[:12, -1]
    errors = []
    for h in (0.01, 0.005, 0.0025):
        result = simulate(model, 1.0, h, integrator)
        assert audit(result).energy_balance < EXACT
        state = result.state()
        assert not np.any(state.Omega)
        assert np.array_equal(state.quat[1:], np.tile([1.0, 0, 0, 0], (4, 1)))
        errors.append(np.abs(state.r[1:].ravel() - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_a_chain_of_points_and_a_string_keeps_the_balance(integrator):
    found = audit(simulate(spring_chain(), 1.0, 0.01, integrator))
    assert found.ok
    assert found.energy_balance < EXACT
    assert found.constraint < 1e-12


def pendulum(shape):
    model = Model("pendulum", gravity=(0, 0, -9.81))
    body = model.add_body("bob", shape, position=(0, 0.5, 0), angular_velocity=(0, 0, 2.0))
    model.add_joint("ball", "spherical", model.ground, body, at=(0, 0, 0))
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_a_line_never_spins_about_itself_and_moves_as_with_any_moment_there(integrator):
    """A spherical pendulum on the axis of the line."""
    one = simulate(pendulum(LINE), 2.0, 0.01, integrator)
    other = simulate(pendulum(MassProperties(3.0, (0.25, 0.01, 0.25))), 2.0, 0.01, integrator)
    assert np.abs(one.body("bob").r - other.body("bob").r).max() < 1e-11
    assert np.abs(one.body("bob").Omega[:, 1]).max() < 1e-13
    assert np.abs(one.body("bob").Omega[:, 0]).max() > 1.0
    assert audit(one).energy_balance < EXACT


HOLDS = {
    "joint 'hinge'": lambda m, b: m.add_joint(
        "hinge", "revolute", m.ground, b, at=(0, 0.5, 0), axis=(0, 0, 1)
    ),
    "joint 'off'": lambda m, b: m.add_joint("off", "spherical", m.ground, b, at=(0.1, 0.5, 0)),
    "spring 'off'": lambda m, b: m.add_spring("off", m.ground.at((0, 0, 0)), b.at((0.1, 0, 0)), 1.0),
    "torsion spring 'coil'": lambda m, b: m.add_torsion_spring("coil", m.ground, b, (0, 1, 0), 1.0),
    "load 'turn'": lambda m, b: m.add_moment("turn", b.at((0, 0, 0)), (0, 1, 0)),
    "load 'push'": lambda m, b: m.add_force("push", b.at((0, 0, 0)), (0, 1, 0), following=True),
    "spring or bushing 'mount'": lambda m, b: m.add_bushing("mount", m.ground.at((0, 0, 0)), b, 1.0),
    "spring or bushing 'law'": lambda m, b: m.add_law_spring(
        "law", m.ground.at((0, 0, 0)), b.at((0.1, 0, 0)), Law.polynomial([0, 1.0])
    ),
}


@pytest.mark.parametrize("shape", [PointMass(1.0), LINE], ids=["point", "line"])
@pytest.mark.parametrize("what", HOLDS)
def test_what_asks_for_a_rotation_without_inertia_is_named(what, shape):
    model = Model("held")
    body = model.add_body("bob", shape, position=(0, 0.5, 0))
    model.add_body("other", Box(1, 1, 1, mass=1.0), position=(3, 0, 0))
    HOLDS[what](model, body)
    with pytest.raises(
        ModelError, match=rf"body 'bob' has no moment of inertia.*but {what} asks for its rotation"
    ):
        model.build()


def test_what_holds_a_line_by_its_axis_is_allowed():
    model = pendulum(LINE)
    model.add_spring("spring", model.ground.at((0, 0, 0)), model.bodies["bob"].at((0, 0.5, 0)), 1.0)
    model.add_force("push", model.bodies["bob"].at((0, -0.2, 0)), (1, 0, 0))
    assert model.build().system.frames.inertia[1] == pytest.approx(0.25 * np.eye(3))


def test_a_spin_about_an_axis_without_inertia_is_refused():
    model = Model("spun")
    model.add_body("bob", LINE, angular_velocity=(1.0, 2.0, 0))
    with pytest.raises(
        ModelError, match=r"body 'bob' has no moment of inertia about \(0, 1, 0\), but spins about it at 2"
    ):
        model.build()


def test_a_negative_moment_is_refused():
    with pytest.raises(ModelError, match=r"are not all positive or zero"):
        MassProperties(1.0, (-1.0, 1.0, 1.0))
