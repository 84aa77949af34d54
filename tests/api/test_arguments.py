"""Arguments of the public API: what is no number, name, count or choice is refused by its name; values that are pass."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from rigid import checks
from rodsim import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    MassProperties,
    Material,
    Mesh,
    Model,
    ModelError,
    Section,
    Sphere,
    audit,
    signals,
    simulate,
)
from rodsim.results.errors import ResultError
from rodsim.results.export import export
from rodsim.results.plot import plot
from rodsim.results.render import render, render_movie
from tests.support.results_sample import sample_layout, sample_output

RUBBER = Material(E=1e6, nu=0.4, density=1000.0)
CORD = Section.circular(0.01, RUBBER)
CUBE = Box(1, 1, 1, mass=1)
LINE = ((0, 0, 0), (1, 0, 0))


def model():
    """Two bodies and a rod."""
    made = Model("m")
    made.add_body("a", CUBE)
    made.add_body("b", CUBE, position=(2, 0, 0))
    made.add_rod("r", LINE, CORD, 4)
    return made


def add(what, *parts):
    """A call of `model().add_...` with its parts by name."""

    def call(**arguments):
        made = model()
        there = {
            **made.bodies,
            "ground": made.ground,
            "end": made.rods["r"].end,
            "point": made.bodies["a"].at((0, 0, 0)),
        }
        return getattr(made, f"add_{what}")(
            arguments.pop("name"),
            *[there[p] if isinstance(p, str) and p in there else p for p in parts],
            **arguments,
        )

    return call


def run(**arguments):
    return simulate(model(), **arguments)


# What stands for each argument: a number (positive, that or 0, not negative, any), a vector, a count, a flag, a name.
POSITIVE, POSITIVE_OR_0, NOT_NEGATIVE, NUMBER, VECTOR, COUNT, FLAG, NAME = (
    "positive",
    "positive or 0",
    "not negative",
    "number",
    "vector",
    "count",
    "flag",
    "name",
)
CALLS = {
    "Box": (
        Box,
        {"x": 1, "y": 2, "z": 3, "mass": 1},
        {"x": POSITIVE, "y": POSITIVE, "z": POSITIVE, "mass": POSITIVE},
    ),
    "Box by density": (Box, {"x": 1, "y": 2, "z": 3, "density": 1}, {"density": POSITIVE}),
    "Sphere": (Sphere, {"radius": 1, "mass": 1}, {"radius": POSITIVE, "mass": POSITIVE}),
    "Cylinder": (
        Cylinder,
        {"radius": 1, "height": 1, "mass": 1},
        {"radius": POSITIVE, "height": POSITIVE, "mass": POSITIVE},
    ),
    "Capsule": (
        Capsule,
        {"radius": 1, "length": 1, "mass": 1},
        {"radius": POSITIVE, "length": POSITIVE, "mass": POSITIVE},
    ),
    "Cone": (
        Cone,
        {"radius": 1, "height": 1, "mass": 1},
        {"radius": POSITIVE, "height": POSITIVE, "mass": POSITIVE},
    ),
    "Mesh": (
        Mesh,
        {"source": (CUBE.vertices, CUBE.faces), "mass": 1, "scale": 1},
        {"mass": POSITIVE, "scale": POSITIVE},
    ),
    "MassProperties": (
        MassProperties,
        {"mass": 1, "inertia": (1, 1, 1), "center": (0, 0, 0)},
        {"mass": POSITIVE, "inertia": VECTOR, "center": VECTOR},
    ),
    "Material": (
        Material,
        {"E": 1, "nu": 0.3, "density": 1},
        {
            "E": POSITIVE,
            "nu": NUMBER,
            "density": POSITIVE_OR_0,
            "shear_factor": POSITIVE,
            "damping_time": NOT_NEGATIVE,
        },
    ),
    "Material by G": (Material, {"E": 1, "G": 1, "density": 1}, {"G": POSITIVE}),
    "Section.circular": (Section.circular, {"radius": 1, "material": RUBBER}, {"radius": POSITIVE}),
    "Section.tube": (
        Section.tube,
        {"outer_radius": 1, "inner_radius": 0.5, "material": RUBBER},
        {"outer_radius": POSITIVE, "inner_radius": NOT_NEGATIVE},
    ),
    "Section.rectangle": (
        Section.rectangle,
        {"width": 1, "height": 1, "material": RUBBER},
        {"width": POSITIVE, "height": POSITIVE},
    ),
    "Section.from_stiffness": (
        Section.from_stiffness,
        {"EA": 1, "GA": 1, "GJ": 1, "EI": 1, "mass_per_length": 1, "inertia_per_length": 1},
        {
            "EA": POSITIVE,
            "GA": POSITIVE,
            "GJ": POSITIVE,
            "EI": POSITIVE,
            "mass_per_length": POSITIVE_OR_0,
            "inertia_per_length": POSITIVE,
            "damping_time": NOT_NEGATIVE,
            "radius": NOT_NEGATIVE,
        },
    ),
    "Model": (Model, {}, {"name": NAME, "gravity": VECTOR}),
    "add_body": (
        add("body", CUBE),
        {"name": "n"},
        {
            "name": NAME,
            "position": VECTOR,
            "velocity": VECTOR,
            "angular_velocity": VECTOR,
            "orientation": VECTOR,
        },
    ),
    "add_rod": (
        add("rod", LINE, CORD),
        {"name": "n"},
        {
            "name": NAME,
            "n_elements": COUNT,
            "closed": FLAG,
            "up": VECTOR,
            "velocity": VECTOR,
            "angular_velocity": VECTOR,
            "mass": NAME,
        },
    ),
    "add_joint": (add("joint", "spherical", "a", "b"), {"name": "n"}, {"name": NAME, "at": VECTOR}),
    "add_joint with an axis": (
        add("joint", "revolute", "a", "b"),
        {"name": "n", "axis": (1, 0, 0)},
        {"axis": VECTOR},
    ),
    "add_joint with a length": (
        add("joint", "distance", "a", "end"),
        {"name": "n"},
        {"length": POSITIVE},
    ),
    "add_spring": (
        add("spring", "a", "end"),
        {"name": "n", "stiffness": 1},
        {"name": NAME, "stiffness": NOT_NEGATIVE, "length": NOT_NEGATIVE, "damping": NOT_NEGATIVE},
    ),
    "add_spring along a rotation": (
        add("spring", "a", "b"),
        {"name": "n", "stiffness": 1, "along": "rotation", "axis": (1, 0, 0)},
        {"name": NAME, "stiffness": NOT_NEGATIVE, "axis": VECTOR, "damping": NOT_NEGATIVE, "angle": NUMBER},
    ),
    "add_force": (
        add("force", "point"),
        {"name": "n", "value": (1, 0, 0)},
        {"name": NAME, "value": VECTOR, "following": FLAG},
    ),
    "add_moment": (
        add("moment", "end"),
        {"name": "n", "value": (1, 0, 0)},
        {"name": NAME, "value": VECTOR, "following": FLAG},
    ),
    "Constant": (signals.Constant, {"value": 1}, {"value": NUMBER}),
    "Ramp": (
        signals.Ramp,
        {"value": 1, "t_start": 0, "t_end": 1},
        {"value": NUMBER, "t_start": NUMBER, "t_end": NUMBER},
    ),
    "Triangle": (
        signals.Triangle,
        {"peak": 1, "t_peak": 1, "t_end": 2},
        {"peak": NUMBER, "t_peak": NUMBER, "t_end": NUMBER},
    ),
    "Sine": (
        signals.Sine,
        {"amplitude": 1, "frequency": 1},
        {"amplitude": NUMBER, "frequency": NUMBER, "phase": NUMBER, "offset": NUMBER},
    ),
    "Pulse": (
        signals.Pulse,
        {"value": 1, "t_start": 0, "t_end": 1},
        {"value": NUMBER, "t_start": NUMBER, "t_end": NUMBER},
    ),
    "Table": (signals.Table, {"times": [0, 1, 2], "values": [0, 1, 2]}, {"times": VECTOR, "values": VECTOR}),
    "along": (signals.Constant(1.0).along, {"direction": (1, 0, 0)}, {"direction": VECTOR}),
    "simulate": (
        run,
        {"t_end": 0.1, "dt": 0.1},
        {
            "t_end": POSITIVE,
            "dt": POSITIVE,
            "output_every": COUNT,
            "resume": FLAG,
            "progress": FLAG,
            "chart": NAME,
            "integrator": NAME,
        },
    ),
}
ARGUMENTS = [(call, argument) for call, (_, _, kinds) in CALLS.items() for argument in kinds]

# of each sort of characters some: Hypothesis would first look through all that there are, which takes 2 s
CHARACTERS = "aZ09 .,:;-+*/_eEnj'\"{}[]()%#&\\\0\a\n\r\t\x1b\x7f\x85\xa0\xb2\xdf\u0301\u03a9\u0663\u2028\u200b\u202e\u6f22"

NO_NUMBER = st.one_of(
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
    NUMBER: NO_NUMBER | st.lists(st.floats(-1, 1), min_size=4, max_size=5),
    POSITIVE: NO_NUMBER | st.floats(max_value=0.0) | st.integers(max_value=0) | st.just(1e-60),
    POSITIVE_OR_0: NO_NUMBER | st.floats(max_value=-1e-300) | st.integers(max_value=-1) | st.just(1e-60),
    NOT_NEGATIVE: NO_NUMBER | st.floats(max_value=-1e-300) | st.integers(max_value=-1),
    VECTOR: NO_NUMBER
    | st.floats()
    | st.lists(st.floats(-1, 1), max_size=2)
    | st.lists(st.floats(-1, 1), min_size=5, max_size=9)
    | st.permutations([0.5, 0.5]).flatmap(lambda x: NO_NUMBER.map(lambda bad: [*x, bad]))
    | st.just(np.array(["1", "0", "0"]))
    | st.just(np.array([True, False, False]))
    | st.just([[1, 0, 0], [0, 1, 0]]),
    COUNT: NO_NUMBER | st.floats() | st.integers(max_value=0) | st.just(10**9) | st.just(2.0),
    FLAG: NO_NUMBER.filter(lambda x: not isinstance(x, bool | np.bool_))
    | st.integers()
    | st.lists(st.booleans()),
    NAME: NO_NUMBER.filter(lambda x: not isinstance(x, str))
    | st.integers()
    | st.none()
    | st.lists(st.text(st.sampled_from(CHARACTERS)))
    | st.sampled_from(["", "a\0b", "\x1b[31m", "a\nb", "\ud800", "x" * 201]),
}


@pytest.fixture(scope="module", autouse=True)
def values_of_no_source():
    """Hypothesis draws some of its values from the sources of all modules of ours that happen to be there: what is tried would
    depend on the tests before, and to read them takes 3 s.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", lambda: providers._local_constants, raising=False)
        yield


