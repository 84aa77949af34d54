"""Arguments of the public API.

Values that are not a number, name, count or choice are rejected with the name of the argument; valid values
are accepted.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

import rodsim
from rodsim import Box, Capsule, Cone, Cylinder, Material, Mesh, Model, Section, Sphere, signals, simulate
from tests.support.two_bodies import CORD, CUBE, LINE, RUBBER, model


def add(kind, *parts):
    """A call of `model().add_...` with these parts."""
    return lambda name, **arguments: getattr(model(), f"add_{kind}")(name, *parts, **arguments)


def run(**arguments):
    return simulate(model(), **arguments)


def call(make, good, **kinds):
    """The called function, its valid arguments, and the names of its arguments grouped by type."""
    return make, good, {name: kind for kind, names in kinds.items() for name in names.split()}


STIFFNESSES = {"EA": 1, "GA": 1, "GJ": 1, "EI": 1, "mass_per_length": 1, "inertia_per_length": 1}
SPAN = {"value": 1, "t_start": 0, "t_end": 1}
CALLS = {
    "Box": call(Box, {"x": 1, "y": 2, "z": 3, "mass": 1}, positive="x y z mass"),
    "Box by density": call(Box, {"x": 1, "y": 2, "z": 3, "density": 1}, positive="density"),
    "Sphere": call(Sphere, {"radius": 1, "mass": 1}, positive="radius mass"),
    "Cylinder": call(Cylinder, {"radius": 1, "height": 1, "mass": 1}, positive="radius height mass"),
    "Capsule": call(Capsule, {"radius": 1, "length": 1, "mass": 1}, positive="radius length mass"),
    "Cone": call(Cone, {"radius": 1, "height": 1, "mass": 1}, positive="radius height mass"),
    "Mesh": call(Mesh, {"source": (CUBE.vertices, CUBE.faces), "mass": 1, "scale": 1}, positive="mass scale"),
    "MassProperties": call(
        rodsim.MassProperties,
        {"mass": 1, "inertia": (1, 1, 1)},
        positive="mass",
        vector="inertia center",
    ),
    "Material": call(
        Material,
        {"E": 1, "nu": 0.3, "density": 1},
        positive="E shear_factor",
        positive_or_0="density",
        not_negative="damping_time",
        number="nu",
    ),
    "Material by G": call(Material, {"E": 1, "G": 1, "density": 1}, positive="G"),
    "Section.circular": call(Section.circular, {"radius": 1, "material": RUBBER}, positive="radius"),
    "Section.tube": call(
        Section.tube,
        {"outer_radius": 1, "inner_radius": 0.5, "material": RUBBER},
        positive="outer_radius",
        not_negative="inner_radius",
    ),
    "Section.rectangle": call(
        Section.rectangle, {"width": 1, "height": 1, "material": RUBBER}, positive="width height"
    ),
    "Section.from_stiffness": call(
        Section.from_stiffness,
        STIFFNESSES,
        positive="EA GA GJ EI inertia_per_length",
        positive_or_0="mass_per_length",
        not_negative="damping_time radius",
    ),
    "Model": call(Model, {}, name="name", vector="gravity"),
    "add_body": call(
        add("body", CUBE), {"name": "n"}, name="name", vector="position velocity angular_velocity orientation"
    ),
    "add_rod": call(
        add("rod", LINE, CORD),
        {"name": "n"},
        name="name mass",
        count="n_elements",
        flag="closed",
        vector="up velocity angular_velocity",
    ),
    "add_joint": call(add("joint", "spherical", "a", "b"), {"name": "n"}, name="name", vector="at"),
    "add_joint with an axis": call(
        add("joint", "revolute", "a", "b"), {"name": "n", "axis": (1, 0, 0)}, vector="axis"
    ),
    "add_joint with a length": call(add("joint", "distance", "a", "r.end"), {"name": "n"}, positive="length"),
    "add_spring": call(
        add("spring", "a", "r.end"),
        {"name": "n", "stiffness": 1},
        name="name",
        not_negative="stiffness length damping",
    ),
    "add_spring along a rotation": call(
        add("spring", "a", "b"),
        {"name": "n", "stiffness": 1, "along": "rotation", "axis": (1, 0, 0)},
        name="name",
        not_negative="stiffness damping",
        vector="axis",
        number="angle",
    ),
    "add_force": call(
        add("force", "a"), {"name": "n", "value": (1, 0, 0)}, name="name", vector="value", flag="following"
    ),
    "add_moment": call(
        add("moment", "r.end"),
        {"name": "n", "value": (1, 0, 0)},
        name="name",
        vector="value",
        flag="following",
    ),
    "Constant": call(signals.Constant, {"value": 1}, number="value"),
    "Ramp": call(signals.Ramp, SPAN, number="value t_start t_end"),
    "Triangle": call(signals.Triangle, {"peak": 1, "t_peak": 1, "t_end": 2}, number="peak t_peak t_end"),
    "Sine": call(signals.Sine, {"amplitude": 1, "frequency": 1}, number="amplitude frequency phase offset"),
    "Pulse": call(signals.Pulse, SPAN, number="value t_start t_end"),
    "Table": call(signals.Table, {"times": [0, 1, 2], "values": [0, 1, 2]}, vector="times values"),
    "along": call(signals.Constant(1.0).along, {"direction": (1, 0, 0)}, vector="direction"),
    "simulate": call(
        run,
        {"t_end": 0.1, "dt": 0.1},
        positive="t_end dt",
        count="output_every",
        flag="resume progress",
        name="chart integrator",
    ),
}
ARGUMENTS = [(call, argument) for call, (_, _, kinds) in CALLS.items() for argument in kinds]

# some characters of each category: Hypothesis would search all of Unicode first, which takes 2 s
CHARACTERS = "aZ09 .,:;-+*/_eEnj'\"{}[]()%#&\\\0\a\n\r\t\x1b\x7f\x85\xa0\xb2\xdf\u0301\u03a9\u0663\u2028\u200b\u202e\u6f22"

NON_NUMBERS = st.one_of(
    st.text(st.sampled_from(CHARACTERS), max_size=8),
    st.floats().map(str),
    st.integers().map(str),
    st.booleans(),
    st.booleans().map(np.bool_),
    st.binary(max_size=4),
    st.complex_numbers(),
    st.dictionaries(st.sampled_from(CHARACTERS), st.integers(), max_size=2),
    st.just(object()),
    st.just(np.timedelta64(1, "s")),
    st.sampled_from(
        [math.nan, math.inf, -math.inf, np.float32("nan"), 1e51, 1e300, -1e60, 10**400, -(10**400), 10**5000]
    ),
)
WRONG = {
    "number": NON_NUMBERS | st.lists(st.floats(-1, 1), min_size=4, max_size=5),
    "positive": NON_NUMBERS | st.floats(max_value=0.0) | st.integers(max_value=0) | st.just(1e-60),
    "positive_or_0": NON_NUMBERS | st.floats(max_value=-1e-300) | st.integers(max_value=-1) | st.just(1e-60),
    "not_negative": NON_NUMBERS | st.floats(max_value=-1e-300) | st.integers(max_value=-1),
    "vector": NON_NUMBERS
    | st.floats()
    | st.lists(st.floats(-1, 1), max_size=2)
    | st.lists(st.floats(-1, 1), min_size=5, max_size=9)
    | st.permutations([0.5, 0.5]).flatmap(lambda x: NON_NUMBERS.map(lambda bad: [*x, bad]))
    | st.just(np.array(["1", "0", "0"]))
    | st.just(np.array([True, False, False]))
    | st.just([[1, 0, 0], [0, 1, 0]]),
    "count": NON_NUMBERS | st.floats() | st.integers(max_value=0) | st.just(10**9) | st.just(2.0),
    "flag": NON_NUMBERS.filter(lambda x: not isinstance(x, bool | np.bool_))
    | st.integers()
    | st.lists(st.booleans()),
    "name": NON_NUMBERS.filter(lambda x: not isinstance(x, str))
    | st.integers()
    | st.none()
    | st.lists(st.text(st.sampled_from(CHARACTERS)))
    | st.sampled_from(["", "a\0b", "\x1b[31m", "a\nb", "\ud800", "x" * 201]),
}


@pytest.fixture(scope="module", autouse=True)
def without_values_from_sources():
    """Disable the constants that Hypothesis collects from the sources of imported modules: the tried values
    would depend on the tests run before, and the collection takes 3 s.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", lambda: providers._local_constants, raising=False)
        yield


