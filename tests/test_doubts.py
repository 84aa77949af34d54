"""Models that can be simulated and are probably not meant: each doubt is told above its bound, and not below."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from rigid import quaternions
from rodsim import Box, DoubtfulModelWarning, MassProperties, Material, Model, Section, equilibrium
from rodsim.building.plausibility import GAP, LARGE, SLENDER, SOFTEST, STIFFEST, THICK
from rodsim.scenes.model_from_scene import load

ROOT = Path(__file__).parents[1]
SIDE = 0.02
RUBBER = Material(E=1e6, nu=0.4, density=1000)


def told(model):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.build()
    found = [w for w in heard if issubclass(w.category, DoubtfulModelWarning)]
    assert len(found) <= 1
    assert all(w.filename == __file__ for w in found)  # where `build` was called
    return str(found[0].message) if found else ""


# --- joints


def arm_and_gripper(gap, kind="weld", direction=(0.0, 0.0, -1.0), turned=0.0):
    """A rod of length 1 down to z = -1, and a box whose face is `gap` away from its end."""
    model = Model("m")
    rod = model.add_rod("arm", [(0, 0, 0), (0, 0, -1)], Section.circular(0.01, RUBBER), 4)
    away = (0.5 * SIDE + gap) * np.array(direction)
    quat = quaternions.from_rotation_vector((0.0, 0.0, turned))
    body = model.add_body("gripper", Box(SIDE, SIDE, SIDE, mass=0.1), rod.end.position + away, quat)
    model.add_joint("glue", kind, rod.end, body, **({"axis": (1, 0, 0)} if kind == "revolute" else {}))
    return model


@pytest.mark.exact
@pytest.mark.parametrize("direction", [(0, 0, -1), (0, 0, 1), (1, 0, 0), (0, -1, 0)])
def test_a_weld_across_a_gap_is_told_where_it_is_more_than_a_tenth_of_the_body(direction):
    assert told(arm_and_gripper(0.0, direction=direction)) == ""
    assert told(arm_and_gripper(0.99 * GAP * SIDE, direction=direction)) == ""
    words = told(arm_and_gripper(1.01 * GAP * SIDE, direction=direction))
    assert "weld joint 'glue' holds body 'gripper' across a gap of 0.00202 m" in words
    assert "rod 'arm', s = 1" in words


@pytest.mark.exact
def test_a_point_inside_of_a_turned_body_is_no_gap():
    """Its corner is farther out than its faces: the box is that of the body's own axes."""
    corner = (np.sqrt(0.5) - 0.5) * SIDE
    diagonal = {"direction": (1.0, 0.0, 0.0), "turned": np.pi / 4}
    assert told(arm_and_gripper(0.99 * corner, **diagonal)) == ""
    assert told(arm_and_gripper(corner + 1.01 * GAP * SIDE, **diagonal)) != ""


def test_joints_that_leave_motion_and_points_given_on_a_body_may_be_anywhere():
    assert told(arm_and_gripper(1.0, "spherical")) == ""
    assert told(arm_and_gripper(1.0, "revolute")) == ""
    model = arm_and_gripper(1.0)
    model.joints.clear()
    body = model.bodies["gripper"]
    model.add_joint("glue", "weld", model.rods["arm"].end, body.at_world((0, 0, -1)))
    assert told(model) == ""


@pytest.mark.exact
def test_clamps_and_joints_at_a_point_are_looked_at_and_bodies_without_surface_are_not():
    model = Model("m")
    box = model.add_body("box", Box(1, 1, 1, mass=1))
    other = model.add_body("other", Box(1, 1, 1, mass=1), (1, 0, 0))
    model.add_joint("hold", "clamp", box, at=(0, 0, -0.59))
    assert told(model) == ""
    model.add_joint("far", "weld", box, other, at=(0.5, 0.61, 0))
    words = told(model)
    assert words.count("across a gap") == 2
    assert "holds body 'box'" in words
    assert "holds body 'other'" in words
    model = Model("m")
    bare = model.add_body("bare", MassProperties(1.0, (1, 1, 1)))
    model.add_joint("hold", "clamp", bare, at=(0, 0, -5))
    assert told(model) == ""


@pytest.mark.exact
def test_of_many_gaps_some_are_told():
    model = Model("m")
    for k in range(8):
        body = model.add_body(f"box {k}", Box(1, 1, 1, mass=1), (3 * k, 0, 0))
        model.add_joint(f"hold {k}", "clamp", body, at=(3 * k, 0, 5))
    words = told(model)
    assert words.count("across a gap") == 3
    assert "the same of 5 more" in words


# --- rods


def rod(radius=0.01, length=1.0, E=1e6, section=None, **given):
    model = Model("m")
    section = section or Section.circular(radius, Material(E=E, nu=0.4, density=1000))
    model.add_rod("cord", [(0, 0, 0), (length, 0, 0)], section, 4, **given)
    return model


