"""Bad input: one table of calls and one of commands.

Each message names the object, its value and the remedy; nothing is run or written before. Malformed scenes
are tested in test_malformed_scenes.py, single arguments in test_arguments.py. A command ends with exit code
2, one message and no traceback; an internal error shows its traceback.
"""

import os
import random
import re
import shutil
import sys
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import rodsim
from rodsim import Box, Model, ModelError, Section, compare, equilibrium, plot, render, render_movie, simulate
from rodsim.cli.main import main
from rodsim.cli.messages import user_error_classes
from rodsim.linear import ForceInput, MotionOutput, frequency_response
from rodsim.results import UnknownName
from rodsim.studies import StudyError, sweep
from tests.support.damaged_files import by_bytes
from tests.support.prepared import _beam
from tests.support.results_sample import in_memory, sample_layout, write
from tests.support.studies import SCENE
from tests.support.two_bodies import CORD, CUBE, LINE, model
from tests.support.user_kinds import Spring, Triangle

X, Y, Z = np.eye(3)
LAW = rodsim.SpringLaw.polynomial((0.0, 50.0, 0.0, 200.0))
AXIS = {"axis": Z}
STUDIED = yaml.safe_load(SCENE)
CHAIN = Path(__file__).parents[2] / "examples" / "scenes" / "chain.yaml"


def hinged():
    """A bar on a hinge."""
    model = Model("hinged")
    bar = model.add_body("bar", Box(1.0, 0.1, 0.1, mass=1.0), position=(0.5, 0, 0))
    model.add_joint("hinge", "revolute", "ground", bar, at=(0, 0, 0), axis=Z)
    return model


def with_parts(make, *parts):
    """The model of `make` with added parts, each given as a tuple of kind and arguments."""
    model = make()
    for kind, *arguments in parts:
        named = arguments.pop() if isinstance(arguments[-1], dict) else {}
        getattr(model, f"add_{kind}")(*arguments, **named)
    return model


def bar_on_joint(kind, *load):
    """A bar on one joint at the origin, with axis z, under a load."""
    bar = ("body", "bar", Box(1.0, 0.1, 0.1, mass=1.0), (0.5, 0, 0))
    joint = ("joint", "j", kind, "ground", "bar", {"at": (0, 0, 0), "axis": Z})
    return with_parts(lambda: Model("free"), bar, joint, load)


def driven(*options):
    """A hinge with a drive, and further parts."""
    return with_parts(hinged, ("drive", "one", "hinge", rodsim.signals.Sine(0.1, 1.0)), options).build()


def rod(curve, **options):
    return with_parts(lambda: Model("m"), ("rod", "r", curve, CORD, options)).build()


def coil(s):
    return np.cos(40 * np.pi * s), np.sin(40 * np.pi * s), 2 * s


def point_mass(*joint):
    return with_parts(lambda: Model("point"), ("body", "point", rodsim.PointMass(1.0)), joint)


def named_point(text):
    return model().add_joint("x", "spherical", "a", text)


def body(orientation):
    return model().add_body("n", CUBE, orientation=orientation)


def run(**arguments):
    return simulate(model(), **arguments)


def prepared(changes, **settings):
    return _beam().prepare(t_end=0.01, dt=0.01).run(changes, **settings)


def spring(**options):
    """Add a spring between two bodies of a model and check that a failure leaves nothing in the model."""
    new_model = model()
    try:
        return new_model.add_spring("s", "a", "b", **options)
    finally:
        assert not list(new_model.entries)


def saved(*parts):
    return with_parts(lambda: Model("m"), *parts).save("saved.yaml")


