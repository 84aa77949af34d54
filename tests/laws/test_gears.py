"""Gears between joints: invariants, and closed forms of gear trains, racks, differentials and geared weights."""

import re

import numpy as np
import pytest

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import without_file_tables
from discretization.legacy_gears import gears_from_rows, gears_to_rows
from discretization.state_measures import constraint_residual, energies
from discretization.system import fingerprint
from rigid.errors import ConvergenceError, RedundantJointsWarning
from rigid.system import Constraints
from rodsim import (
    Box,
    Material,
    Model,
    ModelError,
    Result,
    Section,
    audit,
    compare,
    equilibrium,
    modes,
    report,
    simulate,
)
from rodsim.building import build as building
from rodsim.cli.main import main
from rodsim.results import native_format
from rodsim.signals import Sine
from rodsim.studies import StudyError, measures

X, Y, Z = np.eye(3)
# velocities are made consistent with gears
pytestmark = pytest.mark.filterwarnings("ignore::rigid.errors.InitialVelocityWarning")
ROUND_OFF = 1e-12
N1, N2 = 17.0, 41.0  # teeth


def wheels_on_a_free_carrier():
    """Two asymmetric wheels, off their axes, on a free carrier, whose axes are oblique to its own and to each other."""
    model = Model("wheels")
    turning, u = np.array([0.4, 1.1, -0.7]), np.array([0.2, -0.1, 1.0])
    box, moves = Box(0.5, 0.2, 0.1, mass=2.0), {"velocity": (0.3, -0.2, 0.1), "angular_velocity": turning}
    carrier = model.add_body("carrier", box, **moves)
    box = Box(0.1, 0.15, 0.06, mass=0.7)
    first = model.add_body("first", box, (0.23, 0.04, 0.1), orientation=(0.9, 0.3, 0.3, -0.1))
    box = Box(0.2, 0.05, 0.12, mass=0.9)
    second = model.add_body("second", box, (-0.2, 0.03, 0.1), angular_velocity=turning + 20.0 * X)
    model.add_joint("one", "revolute", carrier, first, at=(0.2, 0.0, 0.1), axis=u)
    model.add_joint("two", "revolute", carrier, second, at=(-0.2, 0.0, 0.1), axis=X)
    model.add_gear("mesh", ["one", "two"], (N1, N2))
    return model


@pytest.mark.parametrize("integrator", ["em", "em-ggl"])
def test_gears_on_a_free_carrier_conserve_energy_momenta_and_ratio(integrator):
    result = simulate(wheels_on_a_free_carrier(), t_end=4.0, dt=0.005, integrator=integrator)
    audit_report = audit(result)
    assert audit_report.energy_balance < ROUND_OFF * 10
    assert max(audit_report.linear_momentum_drift, audit_report.angular_momentum_drift) < ROUND_OFF * 10
    one, two = (result.joint(name).angle for name in ("one", "two"))
    assert abs(one[-1]) > 2 * np.pi * 5
    assert np.abs(N1 * one + N2 * two).max() < ROUND_OFF * np.abs(N1 * one).max()
    assert audit_report.constraint < 1e-11
    assert integrator != "em-ggl" or audit_report.velocity_constraint < 1e-11


@pytest.mark.parametrize(("integrator", "order"), [("em", 2), ("em4-ggl", 4)])
def test_gears_keep_the_order_of_the_integrator(integrator, order):
    ends = []
    for dt in (0.02, 0.01, 0.005):
        state = simulate(wheels_on_a_free_carrier(), t_end=0.2, dt=dt, integrator=integrator).state()
        ends.append(np.concatenate([state.r.ravel(), state.quat.ravel()]))
    errors = [np.abs(end - ends[-1]).max() for end in ends[:2]]
    # of the two coarser solutions relative to the finest
    expected = (2.0 ** (2 * order) - 1.0) / (2.0**order - 1.0)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(np.log2(expected), abs=0.15)


