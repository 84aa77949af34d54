"""Every name deprecated before 1.0 still works, warns with the new name, and cannot be combined with it.

A row of `OLD_NAMES` needs an example here:

- CALLS, for a renamed argument of a function or method;
- ARGUMENTS, for an argument whose accepted value changed: a function of the keyword arguments that returns
  something comparable, and the value of the old and of the new argument;
- MEMBERS, for a class: a function that creates an instance, and the arguments of the method (none for a
  property);
- SCENES, for a scene key: a scene as text with the old and with the new word;
- COMMANDS, for an option or command: command lines with the old and with the new word.
"""

import functools
import importlib
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

from rodsim import (
    Adaptive,
    ArcLength,
    Box,
    ContactBegins,
    DistanceBelow,
    Friction,
    Material,
    Model,
    ModelError,
    Newton,
    Result,
    ResultError,
    SceneError,
    Section,
    Sphere,
    SpringLaw,
    audit,
    buckling,
    equilibrium,
    linearise,
    modes,
    simulate,
    steady_rotation,
)
from rodsim._compat import OLD_NAMES, accept_old_arguments, new_command_line
from rodsim.cli.main import main, parser
from rodsim.components.base import Component
from rodsim.components.model_description import description
from rodsim.linear import ForceInput, MotionOutput, frequency_response, state_space
from rodsim.mechanics import integrate, rotating_body
from rodsim.scenes.deprecated_keys import new_path
from rodsim.scenes.equilibrium_settings import equilibrium_settings
from rodsim.scenes.model_from_scene import loaded_from
from rodsim.scenes.reading import parse
from rodsim.studies import SchemeChoice

HARD, DAMPER = SpringLaw.polynomial((0.0, 3.0, 0.0, 1.0)), SpringLaw.polynomial((0.0, 0.5))


class Argument(NamedTuple):
    call: Callable[..., Any]
    old: Any
    new: Any


class Member(NamedTuple):
    make: Callable[[], Any]
    arguments: Callable[[Path], tuple[Any, ...]] = lambda folder: ()
    named: Mapping[str, Any] = MappingProxyType({})  # arguments of the new method by name
    old: tuple[Any, ...] | None = None  # arguments of the old method, if they differ


class Words(NamedTuple):
    run: Callable[[str], Any]
    old: str
    new: str


def result_file(folder):
    """Write a run of two steps to the folder."""
    model = Model("m")
    model.add_body("block", Box(1, 1, 1, mass=1), velocity=(1, 0, 0))
    simulate(model, 0.02, 0.01, output=folder / "run.vtkhdf", overwrite=True)
    return folder / "run.vtkhdf"


def jointed():
    """A model with a body, a rod and a joint, to which parts are added."""
    model = Model("m")
    block = model.add_body("block", Box(1, 1, 1, mass=1))
    model.add_joint("pin", "revolute", block, model.ground.at((0, 0, 0)), axis=(0, 0, 1))
    section = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1000.0))
    model.add_rod("cord", [(0, 0, 1), (1, 0, 1)], section, 2)
    return model


def adding(method, *arguments, **options):
    """Return a function that describes what `Model.method` adds with keyword arguments; each call uses a new
    model.
    """

    def describe_added(**old_or_new):
        return getattr(jointed(), method)("x", *arguments, **options, **old_or_new).described()

    return describe_added


def rubbing(**friction):
    """Description of a contact of a sphere and a plane."""
    model = jointed()
    ball = model.add_sphere("ball", "block@0,0,1", 0.1)
    floor = model.add_plane("floor", "ground@0,0,-9", (0, 0, 1))
    return model.add_contact("x", ball, floor, 1e4, **friction).described()


SCENE = """
bodies: [{name: block, shape: {type: box, size: [1, 1, 1], mass: 1}}]
joints: [{name: pin, kind: revolute, a: block, b: {ground: [0, 0, 0]}, axis: [0, 0, 1]}]
materials: {rubber: {E: 1.0e+7, nu: 0.3, density: 1000}}
sections: {round: {type: circular, radius: 0.01, material: rubber}}
rods: [{name: cord, curve: [[0, 0, 1], [1, 0, 1]], section: round, n_elements: 2}]
run: {t_end: 0.1, dt: 0.01}
"""


