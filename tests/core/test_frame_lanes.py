"""Frames in lanes: each has to the bit what it has alone, and frames that do not move stay where they are."""

import numpy as np
import pytest

from discretization.assembly import frame_lanes as module
from discretization.assembly.frame_formulas import accelerations, predicted, to_a_place
from discretization.assembly.frame_lanes import FEWEST, N_PLACES, begin_frames, frame_lanes
from discretization.assembly.numbering import number
from discretization.assembly.workspace import store_rotation, workspace
from discretization.time.em import predict
from discretization.time.newton import correct
from discretization.time.stepper import Stepper
from discretization.trees.bodies import turned_by
from rigid.compilation.decorators import kernel
from rigid.kinematics.rotations import load4, rotation_matrix
from rigid.lanes import WIDTH
from rigid.quaternions import conjugate, normalize, rotate
from rodsim import Box, Model
from tests.support.element_lanes import SECTION

STEPS = 12
ALONE = WIDTH + 1  # no group is as large


def stirred(n):
    """A rod of n elements of an unsymmetric section, thrown about, and a body that turns by a third of a turn a step."""
    model = Model("stirred", gravity=(1.0, 2.0, -9.0))
    rod = model.add_rod("rod", [(0, 0, 0), (0.1 * n, 0.02 * n, 0)], SECTION, n_elements=n)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("push", rod.end, (3.0, -20.0, 40.0))
    model.add_body(
        "lump", Box(0.3, 0.2, 0.1, density=1000.0), position=(0, 0, 2), angular_velocity=(3, 1, 40)
    )
    return model.build()


def marched(built, fewest):
    """State after some steps, with groups of frames that have at least so many."""
    stepper = Stepper(built.system, 0.01, 2, built.load_values)
    fixed = built.system.frames.fixed
    stepper.work = stepper.work._replace(frames=frame_lanes(fixed, stepper.numbering, fewest))
    state, report = stepper.advance(stepper.start(built.state), 0, STEPS)
    assert report.solves == STEPS
    return state


@pytest.mark.parametrize("n", [2, 4, 8, 10, 18])
def test_frames_side_by_side_are_to_the_bit_what_they_are_alone(n):
    built = stirred(n)
    together, alone = marched(built, 1), marched(built, ALONE)
    for name, own, other in zip(together._fields, together, alone, strict=True):
        assert own.tobytes() == other.tobytes(), name
    assert np.abs(together.Omega).max() > 0.1


@pytest.mark.parametrize("n", [1, 3, 6])
def test_frames_side_by_side_write_into_their_arrays_alone(n):
    """Lanes of a last group that repeat its last frame add to the dump, whose room is that of one column: nothing behind it."""
    built = stirred(n)
    stepper = Stepper(built.system, 0.01, 2, built.load_values)
    work, guards, names = stepper.work, [], ("values", "residual", "noise", "rhs")
    for name in names:
        own = getattr(work, name)
        longer = np.full(len(own) + 4096, np.pi)
        longer[: len(own)] = own
        guards.append(longer[len(own) :])
        work = work._replace(**{name: longer[: len(own)]})
    fixed = built.system.frames.fixed
    stepper.work = work._replace(frames=frame_lanes(fixed, stepper.numbering, 1))
    assert not len(stepper.work.frames.alone)
    assert (n + 1) % WIDTH  # a last group is not full: n nodes move, and the body
    state, _ = stepper.advance(stepper.start(built.state), 0, 3)
    assert np.abs(state.Omega).max() > 0.1
    for name, guard in zip(names, guards, strict=True):
        assert np.all(guard == np.pi), name


@kernel
def prediction(system, numbering, state, work, h):
    """Distance of the farthest frame of a group."""
    far = begin_frames(system, state, work)
    for f in work.frames.alone:
        store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
    predict(state.memory, state.lam, False, state, work, h)
    return far


@kernel
def corrected(system, numbering, work):
    return correct(system, numbering, work)