def planetary(torque):
    """Sun 24, fixed ring 72, one planet 24 teeth: the sun shaft makes 4 turns for a turn of the carrier."""
    model = Model("planetary")
    sun = model.add_body("sun", Box(0.1, 0.1, 0.05, mass=1.0))
    carrier = model.add_body("carrier", Box(0.3, 0.05, 0.02, mass=0.8))
    planet = model.add_body("planet", Box(0.1, 0.08, 0.05, mass=0.5), position=(0.2, 0, 0))
    model.add_joint("s", "revolute", model.ground, sun, at=(0, 0, 0), axis=Z)
    model.add_joint("c", "revolute", model.ground, carrier, at=(0, 0, 0), axis=Z)
    model.add_joint("p", "revolute", carrier, planet, at=(0.2, 0, 0), axis=Z)
    model.add_gear("sun on planet", ["s", "c", "p"], (24, -24, 24))  # both as seen from the carrier
    model.add_gear("planet in ring", ["p", "c"], (24, 72))  # the ring rotates against the carrier by -c
    model.add_moment("drive", sun, torque * Z)
    J = {name: body.properties.inertia[2, 2] for name, body in model.bodies.items()}
    ratio = 1.0 / (1.0 + 72.0 / 24.0)
    spin = ratio * (1.0 - 72.0 / 24.0)
    J_eff = J["sun"] + ratio**2 * (J["carrier"] + 0.5 * 0.2**2) + spin**2 * J["planet"]
    return model, ratio, J_eff


def test_planetary_gear_has_its_ratio_and_effective_inertia():
    torque = 0.02
    model, ratio, J_eff = planetary(torque)
    result = simulate(model, t_end=2.0, dt=0.005, integrator="em-ggl")
    sun, carrier = result.joint("s"), result.joint("c")
    assert abs(sun.angle[-1]) > 2 * np.pi
    assert carrier.angle == pytest.approx(ratio * sun.angle, abs=1e-12 * sun.angle[-1])
    assert carrier.rate == pytest.approx(ratio * sun.rate, abs=1e-11 * sun.rate[-1])
    assert sun.rate[-1] == pytest.approx(torque / J_eff * 2.0, rel=1e-4)  # order 2 of a step
    assert energies(result.layout.system, result.state()).total == pytest.approx(result.work[-1], rel=1e-11)
    # the torques of the gear on all coupled parts have no net power
    mesh = result.joint("sun on planet")
    power = sum(mesh.on(name)[-1] * result.joint(name).rate[-1] for name in "scp")
    assert abs(power) < 1e-9 * abs(mesh.on("s")[-1] * sun.rate[-1])
    assert set(mesh.table()) == {"torque_on_s", "torque_on_c", "torque_on_p"}


def test_rack_and_pinion_has_effective_mass_and_tooth_force():
    r, F = 0.08, 3.0
    model = Model("rack")
    rack = model.add_body("rack", Box(0.4, 0.05, 0.05, mass=1.2))
    pinion = model.add_body("pinion", Box(0.1, 0.1, 0.03, mass=0.6), position=(0, 0.2, 0))
    model.add_joint("slide", "prismatic", model.ground, rack, at=(0, 0, 0), axis=X)
    model.add_joint("turn", "cylindrical", model.ground, pinion, at=(0, 0.2, 0), axis=Z)
    model.add_gear("teeth", ["slide", "turn"], (1.0, -r), of=[None, "angle"])
    model.add_force("push", rack.at((0, 0, 0)), F * X)
    J = pinion.properties.inertia[2, 2]
    a = F / (1.2 + J / r**2)
    result = simulate(model, t_end=1.0, dt=0.002)
    slide, hinge, teeth = (result.joint(name) for name in ("slide", "turn", "teeth"))
    assert hinge.angle[-1] > 2 * np.pi
    assert slide.displacement == pytest.approx(r * hinge.angle, abs=1e-13)
    assert slide.displacement[-1] == pytest.approx(0.5 * a, rel=1e-4)
    assert teeth.on("slide")[1:] == pytest.approx(-J * a / r**2, rel=1e-3)
    assert teeth.on("turn")[1:] == pytest.approx(J * a / r, rel=1e-3)


