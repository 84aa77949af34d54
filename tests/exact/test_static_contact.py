"""Equilibria of parts on planes and on each other: analytic depths and forces, updated pair lists, runs that
stay at rest.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

from rigid.errors import ModelError
from rodsim import (
    Box,
    ConvergenceError,
    Material,
    Model,
    Newton,
    Section,
    Sphere,
    audit,
    buckling,
    equilibrium,
    modes,
    simulate,
)
from rodsim.warnings import ModelCheckWarning
from tests.support.contact_models import ball_on_floor

G = 9.81
R = 0.05
M = 1000.0 * 4 / 3 * np.pi * R**3
K = 1e4
pytestmark = [
    pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning"),
    # sliding without friction
    pytest.mark.filterwarnings("ignore::rigid.errors.UnstableEquilibriumWarning"),
]


def table() -> Model:
    return ball_on_floor(0.06, g=G)


def stack(count: int = 3, spacing: float = 2.1 * R) -> Model:
    """Balls above each other and a plane, each guided."""
    model, spheres = Model("stack", gravity=(0, 0, -G)), []
    for k in range(count):
        at = (0.0, 0.0, R + k * spacing)
        ball = model.add_body(f"ball {k}", Sphere(R, density=1000.0), at)
        model.add_joint(f"guide {k}", "prismatic", model.ground, ball, at=at, axis=(0, 0, 1))
        spheres.append(model.add_sphere(f"ball {k}", ball, R))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("floor", spheres[0], floor, stiffness=K)
    model.add_contact("balls", spheres, stiffness=K)
    return model


def bar(E: float, radius: float = 0.01) -> Section:
    return Section.circular(radius, Material(E=E, nu=0.3, density=1000.0))


def lying(n: int = 6, z: float = 0.011) -> Model:
    """A free rod above a floor."""
    model = Model("lying", gravity=(0, 0, -G))
    rod = model.add_rod("rod", [(0, 0, z), (0.6, 0, z)], bar(1e7), n)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("on", rod, floor, stiffness=1e4, stations=3)
    return model


def across(gap: float = 0.005, radius: float = 0.01, stations: int = 32) -> Model:
    """A free rod above two others that are clamped."""
    model = Model("across", gravity=(0, 0, -G))
    low = []
    for k, x in enumerate((-0.15, 0.15)):
        low.append(model.add_rod(f"low {k}", [(x, -0.1, 0), (x, 0.1, 0)], bar(1e8, radius), 5))
        for end in ("start", "end"):
            model.add_joint(f"{end} {k}", "clamp", getattr(low[k], end))
    z = 2 * radius + gap
    high = model.add_rod("high", [(-0.2, 0, z), (0.2, 0, z)], bar(1e8, radius), 5)
    model.add_contact("cross", low, high, stiffness=2e4, stations=stations)
    return model


def landing(
    radius: float = 0.002, gap: float = 0.01, force: float = 0.01, n: int = 6, stiffness: float = 1e4
) -> Model:
    """A cantilever that a force would bend far down if it did not meet another one."""
    model = Model("landing")
    for name, ends in (
        ("low", [(0.3, -0.1, 0), (0.3, 0.1, 0)]),
        ("high", [(0, 0, 2 * radius + gap), (0.4, 0, 2 * radius + gap)]),
    ):
        rod = model.add_rod(name, ends, bar(1e9, radius), n)
        model.add_joint(f"clamp of {name}", "clamp", rod.start)
    model.add_joint("end of low", "clamp", model.rods["low"].end)
    model.add_force("push", model.rods["high"].end, (0, 0, -force))
    model.add_contact("hit", model.rods["low"], model.rods["high"], stiffness=stiffness, stations=40)
    return model


# --- depths


LAWS = {
    **{f"exponent {n}": ({"exponent": n}, lambda gap, n=n: K * (-gap) ** n) for n in (1.0, 1.5, 3.0)},
    "barrier": (
        {"law": "barrier", "reach": 0.01},
        lambda gap: K * (2 * (gap - 0.01) * np.log(gap / 0.01) + (gap - 0.01) ** 2 / gap),
    ),
}


@pytest.mark.parametrize(("law", "force"), LAWS.values(), ids=LAWS)
def test_ball_rests_where_the_contact_law_balances_its_weight(law, force):
    statics = equilibrium(ball_on_floor(0.07 if "reach" in law else 0.06, g=G, **law))
    assert force(statics.state().r[1, 2] - R) == pytest.approx(M * G, rel=1e-9 if "reach" in law else 1e-10)
    assert audit(statics).ok


def test_each_ball_of_a_stack_carries_those_above():
    statics = equilibrium(stack())
    carried = M * G / K * np.array([3.0, 2.0, 1.0])
    expected = R + 2 * R * np.arange(3) - np.cumsum(carried)
    assert statics.state().r[1:, 2] == pytest.approx(expected, abs=1e-14)
    assert audit(statics).ok


def test_rod_on_a_floor_has_the_exact_penetration():
    statics = equilibrium(lying())
    depth = 1000.0 * np.pi * 0.01**2 * G / 1e4
    assert statics.state().r[1:, 2] == pytest.approx(0.01 - depth, abs=1e-12)


def test_a_ball_lies_on_the_middle_of_a_rod_that_bends_under_it():
    model = Model("on a rod", gravity=(0, 0, -G))
    rod = model.add_rod("rod", [(-0.2, 0, 0), (0.2, 0, 0)], bar(1e8), 5)
    for end in ("start", "end"):
        model.add_joint(end, "clamp", getattr(rod, end))
    ball = model.add_body("ball", Sphere(R, density=1000.0), (0, 0, 0.07))
    model.add_joint("guide", "prismatic", model.ground, ball, at=(0, 0, 0.07), axis=(0, 0, 1))
    model.add_contact("on", model.add_sphere("ball", ball, R), rod, stiffness=K)
    r = equilibrium(model).state().r
    middle = 0.5 * (r[4, 2] + r[5, 2])  # the middle segment, which is level; the body is frame 1
    assert middle < -1e-3
    assert R + 0.01 - (r[1, 2] - middle) == pytest.approx(M * G / K, rel=1e-9)


@pytest.mark.parametrize(("stations", "tolerance"), [(64, 5e-3), (400, 2e-4)])
def test_crossing_rods_have_the_contact_force_integrated_over_their_overlap(stations, tolerance):
    """F = 2 k g (rho arsinh(s/g) - s) for s = (rho^2 - g^2)^(1/2), g the distance of the lines."""
    model = Model("crossing")
    low = model.add_rod("low", [(-0.05, 0, 0), (0.05, 0, 0)], bar(1e12), 1)
    high = model.add_rod("high", [(0, -0.05, 0.0202), (0, 0.05, 0.0202)], bar(1e12), 1)
    model.add_joint("held", "clamp", low.start)
    model.add_joint("guide", "prismatic", model.ground, high.start, at=(0, -0.05, 0.0202), axis=(0, 0, 1))
    model.add_force("push", high.end, (0, 0, -20.0))
    model.add_contact("cross", low, high, stiffness=1e6, stations=stations)
    r, rho = equilibrium(model).state().r, 0.02
    g = r[3:, 2].mean() - r[1:3, 2].mean()
    s = np.sqrt(rho**2 - g**2)
    assert 2 * 1e6 * g * (rho * np.arcsinh(s / g) - s) == pytest.approx(20.0, rel=tolerance)


# --- rods that come off a floor

EI, Q, LIFT, K_FLOOR = 0.5, 0.8, 0.01, 1e4


def heavy(length: float, z: float, n: int, k: float, stations: int, **settings) -> Model:
    """A rod of the bending stiffness EI and the weight Q per length at height z above a floor."""
    section = Section.from_stiffness(
        EA=1e5, GA=1e5, GJ=1.0, EI=EI, mass_per_length=Q / G, inertia_per_length=1e-6
    )
    model = Model("heavy", gravity=(0, 0, -G))
    rod = model.add_rod("rod", [(0, 0, z + 0.01), (length, 0, z + 0.01)], section, n)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("on", rod, floor, stiffness=k, stations=stations, radius=0.01, **settings)
    return model


def lifted(n: int, k: float = K_FLOOR) -> tuple[float, float]:
    """Force at the end of a rod lifted off a floor, N, and the lifted length, m."""
    model = heavy(2.0, 0.0, n, k, 16)
    model.add_joint("end", "revolute", model.ground, model.rods["rod"].end, at=(2, 0, 0.01), axis=(0, 1, 0))
    statics = equilibrium(model, motions={"end": {"displacement": (0, 0, LIFT)}}, constant=["gravity"])
    assert audit(statics).ok
    assert "unstable" not in statics.statics
    state = statics.state()
    last = np.flatnonzero(state.r[1:, 2] < 0.01)[-1] + 1  # node
    z0, z1 = state.r[last, 2] - 0.01, state.r[last + 1, 2] - 0.01
    place = (last - 1 + z0 / (z0 - z1)) * 2.0 / n
    return -float(state.lam[2]), 2.0 - place


def lifted_beam(k: float = K_FLOOR) -> tuple[float, float]:
    """Force and lifted length of a beam: w = -q/k + e^(b x) (A cos b x + B sin b x) on the floor, x < 0.

    Off it, w = c1 x + c2 x^2/2 + c3 x^3/6 - q x^4/(24 EI), w''(a) = 0, w(a) = lift; the force is -EI w'''(a).
    """
    b = (k / (4 * EI)) ** 0.25
    A = Q / k  # w(0) = 0

    def coefficients(a: float) -> tuple[float, float, float]:
        # w' = b (A + B), w'' = 2 b^2 B, w''' = 2 b^3 (B - A) at 0; w''(a) = 0 gives B
        B = (2 * b**3 * A * a + Q * a**2 / (2 * EI)) / (2 * b**2 + 2 * b**3 * a)
        return b * (A + B), 2 * b**2 * B, 2 * b**3 * (B - A)

    def height(a: float) -> float:
        c1, c2, c3 = coefficients(a)
        return c1 * a + c2 * a**2 / 2 + c3 * a**3 / 6 - Q * a**4 / (24 * EI)

    a = brentq(lambda a: height(a) - LIFT, 0.1, 1.9)
    return Q * a - EI * coefficients(a)[2], a


