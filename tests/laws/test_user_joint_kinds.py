"""Joints with constraints defined in their own file: all consumers take them from the joint."""

from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from discretization.redundancy import constraint_jacobian, redundancy
from discretization.system import fingerprint
from rigid.interactions import constraints
from rigid.interactions.direction_angle import PERPENDICULAR_DIRECTIONS
from rigid.interactions.distance import POINTS_AT_DISTANCE, dual_function, value_function
from rigid.joints import JOINTS, Joint, Row, register
from rigid.joints.base import coincident, in_plane, parallel
from rodsim import Box, Model, ModelError, Result, audit, equilibrium, modes, simulate

STRAIGHT = PERPENDICULAR_DIRECTIONS._replace(name="straight angle of a test")
APART = POINTS_AT_DISTANCE._replace(name="points apart of a test")


class OwnHinge(Joint):
    """A revolute joint made of constraints that the package does not have."""

    kind, n_rows, free, axis, new_kinds = "hinge of a test", 5, "1 rotation", True, (STRAIGHT,)

    @staticmethod
    def rows(a, b, parameters):
        return [coincident(), *(row._replace(kind=STRAIGHT) for row in parallel(a, b))]


class OwnStrut(Joint):
    """A distance joint made of such a constraint."""

    kind, n_rows, free, apart, new_kinds = "strut of a test", 1, "all but 1 translation", True, (APART,)

    @staticmethod
    def rows(a, b, parameters):
        return [Row(APART, np.zeros(3), np.zeros(3), 0.5 * parameters.length**2)]


@value_function
def height(y, X, out):
    out[0] = y[1, 0, 2] - y[0, 0, 2] - X[0]


@dual_function
def lift(y0, y1, X, lam, out):
    out[1, 0, 2] = lam[0]
    out[0, 0, 2] = -lam[0]


@dual_function
def no_bend(y, z, X, lam, out):
    out[1, 0, 2] = 0.0 * lam[0]


LEVEL = APART._replace(
    name="heights of a test", value=height, dual=lift, bend=no_bend, columns=("value",), constant=True
)


class OwnLevel(Joint):
    """One body stays at its height above another: along z for any motion of the bodies, so it rotates them when it carries a
    force.
    """

    kind, n_rows, free, apart, new_kinds = "level of a test", 1, "all but 1 translation", True, (LEVEL,)

    @staticmethod
    def rows(a, b, parameters):
        return [Row(LEVEL, np.zeros(3), np.zeros(3), -0.4)]


class OwnRail(Joint):
    """A point on a line, given as the intersection of two non-orthogonal planes."""

    kind, n_rows, free, axis = "rail of a test", 2, "1 translation, 3 rotations", True

    @staticmethod
    def rows(a, b, parameters):
        oblique = (a.axes[:, 0] + a.axes[:, 1]) / np.sqrt(2.0)
        return [in_plane(a, 1), in_plane(a, 2)._replace(Ua=oblique)]


@contextmanager
def register_joints(*joints):
    """Add joint kinds to the registries."""
    before = len(constraints.CONSTRAINTS)
    for joint in joints:
        register(joint)
    try:
        yield
    finally:
        for joint in joints:
            JOINTS.pop(joint.kind)
        del constraints.CONSTRAINTS[before:]


def chain(of_user: bool, spin=(0.2, 1.0, -0.3)) -> Model:
    """A bar on a hinge, and a second bar connected by a strut and a bushing."""
    model = Model("chain", gravity=(0.3, 0.0, -9.81))
    a = model.add_body("a", Box(0.4, 0.1, 0.1, density=300), position=(0.2, 0, 0))
    b = model.add_body("b", Box(0.2, 0.3, 0.1, density=200), position=(0.6, 0.1, -0.4), angular_velocity=spin)
    hinge, strut = (OwnHinge.kind, OwnStrut.kind) if of_user else ("revolute", "distance")
    model.add_joint("hinge", hinge, model.ground, a, at=(0, 0, 0), axis=(0, 1, 0.2))
    model.add_joint("strut", strut, a.at((0.2, 0, 0.05)), b.at((0, 0.1, 0.05)))
    model.add_bushing("mount", model.ground, b, 200.0, at=(0.7, 0.1, -0.5))
    model.add_spring("coil", model.ground, a, 20.0, along="rotation", axis=(0, 1, 0.2))
    return model


RUN = partial(simulate, t_end=0.1, dt=0.01, output_every=2, progress=False)


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        partial(RUN, integrator="em-ggl"),
        partial(RUN, integrator="em-d(0.8)"),
        partial(RUN, integrator="EML"),
        partial(RUN, integrator="EM-G", chart="director"),
        partial(RUN, integrator="mG(1)"),
        equilibrium,
    ],
    ids=["em", "em-ggl", "em-d", "EML", "EM-G", "mG", "equilibrium"],
)
def test_user_constraint_acts_like_the_built_in_one(run):
    """The rows agree, by closed forms and by duals that no other code knows."""
    with register_joints(OwnHinge, OwnStrut):
        one, other = (
            run(chain(of_user, None if run is equilibrium else (0.2, 1.0, -0.3))).state(-1)
            for of_user in (True, False)
        )
    for name in ("r", "quat", "v", "Omega", "lam"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9, err_msg=name
        )


