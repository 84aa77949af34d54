"""Laws of chambers: closed forms of gas springs and hydraulics, exact balances, momenta, order, bent arms, results, messages."""

from itertools import pairwise

import numpy as np
import pytest

from rodsim import (
    Box,
    Model,
    ModelError,
    Result,
    ResultError,
    Section,
    audit,
    equilibrium,
    modes,
    simulate,
)

AREA, LENGTH, MASS, DT = 1e-3, 0.3, 2.0, 2e-3
THIN = 1e-4  # area of the chamber between free bodies, m^2
AIR = 101325.0
FILLINGS = {
    "given": {"pressure": "1e4*sin(9*t)"},
    "air": {"gas_pressure": 3e5},
    "isothermal": {"gas_pressure": 3e5, "exponent": 1.0, "dead_volume": 1e-4},
    "steep": {"gas_pressure": 3e5, "exponent": 2.5, "ambient": 0.0},
    "water": {"bulk_modulus": 1e5, "volume": 3.05e-4},
    "hose": {"bulk_modulus": 1e5, "volume": 3.2e-4, "dead_volume": 1e-5},
    "full": {},
    "pump": {"bulk_modulus": 1e5, "volume": "3.2e-4 + 2e-5*sin(20*t)", "dead_volume": 1e-5},
}


def cylinder(gravity=0.0, velocity=0.0, **filling):
    """Return a piston on a vertical rail above a chamber."""
    model = Model("cylinder", gravity=(0, 0, -gravity))
    piston = model.add_body(
        "piston", Box(0.1, 0.1, 0.1, mass=MASS), position=(0, 0, LENGTH), velocity=(0, 0, velocity)
    )
    model.add_joint("rail", "prismatic", "ground", piston, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_chamber("chamber", ["ground@0,0,0", piston], AREA, **filling)
    return model


def flying(**filling):
    """Return three free bodies that rotate, with a chamber along points beside their centres, two of them on one body."""
    model = Model("flying")
    spins = ((1.0, 2.0, -1.0), (0.0, 1.0, 3.0), (-2.0, 0.5, 0.0))
    bodies = [
        model.add_body(
            f"body {k}",
            Box(0.1, 0.06, 0.04, mass=1.0 + k),
            (0.15 * k, 0.1 * (k % 2), 0),
            angular_velocity=spin,
        )
        for k, spin in enumerate(spins)
    ]
    a, b, c = bodies
    if "volume" in filling:  # of the cylinder: about the volume of this chamber
        volume = filling["volume"]
        filling["volume"] = f"{volume} - 2.6e-4" if isinstance(volume, str) else volume - 2.6e-4
    points = [a.at((0.02, 0.03, 0.01)), b.at((-0.04, 0.02, 0)), b.at((0.04, 0.02, 0)), c]
    model.add_chamber("chamber", points, THIN, **filling)
    return model


def arm(n, *offsets_and_pressures, EA=1e6):
    """Return a clamped rod along x with chambers of given pressures at offsets (y, z)."""
    section = Section.from_stiffness(
        EA=EA, GA=1e6, GJ=3.0, EI=4.0, mass_per_length=1.5, inertia_per_length=(4e-3, 2e-3, 2e-3)
    )
    model = Model("arm")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, n, up=(0, 0, 1))
    model.add_joint("clamp", "clamp", rod.start)
    for k, (offset, pressure) in enumerate(offsets_and_pressures):
        along = [rod.at(i / n, (0, *offset)) for i in range(n + 1)]
        model.add_chamber(f"chamber {k}", along, AREA, pressure=pressure)
    return model


def imbalance(result):
    """Return the error of the balance of energy and work at all outputs, J."""
    total = result.energy["total"]
    return total - total[0] - result.work


@pytest.mark.parametrize("filling", FILLINGS)
@pytest.mark.parametrize("solver", ["auto", "general"])
def test_energy_and_momenta_of_free_bodies_are_conserved(filling, solver):
    result = simulate(flying(**FILLINGS[filling]), 0.3, DT, solver=solver, output_every=1, progress=False)
    assert np.abs(imbalance(result)).max() < 1e-11 * np.abs(result.energy["total"]).max()
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert momentum == pytest.approx(np.tile(momentum[0], (len(momentum), 1)), abs=1e-11)
    if filling != "full":
        assert np.ptp(result.chamber("chamber").volume) > 1e-7
        assert np.ptp(result.energy["kinetic"]) > 1e-3