def run_batch(parameters, **settings):
    """Call `simulate_many`, and fail if a run starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rodsim.running.run.announce", lambda: pytest.fail("it runs"))
        return rodsim.simulate_many(_beam().prepare(t_end=0.02, dt=0.01), parameters, **settings)


def study(**options):
    """Sweep a function of x with some arguments replaced."""
    return sweep(**{"base": lambda x: {"y": 2.0 * x}, "parameters": {"x": [1]}, "workers": 0, **options})


def designed(parameters, design="grid", **options):
    return study(base=lambda **_: {"y": 0.0}, parameters=parameters, design=design, **options)


@cache
def result():
    """Outputs at 0, 0.05 and 0.1 s of the rods 'whip' and 'ring' and the body 'box'."""
    return in_memory(3)


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
    ("section = 'cord' is not a Section, a list", lambda: model().add_rod("n", LINE, "cord")),
    ("material = 'rubber' is not a Material", lambda: Section.circular(1, "rubber")),
    ("kind = .'weld'. is not known; choose one of", lambda: model().add_joint("n", ["weld"], "a", "b")),
    ("simulate: expected a Model, got 'm'", lambda: simulate("m", 1, 0.1)),
    ("output = '' is not the name of a file", lambda: run(t_end=1, dt=0.1, output="")),
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
    ("align: direction", lambda: rodsim.align((0, 0, 1), (0, 0, 0))),
]  # fmt: skip

PARTS = [
    (r"joint 'x': there is no body, rod or driven frame 'blok'. Use one of 'a', 'b', 'r'", lambda: named_point("blok")),
    ("joint 'x': there is no body, rod or driven frame 'blok'", lambda: named_point("blok@0,0,0")),
    ("joint 'x': 'r@0.1,0,0' is not a point of rod 'r'. Give a fraction", lambda: named_point("r@0.1,0,0")),
    ("joint 'x': 'b@0.5' is not a point of body 'b'. Give x, y and z", lambda: named_point("b@0.5")),
    ("joint 'x': 'b@here' is not a point of body 'b'", lambda: named_point("b@here")),
    (r"s = 1.5 is outside \[0, 1\]", lambda: named_point("r@1.5")),
    ("joint 'x': there is no body, rod or driven frame 'b.end'", lambda: named_point("b.end")),
    ("say where on rod 'r'", lambda: named_point("r")),
    ("load 'f': body 'a' belongs to another model", lambda: model().add_force("f", model().bodies["a"], X)),
    ("joint 'j': .* same node", lambda: with_parts(model, ("joint", "j", "weld", "r@0.5", "r@0.500000000001")).build()),
    ("rod 'r': .* 6.28 rad .* give more elements", lambda: rod(coil, n_elements=20)),
    ("rod 'r', stress-free shape: up .* across", lambda: rod(LINE, up=Z, stress_free=[(0, 0, 0), (0, 0, 1)])),
    *((r"mass = 0, .*join its neighbours.*or give it a small mass", make) for make in (
        lambda: rodsim.PointMass(0.0), lambda: Box(1, 1, 1, mass=0.0), lambda: rodsim.MassProperties(0.0, (1, 1, 1)))),
    (r"drive 'one' .*and drive 'two' .*drive against each other.*remove one of them",
     lambda: driven("drive", "two", "hinge", rodsim.signals.Sine(0.2, 1.0))),
    ("drive 'one' of joint 'hinge' prescribes what joints fix already",
     lambda: driven("joint", "clamp", "weld", "ground", "bar", {"at": (1, 0, 0)})),
    (r"'point' has no moment of inertia.*joint 'hinge' needs its rotation; hold it",
     lambda: simulate(point_mass("joint", "hinge", "revolute", "ground", "point", {"at": (0, 0, 0), "axis": Z}), 0.1, 0.1)),
    ("interaction 'it': give l0=", lambda: model().add_interaction("it", Spring, "a", "b", k=1.0)),
    ("interaction 'it': 'c' is not a number of 'linear spring'; it has k, l0",
     lambda: model().add_interaction("it", Spring, "a", "b", k=1.0, l0=1.0, c=2.0)),
    ("interaction 'it': k = 'much' is not a number",
     lambda: model().add_interaction("it", Spring, "a", "b", k="much", l0=1.0)),
    ("'triangle' is of 3 anchors, got 2", lambda: model().add_interaction("it", Triangle, "a", "b", k=1.0, u=Z)),
    ("two anchors on a", lambda: model().add_interaction("it", Spring, "a", "a@0,0,1", k=1.0, l0=1.0)),
    ("body 'point' has no moment of inertia, but interaction 'it' needs its rotation",
     lambda: with_parts(model, ("body", "point", rodsim.PointMass(1.0), X),
                        ("interaction", "it", "planes", "a", "point", {"k": 1.0})).build()),
    ("limit 'it': of = 'lenght' is not known; choose one of length",
     lambda: model().add_limit("it", "ground", "a", 1.0, 0.1, upper=2.0, of="lenght")),
    ("joint 'it': kind = 'weld2' is not known.*did you mean 'weld'", lambda: model().add_joint("it", "weld2", None)),
    ("limit 'it': the ground alone is not a point; give model.ground.at",
     lambda: model().add_limit("it", "ground", "a", 1.0, 0.1, upper=2.0, of="length")),
    ("spring 'it': the ground alone", lambda: model().add_spring("it", "a", "ground", law=LAW)),
    ("bushing 'it': the ground alone", lambda: model().add_bushing("it", "ground", "a", 1.0)),
]  # fmt: skip

SPRINGS = [
    ("spring 's': has no stiffness, law or damping. Give stiffness= or law=", lambda: spring()),
    ("has no stiffness, law or damping", lambda: spring(damping=0.0)),
    ("has both a stiffness and a law", lambda: spring(stiffness=1.0, law=LAW)),
    ("damping as a law needs a law", lambda: spring(stiffness=1.0, damping=LAW)),
    ("a law is a function of the coordinate itself", lambda: spring(law=LAW, length=1.0)),
    ("a law is a function of the coordinate itself", lambda: spring(law=LAW, along="rotation", angle=1.0, **AXIS)),
    ("a distance has no axis", lambda: spring(stiffness=1.0, **AXIS)),
    ("along='axis' has no axis. Give axis=", lambda: spring(stiffness=1.0, along="axis")),
    ("along='rotation' has no axis", lambda: spring(stiffness=1.0, along="rotation")),
    ("angle = 1.0 belongs to along='rotation'. Give length= instead", lambda: spring(stiffness=1.0, angle=1.0)),
    ("Give angle= instead", lambda: spring(stiffness=1.0, length=1.0, along="rotation", **AXIS)),
    ("along = 'torsion'", lambda: spring(stiffness=1.0, along="torsion")),
    ("stiffness = -1", lambda: spring(stiffness=-1.0, along="axis", **AXIS)),
    ("damping = -1", lambda: spring(law=LAW, damping=-1.0)),
    ("expected a SpringLaw, got 'hard'", lambda: spring(law="hard")),
]  # fmt: skip

STATICS_CALLS = [
    (r"loads = \[1\] has no names; give {name of a load", lambda: equilibrium(hinged(), loads=[1])),
    ("motion of joint 'hinge': what is given = 3 has no names; give {'displacement'",
     lambda: equilibrium(hinged(), motions={"hinge": 3})),
    (r"monitors = \[1\] has no names; give {name: \(point",
     lambda: equilibrium(hinged(), monitors=[1], method="arc-length")),
    ("stop = 3 has no names", lambda: equilibrium(hinged(), method=rodsim.ArcLength(3))),
    ("unstable = 'go' is not known; choose keep, stop, leave", lambda: equilibrium(hinged(), unstable="go")),
    ("equilibrium: progress = 3 is neither True nor False", lambda: equilibrium(hinged(), progress=3, output="a.vtkhdf")),
    ("constant = 3 is not a list; give names of loads", lambda: equilibrium(hinged(), constant=3)),
    ("nothing resists a motion at omega = 0 rad/s",
     lambda: frequency_response(hinged(), [ForceInput("bar", Y)], [MotionOutput("bar", Y)], [0.0])),
    (r"body 'loose': nothing joins it.*load 'push' acts on it.*hold it by a joint", lambda: equilibrium(
        with_parts(hinged, ("body", "loose", CUBE, (3, 0, 0)), ("force", "push", "loose", X)))),
]  # fmt: skip

MECHANISMS = [
    (r"there is a motion that no joint and no stiffness holds: body 'bar' turns about \(0, 0, 1\); hold it by a joint, a spring"
     " or a drive", lambda: equilibrium(bar_on_joint("revolute", "moment", "load", "bar", Z))),
    (r"there is a motion that no joint and no stiffness holds: body 'bar' moves along \(0, 0, 1\); hold it by",
     lambda: equilibrium(bar_on_joint("prismatic", "force", "load", "bar", Z))),
]  # fmt: skip

CHANGES = [
    ("model 'up': gravity = .* is not a list of 3", lambda: setattr(Model("up"), "gravity", (0, 0, "down"))),
    ("'loads.tipp.value' is not a number that may change; similar paths are loads.tip.value",
     lambda: prepared({"loads.tipp.value": (0, 0, 1)})),
    ("rod 'beam': section = 1.0 is not a Section", lambda: prepared({"rods.beam.section": 1.0})),
    ("'rods.beam.section.E' is not a number that may change", lambda: prepared({"rods.beam.section.E": 1.0})),
    ("Section.from_stiffness: EI2 = -1", lambda: prepared({"rods.beam.section.EI": -1.0})),
    ("'loads.tip.on' is not a number", lambda: prepared({"loads.tip.on": 1.0})),
    ("load 'tip': value", lambda: prepared({"loads.tip.value": (0, 0)})),
    ("load 'tip'", lambda: prepared({"loads.tip.value": lambda t: (0.0, 0.0, np.nan)})),
    ("gravity", lambda: prepared({"gravity": (0, 0, np.inf)})),
    ("simulate: dt = -0.003", lambda: prepared({}, dt=-0.003)),
    ("prepared run: there is no setting 'dtt'", lambda: prepared({}, dtt=0.003)),
    ("changes", lambda: prepared(3)),
    (r"body 'a'.*its new shape has its centre", lambda: model().prepare(t_end=1, dt=0.1).run(
        {"bodies.a.shape": rodsim.MassProperties(1.0, (0.1, 0.1, 0.1), (0.1, 0, 0))})),
    ("prepared run: dt is missing", lambda: model().prepare(t_end=1).run()),
    ("prepare: there is no setting 'step'", lambda: model().prepare(step=0.1)),
]  # fmt: skip

MANY = [
    (r"run 1: .*'loads\.tipp\.value' .*loads\.tip\.value", lambda: run_batch([{}, {"loads.tipp.value": X}])),
    ("run 1: .*value", lambda: run_batch([{}, {"loads.tip.value": "soft"}])),
    ("run 1: .*changes", lambda: run_batch([{}, 3.0])),
    ("parameters is empty", lambda: run_batch([])),
    ("is not a sequence", lambda: run_batch({"loads.tip.value": [X, Y]})),
    ("threads = 0", lambda: run_batch([{}], threads=0)),
    ("dt = -1.0", lambda: run_batch([{}], dt=-1.0)),
    ("am", lambda: run_batch([{}], integrator="am")),
    ("no setting 'step'", lambda: run_batch([{}], step=0.1)),
    ("give outputs = a folder", lambda: run_batch([{}], output="a.vtkhdf")),
    ("not the name of a folder", lambda: run_batch([{}], outputs="")),
    (r"give model\.prepare", lambda: rodsim.simulate_many(Model("bare"), [{}])),
]  # fmt: skip

FUNCTIONS = {
    "velocity": lambda s: (s, 0, 0), "up": lambda s: (0, 0, 1), "twist": lambda s: s, "rest_strains": lambda s: np.zeros(6),
}  # fmt: skip
SAVED = [
    ("rod 'r': .*its section is a Python function", lambda: saved(("rod", "r", LINE, lambda s: CORD))),
    *((f"rod 'r': .*its {name} is a Python function", lambda name=name: saved(("rod", "r", LINE, CORD, {name: FUNCTIONS[name]})))
      for name in FUNCTIONS),
    ("load 'f': .*its value is a Python function",
     lambda: saved(("body", "b", CUBE), ("force", "f", "b", lambda t: (t, 0.0, 0.0)))),
    ("driven 'hand': .*its displacement is a Python function",
     lambda: saved(("driven", "hand", {"displacement": lambda t: (t, 0.0, 0.0)}))),
    ("model 'm': .*it is the rigid twin of another", lambda: model().as_rigid().save("saved.yaml")),
]  # fmt: skip

RESULT_CALLS = [
    ("render: t = nan s is not in the result", lambda: render(result(), "a.png", float("nan"))),
    (r"t = 9 s is not in the result, which goes from 0 to 0\.1 s", lambda: render(result(), "a.png", [0.0, 9.0])),
    ("times = '1'", lambda: render(result(), "a.png", "1")),
    ("width = 0 is too small", lambda: render(result(), "a.png", size=(0, 10))),
    ("height = 100000 is too large", lambda: render(result(), "a.png", size=(100, 10**5))),
    ("size = 3", lambda: render(result(), "a.png", size=3)),
    ("ground = 1 is neither True nor False", lambda: render(result(), "a.png", ground=1)),
    ("up = .* has no direction", lambda: render(result(), "a.png", up=(0, 0, 0))),
    ("view = 'left' is unknown; give front, side, top, iso, or azimuth/elevation", lambda: render(result(), view="left")),
    ("elevation from -90 to 90", lambda: render(result(), "a.png", view="30/91")),
    ("view = '1/2/3'", lambda: render(result(), "a.png", view="1/2/3")),
    ("no engine 'crayon'", lambda: render(result(), "a.png", engine="crayon")),
    ("no quantity 'beauty' to colour by. Use one of speed, strain", lambda: render(result(), "a.png", color="beauty")),
    ("no format '.doc'", lambda: render(result(), "a.doc")),
    ("path = 3 is not a file name", lambda: render(result(), 3)),
    ("speed = nan", lambda: render_movie(result(), "a.mp4", speed=float("nan"))),
    (r"speed = 1e-30 makes .* frames; give a speed of at least 2\.5e-05", lambda: render_movie(result(), "a.mp4", speed=1e-30)),
    ("fps = 2.5 is not a whole number", lambda: render_movie(result(), "a.mp4", fps=2.5)),
    ("body 'box' has no nodes; give 'box' alone", lambda: plot(result(), "path", "a.png", ["box:5"])),
    ("the rod has no such node. Expected a number from 0 to 8", lambda: plot(result(), "path", "a.png", ["whip:9"])),
    ("no node after the colon", lambda: plot(result(), "path", "a.png", ["whip:"])),
    ("no rod or body 'x:1'|no rod or body 'x'", lambda: plot(result(), "path", "a.png", ["x:1"])),
    ("there are 'whip', 'ring', 'box'", lambda: plot(result(), "path", "a.png", ["rope"])),
    ("give a list of names", lambda: plot(result(), "path", "a.png", "whip")),
    ("points are for the kinds 'path' and 'distance'", lambda: plot(result(), "energy", "a.png", ["whip"])),
    ("no kind 3", lambda: plot(result(), 3)),
    ("no format '.doc'", lambda: plot(result(), "energy", "a.doc")),
    ("every = 1.0 is not a whole number", lambda: rodsim.export(result(), "a.pvd", every=1.0)),
    ("no format 3", lambda: rodsim.export(result(), "a.pvd", 3)),
    ("export: path = '' is not a file name", lambda: rodsim.export(result(), "")),
    ("no output", lambda: rodsim.audit(in_memory(0))),
    ("'sample' holds no output yet", lambda: in_memory(0).animate()),
    ("frames = 0 is too small", lambda: result().animate(frames=0)),
    (r"is a path. Use Result.load\('run.vtkhdf'\)", lambda: rodsim.Result("run.vtkhdf")),
    *(("is not the number of an output", lambda index=index: result().state(index)) for index in (slice(0, 2), 1.0, "last")),
    ("t = '0' is not a number", lambda: result().index_at("0")),
    ("is not a quantity of elements. Use one of Gamma, K, N, M", lambda: result().rod("whip").along("r", 0.5)),
    ("from 0 to 1", lambda: result().rod("whip").along("M", 1.5)),
    ("from 0 to 1", lambda: result().rod("whip").along("M", [[0.5]])),
    (r"no rod or body 'rock' in A .* it has .*body 'box'", lambda: compare(result(), result(), ["rock"])),
    ("'box' of A .* is a body; give a point", lambda: compare(result(), result(), ["box@0.5"])),
    ("'a,b,c' is not a position", lambda: compare(result(), result(), ["box@a,b,c"])),
    (r"'whip@1.5': 1.5 is outside \[0, 1\]; give the fraction", lambda: compare(result(), result(), ["whip@1.5"])),
    (r"no rod or body 'rock' in B", lambda: compare(result(), result(), ["box=rock"])),
    ("give a list of names", lambda: compare(result(), result(), "box")),
    ("compare: None is not a result; give what", lambda: compare(None, result())),
    (r"<Model 'm'.*> and <Model 'hinged'.*> do not say how long to run", lambda: compare(model(), hinged())),
]  # fmt: skip

SPAN = {"low": 0.0, "high": 1.0}
STUDIES = [
    ("has no argument 'y'", lambda: study(parameters={"y": [1]})),
    ("it needs 'w'", lambda: study(base=lambda x, w: 0)),
    ("is not a setting or a changeable number of the model", lambda: study(base=Model("m"), parameters={"EI": [1]})),
    ("not a scene, a model or a function", lambda: study(base=3)),
    ("at least one", lambda: study(parameters={})),
    ("give a list", lambda: study(parameters={"x": "ab"})),
    ("both low and high", lambda: study(parameters={"x": {"low": 1}})),
    ("design", lambda: study(design="gird")),
    ("give words", lambda: study(measures={"y": 3})),
    ("did you mean 't_end'", lambda: study(t_ent=3)),
    ("give `folder`", lambda: study(keep="all")),
    ("none, all", lambda: study(keep="some")),
    ("remove one of them", lambda: study(scheduler="tcp://a:1", workers=2)),
    ("without n", lambda: designed({"a": SPAN})),
    ("as many values", lambda: designed({"a": [1], "b": [1, 2]}, "list")),
    ("give both", lambda: designed({"a": [1]}, "sobol", n=4)),
    ("give n", lambda: designed({"a": SPAN}, "sobol")),
    ("use 64 or 128", lambda: designed({"a": SPAN}, "sobol", n=100)),
    ("give it to the parameters", lambda: designed({"a": [1]}, n=4)),
    ("seeds: 10", lambda: designed({"a": {"normal": [0.0, 1.0]}})),
    ("fewer values", lambda: designed({"a": list(range(2000)), "b": list(range(2000))})),
    ("another name", lambda: designed({"seed": [1]})),
]  # fmt: skip
PLACES = {  # missing parts of a scene, and the suggested names
    "rods.kord.n_elements": "no 'kord' in rods; did you mean 'cord'",
    "rods.cord.n_element": "did you mean 'n_elements'",
    "rods.cord.section.EJ": "no 'EJ' in rods.cord.section",
    "gravity[3]": r"give \[0\] to \[2\]",
    "gravity.z": "has no parts",
    "equilibrium.load_time": "gives no equilibrium",
    "rods.cord.stress_free[1]": "gives no rods.cord.stress_free; give it there",
    "run[1]": "is not a list",
    "rots.cord": "did you mean 'rods'",
}
MEASURES = {
    "last energy.total": "'last' is not a reduction",
    "final": "of what",
    "at energy.total": "at which time",
    "at 0.06 energy.total": r"from 0 to 0\.05 s",
    "final energy.totl": "did you mean 'energy.total'",
    "final rods.kord.end.r.z": "there is no rod 'kord'; did you mean 'cord'",
    "final rods.cord.ent.r.z": "did you mean 'end'",
    "final rods.cord.end.q.z": "there is no 'q'",
    "final rods.cord.end.r": "end it with one of .x, .y, .z, .norm",
    "final rods.cord.end.r[3]": "3 components",
    "final rods.cord@1.5.r.z": "from 0 to 1",
    "final rods.cord": "add a field",
    "final bodies.ball@1.r.z": "as ball@0.1,0,0",
    "final joints.hip.displacement": "there is no 'displacement'",
    "final joints.hip.angle.x": "remove '.x'",
    "final joints.hip.multipliers[5]": "has 5 components",
    "final rods.cord.largest.K.x": "remove .x",
    "final drives.motor.work": "there is no drive 'motor'; there are none",
}
STUDIES += [
    (message, lambda at=at: study(base=STUDIED, parameters={at: [1.0]})) for at, message in PLACES.items()
]
STUDIES += [
    (message, lambda text=text: study(base=STUDIED, parameters={"run.dt": [0.01]}, measures=[text]))
    for text, message in MEASURES.items()
]

REJECTED = [
    *((ModelError, *row) for row in (*ARGUMENTS, *PARTS, *SPRINGS, *STATICS_CALLS, *CHANGES, *MANY, *SAVED)),
    *((RuntimeError, *row) for row in MECHANISMS),
    *(((ModelError, rodsim.ResultError), *row) for row in RESULT_CALLS),
    *((StudyError, *row) for row in STUDIES),
    *((ModelError, "limit", lambda limit=limit: study(limit=limit)) for limit in (0.0, -1.0, float("nan"))),
    (UnknownName, "no rod or body 'rock'", lambda: compare(result(), result(), ["rock"])),
    (FileNotFoundError, "no folder", lambda: model().save("none/saved.yaml")),
    (UnknownName, "no 'rign' in the result; it has box, hinge, ring, whip", lambda: result().to_xarray(parts=["rign"])),
    (rodsim.SceneError, "run: the key 7 is not a text", lambda: sweep({"run": {7: 1}}, {"x": [0]}, workers=0)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("error", "words", "call"), REJECTED, ids=[words[:60] for _, words, _ in REJECTED])
def test_invalid_input_is_rejected_with_object_and_remedy_and_writes_nothing(
    error, words, call, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        call()
    assert list(tmp_path.iterdir()) == []


# --- commands


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A result file with three outputs to t = 0.1 s: rods 'whip' and 'ring', body 'box'."""
    path = tmp_path_factory.mktemp("sample") / "sample.vtkhdf"
    write(path, sample_layout(), range(3))
    return path