def test_differential_splits_the_cage_torque_evenly():
    model = Model("differential")
    J = {}
    for k, name in enumerate(("left", "right", "cage")):
        body = model.add_body(name, Box(0.1 + 0.05 * k, 0.1, 0.05, mass=1.0), position=(0, 0, k))
        model.add_joint(name, "revolute", model.ground, body, at=(0, 0, k), axis=Z)
        J[name] = body.properties.inertia[2, 2]
    model.add_gear("gear", ["left", "right", "cage"], (1, 1, -2))
    model.add_moment("engine", model.bodies["cage"], 0.05 * Z)
    result = simulate(model, t_end=1.0, dt=0.005)
    gear = result.joint("gear")
    assert gear.on("left") == pytest.approx(gear.on("right"))
    assert gear.on("left")[-1] == pytest.approx(J["left"] * result.joint("left").rate[-1], rel=1e-3)
    left_over = 0.05 - J["cage"] * result.joint("cage").rate[-1]
    assert 2 * gear.on("left")[-1] == pytest.approx(left_over, rel=1e-3)


def geared_weight(k=4.0, m=0.5, arm=0.3):
    model = Model("weight", gravity=(0, -9.81, 0))
    drum = model.add_body("drum", Box(0.1, 0.1, 0.05, mass=m), position=(arm, 0, 0))
    wheel = model.add_body("wheel", Box(0.2, 0.1, 0.05, mass=0.8), position=(1, 0, 0))
    model.add_joint("drum", "revolute", model.ground, drum, at=(0, 0, 0), axis=Z)
    model.add_joint("wheel", "revolute", model.ground, wheel, at=(1, 0, 0), axis=Z)
    model.add_gear("mesh", ["drum", "wheel"], (20, 50))
    model.add_spring("spring", model.ground, wheel, k, along="rotation", axis=Z)
    return model


def test_geared_weight_has_its_equilibrium_and_frequency():
    k, m, arm, ratio = 4.0, 0.5, 0.3, 20.0 / 50.0
    model = geared_weight(k, m, arm)
    static_solution = equilibrium(model)
    q = static_solution.joint("drum").angle[-1]
    # m g arm cos q = -k ratio^2 q
    assert m * 9.81 * arm * np.cos(q) == pytest.approx(-k * ratio**2 * q, rel=1e-12)
    assert static_solution.joint("wheel").angle[-1] == pytest.approx(-ratio * q, rel=1e-12)
    assert static_solution.joint("mesh").on("drum")[-1] == pytest.approx(
        m * 9.81 * arm * np.cos(q), rel=1e-10
    )
    computed_modes = modes(model, 1, static_solution.state())
    J = model.bodies["drum"].properties.inertia[2, 2] + m * arm**2
    J += ratio**2 * model.bodies["wheel"].properties.inertia[2, 2]
    stiffness = k * ratio**2 - m * 9.81 * arm * np.sin(q)
    assert computed_modes.omega[0] == pytest.approx(np.sqrt(stiffness / J), rel=1e-9)
    assert computed_modes.kinds == ("oscillates",)


INVALID = [  # joints, ratios, coordinates, expected message
    (["drum", "nothing"], (1, 1), None, "gear 'g': 'nothing' is not a joint of this model"),
    (["drum", "ball"], (1, 1), None, "spherical joint 'ball' has no coordinate to couple; use one of"),
    (["drum", "wheel"], (1, 0), None, "the ratio of 'wheel' is 0, which couples nothing"),
    (["drum"], (1,), None, "expected two or more joints"),
    (["drum", "wheel"], (1, 2, 3), None, "ratios .*: expected 2 values, one for each joint"),
    (["drum", "drum"], (1, 2), None, "has the angle of 'drum' twice"),
    (["drum", "wheel"], (2, 5), None, "repeats gear 'mesh'; remove one of them"),
    (["drum", "wheel"], (2, 7), None, "couples the same joints as gear 'mesh' with other ratios"),
    (["drum", "screw"], (2, 7), None, "say which coordinate of 'screw'"),
    (["drum", "wheel"], (2, 7), ["displacement", None], "revolute joint 'drum' has no displacement"),
    # within round-off
    (
        ["slide", "wheel"],
        (1.0, 1e-300),
        None,
        "gear 'g': the ratio of 'wheel' is 1e-300, which is too small to compute with. Multiply",
    ),
    (["slide", "wheel"], (1e-60, 1e-60), None, "gear 'g': the ratio of 'slide' is 1e-60"),
    (
        ["slide", "wheel"],
        (1e-13, -2.0),
        None,
        "gear 'g': the ratio of 'slide', 1e-13, is negligible compared with 2.*remove it",
    ),
]


