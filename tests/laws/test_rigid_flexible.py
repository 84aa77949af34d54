"""Mechanisms with flexible parts converge to their rigid twins as 1/E, and chains to ropes as 1/N^2."""

from functools import cache

import numpy as np
import pytest

from examples.rigid_flexible import (
    chain_and_rope,
    closed_loop,
    four_bar,
    governor,
    satellite,
    slider_crank,
    top_on_a_rod,
)
from tests.support.studies import coloured

# the two stiffest of each example: with softer parts the next power shows
EXAMPLES = [
    (slider_crank, (3.2e10, 1.28e11)),
    (four_bar, (1.28e11, 5.12e11)),
    (top_on_a_rod, (2e10, 8e10)),
    (satellite, (4e9, 1.6e10)),
    (closed_loop, (8e5, 3.2e6)),
    (governor, (8e10, 3.2e11)),
    (chain_and_rope, (4e8, 1.6e9)),
]


@cache
def convergence_study(example, stiffness):
    return example.study(stiffness)


@pytest.mark.parametrize(
    ("example", "stiffness"), EXAMPLES, ids=[example.__name__.split(".")[-1] for example, _ in EXAMPLES]
)
def test_flexible_mechanisms_converge_to_rigid_twins_with_stiffness(example, stiffness):
    study = convergence_study(example, stiffness)
    # (1) of `converging`; the remaining difference is the next power of 1/E
    assert study.rate == pytest.approx(1.0, abs=0.05)
    assert 0.0 < study.differences[1] < study.differences[0] < 5e-3
    assert f"stiffness^-{study.rate:.2f}" in study.text()


def test_mechanism_and_its_rigid_twin_are_drawn(tmp_path):
    assert coloured(convergence_study(*EXAMPLES[0]).last.plot(tmp_path / "a.png")) > 300


def test_rigid_loop_matches_the_paper():
    """Consistent masses have the inertia of the bars; halving the step divides the order-2 error by four."""
    errors = []
    for dt in (0.02, 0.01):
        run = closed_loop.rigid(dt=dt)
        positions = np.array([run.body(f"bar {k + 1}").r[-1] for k in range(4)])
        errors.append(np.abs(positions - closed_loop.EXACT).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    assert errors[1] < 2e-4


def test_chains_converge_to_a_rope_quadratically_in_the_links():
    apart = [
        np.array([row.rms for row in chain_and_rope.against_rope(n).rows if row.kind == "point"])
        for n in (8, 16, 32)
    ]
    rates = np.log2(apart[0] / apart[1]), np.log2(apart[1] / apart[2])
    # the middle approaches 2 from below: 1.69, 1.81; the tip from above
    assert 1.6 < rates[0][0] < rates[1][0] < 2.0
    assert rates[0][1] > rates[1][1] > 2.0
    assert apart[2].max() < 2e-4