@pytest.mark.parametrize(("call", "argument"), ARGUMENTS)
def test_arguments_of_wrong_type_are_rejected_by_name(call, argument):
    make, good, kinds = CALLS[call]
    assert make(**good) is not None

    @settings(max_examples=25, deadline=None, derandomize=True, database=None)
    @given(WRONG[kinds[argument]])
    def is_rejected(value):
        if value is None and argument in ("chart", "progress"):
            return  # these have None for "choose yourself"
        if argument == "output_every" and value == 10**9:
            return  # one output at the end
        if call in ("add_force", "add_moment") and isinstance(value, list | tuple):
            assume(not any(isinstance(x, str) for x in value))  # strings are formulas of time
        if call.startswith("add_spring") and argument in ("stiffness", "length", "angle"):
            assume(not isinstance(value, str))  # so they are here
        with pytest.raises(rodsim.ModelError) as error:
            make(**{**good, argument: value})
        message = str(error.value)
        assert argument in message
        assert len(message) < 600

    is_rejected()


@pytest.mark.parametrize("kind", [int, np.int8, np.float32, np.float64, Fraction, np.array])
def test_python_and_numpy_numbers_are_accepted(kind):
    assert signals.Constant(kind(3))(0.0) == 3.0
    vector = [kind(3), kind(0), kind(1)] if kind is not np.array else np.array([3, 0, 1])
    assert Model("m", gravity=vector).gravity.tolist() == [3, 0, 1]


def test_counts_accept_python_and_numpy_integers():
    for n in (3, np.int64(3), np.uint8(3)):
        assert type(model().add_rod("n", LINE, CORD, n).n_elements) is int
    for n in (3.0, np.float64(3), Fraction(3), "3", True, np.True_):
        with pytest.raises(rodsim.ModelError, match=r"n_elements = .* is not a whole number"):
            model().add_rod("n", LINE, CORD, n)


def test_rod_far_from_the_origin_is_accepted():
    """A rod of 1 m at 6400 km: round-off leaves nine digits of its length."""
    rod = model().add_rod("n", [(6.4e6, 0, 0), (6.4e6, 1, 0)], CORD)
    assert rod.initial.curve.length == pytest.approx(1.0, abs=1e-9)