@pytest.mark.parametrize(("call", "argument"), ARGUMENTS)
def test_what_is_not_of_the_kind_of_an_argument_is_refused_by_its_name(call, argument):
    make, good, kinds = CALLS[call]
    assert make(**good) is not None

    @settings(max_examples=25, deadline=None, derandomize=True, database=None)
    @given(WRONG[kinds[argument]])
    def refused(value):
        if value is None and argument in ("chart", "progress"):
            return  # these have None for "choose yourself"
        if argument == "output_every" and value == 10**9:
            return  # one output at the end
        with pytest.raises(ModelError) as error:
            make(**{**good, argument: value})
        said = str(error.value)
        assert argument in said
        assert len(said) < 600

    refused()


@pytest.mark.parametrize("kind", [int, np.int8, np.float32, np.float64, Fraction, np.array])
def test_numbers_of_python_and_numpy_are_numbers(kind):
    assert checks.number("x", "a", kind(3)) == 3.0
    assert checks.vector(
        "x", "a", [kind(3), kind(0), kind(1)] if kind is not np.array else kind([3, 0, 1])
    ).tolist() == [3, 0, 1]


def test_a_count_is_a_whole_number_of_python_or_numpy():
    assert [type(checks.count("x", "n", n)) for n in (3, np.int64(3), np.uint8(3))] == [int] * 3
    for n in (3.0, np.float64(3), Fraction(3), "3", True, np.True_, None):
        with pytest.raises(ModelError, match=r"n = .* is not a whole number"):
            checks.count("x", "n", n)


