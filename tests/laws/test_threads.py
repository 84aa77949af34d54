"""Threads that share one step: bit-identical results for any number of them, and no thread is left running."""

import threading

import numpy as np
import pytest

from discretization.assembly import thread_team as teams
from discretization.assembly.element_lanes import element_lanes
from discretization.assembly.multifrontal_selection import number_for_solver
from discretization.assembly.thread_team import FAILED, GIVEN, create_team, running_threads
from discretization.time.newton import FOLDED, factor, solve
from discretization.time.stepper import Stepper
from rigid.atomic_flags import load_flag, sleep_arguments, store_flag, wait_for
from rigid.compilation.decorators import nogil_kernel
from rigid.errors import ConvergenceError, ModelError
from rodsim import Adaptive, Model, simulate, simulate_many
from tests.support.fronts import SECTION, H, net
from tests.support.newton_iterations import ADD, MOVE, assembled_workspace, done

WIDE = net(rows=7, fields=16)


@pytest.fixture(autouse=True)
def _none_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def run_steps(threads, steps=6, **options):
    """State and report after a few steps."""
    built = WIDE.build()
    march = Stepper(built.system, H, load_values=built.load_values, threads=threads, **options)
    assert march.threads == threads
    return march.advance(march.start(built.state), 0, steps)


@pytest.mark.parametrize("options", [{}, {"hidden": True}, {"rho": 0.8}, {"order": 4}])
@pytest.mark.parametrize("threads", [2, 3])
def test_result_is_bitwise_independent_of_the_number_of_threads(options, threads):
    state, report = run_steps(1, **options)
    arrays, description = run_steps(threads, **options)
    assert description == report
    for one, other in zip(state, arrays, strict=True):
        assert np.array_equal(one, other)


def test_more_threads_than_fronts_give_the_same_bits():
    built = net(rows=3, fields=2).build()
    one, many = (
        Stepper(built.system, H, load_values=built.load_values, threads=n, band_limit=0) for n in (1, 40)
    )
    assert many.numbering.fronts.inner.size < many.threads
    for x, y in zip(*(march.advance(built.state, 0, 2)[0] for march in (one, many)), strict=True):
        assert np.array_equal(x, y)


def test_run_resumes_bitwise_with_another_number_of_threads(tmp_path):
    uninterrupted = simulate(WIDE, 8 * H, H, output_every=2, solver="general", threads=3)
    part = tmp_path / "part.vtkhdf"
    simulate(WIDE, 4 * H, H, output=part, output_every=2, solver="general")
    parts = simulate(WIDE, 8 * H, H, output=part, output_every=2, resume=True, threads=2)
    assert (uninterrupted.description["run"]["threads"], parts.description["run"]["threads"]) == (3, 2)
    for n in range(5):
        for x, y in zip(uninterrupted.state(n), parts.state(n), strict=True):
            assert np.array_equal(x, y)


def test_models_without_fronts_use_one_thread():
    rod = Model("rod", gravity=(0.0, 0.0, -9.81))
    rod.add_rod("rod", [[0, 0, 0], [1, 0, 0]], SECTION, n_elements=4)
    runs = [simulate(rod, 4 * H, H, solver="general", threads=n) for n in (1, 2)]
    assert "threads" not in runs[0].description["run"]
    assert runs[1].description["run"]["threads"] == 1
    assert np.array_equal(runs[0].rod("rod").r, runs[1].rod("rod").r)


def test_adaptive_steps_use_threads():
    steps = Adaptive(1e-3, output_dt=0.01)
    runs = [simulate(WIDE, 0.02, steps, solver="general", threads=n) for n in (1, 2)]
    assert runs[1].description["run"]["threads"] == 2
    assert np.array_equal(runs[0].rod("row0").r, runs[1].rod("row0").r)


def test_each_of_many_runs_uses_one_thread():
    many = simulate_many(WIDE.prepare(t_end=2 * H, dt=H, threads=2), [{}, {"gravity": [0.0, 0.0, -1.0]}])
    assert not many.failures
    assert "threads" not in many[0].description["run"]


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", 2000, None])
def test_invalid_number_of_threads_is_rejected(threads):
    with pytest.raises(ModelError, match="simulate: threads = "):
        simulate(WIDE, H, H, threads=threads)


def test_integrator_without_threads_rejects_them():
    with pytest.raises(ModelError, match="'EML' takes its steps in one thread; remove threads = 2"):
        simulate(WIDE, H, H, "EML", threads=2)


