"""Pressure along rods: rings and arcs against closed forms, work as pressure times area, buckling of rings."""

from functools import cache

import numpy as np
import pytest

from discretization.state_measures import energies
from rodsim import Model, Section, audit, equilibrium, modes, simulate

X, Y, Z = np.eye(3)
R = 0.5


def ring(n, EA=2e3, EI=1.0, pressure=0.0, radii=(R, R), density=1.0):
    section = Section.from_stiffness(
        EA=EA, GA=EA, GJ=EI, EI=EI, mass_per_length=density, inertia_per_length=1e-3
    )
    model = Model("ring")

    def curve(s):
        angle = 2 * np.pi * s
        return radii[0] * np.cos(angle), radii[1] * np.sin(angle), 0.0

    rod = model.add_rod("ring", curve, section, n, closed=True, up=Z)
    if pressure:
        model.add_pressure("sea", rod, pressure, Z)
    return model


def area(result, k):
    x, y, _ = result.state(k).r[1:].T
    return 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))


def test_a_ring_under_pressure_stays_a_circle_of_known_radius():
    """n arcs of constant strain between chords: EA (r/R - 1) = -p r sin(theta)/theta, theta = 2 pi/n."""
    p, EA = 300.0, 2e3
    for n in (8, 32):
        model = ring(n, EA, 50.0, p)
        model.add_bushing("centre", model.ground.at((R, 0, 0)), model.rods["ring"].at(0.0), 1e-3)
        statics = equilibrium(model)
        nodes = statics.state().r[1:]
        radius = np.linalg.norm(nodes - nodes.mean(axis=0), axis=1)
        theta = 2 * np.pi / n
        expected = R / (1.0 + p * R / EA * np.sin(theta) / theta)
        assert radius == pytest.approx(expected, rel=1e-9)
    assert expected == pytest.approx(R / (1.0 + p * R / EA), rel=1e-3)


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_pressure_work_is_pressure_times_change_of_area(integrator):
    model = ring(16, pressure=30.0, radii=(R, 0.7 * R))
    result = simulate(model, t_end=0.5, dt=0.005, integrator=integrator)
    work = result.work
    change = np.array([-30.0 * (area(result, k) - area(result, 0)) for k in range(len(result.t))])
    assert np.abs(work).max() > 0.5
    assert np.abs(work - change).max() < 1e-11 * np.abs(work).max()
    total = result.energy["total"]
    assert np.abs(total - total[0] - work).max() < 1e-11 * np.abs(work).max()
    # a pressure on all sides has no resultant force, and no moment about its normal
    assert np.abs(result.linear_momentum).max() < 1e-11
    assert np.abs(result.angular_momentum[:, 2]).max() < 1e-11


def buckling_pressure(n, EI):
    """Pressure where the squared frequency of two in-plane waves is zero, by linear interpolation of two values."""
    critical = 3.0 * EI / R**3
    squares, pressures = [], np.array([0.9, 1.1]) * critical
    for p in pressures:
        model = ring(n, 1e6, EI, p)
        model.add_bushing("hold", model.ground.at((R, 0, 0)), model.rods["ring"].at(0.0), 1e-4)
        result = modes(model, 14, equilibrium(model).state())
        assert not result.linear.unsymmetric
        # in-plane motions that are neither a translation nor a rotation
        waves = [
            (result.values[k] ** 2).real
            for k, shape in enumerate(result.shapes[:, 1:])
            if np.abs(shape[:, 2]).max() < 1e-6
            and np.linalg.norm(shape[:, :2].mean(axis=0)) < 0.2 * np.abs(shape[:, :2]).max()
            and abs(shape[:, 5].mean()) < 0.2 * np.abs(shape[:, 5]).max()
        ]
        squares.append(max(waves))
    assert squares[0] < 0.0 < squares[1]
    return pressures[0] - squares[0] * np.diff(pressures)[0] / (squares[1] - squares[0])


def test_ring_buckles_at_levys_pressure():
    """Levy: a hydrostatic pressure 3 EI/R^3 makes it an ellipse; chords of n nodes converge to it with order 2."""
    coarse, fine = (buckling_pressure(n, 1.0) for n in (24, 48))
    assert fine == pytest.approx(3.0 / R**3, rel=6e-3)
    assert (4.0 * fine - coarse) / 3.0 == pytest.approx(3.0 / R**3, rel=5e-4)


