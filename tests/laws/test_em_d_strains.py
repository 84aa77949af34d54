"""`em-d(rho)` on bushings, springs with laws and limits: what rings dies, and the laws of the scheme hold with them."""

import h5py
import numpy as np
import pytest

from discretization.assembly.stress_dissipation import factorise
from discretization.state_measures import energies, momenta
from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import Box, Model, Result, SpringLaw, audit, simulate
from rodsim.results.errors import ResultError
from tests.support.em_d import H, history, start_of
from tests.support.results_sample import without_digests
from tests.support.rods import full

GRAVITY = (0.3, -0.5, -9.81)
TURNED = quaternions.normalize(np.array([0.9, 0.2, -0.1, 0.3]))
K, START = 1e9, 0.05  # N/m or N m/rad; m or rad
STRAIGHT = SpringLaw.table([-0.5, 0.5], [-0.5 * K, 0.5 * K])


def on_a_line(how):
    """A body that slides on x or turns about it, START away from where its spring has no force."""
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


def ringing(how, rho, steps):
    """Its distance from rest at every step, of that at the start."""
    states = history(*start_of(on_a_line(how)), 0.05, rho, steps)
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
def test_what_no_step_resolves_dies_whatever_holds_it(how):
    x = ringing(how, 0.2, 100)
    assert abs(x[1]) > 0.5
    assert np.abs(x[-10:]).max() < 1e-12


@pytest.mark.parametrize("rho", [0.2, 0.4])
@pytest.mark.parametrize("how", LINES)
def test_a_double_root_decays_by_its_power_times_a_straight_line(how, rho):
    """From rest x_n = (-rho)^n (1 + n (1 - rho^2)/(2 rho)) x_0, where the step is long."""
    n = np.arange(5)
    expected = 1 + n * (1 - rho**2) / (2 * rho)
    assert ringing(how, rho, 4) / (-rho) ** n == pytest.approx(expected, rel=1e-3)


WAVY = SpringLaw.function(lambda x: 30 * np.sin(6 * x) + 20 * x, -1.5, 1.5, 1e-6)  # falls in places


def test_factors_of_a_stiffness_are_its_root_and_leave_out_what_is_not_positive():
    B = np.random.default_rng(7).normal(size=(6, 3))
    fallen = np.diag([3.0, -2.0, 5.0])
    for A, expected in ((full(5, 3.0), full(5, 3.0)), (B @ B.T, B @ B.T), (fallen, np.maximum(fallen, 0.0))):
        F = A.copy()
        factorise(F, len(F))
        F = np.tril(F)
        assert np.abs(F @ F.T - expected).max() < 1e-12 * np.abs(A).max()


def mount(stops=True):
    """Three free bodies, off their axes: a bushing with a full matrix and springs with laws hold two of them, others and
    stops are about a hinge to the third.
    """
    model = Model("mount", gravity=(0, 0, 0))
    a = model.add_body("a", Box(0.3, 0.4, 0.5, density=100), (0, 0, 0), angular_velocity=(0.4, -1.0, 1.0))
    b = model.add_body("b", Box(0.5, 0.2, 0.3, density=200), (0.5, 0.3, -0.2), TURNED, velocity=(0, 0.5, 0))
    c = model.add_body("c", Box(0.7, 0.4, 0.3, density=80), (1.2, 0.3, 0.1), angular_velocity=(1, 4, -1))
    rest = (-0.03, 0.02, -0.01, 0.1, 0.6, -0.2)
    model.add_bushing("mount", a, b, full(1, 20.0), at=(0.3, 0.1, 0.0), axes=AXES, rest=rest)
    hook, eye, axis = a.at((0.1, 0.2, 0)), b.at((0.1, 0, -0.1)), AXIS
    model.add_spring("length", hook, eye, law=WAVY)
    model.add_spring("along", hook, eye, law=WAVY, along="axis", axis=axis)
    model.add_joint("hinge", "revolute", b, c, at=(0.8, 0.3, 0.0), axis=axis)
    model.add_spring("turn", b, c, law=WAVY, along="rotation", axis=axis)
    if stops:
        model.add_limit("stop", hook, eye, 4e3, 0.01, 0.3, 0.4, of="displacement", axis=(1, 0, 0.3))
        model.add_limit("end", b, c, 900.0, 0.02, -0.1, 0.1, axis=axis)
    return model


AXES, AXIS = quaternions.to_matrix(TURNED), (0.2, 1.0, 0.4)


