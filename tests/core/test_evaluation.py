"""Interactions of stored states: rates and gradients against differences of values, precision far from the origin."""

import numpy as np
import pytest

from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions import evaluation
from rigid.interactions.constraints import (
    CONSTRAINTS,
    MAX_CACHED,
    facts,
    first_rows,
    groups_of,
    number_of,
    residuals,
    rows_of,
)
from rigid.interactions.kind_registry import KindRegistry
from rigid.interactions.kinds import group, pack_groups
from rigid.interactions.screw import SCREWED_POINTS
from rigid.interactions.twist_constraint import CROSSED_DIRECTIONS
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Constraints, State
from tests.support.interactions import FREE, names, numbers

N = 4  # frames


def states(rng, count=3):
    """Many states of N frames with similar orientations."""
    quat = quaternions.normalize(np.array([1.0, 0, 0, 0]) + 0.4 * rng.standard_normal((count, N, 4)))
    r, v, Omega = rng.standard_normal((3, count, N, 3))
    return State(r, quat, v, Omega, *(np.zeros((count, 0)),) * 3, np.zeros((count, 2)))


def two_interactions(kind, rng):
    """Two interactions of this kind."""
    X = np.stack([numbers(kind, rng) for _ in range(2)])
    return [group(kind, np.array([[0, 2], [3, 1]]), X, max(kind.rows, 1) * np.arange(2))]


def moved(state, h, v, omega):
    rotation = quaternions.from_rotation_vector(h * omega)
    return state.r + h * v, quaternions.multiply(rotation, state.quat)


@pytest.mark.parametrize("kind", FREE, ids=names)
def test_rates_are_the_changes_of_values_along_the_motion(kind):
    rng = np.random.default_rng(1)
    state, groups, h = states(rng), two_interactions(kind, rng), 1e-6
    omega = quaternions.rotate(state.quat, state.Omega)
    ahead, behind = (evaluation.values(groups, *moved(state, s, state.v, omega)) for s in (h, -h))
    slope = (ahead - behind) / (2 * h)
    assert np.abs(slope).min() > 1e-3  # zeros would test nothing
    assert evaluation.rates(groups, state) == pytest.approx(slope, rel=1e-6, abs=1e-7)  # of the difference


@pytest.mark.parametrize("kind", FREE, ids=names)
def test_gradients_are_forces_and_spatial_torques_of_each_frame(kind):
    """Move one frame at a time along one axis at a time."""
    rng = np.random.default_rng(2)
    state, groups, h = states(rng, 1), two_interactions(kind, rng), 1e-6
    actual = evaluation.gradients(groups, state.r, state.quat)[0]
    rows = max(kind.rows, 1)
    for place in np.ndindex(N, 6):
        unit = np.zeros((1, N, 6))
        unit[0][place] = 1.0
        ahead, behind = (
            evaluation.values(groups, *moved(state, s, unit[..., :3], unit[..., 3:])) for s in (h, -h)
        )
        expected, f = ((ahead - behind) / (2 * h))[0], place[0]
        gradient = np.zeros(2 * rows)
        for row, a in np.argwhere(groups[0].frames == f):
            gradient[row * rows : (row + 1) * rows] = actual[row * rows : (row + 1) * rows, a, place[1]]
        assert gradient == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("kind", FREE, ids=names)
def test_no_digits_are_lost_far_from_the_origin(kind):
    """A shift by a power of two that rounds no position leaves the values bit-identical."""
    rng = np.random.default_rng(3)
    state, groups = states(rng), two_interactions(kind, rng)
    near = state._replace(r=np.round(state.r * 2.0**20) / 2.0**20)
    far = near._replace(r=near.r + 2.0**30, v=np.round(near.v * 2.0**20) / 2.0**20 + 2.0**30)
    near = near._replace(v=far.v - 2.0**30)
    for evaluate in (
        lambda s: evaluation.values(groups, s.r, s.quat),
        lambda s: evaluation.gradients(groups, s.r, s.quat),
        lambda s: evaluation.rates(groups, s),
    ):
        assert np.array_equal(evaluate(near), evaluate(far))


@pytest.mark.parametrize("kind", FREE, ids=names)
def test_batch_evaluation_is_bitwise_that_of_single_states(kind):
    rng = np.random.default_rng(4)
    state, groups = states(rng), two_interactions(kind, rng)
    together = evaluation.rates(groups, state)
    single = [evaluation.rates(groups, State(*(array[k] for array in state[:8]))) for k in range(3)]
    assert np.array_equal(together, np.stack(single))


def test_evaluation_of_no_interactions_is_empty():
    state = states(np.random.default_rng(5))
    assert evaluation.values([], state.r, state.quat).shape == (3, 0)
    assert evaluation.gradients([], state.r, state.quat).shape == (3, 0, 0, 6)