def test_pressure_on_an_open_rod_has_no_potential_and_its_work_is_counted():
    section = Section.from_stiffness(EA=500, GA=500, GJ=1, EI=1, mass_per_length=1, inertia_per_length=1e-3)
    model = Model("flap")
    rod = model.add_rod("flap", [(0, 0, 0), (1, 0, 0)], section, 6)
    model.add_joint("root", "clamp", rod.start)
    model.add_pressure("jet", rod, 4.0, Z)
    result = simulate(model, t_end=0.5, dt=0.005)
    total = energies(result.layout.system, result.state()).total
    assert result.state().r[-1, 1] > 0.1  # normal x tangent
    assert total - energies(result.layout.system, result.state(0)).total == pytest.approx(
        result.work[-1], rel=1e-11
    )
    eigenmodes = modes(model, 3, anyway=True)
    assert eigenmodes.linear.unsymmetric == ("a pressure along an open rod",)


def soft(closed):
    """A clamped rod with a jet on it, or a ring with water in it on a joint and two springs."""
    section = Section.from_stiffness(
        EA=60.0, GA=40.0, GJ=3.0, EI=2.0, mass_per_length=1.5, inertia_per_length=(0.4, 0.2, 0.3)
    )
    model = Model("soft", gravity=(0.3, -0.2, -0.9))
    if not closed:
        rod = model.add_rod("rod", [(0, 0, 0), (1, 0.1, 0.2)], section, 2, mass="lumped")
        model.add_joint("root", "clamp", rod.start)
        model.add_pressure("jet", rod, 4.0, Z)
        return model

    def circle(s):
        return R * np.cos(2 * np.pi * s), 0.8 * R * np.sin(2 * np.pi * s), 0.0

    rod = model.add_rod("ring", circle, section, 4, closed=True, up=Z, mass="lumped")
    model.add_pressure("water", rod, 4.0, -Z)
    model.add_joint("foot", "spherical", model.ground, rod.at(0.0), at=circle(0.0))
    for k in (1, 2):
        model.add_bushing(f"foot {k}", model.ground, rod.at(k / 3), 5.0, at=circle(k / 3))
    return model


KEEPING = [
    ("EML", "quaternion"),
    ("REML", "quaternion"),
    ("EML-kappa", "quaternion"),
    ("EMH", "quaternion-alpha"),
    ("GGL-EM", "quaternion-gamma"),
    ("EM-G", "director"),
]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(("integrator", "chart"), KEEPING)
def test_energy_conserving_schemes_count_the_work_of_a_pressure(integrator, chart, closed):
    """To round-off; in a ring the work is the pressure times the change of the area."""
    result = simulate(soft(closed), 0.1, 0.01, integrator, chart=chart, output_every=1, progress=False)
    report = audit(result)
    assert report.ok, report.text()
    assert report.energy_balance < 1e-12
    assert abs(result.work[-1]) > 1e-3
    if closed:
        gained = [4.0 * (area(result, k) - area(result, 0)) for k in range(result.n_outputs)]
        assert result.work == pytest.approx(gained, abs=1e-12)


@cache
def fine():
    result = simulate(soft(False), 0.08, 0.0025, "em6", output_every=1, progress=False)
    return result.state().r, result.work[-1]


@pytest.mark.parametrize(
    ("integrator", "chart", "order"),
    [
        ("em", None, 2),
        ("EML-kappa", None, 2),
        ("MPL", None, 2),
        ("GGL-EM", "quaternion-gamma", 2),
        ("VI-S", "quaternion-gamma", 1),
        ("VI-B(0.5, 0.5)", "quaternion-gamma", 2),
        ("mG(1)", "quaternion-gamma", 2),
        ("EMH(order=4)", "quaternion-gamma", 4),
        ("GL-SPARK(2)", "quaternion-gamma", 4),
    ],
)
def test_rod_under_pressure_converges_to_em_with_the_order_of_the_scheme(integrator, chart, order):
    """Positions and work converge; a pressure without a potential acts in backward substeps as in forward ones."""
    positions, work = fine()
    errors = []
    for h in (0.01, 0.005):
        result = simulate(soft(False), 0.08, h, integrator, chart=chart, output_every=1, progress=False)
        errors.append([np.abs(result.state().r - positions).max(), abs(result.work[-1] - work)])
    assert np.log2(np.divide(*errors)) == pytest.approx(np.full(2, order), abs=0.3)