def test_lifted_rod_equals_a_beam_on_an_elastic_foundation():
    force, a = lifted(80)
    assert (force, a) == pytest.approx(lifted_beam(), rel=1e-3)
    # on a rigid floor
    stiff = (24 * EI * LIFT / Q) ** 0.25
    assert lifted_beam(1e14) == pytest.approx((Q * stiff / 2, stiff), rel=2e-3)


def test_the_force_that_lifts_a_rod_is_of_second_order():
    finest = lifted(160)[0]
    coarse, fine = (abs(lifted(n)[0] - finest) for n in (20, 40))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.35)


def test_a_cantilever_that_falls_on_a_floor_lies_down():
    """A length a = (72 EI h/q)^(1/4) is in the air; the clamp carries 2/3 of its weight: no moment at the
    touch-down.
    """
    h = 0.1
    model = heavy(3.0, h, 40, 1e6, 8)
    model.add_joint("clamp", "clamp", model.rods["rod"].start)
    a = (72 * EI * h / Q) ** 0.25
    assert np.abs(equilibrium(model).state().lam).max() == pytest.approx(Q * a * 2 / 3, rel=2e-2)


# --- lists


def test_a_rod_does_not_pass_through_another_in_a_load_step():
    """Without the other rod it would bend below it, by less than the search distance of the pairs."""
    free = landing(force=0.015)
    free.contacts.clear()
    below = equilibrium(free).state().r[13]  # next to the low rod
    statics = equilibrium(landing(force=0.015))
    assert below[2] < -0.002
    assert statics.state().r[13, 2] > 0.001
    assert audit(statics).ok


