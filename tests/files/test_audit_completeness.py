"""The audit checks everything that is stored.

Each array of a result is changed, and the change is detected or named as not judged.

The invariants that integrators declare are judged by their own momenta, independent of the velocities of the
frames.
"""

import shutil
from dataclasses import replace
from functools import cache

import h5py
import numpy as np
import pytest

from discretization.drives import WORK
from discretization.time.invariants import INVARIANTS, declared_invariants
from rigid.signals import Sine
from rigid.system import State
from rodsim import Box, Model, Result, Section, audit, simulate
from rodsim.results import native_format, verdicts, vtkhdf
from rodsim.results.audit_columns import COLUMNS
from rodsim.results.drawing import Drawing
from rodsim.results.step_recomputation import PERTURBATION, recompute_steps
from tests.support.results_sample import without_digests

H, STEPS = 0.01, 5
BY_VELOCITIES = ("em", "em-ggl", "em-d(0.7)")
IN_CHARTS = ("EML-kappa", "GGL-EM", "EM-G", "VI-B(0.5, 0.5)", "GL-SPARK(2)")


def section():
    return Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=20, EI=(30, 40), mass_per_length=2.0, inertia_per_length=(0.2, 0.3, 0.4)
    )


def swing(integrator):
    """A body rotated by a torsion spring on a hinge, with a rod behind it under a spring and a load; with
    `em` a motor drives the hinge of a second body, and the rod relaxes.
    """
    model = Model("swing", gravity=(0, 0, -9.81))
    body = model.add_body("body", Box(0.4, 0.2, 0.1, density=300), position=(0.2, 0, 0))
    rod_section = (
        section().with_relaxation(0.05, fraction=0.5) if integrator in ("em", "em-ggl") else section()
    )
    rod = model.add_rod("rod", [(0.4, 0, 0), (0.9, 0.3, 0.1)], rod_section, 2, mass="lumped")
    hinge = model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0.2))
    model.add_joint("end", "spherical", body, rod.start, at=(0.4, 0, 0))
    model.add_spring("coil", model.ground, body, 3.0, along="rotation", axis=(0, 1, 0.2), angle=0.4)
    model.add_spring("cord", rod.end, model.ground.at((1, 1, 0)), 10.0)
    model.add_force("push", rod.end, Sine(2.0, 3.0).along((0, 0, 1)))
    assert hinge
    if integrator in BY_VELOCITIES:
        wheel = model.add_body("wheel", Box(0.3, 0.3, 0.1, density=200), position=(0, -1, 0))
        axle = model.add_joint("axle", "revolute", model.ground, wheel, at=(0, -1, 0), axis=(0, 0, 1))
        model.add_drive("motor", axle, Sine(0.4, 2.0))
        model.add_spring("belt", wheel.at((0.1, 0, 0)), body.at((0, -0.1, 0)), 20.0)
    return model


@cache
def run_of(integrator):
    return simulate(swing(integrator), STEPS * H, H, integrator, output_every=1)


def changed(result, name, change):
    """The result with one changed array; the others are shared."""
    result.strains()  # computed on first access
    source = type(result._source)(result.layout, {**result._source._arrays})
    source._arrays[name] = change(result._source._arrays[name].copy())
    return Result(source)


def doubled(array):
    return 2 * array


def perturbed(array):
    """Perturb output 3: its largest number by a millionth, integers by one step; of the energy table not the
    columns of Newton's cost.
    """
    row = array[3].reshape(-1) if array.ndim > 1 else array[3:4]
    if len(row) == len(COLUMNS):
        row = row[: COLUMNS.index("newton_mean")]
    k = np.argmax(np.abs(row))
    row[k] += 1 if array.dtype.kind == "i" else 1e-6 * max(1.0, abs(row[k]))
    return array


@pytest.mark.parametrize("integrator", [*BY_VELOCITIES, *IN_CHARTS])
def test_audit_detects_every_change_of_a_result(integrator):
    result = run_of(integrator)
    sound = audit(result)
    assert sound.ok, sound.text()
    assert f"all {STEPS} lead" in sound.text()
    arrays = result._source._arrays
    fields = {name for name in State._fields if name in arrays}
    assert fields >= {"r", "quat", "v", "Omega", "lam", "totals"}
    assert ("acc" in arrays) == (integrator in BY_VELOCITIES)
    missed = []
    for name, array in arrays.items():  # arrays that are doubled at all outputs: one of each kind
        for change in (
            (perturbed, doubled) if integrator in ("em", "EML-kappa", "GL-SPARK(2)") else (perturbed,)
        ):
            if array.size == 0 or (change is doubled and not np.any(array)):
                continue
            if audit(changed(result, name, change)).ok:
                missed.append((name, change.__name__))
    assert not missed
    assert "Newton, as the run counted" in sound.text()


