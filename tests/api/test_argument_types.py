"""Literals in the annotations of the public API equal the words that a model accepts."""

import inspect
import re
import typing

import pytest

from rodsim import Box, Friction, MassProperties, Material, Model, ModelError, Section, SpringLaw, signals

CORNERS, FACES = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3))
LINE, CORD = ((0, 0, 0), (1, 0, 0)), Section.circular(0.01, Material(E=1e6, nu=0.4, density=1000.0))


def model():
    """Two bodies, one on a hinge and one on a slide, and a rod."""
    new_model = Model("m")
    for name, kind, x in (("a", "revolute", 0), ("b", "prismatic", 2)):
        new_model.add_body(name, Box(1, 1, 1, mass=1), (x, 0, 0))
        new_model.add_joint(f"of {name}", kind, "ground", name, at=(x, 0, 0), axis=(0, 0, 1))
    new_model.add_rod("r", LINE, CORD, 4)
    return new_model


LISTED = {  # the function that lists the words if it gets an unknown one
    ("add_joint", "kind"): lambda made, word: made.add_joint("x", word, "a", "b"),
    ("add_rod", "mass"): lambda made, word: made.add_rod("x", LINE, CORD, 4, mass=word),
    ("add_rod", "element"): lambda made, word: made.add_rod("x", LINE, CORD, 4, element=word),
    ("add_spring", "along"): lambda made, word: made.add_spring("x", "a", "b", 1.0, along=word),
    ("add_limit", "of"): lambda made, word: made.add_limit("x", "a", "b", 1.0, 0.1, upper=2.0, of=word),
    ("add_distributed_load", "kind"): lambda made, word: made.add_distributed_load("x", "r", (0, 0, 1), word),
    ("add_mesh", "side"): lambda made, word: made.add_mesh(
        "x", "a", vertices=CORNERS, triangles=FACES, side=word
    ),
    ("mechanical_system", "chart"): lambda made, word: made.mechanical_system(word),
}

BEARINGS = {"radial bearing", "axial bearing", "self-aligning bearing"}
SYNONYMS = {"kind": {"hinge", "ball", "fixed", "torque"} | BEARINGS}


def literal_words(method, argument):
    """Literals in the annotation of an argument."""
    words, left = set(), [typing.get_type_hints(getattr(Model, method))[argument]]
    while left:
        part = left.pop()
        if typing.get_origin(part) is typing.Literal:
            words |= set(typing.get_args(part))
        else:
            left += typing.get_args(part)
    return words


@pytest.mark.parametrize(("method", "argument"), LISTED)
def test_literals_of_annotations_are_the_accepted_words(method, argument):
    call = LISTED[method, argument]
    with pytest.raises(ModelError, match="'nonsense' is not known; choose one of") as error:
        call(model(), "nonsense")
    listed = set(re.split(r"; did|choose one of ", str(error.value))[1].split(", "))
    assert listed <= literal_words(method, argument) <= listed | SYNONYMS.get(argument, set())


def test_coordinate_literals_of_joints_are_accepted():
    coordinates = {"angle", "displacement"}
    assert literal_words("add_gear", "of") == literal_words("add_joint_force", "of") == coordinates
    assert literal_words("add_drive", "of") == coordinates | {"distance"}
    sample_model, motion = model(), signals.Sine(0.1, 1.0)
    assert sample_model.add_drive("turn", "of a", motion, of="angle").of == "angle"
    assert sample_model.add_drive("slide", "of b", motion, of="displacement").of == "displacement"
    assert literal_words("add_joint", "locked") == {"x", "y", "z", "rx", "ry", "rz"}
    for word in literal_words("add_joint", "locked"):
        model().add_joint("x", "generic", "ground", "a", locked=[word])


def test_the_default_element_of_a_rod_is_se3():
    assert model().rods["r"].element == "se3"


@pytest.mark.parametrize("kind", [Model, Section, Material, SpringLaw, MassProperties, Friction])
def test_no_public_signature_uses_any(kind):
    for name, member in vars(kind).items():
        function = getattr(member, "__func__", member)
        if (
            name.startswith("_")
            or not inspect.isfunction(function)
            or (function.__doc__ or "").startswith("Old name")
        ):
            continue
        words = [str(x.annotation) for x in inspect.signature(function).parameters.values()]
        words.append(str(inspect.signature(function).return_annotation))
        assert not [word for word in words if re.search(r"\bAny\b", word)], f"{kind.__name__}.{name}"
