"""Point masses and lines: bodies without moments of inertia, with supports that need none."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from rigid.quaternions import rotate
from rodsim import (
    ArcLength,
    Box,
    ConvergenceError,
    MassProperties,
    Model,
    ModelError,
    Newton,
    PointMass,
    SpringLaw,
    audit,
    buckling,
    equilibrium,
    modes,
    simulate,
    steady_rotation,
)
from rodsim.linear import ForceInput, JointForceOutput, MotionOutput, frequency_response

EXACT = 1e-11
LINE = MassProperties(3.0, (0.25, 0.0, 0.25))  # along y, of length 1


def spring_chain():
    """Point masses on springs and a string."""
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
def test_point_masses_on_springs_solve_their_equations(integrator):
    """Compare with scipy, without the string; no mass rotates."""
    model = spring_chain()
    model.joints.clear()
    masses, stiffness = np.array([0.5, 1.5, 2.5, 1.0]), [200.0, 400.0, 600.0]
    start = np.array([[1.0, 0, 0], [2.0, 0.1, 0], [3.0, 0.2, 0], [3.5, 0.2, 0]])
    rest_lengths = [1.0, np.hypot(1.0, 0.1), np.hypot(1.0, 0.1)]

    def rate(t, y):
        r, v = y.reshape(2, 4, 3)
        a = np.tile([0, 0, -9.81], (4, 1))
        for k in range(3):
            d = r[k] - (r[k - 1] if k else 0.0)
            f = stiffness[k] * (1 - rest_lengths[k] / np.linalg.norm(d)) * d
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
def test_chain_of_points_and_a_string_keeps_the_energy_balance(integrator):
    audit_report = audit(simulate(spring_chain(), 1.0, 0.01, integrator))
    assert audit_report.ok
    assert audit_report.energy_balance < EXACT
    assert audit_report.constraint < 1e-12


def pendulum(shape):
    model = Model("pendulum", gravity=(0, 0, -9.81))
    body = model.add_body("bob", shape, position=(0, 0.5, 0), angular_velocity=(0, 0, 2.0))
    model.add_joint("ball", "spherical", model.ground, body, at=(0, 0, 0))
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_line_body_motion_is_independent_of_its_axial_inertia(integrator):
    """A spherical pendulum on the axis of the line."""
    one = simulate(pendulum(LINE), 2.0, 0.01, integrator)
    other = simulate(pendulum(MassProperties(3.0, (0.25, 0.01, 0.25))), 2.0, 0.01, integrator)
    assert np.abs(one.body("bob").r - other.body("bob").r).max() < 1e-11
    assert np.abs(one.body("bob").Omega[:, 1]).max() < 1e-13
    assert np.abs(one.body("bob").Omega[:, 0]).max() > 1.0
    assert audit(one).energy_balance < EXACT


SUPPORTS = {
    "joint 'hinge'": lambda m, b: m.add_joint(
        "hinge", "revolute", m.ground, b, at=(0, 0.5, 0), axis=(0, 0, 1)
    ),
    "joint 'off'": lambda m, b: m.add_joint("off", "spherical", m.ground, b, at=(0.1, 0.5, 0)),
    "spring 'off'": lambda m, b: m.add_spring("off", m.ground.at((0, 0, 0)), b.at((0.1, 0, 0)), 1.0),
    "torsion spring 'coil'": lambda m, b: m.add_spring(
        "coil", m.ground, b, 1.0, along="rotation", axis=(0, 1, 0)
    ),
    "load 'turn'": lambda m, b: m.add_moment("turn", b.at((0, 0, 0)), (0, 1, 0)),
    "load 'push'": lambda m, b: m.add_force("push", b.at((0, 0, 0)), (0, 1, 0), following=True),
    "bushing 'mount'": lambda m, b: m.add_bushing("mount", m.ground.at((0, 0, 0)), b, 1.0),
    "spring with a law 'law'": lambda m, b: m.add_spring(
        "law", m.ground.at((0, 0, 0)), b.at((0.1, 0, 0)), law=SpringLaw.polynomial([0, 1.0])
    ),
}


@pytest.mark.parametrize("shape", [PointMass(1.0), LINE], ids=["point", "line"])
@pytest.mark.parametrize("case", SUPPORTS)
def test_part_requiring_a_rotation_without_inertia_is_named(case, shape):
    model = Model("held")
    body = model.add_body("bob", shape, position=(0, 0.5, 0))
    model.add_body("other", Box(1, 1, 1, mass=1.0), position=(3, 0, 0))
    SUPPORTS[case](model, body)
    with pytest.raises(
        ModelError, match=rf"body 'bob' has no moment of inertia.*but {case} needs its rotation"
    ):
        model.build()


def test_supports_along_the_axis_of_a_line_are_accepted():
    model = pendulum(LINE)
    model.add_spring("spring", model.ground.at((0, 0, 0)), model.bodies["bob"].at((0, 0.5, 0)), 1.0)
    model.add_force("push", model.bodies["bob"].at((0, -0.2, 0)), (1, 0, 0))
    assert model.build().system.frames.inertia[1] == pytest.approx(0.25 * np.eye(3))


def test_spin_about_an_axis_without_inertia_is_rejected():
    model = Model("spun")
    model.add_body("bob", LINE, angular_velocity=(1.0, 2.0, 0))
    with pytest.raises(
        ModelError, match=r"body 'bob' has no moment of inertia about \(0, 1, 0\), but spins about it at 2"
    ):
        model.build()


def test_negative_moment_of_inertia_is_rejected():
    with pytest.raises(ModelError, match=r"are not all positive or zero"):
        MassProperties(1.0, (-1.0, 1.0, 1.0))


def test_newton_finds_equilibria_of_points_and_lines():
    """Weights on springs compared with the balance by hand; meaningless rotations do not make the tangent singular."""
    model = Model("hung", gravity=(0, 0, -10))
    point = model.add_body("point", PointMass(2.0), position=(0.5, 0, -1))
    line = model.add_body("line", LINE, position=(0.5, 0, -2), orientation=(0.8, 0, 0, 0.6))
    parts, origin, ends = (model.ground, point, line), (0, 0, 0), ((0, -0.5, 0), (0, 0.5, 0))
    springs = [(0, origin, 1, origin, 100.0, 1.0)]  # parts and points of both ends, stiffness, length
    springs += [(1, origin, 2, end, 60.0, 1.0) for end in ends]
    for k, (x, y) in enumerate(((-1, 0.3), (1, 1), (1, -1))):
        springs.append((0, (x, y, -2), 2, ends[k % 2], 50.0, 0.5))
    for k, (a, at, b, to, stiffness, length) in enumerate(springs):
        model.add_spring(f"spring {k}", parts[a].at(at), parts[b].at(to), stiffness, length=length)
    result = equilibrium(model)
    assert "relaxation" not in result.statics
    assert audit(result).ok
    state, pull = result.state(), np.outer([0.0, 2.0, 3.0], [0, 0, -10.0])
    for a, at, b, to, stiffness, length in springs:
        p, q = (state.r[part] + rotate(state.quat[part], place) for part, place in ((a, at), (b, to)))
        force = stiffness * (1 - length / np.linalg.norm(q - p)) * (q - p)
        pull[a] += force
        pull[b] -= force
    assert np.abs(pull[1:]).max() < 1e-10


def test_points_have_three_rigid_modes_and_lines_five():
    """Free motions have zero frequency; a meaningless rotation is not a mode."""
    for shape, free in ((PointMass(2.0), 3), (LINE, 5), (Box(1, 1, 1, mass=1.0), 6)):
        model = Model("free")
        model.add_body("free", shape)
        assert modes(model, 10).kinds == ("rigid",) * free


def test_point_on_a_string_swings_as_a_pendulum():
    model = Model("pendulum", gravity=(0, 0, -10))
    bob = model.add_body("bob", PointMass(2.0), position=(0, 0, -2.5))
    string = model.add_joint("string", "distance", model.ground.at((0, 0, 0)), bob.at((0, 0, 0)))
    assert np.allclose(modes(model, 10).omega, [2.0, 2.0], rtol=1e-12)
    push = [ForceInput(bob.at((0, 0, 0)), (1, 0, 0))]
    out = [MotionOutput(bob.at((0, 0, 0)), (1, 0, 0)), JointForceOutput(string, (1, 0, 0))]
    x, force = frequency_response(model, push, out, [1.0])[0, :, 0]
    assert x == pytest.approx(1 / (2.0 * (4 - 1)), rel=1e-12)
    assert force == pytest.approx(-2.0 * 10 / 2.5 * x, rel=1e-12)  # weight along the string


def test_line_in_rotating_axes_oscillates_without_axial_inertia():
    """Suspended, in axes that rotate with W: sqrt(3 g/(2 L)) + W and - W."""
    model = Model("line", gravity=(0, 0, -10))
    upright = (0.5**0.5, 0.5**0.5, 0, 0)
    line = model.add_body("line", LINE, position=(0, 0, -0.5), orientation=upright)
    model.add_joint("pin", "spherical", model.ground, line, at=(0, 0, 0))
    swing = np.sqrt(15.0)
    computed_modes = modes(model, 10, spin=(0, 0, 3.0))
    assert np.allclose(computed_modes.omega, [swing - 3.0, swing + 3.0], rtol=1e-12)


def test_rotating_point_is_stretched_as_a_mass_on_a_spring():
    """k (x - L) = m W^2 x; the axial frequency is sqrt(k/m - W^2) if the point is supported laterally."""
    model = Model("whirl")
    bob = model.add_body("bob", PointMass(2.0), position=(1, 0, 0))
    center, far = bob.at((0, 0, 0)), 1e4
    model.add_spring("along", model.ground.at((0, 0, 0)), center, 200.0, length=1.0)
    for k, across in enumerate(((0, far, 0), (0, 0, far))):
        model.add_joint(f"across {k}", "distance", model.ground.at(np.add((1, 0, 0), across)), center)
    state = steady_rotation(model, (0, 0, 5.0))
    assert state.r[1, 0] == pytest.approx(
        1 / (1 - 25 / 100), rel=1e-7
    )  # the far ends lower it by about x^2/2
    assert modes(model, 3, state, spin=(0, 0, 5.0)).omega[0] == pytest.approx(np.sqrt(75.0), rel=1e-3)


def test_von_mises_truss_snaps_at_its_limit_load():
    """Von Mises truss: the maximum of F(z) = 2 k (L0 - L) z/L."""
    model = Model("truss")
    top = model.add_body("top", PointMass(1.0), position=(0, 0, 0.3))
    point = top.at((0, 0, 0))
    for x in (-1, 1):
        model.add_spring(f"at {x}", model.ground.at((x, 0, 0)), point, 100.0)
    model.add_spring("aside", model.ground.at((0, 1e5, 0.3)), point, 1e3, length=1e5)
    model.add_force("press", point, (0, 0, -1.0))
    path = equilibrium(
        model,
        method=ArcLength({"down": (-0.1, 0.7), "load_factor": (-2, 2)}),
        monitors={"down": (point, (0, 0, -1))},
    )
    L0 = np.hypot(1, 0.3)
    height = np.sqrt(L0 ** (2 / 3) - 1)  # where L^3 = L0
    limit = 200.0 * (L0 - np.hypot(1, height)) * height / np.hypot(1, height)
    factors = [event["load_factor"] for event in path.events if event["kind"] == "limit"]
    assert factors == pytest.approx([limit, -limit], rel=1e-6)


def test_mast_with_a_point_mass_buckles_under_its_weight():
    """An inextensible post of length L with stays k at its top: m g = k L."""
    model = Model("mast", gravity=(0, 0, -1.0))
    bob = model.add_body("bob", PointMass(3.0), position=(0, 0, 2.0))
    model.add_joint("post", "distance", model.ground.at((0, 0, 0)), bob.at((0, 0, 0)))
    for k, x in enumerate(((1e3, 0, 2.0), (0, 1e3, 2.0))):
        model.add_spring(f"stay {k}", model.ground.at(x), bob.at((0, 0, 0)), 6.0 + k)
    assert buckling(model, 2, nonlinear=False).factors == pytest.approx([2.0 * 6 / 3, 2.0 * 7 / 3], rel=1e-5)


def test_only_physical_motions_of_a_point_are_reported():
    model = Model("loose")
    bob = model.add_body("bob", PointMass(1.0), position=(1, 0, 0))
    model.add_spring("hold", model.ground.at((0, 0, 0)), bob.at((0, 0, 0)), 100.0)
    model.add_force("push", bob.at((0, 0, 0)), (0, 1, 0))
    with pytest.raises(ConvergenceError, match=r"there are 2 motions .* of body 'bob'"):
        equilibrium(model, method=Newton(relaxation=False))


def test_closed_branch_ends_at_its_bifurcation():
    """A steep truss of a point and two springs moves sideways and, at the mirror image below, back: a closed branch, traced
    once.
    """
    model = Model("truss")
    top = model.add_body("top", PointMass(1.0), position=(0, 0, 3.0))
    point = top.at((0, 0, 0))
    for x in (-1, 1):
        model.add_spring(f"at {x}", model.ground.at((x, 0, 0)), point, 100.0)
    model.add_joint("plane", "point_on_plane", model.ground, top, at=(0, 0, 3.0), axis=(0, 1, 0))
    model.add_force("press", point, (0, 0, -100.0))
    settings = {
        "method": "arc-length",
        "branch": 1,
        "monitors": {"down": (point, (0, 0, -1)), "across": (point, (1, 0, 0))},
        "stop": {"down": (-0.5, 6.5), "load_factor": (-9, 9)},
    }
    path = equilibrium(model, **settings)
    assert path.statics["stopped"] == "closed"
    L0 = np.sqrt(10.0)
    # sideways stiffness at (0, z): 1 = (L0/L - 1) z^2
    height = brentq(lambda z: (L0 / np.hypot(1, z) - 1) * z * z - 1, 2.0, 3.0)
    load = 2.0 * (L0 / np.hypot(1, height) - 1) * height
    factors = [event["load_factor"] for event in path.events if event["kind"] in ("bifurcation", "limit")]
    assert np.abs(factors) == pytest.approx(load, rel=1e-6)
    assert factors[-1] > 0.0 > min(factors)
    assert len(path.t) < 60  # of 500
    across = path.monitor("across")
    assert across.min() == pytest.approx(-across.max(), rel=0.05)  # outputs on both sides
    assert np.abs(across).max() > 0.5


def test_the_only_body_is_named_if_something_needs_its_rotation():
    model = Model("one")
    bob = model.add_body("bob", PointMass(1.0))
    model.add_moment("twist", bob, (0, 0, 1))
    with pytest.raises(
        ModelError, match="body 'bob' has no moment of inertia, but load 'twist' needs its rotation"
    ):
        model.build()
