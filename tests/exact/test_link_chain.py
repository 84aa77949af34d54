"""A chain of rings that are linked by contact alone."""

from __future__ import annotations

import numpy as np
import pytest

from examples.contact import link_chain
from rodsim import equilibrium

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


def test_each_link_of_a_chain_carries_the_weight_of_all_below():
    statics = equilibrium(link_chain.model(3))
    for k in (1, 2):
        below = (3 - k) * link_chain.MASS * link_chain.G
        assert statics.contact(f"link {k}").force[-1] == pytest.approx([0.0, 0.0, -below], abs=1e-8)
        assert statics.body(f"link {k}").r[-1, :2] == pytest.approx(0.0, abs=1e-9)


def test_swinging_chain_conserves_energy_and_loses_no_link():
    """The links collide: some are free of the one above for a while, and none comes off."""
    run = link_chain.run(3, 1.0, 0.12, 2e-4, progress=False)
    assert np.ptp(run.energy["total"]) < 1e-12 * run.energy["kinetic"].max()
    assert run.energy["spring"].max() > 0.1 * run.energy["kinetic"].max()
    assert link_chain.apart(run).max() < link_chain.PITCH + 1e-3
    assert run.contact("link 1").depth.max() > 1e-4
    assert run.contact("link 2").gap.max() > 0.0
