"""Orders of the multisymplectic box schemes: compared with `em` and exact waves, and of the local laws along their runs."""

import numpy as np
import pytest

from benchmarks.multisymplectic_boxes import ROD, SCHEMES, by_em, flight, flown, law_norms
from discretization.multisymplectic.grid import grid
from discretization.multisymplectic.local_law_residuals import local_law_residuals, nodal_states
from discretization.multisymplectic.time_integration import integrate

ORDER = {"Preissmann, levels": 2, "Euler box": 1, "variational box": 2}
FINE = 64


@pytest.fixture(scope="module")
def positions():
    """Nodes of the flight by the SE(3) element and `em4`: the space error is a sixteenth of that of 16 elements."""
    return by_em(FINE).rod("rod").r[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDER)
def test_flight_end_state_converges_to_em(name, positions):
    sizes = (16, 32) if name == "Euler box" else (8, 16)
    errors = []
    for n in sizes:
        scheme, run = flown(name, n)
        u, _ = scheme.parts(run.states[-1])
        errors.append(np.abs(u[:, :3] - positions[:: FINE // n]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDER[name], abs=0.2)
    assert errors[1] < 2e-3  # of a flight distance of 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDER)
def test_local_laws_hold_to_the_order_of_the_scheme(name):
    sizes = (8, 16) if name == "Preissmann, levels" else (16, 32)
    coarse, fine = (law_norms(name, n) for n in sizes)
    assert np.log2(coarse / fine) == pytest.approx(ORDER[name] * np.ones(4), abs=0.35)


@pytest.mark.slow
def test_local_laws_of_an_em_run_hold_to_order_2():
    coarse, fine = (law_norms("em", n) for n in (16, 32))
    assert np.log2(coarse / fine) == pytest.approx(2 * np.ones(4), abs=0.3)


def stretch_wave(n, ends=("periodic", "periodic")):
    """A travelling wave of stretch along a straight rod, exact at any amplitude, at t = 0."""
    s, k, c = np.linspace(0, 1, n + 1), 2 * np.pi, np.sqrt(4.0)
    q = np.tile([1.0, 0, 0, 0], (n + 1, 1))
    x, v = s + 0.05 * np.cos(k * s), 0.05 * k * c * np.sin(k * s)
    return grid(ROD, 1.0, x[:, None] * [1, 0, 0], q, v[:, None] * [1, 0, 0], 0 * q, ends)


@pytest.mark.parametrize("name", ORDER)
def test_travelling_wave_converges_with_the_scheme_order(name):
    sizes, errors = (17, 33), []
    for n in sizes:
        scheme = SCHEMES[name](stretch_wave(n))
        h = 0.2 / n
        run = integrate(scheme, scheme.start(), h, n)
        s, t = np.arange(n) / n, run.t[-1]
        exact = s + 0.05 * np.cos(2 * np.pi * (s - 2.0 * t))
        errors.append(np.abs(scheme.parts(run.states[-1])[0][:, 0] - exact).max())
    order = np.log(errors[0] / errors[1]) / np.log(sizes[1] / sizes[0])
    assert order == pytest.approx(ORDER[name], abs=0.2)


def test_rates_of_a_run_are_derivatives_of_its_motion():
    """Velocities by central differences equal the initial ones at the start of the flight, to order 2."""
    g = flight(8)
    scheme = SCHEMES["variational box"](g)
    run = integrate(scheme, scheme.start(), 1e-3, 2)
    t, r, q, v, Om = nodal_states(scheme, run)
    assert (t.shape, r.shape, q.shape) == ((1,), (1, 9, 3), (1, 9, 4))
    assert np.abs(v[0] - g.u_t[:, :3]).max() < 5e-2
    assert np.abs(Om[0] / 2 - g.u_t[:, 4:]).max() < 1e-2
    laws = local_law_residuals(scheme, integrate(scheme, scheme.start(), 1e-3, 3))
    assert laws.energy.shape == (1, 7)
