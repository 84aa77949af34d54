"""Exact and published numbers are reproduced; missing or wrong ones are reported as failed."""

from dataclasses import replace

import numpy as np
import pytest

from rigid.errors import ModelError
from rodsim.cli.main import main
from rodsim.validation import loops
from rodsim.validation.case import Case, Meshes, ReferenceValue, outcomes
from rodsim.validation.outcomes_report import as_html, as_text, validate
from rodsim.validation.registry import CASES, select_cases

ALL = [
    pytest.param(case, id=case.name, marks=pytest.mark.slow if case.slow else ()) for case in CASES.values()
]


@pytest.fixture
def short(monkeypatch):
    """Cases whose last numbers add nothing are shortened: 40 four-bars pass a singular position before t = 0.5."""

    def cut(case):
        if case.name != "four-bars-40":
            return case
        times = [t for t in loops.FOUR_BARS[40] if t <= 0.5]
        monkeypatch.setitem(loops.FOUR_BARS, 40, {t: loops.FOUR_BARS[40][t] for t in times})
        return replace(case, known={f"end({t:g})": case.known[f"end({t:g})"] for t in times})

    return cut


@pytest.mark.parametrize("case", ALL)
def test_reference_values_are_reproduced(case, short):
    case = short(case)
    results = outcomes(case)
    assert [outcome.quantity for outcome in results] == list(case.known)
    assert not [f"{o.quantity}: {o.error:.2e} > {o.tolerance:.2e}" for o in results if not o.ok]
    # the tolerance is meaningful: with too coarse a mesh only `limit` would be tested
    assert all(outcome.tolerance < case.meshes.limit for outcome in results)


def method(limit, order=2, wiggle=0.0):
    """Values of a method that converges to `limit`: 1 with h = 0.1, and half of that."""

    def run(level):
        h = (0.1, 0.05)[level]
        return {"x(1)": limit + h**order, "x(2)": limit + wiggle * h**order}

    return run


def case(run, known=1.0, **settings):
    meshes = Meshes("coarse", "fine", 2, **settings)
    return Case(
        "made",
        "Made up",
        "by hand",
        {f"x({t})": ReferenceValue(known, 0.0, 1.0) for t in (1, 2)},
        run,
        meshes,
    )


def test_error_and_tolerance_are_those_of_the_order():
    first, _ = outcomes(case(method(1.0)))
    # 0.05^2, and twice (0.1^2 - 0.05^2)/3
    assert first.error == pytest.approx(0.0025)
    assert first.tolerance == pytest.approx(0.005)
    assert first.ok


@pytest.mark.parametrize("limit", [1.01, 0.99, np.nan])
def test_convergence_to_a_wrong_value_fails(limit):
    assert not any(outcome.ok for outcome in outcomes(case(method(limit))))


def test_error_passing_through_zero_is_judged_by_earlier_errors():
    assert outcomes(case(method(1.0, wiggle=0.5)))[1].tolerance == pytest.approx(0.005)
    assert outcomes(case(method(1.0, wiggle=2.0)))[1].tolerance == pytest.approx(0.01)


def test_too_coarse_mesh_does_not_pass():
    results = outcomes(case(method(1.0), limit=1e-3))
    assert results[0].tolerance == 1e-3
    assert not results[0].ok


def test_runs_of_the_same_steps_are_judged_by_the_digits_of_the_source():
    known, meshes = {"x": ReferenceValue(1.0, 1e-9, 1.0)}, Meshes("", "h")
    assert outcomes(Case("same", "", "", known, lambda level: {"x": 1.0 + 0.9e-9}, meshes))[0].ok
    assert not outcomes(Case("other", "", "", known, lambda level: {"x": 1.0 + 1.1e-9}, meshes))[0].ok


def test_validation_table_reports_failures(capsys):
    import sys

    def broken(level):
        raise ModelError("no such thing <here>")

    results = validate([case(method(1.0)), case(broken), case(method(1.5))], sys.stdout)
    printed = capsys.readouterr().out
    assert [outcome.ok for outcome in results] == [True, True, False, False, False, False]
    assert printed.count("PASS") == 2
    assert printed.count("  FAIL") == 4
    assert "2 of 6 quantities" in printed
    assert "no such thing &lt;here&gt;" in as_html(results)
    assert as_html(results).count("<tr>") == 7
    assert "expected" in as_text(results)


def test_the_command_lists_runs_writes_and_judges(tmp_path, capsys, monkeypatch):
    assert main(["validate", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(CASES)
    assert main(["validate", "nutating-top", "-o", str(tmp_path / "out")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"validation.txt", "validation.html"}
    wrong_values = {
        name: known._replace(value=2 * np.array(known.value))
        for name, known in CASES["nutating-top"].known.items()
    }
    monkeypatch.setitem(CASES, "nutating-top", replace(CASES["nutating-top"], known=wrong_values))
    assert main(["validate", "nutating-top"]) == 4
    assert main(["validate", "nutating-tops"]) == 2
    assert "did you mean 'nutating-top'?" in capsys.readouterr().err


def test_names_are_unique_and_sources_are_given():
    assert len({case.title for case in CASES.values()}) == len(CASES)
    assert all(case.source and case.known for case in CASES.values())
    with pytest.raises(ModelError, match="choose among"):
        select_cases(["zzzzzz"])
