"""Waves of rods: exact limits, orders of elements, Bloch's theorem against assembled rods, and frequencies of runs."""

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

from benchmarks.waves import nodes
from discretization.space.rod_elements import BY_NUMBER, WORDS, order_of
from examples import waves as example
from rodsim import Model, ModelError, Section, linearise, simulate
from rodsim.waves import (
    BENDING,
    BRANCHES,
    LONGITUDINAL,
    SHEAR,
    TORSIONAL,
    Cell,
    exact_wave,
    frequency_error,
    frequency_in_time,
    nodes_needed,
    steps_needed,
)
from tests.support.orders import observed_order

EA, GA, GJ, EI, RHO, J1, J3 = 60.0, 20.0, 3.0, 6.0, 1.5, 0.5, 0.3
SECTION = Section.from_stiffness(
    EA=EA, GA=GA, GJ=GJ, EI=(2.0, EI), mass_per_length=RHO, inertia_per_length=(J1, 0.2, J3)
)

ROTATING = [
    word for word in WORDS if word not in {x.word for x in BY_NUMBER if not x.rotates}
]  # strings have no sections
MASSES = ("mean", "lumped", "consistent")
K = 2.0  # rad/m


def free_rod(element, mass, n_elements, length=2.0, section=SECTION, **settings):
    model = Model("free")
    model.add_rod(
        "rod", [(0, 0, 0), (length, 0, 0)], section, n_elements, mass=mass, element=element, **settings
    )
    return model


def assembled(built):
    """K, M of the frames of the rod."""
    lin = linearise(built)
    return lin.full("K"), lin.full("M")


def modes(element, mass, n_elements, columns):
    """Frequencies and motions (n, columns) of a free rod in which only `columns` of the nodes move, and node
    positions as fractions.
    """
    built = free_rod(element, mass, n_elements).build()
    n = len(built.layout.rods[0].frames)
    use = (6 * np.arange(n)[:, None] + np.array(columns)).ravel()
    square, motions = eigh(*(A[np.ix_(use, use)] for A in assembled(built)))
    s = built.layout.rods[0].arclength / 2.0
    return np.sqrt(np.maximum(square, 0.0)), motions.T.reshape(-1, n, len(columns)), s


def test_exact_waves_have_the_speeds_of_theory():
    for branch, speed in ((LONGITUDINAL, np.sqrt(EA / RHO)), (TORSIONAL, np.sqrt(GJ / J1))):
        for k in (1e-4, 2.0, 300.0):
            assert exact_wave(SECTION, k, branch).omega == pytest.approx(speed * k, rel=1e-12)
    long, short = 0.02, 1e4
    # Euler and Bernoulli's beam, the cut-off frequency of shear; short waves run at the speeds of moments and shear forces
    assert exact_wave(SECTION, long, BENDING).omega == pytest.approx(long**2 * np.sqrt(EI / RHO), rel=1e-3)
    assert exact_wave(SECTION, long, SHEAR).omega == pytest.approx(np.sqrt(GA / J3), rel=1e-3)
    speeds = sorted((np.sqrt(GA / RHO), np.sqrt(EI / J3)))
    for branch, speed in zip((BENDING, SHEAR), speeds, strict=True):
        assert exact_wave(SECTION, short, branch).omega / short == pytest.approx(speed, rel=1e-5)


def test_frequencies_are_even_in_the_wavenumber_and_rigid_or_shear_at_zero():
    for branch in BRANCHES:
        forward, backward = (exact_wave(SECTION, k, branch) for k in (K, -K))
        assert backward.omega == pytest.approx(forward.omega, rel=1e-12)
        mass = np.array([RHO, J3] if len(forward.motion) > 1 else [1.0])
        overlaps = [abs(np.vdot(x, mass * backward.motion)) for x in (forward.motion.conj(), forward.motion)]
        assert overlaps[0] == pytest.approx(np.vdot(forward.motion, mass * forward.motion).real, rel=1e-12)
        assert len(mass) == 1 or overlaps[1] < 0.99 * overlaps[0]
    still = [exact_wave(SECTION, 0.0, branch).omega for branch in BRANCHES]
    assert still == pytest.approx([0.0, 0.0, 0.0, np.sqrt(GA / J3)], abs=1e-7)


