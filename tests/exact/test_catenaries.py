"""Shapes of hanging lines and curves by their length."""

import numpy as np
import pytest
import scipy

from rodsim import Model, ModelError, Section, curves, equilibrium

S = np.linspace(0.0, 1.0, 4001)
FREE = {
    "level": ((0, 0, 0), (2, 0, 0), 2.4, {}),
    "steep": ((1, 2, 3), (1.5, 2.5, 8), 5.5, {}),
    "downward": ((0, 0, 5), (3, 1, 0), 7.0, {}),
    "nearly straight": ((0, 0, 0), (1, 0, 0), 1.0 + 1e-9, {}),
    "sideways": ((0, 0, 0), (0, 1, 2), 4.0, {"up": (0, 3, 0)}),
    "above its bed": ((0, 0, 1), (2, 0, 1), 2.2, {"bed": 0.0}),
}


@pytest.mark.parametrize("name", FREE)
def test_free_line_has_its_ends_its_length_and_a_constant_horizontal_tension(name: str) -> None:
    a, b, length, options = FREE[name]
    line = curves.catenary(a, b, length, **options)
    r, up = line(S), np.array(options.get("up", (0, 0, 1))) / np.linalg.norm(options.get("up", (0, 0, 1)))
    assert r[0] == pytest.approx(a, abs=1e-12)
    assert r[-1] == pytest.approx(b, abs=1e-9 * length)
    steps = np.diff(r, axis=0)
    assert np.linalg.norm(steps, axis=1) == pytest.approx(length / 4000, rel=1e-5)
    # the weight below changes the slope: d(tan)/ds = w/H is constant
    slope = (steps @ up) / np.linalg.norm(steps - np.outer(steps @ up, up), axis=1)
    change = np.diff(slope)
    assert change == pytest.approx(change.mean(), rel=1e-4, abs=1e-11)
    assert change.mean() > 0.0


def test_line_on_a_bed_is_level_there_and_a_catenary_beside_it() -> None:
    """H of a mooring line: X = c arcosh(1 + h/c), S = (h^2 + 2 h c)^(1/2), and the rest lies on the bed."""
    h, across, length = 200.0, 750.0, 800.0
    line = curves.catenary((0, 0, 0), (across, 0, h), length, bed=0.0)
    c = scipy.optimize.brentq(
        lambda c: across - c * np.arccosh(1 + h / c) - length + np.sqrt(h * h + 2 * h * c),
        1.0,
        1e5,
        xtol=1e-10,
    )
    r = line(S)
    lying = length - np.sqrt(h * h + 2 * h * c)
    on_bed = S * length < lying - 1.0
    assert r[on_bed] == pytest.approx(np.outer(S[on_bed] * length, (1, 0, 0)), abs=1e-9)
    assert r[~on_bed][2:, 2] == pytest.approx(c * (np.cosh((r[~on_bed][2:, 0] - lying) / c) - 1.0), abs=1e-3)
    assert r[-1] == pytest.approx((across, 0, h), abs=1e-7)
    assert r[:, 2].min() >= 0.0