REFUSED = [
    ("n_elements = 1000000000 is too large; give at most 1000000", lambda: model().add_rod("n", LINE, CORD, 10**9)),
    ("n_elements = 2 is too small; give at least 3", lambda: model().add_rod("n", LINE, CORD, 2, closed=True)),
    (r"output_every = 2\.0 is not a whole number", lambda: run(t_end=1, dt=0.1, output_every=2.0)),
    ("integrator = <int>; give a name", lambda: run(t_end=1, dt=0.1, integrator=10**5000)),
    ("dt = '0.1' is not a number", lambda: run(t_end=1, dt="0.1")),
    ("Box: mass = True is not a number", lambda: Box(1, 1, 1, mass=True)),
    (r"position\[0\] = 1e\+60 is too large; choose other units", lambda: model().add_body("n", CUBE, (1e60, 0, 0))),
    ("up = .* is not a list of 3 finite numbers", lambda: model().add_rod("n", LINE, CORD, up=[True, False, False])),
    ("give the curve as at least 2 points", lambda: model().add_rod("n", [("0", "0", "0"), ("1", "0", "0")], CORD)),
    ("section = 'cord' is neither a Section nor", lambda: model().add_rod("n", LINE, "cord")),
    ("material = 'rubber' is no Material", lambda: Section.circular(1, "rubber")),
    ("kind = .'weld'. is not known; choose one of", lambda: model().add_joint("n", ["weld"], "a", "b")),
    ("simulate: expected a Model, got 'm'", lambda: simulate("m", 1, 0.1)),
    ("output = '' is no name of a file", lambda: run(t_end=1, dt=0.1, output="")),
    ("contains NUL", lambda: run(t_end=1, dt=0.1, output="a\0b")),
    ("give either damping_time or D", lambda: Section.from_stiffness(
        C=np.eye(6), D=np.eye(6), damping_time=1.0, mass_per_length=1, inertia_per_length=1)),
    ("extends over 2 m at 9e\\+18 m from the origin", lambda: model().add_rod("n", lambda s: (9e18, 2 * s, 0), CORD)),
    ("2 x 1e-08|extends over 1 m at 1e\\+09", lambda: model().add_rod("n", [(1e9, 0, 0), (1e9 + 1, 0, 0)], CORD)),
]  # fmt: skip