def test_between_free_bodies_both_momenta_stay_the_energy_is_accounted_for_and_never_comes_back():
    system, state = start_of(mount())
    states = history(system, state, H, 0.3, 80)
    moved = np.array([np.concatenate(momenta(system, s)) for s in states])
    assert np.abs(moved - moved[0]).max() < 1e-11
    total = np.array([energies(system, s).total + s.memory[-2:].sum() for s in states])
    assert np.abs(total - total[0]).max() < 1e-11 * np.abs(total[0])
    taken = np.array([s.memory[-2:] for s in states])
    assert np.diff(taken[:, 1]).min() > 0.0
    assert taken[-1, 1] > 0.05 * total[0]
    # every interaction was in it: its row of the memory was not always empty
    memory = np.array([s.memory[:-2].reshape(-1, 6)[-len(system.others.kind) :] for s in states])
    rows = np.abs(memory).max(axis=(0, 2))
    assert rows.min() > 1e-3


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_with_stiffnesses_that_change_the_order_stays_two(rho):
    system, state = start_of(mount(stops=False))
    t_end, ends = 0.16, {}
    for n in (160, 320, 2560):
        stepper = Stepper(system, t_end / n, rho=rho)
        ends[n] = stepper.advance(stepper.start(state), 0, n)[0]
    for what in ("r", "v", "quat"):
        coarse, fine = (np.abs(getattr(ends[n], what) - getattr(ends[2560], what)).max() for n in (160, 320))
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1), what


def test_newton_takes_as_many_iterations_as_without_dissipation():
    """The derivatives of the stresses are whole."""
    system, state = start_of(mount(stops=False))
    _, em = Stepper(system, H / 2).advance(state, 0, 12)
    stepper = Stepper(system, H / 2, rho=0.3)
    _, em_d = stepper.advance(stepper.start(state), 0, 12)
    assert em_d.iterations <= em.iterations + 4


def test_on_the_ground_and_driven_the_work_is_in_the_balance_of_the_energy():
    """A bushing to a frame of given motion, with damping of its own, oblique gravity, a load."""
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
    found = simulate(model, 80 * H, H, "em-d(0.3)", output_every=1, progress=False)
    told = audit(found)
    assert told.ok
    assert told.energy_balance < 1e-11
    assert min(np.ptp(found.work), found.dissipation[-1], found.algorithmic[-1]) > 1.0
    assert np.diff(found.algorithmic_dissipation).min() >= 0.0


def swinging(add, speed, integrator="em-d(0.2)"):
    model = Model("swinging", gravity=(0, -9.81, 0))
    spin = {"velocity": (0.5 * speed, 0, 0), "angular_velocity": (0, 0, speed)}
    body = model.add_body("body", Box(0.2, 1.0, 0.1, density=300), (0, -0.5, 0), **spin)
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    add(model, body)
    return simulate(model, 2.0, 0.01, integrator, output_every=1, progress=False)


def test_a_stop_out_of_reach_takes_nothing_and_one_that_is_met_does():
    def stop(at):
        return lambda model, body: model.add_limit(
            "stop", model.ground, body, 1e6, 0.01, -at, at, axis=(0, 0, 1)
        )

    free, far, near = (
        swinging(add, 2.0).body("body") for add in (lambda model, body: None, stop(1.0), stop(0.2))
    )
    assert np.abs(free.r[:, 0]).max() > 0.2
    assert np.abs(far.r - free.r).max() < 1e-10  # its stiffness says how well a step is solved
    assert np.abs(near.Omega[-20:, 2]).max() < 0.5 * np.abs(free.Omega[-20:, 2]).max()


def test_a_spring_of_an_angle_goes_round_with_its_body():
    """Its strain falls by a whole turn in one step, on which nothing is taken out."""

    def detent(model, body):
        law = SpringLaw.function(lambda x: 2 * np.sin(2 * x), -np.pi, np.pi, 1e-6)
        model.add_spring("detent", model.ground, body, law=law, along="rotation", axis=(0, 0, 1))

    em, em_d = (swinging(detent, 12.0, integrator) for integrator in ("em", "em-d(0.2)"))
    assert em_d.algorithmic_dissipation[-1] < 1e-3 * em.energy["kinetic"][0]
    assert em_d.body("body").r == pytest.approx(em.body("body").r, abs=5e-3)


def test_a_file_of_a_version_that_remembered_less_is_not_gone_on_with(tmp_path):
    """But a new run may begin from it."""
    model, path = on_a_line("bushing"), tmp_path / "older.vtkhdf"
    run = {"dt": 0.05, "integrator": "em-d(0.2)", "progress": False}
    simulate(model, 0.2, output=path, **run)
    with h5py.File(path, "r+", libver=("earliest", "v108"), locking=False) as file:
        without_digests(file)
        root = file["rodsim"]
        own = root["own"][...]
        del root["own"]
        root["own"] = own[:, :-6]  # without the row of the bushing
        root["layout"].attrs["n_memory"] -= 1
    with pytest.raises(ResultError, match=r"older version.*start="):
        simulate(model, 0.4, output=path, resume=True, **run)
    begun = simulate(model, 0.2, start=Result.load(path), **run)
    assert begun.layout.n_memory == (own.shape[1] - begun.layout.own.size) // 6
