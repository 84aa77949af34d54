"""Frames inside rod elements of order p are eliminated before the band solver: the same solution, a band that knows no order."""

import numpy as np
import pytest

from discretization.assembly.numbering import number
from tests.support.assembly import dense
from tests.support.closed_spans import H
from tests.support.iterations import iterating
from tests.support.rods import free_rod
from tests.support.substructures import HIGHER, model_of


def assembled(element, hidden, condense):
    """Numbering and dense matrix in a random iteration of a step."""
    built = model_of(element).build()
    numbering = number(built.system, hidden=hidden, condense=condense)
    return numbering, dense(
        numbering, iterating(built, numbering, H, np.random.default_rng(4), 0.1, hidden).values
    )


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("element", HIGHER)
def test_panels_hold_what_the_band_would(element, hidden):
    """Up to the order of the unknowns, frame by frame."""
    whole, condensed = (assembled(element, hidden, condense) for condense in (False, True))
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
    assert number(free_rod(element, 12).build().system).band == 11


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
