"""Closed forms of rod elements that `em` uses in addition to their duals: forces and derivatives compared with the duals and
complex steps.
"""

import numpy as np
import pytest

from tests.support.rod_closed_forms import assembled
from tests.support.rods import SPANS


@pytest.mark.parametrize("size", [1e-9, 1e-2, 0.3])
@pytest.mark.parametrize("damping", [False, True])
@pytest.mark.parametrize("element", SPANS)
def test_higher_order_closed_forms_equal_the_duals(element, damping, size):
    by_form, generic_groups = (assembled(element, closed, damping, size) for closed in (True, False))
    for one, other in zip(by_form[:2], generic_groups[:2], strict=True):
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()
    # a difference of strains, squared
    assert by_form[2] == pytest.approx(generic_groups[2], rel=1e-14 / size + 1e-13)
    assert (by_form[2] > 0.0) == damping
