"""Warnings about valid models that are probably mistakes: each is given above its bound and not below."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import rodsim
from rigid import quaternions
from rodsim import Box, Capsule, Cone, Cylinder, Material, Mesh, Model, Section, Sphere, equilibrium, simulate
from rodsim.building.model_checks import (
    AWAY,
    FASTEST,
    GAP,
    LARGE,
    LIGHTEST,
    SLENDER,
    SOFTEST,
    STIFFEST,
    THICK,
    surface_strains,
)
from rodsim.results.layout import RodLayout
from rodsim.scenes.schema import Scene
from rodsim.warnings import ModelCheckWarning

ROOT = Path(__file__).parents[2]
SIDE = 0.02
RUBBER = Material(E=1e6, nu=0.4, density=1000)


def warning_of(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.build()
    doubts = [w for w in caught if issubclass(w.category, ModelCheckWarning)]
    assert len(doubts) <= 1
    assert all(w.filename == __file__ for w in doubts)  # where `build` was called
    return str(doubts[0].message) if doubts else ""


# --- joints


def arm_and_gripper(gap, kind="weld", direction=(0.0, 0.0, -1.0), rotated=0.0):
    """A rod of length 1 down to z = -1, and a box whose face is at the distance `gap` from its end."""
    model = Model("m")
    rod = model.add_rod("arm", [(0, 0, 0), (0, 0, -1)], Section.circular(0.01, RUBBER), 4)
    displacement = (0.5 * SIDE + gap) * np.array(direction)
    quat = quaternions.from_rotation_vector((0.0, 0.0, rotated))
    body = model.add_body("gripper", Box(SIDE, SIDE, SIDE, mass=0.1), rod.end.position + displacement, quat)
    model.add_joint("glue", kind, rod.end, body, **({"axis": (1, 0, 0)} if kind == "revolute" else {}))
    return model


@pytest.mark.exact
@pytest.mark.parametrize("direction", [(0, 0, -1), (0, 0, 1), (1, 0, 0), (0, -1, 0)])
def test_weld_across_a_gap_above_a_tenth_of_the_body_warns(direction):
    assert warning_of(arm_and_gripper(0.0, direction=direction)) == ""
    assert warning_of(arm_and_gripper(0.99 * GAP * SIDE, direction=direction)) == ""
    words = warning_of(arm_and_gripper(1.01 * GAP * SIDE, direction=direction))
    assert "weld joint 'glue' holds body 'gripper' across a gap of 0.00202 m" in words
    assert "rod 'arm', s = 1" in words


@pytest.mark.exact
def test_point_inside_a_rotated_body_is_not_a_gap():
    """The corner is farther out than the faces: the bounding box is in the axes of the body."""
    corner = (np.sqrt(0.5) - 0.5) * SIDE
    diagonal = {"direction": (1.0, 0.0, 0.0), "rotated": np.pi / 4}
    assert warning_of(arm_and_gripper(0.99 * corner, **diagonal)) == ""
    assert warning_of(arm_and_gripper(corner + 1.01 * GAP * SIDE, **diagonal)) != ""


def test_movable_joints_and_explicit_body_points_are_not_checked_for_gaps():
    assert warning_of(arm_and_gripper(1.0, "spherical")) == ""
    assert warning_of(arm_and_gripper(1.0, "revolute")) == ""
    model = arm_and_gripper(1.0)
    model.joints.clear()
    body = model.bodies["gripper"]
    model.add_joint("glue", "weld", model.rods["arm"].end, body.at_world((0, 0, -1)))
    assert warning_of(model) == ""


@pytest.mark.exact
def test_gap_check_covers_clamps_and_points_but_not_bodies_without_surface():
    model = Model("m")
    box = model.add_body("box", Box(1, 1, 1, mass=1))
    other = model.add_body("other", Box(1, 1, 1, mass=1), (1, 0, 0))
    model.add_joint("hold", "clamp", box, at=(0, 0, -0.59))
    assert warning_of(model) == ""
    model.add_joint("far", "weld", box, other, at=(0.5, 0.61, 0))
    words = warning_of(model)
    assert words.count("across a gap") == 2
    assert "holds body 'box'" in words
    assert "holds body 'other'" in words
    model = Model("m")
    bare = model.add_body("bare", rodsim.MassProperties(1.0, (1, 1, 1)))
    model.add_joint("hold", "clamp", bare, at=(0, 0, -5))
    assert warning_of(model) == ""


@pytest.mark.exact
def test_many_gaps_are_summarised():
    model = Model("m")
    for k in range(8):
        body = model.add_body(f"box {k}", Box(1, 1, 1, mass=1), (3 * k, 0, 0))
        model.add_joint(f"hold {k}", "clamp", body, at=(3 * k, 0, 5))
    words = warning_of(model)
    assert words.count("across a gap") == 3
    assert "the same of 5 more" in words


# --- numbers


def rod(radius=0.01, length=1.0, E=1e6, density=1000.0, section=None, **options):
    model = Model("m")
    section = section or Section.circular(radius, Material(E=E, nu=0.4, density=density))
    model.add_rod("cord", [(0, 0, 0), (length, 0, 0)], section, 4, **options)
    return model


def stiff(EA=1.0, radius=0.0):
    """A section from arbitrary stiffnesses, without a material."""
    return Section.from_stiffness(
        EA=EA, GA=1, GJ=1, EI=1, mass_per_length=1, inertia_per_length=1, radius=radius
    )


def strip(density):
    """A rod off its curve, of a rectangular section."""
    section = Section.rectangle(0.01, 0.02, Material(E=1e6, nu=0.4, density=density))
    return rod(section=section.with_centers((0.01, 0)))


def body(shape, **options):
    model = Model("m")
    model.add_body("part", shape, **options)
    return model


def pushed(length, offset):
    """A rod under a force off its axis."""
    model = rod(length=length)
    model.add_force("push", model.rods["cord"].at(1.0, offset), (0, 0, 1))
    return model


def spin(rate):
    """Angular velocity, rad/s."""
    return rate * np.array([0.6, 0.0, 0.8])


def stretched(element, strain):
    """A rod with this initial strain."""
    return rod(stress_free=[(0, 0, 0), (1 / (1 + strain), 0, 0)], element=element)


def ring(strain):
    """A rod that is straight without stress, bent to the radius at which its surface has this strain."""
    scale = 0.05 / strain
    model = Model("m")
    bent = scale * np.array([(np.sin(x), 0, 1 - np.cos(x)) for x in np.linspace(0, 1, 9)])
    model.add_rod("cord", bent, Section.circular(0.05, RUBBER), 8, stress_free=[(0, 0, 0), (scale, 0, 0)])
    return model


MASSIVE = {
    "box": lambda **given: Box(0.1, 0.2, 0.3, **given),
    "sphere": lambda **given: Sphere(0.1, **given),
    "cylinder": lambda **given: Cylinder(0.1, 0.2, **given),
    "capsule": lambda **given: Capsule(0.1, 0.2, **given),
    "cone": lambda **given: Cone(0.1, 0.2, **given),
    "mesh": lambda **given: Mesh((CORNERS, FACES), **given),
}
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
BOUNDS = {  # model with a number, numbers without a warning, one with a warning, its words
    "thick": (lambda r: rod(radius=r), [0.99 * THICK], 1.01 * THICK,
        "rod 'cord': its radius, 0.505 m, is more than half of its length, 1 m.*give both in m"),
    "slender": (lambda L: rod(length=L), [0.99 * SLENDER * 0.01], 1.01 * SLENDER * 0.01,
        r"its length, 1.01e\+03 m, is 1e\+05 times its radius, 0.01 m"),
    "soft": (lambda E: rod(E=E), [1.01 * SOFTEST], 0.99 * SOFTEST,
        r"E = 990 Pa is that of no solid; is it given in GPa or MPa\?"),
    "stiff": (lambda E: rod(E=E), [0.99 * STIFFEST], 1.01 * STIFFEST, r"E = 1.01e\+13 Pa"),
    "soft tube": (lambda E: rod(section=lambda s: Section.tube(0.02, 0.01, Material(E=E, nu=0.3, density=1000))),
        [1.01 * SOFTEST], 2.0, "E = 2 Pa"),
    "soft strip": (lambda E: rod(section=Section.rectangle(0.1, 0.2, Material(E=E, nu=0.3, density=1000))),
        [1.01 * SOFTEST], 2.0, "E = 2 Pa"),
    "stiffness": (lambda section: rod(section=section), [stiff()],
        Section.circular(0.01, Material(E=2.0, nu=0.3, density=1000)), "E = 2 Pa"),
    "light rod": (lambda density: rod(density=density), [0.0, 1.01 * LIGHTEST], 0.99 * LIGHTEST,
        "rod 'cord': its density, .* kg/m"),
    "light strip": (strip, [0.0, 1.01 * LIGHTEST], 7.85, "rod 'cord': its density, 7.85 kg/m"),
    **{f"light {name}": (lambda given, shape=shape: body(shape(**given)), [{"density": 1.01 * LIGHTEST}, {"mass": 1e-6}],
        {"density": 7.85}, r"body 'part': its density, 7.85 kg/m\^3, is that of no solid.*g/cm\^3\? Give it in kg/m\^3, 7850")
        for name, shape in MASSIVE.items()},
    "offset of a long rod": (lambda y: pushed(2.0, (0, 0, y)), [0.99 * AWAY * 0.01], 1.01 * AWAY * 0.01,
        "m from the axis of rod 'cord', which has radius 0.01 m and length 2 m"),
    "offset of a short rod": (lambda y: pushed(0.5, (0, y, y)), [0.3], 0.4, "load 'push' acts 0.566 m from the axis"),
    "fast body": (lambda rate: body(Box(0.1, 0.2, 0.3, mass=1.0), angular_velocity=spin(rate)),
        [0.99 * FASTEST], 1e7, r"body 'part' rotates with 1e\+07 rad/s at t = 0"),
    "fast rod": (lambda rate: rod(velocity=(0, 0, 0), angular_velocity=spin(rate)),
        [0.99 * FASTEST], 1.01 * FASTEST, r"rod 'cord' rotates with .* rad/s at t = 0"),
    **{f"{element} by {sign * LARGE}": (lambda x, element=element, sign=sign: stretched(element, sign * x), [0.98 * LARGE],
        1.02 * LARGE, "rod 'cord': at t = 0 its stretch and shear come to 0.20")
        for element in ("se3", "relative(2)", "midpoint", "lagrange(3)") for sign in (1, -1)},
    "bent": (ring, [0.97 * LARGE], 1.03 * LARGE, "bending and twist at the surface come to 0.2"),
}  # fmt: skip


def test_warning_cases_cover_every_shape_with_a_density():
    kinds = [definition["properties"] for definition in Scene.model_json_schema()["$defs"].values()]
    massive = {
        definition["type"]["const"]
        for definition in kinds
        if {"type", "density", "mass"} <= definition.keys()
    }
    assert set(MASSIVE) == massive


@pytest.mark.exact
@pytest.mark.parametrize("case", BOUNDS)
def test_parameter_beyond_its_bound_warns(case):
    make, quiet, doubtful, words = BOUNDS[case]
    assert [warning_of(make(value)) for value in quiet] == [""] * len(quiet)
    assert re.search(words, warning_of(make(doubtful)))


@pytest.mark.exact
def test_warning_names_the_strained_rod():
    """Rods with higher-order elements and with two-frame elements have separate numberings."""
    for k in range(4):
        model = Model("m")
        for j, element in enumerate(["se3", "relative(2)", "midpoint", "relative(2)"]):
            free = [(0, j, 0), (0.5 if j == k else 0.99, j, 0)]
            line, section = [(0, j, 0), (1, j, 0)], Section.circular(0.01, RUBBER)
            model.add_rod(f"rod {j}", line, section, 4, stress_free=free, element=element)
        words = warning_of(model)
        assert f"rod 'rod {k}'" in words
        assert words.count("strain that few") == 1


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_large_initial_strain_is_reported_unless_its_law_allows_it(element):
    """A stretch of F/EA with a linear law."""

    def stretched_by(strain, section):
        model = rod(section=section, element=element)
        cord = model.rods["cord"]
        model.add_joint("root", "clamp", cord.start)
        model.add_force("pull", cord.end, (strain * 10.0, 0, 0))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            equilibrium(model)
        assert all(w.filename == __file__ for w in caught)
        return "".join(str(w.message) for w in caught if w.category is ModelCheckWarning)

    assert stretched_by(0.99 * LARGE, stiff(EA=10.0)) == ""
    words = stretched_by(1.01 * LARGE, stiff(EA=10.0))
    assert "rod 'cord': at rest its stretch and shear come to 0.202" in words
    assert stretched_by(1.01 * LARGE, stiff(EA=10.0).with_law("stiffening", strain=100.0)) == ""


# --- output of commands


@pytest.mark.parametrize("scene", sorted((ROOT / "examples/scenes").glob("*.yaml")), ids=lambda p: p.stem)
def test_examples_give_no_model_warning(scene):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelCheckWarning)
        Model.load(scene).build()


def test_check_command_prints_model_warnings(tmp_path):
    scene = tmp_path / "arm.yaml"
    scene.write_text(
        "materials: {steel: {E: 210, nu: 0.3, density: 7800}}\n"
        "rods: [{name: arm, curve: [[0, 0, 0], [1, 0, 0]], section: {type: circular, radius: 0.01, material: steel}}]\n"
        "run: {t_end: 1, dt: 0.1}\n"
    )
    completed = subprocess.run(
        [sys.executable, "-m", "rodsim", "check", str(scene)], capture_output=True, text=True, cwd=ROOT
    )
    assert completed.returncode == 0
    assert completed.stderr.startswith("rodsim: model 'scene': rod 'arm': E = 210 Pa is that of no solid")


# --- strains of non-circular sections


def layout_of(radius, sides, n=3):
    k = np.arange(n)
    return RodLayout("r", k, k[:-1], 1.0 * k, np.full(n, radius), False, np.tile(sides, (n, 1)))


def test_bending_strain_of_a_strip_uses_its_height():
    """Bending about d2 strains the faces at +- h/2, about d3 those at +- w/2; Saint-Venant: shear G K1 h of a thin strip."""
    K = np.array([(0.0, -25.0, 0.0), (0.0, 0.0, 25.0)])
    w, h = 20e-3, 0.1e-3
    strip = layout_of(np.sqrt(w * h / np.pi), (w, h))
    np.testing.assert_allclose(surface_strains(strip, K), [25.0 * h / 2, 25.0 * w / 2], rtol=1e-12)
    twisted = np.array([(3.0, 0.0, 0.0), (3.0, 0.0, 0.0)])
    np.testing.assert_allclose(surface_strains(strip, twisted), 3.0 * h, rtol=1e-12)
    both = np.array([(0.0, 2.0, -3.0), (0.0, -2.0, 3.0)])  # at a corner they add up
    np.testing.assert_allclose(surface_strains(strip, both), h + 1.5 * w, rtol=1e-12)
    assert np.allclose(surface_strains(layout_of(0.1, (0.0, 0.0)), K), 2.5)


def test_surface_strain_of_a_tapered_rod_is_that_of_its_thicker_end():
    rod = layout_of(0.1, (0.0, 0.0))
    rod.radius[:] = 0.1, 0.2, 0.1
    rod.sides[2] = 0.4, 0.6
    K = np.array([(0.0, 1.0, 0.0), (0.0, 1.0, 0.0)])
    np.testing.assert_allclose(surface_strains(rod, K), [0.2, 0.3])


def test_only_a_tightly_coiled_steel_tape_is_reported():
    """20 mm x 0.1 mm: at R = 40 mm the strain of its faces is 0.125 %, of the circle of equal area 2 %; at R = 0.2 mm 25 %."""

    def words(radius):
        model = Model("m")
        section = Section.rectangle(20e-3, 0.1e-3, Material(E=2.1e11, nu=0.3, density=7850))
        angle = np.linspace(0, 2, 41)
        arc = np.stack([radius * np.sin(angle), 0 * angle, radius * np.cos(angle)], axis=1)
        straight = [(0, 0, 0), (2 * radius, 0, 0)]
        model.add_rod("tape", arc, section, 20, up=(0, 0, 1), stress_free=straight, stress_free_up=(0, 0, 1))
        return warning_of(model)

    assert words(2.5e-3) == ""
    assert "bending and twist at the surface come to 0.25" in words(0.2e-3)


# --- rods stretched by their drawn curve


LENGTH, SPAN, SAG = 2.3, 2.0, 0.5


def parabola(s):
    return (SPAN * (s - 0.5), 0.0, -SAG * (1 - (2 * s - 1) ** 2))


def model_of(curve, stress_free, EA=1e4, EI=1e-2, **options):
    """A rope drawn as a parabola of 2.296 m; s of its callable is the position along the span, not along the
    rope.
    """
    model = Model("rope", gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=EA, GA=1e4, GJ=1e-2, EI=EI, mass_per_length=0.1, inertia_per_length=1e-4
    )
    rod = model.add_rod("r", curve, section, 22, stress_free=stress_free, **options)
    model.add_joint("left", "spherical", model.ground, rod.start)
    return model


def stretch_warnings(model, **options):
    """Warnings about stretch in a step of 1e-5 s, and the result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = simulate(model, 1e-5, 1e-5, progress=False, **options)
    messages = [str(w.message) for w in caught if issubclass(w.category, ModelCheckWarning)]
    return [text for text in messages if "stretched at t = 0" in text], result