def test_timoshenkos_equation_has_the_exact_frequencies():
    for branch in (BENDING, SHEAR):
        w2 = exact_wave(SECTION, K, branch).omega ** 2
        product = (GA * K**2 - RHO * w2) * (EI * K**2 + GA - J3 * w2)
        assert product == pytest.approx((GA * K) ** 2, rel=1e-11)


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("element", ROTATING)
def test_long_waves_on_every_element_and_mass_run_at_the_exact_speeds(element, mass):
    cell = Cell(SECTION, element, mass, 0.05 * order_of(element))
    for branch in BRANCHES:
        k = 0.2
        assert cell.wave(k, branch).omega == pytest.approx(exact_wave(SECTION, k, branch).omega, rel=5e-5)


@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("element", ["se3", "lagrange(1)", "lagrange(2)", "relative(2)", "lagrange(3)"])
def test_frequencies_have_twice_the_order_of_the_element(element, mass, branch):
    p = order_of(element)
    nodes = (16, 32, 64)
    errors = [abs(frequency_error(SECTION, element, mass, branch, K, n)) for n in nodes]
    # errors of the two masses of se3 along the rod cancel in their mean
    better = p == 1 and mass == "mean" and branch == LONGITUDINAL
    expected = 4 if better else 2 * p
    assert observed_order([1 / n for n in nodes], errors) == pytest.approx(expected, abs=0.2)


