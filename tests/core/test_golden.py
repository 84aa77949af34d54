"""Values stored by `tests.support.golden` are read again, and each of its rules detects a violation."""

import numpy as np
import pytest

from tests.support import golden

OLD = {
    "r": np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]),
    "energy potential": np.array([100.0, 101.0]),
    "iterations": np.array(200.0),
    "halvings": np.array(1.0),
}
OTHER = OLD | {"energy potential": OLD["energy potential"] + 1e-10}  # with gravity changed by one ulp


def changed(name, change):
    return OLD | {name: OLD[name] + change}


@pytest.mark.parametrize(
    ("name", "allowed", "forbidden"),
    [
        ("r", 1.9e-12, 2.1e-12),  # 1e-12 of 2 m
        ("energy potential", 0.9e-8, 1.1e-8),  # 100 times the spread
        ("iterations", 19.0, 21.0),
        ("halvings", -1.0, 1.0),
    ],
)
def test_field_may_differ_within_its_rule(name, allowed, forbidden):
    assert golden.broken(changed(name, allowed), OLD, OTHER) == {}
    assert list(golden.broken(changed(name, forbidden), OLD, OTHER)) == [name]


def test_missing_or_reshaped_field_is_reported():
    assert list(golden.broken({name: OLD[name] for name in OLD if name != "r"}, OLD, OTHER)) == ["r"]
    assert list(golden.broken(OLD | {"r": OLD["r"][:1]}, OLD, OTHER)) == ["r"]


def test_golden_comparison_checks_rejected_cases():
    refused = {"error": np.array("ModelError")}
    assert golden.broken(refused, refused, refused) == {}
    assert golden.broken(refused, OLD, OTHER)
    assert golden.broken(OLD, refused, refused)


def test_golden_fields_are_read_as_stored(tmp_path, capsys):
    only = ["--only", "heavy top em auto", "--jobs", "1"]
    assert golden.main(["store", str(tmp_path), *only]) == 0
    [file] = tmp_path.iterdir()
    assert golden.main(["compare", str(tmp_path), *only]) == 0
    with np.load(file) as stored:
        fields = {name: stored[name] for name in stored.files}
    np.savez(file, **fields | {name: fields[name] + 1e-6 for name in ("0 r", "1 r")})
    capsys.readouterr()
    assert golden.main(["compare", str(tmp_path), *only]) == 1
    assert "heavy top em auto" in capsys.readouterr().out
