"""Internal variables with rate equations: controller states and the position of a bead, of kinds registered in this file."""

from pathlib import Path

import numpy as np
import pytest

import rodsim
from discretization.state_measures import momenta
from rigid.errors import ModelError
from rodsim import Box, Model, audit, simulate
from rodsim.interactions import average, kernel_calls, minus, push, times
from rodsim.mechanics import integrate
from tests.support.completeness import BRICK as HEAVY
from tests.support.completeness import MODELS, OBLIQUE, SOFT
from tests.support.consumers import CONSUMERS
from tests.support.state_kind_models import (
    BRICK,
    BY_LAG,
    BY_SERVO,
    MASS,
    NO_WEIGHT,
    REST,
    TAU,
    H,
    I,
    K,
    P,
    spinning,
)
from tests.support.state_kinds import BEAD, LAG, SERVO, length, settled

pytestmark = pytest.mark.filterwarnings("ignore::rigid.errors.InitialVelocityWarning")
AT_REST = ("start= from an equilibrium", "audit at rest", "linear buckling", "modes")
REFUSED = dict.fromkeys(AT_REST, "interaction 'damping': at rest its state 'x' is not determined")


def body_on_line(kind, **numbers) -> Model:
    """A body that moves along x, connected to the ground at the origin."""
    model = Model("line", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK, position=(REST + 0.3, 0, 0), velocity=(0.5, 0, 0))
    model.add_interaction("control", kind, model.ground, body, **numbers)
    return model


def filtered_bodies(name: str = "filtered") -> Model:
    """Three bodies, one on a hinge, with a filter and a bead between them."""
    model = Model(name, gravity=OBLIQUE)
    a = model.add_body("a", HEAVY, position=(0, 0, 0))
    b = model.add_body("b", HEAVY, position=(0.6, 0.7, 0.1), velocity=(0.3, 0, 0.1))
    c = model.add_body("c", HEAVY, position=(1.5, 0.1, 0.4), angular_velocity=(0.5, 1.0, -0.3))
    model.add_joint("hinge", "revolute", model.ground, a, at=(0.1, 0, 0), axis=(0, 0.6, 0.8))
    for body, place in ((b, (0.6, 0.7, 0.1)), (c, (1.5, 0.1, 0.4))):
        model.add_bushing(f"to {body.name}", model.ground, body, 60.0, at=place)
    corner = (0.2, 0.1, -0.1)
    model.add_interaction("filter", LAG, a.at(corner), b.at(corner), k=20.0, tau=0.05, rest=0.5, x=0.1)
    model.add_interaction("slide", BEAD, a.at(corner), c.at(corner), k=40.0, s=1.2)
    return model


def controlled_bodies() -> Model:
    """Add a rod, and control of two distances."""
    model = filtered_bodies("controlled")
    b, c = model.bodies["b"], model.bodies["c"]
    rod = model.add_rod("rod", [(0, 0, 1), (1, 0, 1)], SOFT, 3, mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    corner = (0.2, 0.1, -0.1)
    model.add_interaction("damping", SERVO, rod.end, b.at(corner), P=5.0, I=3.0, target=1.0, x=0.2)
    model.add_interaction("control", SERVO, b.at(corner), c.at(corner), P=15.0, I=30.0, target=0.8, x=0.0)
    return model


@pytest.fixture(autouse=True)
def model_of_all(monkeypatch):
    monkeypatch.setitem(MODELS, "controlled", controlled_bodies)
    monkeypatch.setitem(MODELS, "filtered", filtered_bodies)


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_internal_states_pass_every_consumer_or_are_rejected_by_name(consumer: str, tmp_path: Path) -> None:
    run = CONSUMERS[consumer]
    if consumer not in REFUSED:
        run("controlled", tmp_path)
        return
    with pytest.raises(ModelError, match=REFUSED[consumer]):
        run("controlled", tmp_path)


@pytest.mark.parametrize("consumer", AT_REST)
def test_filters_and_beads_have_equilibria_and_modes(consumer: str, tmp_path: Path) -> None:
    CONSUMERS[consumer]("filtered", tmp_path)


def midpoint(A, z, steps):
    """The midpoint rule for z' = A z."""
    E = np.eye(len(A))
    step = np.linalg.solve(E - 0.5 * H * A, E + 0.5 * H * A)
    states = [z]
    for _ in range(steps):
        states.append(step @ states[-1])
    return np.array(states)


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("em", None),
        ("em-ggl", None),
        ("EML", "quaternion"),
        ("EML-kappa", "quaternion"),
        ("GGL-EM", "director"),
        ("MPH", "director"),
        ("GL-SPARK(1)", "director"),
    ],
)
@pytest.mark.parametrize("which", ["lag", "servo"])
def test_controlled_distance_follows_the_midpoint_rule(which, integrator, chart):
    if which == "lag":
        model, A = body_on_line(LAG, k=K, tau=TAU, rest=REST, x=0.1), BY_LAG
    else:
        model, A = body_on_line(SERVO, P=P, I=I, target=REST, x=0.1), BY_SERVO
    z = midpoint(A, np.array([0.3, 0.5, 0.1]), 60)
    if chart is None:
        result = simulate(model, 60 * H, H, integrator, output_every=1, progress=False)
        x, l = settled(result)[:, 0], result.states(slice(None)).r[:, 1, 0]
        assert result.states(slice(None)).v[:, 1, 0] == pytest.approx(z[:, 1], abs=1e-11)
        work_done = result.work
    else:
        result = integrate(model.mechanical_system(chart), integrator, H, 60 * H)
        x, l, work_done = result.totals[:, 2], result.q[:, 0], result.totals[:, 0]
    assert l - REST == pytest.approx(z[:, 0], abs=1e-11)
    assert x == pytest.approx(z[:, 2], abs=1e-11)
    # all of it is work: the kinetic energy comes from it alone
    assert work_done == pytest.approx(0.5 * MASS * (z[:, 1] ** 2 - 0.25), abs=1e-11)
    assert np.abs(result.dissipation).max() < 1e-12
    assert np.abs(z[:, 0] - z[0, 0]).max() > 0.1


