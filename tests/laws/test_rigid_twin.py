"""The rigid twin of a model: equal mass, centre, inertia, energy and momenta at t = 0, supported at the same points."""

import numpy as np
import pytest

from discretization.state_measures import constraint_residual, energies, momenta
from rigid import quaternions
from rodsim import Box, Model, ModelError, Section, compare, signals, simulate
from rodsim.building.build import Placement

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning")
VELOCITY, SPIN = np.array([0.3, -0.2, 0.5]), np.array([0.7, 1.1, -0.4])


def section(s=0.0, **options):
    return Section.from_stiffness(
        EA=3e3,
        GA=2e3,
        GJ=50,
        EI=(80, 60),
        mass_per_length=2.0 + s,
        inertia_per_length=(0.03, 0.02, 0.01),
        **options,
    )


def helix(s):
    return np.array([np.cos(3 * s), np.sin(3 * s), 0.4 * s])


def ring(s):
    return np.array([np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0])


def swinging_rod(curve, mass="mean", element="se3", closed=False, sections=section, **rod):
    """A rod that moves as a rigid body, with a body welded to it."""
    model = Model("swinging", gravity=(0.1, 0.2, -9.81))
    motion = {
        "velocity": lambda s: VELOCITY + np.cross(SPIN, place(s)),
        "angular_velocity": SPIN,
    }
    curve_at = curve if callable(curve) else lambda s: (1 - s) * np.array(curve[0]) + s * np.array(curve[1])

    def place(s):
        return curve_at(s)

    wire = model.add_rod("wire", curve, sections, 7, closed, mass=mass, element=element, **{**motion, **rod})
    box = Box(0.1, 0.2, 0.3, mass=1.5)
    end = place(0.0)
    model.add_body("box", box, position=end, velocity=VELOCITY + np.cross(SPIN, end), angular_velocity=SPIN)
    model.add_joint("glue", "weld", wire.start, model.bodies["box"])
    return model


def start_values(model):
    run = simulate(model, 1e-6, 1e-6, progress=False)
    return run.layout.system, run.state(0)


CASES = [
    ([(0, 0, 0), (1, 0, 0)], "lumped", "se3", False),
    ([(0, 0, 0), (1, 1, 0)], "consistent", "se3", False),
    ([(0, 0, 0), (1, 1, 1)], "mean", "relative(2)", False),
    ([(0, 0, 0), (1, 1, 1)], "consistent", "lagrange(3)", False),
    (ring, "mean", "se3", True),
]


@pytest.mark.parametrize(("curve", "mass", "element", "closed"), CASES)
def test_rigid_twin_has_the_energy_and_momenta_of_the_model(curve, mass, element, closed):
    model = swinging_rod(curve, mass, element, closed)
    (system, state), (rigid, stiff) = start_values(model), start_values(model.as_rigid())
    assert len(rigid.elements.length) == len(rigid.spans.kind) == 0
    for of_model, of_twin in zip(momenta(system, state), momenta(rigid, stiff), strict=True):
        assert of_twin == pytest.approx(of_model, rel=1e-12, abs=1e-12)
    before, after = energies(system, state), energies(rigid, stiff)
    assert after.kinetic == pytest.approx(before.kinetic, rel=1e-12)
    assert after.gravity == pytest.approx(before.gravity, rel=1e-12)
    assert model.as_rigid().left_out == ["rod 'wire': strains, section law and elastic waves"]


def test_straight_rod_becomes_a_bar_of_its_length():
    model = Model("bar")
    model.add_rod("bar", [(1, 0, 0), (3, 0, 0)], section(), 5, mass="consistent")
    body = model.as_rigid().bodies["bar"]
    assert body.properties.mass == pytest.approx(4.0)
    assert body.center == pytest.approx([2.0, 0.0, 0.0])
    # consistent masses have the inertia of the continuous rod: m L^2/12 and that of the sections
    across = 4.0 * 2.0**2 / 12
    assert body.properties.inertia == pytest.approx(np.diag([0.06, across + 0.04, across + 0.02]), abs=1e-12)


