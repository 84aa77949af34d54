"""Frames inside rod elements of order p are eliminated before the band solver: the same solution, a band that knows no order."""

import numpy as np
import pytest

from discretization.assembly.numbering import number
from discretization.linear.narrow import narrow_scratch
from discretization.linear.substructures import condense, expand_solution, reduce_rhs
from discretization.space.rod_elements import order_of
from discretization.time.newton import factor, solve
from tests.support.assembly import dense
from tests.support.closed_spans import H
from tests.support.iterations import iterating
from tests.support.rods import SPANS, free_rod
from tests.support.substructures import HIGHER, model_of, two_panels


def solved(element, hidden=False, condense=True, joined=True):
    """Numbering, dense matrix, right-hand side and what the solver makes of it, in a random iteration of a step."""
    built = (model_of(element) if joined else free_rod(element, 12)).build()
    numbering, rng = number(built.system, hidden=hidden, condense=condense), np.random.default_rng(4)
    work = iterating(built, numbering, H, rng, 0.1, hidden)
    matrix, rhs = dense(numbering, work.values), rng.normal(size=numbering.size)
    work.rhs[:] = rhs
    assert factor(numbering, work) == 0
    solve(numbering, work)
    return numbering, matrix, rhs, work.rhs.copy()


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("element", SPANS)
def test_the_solution_is_that_of_the_whole_matrix(element, hidden):
    numbering, matrix, rhs, found = solved(element, hidden)
    assert len(numbering.substructures.start) == (0 if order_of(element) == 1 else 12 // order_of(element))
    exact = np.linalg.solve(matrix, rhs)
    assert np.abs(found - exact).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("element", HIGHER)
def test_panels_hold_what_the_band_would(element, hidden):
    """Up to the order of the unknowns, frame by frame."""
    whole, condensed = (solved(element, hidden, condense)[:2] for condense in (False, True))
    at = [
        np.concatenate([numbering.frame[1:][:, None] + np.arange(6), numbering.row[:, None]], axis=None)
        for numbering, _ in (whole, condensed)
    ]
    one, other = (
        matrix[np.ix_(place, place)] for (_, matrix), place in zip((whole, condensed), at, strict=True)
    )
    assert np.abs(one - other).max() < 1e-13 * np.abs(one).max()


@pytest.mark.parametrize("element", HIGHER)
def test_the_band_of_a_rod_knows_no_order(element):
    assert solved(element, joined=False)[0].band == 11


@pytest.mark.parametrize("element", HIGHER)
def test_a_frame_that_something_else_acts_on_stays_in_the_band(element):
    built = free_rod(element, 12).build()
    p = built.system.spans.order[0]
    inner, other = built.system.spans.frames[0, 1], built.system.spans.frames[-1, 0]
    constraints = model_of(element).build().system.constraints
    one = constraints._replace(
        **{name: getattr(constraints, name)[:1].copy() for name in constraints._fields}
    )
    one.frames[0] = inner, other
    numbering = number(built.system._replace(constraints=one))
    assert len(numbering.substructures.start) == 12 // p - 1
    assert numbering.frame[inner] < numbering.banded


@pytest.mark.parametrize("element", HIGHER)
def test_frames_of_an_element_that_meet_something_together_stay_in_the_band(element):
    """Two nodes on a floor have a block of their own, which a panel has no place for."""
    model = free_rod(element, 12)
    rod = model.rods["rod"]
    floor = model.add_plane("floor", model.ground.at((0.0, 0.0, -9.0)), (0, 0, 1))
    model.add_contact("on", rod, floor, stiffness=1e4, radius=0.01)
    assert len(number(model.build().system).substructures.start) == 0


def test_rows_are_exchanged_inside_a_substructure():
    rng = np.random.default_rng(5)
    values, S, full, width, n_band = two_panels(rng)
    n = len(full)
    pivots, scratch, rhs = np.zeros(n, np.int32), np.zeros(narrow_scratch(S.height.max())), rng.normal(size=n)
    x = rhs.copy()
    assert condense(values, S, width - 1, pivots, scratch) == 0
    assert pivots.any()
    band = values[: n_band * width].reshape(n_band, width)
    schur = np.array([[band[j, 14 + i - j] for j in range(n_band)] for i in range(n_band)])
    inner, outer = slice(n_band, n), slice(0, n_band)
    exact = full[outer, outer] - full[outer, inner] @ np.linalg.solve(full[inner, inner], full[inner, outer])
    assert schur == pytest.approx(exact, rel=1e-11, abs=1e-11 * np.abs(exact).max())
    reduce_rhs(values, S, pivots, x)
    x[:n_band] = np.linalg.solve(schur + 10 * np.eye(n_band), x[:n_band])
    expand_solution(values, S, x)
    full[outer, outer] += 10 * np.eye(n_band)
    assert full @ x == pytest.approx(rhs, abs=1e-9)


def test_a_singular_inside_is_reported():
    values, S, _, width, _ = two_panels(np.random.default_rng(6))
    values[S.start[1] : S.start[1] + S.inner[1]] = 0.0  # a column
    assert (
        condense(values, S, width - 1, np.zeros(18, np.int32), np.zeros(narrow_scratch(S.height.max()))) == 1
    )