def test_closed_loop_converges_at_second_order():
    from scipy.linalg import expm

    exact = expm(0.6 * BY_LAG) @ (0.3, 0.5, 0.1)
    errors = []
    for h in (0.02, 0.01):
        result = simulate(body_on_line(LAG, k=K, tau=TAU, rest=REST, x=0.1), 0.6, h, progress=False)
        errors.append(abs(settled(result)[-1, 0] - exact[2]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("integrator", "chart"), [("em", None), ("GGL-EM", "director")])
def test_bead_slides_freely_and_oscillates_across_its_line(integrator, chart):
    """Along the line v t; across it sin(n theta) v/w with tan(theta/2) = w h/2, w^2 = k/m."""
    model = Model("bead", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK, position=(0.4, 0, 0), velocity=(0.7, 0.5, 0))
    model.add_interaction("line", BEAD, model.ground, body, k=200.0, s=0.4)
    n, w = np.arange(81), np.sqrt(200.0 / MASS)
    if chart is None:
        result = simulate(model, 80 * H, H, integrator, output_every=1, progress=False)
        r, s = result.states(slice(None)).r[:, 1], settled(result)[:, 0]
        assert np.abs(result.energy["total"] - result.energy["total"][0]).max() < 1e-13
        assert result.energy["spring"] == pytest.approx(100.0 * r[:, 1] ** 2, abs=1e-12)
    else:
        result = integrate(model.mechanical_system(chart), integrator, H, 80 * H)
        r, s = result.q[:, :3], result.totals[:, 2]
    assert r[:, 0] == pytest.approx(0.4 + 0.7 * H * n, abs=1e-12)
    assert s == pytest.approx(r[:, 0], abs=1e-12)
    assert r[:, 1] == pytest.approx(0.5 / w * np.sin(2.0 * n * np.arctan(0.5 * w * H)), abs=1e-12)


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em-d(0.5)"])
def test_bead_on_a_rotating_line_conserves_energy_and_momenta(integrator):
    result = simulate(spinning(), 1.0, H, integrator, output_every=1, progress=False)
    s = settled(result)[:, 0]
    assert np.ptp(s) > 0.3
    total = result.energy["total"]
    if "em-d" not in integrator:
        assert np.abs(total - total[0]).max() < 1e-12
        assert np.abs(result.dissipation).max() < 1e-12
    for momentum in momenta(result.layout.system, result.states(slice(None))):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    checked = audit(result)
    assert checked.ok, checked.text()


def test_bead_moves_outward_on_a_steadily_rotating_line():
    """r'' = w^2 r along the line: cosh(w t), to second order."""
    model = Model("arm", gravity=NO_WEIGHT)
    arm = model.add_body("arm", Box(0.5, 0.3, 0.2, density=1e7), angular_velocity=(0, 0, 1.0))
    model.add_joint("axle", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1))
    small = Box(0.01, 0.01, 0.01, density=1e6)
    bead = model.add_body("bead", small, position=(0.5, 0, 0), velocity=(0, 0.5, 0))
    model.add_interaction("line", BEAD, arm, bead, k=1e5, s=0.5)
    final_position = settled(simulate(model, 1.0, 0.005, progress=False))[-1, 0]
    assert final_position == pytest.approx(0.5 * np.cosh(1.0), abs=2e-4)


