"""What contacts of spheres and rods lose: windows of nodes, bristles that go on from list to list."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discretization.contact.search import candidates
from discretization.contact.table import Pair, Rod, Sphere, contacts_of
from discretization.contact.windows import Window, handed_on, losses_of, windows_of
from discretization.contact.windows import carried as carried_on
from discretization.interaction_kinds import INTERACTIONS
from discretization.time import contact_stepper
from examples.contact import rod_on_rails
from rigid.interactions.contact.friction import REST
from rodsim import Material, Model, Result, Section, audit, simulate
from tests.support.touching_models import (
    CROSSING,
    PARALLEL,
    balls,
    carried,
    held_everywhere,
    replaced,
    surface_of,
    touching,
    two_rods,
)

RUBS = (0.0, 0.0, 1e-2, 0.3, 0.3, 1e4, 0.0, 0.0, 1.0, 1.0, 1.0)


def losing(
    model: Model,
    restitution: float = 1.0,
    friction: tuple[float, float] = (0.0, 0.0),
    stiffness: float = 1e4,
    rest: float = 1e-2,
) -> Model:
    """The model with these losses at all contacts."""
    system = model.build().system
    b = (1.0 - restitution**2) / (1.0 + restitution**2)
    loss = np.array([b, 0.0, rest, *friction, stiffness, 0.0, 0.0, 1.0, 1.0, 1.0])
    contacts = system.contacts._replace(loss=np.tile(loss, (len(system.contacts.pairs), 1)))
    return replaced(model, system._replace(contacts=contacts))


def run(model: Model, t_end: float, dt: float, **more) -> Result:
    return simulate(model, t_end, dt, progress=False, **{"output_every": 1, **more})


def balance(result: Result) -> float:
    """Of the energy, of what there was at first."""
    total = result.energy["total"] + result.audit_column("dissipation") - result.audit_column("work")
    return float(np.abs(total - total[0]).max() / np.abs(total).max())


def bristles(result: Result) -> np.ndarray:
    """(outputs, rows, 6)."""
    return np.array([result.layout.own.part(result.state(k).own, "bristle") for k in range(result.n_outputs)])


def test_windows_have_each_listed_segment_once() -> None:
    way = np.random.default_rng(2)
    for closed in (False, True):
        n = 30
        turn = np.linspace(0, 2 * np.pi, n, endpoint=not closed)
        ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
        lengths = np.full(n if closed else n - 1, 2 * np.pi / n)
        straight = np.stack([np.linspace(-1.5, 1.5, 8), 0.05 * way.normal(size=8), 0.05 * np.ones(8)], axis=1)
        surfaces = [Rod(np.arange(1, n + 1), lengths, 0.05), Rod(np.arange(40, 48), np.full(7, 3 / 7), 0.05)]
        contacts = contacts_of(surfaces, [Pair(0, 1, (0, 1, 1, 0), RUBS)])
        for skin in (0.01, 0.3, 3.0):
            listed = candidates(contacts, np.vstack([ring, straight]), skin)
            windows = windows_of(contacts, listed)
            covered: dict[tuple[int, ...], int] = {}
            for own in windows:
                assert len(own.part) + len(own.row) <= 12
                for b0, b1 in zip(own.row[:-1], own.row[1:], strict=True):
                    assert b1 == b0 + 1 or (closed and (b0, b1) == (n - 1, 0))
                    key = (own.pair, own.side, *own.part, b0)
                    covered[key] = covered.get(key, 0) + 1
            rows = np.column_stack([listed.pair, listed.side, listed.ends[:, :3]])
            assert all(covered[tuple(row)] == 1 for row in rows.tolist())
            losses, stiffness = losses_of(contacts, windows)
            assert len(losses.kind) == len(stiffness) == len(windows) > 0
            assert stiffness[0] == pytest.approx(0.5 * 1e4 * lengths[0])  # of both sides half


def test_a_window_around_the_end_of_a_closed_rod_is_one() -> None:
    turn = 2 * np.pi * np.arange(20) / 20
    ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    surfaces = [Rod(np.arange(1, 21), np.full(20, np.pi / 10), 0.05), Sphere(30, (0, 0, 0), 0.3)]
    contacts = contacts_of(surfaces, [Pair(0, 1, (0, 1, 1, 0), RUBS)])
    (window,) = windows_of(contacts, candidates(contacts, np.vstack([ring, [[1.2, 0, 0]]]), 0.1))
    assert window.part == (20,)
    assert window.row == (18, 19, 0, 1, 2)
    assert "a sphere and 5 nodes" in INTERACTIONS[losses_of(contacts, [window])[0].kind[0]].name


def test_windows_have_the_nodes_of_what_is_listed_and_no_others() -> None:
    line = np.stack([np.linspace(0, 1, 11), np.zeros(11), np.zeros(11)], axis=1)
    surfaces = [Rod(np.arange(1, 12), np.full(10, 0.1), 0.01), Sphere(30, (0, 0, 0), 0.02)]
    contacts = contacts_of(surfaces, [Pair(1, 0, (0, 1, 1, 0), RUBS)])
    for x, row in ((0.05, (0, 1)), (0.95, (9, 10)), (0.5, (4, 5, 6))):
        (window,) = windows_of(contacts, candidates(contacts, np.vstack([line, [[x, 0, 0.03]]]), 0.005))
        assert window.row == row
    # nor those that a joint keeps apart: the sphere is point 11
    held = contacts_of(surfaces, [Pair(1, 0, (0, 1, 1, 0), RUBS)], [(6, 11)])
    (window,) = windows_of(held, candidates(held, np.vstack([line, [[0.55, 0, 0.03]]]), 0.005))
    assert window.row == (5, 6)


def test_a_bristle_goes_on_in_the_window_that_has_its_place() -> None:
    points = np.array([[0.0, 0, 1], [0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0]])
    old = [Window(0, 0, (0,), (1, 2, 3, 4)), Window(1, 0, (0,), (1, 2))]
    assert carried_on(points, old, [Window(0, 0, (0,), (1, 2, 3))]).tolist() == [0, -1]
    apart = [Window(0, 0, (0,), (4, 5)), Window(0, 0, (0,), (1, 2)), Window(1, 1, (0,), (1, 2))]
    assert carried_on(points, old, apart).tolist() == [1, -1]
    halves = [Window(0, 0, (0,), (1, 2)), Window(0, 0, (0,), (2, 3, 4))]  # both have the nearest node
    assert carried_on(points + [[2.0, 0, 0]] * (np.arange(6) == 0)[:, None], halves, halves).tolist() == [
        0,
        1,
    ]


def test_bristles_that_go_on_in_one_hold_their_sum_and_gain_nothing() -> None:
    bristles = np.random.default_rng(3).normal(size=(7, 4))
    bristles[:, 3] = 0, 1, 1, 1, 0, 1, 1
    bristles[3, :3] = -0.5 * bristles[2, :3]
    found = handed_on(bristles, np.array([2, 0, 1, 1, 3, 3, -1]), 5)
    assert np.array_equal(found[[2, 0]], bristles[[0, 1]])
    assert found[1, :3] == pytest.approx(0.5 * bristles[2, :3], rel=1e-14)
    assert found[:, 3].tolist() == [1, 1, 0, 0, 0]  # one that sticks holds all
    assert not found[4].any()
    bristles[5, :3] = 2.0 * bristles[4, :3]  # their sum would have 9/5 of the energy of both
    found = handed_on(bristles, np.array([2, 0, 1, 1, 3, 3, -1]), 5)
    assert found[3, :3] == pytest.approx(np.sqrt(5.0) * bristles[4, :3], rel=1e-14)


def slider() -> Model:
    """One element that lies on a held rod of sixteen, along it, and slides out beyond its end. At first it is beside more of its
    nodes than a window has.
    """
    model = Model("slider", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000))
    model.add_rod("rail", [(0, 0, 0), (1, 0, 0)], section, n_elements=16)
    ends = [(0.37, 0, 0.0199), (0.99, 0, 0.0199)]
    model.add_rod("slider", ends, section, n_elements=1, velocity=(2.0, 0, 0))
    held_everywhere(model, "rail")
    surfaces = [surface_of(rod, 0.01) for rod in model.build().layout.rods]
    return touching(model, surfaces, [Pair(1, 0, (0, 1e4, 1, 0), stations=10)])


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_what_bristles_keep_is_in_the_balance_where_two_windows_become_one(
    way: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both hold the same way, or the first of them is turned round against the other, as it is on rods that turn."""
    became: list[bool] = []

    def seen(bristles: np.ndarray, to: np.ndarray, count: int) -> np.ndarray:
        became.append(len(np.unique(to[to >= 0])) < np.count_nonzero(to >= 0))
        return handed_on(np.vstack([bristles[:1] * (way, way, way, 1.0), bristles[1:]]), to, count)

    monkeypatch.setattr(contact_stepper, "handed_on", seen)
    result = run(losing(slider(), friction=(0.3, 0.3)), 0.06, 1e-3)
    assert any(became)
    assert balance(result) < 1e-13
    assert np.diff(result.audit_column("dissipation")).min() >= 0.0


