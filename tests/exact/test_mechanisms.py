"""Mechanisms of the IFToMM benchmarks against their exact or converged motions; joints that repeat each other in all but one."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from examples.mechanisms.bricard import bricard, corner
from examples.mechanisms.four_bars import four_bars
from examples.mechanisms.governor import governor
from examples.mechanisms.squeezer import points, squeezer
from examples.rigid_flexible import slider_crank
from rodsim import audit, simulate
from rodsim.validation.driven_models import SLIDER, shaft_model, slider_crank_model
from rodsim.validation.rods import rubber_model

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")

# An audit takes every step of a run again: what it finds round-off is so for every step, the longest is judged.

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
    """The same of any N: of the pendulum of the same inertia, phi'' = m g l/J sin(phi)."""
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    swing = lambda _, y: (y[1], weight / inertia * np.sin(y[0]))  # noqa: E731
    phi = solve_ivp(swing, (0.0, t), (0.0, 1.0), method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    return np.sin(phi), np.cos(phi)


FOUR_BARS[12] = {t: crank_end(12, t) for t in (0.5, 1.0)}


def test_four_bars_are_a_pendulum():
    for n in (1, 40):
        for t, exact in FOUR_BARS[n].items():
            assert crank_end(n, t) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(
    ("integrator", "order", "steps", "bound", "n", "t_end"),
    [
        ("em", 2, (0.01, 0.005), 2e-4, 1, 2.0),
        ("em", 2, (0.01, 0.005), 2e-4, 40, 1.0),
        ("em4-ggl", 4, (0.04, 0.02), 3e-6, 1, 2.0),
        ("em4-ggl", 4, (0.04, 0.02), 3e-6, 12, 1.0),
    ],
)
def test_four_bars_swing_through_their_singular_positions_as_the_pendulum_they_are(
    integrator, order, steps, bound, n, t_end
):
    errors = []
    # through one line, where a long step of em4-ggl may have to be halved
    passages = 1 if n > 1 and order == 4 else 0
    for h in steps:
        result = simulate(four_bars(n), t_end, h, integrator, output_every=1)
        r = result.body("crank 0").point(np.array([0.5, 0, 0]))
        errors.append(
            max(
                np.abs(r[result.index_at(t)] - (*exact, 0.0)).max()
                for t, exact in FOUR_BARS[n].items()
                if t <= t_end and t in np.round(result.t, 12)
            )
        )
        if h == steps[0]:
            report = audit(result)
            assert report.constraint < 1e-12
            assert report.energy_balance < 2e-11  # round-off of 81 bars; of one four-bar below 1e-14
        assert result.halvings.sum() <= passages
    assert errors[-1] < bound
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


BRICARD = {
    0.5: (0.968283679107, -1.22462515943, 0.75014660944),
    1.0: (0.510501461186, -1.6491675994, 0.140123114552),
    2.0: (-0.969340344775, -1.22124689496, 0.754278010771),
}


@pytest.mark.parametrize(
    ("integrator", "order", "steps", "bound"), [("em", 2, (100, 200), 1e-4), ("em4", 4, (40, 80), 2e-9)]
)
def test_bricards_mechanism_moves(integrator, order, steps, bound):
    errors = []
    for k in steps:
        result = simulate(bricard(), 2.0, 2.0 / k, integrator, output_every=1)
        at = {t: corner(result)[result.index_at(t)] for t in BRICARD}
        errors.append(max(np.abs(at[t] - exact).max() for t, exact in BRICARD.items()))
        if k == steps[0]:
            report = audit(result)
            assert report.constraint < 1e-12
            assert report.energy_balance < 1e-12
        assert result.energy["total"][-1] == pytest.approx(-29.43, abs=1e-11)
    assert errors[-1] < bound
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


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
def test_bricards_mechanism_moves_in_every_chart_with_its_one_equation_too_many(integrator, chart):
    """The multiplier that nothing determines stays what it was: it is of no size of its own, and moves nothing."""
    errors, order = [], 4 if integrator == "mG(2)" else 2
    for k in (10, 20) if order == 4 else (20, 40):
        result = simulate(bricard(), 0.5, 0.5 / k, integrator, chart=chart, output_every=1)
        errors.append(np.abs(corner(result)[-1] - BRICARD[0.5]).max())
        assert result.constraint_residual.max() < 1e-13
        assert np.abs(result.states(slice(0, None)).lam).max() < 40.0  # N; 30 carry the bars
        # 7 to 9 of order 4, by the rounding of the factors: it decides what the multiplier without an equation is
        assert result.newton_iterations[1:].mean() < (10.0 if order == 4 else 6.0)
    assert errors[-1] < (1e-8 if order == 4 else 3e-5)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_one_equation_of_bricards_mechanism_is_too_many():
    with pytest.warns(match=r"1 equation of the joints 'P0', 'P1', 'P2', 'P3', 'P4', 'P5'"):
        bricard().build()


SQUEEZER = {
    "F": (-0.00696303942622, -0.000718388438694),
    "G": (-0.0347152190499, 0.0177580938723),
}


def test_the_squeezer_begins_where_the_test_set_has_it():
    with pytest.warns(match="9 equations of the joints"):
        result = simulate(squeezer(), 1e-5, 1e-5)
    assert points(result, 0)["F"] == pytest.approx((0.00698667411545, -0.000431723064569), abs=1e-13)
    assert points(result, 0)["G"] == pytest.approx((-0.0339972038858, 0.016461971675), abs=1e-13)


@pytest.mark.parametrize(
    ("integrator", "order", "steps", "bound"),
    [
        ("em", 2, (1500, 3000), 1e-6),
        ("em4", 4, (200, 400), 1e-10),
        ("em-ggl", 2, (750, 1500), 4e-6),
        ("em4-ggl", 4, (200, 400), 4e-9),
    ],
)
def test_andrews_squeezer_squeezes(integrator, order, steps, bound):
    """1000 rad/s at the end: errors in m, of a crank of 7 mm."""
    errors = []
    for k in steps:
        result = simulate(squeezer(), 0.03, 0.03 / k, integrator, output_every=k // 100)
        at = points(result)
        errors.append(max(np.abs(at[name] - exact).max() for name, exact in SQUEEZER.items()))
        if k == steps[0]:
            report = audit(result)
            assert report.energy_balance < 1e-11
            assert report.constraint < 1e-13
    assert errors[-1] < bound
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


GOVERNOR = {0.05: (0.50610089724368, 6.2350402159813), 0.5: (0.74324942478631, 5.1034154219716)}
GOVERNOR[1.0] = 0.50142092237956, 6.2711257418766


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_the_governor_lifts_its_slider(integrator):
    """Slider's height and shaft's rate; damped springs of 8e5 N/m, no redundant joint."""
    errors = []
    for dt in (0.002, 0.001):
        result = simulate(governor(), 1.0, dt, integrator)
        height, rate = 0.5 + result.joint("rail").displacement, result.joint("bearing").rate
        found = {t: (height[result.index_at(t)], rate[result.index_at(t)]) for t in GOVERNOR}
        off = np.abs([np.subtract(found[t], exact) for t, exact in GOVERNOR.items()])
        assert off[:, 1].max() < 2e-4
        errors.append(off[:, 0].max())
        if dt == 0.002:
            assert audit(result).energy_balance < 1e-11
        L = result.angular_momentum[:, 2]
        assert L[0] == pytest.approx(53.868998658418434, rel=1e-12)
        assert pytest.approx(L[0], rel=1e-12) == L
    assert errors[-1] < 1e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.3)


def order_of(runs, exact):
    """The mean order from the first step to the last, each half of the one before, and the last error; runs (k, ...)."""
    errors = [np.abs(np.asarray(run) - exact).max() for run in runs]
    return np.log2(errors[0] / errors[-1]) / (len(errors) - 1), errors[-1]


@pytest.mark.parametrize(
    ("integrator", "order", "steps", "bound"),
    [("em", 2, (100, 200), 7e-5), ("em-ggl", 2, (100, 200), 7e-5), ("em4-ggl", 4, (50, 100, 200), 7e-9)],
)
def test_the_slider_crank_turns_by_itself_as_one_quadrature_says(integrator, order, steps, bound):
    """Three equations too many; places of the slider, m, of a crank of 0.1 m."""
    exact, places = np.array(list(SLIDER.values())), []
    for k in steps:
        result = simulate(slider_crank_model(), 1.0, 1.0 / k, integrator, output_every=1)
        places.append([result.body("slider").r[result.index_at(t), 0] for t in SLIDER])
        if k == steps[0]:
            report = audit(result)
            assert report.energy_balance < 1e-12
            assert report.constraint < 1e-13
    found, error = order_of(places, exact)
    assert error < bound
    assert found == pytest.approx(order, abs=0.05)


@functools.cache
def rubber_end(k, integrator):
    result = simulate(rubber_model(8), 0.5, 0.5 / k, integrator)
    if k <= 250:
        assert audit(result).energy_balance < 1e-12
    return result.rod("rod").r[-1, -1]


@functools.cache
def sway(k, integrator):
    result = simulate(shaft_model(8), 2.5, 2.5 / k, integrator, output_every=k // 5)
    if k <= 250:
        assert (
            audit(result).energy_balance < 1e-9
        )  # of 3 J: round-off of 1e7 N/m, the stiffness of its elements
    return np.array([result.body("disc").r[result.index_at(t), 1:] for t in (1.0, 1.5, 2.0, 2.5)])


@pytest.mark.parametrize(
    ("integrator", "order", "steps", "bound"),
    [("em", 2, (250, 500), 9e-6), ("em-ggl", 2, (250, 500), 9e-6), ("em4-ggl", 4, (125, 250, 500), 2e-9)],
)
def test_the_swinging_rubber_rod_has_the_order_once_its_waves_are_resolved(integrator, order, steps, bound):
    """Eight elements to t = 0.5 s beside 1000 steps of em4-ggl; the fastest wave along the rod needs 2 ms from end to end."""
    found, error = order_of([rubber_end(k, integrator) for k in steps], rubber_end(1000, "em4-ggl"))
    assert error < bound
    assert found == pytest.approx(order, abs=0.35)


@pytest.mark.parametrize(
    ("integrator", "least", "steps", "bound"),
    [
        ("em", 1.9, (250, 500), 7e-6),
        ("em-ggl", 1.9, (250, 500), 7e-6),
        ("em4-ggl", 4.0, (100, 200), 1e-7),
    ],
)
def test_a_shaft_passes_its_critical_speed(integrator, least, steps, bound):
    """The sway of the disc, 7e-4 m, beside 400 steps of em6-ggl."""
    found, error = order_of([sway(k, integrator) for k in steps], sway(400, "em6-ggl"))
    assert error < bound
    assert found > least


@pytest.mark.parametrize(
    ("integrator", "E", "t_end", "steps", "order", "bound"),
    [
        ("em-ggl", 8e9, 0.4, (40, 80, 160), 2, 8e-5),
        ("em4-ggl", 1e8, 0.1, (250, 500), 4, 2e-9),
    ],
)
def test_a_flexible_coupler_takes_the_order_once_its_waves_are_resolved(
    integrator, E, t_end, steps, order, bound
):
    """The slider's place; from rest by a moment that begins at once, which excites all waves of the coupler."""

    def place(k, scheme):
        result = simulate(slider_crank.model(E, 4), t_end, t_end / k, scheme)
        if k == steps[0]:
            assert audit(result).energy_balance < 1e-11
        return result.body("slider").r[-1]

    exact = place(2 * steps[-1] if order == 4 else 320, "em6-ggl" if order == 4 else "em4-ggl")
    found, error = order_of([place(k, integrator) for k in steps], exact)
    assert error < bound
    assert found == pytest.approx(order, abs=0.35)