def test_integral_control_removes_a_constant_error():
    """PI control with a weight: at rest the integral term carries it, x = m g/I."""
    model = Model("lift", gravity=(2.0, 0, 0))
    body = model.add_body("body", BRICK, position=(REST, 0, 0))
    model.add_interaction("control", SERVO, model.ground, body, P=60.0, I=60.0, target=REST, x=0.0)
    model.add_spring("drag", model.ground.at((0, 0, 0)), body.at((0, 0, 0)), 1e-6, 1.0, damping=20.0)
    result = simulate(model, 20.0, 0.05, progress=False)
    assert settled(result)[-1, 0] == pytest.approx(2.0 * MASS / 60.0, abs=1e-3)
    assert result.states(slice(None)).r[-1, 1, 0] == pytest.approx(REST, abs=1e-3)


def test_compositions_and_multi_point_schemes_reject_states_by_name():
    model = body_on_line(LAG, k=K, tau=TAU, rest=REST, x=0.1)
    with pytest.raises(ModelError, match="'em4' takes negative substeps, which the lag does not"):
        simulate(model, 0.1, H, "em4", progress=False)
    with pytest.raises(ModelError, match=r"evaluates forces at . points of a step"):
        simulate(model, 0.1, H, "GL-SPARK(2)", chart="director", progress=False)


def test_state_equations_may_be_coupled_and_nonlinear():
    """x0' = x1, x1' = (1 - x0^2) x1 - x0 + l - rest: van der Pol's oscillator, driven by the distance; residual at the result."""

    @rodsim.interaction("van der Pol", frames=2, numbers=("rest",), states={"x": 2})
    class VanDerPol:
        def evolve(y0, y1, x0, x1, h, X, out):
            a, b = 0.5 * (x0[0] + x1[0]), 0.5 * (x0[1] + x1[1])
            out[0] = (x1[1] - x0[1]) / h - (1.0 - a * a) * b + a - length(y0, y1) + X[0]
            out[1] = (x1[0] - x0[0]) / h - b

        def step_dual(y0, y1, x0, x1, h, X, out):
            d = average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))
            push(out, 1, times(0.1 * (x0[0] + x1[0]), d))
            push(out, 0, times(-0.1 * (x0[0] + x1[0]), d))

    h = 0.1  # so long that Newton's method has to continue
    result = simulate(
        body_on_line(VanDerPol, rest=REST, x=[2.0, 0.0]), 20 * h, h, output_every=1, progress=False
    )
    x, l = settled(result), result.states(slice(None)).r[:, 1, 0]
    a, b = (0.5 * (x[1:, k] + x[:-1, k]) for k in (0, 1))
    assert np.diff(x[:, 0]) / h == pytest.approx(b, abs=1e-11)
    driven = (1 - a**2) * b - a + 0.5 * (l[1:] + l[:-1]) - REST
    assert np.diff(x[:, 1]) / h == pytest.approx(driven, abs=1e-11)
    v = result.states(slice(None)).v[:, 1, 0]
    assert np.diff(v) / h * MASS == pytest.approx(-0.1 * a * (l[1:] + l[:-1]), abs=1e-10)


def test_static_force_uses_the_current_states():
    y = np.zeros((2, 4, 3), complex)
    y[:, 1:], y[1, 0] = np.eye(3), (1.5, 2.0, 0.0)
    anchor = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    X = np.concatenate([anchor, anchor, [4.0, 3.0, 2.0, 0.7]])
    force = (4.0 * (2.5 - 2.0) + 3.0 * 0.7) * np.array([0.6, 0.8, 0.0])
    force_pair = kernel_calls.rate_dual(SERVO.kind, y, 0.0 * y, X)
    assert force_pair[:, 0].real == pytest.approx(np.array([-force, force]), rel=1e-14)
