"""Driven joints and driven frames in chart schemes: invariants, order compared with a fine run of `em`, work of every drive."""

from functools import cache

import numpy as np
import pytest

from discretization.time.bubnov import solve_global
from discretization.time.integrators import parse
from discretization.time.mechanical_stepper import MechanicalStepper
from discretization.time.symplecticity import symplectic_defect
from rodsim import Box, Model, ModelError, Result, audit, signals, simulate
from rodsim.mechanics import integrate

T, H = 0.096, 0.016  # s
ROUND_OFF = 1e-12  # of energies and momenta, relative, for this few steps
CONSERVING = [
    ("EML", "quaternion"),
    ("REML", "quaternion"),
    ("Null-EML", "quaternion"),
    ("EML-kappa", "quaternion"),
    ("EMH", "quaternion-alpha"),
    ("EM-G", "director"),
    ("GGL-EM", "quaternion-gamma"),
    ("GGL-EM", "director"),
]


def chain() -> Model:
    """Two bodies in a chain of oblique axes on a frame that is shaken and rotated; the second joint is driven."""
    model = Model("chain", gravity=(1.0, -2.0, -9.0))
    shaker = model.add_driven(
        "shaker",
        displacement=signals.Sine(0.05, 2.0).along((0, 0.6, 0.8)),
        turn=signals.Sine(0.3, 1.0),
        axis=(0.6, 0, 0.8),
    )
    upper = model.add_body("upper", Box(0.5, 0.3, 0.2, density=100.0), position=(0.3, 0.1, 0.2))
    model.add_joint("hip", "revolute", shaker, upper, at=(0.05, -0.1, 0.02), axis=(0.6, 0, 0.8))
    lower = model.add_body("lower", Box(0.4, 0.2, 0.1, density=150.0), position=(0.7, 0.4, 0.1))
    model.add_joint("knee", "revolute", upper, lower, at=(0.5, 0.25, 0.15), axis=(0.0, 0.8, 0.6))
    model.add_drive("motor", "knee", signals.Sine(0.4, 1.5))
    model.add_spring("cord", model.ground.at((0.2, 0.3, 1.0)), lower.at((0.1, 0.05, 0.02)), 80.0, 0.6)
    return model


def pair(hinge: str) -> Model:
    """Two free bodies with a driven joint between them."""
    model = Model("pair", gravity=(0, 0, 0))
    base = model.add_body(
        "base",
        Box(0.5, 0.4, 0.3, density=200),
        position=(-0.2, 0.1, 0.1),
        velocity=(0.4, -0.2, 0.3),
        angular_velocity=(0.5, 0.3, -0.4),
    )
    arm = model.add_body("arm", Box(1.0, 0.1, 0.2, density=100), position=(0.5, 0.05, 0))
    model.add_joint("joint", hinge, base, arm, at=(0.1, 0, 0.05), axis=(0, 0.6, 0.8))
    model.add_drive("motor", "joint", signals.Sine(0.8, 0.9))
    return model


@cache
def run_chain(integrator: str, chart: str | None, h: float = H) -> Result:
    every = 1 if h == H else round(T / h)  # for the other schemes only the end is compared
    return simulate(chain(), T, h, integrator, chart=chart, output_every=every, progress=False)


@pytest.mark.parametrize(("integrator", "chart"), CONSERVING)
def test_energy_minus_drive_work_is_conserved(integrator, chart):
    result = run_chain(integrator, chart)
    audit_report = audit(result)
    assert audit_report.ok, audit_report.text()
    assert audit_report.energy_balance < ROUND_OFF
    assert audit_report.constraint < ROUND_OFF
    if integrator == "GGL-EM":
        assert audit_report.velocity_constraint < 10 * ROUND_OFF
    works = [result.drive_work(name) for name in result.drives]
    assert min(np.abs(work).max() for work in works) > 0.1
    assert sum(works) == pytest.approx(result.work, abs=ROUND_OFF)


