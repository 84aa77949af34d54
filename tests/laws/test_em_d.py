"""`em-d(rho)`: momenta and energy balance at round-off, vibrations decay as rho prescribes, order 2, rho = 1 equals `em`."""

import base64
import re
from dataclasses import replace
from functools import cache, partial

import h5py
import numpy as np
import pytest

from discretization.space.rod_elements import number_of
from discretization.state_measures import energies, momenta
from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import (
    Box,
    Model,
    ModelError,
    PointMass,
    Result,
    ResultError,
    Section,
    SpringLaw,
    audit,
    report,
    simulate,
)
from tests.support.em_d import H, hinged, history, start_of
from tests.support.results_sample import without_digests
from tests.support.rods import full

GRAVITY = (0.3, -0.5, -9.81)
TURNED = quaternions.normalize(np.array([0.9, 0.2, -0.1, 0.3]))
AXES, AXIS = quaternions.to_matrix(TURNED), (0.2, 1.0, 0.4)
WAVY = SpringLaw.function(lambda x: 30 * np.sin(6 * x) + 20 * x, -1.5, 1.5, 1e-6)  # decreases in places
SOFT = Section.from_stiffness(
    EA=1600, GA=800, GJ=12, EI=16, mass_per_length=2, inertia_per_length=(0.03, 0.01, 0.02)
)


def mobile(mass="lumped", element="se3", boost=(0.0, 0.0, 0.0)):
    """A free rod welded to a body, an off-axis ball joint to the next body, a hinge to a third, two springs."""
    model, boost = Model("mobile", gravity=(0, 0, 0)), np.array(boost)
    moving = {"velocity": boost + np.array([0, 1.0, 0.4]), "angular_velocity": (2, -1, 1)}
    head = model.add_body(
        "head", Box(0.3, 0.2, 0.4, density=90), (0, 0, 0), velocity=boost, angular_velocity=(1, 2, 3)
    )
    tail = model.add_body("tail", Box(0.7, 0.4, 0.3, density=80), (1.6, 0.3, 0.1), TURNED, **moving)
    end = model.add_body("end", Box(0.2, 0.4, 0.3, density=80), (2.1, 0.3, 0.4), TURNED, **moving)
    rod = model.add_rod(
        "rod",
        [(0.15, 0, 0), (1.15, 0, 0)],
        SOFT,
        4,
        mass=mass,
        element=element,
        velocity=lambda s: boost + np.array([0, s, 1 - s]),
    )
    model.add_joint("weld", "weld", head, rod.start)
    model.add_joint("ball", "spherical", tail, rod.end, at=(1.15, 0, 0))
    model.add_joint("pin", "revolute", tail, end, at=(1.9, 0.2, 0.3), axis=AXIS)
    model.add_spring("spring", head.at((0, 0.1, 0.1)), tail.at((1.5, 0.3, 0.1)), stiffness=40, length=1.4)
    model.add_spring("twist", tail, end, 80, along="rotation", axis=AXIS, angle=0.3)
    return model


def mount(stops=True):
    """Three free bodies, connected off their axes: a bushing with a full matrix and springs with laws between two of them,
    further springs and stops about a hinge to the third.
    """
    model = Model("mount", gravity=(0, 0, 0))
    a = model.add_body("a", Box(0.3, 0.4, 0.5, density=100), (0, 0, 0), angular_velocity=(0.4, -1.0, 1.0))
    b = model.add_body("b", Box(0.5, 0.2, 0.3, density=200), (0.5, 0.3, -0.2), TURNED, velocity=(0, 0.5, 0))
    c = model.add_body("c", Box(0.7, 0.4, 0.3, density=80), (1.2, 0.3, 0.1), angular_velocity=(1, 4, -1))
    rest_position = (-0.03, 0.02, -0.01, 0.1, 0.6, -0.2)
    model.add_bushing("mount", a, b, full(1, 20.0), at=(0.3, 0.1, 0.0), axes=AXES, rest=rest_position)
    hook, eye, axis = a.at((0.1, 0.2, 0)), b.at((0.1, 0, -0.1)), AXIS
    model.add_spring("length", hook, eye, law=WAVY)
    model.add_spring("along", hook, eye, law=WAVY, along="axis", axis=axis)
    model.add_joint("hinge", "revolute", b, c, at=(0.8, 0.3, 0.0), axis=axis)
    model.add_spring("turn", b, c, law=WAVY, along="rotation", axis=axis)
    if stops:
        model.add_limit("stop", hook, eye, 4e3, 0.01, 0.3, 0.4, of="displacement", axis=(1, 0, 0.3))
        model.add_limit("end", b, c, 900.0, 0.02, -0.1, 0.1, axis=axis)
    return model


