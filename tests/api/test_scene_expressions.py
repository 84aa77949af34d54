"""Numbers of scenes as expressions of parameters, and positions at points of other parts."""

import json
import math

import jsonschema
import numpy as np
import pytest
import yaml

from rigid import quaternions
from rodsim import Box, Material, Model, Section
from rodsim.building.build import Placement
from rodsim.cli.main import main
from rodsim.scenes import SceneError
from rodsim.studies import sweep

SCENE = """
parameters: {length: 0.3, side: =length/15, n: 12}
materials:
  silicone: {E: 5.0e+5, nu: 0.49, density: 1070}
bodies:
  - name: gripper
    shape: {type: box, size: [=side, =side, =side], mass: 0.02}
    position: {at: {rod: arm, s: 1, offset: [=side/2, 0, 0]}}
    orientation: {of: {rod: arm, s: 1}}
rods:
  - name: arm
    curve: [[0, 0, 0], [0, 0, =-length]]
    section: {type: circular, radius: =0.04*length, material: silicone}
    n_elements: =n + 4
joints:
  - {name: base, kind: clamp, a: {rod: arm, s: 0}}
  - {name: glue, kind: weld, a: {rod: arm, s: 1}, b: gripper}
run: {t_end: 1, dt: 0.005}
"""


@pytest.fixture
def scene_with_change(tmp_path):
    """The model of a scene with one replaced text."""

    def load_with(old, new, text=SCENE):
        assert text.count(old) == 1
        path = tmp_path / "scene.yaml"
        path.write_text(text.replace(old, new))
        return Model.load(path)

    return load_with


# --- expressions


NUMBER = """parameters: {L: 0.3, n: 12}
gravity: [0, 0, NUMBER]
bodies: [{name: b, shape: {type: sphere, radius: 1, mass: 1}}]
run: {t_end: 1, dt: 0.1}
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("L", 0.3),
        ("-L", -0.3),
        ("+L", 0.3),
        ("L + n", 12.3),
        ("L - n", 0.3 - 12),
        ("L*n", 0.3 * 12),
        ("n/L", 12 / 0.3),
        ("n**2", 144),
        ("2**-1", 0.5),
        ("L**0.5", math.sqrt(0.3)),
        ("n - 2 - 3", 7),
        ("2*(n + 1)", 26),
        ("round(50*L)", 15),
        ("floor(-0.5) + ceil(0.5)", 0),
        ("atan2(1, -1)", 0.75 * math.pi),
        ("max(L, n, 3) + min(L, n)", 12.3),
        ("degrees(pi) + radians(180)", 180 + math.pi),
        ("exp(log(L))", math.exp(math.log(0.3))),
        ("sin(L)**2 + cos(L)**2 + tan(0)", math.sin(0.3) ** 2 + math.cos(0.3) ** 2),
        ("asin(1) + acos(1) + atan(0) + abs(-2) + sqrt(4)", math.pi / 2 + 4),
    ],
)
def test_expressions_are_evaluated_like_python(text, value, scene_with_change):
    assert scene_with_change("NUMBER", json.dumps(f"={text}"), NUMBER).gravity[2] == value


NO_ARITHMETIC = {  # reason and object
    "cannot be read": ("", "1 +", "(" * 400),
    "longer than 1000": ("1" + " + 1" * 400,),
    "cannot stand": (
        *("__import__('os')", "open('x')", "L.real", "[1][0]", "'a'*3", "True", "1j", "(lambda: 1)()"),
        *("1 if L else 2", "L < 1", "~3", "7 // 2", "7 % 2", "sqrt(x=1)", "max(*L)"),
    ),
    "cannot be evaluated": ("sqrt(1, 2)", "1/0", "sqrt(-1)", "9**9**9**9", "10.0**400"),
    "not a finite real number": ("(-1)**0.5", "1e400"),
    "there is no parameter 'length'; there are L, n": ("length",),
    "did you mean 'n'": ("nn",),
    "there is no parameter 'sqrt'": ("sqrt",),
}


@pytest.mark.parametrize(
    ("text", "reason"), [(text, reason) for reason in NO_ARITHMETIC for text in NO_ARITHMETIC[reason]]
)
def test_expressions_reject_non_arithmetic(text, reason, scene_with_change):
    with pytest.raises(SceneError, match=reason) as caught:
        scene_with_change("NUMBER", json.dumps(f"={text}"), NUMBER)
    assert caught.value.problems[0][1] == 2


def test_expressions_are_accepted_for_all_numbers(scene_with_change):
    model = scene_with_change("mass: 0.02", "mass: =0.02")
    box, arm = model.bodies["gripper"].properties, model.rods["arm"]
    assert (box.x, box.y, box.z) == (0.3 / 15, 0.3 / 15, 0.3 / 15)
    assert arm.n_elements == 16
    assert arm.section.mass_per_length == pytest.approx(1070 * np.pi * (0.04 * 0.3) ** 2, rel=1e-15)


def test_parameters_are_evaluated_once(scene_with_change):
    """Without caching, forty parameters that each use the one before twice would take 2^40 steps."""
    chain = ", ".join(f"p{k}: =p{k - 1} + p{k - 1}" for k in range(1, 41))
    text = NUMBER.replace("n: 12", f"n: 12, p0: 1, {chain}")
    assert scene_with_change("NUMBER", "=p40", text).gravity[2] == 2**40


@pytest.mark.parametrize("template", ["soft-arm", "mechanism"])
def test_published_schema_accepts_expressions(template, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["schema"]) == 0
    published = json.loads(capsys.readouterr().out)
    made_for = jsonschema.validators.validator_for(published)
    made_for.check_schema(published)
    schema = made_for(published)
    assert main(["new", "mine", "--template", template]) == 0
    data = yaml.safe_load((tmp_path / "mine.yaml").read_text())
    data = json.loads(json.dumps(data).replace('"true":', '"on":'))  # YAML 1.1 reads the key `on` as true
    schema.validate(data)
    schema.validate(data | {"gravity": [0, 0, "=-g"]})
    with pytest.raises(jsonschema.ValidationError):
        schema.validate(data | {"gravity": [0, 0, "-g"]})


# --- places


@pytest.mark.parametrize("length", [0.2, 0.3, 0.4])
def test_a_body_placed_at_a_point_of_a_rod_follows_it(length, scene_with_change):
    model = scene_with_change("length: 0.3", f"length: {length}")
    side = length / 15
    assert np.allclose(model.rods["arm"].end.position, [0, 0, -length], rtol=0, atol=1e-15)
    assert np.allclose(model.bodies["gripper"].position, [0, 0, -length - side / 2], rtol=0, atol=1e-15)
    # d1 of the section, its normal, is x of the body
    x = quaternions.rotate(model.bodies["gripper"].orientation, [1.0, 0.0, 0.0])
    assert np.allclose(x, [0, 0, -1], rtol=0, atol=1e-15)


def test_offset_is_in_world_axes_or_rotated_with_the_part(scene_with_change):
    model = scene_with_change(
        "offset: [=side/2, 0, 0]}}\n    orientation: {of: {rod: arm, s: 1}}",
        "offset: [0.1, 0, 0]}, plus: [0.02, 0, 0.3]}\n"
        "    orientation: {of: {rod: arm, s: 1}, turned: {axis: [1, 0, 0], angle_deg: 90}}",
    )
    body, arm = model.bodies["gripper"], model.rods["arm"]
    assert np.allclose(body.position, [0.02, 0, -0.1], rtol=0, atol=1e-15)
    d1, d2, d3 = quaternions.to_matrix(arm.end.orientation).T
    x, y, z = quaternions.to_matrix(body.orientation).T
    for difference, axis in ((x, d1), (y, d3), (z, -d2)):
        assert np.allclose(difference, axis, rtol=0, atol=1e-15)


CHAIN = """
parameters: {L: 0.5}
bodies:
  - {name: c, shape: {type: box, size: [1, 1, 1], mass: 1}, position: {at: {body: b, at: [=L, 0, 0]}, plus: [0, 0, 1]}}
  - name: b
    shape: {type: box, size: [1, 1, 1], mass: 1}
    position: {at: hand, plus: [1, 0, 0]}
    orientation: {axis: [0, 0, 1], angle_deg: 90}
