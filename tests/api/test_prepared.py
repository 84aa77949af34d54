"""Prepared models: every changeable number gives results bit-identical to those of a new model."""

import dataclasses
import itertools
from collections import OrderedDict

import numpy as np
import pytest

from discretization.assembly.multifrontal_selection import number_for_solver
from discretization.assembly.numbering import BAND_LIMIT
from discretization.memoization import content_key
from rodsim import (
    Box,
    Material,
    Model,
    ModelError,
    Section,
    equilibrium,
    prepare,
    signals,
    simulate,
    simulate_many,
)
from rodsim.components.base import COMPONENT_TYPES
from rodsim.components.parameter_changes import fields_of
from rodsim.studies import sweep
from tests.support.completeness import DT
from tests.support.prepared import CASES, MODELS, _beam, _nearby_value, _rebuilt, _stored_data
from tests.support.similar_models import bars


def test_cases_cover_every_number_of_every_entry_kind():
    fields = {(key, field) for key, kind in COMPONENT_TYPES.items() for field in fields_of(kind)}
    assert fields <= CASES.keys() | {("joints", "pitch")}
    assert {("gravity", "")} | {
        ("bodies", x) for x in ("velocity", "angular_velocity", "shape")
    } <= CASES.keys()
    assert {
        ("rods", x) for x in ("section", "EI", "radius", "mass_per_length", "E", "density")
    } <= CASES.keys()


PREPARED: dict = {}  # by the model's name
AS_BEFORE: dict = {}
AS_PREPARED: dict = {}


@pytest.mark.exact
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("number", sorted(CASES), ids=".".join)
def test_prepared_model_with_changed_number_equals_a_new_model(number, monkeypatch):
    name, path = CASES[number]
    model, before = _rebuilt(name, path, None, monkeypatch)
    if name not in PREPARED:
        PREPARED[name] = model.prepare(t_end=2 * DT, dt=DT)
        AS_PREPARED[name] = content_key((PREPARED[name]._reusable_build.built.system,))
        AS_BEFORE[name] = _stored_data(simulate(model, 2 * DT, DT))
    value = _nearby_value(before, number[1])
    refused, expected = "", None
    try:
        expected = _stored_data(simulate(_rebuilt(name, path, value, monkeypatch)[0], 2 * DT, DT))
    except ModelError as error:
        refused = str(error)
    if refused:  # with the same message
        with pytest.raises(ModelError) as refusal:
            PREPARED[name].run({path: value})
        assert str(refusal.value) == refused
        return
    as_before = AS_BEFORE[name]
    assert expected != as_before
    assert _stored_data(PREPARED[name].run({path: value})) == expected
    # the next run is not affected
    assert _stored_data(PREPARED[name].run()) == as_before
    assert content_key((PREPARED[name]._reusable_build.built.system,)) == AS_PREPARED[name]


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.3, 1.0, 0.2)], ids=["in a plane", "in space"])
def test_prepared_model_uses_the_gravity_of_each_run(axis):
    prepared, ends = bars(axis=axis).prepare(t_end=0.02, dt=0.01), set()
    for gravity in ((0, 0, -9.81), (0, 0, -1.62), (1.0, 0, -1.62), (0, 1.0, -1.62), (0, 0, -9.81)):
        model = bars(axis=axis)
        model.gravity[:] = gravity
        expected = _stored_data(simulate(model, 0.02, 0.01))
        assert _stored_data(prepared.run({"gravity": gravity})) == expected
        ends.add(repr(expected[0]))
    assert len(ends) == 4


def test_equilibria_of_a_prepared_model_equal_those_of_new_models_bitwise():
    prepared = _beam().prepare()
    for force in (-5.0, -4.0, -6.0):
        changes = {"loads.tip.value": (0, 0, force), "distributed_loads.snow.value": (0, 0, 0.3 * force)}
        prepared_result, fresh = prepared.equilibrium(changes), equilibrium(_beam(force))
        assert _stored_data(prepared_result) == _stored_data(fresh)
    moved = {"displacement": (0.0, 0.01, 0.0)}
    for _ in range(2):  # points of the ground are moved in place
        prepared_result = prepared.equilibrium(motions={"clamp": moved})
        assert _stored_data(prepared_result) == _stored_data(equilibrium(_beam(), motions={"clamp": moved}))
        run = prepared.run(start=prepared_result, t_end=0.01, dt=0.01)
        assert _stored_data(run) == _stored_data(simulate(_beam(), 0.01, 0.01, start=prepared_result))
    assert _stored_data(prepared.equilibrium()) == _stored_data(equilibrium(_beam()))