FREE = {
    "mobile": (mobile, 0.8),
    "mobile, shared masses": (partial(mobile, "consistent"), 0.0),
    "mobile, spans": (partial(mobile, "mean", "lagrange(2)"), 0.5),
    "mount": (mount, 0.3),
}


@cache
def run_states(name):
    make, rho = FREE[name]
    system, state = start_of(make())
    return system, history(system, state, H, rho, 60)


@pytest.mark.parametrize("name", FREE)
def test_em_d_conserves_momenta_and_accounts_for_all_energy_of_free_systems(name):
    system, states = run_states(name)
    moved = np.array([np.concatenate(momenta(system, state)) for state in states])
    assert np.abs(moved - moved[0]).max() < 1e-11
    dissipated = np.array([state.memory[-2:] for state in states])
    total = np.array([energies(system, state).total for state in states]) + dissipated.sum(axis=1)
    assert np.abs(total - total[0]).max() < 1e-11 * np.abs(total[0])
    assert np.diff(dissipated[:, 1]).min() > 0.0
    assert dissipated[1:, 0].min() > 0.0


def test_every_interaction_enters_the_algorithmic_dissipation():
    """Each has a row in the step history that is nonzero at some time."""
    system, states = run_states("mount")
    memory = np.array([s.memory[:-2].reshape(-1, 6)[-len(system.others.kind) :] for s in states])
    assert np.abs(memory).max(axis=(0, 2)).min() > 1e-3
    assert states[-1].memory[-1] > 0.05 * energies(system, states[0]).total


def test_rho_one_is_em():
    system, state = start_of(mobile("mean"))
    em, _ = Stepper(system, H).advance(state, 0, 60)
    end = history(system, state, H, 1.0, 60)[-1]
    assert np.abs(em.r - end.r).max() < 1e-12
    assert np.abs(em.v - end.v).max() < 1e-10
    assert not end.memory[-2:].any()


def test_em_d_is_galilean_invariant():
    boost = np.array([20.0, 4.0, 0.0])
    at_rest = run_states("mobile")[1][-1]
    moving = history(*start_of(mobile(boost=boost)), H, 0.8, 60)[-1]
    # round-off of a position 25 m away, in 60 steps
    assert np.abs(moving.r - boost * H * 60 - at_rest.r)[1:].max() < 1e-10
    assert moving.memory[-1] == pytest.approx(at_rest.memory[-1], rel=1e-9)


def test_free_group_falls_and_conserves_angular_momentum_about_its_centre():
    system, state = start_of(hinged())
    g, m = np.array(GRAVITY), np.where(system.frames.fixed == 0, system.frames.mass, 0.0)
    system = system._replace(gravity=g)
    states = history(system, state, H, 0.3, 10)
    r, v = (np.array([m @ getattr(s, field) / m.sum() for s in states]) for field in ("r", "v"))
    t = H * np.arange(11)[:, None]
    assert v == pytest.approx(v[0] + g * t, abs=1e-12)
    assert r == pytest.approx(r[0] + v[0] * t + 0.5 * g * t * t, abs=1e-12)
    P, L = np.swapaxes([momenta(system, s) for s in states], 0, 1)
    assert np.ptp(L - np.cross(r, P), axis=0).max() < 1e-11