def test_rigid_twin_is_supported_at_the_same_points():
    model = Model("held", gravity=(0, 0, -9.81))
    rod = model.add_rod("wire", helix, lambda s: section(s), 9)
    other = model.add_rod("bar", [(0, 0, -1), (1, 0, -1)], section(), 2)
    model.add_joint("pin", "revolute", model.ground, rod.start, axis=(0, 0, 1))
    model.add_spring("string", rod.at(0.61, (0.0, 0.1, 0.2)), other.start, stiffness=30.0)
    model.add_spring("leash", rod.end, model.ground.at((2, 2, 2)), stiffness=10.0, length=0.5)
    model.add_spring("coil", model.ground, rod.start, 4.0, along="rotation", axis=(0, 0, 1), angle=0.3)
    model.add_force("push", rod.at(0.3), (1, 2, 3), following=True)
    model.add_force("pull", rod.at(0.3), (1, 2, 3))
    twin = model.as_rigid()
    positions = [[Placement(m).place(x).world for x in anchors(m)] for m in (model, twin)]
    assert np.array(positions[1]) == pytest.approx(np.array(positions[0]), abs=1e-14)
    (system, state), (rigid, stiff) = start_values(model), start_values(twin)
    assert energies(rigid, stiff).spring == pytest.approx(energies(system, state).spring, rel=1e-12)
    assert energies(rigid, stiff).spring > 1.0
    assert np.abs(constraint_residual(rigid, stiff)).max() < 1e-14
    # follower loads keep their direction: components of the section are rotated to those of the body
    forces = [m.build().load_values(np.array([0.7]))[0] for m in (model, twin)]
    wire = model.build().layout.rods[0]
    k = wire.frames[np.argmin(np.abs(wire.arclength - 0.3 * wire.arclength[-1]))]
    assert forces[1][0] == pytest.approx(quaternions.rotate(state.quat[k], forces[0][0]))
    assert forces[1][1] == pytest.approx([1, 2, 3])


def anchors(model):
    """All supported points of the model."""
    for entry in (*model.joints.values(), *model.springs.values()):
        yield from (x for x in (entry.a, entry.b) if hasattr(x, "part"))
    yield from (entry.on for entry in model.loads.values())


def test_rigid_twin_reports_what_it_leaves_out():
    bent = {"stress_free": lambda s: (s, 0.0, 0.0), "velocity": lambda s: (0.0, 0.0, s * s)}
    model = Model("lost")
    rod = model.add_rod("wire", helix, section(damping_time=1e-3), 9, **bent)
    model.add_spring("inside", rod.start, rod.end, stiffness=3.0)
    model.add_spring("out", model.ground.at((0, 0, 0)), rod.end, stiffness=3.0)
    twin = model.as_rigid()
    notes = " | ".join(twin.left_out)
    for words in ("strains", "elastic energy it begins with", "viscosity", "which no rigid body has"):
        assert words in notes
    assert "spring 'inside' joins two points of rod 'wire'" in notes
    assert list(twin.springs) == ["out"]
    stored = float(notes.split("begins with, ")[1].split(" J")[0])
    assert stored == pytest.approx(energies(*start_values(model)).elastic, rel=1e-5)
    # moving parts still have the momenta of the rod
    for a, b in zip(momenta(*start_values(model)), momenta(*start_values(twin)), strict=True):
        assert b == pytest.approx(a, abs=1e-12)


def test_only_the_named_rods_become_rigid():
    model = Model("two")
    for name, y in (("one", 0), ("two", 1)):
        model.add_rod(name, [(0, y, 0), (1, y, 0)], section(), 3)
    twin = model.as_rigid("two")
    assert (list(twin.rods), list(twin.bodies)) == (["one"], ["two"])
    with pytest.raises(ModelError, match="no rod 'three' to make rigid; there are 'one', 'two'"):
        model.as_rigid("three")
    with pytest.raises(ModelError, match="has no rod to make rigid"):
        model.as_rigid().as_rigid()


