"""Steps of compositions that rotate the phase of a vibration by full turns: their lengths, effects and warnings."""

from functools import cache

import numpy as np
import pytest

from discretization.time.composition import substep_fractions
from examples.spin_up import LENGTH, SECTION, SPEED, T
from rigid.errors import ModelError
from rodsim import Model, modes, simulate
from rodsim.cli.main import main
from rodsim.resonance import resonant_steps
from rodsim.signals import SpinUp
from rodsim.waves import resonances


def turned(fractions, x):
    """(..., 2, 2) Matrix of the composed midpoint steps of an oscillator with omega h = x."""
    product = np.eye(2)
    for c in fractions:
        A = 0.5 * c * np.multiply.outer(x, np.array([[0.0, 1.0], [-1.0, 0.0]]))
        product = np.linalg.solve(np.eye(2) - A, np.eye(2) + A) @ product
    return product


@pytest.mark.parametrize(
    ("integrator", "joined", "count"),
    [
        ("em4-ggl", True, 1),
        ("em4", False, 1),
        ("em4", True, 2),
        ("em6-ggl", True, 2),
        ("em6", True, 4),
        ("em8-ggl", True, 3),
        ("em8", True, 6),
    ],
)
def test_resonant_step_maps_an_oscillator_to_itself(integrator, joined, count):
    fractions = substep_fractions(int(integrator[2]), joined and not integrator.endswith("ggl"))
    resonant = resonances(integrator, joined)
    assert len(resonant) == count
    assert np.abs(turned(fractions, resonant) - np.eye(2)).max() < 1e-9
    samples = np.linspace(1.0, 60.0, 5000)
    regular = samples[np.abs(samples[:, None] / resonant - 1.0).min(axis=1) > 0.02]
    assert np.abs(turned(fractions, regular) - np.eye(2)).max(axis=(1, 2)).min() > 0.01


def test_single_steps_have_no_resonance_and_other_integrators_are_rejected():
    assert len(resonances("em")) == len(resonances("em-ggl")) == 0
    for integrator in ("GGL-EM", "em-d(0.8)"):
        with pytest.raises(ModelError, match="give em, em4"):
            resonances(integrator)


def beam(n_elements=10):
    model = Model("spin-up beam")
    hub = model.add_driven("hub", turn=SpinUp(SPEED, T), axis=(0, 0, 1))
    rod = model.add_rod("beam", [(0, 0, 0), (LENGTH, 0, 0)], SECTION, n_elements, mass="lumped")
    model.add_joint("root", "weld", hub, rod.start, at=(0, 0, 0))
    return model


@cache
def end_of(integrator, steps):
    """The beam after 4 s."""
    return simulate(beam(), 4.0, 4.0 / steps, integrator, output_every=steps).rod("beam").r[-1]


@pytest.mark.parametrize(
    ("integrator", "at", "neighbours"), [("em4-ggl", 319, (290, 350)), ("em4", 460, (420, 510))]
)
def test_resonant_steps_lose_accuracy_compared_with_neighbouring_steps(integrator, at, neighbours):
    exact = end_of("em6-ggl", 2000)
    resonant, *regular = (np.abs(end_of(integrator, steps) - exact).max() for steps in (at, *neighbours))
    assert resonant > 30 * max(regular)
    assert resonant_steps(beam(), integrator, 4.0 / at)
    assert not any(resonant_steps(beam(), integrator, 4.0 / steps) for steps in neighbours)


@pytest.mark.parametrize(("ends", "waves"), [((), 0.5), (("start",), 0.25), (("start", "end"), 0.5)])
def test_reported_vibration_is_a_mode_of_the_rod(ends, waves):
    """Half or a quarter of a wave; it is one of the frequencies of the model."""
    model = Model("rod")
    rod = model.add_rod("rod", [(0, 0, 0), (LENGTH, 0, 0)], SECTION, 40, mass="lumped")
    for end in ends:
        model.add_joint(end, "clamp", getattr(rod, end))
    omega = 2 * np.pi * waves * np.sqrt(2.8e7 / 1.2) / LENGTH
    step = resonances("em4-ggl")[0] / omega
    (warning,) = resonant_steps(model, "em4-ggl", step)
    assert f"rod 'rod': its lengthwise vibration of some {omega:.3g} rad/s" in warning
    assert f"keep dt off {step:.3g} s" in warning
    assert np.abs(modes(model, 90).omega / omega - 1.0).min() < 1e-3
    assert resonant_steps(model, "em-ggl", step) == []
    assert resonant_steps(model, "GGL-EM", step) == []


SCENE = """
sections:
  round: {type: stiffness, EA: 2.8e+7, GA: 1.0e+7, GJ: 2.0e+4, EI: 1.4e+4, mass_per_length: 1.2, inertia_per_length: 6.0e-4}
rods: [{name: beam, curve: [[0, 0, 0], [10, 0, 0]], section: round, n_elements: 10}]
joints: [{name: root, kind: clamp, a: {rod: beam, s: 0}}]
run: {t_end: 0.5, dt: DT, integrator: em4-ggl}
"""


@pytest.mark.parametrize(("dt", "warns"), [("0.0125", True), ("0.01", False)])
def test_scene_check_names_the_resonant_rod_and_step(dt, warns, tmp_path, capsys):
    scene = tmp_path / "beam.yaml"
    scene.write_text(SCENE.replace("DT", dt))
    assert main(["check", str(scene)]) == 0
    printed = capsys.readouterr().out
    assert ("advice: rod 'beam'" in printed) == warns
    assert ("keep dt off 0.0125 s by 5% and more" in printed) == warns