# -- unresolved modes ------------------------------------------------------------------------------------------------


def bar(rho, steps):
    """A free bar of one element whose ends move apart, with an EA so large that a step resolves nothing."""
    model, speed = Model("bar", gravity=(0, 0, 0)), 0.01
    section = Section.from_stiffness(
        EA=1e8, GA=1e8, GJ=1e6, EI=1e6, mass_per_length=1.0, inertia_per_length=(0.02, 0.01, 0.01)
    )
    ends = [(0, 0, 0), (1, 0, 0)]
    model.add_rod("rod", ends, section, 1, mass="lumped", velocity=lambda s: (speed * (2 * s - 1), 0, 0))
    built = model.build()
    return np.array([state.v[2, 0] for state in history(built.system, built.state, 1.0, rho, steps)]) / speed


@pytest.mark.parametrize("rho", [0.3, 0.8, 1.0])
def test_unresolved_mode_decays_by_rho_in_every_step(rho):
    """Both roots are -rho: v_n = (a + b n) (-rho)^n, whose second ratio v_(n+1)/v_n + rho^2 v_(n-1)/v_n is -2 rho."""
    v = bar(rho, 8)
    assert v[2:] + rho**2 * v[:-2] == pytest.approx(-2 * rho * v[1:-1], abs=1e-5)
    assert rho < 1.0 or np.abs(v) == pytest.approx(1.0, rel=1e-4)  # the vibration persists


def test_unresolved_mode_with_rho_zero_vanishes_in_two_steps():
    v = bar(0.0, 4)
    assert abs(v[1]) > 0.032
    assert np.abs(v[3:]).max() < 1e-3


K, START = 1e9, 0.05  # N/m or N m/rad; m or rad
STRAIGHT = SpringLaw.table([-0.5, 0.5], [-0.5 * K, 0.5 * K])


def body_on_spring(how):
    """A body that slides along x or rotates about it, displaced by START from the unstressed position of its spring."""
    model, turns = Model(how, gravity=(0, 0, 0)), how.startswith("turn")
    place = np.array([0 if turns else START, 0, 0])
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0), place)
    joint = "revolute" if turns else "prismatic"
    model.add_joint("guide", joint, model.ground, body, at=place, axis=(1, 0, 0))
    wall, origin, middle = model.ground.at((-1, 0, 0)), model.ground.at((0, 0, 0)), body.at((0, 0, 0))
    if how == "spring":
        model.add_spring("s", wall, middle, stiffness=K, length=1.0)
    elif how == "law of a length":
        model.add_spring("s", wall, middle, law=SpringLaw.table([0.5, 1.5], [-0.5 * K, 0.5 * K]))
    elif how == "law of a displacement":
        model.add_spring("s", origin, middle, law=STRAIGHT, along="axis", axis=(1, 0, 0))
    elif how == "bushing":
        model.add_bushing("s", origin, middle, [K, 0, 0, 0, 0, 0])
    elif how == "turn of a spring":
        model.add_spring("s", model.ground, body, K, along="rotation", axis=(1, 0, 0), angle=-START)
    elif how == "turn of a law":
        law = SpringLaw.table([-0.5, 0.5], [K * (START - 0.5), K * (START + 0.5)])
        model.add_spring("s", model.ground, body, law=law, along="rotation", axis=(1, 0, 0))
    else:
        model.add_bushing("s", origin, middle, [0, 0, 0, K, 0, 0], rest=(0, 0, 0, -START, 0, 0))
    return model


def decay_from_rest(how, rho, steps):
    """Distance from rest at every step, relative to the initial one."""
    states = history(*start_of(body_on_spring(how)), 0.05, rho, steps)
    if how.startswith("turn"):
        return np.array([START + 2 * np.arctan2(s.quat[1, 1], s.quat[1, 0]) for s in states]) / START
    return np.array([s.r[1, 0] for s in states]) / START


