"""Modes against exact frequencies: beams of all theories and ends, damping, mechanisms. Spinning ones:
test_modes_of_rotors.
"""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.modes import (
    BENCHMARKS,
    ELEMENTS,
    EULER_BERNOULLI,
    EXACT,
    SHEAR_RIGID,
    beam_model,
    frequencies,
    order,
    section_of,
    steel,
)
from discretization.space.rod_elements import order_of
from rodsim import Box, MassProperties, Model, ModelError, Result, Section, modes
from rodsim.linear import mode_shapes


@pytest.mark.parametrize(("thickness", "ends"), EXACT)
def test_beams_have_timoshenkos_frequencies(thickness, ends):
    omega = frequencies(steel(thickness), ends, "relative(4)", "lumped", 64, 5)
    assert omega == pytest.approx(EXACT[thickness, ends], rel=1e-7)  # of order 8, at most 5 half waves


@pytest.mark.parametrize(
    ("theory", "table"), [("Rayleigh", SHEAR_RIGID), ("Euler-Bernoulli", EULER_BERNOULLI)]
)
@pytest.mark.parametrize("ends", ["CF", "FF", "PP", "CC"])
def test_beams_without_shear_and_rotary_inertia_have_the_frequencies_of_their_theories(theory, table, ends):
    omega = frequencies(steel(0.1, theory), ends, "relative(4)", "consistent", 48, 5)
    assert omega == pytest.approx(table[0.1, ends], rel=1e-5)  # remaining effect of shear and inertia


@pytest.mark.parametrize("name", BENCHMARKS)
def test_beams_of_the_dynamics_benchmarks_have_timoshenkos_frequencies(name):
    beam = BENCHMARKS[name]
    omega = frequencies(section_of(beam), beam.ends, "relative(4)", "lumped", 64, 5, length=10.0)
    assert omega == pytest.approx(beam.exact, rel=1e-7)


@pytest.mark.parametrize(("element", "mass", "numbers"), ELEMENTS)
def test_frequencies_have_twice_the_order_of_the_element(element, mass, numbers):
    expected = 2 * order_of(element)
    assert order(element, mass, numbers) == pytest.approx(expected, abs=0.3)


@pytest.mark.parametrize("ends", ["FF", "PP", "CC"])
def test_all_ends_have_the_order_of_the_element(ends):
    assert order("relative(2)", "lumped", (16, 32), ends) == pytest.approx(4.0, abs=0.3)


def free_rod(n=40):
    return beam_model(steel(0.1), "FF", "se3", "mean", n)


def test_free_models_have_the_rigid_motions_of_bodies_and_joints():
    for n in (3, 40):
        assert modes(free_rod(n), 8).kinds == ("rigid",) * 6 + ("oscillates",) * 2
    model = Model("chain")
    section = steel(0.1)
    rods = [model.add_rod(f"rod {k}", [(k, 0, 0), (k + 1, 0, 0)], section, 10) for k in range(3)]
    for k in range(2):
        model.add_joint(f"joint {k}", "spherical", rods[k].end, rods[k + 1].start)
    expected = ("rigid",) * 12 + ("oscillates",) * 2
    assert modes(model, 14).kinds == expected
    # of an eigenvalue of multiplicity twelve, one start vector finds as many copies as round-off introduces
    built = model.build()
    for seed in range(15):
        r = built.state.r * (1.0 + 1e-15 * np.random.default_rng(seed).standard_normal(built.state.r.shape))
        assert modes(built._replace(state=built.state._replace(r=r)), 14).kinds == expected


@pytest.mark.parametrize(("ends", "n"), [("CF", 4), ("FF", 3), ("CF", 40), ("FF", 40)])
def test_modal_stiffnesses_are_squared_frequencies(ends, n):
    """Small and large models, fixed and free: each has a solver of its own."""
    result = modes(beam_model(steel(0.1), ends, "se3", "mean", n), 8)
    lin = result.linear
    phi = result.shapes[:, lin.frames].reshape(8, -1)
    squares = result.omega**2
    assert phi @ (lin.K @ phi.T) == pytest.approx(np.diag(squares), abs=1e-8 * squares[-1])
    assert phi @ (lin.M @ phi.T) == pytest.approx(np.eye(8), abs=1e-7)


