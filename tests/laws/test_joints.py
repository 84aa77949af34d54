"""Every joint kind: assembly at t = 0, Jacobian, objectivity, free motions, no work."""

import numpy as np
import pytest
from scipy.linalg import null_space

from discretization.consistent_velocities import constraint_jacobian, project_velocities
from discretization.state_measures import constraint_residual, velocity_residual
from rigid import quaternions
from rigid.joints import JOINTS, holds_all, holds_points
from rodsim import Box, Model, ModelError, simulate
from tests.support.mechanisms import AXIS, JOINT_OPTIONS, joined

FREE = {"clamp": 0, "weld": 0, "spherical": 3, "revolute": 1, "prismatic": 1, "distance": 5, "universal": 2}
FREE |= {"cylindrical": 2, "planar": 3, "point_on_line": 4, "point_on_plane": 5, "constant_velocity": 2}
FREE |= {"screw": 1, "generic": 3}


@pytest.mark.parametrize("kind", JOINTS)
def test_joint_is_assembled_and_leaves_the_declared_motion_free(kind):
    system, state, *_ = joined(kind).build()
    assert np.abs(constraint_residual(system, state)).max() < 1e-14
    assert len(state.lam) == 6 - FREE[kind]
    assert np.linalg.matrix_rank(constraint_jacobian(system, state).toarray(), tol=1e-8) == 6 - FREE[kind]


@pytest.mark.parametrize("kind", JOINTS)
def test_jacobian_is_the_derivative_of_the_constraints(kind):
    system, state, *_ = joined(kind).build()
    n, size, columns = len(state.r), 1e-6, []
    for unit in np.eye(6 * n) * size:
        change = unit.reshape(n, 6)
        moved = [
            state._replace(
                r=state.r + sign * change[:, :3],
                quat=quaternions.multiply(quaternions.from_rotation_vector(sign * change[:, 3:]), state.quat),
            )
            for sign in (1, -1)
        ]
        columns.append(
            (constraint_residual(system, moved[0]) - constraint_residual(system, moved[1])) / (2 * size)
        )
    G = constraint_jacobian(system, state).toarray()
    assert np.abs(G - np.array(columns).T)[:, 6:].max() < 1e-8
    omega = quaternions.rotate(state.quat, state.Omega)
    velocity = np.concatenate([state.v, omega], axis=1).ravel()
    assert np.abs(G @ velocity - velocity_residual(system, state)).max() < 1e-12


def free_motions(kind, axis, at, **options):
    """Motions (v of the body's centre along 1, 2, 3, angular velocity) that a joint to the ground leaves free, as columns."""
    model = Model(kind)
    turned = quaternions.normalize(np.array([0.8, 0.3, -0.2, 0.4]))
    body = model.add_body("body", Box(0.3, 0.4, 0.5, density=100), position=(1, 2, 3), orientation=turned)
    model.add_joint("joint", kind, model.ground, body, at=at, axis=axis, **options)
    system, state, *_ = model.build()
    return null_space(constraint_jacobian(system, state).toarray()[:, 6:])


def same_directions(motions, expected):
    """Return whether both span the same space."""
    q, _ = np.linalg.qr(np.reshape(expected, (-1, 6)).T)
    return motions.shape == q.shape and np.abs(motions @ motions.T - q @ q.T).max() < 1e-12


@pytest.mark.parametrize("axis", [(1, 2, -1), (0, 0, 1), (1, 0, 0)])
def test_slider_moves_along_and_hinge_rotates_about_its_axis(axis):
    at = np.array([0.5, 0.4, 0.3])
    assert same_directions(free_motions("prismatic", axis, at), [*axis, 0, 0, 0])
    turning = [*np.cross(axis, np.array([1, 2, 3]) - at), *axis]
    assert same_directions(free_motions("revolute", axis, at), turning)


AT, MIDDLE = np.array([0.5, 0.4, 0.3]), np.array([1, 2, 3])
E = np.eye(3)


def shift_along(e):
    return [*e, 0, 0, 0]