def test_prepared_run_starts_from_an_equilibrium_with_changed_step_and_integrator():
    prepared, model = _beam().prepare(dt=0.01), _beam()
    statics = prepared.equilibrium()
    for settings in ({}, {"dt": 0.005}, {"integrator": "em4"}, {"integrator": "em-d(0.5)"}):
        options = {"t_end": 0.02, "dt": 0.01, **settings}
        changes = {"loads.tip.value": signals.Sine(3.0, 2.0).along((0, 0, 1))}
        fresh = _beam()
        fresh.loads.clear()
        fresh.add_force("tip", fresh.rods["beam"].end, signals.Sine(3.0, 2.0).along((0, 0, 1)))
        result = prepared.run(changes, start=statics, **options)
        assert _stored_data(result) == _stored_data(simulate(fresh, start=statics, **options))
        assert _stored_data(prepared.run(**options)) == _stored_data(simulate(model, **options))


STEEL = Material(E=2e9, nu=0.3, density=900.0)
W = "EA*Gamma1**2*k + GA2*Gamma2**2/2 + GA3*Gamma3**2/2 + GJ*K1**2/2 + EI2*K2**2/2 + EI3*K3**2/2"
CHANGED_NUMBERS = {"radius": 0.011, "material.E": 3e9, "material.density": 700.0}


def _whip(section):
    """A rod that other entries refer to in every way: by anchors, joints, their names, and its surface."""
    model = Model("whip", gravity=(0, 0, -9.81))
    rod = model.add_rod("whip", [(0, 0, 0.1), (1, 0, 0.1)], section, 5)
    load = model.add_body("load", Box(0.1, 0.1, 0.1, mass=0.2), position=(1.0, 0, 0.1))
    model.add_joint("hinge", "revolute", model.ground, rod.start, axis=(0, 1, 0))
    model.add_joint("knuckle", "revolute", rod.end, load, axis=(0, 1, 0))
    model.add_joint_damping("rub", "knuckle", turning=0.01)
    model.add_spring("string", model.ground.at((0.5, 0, 1.0)), rod.at(0.43), 10.0)
    model.add_distributed_load("snow", rod, (0, 0, -1.0), between=(0.13, 0.61))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    ball = model.add_sphere("ball", rod.at(0.71), 0.03)
    model.add_contact("knock", [ball], floor, 1e4)
    model.add_contact("slap", rod, floor)  # its stiffness follows from the material
    return model


@pytest.mark.exact
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_changed_section_equals_that_of_a_new_model():
    prepared = _whip(Section.circular(0.01, STEEL)).prepare(t_end=0.02, dt=0.002)
    before = _stored_data(prepared.run())
    for names in (["radius"], ["material.E"], list(CHANGED_NUMBERS)):
        changed = {name: CHANGED_NUMBERS[name] for name in names}
        moduli = {name.partition(".")[2]: x for name, x in changed.items() if name != "radius"}
        section = Section.circular(changed.get("radius", 0.01), dataclasses.replace(STEEL, **moduli))
        expected = _stored_data(simulate(_whip(section), 0.02, 0.002))
        assert expected != before
        by_number = {f"rods.whip.section.{name}": x for name, x in changed.items()}
        for changes in (by_number, {"rods.whip.section": section}):
            assert _stored_data(prepared.run(changes)) == expected
    assert _stored_data(prepared.run()) == before


@pytest.mark.exact
def test_batched_runs_with_changed_sections_equal_single_runs_bitwise():
    """Clamped rods, which are integrated in SIMD batches."""
    model = Model("reed", gravity=(0, 0, -9.81))
    reed = model.add_rod("reed", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, STEEL), 4)
    model.add_joint("clamp", "clamp", reed.start)
    prepared = model.prepare(t_end=0.02, dt=0.002)
    parameters = [
        {"rods.reed.section.material.E": E, "rods.reed.section.radius": r}
        for E in (1e9, 2e9)
        for r in (0.01, 0.02)
    ]
    many = simulate_many(prepared, parameters, threads=1)
    tips = many.stack(lambda result: result.rod("reed").r[-1, -1, 2])
    assert len(set(tips.tolist())) == len(parameters)
    for result, changes in zip(many, parameters, strict=True):
        assert _stored_data(result)[0] == _stored_data(prepared.run(changes))[0]


STIFF = np.diag([1e3, 5e2, 5e2, 1.0, 2.0, 2.0])


def _of_stiffness(**numbers):
    stiffnesses = {"EA": 1e3, "GA": (5e2, 4e2), "GJ": 1.0, "EI": 2.0, "mass_per_length": 1.0}
    return Section.from_stiffness(**{**stiffnesses, "inertia_per_length": (0.1, 0.2, 0.3), **numbers})


def _circle(radius=0.01, E=2e9):
    return Section.circular(radius, dataclasses.replace(STEEL, E=E))