driven:
  - {name: hand, position: [0, 2, 0]}
rods:
  - name: late
    curve: [{at: c}, {at: {rod: early, s: 0.5}}]
    section: &s {type: stiffness, EA: 1, GA: 1, GJ: 1, EI: 1, mass_per_length: 1, inertia_per_length: 1}
  - {name: early, curve: [[0, 0, 0], [0, 0, 4]], section: *s}
  - {name: ring, closed: true, curve: {type: circle, radius: 1, center: {at: c}}, section: *s}
joints:
  - {name: pin, kind: spherical, a: {ground: {at: {rod: late, s: 0}}}, b: {rod: late, s: 0}}
  - {name: weld, kind: weld, a: c, b: b, at: {at: c}}
bushings:
  - {name: soft, a: c, b: hand, stiffness: 1, at: {at: b}}
run: {t_end: 1, dt: 0.1}
"""


def test_parts_may_be_placed_at_each_other_in_any_order(scene_with_change):
    model = scene_with_change("run:", "run:", CHAIN)
    assert list(model.bodies) == ["c", "b"]
    assert list(model.rods) == ["late", "early", "ring"]
    c = model.bodies["c"].position
    assert np.allclose(model.bodies["b"].position, [1, 2, 0], rtol=0, atol=1e-15)
    assert np.allclose(c, [1, 2.5, 1], rtol=0, atol=1e-15)  # x of b points along y
    assert np.allclose(model.rods["late"].start.position, c, rtol=0, atol=1e-15)
    assert np.allclose(model.rods["late"].end.position, [0, 0, 2], rtol=0, atol=1e-14)
    assert np.allclose(model.rods["ring"].start.position, c + np.array([1, 0, 0]), rtol=0, atol=1e-14)
    assert np.allclose(model.joints["pin"].a.position, c, rtol=0, atol=1e-15)
    assert np.array_equal(model.joints["weld"].at, c)
    assert np.allclose(model.others["soft"].at, [1, 2, 0], rtol=0, atol=1e-15)


INVALID = [
    (SCENE, "=-length", "=-lenght", 12, "did you mean 'length'"),
    (SCENE, "=length/15", "=side", 2, "depend on each other in a circle, side -> side"),
    (
        SCENE,
        "length: 0.3",
        "length: =side*15",
        2,
        r"depend on each other in a circle, (side -> length|length -> side)",
    ),
    (SCENE, "length: 0.3", "length: long", 2, "parameters.length = 'long'|is not a number"),
    (SCENE, "length: 0.3", "pi: 3, length: 0.3", 2, "means something else in expressions"),
    (SCENE, "length: 0.3", "arm-length: 3, length: 0.3", 2, "not a name that can be used in an expression"),
    (SCENE, "=n + 4", "=n/5", 14, "is not a whole number"),
    (SCENE, "=0.04*length", "=-length", 13, "is not positive"),
    (SCENE, "name: arm", "name: =arm", 11, "there is no parameter 'arm'"),
    (CHAIN, "position: [0, 2, 0]", "position: {at: c}", 4, "is placed in a circle: '"),
    (CHAIN, "{rod: early", "{rod: late", 12, "'late' is placed in a circle: 'late' at 'late'"),
    (CHAIN, "curve: [{at: c}", "curve: [{at: x}", 13, "there is no body 'x'; there are c, b, hand"),
    (CHAIN, "curve: [{at: c}", "curve: [{at: early}", 13, "'early' is a rod: say where on it"),
    (CHAIN, "{rod: early", "{rod: earl", 13, "there is no rod 'earl'; did you mean 'early'"),
    (CHAIN, "position: {at: hand", "position: {at: {ground: [0, 0, 0]}", 7, "it should be a body's name"),
    (CHAIN, "position: {at: hand", "position: {on: hand", 7, "key 'on' is not known here|'at' is missing"),
]


@pytest.mark.parametrize(("text", "old", "new", "line", "words"), INVALID)
def test_wrong_expression_or_placement_is_reported_with_its_line(
    text, old, new, line, words, scene_with_change
):
    with pytest.raises(SceneError, match=words) as caught:
        scene_with_change(old, new, text)
    assert caught.value.problems[0][1] == line


def curves():
    turns = 4.3

    def helix(s):
        return [np.cos(2 * np.pi * turns * s), np.sin(2 * np.pi * turns * s), s]

    yield "straight", [(0, 0, 0), (1, 2, 3)], {}
    yield "bent", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 1)], {"up": (0, 1, 1), "twist": 0.8}
    yield "helix", helix, {"n_elements": 60}
    yield "ring", [(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)], {"closed": True, "twist": 2 * np.pi}
    yield "stretched", [(0, 0, 0), (0, 2, 0)], {"stress_free": [(0, 0, 0), (0, 1, 0)]}


@pytest.mark.parametrize(("curve", "options"), [pytest.param(c, g, id=n) for n, c, g in curves()])
def test_anchor_position_equals_that_of_the_built_model(curve, options):
    model = Model("m")
    section = Section.circular(0.02, Material(E=1e6, nu=0.3, density=1e3)).with_centers(mass=(0.003, -0.001))
    rod = model.add_rod("rod", curve, section, **options)
    body = model.add_body("b", Box(1, 2, 3, mass=1), (1, 2, 3), quaternions.from_rotation_vector((0.3, 2, 1)))
    hand = model.add_driven("hand", (3, 2, 1), quaternions.from_rotation_vector((1, -1, 0.5)))
    offset = (0.1, -0.2, 0.05)
    anchors = [rod.at(s, offset) for s in (0.0, 0.13, 0.5, 0.77, 1.0)]
    anchors += [body.at(offset), hand.at(offset), model.ground.at(offset)]
    for k, anchor in enumerate(anchors[1:-1]):
        model.add_spring(f"s{k}", anchor, model.ground.at((9, 9, k)), 1.0)  # so that a node is there
    placement = Placement(model)
    for anchor in anchors:
        placed = placement.place(anchor)
        # frames along the curve use other steps, of order 4: an offset of 0.2 m is off by 3e-11 m
        assert np.allclose(anchor.position, placed.world, rtol=0, atol=1e-10)
        rotated = abs(anchor.orientation @ placement.quat[placed.frame])
        assert abs(rotated - 1.0) < 1e-14


# --- studies


@pytest.mark.parametrize(
    ("path", "value"), [("parameters.length", 0.2), ("rods.arm.curve[1][2]", -0.2)], ids=["parameter", "end"]
)
def test_study_of_the_arm_template_moves_the_gripper(path, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine", "--template", "soft-arm"]) == 0
    z = {"z": "initial bodies.gripper.r.z"}
    study = sweep("mine.yaml", {path: [value]}, z, t_end=0.001, dt=0.001, workers=0, progress=False)
    assert study.frame.z[0] == pytest.approx(-0.21, abs=1e-15)