def test_modes_are_sorted_by_eigenvalue_size_then_growth():
    """A short inverted pendulum grows fast, a long hanging one swings slowly."""
    model, rates = Model("two", gravity=(0, 0, -9.81)), {}
    for name, l, x in (("standing", 0.1, 0.0), ("hanging", -5.0, 1.0)):
        body = model.add_body(name, MassProperties(1.0, 1e-3 * np.eye(3)), position=(x, 0, l))
        model.add_joint(name, "revolute", model.ground, body, at=(x, 0, 0), axis=(0, 1, 0))
        rates[name] = np.sqrt(9.81 * abs(l) / (1e-3 + l * l))
    one, both = modes(model, 1), modes(model, 2)
    assert (one.kinds, one.omega) == (("oscillates",), pytest.approx([rates["hanging"]], rel=1e-9))
    assert both.kinds == ("grows", "oscillates")
    assert both.growth[0] == pytest.approx(rates["standing"], rel=1e-9)


@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
def test_pendulum_on_two_hinges_has_the_frequency_of_one():
    def swing(hinges):
        model = Model("flap", gravity=(0, 0, -9.81))
        body = model.add_body("flap", Box(0.4, 0.3, 0.5, density=10.0), position=(0, 0, -0.25))
        for y in (-0.1, 0.1)[:hinges]:
            model.add_joint(f"hinge {y}", "revolute", model.ground, body, at=(0, y, 0), axis=(0, 1, 0))
        return modes(model, 3).omega

    assert swing(2) == pytest.approx(swing(1), rel=1e-9)
    assert len(swing(2)) == 1


def test_motions_satisfy_the_joints_and_are_orthogonal_in_the_mass():
    result = modes(beam_model(steel(0.1), "PP", "lagrange(2)", "consistent", 24), 6)
    lin = result.linear
    phi = result.shapes[:, lin.frames].reshape(6, -1)
    assert np.abs(lin.G @ phi.T).max() < 1e-10 * np.abs(phi).max()
    assert phi @ (lin.M @ phi.T) == pytest.approx(np.eye(6), abs=1e-8)
    residual = lin.K @ phi.T - (lin.M @ phi.T) * result.omega**2
    # the rest are reactions of the joints
    reactions = lin.G.T @ np.linalg.lstsq(lin.G.toarray().T, residual, rcond=None)[0]
    assert np.abs(residual - reactions).max() < 1e-6 * np.abs(lin.K @ phi.T).max()


