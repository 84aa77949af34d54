"""Redundant joints: detected and reported, and the motion equals that without the redundancy."""

import json
import re
import warnings

import numpy as np
import pytest

from rigid import quaternions
from rigid.joints import JOINTS
from rodsim import (
    Box,
    ConvergenceError,
    MassProperties,
    Model,
    ModelError,
    Result,
    Sphere,
    audit,
    linearise,
    simulate,
)
from rodsim.cli.main import main
from rodsim.warnings import RedundantJointsWarning

R, S = "revolute", "spherical"
TURN = quaternions.from_rotation_vector([0.3, -0.5, 0.4])  # nothing is aligned with the world axes


def four_bar(kinds, spare=False, shift=0.0, thrown=None):
    """Three bars in a plane, hinged to each other and to the ground at both ends; `spare`: with a separate regular pendulum.

    shift: of the far foot, which makes the parallelogram a general four-bar. thrown: draw the velocities of all bars.
    """
    model = Model("four-bar", gravity=quaternions.rotate(TURN, np.array([1.0, -9.0, 0.0])))
    bar = MassProperties(1.0, np.diag([0.01, 0.08, 0.085]), np.array([0.1, 0.02, 0.0]))

    def place(name, start, end):
        along = np.subtract(end, start)
        turned = quaternions.from_rotation_vector([0, 0, np.arctan2(along[1], along[0])])
        middle = np.add(start, end) / 2
        pose = quaternions.rotate(TURN, middle), quaternions.multiply(TURN, turned)
        motion = (None, None) if thrown is None else thrown.normal(size=(2, 3))
        return model.add_body(name, bar, *pose, *motion)

    corners = np.array([(0, 0, 0), (0, 1, 0), (1, 1, 0), (1 + shift, 0, 0)], float)
    if spare:
        other = place("other", (5, 0, 0), (6, 0, 0))
        model.add_joint("peg", R, model.ground, other, at=quaternions.rotate(TURN, (5, 0, 0)), axis=AXIS)
    bars = [place(f"bar {k}", *corners[k : k + 2]) for k in range(3)]
    bars[0] = model.bodies["bar 0"]
    parts = [model.ground, *bars, model.ground]
    for k, (name, kind) in enumerate(zip("ABCD", kinds, strict=True)):
        at = quaternions.rotate(TURN, corners[k])
        model.add_joint(name, kind, parts[k], parts[k + 1], at=at, axis=AXIS if kind == R else None)
    return model


AXIS = quaternions.rotate(TURN, np.array([0.0, 0, 1]))


def build_and_count(model):
    """Return a built model, the number of redundant equations that the warnings report, and the warnings."""
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        built = model.build()
    warnings_found = [w for w in recorded if w.category is RedundantJointsWarning]
    matches = (re.search(r"(\d+) equation", str(warning.message)) for warning in warnings_found)
    return built, sum(int(match[1]) for match in matches if match), warnings_found


@pytest.mark.exact
@pytest.mark.parametrize("spare", [False, True])
@pytest.mark.parametrize(("kinds", "excess"), [([R, R, R, R], 3), ([R, R, R, S], 1), ([R, S, S, R], 0)])
def test_redundant_loop_is_reported_by_its_joints(kinds, excess, spare):
    built, counted, recorded = build_and_count(four_bar(kinds, spare))
    assert len(recorded) == (excess > 0)
    assert counted == excess
    assert built.layout.description["undetermined"] == ([["A", "B", "C", "D"]] if excess else [])
    if excess:
        message = str(recorded[0].message)
        assert "'A', 'B', 'C', 'D'" in message
        assert "peg" not in message
        assert recorded[0].filename == __file__


def redundancy_by_svd(built):
    """Rank deficiency of G by singular values, and the joints that contribute to the null vectors."""
    G = linearise(built, built.state).G.toarray()
    left, values = np.linalg.svd(G)[:2]
    rank = int((values > 1e-9).sum())
    joint = np.repeat(built.layout.joints, [JOINTS[joint.kind].n_rows for joint in built.layout.joints])
    rows = np.linalg.norm(left[:, rank:], axis=1) > 1e-8
    return len(G) - rank, {redundant.name for redundant in joint[rows]}


def ring(n, kind):
    """A closed polygon of n bodies with oblique hinges or balls."""
    model, rng = Model("ring"), np.random.default_rng(4)
    angles = 2 * np.pi * np.arange(n) / n
    corners = np.stack([np.cos(angles), np.sin(angles), 0.1 * rng.normal(size=n)], axis=1)
    bodies = [
        model.add_body(f"b{k}", Box(0.3, 0.2, 0.1, mass=1), (corners[k] + corners[k - 1]) / 2)
        for k in range(n)
    ]
    for k in range(n):
        axis = rng.normal(size=3) if kind == R else None
        model.add_joint(f"j{k}", kind, bodies[k], bodies[(k + 1) % n], at=corners[k], axis=axis)
    return model