@pytest.mark.parametrize(
    ("joints", "ratios", "coordinates", "words"), INVALID, ids=[words for *_, words in INVALID]
)
def test_invalid_gears_are_rejected_with_a_remedy(joints, ratios, coordinates, words):
    model = geared_weight()
    ball = model.add_body("ball", Box(1, 1, 1, mass=1.0))
    model.add_joint("ball", "spherical", model.ground, ball, at=(0, 0, 0))
    model.add_joint("screw", "cylindrical", ball, model.bodies["wheel"], at=(1, 0, 0), axis=Z)
    slide = model.add_body("slide", Box(1, 1, 1, mass=1.0), (0, 3, 0))
    model.add_joint("slide", "revolute", model.ground, slide, at=(0, 3, 0), axis=Z)
    with pytest.raises(ModelError, match=words):
        model.add_gear("g", joints, ratios, coordinates)
    with pytest.raises(ModelError, match="there is already a joint 'drum'"):
        model.add_gear("drum", ["drum", "slide"], (1, 1))
    model.add_gear("g", ["slide", "wheel"], (1e-11, 1.0))  # and the model is built
    model.build()


def test_drives_of_geared_joints_report_the_gear():
    model = geared_weight()
    model.add_drive("a", "drum", Sine(0.1, 1.0))
    model.build()
    model.add_drive("b", "wheel", Sine(0.1, 1.0))
    with pytest.raises(ModelError, match=r"drive 'a'.*and drive 'b'.*gear 'mesh'"):
        model.build()


def add_loop_wheel(model, teeth):
    """A third wheel that closes a loop of gears."""
    idle = model.add_body("idle", Box(1, 1, 1, mass=1.0))
    model.add_joint("idle", "revolute", model.ground, idle, at=(0, 0, 0), axis=Z)
    model.add_gear("b", ["wheel", "idle"], (50, 10))
    model.add_gear("c", ["drum", "idle"], (20, -teeth))


def test_gear_closing_a_loop_of_gears_is_named_as_redundant():
    model = geared_weight()
    add_loop_wheel(model, 10.0)
    with pytest.warns(RedundantJointsWarning, match="'mesh', 'b', 'c'"):
        built = model.build()
    assert {"mesh", "b", "c"} <= {name for loop in built.layout.description["undetermined"] for name in loop}


@pytest.mark.parametrize(
    ("integrator", "laws"),
    [
        ("EML", "energy"),
        ("REML", "energy"),
        ("EML-kappa", "energy, momentum"),
        ("EM-G", "energy, momentum"),
        ("GGL-EM", "energy, momentum, velocities"),
        ("IMS", "momentum"),
        ("GL-SPARK(2)", "momentum, velocities"),
        ("VI-S", "momentum"),
        ("EMH(order=4)", "energy, momentum"),
    ],
)
def test_chart_schemes_conserve_with_gears_what_they_conserve_with_joints(integrator, laws):
    result = simulate(wheels_on_a_free_carrier(), 0.2, 0.005, integrator, output_every=5, progress=False)
    system, states = result.layout.system, result.states(slice(None))
    audit_report = audit(result)
    assert audit_report.ok, audit_report.text()
    rows = {
        "energy": "E . D without work",
        "momentum": "angular momentum",
        "velocities": "joints, velocities",
    }
    for invariant, row in rows.items():
        conserved = re.search(rf"{row} +kept", audit_report.text()) is not None
        assert conserved == (invariant in laws), invariant
    assert re.search("linear momentum +kept", audit_report.text())
    assert np.abs(constraint_residual(system, states)).max() < 1e-12 * np.abs(N1 * states.internal).max()
    one, two = (result.joint(name).angle for name in ("one", "two"))
    assert np.abs(one).max() > 2 * np.pi
    assert states.internal == pytest.approx(np.stack([one, two], axis=1), rel=1e-9)
    assert np.abs(N1 * one + N2 * two).max() < 1e-12 * np.abs(N1 * one).max()


def older_tables(system):
    """Columns of the constraint table as older files had it with gears, and the interactions without them."""
    columns, interactions = gears_to_rows(system.constraints, without_file_tables(system.others))
    return (
        Constraints(**{name: columns[name] for name in Constraints._fields}),
        columns["shares"],
        interactions,
    )