def describe_scene(scene):
    """Description and numbers of the model of a scene."""
    model = loaded_from(parse(SCENE + scene, "scene.yaml"), Path()).model
    return description(model, model.build().system)


def last_step_and_event(**old_or_new):
    """Last step of a falling ball, and the event that stopped the run."""
    model = Model("m", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.05, density=1000), position=(0, 0, 0.0625))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("land", model.add_sphere("ball", ball, 0.05), floor, stiffness=1e4)
    result = simulate(model, 1.0, 1e-3, **old_or_new)
    return int(result.step[-1]), result.ended_by


def solver_of(**old_or_new):
    """Name of the solver of a body that moves in a plane."""
    model = Model("m")
    model.add_body("block", Box(1, 1, 1, mass=1), velocity=(1, 0, 0))
    return simulate(model, 0.02, 0.01, **old_or_new).description["run"].get("solver")


def ramped():
    """A column pressed by a force that grows with time."""
    model = Model("ramped")
    section = Section.circular(0.05, Material(E=1e7, nu=0.3, density=1000.0))
    rod = model.add_rod("arm", [(0, 0, 0), (0, 0, 1)], section, 2)
    model.add_joint("root", "weld", model.ground, rod.start)
    model.add_force("push", "arm.end", lambda t: (0.0, 0.0, -1.0 - t))
    return model


def steps_of(**old_or_new):
    """Times and steps of a run with error control."""
    run = simulate(
        ramped(), 0.1, **({"dt": Adaptive(1e-2)} if "error" not in old_or_new else {}) | old_or_new
    )
    return [*run.t, *run.steps.number, run.steps.requested_error]


def path_of(method, load_time=5.0):
    """Load factors of equilibria of the model `ramped` by a method, with an argument that was formerly one of
    `equilibrium`.
    """
    return lambda **old_or_new: (
        equilibrium(ramped(), load_time=load_time, **{"method": method} | old_or_new).t
    )


def refusal_of_branch(**old_or_new):
    """The message about a branch at a bifurcation that the path does not reach."""
    with pytest.raises(ModelError, match="bifurcation") as refused:
        equilibrium(ramped(), load_time=5.0, **{"method": "arc-length"} | old_or_new)
    return str(refused.value)


def at_rest(scene):
    """Arguments of `equilibrium` stated by a scene."""
    return equilibrium_settings(loaded_from(parse(SCENE + scene, "scene.yaml"), Path()))