@pytest.mark.parametrize("exponent", [1.0, 1.4])
def test_gas_between_free_strokes_returns_its_work(exponent):
    """The speed of a piston is that of the work of the gas between two volumes, in closed form."""
    model = cylinder(gas_pressure=5e5, exponent=exponent, dead_volume=1e-4)
    result = simulate(model, 0.05, 1e-3, progress=False)
    volume, pressure = result.chamber("chamber").volume, result.chamber("chamber").pressure
    start, end = volume[0], volume[-1]
    assert start == pytest.approx(AREA * LENGTH + 1e-4, rel=1e-14)
    assert end > 1.3 * start
    a = 1.0 - exponent
    grown = np.log(end / start) if a == 0.0 else ((end / start) ** a - 1.0) / a
    work = 5e5 * start * grown - AIR * (end - start)
    assert 0.5 * MASS * result.body("piston").v[-1, 2] ** 2 == pytest.approx(work, rel=1e-12)
    assert pressure == pytest.approx(5e5 * (volume / start) ** -exponent - AIR, rel=1e-12)


def test_frequency_of_a_gas_spring():
    model = cylinder(gas_pressure=AIR, dead_volume=2e-4)
    stiffness = 1.4 * AIR * AREA / (LENGTH + 2e-4 / AREA)
    assert modes(model).values[0].imag == pytest.approx(np.sqrt(stiffness / MASS), rel=1e-9)


@pytest.mark.parametrize("change", [1e-9, 1e-6, 1e-4, 1e-2])
def test_force_over_short_and_long_steps(change):
    """The momentum of a step is the mean force of the gas over it, also where the volume hardly changes."""
    speed = change * LENGTH / DT
    result = simulate(cylinder(velocity=speed, gas_pressure=3e5), DT, DT, progress=False)
    z = result.body("piston").r[:, 2]
    s = np.linspace(0.0, 1.0, 2001)
    force = AREA * (3e5 * ((z[0] + s * (z[1] - z[0])) / LENGTH) ** -1.4 - AIR)
    mean = np.trapezoid(force, s)
    v = result.body("piston").v[:, 2]
    assert MASS * (v[1] - v[0]) == pytest.approx(DT * mean, rel=1e-9)


@pytest.mark.parametrize("filling", ["air", "water", "hose", "pump", "full"])
def test_weight_rests_on_its_pressure(filling):
    model = cylinder(gravity=9.81, **FILLINGS[filling])
    rest = equilibrium(model)
    chamber, weight = rest.chamber("chamber"), MASS * 9.81 / AREA
    assert chamber.pressure[-1] == pytest.approx(weight, rel=1e-9)
    exact = {
        "air": AREA * LENGTH * (3e5 / (weight + AIR)) ** (1 / 1.4),
        "water": 3.05e-4 - AREA * LENGTH * weight / 1e5,
        "hose": 3.2e-4 - (AREA * LENGTH + 1e-5) * weight / 1e5,
        "pump": 3.2e-4 - (AREA * LENGTH + 1e-5) * weight / 1e5,
        "full": AREA * LENGTH,
    }[filling]
    assert chamber.volume[-1] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("filling", ["steep", "isothermal", "hose", "pump"])
def test_pressure_follows_from_the_volume(filling):
    """Two of the points are on one body; the length between them belongs to the volume."""
    result = simulate(flying(**FILLINGS[filling]), 0.2, DT, output_every=5, progress=False)
    volume = result.chamber("chamber").volume
    given = FILLINGS[filling]
    if "gas_pressure" in given:
        ambient = given.get("ambient", AIR)
        exact = given["gas_pressure"] * (volume[0] / volume) ** given["exponent"] - ambient
    else:
        free = 3.2e-4 - 2.6e-4 + (2e-5 * np.sin(20 * result.t) if filling == "pump" else 0.0)
        exact = given["bulk_modulus"] * (free - volume) / volume[0]
    assert result.chamber("chamber").pressure == pytest.approx(exact, rel=1e-9)
    assert np.ptp(exact) > 1e3