def rotation_about_axis(e):
    """Rotation about an axis through AT."""
    return [*np.cross(e, MIDDLE - AT), *e]


ABOUT = {
    "spherical": [rotation_about_axis(e) for e in E],
    "universal": [rotation_about_axis(E[2]), rotation_about_axis(E[0])],
    "cylindrical": [shift_along(E[2]), rotation_about_axis(E[2])],
    "planar": [shift_along(E[0]), shift_along(E[1]), rotation_about_axis(E[2])],
    "point_on_line": [shift_along(E[2]), *map(rotation_about_axis, E)],
    "point_on_plane": [shift_along(E[0]), shift_along(E[1]), *map(rotation_about_axis, E)],
    "screw": [np.add(rotation_about_axis(E[2]), np.multiply(0.3 / (2 * np.pi), shift_along(E[2])))],
    "generic": [shift_along(E[1]), rotation_about_axis(E[0]), rotation_about_axis(E[2])],
}


@pytest.mark.parametrize("kind", ABOUT)
def test_joint_leaves_the_documented_motions_free(kind):
    """About e3 = z, with the ground as part a."""
    options = {**JOINT_OPTIONS.get(kind, {}), **({"second_axis": (1, 0, 0)} if kind == "universal" else {})}
    axis = (0, 0, 1) if JOINTS[kind].axis else None
    assert same_directions(free_motions(kind, axis, AT, **options), ABOUT[kind])


def test_constant_velocity_shafts_rotate_about_the_bisector_plane():
    """Free rotations: about the two axes in the plane that bisects the angle of the shafts."""
    a, b = np.array([0.0, 0, 1]), np.array([np.sin(0.8), 0, np.cos(0.8)])
    free = free_motions("constant_velocity", a, AT, second_axis=b)
    normal = (a + b) / np.linalg.norm(a + b)
    assert same_directions(
        free, [rotation_about_axis((0, 1, 0)), rotation_about_axis(np.cross((0, 1, 0), normal))]
    )


LOCKED = {
    ("x",): [shift_along(E[1]), shift_along(E[2]), *map(rotation_about_axis, E)],
    ("x", "y", "z"): [rotation_about_axis(e) for e in E],
    ("x", "y", "z", "rx", "ry"): [rotation_about_axis(E[2])],
    ("rx", "rz"): [*map(shift_along, E), rotation_about_axis(E[1])],
    ("y", "rz"): [shift_along(E[0]), shift_along(E[2]), rotation_about_axis(E[0]), rotation_about_axis(E[1])],
    ("x", "y", "rx", "ry", "rz"): [shift_along(E[2])],
}


@pytest.mark.parametrize("locked", LOCKED)
def test_generic_joint_leaves_unlocked_motions_free(locked):
    assert same_directions(free_motions("generic", None, AT, locked=locked), LOCKED[locked])


def test_distance_joint_constrains_motion_along_its_line_only():
    model = Model("rod")
    turned = quaternions.normalize(np.array([0.8, 0.3, -0.2, 0.4]))
    body = model.add_body("body", Box(0.3, 0.4, 0.5, density=100), position=(1, 2, 3), orientation=turned)
    anchor, hook = np.array([0.5, 0.4, 0.3]), np.array([1.1, 2.1, 2.8])
    model.add_joint("joint", "distance", model.ground.at(anchor), body.at_world(hook))
    system, state, *_ = model.build()
    G = constraint_jacobian(system, state).toarray()[:, 6:]
    forbidden = [*(hook - anchor), *np.cross(hook - np.array([1, 2, 3]), hook - anchor)]
    assert same_directions(null_space(G), null_space([forbidden]).T)


