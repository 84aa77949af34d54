"""Shapes are classes: what a body is made of can be asked for."""

import copy
import pickle

import pytest

import rodsim
from rodsim import Box, Capsule, Cone, Cylinder, MassProperties, Mesh, Model, PointMass, Sphere

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
SIZES = {  # a shape and what it is asked for, by its class
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
def test_a_shape_is_of_its_class_and_no_other(shape):
    assert isinstance(shape, MassProperties)
    assert [kind for kind in SIZES if isinstance(shape, kind)] == [type(shape)]
    assert getattr(rodsim, type(shape).__name__) is type(shape)
    assert repr(shape).startswith(f"<{type(shape).__name__}: ")
    asked = SIZES[type(shape)][1]
    assert {name: getattr(shape, name) for name in asked} == asked


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_the_same(shape, copied):
    other = copied(shape)
    assert type(other) is type(shape)
    assert repr(other) == repr(shape)
    assert other.inertia.tobytes() == shape.inertia.tobytes()
    assert other.center.tobytes() == shape.center.tobytes()
    assert other.vertices.tobytes() == shape.vertices.tobytes()


def test_a_body_says_what_it_is_made_of():
    body = Model("m").add_body("block", Box(0.1, 0.2, 0.3, mass=1.0))
    assert isinstance(body.properties, Box)
    assert body.properties.y == 0.2
