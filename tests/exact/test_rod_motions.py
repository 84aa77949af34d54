"""Exact motions of rods at finite amplitude: standing and travelling waves, breathing and spinning rings, a
spinning rod.
"""

import numpy as np
import pytest

from rodsim import Model, Section, linearise, simulate
from tests.support.orders import observed_order

L, EA, RHO, GJ, INERTIA = 10.0, 1e4, 1.0, 500.0, 20.0
C, TWIST_C = np.sqrt(EA / RHO), np.sqrt(GJ / INERTIA)  # 100, 5 m/s
SECTION = Section.from_stiffness(
    EA=EA, GA=1e4, GJ=GJ, EI=500.0, mass_per_length=RHO, inertia_per_length=(INERTIA, 10.0, 10.0)
)
# element, integrator, order; with order 4 in space and time steps and elements are fewer
METHODS = [
    ("se3", "em", 2, (16, 32, 64)),
    ("relative(2)", "em4", 4, (8, 16, 32)),
    ("lagrange(2)", "em4", 4, (8, 16, 32)),
]


def straight(n, element, ends, mass="mean", shape=None, **settings):
    """A rod along x with sections displaced by `shape` at the start; ends: letters C (clamped) and F (free)."""
    model = Model("rod")
    line = {"stress_free": lambda s: (L * s, 0, 0)} if shape else {}
    curve = shape or [(0, 0, 0), (L, 0, 0)]
    rod = model.add_rod("rod", curve, SECTION, n, element=element, mass=mass, **line, **settings)
    for name, anchor, end in (("start", rod.start, ends[0]), ("end", rod.end, ends[1])):
        if end == "C":
            model.add_joint(name, "clamp", anchor)
    return model


def end_of(model, t, steps, integrator):
    result = simulate(model, t, t / steps, integrator, output_every=steps, progress=False)
    rod = result.rod("rod")
    return rod.arclength, rod.r[-1], rod.quat[-1]


def order_of(error, numbers):
    return observed_order([1 / n for n in numbers], [error(n) for n in numbers])


WAVES = [("CF", 0.5), ("CF", 1.5), ("FF", 1.0), ("CC", 2.0)]


def shape_of(ends, halves, x):
    """Shape of a standing wave with so many half waves."""
    k = halves * np.pi / L
    return np.cos(k * x) if ends == "FF" else np.sin(k * x)


def turned(quat):
    """Angles about x."""
    return 2 * np.arctan2(quat[:, 1], quat[:, 0])


@pytest.mark.parametrize(("element", "integrator", "order", "numbers"), METHODS)
@pytest.mark.parametrize(
    ("motion", "ends", "halves"),
    [*(("stretch", *wave) for wave in WAVES), *(("twist", *wave) for wave in WAVES[:3])],
)
def test_standing_waves_of_any_size_are_exact_to_the_order(
    motion, ends, halves, element, integrator, order, numbers
):
    """A X(x) sin(w t), w = c k: the linear laws N = EA Gamma and M = GJ K have no other terms while the rod is straight."""
    speed_of_sound, A, rate = {"stretch": (C, 0.8, "velocity"), "twist": (TWIST_C, 2.0, "angular_velocity")}[
        motion
    ]
    w = speed_of_sound * halves * np.pi / L
    t = 0.7 * np.pi / w

    def error(n):
        speed = lambda s: (A * w * shape_of(ends, halves, L * s), 0, 0)  # noqa: E731
        x, r, quat = end_of(straight(n, element, ends, **{rate: speed}), t, n, integrator)
        exact = A * shape_of(ends, halves, x) * np.sin(w * t)
        if motion == "stretch":
            return np.abs(r[:, 0] - x - exact).max()
        assert np.abs(r - x[:, None] * [1.0, 0, 0]).max() < 1e-9  # twist alone
        return np.abs((turned(quat) - exact + np.pi) % (2 * np.pi) - np.pi).max()

    assert order_of(error, numbers) > order - 0.3
    assert motion == "twist" or error(numbers[-1]) < 0.03 * A