def orbit():
    """A body without spin on a massless rod about the ground: v = 2 m/s, l = 0.5 m, m = 3 kg, end at the centre."""
    model = Model("orbit")
    body = model.add_body("body", Box(0.1, 0.2, 0.3, mass=3.0), position=(0.5, 0, 0), velocity=(0, 2.0, 0))
    model.add_joint("rod", "distance", model.ground.at((0, 0, 0)), body.at((0, 0, 0)), length=0.5)
    return model


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("em", None),
        ("em-ggl", None),
        ("EML", "quaternion"),
        ("EML-kappa", "quaternion"),
        ("EM-G", "director"),
        ("GGL-EM", "quaternion-gamma"),
        ("GGL-EM", "director"),
        ("mG(2)", "quaternion-alpha"),
        ("GL-SPARK(2)", "director"),
    ],
)
def test_distance_joint_has_the_centripetal_force_in_every_chart(integrator, chart):
    """m v^2/l = 24 N towards the ground, to the first order of joint forces; nothing rotates the body."""
    sizes = []
    for h in (0.02, 0.01):
        result = simulate(orbit(), 0.1, h, integrator, chart=chart)
        joint, r = result.joint("rod"), result.body("body").r
        assert np.abs(np.linalg.norm(r, axis=1) - 0.5).max() < 1e-12
        assert np.abs(np.cross(joint.force, r)).max() < 1e-12 * 24.0
        assert np.abs(joint.moment).max() < 1e-13 * 24.0
        sizes.append(-np.sum(joint.force * r, axis=1)[1:] / 0.5)
    assert sizes[1] == pytest.approx(24.0, rel=2e-2)
    assert np.abs(sizes[1] - 24.0).max() < 0.75 * np.abs(sizes[0] - 24.0).max() + 1e-9


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_pendulum_motion_is_scale_invariant(scale):
    """Lengths and gravity are scaled: the angles over time agree, and the rod length is kept to its precision."""
    model = Model("pendulum", gravity=(0, 0, -9.81 * scale))
    bob = model.add_body("bob", Box(*[0.1 * scale] * 3, mass=2.0), position=(scale, 0, 0))
    model.add_joint("rod", "distance", model.ground.at((0, 0, 0)), bob.at((0, 0, 0)))
    r = simulate(model, 0.5, 0.01, output_every=50).body("bob").r[-1] / scale
    assert r == pytest.approx([0.3910487916, 0.0, -0.9203699488], abs=3e-4)
    assert np.linalg.norm(r) == pytest.approx(1.0, abs=1e-13)


def two_balls():
    model = Model("pair")
    bodies = [model.add_body(name, Box(1, 1, 1, mass=1), position=(k, 0, 0)) for k, name in enumerate("ab")]
    return model, bodies


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0.7}, r"distance joint 'rod': length = 0.7 m, but .* are 1 m apart at t = 0; move one"),
        ({"at": (0, 0, 0)}, "distance joint 'rod': connects the points a and b"),
        ({"length": -1.0}, "distance joint 'rod'.*length"),
        ({"axis": (0, 0, 1)}, "distance joint 'rod': has no axis"),
    ],
)
def test_inconsistent_distance_joint_is_rejected_with_a_remedy(options, message):
    model, (a, b) = two_balls()

    def build():
        model.add_joint("rod", "distance", a, b, **options)
        model.build()

    with pytest.raises(ModelError, match=message):
        build()


def test_distance_joint_of_coincident_points_is_rejected():
    model, (a, b) = two_balls()
    model.add_joint("rod", "distance", a.at((0.5, 0, 0)), b.at((-0.5, 0, 0)))
    with pytest.raises(ModelError, match="coincide; use 'spherical'"):
        model.build()
    with pytest.raises(ModelError, match="spherical joint 'ball': has no length"):
        model.add_joint("ball", "spherical", a, b, at=(0.5, 0, 0), length=1.0)
    with pytest.raises(
        ModelError, match=r"distance joint 'tie': the ground alone is not a point; give model.ground.at"
    ):
        model.add_joint("tie", "distance", model.ground, a)