def bar_on_joint(joint):
    """A bar on this joint, attached to a bar with a hinge to the ground."""
    model = Model("hung", gravity=(0.3, 0.0, -9.81))
    a = model.add_body("a", Box(0.4, 0.1, 0.1, density=300), position=(0.2, 0, 0.7))
    b = model.add_body("b", Box(0.2, 0.3, 0.1, density=200), position=(0.5, 0.1, 0.3))
    model.add_joint("hinge", "revolute", model.ground, a, at=(0, 0, 0.7), axis=(0, 1, 0.2))
    ends = (a.at((0, 0, 0)), b.at((0, 0, 0))) if joint.apart else (a, b)
    options = {} if joint.apart else {"at": (0.4, 0.0, 0.6), "axis": (0.2, 1.0, 0.3)}
    model.add_joint("joint", joint.kind, *ends, **options)
    return model


@pytest.mark.parametrize("joint", [OwnLevel, OwnRail])
def test_user_joint_moves_as_with_the_general_solver(joint):
    with register_joints(joint):
        results = [RUN(bar_on_joint(joint), solver=solver) for solver in ("auto", "general")]
        one, other = (result.state(-1) for result in results)
        iterations = [result.newton_iterations[-1] for result in results]
    assert iterations[0] <= iterations[1]
    assert np.abs(one.v).max() > 0.1
    for name in ("r", "quat", "v", "Omega", "lam"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9, err_msg=name
        )


def test_modes_support_a_user_joint():
    with register_joints(OwnHinge, OwnStrut):
        values = [
            np.sort_complex(modes(chain(of_user, None), 4, anyway=True).values) for of_user in (True, False)
        ]
    np.testing.assert_allclose(*values, rtol=1e-9)


def test_redundant_user_joints_are_detected():
    """A second hinge on the same axis, as with the built-in joint."""
    results = []
    with register_joints(OwnHinge, OwnStrut):
        for of_user in (True, False):
            system, state, *_ = chain(of_user).build()
            jacobian = constraint_jacobian(system, state).toarray()
            twice = chain(of_user)
            twice.add_joint(
                "again",
                OwnHinge.kind if of_user else "revolute",
                twice.ground,
                twice.bodies["a"],
                at=(0, 0.2, 0.04),
                axis=(0, 1, 0.2),
            )
            with pytest.warns(UserWarning, match="hinge"):
                system, state, *_ = twice.build()
            redundant = redundancy(system, state)
            assert redundant is not None
            results.append((jacobian, redundant.excess, redundant.loops))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-14)
    assert results[0][1:] == results[1][1:]
    assert results[0][1] == 5


def test_file_with_a_user_joint_is_audited_resumed_and_names_a_missing_kind(tmp_path):
    path = tmp_path / "run.vtkhdf"
    with register_joints(OwnHinge, OwnStrut):
        RUN(chain(True), output=path)
        audit_report = audit(Result.load(path))
        assert audit_report.ok, audit_report.text()
        assert audit_report.constraint < 1e-12
        end = simulate(
            chain(True), 0.2, 0.01, output=path, resume=True, output_every=2, progress=False
        ).state(-1)
        full = simulate(chain(True), 0.2, 0.01, output_every=2, progress=False).state(-1)
        assert np.array_equal(end.r, full.r)
        mine = fingerprint(chain(True).build().system)
    with register_joints(OwnStrut, OwnHinge):  # in another order: other numbers in this process
        numbers = constraints.numbers_of([STRAIGHT, APART])
        assert constraints.facts(numbers, "turns").tolist() == [True, False]
        assert fingerprint(chain(True).build().system) == mine
        assert audit(Result.load(path)).ok
    before = len(constraints.CONSTRAINTS)
    try:
        with pytest.raises(ModelError, match="'straight angle of a test' is not registered"):
            audit(Result.load(path))
    finally:
        del constraints.CONSTRAINTS[before:]


def test_constraint_kind_without_a_joint_is_named():
    class Forgotten(OwnStrut):
        kind, new_kinds = "forgotten", ()

    with register_joints(Forgotten):
        model = Model("m")
        body = model.add_body("body", Box(0.2, 0.2, 0.2, density=100), position=(0, 0, 1))
        model.add_joint("strut", "forgotten", model.ground.at((0, 0, 0.5)), body.at((0, 0, 0)))
        with pytest.raises(ModelError, match=r"'points apart of a test': is not in the list.*`new_kinds`"):
            model.build()


def test_user_kind_cannot_take_a_built_in_name():
    with pytest.raises(ModelError, match="is the name of a built-in kind"):
        constraints.register(POINTS_AT_DISTANCE)