PUSHED = [ForceInput("arm.end", (1, 0, 0))], [MotionOutput("arm.end", (1, 0, 0))]
AUDIT_FIELDS = [row.old for row in OLD_NAMES if row.where == "Audit"]
CALLS: dict[
    str, tuple[str, Callable[..., Any]]
] = {  # new form of old arguments of a function; the call without them
    "simulate": ("at=start_time", lambda **given: simulate(ramped(), 0.01, 0.01, **given)),
    "equilibrium": (
        "at=load_time start_at=start_time",
        lambda **given: equilibrium(ramped(), **given),
    ),
    "buckling": ("t=load_time", lambda **given: buckling(ramped(), **given)),
    "linearise": ("state=start t=load_time", lambda **given: linearise(ramped(), **given)),
    "modes": ("state=start t=load_time", lambda **given: modes(ramped(), 2, **given)),
    "steady_rotation": ("state=start", lambda **given: steady_rotation(ramped(), (0, 0, 1), **given)),
    "state_space": ("state=start t=load_time", lambda **given: state_space(ramped(), *PUSHED, **given)),
    "frequency_response": (
        "state=start t=load_time",
        lambda **given: frequency_response(ramped(), *PUSHED, [10.0], **given),
    ),
    "integrate": (
        "h=dt",
        lambda **given: integrate(
            rotating_body("b", (1.0, 2.0, 3.0), (1.0, 0.0, 0.0)), "EML", t_end=0.1, **given
        ),
    ),
    "ForceInput.__init__": ("anchor=on", partial(ForceInput, direction=(0, 0, 1))),
    "MotionOutput.__init__": ("anchor=on", partial(MotionOutput, direction=(0, 0, 1))),
    "DistanceBelow.__init__": ("than=distance", partial(DistanceBelow, "a", "b")),
    "Model.add_force": ("anchor=on", adding("add_force", value=(1, 2, 3))),
    "Model.add_moment": ("anchor=on", adding("add_moment", value=(1, 2, 3))),
    "Model.add_distributed_load": ("rod=on", adding("add_distributed_load", value=(1, 2, 3))),
    "Model.add_pressure": ("rod=on", adding("add_pressure", pressure=2.0, normal=(0, 0, 1))),
    "Model.add_mass_damping": ("part=on", adding("add_mass_damping", rate=0.5)),
}
ARGUMENTS: dict[tuple[str, str], Argument] = {
    ("simulate", "until"): Argument(last_step_and_event, ContactBegins("land"), [ContactBegins("land")]),
    ("simulate", "shortcut"): Argument(solver_of, False, "general"),
    **{
        ("Model.add_contact", field): Argument(rubbing, value, Friction(0.0, **{field: value}))
        for field, value in (
            ("tangential_stiffness", 5.0),
            ("rolling", 1e-3),
            ("drilling", 2e-3),
            ("anisotropy", (1.0, 1.0, 1.0)),
        )
    },
    ("simulate", "error"): Argument(steps_of, 1e-3, Adaptive(1e-3)),
    ("simulate", "output_dt"): Argument(steps_of, 0.02, Adaptive(1e-2, output_dt=0.02)),
    ("simulate", "max_dt"): Argument(steps_of, 1e-4, Adaptive(1e-2, max_dt=1e-4)),
    ("equilibrium", "stop"): Argument(
        path_of("arc-length"), {"load_factor": (-0.5, 0.5)}, ArcLength({"load_factor": (-0.5, 0.5)})
    ),
    ("equilibrium", "branch"): Argument(refusal_of_branch, 3, ArcLength(branch=3)),
    ("equilibrium", "most_points"): Argument(path_of("arc-length", 200.0), 5, ArcLength(most_points=5)),
    ("equilibrium", "factors"): Argument(path_of("newton"), (0.3, 0.6), Newton(factors=(0.3, 0.6))),
    ("equilibrium", "relaxation"): Argument(path_of("newton"), False, Newton(relaxation=False)),
    ("equilibrium", "first_step"): Argument(path_of("newton"), 0.25, Newton(first_step=0.25)),
}


@functools.cache
def finished():
    """Result of a short run."""
    return simulate(ramped(), 0.02, 0.01)


@functools.cache
def landed():
    """Result of a ball that falls on a plane."""
    model = Model("landing", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.1, mass=1.0), position=(0, 0, 0.11))
    floor = model.add_plane("floor", "ground@0,0,0", (0, 0, 1))
    model.add_contact("land", model.add_sphere("skin", ball, 0.1), floor, stiffness=1e4)
    return simulate(model, 0.06, 0.002)


def stored():
    """Result of a run in a file."""
    return Result.load(result_file(Path(tempfile.mkdtemp())))


MEMBERS: dict[tuple[str, str], Member] = {
    ("Model", "rigidified"): Member(ramped, lambda folder: ("arm",)),
    ("Result", "changed"): Member(stored),
    ("Result", "held"): Member(stored),
    ("Result", "drawn"): Member(stored, lambda folder: ("Steps/Values", slice(0, 2), ())),
    **{("Audit", old): Member(lambda: audit(finished())) for old in AUDIT_FIELDS},
    ("ContactHistory", "first_touch"): Member(lambda: landed().contact("land")),
    **{
        ("SchemeChoice", old): Member(lambda: SchemeChoice("scene", 0.1, {"em": None}, {"em4": "no"}))
        for old in ("found", "refused")
    },
    ("StepHistory", "asked"): Member(lambda: simulate(ramped(), 0.1, Adaptive(1e-2)).steps),
    ("Modes", "most"): Member(lambda: modes(ramped(), 2), lambda folder: (0,)),
    ("Result", "open"): Member(lambda: Result, lambda folder: (result_file(folder),)),
    ("Model", "add_external_damping"): Member(jointed, lambda folder: ("air", "block", 0.5)),
    ("Model", "add_joint_friction"): Member(jointed, lambda folder: ("oil", "pin", 0.5)),
    ("Model", "add_torsion_spring"): Member(
        jointed,
        lambda folder: ("coil", "ground", "block", 3.0),
        {"damping": 0.5, "along": "rotation", "axis": (0, 0, 1), "angle": 0.25},
        ("coil", "ground", "block", (0, 0, 1), 3.0, 0.5, 0.25),
    ),
    ("Model", "add_law_spring"): Member(
        jointed,
        lambda folder: ("coil", "cord.end", "block"),
        {"law": HARD, "damping": DAMPER, "along": "axis", "axis": (0, 0, 1)},
        ("coil", "cord.end", "block", HARD, DAMPER, "displacement", (0, 0, 1)),
    ),
}