def test_slider_falls_along_its_axis():
    """r = r0 + (g . e) e t^2/2 without rotation: `em` is exact at constant acceleration."""
    g, e, t_end = np.array([1.0, -2.0, -9.0]), np.array([1.0, 2.0, -1.0]) / np.sqrt(6), 0.5
    model = Model("slider", gravity=g)
    body = model.add_body("body", Box(0.3, 0.4, 0.5, density=100), position=(1, 2, 3))
    model.add_joint("rail", "prismatic", model.ground, body, at=(0.9, 2.1, 3), axis=e)
    end = simulate(model, t_end, 0.05).state(-1)
    assert end.r[1] == pytest.approx(np.array([1, 2, 3]) + (g @ e) * e * t_end**2 / 2, abs=1e-12)
    assert end.quat[1] == pytest.approx([1, 0, 0, 0], abs=1e-13)


def bodies_off_slider():
    """Two bodies on a slider, far from their assembled position, with inconsistent velocities."""
    system, state, *_ = joined("prismatic").build()
    axis = np.array(AXIS["prismatic"]) / np.linalg.norm(AXIS["prismatic"])
    r = state.r.copy()
    r[2] += 0.7 * axis  # body b
    return system, state._replace(r=r)


def moved_state(state, h):
    """The state after a motion of duration h with its velocities."""
    rotation = quaternions.from_rotation_vector(h * quaternions.rotate(state.quat, state.Omega))
    return state._replace(r=state.r + h * state.v, quat=quaternions.multiply(rotation, state.quat))


def test_projected_velocities_satisfy_a_displaced_slider():
    """Compute d g/dt by differences along the projected motion, far from assembly, without using G or G v."""
    system, state = bodies_off_slider()
    assert np.abs(constraint_residual(system, state)).max() < 1e-14

    def rate(at, h=1e-5):
        forward, back = (constraint_residual(system, moved_state(at, sign * h)) for sign in (1, -1))
        return (forward - back) / (2 * h)

    projected, change = project_velocities(system, state)
    assert np.abs(rate(state)).max() > 0.1
    assert change > 0.1
    assert np.abs(rate(projected)).max() < 1e-9
    assert rate(state) == pytest.approx(velocity_residual(system, state), abs=1e-8)


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "clamp"])
def test_rigid_motion_leaves_the_joint_residual_unchanged(kind):
    system, state, *_ = joined(kind).build()
    g = quaternions.normalize([0.2, 0.5, -0.7, 0.3])
    moved = state._replace(r=quaternions.rotate(g, state.r) + 1.0, quat=quaternions.multiply(g, state.quat))
    assert np.abs(constraint_residual(system, moved)).max() < 1e-14


@pytest.mark.parametrize(("integrator", "bound"), [("em4", 1e-9), ("em6", 3e-13)])
def test_door_has_the_period_of_a_physical_pendulum(integrator, bound):
    """Box 10 x 1 x 1 of 10 kg/m^3 hinged at the middle of its end, released at 90 degrees: theta(1) exact."""
    model = Model("door", gravity=(0, 0, -9.81))
    box = model.add_body("box", Box(10, 1, 1, density=10), position=(5, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, box, at=(0, 0, 0), axis=(0, 1, 0))
    result = simulate(model, 1.0, 0.02, integrator, output_every=50)
    r = result.body("box").r[-1]
    assert np.arctan2(r[0], -r[2]) == pytest.approx(0.84971439156516378, abs=bound)


def test_joint_kind_attributes_match_their_motions():
    """Check which kinds fix everything, connect points, may be driven, and which motions have friction."""
    welds = {"clamp", "weld"}
    assert {kind for kind in JOINTS if holds_all(kind)} == welds
    turning = {"spherical", "revolute", "universal"}
    assert {kind for kind in JOINTS if holds_points(kind)} == welds | turning | {"constant_velocity"}
    assert not holds_all("drive")
    assert not holds_points("drive")
    assert {kind: joint_kind.rubbing for kind, joint_kind in JOINTS.items() if joint_kind.rubbing} == {
        **dict.fromkeys(turning, ("turning",)),
        "prismatic": ("sliding",),
        "cylindrical": ("turning", "sliding"),
    }
    driven = {
        "revolute": ("angle",),
        "prismatic": ("displacement",),
        "cylindrical": ("angle", "displacement"),
        "distance": ("distance",),
    }
    assert {kind: joint_kind.driven for kind, joint_kind in JOINTS.items() if joint_kind.driven} == driven