COMMANDS = {
    "": "",
    "walk": "invalid choice: 'walk'",
    "info r.vtkhdf --depth 3": "unrecognized arguments",
    "run no.yaml": "no such",
    "run binary.yaml": "binary.yaml",
    "run chain.yaml -o text.vtkhdf": "exists",
    "run chain.yaml -o no/out.vtkhdf": "no",
    "run chain.yaml -o no.vtkhdf --resume": "no",
    "run chain.yaml -o text.vtkhdf --resume": "text.vtkhdf",
    "run chain.yaml -o a.vtkhdf --dt 0": "dt = 0",
    "run chain.yaml -o a.vtkhdf --integrator RK4": "integrator 'RK4' is not known; choose one of em, em4, em6, em8, em-ggl, "
    "em4-ggl, em6-ggl, em8-ggl, em-d(rho), EML",
    "info text.vtkhdf": "text.vtkhdf",
    "audit no.vtkhdf": "no such",
    "plot chain.yaml": "is a scene, not a result",
    "render r.vtkhdf --time nan": "t = nan s is not in the result, which goes from 0 to 0.1 s; give a time within",
    "render r.vtkhdf --time 0 7": "t = 7 s is not in the result",
    "render r.vtkhdf --speed 2": "--speed is for a movie",
    "render r.vtkhdf --speed nan -o a.mp4": "speed = nan is not a finite number",
    "render r.vtkhdf --speed 1e-9 -o a.gif": "give a speed of at least",
    "render r.vtkhdf -o a.doc": "no format '.doc'",
    "plot r.vtkhdf -o a.doc": "no format '.doc'",
    "plot r.vtkhdf --what path --points box:5": "body 'box' has no nodes; give 'box' alone",
    "plot r.vtkhdf --what path --points whip:9": "the rod has no such node. Expected a number from 0 to 8",
    "plot r.vtkhdf --what path --points whip:x": "give the node as a whole number",
    "plot r.vtkhdf --what path --points top:5": "no rod or body 'top'; there are 'whip', 'ring', 'box'",
    "plot r.vtkhdf --points whip": "points are for the kinds 'path' and 'distance'",
    "export r.vtkhdf --every 0": "every = 0 is too small; give at least 1",
    "view no.vtkhdf": "no such result file",
    "view chain.yaml": "rodsim run",
    "view r.vtkhdf --color hue": "no quantity 'hue'",
    "report no.vtkhdf -o a.html": "no such result file",
    "report chain.yaml -o a.html": "rodsim run",
    "report text.vtkhdf -o a.html": "is it a rodsim result",
    "report r.vtkhdf -o a.png": "end it in .html",
    "report r.vtkhdf -o no/a.html": "make it first",
    "report r.vtkhdf -o folder.html --overwrite": "is a folder",
    "compare r.vtkhdf chain.yaml": "no part is in both",
    "compare chain.yaml": "with what?",
    "compare r.vtkhdf r.vtkhdf --rigid": "is a result, which was run already",
    "reproduce mass-string": "study 'mass-string' is not known; choose one of mass-spring",
    "modes chain.yaml --spin 0 0 9 --equilibrium": "",
    "converge chain.yaml --schemes --plot a.png": "",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_invalid_commands_are_rejected_before_a_file_is_written(
    command, sample, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(sample, "r.vtkhdf")
    shutil.copy(CHAIN, "chain.yaml")
    Path("text.vtkhdf").write_bytes(b"something of the user's")
    Path("binary.yaml").write_bytes(bytes(range(256)))
    Path("folder.html").mkdir()
    before = {file: file.is_file() and file.read_bytes() for file in Path().iterdir()}
    assert main(command.split()) == 2
    captured = capsys.readouterr()
    assert COMMANDS[command] in captured.err
    assert captured.err or captured.out
    assert "Traceback" not in captured.err
    assert {file: file.is_file() and file.read_bytes() for file in Path().iterdir()} == before


MISSING_MODULES = {  # module that is not installed: (function that needs it, message with the extra)
    "xarray": (lambda: result().to_xarray(), "to_xarray needs xarray: pip install 'rodsim[notebook]'"),
    "plotly.graph_objects": (lambda: result().animate(), "pip install 'rodsim[notebook]'"),
    "plotly.offline": (lambda: rodsim.report(result(), "a.html"), "pip install 'rodsim[report]'"),
}


@pytest.mark.parametrize("module", MISSING_MODULES)
def test_missing_extra_is_named(module, tmp_path, monkeypatch):
    call, words = MISSING_MODULES[module]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=re.escape(words)):
        call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["run", "check", "audit", "info", "plot", "render", "export"])
