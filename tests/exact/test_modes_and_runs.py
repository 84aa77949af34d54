"""Frequencies of `modes` are those that a run rings with."""

import numpy as np
import pytest

from rodsim import Model, Section, simulate
from rodsim.small_motions.modal_analysis import modes

H, STEPS, WANTED = 0.002, 8192, 4


def cantilever(shape=None):
    """Bends differently in its two planes; the tip's velocity is that of all wanted modes at once, small."""
    section = Section.from_stiffness(
        EA=1e4, GA=4e3, GJ=20.0, EI=(10.0, 17.0), mass_per_length=1.0, inertia_per_length=(2e-3, 1e-3, 1e-3)
    )
    model = Model("cantilever")
    velocity = None if shape is None else (lambda s: shape[round(12 * s), :3])
    turning = None if shape is None else (lambda s: shape[round(12 * s), 3:])
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (1, 0, 0)],
        section,
        12,
        up=(0, 0, 1),
        mass="lumped",
        velocity=velocity,
        angular_velocity=turning,
    )
    model.add_joint("wall", "clamp", rod.start)
    return model


def peaks(signal):
    """Angular frequencies of the highest peaks of the spectrum, lowest first: a parabola through the logs beside each."""
    window = np.exp(-0.5 * ((np.arange(len(signal)) / (len(signal) - 1) - 0.5) / 0.1) ** 2)
    height = np.log(np.abs(np.fft.rfft(signal * window)) + 1e-300)
    inner = np.arange(1, len(height) - 1)
    tops = inner[(height[1:-1] > height[:-2]) & (height[1:-1] > height[2:])]
    tops = np.sort(tops[np.argsort(-height[tops])][:WANTED])
    a, b, c = height[tops - 1], height[tops], height[tops + 1]
    return 2 * np.pi / (len(signal) * H) * (tops + 0.5 * (a - c) / (a - 2 * b + c))


def test_a_run_rings_with_the_frequencies_of_the_modes():
    """A step of `em` turns a small motion of frequency w by 2 arctan(w h/2): its spectrum shows that over h."""
    found = modes(cantilever(), WANTED)
    shapes = np.real(found.shapes)
    # each as strong in the sum of both coordinates of the tip
    shape = sum(s / (s[-1, 1] + s[-1, 2]) for s in shapes)[1:]
    run = simulate(cantilever(1e-5 * shape), STEPS * H, H, output_every=1, progress=False)
    tip = run.rod("rod").r[1:, -1]
    assert 2 / H * np.tan(0.5 * H * peaks(tip[:, 1] + tip[:, 2])) == pytest.approx(found.omega, rel=2e-6)