@pytest.mark.parametrize(("integrator", "chart"), [("EML-kappa", None), ("GL-SPARK(2)", "quaternion-alpha")])
def test_chart_states_store_driven_values_as_em_does(integrator, chart):
    """Driven coordinates, and poses and velocities of driven frames, at the end of every step."""
    result, em = run_chain(integrator, chart), run_chain("em", None)
    system, blocks = em.layout.system, em.layout.internal
    frame = np.flatnonzero(system.frames.fixed == 2)[0]
    for k in range(1, em.n_outputs):
        one, other = result.state(k), em.state(k)
        assert np.array_equal(*(blocks.part(state.internal, "drive")[:, :8] for state in (one, other)))
        for name in ("r", "v", "Omega"):
            assert np.array_equal(getattr(one, name)[frame], getattr(other, name)[frame]), name
        assert one.quat[frame] == pytest.approx(other.quat[frame], abs=1e-14)


@cache
def fine_solution() -> tuple[np.ndarray, np.ndarray]:
    """Positions of the bodies, and the work of every drive."""
    result = simulate(chain(), T, H / 4, "em6-ggl", output_every=24, progress=False)
    return result.state().r, np.array([result.drive_work(name)[-1] for name in result.drives])


@pytest.mark.parametrize(
    ("integrator", "chart", "order"),
    [
        ("em", None, 2),
        ("em-ggl", None, 2),
        *((integrator, chart, 2) for integrator, chart in CONSERVING),
        ("MPL", "quaternion", 2),
        ("MPH", "director", 2),
        ("VI-S", "quaternion-gamma", 1),
        ("VI-A(0.5)", "quaternion-alpha", 2),
        ("VI-B(0.5, 0.5)", "quaternion-alpha", 2),
        ("mG(1)", "director", 2),
        ("GL-SPARK(1)", "quaternion-alpha", 2),
        ("EMH(order=4)", "quaternion-alpha", 4),
        pytest.param("Lobatto-IIIA-B(2)", "director", 2, marks=pytest.mark.slow),
        pytest.param("GL-SPARK(2)", "quaternion-alpha", 4, marks=pytest.mark.slow),
        pytest.param("mG(2)", "quaternion-alpha", 4, marks=pytest.mark.slow),
    ],
)
def test_motion_and_drive_work_converge_to_em_at_the_scheme_order(integrator, chart, order):
    positions, works = fine_solution()
    errors = []
    for h in (H, H / 2):
        result = run_chain(integrator, chart, h)
        works_here = [result.drive_work(name)[-1] for name in result.drives]
        errors.append([np.abs(result.state().r - positions).max(), *np.abs(works_here - works)])
    # at first order the next term shows; at fourth order the error of the fine run counts
    allowed = {1: 0.3, 2: 0.15, 4: 0.2}[order]
    assert np.log2(np.divide(*errors)) == pytest.approx(np.full(3, order), abs=allowed)


@pytest.mark.parametrize(("integrator", "chart"), [("mG(1)", "director"), ("mG(1)", "quaternion-alpha")])
def test_mg_satisfies_driven_rows_to_the_quadrature_order(integrator, chart):
    """2k Gauss points: the constraint error has order 4k, for positions and velocities."""
    lost = []
    for h in (2 * H, H):
        run = integrate(pair("revolute").mechanical_system(chart), integrator, h, 10 * H)
        lost.append([run.position_residual().max(), run.velocity_residual().max()])
    assert np.all(np.divide(*lost) > 2**3.5)
    assert np.all(np.array(lost[1]) < 1e-5)


