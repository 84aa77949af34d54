"""Bodies of trees in SIMD lanes: each is bit-identical to a single body; nodes of strings with three unknowns."""

import numpy as np
import pytest
from numba import typeof, types

from discretization.assembly.frame_formulas import accelerations, predict_increments, round_displacement
from discretization.assembly.numbering import number_unknowns
from discretization.assembly.predictor import BY_ACCELERATION, predict_scalar
from discretization.assembly.workspace import store_rotation, workspace
from discretization.time.newton import correct
from discretization.time.stepper import Stepper
from discretization.time.tree_stepper import TreeStepper
from discretization.trees.bodies import (
    assemble_bodies,
    assemble_residuals,
    begin_fixed_frames,
    begin_tree,
    rotate_matrix,
)
from discretization.trees.body_lanes import body_lanes
from discretization.trees.data_layout import simd_body_groups, tree_arrays, workspace_of
from discretization.trees.elimination import back_substitute, eliminate, no_general_joint, reeliminate
from discretization.trees.spanning_tree import POINT, find_kinematic_tree
from rigid.compilation.decorators import compiled, kernel
from rigid.kinematics.rotations import load4, rotation_matrix
from rigid.lanes import WIDTH
from rigid.quaternions import conjugate, normalize, rotate
from rodsim import Box, Model, Section
from tests.support.element_lanes import SECTION
from tests.support.mechanisms import branched

STEPS = 12
AXES = {"axis": (0.0, 0.6, 0.8), "second_axis": (1.0, 0.0, 0.0)}
ALONE = WIDTH + 1  # larger than any group
STRING = Section.string(EA=200.0, mass_per_length=0.5)


def mid_iteration(n):
    """A rod of n elements with an unsymmetric section in motion, and a body that rotates by a third of a turn
    per step.
    """
    model = Model("stirred", gravity=(1.0, 2.0, -9.0))
    rod = model.add_rod("rod", [(0, 0, 0), (0.1 * n, 0.02 * n, 0)], SECTION, n_elements=n)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("push", rod.end, (3.0, -20.0, 40.0))
    model.add_body(
        "lump", Box(0.3, 0.2, 0.1, density=1000.0), position=(0, 0, 2), angular_velocity=(3, 1, 40)
    )
    return model.build()


def with_axes(kind):
    """Axis arguments of a joint of this kind."""
    arguments = {"universal": ("axis", "second_axis"), "revolute": ("axis",), "prismatic": ("axis",)}
    return {name: AXES[name] for name in arguments.get(kind, ())}


def chain(kinds, far=0, loaded=True):
    """Bodies of different shapes and rotations on off-centre joints; loads, a spring.

    far: number of joints whose bodies are given in the opposite order.
    """
    model = Model("chain", gravity=(1.0, 2.0, -9.0))
    last = model.ground
    for k, kind in enumerate(kinds):
        shape, orientation = (
            Box(0.5 + 0.05 * k, 0.3, 0.2, density=100.0),
            (np.cos(0.2 * k), np.sin(0.2 * k), 0.0, 0.0),
        )
        body = model.add_body(
            f"body {k}", shape, position=(0.5 * k + 0.3, 0.1 * k, 0.0), orientation=orientation
        )
        ends = (body, last) if k >= len(kinds) - far else (last, body)
        model.add_joint(f"joint {k}", kind, *ends, at=(0.5 * k, 0.1 * k, 0.05 * (k % 2)), **with_axes(kind))
        last = body
    if loaded:
        model.add_force("push", last.at((0.1, 0.2, 0.0)), (3.0, -2.0, 5.0), following=True)
        model.add_spring("spring", model.ground, last, 20.0, along="rotation", axis=(0.0, 0.6, 0.8))
    return model.build()


def equal_bodies(kind, n):
    """2 n bodies, half of the joints given in the opposite order; welded bodies hang on a hinge."""
    return chain(["revolute" if kind == "weld" else kind, *(2 * n - 1) * [kind]], far=n)


def march_of(built, groups, order=2):
    """Return a function: states after some steps of a tree, by the smallest size of a SIMD group.

    groups: expected number of combinations of joint kind and side.
    """
    system, tree = built.system, find_kinematic_tree(built.system)

    def marched(fewest):
        stepper = TreeStepper(system, tree, 0.01, order, built.load_values)
        together, alone = simd_body_groups(system, tree, fewest)
        stepper.work = workspace_of(system, tree, stepper.numbering, 0.0, alone)
        stepper.arrays = tree_arrays(system, tree, alone)
        stepper.lanes = body_lanes(stepper.arrays, together, len(system.elements.length) > 0)
        groups_found = set(zip(stepper.lanes.kind, stepper.lanes.side, strict=True))
        assert len(groups_found) == (0 if fewest == ALONE else groups)
        state, report = stepper.advance(stepper.start(built.state), 0, STEPS)
        assert report.solves == STEPS * len(stepper.fractions)
        return state

    return marched


