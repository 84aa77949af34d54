"""What Python refuses: each message names the object and the cure; nothing is run or written before."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rodsim import (
    ArcLength,
    Box,
    MassProperties,
    Material,
    Model,
    ModelError,
    PointMass,
    ResultError,
    SceneError,
    Section,
    align,
    audit,
    compare,
    equilibrium,
    export,
    plot,
    render,
    render_movie,
    signals,
    simulate,
)
from rodsim.linear import Probe, Push, frequency_response
from rodsim.results import MemoryWriter, UnknownName
from rodsim.studies import sweep
from tests.support.own_kinds import Spring, Triangle
from tests.support.prepared import _beam
from tests.support.results_sample import sample_layout, sample_output

CUBE = Box(1, 1, 1, mass=1)
X, Y, Z = np.eye(3)
LINE = ((0, 0, 0), (1, 0, 0))
RUBBER = Material(E=1e6, nu=0.4, density=1000.0)
CORD = Section.circular(0.01, RUBBER)


def model():
    """Two bodies and a rod."""
    made = Model("m")
    made.add_body("a", CUBE)
    made.add_body("b", CUBE, position=(2, 0, 0))
    made.add_rod("r", LINE, CORD, 4)
    return made


def hinged():
    """A bar on a hinge."""
    made = Model("hinged")
    bar = made.add_body("bar", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
    made.add_joint("hinge", "revolute", "ground", bar, at=(0, 0, 0), axis=Z)
    return made


def with_parts(make, *parts):
    """The model of `make` with parts added, each given as what is added and its arguments."""
    made = make()
    for what, *given in parts:
        named = given.pop() if isinstance(given[-1], dict) else {}
        getattr(made, f"add_{what}")(*given, **named)
    return made


def on_a_joint(kind, *load):
    """A bar on one joint in the origin, along z, under a load."""
    bar = ("body", "bar", Box(1.0, 0.1, 0.1, mass=1.0), (0.5, 0, 0))
    joint = ("joint", "j", kind, "ground", "bar", {"at": (0, 0, 0), "axis": Z})
    return with_parts(lambda: Model("free"), bar, joint, load)


def driven(*more):
    """A hinge with a drive, and something against it."""
    return with_parts(hinged, ("drive", "one", "hinge", signals.Sine(0.1, 1.0)), more).build()


def rod(curve, **more):
    return with_parts(lambda: Model("m"), ("rod", "r", curve, CORD, more)).build()


def coil(s):
    return np.cos(40 * np.pi * s), np.sin(40 * np.pi * s), 2 * s


def point_mass(*joint):
    return with_parts(lambda: Model("point"), ("body", "point", PointMass(1.0)), joint)


def named_point(text):
    return model().add_joint("x", "spherical", "a", text)


def body(orientation):
    return model().add_body("n", CUBE, orientation=orientation)


def run(**arguments):
    return simulate(model(), **arguments)


def prepared(changes, **settings):
    return _beam().prepare(t_end=0.01, dt=0.01).run(changes, **settings)


@cache
def result():
    """Outputs at 0, 0.05 and 0.1 s of the rods 'whip' and 'ring' and the body 'box'."""
    writer = MemoryWriter(sample_layout())
    for i in range(3):
        writer.append(*sample_output(writer.layout, i))
    return writer.result()


ARGUMENTS = [
    ("n_elements = 1000000000 is too large; give at most 1000000", lambda: model().add_rod("n", LINE, CORD, 10**9)),
    ("n_elements = 2 is too small; give at least 3", lambda: model().add_rod("n", LINE, CORD, 2, closed=True)),
    (r"output_every = 2\.0 is not a whole number", lambda: run(t_end=1, dt=0.1, output_every=2.0)),
    ("integrator = <int>; give a name", lambda: run(t_end=1, dt=0.1, integrator=10**5000)),
    ("dt = '0.1' is not a number", lambda: run(t_end=1, dt="0.1")),
    ("Box: mass = True is not a number", lambda: Box(1, 1, 1, mass=True)),
    (r"position\[0\] = 1e\+60 is too large; choose other units", lambda: model().add_body("n", CUBE, (1e60, 0, 0))),
    ("up = .* is not a list of 3 finite numbers", lambda: model().add_rod("n", LINE, CORD, up=[True, False, False])),
    ("give the curve as at least 2 points", lambda: model().add_rod("n", [("0", "0", "0"), ("1", "0", "0")], CORD)),
    ("section = 'cord' is neither a Section nor", lambda: model().add_rod("n", LINE, "cord")),
    ("material = 'rubber' is no Material", lambda: Section.circular(1, "rubber")),
    ("kind = .'weld'. is not known; choose one of", lambda: model().add_joint("n", ["weld"], "a", "b")),
    ("simulate: expected a Model, got 'm'", lambda: simulate("m", 1, 0.1)),
    ("output = '' is no name of a file", lambda: run(t_end=1, dt=0.1, output="")),
    ("contains NUL", lambda: run(t_end=1, dt=0.1, output="a\0b")),
    ("give either damping_time or D", lambda: Section.from_stiffness(
        C=np.eye(6), D=np.eye(6), damping_time=1.0, mass_per_length=1, inertia_per_length=1)),
    ("extends over 2 m at 9e\\+18 m from the origin", lambda: rod(lambda s: (9e18, 2 * s, 0))),
    ("2 x 1e-08|extends over 1 m at 1e\\+09", lambda: rod([(1e9, 0, 0), (1e9 + 1, 0, 0)])),
    ("body 'n': orientation = .* is not a rotation matrix", lambda: body(np.diag([1.0, 1.0, -1.0]))),
    ("is not a rotation matrix", lambda: body(2.0 * np.eye(3))),
    ("is not a rotation matrix", lambda: body(np.full((3, 3), np.nan))),
    ("orientation has 2 rotations. Give one", lambda: body(Rotation.from_rotvec(np.zeros((2, 3))))),
    ("give a unit quaternion", lambda: body([1.0, 1.0, 0.0, 0.0])),
    ("orientation", lambda: body("up")),
    ("align: direction", lambda: align((0, 0, 1), (0, 0, 0))),
]  # fmt: skip

PARTS = [
    (r"joint 'x': there is no body, rod or driven frame 'blok'. Use one of 'a', 'b', 'r'", lambda: named_point("blok")),
    ("joint 'x': there is no body, rod or driven frame 'blok'", lambda: named_point("blok@0,0,0")),
    ("joint 'x': 'r@0.1,0,0' is no point of rod 'r'. Give a fraction", lambda: named_point("r@0.1,0,0")),
    ("joint 'x': 'b@0.5' is no point of body 'b'. Give x, y and z", lambda: named_point("b@0.5")),
    ("joint 'x': 'b@here' is no point of body 'b'", lambda: named_point("b@here")),
    (r"s = 1.5 is outside \[0, 1\]", lambda: named_point("r@1.5")),
    ("joint 'x': there is no body, rod or driven frame 'b.end'", lambda: named_point("b.end")),
    ("say where on rod 'r'", lambda: named_point("r")),
    ("load 'f': body 'a' belongs to another model", lambda: model().add_force("f", model().bodies["a"], X)),
    ("joint 'j': .* same node", lambda: with_parts(model, ("joint", "j", "weld", "r@0.5", "r@0.500000000001")).build()),
    ("rod 'r': .* 6.28 rad .* give more elements", lambda: rod(coil, n_elements=20)),
    ("rod 'r', stress-free shape: up .* across", lambda: rod(LINE, up=Z, stress_free=[(0, 0, 0), (0, 0, 1)])),
    *((r"mass = 0, .*join its neighbours.*or give it a small mass", make) for make in (
        lambda: PointMass(0.0), lambda: Box(1, 1, 1, mass=0.0), lambda: MassProperties(0.0, (1, 1, 1)))),
    (r"drive 'one' .*and drive 'two' .*drive against each other.*leave one of them out",
     lambda: driven("drive", "two", "hinge", signals.Sine(0.2, 1.0))),
    ("drive 'one' of joint 'hinge' prescribes what joints fix already",
     lambda: driven("joint", "clamp", "weld", "ground", "bar", {"at": (1, 0, 0)})),
    (r"'point' has no moment of inertia.*joint 'hinge' asks for its rotation; hold it",
     lambda: simulate(point_mass("joint", "hinge", "revolute", "ground", "point", {"at": (0, 0, 0), "axis": Z}), 0.1, 0.1)),
    ("interaction 'it': give l0=", lambda: model().add_interaction("it", Spring, "a", "b", k=1.0)),
    ("interaction 'it': 'c' is no number of 'linear spring'; it has k, l0",
     lambda: model().add_interaction("it", Spring, "a", "b", k=1.0, l0=1.0, c=2.0)),
    ("interaction 'it': k = 'much' is not a number",
     lambda: model().add_interaction("it", Spring, "a", "b", k="much", l0=1.0)),
    ("'triangle' is of 3 anchors; 2 are given", lambda: model().add_interaction("it", Triangle, "a", "b", k=1.0, u=Z)),
    ("two anchors on a", lambda: model().add_interaction("it", Spring, "a", "a@0,0,1", k=1.0, l0=1.0)),
]  # fmt: skip

AT_REST = [
    (r"loads = \[1\] goes by no names; give {name of a load", lambda: equilibrium(hinged(), loads=[1])),
    ("motion of joint 'hinge': what is given = 3 goes by no names; give {'displacement'",
     lambda: equilibrium(hinged(), motions={"hinge": 3})),
    (r"monitors = \[1\] goes by no names; give {name: \(point",
     lambda: equilibrium(hinged(), monitors=[1], method="arc-length")),
    ("stop = 3 goes by no names", lambda: equilibrium(hinged(), method=ArcLength(3))),
    ("constant = 3 is no list; give names of loads", lambda: equilibrium(hinged(), constant=3)),
    ("nothing resists a motion at omega = 0 rad/s",
     lambda: frequency_response(hinged(), [Push("bar", Y)], [Probe("bar", Y)], [0.0])),
    (r"body 'loose': nothing joins it.*load 'push' acts on it.*hold it by a joint", lambda: equilibrium(
        with_parts(hinged, ("body", "loose", CUBE, (3, 0, 0)), ("force", "push", "loose", X)))),
]  # fmt: skip

MECHANISMS = [
    (r"there is a motion that no joint and no stiffness holds: body 'bar' turns about \(0, 0, 1\); hold it by a joint, a spring"
     " or a drive", lambda: equilibrium(on_a_joint("revolute", "moment", "load", "bar", Z))),
    (r"there is a motion that no joint and no stiffness holds: body 'bar' moves along \(0, 0, 1\); hold it by",
     lambda: equilibrium(on_a_joint("prismatic", "force", "load", "bar", Z))),
]  # fmt: skip

CHANGES = [
    ("'loads.tipp.value' is no number that may change; near it are loads.tip.value",
     lambda: prepared({"loads.tipp.value": (0, 0, 1)})),
    ("rod 'beam': section = 1.0 is neither a Section", lambda: prepared({"rods.beam.section": 1.0})),
    ("'rods.beam.section.E' is no number that may change", lambda: prepared({"rods.beam.section.E": 1.0})),
    ("Section.from_stiffness: EI2 = -1", lambda: prepared({"rods.beam.section.EI": -1.0})),
    ("'loads.tip.on' is no number", lambda: prepared({"loads.tip.on": 1.0})),
    ("load 'tip': value", lambda: prepared({"loads.tip.value": (0, 0)})),
    ("load 'tip'", lambda: prepared({"loads.tip.value": lambda t: (0.0, 0.0, np.nan)})),
    ("gravity", lambda: prepared({"gravity": (0, 0, np.inf)})),
    ("simulate: dt = -0.003", lambda: prepared({}, dt=-0.003)),
    ("prepared run: there is no setting 'dtt'", lambda: prepared({}, dtt=0.003)),
    ("changes", lambda: prepared(3)),
    (r"body 'a'.*its new shape has its centre", lambda: model().prepare(t_end=1, dt=0.1).run(
        {"bodies.a.shape": MassProperties(1.0, (0.1, 0.1, 0.1), (0.1, 0, 0))})),
    ("prepared run: dt is missing", lambda: model().prepare(t_end=1).run()),
    ("prepare: there is no setting 'step'", lambda: model().prepare(step=0.1)),
]  # fmt: skip

OF_RESULTS = [
    ("render: t = nan s is not in the result", lambda: render(result(), "a.png", float("nan"))),
    (r"t = 9 s is not in the result, which goes from 0 to 0\.1 s", lambda: render(result(), "a.png", [0.0, 9.0])),
    ("times = '1'", lambda: render(result(), "a.png", "1")),
    ("width = 0 is too small", lambda: render(result(), "a.png", size=(0, 10))),
    ("height = 100000 is too large", lambda: render(result(), "a.png", size=(100, 10**5))),
    ("size = 3", lambda: render(result(), "a.png", size=3)),
    ("ground = 1 is neither True nor False", lambda: render(result(), "a.png", ground=1)),
    ("up = .* has no direction", lambda: render(result(), "a.png", up=(0, 0, 0))),
    ("view = 'x'", lambda: render(result(), "a.png", view="x")),
    ("no format '.doc'", lambda: render(result(), "a.doc")),
    ("path = 3 is no name", lambda: render(result(), 3)),
    ("speed = nan", lambda: render_movie(result(), "a.mp4", speed=float("nan"))),
    (r"speed = 1e-30 makes .* frames; give a speed of at least 2\.5e-05", lambda: render_movie(result(), "a.mp4", speed=1e-30)),
    ("fps = 2.5 is not a whole number", lambda: render_movie(result(), "a.mp4", fps=2.5)),
    ("body 'box' has no nodes; give 'box' alone", lambda: plot(result(), "path", "a.png", ["box:5"])),
    ("the rod has nodes 0 to 8; give one of them", lambda: plot(result(), "path", "a.png", ["whip:9"])),
    ("no node after the colon", lambda: plot(result(), "path", "a.png", ["whip:"])),
    ("no rod or body 'x:1'|no rod or body 'x'", lambda: plot(result(), "path", "a.png", ["x:1"])),
    ("give a list of names", lambda: plot(result(), "path", "a.png", "whip")),
    ("points are for the kinds 'path' and 'distance'", lambda: plot(result(), "energy", "a.png", ["whip"])),
    ("no kind 3", lambda: plot(result(), 3)),
    ("no format '.doc'", lambda: plot(result(), "energy", "a.doc")),
    ("every = 1.0 is not a whole number", lambda: export(result(), "a.pvd", every=1.0)),
    ("no format 3", lambda: export(result(), "a.pvd", 3)),
    ("export: path = '' is no name", lambda: export(result(), "")),
    ("audit: expected a result or the path of a result file, got {}", lambda: audit({})),
    ("plot: expected a result or the path of a result file, got None", lambda: plot(None)),
    ("t = '0' is not a number", lambda: result().index_at("0")),
    ("give one of Gamma, K, N, M", lambda: result().rod("whip").along("r", 0.5)),
    ("from 0 to 1", lambda: result().rod("whip").along("M", 1.5)),
    ("from 0 to 1", lambda: result().rod("whip").along("M", [[0.5]])),
    (r"no rod or body 'rock' in A .* it has .*body 'box'", lambda: compare(result(), result(), ["rock"])),
    ("'box' of A .* is a body; give a point", lambda: compare(result(), result(), ["box@0.5"])),
    ("'a,b,c' is no place", lambda: compare(result(), result(), ["box@a,b,c"])),
    (r"no rod or body 'rock' in B", lambda: compare(result(), result(), ["box=rock"])),
    ("give a list of names", lambda: compare(result(), result(), "box")),
    ("compare: None is no result; give what", lambda: compare(None, result())),
    (r"<Model 'm'.*> and <Model 'hinged'.*> say not how long to run", lambda: compare(model(), hinged())),
]  # fmt: skip

REFUSED = [
    *((ModelError, *row) for row in (*ARGUMENTS, *PARTS, *AT_REST, *CHANGES)),
    *((RuntimeError, *row) for row in MECHANISMS),
    *(((ModelError, ResultError), *row) for row in OF_RESULTS),
    (UnknownName, "no rod or body 'rock'", lambda: compare(result(), result(), ["rock"])),
    (UnknownName, "no 'rign' in the result; it has box, hinge, ring, whip", lambda: result().to_xarray(parts=["rign"])),
    (SceneError, "run: the key 7 is no word", lambda: sweep({"run": {7: 1}}, {"x": [0]}, workers=0)),
    *((ModelError, "limit", lambda limit=limit: sweep(lambda x: {}, {"x": [0]}, workers=0, limit=limit)) for limit in (
        0.0, -1.0, float("nan"))),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("error", "words", "call"), REFUSED, ids=[f"{words}"[:60] for _, words, _ in REFUSED]
)
def test_what_makes_no_sense_is_refused_with_object_and_cure_and_nothing_is_written(
    error, words, call, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        call()
    assert list(tmp_path.iterdir()) == []
