"""A rope on a rotating drum: the ratio of its forces, compared with the limit of a rope without bending stiffness."""

from functools import cache

import numpy as np

from examples.contact import capstan, pulley
from rodsim import Material, Model, Section, simulate


@cache
def run_of(n_elements: int, EI: float = 1e-5):
    return capstan.run(n_elements=n_elements, t_end=0.15, EI=EI, progress=False)


def deficit(*arguments: float) -> float:
    """Relative deficit of the ratio from its limit."""
    return 1.0 - capstan.ratio(run_of(*arguments)) / capstan.limit(0.5)


def test_capstan_ratio_converges_to_its_limit():
    """With order 1.5 between 15, 30 and 60 elements: 0.042, 0.014, 0.005."""
    assert 0.0 < deficit(30) < 0.4 * deficit(15) < 0.02


def test_bending_lowers_the_ratio_of_a_capstan():
    """By the order of EI/(T R^2), 0.06 here; measured 0.014."""
    assert 0.005 < deficit(30, 4e-3) - deficit(30) < 0.03


def test_sliding_on_a_drum_dissipates_the_work_of_the_axle():
    """Friction dissipates the torque times the rotation; the energy balance is exact."""
    run = run_of(30)
    assert np.ptp(run.energy["total"] + run.dissipation - run.work) < 1e-12 * run.work[-1]
    torque = (capstan.ratio(run) - 1.0) * capstan.REACH
    late = run.t > 0.1
    power = np.polyfit(run.t[late], run.dissipation[late], 1)[0]
    assert abs(power / (0.4 * torque) - 1.0) < 2e-3


def test_rope_sticks_below_the_capstan_ratio_and_slides_above():
    """Speed of the pulled end, m/s: bristles hold four times the load; the excess above the limit works
    against air drag.
    """
    moved = []
    for holding in (4.0, 6.0):
        model = capstan.model(n_elements=15, holding=holding, speed=0.0)
        run = simulate(model, 0.14, 2e-3, output_every=10, progress=False)
        moved.append(np.linalg.norm(run.rod("rope").r[-1, 0] - run.rod("rope").r[-2, 0]) / 0.02)
    assert moved[0] < 1e-3 < 4e-2 < moved[1]


def test_contact_stations_are_those_of_the_rope():
    """For any order of the pair; for two rods of equal thickness the stations of both are used."""
    for thin, thick, side in ((0.01, 0.1, [0, 1]), (0.01, 0.02, [2, 2])):
        sides = []
        for order in (1, -1):
            model = Model()
            material = Material(E=1e6, nu=0.3, density=1000.0)
            sizes = ((thin, -0.5), (thick, 0.5))
            rods = []
            for radius, y in sizes:
                section = Section.circular(radius, material)
                rods.append(model.add_rod(f"rod at {y}", [(-1, y, 0), (1, y, 0)], section, 2))
            model.add_contact("touch", *rods[::order], stiffness=1e4)
            sides.append(int(model.build().system.contacts.side[0]))
        assert sides == side


def test_flange_keeps_a_skew_rope_on_its_drum():
    """The axle is tilted by 0.2 rad: the rope's surface comes as far as the lower flange, or off the drum
    without one.
    """
    runs = (pulley.run(0.2, flanges, t_end=0.13, progress=False) for flanges in (True, False))
    inside, outside = map(pulley.aside, runs)
    assert 1.0 < inside < 1.0 + 1e-4 / (0.5 * pulley.GROOVE)  # as deep as friction and weight press it
    assert outside > 1.0 + pulley.ROPE / (0.5 * pulley.GROOVE)  # its axis is beyond the edge