def test_contacts_too_soft_for_their_load_are_named_with_depth_and_advice():
    words = (
        r"contact 'hit': rod 'low', node 3, and rod 'high', node 5 are 0\.0032 m deep in each other there, whose axes are "
        r"0\.004 m apart .*; give the contact a larger `stiffness`, or smaller loads"
    )
    with pytest.raises(ConvergenceError, match=words) as failed:
        equilibrium(landing(force=0.05, stiffness=200.0))
    assert 0.2 < failed.value.t < 0.3  # of the load


def test_initial_imbalance_is_released_through_all_contact_lists():
    """From a stored state under another load: its imbalance fades, through lists with other numberings."""
    first = equilibrium(landing(gap=0.03, force=0.04))
    unloaded = equilibrium(landing(gap=0.03, force=0.0), start=first)
    assert unloaded.state().r == pytest.approx(
        unloaded.state(0).r * 0 + landing(gap=0.03).build().state.r, abs=1e-9
    )
    reloaded = equilibrium(landing(gap=0.03, force=0.04), start=unloaded)
    assert reloaded.state().r == pytest.approx(first.state().r, abs=1e-9)


def test_imbalance_and_motion_are_linear_in_the_load_through_all_contact_lists():
    """Far from contact, where all is linear: a list that is rebuilt on the way changes no force."""
    model = landing(gap=0.1, force=0.004)
    first = equilibrium(model, motions={"clamp of high": {"displacement": (0, 0, -0.08)}})
    rise = {"clamp of high": {"displacement": (0, 0, 0.06)}}
    moved = equilibrium(
        landing(gap=0.1, force=0.0), method=Newton(first_step=0.05), start=first, motions=rise
    )
    z, part = moved.rod("high").r[:, :, 2], moved.t[:, None]
    assert len(part) > 4
    assert z == pytest.approx((1.0 - part) * z[0] + part * z[-1], abs=1e-5)
    assert z[-1] == pytest.approx(0.084, abs=1e-5)