@pytest.mark.parametrize("friction", [(0.0, 0.0), (0.4, 0.3)])
def test_what_balls_lose_is_in_the_balance(friction: tuple[float, float]) -> None:
    result = run(losing(balls(), 0.5, friction), 0.3, 1e-3)
    lost = result.audit_column("dissipation")
    assert balance(result) < 2e-13
    assert np.diff(lost).min() >= 0.0
    assert lost[-1] > 0.3 * result.energy["total"][0]
    assert np.abs(result.linear_momentum - result.linear_momentum[0]).max() < 1e-12
    L = result.angular_momentum
    assert np.abs(L - L[0]).max() < 2e-12 * np.abs(L[0]).max()
    spin = np.abs(np.array([result.state(-1).Omega[body.frame] for body in result.layout.bodies])).max()
    assert (spin > 0.1) == (friction[0] > 0.0)
    assert bristles(result).shape[1] == (28 if friction[0] > 0.0 else 0)
    assert bool(bristles(result).any()) == (friction[0] > 0.0)


def test_bristles_do_not_depend_on_outputs_nor_on_being_stopped(tmp_path: Path) -> None:
    """A ball sticks to a rod and slides while lists are made anew; it is stopped in between."""
    file = tmp_path / "ball.vtkhdf"

    def model() -> Model:
        return losing(carried(speed=2.0), friction=(0.4, 0.3))

    whole = run(model(), 0.06, 5e-4, output_every=12)
    run(model(), 0.03, 5e-4, output_every=12, output=file)
    resumed = run(model(), 0.06, 5e-4, output_every=12, output=file, resume=True)
    every = run(model(), 0.06, 5e-4)
    for other in (resumed, every):
        assert all(np.array_equal(a, b) for a, b in zip(whole.state(-1), other.state(-1), strict=True))
    assert bristles(every)[-1, 0, 0] > 0.0
    parts = [every.layout.memory.parts(every.state(k).memory)["reference"] for k in range(every.n_outputs)]
    assert len(np.unique(parts, axis=0)) > 2
    found = audit(Result.load(file))
    assert found.ok
    assert found.retaken.steps > 0