def test_rows_of_different_kinds_follow_the_constraint_order():
    """A constraint alone gives its own rows of the joint evaluation."""
    rng = np.random.default_rng(6)
    kinds = np.array([DISTANCE, COINCIDENT, ALONG, COINCIDENT, PERPENDICULAR])
    frames = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [1, 3]])
    together = Constraints(
        kinds, frames, *rng.standard_normal((4, 5, 3)), rng.standard_normal(5), np.arange(5)
    )
    state = states(rng)
    g = evaluation.values(groups_of(together), state.r, state.quat)
    assert list(rows_of(together)) == [1, 3, 1, 3, 1]
    for c, (first, rows) in enumerate(zip(first_rows(together), rows_of(together), strict=True)):
        one = groups_of(Constraints(*(array[c : c + 1] for array in together)))
        single = evaluation.values(one, state.r, state.quat)
        assert np.array_equal(g[:, first : first + rows], single)


@pytest.mark.parametrize("repeats", [1, 1 + MAX_CACHED // 4])
def test_constraint_residuals_are_bitwise_the_group_values(repeats):
    """Tables of other numbers, other frames, one kind more or second directions, one after the other."""
    rng = np.random.default_rng(8)
    state, kinds = states(rng), np.tile([DISTANCE, COINCIDENT, PERPENDICULAR, ALONG], repeats)
    c = len(kinds)

    def some_of(kind, frames, **settings):
        columns = *rng.standard_normal((4, len(kind), 3)), rng.standard_normal(len(kind))
        return Constraints(kind, frames, *columns, np.arange(len(kind)), **settings)

    frames = np.stack([np.arange(c) % N, (1 + np.arange(c)) % N], axis=1)
    screw, crossed = number_of(SCREWED_POINTS), number_of(CROSSED_DIRECTIONS)
    second = {"Wa": rng.standard_normal((c, 3)), "Wb": rng.standard_normal((c, 3))}
    tables = [some_of(kinds, frames), some_of(kinds, frames), some_of(kinds, frames[:, ::-1].copy())]
    tables += [
        some_of(np.roll(kinds, 1), frames),
        some_of(kinds[1:], frames[1:]),
        some_of(kinds[:0], frames[:0]),
    ]
    tables += [some_of(np.where(kinds == ALONG, kind, kinds), frames, **second) for kind in (screw, crossed)]
    for table in (*tables, *tables):
        expected = evaluation.values(groups_of(table), state.r, state.quat)
        assert residuals(table, state.r, state.quat).tobytes() == expected.tobytes()
        assert residuals(table, state.r[1], state.quat[1]).tobytes() == expected[1].tobytes()


def test_replaced_kind_has_its_residuals(monkeypatch):
    rng = np.random.default_rng(9)
    state = states(rng)
    one = np.array([DISTANCE]), np.array([[0, 1]]), *rng.standard_normal((4, 1, 3)), np.array([0.3])
    table = Constraints(*one, np.zeros(1, np.int64))
    before = residuals(table, state.r, state.quat)
    replaced = KindRegistry(CONSTRAINTS)
    replaced[DISTANCE] = CONSTRAINTS[ALONG]._replace(name="another")
    monkeypatch.setattr("rigid.interactions.constraints.CONSTRAINTS", replaced)
    after = residuals(table, state.r, state.quat)
    assert np.array_equal(after, evaluation.values(groups_of(table), state.r, state.quat))
    assert not np.array_equal(after, before)


def test_residuals_at_too_few_frames_are_rejected():
    rng = np.random.default_rng(10)
    state = states(rng)
    columns = *rng.standard_normal((4, 1, 3)), np.zeros(1), np.zeros(1, np.int64)
    with pytest.raises(ModelError, match="acts on frame 4"):
        residuals(Constraints(np.array([COINCIDENT]), np.array([[0, N]]), *columns), state.r, state.quat)


def test_successive_user_kinds_are_distinct():
    """A new kind may have the memory address of a deleted one."""
    kind = FREE[0]
    X = numbers(kind, np.random.default_rng(7))[None]
    for signal in range(200):
        element = group(kind._replace(signal=signal), np.arange(kind.arity)[None], X)
        assert pack_groups([element]).kinds[0].signal == signal


def test_constraint_numbers_in_files_are_stable():
    names = [CONSTRAINTS[number].name for number in (COINCIDENT, PERPENDICULAR, ALONG, DISTANCE)]
    assert names == [
        "coincident points",
        "perpendicular directions",
        "point along direction",
        "points at a distance",
    ]
    assert list(facts([DISTANCE, COINCIDENT], "rows")) == [1, 3]
