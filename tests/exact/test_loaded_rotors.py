"""Rotating shapes: rotors under loads, rings that are free to rotate, and velocities that are not a steady motion."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import (
    ConvergenceError,
    MassProperties,
    Material,
    Model,
    ModelError,
    Section,
    equilibrium,
    linearise,
    modes,
    steady_rotation,
)
from rodsim.building.build import Built
from tests.support.statics_models import section


def rotor(n: int = 12, load: float = -36.4) -> Model:
    """A soft blade, 6 m from a root at 0.2 m, with a force along the axis at its tip, 65 EI/L^2."""
    model = Model("rotor")
    blade = Section.rectangle(0.3, 0.02, Material(E=1e8, nu=0.3, density=400))
    rod = model.add_rod("blade", [(0.2, 0, 0), (6.2, 0, 0)], blade, n, element="relative(2)", up=(0, 0, 1))
    model.add_joint("root", "clamp", rod.start)
    model.add_force("tip", rod.end, (0, 0, load))
    return model


SPIN = (0.0, 0.0, 3.0)


def test_a_loaded_rotor_is_found_from_its_initial_shape_and_from_its_equilibrium() -> None:
    model = rotor(16)
    state = steady_rotation(model, SPIN)
    assert state.r[-1] == pytest.approx((6.0282, 0.0, -1.1228), abs=1e-3)
    # all forces balance in the axes
    lin = linearise(model, state, spin=SPIN)
    assert np.abs(lin.force).max() < 1e-6 * 36.4
    restarted = steady_rotation(model, SPIN, start=equilibrium(model))
    assert restarted.r == pytest.approx(state.r, abs=1e-9)
    # from one spin to the next
    faster = steady_rotation(model, (0, 0, 3.3), start=state)
    assert faster.r == pytest.approx(steady_rotation(model, (0, 0, 3.3)).r, abs=1e-9)


def test_loads_grow_with_the_square_of_the_spin_from_the_initial_shape() -> None:
    """Without load only the spin grows: a straight rod, r'' = -W^2 rho/E r, is stretched as tan(k L)/k."""
    model = rotor(8, load=0.0)
    k = 3.0 * np.sqrt(400 / 1e8)
    # from the hub at a: r = a cos(k s) + sin(k s) (1 + a k sin(k L))/(k cos(k L))
    a, L = 0.2, 6.0
    tip = a * np.cos(k * L) + np.sin(k * L) * (1 + a * k * np.sin(k * L)) / (k * np.cos(k * L))
    assert steady_rotation(model, SPIN).r[-1, 0] == pytest.approx(tip, rel=1e-6)


def test_failed_rotation_reports_the_fraction_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rodsim.small_motions.steady_rotations.ITERATIONS", 1)
    monkeypatch.setattr("rodsim.small_motions.steady_rotations.SHORTEST", 0.1)
    with pytest.raises(
        ConvergenceError, match=r"model 'rotor': no shape found .* under 0.125 of its loads.*give `start=`"
    ) as error_info:
        steady_rotation(rotor(4), SPIN)
    assert error_info.value.t == 0.125


def test_unsupported_rotating_model_is_rejected_at_once() -> None:
    """A bar on the axis, pushed along it."""
    model = Model("bar")
    bar = model.add_body("bar", MassProperties(1.0, np.eye(3)), position=(0, 0, 1))
    model.add_joint("rail", "prismatic", model.ground, bar, at=(0, 0, 1), axis=(0, 0, 1))
    model.add_force("push", bar.at((0, 0, 0)), (0, 0, 1.0))
    with pytest.raises(
        ModelError, match=r"model 'bar': nothing keeps it from sliding along the axis, .*hold it by a joint"
    ):
        steady_rotation(model, SPIN)


def ring(n: int = 16) -> Model:
    """A free ring of radius 1 about the axis."""
    model = Model("ring")
    section = Section.circular(0.05, Material(E=1e8, nu=0.3, density=1000))
    rod = model.add_rod(
        "ring", lambda s: (np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0), section, n, up=(0, 0, 1)
    )
    model.add_joint("close", "weld", rod.start, rod.end)
    return model


def test_spinning_free_ring_widens_without_rigid_motion() -> None:
    """By rho W^2 R^3/E, without rotating about the axis or sliding along it, which cost no energy."""
    model = ring()
    initial, state = model.build().state, steady_rotation(model, (0, 0, 20.0))
    radius = np.linalg.norm(state.r[1:, :2], axis=1)
    assert radius - 1.0 == pytest.approx(1000 * 400 / 1e8, rel=2e-2)
    angle = np.arctan2(state.r[1:, 1], state.r[1:, 0]) - np.arctan2(initial.r[1:, 1], initial.r[1:, 0])
    assert np.abs(angle[np.abs(angle) < 3]).max() < 1e-12
    assert np.abs(state.r[:, 2]).max() < 1e-12


def shaft(EA: float, inertia: float = 5e-4, load: float = 0.0) -> Model:
    """A shaft between two pins that spins about its line, nearly without shear and stretch.

    The load presses it at the sliding pin.
    """
    section = Section.from_stiffness(
        EA=EA, GA=EA, GJ=50, EI=80.0, mass_per_length=2.0, inertia_per_length=(2 * inertia, inertia, inertia)
    )
    model = Model("shaft")
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (2, 0, 0)],
        section,
        12,
        element="relative(2)",
        angular_velocity=(12.0, 0, 0),
        mass="lumped",
    )
    model.add_joint("left", "spherical", model.ground, rod.start)
    model.add_joint("right", "generic", model.ground, rod.end, at=(2, 0, 0), locked=("y", "z"))
    if load:
        model.add_force("press", rod.end, (-load, 0, 0))
    return model


def test_shaft_of_extreme_stiffness_whirls_as_one_without_shear() -> None:
    """w = k^2 sqrt(EI/rho A), forward and backward alike but for rotary inertia.

    Only its own rotation is rigid and nothing grows.
    """
    assert modes(shaft(6e13, inertia=0.5), 8).stable
    result = modes(shaft(6e13), 8)
    assert result.kinds.count("rigid") == 1
    assert "grows" not in result.kinds
    expected = (np.pi / 2) ** 2 * np.sqrt(80.0 / 2.0)
    # the rigid motion is known to eps EA/EI: it may include a little bending
    bending = [w for w, kind in zip(result.omega, result.kinds, strict=True) if kind != "rigid"]
    assert bending[:2] == pytest.approx([expected, expected], rel=6e-3)


@pytest.mark.parametrize("EA", [1e5, 1e9, 6e13])
def test_nearly_critical_equilibrium_is_accepted(EA: float) -> None:
    """The round-off of its forces would move it far, which is not a reason to reject it."""
    model = Model("column")
    cross_section = section(EA=EA, GA=EA, GJ=1.0, EI=1.0)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], cross_section, 8, element="relative(2)")
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("load", rod.end, (-(np.pi**2) / 4 * (1 - 1e-6), 0, 0))
    assert modes(model, 3, equilibrium(model).state()).stable


@pytest.mark.parametrize("EA", [1e9, 6e13])
def test_nearly_critical_spinning_shaft_is_an_equilibrium(EA: float) -> None:
    model = shaft(EA, load=80.0 * np.pi**2 / 4 * (1 - 1e-3))
    state = equilibrium(model).state()
    result = modes(model, 6, state._replace(Omega=model.build().state.Omega.copy()))
    assert result.stable


def pair() -> Built:
    """Two round bodies 2 m apart."""
    model = Model("pair")
    for name, x in (("left", -1.0), ("right", 1.0)):
        model.add_body(name, MassProperties(1.0, np.diag([1.0, 1.0, 2.0])), position=(x, 0, 0))
    return model.build()


@pytest.mark.parametrize(("error", "steady"), [(1e-11, True), (3e-8, False)])
def test_velocities_are_of_one_motion_to_1e_9(error: float, steady: bool) -> None:
    built, W = pair(), np.array([0, 0, 3.0])
    v, Omega = np.cross(W, built.state.r), np.where(built.system.frames.fixed[:, None] == 0, W, 0.0)
    faster = Omega.copy()
    faster[1] *= 1 + error
    faster[1, 0] += 3.0 * error  # about an axis of which it is not a body of revolution
    perturbed = v.copy()
    perturbed[1, 1] += error * 3.0 * 4.0
    for velocity, spins, words, spin in (
        (v, faster, "faster or slower", None),
        (perturbed, Omega, "moves with", None),
        (perturbed, Omega, "moves with", W),
        (v, faster, "is not round", W),
    ):
        if steady:
            linearise(built, built.state._replace(v=velocity, Omega=spins), spin=spin)
        else:
            with pytest.raises(ModelError, match=words):
                linearise(built, built.state._replace(v=velocity, Omega=spins), spin=spin)


@pytest.mark.parametrize(("error", "in_place"), [(1e-11, True), (3e-8, False)])
def test_rotors_spin_in_place_to_1e_9(error: float, in_place: bool) -> None:
    built = pair()
    Omega = np.where(built.system.frames.fixed[:, None] == 0, [0, 0, 3.0], 0.0)
    v = np.zeros_like(Omega)
    v[1:] = (0, 0, error * 3.0 * 2.0)  # along the axis: as in a screw motion
    state = built.state._replace(v=v, Omega=Omega)
    if in_place:
        assert linearise(built, state).motion.ground
        return
    with pytest.raises(ModelError, match="moves with"):
        linearise(built, state)