STRAIGHT = [(0, 0, 0), (LENGTH, 0, 0)]


def parabola_points(factor=1.0):
    """Points of the parabola, interpolated by a spline over chord length."""
    return [tuple(factor * np.array(parabola(s))) for s in np.linspace(0, 1, 60)]


def test_rope_curve_not_parametrised_by_length_is_reported_with_stretch_and_remedy():
    messages, result = stretch_warnings(model_of(parabola, STRAIGHT))
    (text,) = messages
    # ds/dx sqrt(1 + 4 SAG^2/SPAN^2 ...): by sqrt(2) SPAN/LENGTH - 1 at the ends, by SPAN/LENGTH - 1 in the middle
    length = 0.5 * SPAN * (np.sqrt(2.0) + np.arcsinh(1.0))  # slope 1 at the ends
    assert f"by {length / LENGTH - 1:.2%} on average, from {SPAN / LENGTH - 1:.2%} to " in text
    assert "start from its `equilibrium`" in text
    assert "let s of the curve be the fraction of its length" in text
    mean_square = (SPAN / LENGTH) ** 2 * (4 / 3) - 2 * length / LENGTH + 1  # of sqrt(1 + x^2) SPAN/LENGTH - 1
    energy = 0.5 * 1e4 * mean_square * LENGTH
    assert f"which is {energy:.3g} J" in text
    assert not stretch_warnings(model_of(parabola, STRAIGHT), start=result)[0]


