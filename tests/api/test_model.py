"""Model construction: properties of bodies, orientations, positions of anchors and joints."""

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rodsim
from discretization.interaction_table import loads_of
from discretization.state_measures import energies
from rigid import quaternions
from rodsim import Box, Capsule, Cone, Cylinder, Material, Mesh, Model, PointMass, Section, Sphere, align
from rodsim.building.build import Placement

SECTION = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000.0))
LINE = [(0, 0, 0), (1, 0, 0)]
RING = [(np.cos(a), np.sin(a), 0) for a in 2 * np.pi * np.arange(20) / 20]


@pytest.mark.parametrize("up", [None, (1, 0, 1), (0, -1, 0.3)])
def test_rod_starting_in_its_stress_free_shape_has_no_stress(up):
    angle = np.linspace(0.3, 2.3, 30)
    arc = np.stack([np.cos(angle), np.sin(angle), 0.2 * angle], axis=1)
    model = Model("arc")
    model.add_rod("arc", arc, SECTION, 10, up=up, stress_free=arc)
    built = model.build()
    assert energies(built.system, built.state).elastic < 1e-20  # round-off, squared, of E A L = 6e5 J


def test_end_of_a_closed_rod_is_its_start_up_to_round_off():
    model = Model("ring")
    ring = model.add_rod("ring", RING, SECTION, 12, closed=True)
    for k, s in enumerate((0.0, 1.0, 1.0 - 1e-12)):
        model.add_force(f"f{k}", ring.at(s), (0, 0, 1))
    built = model.build()
    assert list(loads_of(built.system.others).frame) == [1, 1, 1]
    assert len(built.layout.rods[0].frames) == 12


def test_joint_on_a_body_at_the_origin_tolerates_round_off():
    """The two points differ in the last digit; the only length scale of the model is their distance from the
    origin.
    """
    model = Model("pendulum")
    body = model.add_body("b", Box(1, 2, 3, mass=1), orientation=(np.cos(0.3), np.sin(0.3), 0, 0))
    point = quaternions.rotate(body.orientation, (0.1, 0.2, 0.3)) * (1 + 2e-16)
    model.add_joint("j", "spherical", model.ground.at(point), body.at((0.1, 0.2, 0.3)))
    assert len(model.build().state.lam) == 3


def test_anchors_of_all_parts_have_their_positions():
    """Together and one by one, bit-identical; relative to the frames of their parts, which are at the centres
    of mass.
    """
    model = Model("parts")
    orientation = quaternions.normalize(np.array([0.8, 0.3, -0.2, 0.45]))
    cone = model.add_body("cone", Cone(0.2, 0.5, density=10.0), (1.0, 2.0, 3.0), orientation)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 1, 0)], Section.circular(0.1, Material(1e7, 0.3, 1e3)), 4)
    driven = model.add_driven("driven", (0.0, 1.0, 0.0), orientation)
    anchors = [offset.at((0.1, -0.2, 0.3)) for offset in (cone, model.ground, driven)]
    anchors += [rod.at(0.5, (0.0, 0.01, 0.02)), cone.at((0.0, 0.0, 0.0))]
    placement = Placement(model)
    frames = [1, 0, 7, 4, 1]
    for anchor, placed, frame in zip(anchors, placement.placed(anchors), frames, strict=True):
        assert placed.world == pytest.approx(anchor.position, abs=1e-14)
        offset = quaternions.rotate(placement.quat[frame], placed.X)
        assert placement.r[frame] + offset == pytest.approx(anchor.position, abs=1e-14)
        assert placed.frame == frame
        assert np.array_equal(placement.place(anchor).world, placed.world)
    assert placement.r[1] == pytest.approx(cone.center, abs=1e-14)
    assert placement.placed([]) == []


# --- shapes are classes


CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
SIZES = {  # a shape and its attributes, by class
    Box: (Box(0.1, 0.2, 0.3, density=10.0), {"x": 0.1, "y": 0.2, "z": 0.3}),
    Sphere: (Sphere(0.1, mass=2.0), {"radius": 0.1, "surface": "coarse"}),
    Cylinder: (Cylinder(0.1, 0.3, mass=2.0), {"radius": 0.1, "height": 0.3, "surface": "coarse"}),
    Capsule: (Capsule(0.1, 0.3, mass=2.0), {"radius": 0.1, "length": 0.3, "surface": "coarse"}),
    Cone: (Cone(0.1, 0.3, mass=2.0), {"radius": 0.1, "height": 0.3, "surface": "coarse"}),
    Mesh: (Mesh((CORNERS, FACES), mass=2.0), {}),
    PointMass: (PointMass(2.0), {}),
}
SHAPES = [shape for shape, _ in SIZES.values()]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_shapes_are_instances_of_exactly_their_class(shape):
    assert isinstance(shape, rodsim.MassProperties)
    assert [kind for kind in SIZES if isinstance(shape, kind)] == [type(shape)]
    assert getattr(rodsim, type(shape).__name__) is type(shape)
    assert repr(shape).startswith(f"<{type(shape).__name__}: ")
    sizes = SIZES[type(shape)][1]
    assert {name: getattr(shape, name) for name in sizes} == sizes


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copied_models_are_equal(shape, copied):
    other = copied(shape)
    assert type(other) is type(shape)
    assert repr(other) == repr(shape)
    assert other.inertia.tobytes() == shape.inertia.tobytes()
    assert other.center.tobytes() == shape.center.tobytes()
    assert other.vertices.tobytes() == shape.vertices.tobytes()