def test_a_ball_that_slides_over_nodes_is_slowed_evenly_until_it_rolls() -> None:
    """m dv/dt = -mu F; it rolls from the speed on that the moment of momentum about the line of contact leaves."""
    force, mu, speed = 10.0, 0.02, 2.0
    model = losing(carried(force, speed=speed), friction=(mu, mu), stiffness=1e5)
    result = run(model, 0.15, 2.5e-4, output_every=4)
    ball = result.layout.bodies[0].frame
    v = np.array([result.state(k).v[ball, 0] for k in range(result.n_outputs)])
    x = np.array([result.state(k).r[ball, 0] for k in range(result.n_outputs)])
    frames = model.build().system.frames
    m, inertia = frames.mass[ball], frames.inertia[ball, 0, 0]
    arm = (0.03 - 1e-3) * 0.02 / 0.03  # to the point between the axes that divides them as the radii do
    rolling = speed * m * arm**2 / (m * arm**2 + inertia)
    until = (speed - rolling) * m / (mu * force)
    slides = (result.t > 2e-3) & (result.t < 0.9 * until)
    slope = np.diff(v[slides]) / np.diff(result.t[slides])
    assert slope == pytest.approx(-mu * force / m, rel=2e-3)  # also over the nodes that it passes
    assert np.count_nonzero(np.diff(np.floor(7 * x[slides]))) > 0
    assert v[-1] == pytest.approx(rolling, rel=2e-3)
    assert balance(result) < 1e-12


