"""Loads along rods: their nodal forces and their work."""

import numpy as np
import pytest

from discretization.interaction_table import loads_of
from rodsim import Model, ModelError, Section, audit, equilibrium, signals, simulate
from rodsim.signals import Field, Sine
from rodsim.warnings import ModelCheckWarning

ELEMENTS = ("se3", "lagrange(2)", "relative(4)")
SECTION = Section.from_stiffness(
    EA=3e3, GA=2e3, GJ=5, EI=(8, 6), mass_per_length=2.0, inertia_per_length=(0.05, 0.03, 0.02)
)


def clamped_rod(
    element="se3", gravity=(0.0, 0.0, 0.0), curve=((0, 0, 0), (1, 0.2, 0.1)), n_elements=8, closed=False
):
    model = Model("rod", gravity=gravity)
    rod = model.add_rod("rod", list(curve), SECTION, n_elements, element=element, closed=closed)
    if not closed:
        model.add_joint("clamp", "clamp", rod.start)
    return model, rod


@pytest.mark.parametrize("element", ELEMENTS)
def test_dead_load_equal_to_the_weight_acts_as_gravity(element):
    g = np.array([0.0, 2.0, -9.81])
    falling, _ = clamped_rod(element, g)
    loaded, rod = clamped_rod(element)
    loaded.add_distributed_load("weight", rod, 2.0 * g)
    one, other = (simulate(model, 0.3, 0.01) for model in (falling, loaded))
    assert np.abs(one.rod("rod").r - other.rod("rod").r).max() < 1e-10
    assert np.ptp(one.rod("rod").r[:, -1], axis=0).max() > 0.1
    # the work of the load replaces the energy of gravity
    assert other.work == pytest.approx(one.energy["gravity"][0] - one.energy["gravity"], abs=1e-10)
    assert audit(other).energy_balance < 1e-11


@pytest.mark.parametrize("element", ELEMENTS)
def test_nodal_forces_are_work_equivalent_to_the_load(element):
    """Load and displacement are polynomials along the rod; also with the load on a part of the rod."""
    model, rod = clamped_rod(element, curve=((0, 0, 0), (2, 0, 0)))
    load = model.add_distributed_load(
        "load", rod, lambda s, t: ((1 + t) * (3 * s - 1), s, 1.0), between=(0.25, 0.75)
    )
    built = model.build()
    order = {"se3": 1, "lagrange(2)": 2, "relative(4)": 4}[element]
    loads = loads_of(built.system.others)
    x = built.state.r[loads.frame, 0]  # along a rod of length 2: s = x/2
    values = built.load_values(np.array([0.5]))[0]
    s, w = np.polynomial.legendre.leggauss(8)
    s, w = 0.5 + 0.25 * s, 0.5 * w  # from 0.25 to 0.75, dx = 2 ds
    for power in range(order + 1):
        for i, q in enumerate((1.5 * (3 * s - 1), s, 1.0 + 0 * s)):
            assert values[:, i] @ x**power == pytest.approx(w @ (q * (2 * s) ** power), rel=1e-12, abs=1e-12)
    assert x.min() == pytest.approx(0.5)
    assert x.max() == pytest.approx(1.5)
    assert len(load.between) == 2


def test_a_closed_rod_is_loaded_all_around():
    t = np.linspace(0, 2 * np.pi, 13)[:-1]
    ring = np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)
    model, rod = clamped_rod(curve=[tuple(p) for p in ring], closed=True, n_elements=10)
    model.add_distributed_load("wind", rod, (0, 0, 3.0))
    values = model.build().load_values(np.zeros(1))[0]
    assert values.shape == (10, 3)
    assert values.sum(axis=0) == pytest.approx([0, 0, 3.0 * rod.stress_free.length], rel=1e-13)
    result = simulate(model, 0.2, 0.01)
    P = 3.0 * rod.stress_free.length * result.t
    assert result.linear_momentum[:, 2] == pytest.approx(P, abs=1e-11)


@pytest.mark.parametrize("kind", ["force", "moment"])
@pytest.mark.parametrize("following", [False, True])
@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_the_work_of_a_distributed_load_is_counted_exactly(integrator, following, kind):
    model, rod = clamped_rod()
    model.add_distributed_load(
        "load", rod, lambda s, t: (0, 3 * np.sin(5 * t) * s, 2.0), kind, following, between=(0.5, 1.0)
    )
    model.add_distributed_load("shake", rod, Sine(2.0, 1.0).along((0, 1, 0)))
    model.add_force("tip", rod.end, (0.3, 0, 0))
    result = simulate(model, 0.6, 0.01, integrator)
    report = audit(result)
    assert report.ok
    assert report.energy_balance < 1e-11
    assert np.ptp(result.work) > 0.1 * report.energy_scale
    assert result.drive_work().max() == 0.0