@pytest.mark.parametrize("integrator", ["EML", "EM-G", "em-ggl", "mG(2)"])
@pytest.mark.parametrize("filling", ["air", "hose", "pump", "full"])
def test_every_family_converges_to_the_same_motion(filling, integrator):
    model = flying(**FILLINGS[filling])
    result = simulate(model, 0.06, 0.002, integrator, output_every=1, progress=False)
    assert audit(result).ok
    reference = simulate(model, 0.06, 0.001, "em4", progress=False)
    for body in ("body 0", "body 2"):
        assert result.body(body).r[-1] == pytest.approx(reference.body(body).r[-1], abs=2e-4)


def test_incompressible_liquid_keeps_its_volume_while_it_moves():
    result = simulate(flying(), 0.5, DT, output_every=1, progress=False)
    volume = result.chamber("chamber").volume
    assert np.abs(volume / volume[0] - 1.0).max() < 1e-12


def test_pump_lifts_a_weight_by_the_volume_that_it_adds():
    """A ramp of the volume: the weight swings about it with the frequency of the liquid column."""
    rate, modulus = 1e-4, 2e7
    model = cylinder(gravity=9.81, bulk_modulus=modulus, volume=f"{AREA * LENGTH} + {rate}*t")
    result = simulate(model, 0.2, 1e-4, output_every=10, progress=False)
    omega = np.sqrt(AREA * modulus / LENGTH / MASS)
    t = result.t
    # z'' = omega^2 (rate t/A - z) - g from rest
    exact = rate / AREA * (t - np.sin(omega * t) / omega) - 9.81 / omega**2 * (1.0 - np.cos(omega * t))
    assert result.body("piston").r[:, 2] - LENGTH == pytest.approx(exact, abs=2e-6)
    assert np.abs(imbalance(result)).max() < 1e-11 * result.work[-1]
    assert audit(result).ok


def test_given_pressure_works_on_the_volume():
    result = simulate(cylinder(pressure="2e4*(1 + t)"), 0.1, DT, output_every=1, progress=False)
    pressure = 2e4 * (1.0 + result.t[:-1] + 0.5 * DT)
    volume = result.chamber("chamber").volume
    assert np.diff(result.work) == pytest.approx(pressure * np.diff(volume), abs=1e-13)
    assert result.chamber("chamber").pressure == pytest.approx(2e4 * (1.0 + result.t), rel=1e-14)


def test_chamber_beside_the_axis_bends_a_rod_to_a_circle():
    """The curvature is A p d/EI and the stretch A p/EA, in the limit of many points."""
    pressure, offset = 2e5, 0.01
    curvature = AREA * pressure * offset / 4.0
    stretch = 1.0 + AREA * pressure / 1e6
    exact = stretch * np.array([np.sin(curvature), 0.0, np.cos(curvature) - 1.0]) / curvature
    tips = [equilibrium(arm(n, ((0.0, offset), pressure))).rod("rod").r[-1, -1] for n in (16, 32, 64)]
    extrapolated = (4.0 * tips[2] - tips[1]) / 3.0
    assert extrapolated == pytest.approx(exact, abs=1e-5)
    assert np.abs(tips[1] - tips[0]).max() / np.abs(tips[2] - tips[1]).max() == pytest.approx(4.0, rel=0.05)


def test_three_chambers_bend_by_the_sum_of_their_moments():
    """Equal pressures only stretch; the plane of bending follows from the pressures."""
    offset, pressures = 0.01, (1.5e5, 0.5e5, 0.9e5)
    angles = 2.0 * np.pi * np.arange(3) / 3
    places = [(offset * np.cos(x), offset * np.sin(x)) for x in angles]
    straight = equilibrium(arm(8, *((place, 1e5) for place in places))).rod("rod").r[-1, -1]
    assert straight == pytest.approx([1.0 + 3e5 * AREA / 1e6, 0.0, 0.0], abs=1e-9)
    tips = [equilibrium(arm(n, *zip(places, pressures, strict=True))).rod("rod").r[-1, -1] for n in (16, 32)]
    tip = (4.0 * tips[1] - tips[0]) / 3.0
    moment = AREA * sum(p * np.array(place) for p, place in zip(pressures, places, strict=True))
    bend = np.linalg.norm(moment) / 4.0
    out = (1.0 + sum(pressures) * AREA / 1e6) * (1.0 - np.cos(bend)) / bend
    assert tip[1:] == pytest.approx(-out * moment / np.linalg.norm(moment), abs=2e-5)


