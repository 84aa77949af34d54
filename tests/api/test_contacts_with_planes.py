"""Contacts with planes from a model or a scene to its result: built interactions, balls and rods that bounce."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from rigid.errors import ModelError
from rodsim import Box, Material, Model, Result, Section, Sphere, audit, signals, simulate
from rodsim.cli.main import main
from rodsim.results import UnknownName
from rodsim.scenes.model_from_scene import load
from tests.support.contact_models import ball_on_floor

G = 9.80665
RUBBER = Material(E=1e6, nu=0.3, density=1000)
without_model_warnings = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


def rod_above_plane(z: float = 0.02, **contact) -> Model:
    """A rod above an inclined plane, clamped at its start."""
    model = Model("rod", gravity=(0, 0, -G))
    rod = model.add_rod("rod", [(0, 0, z), (1, 0, z)], Section.circular(0.01, RUBBER), 10)
    model.add_joint("clamp", "clamp", rod.start)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("rest", rod, floor, **contact)
    return model


def contact_frames(model: Model) -> list[list[int]]:
    """Frames of the plane and of the touching part of all contact interactions; a rod has a node for each
    element.
    """
    built = model.build()
    of_contacts = [k for k, name in enumerate(built.interaction_names) if name.startswith("contact")]
    return built.system.others.frames[of_contacts, :2].tolist()


@pytest.mark.parametrize("element", ["relative(2)", "relative(4)", "lagrange(3)"])
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_straight_rod_on_a_plane_stays_straight_and_at_rest(element, friction):
    """The node forces equal the node weights. Even stations on chords would bend and shake the rod, at 8 to
    23 iterations a step. With friction it starts to stick against a pull along it, which stretches the rod
    and its bristles.
    """
    depth = 1000.0 * np.pi * 0.01**2 * G / 1e5
    model = Model("lies", gravity=(0.2 if friction else 0.0, 0.0, -G))
    ends, section = [(0, 0, 0.01 - depth), (0.5, 0, 0.01 - depth)], Section.circular(0.01, RUBBER)
    rod = model.add_rod("rod", ends, section, 3, element=element)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    on = model.add_contact("on", rod, floor, stiffness=1e5, friction=friction, rest_speed=1e-3)
    result = simulate(model, 0.3, 1e-3, output_every=10, progress=False)
    r, weight = result.rod("rod").r, 1000.0 * np.pi * 0.01**2 * 0.5 * G
    assert np.ptp(r[-1, :, 2]) < (1e-6 if friction else 1e-12)
    assert np.abs(r[-1] - r[-2]).max() < (1e-7 if friction else 1e-12)
    assert result.newton_iterations[1:].mean() < (2.5 if friction else 1.1)
    contact = result.contact(on.name)
    assert contact.force[-1, 2] == pytest.approx(weight, rel=1e-6)
    assert contact.energy[-1] == pytest.approx(0.5 * weight * depth, rel=1e-3)
    assert audit(result).ok


def test_rod_near_a_joint_behind_the_plane_is_excluded():
    """Nodes within pi times the radius of the joint, and an element that begins there."""
    assert contact_frames(rod_above_plane(z=0.0095)) == [[0, k] for k in range(2, 11)]
    assert contact_frames(rod_above_plane(z=0.0395, radius=0.04)) == [[0, k] for k in range(3, 11)]
    with pytest.raises(ModelError, match="contact 'rest': no element of rod 'rod' is further from its joint"):
        rod_above_plane(z=0.34, radius=0.35).build()
    angles = 2 * np.pi * np.arange(8) / 8  # a ring, on both sides of its first node
    model = Model("ring")
    points = [(np.cos(a), np.sin(a), 0.0395) for a in angles]
    ring = model.add_rod("ring", points, Section.circular(0.01, RUBBER), 8, closed=True)
    model.add_joint("clamp", "clamp", ring.start)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("rest", ring, floor, radius=0.04)
    assert contact_frames(model) == [[0, k] for k in range(2, 8)]


def test_joined_parts_are_excluded_unless_they_are_the_only_pair():
    model = Model("pendulum")
    bob = model.add_body("bob", Box(0.1, 0.1, 1, density=100), (0, 0, -0.5))
    model.add_joint("pin", "revolute", model.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    knob = model.add_sphere("knob", bob.at((0, 0, -0.4)), 0.1)
    wall = model.add_plane("wall", model.ground.at((-0.5, 0, 0)), (1, 0, 0))
    free = model.add_body("free", Sphere(0.1, density=1), (0, 3, 0))
    model.add_contact("stop", knob, wall, 1e3)
    assert contact_frames(model) == [[0, 1]]
    del model.contacts["stop"]
    other = model.add_sphere("other", free, 0.1)
    model.add_contact("all", [knob, wall, other], stiffness=1e3, ignore=[(knob, other)])
    assert contact_frames(model) == [[0, 2]]


def test_rod_with_offset_centres_of_mass_is_rejected():
    model = Model("m")
    section = Section.circular(0.01, RUBBER).with_centers(mass=(0.001, 0))
    rod = model.add_rod("rod", [(0, 0, 1), (1, 0, 1)], section, 3)
    model.add_contact("it", rod, model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1)))
    with pytest.raises(ModelError, match="rod 'rod': its sections have centres off its curve"):
        model.build()


# --- runs


@without_model_warnings
def test_ball_on_a_plane_returns_to_its_height_and_energy():
    """Apex 1 + v^2/(2 g) = 1.05099 m; k d^2/2 = m g (top - rho + d) gives the largest depth 0.0326 m."""
    result = simulate(ball_on_floor(v=(0, 0, 1)), 1.1, 1e-3, output_every=1, progress=False)
    contact, z = result.contact("on"), result.body("ball").r[:, 2]
    assert z[np.argmin(z) :].max() == pytest.approx(1.0 + 1.0 / (2 * G), abs=2e-4)  # between two outputs
    assert contact.depth.max() == pytest.approx(0.0326, abs=1e-4)
    total = result.energy["total"]
    assert np.ptp(total) < 1e-11 * total[0]
    assert contact.gap == pytest.approx(z - 0.05, abs=1e-14)
    assert contact.force[:, 2] == pytest.approx(1e4 * contact.depth, abs=1e-10)
    assert np.array_equal(contact.normal_force, np.abs(contact.force[:, 2]))
    assert contact.energy == pytest.approx(0.5e4 * contact.depth**2, abs=1e-12)
    assert list(contact.table()) == [
        "gap",
        "normal_force",
        "energy",
        "touching",
        "force_x",
        "force_y",
        "force_z",
    ]
    assert audit(result).ok, audit(result).text()


@without_model_warnings
def test_sliding_ball_bounces_with_its_restitution_and_balanced_losses():
    """v_after = 0.7 v; during sliding the floor takes mu times the normal impulse, m (1 + 0.7) v, and rotates
    the ball.
    """
    parameters = {"restitution": 0.7, "friction": 0.1, "rest_speed": 1e-6, "stiffness": 1e6}
    model = ball_on_floor(0.051, (3, 0, -1), 0.0, **parameters)
    result = simulate(model, 0.02, 5e-5, output_every=1, progress=False)
    v, omega = result.body("ball").v[-1], result.body("ball").omega[-1]
    assert v == pytest.approx([3 - 0.1 * 1.7, 0, 0.7], abs=2e-3)
    assert omega[1] == pytest.approx(2.5 * 0.1 * 1.7 / 0.05, rel=0.02)
    total = result.energy["total"]
    assert total + result.dissipation == pytest.approx(total[0], rel=1e-12)
    assert np.diff(result.dissipation).min() >= 0.0
    assert audit(result).ok, audit(result).text()


@without_model_warnings
def test_part_on_a_driven_plane_moves_with_it():
    """A rising plane carries a rod; the work of the drive equals the energy of the rod."""
    model = Model("lift", gravity=(0, 0, -G))
    lift = model.add_driven("lift", displacement=signals.SmoothStep(0.05, 0.0, 0.3).along((0, 0, 1)))
    rod = model.add_rod("rod", [(0, 0, 0.01), (0.3, 0, 0.01)], Section.circular(0.01, RUBBER), 3)
    model.add_contact("carry", rod, model.add_plane("deck", lift, (0, 0, 1)), stiffness=1e5)
    result = simulate(model, 0.3, 1e-3, output_every=1, progress=False)
    assert result.contact("carry").depth.max() < 2e-3
    assert result.rod("rod").r[-1, :, 2] == pytest.approx(0.06, abs=3e-3)
    total = result.energy["total"]
    assert total - result.work == pytest.approx(total[0], abs=1e-11)


@without_model_warnings
def test_contact_is_read_from_a_file_and_a_missing_one_is_reported(tmp_path):
    result = simulate(ball_on_floor(), 1e-2, 1e-2, output=tmp_path / "ball.vtkhdf", progress=False)
    assert Result.load(tmp_path / "ball.vtkhdf").contacts == result.contacts == ["on"]
    with pytest.raises(UnknownName, match="no contact 'fall'; the contacts are 'on'"):
        result.contact("fall")
    plain = Model("m")
    plain.add_body("a", Sphere(0.1, mass=1.0))
    with pytest.raises(UnknownName, match="no contact 'x'; there are none"):
        simulate(plain, 0.01, 0.01, progress=False).contact("x")


SCENE = {
    "name": "ball",
    "gravity": [0, 0, -G],
    "bodies": [
        {"name": "ball", "shape": {"type": "sphere", "radius": 0.05, "density": 1000},
         "position": [0, 0, 1], "velocity": [0, 0, 1]}
    ],
    "spheres": [{"name": "ball", "on": "ball", "radius": 0.05}],
    "planes": [{"name": "floor", "on": {"ground": [3, 4, 0]}, "normal": [0, 0, 1]}],
    "contacts": [{"name": "on", "a": "ball", "b": ["floor"], "stiffness": 1e4}],
    "run": {"t_end": 0.6, "dt": 0.001},
}  # fmt: skip


def write_scene(tmp_path, data):
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


@pytest.mark.parametrize(
    "law",
    [{"stiffness": 1e4}, {"stiffness": None, "law": "1e4*depth + 2e9*depth**3 - 2e6*depth**2"}],
    ids=str,
)
def test_contact_scene_equals_the_python_model_and_check_reports_estimates(tmp_path, capsys, law):
    path = write_scene(tmp_path, SCENE | {"contacts": [SCENE["contacts"][0] | law]})
    one, other = load(path).model.build(), ball_on_floor(v=(0, 0, 1), **law).build()
    assert one.layout.description["fingerprint"] == other.layout.description["fingerprint"]
    assert one.layout.description["contacts"] == other.layout.description["contacts"]
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "1 sphere, 1 plane, 1 contact" in printed
    advice = "contact 'on': plane 'floor' and sphere 'ball' come to a depth of some 0.00051 m by weight"
    assert f"advice: {advice}" in printed or "law" in law
    assert main(["run", str(path), "-o", str(tmp_path / "out.vtkhdf")]) == 0


@pytest.mark.parametrize(
    ("key", "change", "words"),
    [
        ("contacts", {"a": "bal"}, "there is no surface 'bal'; did you mean 'ball'"),
        ("contacts", {"ignore": [["ball", "flor"]]}, "there is no surface 'flor'; did you mean 'floor'"),
        ("contacts", {"stiffness": -1}, "contact 'on': stiffness = -1"),
        ("contacts", {"friction": [0.1, 0.2]}, "kinetic coefficient 0.2 is above the static one"),
        ("bodies", {"position": [0, 0, 0]}, "contact 'on': sphere 'ball' is 0.05 m inside of plane 'floor'"),
    ],
)
def test_contact_error_names_the_line_of_the_scene(tmp_path, key, change, words):
    with pytest.raises(ValueError, match=rf"scene.yaml:\d+: .*{words}"):
        load(write_scene(tmp_path, {**SCENE, key: [SCENE[key][0] | change]}))


def test_duplicate_surface_name_is_rejected(tmp_path):
    section = {"type": "circular", "radius": 0.01, "material": "m"}
    data = SCENE | {
        "materials": {"m": {"E": 1e6, "nu": 0.3, "density": 1000}},
        "rods": [{"name": "ball", "curve": [[0, 0, 2], [1, 0, 2]], "section": section}],
        "bodies": [SCENE["bodies"][0] | {"name": "body"}],
        "spheres": [SCENE["spheres"][0] | {"on": "body"}],
    }
    with pytest.raises(ValueError, match="'ball' is a rod and a sphere; rename one of them"):
        load(write_scene(tmp_path, data))


@without_model_warnings
def test_rigid_twin_has_the_spheres_of_a_rod_but_not_its_surface():
    model = Model("twin", gravity=(0, 0, -G))
    rod = model.add_rod("rod", [(0, 0, 1), (1, 0, 1)], Section.circular(0.01, RUBBER), 4)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    ends = [model.add_sphere(f"end {s}", rod.at(s), 0.02) for s in (0, 1)]
    model.add_contact("ends", ends, floor, stiffness=1e4)
    model.add_contact("both", ends[0], ends[1], stiffness=1e4)
    model.add_contact("rod", rod, floor)
    twin = model.as_rigid()
    assert list(twin.contacts) == ["ends"]
    assert [x.on.part.name for x in twin.contacts["ends"].a] == ["rod", "rod"]
    assert twin.contacts["ends"].a[1] is twin.spheres["end 1"]
    omissions = " ".join(twin.left_out)
    assert "contact 'rod' uses the surface of rod 'rod', which is a body here: left out" in omissions
    assert (
        "contact 'both' is between points that do not move relative to each other here: left out" in omissions
    )
    del model.contacts["both"]
    result = simulate(model.as_rigid(), 0.5, 1e-3, progress=False)
    assert np.ptp(result.energy["total"]) < 1e-10
