"""The momenta of a chart result are the conserved ones: they are formed from its momenta, not from velocities."""

import numpy as np
import pytest

from rodsim import Box, Model, signals, simulate


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("integrator", ["EML-kappa"])
def test_result_angular_momentum_is_the_conserved_one(integrator, driven):
    """A driven frame has no mass and does not contribute."""
    model = Model("box")
    if driven:
        model.add_driven("shaker", (0, 0, 2), displacement=signals.Sine(0.2, 3.0).along((1, 0, 0)))
    model.add_body(
        "box", Box(1.0, 0.6, 0.2, mass=3.0), (0.4, 0, 0), (1, 0, 0, 0), (0.3, 0.2, 0), (1.0, 6.0, 2.0)
    )
    result = simulate(model, 1.0, 0.02, integrator)
    L, P = result.angular_momentum, result.linear_momentum
    assert L.shape == P.shape == (result.n_outputs, 3)
    assert np.abs(L - L[0]).max() < 1e-11 * np.abs(L).max()
    assert np.abs(P - P[0]).max() < 1e-11 * np.abs(P).max()
    assert P[0] == pytest.approx([0.9, 0.6, 0.0], abs=1e-12)
    assert np.array_equal(result.to_xarray([]).angular_momentum.values, L)
    assert np.array_equal(result.to_xarray([]).linear_momentum.values, P)
    velocity_based = np.stack([result.audit_column(name) for name in ("Lx", "Ly", "Lz")], axis=1)
    assert np.abs(velocity_based - velocity_based[0]).max() > 1e-6 * np.abs(L).max()  # of order h^2
