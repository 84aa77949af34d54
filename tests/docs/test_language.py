"""The language check reports the expected findings, and the repository has no new ones."""

import pytest

from tests.support import prose


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ('def f():\n    """The same of rods."""', "opening"),
        ('def f():\n    """As of `em`."""', "opening"),
        ("# The error is told at\n# the end.", "told"),
        ("# The loop goes\n# on with the next step.", "go on"),
        ("raise ModelError(f'{model} is no Model; use one')", "is no"),
        ("def f(own):\n    pass", "name: own"),
        ("found = 1", "name: found"),
        (f'def f():\n    """Return {"very " * 40}much."""', "sentence"),
    ],
)
def test_a_finding_in_python_is_reported(source, rule):
    assert [finding.rule for finding in prose.check(source, ".py")] == [rule]


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Assemble rods."""',
        "# There is none. There is no rod, and x is no longer `told`.",
        "# The drum turns; the lamp goes on the table, three times as long as it was.",
        "count = others.own",  # defined elsewhere
        'def f():\n    """Return a rod.\n\n' + "    name : float, of one word or another\n" * 9 + '    """',
    ],
)
def test_plain_python_has_no_findings(source):
    assert prose.check(source, ".py") == []


@pytest.mark.parametrize(
    ("source", "rules"),
    [
        ("A page, to the\nbit.", [(1, "to the bit")]),
        ("word " * 21, [(1, "line")]),
        ("| " + "word " * 21 + "|\n\n    " + "formula " * 20 + "\n\n```\n" + "code " * 30 + "\n```", []),
        ("- an item\n- " + "word\n  " * 46, [(2, "sentence")]),
    ],
)
def test_findings_in_pages_are_reported_with_their_line(source, rules):
    assert [(finding.line, finding.rule) for finding in prose.check(source, ".md")] == rules


@pytest.mark.parametrize("package", ["rigid", "discretization", "rodsim"])
def test_docstrings_open_with_a_verb_or_with_the_noun_of_the_field(package):
    openings = [
        f"{file}:{finding.line} {finding.text}"
        for file in prose.files(package)
        for finding in prose.check(file.read_text("utf-8"), file.suffix)
        if finding.rule == "opening"
    ]
    assert openings == []


def test_the_baseline_is_exact_and_can_only_shrink(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text("Made anew, made anew.\n")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "BASELINE", tmp_path / "baseline.csv")
    assert prose.main(["--shrink"]) == 0  # no baseline: write it
    assert prose.main([]) == 0
    page.write_text("Made anew.\n")
    assert prose.main([]) == 1
    assert "--shrink" in capsys.readouterr().out
    assert prose.main(["--shrink"]) == prose.main([]) == 0
    page.write_text("Made anew, made anew.\n")
    assert prose.main(["--shrink"]) == 0
    assert prose.main([]) == 1
    assert "page.md:1: anew: anew -> again" in capsys.readouterr().out
