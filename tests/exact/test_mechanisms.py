"""Mechanisms of the IFToMM benchmarks against their exact or converged motions; all but one have redundant joints."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from examples.mechanisms.bricard import bricard, corner
from examples.mechanisms.four_bars import four_bars
from examples.mechanisms.governor import governor
from examples.mechanisms.squeezer import points, squeezer
from examples.rigid_flexible import slider_crank
from rodsim import Model, Result, audit, simulate
from rodsim.validation.driven_models import SLIDER, shaft_model, slider_crank_model
from rodsim.validation.rods import rubber_model

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")

# An audit repeats every step of a run, so round-off is asserted for every step; the longest steps are audited.

# end of the first crank: N, t -> x, y, exact
FOUR_BARS = {
    1: {
        0.5: (0.70151267891047682, 0.71265697311388615),
        1.0: (-0.26071267518365036, -0.96541643915907317),
        2.0: (0.077085471792867077, 0.99702448818395183),
    },
    40: {
        0.5: (0.68792597079077263, 0.72578086135663087),
        1.0: (-0.11535688063210990, -0.99332411130045019),
        2.0: (0.034466307300407162, 0.99940586032956296),
    },
}


def crank_end(n, t):
    """End of the first crank for any N: a pendulum of equal inertia, phi'' = m g l/J sin(phi)."""
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    swing = lambda _, y: (y[1], weight / inertia * np.sin(y[0]))  # noqa: E731
    phi = solve_ivp(swing, (0.0, t), (0.0, 1.0), method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    return np.sin(phi), np.cos(phi)


FOUR_BARS[12] = {t: crank_end(12, t) for t in (0.5, 1.0)}


def test_four_bars_move_as_a_pendulum():
    for n in (1, 40):
        for t, exact in FOUR_BARS[n].items():
            assert crank_end(n, t) == pytest.approx(exact, abs=1e-10)


BRICARD = {
    0.5: (0.968283679107, -1.22462515943, 0.75014660944),
    1.0: (0.510501461186, -1.6491675994, 0.140123114552),
    2.0: (-0.969340344775, -1.22124689496, 0.754278010771),
}
SQUEEZER = {0.03: (-0.00696303942622, -0.000718388438694, -0.0347152190499, 0.0177580938723)}  # F, G
GOVERNOR = {0.05: (0.50610089724368, 6.2350402159813), 0.5: (0.74324942478631, 5.1034154219716)}
GOVERNOR[1.0] = 0.50142092237956, 6.2711257418766  # height of the slider, rate of the shaft


class Mechanism(NamedTuple):
    """Reference of a mechanism: positions, m, by time; round-off of its joints and of its energy."""

    model: Callable[[], Model]
    exact: Mapping[float, tuple[float, ...]]
    positions: Callable[[Result, int], np.ndarray]
    joints: float
    energy: float


def crank(result, i):
    return result.body("crank 0").point(np.array([0.5, 0, 0]))[i, :2]


MECHANISMS = {
    **{  # round-off of 81 bars; of one four-bar below 1e-14
        f"{n} four-bars": Mechanism(partial(four_bars, n), FOUR_BARS[n], crank, 1e-12, 2e-11)
        for n in FOUR_BARS
    },
    "Bricard": Mechanism(bricard, BRICARD, lambda result, i: corner(result)[i], 1e-12, 1e-12),
    # 1000 rad/s at the end; of a crank of 7 mm
    "squeezer": Mechanism(
        squeezer, SQUEEZER, lambda result, i: np.concatenate([*points(result, i).values()]), 1e-13, 1e-11
    ),
    # damped springs of 8e5 N/m, no redundant joint
    "governor": Mechanism(
        governor,
        {t: (height,) for t, (height, _) in GOVERNOR.items()},
        lambda result, i: 0.5 + result.joint("rail").displacement[[i]],
        1e-12,
        1e-11,
    ),
    # three redundant equations; a crank of 0.1 m
    "slider-crank": Mechanism(
        slider_crank_model,
        {t: (x,) for t, x in SLIDER.items()},
        lambda result, i: result.body("slider").r[i, :1],
        1e-13,
        1e-12,
    ),
}


def order_of(runs, exact):
    """Mean order from the first step to the last, each half of the previous one, and the last error; runs (k, ...)."""
    errors = [np.abs(np.asarray(run) - exact).max() for run in runs]
    return np.log2(errors[0] / errors[-1]) / (len(errors) - 1), errors[-1]


@pytest.mark.parametrize(
    ("name", "t_end", "integrator", "steps", "order", "tolerance", "bound"),
    [
        ("1 four-bars", 2.0, "em", (200, 400), 2, 0.25, 2e-4),
        ("40 four-bars", 1.0, "em", (100, 200), 2, 0.25, 2e-4),
        ("1 four-bars", 2.0, "em4-ggl", (50, 100), 4, 0.25, 3e-6),
        ("12 four-bars", 1.0, "em4-ggl", (25, 50), 4, 0.25, 3e-6),
        ("Bricard", 2.0, "em", (100, 200), 2, 0.25, 1e-4),
        ("Bricard", 2.0, "em4", (40, 80), 4, 0.25, 2e-9),
        ("squeezer", 0.03, "em", (1500, 3000), 2, 0.3, 1e-6),
        ("squeezer", 0.03, "em4", (200, 400), 4, 0.3, 1e-10),
        ("squeezer", 0.03, "em-ggl", (750, 1500), 2, 0.3, 4e-6),
        ("squeezer", 0.03, "em4-ggl", (200, 400), 4, 0.3, 4e-9),
        ("governor", 1.0, "em", (500, 1000), 2, 0.3, 1e-6),
        ("governor", 1.0, "em-ggl", (500, 1000), 2, 0.3, 1e-6),
        ("slider-crank", 1.0, "em", (100, 200), 2, 0.05, 7e-5),
        ("slider-crank", 1.0, "em-ggl", (100, 200), 2, 0.05, 7e-5),
        ("slider-crank", 1.0, "em4-ggl", (50, 100, 200), 4, 0.05, 7e-9),
    ],
)
def test_mechanisms_converge_to_reference_motions_with_the_order(
    name, t_end, integrator, steps, order, tolerance, bound
):
    """Also through singular positions, where em4-ggl may have to halve a long step with 12 four-bars."""
    model, exact, positions, joints, energy = MECHANISMS[name]
    errors = []
    for n in steps:
        result = simulate(model(), t_end, t_end / n, integrator, output_every=1)
        at = [t for t in exact if t <= t_end and t in np.round(result.t, 12)]
        errors.append([np.abs(positions(result, result.index_at(t)) - exact[t]).max() for t in at])
        if n == steps[0]:
            report = audit(result)
            assert report.constraint < joints
            assert report.energy_balance < energy
        assert result.halvings.sum() <= (name == "12 four-bars")
    observed, error = order_of([max(of_run) for of_run in errors], 0.0)
    assert error < bound
    assert observed == pytest.approx(order, abs=tolerance)


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_governor_conserves_angular_momentum_and_has_the_reference_rate(integrator):
    result = simulate(governor(), 1.0, 0.002, integrator)
    rate, L = result.joint("bearing").rate, result.angular_momentum[:, 2]
    for t, (_, exact) in GOVERNOR.items():
        assert rate[result.index_at(t)] == pytest.approx(exact, abs=2e-4)
    assert pytest.approx(53.868998658418434, rel=1e-12) == L


def test_squeezer_starts_at_the_test_set_configuration():
    with pytest.warns(match="9 equations of the joints"):
        result = simulate(squeezer(), 1e-5, 1e-5)
    assert points(result, 0)["F"] == pytest.approx((0.00698667411545, -0.000431723064569), abs=1e-13)
    assert points(result, 0)["G"] == pytest.approx((-0.0339972038858, 0.016461971675), abs=1e-13)


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("GGL-EM", "director"),
        ("GGL-EM", "quaternion-alpha"),
        ("GGL-EM", "quaternion-gamma"),
        ("EML-kappa", "quaternion"),
        ("EML", "quaternion"),
        ("EM-G", "director"),
        ("mG(1)", "director"),
        pytest.param("mG(2)", "quaternion-alpha", marks=pytest.mark.slow),
    ],
)
def test_bricard_mechanism_with_its_redundant_equation_moves_in_every_chart(integrator, chart):
    """The undetermined multiplier keeps its value: it has no influence on the motion."""
    errors, order = [], 4 if integrator == "mG(2)" else 2
    for k in (10, 20) if order == 4 else (20, 40):
        result = simulate(bricard(), 0.5, 0.5 / k, integrator, chart=chart, output_every=1)
        errors.append(np.abs(corner(result)[-1] - BRICARD[0.5]).max())
        assert result.constraint_residual.max() < 1e-13
        assert np.abs(result.states(slice(0, None)).lam).max() < 40.0  # N; 30 carry the bars
        # 7 to 9 with order 4, depending on the rounding of the factors, which determines the redundant multiplier
        assert result.newton_iterations[1:].mean() < (10.0 if order == 4 else 6.0)
    assert errors[-1] < (1e-8 if order == 4 else 3e-5)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_bricard_mechanism_has_one_redundant_equation():
    with pytest.warns(match=r"1 equation of the joints 'P0', 'P1', 'P2', 'P3', 'P4', 'P5'"):
        result = simulate(bricard(), 0.02, 0.02)
    assert result.energy["total"] == pytest.approx(-29.43, abs=1e-11)


@cache
def rubber_end(k, integrator):
    result = simulate(rubber_model(8), 0.5, 0.5 / k, integrator)
    if k <= 250:
        assert audit(result).energy_balance < 1e-12
    return result.rod("rod").r[-1, -1]


@cache
def sway(k, integrator):
    result = simulate(shaft_model(8), 2.5, 2.5 / k, integrator, output_every=k // 5)
    if k <= 250:
        assert audit(result).energy_balance < 1e-9  # of 3 J: round-off of the element stiffness 1e7 N/m
    return np.array([result.body("disc").r[result.index_at(t), 1:] for t in (1.0, 1.5, 2.0, 2.5)])


@cache
def coupler(E, t_end, k, integrator):
    """Position of the slider; from rest by a moment that starts suddenly, which excites all waves of the coupler."""
    result = simulate(slider_crank.model(E, 4), t_end, t_end / k, integrator)
    if k in (40, 250):
        assert audit(result).energy_balance < 1e-11
    return result.body("slider").r[-1]


SOFT, STIFF = partial(coupler, 1e8, 0.1), partial(coupler, 8e9, 0.4)


@pytest.mark.parametrize(
    ("end", "integrator", "steps", "least", "most", "bound", "finest"),
    [  # the fastest wave along the rubber rod needs 2 ms from end to end; the sway of the disc is 7e-4 m
        (rubber_end, "em", (250, 500), 1.65, 2.35, 9e-6, (1000, "em4-ggl")),
        (rubber_end, "em-ggl", (250, 500), 1.65, 2.35, 9e-6, (1000, "em4-ggl")),
        (rubber_end, "em4-ggl", (125, 250, 500), 3.65, 4.35, 2e-9, (1000, "em4-ggl")),
        (sway, "em", (250, 500), 1.9, np.inf, 7e-6, (400, "em6-ggl")),
        (sway, "em-ggl", (250, 500), 1.9, np.inf, 7e-6, (400, "em6-ggl")),
        (sway, "em4-ggl", (100, 200), 4.0, np.inf, 1e-7, (400, "em6-ggl")),
        (STIFF, "em-ggl", (40, 80, 160), 1.65, 2.35, 8e-5, (320, "em4-ggl")),
        (SOFT, "em4-ggl", (250, 500), 3.65, 4.35, 2e-9, (1000, "em6-ggl")),
    ],
)
def test_flexible_mechanisms_reach_the_order_if_waves_are_resolved(
    end, integrator, steps, least, most, bound, finest
):
    """A swinging rubber rod, a shaft that passes its critical speed, the coupler of a slider-crank; 4 or 8 elements."""
    observed, error = order_of([end(k, integrator) for k in steps], end(*finest))
    assert error < bound
    assert least < observed < most
