"""Histories of rods, bodies and joints agree with the states and satisfy the mechanics."""

import numpy as np
import pytest

from rigid.quaternions import rotate
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Constraints, State
from rodsim.results import JointLayout, Layout, MemoryWriter, Result, ResultWriter
from tests.support.results_sample import sample_layout, sample_output


@pytest.fixture(scope="module", params=["file", "memory"])
def result(request, tmp_path_factory):
    layout = sample_layout()
    if request.param == "memory":
        writer = MemoryWriter(layout)
    else:
        writer = ResultWriter.create(tmp_path_factory.mktemp("h") / "a.vtkhdf", layout, 7)
    for i in range(5):
        writer.append(*sample_output(layout, i))
    writer.close()
    return writer.result()


def test_rod_arrays_are_by_output_and_node(result):
    for rod in result.layout.rods:
        history = result.rod(rod.name)
        for i in range(5):
            _, _, state, strains, stresses, _ = sample_output(result.layout, i)
            for name in ("r", "quat", "v", "Omega"):
                assert np.array_equal(getattr(history, name)[i], getattr(state, name)[rod.frames])
            in_inertial_axes = rotate(state.quat[rod.frames], state.Omega[rod.frames])
            np.testing.assert_allclose(history.omega[i], in_inertial_axes, atol=1e-15)
            assert np.array_equal(history.Gamma[i], strains[rod.elements, :3])
            assert np.array_equal(history.K[i], strains[rod.elements, 3:])
            assert np.array_equal(history.N[i], stresses[rod.elements, :3])
            assert np.array_equal(history.M[i], stresses[rod.elements, 3:])


def test_body_position_is_its_reference_point(result):
    box = result.body("box")
    for i in range(5):
        state = sample_output(result.layout, i)[2]
        arm = rotate(state.quat[1], [0.3, 0.3, 0.3])
        np.testing.assert_allclose(box.r[i], state.r[1] + arm, atol=1e-15)
        assert np.array_equal(box.Omega[i], state.Omega[1])
        np.testing.assert_allclose(box.omega[i], rotate(state.quat[1], state.Omega[1]), atol=1e-15)
        np.testing.assert_allclose(box.v[i], state.v[1] + np.cross(box.omega[i], arm), atol=1e-14)


def test_energies_and_momenta_are_the_audit_columns(result):
    audits = [sample_output(result.layout, i)[5] for i in range(5)]
    for name in ("kinetic", "elastic", "gravity", "spring", "total"):
        assert list(result.energy[name]) == [a[name] for a in audits]
    assert np.array_equal(result.linear_momentum, [[a["Px"], a["Py"], a["Pz"]] for a in audits])
    assert np.array_equal(result.angular_momentum, [[a["Lx"], a["Ly"], a["Lz"]] for a in audits])
    assert list(result.newton_iterations) == [a["newton_mean"] for a in audits]


KINDS = {"coincident": COINCIDENT, "perpendicular": PERPENDICULAR, "along": ALONG, "distance": DISTANCE}


def values_of(kind, c, state):
    """Values of one constraint."""
    (qa, qb), (ra, rb) = state.quat[c.frames[0]], state.r[c.frames[0]]
    d = rb + rotate(qb, c.Xb[0]) - ra - rotate(qa, c.Xa[0])
    ua, ub = rotate(qa, c.Ua[0]), rotate(qb, c.Ub[0])
    return {COINCIDENT: d, PERPENDICULAR: [ua @ ub], ALONG: [ua @ d], DISTANCE: [d @ d / 2]}[kind]


@pytest.mark.parametrize("name", KINDS)
def test_work_of_joint_force_and_moment_equals_that_of_the_multipliers(name):
    """Moving b by (dr, rotation) changes g by dg; force . dp + moment . rotation = -lam . dg."""
    kind, random = KINDS[name], np.random.default_rng(3)
    vectors = random.normal(size=(4, 1, 3))
    c = Constraints(np.array([kind]), np.array([[1, 2]]), *vectors, np.zeros(1), np.zeros(1, dtype=np.int64))
    m = 3 if kind == COINCIDENT else 1
    joint = JointLayout("joint", name, (0, m))
    layout = Layout("pair", [], [], [joint], n_frames=3, n_multipliers=m, constraints=c)
    state = State(**{field: random.normal(size=shape) for field, shape in layout.state_shapes().items()})
    state.quat[:] /= np.linalg.norm(state.quat, axis=1, keepdims=True)
    writer = MemoryWriter(layout)
    audit = sample_output(sample_layout(), 0)[5]
    writer.append(0.0, 0, state, np.zeros((0, 6)), np.zeros((0, 6)), audit)
    history = writer.result().joint("joint")
    force, moment = history.force[0], history.moment[0]

    arm = rotate(state.quat[2], c.Xb[0]) if kind != PERPENDICULAR else np.zeros(3)
    dr, rotation, eps = random.normal(size=3), random.normal(size=3), 1e-6
    changed = []
    for sign in (-1, 1):
        r, quat = state.r.copy(), state.quat.copy()
        r[2] += sign * eps * dr
        # dq = (0, rotation/2) o q
        w, v = quat[2, 0], quat[2, 1:]
        half = sign * eps * rotation / 2
        quat[2] += np.concatenate([[-half @ v], w * half + np.cross(half, v)])
        quat[2] /= np.linalg.norm(quat[2])
        changed.append(values_of(kind, c, state._replace(r=r, quat=quat)))
    dg = (np.array(changed[1]) - np.array(changed[0])) / (2 * eps)
    work = force @ (dr + np.cross(rotation, arm)) + moment @ rotation
    np.testing.assert_allclose(work, -state.lam @ dg, rtol=1e-8, atol=1e-9)


def test_joint_without_constraints_is_reported_with_remedy():
    layout = sample_layout()
    layout.constraints = None
    writer = MemoryWriter(layout)
    writer.append(*sample_output(layout, 0))
    hinge = writer.result().joint("hinge")
    assert hinge.multipliers.shape == (1, 4)
    with pytest.raises(ValueError, match=r"use `\.multipliers`"):
        _ = hinge.force


def test_nearest_output_is_found(result):
    assert isinstance(result, Result)
    assert result.index_at(0.0) == 0
    assert result.index_at(0.11) == 2
    assert result.index_at(99.0) == 4
    assert np.array_equal(result.state(np.int64(-1)).r, result.state(4).r)
