"""Cables that fall, hang and are pulled with the parameters of other programs' files: Chrono, SOFA's Cosserat plugin, MuJoCo."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from rodsim import Box, Model, Section, Sphere, audit, equilibrium, simulate
from tests.support.sections import round_section

STIFF = 1e4  # N, stretch and shear stiffness for an example without these


# --- CH/demo_FEA_cables


def chains(part):
    """Six chains of a cable, a box, a cable, a box; 8 elements times `part` per cable, bent by weight and 0.2 N."""
    section = round_section(0.0075, 1000, 1e7, 1e7 / 2, shear=1)
    box = Box(0.2, 0.04, 0.04, density=1000.0)
    model = Model("chains", gravity=(0, 0, -9.81))
    for j in range(6):
        y, x, before = -0.1 * j, 0.0, None
        for k, n in enumerate((1 + j, 7 - j)):
            length = 0.1 * (1 + j) if before is None else 0.1 * (6 - j)
            rod = model.add_rod(
                f"cable {j}{k}", [(x, y, 0), (x + length, y, 0)], section, n * part, up=(0, 0, 1)
            )
            if before is None:
                model.add_joint(f"hinge {j}", "spherical", model.ground, rod.start)
                model.add_force(f"force {j}", rod.end, (0, 0, -0.2))
            else:
                model.add_joint(f"between {j}", "weld", before, rod.start)
            before = model.add_body(f"box {j}{k}", box, position=(x + length + 0.1, y, 0))
            model.add_joint(f"weld {j}{k}", "weld", rod.end, before)
            x += length + 0.2
    return model


def test_chrono_cables_fall_with_their_boxes():
    """Mesh and steps are halved together."""
    positions = []
    for part in (1, 2, 4):
        result = simulate(chains(part), 0.06, 0.004 / part, progress=False)
        assert audit(result).ok
        positions.append(np.array([result.body(f"box {j}1").r[-1] for j in range(6)]))
    first, second = (np.abs(b - a).max() for a, b in pairwise(positions))
    assert first / second > 3.0
    assert second < 1e-4
    assert positions[-1][:, 2].max() < -0.01
    assert np.abs(positions[-1][:, 1] + 0.1 * np.arange(6)).max() < 1e-10


# --- SO/CosseratBeamFallingUnderTheEffectOfGravity


def heavy(n, **settings):
    """1 m, 1 kg, fixed level at its start; EI = 0.7854, GJ = 1.5708 N m2; only bending and torsion."""
    model = Model("beam", gravity=(0, -9.81, 0))
    numbers = {"EA": 1e6, "GA": 1e6, "EI": 0.7854, "GJ": 1.5708}
    section = Section.from_stiffness(
        **numbers, mass_per_length=1.0, inertia_per_length=(5e-5, 2.5e-5, 2.5e-5), **settings
    )
    rod = model.add_rod("beam", [(0, 0, 0), (1, 0, 0)], section, n, up=(0, 0, 1))
    model.add_joint("held", "clamp", rod.start)
    return model, rod


def heavy_elastica(EI, weight, rod, slides=False):
    """(x, z) of the end and lowest z of a level cantilever of 1 m under its weight, N/m.

    By collocation that starts from a solution of this package. Its other end is free, or slides without
    friction on a rail
    along z = 0.
    """
    r = rod.r[-1] - rod.r[-1, 0]
    s = np.linspace(0, 1, len(r))
    angle = np.unwrap(np.arctan2(*np.gradient(r @ np.array([[0, 1], [1, 0], [1, 0]]), axis=0).T))

    def rates(s, y, p=(0.0,)):
        V = p[0] - weight * (1 - s)  # on the part before s
        return np.array([np.cos(y[2]), np.sin(y[2]), y[3], -np.cos(y[2]) * V / EI])

    def ends(a, b, p=None):
        return np.array([a[0], a[1], a[2], b[3], b[1]][: 4 + slides])

    guess = np.array([r[:, 0], r[:, 1] + r[:, 2], angle, np.gradient(angle, s)])
    solution = solve_bvp(
        rates, ends, s, guess, p=[0.5 * weight] if slides else None, tol=1e-8, max_nodes=20_000
    )
    assert solution.success, solution.message
    return solution.y[0, -1], solution.y[1, -1], solution.y[1].min()


def test_sofa_beam_hangs_as_the_heavy_elastica():
    hanging = [equilibrium(heavy(n)[0]).rod("beam") for n in (10, 20, 40)]
    exact = np.array(heavy_elastica(0.7854, 9.81, hanging[-1])[:2])
    errors = [np.linalg.norm(rod.r[-1, -1, :2] - exact) for rod in hanging]
    assert exact[1] < -0.6
    assert errors[-1] < 1e-3
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.3)


def test_sofa_beam_falls_and_comes_to_hang():
    """Damping of its solver: 0.1/s of the mass and 0.2 s of the stiffness."""
    model, rod = heavy(20, damping_time=0.2)
    model.add_mass_damping("mass", rod, 0.1)
    fallen = simulate(model, 14.0, 0.05, progress=False)
    assert audit(fallen).ok
    hanging = equilibrium(heavy(20)[0]).rod("beam").r[-1]
    assert np.abs(fallen.rod("beam").r[-1] - hanging).max() < 1e-4
    assert np.all(np.diff(fallen.energy["total"]) < 1e-12)


# --- MJ/cable.xml and MJ/coil.xml


def capsules(radius, length):
    """Mass of a chain of capsules, whose round ends count twice, relative to that of a wire."""
    return 1 + 4 / 3 * radius / length


def on_a_slider(model, rod, axis, at):
    """A ball of 1 cm on a rail."""
    slider = model.add_body("slider", Sphere(radius=0.01, density=1000.0), position=at)
    model.add_joint("rail", "prismatic", model.ground, slider, at=at, axis=axis)
    model.add_joint("pin", "spherical", rod.end, slider)
    return slider


def test_mujoco_cable_hangs_from_its_rail():
    """E = 4e6, G = 1e7, 1 m, 5 mm, 40 capsules; its motor at rest, the other end fixed."""
    mass = capsules(0.005, 1 / 40)
    weight, hanging = 9810 * np.pi * 0.005**2 * mass, []
    for n in (40, 80, 160):
        model = Model("cable", gravity=(0, 0, -9.81))
        section = round_section(0.005, 1000 * mass, 4e6, 1e7, EA=STIFF, GA=STIFF)
        rod = model.add_rod("cable", [(-0.3, 0, 0.6), (0.7, 0, 0.6)], section, n, up=(0, 1, 0))
        model.add_joint("held", "clamp", rod.start)
        on_a_slider(model, rod, (1, 0, 0), (0.7, 0, 0.6))
        hanging.append(equilibrium(model).rod("cable"))
    x, _, lowest = heavy_elastica(4e6 * np.pi * 0.005**4 / 4, weight, hanging[-1], slides=True)
    errors = [abs(rod.r[-1, -1, 0] + 0.3 - x) for rod in hanging]
    assert hanging[-1].r[-1, :, 2].min() - 0.6 == pytest.approx(lowest, abs=1e-3)
    assert errors[2] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)


def test_mujoco_coil_is_pulled_by_its_actuator():
    """Four turns of E = 1.5e9, G = 5e8, fixed below.

    Above, a slider whose actuator pulls with 100 N/m times (1 m minus its displacement).
    """
    turn_length = np.hypot(0.2 * np.sin(np.pi / 10), 0.0062831853)
    section = round_section(0.005, 1000 * capsules(0.005, turn_length), 1.5e9, 5e8, shear=1)
    top = np.array([0.1, 0.0, 0.251327412])
    ways = []

    def helix(s):
        return np.array([0.1 * np.cos(8 * np.pi * s), 0.1 * np.sin(8 * np.pi * s), top[2] * s])

    for n in (40, 80, 160):
        model = Model("coil", gravity=(0, 0, -9.81))
        rod = model.add_rod("coil", helix, section, n)
        model.add_joint("held", "clamp", rod.start)
        slider = on_a_slider(model, rod, (0, 0, 1), top)
        model.add_bushing("actuator", model.ground, slider, (0, 0, 100.0, 0, 0, 0), at=top)
        model.add_force("control", slider.at((0, 0, 0)), (0, 0, 100.0))
        ways.append(equilibrium(model).rod("coil").r[-1, -1, 2] - top[2])
    first, second = (b - a for a, b in pairwise(ways))
    assert first / second == pytest.approx(4.0, abs=0.6)
    assert 0.5 < ways[-1] < 1.0
    assert abs(second) < 5e-3