def test_following_load_rotates_with_the_sections():
    """A moment per length along a free rod: it spins about its own axis, in any direction."""
    direction = np.array([0.6, 0.0, 0.8])
    model, rod = clamped_rod(curve=[(0, 0, 0), tuple(direction)])
    model.joints.clear()
    model.add_distributed_load("twist", rod, (0.7, 0, 0), "moment", following=True)
    result = simulate(model, 0.5, 0.01)
    assert result.angular_momentum[-1] == pytest.approx(0.35 * direction, abs=1e-11)


@pytest.mark.parametrize("n", [20, 40])
def test_distributed_couples_bend_an_arm_to_the_exact_curvature(n):
    """Muscles of PyElastica's arm: couples -tau'(s) per length give the moment tau(s), so the curvature is tau/EI."""

    def tau(s):
        return 2.0 * np.exp(-(((s - 0.5) / 0.12) ** 2))

    def couple(s, t):
        return 0.0, 0.0, t * tau(s) * 2 * (s - 0.5) / 0.12**2

    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=1.0, EI=1.5, mass_per_length=1.0, inertia_per_length=1e-3
    )
    model = Model("arm")
    rod = model.add_rod("arm", [(0, 0, 0), (1, 0, 0)], section, n, up=(0, 0, 1))
    model.add_joint("base", "clamp", rod.start)
    model.add_distributed_load("muscles", rod, couple, "moment")
    K = equilibrium(model, load_time=1.0).rod("arm").K[-1, :, 2]
    middle = (np.arange(n) + 0.5) / n
    assert np.abs(K - tau(middle) / 1.5).max() < 30.0 / n**2
    assert K.max() > 1.2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"value": Sine(1.0, 1.0)}, r"load 'q': Sine is a scalar; give its direction"),
        ({"value": (1, 2)}, r"load 'q': value = \(1, 2\) is not a list of 3"),
        ({"value": (1, 2, 3), "between": (0.5, 0.2)}, r"give two fractions of the length"),
        ({"value": (1, 2, 3), "kind": "pressure"}, r"choose one of force, moment"),
    ],
)
def test_invalid_distributed_loads_are_rejected(arguments, message):
    model, rod = clamped_rod()
    with pytest.raises(ModelError, match=message):
        model.add_distributed_load("q", rod, **arguments)


@pytest.mark.parametrize("bad", [(0.0, np.nan, 0.0), (0.0, 1e60, 0.0), (0.0, 1.0), (0.0, "1", 0.0), 1.0])
def test_invalid_load_value_is_reported_with_place_and_time(bad):
    model, rod = clamped_rod()
    model.add_distributed_load("wind", rod, lambda s, t: bad if s > 0.9 and t > 0.04 else (0.0, 1.0, 0.0))
    with pytest.raises(ModelError, match=r"'wind': value at s = 0\.9\d*, t = 0\.0\d*"):
        simulate(model, 0.1, 0.01)


def test_load_function_may_reuse_its_list_or_array():
    """The values at the time of the call are used, not later ones; tuples are converted all together."""
    fillers = [0.0] * 3, np.zeros(3)

    def filled(buffer):
        def load(s, t):
            buffer[1] = s + t
            return buffer

        return load

    ends = []
    for load in (lambda s, t: (0.0, s + t, 0.0), *map(filled, fillers)):
        model, rod = clamped_rod()
        model.add_distributed_load("wind", rod, load)
        ends.append(simulate(model, 0.05, 0.01).rod("rod").r[-1])
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_array_field_equals_the_scalar_load_function():
    """Also if components are numbers, and if a part of the rod is loaded."""

    def wave(s, t):
        return np.sin(3 * s - 2 * t), 0.5, s * t

    model, rod = clamped_rod()
    plain = model.add_distributed_load("plain", rod, wave, between=(0.25, 0.75))
    field = model.add_distributed_load("field", rod, signals.Field(wave), between=(0.25, 0.75))
    assert field.value(0.3, 0.7) == pytest.approx(np.array(wave(0.3, 0.7)), rel=1e-15)
    values = model.build().load_values(np.array([0.0, 0.4, 1.3]))
    one, other = np.split(values, 2, axis=1)
    assert np.abs(one - other).max() < 1e-15 * np.abs(one).max()
    assert plain.between == field.between


