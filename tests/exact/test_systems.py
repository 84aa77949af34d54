"""Whole models: published and converged numbers, energy, momenta and joints of mixed systems."""

from dataclasses import replace

import numpy as np
import pytest

from discretization.interaction_table import loads_of
from examples import chain_and_rod, flying_spaghetti
from rodsim import Box, Cone, Material, Model, ModelError, Section, Sphere, audit, simulate
from rodsim.building.build import Built
from rodsim.warnings import InitialVelocityWarning

RUBBER = Material(E=2e6, nu=0.45, density=1100)


def test_spaghetti_conserves_energy_and_momenta_for_1000_steps_after_the_load():
    report = audit(flying_spaghetti.run())
    assert report.free_from == pytest.approx(5.0)
    assert report.energy_drift < 1e-12
    assert report.linear_momentum_drift < 1e-12
    assert report.angular_momentum_drift < 1e-12
    assert report.quat_norm < 1e-14


def test_spaghetti_converges_to_the_reference_with_order_2():
    rows = np.array(flying_spaghetti.convergence([(20, 0.1), (40, 0.05), (80, 0.025)]))
    orders = np.log2(rows[:-1, 2:] / rows[1:, 2:])
    assert np.abs(orders - 2).max() < 0.1
    assert rows[-1, 3] < 0.005 * 10


def cantilever(n_elements):
    """B2: length 1, radius 0.01, E = 1e7, clamped, falls from horizontal."""
    model = Model("cantilever", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1000))
    rod = model.add_rod("arm", [(0, 0, 0), (1, 0, 0)], section, n_elements)
    model.add_joint("wall", "clamp", rod.start)
    return model


@pytest.mark.parametrize("h", [5e-3, 1e-2])
@pytest.mark.parametrize("n_elements", [10, 20])
def test_falling_cantilever_goes_through_the_snap(n_elements, h):
    report = audit(simulate(cantilever(n_elements), 2.0, h))
    assert report.energy_balance < 1e-11
    assert report.constraint < 1e-12


def mixed_chain():
    """Rigid bars with spherical and revolute joints, pinned."""
    model = Model("chain", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(6):
        bar = model.add_body(f"bar {k}", Box(1, 0.1, 0.1, density=1000), position=(k + 0.5, 0, 0))
        revolute = {"kind": "revolute", "axis": (0, 1, 1)} if k % 2 else {"kind": "spherical"}
        model.add_joint(f"joint {k}", a=last, b=bar, at=(k, 0, 0), **revolute)
        last = bar
    return model


def rod_welded_to_a_body():
    """Free: a spinning block with a rod on it."""
    model = Model("antenna")
    block = model.add_body(
        "block", Box(0.3, 0.2, 0.1, density=500), velocity=(1, 0, 0), angular_velocity=(0, 3, 5)
    )
    rod = model.add_rod("rod", [(0.15, 0, 0), (1.15, 0, 0)], Section.circular(0.02, RUBBER), 16)
    model.add_joint("glue", "weld", block, rod.start)
    return model


def body_on_the_middle_of_a_rod():
    model = Model("hammock", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(-1, 0, 0), (1, 0, 0)], Section.circular(0.02, RUBBER), 20)
    ball = model.add_body("ball", Sphere(0.1, density=800), position=(0, 0, -0.1))
    model.add_joint("left", "spherical", model.ground, rod.start)
    model.add_joint("right", "spherical", model.ground, rod.end)
    model.add_joint("hook", "spherical", rod.at(0.5), ball.at((0, 0, 0.1)))
    return model


def closed_ring_with_a_slider():
    def circle(s):
        return np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0

    model = Model("ring")
    ring = model.add_rod(
        "ring", circle, Section.tube(0.03, 0.02, RUBBER), 24, closed=True, velocity=(0, 1, 0)
    )
    weight = model.add_body("weight", Cone(0.1, 0.2, mass=1.0), position=(1, 0, 0), velocity=(0, 2, 0.5))
    model.add_joint("slide", "prismatic", ring.at(0), weight, at=(1, 0, 0), axis=(0, 1, 0))
    model.add_spring("spring", ring.at(0.25), ring.at(0.75), stiffness=50.0, length=1.5)
    return model


@pytest.mark.parametrize(
    "make", [mixed_chain, rod_welded_to_a_body, body_on_the_middle_of_a_rod, closed_ring_with_a_slider]
)
def test_mixed_systems_conserve_energy_momenta_and_joints(make):
    result = simulate(make(), 2.0, 5e-3)
    report = audit(result)
    assert report.energy_balance < 1e-11
    assert report.constraint_relative < 1e-12
    assert report.quat_norm < 1e-14
    if result.layout.grounded is False and not np.any(result.layout.gravity):
        assert report.linear_momentum_drift < 1e-12
        assert report.angular_momentum_drift < 1e-12


def test_chain_and_rod_fall_alike_at_first():
    chain, cord = chain_and_rod.tips(chain_and_rod.run(t_end=0.2))
    assert np.linalg.norm(chain[-1] - cord[-1]) < 0.04
    assert chain[-1, 2] == pytest.approx(-0.196, abs=0.002)  # free fall, g t^2/2


def test_inconsistent_velocities_are_projected_onto_the_joints():
    model = mixed_chain()
    model.add_body("loose", Sphere(0.1, mass=1.0), position=(9, 0, 0))
    for name, body in model.bodies.items():
        velocity = np.array([0.3, 0.2, -1.0]) * (name == "bar 3")
        model.bodies[name] = replace(body, velocity=velocity, angular_velocity=np.zeros(3))
    with pytest.warns(InitialVelocityWarning, match="body 'bar 3' by"):
        result = simulate(model, 0.01, 0.01)
    assert result.velocity_residual[0] < 1e-13
    assert np.abs(result.state(0).v).max() > 0.1
    assert result.description["velocity_projection"] > 0.1


