"""Impacts, and balls that roll and slide along rods, against closed forms, refined in step and mesh."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from rodsim import Friction, MassProperties, Material, Model, Result, Section, Sphere, audit, simulate
from rodsim.validation import contacts
from tests.support.contact_models import ball_on_floor

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
G = contacts.G


def spread(values) -> float:
    """Largest deviation from the first value, relative to its size."""
    values = np.asarray(values)
    return float(np.abs(values - values[0]).max() / np.abs(values[0]).max())


@pytest.mark.parametrize("h", [4e-3, 2e-3])
def test_bouncing_ball_conserves_energy_over_1000_bounces(h):
    """A bounce lasts 2 v/g in flight and the contact time. The energy error is a random walk of one rounding
    per step.
    """
    steps = round(1000.0 * (2.0 * contacts.SPEED / G + contacts.TOUCHES) / h)
    run = contacts.bouncing(h, steps * h, 1.0, 1.0, output_every=500)
    ball = run.body("ball")
    z, v = ball.r[:, 2], ball.v[:, 2]
    flies = z > contacts.RADIUS
    walk = 3.0 * 2.2e-16 * np.sqrt(steps)
    assert walk < 5e-13
    assert spread(run.energy["total"]) < walk
    assert (z + v**2 / (2.0 * G))[flies] == pytest.approx(contacts.TOP, rel=walk)
    assert np.count_nonzero(flies) > 0.9 * len(flies)


def test_ball_on_an_expression_law_has_the_exact_depth_and_contact_time(tmp_path):
    """Contact time 2 integral dx/sqrt(v^2 - 2 V/m), with x = depth sin(a); second order in the step.

    The loaded result has the same forces and passes the audit.
    """
    terms, speed, file = {1: 1e4, 2: -2e6, 3: 2e9}, 1.5, tmp_path / "ball.vtkhdf"
    model = ball_on_floor(
        0.0505, (0, 0, -speed), 0.0, law="1e4*depth + 2e9*depth**3 - 2e6*depth**2", stiffness=None
    )
    m = model.bodies["ball"].properties.mass

    def energy(x):
        return sum(c * x ** (p + 1) / (p + 1) for p, c in terms.items())

    deepest = brentq(lambda x: energy(x) - m * speed**2 / 2, 0, 0.1, xtol=1e-15)

    def slowness(a: float) -> float:
        return deepest * np.cos(a) / np.sqrt(speed**2 - 2 * energy(deepest * np.sin(a)) / m)

    lasts = 2 * quad(slowness, 0, np.pi / 2 * (1 - 1e-9))[0]
    dt = lasts / 200
    result = simulate(model, 260 * dt, dt, output_every=1, output=file, progress=False)
    contact, body = result.contact("on"), result.body("ball")
    assert contact.depth.max() == pytest.approx(deepest, rel=2e-4)
    assert body.v[-1, 2] == pytest.approx(speed, rel=1e-12)
    # flight before and after contact at constant speed: the rest of the time is the bounce
    distance = 0.0005 + body.r[-1, 2] - 0.05
    assert result.t[-1] - distance / speed == pytest.approx(lasts, rel=1e-4)
    assert np.ptp(result.energy["total"]) < 1e-13
    assert contact.energy == pytest.approx(energy(np.maximum(contact.depth, 0)), rel=1e-10, abs=1e-15)
    loaded = Result.load(file)
    assert np.array_equal(loaded.contact("on").normal_force, contact.normal_force)
    assert audit(loaded).ok


def test_steel_impact_converges_to_hertz_with_the_order():
    """Contact time to second order; the largest force, where all energy is elastic, to fourth."""
    ratios = np.array([contacts.steel_spheres(n) for n in (20, 40, 80, 160)])
    errors = np.abs(ratios[:, :2] - 1.0)
    assert np.all(errors[-1] < 1e-4)
    orders = np.log2(errors[:-1] / errors[1:])
    assert orders[:, 0] == pytest.approx(2.0, abs=0.1)
    assert np.all(orders[:, 1] > 3.5)
    assert ratios[:, 2] == pytest.approx(1.0, abs=1e-11)  # the ball that was at rest has all of the velocity


def thrown_bar(n: int, mass: str, stiffness: float, output_every: int = 1):
    """A bar of n elements thrown at a wall, in steps of half the time of a wave through an element.

    Return the run and the ratio of its final to its initial speed.
    """
    model, h = Model("bar"), 0.5 * contacts.LENGTH / contacts.WAVE / n
    velocity = (-contacts.HIT, 0, 0)
    bar = model.add_rod("bar", [(0, 0, 0), (1, 0, 0)], contacts.BAR, n, velocity=velocity, mass=mass)
    wall = model.add_plane("wall", model.ground.at((0.0, 0.0, 0.0)), (1.0, 0.0, 0.0))
    model.add_contact("hit", model.add_sphere("tip", bar.start, 0.0), wall, stiffness)
    run = simulate(model, 6 * n * h, h, output_every=output_every, progress=False)
    return run, run.linear_momentum[-1, 0] / (contacts.BAR.mass_per_length * contacts.HIT)


def test_impacting_bar_leaves_the_wall_when_the_wave_returns():
    """The force EA v/c lasts 2 L/c; then all speed returns but that of the front, a jump, which has dispersed
    into short waves.

    The loss is least with a tip of half the stiffness of an element. An elastic wall, which takes speed, is
    tested below.
    """
    lasts = []
    for n in (20, 40, 80):
        run, ratio = thrown_bar(n, "lumped", 0.5 * n * 1e7 * contacts.AREA)
        force = run.contact("hit").force[:, 0]
        assert force[n : 3 * n].mean() == pytest.approx(contacts.PLATEAU, rel=2e-3)
        lasts.append(np.count_nonzero(force) / (4.0 * n) - 1.0)
        assert abs(ratio) > 0.995
        assert spread(run.energy["total"]) < 1e-11
    assert lasts[-1] < 0.03
    assert np.log2(np.array(lasts[:-1]) / lasts[1:]) == pytest.approx(1.0, abs=0.3)


def test_impacting_bar_leaves_an_elastic_wall_at_the_exact_speed():
    """On a wall with the time constant tau the force is 1 - exp(-t/tau) of EA v/c.

    From T = 2 L/c on, with x = (t - T)/tau, it is exp(-x) (2 + 2 x) - 1 until exp(x) = 2 + 2 x.
    The impulse lacks 0.0517 tau EA v/c. Order 2 in mesh and step together.
    """
    x = brentq(lambda x: np.exp(x) - 2.0 - 2.0 * x, 1.0, 3.0)
    lacks = 1.0 + x - 2.0 * (1.0 - np.exp(-x)) - 2.0 * (1.0 - np.exp(-x) * (1.0 + x))
    exact = lacks * contacts.DELAY * contacts.WAVE / contacts.LENGTH
    stiffness = 1e7 * contacts.AREA / (contacts.WAVE * contacts.DELAY)
    ratios = np.array([thrown_bar(n, "consistent", stiffness, 6 * n)[1] for n in (20, 40, 80)])
    errors = (1.0 - ratios) / exact - 1.0
    assert exact == pytest.approx(0.005171, rel=1e-4)
    assert abs(errors[-1]) < 0.04
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(1.9, abs=0.1)


@pytest.mark.parametrize(
    ("e", "mass", "speed", "k", "t_end"),
    [(0.7, 1.6, 10.0, 1e6, 0.1), (0.2, 0.3, 1.0, 1e4, 2.0), (1.0, 1.0, 2.0, 1e5, 0.3)],
)
def test_ball_between_two_spheres_loses_energy_by_restitution(e, mass, speed, k, t_end):
    """As 10, 7, 4.9, 3.43 m/s; the first impact dissipates m v^2 (1 - e^2)/2."""
    model, h = Model("between"), t_end / round(t_end / (0.005 * np.sqrt(mass / k)))
    body = model.add_body("ball", MassProperties(mass, np.full(3, 1e-3)), velocity=(speed, 0.0, 0.0))
    walls = [model.add_sphere(f"{x:+}", model.ground.at((x, 0.0, 0.0)), 0.05) for x in (-0.2, 0.2)]
    ball = model.add_sphere("ball", body, 0.05)
    model.add_contact("walls", ball, walls, k, restitution=e, rest_speed=1e-5 * speed)
    run = simulate(model, t_end, h, output_every=1, progress=False)
    free = np.abs(run.body("ball").r[:, 0]) < 0.1
    v, dissipated = run.body("ball").v[:, 0][free], run.dissipation
    turns = np.append(True, np.diff(np.sign(v)) != 0)
    assert np.abs(v)[turns] == pytest.approx(speed * e ** np.arange(turns.sum()), rel=2e-4)
    assert turns.sum() == (3 if e == 0.2 else 4)
    first = np.flatnonzero(v < 0.0)[0]
    assert dissipated[free][first] == pytest.approx(0.5 * mass * speed**2 * (1.0 - e**2), rel=2e-4, abs=1e-12)
    assert np.diff(dissipated).min() >= 0.0
    assert spread(run.energy["total"] + dissipated) < 1e-12


def rail(
    h: float, bend: float = 0.0, friction: float = 0.0, t_end: float = 0.4, speed: float = 1.037, n: int = 10
):
    """A ball that is pressed on a rod, fixed at all nodes, and moves along it; after its middle the rod rises
    with slope `bend`.
    """
    model, force, stiffness = Model("rail"), 5.0, 1e4
    angle = bend * (np.arange(n) >= n // 2)
    steps = np.column_stack([np.cos(angle), np.zeros(n), np.sin(angle)]) / n
    points = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    rod = model.add_rod("rail", points, Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000)), n)
    for k in range(n + 1):
        model.add_joint(f"node {k}", "clamp", rod.at(k / n))
    at = (0.13, 0.0, 0.03 - force / stiffness)
    ball = model.add_body("ball", Sphere(0.02, density=3000.0), at, velocity=(speed, 0.0, 0.0))
    model.add_force("press", ball.at((0.0, 0.0, 0.0)), (0.0, 0.0, -force))
    surface = model.add_sphere("surface", ball, 0.02)
    rubs = Friction(friction, tangential_stiffness=1e5)
    model.add_contact("rides", rod, surface, stiffness, friction=rubs if friction else 0.0)
    return simulate(model, t_end, h, output_every=1, progress=False)


def nodes_passed(ball) -> int:
    return int(np.floor(10.0 * ball.r[-1, 0]) - np.floor(10.0 * ball.r[0, 0]))


@pytest.mark.parametrize(
    ("speed", "h", "t_end"), [(1.037, 2e-3, 0.4), (1.037, 1e-3, 0.4), (20.0, 2.5e-4, 0.03)], ids=str
)
def test_ball_moves_along_a_rod_without_node_effects(speed, h, t_end):
    """Also in steps of 5 mm, which end after a node."""
    ball = rail(h, t_end=t_end, speed=speed).body("ball")
    assert nodes_passed(ball) >= 4
    assert ball.v[:, 0] == pytest.approx(speed, abs=1e-10)
    assert np.ptp(ball.r[:, 2]) < 1e-14


@pytest.mark.parametrize("bend", [0.2, -0.2])
def test_ball_conserves_energy_along_a_bent_rod(bend):
    run = rail(1e-3, bend)
    total = run.energy["total"] - run.work
    assert np.abs(total - total[0]).max() < 1e-13 * run.energy["kinetic"][0] * 10
    assert np.ptp(run.body("ball").r[:, 2]) > 4e-3


@pytest.mark.parametrize(("speed", "t_end"), [(2.0, 0.08), (20.0, 0.03)])
def test_friction_along_a_rod_does_not_depend_on_nodes(speed, t_end):
    """mu times the normal force while the ball slides; also in steps across nodes."""
    ball = rail(2.5e-4, friction=0.02, t_end=t_end, speed=speed).body("ball")
    mass = 3000.0 * 4.0 / 3.0 * np.pi * 0.02**3
    late = np.arange(len(ball.v) - 1) * 2.5e-4 > 0.01  # the bristle has its final length
    assert mass * np.diff(ball.v[:, 0])[late] / 2.5e-4 == pytest.approx(-0.02 * 5.0, rel=1e-9)
    assert nodes_passed(ball) >= 1
    assert np.ptp(ball.r[:, 2]) < 1e-14


def test_sliding_ball_on_a_rod_decelerates_uniformly_until_it_rolls():
    """m dv/dt = -mu F until it rolls at the speed given by the angular momentum about the line of contact."""
    speed, mu = 0.5, 0.1
    run = rail(5e-4, friction=mu, speed=speed, t_end=0.2)
    ball, mass = run.body("ball"), 3000.0 * 4.0 / 3.0 * np.pi * 0.02**3
    inertia, arm = (
        0.4 * mass * 0.02**2,
        (0.03 - 5e-4) * 0.02 / 0.03,
    )  # to the point that divides the line of the axes as the radii do
    rolling = speed * mass * arm**2 / (mass * arm**2 + inertia)
    until = (speed - rolling) * mass / (mu * 5.0)
    slides = (run.t > 5e-3) & (run.t < 0.9 * until)
    assert np.polyfit(run.t[slides], ball.v[slides, 0], 1)[0] == pytest.approx(-mu * 5.0 / mass, rel=2e-3)
    assert ball.v[-1, 0] == pytest.approx(rolling, rel=2e-3)
    assert spread(run.energy["total"] + run.dissipation - run.work) < 1e-12