@pytest.mark.parametrize("fewest", [1, ALONE])
def test_frames_are_predicted_and_corrected(fewest):
    """A frame that turns steadily by theta has the Cayley vector of length 2 tan(theta/2), one that turns on and on its turn; of
    corrections is taken what turns no frame by more than 1.5.
    """
    built, h, rng = stirred(9), 0.01, np.random.default_rng(3)
    system, state = built.system, built.state
    numbering = number(system)
    n, moving = len(state.r), np.flatnonzero(system.frames.fixed == 0)
    turn = np.linspace(0.2, 3.5, n)
    axis = rng.standard_normal((n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    state = Stepper(system, h, 2, built.load_values).start(state)
    spin = rotate(conjugate(state.quat), axis) * (turn / h)[:, None]
    state = state._replace(Omega=spin, v=rng.standard_normal((n, 3)), r=state.r + np.array([0.0, 0.0, 5.0]))
    work = workspace(system, numbering)
    work = work._replace(frames=frame_lanes(system.frames.fixed, numbering, fewest))
    work.rhs[:] = 0.01 * rng.standard_normal(numbering.size)
    at = numbering.frame[moving]
    work.rhs[at[4] + 3 : at[4] + 6] = (0.0, 3.0, 0.0)
    far = prediction(system, numbering, state, work, h)
    dr, psi = work.dr[moving].copy(), work.psi[moving].copy()
    share = corrected(system, numbering, work)
    assert share == 0.5
    in_groups = moving[~np.isin(moving, work.frames.alone)]
    assert far == (np.linalg.norm(state.r[in_groups], axis=1).max() if len(in_groups) else 0.0)
    np.testing.assert_allclose(dr, h * state.v[moving], rtol=1e-13)
    length = np.where(turn < 3.0, 2.0 * np.tan(turn / 2), turn)
    np.testing.assert_allclose(psi, (length[:, None] * axis)[moving], rtol=1e-11, atol=1e-11)
    more = share * work.rhs[at[:, None] + np.arange(6)]
    inverse = np.eye(3) + psi[:, :, None] * psi[:, None] / 4 - np.cross(np.eye(3), psi[:, None]) / 2
    np.testing.assert_allclose(work.dr[moving] - dr, more[:, :3], atol=1e-14)
    turned = np.einsum("fij,fj->fi", inverse, more[:, 3:])
    np.testing.assert_allclose(work.psi[moving] - psi, turned, atol=1e-13 * np.abs(psi).max() ** 2)


@pytest.mark.parametrize("moving", [0, 1, 2, 3, 8, 9, 11, 16])
def test_each_frame_is_in_one_place(moving):
    """In one lane, but for the last one of a group, which stands in all that are left and adds nothing there."""
    system = stirred(18).system
    numbering = number(system)
    fixed = system.frames.fixed.copy()
    held = np.flatnonzero(fixed)
    fixed[np.flatnonzero(fixed == 0)[moving:]] = 1
    own = frame_lanes(fixed, numbering)
    frames, unknown, forces, block, *_ = own.places.swapaxes(0, 1).reshape(N_PLACES, -1)
    adds = forces < numbering.size
    assert sorted([*frames[adds], *own.alone]) == np.flatnonzero(fixed == 0).tolist()
    assert own.held.tolist() == np.flatnonzero(fixed).tolist()
    assert set(held) <= set(own.held)
    assert len(own.alone) < FEWEST
    assert np.all(unknown == numbering.frame[frames])
    assert np.all(block[~adds] == numbering.n_values)
    assert np.all(frames[~adds] == (frames[adds][-1] if adds.any() else -1))


def test_accelerations_of_a_step_foretell_it():
    """Whatever they are: a step that has the accelerations of the last one needs no iteration."""
    h, random = 0.03, np.random.default_rng(1)
    for turn in (1e-3, 0.4, 3.0, 20.0):
        R0 = rotation_matrix(tuple(normalize(random.normal(size=4))))
        psi, dr, v0 = (random.normal(size=3) for _ in range(3))
        psi *= turn / np.linalg.norm(psi)
        R1 = turned_by(tuple(psi), R0)
        Omega0 = random.normal(size=3) * turn / h
        M0, M1 = (np.array(R).reshape(3, 3) for R in (R0, R1))
        Omega1 = 2.0 / h * M0.T @ psi - Omega0
        assert np.allclose(Omega1, 2.0 / h * M1.T @ psi - Omega0, rtol=1e-13)
        dv, dOmega = 2.0 * (dr / h - v0), Omega1 - Omega0
        a, alpha = accelerations(R0, R1, tuple(dv), tuple(dOmega), h)
        r0 = random.normal(size=3)
        found = predicted(R0, tuple(v0), tuple(Omega0), a, alpha, h)
        np.testing.assert_allclose(found[0], dr, rtol=0, atol=1e-15)
        placed = to_a_place(tuple(r0), found[0])
        assert np.array_equal(r0 + placed - r0, placed)
        np.testing.assert_allclose(placed, dr, rtol=0, atol=1e-15)
        np.testing.assert_allclose(found[1], psi, rtol=0, atol=3e-14 * turn)


@pytest.mark.parametrize(("most", "alone"), [(18, 2), (17, 18)])
def test_where_there_are_too_many_all_frames_go_one_by_one(most, alone, monkeypatch):
    monkeypatch.setattr(module, "MOST", most)
    system = stirred(16).system
    assert np.sum(system.frames.fixed == 0) == 18
    assert len(frame_lanes(system.frames.fixed, number(system)).alone) == alone