def test_every_anchor_has_a_node_and_no_mass_is_lost():
    model = Model("anchors")
    rod = model.add_rod("rod", [(0, 0, 0), (2, 0, 0)], Section.circular(0.02, RUBBER), 10)
    for s in (0.123, 0.5, 0.777):
        model.add_force(f"at {s}", rod.at(s), (0, 0, 1))
    built: Built = model.build()
    nodes = loads_of(built.system.others).frame
    assert np.allclose(built.state.r[nodes, 0], [0.246, 1.0, 1.554], atol=1e-14)
    assert len(built.system.elements.length) == 10
    assert built.system.frames.mass[1:].sum() == pytest.approx(1100 * np.pi * 0.02**2 * 2, rel=1e-12)


def test_helix_and_circle_have_constant_curvature_and_frames_without_shear():
    def helix(s):
        return np.cos(6 * s), np.sin(6 * s), 2 * s

    section = Section.circular(0.02, RUBBER)
    for closed, curve in (
        (False, helix),
        (True, lambda s: (np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0)),
    ):
        model = Model("curve")
        model.add_rod("rod", curve, section, 8, closed=closed)
        strain = model.build().system.elements.strain0
        assert np.ptp(np.linalg.norm(strain[:, 3:], axis=1)) < 1e-8
        # the untwisted frame rotates relative to the helix, so an element has second-order shear; on a circle none
        assert np.abs(strain[:, :3]).max() < (1e-8 if closed else 0.02)


@pytest.mark.slow
def test_30000_elements_build_and_march():
    model = Model("long")
    model.add_rod(
        "rod", [(0, 0, 0), (1000, 0, 0)], Section.circular(0.02, RUBBER), 30_000, velocity=(1, 0, 0)
    )
    result = simulate(model, 0.002, 0.001, output_every=2)
    assert audit(result).energy_balance < 1e-12


def broken_models():
    """Pairs (words of the message, function with the user's mistake)."""
    section = Section.circular(0.02, RUBBER)

    def with_rod(model):
        return model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)

    return {
        "body 'a'.*orientation": lambda m: m.add_body("a", Sphere(1, mass=1), orientation=(1, 1, 0, 0)),
        "body 'a'.*position": lambda m: m.add_body("a", Sphere(1, mass=1), position=(1, 2)),
        "already a body 'a'": lambda m: [m.add_body("a", Sphere(1, mass=1)) for _ in range(2)],
        "rod 'r'.*n_elements": lambda m: m.add_rod("r", [(0, 0, 0), (1, 0, 0)], section, 0),
        "rod 'r'.*equal": lambda m: m.add_rod("r", [(0, 0, 0), (0, 0, 0)], section),
        "rod 'r'.*up": lambda m: (m.add_rod("r", [(0, 0, 0), (1, 0, 0)], section, up=(1, 0, 0)), m.build()),
        "rod 'rod'.*s = 1.2": lambda m: with_rod(m).at(1.2),
        "joint 'j'.*sphericl.*spherical": lambda m: m.add_joint("j", "sphericl", m.ground, with_rod(m).start),
        "joint 'j'.*axis": lambda m: m.add_joint("j", "revolute", m.ground, with_rod(m).start),
        "joint 'j'.*rod.start": lambda m: m.add_joint("j", "spherical", m.ground, with_rod(m)),
        "joint 'j'.*itself": lambda m: m.add_joint(
            "j", "spherical", m.add_body("a", Sphere(1, mass=1)), m.bodies["a"]
        ),
        r"joint 'j'.*\|g\| = 1": lambda m: (
            m.add_joint("j", "spherical", m.ground.at((0, 0, 1)), with_rod(m).start),
            m.build(),
        ),
        "joint 'j'.*at=": lambda m: (
            m.add_joint("j", "weld", m.ground, m.add_body("a", Sphere(1, mass=1))),
            m.build(),
        ),
        "spring 's'.*stiffness": lambda m: m.add_spring("s", m.ground.at((0, 0, 1)), with_rod(m).start, -1.0),
        "load 'f'.*ground": lambda m: m.add_force("f", m.ground.at((0, 0, 0)), (1, 0, 0)),
        "load 'f'.*value": lambda m: m.add_force("f", with_rod(m).start, (1, 0)),
        "load 'f'.*t = ": lambda m: (
            m.add_force("f", with_rod(m).start, lambda t: (np.nan, 0, 0)),
            simulate(m, 0.1, 0.1),
        ),
        "another model": lambda m: m.add_force(
            "f", Model("x").add_body("b", Sphere(1, mass=1)).at((0, 0, 0)), (1, 0, 0)
        ),
        "density or mass": lambda m: Box(1, 1, 1),
        "Box.*x = -1": lambda m: Box(-1, 1, 1, mass=1),
        "nothing that moves": lambda m: m.build(),
        "simulate: dt = -0.3": lambda m: (with_rod(m), simulate(m, 1.0, -0.3)),
        "integrator 'rk4'": lambda m: (with_rod(m), simulate(m, 1.0, 0.1, "rk4")),
    }


@pytest.mark.parametrize("words", broken_models())
def test_errors_name_object_value_and_cure(words):
    with pytest.raises(ModelError, match=words):
        broken_models()[words](Model("m"))