def gear_train():
    """Gears of each kind: between angles, with a rack, with both coordinates of a cylindrical joint; one redundant; on a
    bushing.
    """
    model = geared_weight()
    rack = model.add_body("rack", Box(0.4, 0.05, 0.05, mass=1.2), position=(1, 0.2, 0))
    model.add_joint("slide", "prismatic", model.ground, rack, at=(1, 0.2, 0), axis=X)
    idle = model.add_body("idle", Box(1, 1, 1, mass=1.0))
    model.add_joint("idle", "cylindrical", model.ground, idle, at=(0, 0, 0), axis=Z)
    model.add_gear("teeth", ["slide", "wheel"], (1.0, -0.2))
    model.add_gear("b", ["wheel", "idle"], (50, 10), [None, "angle"])
    model.add_gear("c", ["drum", "idle"], (20, -10), [None, "angle"])
    model.add_gear("thread", ["idle", "idle"], (1.0, -0.1), ["displacement", "angle"])
    model.add_bushing("soft", model.ground, rack, 80.0, at=(1, 0.2, 0))
    return model


@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
def test_invalid_gear_rows_of_older_files_are_rejected_by_column():
    constraints, shares, interactions = older_tables(gear_train().build().system)
    with pytest.raises(ValueError, match=r"'constraints/kind': .* share rows"):
        gears_from_rows(constraints._replace(kind=constraints.kind % 8), shares, interactions)
    with pytest.raises(ValueError, match="'constraints/shares'"):
        gears_from_rows(constraints, 1 - shares, interactions)
    # of a file from the time when gears were such rows
    written = "ddccdb2d8501cfbee1b1127de4b54623d03b657e67e513cddc4d93526e3e242d"
    assert fingerprint(wheels_on_a_free_carrier().build().system) == written


@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
def test_older_file_with_gear_rows_is_opened_audited_and_resumed(tmp_path, monkeypatch):
    path, model = tmp_path / "old.vtkhdf", gear_train()
    uninterrupted = simulate(model, 0.04, 0.005, output_every=1, progress=False).state()
    written = native_format._write_table

    def as_older(parent, name, table):
        constraints, shares, interactions = older_tables(model.build().system)
        written(parent, name, {"constraints": constraints, "others": interactions}.get(name, table))
        if name == "constraints":
            parent[name]["shares"] = shares

    with monkeypatch.context() as patched:
        patched.setattr(native_format, "_write_table", as_older)
        patched.setattr(INTERACTIONS, "names_of", lambda numbers: [])
        simulate(model, 0.02, 0.005, output=path, output_every=1, progress=False)
    opened = Result.load(path)
    assert opened.layout.system.others.kind[:5].tolist() == model.build().system.others.kind[:5].tolist()
    assert audit(opened).ok, audit(opened).text()
    assert opened.joint("mesh").on("drum")[-1] != 0.0
    resumed = simulate(model, 0.04, 0.005, output=path, output_every=1, resume=True, progress=False).state()
    assert np.array_equal(resumed.quat, uninterrupted.quat)
    assert np.array_equal(resumed.internal, uninterrupted.internal)
    assert np.array_equal(resumed.lam, uninterrupted.lam)


def test_gear_between_too_many_parts_is_rejected_with_a_remedy():
    model, names = Model("many"), [f"{k}" for k in range(8)]
    for k, name in enumerate(names):
        body = model.add_body(name, Box(0.1, 0.1, 0.1, mass=1.0), position=(k, 0, 0))
        model.add_joint(name, "revolute", model.ground, body, at=(k, 0, 0), axis=Z)
    model.add_gear("long", names, [1.0] * 8)
    words = r"gear 'long': 8 angles between 9 parts.* has at most 8 between 8"
    with pytest.raises(ModelError, match=words) as refused:
        model.build()
    assert refused.value.about[0] == ("gear", "long")