def test_body_has_its_shape_and_properties():
    body = Model("m").add_body("block", Box(0.1, 0.2, 0.3, mass=1.0))
    assert isinstance(body.properties, Box)
    assert body.properties.y == 0.2


# --- orientations: quaternions, matrices, rotations of scipy; in scenes also Euler angles and two directions


QUAT = np.array([0.5, -0.1, 0.7, 0.2]) / np.linalg.norm([0.5, -0.1, 0.7, 0.2])
FORMS = {
    "quaternion": QUAT,
    "list": QUAT.tolist(),
    "matrix": quaternions.to_matrix(QUAT),
    "rows": quaternions.to_matrix(QUAT).tolist(),
    "rotation": Rotation.from_quat(np.roll(QUAT, -1)),
}


def same_rotation(p, q):
    return min(np.abs(p - q).max(), np.abs(p + q).max()) < 1e-14


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_an_orientation_are_equivalent(form):
    model = Model("m")
    body = model.add_body("a", Box(1, 1, 1, mass=1), orientation=FORMS[form])
    cart = model.add_driven("b", orientation=FORMS[form])
    assert same_rotation(body.orientation, QUAT)
    assert same_rotation(cart.orientation, QUAT)


@pytest.mark.parametrize("form", FORMS)
def test_attitude_function_may_return_every_form(form):
    forms = {"quaternion": np.asarray, "list": np.ndarray.tolist, "matrix": quaternions.to_matrix}
    forms |= {"rows": lambda q: quaternions.to_matrix(q).tolist()}
    forms |= {"rotation": lambda q: Rotation.from_quat(np.roll(q, -1))}

    def quaternion(t):
        return quaternions.from_axis_angle((0.0, 0.6, 0.8), 0.3 + 2.0 * t)

    one, other = (
        Model("m").add_driven("b", attitude=attitude).motion(np.linspace(0.0, 1.0, 5))
        for attitude in (quaternion, lambda t: forms[form](quaternion(t)))
    )
    for a, b in zip(one, other, strict=True):
        assert np.abs(a - b).max() < 1e-12


WAYS = [(1, 0, 0), (0, 1, 0), (0, 0, -2), (1, 2, 3), (-1, -2, -3), (1, 2, 3 + 1e-9), (-1, -2, -3 + 1e-7)]


@pytest.mark.parametrize("a", WAYS)
@pytest.mark.parametrize("b", WAYS)
def test_align_rotates_by_the_angle_between_the_directions(a, b):
    q = align(a, b)
    u, v = (np.array(x) / np.linalg.norm(x) for x in (a, b))
    assert quaternions.rotate(q, u) == pytest.approx(v, abs=1e-8)
    angle = np.linalg.norm(quaternions.to_rotation_vector(q))
    assert angle == pytest.approx(2.0 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)), abs=1e-8)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)


SCENE = """
bodies: [{{name: block, shape: {{type: box, size: [1, 1, 1], mass: 1}}, orientation: {orientation}}}]
run: {{t_end: 0.1, dt: 0.01}}
"""


@pytest.fixture
def orientation(tmp_path):
    """Orientation of a body given by a text in a scene."""

    def loaded(text):
        (tmp_path / "scene.yaml").write_text(SCENE.format(orientation=text))
        return Model.load(tmp_path / "scene.yaml").bodies["block"].orientation

    return loaded


def test_scenes_accept_euler_angles_and_directions(orientation):
    quat = orientation("{align: [0, 0, 1], with: [1, 0, 2]}")
    assert np.array_equal(quat, align((0, 0, 1), (1, 0, 2)))
    x, y = (quaternions.from_axis_angle(axis, np.radians(30)) for axis in ((1, 0, 0), (0, 1, 0)))
    assert same_rotation(orientation("{euler: xyz, angles_deg: [30, 30, 0]}"), quaternions.multiply(y, x))
    assert same_rotation(orientation("{euler: XYZ, angles_deg: [30, 30, 0]}"), quaternions.multiply(x, y))
