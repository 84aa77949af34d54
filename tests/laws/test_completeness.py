"""Nothing that acts and nothing that a state keeps is forgotten: every kind and every field through every consumer.

A consumer either does what it is for with a model, or refuses it by name, as `REFUSED` lists; a kind that is registered and
that no model has, a block of own variables that none has, or a refusal that is none any more fails here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discretization.contact.search import candidates
from discretization.contact.table import points_of
from discretization.contact.windows import losses_of, windows_of
from discretization.groups import groups_of, registered
from discretization.interaction_kinds import INTERACTIONS
from discretization.own_variables import WIDTHS, own_variables
from rigid.errors import ModelError
from rodsim.building.build import Built
from rodsim.results.errors import ResultError
from tests.support.completeness import MODELS, T_END
from tests.support.consumers import CONSUMERS, run

pytestmark = pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")

_NO_RODS = ("joints", "forces", "drives", "shaken", "geared", "sliding")
# what is not there yet, or cannot be, and in which words the program says so
REFUSED: dict[tuple[str, str], str] = {
    **{(name, "local audit"): f"model '{name}' has no rods" for name in _NO_RODS},
    **{(name, "rigid twin"): f"model '{name}': has no rod to make rigid" for name in _NO_RODS},
    ("midpoints", "em-d"): r"the rod element '(midpoint|cayley\(2\))' does not tell its strains",
    **{
        (name, "GGL-EM"): f"the inverse of the mass, which couples all nodes of the rods of '{name}'"
        for name in ("loaded", "pressed", "relaxing", "on_planes", "touching")
    },
    ("loaded", "linear buckling"): "load 'dead moment' and load 'following force' .* have no potential",
    ("pressed", "linear buckling"): "no load grows with the factor; pressures are there in full",
    ("geared", "linear buckling"): "its loads change no stiffness",
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_goes_through_every_consumer_or_is_refused_by_name(
    name: str, consumer: str, tmp_path: Path
) -> None:
    refused = REFUSED.get((name, consumer))
    if refused is None:
        CONSUMERS[consumer](name, tmp_path)
        return
    with pytest.raises((ModelError, ResultError), match=refused):
        CONSUMERS[consumer](name, tmp_path)


def _acting(built: Built) -> set[str]:
    """Kinds at t = 0, with what is lost between surfaces that touch there."""
    system, state = built.system, built.state
    points = np.ascontiguousarray(points_of(system.contacts, state.r, state.quat))
    lost, _ = losses_of(
        system.contacts, windows_of(system.contacts, candidates(system.contacts, points, 0.0))
    )
    return {own.group.kind.name for own in groups_of(system, state)} | {
        INTERACTIONS[k].name for k in lost.kind
    }


def test_every_kind_that_is_registered_acts_in_a_model() -> None:
    ours = {kind.name for kinds in registered().values() for kind in kinds}
    acting = {name for make in MODELS.values() for name in _acting(make().build())}
    behind = {
        kind.name for kind in INTERACTIONS[INTERACTIONS.ours :]
    }  # gears of any size, and those of scripts, here of tests
    assert ours == acting - behind
    assert acting & {kind.name for kind in INTERACTIONS[INTERACTIONS.ours : INTERACTIONS.built_in]}


def test_every_block_of_own_variables_is_kept_by_a_model() -> None:
    rows = np.zeros(len(WIDTHS))
    for make in MODELS.values():
        built = make().build()
        rows += own_variables(built.system)
    assert dict(zip(WIDTHS, rows > 0, strict=True)) == dict.fromkeys(WIDTHS, True)
    assert run("forces", T_END, "em-d(0.5)").layout.n_memory > 0