def run_settings(scene):
    """Run settings stated by a scene."""
    return loaded_from(
        parse(scene + "\nbodies: [{name: b, shape: {type: sphere, radius: 1, mass: 1}}]", "s.yaml"), Path()
    ).scene.run


SCENES: dict[str, Words] = {
    "run.until": Words(
        run_settings,
        "run: {t_end: 0.1, dt: 0.01, until: {nearer: [ball, wall], than: 0.01}}",
        "run: {t_end: 0.1, dt: 0.01, events: [{distance_below: [ball, wall], distance: 0.01}]}",
    ),
    "run.shortcut": Words(
        run_settings,
        "run: {t_end: 0.1, dt: 0.01, shortcut: false}",
        "run: {t_end: 0.1, dt: 0.01, solver: general}",
    ),
    "static": Words(at_rest, "static: {method: arc-length}", "equilibrium: {method: arc-length}"),
    "equilibrium.at": Words(at_rest, "equilibrium: {at: 2}", "equilibrium: {load_time: 2}"),
    "external_dampings": Words(
        describe_scene,
        "external_dampings: [{name: air, on: block, rate: 0.5}]",
        "mass_dampings: [{name: air, on: block, rate: 0.5}]",
    ),
    "joint_frictions": Words(
        describe_scene,
        "joint_frictions: [{name: oil, joint: pin, turning: 0.5}]",
        "joint_dampings: [{name: oil, joint: pin, turning: 0.5}]",
    ),
    "mass_dampings.part": Words(
        describe_scene,
        "mass_dampings: [{name: air, part: block, rate: 0.5}]",
        "mass_dampings: [{name: air, on: block, rate: 0.5}]",
    ),
    "distributed_loads.rod": Words(
        describe_scene,
        "distributed_loads: [{name: wind, rod: cord, value: [0, 1, 0]}]",
        "distributed_loads: [{name: wind, on: cord, value: [0, 1, 0]}]",
    ),
    "pressures.rod": Words(
        describe_scene,
        "pressures: [{name: gas, rod: cord, pressure: 2, normal: [0, 0, 1]}]",
        "pressures: [{name: gas, on: cord, pressure: 2, normal: [0, 0, 1]}]",
    ),
}


def options_of(line):
    """Parsed options of a command line."""
    options = vars(parser().parse_args(new_command_line(line.split())))
    return {name: value for name, value in options.items() if name not in ("top", "act")}


COMMANDS: dict[str, Words] = {
    "static": Words(options_of, "static arch.yaml", "equilibrium arch.yaml"),
    "--force": Words(options_of, "run arch.yaml --force", "run arch.yaml --overwrite"),
    "--shortcut": Words(options_of, "run arch.yaml --shortcut", "run arch.yaml --solver auto"),
    "--no-shortcut": Words(options_of, "run arch.yaml --no-shortcut", "run arch.yaml --solver general"),
}


def kind_of(row):
    if row.where == "scene":
        return "scene"
    if row.where == "command line":
        return "command"
    if row.where.startswith("rodsim"):
        return "module"
    return "member" if row.where[0].isupper() and "." not in row.where else "argument"


def rows_of_kind(kind):
    return [pytest.param(row, id=f"{row.where}-{row.old}") for row in OLD_NAMES if kind_of(row) == kind] or [
        pytest.param(None, marks=pytest.mark.skip(reason="no such row"))
    ]


def example(table, key):
    assert key in table, f"add an example of {key} to tests/api/test_old_names.py"
    return table[key]


