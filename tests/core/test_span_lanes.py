"""Spans in lanes: each has the forces, tangent and strains that the closed form of one span gives."""

import numpy as np
import pytest

from discretization.assembly.rod_spans import span_work, strains_over_step
from discretization.space.closed_spans import SPAN, STRAINS_END, STRAINS_START
from rodsim import Model, Section
from tests.support.steps_in_lanes import H, assembled, in_a_step

SECTION = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=50, EI=(80, 60), mass_per_length=2.0, inertia_per_length=(0.5, 0.6, 0.7)
)


def stirred(n, element="relative(2)", full=False, viscous=False, consistent=False, turn=0.05, held=False):
    """System, numbering, state and workspace of rods of n and 2 spans, in the middle of a step."""
    rng = np.random.default_rng(n)
    model = Model("stirred", gravity=(0, 0, -9.81))
    order = int(element[-2])
    settings = {"element": element, "mass": "consistent" if consistent else "lumped"}
    rod = model.add_rod("rod", [(0, 0, 0), (0.1 * n, 0.02 * n, 0)], SECTION, n_elements=order * n, **settings)
    model.add_rod("other", [(0, 0, 1), (0.2, 0, 1)], SECTION, n_elements=2 * order, **settings)
    model.add_joint("clamp", "clamp", rod.end)
    built = model.build()
    state, spans = built.state, built.system.spans
    factor = 0.1 * rng.standard_normal((len(spans.weight), 6, 6))
    if full:
        factor = factor @ factor.swapaxes(1, 2)
        spans = spans._replace(stiffness=spans.stiffness + 1e3 * factor)
    if viscous:
        some = (np.arange(len(spans.weight)) >= order)[:, None, None]
        spans = spans._replace(damping=0.01 * some * spans.stiffness)
    spans = spans._replace(strain0=0.1 * rng.standard_normal(spans.strain0.shape))
    frames = built.system.frames
    if held:  # a fixed frame has no place in the matrix, and the others of its span no panel
        frames = frames._replace(
            fixed=np.where(np.arange(len(frames.fixed)) == spans.frames[0, 0], 1, frames.fixed)
        )
    system = built.system._replace(spans=spans, frames=frames)
    return in_a_step(system, state, turn, rng)


def alone(system, numbering, work):
    """The same workspace, whose spans go one by one."""
    return work._replace(spans=span_work(system, numbering, eight=False))


CASES = [
    (2, {}),
    (6, {"full": True}),
    (7, {"viscous": True}),
    (14, {"full": True, "viscous": True, "consistent": True, "turn": 0.12}),
    (9, {"held": True}),
    (7, {"element": "relative(4)", "viscous": True}),
]


@pytest.mark.parametrize(("n", "how"), CASES)
def test_eight_at_a_time_are_the_same_as_one_by_one(n, how):
    model = stirred(n, **how)
    system, numbering, state, work = model
    one_by_one = alone(system, numbering, work)
    assert len(work.spans.lanes.order) == -(-(n + 2) // 8)
    assert all(work.spans.lanes.together) is not how.get("held", False)
    assert len(work.spans.alone) == len(one_by_one.spans.lanes.order) == 0
    residual, matrix, status = assembled(system, numbering, state, one_by_one)
    found, entries, status_of_eight = assembled(*model)
    assert status == status_of_eight == 0
    assert np.abs(found - residual).max() < 1e-14 * np.abs(residual).max()
    assert np.abs(entries - matrix).max() < 1e-14 * np.abs(matrix).max()
    assert np.array_equal(entries != 0.0, matrix != 0.0)  # nothing stands where the matrix has no entries


@pytest.mark.parametrize(("n", "how"), [CASES[3], CASES[5]])
def test_strains_of_both_ends_of_a_step_are_those_of_the_span_alone(n, how):
    system, numbering, state, work = stirred(n, **how)
    poses = state.r, work.dr, work.R0, work.R1
    both = []
    for spans in (work.spans, alone(system, numbering, work).spans):
        found = {}
        for m in spans.sequence:
            strains_over_step(system.spans, spans, poses, m, 1.0 / H)
            found[m] = spans.K[STRAINS_START : STRAINS_END + 1, : 6 * spans.order[m]].copy()
        both.append([found[m] for m in range(len(found))])
    assert np.abs(np.array(both[0]) - np.array(both[1])).max() < 1e-13


def test_each_span_has_one_place_and_last_lanes_repeat_the_last():
    work = stirred(9)[3].spans
    places = work.lanes.places[:, SPAN].ravel()
    assert places.tolist() == [*range(11), *5 * [10]]
    assert work.lane.tolist() == list(range(11))
    assert work.sequence.tolist() == list(range(11))


def test_blocks_that_are_not_below_each_other_are_found_too():
    model = stirred(14)
    own = model[3].spans.lanes
    assert own.together.any()
    _, beside, _ = assembled(*model)
    own.together[:] = 0
    assert np.array_equal(assembled(*model)[1], beside)


def test_numbers_that_change_are_seen():
    system, numbering, state, work = stirred(6, viscous=True)
    numbers, viscosity = work.spans.numbers, work.spans.viscosity
    for k in range(2):
        numbers[-60:], viscosity[-60:] = (1.0 + k) * numbers[-60:], 0.3 + viscosity[-60:]
        one_by_one = alone(system, numbering, work)
        one_by_one.spans.numbers[:], one_by_one.spans.viscosity[:] = numbers, viscosity
        residual, _, _ = assembled(system, numbering, state, one_by_one)
        found, _, _ = assembled(system, numbering, state, work)
        assert np.abs(found - residual).max() < 1e-14 * np.abs(residual).max()


@pytest.mark.parametrize("which", [0, 7, 8, 10])
def test_one_span_that_folds_is_told(which):
    system, numbering, state, work = stirred(9)
    assert assembled(system, numbering, state, work)[2] == 0
    end = 2 if which != 8 else 0  # frame 0 is that of the neighbour too
    work.q1[system.spans.frames[which, end]] *= -1.0  # the other of both quaternions of a turn: half + pi
    assert assembled(system, numbering, state, work)[2] == 1


def test_few_spans_go_alone():
    work = stirred(1)[3].spans
    assert work.alone.tolist() == [0, 1, 2]
    assert stirred(2)[3].spans.alone.size == 0


def test_what_is_beyond_linear_goes_alone():
    system, numbering, _, work = stirred(9)
    spans = system.spans._replace(law=np.where(np.arange(len(system.spans.weight)) < 2, 0, -1))
    spans = spans._replace(parameters=np.full((len(spans.weight), 2), 2.0))
    found = span_work(system._replace(spans=spans), numbering)
    assert found.alone.tolist() == [0]
    assert found.lane.tolist() == [-1, *range(10)]
    assert work.spans.alone.size == 0