OFF, PRODUCT = ((0.001, 0.0), (0.0, 0.002)), {"product_of_inertia": 1e-6}
SECTIONS = {  # number, its values before and after, function that creates the section
    "tube": ("inner_radius", 0.01, 0.012, lambda x: Section.tube(0.02, x, STEEL)),
    "rectangle": ("height", 0.01, 0.012, lambda x: Section.rectangle(0.02, x, STEEL)),
    "relaxing": ("radius", 0.01, 0.02, lambda x: _circle(x).with_relaxation(0.1, 0.5).with_centers(*OFF)),
    "law": ("material.E", 2e9, 1e9, lambda x: _circle(E=x).with_law("stiffening", strain=0.1)),
    "energy": ("material.E", 2e9, 1e9, lambda x: _circle(E=x).with_energy(W, k=0.6)),
    "off its curve": (
        "outer_radius",
        0.02,
        0.03,
        lambda x: Section.tube(x, 0.01, STEEL).with_centers(OFF[0], **PRODUCT),
    ),
    "branch": ("radius", 0.01, 0.02, lambda x: _circle(x).with_relaxation(0.1, stiffness=np.eye(6))),
    "stiffnesses": ("EI", 2.0, 7.0, lambda x: _of_stiffness(EI=x, damping_time=0.3, radius=0.1)),
    "damping": ("inertia_per_length", 4.0, 5.0, lambda x: _of_stiffness(D=np.eye(6), inertia_per_length=x)),
    "matrix": (
        "mass_per_length",
        2.0,
        3.0,
        lambda x: Section.from_stiffness(C=STIFF, mass_per_length=x, inertia_per_length=0.1),
    ),
}


@pytest.mark.parametrize("case", SECTIONS)
def test_section_with_changed_number_keeps_its_additions(case):
    path, before, after, make = SECTIONS[case]
    section, expected = make(before), make(after)
    changed = section.with_numbers({path: after})
    assert changed.numbers.keys() == section.numbers.keys()
    for name, number in {**section.numbers, path: after}.items():
        assert np.array_equal(changed.numbers[name], number), name
    for name in (field.name for field in dataclasses.fields(Section)):
        assert np.array_equal(getattr(changed, name), getattr(expected, name)), name
    assert section.with_numbers({}) is section


def test_section_from_matrices_has_no_numbers():
    section = dataclasses.replace(Section.circular(0.01, STEEL), stiffness=np.eye(6))
    assert section.numbers == {}
    with pytest.raises(ModelError, match=r"it has no number 'radius'. Its numbers: none"):
        section.with_numbers({"radius": 0.02})
    assert section.with_law("stiffening", strain=0.1).numbers == {}


def test_section_numbers_are_its_arguments():
    of_steel = {f"material.{name}" for name in ("E", "nu", "density", "shear_factor", "damping_time")}
    assert set(Section.circular(0.01, STEEL).numbers) == {"radius", *of_steel}
    inertia = {"mass_per_length", "inertia_per_length", "radius"}
    assert set(_of_stiffness().numbers) == {"EA", "GA", "GJ", "EI", "damping_time", *inertia}
    of_matrices = Section.from_stiffness(C=STIFF, D=STIFF, mass_per_length=1.0, inertia_per_length=1.0)
    assert set(of_matrices.numbers) == {"C", "D", "damping_time", *inertia}


def test_numbers_of_a_varying_section_cannot_be_changed():
    model = Model("tapered")
    taper = lambda s: Section.circular(0.01 * (1 + s), STEEL)  # noqa: E731
    model.add_rod("whip", [(0, 0, 0), (1, 0, 0)], taper, 3)
    prepared = model.prepare(t_end=0.01, dt=0.01)
    with pytest.raises(ModelError, match=r"'rods.whip.section.radius' is not a number that may change"):
        prepared.run({"rods.whip.section.radius": 0.02})
    prepared = _whip(Section.circular(0.01, STEEL)).prepare(t_end=0.01, dt=0.01)
    with pytest.raises(ModelError, match=r"rod 'whip': its section varies along it and has no numbers"):
        prepared.run({"rods.whip.section": taper, "rods.whip.section.radius": 0.02})
    with pytest.raises(ModelError, match=r"rod 'whip': section = 'round' is not a Section"):
        prepared.run({"rods.whip.section": "round"})


def test_later_additions_do_not_change_a_prepared_model():
    model = _beam()
    prepared = model.prepare(t_end=0.01, dt=0.01)
    before = _stored_data(prepared.run())
    model.add_force("late", model.rods["beam"].end, (0, 9, 0))
    model.gravity[:] = 0.0
    assert _stored_data(prepared.run()) == before