@pytest.mark.parametrize("kind", [".", "..", "/dev/null", "/dev/zero", "fifo", "fifo.yaml", "no.yaml", ""])
def test_non_files_are_rejected_at_once(command, kind, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    os.mkfifo("fifo.yaml")
    assert main([command, kind]) == 2
    message = capsys.readouterr().err
    assert message.startswith("rodsim: ")
    if kind == "no.yaml" or (kind == "fifo.yaml" and command not in ("run", "check", "info")):
        assert "no such" in message or "is a scene, not a result" in message
    else:
        assert "a folder or a device" in message
    assert sorted(os.listdir()) == ["fifo", "fifo.yaml"]


@pytest.mark.parametrize(
    "error", [ValueError, KeyError, RuntimeError, TypeError, IndexError, ZeroDivisionError]
)
def test_internal_errors_show_their_traceback(error, monkeypatch):
    def broken_function(*options):
        raise error("inside")

    monkeypatch.setattr("rodsim.scenes.model_from_scene.loaded_from", broken_function)
    with pytest.raises(error, match="inside"):
        main(["check", str(CHAIN)])


def test_user_errors_have_distinct_classes():
    bare = (Exception, ValueError, KeyError, RuntimeError, LookupError, TypeError, ArithmeticError)
    assert not set(bare) & set(user_error_classes())
    assert not any(issubclass(kind, user_error_classes()) for kind in bare)


def test_gravity_of_a_model_may_be_assigned_as_any_sequence_of_three_numbers():
    model = Model("up")
    model.gravity = (0, 0, 9.81)
    model.add_body("ball", Box(0.1, 0.1, 0.1, 100.0))
    assert np.array_equal(model.build().system.gravity, [0.0, 0.0, 9.81])


@pytest.mark.parametrize(
    "values", [None, np.zeros(2), np.zeros((3, 1)), np.zeros(3, "f4"), np.zeros(3, "S8")]
)
def test_a_result_without_the_times_of_its_outputs_is_damaged(values, sample, tmp_path):
    file = tmp_path / "damaged.vtkhdf"
    shutil.copy(sample, file)
    with h5py.File(file, "r+") as content:
        del content["rodsim/time"]
        if values is not None:
            content["rodsim/time"] = values
    with pytest.raises(
        rodsim.ResultError, match=r"damaged.vtkhdf' is damaged .*time.*run the simulation again"
    ):
        rodsim.Result.load(file)


def test_damaged_results_are_read_or_rejected_by_name(sample, tmp_path):
    """120 files with missing or changed bytes."""
    data, file, refused = sample.read_bytes(), tmp_path / "damaged.vtkhdf", 0
    unnamed = 0
    for k in range(120):
        file.write_bytes(data)
        by_bytes(file, random.Random(k))
        try:
            result = rodsim.Result.load(file)
            if result.n_outputs:
                result.state(-1)
                assert result.rod("whip").r.shape == (result.n_outputs, 9, 3)
        except (rodsim.ResultError, OSError) as error:
            refused += 1
            unnamed += "damaged.vtkhdf" not in str(error) and not isinstance(error, OSError)
    assert 40 < refused < 120
    assert unnamed == 0