def iteration_with_team(threads=2):
    """Numbering and workspace of an iteration of a net, and a thread team for it."""
    built = WIDE.build()
    numbering = number_for_solver(built.system)
    work = assembled_workspace(built, numbering, H, np.random.default_rng(4), 0.02)
    team = create_team(numbering.fronts, threads, work)
    return numbering, work._replace(team=team.words), team


@pytest.mark.parametrize("which", [0, -1])
def test_every_thread_reports_a_folded_element(which):
    numbering, work, team = iteration_with_team()
    system, state = (built := WIDE.build()).system, built.state
    straight = work.psi.copy()
    work.psi[system.elements.frames[which]] = [
        (0.0, 0.0, -1.0),
        (0.0, 0.0, 1e3),
    ]  # by more than pi relative to each other
    with running_threads(team):
        assert done(MOVE | ADD, system, numbering, state, work, H) == FOLDED
        work.psi[:] = straight
        assert done(MOVE | ADD, system, numbering, state, work, H) == 0


def test_element_partitions_share_no_frame():
    system = WIDE.build().system
    elements, numbering = system.elements, number_for_solver(system)
    lanes = element_lanes(elements, numbering)
    assert len(lanes.parts) > 3
    assert lanes.parts[-1] < len(lanes.rows)  # some are not in any part
    assert len(np.unique(lanes.lane)) == len(elements.length)
    part = np.searchsorted(lanes.parts[1:], lanes.lane // 8, side="right")
    for frame in range(1, len(system.frames.mass)):
        parts_at_frame = part[(elements.frames == frame).any(axis=1)]
        assert len(np.unique(parts_at_frame[parts_at_frame < len(lanes.parts) - 1])) <= 1


def test_too_small_pivot_stops_all_threads():
    numbering, work, team = iteration_with_team()
    matrix = work.values.copy()
    columns = np.repeat(np.arange(numbering.size), np.diff(numbering.indptr))
    for frame in (2, len(numbering.frame) - 1):  # at both ends of the tree
        work.values[:] = matrix
        a = numbering.frame[frame]
        diagonal = (columns == a) & (numbering.indices >= a) & (numbering.indices < a + 6)
        work.values[: len(diagonal)][diagonal] = 0.0
        with running_threads(team):
            assert factor(numbering, work) == 0
            assert work.integers[0] == 0  # by the sparse solver
            work.values[:] = matrix
            assert factor(numbering, work) == 0  # the next one succeeds
            assert work.integers[0] == 1
            assert solve(numbering, work) == 0


def test_nan_values_leave_no_thread_waiting():
    model = net(rows=6, fields=6)
    model.add_force("push", model.rods["row0"].end, lambda t: (0.0, 0.0, np.nan if t > 2.5 * H else 0.0))
    with pytest.raises((ConvergenceError, ModelError)):
        simulate(model, 10 * H, H, threads=2)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_threads_end_with_every_march(error):
    _, _, team = iteration_with_team(3)
    before = threading.active_count()

    def march():
        with running_threads(team):
            assert threading.active_count() == before + 2
            raise error

    with pytest.raises(error):
        march()
    assert threading.active_count() == before


@pytest.mark.parametrize(("owner", "name"), [(teams, "_serve"), (threading.Thread, "start")])
def test_thread_that_fails_to_start_is_not_waited_for(owner, name, monkeypatch):
    """The march continues with one thread."""
    expected, _ = run_steps(1)

    def lost(*_):
        raise RuntimeError("can't start new thread")

    built = WIDE.build()
    march = Stepper(built.system, H, load_values=built.load_values, threads=2)
    monkeypatch.setattr(owner, name, lost)
    monkeypatch.setattr(threading, "excepthook", lambda *_: None)
    state, _ = march.advance(march.start(built.state), 0, 6)
    assert march.work.team[GIVEN] == 0
    monkeypatch.undo()
    repeated, _ = march.advance(march.start(built.state), 0, 6)
    assert march.work.team[GIVEN] > 0  # the next one has its threads
    for one, other, expected_array in zip(state, repeated, expected, strict=True):
        assert np.array_equal(one, expected_array)
        assert np.array_equal(other, expected_array)


@nogil_kernel
def _wait(words, sleep):
    return wait_for(words, 0, 1, words, FAILED, 1, sleep)


@nogil_kernel
def _tell(words, place):
    store_flag(words, place, 1 + load_flag(words, place))


@pytest.mark.parametrize(("place", "expected_status"), [(0, 0), (FAILED, 1)])
def test_flag_ends_the_wait_of_a_thread(place, expected_status):
    words, status = np.zeros(FAILED + 1, np.int64), []
    other = threading.Thread(target=lambda: status.append(_wait(words, sleep_arguments())))
    other.start()
    _tell(words, place)
    other.join(10.0)
    assert status == [expected_status]