LINES = (
    "spring",
    "law of a length",
    "law of a displacement",
    "bushing",
    "turn of a spring",
    "turn of a law",
    "turn of a bushing",
)


@pytest.mark.parametrize("how", LINES)
def test_em_d_damps_unresolved_modes_for_every_support(how):
    x = decay_from_rest(how, 0.2, 100)
    assert abs(x[1]) > 0.5
    assert np.abs(x[-10:]).max() < 1e-12


@pytest.mark.parametrize("rho", [0.2, 0.4])
@pytest.mark.parametrize("how", LINES)
def test_double_root_decays_by_its_power_times_a_linear_function(how, rho):
    """From rest x_n = (-rho)^n (1 + n (1 - rho^2)/(2 rho)) x_0 for long steps."""
    n = np.arange(5)
    expected = 1 + n * (1 - rho**2) / (2 * rho)
    assert decay_from_rest(how, rho, 4) / (-rho) ** n == pytest.approx(expected, rel=1e-3)


# -- order, work -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.7])
@pytest.mark.parametrize(
    ("make", "t_end", "steps"),
    [(hinged, 0.2, (40, 80, 1280)), (partial(mount, stops=False), 0.16, (160, 320, 2560))],
    ids=["hinged", "stiffnesses that change"],
)
def test_em_d_has_order_two(make, t_end, steps, rho):
    system, state = start_of(make())
    ends = []
    for n in steps:
        stepper = Stepper(system, t_end / n, rho=rho)
        ends.append(stepper.advance(stepper.start(state), 0, n)[0])
    for field in ("r", "v", "quat"):
        coarse, fine = (np.abs(getattr(end, field) - getattr(ends[2], field)).max() for end in ends[:2])
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.15), field


@pytest.mark.parametrize(("make", "h", "extra"), [(mobile, H, 2), (partial(mount, stops=False), H / 2, 4)])
def test_em_d_takes_about_as_many_newton_iterations_as_em(make, h, extra):
    """The stress derivatives are complete."""
    system, state = start_of(make())
    _, em = Stepper(system, h).advance(state, 0, 8)
    stepper = Stepper(system, h, rho=0.3)
    _, em_d = stepper.advance(stepper.start(state), 0, 8)
    assert em_d.iterations <= em.iterations + extra


def grounded_model():
    """Grounded and driven: a viscous rod on a motorised body under gravity, with a bushing and a spring with a law; free: a
    body towed by a follower force.
    """
    model = Model("held", gravity=(0, 0, -9.81))
    section = replace(SOFT, damping=0.01 * SOFT.stiffness)
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


def mount_on_driven_frame():
    """The mount on the ground, with a damped bushing to a driven frame, oblique gravity and a load."""
    model = mount()
    model.gravity = np.array(GRAVITY)
    a, c = model.bodies["a"], model.bodies["c"]
    model.add_joint("foot", "spherical", model.ground, a, at=(-0.1, 0.2, 0.1))
    cam = model.add_driven(
        "cam",
        (1.5, 0.3, 0.1),
        displacement=lambda t: (0.0, 0.1 * t * t, 0.3 * np.sin(4 * t)),
        turn=lambda t: 0.4 * np.sin(3 * t),
        axis=AXIS,
    )
    model.add_bushing("strap", cam, c, full(3, 15.0), full(4, 0.1), at=(1.5, 0.3, 0.1))
    model.add_force("push", c.at((0.1, 0.1, 0)), (1, -3, 2))
    return model


def towed_group():
    """A force on one part of a free group."""
    model = hinged()
    model.add_force("tow", model.bodies["b"].at((0.6, 0.1, 0.3)), (3, -9, 5))
    return model