def test_hanging_and_inverted_pendulums_have_exact_eigenvalues():
    m, J, l, g = 2.0, 0.3, 0.7, 9.81

    def pendulum(angle):
        model = Model("pendulum", gravity=(0, 0, -g))
        end = l * np.array([np.sin(angle), 0, -np.cos(angle)])
        body = model.add_body("bob", MassProperties(m, np.diag([0.2, J, 0.25])), position=end)
        model.add_joint("pivot", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
        return model

    rate = np.sqrt(m * g * l / (J + m * l * l))
    hanging, standing = modes(pendulum(0.0)), modes(pendulum(np.pi))
    assert hanging.omega == pytest.approx([rate], rel=1e-12)
    assert (standing.kinds, standing.growth) == (("grows",), pytest.approx([rate], rel=1e-12))
    assert not standing.stable
    with pytest.raises(
        ModelError,
        match=r"body 'bob' is pushed by .* under gravity that nothing balances, and would move .* anyway=True",
    ):
        modes(pendulum(1.0))
    assert modes(pendulum(1.0), anyway=True).omega == pytest.approx([rate * np.sqrt(np.cos(1.0))], rel=1e-9)


def test_joint_forces_stiffen_a_conical_pendulum_chain():
    """Two equal point-like bobs on bars: the double pendulum's frequencies, from the multipliers' second derivatives alone."""
    model = Model("double", gravity=(0, 0, -1.0))
    tiny = MassProperties(1.0, np.eye(3) * 1e-9)
    one, two = model.add_body("one", tiny, (0, 0, -1)), model.add_body("two", tiny, (0, 0, -2))
    model.add_joint("a", "distance", model.ground.at((0, 0, 0)), one)
    model.add_joint("b", "distance", one, two)
    result = modes(model, 10)
    swing = result.omega[np.array(result.kinds) == "oscillates"]
    expected = np.sqrt([2 - np.sqrt(2), 2 - np.sqrt(2), 2 + np.sqrt(2), 2 + np.sqrt(2)])
    assert swing == pytest.approx(expected, rel=1e-9)


def test_viscous_and_oscillating_eigenvalues_are_those_of_a_damped_oscillator():
    for damping, kinds in ((3.0, ("oscillates",)), (60.0, ("decays", "decays"))):
        model = Model("oscillator")
        mass = model.add_body("mass", MassProperties(2.0, np.eye(3)), position=(1, 0, 0))
        model.add_joint("rail", "prismatic", model.ground, mass, at=(0, 0, 0), axis=(1, 0, 0))
        model.add_spring("spring", model.ground.at((0, 0, 0)), mass, 50.0, damping=damping)
        result = modes(model, 2)
        expected = np.roots([2.0, damping, 50.0])
        expected = expected[expected.imag >= 0]
        assert result.kinds == kinds
        assert sorted(result.values, key=abs) == pytest.approx(sorted(expected, key=abs), rel=1e-12)
        assert modes(model, 2, undamped=True).omega == pytest.approx([5.0], rel=1e-12)


def test_damped_modes_have_the_kelvin_voigt_eigenvalues():
    """Kelvin-Voigt: lambda^2 + tau w^2 lambda + w^2 = 0 for each mode; by shift and invert and densely."""
    tau = 1e-4
    section = steel(0.1)
    viscous = Section(
        section.stiffness, section.mass_per_length, section.inertia_per_length, tau * section.stiffness
    )
    for n in (4, 40):
        w = modes(beam_model(section, "CF", "se3", "mean", n), 6).omega
        result = modes(beam_model(viscous, "CF", "se3", "mean", n), 6)
        expected = -tau * w**2 / 2 + 1j * w * np.sqrt(1 - (tau * w / 2) ** 2)
        assert result.values == pytest.approx(expected, rel=1e-6)


def test_a_follower_force_makes_the_stiffness_unsymmetric_and_flutters_at_becks_load():
    """Beck's column: flutter at 20.0509 EI/L^2 (Beck 1952), no divergence before."""
    section = Section.from_stiffness(
        EA=1e6, GA=1e6, GJ=1.0, EI=1.0, mass_per_length=1.0, inertia_per_length=1e-6
    )

    def stable(load):
        model = Model("Beck")
        length = 1.0 - load / 1e6  # compressed already, so that it is in equilibrium
        rod = model.add_rod(
            "rod",
            [(0, 0, 0), (length, 0, 0)],
            section,
            16,
            element="relative(4)",
            stress_free=[(0, 0, 0), (1, 0, 0)],
        )
        model.add_joint("clamp", "clamp", rod.start)
        model.add_force("jet", rod.end, (-load, 0, 0), following=True)
        result = modes(model, 4)
        assert result.linear.unsymmetric == ("load 'jet'",)
        return result.stable

    assert stable(20.0509 * (1 - 2e-3))
    assert not stable(20.0509 * (1 + 2e-3))


def test_modes_of_a_fixed_model_are_rejected():
    model = Model("held")
    body = model.add_body("block", Box(1, 1, 1, density=1.0))
    model.add_joint("weld", "clamp", body, at=(0, 0, 0))
    with pytest.raises(ModelError, match="its joints leave nothing that moves"):
        modes(model)


def test_shapes_are_a_result_with_the_phase_as_time(tmp_path):
    eigenmodes = modes(beam_model(steel(0.1), "CF", "se3", "mean", 10), 3)
    result = mode_shapes(eigenmodes, tmp_path / "modes.vtkhdf", amplitude=0.2, phases=8)
    loaded = Result.load(tmp_path / "modes.vtkhdf")
    assert loaded.t == pytest.approx(np.concatenate([k + np.arange(8) / 8 for k in (1, 2, 3)]))
    assert loaded.description["modes"][0]["Hz"] == pytest.approx(eigenmodes.frequency[0])
    tip = result.rod("rod").r[:, -1] - (1.0, 0, 0)
    for k in range(2):
        swing = tip[8 * k : 8 * k + 8]
        assert np.abs(swing).max() == pytest.approx(0.2, rel=1e-9)
        assert swing[4] == pytest.approx(-swing[0], abs=1e-12)
        assert np.abs(swing[2]).max() < 1e-12


def test_first_of_equal_largest_motions_is_named():
    """Two half waves between pins, of eight elements: nodes 2 and 6 move the most, independent of rounding."""
    result = modes(beam_model(steel(0.1), "PP", "se3", "mean", 8), 5)
    for node in (3, 7):  # frames, after the ground
        shapes = result.shapes.copy()
        shapes[:, node] *= 1.0 + 1e-12
        assert replace(result, shapes=shapes).largest_part(4) == "rod 'rod', node 2"
    shapes[:, 7] *= 1.01
    assert replace(result, shapes=shapes).largest_part(4) == "rod 'rod', node 6"