def test_prepare_function_equals_the_method():
    model = _beam()
    one, other = (
        prepared.run() for prepared in (prepare(model, t_end=DT, dt=DT), model.prepare(t_end=DT, dt=DT))
    )
    assert _stored_data(one) == _stored_data(other)
    with pytest.raises(ModelError, match="prepare: expected a Model, got 'beam'"):
        prepare("beam")


def test_the_rigid_twin_can_be_prepared():
    twin = _beam().as_rigid()
    result = twin.prepare(t_end=0.01, dt=0.01).run({"loads.tip.value": (0, 0, -1)})
    assert result.n_outputs == 2


def test_a_study_of_a_model_varies_its_numbers():
    model = _beam()
    study = sweep(
        model,
        {"loads.tip.value": [(0.0, 0.0, -1.0), (0.0, 0.0, -2.0)], "dt": [0.01, 0.005]},
        {"z": lambda result: float(result.rod("beam").r[-1, -1, 2])},
        workers=0,
        progress=False,
        t_end=0.02,
    )
    expected = []
    for force in (-1.0, -2.0):
        for dt in (0.01, 0.005):
            fresh = _beam()
            fresh.loads.clear()
            fresh.add_force("tip", fresh.rods["beam"].end, (0.0, 0.0, force))
            expected.append(float(simulate(fresh, 0.02, dt).rod("beam").r[-1, -1, 2]))
    assert [outcome.measures["z"] for outcome in study.outcomes] == expected
    assert len(set(expected)) == 4


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_changed_load_direction_leaves_the_planar_solver():
    def pendulum(push):
        model = Model("pendulum", gravity=(0, 0, -9.81))
        bar = model.add_body("bar", Box(1, 0.1, 0.1, density=500), position=(0.5, 0, 0))
        model.add_joint("ball", "spherical", model.ground.at((0, 0, 0)), bar.at((-0.5, 0, 0)))
        model.add_force("push", bar.at((0.5, 0, 0)), push)
        return model

    prepared = pendulum((30, 0, 0)).prepare(t_end=0.02, dt=0.005)
    for push in ((0, 30, 0), (60, 0, 0)):
        result = prepared.run({"loads.push.value": push})
        assert _stored_data(result) == _stored_data(simulate(pendulum(push), t_end=0.02, dt=0.005))
        assert (result.body("bar").r[-1, 1] > 0.0) == (push[1] > 0)


@pytest.mark.parametrize("name", ["joints", "forces", "rods", "loaded", "geared", "drives", "shaken"])
def test_cached_numberings_belong_to_their_system(name, monkeypatch):
    """Changed masses keep the structure; a frame without mass, lumped rods, a removed joint or a fixed body
    change it.
    """
    system = MODELS[name]().build().system
    frames, joints, free = system.frames, system.constraints, np.flatnonzero(system.frames.fixed == 0)
    light, fixed = frames.mass.copy(), frames.fixed.copy()
    light[free[-1]], fixed[free[0]] = 0.0, 1
    heavier = {"mass": 3.0 * frames.mass, "inertia": 2.0 * frames.inertia}
    variants = {
        "heavier": system._replace(frames=frames._replace(**heavier)),
        "without mass": system._replace(frames=frames._replace(mass=light)),
        "held": system._replace(frames=frames._replace(fixed=fixed)),
    }
    if np.any(system.elements.coupling):
        variants["lumped"] = system.with_rods(system.rods.lumped())
    if len(joints.kind):
        variants["a joint less"] = system._replace(constraints=joints.chosen(np.arange(len(joints.kind) - 1)))
    assert number_for_solver(variants["heavier"]).frame is number_for_solver(system).frame
    for variant, hidden in itertools.product((system, *variants.values()), (False, True)):
        first, second = (number_for_solver(variant, BAND_LIMIT, hidden) for _ in range(2))
        assert first.handle != second.handle
        with monkeypatch.context() as alone:
            alone.setattr("discretization.memoization._structures", OrderedDict())
            numbering = number_for_solver(variant._replace(), BAND_LIMIT, hidden)
        for one, other in zip(_arrays(second), _arrays(numbering), strict=True):
            assert one.tobytes() == other.tobytes()


def _arrays(numbering):
    for name, value in zip(numbering._fields, numbering, strict=True):
        if name != "handle":
            yield from (np.asarray(x) for x in (value if isinstance(value, tuple) else (value,)))


def test_a_prepared_model_is_built_once(monkeypatch):
    built, build = [], Model.build
    monkeypatch.setattr(Model, "build", lambda model: built.append(model.name) or build(model))
    prepared = _beam(-7.0).prepare(t_end=0.01, dt=0.01)
    for force in (-1.0, -2.0):
        prepared.run({"loads.tip.value": (0, 0, force)})
        prepared.equilibrium({"loads.tip.value": (0, 0, force)})
    assert built == ["beam"]