def pulse(x):
    """A smooth hump in the first half, and its slope."""
    f = 0.4 * np.exp(-(((x - 0.35 * L) / 0.8) ** 2))
    return f, -2 * (x - 0.35 * L) / 0.8**2 * f


@pytest.mark.parametrize(
    ("element", "integrator", "order", "numbers"), [(*METHODS[0][:3], (64, 128)), (*METHODS[1][:3], (32, 64))]
)
@pytest.mark.parametrize("motion", ["stretch", "twist"])
def test_a_pulse_travels_unchanged(motion, element, integrator, order, numbers):
    """f(x - c t): a wave in one direction."""
    c = C if motion == "stretch" else TWIST_C
    t = 0.3 * L / c
    rate = lambda s: (-c * pulse(L * s)[1], 0, 0)  # noqa: E731
    initial = {"velocity": rate, "shape": lambda s: (L * s + pulse(L * s)[0], 0, 0)}
    if motion == "twist":
        initial = {"angular_velocity": rate, "twist": lambda s: pulse(L * s)[0], "stress_free_twist": 0.0}
    first = straight(2, element, "FF").build().state.quat[[1]]

    def error(n):
        x, r, quat = end_of(straight(n, element, "FF", **initial), t, n // 2, integrator)
        shift = r[:, 0] - x if motion == "stretch" else turned(quat) - turned(first)
        return np.abs(shift - pulse(x - c * t)[0]).max()

    assert order_of(error, numbers) > order - 0.5
    assert motion == "twist" or error(numbers[-1]) < 0.05 * 0.4


R = 2.0


def ring(n, radius, speed, element="se3"):
    """A closed ring about z whose free radius is R; speed: of the points, (radial, along)."""

    def circle(size):
        return lambda s: (size * np.cos(2 * np.pi * s), size * np.sin(2 * np.pi * s), 0.0)

    def velocity(s):
        out = np.array([np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0])
        return speed[0] * out + speed[1] * np.array([-out[1], out[0], 0.0])

    model = Model("ring")
    model.add_rod(
        "rod",
        circle(radius),
        SECTION,
        n,
        closed=True,
        up=(0, 0, 1),
        stress_free=circle(R),
        stress_free_up=(0, 0, 1),
        element=element,
        mass="lumped",
        velocity=velocity,
        angular_velocity=(0, 0, speed[1] / radius),
    )
    return model


@pytest.mark.parametrize("n", [8, 24])
def test_a_breathing_ring_is_exact_with_lumped_masses_on_any_mesh(n):
    """r = R + (r0 - R) cos(w t) + v/w sin(w t), w^2 = EA/(rho A R^2), at any amplitude: bending does not change."""
    w, r0, v = np.sqrt(EA / (RHO * R * R)), 1.3 * R, 30.0
    t = 0.8 * 2 * np.pi / w

    def error(steps):
        _, r, _ = end_of(ring(n, r0, (v, 0.0)), t, steps, "em")
        radius = np.linalg.norm(r[:, :2], axis=1)
        assert np.ptp(radius) < 1e-9
        return abs(radius[0] - R - (r0 - R) * np.cos(w * t) - v / w * np.sin(w * t))

    # em alone: the midpoint rule rotates the phase by 2 atan(w h/2) per step, to the last digits
    steps, h = 40, t / 40
    phase = steps * 2 * np.arctan(0.5 * w * h)
    _, r, _ = end_of(ring(n, r0, (v, 0.0)), t, steps, "em")
    expected = R + (r0 - R) * np.cos(phase) + v / w * np.sin(phase)
    assert np.linalg.norm(r[0, :2]) == pytest.approx(expected, rel=1e-10)
    assert order_of(error, (40, 80, 160)) == pytest.approx(2.0, abs=0.1)


def test_spinning_ring_has_the_exact_radius():
    """r = R/(1 - rho A R^2 W^2/EA), for any bending stiffness."""
    W = 0.5 * np.sqrt(EA / RHO) / R
    radius = R / (1 - RHO * R * R * W * W / EA)
    t = 0.6 * 2 * np.pi / W

    def error(steps):
        _, r, _ = end_of(ring(12, radius, (0.0, W * radius)), t, steps, "em")
        assert np.linalg.norm(r[:, :2], axis=1) == pytest.approx(
            radius, rel=1e-12
        )  # em conserves it to round-off
        angle = np.arctan2(r[0, 1], r[0, 0]) - W * t
        return abs((angle + np.pi) % (2 * np.pi) - np.pi)

    assert order_of(error, (80, 160, 320)) == pytest.approx(2.0, abs=0.1)
    still = linearise(ring(12, radius, (0.0, W * radius)))
    perturbed = linearise(ring(12, 1.01 * radius, (0.0, W * 1.01 * radius)))
    assert np.abs(still.force).max() < 1e-9 * np.abs(perturbed.force).max()


@pytest.mark.parametrize(("element", "integrator", "order", "numbers"), METHODS)
def test_spinning_rod_has_the_exact_stretch(element, integrator, order, numbers):
    """Free, about its middle: x = sin(k s)/(k cos(k l)), k = W sqrt(rho A/EA), s from the middle, l half the length."""
    W = 8.0
    k, half = W / C, 0.5 * L

    def place(s):
        return np.sin(k * L * (s - 0.5)) / (k * np.cos(k * half))

    def model(n):
        turning = Model("turning")
        turning.add_rod(
            "rod",
            lambda s: (place(s), 0, 0),
            SECTION,
            n,
            element=element,
            stress_free=lambda s: (L * s, 0, 0),
            velocity=lambda s: (0, W * place(s), 0),
            angular_velocity=(0, 0, W),
        )
        return turning

    t = 1.2 * np.pi / W

    def error(n):
        x, r, _ = end_of(model(n), t, 2 * n, integrator)
        expected = place(x / L)[:, None] * [np.cos(W * t), np.sin(W * t), 0.0]
        return np.abs(r - expected).max()

    def unbalanced(n):
        linear = linearise(model(n))
        assert pytest.approx([0, 0, W]) == linear.motion.W
        # per length, in the middle of the rod: at its ends half an element counts
        return np.abs(linear.of_frames(linear.force)[3:-2, 0]).max() * n

    assert order_of(error, numbers) > order - 0.4
    assert unbalanced(numbers[-1]) < 0.5 * unbalanced(numbers[0])


def test_suddenly_loaded_bar_oscillates_between_zero_and_twice_the_static_stretch():
    """Tip: a triangle between 0 and 2 F L/EA of period 4 L/c; the clamp's force steps between 0 and 2 F."""
    F, static = 300.0, 300.0 * L / EA
    t = 6.0 * L / C

    def history(n):
        model = straight(n, "se3", "CF", mass="mean")
        model.add_force("pull", model.rods["rod"].end, (F, 0, 0))
        result = simulate(model, t, t / (6 * n), output_every=1, progress=False)
        tip = result.rod("rod").r[:, -1, 0] - L
        return result.t, tip, result.joint("start").force[:, 0]

    def error(n):
        time, tip, _ = history(n)
        phase = (time * C / L) % 4
        return np.abs(tip - static * np.where(phase < 2, phase, 4 - phase)).mean()

    # kinks spread over n^(1/3) elements: less than first order at them, more elsewhere
    assert order_of(error, (20, 40, 80)) > 0.9
    assert error(80) < 0.005 * static
    time, _, clamp = history(80)
    for start, end, level in ((0.2, 0.8, 0.0), (1.2, 2.8, 2.0), (3.2, 4.8, 0.0), (5.2, 5.8, 2.0)):
        mean = np.abs(clamp[(time > start * L / C) & (time < end * L / C)].mean())
        assert mean == pytest.approx(level * F, abs=0.03 * F)
