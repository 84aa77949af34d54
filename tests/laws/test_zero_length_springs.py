"""Springs whose ends meet: the force has no direction there, but the step exists."""

import numpy as np
import pytest

from rodsim import Model, Sphere, audit, simulate


def thrown_ball(rest_length, miss, stiffness=1e3, damping=0.0, integrator="em", t_end=0.3, **options):
    """A ball of 1 kg at (1, miss, 0), thrown at the other end of its spring with 20 m/s."""
    model = Model("thrown")
    ball = model.add_body("ball", Sphere(0.1, mass=1.0), (1.0, miss, 0.0), velocity=(-20.0, 0.0, 0.0))
    model.add_spring(
        "spring", model.ground.at((0, 0, 0)), ball.at((0, 0, 0)), stiffness, rest_length, damping
    )
    return simulate(model, t_end, 0.01, integrator, output_every=1, **options)


@pytest.mark.parametrize("integrator", ["em", "em4"])
@pytest.mark.parametrize("miss", [0.0, 1e-12, 1e-3])
def test_zero_length_spring_is_linear_through_zero(miss, integrator):
    """x'' + w^2 x = 0 by the midpoint rule, whose frequency is (2/h) atan(w h/2): one iteration per step."""
    run = thrown_ball(
        0.0, miss, integrator=integrator, solver="general"
    )  # a tree counts the last correction, too
    assert run.newton_iterations.max() <= 1.5
    assert run.body("ball").r[:, 0].min() < -0.1
    if integrator == "em":
        w = 2 / 0.01 * np.arctan(np.sqrt(1e3) * 0.01 / 2)
        y = run.body("ball").r[:, 1]
        assert y == pytest.approx(miss * np.cos(w * run.t), abs=1e-13 + 1e-12 * miss)
    assert audit(run).energy_balance < 1e-13


MISSES, DAMPINGS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.05), (0.0, 3.0, 300.0)


@pytest.mark.parametrize(
    ("miss", "stiffness", "damping"),  # two steps each
    [(m, (1e3, 1e6)[(i + j) % 2], d) for i, m in enumerate(MISSES) for j, d in enumerate(DAMPINGS)],
)
def test_spring_compressed_through_zero_conserves_energy_and_spin(miss, stiffness, damping):
    """Steps jump over the end, where the lateral stiffness k (1 - rest/length) is unbounded."""
    run = thrown_ball(0.5, miss, stiffness, damping)
    report = audit(run)
    assert report.energy_balance < 1e-12
    ball = run.body("ball")
    spin = ball.r[:, 0] * ball.v[:, 1] - ball.r[:, 1] * ball.v[:, 0]
    assert spin == pytest.approx(np.full(len(spin), 20.0 * miss), abs=1e-12 + 1e-16 * stiffness)  # round-off
    assert run.halvings.sum() == 0


def test_step_ending_at_zero_spring_length_succeeds():
    """Without a force on the way: the rest length at the mean of both lengths."""
    model = Model("onto")
    ball = model.add_body("ball", Sphere(0.1, mass=1.0), (1.0, 0.0, 0.0), velocity=(-100.0, 0.0, 0.0))
    model.add_spring("spring", model.ground.at((0, 0, 0)), ball.at((0, 0, 0)), 1e3, 0.5)
    run = simulate(model, 0.02, 0.01, output_every=1)
    assert run.body("ball").r[1] == pytest.approx((0, 0, 0), abs=1e-14)
    assert run.body("ball").r[2, 0] < -0.9
    assert audit(run).energy_balance < 1e-13