def ball_of(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Places and velocities (T, 3) of the first body."""
    states, ball = [result.state(k) for k in range(result.n_outputs)], result.layout.bodies[0].frame
    return np.array([state.r[ball] for state in states]), np.array([state.v[ball] for state in states])


def test_a_step_past_a_node_of_a_straight_rod_is_as_any_other() -> None:
    """5 mm a step, past four nodes: neither depth nor speed change."""
    r, v = ball_of(run(carried(speed=20.0), 0.03, 2.5e-4))
    assert np.floor(7 * r[-1, 0]) - np.floor(7 * r[0, 0]) == 4
    assert np.ptp(r[:, 2]) < 1e-14
    assert np.abs(v - v[0]).max() < 1e-12


@pytest.mark.parametrize("speed", [2.0, 20.0])
def test_friction_is_the_same_in_mid_segment_and_in_steps_past_nodes(speed: float) -> None:
    """mu F, while it slides."""
    force, mu, h = 10.0, 0.02, 2.5e-4
    model = losing(carried(force, speed=speed), friction=(mu, mu), stiffness=1e5)
    result = run(model, 0.08 if speed < 10.0 else 0.03, h)
    r, v = ball_of(result)
    late = result.t[1:] > 0.01  # the bristle is as long as it will be
    found = np.diff(v[:, 0])[late] / h * model.build().system.frames.mass[result.layout.bodies[0].frame]
    assert np.count_nonzero(np.diff(np.floor(7 * r[:, 0]))[late]) > 0  # nodes that it passes
    assert found == pytest.approx(-mu * force, rel=1e-11)
    assert np.ptp(r[:, 2]) < 1e-14


@pytest.mark.parametrize("direction", [CROSSING, PARALLEL])
def test_rods_that_rub_keep_momenta_and_balance(direction: tuple[float, float, float]) -> None:
    result = run(losing(two_rods(direction, n=4, m=4), 0.8, (0.3, 0.2), 1e6), 0.02, 5e-4)
    lost, L = result.audit_column("dissipation"), result.angular_momentum
    assert balance(result) < 5e-14
    assert np.diff(lost).min() >= 0.0
    assert lost[-1] > 1e-3 * result.energy["total"][0]
    assert np.abs(L - L[0]).max() < 2e-13 * np.abs(L[0]).max()  # some steps are halved
    assert bristles(result)[:, :, 0].any()


def test_a_run_begins_with_a_state_of_another() -> None:
    """Lists and bristles begin anew, what moves goes on: without friction to the bit where nothing touches."""
    first = run(losing(balls(), 0.5), 0.05, 1e-3, output_every=10)
    both = run(losing(balls(), 0.5), 0.1, 1e-3, output_every=10)
    second = run(losing(balls(), 0.5), 0.05, 1e-3, output_every=10, start=first)
    for a, b in zip(both.state(-1)[:4], second.state(-1)[:4], strict=True):
        assert a == pytest.approx(b, abs=1e-12)
    rubbed = run(losing(balls(), 0.5, (0.4, 0.3)), 0.1, 1e-3, output_every=10)
    again = run(losing(balls(), 0.5, (0.4, 0.3)), 0.1, 1e-3, output_every=10, start=rubbed)
    assert balance(again) < 1e-12


@pytest.mark.parametrize(("direction", "most"), [(CROSSING, 10), (PARALLEL, 9)])
def test_impacts_with_friction_need_few_iterations(direction: tuple[float, float, float], most: int) -> None:
    """At 2 m/s, a rest speed of 1 mm/s: by the tangent of the sign, corrections jump between slides one way and the other,
    13 and 18 times; no step is halved.
    """
    result = run(losing(two_rods(direction), friction=(0.4, 0.4), stiffness=4e6, rest=1e-3), 0.02, 5e-4)
    assert result.halvings.sum() == 0
    assert result.newton_iterations.max() <= most
    assert result.audit_column("dissipation")[-1] > 1e-3
    assert balance(result) < 5e-14


@pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")
def test_a_rod_on_rails_needs_no_halved_steps() -> None:
    """At 1 m/s, a rest speed of 1 mm/s."""
    model = rod_on_rails.model()
    system = model.build().system
    loss = system.contacts.loss.copy()
    loss[:, REST] = 1e-3
    result = run(replaced(model, system._replace(contacts=system.contacts._replace(loss=loss))), 0.15, 1e-3)
    assert result.halvings.sum() == 0
    assert result.newton_iterations[1:].max() < 20
    assert result.audit_column("dissipation")[-1] > 0.015
    assert balance(result) < 1e-13
