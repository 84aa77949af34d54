"""Forces that move along rods: Fryba's bridge, the law of the lever, work, and loads that enter and leave."""

import numpy as np
import pytest

import rodsim
from rodsim import Model, Section, audit, equilibrium, signals, simulate

LENGTH, P, SPEED = 20.0, 1e4, 30.0
EA, EI, MASS = 3e10, 2.5e9, 2500.0


def bridge(element: str, n: int, stiffness: float = 1.0) -> Model:
    model = Model("bridge")
    section = Section.from_stiffness(
        EA=EA * stiffness,
        GA=1e4 * 1.04e10 * stiffness,
        GJ=1e9 * stiffness,
        EI=EI * stiffness,
        mass_per_length=MASS,
        inertia_per_length=1e-2,
    )
    beam = model.add_rod("beam", [(0, 0, 0), (LENGTH, 0, 0)], section, n, element=element)
    model.add_joint("A", "revolute", model.ground, beam.start, axis=(0, 1, 0))
    model.add_joint("B", "generic", model.ground, beam.end, locked=["y", "z", "rx", "rz"])
    return model


def deflection(t: np.ndarray) -> np.ndarray:
    """Deflection of the middle under a force at constant speed; Fryba, Vibration of Solids and Structures (1999), (1.31)."""
    total = np.zeros_like(t)
    for j in range(1, 40):
        natural, forced = (j * np.pi / LENGTH) ** 2 * np.sqrt(EI / MASS), j * np.pi * SPEED / LENGTH
        shape = np.sin(j * np.pi / 2) * (np.sin(forced * t) - forced / natural * np.sin(natural * t))
        total += 2 * P / (MASS * LENGTH) * shape / (natural**2 - forced**2)
    return -total


def test_bridge_under_a_moving_force_follows_the_series_of_fryba() -> None:
    model = bridge("relative(4)", 32)
    model.add_moving_force("wheel", "beam", f"{SPEED}*t", (0, 0, -P))
    end = LENGTH / SPEED
    result = simulate(model, end, end / 400, output_every=1, progress=False)
    computed, exact = result.rod("beam").r[:, 16, 2], deflection(result.t)
    assert np.abs(computed - exact).max() < 2e-3 * np.abs(exact).max()
    assert audit(result).ok, audit(result).text()
    assert abs(result.work[-1]) > 1e-3


@pytest.mark.parametrize(
    ("element", "n"), [("se3", 7), ("relative(2)", 6), ("relative(4)", 8), ("lagrange(3)", 6)]
)
@pytest.mark.parametrize("length", [0.0, 3.0])
def test_supports_carry_a_force_by_the_law_of_the_lever(element: str, n: int, length: float) -> None:
    model = bridge(element, n, 1e3)
    model.add_moving_force("wheel", "beam", "10 + 2*t", (0, 0, -P), length)
    for x in (2.0, 7.3, 10.0, 17.9):
        rest = equilibrium(model, load_time=0.5 * (x - 10.0))
        forces = [rest.joint(name).force[-1, 2] for name in "AB"]
        assert forces == pytest.approx([P * (1.0 - x / LENGTH), P * x / LENGTH], rel=1e-6)


def test_force_acts_on_the_rod_alone() -> None:
    """Before the start and behind the end nothing acts; a spread force enters in proportion."""
    for length, x, part in (
        (0.0, -1e-3, 0.0),
        (0.0, 0.0, 1.0),
        (0.0, 20.0, 1.0),
        (0.0, 20.001, 0.0),
        (2.0, 0.5, 0.75),
    ):
        model = bridge("se3", 5)
        model.add_moving_force("wheel", "beam", x, (0, 0, -P), length)
        rest = equilibrium(model)
        assert sum(rest.joint(name).force[-1, 2] for name in "AB") == pytest.approx(part * P, abs=1e-6 * P)


def test_force_spread_over_the_whole_rod_is_a_distributed_load() -> None:
    shapes = []
    for spread in (True, False):
        model = bridge("relative(2)", 6)
        if spread:
            model.add_moving_force("train", "beam", LENGTH / 2, (0, 0, -P), LENGTH)
        else:
            model.add_distributed_load("snow", "beam", (0, 0, -P / LENGTH))
        shapes.append(equilibrium(model).rod("beam").r[-1])
    assert shapes[0] == pytest.approx(shapes[1], abs=1e-12)


@pytest.mark.parametrize("element", ["se3", "relative(2)", "lagrange(3)"])
def test_train_longer_than_the_bridge_enters_covers_and_leaves(element: str) -> None:
    """A train of 30 m, 1 kN/m: supports carry the part on the bridge by the law of the lever, at any time of its motion."""
    q, train = 1e3, 30.0
    model = bridge(element, 6, 1e3)
    model.add_moving_force("train", "beam", f"{SPEED}*t - 15", (0, 0, -q * train), train)
    for front in (4.0, 13.7, 20.0, 26.0, 41.0, 50.0):  # of the train, m
        rest = equilibrium(model, linear=True, load_time=front / SPEED)
        begins, ends = max(front - train, 0.0), min(front, LENGTH)
        load, center = q * (ends - begins), (begins + ends) / 2
        forces = [rest.reactions[name].force[2] for name in "AB"]
        expected = [load * (1.0 - center / LENGTH), load * center / LENGTH]
        assert forces == pytest.approx(expected, rel=1e-6, abs=1e-3)


def test_train_on_a_bridge_keeps_the_balance_of_energy() -> None:
    model = bridge("relative(2)", 8)
    model.add_moving_force("train", "beam", f"{SPEED}*t - 15", (0, 0, -1e3 * 30.0), 30.0)
    result = simulate(model, 1.8, 0.005, progress=False)
    assert audit(result).energy_balance < 1e-11
    slow = bridge("relative(2)", 8)
    slow.add_distributed_load("all", "beam", (0, 0, -1e3))
    still = equilibrium(slow).rod("beam").r[-1, 4, 2]
    covered = result.rod("beam").r[
        (result.t > 0.7) & (result.t < 0.95), 4, 2
    ]  # it swings about the resting shape
    assert covered.mean() == pytest.approx(still, rel=0.1)


def test_varying_force_and_functions_of_time_are_taken() -> None:
    works = []
    for position, force in (
        ("4*t", signals.Pulse(P, 0.0, 9.0).along((0, 0, -1))),
        (lambda t: 4 * t, lambda t: (0, 0, -P)),
    ):
        model = bridge("se3", 6)
        model.add_moving_force("wheel", "beam", position, force)
        works.append(simulate(model, 0.5, 0.01, progress=False).work[-1])
    assert works[0] == pytest.approx(works[1], rel=1e-9)
    assert works[0] > 0.0


def test_impossible_moving_forces_are_rejected() -> None:
    model = bridge("se3", 4)
    with pytest.raises(rodsim.ModelError, match=r"length = -3.0 is below 0"):
        model.add_moving_force("short", "beam", 1.0, (0, 0, -P), -3.0)
    with pytest.raises(rodsim.ModelError, match=r"moving force 'lost': position: .* no parameter 'x'"):
        model.add_moving_force("lost", "beam", "x", (0, 0, -P))
    with pytest.raises(rodsim.ModelError, match="'road'"):
        model.add_moving_force("off", "road", 1.0, (0, 0, -P))