def arm(damping=0.7):
    """Springs with parallel dampers."""
    model = Model("damped", gravity=(1.0, -2.0, -9.0))
    arm = model.add_body("arm", Box(0.4, 0.1, 0.2, mass=1.3), (0.2, 0.0, 0.1), angular_velocity=(0, 2.0, 0))
    model.add_joint("pin", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0))
    far = model.ground.at((0.5, 0.4, 0.6))
    model.add_spring("string", far, arm.at((0.2, 0.05, 0.1)), stiffness=400.0, damping=damping)
    model.add_spring("coil", model.ground, arm, 30.0, damping=0.1 * damping, along="rotation", axis=(0, 1, 0))
    return model


def point_masses():
    """Point masses, which have no rotation to take a torque."""
    model = Model("points", gravity=(0, 0, 0))
    both = [
        model.add_body(f"p{k}", PointMass(1.0 + k), (k, 0, 0), velocity=(0, 3.0 * k - 1.0, 1.0))
        for k in (0, 1)
    ]
    model.add_spring("spring", *(p.at((0, 0, 0)) for p in both), stiffness=50)
    return model


# time, integrator, smallest work, dissipation and algorithmic dissipation
BALANCES = [
    (grounded_model, 1.0, "em-d(0.6)", (1e-3, 1e-3, 1e-6)),
    (mount_on_driven_frame, 80 * H, "em-d(0.3)", (1.0, 1.0, 1.0)),
    (towed_group, 10 * H, "em-d(0.3)", (0.1, None, 1e-6)),
    (arm, 0.4, "em-d(0.6)", (None, 0.01, 0.0)),
    (partial(arm, 0.0), 0.4, "em-d(0.6)", (None, None, 0.0)),
    (point_masses, 1.0, "em-d(0.5)", (None, None, 0.0)),
]


@pytest.mark.parametrize(("make", "t_end", "integrator", "least"), BALANCES)
def test_work_dissipation_and_algorithmic_loss_balance_the_energy(make, t_end, integrator, least):
    result = simulate(make(), t_end, 0.02, integrator, output_every=1, progress=False)
    audit_report = audit(result)
    assert audit_report.ok, audit_report.text()
    assert audit_report.energy_balance < 1e-11
    assert f"taken out by {integrator}" in audit_report.text()
    changes = np.ptp(result.work), result.dissipation[-1], result.algorithmic[-1]
    for change, enough in zip(changes, least, strict=True):
        assert change == 0.0 if enough is None else change > enough
    assert np.diff(result.algorithmic_dissipation).min() >= 0.0
    assert np.array_equal(result.audit_column("algorithmic"), result.algorithmic)


def curve(page, name):
    """Values of a curve in a report."""
    match = re.search(rf'"name":"{name}".*?"y":\{{"dtype":"f4","bdata":"([^"]*)"', page)
    return np.frombuffer(base64.b64decode(match[1]), "<f4")


def test_reports_and_notebooks_show_the_algorithmic_dissipation(tmp_path):
    """The displayed balance closes like that of the audit."""
    result = simulate(grounded_model(), 0.4, 0.02, "em-d(0.6)", output_every=1, progress=False)
    scale = audit(result).energy_scale
    assert result.algorithmic[-1] > 1e-7 * scale
    assert np.array_equal(result.to_xarray().algorithmic, result.algorithmic)
    page = report(result, tmp_path / "page.html").read_text()
    assert curve(page, "defect").max() < 1e-11
    assert curve(page, "algorithmic") == pytest.approx(result.algorithmic, rel=1e-6)
    page = result._repr_html_()
    assert ">algorithmic<" in page
    assert f">{result.algorithmic[-1]:.5g}<" in page