@pytest.mark.exact
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (rod(radius=0.99 * THICK), ""),
        (rod(radius=1.01 * THICK), "rod 'cord': its radius, 0.505 m, is more than half of its length, 1 m"),
        (rod(radius=10.0), "give both in m"),
        (rod(length=0.99 * SLENDER * 0.01), ""),
        (rod(length=1.01 * SLENDER * 0.01), "its length, 1.01e+03 m, is 1e+05 times its radius, 0.01 m"),
        (rod(E=1.01 * SOFTEST), ""),
        (rod(E=0.99 * SOFTEST), "E = 990 Pa is that of no solid; is it given in GPa or MPa?"),
        (rod(E=210.0), "E = 210 Pa"),
        (rod(E=0.99 * STIFFEST), ""),
        (rod(E=1.01 * STIFFEST), "E = 1.01e+13 Pa"),
        (rod(section=lambda s: Section.tube(0.02, 0.01, Material(E=2.0, nu=0.3, density=1))), "E = 2 Pa"),
        (rod(section=Section.rectangle(0.1, 0.2, Material(E=2.0, nu=0.3, density=1))), "E = 2 Pa"),
    ],
)
def test_a_rod_in_other_units_is_told(model, words):
    found = told(model)
    assert words in found
    assert bool(found) == bool(words)


def stiff(EA=1.0, radius=0.0):
    """Numbers of a made-up kind: nothing is known of a material."""
    return Section.from_stiffness(
        EA=EA, GA=1, GJ=1, EI=1, mass_per_length=1, inertia_per_length=1, radius=radius
    )


def test_sections_given_by_their_stiffness_are_not_judged():
    assert told(rod(section=stiff())) == ""


@pytest.mark.exact
@pytest.mark.parametrize("element", ["se3", "relative(2)", "midpoint", "lagrange(3)"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_rod_strained_at_the_start_is_told(element, sign):
    def stretched(strain):
        free = [(0, 0, 0), (1 / (1 + sign * strain), 0, 0)]
        return rod(stress_free=free, element=element)

    assert told(stretched(0.98 * LARGE)) == ""
    assert "rod 'cord': at t = 0 its stretch and shear come to 0.20" in told(stretched(1.02 * LARGE))


@pytest.mark.exact
def test_bending_counts_at_the_surface():
    radius, bent = 0.05, [(np.sin(x), 0, 1 - np.cos(x)) for x in np.linspace(0, 1, 9)]

    def ring(strain):
        """Of a radius of curvature on which the rod's surface has this strain, and straight without stress."""
        scale = radius / strain
        model = Model("m")
        section = Section.circular(radius, RUBBER)
        free = [(0, 0, 0), (scale, 0, 0)]
        model.add_rod("cord", scale * np.array(bent), section, 8, stress_free=free)
        return model

    assert told(ring(0.97 * LARGE)) == ""
    assert "bending and twist times the radius come to 0.2" in told(ring(1.03 * LARGE))


@pytest.mark.exact
def test_the_strained_rod_is_the_one_that_is_named():
    """Rods of spans and of two-frame elements are numbered apart."""
    for k in range(4):
        model = Model("m")
        for j, element in enumerate(["se3", "relative(2)", "midpoint", "relative(2)"]):
            free = [(0, j, 0), (0.5 if j == k else 0.99, j, 0)]
            model.add_rod(
                f"rod {j}",
                [(0, j, 0), (1, j, 0)],
                Section.circular(0.01, RUBBER),
                4,
                stress_free=free,
                element=element,
            )
        words = told(model)
        assert f"rod 'rod {k}'" in words
        assert words.count("strain that few") == 1


@pytest.mark.parametrize("element", ["se3", "relative(2)"])
def test_a_rod_strained_at_rest_is_told_unless_its_law_is_made_for_that(element):
    """A stretch of F/EA, by a linear law."""

    def hung(strain, section):
        model = rod(section=section, element=element)
        cord = model.rods["cord"]
        model.add_joint("root", "clamp", cord.start)
        model.add_force("pull", cord.end, (strain * 10.0, 0, 0))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            equilibrium(model)
        assert all(w.filename == __file__ for w in heard)
        return "".join(str(w.message) for w in heard if w.category is DoubtfulModelWarning)

    assert hung(0.99 * LARGE, stiff(EA=10.0)) == ""
    words = hung(1.01 * LARGE, stiff(EA=10.0))
    assert "rod 'cord': at rest its stretch and shear come to 0.202" in words
    assert hung(1.01 * LARGE, stiff(EA=10.0).with_law("stiffening", strain=100.0)) == ""


# --- what users see


@pytest.mark.parametrize("scene", sorted((ROOT / "examples/scenes").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_examples_raise_no_doubt(scene):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulModelWarning)
        load(scene)


def test_check_tells_a_doubt(tmp_path):
    scene = tmp_path / "arm.yaml"
    scene.write_text(
        "materials: {steel: {E: 210, nu: 0.3, density: 7800}}\n"
        "rods: [{name: arm, curve: [[0, 0, 0], [1, 0, 0]], section: {type: circular, radius: 0.01, material: steel}}]\n"
        "run: {t_end: 1, dt: 0.1}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "rodsim", "check", str(scene)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0
    assert done.stderr.startswith("rodsim: model 'scene': rod 'arm': E = 210 Pa is that of no solid")
