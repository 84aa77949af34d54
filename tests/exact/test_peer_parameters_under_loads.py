"""PyElastica's rods under loads that vary in time and along them, with the parameters of their files: thrown,
muscular, swimming.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import BSpline

import rodsim
from rodsim import Model, Section, audit, equilibrium, simulate
from rodsim.interactions import average, dot, minus, push, times
from tests.support.sections import round_section

# --- PE/TumblingUnconstrainedRod


def ramp(t):
    """Up in 2.5 s, down in 2.5 s."""
    return t / 2.5 if t < 2.5 else max(2 - t / 2.5, 0.0)


def tumbling(n):
    """10 m, 10 kg; stiffness and inertia of the file differ from those of its square section."""
    E = 1e7
    G = E / 3
    section = Section.from_stiffness(
        EA=100 * E * 1e-4,
        GA=27 / 28 * G * 1e-4,
        GJ=G * 2e-3,
        EI=E * 1e-3 / 20,
        mass_per_length=1.0,
        inertia_per_length=(20.0, 10.0, 10.0),
    )
    model = Model("tumbling")
    rod = model.add_rod("rod", [(0, 0, 8), (6, 0, 0)], section, n, up=(0, 1, 0))
    model.add_force("push", rod.end, lambda t: (20 * ramp(t), 0, 0))
    # on its sections' axes (normal, tangent x normal, tangent): (0, 200, -100)
    model.add_moment("turn", rod.end, lambda t: (-100 * ramp(t), -200 * ramp(t), 0.0), following=True)
    return model


def test_pyelastica_tumbling_rod_has_the_exact_momentum_and_converges():
    ends = []
    for n, dt in ((16, 0.05), (32, 0.025), (64, 0.0125)):
        result = simulate(tumbling(n), 20.0, dt, progress=False)
        assert audit(result).ok
        t = result.t
        impulse = 20 * np.where(t < 2.5, t**2 / 5, np.where(t < 5, 2 * t - t**2 / 5 - 2.5, 2.5))
        assert np.abs(result.linear_momentum - np.stack([impulse, 0 * t, 0 * t], -1)).max() < 1e-11
        early = np.abs(
            t - 0.2
        ).argmin()  # the moment has hardly rotated: it is (100, 0, 200) along the world axes
        spin = result.angular_momentum[early] / (t[early] ** 2 / 5)
        assert spin == pytest.approx((100, 0, 200), abs=4.0)
        ends.append(result.rod("rod").r[-1, -1])
    first, second = (np.linalg.norm(b - a) for a, b in pairwise(ends))
    assert 3.5 < first / second < 5.0
    assert second < 0.1


# --- PE/ArmWithBasisFunctions/hierarchically_activated_arm


LEVELS = {  # window of the arm -> per level: width, size, seconds at which it is switched on
    (0.35, 0.65): ((0.40, 32, 0.6), (0.16, 8, 0.3), (0.10, 2, 0.0)),
    (0.75, 0.95): ((0.20, 20, 1.0), (0.10, 10, 0.9), (0.06, 3, 0.8)),
}


def activation(t):
    """Up in 0.1 s."""
    return 0.5 * (1 - np.cos(np.pi * np.clip(t / 0.1, 0, 1)))


def muscle(window, s, t, slope=False):
    """Couple of the muscles, N m, or its derivative along the arm: 1, 3 and 9 bells on the three levels."""
    a, b = window
    x = (s - a) / (b - a)
    total = 0.0
    for level, (width, size, start) in enumerate(LEVELS[window]):
        for k in range(3**level):
            scaled = (x - (k + 0.5) / 3**level) / width
            bell = size * np.exp(-(scaled**2)) * activation(t - start)
            total += bell * (-2 * scaled / width / (b - a) if slope else 1.0)
    return total


def arm(n):
    """1 m hanging along -y, 5 cm thick, bent about -x; a jump of the couple at the edge of a window is a
    concentrated couple.
    """
    E, radius = 1e7, 0.025
    section = round_section(radius, 1000, E, shear=4 / 3)
    model = Model("arm")
    rod = model.add_rod("arm", [(0, 0, 0), (0, -1, 0)], section, n, up=(0, 0, 1))
    model.add_joint("base", "clamp", rod.start)
    for k, window in enumerate(LEVELS):
        a, b = window
        model.add_distributed_load(
            f"muscle {k}",
            rod,
            lambda s, t, w=window: (muscle(w, s, t, slope=True), 0, 0),
            "moment",
            between=window,
        )
        model.add_moment(f"begin {k}", rod.at(a), lambda t, w=window: (muscle(w, w[0], t), 0, 0))
        model.add_moment(f"finish {k}", rod.at(b), lambda t, w=window: (-muscle(w, w[1], t), 0, 0))
    model.add_mass_damping("nu", rod, 5.0 / section.mass_per_length)
    return model, section.stiffness[4, 4]


def test_pyelastica_arm_is_bent_by_its_muscles_to_the_exact_curvature():
    for n in (100, 200):
        model, EI = arm(n)
        K = equilibrium(model, load_time=3.0).rod("arm").K[-1]
        s = (np.arange(n) + 0.5) / n
        exact = sum(muscle(w, s, 3.0) * ((s > w[0]) & (s < w[1])) for w in LEVELS) / EI
        error = np.abs(np.linalg.norm(K, axis=1) - np.abs(exact)).max()
        assert error < 6e4 / n**2 / EI / 10
    assert np.abs(exact).max() > 14


def test_pyelastica_arm_curls_as_its_muscles_are_switched_on():
    """To 0.4 s, when two of three levels of the first are on; mesh and steps halved together."""
    ends = []
    for n, dt in ((20, 0.02), (40, 0.01)):
        result = simulate(arm(n)[0], 0.4, dt, progress=False)
        assert audit(result).ok
        ends.append(result.rod("arm").r[-1, -1])
    assert np.linalg.norm(ends[0] - ends[1]) < 5e-3
    assert np.linalg.norm(ends[1] - (0, -1, 0)) > 0.1


# --- PE/ContinuumFlagellaCase


def slender_drag():
    """Slender-body drag as a user-defined kind: c across the rod, half of it along."""

    @rodsim.interaction("drag of a slender body", frames=1, numbers=("c",), free=False)
    class SlenderDrag:
        def step_dual(y0, y1, h, X, out):
            tangent, displacement = average(y0[0, 1], y1[0, 1]), minus(y1[0, 0], y0[0, 0])
            along = 0.5 * dot(tangent, displacement) / dot(tangent, tangent)
            push(out, 0, times(X[0] / h, minus(displacement, times(along, tangent))))

        def rate_dual(y, z, X, out):
            tangent, v = y[0, 1], z[0, 0]
            along = 0.5 * dot(tangent, v) / dot(tangent, tangent)
            push(out, 0, times(X[0], minus(v, times(along, tangent))))

    return SlenderDrag


def flagellum(n):
    """1 m along z, E = 1e7, in honey of 1e4 Pa s; a wave of couples with 5 spline coefficients travels along it."""
    E, radius, length = 1e7, 0.025, 1.0
    section = round_section(radius, 1000, E)
    knots = np.concatenate([[0.0] * 3, np.linspace(0, 1, 4), [1.0] * 3])
    size = BSpline(knots, [0, 17.4, 48.5, 5.4, 14.7, 0], 3)
    slope, wave = size.derivative(), 2 * np.pi / 0.38

    def couple(s, t):  # -d/ds of size(1 - s) sin(2 pi t - wave (1 - s))
        x, phase = 1 - s, 2 * np.pi * t - wave * (1 - s)
        return 0.0, min(t, 1.0) * (slope(x) * np.sin(phase) - wave * size(x) * np.cos(phase)), 0.0

    model = Model("flagellum")
    rod = model.add_rod("flagellum", [(0, 0, 0), (0, 0, length)], section, n, up=(0, 1, 0))
    model.add_distributed_load("muscles", rod, couple, "moment")
    drag, across = slender_drag(), 4 * np.pi * 1e4 / np.log(length / radius)
    for k in range(n + 1):
        length_share = length / n * (0.5 if k in (0, n) else 1.0)
        model.add_interaction(f"drag {k}", drag, rod.at(k / n), c=across * length_share)
    model.add_mass_damping("damping", rod, 0.625)
    return model


def test_pyelastica_flagellum_swims_at_the_reference_speed():
    """A period from t = 2 s on: 13.416 mm with its own 50 elements and steps of 0.1 ms."""
    n = 50
    result = simulate(flagellum(n), 3.0, 0.02, progress=False, output_every=50)
    assert audit(result).ok
    r = result.rod("flagellum").r
    middle = (r[:, 1:] + r[:, :-1]).mean(axis=1) / 2
    assert middle[3, 2] - middle[2, 2] == pytest.approx(0.013416, rel=5e-3)