def test_belly_of_a_line_lies_on_the_bed_between_two_floats() -> None:
    line = curves.catenary((0, 0, 10), (60, 20, 30), 95.0, bed=2.0)
    r = line(S)
    assert r[0] == pytest.approx((0, 0, 10), abs=1e-9)
    assert r[-1] == pytest.approx((60, 20, 30), abs=1e-9)
    assert r[:, 2].min() == pytest.approx(2.0, abs=1e-12)
    assert np.linalg.norm(np.diff(r, axis=0), axis=1).sum() == pytest.approx(95.0, rel=1e-6)
    assert (r[:, 2] < 2.0 + 1e-9).sum() > 100


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (((0, 0, 0), (1, 0, 0), 1.0), "not more than the distance of the ends, 1 m"),
        (((0, 0, 0), (1, 0, 0), -1.0), r"length = -1.0 is not positive"),
        (((0, 0, 0), (0, 0, 1), 3.0), "one end is above the other"),
        (((0, 0, 0), (1e-3, 0, 0), 1e6), "one end is above the other"),
        (((0, 0, 1), (1, 0, 1), 5.0, 0.0), "it would lie in heaps"),
        (((0, 0, -1), (1, 0, 1), 5.0, 0.0), "an end is 1 m below the bed"),
        (((0, 0, 0), (1, 0, 0), 2.0, None, (0, 0, 0)), "up"),
        (((0, 0, 1), (1, 0, 1), 1.15, 0.9, (0, 0, 1), (0, 0, 90), 5e3), "no shape of the line"),
        (((0, 0, 0), (1, 0, 0), 2.0, None, (0, 0, 1), (1, 0, 0), -0.5), "drag = -0.5"),
        (((0, 0, 0), (1, 0, 0), 2.0, None, (0, 0, 1), (1, np.nan, 0), 0.5), "current"),
    ],
)
def test_impossible_lines_are_rejected(arguments, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        curves.catenary(*arguments)


def test_rod_along_a_catenary_has_its_length_and_even_strain() -> None:
    model = Model("line")
    section = Section.string(EA=1e4, mass_per_length=1.0)
    line = model.add_rod("line", curves.catenary((0, 0, 0), (2, 0, 0), 2.4), section, 12)
    assert line.stress_free.length == pytest.approx(2.4, rel=1e-9)


@pytest.mark.parametrize("current", [(0.4, 0.0, 0.0), (-0.3, 0.5, 0.0), (0.0, 1.2, 0.1)])
def test_line_in_a_current_has_its_ends_its_length_and_the_equilibrium_of_a_rod(current) -> None:
    """The rod is a string that stretches little; its equilibrium is computed with the drag of a fluid."""
    w, rho, d, C = 5.0, 1000.0, 0.02, 1.2
    ends, length = ((0, 0, 0), (2, 0.5, 1)), 3.0
    line = curves.catenary(*ends, length, current=current, drag=rho * d * C / (2 * w))
    r = line(S)
    assert r[0] == pytest.approx(ends[0], abs=1e-12)
    assert r[-1] == pytest.approx(ends[1], abs=1e-7)
    assert np.linalg.norm(np.diff(r, axis=0), axis=1) == pytest.approx(length / 4000, rel=1e-5)
    model = Model("line", gravity=(0, 0, -10.0))
    rod = model.add_rod("line", line, Section.string(EA=1e6, mass_per_length=w / 10.0, radius=d / 2), 60)
    for name, end in (("a", rod.start), ("b", rod.end)):
        model.add_joint(name, "spherical", "ground", end)
    sea = model.add_fluid("sea", rho, current)
    model.add_submerged_rod("wet", rod, sea, d, drag=C, added_mass=0.0, buoyancy=0.0)
    rest = equilibrium(model).rod("line").r[-1]
    assert np.abs(rest - line(np.linspace(0, 1, 61))).max() < 2e-3
    without = curves.catenary(*ends, length)(np.linspace(0, 1, 61))
    assert np.abs(rest - without).max() > 0.05


@pytest.mark.parametrize("current", [(0.3, 0.0, 0.0), (-0.3, 0.4, 0.0), (0.0, 0.4, 0.0)])
@pytest.mark.parametrize(
    "ends", [((0, 0, 0), (2.5, 0.2, 1)), ((0, 0, 0.4), (2.5, 0.2, 1)), ((2.5, 0.2, 1), (0, 0, 0))]
)
def test_line_on_a_bed_in_a_current_is_the_equilibrium_of_a_string(ends, current) -> None:
    """The string stretches little and lies on a stiff bed, on which the drag acts as above it."""
    w, rho, d, C, length = 5.0, 1000.0, 0.02, 1.2, 3.2
    line = curves.catenary(*ends, length, bed=0.0, current=current, drag=rho * d * C / (2 * w))
    r = line(S)
    assert r[0] == pytest.approx(ends[0], abs=1e-7)
    assert r[-1] == pytest.approx(ends[1], abs=1e-7)
    assert r[:, 2].min() > -1e-7
    assert np.linalg.norm(np.diff(r, axis=0), axis=1) == pytest.approx(length / 4000, rel=1e-5)
    assert np.sum(r[:, 2] < 1e-6) > 100
    n = 80
    model = Model("line", gravity=(0, 0, -10.0))
    string = Section.string(EA=1e6, mass_per_length=w / 10.0, radius=d / 2)
    rod = model.add_rod("line", line, string, n)
    for name, end in (("a", rod.start), ("b", rod.end)):
        model.add_joint(name, "spherical", "ground", end)
    sea = model.add_fluid("sea", rho, current)
    model.add_submerged_rod("wet", rod, sea, d, drag=C, added_mass=0.0, buoyancy=0.0)
    bed = model.add_plane("bed", model.ground.at((0, 0, -d / 2)), (0, 0, 1))
    model.add_contact("lies", rod, bed, stiffness=1e5)
    rest = equilibrium(model).rod("line").r[-1]
    difference = np.abs(rest - line(np.linspace(0, 1, n + 1))).max()
    assert difference < 5e-4  # it sinks in by 5e-5 m
    without = curves.catenary(*ends, length, bed=0.0)(np.linspace(0, 1, n + 1))
    assert np.abs(rest - without).max() > 20 * difference


def test_a_current_may_lift_the_line_off_the_bed() -> None:
    ends, length, flow = ((0, 0, 0.4), (2.5, 0.2, 1)), 3.2, {"current": (0.0, 0.6, 0.0), "drag": 2.4}
    assert np.sum(curves.catenary(*ends, length, bed=0.0)(S)[:, 2] < 1e-6) > 100
    lifted = curves.catenary(*ends, length, bed=0.0, **flow)(S)
    assert lifted[:, 2].min() > 0.01
    assert lifted == pytest.approx(curves.catenary(*ends, length, **flow)(S), abs=1e-12)


def test_line_on_a_bed_tends_to_that_without_a_current() -> None:
    ends, length = ((0, 0, 0.4), (2.5, 0.2, 1)), 3.2
    still = curves.catenary(*ends, length, bed=0.0)(S)
    slow = curves.catenary(*ends, length, bed=0.0, current=(0.0, 1e-4, 0.0), drag=1.0)(S)
    assert slow == pytest.approx(still, abs=1e-6)


def drawn(s: float) -> tuple[float, float, float]:
    """A curve whose parameter is not its length."""
    return s**2 + s, float(np.sin(3 * s)), 0.0


POINTS = [(0, 0, 0), (1, 0.5, 0), (1, 2, 1)]


@pytest.mark.parametrize(("curve", "end"), [(drawn, drawn(1.0)), (POINTS, POINTS[-1])])
def test_curve_by_its_length_moves_at_constant_speed(curve, end) -> None:
    line = curves.by_length(curve)
    speeds = np.linalg.norm(np.diff(line(S), axis=0), axis=1) * 4000
    assert speeds == pytest.approx(line.length, rel=1e-5)
    assert line(0.0) == pytest.approx((0, 0, 0), abs=1e-9)
    assert line(1.0) == pytest.approx(end, abs=1e-9)