@pytest.mark.parametrize("element", ["lagrange(4)", "relative(4)"])
def test_frequencies_of_order_4_have_order_8(element):
    errors = [abs(frequency_error(SECTION, element, "lumped", TORSIONAL, K, n)) for n in (12, 24)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(8.0, abs=0.4)


def test_a_lumped_and_a_consistent_rod_have_the_closed_forms_of_the_chain():
    L, c = 0.3, np.sqrt(EA / RHO)
    for k in (0.5, 4.0, np.pi / L):
        x = k * L / 2
        lumped, consistent = (Cell(SECTION, "se3", mass, L) for mass in ("lumped", "consistent"))
        assert lumped.wave(k, LONGITUDINAL).omega == pytest.approx(2 * c / L * np.sin(x), rel=1e-12)
        exact_omega = 2 * c / L * np.sin(x) / np.sqrt(1 - 2 / 3 * np.sin(x) ** 2)
        assert consistent.wave(k, LONGITUDINAL).omega == pytest.approx(exact_omega, rel=1e-12)


@pytest.mark.parametrize("p", [1, 2, 4])
def test_elements_of_one_order_have_the_same_waves_on_a_straight_rod(p):
    words = [word for word in ROTATING if order_of(word) == p]
    curves = [
        [Cell(SECTION, word, "mean", 0.4).wave(k, branch).omega for branch in BRANCHES for k in (1.0, 2.0)]
        for word in words
    ]
    assert len(curves) > 1
    for other in curves[1:]:
        assert other == pytest.approx(curves[0], rel=1e-9)


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("element", ["se3", "lagrange(2)", "relative(2)", "lagrange(3)", "lagrange(4)"])
@pytest.mark.parametrize(("branch", "place"), [(LONGITUDINAL, 0), (TORSIONAL, 3)])
def test_blochs_frequencies_are_those_of_the_assembled_free_rod(element, mass, branch, place):
    """On a free rod of length l the waves k = m pi/l stand, as on a ring of twice its length."""
    n = 6 * order_of(element)
    omega, _, _ = modes(element, mass, n, (place,))
    cell = Cell(SECTION, element, mass, 2.0 / 6)
    # at the borders of a band, m a multiple of 6, a free end selects one of two standing waves
    inside = [m for m in range(1, n) if m % 6]
    bloch = [cell.wave(m * np.pi / 2.0, branch).omega for m in inside]
    assert bloch == pytest.approx(omega[inside], rel=1e-8)


@pytest.mark.parametrize("element", ["se3", "relative(2)", "lagrange(3)"])
def test_blochs_frequencies_of_bending_and_shear_are_those_of_an_assembled_periodic_rod(element):
    n, p = 8, order_of(element)
    built = free_rod(element, "mean", n * p).build()
    K_free, M_free = assembled(built)
    size = 6 * n * p
    wrap = np.zeros((size + 6, size))
    wrap[:size] = np.eye(size)
    wrap[size:, :6] = np.eye(6)
    use = (6 * np.arange(n * p)[:, None] + np.array([1, 5])).ravel()
    square = eigh(*((wrap.T @ A @ wrap)[np.ix_(use, use)] for A in (K_free, M_free)), eigvals_only=True)
    frequencies = np.sqrt(np.maximum(square, 0.0))
    cell = Cell(SECTION, element, "mean", 2.0 / n)
    for branch in (BENDING, SHEAR):
        for m in range(1, n // 2):
            omega = cell.wave(2 * np.pi * m / 2.0, branch).omega
            close = np.abs(frequencies - omega) < 1e-8 * omega
            assert close.sum() == 2  # one each way
    # and all others of the nodes, each once, except for k a multiple of pi/L, where there are two standing waves
    inside = [m for m in range(1, n * p // 2) if 2 * m % n]
    bloch = [cell.wave(np.pi * m, branch).omega for m in inside for branch in (BENDING, SHEAR)]
    close = np.abs(np.subtract.outer(np.array(bloch), frequencies)) < 1e-8 * max(bloch)
    assert np.all(close.sum(axis=1) == 2)
    assert close.any(axis=0).sum() == 2 * len(bloch)


@pytest.mark.parametrize(
    ("element", "mass", "columns", "mode", "integrator"),
    [
        ("se3", "mean", (0,), 3, "em"),
        ("se3", "lumped", (3,), 2, "em"),
        ("se3", "consistent", (1, 5), 3, "em"),
        ("relative(2)", "mean", (1, 5), 4, "em"),
        ("relative(2)", "lumped", (1, 5), 3, "em4"),
    ],
)
def test_standing_waves_of_runs_have_the_predicted_frequencies(element, mass, columns, mode, integrator):
    """Free modes start at their full speed; the frequency is that of x(t + h) + x(t - h) = 2 cos(omega h) x(t)."""
    n, small = 8, 1e-5
    frequencies, motions, s = modes(element, mass, n, columns)
    still = len(columns)  # rigid motions
    omega, shape = frequencies[still - 1 + mode], motions[still - 1 + mode]
    h = 0.3 / omega
    size = small * omega / np.abs(shape).max()

    def rates(place):
        if place not in columns:
            return np.zeros(len(s))
        return size * shape[:, columns.index(place)]

    v, w = ([rates(i + first) for i in range(3)] for first in (0, 3))
    model = free_rod(
        element,
        mass,
        n,
        velocity=lambda x: [np.interp(x, s, values) for values in v],
        angular_velocity=lambda x: [np.interp(x, s, values) for values in w],
    )
    rod = simulate(model, 40 * h, h, output_every=1, integrator=integrator, progress=False).rod("rod")
    x = np.concatenate([rod.r - rod.r[:1], 2 * rod.quat[..., 1:]], axis=2)[:, :, columns]
    q = np.einsum("tni,ni->t", x, shape)
    cosine = q[1:-1] @ (q[2:] + q[:-2]) / (2 * q[1:-1] @ q[1:-1])
    measured = np.arccos(cosine) / h
    predicted = float(frequency_in_time(omega, h, integrator))
    assert measured == pytest.approx(predicted, rel=1e-7)
    if integrator == "em":
        assert abs(measured / omega - 1) > 1e-3  # the effect of the step is visible


@pytest.mark.parametrize(("integrator", "order"), [("em", 2), ("em4", 4), ("em6", 6), ("em8", 8)])
def test_frequencies_in_time_have_the_order_of_the_integrator(integrator, order):
    h = np.array([0.1, 0.05, 0.025])
    errors = [abs(float(frequency_in_time(1.0, x, integrator)) - 1.0) for x in h * (1 if order < 6 else 4)]
    assert observed_order(h, errors) == pytest.approx(order, abs=0.1)


def test_steps_per_period_have_the_requested_error():
    for error in (1e-2, 1e-3):
        steps = steps_needed(error)
        x = np.pi / steps
        assert 1 - np.arctan(x) / x == pytest.approx(error, rel=1e-6)
    assert (
        steps_needed(1e-3, "em6")
        < steps_needed(1e-3, "em4")
        < steps_needed(1e-3, "em")
        == pytest.approx(57.3, abs=0.1)
    )


def test_nodes_needed_have_the_requested_error():
    for element, mass in (("se3", "lumped"), ("lagrange(2)", "consistent")):
        n = nodes_needed(SECTION, element, mass, LONGITUDINAL, K, 1e-3)
        assert abs(frequency_error(SECTION, element, mass, LONGITUDINAL, K, n)) == pytest.approx(
            1e-3, rel=1e-3
        )
        assert abs(frequency_error(SECTION, element, mass, LONGITUDINAL, K, 1.5 * n)) < 1e-3


def test_unsolvable_wave_queries_are_rejected():
    cell = Cell(SECTION, "se3", "lumped", 0.1)
    with pytest.raises(ModelError, match="nodes of this rod resolve waves"):
        cell.wave(32.0, BENDING)
    with pytest.raises(ModelError, match="branch"):
        exact_wave(SECTION, 1.0, "sound")
    with pytest.raises(ModelError, match="k = nan"):
        exact_wave(SECTION, np.nan, BENDING)
    coupled = np.eye(6)
    coupled[0, 3] = coupled[3, 0] = 0.1
    section = Section.from_stiffness(C=coupled, mass_per_length=1.0, inertia_per_length=1.0)
    with pytest.raises(ModelError, match="not diagonal"):
        exact_wave(section, 1.0, BENDING)


@pytest.mark.parametrize(("element", "mass"), [("se3", "lumped"), ("lagrange(2)", "mean")])
def test_documentation_states_the_nodes_of_the_benchmark(element, mass):
    lines = (Path(__file__).parents[2] / "docs" / "evidence" / "waves.md").read_text().splitlines()
    row = next(line for line in lines if line.startswith(f"| {element}, {mass} |"))
    documented = [[float(x) for x in cell.split(",")] for cell in row.split("|")[2:6]]
    assert documented == [pytest.approx(nodes(element, mass, branch), abs=0.051) for branch in BRANCHES]


def test_example_draws_branches_that_diverge_at_short_waves(tmp_path):
    curves = example.curves("relative(2)", "mean", points=9)
    for branch in BRANCHES:
        x, exact, numerical = curves[branch]
        assert numerical[0] == pytest.approx(exact[0], rel=1e-3)
        assert abs(numerical[-1] / exact[-1] - 1) > 0.01
        assert x[-1] == pytest.approx(1.0)
    _, exact, numerical = example.curves("se3", "lumped", points=3)[LONGITUDINAL]
    assert numerical[-1] / exact[-1] == pytest.approx(2 / np.pi, rel=1e-12)
    path = example.picture(tmp_path / "waves.png", points=5)
    assert path.stat().st_size > 10_000


def test_waves_of_a_rod_without_stretch_are_refused_by_name():
    rigid = SECTION.with_rigid("stretch")
    with pytest.raises(ModelError, match="stretch of the section is rigid"):
        exact_wave(rigid, 1.0, "longitudinal")