CASES = {
    "planar": lambda: four_bar([R] * 4),
    "planar, one ball": lambda: four_bar([R, R, S, R]),
    "sound": lambda: four_bar([R, S, S, R]),
    "ring of 5 hinges": lambda: ring(5, R),
    "ring of 6 hinges": lambda: ring(6, R),
    "ring of 60 hinges": lambda: ring(60, R),
    "ring of balls": lambda: ring(40, S),
    "ring of welds": lambda: ring(30, "weld"),
}


@pytest.mark.parametrize("name", CASES)
def test_redundant_rows_match_singular_values(name):
    built, counted, _ = build_and_count(CASES[name]())
    excess, joints = redundancy_by_svd(built)
    assert counted == excess
    assert set().union(*built.layout.description["undetermined"]) == joints


def test_separate_loops_are_reported_separately():
    model = Model("two")
    for k in range(2):
        body = model.add_body(f"body {k}", Sphere(1, mass=1), (5 * k, 0, 0))
        for z in (0, 1):
            model.add_joint(f"j{k}{z}", R, model.ground, body, at=(5 * k, 0, z), axis=(0, 0, 1))
    layout = build_and_count(model)[0].layout
    assert layout.description["undetermined"] == [["j00", "j01"], ["j10", "j11"]]


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em4-ggl"])
def test_redundant_planar_four_bar_moves_as_the_regular_one(integrator):
    """Bars with two balls in place of hinges have no redundancy."""
    redundant, sound = (
        simulate(four_bar(kinds, shift=0.3), 1.0, 0.02, integrator) for kinds in ([R] * 4, [R, S, S, R])
    )
    moved = np.abs(sound.state(-1).r - sound.state(0).r).max()
    assert moved > 0.2
    assert np.abs(redundant.state(-1).r - sound.state(-1).r).max() < 1e-10 * moved
    for result in (redundant, sound):
        report = audit(result)
        assert report.constraint < 1e-13
        assert report.energy_balance < 1e-12
    if integrator != "em":
        assert redundant.velocity_residual.max() < 1e-11
    # round-off is reached nearly as fast
    assert np.mean(redundant.newton_iterations) < np.mean(sound.newton_iterations) + 1.5


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("EML-kappa", "quaternion"),
        ("EM-G", "director"),
        ("GGL-EM", "director"),
        ("mG(2)", "quaternion-alpha"),
        ("EML", "quaternion"),
    ],
)
def test_redundant_planar_four_bar_moves_equally_in_the_charts(integrator, chart):
    """Motions agree with those of the regular bars to the precision of the solved equations."""
    ends = []
    for kinds in ([R] * 4, [R, S, S, R]):
        result = simulate(four_bar(kinds, shift=0.3), 0.3, 0.01, integrator, chart=chart)
        assert result.constraint_residual.max() < 1e-11
        ends.append(result.state(-1).r)
    assert np.abs(ends[0] - result.state(0).r).max() > 0.01
    assert ends[0] == pytest.approx(ends[1], abs=1e-8)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize("integrator", ["GL-SPARK(2)", "VI-B", "IMS"])
def test_schemes_without_redundant_joints_reject_them(integrator):
    with pytest.raises(ModelError, match=r"four-bar.*are redundant.*use 'em'"):
        simulate(four_bar([R] * 4, shift=0.3), 0.1, 0.01, integrator)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_in_plane_forces_of_a_redundant_loop_are_determined():
    """For hinges with parallel axes the undetermined forces are out of the plane."""
    redundant, sound = (simulate(four_bar(k, shift=0.3), 0.4, 0.01) for k in ([R] * 4, [R, S, S, R]))
    for name in "ABCD":
        one, other = (r.joint(name) for r in (redundant, sound))
        in_plane = [x.force - np.outer(x.force @ AXIS, AXIS) for x in (one, other)]
        assert in_plane[0] == pytest.approx(in_plane[1], abs=1e-9)
        assert not one.determined
        assert other.determined


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kinds", [[R] * 4, [R, R, R, S]])
def test_velocities_are_projected_onto_a_redundant_loop(kinds):
    model = four_bar(kinds, shift=0.3, thrown=np.random.default_rng(1))
    built = model.build()
    system, thrown = built.system, built.state
    run = simulate(model, 1e-3, 1e-3)
    projected = run.state(0)
    assert run.velocity_residual[0] < 1e-12
    # the nearest: the removed momentum is an impulse of the joints
    G = linearise(built, thrown._replace(v=0 * thrown.v, Omega=0 * thrown.v)).G.toarray()
    R_of = quaternions.to_matrix(thrown.quat)[1:]
    dv, dO = (projected.v - thrown.v)[1:], (projected.Omega - thrown.Omega)[1:]
    spin = np.einsum("nij,njk,nk->ni", R_of, system.frames.inertia[1:], dO)
    impulse = np.hstack([system.frames.mass[1:, None] * dv, spin]).ravel()
    lam = np.linalg.lstsq(G.T, impulse, rcond=None)[0]
    assert np.abs(G.T @ lam - impulse).max() < 1e-10


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_two_hinges_on_one_axis_act_like_one():
    def door(hinges):
        model = Model("door", gravity=(0, -9.0, 0))
        leaf = model.add_body("leaf", Box(1, 0.1, 2, mass=3), (0.5, 0, 0))
        for z in hinges:
            model.add_joint(f"hinge {z}", R, model.ground, leaf, at=(0, 0, z), axis=(0, 0, 1))
        return simulate(model, 1.0, 0.02).state(-1).r

    assert door((-0.9, 0.9)) == pytest.approx(door((0.0,)), abs=1e-12)


