"""Records of a study: contents of keys, the journal, completed cases, saved results."""

import importlib.util
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from rodsim.studies import case_keys
from rodsim.studies.cases import Case, Outcome, Recipe, run_batch
from rodsim.studies.errors import StudyError
from rodsim.studies.study import Study, made_parameter
from rodsim.studies.study_results import StudyFolder, Sweep
from rodsim.studies.study_runner import _chosen, _known
from rodsim.studies.study_schema import ChosenEntry, DesignEntry, ParameterEntry
from rodsim.studies.study_targets import FunctionTarget


def square(x):
    return {"y": float(x * x)}


def study(values=(1, 2, 3), measures=None, sampler=None, keep="none"):
    parameters = {"x": made_parameter("x", ParameterEntry(values=list(values)))}
    return Study(
        "s", FunctionTarget(square, {}), parameters, DesignEntry(), measures or {}, keep, sampler=sampler
    )


# --- keys


def offset(x):
    return x


def test_function_keys_follow_keyword_defaults_and_nested_functions():
    def make_function(c):
        return lambda x, *, k=c: k * x

    def nested(x):
        return [offset(y) for y in (x,)], (lambda: offset(x))()

    assert case_keys.key(make_function(1.0)) == case_keys.key(make_function(1.0))
    assert case_keys.key(make_function(1.0)) != case_keys.key(make_function(2.0))
    before, old = case_keys.key(nested), globals()["offset"]
    try:
        globals()["offset"] = lambda x: x + 1
        assert case_keys.key(nested) != before
    finally:
        globals()["offset"] = old


def test_keys_depend_on_array_shapes_but_not_on_set_order():
    assert case_keys.key(np.zeros((2, 3))) != case_keys.key(np.zeros((3, 2)))
    assert case_keys.key({0, 8}) == case_keys.key(
        {8, 0}
    )  # keys with equal hash: iteration follows insertion order
    assert case_keys.key({0, 8}) != case_keys.key({0, 9})


def test_structure_key_distinguishes_booleans_from_numbers():
    assert case_keys.structure({"closed": True}) != case_keys.structure({"closed": False})
    assert case_keys.structure({"n": 1}) == case_keys.structure({"n": 2.5})


def test_program_hash_covers_exactly_the_numerical_sources(tmp_path, monkeypatch):
    package = tmp_path / "rodsim"
    for name in ("model.py", "cli/main.py", "studies/measures.py", "studies/pictures.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("1")
    package_spec = SimpleNamespace(submodule_search_locations=[str(package)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: package_spec if name == "rodsim" else None)
    before, follows = case_keys.program.__wrapped__(), {}
    for file in sorted(package.rglob("*.py")):
        file.write_text("2")
        follows[file.relative_to(package).as_posix()] = case_keys.program.__wrapped__() != before
        file.write_text("1")
    assert follows == {
        "model.py": True, "studies/measures.py": True, "cli/main.py": False, "studies/pictures.py": False
    }  # fmt: skip


def test_case_keys_depend_on_the_measures():
    plain = study().cases[0]
    assert study().cases[0] == plain
    assert study(measures={"y": "final energy.total"}).cases[0].key != plain.key
    assert study(sampler=offset).cases[0].key != plain.key
    assert study((2,)).cases[0].key == study((1, 2)).cases[1].key  # at any position of the study


# --- the journal and its completed cases


def test_last_journal_line_of_a_repeated_case_is_used(tmp_path):
    home = StudyFolder(tmp_path)
    killed = Outcome(0, "one", {}, "its worker died", lost=True, samples=(0.5, 0.25))
    home.add(killed, {})
    assert home.done() == {"one": killed}  # on disk at once: a kill loses no completed case
    completed = Outcome(0, "one", {"y": 1.0})
    home.add(completed, {})
    home.close()
    assert StudyFolder(tmp_path).done() == {"one": completed}


def test_completed_cases_are_renumbered_and_lost_ones_rerun(tmp_path):
    requested, home = study((3, 2, 1)), StudyFolder(tmp_path)
    key = {case.values["x"]: case.key for case in requested.cases}
    home.add(Outcome(7, key[1], {"y": 1.0}), {})
    home.add(Outcome(8, key[2], {}, "ValueError: no"), {})
    home.add(Outcome(9, key[3], {}, "its worker died", lost=True), {})
    failed = Outcome(1, key[2], {}, "ValueError: no")
    completed = Outcome(2, key[1], {"y": 1.0})
    assert _known(requested, home, retry=False) == {1: failed, 2: completed}
    assert _known(requested, home, retry=True) == {2: completed}
    home.close()


def test_keep_selects_requested_and_extreme_cases():
    outcomes = {
        k: Outcome(k, str(k), {} if y is None else {"y": y}, "no" if y is None else "")
        for k, y in enumerate([2.0, np.nan, 5.0, None, -7.0, 5.0])
    }
    assert _chosen(ChosenEntry(largest="y", n=2), outcomes) == {2, 5}
    assert _chosen(ChosenEntry(largest="y"), outcomes) == {2}  # the first of equal values
    assert _chosen(ChosenEntry(smallest="y", n=2), outcomes) == {4, 0}
    assert _chosen(ChosenEntry(cases=[3, 1], smallest="y"), outcomes) == {1, 3, 4}


def test_keeping_a_missing_case_is_rejected():
    study(keep=ChosenEntry(cases=[2]))
    with pytest.raises(StudyError, match="there is no case 3; the last is 2"):
        study(keep=ChosenEntry(cases=[3]))


# --- outcomes


def test_case_warnings_are_noted_once_and_memory_errors_name_a_remedy():
    def f(x):
        warnings.warn(f"x is {x}", stacklevel=1)
        warnings.warn(f"x is {x}", stacklevel=1)
        if x:
            raise MemoryError
        return {"y": 1.0}

    cases = [Case(k, f"key{k}", "", {"x": k}) for k in range(2)]
    outcomes = run_batch(Recipe(FunctionTarget(f, {}), {}, case_keys.program()), cases)
    assert [outcome.notes for outcome in outcomes] == [("x is 0",), ("x is 1",)]
    assert [outcome.error for outcome in outcomes] == [
        "",
        "out of memory; give each worker more, or start fewer",
    ]


def test_table_of_failed_cases_has_all_columns_and_lists_as_text():
    failed_study = study(measures={"y": "final energy.total"})
    frame = Sweep(failed_study, [Outcome(k, "", {}, "no") for k in range(3)]).frame
    assert list(frame.columns) == ["case", "x", "y", "error"]
    assert np.isnan(frame.y).all()
    frame_of_lists = Sweep(
        lists := study([[1, 2], [3, 4]]), [Outcome(c.number, c.key, {}) for c in lists.cases]
    ).frame
    assert list(frame_of_lists.x) == ["[1, 2]", "[3, 4]"]