def test_rigid_twin_keeps_its_gears():
    model = geared_weight()
    section = Section.circular(0.02, Material(E=1e9, nu=0.3, density=1000))
    rod = model.add_rod("rod", [(0, 0, 1), (1, 0, 1)], section, 2)
    model.add_joint("shaft", "revolute", model.ground, rod.start, axis=Z)
    model.add_gear("more", ["shaft", "drum"], (1, 3))
    twin = model.as_rigid()
    assert twin.gears["more"].terms[0].joint is twin.joints["shaft"]
    assert len(twin.build().state.internal) == len(model.build().state.internal) == 1 + 4


@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
def test_slightly_inconsistent_gear_loop_is_named_when_it_locks():
    model = geared_weight()
    add_loop_wheel(model, 10.0 * (1 + 1e-7))
    with pytest.raises(ConvergenceError, match=r"is redundant with '\w+', '\w+' and inconsistent with them"):
        simulate(model, t_end=2.0, dt=0.01)


def test_gear_forces_are_reported_with_the_joint_forces(tmp_path):
    """A gear acts on several joints: it has no single force and moment."""
    result = simulate(wheels_on_a_free_carrier(), t_end=0.05, dt=0.005, output_every=1)
    gear, one = result.joint("mesh"), result.joint("one")
    assert np.abs(gear.on("one")).max() > 0.1

    comparison = compare(result, result)
    rows = {row.quantity: row for row in comparison.rows}
    torque = rows["joint mesh, torque on one"]
    assert torque.unit == "N m"
    assert torque.scale == pytest.approx(np.abs(gear.on("one")[1:]).max(), rel=1e-6)
    assert rows["joint one, force"].largest == 0.0

    arrays = result.to_xarray()
    assert np.array_equal(arrays["mesh.torque_on_two"], gear.on("two"))
    assert list(arrays.joint) == ["one", "two"]
    assert np.array_equal(arrays.joint_force.sel(joint="one"), one.force)

    page = report(result, tmp_path / "page.html").read_text()
    assert "2 joints and 1 gear." in page
    assert "17 × angle of &#x27;one&#x27; + 41 × angle of &#x27;two&#x27;" in page
    page = report(simulate(planetary(0.0)[0], 0.01, 0.01), tmp_path / "page.html").read_text()
    assert "24 × angle of &#x27;s&#x27; − 24 × angle of &#x27;c&#x27;" in page

    named = measures.parse("largest joints.mesh.multipliers[0]", result.layout)
    assert named.reduce(result.t, named.quantity.read(result)) == np.abs(gear.multipliers).max()
    with pytest.raises(StudyError, match=r"there is no 'force'; there are multipliers"):
        measures.parse("largest joints.mesh.force.norm", result.layout)


def test_invalid_ratio_in_a_scene_is_reported_with_its_line(tmp_path, capsys):
    scene = tmp_path / "gear.yaml"
    scene.write_text(
        """bodies:
- {name: a, shape: {type: sphere, radius: 0.1, mass: 1}}
- {name: b, shape: {type: sphere, radius: 0.1, mass: 1}, position: [1, 0, 0]}
joints:
- {name: one, kind: revolute, a: ground, b: a, at: [0, 0, 0], axis: [0, 0, 1]}
- {name: two, kind: revolute, a: ground, b: b, at: [1, 0, 0], axis: [0, 0, 1]}
gears:
- {name: mesh, joints: [one, two], ratios: [1, 1.0e-300]}
run: {t_end: 0.1, dt: 0.1}
"""
    )
    for command in (["check", str(scene)], ["run", str(scene), "-o", str(tmp_path / "gear.vtkhdf")]):
        assert main(command) == 2
        assert re.search(r"gear.yaml:8.*gear 'mesh'.*'two' is 1e-300", capsys.readouterr().err)
    assert not (tmp_path / "gear.vtkhdf").exists()


def test_gear_violated_at_the_start_is_named(monkeypatch):
    """Such a gear cannot be built regularly; a user who does receives the name of the gear, not of a joint with its number."""
    model = wheels_on_a_free_carrier()
    residual = building.constraint_residual
    monkeypatch.setattr(
        building, "constraint_residual", lambda *arguments: np.r_[residual(*arguments)[:-1], 0.5]
    )
    with pytest.raises(ModelError, match=r"gear 'mesh': \|g\| = 0.5 at t = 0") as refused:
        model.build()
    assert refused.value.about[0] == ("gear", "mesh")
