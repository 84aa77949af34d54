"""Long-term conservation by `em` and `em-ggl`: step errors do not accumulate but form a random walk of round-off."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import MassProperties, Material, Model, Section, simulate

EPS = 2.220446049250313e-16
G = 9.80665


def top() -> tuple[Model, float]:
    """A heavy top with 60 rad/s."""
    model, tilt = Model("top", gravity=(0, 0, -G)), 0.3
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    body = model.add_body(
        "top",
        MassProperties(1.0, np.array([0.02, 0.02, 0.01])),
        tuple(0.5 * axis),
        orientation=(np.cos(0.5 * tilt), 0, np.sin(0.5 * tilt), 0),
        angular_velocity=tuple(60.0 * axis),
    )
    model.add_joint("tip", "spherical", model.ground, body, at=(0, 0, 0))
    return model, 1e-3


def tumbling() -> tuple[Model, float]:
    model = Model("tumbling")
    inertia = MassProperties(1.6, np.array([0.1, 0.17, 0.25]))
    model.add_body("body", inertia, velocity=(0.3, 0.1, 1.0), angular_velocity=(1, 2, 3))
    return model, 1e-3


def chain() -> tuple[Model, float]:
    """Five asymmetric bodies on ball joints and hinges, lateral gravity, a spring."""
    model = Model("chain", gravity=(1.0, 2.0, -9.0))
    last = model.ground
    for k in range(5):
        inertia = MassProperties(1.0 + 0.2 * k, np.array([0.02, 0.03, 0.04]) * (1.0 + 0.1 * k))
        body = model.add_body(f"bar {k}", inertia, (0.5 * k + 0.25, 0.02 * k, 0.0))
        kind, axis = ("spherical", {}) if k % 2 else ("revolute", {"axis": (0.0, 1.0, 0.2)})
        model.add_joint(f"joint {k}", kind, last, body, at=(0.5 * k, 0.0, 0.0), **axis)
        last = body
    model.add_spring("spring", model.ground.at((1.0, 0.5, 0.5)), last, stiffness=20.0, length=0.5)
    return model, 2e-3


def flying(E: float = 1e6) -> Model:
    """A rod without gravity."""
    model = Model("flying")
    section = Section.circular(0.01, Material(E=E, nu=0.3, density=1000.0))
    model.add_rod("rod", [(0, 0, 1.0), (1.0, 0.2, 1.3)], section, 8, velocity=(0.3, 0.1, 1.0))
    return model


def drift_over_random_walk(values, scale: float, steps: int) -> float:
    """Largest distance from the initial value, relative to a random walk of round-off."""
    values = np.asarray(values)
    return float(np.abs(values - values[0]).max() / (EPS * scale * np.sqrt(steps)))


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
@pytest.mark.parametrize("make", [top, tumbling, chain])
def test_energy_error_over_many_steps_is_a_random_walk_of_round_off(make, integrator):
    """The residual left by Newton's method is 4 times round-off and of one sign for many steps; it must not accumulate."""
    steps = 10_000 if integrator == "em" else 2_000
    model, h = make()
    run = simulate(model, steps * h, h, integrator=integrator, output_every=steps // 50, progress=False)
    total = run.energy["total"]
    assert drift_over_random_walk(total, max(np.abs(total).max(), run.energy["kinetic"].max()), steps) < 5.0
    if make is tumbling:
        assert drift_over_random_walk(run.linear_momentum, 2.0, steps) < 5.0


@pytest.mark.parametrize("E", [1e6, 2e11])
def test_flying_rod_energy_and_momentum_errors_are_a_random_walk(E):
    """Most steps are accepted as predicted. The round-off of the forces of a stiff rod is much larger than that of its
    momentum.
    """
    model, steps = flying(E), 2_000
    run = simulate(model, steps * 1e-4, 1e-4, output_every=40, progress=False)
    assert drift_over_random_walk(run.energy["total"], run.energy["total"][0], steps) < 5.0
    P = run.linear_momentum
    assert drift_over_random_walk(P, np.abs(P).max(), steps) < 5.0


@pytest.mark.exact
def test_hanging_equilibrium_stays_without_iterations():
    model, last = Model("hanging", gravity=(0, 0, -9.0)), None
    for k in range(5):
        at = (0, 0, -0.5 * k)
        body = model.add_body(
            f"bar {k}", MassProperties(1.0 + 0.3 * k, np.full(3, 0.03)), (0, 0, at[2] - 0.25)
        )
        model.add_joint(f"joint {k}", "spherical", last or model.ground, body, at=at)
        last = body
    run = simulate(model, 0.2, 1e-3, output_every=1, progress=False)
    assert run.newton_iterations[2:] == pytest.approx(0.0, abs=0.1)
    assert run.states(slice(None)).v == pytest.approx(0.0, abs=1e-14)
