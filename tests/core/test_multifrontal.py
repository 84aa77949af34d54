"""Multifrontal elimination: the solution and motion of a band, in fewer operations if the band would be wide."""

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from discretization.assembly import multifrontal_selection
from discretization.assembly.multifrontal_selection import has_inertia, number_for_solver
from discretization.assembly.numbering import number_unknowns
from discretization.linear.multifrontal import fronts_solve
from discretization.time import stepper
from discretization.time.newton import factor, solve
from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import Box, Model, signals
from tests.support.assembly import dense
from tests.support.fronts import SECTION, H, factored, net
from tests.support.newton_iterations import assembled_workspace


@pytest.mark.parametrize("size", [0.0, 1e-10, 1e-6])
def test_pivot_far_below_its_column_is_reported(size):
    full = np.array(
        [[size, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    )  # a chain: its end is eliminated alone
    assert factored(
        csc_matrix(np.eye(3) + np.eye(3, k=1) + np.eye(3, k=-1)), np.arange(3), np.zeros(3, bool), full
    )[-1] == (size < 1e-8)


def test_unconnected_parts_are_solved():
    rng = np.random.default_rng(3)
    full = np.kron(np.eye(4), rng.normal(size=(3, 3)) + 5.0 * np.eye(3))
    stored = csc_matrix(np.kron(np.eye(4), np.ones((3, 3))))
    fronts, panels, pivots, scratch, status = factored(
        stored, np.repeat(np.arange(4), 3), np.zeros(12, bool), full
    )
    assert status == 0
    assert (fronts.parent == -1).all()
    x = (rhs := rng.normal(size=12)).copy()
    fronts_solve(fronts, panels, pivots, x, np.zeros(fronts.first[-1]), scratch)
    assert full @ x == pytest.approx(rhs, abs=1e-11)


def test_small_pivots_fall_back_to_the_sparse_solver():
    built = net().build()
    numbering = number_for_solver(built.system)
    work = assembled_workspace(built, numbering, H, np.random.default_rng(4), 0.02)
    matrix = dense(numbering, work.values)
    a = numbering.frame[2]
    rows = numbering.indices
    columns = np.repeat(np.arange(numbering.size), np.diff(numbering.indptr))
    block = (columns == a) & (rows >= a) & (rows < a + 6)
    work.values[: len(rows)][block] = 0.0
    matrix[a : a + 6, a] = 0.0
    rhs = np.random.default_rng(5).normal(size=numbering.size)
    work.rhs[:] = rhs
    assert factor(numbering, work) == 0
    solve(numbering, work)
    assert np.abs(matrix @ work.rhs - rhs).max() < 1e-8 * np.abs(matrix).max() * np.abs(work.rhs).max()
    assert work.integers[0] == 0


def test_fronts_take_a_fraction_of_the_operations_of_the_band():
    system = net(rows=5, fields=12).build().system
    band, fronts = number_unknowns(system), number_for_solver(system).fronts
    assert 15 * fronts.flops < 2 * band.size * band.band**2


def test_operations_grow_with_the_length_of_a_frame():
    """Operations are proportional to the length, because separators have the size of the width."""
    short, long = (number_for_solver(net(fields=n).build().system).fronts.flops for n in (12, 48))
    assert 3.0 < long / short < 6.0


def test_split_march_equals_a_single_march():
    """Bit-identical: no part of the matrix of a step is used in the next."""
    built = net().build()
    uninterrupted, _ = Stepper(built.system, H, load_values=built.load_values).advance(built.state, 0, 6)
    half, _ = Stepper(built.system, H, load_values=built.load_values).advance(built.state, 0, 3)
    parts, _ = Stepper(built.system, H, load_values=built.load_values).advance(half, 3, 3)
    for one, other in zip(uninterrupted, parts, strict=True):
        assert np.array_equal(one, other)


def chain(n):
    """Bars on spherical joints."""
    model = Model("chain", gravity=(0.0, 0.0, -9.81))
    last = model.ground
    for k in range(n):
        bar = model.add_body(f"bar{k}", Box(1.0, 0.1, 0.1, density=100.0), position=(k + 0.5, 0, 0))
        model.add_joint(f"joint{k}", "spherical", last, bar, at=(k, 0, 0))
        last = bar
    return model


@pytest.mark.parametrize("hidden", [False, True])
def test_chains_and_rods_use_the_band_solver(hidden):
    rod = Model("rod")
    rod.add_rod("rod", [[0, 0, 0], [1, 0, 0]], SECTION, n_elements=40)
    for model in (chain(30), rod):
        numbering = number_for_solver(model.build().system, hidden=hidden)
        assert numbering.band > 0
        assert numbering.fronts.inner.size == 0


def turned(drives=0):
    """The net with wheels on its posts; some are driven: hinge and motor join the same frames."""
    model = net()
    for j in range(3):
        wheel = model.add_body(f"wheel{j}", Box(0.1, 0.1, 0.1, density=1000.0), position=(4.0, j + 0.5, 0))
        post = model.rods[f"post{j}-4"]
        model.add_joint(f"axle{j}", "revolute", post.at(0.5), wheel, at=(4.0, j + 0.5, 0), axis=(0, 0, 1))
    for j in range(drives):
        model.add_drive(f"motor{j}", f"axle{j}", signals.Steady(2.0))
    return model.build()


@pytest.mark.parametrize("drives", [1, 3])
def test_a_hinge_and_its_motor_are_solved_in_one_front(drives):
    free, driven = turned(), turned(drives)
    numbering = number_for_solver(driven.system)
    assert numbering.size == number_for_solver(free.system).size + drives
    assert numbering.fronts.inner.size > 0
    assert numbering.fronts.flops < 1.1 * number_for_solver(free.system).fronts.flops


def test_joints_of_the_same_frames_share_a_front_of_up_to_six_rows():
    """A hinge and its motor, another joint at one of its frames, and two more joints beyond the size of the
    first front.
    """
    pairs = [(1, 2), (1, 2), (1, 3), (1, 2), (1, 2)]
    edges = np.array([(joint, frame) for joint, frames in enumerate(pairs) for frame in frames]).T
    numbers = multifrontal_selection._shared_numbers(edges, np.array([5, 1, 3, 1, 3]))
    assert numbers.tolist() == [0, 0, 1, 2, 2]


@pytest.mark.parametrize(
    ("drives", "options"),
    [(0, {}), (0, {"hidden": True}), (0, {"rho": 0.8}), (3, {})],
    ids=["em", "em-ggl", "em-d", "driven"],
)
def test_motion_equals_that_of_the_band_solver(drives, options, monkeypatch):
    built = turned(drives) if drives else net().build()

    def ended():
        march = Stepper(
            built.system, H, load_values=built.load_values, drive_values=built.drive_values, **options
        )
        state, report = march.advance(march.start(built.state), 0, 10)
        return march.numbering, state, report

    fronts, state, report = ended()
    monkeypatch.setattr(stepper, "number_for_solver", number_unknowns)
    band, expected, other_report = ended()
    assert fronts.fronts.inner.size > 0
    assert band.band > 0
    assert np.abs(state.r - expected.r).max() < 1e-11
    assert np.abs(state.v - expected.v).max() < 1e-9
    assert report == other_report


def without_inertia(system):
    inertia = system.frames.inertia.copy()
    inertia[3] = 0.0
    return system._replace(frames=system.frames._replace(inertia=inertia))


def repeating(system):
    repeats = np.zeros(len(system.constraints.kind), np.uint8)
    repeats[5] = 1
    return system._replace(constraints=system.constraints._replace(repeats=repeats))


@pytest.mark.parametrize("without", [without_inertia, repeating])
def test_systems_without_local_pivots_use_the_band_solver(without):
    system = net().build().system
    assert number_for_solver(system).fronts.inner.size > 0
    numbering = number_for_solver(without(system))
    assert numbering.band > 0
    assert numbering.fronts.inner.size == 0


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("moment", "has"), [(0.3, True), (0.0, False), (1e-12, False)])
def test_frame_has_inertia_if_all_its_moments_are_significant(moment, has, turned):
    model = Model("box")
    model.add_body("box", Box(1.0, 0.5, 0.2, density=1.0))
    system = model.build().system
    principal = np.diag([0.2, moment, 0.4])
    R = quaternions.to_matrix(quaternions.normalize(np.array([1.0, 0.3, -0.2, 0.5])))
    inertia = np.array(
        [np.zeros((3, 3)), R @ principal @ R.T if turned else principal]
    )  # the ground needs none
    assert has_inertia(system._replace(frames=system.frames._replace(inertia=inertia))) == has
    assert not has_inertia(system._replace(frames=system.frames._replace(inertia=inertia, mass=np.zeros(2))))