def test_a_free_rod_does_not_fall_through_others():
    """Relaxation would move it by more than a diameter in a step."""
    model = across(radius=0.002)
    model.gravity = np.array([0.0, 0.0, -0.05])
    statics = equilibrium(model)
    assert "relaxation" in statics.statics
    assert statics.state().r[13:, 2].min() > 0.0
    assert audit(statics).ok


def test_arc_length_is_rejected_by_name():
    with pytest.raises(ModelError, match="method 'arc-length', does not support contacts between surfaces"):
        equilibrium(landing(), method="arc-length")


def test_part_without_contact_is_reported_as_unsupported():
    model = across()
    model.add_body("lost", Sphere(R, density=1000.0), (0, 1, 0))
    with pytest.raises(ModelError, match="body 'lost': nothing joins it to the ground"):
        equilibrium(model)


# --- small motions and runs from there


@pytest.mark.parametrize(
    ("make", "springs"), [(table, [[1]]), (stack, [[2, -1, 0], [-1, 2, -1], [0, -1, 1]])]
)
def test_balls_on_a_table_oscillate_as_a_chain_of_masses(make, springs):
    omega = modes(make(), 6 if make is table else 3, equilibrium(make()).state()).omega[-len(springs) :]
    assert omega == pytest.approx(np.sqrt(K / M * np.linalg.eigvalsh(springs)), rel=1e-9)


@pytest.mark.parametrize(
    "losses", [{"friction": 0.5}, {"restitution": 0.9}, {"friction": 0.3, "restitution": 0.5}]
)
def test_contact_losses_do_not_change_frequencies_about_an_equilibrium(losses):
    """Bristles are relaxed there, and rate-dependent losses use both ends of a step."""

    def pressed(**losses: float) -> Model:
        model = Model("pressed", gravity=(1.0, 2.0, -G))
        ball = model.add_body("ball", Sphere(R, density=1000.0), (0.1, 0.0, 0.9 * R))
        model.add_bushing("soft", model.ground, ball, 80.0, at=(0.1, 0.0, 0.9 * R))
        floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
        model.add_contact("lies", model.add_sphere("ball", ball, R), floor, stiffness=K, **losses)
        return model

    def frequencies(model: Model):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ModelCheckWarning
            )  # an arc omits friction, whose equilibrium is another
            return modes(model, 3, equilibrium(model, method="arc-length").state()).omega

    with_losses, without = frequencies(pressed(**losses)), frequencies(pressed())
    assert without[0] > 1.0
    assert with_losses == pytest.approx(without, rel=1e-9)


