"""The mooring system of the OC3-Hywind spar: its published static table, and the elastic catenary on a bed.

Jonkman, Definition of the Floating System for Phase IV of OC3, NREL/TP-500-47535, 2010: its three lines without
their delta connection, the force at rest and the stiffness about the point on the axis at the still water level.
"""

from functools import cache

import numpy as np
import pytest
import scipy

from rodsim import Box, Model, Section, curves, equilibrium

DEPTH, FAIRLEAD, ANCHOR_RADIUS, RADIUS = 320.0, 70.0, 853.87, 5.2  # m
LENGTH, DIAMETER, MASS, EA, WEIGHT = 902.2, 0.09, 77.7066, 384.243e6, 698.094  # m, m, kg/m, N, N/m in water
HEADINGS = np.radians([60.0, 180.0, 300.0])
GRAVITY, WATER = 9.80665, 1025.0
PULL = -1.607e6  # N, of the lines on the spar
STIFFNESS = {  # N/m, N, N m
    (0, 0): 41.18e3,
    (1, 1): 41.18e3,
    (2, 2): 11.94e3,
    (0, 4): -2.821e6,
    (1, 3): 2.816e6,
    (4, 0): -2.816e6,
    (3, 1): 2.816e6,
    (3, 3): 311.1e6,
    (4, 4): 311.1e6,
    (5, 5): 11.56e6,
}
STEPS = np.array(
    [1.0, 1.0, 1.0, 4e-3, 4e-3, 4e-3]
)  # m, rad, of finite differences; they average over lifted nodes


def spar(n_elements: int) -> Model:
    """The platform, held at the origin, and its lines in the sea."""
    model = Model("OC3-Hywind", gravity=(0, 0, -GRAVITY))
    platform = model.add_body("platform", Box(1.0, 1.0, 1.0, mass=1.0))
    model.add_joint("hold", "weld", model.ground, platform.at((0, 0, 0)))
    sea = model.add_fluid("sea", WATER)
    bed = model.add_plane("bed", model.ground.at((0, 0, -DEPTH - DIAMETER / 2)), normal=(0, 0, 1))
    chain = Section.string(EA=EA, mass_per_length=MASS, radius=DIAMETER / 2)
    for k, heading in enumerate(HEADINGS):
        outwards = np.array([np.cos(heading), np.sin(heading), 0.0])
        anchor, fairlead = ANCHOR_RADIUS * outwards - (0, 0, DEPTH), RADIUS * outwards - (0, 0, FAIRLEAD)
        line = model.add_rod(
            f"line {k}",
            curves.catenary(anchor, fairlead, LENGTH, bed=-DEPTH),
            chain,
            n_elements,
            stress_free=[(0, 0, 0), (LENGTH, 0, 0)],
        )
        model.add_joint(f"anchor {k}", "spherical", model.ground, line.start)
        model.add_joint(f"fairlead {k}", "spherical", platform.at(fairlead), line.end)
        model.add_submerged_rod(f"wet line {k}", line, sea, DIAMETER, drag=0.0, added_mass=0.0)
        model.add_contact(f"lies {k}", line, bed, stiffness=1e5)
    return model


@cache
def of_strings(n_elements: int) -> tuple[np.ndarray, np.ndarray]:
    """Force of the lines on the spar at rest (6,), and stiffness (6, 6) by central differences."""
    model = spar(n_elements)
    rest = equilibrium(model)

    def pull(result) -> np.ndarray:
        joint = result.joint("hold")
        return -np.concatenate([joint.force[-1], joint.moment[-1]]) + np.array([0, 0, GRAVITY, 0, 0, 0])

    K = np.empty((6, 6))
    for k, step in enumerate(STEPS):
        sides = []
        for sign in (1.0, -1.0):
            move = np.zeros((2, 3))
            move[k // 3, k % 3] = sign * step
            motion = {"hold": {"displacement": move[0], "rotation": move[1]}}
            sides.append(pull(equilibrium(model, motions=motion, start=rest)))
        K[:, k] = (sides[1] - sides[0]) / (2.0 * step)
    return pull(rest), K


def catenary_on_bed(across: float, up: float) -> tuple[float, float]:
    """Horizontal and vertical force of one line at its fairlead; the anchor is not lifted."""

    def misfit(forces):
        H, V = np.exp(forces[0]), forces[1]
        slope = V / H
        x = LENGTH - V / WEIGHT + H / WEIGHT * np.arcsinh(slope) + H * LENGTH / EA
        z = H / WEIGHT * (np.hypot(1.0, slope) - 1.0) + V**2 / (2.0 * EA * WEIGHT)
        return x - across, z - up

    logarithm, V = scipy.optimize.fsolve(misfit, (13.0, 5e5), xtol=1e-13)
    assert V < WEIGHT * LENGTH
    return float(np.exp(logarithm)), float(V)


def of_catenaries(place: np.ndarray) -> np.ndarray:
    """Force and moment of the three lines on the spar; place: displacement and rotation vector."""
    rotation, total = scipy.spatial.transform.Rotation.from_rotvec(place[3:]), np.zeros(6)
    for heading in HEADINGS:
        outwards = np.array([np.cos(heading), np.sin(heading), 0.0])
        arm = rotation.apply(RADIUS * outwards - (0, 0, FAIRLEAD))
        to_anchor = ANCHOR_RADIUS * outwards - (0, 0, DEPTH) - arm - place[:3]
        across = np.hypot(*to_anchor[:2])
        H, V = catenary_on_bed(across, -to_anchor[2])
        force = np.append(H * to_anchor[:2] / across, -V)
        total += np.concatenate([force, np.cross(arm, force)])
    return total


def stiffness_of_catenaries() -> np.ndarray:
    columns = [
        (of_catenaries(-move) - of_catenaries(move)) / (2.0 * step)
        for move, step in zip(np.diag(STEPS), STEPS, strict=True)
    ]
    return np.array(columns).T


def test_strings_give_the_published_static_table_of_a_mooring() -> None:
    force, K = of_strings(128)
    assert force[2] == pytest.approx(PULL, rel=3e-4)
    assert np.delete(force, 2) == pytest.approx(np.zeros(5), abs=1e-6 * abs(PULL))
    table = np.zeros((6, 6))
    for place, published in STIFFNESS.items():
        table[place] = published
    scale = np.sqrt(np.outer(np.diag(table), np.diag(table)))
    assert K / scale == pytest.approx(table / scale, abs=4e-3)


def test_strings_converge_to_the_elastic_catenary_on_a_bed() -> None:
    assert (MASS - WATER * np.pi * DIAMETER**2 / 4) * GRAVITY == pytest.approx(WEIGHT, rel=1e-6)
    exact_force, exact = of_catenaries(np.zeros(6)), stiffness_of_catenaries()
    assert exact_force[2] == pytest.approx(PULL, rel=3e-4)
    for place, published in STIFFNESS.items():
        assert exact[place] == pytest.approx(published, rel=2.5e-3), place
    scale, errors = np.sqrt(np.outer(np.diag(exact), np.diag(exact))), []
    for n_elements in (64, 128):
        force, K = of_strings(n_elements)
        assert force[2] == pytest.approx(exact_force[2], rel=1e-4)
        errors.append(np.abs((K - exact) / scale).max())
    assert errors[1] < min(2e-3, errors[0] / 3.0)