def test_invalid_field_values_are_rejected_by_name():
    for points, words in (
        (lambda s, t: (0.0, s), "2 components of shapes"),
        (lambda s, t: np.zeros((2, 3)), "ndarray of shape"),
        (lambda s, t: (s, t, s[:2]), "broadcasts"),
        (lambda s, t: (s, t, s / 0.0), r"\[0, 0, 2\]"),
    ):
        model, rod = clamped_rod()
        model.add_distributed_load("wave", rod, signals.Field(points))
        with np.errstate(all="ignore"), pytest.raises(ModelError, match=f"load 'wave'.*{words}"):
            simulate(model, 0.1, 0.01)
    model, rod = clamped_rod()
    with pytest.raises(ModelError, match="load 'push': Field is of places along a rod"):
        model.add_force("push", rod.end, signals.Field(lambda s, t: (s, t, s)))


# -- loads that are narrow compared with an element ---------------------------------------------------------------------


def passing(width, speed=0.4):
    """8 N along y, as a Gaussian of this standard deviation (m) that moves along the rod of 2 m from 0.5 m on."""

    def shape(s, t):
        return 8.0 / (width * np.sqrt(2 * np.pi)) * np.exp(-0.5 * ((2 * s - 0.5 - speed * t) / width) ** 2)

    return shape


TIMES = np.linspace(0.0, 2.0, 41)


def carried(field, element="se3", n_elements=8):
    """Loads (t, k, 3) of nodes at x (k,) of a rod of 2 m."""
    model, rod = clamped_rod(element=element, curve=((0, 0, 0), (2, 0, 0)), n_elements=n_elements)
    model.add_distributed_load("load", rod, field)
    built = model.build()
    return built.load_values, built.state.r[loads_of(built.system.others).frame, 0]


@pytest.mark.parametrize(("element", "order"), [("se3", 1), ("relative(2)", 2), ("lagrange(4)", 4)])
@pytest.mark.parametrize("part", [0.15, 1 / 16, 1 / 30])
def test_narrow_fields_have_their_total_and_moment(element, order, part):
    """Interpolation of order 1 or more reproduces x, so the moment is exact. All of the load is on the rod."""
    shape = passing(part * 0.25 * order)
    values, x = carried(Field(lambda s, t: (0, shape(s, t), 0)), element)
    times = TIMES if part > 0.1 else np.array([1.25])
    times = times[np.abs(0.5 + 0.4 * times - 1.0) < 1.0 - 5 * part * 0.25 * order]
    assert len(times)
    forces = values(times)[:, :, 1]
    assert forces.sum(axis=1) == pytest.approx(np.full(len(times), 8.0), rel=1e-3)
    assert forces @ x == pytest.approx(8.0 * (0.5 + 0.4 * times), rel=1e-3)


def test_fields_are_integrated_at_each_time_independently():
    """Otherwise a resumed run would have other loads than an uninterrupted one: here of a load that grows."""
    shape = passing(0.02)
    values, _ = carried(Field(lambda s, t: (0, 10.0 ** (4 * t) * shape(s, t), 0)))
    assert np.array_equal(
        values(TIMES), np.concatenate([values(TIMES[k : k + 1]) for k in range(len(TIMES))])
    )


def test_a_field_at_many_times_is_computed_in_parts(monkeypatch):
    values, _ = carried(Field(lambda s, t: (0, passing(0.02)(s, t), 0)))
    expected = values(TIMES)
    monkeypatch.setattr("rodsim.building.distributed_loads._PLACES", 500)
    assert np.array_equal(values(TIMES), expected)


def test_wide_field_equals_its_function_at_the_nodes():
    wide = lambda s, t: (0.0, 3.0 * np.sin(s + t), 1.0 + s)  # noqa: E731
    field, function = (carried(x)[0](TIMES) for x in (Field(wide), wide))
    assert np.array_equal(field, function)


def test_load_narrower_than_an_element_is_reported():
    shape = passing(0.02)
    values, _ = carried(lambda s, t: (0, shape(s, t), 0))
    with pytest.warns(
        ModelCheckWarning,
        match=r"load 'load': it varies so much along an element .* Give a `signals.Field`",
    ):
        values(TIMES)


def test_wide_load_is_not_reported(recwarn):
    values, _ = carried(lambda s, t: (0.0, 3.0 * np.sin(s + t), 1.0 + s))
    values(TIMES)
    assert not recwarn.list
