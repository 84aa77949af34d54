"""Massless rods: equilibria and small motions are the limit of vanishing mass; dynamic runs are rejected."""

import numpy as np
import pytest
from scipy.linalg import eigh, null_space

from rodsim import (
    Box,
    MassProperties,
    Material,
    Model,
    ModelError,
    Section,
    audit,
    buckling,
    equilibrium,
    modes,
    signals,
    simulate,
)
from rodsim.linear import ForceInput, MotionOutput, frequency_response, state_space

LIGHT = 1e-7  # kg/m, compared with bodies of 2 kg


def section(mass=0.0, damping_time=0.0):
    return Section.from_stiffness(
        EA=1e6,
        GA=4e5,
        GJ=50.0,
        EI=(100.0, 60.0),
        mass_per_length=mass,
        inertia_per_length=[2e-6 * mass, 1e-6 * mass, 1e-6 * mass],
        damping_time=damping_time,
    )


def chain(mass, bodies=1, n=6, damping_time=0.0):
    """Bodies at the ends of rods in a row from a wall, under their weight."""
    model = Model("chain", gravity=(0, 0, -9.81 / bodies**3))
    end = model.ground.at((0, 0, 0))
    for k in range(bodies):
        rod = model.add_rod(
            f"rod {k}", [(1.2 * k, 0, 0), (1.2 * k + 1, 0, 0)], section(mass, damping_time), n
        )
        body = model.add_body(f"body {k}", Box(0.2, 0.1, 0.15, mass=2.0), (1.2 * k + 1.1, 0, 0))
        model.add_joint(f"in {k}", "weld", end, rod.start)
        model.add_joint(f"out {k}", "weld", rod.end, body.at((-0.1, 0, 0)))
        end = body.at((0.1, 0, 0))
    return model


def modes_with_and_without_mass(n_modes, *about, **options):
    """Modes about the equilibria, without mass and with negligible mass."""
    results = []
    for mass in (0.0, LIGHT):
        model = chain(mass, *about, **options)
        results.append(modes(model, n_modes, equilibrium(model).state(-1)))
    return results


def test_equilibrium_is_the_limit_of_light_rods():
    none, light = (equilibrium(chain(mass)).body("body 0").r[-1] for mass in (0.0, LIGHT))
    assert none[2] < -0.08
    assert none == pytest.approx(light, abs=1e-8)


def test_modes_are_the_limit_of_light_rods():
    none, light = modes_with_and_without_mass(6)
    assert none.frequency == pytest.approx(light.frequency, rel=1e-6)
    model = chain(0.0)
    every = modes(model, 20, equilibrium(model).state(-1))
    assert len(every.frequency) == 6
    assert every.kinds == ("oscillates",) * 6
    # no force acts at the inner nodes, and modes have unit mass
    lin = every.linear
    inside = np.concatenate(
        [np.arange(lin.size)[lin.rows(f)] for f in every.built.layout.rods[0].frames[1:-1]]
    )
    phi = every.shapes[:, lin.frames].reshape(6, -1)
    assert np.abs((lin.K @ phi.T)[inside]).max() < 1e-9 * np.abs(lin.K).max() * np.abs(phi).max()
    assert phi @ (lin.M @ phi.T) == pytest.approx(np.eye(6), abs=1e-9)


def test_lanczos_finds_the_modes_of_the_massive_parts():
    """72 of 576 degrees of freedom have mass; the reference uses full matrices, with infinite eigenvalues for the others."""
    model = chain(0.0, 12)
    computed_modes = modes(model, 5, equilibrium(model).state(-1))
    lin = computed_modes.linear
    assert lin.size == 576
    T = null_space(lin.G.toarray())
    inverses = eigh(T.T @ (lin.M @ T), T.T @ (lin.K @ T), eigvals_only=True)
    assert (inverses > 1e-12 * inverses[-1]).sum() == 72
    assert computed_modes.omega**2 == pytest.approx(1.0 / inverses[:-6:-1], rel=1e-7)


def test_modes_under_follower_loads_are_the_limit_of_light_rods():
    """The stiffness is unsymmetric: the general eigenproblem."""
    results = []
    for mass in (0.0, LIGHT):
        model = chain(mass)
        model.add_force("push", model.bodies["body 0"].at((0.1, 0, 0)), (-20.0, 0, 0), following=True)
        results.append(modes(model, 6, equilibrium(model).state(-1)))
    none, light = results
    assert none.linear.unsymmetric
    assert none.values == pytest.approx(light.values, rel=1e-6)


def test_arnoldi_solves_large_models_under_follower_loads():
    """150 of 750 degrees of freedom have mass: lambda^2 M phi + K phi is carried by joints, and modes have unit mass."""
    model = chain(0.0, 25, 3)
    model.add_force("push", model.bodies["body 24"].at((0.1, 0, 0)), (-1e-3, 0, 0), following=True)
    computed_modes = modes(model, 3, equilibrium(model).state(-1))
    lin = computed_modes.linear
    assert lin.unsymmetric
    Z = null_space(lin.G.toarray())
    for value, shape in zip(computed_modes.values, computed_modes.shapes, strict=True):
        phi = shape[lin.frames].ravel()
        projected = Z.T @ (value**2 * (lin.M @ phi) + lin.K @ phi)
        assert np.abs(projected).max() < 1e-8 * np.abs(lin.K).max() * np.abs(phi).max()
        assert np.vdot(phi, lin.M @ phi).real == pytest.approx(1.0)
    assert computed_modes.omega.min() > 0.0