def test_too_short_curve_is_reported_with_the_expected_length():
    (text,) = stretch_warnings(model_of(parabola_points(0.98), STRAIGHT))[0]
    assert "draw it as long as its stress-free shape, 2.3 m (it is 2.25 m long)" in text


INTENDED = {
    "drawn by its length": (parabola_points(LENGTH / 2.29559), STRAIGHT, {}),
    "without a stress-free shape": (parabola, None, {}),
    "a string that is pulled": ([(0, 0, 0), (1.05 * LENGTH, 0, 0)], STRAIGHT, {}),
    "a straight rod with a wave": (lambda s: (LENGTH * s + 0.05 * np.sin(np.pi * s), 0, 0), STRAIGHT, {}),
    "callables with a common label": (parabola, lambda s: (SPAN * s, 0, -0.45 * (1 - (2 * s - 1) ** 2)), {}),
    "a curved shape without stress": (parabola_points(1.05), parabola_points(), {}),
    "strains that are stated": (parabola, STRAIGHT, {"rest_strains": (0.01, 0, 0, 0, 0, 0)}),
    "soft against its weight": (parabola, STRAIGHT, {"EA": 10.0}),
    "stiff against bending": (parabola, STRAIGHT, {"EI": 1e3}),
    "thrown, with more motion than stretch": (parabola, STRAIGHT, {"velocity": (0, 100, 0)}),
}


@pytest.mark.parametrize("case", INTENDED)
def test_intended_stretch_is_not_reported(case):
    curve, free, options = INTENDED[case]
    assert not stretch_warnings(model_of(curve, free, **options))[0]
