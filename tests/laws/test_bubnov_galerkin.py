"""Bubnov-Galerkin integrators BG(k): constrained and unconstrained, driven, initial and boundary values; rejected input and
failures.
"""

import warnings
from functools import cache

import numpy as np
import pytest
import sympy as sp

from discretization.time.bubnov import solve_global
from rigid.errors import ConvergenceError, ModelError
from rodsim.mechanics import integrate, rotating_body, symbolic_system

X, Y, T = sp.symbols("x y t")
U, W = sp.symbols("u w")
STEPS = (1 / 8, 1 / 16, 1 / 32)
FINE = 512  # steps of a reference by mG(3) on [0, 1], which meets every node of STEPS at element ends
ORDERS = [(1, 2), (2, 2), (3, 4), (4, 4)]
MULTIPLIERS = ("continuous", "discontinuous")
GRAVITY = 9.81


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@cache
def harmonic():
    """x'' = -4x, x = cos 2t + sin 2t / 4."""
    return symbolic_system("harmonic", [X], [1.0], [0.5], M=[[1]], V=2 * X**2)


def harmonic_motion(t):
    return np.cos(2 * t) + np.sin(2 * t) / 4, -2 * np.sin(2 * t) + np.cos(2 * t) / 2


@cache
def driven():
    """x'' = -x + sin 3t from rest, x = (3 sin t - sin 3t)/8."""
    return symbolic_system("driven", [X], [0.0], [0.0], M=[[1]], V=X**2 / 2, forces=[sp.sin(3 * T)], t=T)


def driven_motion(t):
    return (3 * np.sin(t) - np.sin(3 * t)) / 8, 3 * (np.cos(t) - np.cos(3 * t)) / 8


@cache
def double_pendulum():
    """Two unit masses on unit rods, in angles: M depends on q."""
    kinetic = U**2 + W**2 / 2 + U * W * sp.cos(X - Y)
    V = -GRAVITY * (2 * sp.cos(X) + sp.cos(Y))
    return symbolic_system("double pendulum", [X, Y], [1.0, 0.5], [0.0, 1.0], T=kinetic, V=V, v=(U, W))


@cache
def pendulum(q0=(1.0, 0.0), v0=(0.0, 0.0), gravity=GRAVITY, push=False):
    """A unit mass on the unit circle, pushed sideways by 2 + 4 sin 3t or not."""
    forces = [2 + 4 * sp.sin(3 * T), 0] if push else None
    g = [(X**2 + Y**2 - 1) / 2]
    V = gravity * Y
    return symbolic_system("pendulum", [X, Y], q0, v0, M=sp.eye(2), V=V, g=g, forces=forces, t=T)


@cache
def pushed_pendulum():
    return pendulum((0.0, -1.0), (0.5, 0.0), push=True)


def tension(q, p, t):
    """gamma of the pushed pendulum: |v|^2 + q . (F - grad V) = gamma |q|^2."""
    return (p**2).sum(axis=1) + (2 + 4 * np.sin(3 * t)) * q[:, 0] - GRAVITY * q[:, 1]


@cache
def fine(make, *arguments):
    return integrate(make(*arguments), "mG", 1 / FINE, 1.0, k=3)


@cache
def heavy_body(chart):
    inertia = {} if chart == "director" else {"inertia": "alpha"}
    weights = [((0.0, 0.0, 0.5), (0.0, 0.0, -2.0))]
    J, Omega = np.array([1.0, 2.0, 2.5]), np.array([1.0, 0.5, 0.7])
    return rotating_body("body", J, Omega, weights=weights, chart=chart, **inertia)