def test_buckling_loads_and_responses_are_those_of_light_rods():
    results = []
    for mass in (0.0, LIGHT):
        model = chain(mass)
        model.gravity[:] = 0.0
        tip = model.bodies["body 0"].at((0, 0, 0))
        up = (0, 0, 1)
        response = frequency_response(model, [ForceInput(tip, up)], [MotionOutput(tip, up)], [0.0, 5.0, 50.0])
        model.add_force("push", tip, (-1.0, 0, 0))
        results.append([*buckling(model, 2).factors, *response.ravel().real])
    assert results[0] == pytest.approx(results[1], rel=1e-6)


def test_unbalanced_load_has_no_equilibrium():
    model = chain(0.0)
    model.gravity[:] = 0.0
    model.add_joint(
        "guide", "prismatic", model.ground, model.bodies["body 0"], at=(1.1, 0, 0), axis=(0, 1, 0)
    )
    assert len(modes(model, 2).frequency) == 1
    model.add_force("push", model.rods["rod 0"].at(0.5), (0, 0, 1.0))
    with pytest.raises(
        ModelError, match=r"not in equilibrium: rod 'rod 0' is pushed by .* under load 'push'"
    ):
        modes(model, 2)


def test_massless_unsupported_motion_is_named():
    """A rod between balls rotates about its axis without any resistance."""
    model = Model("loose")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(), 4)
    body = model.add_body("body", Box(0.2, 0.1, 0.15, mass=2.0), (1.1, 0, 0))
    model.add_joint("in", "spherical", model.ground, rod.start)
    model.add_joint("out", "spherical", rod.end, body.at((-0.1, 0, 0)))
    with pytest.raises(
        ModelError, match=r"rod 'rod', node \d has no mass, and no joint and no stiffness holds it"
    ):
        modes(model, 2)


def test_viscosity_without_mass_is_rejected_and_can_be_removed():
    model = chain(0.0, damping_time=1e-3)
    state = equilibrium(model).state(-1)
    with pytest.raises(ModelError, match="without mass is viscous or damped; give it mass, or remove"):
        modes(model, 2, state)
    assert modes(model, 2, state, undamped=True).frequency == pytest.approx(
        modes_with_and_without_mass(2)[0].frequency, rel=1e-6
    )


def test_motions_are_rejected_with_an_alternative():
    model = chain(0.0)
    tip = model.bodies["body 0"].at((0, 0, 0))
    for call, alternative in (
        (lambda: simulate(model, 0.1, 0.1), "simulate"),
        (lambda: simulate(model, 0.1, 0.1, "EML"), "simulate"),
        (model.mechanical_system, "mechanical_system"),
        (lambda: state_space(model, [ForceInput(tip, (0, 0, 1))], []), "state_space"),
    ):
        with pytest.raises(
            ModelError, match=f"'rod 0': has no mass .*, which {alternative} needs.*bushing of stiffness C/L"
        ):
            call()


def loaded_wing(mass: float) -> Model:
    """A clamped rod with a body welded to each other node."""
    model = Model("wing")
    numbers = {"EA": 1e6, "GA": 3e6, "GJ": 7.0, "EI": (5.0, 3000.0)}
    material = Section.from_stiffness(**numbers, mass_per_length=mass, inertia_per_length=1e-5 * mass)
    rod = model.add_rod("beam", [(0, 0, 0), (1, 0, 0)], material, 4)
    model.add_joint("wall", "clamp", rod.start)
    for k in range(1, 5):
        body = model.add_body(f"mass {k}", MassProperties(0.02, (1e-5, 6e-7, 1e-5)), (k / 4, 0, 0))
        model.add_joint(f"weld {k}", "weld", rod.at(k / 4), body)
    model.add_force("kick", rod.end, signals.Pulse(1.0, 0, 0.01).along((0, 0.3, 1)))
    return model


@pytest.mark.parametrize("solver", ["auto", "general"])
def test_masses_welded_to_each_node_move_a_rod_without_mass(solver):
    runs = [simulate(loaded_wing(mass), 0.1, 1e-3, solver=solver, progress=False) for mass in (0.0, 1e-9)]
    tips = [run.rod("beam").r[-1, -1] for run in runs]
    assert tips[0] == pytest.approx(tips[1], abs=1e-8)
    assert abs(tips[0][2]) > 1e-3
    energy = runs[0].energy["total"][20:]
    assert np.ptp(energy) < 1e-12 * energy.max()
    assert audit(runs[0]).ok


def test_a_node_that_no_mass_holds_is_rejected():
    model = loaded_wing(0.0)
    model.joints.pop("weld 2")
    model.add_joint("ball", "spherical", model.rods["beam"].at(0.5), model.bodies["mass 2"])
    with pytest.raises(ModelError, match=r"rod 'beam': has no mass .* weld a body to each of its nodes"):
        simulate(model, 0.01, 1e-3, progress=False)


def test_missing_masses_and_moments_without_mass_are_rejected():
    with pytest.raises(ModelError, match="density is not given; give it, or 0"):
        Material(E=1e6, nu=0.3)
    with pytest.raises(ModelError, match=r"mass_per_length = 0, but inertia_per_length = \[1.0, 1.0, 1.0\]"):
        Section.from_stiffness(EA=1, GA=1, GJ=1, EI=1, mass_per_length=0.0, inertia_per_length=1.0)
    with pytest.raises(ModelError, match=r"inertia_per_length\[0\] = 0.0 is not positive"):
        Section.from_stiffness(EA=1, GA=1, GJ=1, EI=1, mass_per_length=1.0, inertia_per_length=0.0)
    assert Section.circular(0.01, Material(E=1e6, nu=0.3, density=0.0)).mass_per_length == 0.0
