"""Validation cases with prescribed motion: the spin-up beam, a shaft through its critical speed, a slider-crank."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.integrate import quad

from rigid.errors import RedundantJointsWarning
from rigid.inertia import MassProperties
from rigid.signals import SpinUp
from rodsim.components.sections import Section
from rodsim.model import Model
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values, reference_values_at, values_at

# Simo and Vu-Quoc 1986: a beam of length 10 whose root rotates ever faster until t = 15, then with 6 rad/s
LENGTH, EA, MASS, ROTARY, SPEED, T_UP, T_END = 10.0, 2.8e7, 1.2, 6e-4, 6.0, 15.0, 20.0
# an unbalanced disc of 1 kg in the middle of a massless shaft: 192 EI/L^3 = 192 N/m
UNBALANCE, ACCELERATION, T_SHAFT = 1e-4, 10.0, 2.5  # m, rad/s^2, s
# position (y, z) of its centre, m, by time; 13.9 rad/s, the critical speed, are reached at 1.39 s
JEFFCOTT = {
    1.0: (-2.52551931167e-05, -7.36683351765e-05),
    1.4: (-0.000184900450929, 0.000151135316172),
    1.6: (0.000131422403238, -0.000364070186593),
    2.0: (-6.59433480127e-05, -0.00071025481469),
    2.5: (0.00020977094265, -0.000399140240677),
}
# crank 0.1 m, 1 kg, rod 0.3 m, 2 kg, both thin, slider 1.5 kg; the crank begins with 10 rad/s, in line with the rod
CRANK, ROD, CRANK_MASS, ROD_MASS, SLIDER_MASS, RATE = 0.1, 0.3, 1.0, 2.0, 1.5, 10.0
SLIDER = {0.1: 0.3640765721925, 0.5: 0.2015163635553, 1.0: 0.3900773392332}  # position, m, by time


def spin_up(level: int) -> Values:
    """Compute means over the five seconds of steady rotation, during which the remaining bending still oscillates by some mm."""
    model = Model("spin-up beam")
    of = Section.from_stiffness(
        EA=EA,
        GA=1e7,
        GJ=2e4,
        EI=1.4e4,
        mass_per_length=MASS,
        inertia_per_length=(2 * ROTARY, ROTARY, ROTARY),
    )
    hub = model.add_driven("hub", turn=SpinUp(SPEED, T_UP), axis=(0, 0, 1))
    beam = model.add_rod("beam", [(0, 0, 0), (LENGTH, 0, 0)], of, (10, 20)[level], mass="lumped")
    model.add_joint("root", "weld", hub, beam.start, at=(0, 0, 0))
    run = simulate(model, T_END, (0.05, 0.025)[level], output_every=1)
    psi, r, late = SpinUp(SPEED, T_UP)(run.t), run.rod("beam").r[:, -1], run.t >= T_UP
    along = np.cos(psi) * r[:, 0] + np.sin(psi) * r[:, 1] - LENGTH
    balance = run.drive_work("hub") - run.energy["total"] + run.energy["total"][0]
    return {
        "work": run.drive_work("hub")[late].mean(),
        "stretch": along[late].mean(),
        "work - energy": np.abs(balance).max(),
    }


def steady_beam() -> tuple[float, float]:
    """Return energy and stretch of the beam in steady rotation: r(x) = sin(k x)/(k cos(k L)), k = speed sqrt(mass/EA)."""
    k = SPEED * np.sqrt(MASS / EA)

    def density(x: float) -> float:
        """Return the energy per length at x."""
        r, stretch = np.sin(k * x) / (k * np.cos(k * LENGTH)), np.cos(k * x) / np.cos(k * LENGTH) - 1
        return 0.5 * (SPEED**2 * (MASS * r**2 + ROTARY) + EA * stretch**2)

    return quad(density, 0.0, LENGTH, epsrel=1e-12)[0], np.tan(k * LENGTH) / k - LENGTH


def shaft_model(n: int) -> Model:
    """Return the shaft with `n` elements; one end has a prescribed rotation, the other slides and rotates in its bearing."""
    model = Model("shaft through its critical speed")
    of = Section.from_stiffness(EA=1e6, GA=1e7, GJ=1e3, EI=1.0, mass_per_length=1e-6, inertia_per_length=1e-9)
    rotation = (lambda t: 0.5 * ACCELERATION * t * t, lambda t: ACCELERATION * t)
    motor = model.add_driven("motor", turn=rotation, axis=(1, 0, 0))
    rod = model.add_rod("shaft", [(0, 0, 0), (1, 0, 0)], of, n, mass="lumped")
    disc = model.add_body(
        "disc", MassProperties(1.0, np.diag([1e-2, 5e-3, 5e-3])), position=(0.5, UNBALANCE, 0.0)
    )
    model.add_joint("coupling", "weld", motor, rod.start, at=(0, 0, 0))
    model.add_joint("seat", "weld", rod.at(0.5), disc)
    model.add_joint("bearing", "cylindrical", model.ground, rod.end, axis=(1, 0, 0))
    return model


def shaft(level: int) -> Values:
    """Simulate the shaft for 2.5 s, up to 25 rad/s."""
    n = (32, 64)[level]
    run = simulate(shaft_model(n), T_SHAFT, (0.0025, 0.00125)[level], output_every=(4, 8)[level])
    centre, energy = run.rod("shaft").r[:, n // 2, 1:], run.energy["total"]
    balance = np.abs(run.drive_work("motor") - energy + energy[0]).max()
    return values_at("(y, z)", JEFFCOTT, run, centre) | {"work - energy": balance}


def slider_crank_model() -> Model:
    """Return the mechanism of three revolute joints and a slide, with three redundant constraints; no weight."""
    model = Model("slider-crank")
    tip = RATE * CRANK  # m/s across; at the dead centre the slider rests, the rod rotates against the crank
    crank = model.add_body(
        "crank",
        _thin(CRANK_MASS, CRANK),
        (CRANK / 2, 0, 0),
        velocity=(0, tip / 2, 0),
        angular_velocity=(0, 0, RATE),
    )
    rod = model.add_body(
        "rod",
        _thin(ROD_MASS, ROD),
        (CRANK + ROD / 2, 0, 0),
        velocity=(0, tip / 2, 0),
        angular_velocity=(0, 0, -tip / ROD),
    )
    slider = model.add_body("slider", MassProperties(SLIDER_MASS, np.eye(3) * 1e-3), (CRANK + ROD, 0, 0))
    ground, axis = model.ground, (0, 0, 1)
    model.add_joint("bearing", "revolute", ground, crank, at=(0, 0, 0), axis=axis)
    model.add_joint("pin", "revolute", crank, rod, at=(CRANK, 0, 0), axis=axis)
    model.add_joint("wrist", "revolute", rod, slider, at=(CRANK + ROD, 0, 0), axis=axis)
    model.add_joint("slide", "prismatic", ground, slider, at=(CRANK + ROD, 0, 0), axis=(1, 0, 0))
    return model


def slider_crank(level: int) -> Values:
    """Simulate the slider-crank from its dead centre."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantJointsWarning)
        run = simulate(slider_crank_model(), max(SLIDER), (0.005, 0.0025)[level], "em4", output_every=1)
    energy = run.energy["total"]
    change = {"energy change": np.ptp(energy) / energy[0]}
    return values_at("slider", SLIDER, run, run.body("slider").r[:, 0]) | change