def are_equal(a, b):
    if isinstance(a, Result):
        return isinstance(b, Result) and a.path == b.path and np.array_equal(a.t, b.t)
    if isinstance(a, Model):
        return isinstance(b, Model) and repr(a) == repr(b)
    if hasattr(a, "__enter__"):
        return type(a) is type(b)
    if isinstance(a, Component):
        return type(a) is type(b) and a.described() == b.described()
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return a == b


def call_without_warning(function, *args, **kwargs):
    """Call a function that must not raise a deprecation warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        return function(*args, **kwargs)


def test_old_names_are_listed_once():
    names = [(row.where, row.old) for row in OLD_NAMES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", rows_of_kind("module"))
def test_old_attribute_equals_the_new_one(row):
    place, name = row.new.rsplit(".", 1)
    new = call_without_warning(getattr, importlib.import_module(place), name)
    with pytest.warns(DeprecationWarning, match=row.new.replace(".", r"\.")) as caught:
        old = getattr(importlib.import_module(row.where), row.old)
    assert old is new
    assert {warning.filename for warning in caught} == {__file__}
    assert row.old not in importlib.import_module(row.where).__all__


def result_or_message(call, **arguments):
    """Return value of a call, or its error message."""
    try:
        return call(**arguments)
    except (ModelError, ResultError, OSError) as error:
        return str(error)


@pytest.mark.parametrize("row", rows_of_kind("argument"))
def test_old_argument_equals_the_new_one(row):
    """Also with an invalid value, which is rejected with the same message, if both accept the same values."""
    if row.convert is None and row.merge is None:
        meanings, call = example(CALLS, row.where)
        assert f"{row.old}={row.new}" in meanings.split()
        case = Argument(call, "nonsense", "nonsense")
    else:
        case = example(ARGUMENTS, (row.where, row.old))
    new = call_without_warning(result_or_message, case.call, **{row.new: case.new})
    with pytest.warns(DeprecationWarning, match=f"{row.new}=") as caught:
        old = result_or_message(case.call, **{row.old: case.old})
    assert are_equal(old, new)
    assert any(warning.filename == __file__ for warning in caught)
    if row.merge is None:
        with pytest.raises(ModelError, match=rf"both {row.old}= and {row.new}= are given"):
            case.call(**{row.old: case.old, row.new: case.new})


@pytest.mark.parametrize("row", rows_of_kind("member"))
def test_old_method_or_property_equals_the_new_one(row, tmp_path):
    case = example(MEMBERS, (row.where, row.old))
    arguments = case.arguments(tmp_path)

    def value(name, arguments, named):
        member = getattr(case.make(), name)
        return member(*arguments, **named) if callable(member) else member

    new = call_without_warning(value, row.new, arguments, case.named)
    with pytest.warns(DeprecationWarning, match=row.new) as caught:
        old = value(row.old, arguments if case.old is None else case.old, {})
    assert {warning.filename for warning in caught} == {__file__}
    assert are_equal(old, new)


@pytest.mark.parametrize("row", rows_of_kind("scene"))
def test_old_scene_key_equals_the_new_one(row):
    case = example(SCENES, row.old)
    new = call_without_warning(case.run, case.new)
    with pytest.warns(DeprecationWarning, match=row.new):
        assert are_equal(case.run(case.old), new)


def test_old_friction_arguments_combine_with_the_new_one():
    new = call_without_warning(rubbing, friction=Friction(0.3, static=0.4, rolling=1e-3, drilling=2e-3))
    with pytest.warns(DeprecationWarning, match="friction=Friction"):
        assert rubbing(friction=(0.4, 0.3), rolling=1e-3, drilling=2e-3) == new
    with pytest.warns(DeprecationWarning, match="friction=Friction"):
        assert rubbing(friction=Friction(0.3, static=0.4, drilling=2e-3), rolling=1e-3) == new


def test_old_step_arguments_equal_the_new_one():
    new = steps_of(dt=Adaptive(1e-3, output_dt=0.05, max_dt=1e-2))
    with pytest.warns(DeprecationWarning, match=r"dt=Adaptive\(..., (error|output_dt|max_dt)"):
        assert steps_of(error=1e-3, output_dt=0.05, max_dt=1e-2) == new


@pytest.mark.parametrize(
    ("call", "arguments", "words"),
    [
        (simulate, {"t_end": 0.1, "dt": 0.01, "error": 1e-3}, "both set the step"),
        (simulate, {"t_end": 0.1, "dt": 0.01, "max_dt": 0.02}, r"max_dt = 0\.02 s limits steps"),
        (simulate, {"t_end": 0.1, "dt": 0.01, "output_dt": 0.02}, r"output_dt = 0\.02 goes with error"),
        (equilibrium, {"branch": 1}, "branch belongs to a path"),
        (equilibrium, {"method": "arc-length", "factors": (0.5, 1.0)}, "factors belong to method='newton'"),
    ],
)
def test_old_arguments_conflict_with_other_steps_or_methods(call, arguments, words):
    with pytest.warns(DeprecationWarning, match=r"1\.0"), pytest.raises(ModelError, match=words):
        call(ramped(), **arguments)


def test_the_old_number_of_points_has_no_effect_on_load_steps():
    with pytest.warns(DeprecationWarning, match=r"1\.0"):
        assert len(equilibrium(ramped(), most_points=1).t) > 1


def test_line_numbers_of_scenes_with_old_keys_are_correct():
    text = "external_dampings:\n  - name: air\n    part: block\n    rate: fast\n"
    line = (SCENE + text).splitlines().index("    rate: fast") + 1
    with (
        pytest.warns(DeprecationWarning, match="mass_dampings"),
        pytest.raises(SceneError, match=rf":{line}: mass damping 'air': rate = 'fast'"),
    ):
        describe_scene(text)
    with (
        pytest.warns(DeprecationWarning, match=rf"line {line - 3}: .*external_dampings"),
        pytest.raises(SceneError, match=rf":{line - 1}: both mass_dampings.part and mass_dampings.on"),
    ):
        describe_scene(text + "    on: block\n")


def test_old_keys_in_study_paths_are_equivalent():
    with pytest.warns(DeprecationWarning, match=r"mass_dampings\.air\.rate"):
        assert new_path("external_dampings.air.rate") == "mass_dampings.air.rate"
    with pytest.warns(DeprecationWarning, match=r"mass_dampings\[0\]\.on"):
        assert new_path("mass_dampings[0].part") == "mass_dampings[0].on"
    assert call_without_warning(new_path, "rods.cord.section.radius") == "rods.cord.section.radius"


@pytest.mark.parametrize("row", rows_of_kind("command"))
def test_old_command_line_option_equals_the_new_one(row):
    case = example(COMMANDS, row.old)
    new = call_without_warning(case.run, case.new)
    with pytest.warns(DeprecationWarning, match=row.new):
        assert are_equal(case.run(case.old), new)


def test_examples_refer_to_existing_rows():
    names = {(row.where, row.old) for row in OLD_NAMES}
    assert {
        *ARGUMENTS,
        *MEMBERS,
        *(("scene", x) for x in SCENES),
        *(("command line", x) for x in COMMANDS),
    } <= names


def test_functions_without_old_arguments_are_not_decorated():
    with pytest.raises(ValueError, match="no argument has an old name"):

        @accept_old_arguments
        def function():
            pass


def test_command_reports_old_words_in_one_line(tmp_path, capsys):
    scene = tmp_path / "hung.yaml"
    scene.write_text("""
static: {}
bodies: [{name: ball, shape: {type: sphere, radius: 1, mass: 1}}]
gravity: [0, 0, -1]
springs: [{name: coil, a: {ground: [0, 0, 3]}, b: {body: ball, at: [0, 0, 0]}, stiffness: 2}]
""")
    assert main(["static", str(scene), "--quiet", "--force"]) == 0
    messages = [line for line in capsys.readouterr().err.splitlines() if "compiling" not in line]
    assert messages[0] == "rodsim: 'static' was renamed to 'equilibrium'; the old name will be removed in 1.0"
    assert (
        messages[1] == "rodsim: '--force' was renamed to '--overwrite'; the old name will be removed in 1.0"
    )
    assert messages[2].endswith(
        "the key static was renamed to equilibrium; the old name will be removed in 1.0"
    )
    assert len(messages) == 3
    assert main(["equilibrium", "static", "--quiet"]) == 2  # a scene of this name, which does not exist
    assert "'equilibrium'" not in capsys.readouterr().err
