"""Every interaction kind and every state field is handled by every consumer.

A consumer either handles a model or rejects it by name, as listed in `REFUSED`. This test fails for a registered kind
that occurs in no model, a block of internal variables that no model has, and an outdated entry of `REFUSED`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discretization.interaction_groups import registered_kinds
from discretization.interaction_kinds import INTERACTIONS
from discretization.internal_variables import WIDTHS, internal_variables
from rigid.errors import ModelError
from rodsim import ResultError
from tests.support.completeness import MODELS, T_END
from tests.support.consumers import CONSUMERS, REFUSED, acting_kinds, run

pytestmark = pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_passes_every_consumer_or_is_rejected_by_name(
    name: str, consumer: str, tmp_path: Path
) -> None:
    refused = REFUSED.get((name, consumer))
    if refused is None:
        CONSUMERS[consumer](name, tmp_path)
        return
    with pytest.raises((ModelError, ResultError), match=refused):
        CONSUMERS[consumer](name, tmp_path)


def test_every_registered_kind_is_active_in_a_model() -> None:
    ours = {kind.name for kinds in registered_kinds().values() for kind in kinds}
    acting = {name for make in MODELS.values() for name in acting_kinds(make().build())}
    behind = {
        kind.name for kind in INTERACTIONS[INTERACTIONS.n_fixed :]
    }  # gears of any size, and kinds of scripts, here of tests
    assert ours == acting - behind
    assert acting & {kind.name for kind in INTERACTIONS[INTERACTIONS.n_fixed : INTERACTIONS.built_in]}


def test_every_internal_variable_block_is_covered_by_a_model() -> None:
    rows = np.zeros(len(WIDTHS))
    for make in MODELS.values():
        built = make().build()
        rows += internal_variables(built.system)
    assert dict(zip(WIDTHS, rows > 0, strict=True)) == dict.fromkeys(WIDTHS, True)
    assert run("forces", T_END, "em-d(0.5)").layout.n_memory > 0
