"""Rejected shapes and contacts, with the reason: invalid input, initial penetration, impacts that are too hard."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import (
    Box,
    Capsule,
    Cone,
    ConvergenceError,
    Cylinder,
    MassProperties,
    Mesh,
    Model,
    ModelError,
    Sphere,
)
from tests.support.solids import (
    ALONG_X,
    COLLISIONS,
    CUBE,
    FACES,
    GROUND_POINT,
    SIGNS,
    UP,
    WEDGE,
    G,
    K,
    add,
    run,
)

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


# --- input


SOLIDS = [
    (Box(1, 2, 3, mass=1), {"radius": -0.1}, r"radius = -0.1 is below 0"),
    (Box(1, 2, 3, mass=1), {"radius": 0.5}, r"rounded with 0.5 m, more than the shape has; give less than the 0.5 m"),
    (Cylinder(1, 3, mass=1), {"radius": 1.0}, r"give less than the 1 m of half its least extent"),
    (Cylinder(2, 1, mass=1), {"radius": 0.6}, r"give less than the 0.5 m"),
    (Cone(1, 1, mass=1), {"radius": 0.45}, r"less where it is pointed"),
    (Sphere(1, mass=1), {"radius": 0.1}, r"radius = 0.1, but its shape is round; remove radius"),
    (Capsule(1, 1, mass=1), {"radius": 0.1}, r"but its shape is round"),
    (Mesh((WEDGE, FACES), mass=1), {"radius": 0.1}, r"on a mesh, which has no rounding; remove it, or give vertices="),
    (MassProperties(1.0, np.ones(3)), {}, r"body 'it' has no shape that could touch, .*; give vertices= \(n, 3\)"),
    (Box(1, 2, 3, mass=1), {"vertices": []}, r"vertices"),
    (Box(1, 2, 3, mass=1), {"vertices": [(0, 0, np.nan)]}, r"vertices"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "options", "words"), SOLIDS, ids=[type(case[0]).__name__ for case in SOLIDS]
)
def test_invalid_solids_are_rejected(shape, options, words):
    model = Model("it")
    body = model.add_body("it", shape)
    with pytest.raises(ModelError, match=rf"solid 'it': .*{words}"):
        model.add_solid("it", body, **options)


def test_shape_on_a_body_point_or_the_ground_is_rejected():
    model = Model("it")
    body = model.add_body("it", Box(1, 2, 3, mass=1))
    words = r"solid 'it': .*give body 'it' itself, or vertices="
    with pytest.raises(ModelError, match=words):
        model.add_solid("it", body.at((0.1, 0, 0)))
    with pytest.raises(ModelError, match=r"solid 'it': the ground has no shape that could touch"):
        model.add_solid("it", model.ground.at(GROUND_POINT))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"triangles": None}, "either a file, or vertices"),
        ({"file": "a.stl"}, "either a file, or vertices"),
        ({"file": "none.stl", "vertices": None, "triangles": None}, "no such file"),
        ({"triangles": np.zeros((0, 3), int)}, "0 triangles"),
        ({"triangles": [(0, 1, 9)]}, "vertex numbers from 0 to 9"),
        ({"triangles": [(0, 1, 1), (0, 1, 2)]}, "1 triangles have no area"),
        ({"triangles": [*CUBE, CUBE[3]]}, "more than once"),
        ({"triangles": [(0, 1, 2), (0, 1, 4), (0, 1, 6)]}, "more than two triangles"),
        ({"triangles": [CUBE[0][::-1], *CUBE[1:]], "side": "inside"}, "run through twice in the same direction"),
        ({"triangles": CUBE[1:], "side": "inside"}, "close the holes, or remove side"),
    ],
)  # fmt: skip
def test_invalid_meshes_are_rejected(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = Model("bad")
    with pytest.raises(ModelError, match=words):
        model.add_mesh(
            "floor", model.ground.at(GROUND_POINT), **({"vertices": SIGNS, "triangles": CUBE} | options)
        )


@pytest.mark.parametrize(
    ("one", "other", "radius", "words"),
    [
        ("box", "solid sphere", None, r"balls and flat hulls touch planes alone"),
        ("sphere", "flat hull", None, r"solid 'b': .* balls and flat hulls touch planes alone"),
        ("box", "box", 0.0, r"solid 'a' and solid 'b' have no rounding, .* give radius="),
        ("cylinder", "cylinder", 0.0, r"solid 'a' and solid 'b' have no rounding, .* give radius="),
        ("cube", "sheet", 0.0, r"mesh 'a' and mesh 'b' have no radius"),
        ("box", "plate", 0.0, r"solid 'a' and mesh 'b' have no radius, .* Set the radius of one of them"),
    ],
)
def test_unsupported_contact_pairs_are_rejected(one, other, radius, words):
    model = Model("pair", gravity=GROUND_POINT)
    a, b = add(model, one, "a", radius=radius), add(model, other, "b", (0, 0, 1.0), radius=radius)
    with pytest.raises(ModelError, match=words):
        model.add_contact("c", a, b, K)


def test_hull_with_too_many_vertices_is_rejected_at_build():
    model = Model("pair", gravity=GROUND_POINT)
    a, b = add(model, "sphere", "a"), add(model, "hull of 140 vertices", "b", (0, 0, 1.0))
    model.add_contact("c", a, b, K)
    with pytest.raises(ModelError, match=r"solid 'b': its hull has 140 vertices, and may have 128"):
        model.build()


# --- initial states


BALL, POINT, NEAR = {"size": (0.05,)}, {"radius": 0.0}, {"law": "barrier", "reach": 0.01}
STARTS = [
    ("long capsule", {}, "long capsule", {"place": (0.05, 0, 0)}, r"solid 'b' is 0.05 m inside of solid 'a'"),
    ("box", {}, "box", {"place": (0.06, 0, 0)}, r"solid 'b' is 0.04 m inside of solid 'a'"),
    ("box", {}, "box", {"place": (0, 0, 0.099), "radius": 0.0}, r"solid 'b' is 0.001 m inside of solid 'a'"),
    ("hull cube", {}, "hexagon", {"place": (0, 0, 0.09)}, r"solid 'b' is 0.015 m inside of solid 'a'"),
    ("box", {}, "cylinder", {"place": (0, 0, 0.09)}, r"solid 'b' is 0.01 m inside of solid 'a'"),
    ("sphere", {"place": (0, 0, 0.07)}, "cylinder", {}, r"solid 'b' is 0.01 m inside of sphere 'a'"),
    ("plate", {"on_ground": True}, "box", {"place": (-0.1, 0, 0.047)}, r"solid 'b' is 0.003 m inside of mesh 'a'"),
    ("wide closed cube", {"on_ground": True}, "sphere", {"place": (0, 0.01, 0.098), "size": (0.05,)},
     r"sphere 'b' is 0.048 m inside of mesh 'a'"),
    ("pipe", {"on_ground": True}, "rod", {"place": [(0.1, 0, 0), (0.3, 0, 0)]}, r"rod 'b' is 0.002\d* m inside of mesh 'a'"),
    # no corner is close
    ("rounded spear", {"place": (0.013, 0.021, 0.1)}, "rounded sheet", {"on_ground": True},
     r"mesh 'a' is 0.01 m inside of mesh 'b'"),
    ("plane", {}, "box", {"place": (0, 0, 0.3), "size": (1, 1, 1), "radius": 0.0},
     r"solid 'b' is 0.2 m inside of plane 'a' at t = 0, more than 0.05 m"),
    ("plane", {}, "cylinder", {"place": (0, 0, 0.3), "quat": ALONG_X, "size": (0.5, 1), "radius": 0.0},
     r"solid 'b' is 0.2 m inside of plane 'a' at t = 0, more than 0.05 m"),
    ("plane", {}, "sphere", BALL | {"place": (0, 0, 0.04)},
     r"sphere 'b' is 0.01 m inside of plane 'a' at t = 0, more than 0.005 m"),
    ("plane", {}, "sphere", POINT | {"place": (0, 0, -0.01)},
     r"sphere 'b' is 0.01 m inside of plane 'a' at t = 0, more than 1e-05 m, .*move one of them"),
    ("plane", {}, "rod", {"place": [(0, 0, 0.005), (1, 0, 0.005)]}, r"rod 'b' is 0.005 m inside of plane 'a'"),
    ("sphere", BALL, "sphere", BALL | {"place": (0.08, 0, 0)},
     r"sphere 'b' is 0.02 m inside of sphere 'a' at t = 0, more than 0.005 m"),
    ("rod", {"place": [(0, 0, 0), (0.3, 0, 0)]}, "rod", {"place": [(0.12, -0.1, 0.018), (0.15, 0.1, 0.018)]},
     r"rod '\w' is 0.002 m inside of rod '\w' at t = 0, more than 0.001 m"),
    ("plane", {}, "sphere", BALL | {"place": (0, 0, 0.05)}, r"0 m inside .*t = 0.* which a barrier does not allow", NEAR),
    ("sphere", BALL, "sphere", BALL | {"place": (0.1, 0, 0)}, r"0 m inside .*t = 0.* which a barrier does not allow", NEAR),
    ("plane", {}, "sphere", BALL | {"place": (0, 0, 0.046)}, None),
    ("plane", {}, "sphere", POINT | {"place": (0, 0, -1e-15)}, None),
    ("plane", {}, "sphere", BALL | {"place": (0, 0, 0.051)}, None, NEAR),
]  # fmt: skip


@pytest.mark.parametrize("case", STARTS, ids=[f"{case[0]}, {case[2]}" for case in STARTS])
def test_initial_penetration_is_rejected_with_its_depth(case):
    """Small penetrations are accepted."""
    one, first, other, second, words, *options = case
    model = Model("start", gravity=GROUND_POINT)
    model.add_contact(
        "c", add(model, one, "a", **first), add(model, other, "b", **second), K, **dict(*options)
    )
    if words is None:
        run(model, 1e-6, 1e-6)
        return
    with pytest.raises(ModelError, match=words if "t = 0" in words else f"{words} at t = 0") as error:
        run(model, 1e-3)
    assert error.value.about[0].kind == "contact"


@pytest.mark.parametrize(
    ("shape", "side", "height", "words"),
    [
        ("sphere", "inside", 0.0, None),
        ("sphere", "outside", 0.0, "sphere 'b' is not outside of mesh 'a' at t = 0"),
        ("sphere", "inside", 0.3, "sphere 'b' is not inside of mesh 'a' at t = 0"),
        ("tetrahedron", "inside", 0.0, None),
        ("tetrahedron", "outside", 0.3, None),
        ("tetrahedron", "outside", 0.02, "solid 'b' is not outside of mesh 'a' at t = 0"),
    ],
)
def test_body_starts_on_the_requested_side_of_a_closed_mesh(shape, side, height, words):
    model = Model("sides", gravity=GROUND_POINT)
    below = add(model, "wide closed cube", "a", on_ground=True, side=side)
    model.add_contact("c", add(model, shape, "b", (0, 0, height)), below, 1e4)
    if words is None:
        run(model, 1e-3)
    else:
        with pytest.raises(ModelError, match=words):
            run(model, 1e-3)


# --- impacts that are too hard


@pytest.mark.parametrize(
    ("one", "other", "place", "size", "words"),
    [
        ("box", "box", (0, 0, 0.101), None, r"a box in contact .* of 0.01 m, .* more `stiffness`"),
        ("hull cube", "hexagon", (0, 0, 0.106), None, r"a hull in contact .* of 0.01 m"),
        ("cylinder", "cylinder", (0, 0, 0.101), None, r"a cylinder or cone in contact .* of 0.01 m"),
        ("cylinder", "sphere", (0.01, 0, 0.0551), (0.005,), r"a cylinder or cone in contact .* of 0.01 m"),
    ],
    ids=["boxes", "hulls", "cylinders", "small sphere on a cylinder"],
)
def test_penetration_beyond_the_rounding_radius_stops_the_run(one, other, place, size, words):
    """Overlapping cores have no energy: the step fails at any size, and the bodies do not pass through each other."""
    model = Model("hard", gravity=GROUND_POINT)
    b = add(model, other, "b", place, v=(0, 0, -30.0), size=size)
    model.add_contact("c", add(model, one, "a"), b, K)
    with pytest.raises(ConvergenceError, match=words.replace(".*", "is pressed through .*", 1)):
        run(model, 0.01, 1e-4)


@pytest.mark.parametrize(
    "name",
    [
        "face of a box on a peak",
        "cylinder across a roof",
        "box on hills",
        "meshes, corner on face",
        "meshes, edge on edge",
        "face of a mesh on a peak",
    ],
)
def test_nothing_penetrates_a_fixed_mesh(name):
    case = COLLISIONS[name]
    model = Model("hard", gravity=GROUND_POINT)
    fixing = {"on_ground": True} if case.quat is UP else {"mass": 1e6}
    below = add(model, case.one, "below", GROUND_POINT, case.quat, **fixing)
    surface = add(model, case.other, "it", case.place, case.other_quat, (0, 0, -20.0))
    model.add_contact("c", surface, below, 1e4)
    with pytest.raises(ConvergenceError, match=r"a surface that touches a mesh is pressed through it"):
        run(model, 0.02, 1e-4)


def test_ball_too_fast_for_a_soft_mesh_stops_the_run():
    """The centre of the ball would reach the other side."""
    model = Model("soft", gravity=GROUND_POINT)
    ball = add(model, "sphere", "ball", (0.1, 0.2, 0.06), v=(0, 0, -3.0), mass=0.5, size=(0.05,))
    model.add_contact("c", ball, add(model, "field", "floor", on_ground=True), 100.0)
    with pytest.raises(ConvergenceError, match="pressed through it"):
        run(model, 0.1)


@pytest.mark.parametrize(("sides", "rests"), [(8, True), (64, False)])
def test_ball_rests_in_a_polygonal_hole_unless_touched_on_all_sides(sides, rests):
    model = Model("hole", gravity=(0, 0, -G))
    turns, a = 2 * np.pi * np.arange(sides) / sides, np.arange(sides)
    b = (a + 1) % sides
    ring = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
    triangles = np.concatenate([np.stack([a, b, a + sides], 1), np.stack([b, b + sides, a + sides], 1)])
    vertices = np.concatenate([0.04 * ring, 0.2 * ring])
    plate = model.add_mesh("plate", model.ground.at(GROUND_POINT), vertices=vertices, triangles=triangles)
    ball = add(model, "sphere", "ball", (0, 0, 0.036), v=(0, 0, -0.1), mass=np.pi / 6, size=(0.05,))
    model.add_contact("c", ball, plate, 1e4, damping=5.0)
    if rests:
        assert run(model, 0.2).body("ball").r[-1, 2] == pytest.approx(0.0336, abs=3e-4)
    else:
        with pytest.raises(ConvergenceError, match="pressed through it, or is touched on all sides"):
            run(model, 0.2)