def _thin(mass: float, length: float) -> MassProperties:
    """Return the mass properties of a thin bar along x."""
    across = mass * length**2 / 12
    return MassProperties(mass, np.diag([1e-6, across, across]))


WORK, STRETCH = steady_beam()
CASES = (
    Case(
        "spin-up",
        "Spin-up beam of Simo and Vu-Quoc 1986, root driven",
        "exact, steady rotation",
        {
            # the remaining vibration exchanges some J with the drive
            "work": ReferenceValue(WORK, 1e-4 * WORK, WORK),
            "stretch": ReferenceValue(STRETCH, 1e-3 * STRETCH, STRETCH),
            "work - energy": ReferenceValue(0.0, 1e-11 * WORK, WORK),
        },
        spin_up,
        Meshes("10 elements, h = 0.05", "20 elements, h = 0.025", 2, 2e-2),
    ),
    Case(
        "critical-speed",
        "Unbalanced disc on a driven shaft passes its critical speed, Jeffcott 1919",
        "Jeffcott's equation, integrated to 12 digits (tests/exact/test_validation_sources.py)",
        # twist, stretch and shear of the shaft and the rotations of the disc: 1e-5 of the deflection
        reference_values_at("(y, z)", JEFFCOTT, 1e-8, 7.25 * UNBALANCE)
        | {"work - energy": ReferenceValue(0.0, 1e-13, 3.0)},
        shaft,
        Meshes("32 elements, h = 0.0025", "64 elements, h = 0.00125", 2, 3e-2),
    ),
    Case(
        "slider-crank",
        "Slider-crank of revolute joints and a slide, without a drive",
        "exact, one quadrature, 12 digits (tests/exact/test_validation_sources.py)",
        reference_values_at("slider", SLIDER, 1e-12, CRANK)
        | {"energy change": ReferenceValue(0.0, 1e-12, 1.0)},
        slider_crank,
        Meshes("em4, h = 0.005", "em4, h = 0.0025", 4, 1e-4),
    ),
)