@pytest.mark.parametrize("filling", ["air", "hose", "pump"])
@pytest.mark.parametrize(("integrator", "order"), [("em", 2), ("em4", 4)])
def test_order(filling, integrator, order):
    ends = [
        simulate(flying(**FILLINGS[filling]), 0.08, dt, integrator, progress=False).body("body 0").r[-1]
        for dt in (0.004, 0.002, 0.001)
    ]
    coarse, fine = (np.abs(b - a).max() for a, b in pairwise(ends))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.25)


def test_files_keep_chambers(tmp_path):
    path = tmp_path / "run.vtkhdf"
    moved = simulate(flying(**FILLINGS["pump"]), 0.1, DT, output=path, output_every=5, progress=False)
    loaded = Result.load(path)
    assert loaded.chambers == ["chamber"]
    for quantity in ("volume", "pressure"):
        stored, direct = (getattr(x.chamber("chamber"), quantity) for x in (loaded, moved))
        assert stored.tobytes() == direct.tobytes()


def test_pressure_of_a_python_function_is_not_stored():
    result = simulate(cylinder(pressure=lambda t: 1e4 * t), 0.01, DT, progress=False)
    with pytest.raises(ResultError, match=r"chamber 'chamber': follows a function of Python"):
        _ = result.chamber("chamber").pressure


def test_chamber_within_a_rigid_part_does_not_act():
    assert not arm(4, ((0.0, 0.01), 1e5)).as_rigid().others


def test_equilibria_know_the_pressure_of_a_function_at_their_load_time():
    rest = equilibrium(cylinder(gravity=9.81, pressure=lambda t: 9810.0 * t), load_time=MASS)
    assert rest.chamber("chamber").pressure[-1] == pytest.approx(MASS * 9810.0, rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"area": 0.0}, r"chamber 'c': area = 0.0 is not positive"),
        (
            {"pressure": 1.0, "gas_pressure": 2.0},
            r"has pressure, gas_pressure. Give a pressure, a gas_pressure",
        ),
        ({"volume": 1e-3}, r"volume = 0.001, but a liquid that is not compressible keeps the volume"),
        ({"volume": -1e-3, "bulk_modulus": 1e6}, r"volume = -0.001 is not positive"),
        ({"gas_pressure": 1e5, "exponent": 0.0}, r"exponent = 0.0 is not positive"),
        ({"gas_pressure": -1e5}, r"gas_pressure = -100000.0 is not positive"),
        ({"dead_volume": -1.0}, r"dead_volume = -1.0 is below 0"),
        ({"points": ["ground@0,0,0"]}, r"Give two or more points"),
        ({"points": ["ground@0,0,0", "ground@1,0,0"]}, r"all its points are on"),
    ],
)
def test_bad_input_is_named(arguments, message):
    model = cylinder()
    values = {"points": ["ground@0,0,0", "piston"], "area": AREA} | arguments
    with pytest.raises(ModelError, match=message):
        model.add_chamber("c", **values)


def test_points_at_one_place_are_refused():
    model = cylinder()
    model.add_chamber("c", ["ground@0,0,0.3", "piston", "ground@1,0,0"], AREA, pressure=1.0)
    with pytest.raises(ModelError, match=r"chamber 'c': points 0 and 1 are at one place"):
        simulate(model, 0.01, DT, progress=False)


def test_closed_chambers_pass_few_frames():
    model = Model("long")
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=3.0, EI=4.0, mass_per_length=1.5, inertia_per_length=(4e-3, 2e-3, 2e-3)
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 80)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_chamber("c", [rod.at(k / 80, (0, 0.1, 0)) for k in range(81)], AREA, gas_pressure=1e5)
    with pytest.raises(
        ModelError, match=r"chamber 'c': passes 81 frames; without a given pressure the limit is"
    ):
        simulate(model, 0.01, DT, progress=False)
