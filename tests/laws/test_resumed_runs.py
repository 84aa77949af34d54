"""A resumed run is bit-identical to the uninterrupted one, with every family of integrators.

`test_completeness.py` tests `em` with every kind of interaction.
"""

import numpy as np
import pytest

from rigid.system import State
from rodsim import Result, audit, simulate
from tests.support.completeness import MODELS as EVERY_KIND
from tests.support.joined_bodies import chain
from tests.support.mechanisms import arms

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning")
drives, shaken, loaded = (EVERY_KIND[name] for name in ("drives", "shaken", "loaded"))
RUNS = [(chain, name, None) for name in ("em4", "em8", "em-ggl", "em6-ggl")]
RUNS += [(arms, name, None) for name in ("EML", "GGL-EM", "EML-kappa")]
RUNS += [(arms, "mG(2)", "quaternion-alpha")]
RUNS += [(make, name, None) for make in (drives, shaken) for name in ("em-ggl", "EML-kappa", "GGL-EM")]
RUNS += [(make, "em-d(0.6)", None) for make in (arms, shaken, loaded)]


@pytest.mark.parametrize(("make", "integrator", "chart"), RUNS)
def test_resumed_run_is_bitwise_the_uninterrupted_run(make, integrator, chart, tmp_path):
    path = tmp_path / "parts.vtkhdf"
    options = {"dt": 0.01, "integrator": integrator, "chart": chart, "output_every": 3, "progress": False}
    uninterrupted = simulate(make(), 0.12, **options)
    simulate(make(), 0.06, output=path, **options)
    simulate(make(), 0.12, output=path, resume=True, **options)
    parts = Result.load(path)
    assert np.array_equal(parts.t, uninterrupted.t)
    states = (result.states(slice(None)) for result in (parts, uninterrupted))
    for field, one, other in zip(State._fields, *states, strict=True):
        assert np.array_equal(one, other), field
    assert audit(parts).ok, audit(parts).text()