def test_halved_steps_keep_the_energy_balance():
    system, state = start_of(mobile())
    long, short = Stepper(system, H, rho=0.2), Stepper(system, H / 2, rho=0.2)
    current, total = long.start(state), energies(system, state).total
    for stepper in (long, short, short, long):
        current, _ = stepper.advance(current, 0, 5)
        assert energies(system, current).total + current.memory[-2:].sum() == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("em-d", "give it, for instance em-d"),
        ("em-d(1.2)", "from 0"),
        ("em-d(x)", "from 0"),
        ("em4-d(0.5)", "negative substeps"),
        ("em-ggl-d(0.5)", "no hidden constraints"),
        ("em-x", "em-d(rho)"),
    ],
)
def test_invalid_em_d_parameters_are_rejected(name, remedy):
    with pytest.raises(ModelError, match=re.escape(remedy)):
        simulate(grounded_model(), 0.1, 0.02, name, progress=False)


def test_element_without_a_closed_form_is_rejected():
    system = mobile(element="relative(2)").build().system
    spans = system.spans._replace(kind=np.full_like(system.spans.kind, number_of("rod", "midpoint")))
    with pytest.raises(ModelError, match=r"'midpoint'.*use another element"):
        Stepper(system._replace(spans=spans), H, rho=0.5)


def swinging(add, speed, integrator="em-d(0.2)"):
    model = Model("swinging", gravity=(0, -9.81, 0))
    spin = {"velocity": (0.5 * speed, 0, 0), "angular_velocity": (0, 0, speed)}
    body = model.add_body("body", Box(0.2, 1.0, 0.1, density=300), (0, -0.5, 0), **spin)
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    add(model, body)
    return simulate(model, 2.0, 0.01, integrator, output_every=1, progress=False)


def test_inactive_stop_dissipates_nothing_and_active_one_does():
    def stop(at):
        return lambda model, body: model.add_limit(
            "stop", model.ground, body, 1e6, 0.01, -at, at, axis=(0, 0, 1)
        )

    free, far, near = (
        swinging(add, 2.0).body("body") for add in (lambda model, body: None, stop(1.0), stop(0.2))
    )
    assert np.abs(free.r[:, 0]).max() > 0.2
    assert np.abs(far.r - free.r).max() < 1e-10  # its stiffness sets the accuracy of a solved step
    assert np.abs(near.Omega[-20:, 2]).max() < 0.5 * np.abs(free.Omega[-20:, 2]).max()


def test_torsion_spring_unwraps_its_angle_without_dissipation():
    """The strain drops by a whole turn in one step, and nothing is dissipated on it."""

    def detent(model, body):
        law = SpringLaw.function(lambda x: 2 * np.sin(2 * x), -np.pi, np.pi, 1e-6)
        model.add_spring("detent", model.ground, body, law=law, along="rotation", axis=(0, 0, 1))

    em, em_d = (swinging(detent, 12.0, integrator) for integrator in ("em", "em-d(0.2)"))
    assert em_d.algorithmic_dissipation[-1] < 1e-3 * em.energy["kinetic"][0]
    assert em_d.body("body").r == pytest.approx(em.body("body").r, abs=5e-3)


def test_file_with_a_shorter_em_d_history_cannot_be_resumed(tmp_path):
    """A new run may start from it."""
    model, path = body_on_spring("bushing"), tmp_path / "older.vtkhdf"
    run = {"dt": 0.05, "integrator": "em-d(0.2)", "progress": False}
    simulate(model, 0.2, output=path, **run)
    with h5py.File(path, "r+", libver=("earliest", "v108"), locking=False) as file:
        without_digests(file)
        root = file["rodsim"]
        variables = root["own"][...]
        del root["own"]
        root["own"] = variables[:, :-6]  # without the row of the bushing
        root["layout"].attrs["n_memory"] -= 1
    with pytest.raises(ResultError, match=r"older version.*start="):
        simulate(model, 0.4, output=path, resume=True, **run)
    restarted = simulate(model, 0.2, start=Result.load(path), **run)
    assert restarted.layout.n_memory == (variables.shape[1] - restarted.layout.internal.size) // 6
