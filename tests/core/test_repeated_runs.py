"""Results do not depend on earlier runs: a model gives what it gives in a new process, and no run writes to
shared arrays.
"""

import gc
import json
import tracemalloc

import pytest

import rodsim.simulation
from rodsim import Model, Section, equilibrium, simulate
from rodsim.warnings import ModelCheckWarning
from tests.support import similar_models
from tests.support.completeness import DT, MODELS
from tests.support.prepared import _beam, _stored_data
from tests.support.processes import said
from tests.support.similar_models import digests


def swing(push=(0.0, 1.0, 0.0), name="swing"):
    """A pendulum of two elements under a load."""
    section = Section.from_stiffness(
        EA=2e4, GA=8e3, GJ=2.0, EI=2.0, mass_per_length=1.0, inertia_per_length=(2e-3, 1e-3, 1e-3)
    )
    model = Model(name, gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 2)
    model.add_joint("pin", "spherical", model.ground, rod.start)
    model.add_force("push", rod.end, push)
    return model


def _run(model):
    return _stored_data(simulate(model, 2 * DT, DT))


def test_repeated_or_rebuilt_model_gives_the_same_result():
    model = swing()
    first = _run(model)
    assert _run(model) == _run(swing()) == first


def test_models_of_one_structure_do_not_depend_on_earlier_runs():
    """Run twice here, and in another process in the opposite order."""
    backwards = json.loads(said("-m", "tests.support.similar_models", "backwards"))
    digest = digests(list(similar_models.MODELS))
    assert len(set(digest.values())) == len(digest)
    assert digest == digests(list(similar_models.MODELS)) == backwards


def test_in_place_changes_are_detected():
    model = swing()
    before = _run(model)
    model.gravity[2] = -9.80
    after = _run(model)
    model.bodies, model.name = dict(model.bodies), "another"
    assert len({repr(before), repr(after), repr(_run(model))}) == 3


def test_results_depend_on_every_digit_of_a_model():
    results = set()
    for push, stiffness in ((1.0, 1.0), (1.0 + 1e-12, 1.0), (1.0, 1.0 + 1e-12)):
        model = swing((0.0, push, 0.0))
        model.add_spring("string", model.ground.at((1, 0, 1)), model.rods["rod"].end, stiffness)
        results.add(repr(_run(model)))
    assert len(results) == 3


def test_load_function_is_evaluated_in_each_run():
    size = [1.0]
    model = swing(lambda t: (0.0, size[0], 0.0))
    before = _run(model)
    size[0] = 2.0
    after = _run(model)
    assert len({repr(before), repr(after), repr(_run(swing(lambda t: (0.0, 3.0, 0.0))))}) == 3


def test_model_warnings_are_repeated_in_each_run():
    model = swing()
    bar = model.add_body("far", rodsim.Box(0.1, 0.1, 0.1, density=1000.0), position=(0.0, 3.0, 0.0))
    model.add_joint("hold", "weld", model.ground, bar, at=(0.0, 0.0, 0.0))
    for _ in range(2):
        with pytest.warns(ModelCheckWarning, match="hold"):
            simulate(model, DT, DT)


def _contents(system):
    return [array.tobytes() for table in system if isinstance(table, tuple) for array in table]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "integrator"), [("joints", "em"), ("joints", "EML-kappa"), ("rods", "em"), ("rods", "em-d(0.5)")]
)
def test_runs_do_not_write_to_the_shared_system_of_a_prepared_model(name, integrator):
    prepared = MODELS[name]().prepare(t_end=DT, dt=DT, integrator=integrator)
    system = prepared.run().layout.system
    before = _contents(system)
    for _ in range(2):
        assert prepared.run().layout.system is system
        prepared.run({"gravity": (0.0, 0.1, -0.2)})
        assert _contents(system) == before


def test_builds_share_no_writable_arrays():
    model = swing()
    before = _run(model)
    built = model.build()
    for arrays in (
        built.state,
        *(table for table in built.system if isinstance(table, tuple)),
        built.prescribed_velocities,
    ):
        for array in arrays:
            if hasattr(array, "flags") and array.flags.writeable and array.dtype.kind == "f":
                array[...] = 7.0
    built.layout.description.clear()
    assert _run(model) == _run(swing()) == before


def test_memory_does_not_grow_with_the_number_of_models_that_were_run():
    """Run rods of 2 to 201 elements, 200 structures; their work arrays take up to a megabyte each."""
    section = Section.from_stiffness(
        EA=2e4, GA=8e3, GJ=2.0, EI=2.0, mass_per_length=1.0, inertia_per_length=(2e-3, 1e-3, 1e-3)
    )

    def run(k):
        model = Model(f"model {k}", gravity=(0, 0, -9.81))
        rod = model.add_rod("rod", [(0, 0, 0), (1, 0.01 * k, 0)], section, 2 + 37 * k % 200)
        model.add_joint("pin", "spherical", model.ground, rod.start)
        model.add_force("push", rod.end, (0.0, 1.0, 0.0))
        simulate(model, DT, DT, progress=False)

    run(199)
    tracemalloc.start()
    used = []
    for k in range(200):
        run(k)
        if k in (99, 199):
            gc.collect()
            used.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert used[1] - used[0] < 1e7, used  # if all were cached: 4e7


def test_run_from_an_equilibrium_with_a_moved_joint_leaves_the_model_unchanged():
    model, path = _beam(), {"displacement": (0.0, 0.01, 0.0)}
    place = [joint.points.tolist() for joint in simulate(model, 0.01, 0.01).layout.joints]
    before, at_rest = _stored_data(simulate(model, 0.01, 0.01)), _stored_data(equilibrium(model))
    moved = equilibrium(model, motions={"clamp": path})
    run = simulate(model, 0.01, 0.01, start=moved)
    assert [joint.points.tolist() for joint in run.layout.joints] != place
    repeated = simulate(model, 0.01, 0.01)
    assert _stored_data(repeated) == before
    assert [joint.points.tolist() for joint in repeated.layout.joints] == place
    assert _stored_data(equilibrium(model)) == at_rest


def test_copied_layout_has_its_own_description_and_no_functions():
    layout = simulate(swing(), 0.01, 0.01, progress=False).layout
    assert layout.functions is not None
    other = layout.copied()
    assert other.functions is None
    other.description["name"], other.n_chart = "another", 7
    assert (layout.description["name"], layout.n_chart) == (layout.name, 0)
    assert other.bodies is layout.bodies
