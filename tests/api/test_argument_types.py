"""The words that type checkers accept are those that a model accepts; public signatures say what they take."""

import inspect
import re
import typing

import pytest

from discretization.space.rod_elements import DEFAULT, WORDS
from discretization.time.mechanical_stepper import CHARTS
from rigid.inertia import MassProperties
from rigid.joints import JOINTS
from rigid.joints.generic import ROTATIONS, TRANSLATIONS
from rodsim import Friction, Material, Model, Section, SpringLaw
from rodsim.parts import argument_types, joint_entries, load_entries, model_parts, springs
from rodsim.parts.entry import ENTRIES

SIDES = next(field.sort.choices for name, field in ENTRIES["meshes"].fields().items() if name == "side")
LIMITED = ENTRIES["limits"].fields()["of"].sort.choices


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        (argument_types.JointKind, [*JOINTS, *joint_entries.SYNONYMS]),
        (argument_types.ElementName, WORDS),
        (argument_types.RodMass, model_parts.MASSES),
        (argument_types.LoadKind, [*load_entries.KINDS, *load_entries.KIND.synonyms]),
        (argument_types.JointCoordinate, joint_entries.COORDINATES),
        (argument_types.LimitedCoordinate, LIMITED),
        (argument_types.LockedCoordinate, [*TRANSLATIONS, *ROTATIONS]),
        (argument_types.MeshSide, SIDES),
        (argument_types.ChartName, CHARTS),
        (springs.SpringCoordinate, springs.COORDINATES),
    ],
)
def test_literals_are_the_words_that_are_accepted(literal, words):
    assert set(typing.get_args(literal)) == set(words)


def test_the_default_element_is_that_of_the_discretization():
    assert inspect.signature(Model.add_rod).parameters["element"].default == DEFAULT


@pytest.mark.parametrize("kind", [Model, Section, Material, SpringLaw, MassProperties, Friction])
def test_no_public_method_takes_or_returns_anything(kind):
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