@pytest.mark.parametrize("integrator", ["em", "em4"])
@pytest.mark.parametrize("planar", [True, False])
def test_audit_checks_the_history_of_earlier_steps(planar, integrator):
    """Bodies joined to trees, in space and in the plane."""
    model = Model("doors", gravity=(0, 0, -9.81))
    previous = model.ground
    for k in range(2):
        bar = model.add_body(f"bar {k}", Box(1, 0.1, 0.2, density=300), position=(k + 0.5, 0, 0))
        axis = (0, 1, 0) if planar else (0.2 * k, 1, 0.1)
        model.add_joint(f"joint {k}", "revolute", previous, bar, at=(k, 0, 0), axis=axis)
        previous = bar
    result = simulate(model, STEPS * H, H, integrator, output_every=1, progress=False)
    sound, memory = audit(result), result.layout.memory
    assert sound.ok, sound.text()
    assert memory.history
    arrays = result._source._arrays
    assert arrays.keys() >= memory.shapes().keys()
    changes = {name: changed(result, name, perturbed) for name, array in arrays.items() if array.size}
    assert not [name for name, other in changes.items() if audit(other).ok]


@pytest.fixture(scope="module")
def stored_result(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "sound.vtkhdf"
    simulate(swing("em"), STEPS * H, H, output=path)
    audited = audit(Result.load(path))  # as in another process: the file is the only source of the model
    assert audited.ok, audited.text()
    assert audited.step_recomputation.steps == STEPS
    return path


def growing_arrays(path):
    layout = Result.load(path).layout
    blocks = vtkhdf.blocks_of(Drawing(layout, surfaces=True))
    series = (*native_format.series(layout), *(item for block in blocks for item in block.series))
    return [*(item.path for item in series), vtkhdf.VALUES]


def test_audit_detects_every_change_of_a_file(stored_result, tmp_path):
    """Arrays that grow with the run, and the numbers of the model."""
    missed, path = [], tmp_path / "changed.vtkhdf"
    with h5py.File(stored_result) as file:
        system = file["rodsim/layout/system"]
        of_model = [
            f"rodsim/layout/system/{a}/{b}" for a in native_format.TABLES if a in system for b in system[a]
        ]
    assert len(of_model) > 40
    for name in (*growing_arrays(stored_result), *of_model, "rodsim/layout/system/gravity"):
        with h5py.File(stored_result) as file:
            array = file[name][...]
        if array.size == 0 or array.dtype.kind != "f":  # invalid frame indices are rejected earlier
            continue
        shutil.copy(stored_result, path)
        with h5py.File(path, "r+") as file:
            without_digests(file)
            array.reshape(len(array), -1)[-1, 0] += 1e-3 if name.startswith("VTKHDF") else 1e-6
            file[name][...] = array
        if audit(Result.load(path)).ok:
            missed.append(name)
    assert not missed


def with_twice_the_work(layout, variables):
    """Double the work of all drives."""
    layout.internal.part(variables, "drive")[..., WORK] *= 2.0
    return variables


@pytest.mark.parametrize("names", [("time", "steps"), ("lam",), ("own",)])
def test_consistent_file_with_wrong_steps_fails_the_audit(names, stored_result, tmp_path):
    """Both clocks, the forces of all joints, the work of all drives, doubled at all outputs."""
    path = tmp_path / "twice.vtkhdf"
    shutil.copy(stored_result, path)
    with h5py.File(path, "r+") as file:
        without_digests(file)
        for name in names:
            array = file[vtkhdf.VALUES] if name == "steps" else file[f"rodsim/{name}"]
            if name == "own":
                array[...] = with_twice_the_work(Result.load(stored_result).layout, array[...])
            else:
                array[...] = 2.0 * array[...]
    audited = audit(Result.load(path))
    assert not audited.ok
    law = {"time": "times", "lam": "steps taken again", "own": "steps taken again"}[names[0]]
    assert law in {v.law for v in audited.verdicts if v.kept is False}


@pytest.mark.parametrize("integrator", [*BY_VELOCITIES, "EML-kappa", "GL-SPARK(2)"])
def test_round_off_of_another_processor_is_not_a_difference(integrator):
    """All numbers of all states are changed by their round-off."""
    result, way = run_of(integrator), np.random.default_rng(1)
    arrays = dict(result._source._arrays)
    for name in State._fields:
        if name in arrays and name != "quat":
            x = arrays[name]
            arrays[name] = x * (1.0 + np.finfo(float).eps * way.choice([-1.0, 1.0], x.shape))
    recomputed = recompute_steps(Result(type(result._source)(result.layout, arrays)))
    assert recomputed.steps == STEPS
    assert not recomputed.differences


def test_step_changes_above_round_off_are_differences():
    """A change of the velocities that their energy table would just show."""

    def moved(v):
        v[2] *= 1.0 + 1e-10
        return v

    assert recompute_steps(changed(run_of("em"), "v", moved)).differences
    assert PERTURBATION < 1e-7


def test_run_tolerance_widens_the_audit_bounds():
    """A run solved to round-off, declared as solved to 1e-8, and repeated with that tolerance."""
    exact = simulate(swing("em"), STEPS * H, H, output_every=1)
    exact.description["run"]["tolerance"] = 1e-8
    recomputed = recompute_steps(exact)
    assert recomputed.steps == STEPS
    assert not recomputed.differences
    assert recompute_steps(changed(exact, "lam", doubled)).differences


def test_loads_and_drives_missing_in_a_file_are_named(tmp_path):
    model = swing("em")
    model.add_force("whim", model.bodies["body"].at((0, 0, 0)), lambda t: (np.cos(t), 0, 0))
    path = tmp_path / "whim.vtkhdf"
    result = simulate(model, STEPS * H, H, output=path)
    assert audit(result).step_recomputation.steps == STEPS  # the model in memory has the function
    audited = audit(Result.load(path))
    assert audited.ok
    assert "not judged: a file does not store the values of load 'whim'" in audited.text()
    assert verdicts.STEP_QUANTITIES in audited.text()
    path = tmp_path / "sparse.vtkhdf"
    simulate(swing("em"), 4 * H, H, output=path, output_every=2)
    assert "not judged: drives" in audit(Result.load(path)).text()


def test_drive_work_is_audited_if_only_drives_work(tmp_path):
    """For any number of steps between outputs."""
    model = swing("em")
    del model.loads["push"]
    path = tmp_path / "driven.vtkhdf"
    simulate(model, STEPS * H, H, output=path, output_every=2)
    assert audit(Result.load(path)).ok
    with h5py.File(path, "r+") as file:
        file["rodsim/own"][...] = with_twice_the_work(Result.load(path).layout, file["rodsim/own"][...])
    broken = [v for v in audit(Result.load(path)).verdicts if v.kept is False]
    assert any("work of drives" in v.measured for v in broken)


def test_audit_repeats_a_part_of_long_runs(monkeypatch):
    result = simulate(swing("em-d(0.7)"), 0.4, H, "em-d(0.7)", output_every=2)
    for few, fraction, steps in ((64, 0.05, 40), (6, 0.05, 6), (2, 0.5, 20), (1, 0.01, 0)):
        monkeypatch.setattr("rodsim.results.step_recomputation.MIN_STEPS", few)
        monkeypatch.setattr("rodsim.results.step_recomputation.STEP_FRACTION", fraction)
        audited = audit(result)
        assert audited.step_recomputation.steps == steps
        assert ("not judged: 2 steps from one output to the next" in audited.text()) is (steps == 0)


@pytest.mark.parametrize("name", ["r", "quat", "v", "Omega", "lam"])
def test_frames_and_forces_belong_to_their_chart_at_all_outputs(name, monkeypatch):
    """Also where no step is repeated."""
    monkeypatch.setattr("rodsim.results.step_recomputation.MIN_STEPS", 0)
    monkeypatch.setattr("rodsim.results.step_recomputation.STEP_FRACTION", 0)
    result = run_of("EML-kappa")
    assert audit(result).ok
    assert audit(result).step_recomputation.steps == 0

    def moved(array):
        array[3].reshape(-1)[-1] += 1e-6
        return array

    audited = audit(changed(result, name, moved))
    assert "frames of the chart" in {v.law for v in audited.verdicts if v.kept is False}


def test_no_step_is_repeated_if_times_are_inconsistent():
    def late(step):
        step[-1] += 10**12
        return step

    recomputed = recompute_steps(changed(run_of("em"), "step", late))
    assert recomputed.steps == 0
    assert recomputed.reason == "times and numbers of steps do not agree"


def bars(integrator="em"):
    """Two bodies and a rod that swing, without counters or internal variables; outputs are 30 steps apart."""
    model = Model("bars", gravity=(0, 0, -9.81))
    body = model.add_body("body", Box(0.4, 0.2, 0.1, density=300), position=(0.2, 0, 0))
    rod = model.add_rod("rod", [(0.4, 0, 0), (0.9, 0.3, 0.1)], section(), 2, mass="lumped")
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("end", "spherical", body, rod.start, at=(0.4, 0, 0))
    model.add_force("push", rod.end, Sine(2.0, 3.0).along((0, 0, 1)))
    return simulate(model, 0.6, H, integrator, output_every=30)


@pytest.mark.parametrize("integrator", ["em", "em4"])
@pytest.mark.parametrize("name", ["lam", "acc", "v", "Omega"])
def test_last_step_before_an_output_is_repeated(integrator, name, monkeypatch):
    monkeypatch.setattr("rodsim.results.step_recomputation.MIN_STEPS", 2)
    result = bars(integrator)
    sound = audit(result)
    assert sound.ok, sound.text()
    assert sound.step_recomputation.steps == 2
    assert "the last one before 2 outputs" in sound.text()
    for change in (doubled, lambda array: array * (1.0 + 1e-6)):
        recomputed = recompute_steps(changed(result, name, change))
        assert recomputed.steps == 2
        assert recomputed.differences


def test_halved_steps_are_detected_by_accelerations(monkeypatch):
    monkeypatch.setattr("rodsim.results.step_recomputation.MIN_STEPS", 2)
    result = bars()
    result = changed(result, "time", lambda t: t / 2)
    result.description["run"]["dt"] = H / 2
    assert recompute_steps(result).differences


# -- declared invariants -------------------------------------------------------------------------------------


def free(integrator="EML-kappa"):
    """A body and a rod in free flight."""
    model = Model("free")
    body = model.add_body(
        "body", Box(0.4, 0.2, 0.1, density=300), position=(0.2, 0, 0), angular_velocity=(1, 2, -3)
    )
    rod = model.add_rod("rod", [(0.4, 0, 0), (0.9, 0.3, 0.1)], section(), 2, mass="lumped")
    model.add_joint("end", "spherical", body, rod.start, at=(0.4, 0, 0))
    return simulate(model, 0.2, 0.02, integrator, output_every=1)


LAWS = {
    "energy": "energy balance E - E0 = W - D",
    "generalised energy": "energy balance E - E0 = W - D",
    "linear momentum": "linear momentum",
    "angular momentum": "angular momentum",
    "symplectic": "symplectic",
    "position": "joints, positions",
    "velocity": "joints, velocities",
}


@pytest.mark.parametrize("integrator", [*BY_VELOCITIES, *IN_CHARTS])
def test_audit_judges_exactly_the_declared_invariants(integrator):
    """Except the symplectic form, which is only reported."""
    assert set(LAWS) == set(INVARIANTS)
    audited = audit(free(integrator))
    promised = declared_invariants(integrator, audited.chart)
    assert set(audited.invariants) == promised
    judged = {v.law: v.kept for v in audited.verdicts}
    expected = {LAWS[invariant] for invariant in promised - {"symplectic"}}
    assert {law for law in set(LAWS.values()) if judged.get(law) is not None} == expected
    assert all(judged[law] for law in expected), audited.text()
    if {"energy", "generalised energy"} <= promised:
        assert judged["the same of p . v - T(q, v) + V"] is True
    assert ("symplectic" in judged) is ("symplectic" in promised)


def test_livens_schemes_are_judged_by_their_momenta():
    """EML-kappa conserves p to round-off; the velocities conserve it to the order of the scheme only."""
    audited = audit(free())
    assert audited.energy_balance < 1e-13
    assert audited.angular_momentum_drift < 1e-13
    energy, _, angular = audited.velocity_based
    assert energy > 1e-7
    assert angular > 1e-7


@pytest.mark.parametrize("law", ["linear momentum", "angular momentum", "energy balance E - E0 = W - D"])
def test_violated_invariant_fails_the_audit(law):
    """The momenta alone are changed: frames, forces and tables are unchanged."""
    result = free()
    n = (result.layout.n_chart - 2 * result.layout.n_multipliers) // 3

    def spoiled(chart):
        chart[6, chart.shape[1] // 3 : chart.shape[1] // 3 + 6] *= 1.0 + 1e-8
        return chart

    assert n > 0
    audited = audit(changed(result, "chart", spoiled))
    assert law in {v.law for v in audited.verdicts if v.kept is False}


def test_velocity_constraints_of_em_ggl_are_judged():
    def moved(v):
        v[4, 1, 0] += 1e-8
        return v

    result = changed(free("em-ggl"), "v", moved)
    assert "joints, velocities" in {v.law for v in audit(result).verdicts if v.kept is False}


@pytest.mark.parametrize(("tolerance", "missed"), [(0.0, 1e-10), (1e-9, 1e-8)])
def test_joint_residuals_are_bounded_by_round_off_and_ten_tolerances(tolerance, missed):
    """Positions are known to the tolerance times a few sizes of the model."""
    audited = audit(run_of("em"))
    assert audited.constraint > 0.0

    def is_satisfied(relative):
        judged = verdicts.judge_run(replace(audited, tolerance=tolerance, constraint_relative=relative))
        return {v.law: v.kept for v in judged}["joints, positions"]

    assert is_satisfied(0.5 * missed)
    assert not is_satisfied(3.0 * missed)