SCENE = """
bodies: [{name: leaf, shape: {type: box, size: [1, 0.1, 2], mass: 1}, position: [0.5, 0, 0]}]
joints:
  - {name: upper, kind: revolute, a: ground, b: leaf, at: [0, 0, 1], axis: [0, 0, 1]}
  - {name: lower, kind: revolute, a: ground, b: leaf, at: [0, 0, -1], axis: [0, 0, 1]}
run: {t_end: 0.02, dt: 0.01}
"""


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_command_reports_undetermined_reactions(tmp_path, capsys):
    scene, out = tmp_path / "door.yaml", str(tmp_path / "door.vtkhdf")
    scene.write_text(SCENE)
    assert main(["run", str(scene), "-o", out, "--quiet"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1  # in the words of the package, not of Python
    assert lines[0].startswith("rodsim: model 'scene': 5 equations of the joints 'upper', 'lower' repeat")
    assert main(["info", out]) == 0
    assert "redundant joints, forces and moments determined in part: upper, lower" in capsys.readouterr().out
    assert main(["info", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["undetermined"] == [["upper", "lower"]]
    assert not Result.load(out).joint("upper").determined


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_joints_that_become_inconsistent_are_named():
    """A weight between two collinear rods: their equations agree at the initial position only."""
    model = Model("stretched", gravity=(0, -9.81, 0))
    weight = model.add_body("weight", Sphere(0.1, mass=1))
    for name, x in (("left", -1), ("right", 1)):
        model.add_joint(name, "distance", model.ground.at((x, 0, 0)), weight.at((0, 0, 0)))
    with pytest.raises(
        ConvergenceError,
        match=r"joint '(left|right)' is redundant with '(left|right)' and inconsistent with them",
    ):
        simulate(model, 0.1, 0.01)


def door_on_two_hinges(tilt):
    """The lower axis is tilted in the plane of the leaf; two hinges that are not collinear lock it."""
    model = Model("door")
    leaf = model.add_body("leaf", Box(1, 0.1, 2, mass=3), (0.5, 0, 0))
    for z, slope in ((-0.9, tilt), (0.9, 0.0)):
        model.add_joint(f"hinge {z}", R, model.ground, leaf, at=(0, 0, z), axis=(slope, 0, 1))
    return model


@pytest.mark.parametrize(
    ("tilt", "excess"), [(1e-2, 4), (1e-3, 4), (1e-4, 4), (1e-7, 5), (1e-9, 5), (0.0, 5)]
)
def test_nearly_redundant_loop_is_distinguished_from_a_redundant_one(tilt, excess):
    """An axis off by 1e-4 is intended, one off by 1e-7 is not: singular values below about 1e-5 count as zero."""
    assert build_and_count(door_on_two_hinges(tilt))[1] == excess


def collinear_parallelogram(angle, size=1.0):
    """A parallelogram of three rotating bars; at an angle of 0 all of them are collinear."""
    model = Model("parallelogram", gravity=(0, -9.81 * size, 0))
    along, across = size * np.array([(np.cos(angle), np.sin(angle), 0), (-np.sin(angle), np.cos(angle), 0)])
    orientation, foot = quaternions.from_rotation_vector([0, 0, angle]), size * np.array([1.0, 0, 0])
    bar = Box(size, 0.1 * size, 0.1 * size, mass=1)
    spin = {"orientation": orientation, "velocity": across, "angular_velocity": (0, 0, 2.0)}
    crank = model.add_body("crank", bar, along / 2, **spin)
    rocker = model.add_body("rocker", bar, foot + along / 2, **spin)
    coupler = model.add_body("coupler", bar, along + foot / 2, velocity=2 * across)
    ends = ((model.ground, crank, 0 * foot), (crank, coupler, along))
    ends += ((coupler, rocker, along + foot), (model.ground, rocker, foot))
    for name, (a, b, at) in zip("ABCD", ends, strict=True):
        model.add_joint(name, R, a, b, at=at, axis=(0, 0, 1))
    return model


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize(
    ("integrator", "chart", "close"),
    [
        ("GGL-EM", "director", 1e-12),
        ("GGL-EM", "quaternion-alpha", 1e-12),
        ("EML-kappa", "quaternion", 1e-6),
    ],
)
def test_run_may_start_with_all_bars_in_one_line(integrator, chart, close):
    """The motion equals that of `em-ggl`, which does not drop any rows."""
    one, other = (
        simulate(collinear_parallelogram(0.0), 0.5, 0.01, name, chart=in_chart, output_every=1)
        for name, in_chart in ((integrator, chart), ("em-ggl", None))
    )
    assert np.abs(other.state(-1).r - other.state(0).r).max() > 0.3
    assert one.state(-1).r == pytest.approx(other.state(-1).r, abs=close)
    assert one.constraint_residual.max() < 1e-13
