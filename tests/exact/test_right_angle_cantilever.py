"""The right-angle cantilever of Simo and Vu-Quoc (1988) with every element, against its motion to six digits."""

import numpy as np
import pytest

from benchmarks.elements import right_angle
from rodsim import simulate

LENGTH, DIGITS = 20.0, 1.5e-7  # length of each leg; accuracy of the reference, over the length
T_END = 4.0
# displacements of elbow and tip at t = 4 by two elements of order 16 a leg; of the second only z is known
SLENDER, ROUND = (20.0, 10.0, 10.0), (10.0, 10.0, 10.0)
EXACT = {
    SLENDER: [[-1.5643935, -0.42765792, 4.6420699], [0.44198191, -0.70624119, 3.5089344]],
    ROUND: [[np.nan, np.nan, 5.371495], [np.nan, np.nan, 3.564835]],
}


def error(element, inertia, n):
    """Larger deviation of elbow and tip from their reference positions, over the length; n intervals per leg."""
    model = right_angle(n, "mean", element, inertia)
    r = simulate(model, T_END, 0.04, "em4", output_every=100, progress=False).rod("rod").r
    deviations = (r[-1] - r[0])[[0, -1]] - EXACT[inertia]
    return np.sqrt(np.nansum(deviations**2, axis=1)).max() / LENGTH


@pytest.mark.parametrize(
    ("element", "order", "n", "bound"),
    [
        ("se3", 1, 8, 1.2e-3),
        ("midpoint", 1, 8, 2.2e-3),
        ("lagrange(1)", 1, 8, 5e-3),
        ("lagrange(2)", 2, 8, 3e-4),
        ("lagrange(3)", 3, 12, 4e-6),
        ("lagrange(4)", 4, 12, 1.5e-6),
        ("relative(2)", 2, 8, 8e-5),
        ("relative(4)", 4, 12, 1.5e-6),
    ],
)
@pytest.mark.parametrize("inertia", [SLENDER, ROUND], ids=["twisting slowly", "twisting as it bends"])
def test_right_angle_motion_converges_with_order_2p(element, order, n, bound, inertia):
    coarse, fine = (error(element, inertia, k) for k in (n, 2 * n))
    assert coarse < bound
    assert fine < max(coarse / 2 ** (2 * order - 1), DIGITS)
