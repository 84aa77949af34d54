"""`em-d(rho)`: momenta and the balance of energy at round-off, dissipation never negative, order 2, rho at infinity, rho = 1."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from discretization.assembly.dissipation_arrays import coefficients
from discretization.space.rod_elements import number_of
from discretization.state_measures import energies, momenta
from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import Box, Model, ModelError, PointMass, Result, Section, SpringLaw, audit, simulate
from rodsim.reporting import time_curves as curves
from rodsim.reporting.embedded_data import unpacked
from rodsim.studies.quantities import quantity
from tests.support.em_d import H, hinged, history, start_of


def mobile(mass="lumped", element="se3", boost=(0.0, 0.0, 0.0)):
    """A free rod welded to a body, a ball joint off the axes of the next body, a hinge to a third, two springs."""
    model, boost = Model("mobile", gravity=(0, 0, 0)), np.array(boost)
    section = Section.from_stiffness(
        EA=1600, GA=800, GJ=12, EI=16, mass_per_length=2, inertia_per_length=(0.03, 0.01, 0.02)
    )
    turned = quaternions.normalize(np.array([0.9, 0.2, -0.1, 0.3]))
    moving = {"velocity": boost + np.array([0, 1.0, 0.4]), "angular_velocity": (2, -1, 1)}
    head = model.add_body(
        "head", Box(0.3, 0.2, 0.4, density=90), (0, 0, 0), velocity=boost, angular_velocity=(1, 2, 3)
    )
    tail = model.add_body("tail", Box(0.7, 0.4, 0.3, density=80), (1.6, 0.3, 0.1), turned, **moving)
    end = model.add_body("end", Box(0.2, 0.4, 0.3, density=80), (2.1, 0.3, 0.4), turned, **moving)
    rod = model.add_rod(
        "rod",
        [(0.15, 0, 0), (1.15, 0, 0)],
        section,
        4,
        mass=mass,
        element=element,
        velocity=lambda s: boost + np.array([0, s, 1 - s]),
    )
    model.add_joint("weld", "weld", head, rod.start)
    model.add_joint("ball", "spherical", tail, rod.end, at=(1.15, 0, 0))
    model.add_joint("pin", "revolute", tail, end, at=(1.9, 0.2, 0.3), axis=(0.2, 1, 0.4))
    model.add_spring("spring", head.at((0, 0.1, 0.1)), tail.at((1.5, 0.3, 0.1)), stiffness=40, length=1.4)
    model.add_spring("twist", tail, end, 80, along="rotation", axis=(0.2, 1, 0.4), angle=0.3)
    return model


@cache
def run_of_mobile(rho, mass="lumped", element="se3", boost=0.0):
    system, state = start_of(mobile(mass, element, (boost, 0.2 * boost, 0.0)))
    return system, history(system, state, H, rho, 60)


MOBILES = [
    (0.8, "lumped", "se3"),
    (0.0, "consistent", "se3"),
    (0.5, "mean", "lagrange(2)"),
]


@pytest.mark.parametrize(("rho", "mass", "element"), MOBILES)
def test_em_d_conserves_linear_and_angular_momentum(rho, mass, element):
    system, states = run_of_mobile(rho, mass, element)
    (P0, L0), (P, L) = momenta(system, states[0]), momenta(system, states[-1])
    assert np.abs(P - P0).max() < 2e-12
    assert np.abs(L - L0).max() < 2e-12


@pytest.mark.parametrize(("rho", "mass", "element"), MOBILES)
def test_em_d_accounts_for_all_energy_it_takes(rho, mass, element):
    system, states = run_of_mobile(rho, mass, element)
    total = np.array([energies(system, state).total + state.memory[-2:].sum() for state in states])
    assert np.abs(total - total[0]).max() < 1e-12 * total[0]


@pytest.mark.parametrize(("rho", "mass", "element"), MOBILES)
def test_em_d_never_gives_energy_back(rho, mass, element):
    _, states = run_of_mobile(rho, mass, element)
    assert np.diff([state.memory[-1] for state in states]).min() > 0.0
    assert min(state.memory[-2] for state in states[1:]) > 0.0


def test_rho_one_is_em():
    system, state = start_of(mobile("mean"))
    em, _ = Stepper(system, H).advance(state, 0, 60)
    _, states = run_of_mobile(1.0, "mean")
    assert np.abs(em.r - states[-1].r).max() < 1e-12
    assert np.abs(em.v - states[-1].v).max() < 1e-10
    assert not states[-1].memory[-2:].any()


def test_what_is_free_moves_alike_in_every_inertial_frame():
    boost = np.array([20.0, 4.0, 0.0])
    _, at_rest = run_of_mobile(0.8)
    _, moving = run_of_mobile(0.8, boost=20.0)
    drift = boost * H * 60
    # roundings of a place 25 m away, in 60 steps
    assert np.abs(moving[-1].r - drift - at_rest[-1].r)[1:].max() < 1e-10
    assert moving[-1].memory[-1] == pytest.approx(at_rest[-1].memory[-1], rel=1e-9)


def bar(speed, rho, h, steps):
    """A free bar of one element whose ends run apart with `speed`: half its length, at every step, of EA so large that a
    step resolves nothing.
    """
    model = Model("bar", gravity=(0, 0, 0))
    section = Section.from_stiffness(
        EA=1e8, GA=1e8, GJ=1e6, EI=1e6, mass_per_length=1.0, inertia_per_length=(0.02, 0.01, 0.01)
    )
    model.add_rod(
        "rod",
        [(0, 0, 0), (1, 0, 0)],
        section,
        1,
        mass="lumped",
        velocity=lambda s: (speed * (2 * s - 1), 0, 0),
    )
    built = model.build()
    return built.system, history(built.system, built.state, h, rho, steps)


@pytest.mark.parametrize("rho", [0.3, 0.8])
def test_a_mode_no_step_resolves_decays_by_rho_in_every_step(rho):
    """Both roots are -rho: v_n = (a + b n) (-rho)^n, whose second ratio v_(n+1)/v_n + rho^2 v_(n-1)/v_n is -2 rho."""
    _, states = bar(0.01, rho, 1.0, 8)
    v = np.array([state.v[2, 0] for state in states])
    assert v[2:] + rho**2 * v[:-2] == pytest.approx(-2 * rho * v[1:-1], abs=1e-5 * 0.01)


def test_with_rho_zero_a_mode_no_step_resolves_is_gone_after_two_steps():
    system, states = bar(0.01, 0.0, 1.0, 4)
    kinetic = [energies(system, state).kinetic for state in states]
    assert kinetic[1] > 1e-3 * kinetic[0]
    assert max(kinetic[3:]) < 1e-6 * kinetic[0]


def test_em_goes_on_ringing_where_em_d_does_not():
    _, states = bar(0.01, 1.0, 1.0, 8)
    assert np.abs([state.v[2, 0] for state in states]) == pytest.approx(0.01, rel=1e-4)


def test_newton_takes_as_many_iterations_as_with_em():
    """Where no masses are shared and nothing follows, the tangent is whole."""
    system, state = start_of(mobile())
    _, em = Stepper(system, H).advance(state, 0, 8)
    stepper = Stepper(system, H, rho=0.5)
    _, em_d = stepper.advance(stepper.start(state), 0, 8)
    assert em_d.iterations <= em.iterations + 2


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_em_d_has_order_two(rho):
    system, state = start_of(hinged())
    t_end, ends = 0.2, {}
    for n in (40, 80, 1280):
        stepper = Stepper(system, t_end / n, rho=rho)
        ends[n] = stepper.advance(stepper.start(state), 0, n)[0]
    for what in ("r", "v", "quat"):
        coarse, fine = (np.abs(getattr(ends[n], what) - getattr(ends[1280], what)).max() for n in (40, 80))
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.15), what


def held():
    """On the ground and driven: a viscous rod on a body with a motor, under gravity, with a bushing and a spring with a law;
    free: a body that a following force tows.
    """
    model = Model("held", gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=1600,
        GA=800,
        GJ=12,
        EI=16,
        mass_per_length=2,
        inertia_per_length=(0.03, 0.01, 0.02),
    )
    section = replace(section, damping=0.01 * section.stiffness)
    body = model.add_body("body", Box(0.3, 0.2, 0.4, density=90), (0, 0, 0))
    rod = model.add_rod("rod", [(0.15, 0, 0), (1.15, 0, 0)], section, 3)
    model.add_joint("pin", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("weld", "weld", body, rod.start)
    model.add_drive("motor", "pin", lambda t: 0.1 * (1 - np.cos(3 * t)))
    model.add_bushing("strap", model.ground.at((1.2, 0, 0.1)), rod.end, [60, 50, 40, 3, 2, 1])
    detent = SpringLaw.polynomial([0.5, 30.0, 0.0, 20.0])
    model.add_spring("detent", model.ground, body, law=detent, along="rotation", axis=(0, 1, 0))
    loose = model.add_body("loose", Box(0.4, 0.3, 0.2, density=50), (0, 2, 0), angular_velocity=(3, 1, 2))
    model.add_force("tow", loose.at((0.1, 2.1, 0)), (3, 1, 2), following=True)
    model.add_force("tip", rod.end, (0, 2, 5))
    return model


def test_work_dissipation_and_what_em_d_takes_balance_the_energy(tmp_path):
    found = simulate(held(), 1.0, 0.02, "em-d(0.6)", output_every=1, progress=False)
    told = audit(found)
    assert told.energy_balance < 1e-12
    assert told.ok
    assert "taken out by em-d(0.6)" in told.text()
    assert found.dissipation[-1] > 1e-3
    assert found.work[-1] > 1e-3
    assert found.algorithmic[-1] > 1e-6
    assert np.diff(found.algorithmic_dissipation).min() >= 0.0
    assert np.array_equal(found.audit_column("algorithmic"), found.algorithmic)


def test_reports_measures_and_notebooks_count_what_em_d_takes():
    """The balance that they show closes as that of the audit does."""
    found = simulate(held(), 0.4, 0.02, "em-d(0.6)", output_every=1, progress=False)
    scale = audit(found).energy_scale
    drift = quantity("drift.energy", found.layout).read(found)
    assert found.algorithmic[-1] > 1e-7 * scale > 1e4 * drift.max()
    assert np.array_equal(quantity("algorithmic", found.layout).read(found), found.algorithmic)
    use = np.arange(found.n_outputs)
    assert drawn(curves.balance(found, use, "t (s)", scale))["defect"].max() < 1e-11
    assert drawn(curves.energies(found, use, "t (s)"))["algorithmic"] == pytest.approx(found.algorithmic)
    assert np.array_equal(found.to_xarray().algorithmic, found.algorithmic)
    page = found._repr_html_()
    assert ">algorithmic<" in page
    assert f">{found.algorithmic[-1]:.5g}<" in page


def drawn(figure):
    """Curves of a figure by name."""
    traces = figure.to_plotly_json()["data"]
    return {trace["name"]: unpacked({**trace["y"], "shape": [-1]}) for trace in traces}


def test_a_centre_of_mass_falls_as_its_weight_and_loads_say():
    """Only the following force turns with the body: its impulse is the change of momentum less the weight."""
    found = simulate(held(), 1.0, 0.02, "em-d(0.0)", output_every=1, progress=False)
    r, v = found.body("loose").r, found.body("loose").v
    assert np.diff(r, axis=0) == pytest.approx(0.02 * (v[1:] + v[:-1]) / 2, abs=1e-13)


def test_a_run_in_two_parts_is_the_same_to_the_bit(tmp_path):
    path = tmp_path / "parts.vtkhdf"
    whole = simulate(held(), 0.4, 0.02, "em-d(0.6)", output_every=5, progress=False)
    simulate(held(), 0.2, 0.02, "em-d(0.6)", output=path, output_every=5, progress=False)
    simulate(held(), 0.4, 0.02, "em-d(0.6)", output=path, output_every=5, resume=True, progress=False)
    for a, b in zip(whole.state(), Result.load(path).state(), strict=True):
        assert np.array_equal(a, b)
    stored = Result.load(path)
    assert stored.layout.memory.parts(stored.state().memory)["remembered"].any()


def test_halved_steps_keep_the_balance():
    system, state = start_of(mobile())
    long, short = Stepper(system, H, rho=0.2), Stepper(system, H / 2, rho=0.2)
    current, total = long.start(state), energies(system, state).total
    for stepper in (long, short, short, long):
        current, _ = stepper.advance(current, 0, 5)
        assert energies(system, current).total + current.memory[-2:].sum() == pytest.approx(total, rel=1e-13)


def test_a_point_mass_has_no_rotation_to_take_a_torque():
    model = Model("points", gravity=(0, 0, 0))
    points = [
        model.add_body(f"p{k}", PointMass(1.0 + k), (k, 0, 0), velocity=(0, 3.0 * k - 1.0, 1.0))
        for k in (0, 1)
    ]
    model.add_spring("spring", *(p.at((0, 0, 0)) for p in points), stiffness=50)
    found = simulate(model, 1.0, 0.02, "em-d(0.5)", output_every=1, progress=False)
    assert audit(found).ok
    assert np.ptp(found.angular_momentum, axis=0).max() < 1e-12
    assert found.algorithmic[-1] > 0.0


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("em-d", "give it, for instance em-d"),
        ("em-d(1.2)", "from 0"),
        ("em-d(x)", "from 0"),
        ("em4-d(0.5)", "negative substeps"),
        ("em-ggl-d(0.5)", "no hidden constraints"),
        ("em-x", "em-d(rho)"),
    ],
)
def test_what_em_d_cannot_be_is_refused_with_a_cure(name, cure):
    with pytest.raises(ModelError, match=re.escape(cure)):
        simulate(held(), 0.1, 0.02, name, progress=False)


def test_an_element_without_a_closed_form_is_refused():
    system = mobile(element="relative(2)").build().system
    spans = system.spans._replace(kind=np.full_like(system.spans.kind, number_of("rod", "midpoint")))
    with pytest.raises(ModelError, match=r"'midpoint'.*use another element"):
        Stepper(system._replace(spans=spans), H, rho=0.5)


@pytest.mark.parametrize("rho", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_the_oscillator_has_rho_at_infinity_and_never_grows(rho):
    """Of (q, v/omega, q~, v~/omega) with W = h omega; the balance of the energy is that of the matrix."""
    gamma, nu = coefficients(rho)

    def amplification(W):
        left = np.array([[1, -W * (0.5 + gamma)], [W * (0.5 + gamma), 1]])
        right = np.array([[1, W * (0.5 - gamma), 0, -W * gamma], [-W * (0.5 - gamma), 1, W * gamma, 0]])
        ends, now = np.linalg.solve(left, right), np.eye(4)
        return np.vstack([ends, now[2:] + nu * (ends - now[:2] - now[2:])])

    def radius(W):
        return np.abs(np.linalg.eigvals(amplification(W))).max()

    # both roots are the same there, and found to the root of the rounding
    assert radius(1e9) == pytest.approx(rho, abs=3e-4)
    assert max(radius(W) for W in np.logspace(-2, 6, 60)) < 1 + 1e-12
    # the dissipation of what is resolved is of third order in W a unit of time
    if rho < 1.0:
        assert np.log2((1 - radius(0.1)) / (1 - radius(0.05))) == pytest.approx(4.0, abs=0.05)