MIXED = ("spherical", "revolute", "spherical", "universal", "spherical", "revolute", "revolute")
GROUPS = {"spherical": 2, "revolute": 2, "universal": 2, "weld": 3, "prismatic": 1}
CASES = {
    **{
        f"{2 * n} bodies, {kind}": (
            1,
            lambda kind=kind, n=n: march_of(equal_bodies(kind, n), GROUPS[kind]),
        )
        for kind in GROUPS
        for n in (3, 9)
    },
    # then second corrections use the tangents of the first ones
    **{
        f"18 bodies on which nothing acts, {kind}, order {order}": (
            1,
            lambda kind=kind, order=order: march_of(
                chain(["revolute" if kind == "weld" else kind, *17 * [kind]], 9, loaded=False),
                GROUPS[kind],
                order,
            ),
        )
        for kind in ("spherical", "revolute", "universal", "weld")
        for order in (2, 4)
    },
    "groups that hang on bodies of others and on one alone": (3, lambda: march_of(chain(MIXED), 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_bodies_in_simd_lanes_are_bitwise_those_of_single_bodies(name):
    fewest, make = CASES[name]
    marched = make()
    together, single = marched(fewest), marched(ALONE)
    for field, lane, other in zip(together._fields, together, single, strict=True):
        assert lane.tobytes() == other.tobytes(), field
    assert np.abs(together.v).max() > 0.1
    assert np.abs(together.Omega).max() > 0.1 * ("prismatic" not in name)


@pytest.mark.parametrize("n", [2, 4, 8, 10, 18])
def test_rod_nodes_in_simd_lanes_move_as_single_nodes(n):
    """Equal to round-off: the last correction rotates a matrix for single nodes, a quaternion in lanes."""
    marched = march_of(mid_iteration(n), 2)
    together, single = marched(1), marched(ALONE)
    for field, lane, other in zip(together._fields, together, single, strict=True):
        if field != "memory":
            assert np.abs(lane - other).max(initial=0.0) <= 1e-11 * max(
                1.0, np.abs(other).max(initial=0.0)
            ), field
    assert np.abs(together.Omega).max() > 0.1


@kernel
def prediction(system, numbering, state, work, h):
    for f in work.alone:
        store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
    predict_scalar(state, work, h, BY_ACCELERATION, False, False)


@kernel
def corrected(system, numbering, work):
    return correct(system, numbering, work)


def test_frames_are_predicted_and_corrected():
    """A steadily rotating frame gets the Cayley vector h times its angular velocity, as in a step without
    moments.

    Corrections are reduced so that they rotate no frame by more than 1.5 rad.
    """
    built, h, rng = mid_iteration(9), 0.01, np.random.default_rng(3)
    system, state = built.system, built.state
    numbering = number_unknowns(system)
    n, moving = len(state.r), np.flatnonzero(system.frames.fixed == 0)
    angles = np.linspace(0.2, 3.5, n)
    axis = rng.standard_normal((n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    state = Stepper(system, h, 2, built.load_values).start(state)
    spin = rotate(conjugate(state.quat), axis) * (angles / h)[:, None]
    state = state._replace(Omega=spin, v=rng.standard_normal((n, 3)), r=state.r + np.array([0.0, 0.0, 5.0]))
    work = workspace(system, numbering)
    work.rhs[:] = 0.01 * rng.standard_normal(numbering.size)
    at = numbering.frame[moving]
    work.rhs[at[4] + 3 : at[4] + 6] = (0.0, 3.0, 0.0)
    prediction(system, numbering, state, work, h)
    dr, psi = work.dr[moving].copy(), work.psi[moving].copy()
    damping_factor = corrected(system, numbering, work)
    assert damping_factor == 0.5
    np.testing.assert_allclose(dr, h * state.v[moving], rtol=1e-13)
    np.testing.assert_allclose(psi, (angles[:, None] * axis)[moving], rtol=1e-11, atol=1e-11)
    corrections = damping_factor * work.rhs[at[:, None] + np.arange(6)]
    inverse = np.eye(3) + psi[:, :, None] * psi[:, None] / 4 - np.cross(np.eye(3), psi[:, None]) / 2
    np.testing.assert_allclose(work.dr[moving] - dr, corrections[:, :3], atol=1e-14)
    turned = np.einsum("fij,fj->fi", inverse, corrections[:, 3:])
    np.testing.assert_allclose(work.psi[moving] - psi, turned, atol=1e-13 * np.abs(psi).max() ** 2)


def test_predictor_extrapolates_the_accelerations_of_a_step():
    """For any accelerations: a step with those of the previous one needs no iteration."""
    h, random = 0.03, np.random.default_rng(1)
    for angle in (1e-3, 0.4, 3.0, 20.0):
        R0 = rotation_matrix(tuple(normalize(random.normal(size=4))))
        psi, dr, v0 = (random.normal(size=3) for _ in range(3))
        psi *= angle / np.linalg.norm(psi)
        R1 = rotate_matrix(tuple(psi), R0)
        Omega0 = random.normal(size=3) * angle / h
        M0, M1 = (np.array(R).reshape(3, 3) for R in (R0, R1))
        Omega1 = 2.0 / h * M0.T @ psi - Omega0
        assert np.allclose(Omega1, 2.0 / h * M1.T @ psi - Omega0, rtol=1e-13)
        dv, dOmega = 2.0 * (dr / h - v0), Omega1 - Omega0
        a, alpha = accelerations(R0, R1, tuple(dv), tuple(dOmega), h)
        r0 = random.normal(size=3)
        w0 = M0 @ Omega0
        mean, turning = tuple(v0 + h / 2 * np.array(a)), tuple(w0 + h / 2 * np.array(alpha))
        increments = predict_increments(tuple(w0), mean, turning, h)
        np.testing.assert_allclose(increments[0], dr, rtol=0, atol=1e-15)
        placed = round_displacement(tuple(r0), increments[0])
        assert np.array_equal(r0 + placed - r0, placed)
        np.testing.assert_allclose(placed, dr, rtol=0, atol=1e-15)
        np.testing.assert_allclose(increments[1], psi, rtol=0, atol=3e-14 * angle)


@kernel
def two_corrections(system, tree, state, work, h, other_joints):
    """Write the correction by elimination to work.noise, and that with the same tangents to work.rhs."""
    begin_fixed_frames(tree, state, work)
    begin_tree(system, tree, state, work)
    assemble_bodies(system, tree, state, work, h)
    eliminate(tree, work, False, other_joints)
    back_substitute(tree, work, other_joints)
    for i in range(work.rhs.shape[0]):
        work.noise[i] = work.rhs[i]
        work.rhs[i] = 0.0
    assemble_residuals(system, tree, state, work, h)
    reeliminate(tree, work)
    back_substitute(tree, work, other_joints)


def test_reused_jacobian_gives_the_same_correction_if_no_body_has_moved():
    """All joints with closed forms, in both orders of bodies, far from their constraints: large gaps, tilts
    and moments.
    """
    built = branched(
        ("revolute", "spherical", "universal", "weld", "weld", "universal", "spherical", "revolute")
    ).build()
    tree = find_kinematic_tree(built.system)
    stepper = TreeStepper(built.system, tree, 0.01, 2, built.load_values)
    _, alone = simd_body_groups(built.system, tree, ALONE)
    work = workspace_of(built.system, tree, stepper.numbering, 0.0, alone)
    arrays = tree_arrays(built.system, tree, alone)
    assert set(arrays.side) == {1, -1}
    random = np.random.default_rng(4)
    work.dr[:], work.psi[:] = (
        0.3 * random.normal(size=work.dr.shape),
        0.3 * random.normal(size=work.psi.shape),
    )
    other_joints = compiled(
        types.float64(types.int64, typeof(arrays), typeof(work), types.int64, types.boolean)
    )(no_general_joint)
    two_corrections(built.system, arrays, stepper.start(built.state), work, 0.01, other_joints)
    n = 6 * len(arrays.frame)
    assert np.abs(work.noise[:n]).min() > 1e-4
    assert np.allclose(work.rhs[:n], work.noise[:n], rtol=1e-9, atol=1e-11)


def held_at_both_ends(model, line):
    """Hold the string at the ground by both ends."""
    model.add_joint("left", "spherical", model.ground, line.start)
    model.add_joint("right", "spherical", model.ground, line.end)


def in_water(model, line):
    """Let water act on all pairs of neighbours."""
    model.add_submerged_rod("wet", line, model.add_fluid("sea", 100.0), 0.02, drag=1.2)


def tied_to_a_body(model, line):
    """Connect the middle with a point of a body by a spring."""
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0), (0, 0, 1))
    model.add_spring("tie", line.at(0.5), body.at((0, 0, 0.05)), 10.0)


@pytest.mark.parametrize(
    ("add", "points", "slim"),
    [
        (lambda model, line: None, 11, 10),
        (held_at_both_ends, 9, 8),
        (in_water, 11, 0),
        (tied_to_a_body, 10, 10),
    ],
)
def test_nodes_that_nothing_else_holds_have_three_unknowns(add, points, slim):
    model = Model("line")
    add(model, model.add_rod("line", [(0, 0, 0), (1, 0, 0)], STRING, 10))
    tree = find_kinematic_tree(model.build().system)
    assert (np.sum(tree.kind == POINT), tree.slim.sum()) == (points, slim)