def test_mg_multipliers_act_along_the_gradient_of_their_rates():
    """p1 - p0 + h sum w (gamma . g + mu . (G v + g(q; dX/dt)))_q = 0 for directors, on which no other force acts. All terms are
    quadratic in q: central differences give the gradient exactly at any step.
    """
    system, h, nodes = pair("revolute").mechanical_system("director"), 2 * H, parse("mG(1)").nodes
    run = integrate(system, "mG(1)", h, h)
    lam, gam = run.lam[1], run.gam[1]
    defect, explicit = run.p[1] - run.p[0], np.zeros(system.n)
    for c, weight, numbers in zip(nodes, (0.5, 0.5), system.driven_at(h * np.array(nodes)), strict=True):
        q, p = ((1 - c) * values[0] + c * values[1] for values in (run.q, run.p))
        system.drive_to(numbers)
        v = system.velocity(q, p)
        of_rate = [gam @ (system.rate(q + e, v) - system.rate(q - e, v)) / 2 for e in np.eye(system.n)]
        rates = [
            gam @ (system.explicit_rate(q + e, numbers) - system.explicit_rate(q - e, numbers)) / 2
            for e in np.eye(system.n)
        ]
        defect += weight * h * (system.pull(q, lam) + of_rate)
        explicit += weight * h * np.array(rates)
    assert np.abs(defect + explicit).max() < 1e-14
    assert np.abs(explicit).max() > 1e-4


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("em", None),
        ("em-ggl", None),
        ("EML-kappa", "quaternion"),
        ("GGL-EM", "quaternion-alpha"),
        ("EM-G", "director"),
    ],
)
@pytest.mark.parametrize("hinge", ["revolute", "prismatic"])
def test_drive_between_free_bodies_conserves_both_momenta(integrator, chart, hinge):
    """The drive acts between the bodies only, and its work is in the energy balance."""
    result = simulate(pair(hinge), 20 * H, H, integrator, chart=chart, output_every=1, progress=False)
    audit_report = audit(result)
    P, L = result.linear_momentum, result.angular_momentum
    assert np.abs(P - P[0]).max() < ROUND_OFF * audit_report.linear_momentum_scale
    assert np.abs(L - L[0]).max() < ROUND_OFF * audit_report.angular_momentum_scale
    assert audit_report.energy_balance < ROUND_OFF
    assert audit_report.constraint < ROUND_OFF
    assert "GGL" not in integrator.upper() or audit_report.velocity_constraint < 10 * ROUND_OFF
    assert np.abs(result.drive_work("motor")).max() > 0.1


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("VI-S", "director"),
        ("VI-A(0.5)", "director"),
        ("VI-B(0.5, 0.5)", "quaternion-alpha"),
        ("GL-SPARK(2)", "quaternion-alpha"),
    ],
)
def test_symplectic_schemes_remain_symplectic_with_a_drive(integrator, chart):
    system = pair("revolute").mechanical_system(chart)
    assert symplectic_defect(system, parse(integrator), H, steps=2, count=3) < 0.1 * ROUND_OFF
    assert symplectic_defect(system, parse("GGL-EM"), H, steps=2, count=3) > 10 * ROUND_OFF


def test_trajectory_resumes_bitwise_and_leaves_the_system_unchanged():
    system = chain().mechanical_system("quaternion-gamma")
    before = system.constraints(system.q0)
    uninterrupted = integrate(system, "GGL-EM", H, 6 * H)
    half = integrate(system, "GGL-EM", H, 3 * H)
    continued = integrate(system, "GGL-EM", H, 3 * H, start=half.at(-1))
    for name in ("q", "p", "lam", "totals"):
        assert np.array_equal(getattr(continued, name)[-1], getattr(uninterrupted, name)[-1]), name
    assert uninterrupted.totals.shape == (7, 4)
    assert np.array_equal(system.constraints(system.q0), before)


def test_unsupported_drives_are_rejected_by_name():
    model = chain()
    with pytest.raises(ModelError, match=r"BG\(1\): 'chain' has prescribed motion.*'mG\(1\)'"):
        solve_global(model.mechanical_system("director"), H, 2 * H)
    built = model.build()
    with pytest.raises(
        ModelError, match=r"model 'm' has prescribed motion; give its values as `drive_values`"
    ):
        MechanicalStepper("m", built.system, built.state, H, "EML", None, None)