def test_points_on_the_twin_keep_their_names():
    model = swinging_rod(helix, sections=lambda s: section(s))
    before, after = (simulate(m, 1e-3, 1e-3) for m in (model, model.as_rigid()))
    comparison = compare(before, after)
    assert {pair.label for pair in comparison.points} == {"box", "wire@0", "wire@0.5", "wire@1"}
    assert max(np.abs(pair.a[0] - pair.b[0]).max() for pair in comparison.points) < 1e-14
    assert any("rod 'wire': strains" in note for note in comparison.notes)


@pytest.mark.parametrize(("curve", "closed"), [([(0, 0, 0), (1, 0, 0)], False), (ring, True)])
def test_drawn_surface_is_closed_and_oriented_outward(curve, closed):
    model = Model("drawn")
    model.add_rod("wire", curve, section(radius=0.1), 12, closed)
    shape = model.as_rigid().bodies["wire"].properties
    a, b, c = np.moveaxis(shape.vertices[shape.faces], 1, 0)
    volume = np.einsum("ni,ni->", a, np.cross(b, c)) / 6
    circle = 12 / 2 * np.sin(2 * np.pi / 12) * 0.01  # a polygon of 12 corners
    # of a ring between 12 nodes: mitred, so the area times the chords of its centres
    length = 12 * 2 * np.sin(np.pi / 12) if closed else 1.0
    assert volume == pytest.approx(circle * length, rel=0.04 if closed else 1e-12)
    edges = np.concatenate([shape.faces[:, [0, 1]], shape.faces[:, [1, 2]], shape.faces[:, [2, 0]]])
    pairs = {tuple(edge) for edge in edges}
    assert len(pairs) == len(edges)
    assert all((j, i) in pairs for i, j in pairs)


def test_bushings_limits_and_driven_frames_hold_the_twin_at_the_same_points():
    model = Model("driven", gravity=(0, 0, -9.81))
    offset = section().with_centers(mass=(0.05, -0.02))
    rod = model.add_rod("wire", helix, offset, 5)
    shaking = signals.Sine(0.1, 1.0, phase=np.pi / 2).along((0, 0, 1))  # from the rest position
    frame = model.add_driven("shaker", (1.0, 0.0, -0.1), displacement=shaking)
    model.add_joint("pin", "spherical", frame, rod.start)
    box = model.add_body("box", Box(0.1, 0.2, 0.3, mass=1.5), position=helix(1.0) + np.array([0.0, 0.0, 0.2]))
    model.add_bushing("mount", rod.end, box, np.diag([100.0, 100, 100, 5, 5, 5]), at=helix(1.0))
    model.add_limit("stop", rod.at(0.4), box.at((0, 0, 0)), stiffness=50.0, width=0.1, lower=0.2, of="length")
    model.add_distributed_load("wind", rod, (0.0, 1.0, 0.0))
    twin = model.as_rigid()
    assert twin.left_out[1:] == [
        "distributed load 'wind' acts along rod 'wire', which is a body here: left out"
    ]
    assert twin.driven["shaker"] is frame
    assert twin.joints["pin"].a is model.joints["pin"].a
    positions = [
        [Placement(m).place(entry.a).world for entry in (*m.others.values(),)]
        + [Placement(m).place(m.joints["pin"].b).world]
        for m in (model, twin)
    ]
    assert np.array(positions[1]) == pytest.approx(np.array(positions[0]), abs=1e-14)
    # centres of mass are off the curve: mass and position of the body are those of the frames
    (system, state), (rigid, stiff) = start_values(model), start_values(twin)
    assert energies(rigid, stiff).gravity == pytest.approx(energies(system, state).gravity, rel=1e-12)
    for of_model, of_twin in zip(momenta(system, state), momenta(rigid, stiff), strict=True):
        assert of_twin == pytest.approx(of_model, abs=1e-12)
