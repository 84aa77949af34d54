"""Initial velocities: given ones are kept if the joints allow it; parts without one rest or follow rigidly the parts that
move them; redundant joints.
"""

import json
import warnings

import numpy as np
import pytest
from scipy.linalg import null_space

from discretization import consistent_velocities
from discretization.consistent_velocities import (
    constraint_jacobian,
    prescribed_velocity_changes,
    project_velocities,
)
from discretization.state_measures import velocity_residual
from rigid import quaternions
from rigid.errors import ModelError
from rodsim import Box, MassProperties, Material, Model, Result, Section, Sphere, audit, simulate
from rodsim.cli.main import main
from rodsim.signals import Steady
from rodsim.warnings import InitialVelocityWarning

SOFT = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1000.0))
SPIN = np.array([0.4, -0.2, -4.6])


def omega(state, frame=1):
    return quaternions.rotate(state.quat[frame], state.Omega[frame])


def start_state(model):
    """Return the state with which a simulation starts."""
    return simulate(model, 1e-9, 1e-9, progress=False).state(0)


def consistent_state(model):
    """Return that state, and check that no given velocity was changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitialVelocityWarning)
        return start_state(model)


def off_centre(mass=2.0):
    """A body whose reference point is not its centre of mass."""
    return MassProperties(mass=mass, inertia=np.diag([1.0, 1.5, 2.0]), center=(0.3, -0.1, 0.2))


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_projected_momentum_is_the_joint_impulse_with_coupled_masses(mass):
    """The kinetic energy of masses coupled between frames a, b by c is smaller by c |v_b - v_a|^2/2."""
    model = Model("flail")
    section = Section.circular(0.05, Material(E=1e7, nu=0.3, density=1000.0))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0.2, 0), (1.5, 0.5, 0.4)], section, 3, mass=mass)
    model.add_joint("pin", "spherical", model.ground, rod.start)
    built = model.build()
    system, n = built.system, len(built.state.r)
    rng = np.random.default_rng(5)
    thrown = built.state._replace(v=rng.normal(size=(n, 3)), Omega=rng.normal(size=(n, 3)))
    thrown.v[0], thrown.Omega[0] = 0.0, 0.0
    projected, _ = project_velocities(system, thrown)
    M, R = np.zeros((n, 6, n, 6)), quaternions.to_matrix(thrown.quat)
    M[range(n), :3, range(n), :3] = system.frames.mass[:, None, None] * np.eye(3)
    M[range(n), 3:, range(n), 3:] = R @ system.frames.inertia @ R.swapaxes(1, 2)
    pairs, shared = system.rods.shared_masses
    assert bool(shared.any()) == (mass == "consistent")
    for (a, b), c in zip(pairs, shared, strict=True):
        for one, other, sign in ((a, a, -1), (b, b, -1), (a, b, 1), (b, a, 1)):
            M[one, :3, other, :3] += sign * c * np.eye(3)
    gained = np.hstack(
        [projected.v - thrown.v, quaternions.rotate(thrown.quat, projected.Omega - thrown.Omega)]
    ).ravel()
    impulse = (M.reshape(6 * n, 6 * n) @ gained)[6:]
    G = constraint_jacobian(system, thrown).toarray()[:, 6:]
    assert np.abs(impulse).max() > 0.1
    assert np.abs(null_space(G).T @ impulse).max() < 1e-11


def test_undeclared_redundant_joints_are_rejected():
    model = Model("twice")
    body = model.add_body("body", Box(1, 1, 1, mass=2), (1, 0, 0), velocity=(0.0, 1.0, 0.0))
    for name in ("one", "other"):
        model.add_joint(name, "spherical", model.ground, body, at=(0, 0, 0))
    built = model.build()
    constraints = built.system.constraints
    system = built.system._replace(
        constraints=constraints._replace(repeats=np.zeros_like(constraints.repeats))
    )
    with pytest.raises(ModelError, match="the joints are redundant"):
        project_velocities(system, built.state)


def test_omitted_velocity_of_a_free_body_is_zero():
    model = Model("free")
    model.add_body("still", off_centre())
    model.add_body("spun", off_centre(), angular_velocity=SPIN)
    model.add_body("thrown", off_centre(), velocity=(1, 2, 3))
    state = consistent_state(model)
    arm = [0.3, -0.1, 0.2]
    assert state.v[1:] == pytest.approx(np.array([[0, 0, 0], np.cross(SPIN, arm), [1, 2, 3]]), abs=1e-14)
    assert np.array_equal(state.Omega[[1, 3]], np.zeros((2, 3)))


PRESCRIBED = {
    "all": ["vw", "vw", "vw"],
    "turns": ["w", "w", "w"],
    "velocities": ["v", "v", "v"],
    "mixed": ["w", "", "v"],
    "nothing of the middle": ["vw", "", "vw"],
    "one": ["", "vw", ""],
}


def chain(prescribed, masses=(1.0, 1.0, 1.0)):
    """Three joined bodies with generic given velocities."""
    rng = np.random.default_rng(3)
    model = Model("chain")
    bodies = []
    for k, what in enumerate(prescribed):
        v, w = rng.standard_normal((2, 3))
        velocities = {"velocity": v if "v" in what else None, "angular_velocity": w if "w" in what else None}
        orientation = quaternions.from_rotation_vector(rng.standard_normal(3))
        bodies.append(
            model.add_body(f"b{k}", off_centre(masses[k]), rng.standard_normal(3), orientation, **velocities)
        )
    model.add_joint("j0", "revolute", bodies[0], bodies[1], at=(0.1, 0.2, 0.3), axis=(1, 2, 2))
    model.add_joint("j1", "spherical", bodies[1], bodies[2], at=(0.5, 0.2, 0.1))
    return model.build()


def minimised_velocities(built):
    """Apply the three minimisations of the docstring in sequence, with dense null spaces: of the changes of given velocities,
    of the motions across both joints, and of the energy of unspecified velocities.
    """
    system, state, prescribed = built.system, built.state, built.prescribed_velocities
    n = len(state.r)
    R = quaternions.to_matrix(state.quat)
    T, M, w, free = np.eye(6 * n), np.zeros((6 * n, 6 * n)), np.zeros(6 * n), np.zeros(6 * n, bool)
    for k in range(n):
        at, mixed = 6 * k, prescribed.v[k] != prescribed.Omega[k]
        angular_velocity = R[k] @ state.Omega[k]
        for j in range(3):
            if mixed:  # v = v_point - omega x point
                T[at : at + 3, at + 3 + j] = -np.cross(np.eye(3)[j], prescribed.point[k])
        w[at : at + 3] = state.v[k] + (np.cross(angular_velocity, prescribed.point[k]) if mixed else 0)
        w[at + 3 : at + 6] = angular_velocity
        M[at : at + 3, at : at + 3] = system.frames.mass[k] * np.eye(3)
        M[at + 3 : at + 6, at + 3 : at + 6] = R[k] @ system.frames.inertia[k] @ R[k].T
        free[at : at + 3], free[at + 3 : at + 6] = not prescribed.v[k], not prescribed.Omega[k]
    size = np.ptp(state.r, axis=0).max()
    E = np.zeros((2, 6, n, 6))
    for k, (a, b) in enumerate([(1, 2), (2, 3)]):
        for j, e in enumerate(np.eye(3)):
            E[k, :3, a, j], E[k, :3, b, j] = -e, e
            E[k, :3, a, 3 + j] = E[k, :3, b, 3 + j] = -np.cross(e, state.r[b] - state.r[a]) / 2
            E[k, 3:, a, 3 + j], E[k, 3:, b, 3 + j] = -size * e, size * e
    E = E.reshape(12, 6 * n) @ T
    G = constraint_jacobian(system, state).toarray() @ T
    d = -np.linalg.pinv(G) @ G @ w
    Z = null_space(G)

    def root(rows):
        return (
            np.linalg.cholesky(M[np.ix_(rows, rows)]).T @ np.eye(6 * n)[rows]
            if rows.any()
            else np.zeros((0, 6 * n))
        )

    for A, target in ((root(~free), 0 * w), (E, w), (root(free), 0 * w)):
        U, sizes, V = np.linalg.svd(A @ Z)
        rank = int(np.sum(sizes > 1e-10 * np.linalg.norm(A)))
        d = d - Z @ (V[:rank].T @ ((U.T @ A @ (d + target))[:rank] / sizes[:rank]))
        Z = Z @ V[rank:].T
    return (T @ (w + d)).reshape(n, 6)


@pytest.mark.parametrize("case", PRESCRIBED)
@pytest.mark.parametrize("masses", [(1, 1, 1), (1e-3, 1, 1e3)])
def test_velocities_are_prescribed_then_rigidly_transferred_then_of_least_energy(case, masses):
    built = chain(PRESCRIBED[case], masses)
    state, _ = project_velocities(built.system, built.state, built.prescribed_velocities)
    expected = minimised_velocities(built)
    assert state.v == pytest.approx(expected[:, :3], abs=1e-9)
    assert quaternions.rotate(state.quat, state.Omega) == pytest.approx(expected[:, 3:], abs=1e-9)
    assert np.abs(velocity_residual(built.system, state)).max() < 1e-13


def test_only_changes_of_given_velocities_are_reported():
    built = chain(PRESCRIBED["mixed"])
    state, change = project_velocities(built.system, built.state, built.prescribed_velocities)
    changes = prescribed_velocity_changes(built.prescribed_velocities, built.state, state)
    w0, w1 = omega(built.state, 1), omega(state, 1)
    v0, v1 = (
        s.v[3] + np.cross(omega(s, 3), built.prescribed_velocities.point[3]) for s in (built.state, state)
    )
    expected = [[0, 0], [0, np.linalg.norm(w1 - w0)], [0, 0], [np.linalg.norm(v1 - v0), 0]]
    assert changes == pytest.approx(np.array(expected), abs=1e-12)
    assert change <= changes.max() + 1e-12


# -- messages to the user ------------------------------------------------------------------------------


def inconsistent_top(velocity=(0.0, 0.0, 0.0)):
    """A spinning top whose centre is given zero velocity, which its joint does not allow."""
    model = Model("torn")
    top = model.add_body("top", Sphere(0.1, mass=1), (1, 0, 0), velocity=velocity, angular_velocity=SPIN)
    model.add_body("bystander", Sphere(0.1, mass=1), (0, 3, 0), velocity=(1, 0, 0))
    model.add_joint("foot", "spherical", model.ground, top, at=(0, 0, 0))
    return model


def test_inconsistent_velocities_are_changed_with_one_warning():
    with pytest.warns(InitialVelocityWarning) as recorded:
        result = simulate(inconsistent_top(), 0.02, 0.01)
    messages = [str(w.message) for w in recorded if w.category is InitialVelocityWarning]
    assert len(messages) == 1
    ((name, (v, w)),) = result.description["initial_velocity_change"].items()
    assert name == "body 'top'"
    start = result.state(0)
    assert v == pytest.approx(np.linalg.norm(start.v[1]))
    assert w == pytest.approx(np.linalg.norm(omega(start) - SPIN))
    assert f"body 'top' by {v:.3g} m/s and {w:.3g} rad/s" in messages[0]
    assert recorded[0].filename == __file__
    audit_report = audit(result)
    assert audit_report.initial_velocity_change == {"body 'top'": (v, w)}
    assert f"body 'top' changed by {v:.3g} m/s and {w:.3g} rad/s" in audit_report.text()


@pytest.mark.parametrize("velocity", [None, np.cross(SPIN, [1, 0, 0])])
def test_consistent_velocities_give_no_warning(velocity, recwarn):
    result = simulate(inconsistent_top(velocity), 0.02, 0.01)
    assert not [w for w in recwarn if w.category is InitialVelocityWarning]
    assert result.description["initial_velocity_change"] == {}
    assert omega(result.state(0)) == pytest.approx(SPIN, abs=1e-12)
    assert "initial velocities" not in audit(result).text()


SCENE = """
bodies: [{name: top, shape: {type: sphere, radius: 0.1, mass: 1}, position: [1, 0, 0], VELOCITY angular_velocity: [0, 0, 3]}]
joints: [{name: foot, kind: spherical, a: ground, b: top, at: [0, 0, 0]}]
run: {t_end: 0.02, dt: 0.01}
"""


@pytest.mark.parametrize("inconsistent", [True, False])
def test_command_reports_changed_velocities(inconsistent, tmp_path, capsys):
    scene, out = tmp_path / "top.yaml", str(tmp_path / "top.vtkhdf")
    scene.write_text(SCENE.replace("VELOCITY", "velocity: [0, 0, 0]," if inconsistent else ""))
    assert main(["run", str(scene), "-o", out, "--quiet"]) == 0
    assert ("body 'top'" in capsys.readouterr().err) is inconsistent
    assert main(["info", out]) == 0
    assert ("initial velocities of body 'top'" in capsys.readouterr().out) is inconsistent
    assert main(["info", out, "--json"]) == 0
    assert (len(json.loads(capsys.readouterr().out)["initial_velocity_change"]) == 1) is inconsistent
    if not inconsistent:
        assert omega(Result.load(out).state(0)) == pytest.approx([0, 0, 3], abs=1e-14)


# -- rods without given velocities --------------------------------------------------------------------------------


def hub(axis=(0, 0, 1), rate=3.0, **rod):
    """A rotating driven hub with a rod welded to it off its centre."""
    model = Model("rotor")
    centre = model.add_driven(
        "hub", (0.1, 0.2, 0.3), displacement=Steady(0.7).along((0, 0, 1)), turn=Steady(rate), axis=axis
    )
    blade = model.add_rod("blade", [(0.5, 0.2, 0.3), (1.0, 0.4, 0.5), (1.5, 0.4, 0.3)], SOFT, 7, **rod)
    model.add_joint("root", "weld", centre, blade.start)
    return model, blade


def deviation_from_rigid_motion(state, frames):
    """Angular velocity of the first frame, and the largest deviation of all frames from moving rigidly with it."""
    w = omega(state, frames[0])
    v = state.v[frames[0]] + np.cross(w, state.r[frames] - state.r[frames[0]])
    return w, max(
        np.abs(state.v[frames] - v).max(),
        np.abs(quaternions.rotate(state.quat[frames], state.Omega[frames]) - w).max(),
    )


def test_rod_welded_to_a_moving_driven_frame_starts_with_it():
    """The rod moves as a rigid body, without a warning and without vibration."""
    model, _ = hub()
    built = model.build()
    state = consistent_state(model)
    frames = built.layout.rods[0].frames
    w, away = deviation_from_rigid_motion(state, frames)
    assert w == pytest.approx([0, 0, 3.0], abs=1e-9)
    assert away < 1e-9
    expected = np.cross(w, state.r[frames] - [0.1, 0.2, 0.3])
    expected[:, 2] += 0.7
    assert state.v[frames] == pytest.approx(expected, abs=1e-9)
    assert np.abs(velocity_residual(built.system, state)).max() < 1e-12


def test_given_rod_velocities_are_kept_and_changes_reported():
    model, _ = hub(velocity=(0, 0, 0))
    with pytest.warns(InitialVelocityWarning, match="rod 'blade' by "):
        start_state(model)


def test_rod_follows_a_body_with_given_velocity_without_changing_it():
    """The body keeps its given velocity; a rod behind a spherical joint follows as if it were fixed to the first rod."""
    model = Model("tail")
    body = model.add_body("body", Box(1, 1, 1, mass=5), velocity=(0, 2, 0), angular_velocity=(0, 0, 1))
    arm = model.add_rod("arm", [(0.5, 0, 0), (1.5, 0, 0)], SOFT, 5)
    tail = model.add_rod("tail", [(1.5, 0, 0), (3.5, 0, 0)], SOFT, 40)
    model.add_joint("root", "weld", body, arm.start)
    model.add_joint("ball", "spherical", arm.end, tail.start)
    state = consistent_state(model)
    first, second = (rod.frames for rod in model.build().layout.rods)
    assert state.v[1] == pytest.approx([0, 2, 0], abs=1e-12)
    w, away = deviation_from_rigid_motion(state, first)
    assert w == pytest.approx([0, 0, 1], abs=1e-9)
    assert away < 1e-9
    w, away = deviation_from_rigid_motion(state, second)
    assert away < 1e-9
    assert w == pytest.approx([0, 0, 1], abs=1e-9)
    assert state.v[second].mean(axis=0) == pytest.approx([0, 2 + 2.5, 0], abs=1e-9)


def test_rod_between_diverging_driven_frames_need_not_move_rigidly():
    """The rod is clamped to frames with different velocities. The joints hold; since no velocity was given, nothing is
    reported.
    """
    model = Model("pulled")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 8)
    for name, end, rate in (("left", rod.start, 0.2), ("right", rod.end, 0.6)):
        place = (0, 0, 0) if name == "left" else (1, 0, 0)
        frame = model.add_driven(name, place, displacement=Steady(rate).along((0, 0, 1)))
        model.add_joint(f"clamp {name}", "weld", frame, end)
    built = model.build()
    state = consistent_state(model)
    assert np.abs(velocity_residual(built.system, state)).max() < 1e-12
    frames = built.layout.rods[0].frames
    assert state.v[frames[[0, -1]], 2] == pytest.approx([0.2, 0.6], abs=1e-12)
    inner = state.v[frames[1:-1], 2]
    assert np.all((inner > 0.0) & (inner < 0.8))


def test_body_velocities_are_kept_if_a_rod_cannot_follow_both():
    """Two bodies that move apart, connected by a rod, keep their motion; the ends of the rod move with them."""
    model = Model("tied")
    a = model.add_body("a", Box(0.1, 0.1, 0.1, mass=1), velocity=(-1, 0, 0), angular_velocity=(0, 0, 0))
    b = model.add_body(
        "b", Box(0.1, 0.1, 0.1, mass=1), (1, 0, 0), velocity=(2, 0, 0), angular_velocity=(0, 0, 0)
    )
    rod = model.add_rod("rod", [(0.05, 0, 0), (0.95, 0, 0)], SOFT, 6)
    model.add_joint("left", "weld", a, rod.start)
    model.add_joint("right", "weld", rod.end, b)
    state = consistent_state(model)
    assert state.v[1:3] == pytest.approx(np.array([[-1, 0, 0], [2, 0, 0]]), abs=1e-12)


def test_model_without_velocities_stays_at_rest():
    model, _ = hub(rate=0.0)
    model.driven.clear()
    model.joints.clear()
    assert not np.any(consistent_state(model).v)


# -- given velocities take priority over unspecified ones ---------------------------------------------------------------


@pytest.mark.parametrize("density", [7850.0, 10.0, 1e-3])
@pytest.mark.parametrize("where", [0.5, 1.0])
def test_heavy_disc_does_not_slow_a_light_shaft_with_given_spin(density, where):
    """The result is independent of masses: the shaft keeps 100 rad/s, although the disc has up to 1e11 times the inertia of a
    node.
    """
    model = Model("rotor")
    section = Section.circular(0.01, Material(E=2.1e11, nu=0.3, density=density))
    shaft = model.add_rod("shaft", [(0, 0, 0), (1, 0, 0)], section, 8, angular_velocity=(100, 0, 0))
    disc = model.add_body("disc", Sphere(0.1, mass=5), (where, 0, 0))
    model.add_joint("fit", "weld", shaft.at(where), disc)
    state = consistent_state(model)
    assert omega(state) == pytest.approx([100, 0, 0], abs=1e-9)
    assert quaternions.rotate(state.quat, state.Omega)[2:] == pytest.approx(
        np.tile([100, 0, 0], (9, 1)), abs=1e-12
    )
    assert np.abs(state.v).max() < 1e-9


def cord(**options):
    section = Section.circular(0.002, Material(E=5e7, nu=0.45, density=1000.0))
    model = Model("bolas")
    rod = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], section, 20, **options)
    model.add_joint("hub", "spherical", model.ground, rod.start)
    return model, rod


@pytest.mark.parametrize("velocity", [lambda s: (0, 10 * s, 0), None])
def test_ball_tied_to_a_rotating_cord_rotates_with_it(velocity):
    """A cord with given angular velocity moves with the velocity of its rotation about its hub."""
    model, rod = cord(velocity=velocity, angular_velocity=(0, 0, 10))
    ball = model.add_body("ball", Sphere(0.05, mass=2), (1.05, 0, 0))
    model.add_joint("tie", "spherical", rod.end, ball.at((-0.05, 0, 0)))
    state = consistent_state(model)
    assert state.v[1] == pytest.approx([0, 10.5, 0], abs=1e-9)
    assert omega(state, 1) == pytest.approx([0, 0, 10], abs=1e-9)
    assert state.v[2:] == pytest.approx(np.cross([0, 0, 10], state.r[2:]), abs=1e-9)


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_part_stays_at_rest_if_its_joint_allows(kind):
    """A wheel does not spin its satellite, nor a twisting cord its hook; parts fixed to them rest, too."""
    model = Model("satellite")
    satellite = model.add_body("satellite", Box(1, 1, 1, mass=100))
    panel = model.add_body("panel", Box(1, 0.1, 1, mass=2), (1, 0, 0))
    wheel = model.add_body("wheel", Sphere(0.1, mass=2), (0.2, 0.1, 0), angular_velocity=(0, 0, 300))
    axis = (0, 0, 1) if kind == "revolute" else None
    model.add_joint("bearing", kind, satellite, wheel, at=(0.2, 0.1, 0), axis=axis)
    model.add_joint("root", "weld", satellite, panel, at=(0.5, 0, 0))
    state = consistent_state(model)
    assert np.abs(state.v).max() < 1e-12
    assert np.abs(state.Omega[1:3]).max() < 1e-12
    assert omega(state, 3) == pytest.approx([0, 0, 300], abs=1e-12)


def test_satellite_stays_at_rest_with_a_spinning_off_centre_wheel():
    """The velocity of the wheel's centre is unspecified: the one that keeps the satellite at rest is found. A mast on its far
    side follows a moving cart.
    """
    model = Model("satellite")
    satellite = model.add_body("satellite", Box(1, 1, 1, mass=100))
    wheel = model.add_body("wheel", Sphere(0.1, mass=2), (0.2, 0.1, 0), angular_velocity=(0, 0, 300))
    cart = model.add_body(
        "cart", Box(1, 1, 1, mass=1), (0, 5, 0), velocity=(1, 2, 3), angular_velocity=(0, 0, 0)
    )
    mast = model.add_body("mast", Box(0.1, 0.1, 1, mass=1), (0, 5, 1))
    model.add_joint("bearing", "revolute", satellite, wheel, at=(0.2, 0.15, 0), axis=(0, 0, 1))
    model.add_joint("foot", "spherical", cart, mast, at=(0, 5, 0.5))
    state = consistent_state(model)
    assert np.abs(state.v[1]).max() < 1e-9
    assert np.abs(state.Omega[1]).max() < 1e-9
    assert state.v[2] == pytest.approx(np.cross([0, 0, 300], [0, -0.05, 0]), abs=1e-9)
    assert state.v[4] == pytest.approx([1, 2, 3], abs=1e-9)
    assert omega(state, 4) == pytest.approx([0, 0, 0], abs=1e-9)


def test_parts_follow_a_driven_part():
    """A motor at 10 rad/s drives an arm with bars on ball joints. No velocity was given, and all parts rotate as one."""
    model = Model("motor")
    previous = model.ground
    for k in range(30):
        bar = model.add_body(f"bar {k}", Box(1, 0.1, 0.1, mass=1 + k % 3), (k + 0.5, 0, 0))
        kind, axis = ("spherical", None) if k else ("revolute", (0, 0, 1))
        joint = model.add_joint(f"joint {k}", kind, previous, bar, at=(k, 0, 0), axis=axis)
        if k == 0:
            model.add_drive("motor", joint, Steady(10.0))
        previous = bar
    state = consistent_state(model)
    assert state.v[1:] == pytest.approx(np.cross([0, 0, 10], state.r[1:]), abs=1e-6)
    assert quaternions.rotate(state.quat, state.Omega)[1:] == pytest.approx(
        np.tile([0, 0, 10], (30, 1)), abs=1e-6
    )


def test_free_rod_with_given_angular_velocity_rotates_about_its_centre():
    model = Model("baton")
    model.add_rod("rod", [(0, 0, 0), (0.5, 0.4, 0), (1, 0, 0)], SOFT, 8, angular_velocity=(1, 2, 3))
    built = model.build()
    frames, mass = built.layout.rods[0].frames, built.system.frames.mass
    centre = np.average(built.state.r[frames], axis=0, weights=mass[frames])
    expected = np.cross([1, 2, 3], built.state.r[frames] - centre)
    assert built.state.v[frames] == pytest.approx(expected, abs=1e-12)


def test_rod_with_given_velocity_rotates_as_its_joint_requires():
    """The unspecified angular velocity does not change the given velocity."""
    model, rod = cord(velocity=(0, 0, 0.7))
    model.joints.clear()
    hub = model.add_driven(
        "hub", (0, 0, 0), displacement=Steady(0.7).along((0, 0, 1)), turn=Steady(3.0), axis=(0, 0, 1)
    )
    model.add_joint("root", "weld", hub, rod.start)
    state = consistent_state(model)
    frames = model.build().layout.rods[0].frames
    assert state.v[frames] == pytest.approx(np.tile([0, 0, 0.7], (len(frames), 1)), abs=1e-12)
    assert omega(state, frames[0]) == pytest.approx([0, 0, 3], abs=1e-9)


def test_inconsistent_velocities_change_independently_of_heavy_free_parts():
    """Two light bodies at one point have opposite velocities: their common velocity is that of their total momentum alone."""
    model = Model("clash")
    light = [
        model.add_body(name, Sphere(0.1, mass=mass), velocity=(v, 0, 0), angular_velocity=(0, 0, 0))
        for name, mass, v in (("one", 1e-6, 1.0), ("other", 3e-6, -1.0))
    ]
    heavy = model.add_body("heavy", Sphere(0.1, mass=5.0), (1, 0, 0))
    model.add_joint("pair", "weld", *light, at=(0, 0, 0))
    model.add_joint("load", "weld", light[1], heavy, at=(0, 0, 0))
    with pytest.warns(InitialVelocityWarning):
        state = start_state(model)
    assert state.v[1:] == pytest.approx(np.tile([-0.5, 0, 0], (3, 1)), abs=1e-9)
    assert np.abs(state.Omega).max() < 1e-9


def two_bodies(at, speeds, x=0.3, kind="spherical", **options):
    """Bodies of 1 and 3 kg at one point, joined there or next to it, with velocities along z."""
    model = Model("two")
    both = [
        model.add_body(name, Sphere(0.1, mass=mass), (x, 0, 0), velocity=(0, 0, speed), **options)
        for name, mass, speed in zip("ab", (1.0, 3.0), speeds, strict=True)
    ]
    model.add_joint("pin", kind, *both, at=(at, 0, 0))
    return model


def test_round_off_lever_arm_does_not_rotate_a_part():
    """Both bodies are pinned at their centres up to round-off: no rotation can compensate the difference of their velocities."""
    with pytest.warns(InitialVelocityWarning):
        state = start_state(two_bodies(0.3, (0.0, 0.5), x=0.1 + 0.2))
    assert state.v[1:3, 2] == pytest.approx(0.375, abs=1e-12)  # as after an inelastic impact
    assert np.abs(state.Omega).max() < 1e-9


@pytest.mark.parametrize("lever", [1e-3, 1e-6])
def test_short_lever_arm_rotates_parts_with_different_velocities(lever):
    """The pin is slightly off the centres: given velocities are kept, however fast the bodies rotate."""
    state = consistent_state(two_bodies(0.3 + lever, (0.0, 0.5)))
    assert state.v[1:3, 2] == pytest.approx([0.0, 0.5], abs=1e-9)
    assert (omega(state, 2) - omega(state, 1))[1] * lever == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("miss", [1e-10, 1e-12])
def test_slightly_inconsistent_velocities_are_projected_to_round_off(miss):
    built = two_bodies(0.3, (1.0, 1.0 + miss), kind="weld", angular_velocity=(0, 0, 0)).build()
    state, _ = project_velocities(built.system, built.state, built.prescribed_velocities)
    assert np.abs(velocity_residual(built.system, state)).max() < 1e-15
    assert state.v[1:, 2] == pytest.approx(1.0 + 0.75 * miss, abs=1e-15)


def test_bar_between_spinning_body_and_ground_spins_half_as_fast():
    """The bar is on ball joints and moves as if it were fixed to both; if the body does not move its end, the bar rests."""
    for speed, spin in ((1.0, 2.0), (0.0, 0.0)):
        model = Model("bar")
        bar = model.add_body("bar", Box(1, 0.1, 0.1, mass=1), (0.5, 0, 0))
        body = model.add_body(
            "body", Box(1, 1, 1, mass=1), (1.5, 0, 0), velocity=(0, speed, 0), angular_velocity=(4, 0, 0)
        )
        model.add_joint("foot", "spherical", model.ground, bar, at=(0, 0, 0))
        model.add_joint("tip", "spherical", bar, body, at=(1, 0, 0))
        assert omega(consistent_state(model)) == pytest.approx([spin, 0, speed], abs=1e-9)


SOLVED = {
    "bodies": lambda: chain(PRESCRIBED["mixed"]),
    "uneven bodies": lambda: chain(PRESCRIBED["turns"], (1e-3, 1.0, 1e3)),
    "a rod that goes along": lambda: hub()[0].build(),
    "masses shared by frames": lambda: hub(mass="consistent")[0].build(),
}


@pytest.mark.parametrize("name", SOLVED)
def test_full_and_sparse_matrices_give_the_same_velocities(name, monkeypatch):
    built, projected, used = SOLVED[name](), [], []
    solve = consistent_velocities._solving
    monkeypatch.setattr(
        consistent_velocities,
        "_solving",
        lambda *arguments: used.append(type(arguments[1])) or solve(*arguments),
    )
    for small in (0, 10**6):
        monkeypatch.setattr(consistent_velocities, "SMALL", small)
        projected.append(project_velocities(built.system, built.state, built.prescribed_velocities)[0])
    assert np.ndarray in used
    assert len(set(used)) == 2
    for field in ("v", "Omega"):
        assert getattr(projected[0], field) == pytest.approx(getattr(projected[1], field), abs=1e-9)
