"""docs/peer_cases.md says only what something here does."""

import re
from collections import Counter
from pathlib import Path

from benchmarks.registry import CASES
from benchmarks.sweeps import SWEEPS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "peer_cases.md").read_text()
ROWS = [
    [c.strip() for c in line.strip("|").split(" | ")]
    for line in TEXT.splitlines()
    if re.match(r"\| .*/", line)
]


def test_every_direct_case_names_a_test_or_a_benchmark_that_is_there():
    for name, _, today, by in ROWS:
        files = re.findall(r"(tests/\w+\.py) `(\w+)`", by)
        for file, test in files:
            assert f"def {test}(" in (ROOT / file).read_text(), (name, file, test)
        cases = re.findall(r"\b(?:(?:EX|PE)-\w+|B\d)\b", by)
        for case in cases:
            assert case in CASES, (name, case)
            assert case in SWEEPS, (name, case)
        assert today != "Y" or files or cases, name


def test_the_counts_are_those_of_the_table():
    count = Counter(today[0] for _, _, today, _ in ROWS)
    said = re.search(r"Y (\d+), W (\d+), N (\d+) of (\d+)", TEXT)
    assert said is not None
    assert [int(n) for n in said.groups()] == [count["Y"], count["W"], count["N"], len(ROWS)]


def test_every_peer_case_of_the_benchmarks_has_runs_of_rodsim_and_of_its_peer():
    for name in CASES:
        if name.startswith(("EX-", "PE-")):
            assert {"rodsim", "Exudyn" if name.startswith("EX") else "PyElastica"} == set(SWEEPS[name])