@pytest.mark.parametrize(("words", "make"), REFUSED)
def test_arguments_that_cannot_be_used_are_refused_with_the_cure(words, make):
    with pytest.raises(ModelError, match=words):
        make()


def test_a_rod_on_the_earth_seen_from_its_centre_is_near_enough():
    """1 m at 6400 km: rounding leaves nine digits of its length."""
    rod = model().add_rod("n", [(6.4e6, 0, 0), (6.4e6, 1, 0)], CORD)
    assert rod.initial.curve.length == pytest.approx(1.0, abs=1e-9)


@pytest.fixture(scope="module")
def result():
    from rodsim.results.writer import MemoryWriter

    writer = MemoryWriter(sample_layout())
    for i in range(3):
        writer.append(*sample_output(writer.layout, i))
    return writer.result()


OF_RESULTS = [
    ("render: t = nan s is not in the result", lambda r, p: render(r, p / "a.png", float("nan"))),
    (r"t = 9 s is not in the result, which goes from 0 to 0\.1 s", lambda r, p: render(r, p / "a.png", [0.0, 9.0])),
    ("times = '1'", lambda r, p: render(r, p / "a.png", "1")),
    ("width = 0 is too small", lambda r, p: render(r, p / "a.png", size=(0, 10))),
    ("height = 100000 is too large", lambda r, p: render(r, p / "a.png", size=(100, 10**5))),
    ("size = 3", lambda r, p: render(r, p / "a.png", size=3)),
    ("ground = 1 is neither True nor False", lambda r, p: render(r, p / "a.png", ground=1)),
    ("up = .* has no direction", lambda r, p: render(r, p / "a.png", up=(0, 0, 0))),
    ("view = 'x'", lambda r, p: render(r, p / "a.png", view="x")),
    ("no format '.doc'", lambda r, p: render(r, p / "a.doc")),
    ("path = 3 is no name", lambda r, p: render(r, 3)),
    ("speed = nan", lambda r, p: render_movie(r, p / "a.mp4", speed=float("nan"))),
    (r"speed = 1e-30 makes .* frames; give a speed of at least 2\.5e-05", lambda r, p: render_movie(r, p / "a.mp4", speed=1e-30)),
    ("fps = 2.5 is not a whole number", lambda r, p: render_movie(r, p / "a.mp4", fps=2.5)),
    ("body 'box' has no nodes; give 'box' alone", lambda r, p: plot(r, "path", p / "a.png", ["box:5"])),
    ("the rod has nodes 0 to 8; give one of them", lambda r, p: plot(r, "path", p / "a.png", ["whip:9"])),
    ("no node after the colon", lambda r, p: plot(r, "path", p / "a.png", ["whip:"])),
    ("no rod or body 'x:1'|no rod or body 'x'", lambda r, p: plot(r, "path", p / "a.png", ["x:1"])),
    ("give a list of names", lambda r, p: plot(r, "path", p / "a.png", "whip")),
    ("points are for the kinds 'path' and 'distance'", lambda r, p: plot(r, "energy", p / "a.png", ["whip"])),
    ("no kind 3", lambda r, p: plot(r, 3)),
    ("no format '.doc'", lambda r, p: plot(r, "energy", p / "a.doc")),
    ("every = 1.0 is not a whole number", lambda r, p: export(r, p / "a.pvd", every=1.0)),
    ("no format 3", lambda r, p: export(r, p / "a.pvd", 3)),
    ("export: path = '' is no name", lambda r, p: export(r, "")),
    ("audit: expected a result or the path of a result file, got {}", lambda r, p: audit({})),
    ("plot: expected a result or the path of a result file, got None", lambda r, p: plot(None)),
    ("t = '0' is not a number", lambda r, p: r.index_at("0")),
]  # fmt: skip


@pytest.mark.parametrize(("words", "make"), OF_RESULTS)
def test_arguments_of_pictures_and_files_are_refused_before_a_file_is_touched(words, make, result, tmp_path):
    with pytest.raises((ModelError, ResultError), match=words):
        make(result, tmp_path)
    assert list(tmp_path.iterdir()) == []