def test_a_bar_across_two_balls_slides_off_at_the_rate_of_its_tilt():
    """The equilibrium is unstable without friction: a bar that slides by x presses one ball deeper and tilts.

    V = -W x tilt + (2 k a^2 + W z) tilt^2/2. It also slides sideways down the crest of the balls, as from a
    hill of radius z.
    """
    k, a, radius, half = 2e3, 0.15, 0.01, 0.2
    model, section = Model("bar", gravity=(0, 0, -G)), bar(1e12, radius)
    weight = section.mass_per_length * 2.0 * half * G
    z = radius + 0.02 - 0.5 * weight / k
    balls = [model.add_sphere(f"{x:+}", model.ground.at((x, 0, 0)), 0.02) for x in (-a, a)]
    high = model.add_rod("bar", [(-half, 0, z), (half, 0, z)], section, 2)
    model.add_contact("lies", balls, high, stiffness=k)
    rates = modes(model, 4, equilibrium(model).state()).growth
    mass, inertia = weight / G, weight / G * half**2 / 3.0
    slide = np.roots([mass * inertia, mass * (2.0 * k * a * a + weight * z), -(weight**2)])
    assert rates[2] == pytest.approx(np.sqrt(slide.max()), rel=2e-4)
    assert rates[1] == pytest.approx(np.sqrt(G / z), rel=1e-5)


def test_sliding_caused_by_stations_falls_with_their_number():
    """The instability caused by stations decreases with their spacing."""
    grows = []
    for stations in (32, 128):
        model = across(stations=stations)
        grows.append(modes(model, 4, equilibrium(model).state()).growth.max())
    assert grows[1] < 0.6 * grows[0]


def test_column_between_elastic_stops_buckles_at_the_exact_load():
    """P H = 2 k h^2: a bar on a pin, with a ball at h between two others, under a load P at H."""
    model, h, H = Model("column"), 0.6, 1.0
    column = model.add_body("column", Box(0.05, 0.05, 1.0, density=100.0), (0, 0, 0.5))
    model.add_joint("pin", "revolute", model.ground, column, at=(0, 0, 0), axis=(0, 1, 0))
    sphere = model.add_sphere("own", column.at((0, 0, h - 0.5)), R)
    for k, side in enumerate((-1, 1)):
        stop = model.add_sphere(f"stop {k}", model.ground.at((side * 1.99 * R, 0, h)), R)
        model.add_contact(f"between {k}", sphere, stop, stiffness=K)
    model.add_force("load", column.at((0, 0, H - 0.5)), (0, 0, -1.0))
    factor = 2 * K * h**2 / H
    for nonlinear in (False, True):
        assert buckling(model, 1, nonlinear=nonlinear).factors[0] == pytest.approx(factor, rel=1e-8)


STAYS = [(table, 1e-14), (lying, 1e-13), (stack, 1e-14), (across, 1e-11)]


@pytest.mark.parametrize(("make", "tolerance"), STAYS)
def test_resting_bodies_stay_at_rest(make, tolerance):
    statics = equilibrium(make())
    run = simulate(make(), 0.02, 0.001, start=statics, progress=False)
    assert np.abs(run.states(slice(None)).r - statics.state().r).max() < tolerance
    assert audit(run).ok


def test_statics_warns_about_friction_between_surfaces() -> None:
    """Friction depends on the path of each point: equilibria follow it on planes, whose points are always the same."""
    model = heavy(2.0, -Q / 1e4, 4, 1e4, 3, friction=0.4)
    model.add_joint("held", "clamp", model.rods["rod"].start)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelCheckWarning)
        equilibrium(model)
    model = Model("stack", gravity=(0, 0, -G))
    for k in range(2):
        ball = model.add_body(f"ball {k}", Sphere(R, density=1000.0), (0, 0, 2 * R * k))
        model.add_joint(f"guide {k}", "prismatic", model.ground, ball, at=(0, 0, 0), axis=(0, 0, 1))
        model.add_spring(f"spring {k}", model.ground.at((0, 0, -1)), ball, stiffness=1e3)
    surfaces = [model.add_sphere(f"ball {k}", f"ball {k}", R) for k in range(2)]
    model.add_contact("on", *surfaces, stiffness=K, friction=0.4)
    with pytest.warns(
        ModelCheckWarning, match="contact 'on' has friction, which this equilibrium omits: .*on planes alone"
    ):
        equilibrium(model)
