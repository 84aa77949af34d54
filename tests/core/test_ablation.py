"""The table of accelerators names code and cases that exist."""

import pytest

from benchmarks.ablation import ACCELERATORS, lines_of
from benchmarks.version_comparison import CASES


@pytest.mark.parametrize("name", ACCELERATORS)
def test_an_accelerator_has_code_and_cases(name):
    accelerator = ACCELERATORS[name]
    counts = [lines_of([place]) for place in accelerator.code]
    assert all(counts)
    assert lines_of(accelerator.code) == sum(counts)
    assert {accelerator.typical, accelerator.best} <= CASES.keys()


def test_code_lines_exclude_docstrings_comments_and_blank_lines(tmp_path, monkeypatch):
    text = '"""Module."""\n\nimport os  # why\n\n\ndef f(x):\n    """Return x."""\n    # text\n    return g(\n        x\n    )\n'
    (tmp_path / "module.py").write_text(text)
    monkeypatch.setattr("benchmarks.ablation.ROOT", tmp_path)
    assert lines_of(["module.py"]) == 5
    assert lines_of(["module.py:f"]) == 4