def observed_order(steps, errors):
    """Slope of log(error) over log(step)."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def errors_of(run, k, reference):
    """Largest differences of q and p from the reference at the element ends."""
    indices = np.round(FINE * run.t[::k]).astype(int)
    q, p = run.q[::k] - reference.q[indices], run.p[::k] - reference.p[indices]
    return np.array([np.abs(q).max(), np.abs(p).max()])


# --- without constraints ---


@pytest.mark.parametrize(
    "make", [(harmonic, harmonic_motion), (driven, driven_motion)], ids=["free", "driven"]
)
@pytest.mark.parametrize("boundary", [False, True], ids=["initial", "boundary"])
@pytest.mark.parametrize(("k", "order"), ORDERS)
def test_oscillators_converge_to_the_exact_motion(make, boundary, k, order):
    system, motion = make[0](), make[1]
    errors = []
    for h in STEPS:
        run = solve_global(system, h, 1.0, k=k, q_end=[motion(1.0)[0]] if boundary else None)
        q, p = motion(run.t)
        errors.append([np.abs(run.q[:, 0] - q).max(), np.abs(run.p[:, 0] - p).max()])
    errors = np.array(errors)
    assert observed_order(STEPS, errors[:, 0]) == pytest.approx(order, abs=0.1)
    assert observed_order(STEPS, errors[:, 1]) == pytest.approx(order, abs=0.1)
    assert errors[-1].max() < (2e-3 if order == 2 else 1e-7)


@pytest.mark.parametrize("boundary", [False, True], ids=["initial", "boundary"])
@pytest.mark.parametrize(("k", "order"), ORDERS[:3])
def test_double_pendulum_in_angles_converges_to_the_motion_by_mg3(boundary, k, order):
    reference = fine(double_pendulum)
    q_end = reference.q[-1] if boundary else None
    steps, errors = (1 / 64, 1 / 128), []  # with longer elements the error of k = 3 falls faster
    for h in steps:
        guess = integrate(double_pendulum(), "mG", h / k, 1.0, k=2)
        run = solve_global(double_pendulum(), h, 1.0, k=k, q_end=q_end, guess=(guess.q, guess.p))
        errors.append(errors_of(run, k, reference))
    errors = np.array(errors)
    assert observed_order(steps, errors[:, 0]) == pytest.approx(order, abs=0.1)
    assert observed_order(steps, errors[:, 1]) == pytest.approx(order, abs=0.1)
    assert errors[-1].max() < {1: 3e-3, 2: 3e-4, 3: 1e-7}[k]


def test_unconstrained_system_has_no_multipliers_of_either_kind():
    runs = [solve_global(double_pendulum(), 0.05, 1.0, k=2, multipliers=m) for m in MULTIPLIERS]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert [run.lam.shape for run in runs] == [(41, 0), (40, 0)]
    end = solve_global(harmonic(), 0.1, 1.0, q_end=[harmonic_motion(1.0)[0]], multipliers="discontinuous")
    assert end.gam.shape == (10, 0)


# --- with constraints ---


@pytest.mark.parametrize("case", ["initial", "boundary", "discontinuous"])
@pytest.mark.parametrize(("k", "order"), ORDERS[:3])
def test_pushed_pendulum_constraint_and_tension_converge(case, k, order):
    reference = fine(pushed_pendulum)
    tolerances = {
        "initial": {},
        "boundary": {"q_end": reference.q[-1]},
        "discontinuous": {"multipliers": "discontinuous"},
    }[case]
    runs = [solve_global(pushed_pendulum(), h, 1.0, k=k, **tolerances) for h in STEPS]
    errors = np.array([errors_of(run, k, reference) for run in runs])
    assert observed_order(STEPS, errors[:, 0]) == pytest.approx(order, abs=0.2)
    assert observed_order(STEPS, errors[:, 1]) == pytest.approx(order, abs=0.2)
    assert errors[-1].max() < (6e-3 if order == 2 else 1e-6)
    if case != "discontinuous":
        exact = [tension(run.q, run.p, run.t) for run in runs]
        gaps = [np.abs(run.lam[:, 0] - values).max() for run, values in zip(runs, exact, strict=True)]
        assert gaps[-1] < (0.1 if order == 2 else 1e-3)
        assert gaps[-1] < gaps[0] / 4


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("boundary", [False, True], ids=["initial", "boundary"])
def test_second_derivative_of_the_constraint_vanishes_where_q_is_prescribed(boundary, k):
    q_end = fine(pushed_pendulum).q[-1] if boundary else None
    run = solve_global(pushed_pendulum(), 1 / 16, 1.0, k=k, q_end=q_end)
    gap = run.lam[:, 0] - tension(run.q, run.p, run.t)
    nodes = [0, -1] if boundary else [0]
    assert np.abs(gap[nodes]).max() < 1e-12
    assert np.abs(gap[1:-1]).max() > 1e-6  # between the nodes it is satisfied in the mean only
    if not boundary:
        assert run.gam[0] == 0.0
        assert run.q[0] @ run.p[0] == 0.0


def test_boundary_values_satisfy_the_hidden_constraint_to_order():
    reference = fine(pushed_pendulum)
    for k, order in ((1, 1.95), (2, 2.9), (3, 4.3)):
        runs = [solve_global(pushed_pendulum(), h, 1.0, k=k, q_end=reference.q[-1]) for h in STEPS]
        rates = [np.abs(np.einsum("ij,ij->i", run.q, run.p)[[0, -1]]).max() for run in runs]
        assert observed_order(STEPS, rates) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("multipliers", MULTIPLIERS)
@pytest.mark.parametrize("chart", ["director", "quaternion"])
@pytest.mark.parametrize(("k", "order"), ORDERS[:3])
def test_both_multiplier_kinds_converge_for_a_body_in_both_charts(chart, multipliers, k, order):
    system = heavy_body(chart)
    reference = fine(heavy_body, chart)
    runs = [solve_global(system, h, 1.0, k=k, multipliers=multipliers) for h in STEPS]
    errors = np.array([errors_of(run, k, reference)[0] for run in runs])
    assert observed_order(STEPS, errors) == pytest.approx(order, abs=0.1)
    assert errors[-1] < (5e-4 if order == 2 else 5e-8)
    groups = 32 * k + 1 if multipliers == "continuous" else 32 * k
    assert runs[-1].lam.shape == runs[-1].gam.shape == (groups, system.m)


@pytest.mark.parametrize(("multipliers", "power"), [("continuous", -2), ("discontinuous", -3)])
@pytest.mark.parametrize("k", [1, 2])
def test_continuous_multipliers_lower_the_condition_growth_by_one_power(multipliers, power, k):
    """For h -> 0. If momenta are large, as in 001 Fig. 8, both powers appear one lower until h is very small."""
    system = pendulum((0.6, -0.8), (0.8, 0.6), gravity=0)
    steps = 0.25 / np.array([8, 16, 32])
    runs = [solve_global(system, h, 0.25, k=k, multipliers=multipliers, condition=True) for h in steps]
    assert observed_order(steps, [run.condition for run in runs]) == pytest.approx(power, abs=0.05)
    assert solve_global(system, 0.25, 0.25, k=k).condition is None


@pytest.mark.parametrize("options", [{}, {"multipliers": "discontinuous"}, {"q_end": [0.0, -1.0]}], ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_state_of_rest_with_round_off_momenta_converges(options, k):
    run = solve_global(pendulum((0.0, -1.0)), 0.05, 1.0, k=k, **options)
    assert np.abs(run.q - [0.0, -1.0]).max() < 1e-14
    assert np.abs(run.p).max() < 1e-13
    assert run.lam == pytest.approx(GRAVITY, abs=1e-11)


@pytest.mark.parametrize("multipliers", MULTIPLIERS)
def test_initial_guess_through_dependent_constraints_converges(multipliers):
    """At the origin the gradient of |q|^2 vanishes, and gamma is undetermined."""
    good = solve_global(pendulum(), 0.05, 0.5, multipliers=multipliers)
    q = good.q.copy()
    q[5] = 0.0
    run = solve_global(pendulum(), 0.05, 0.5, multipliers=multipliers, guess=(q, good.p))
    assert np.abs(run.q - good.q).max() < 1e-12
    assert run.iterations[0] > good.iterations[0]


def test_degree_may_be_given_as_float():
    runs = [solve_global(pendulum(), 0.1, 0.5, k=k, points=points) for k, points in ((2, 3), (2.0, 3.0))]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert runs[1].scheme.name == "BG(2)"


# --- rejected input, and failure ---


def solve_pendulum(h=0.1, t_end=1.0, **options):
    return solve_global(pendulum(), h, t_end, **options)


def integrate_at(n=11, fill=0.0):
    return np.ones((n, 2)), np.full((n, 2), fill)


def redundant():
    g = [(X**2 + Y**2 - 1) / 2, X**2 + Y**2 - 1]
    return symbolic_system("twice", [X, Y], [1.0, 0.0], [0.0, 0.0], M=sp.eye(2), V=Y, g=g)


REFUSED = {
    r"q_end has the shape \(\); give finite numbers of shape \(2,\)": lambda: solve_pendulum(q_end=1.0),
    r"q_end has the shape \(3,\)": lambda: solve_pendulum(q_end=[0.0, -1.0, 0.0]),
    "q_end contains nan": lambda: solve_pendulum(q_end=[0.0, np.nan]),
    "q_end is not an array of numbers": lambda: solve_pendulum(q_end=["left", "right"]),
    r"\|g1\(q_end\)\| = 1.5 at q_end = \[0. 2.\]; give coordinates with g = 0": lambda: solve_pendulum(
        q_end=[0.0, 2.0]
    ),
    "discontinuous multipliers are one too many; use 'continuous'": lambda: solve_pendulum(
        q_end=[0.0, -1.0], multipliers="discontinuous"
    ),
    "multipliers = 'smooth'; choose": lambda: solve_pendulum(multipliers="smooth"),
    "k = 0; give a whole number of at least 1": lambda: solve_pendulum(k=0),
    "k = 1.5; give a whole number": lambda: solve_pendulum(k=1.5),
    "k = nan; give a whole number": lambda: solve_pendulum(k=np.nan),
    "k = '2'; give a whole number": lambda: solve_pendulum(k="2"),
    "points = 0; give a whole number of at least 1": lambda: solve_pendulum(points=0),
    "points = 1; give a whole number of at least 2": lambda: solve_pendulum(k=2, points=1),
    "limit = 0; give a whole number of at least 1": lambda: solve_pendulum(limit=0),
    "h = 0 is not positive": lambda: solve_pendulum(h=0),
    "h = nan is not a finite number": lambda: solve_pendulum(h=np.nan),
    "h = -0.1 is not positive": lambda: solve_pendulum(h=-0.1),
    "t_end = inf is not a finite number": lambda: solve_pendulum(t_end=np.inf),
    "t_end = 1.0 is not a multiple of h = 0.3; use h = 0.333": lambda: solve_pendulum(h=0.3),
    "10000000 elements take .* GiB; use a shorter time or larger h": lambda: solve_pendulum(h=1e-7),
    r"q of guess has the shape \(10, 2\); give finite numbers of shape \(11, 2\)": lambda: solve_pendulum(
        guess=integrate_at(10)
    ),
    "p of guess contains nan": lambda: solve_pendulum(guess=integrate_at(fill=np.nan)),
    r"guess is not a pair; give \(q, p\)": lambda: solve_pendulum(guess=(*integrate_at(), 1.0)),
    "guess is not a pair": lambda: solve_pendulum(guess="march"),
    "g[12] are implied by the other constraints": lambda: solve_global(redundant(), 0.1, 1.0),
    r"BG\(1\) needs a regular mass": lambda: solve_global(
        rotating_body("body", np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0])), 0.1, 1.0
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_bubnov_galerkin_rejects_invalid_arguments(message):
    with pytest.raises(ModelError, match=message):
        REFUSED[message]()


def spinning_box():
    J, Omega = np.array([5.0, 26.0, 29.0]), np.array([0.0, 5.0, 1.0])
    return rotating_body("spinning box", J, Omega, inertia="alpha")


def fast():
    """A body that rotates by more than two radians in a step of 0.1."""
    return rotating_body("fast", np.array([6.0, 8.0, 3.0]), np.array([10.0, 20.0, 20.0]), inertia="alpha")


FAILING = {
    r"BG\(1\) on 'spinning box' over \[0, 5\]: Newton's iteration fails.*give a better `guess`": (
        lambda: solve_global(spinning_box(), 0.1, 5.0, k=1, multipliers="discontinuous")
    ),
    r"it takes more than limit = 1 iterations": lambda: solve_pendulum(h=0.05, limit=1),
    r"BG\(1\) on 'spinning box'.*fails": lambda: solve_global(
        spinning_box(), 0.125, 1.0, q_end=-spinning_box().q0
    ),
    r"BG\(2\).*its matrix is singular": lambda: solve_global(
        spinning_box(), 0.1, 1.0, k=2, guess=(np.zeros((21, 4)), np.zeros((21, 4)))
    ),
}


@pytest.mark.parametrize("message", FAILING)
def test_newton_failure_raises_convergence_error_with_reason(message):
    with pytest.raises(ConvergenceError, match=message) as failure:
        FAILING[message]()
    assert failure.value.iterations >= 1
    assert failure.value.residual > 0.0
    assert failure.value.singular == ("singular" in message)


def test_failure_of_the_initial_guess_is_reported_as_such():
    with pytest.raises(
        ConvergenceError, match=r"BG\(1\) on 'fast'.*no guess of the motion.*`guess`"
    ) as failure:
        solve_global(fast(), 0.5, 5.0)
    assert failure.value.t > 0.0
    assert isinstance(failure.value.__cause__, ConvergenceError)
