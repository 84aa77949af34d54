"""Counts and lists of the README equal those of the package."""

import argparse
import re

import pytest

from benchmarks.registry import CASES
from discretization.time.em_family import em_integrator
from discretization.time.integrators import parse
from rigid.joints import JOINTS
from rodsim.cli.main import LISTED, parser
from rodsim.papers.claims_report import STUDIES
from rodsim.validation.registry import CASES as VALIDATED
from tests.support.pages import DOCS, ROOT

TEXT = (ROOT / "README.md").read_text("utf-8")


def row(name):
    """Return the second cell of a row of the README's table of features."""
    match = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", TEXT, re.MULTILINE)
    assert match is not None, name
    return match.group(1)


def test_readme_commands_are_valid():
    listed = set(re.findall(r"^    rodsim (\w+)", TEXT, re.MULTILINE))
    assert listed
    assert listed <= {name for names in LISTED.values() for name in names}
    [commands] = [a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)]
    assert listed <= set(commands.choices)


def test_readme_joint_count_equals_the_registry():
    assert int(re.match(r"(\d+) kinds of joints", row("join parts"))[1]) == len(JOINTS)


def test_readme_integrators_exist():
    names = re.findall(r"`(em[\w-]*)(?:\((?:rho)\))?`", row("choose a scheme"))
    assert len(names) == 6
    for name in names:
        assert em_integrator("em-d(0.8)" if name == "em-d" else name) is not None
    assert "GGL-EM" in TEXT
    assert parse("GGL-EM").order >= 1


def test_readme_counts_equal_the_registries():
    cases, papers = re.search(r"\[(\d+) exact and published cases\].*\[(\d+) papers\]", row("check")).groups()
    assert int(papers) == len(STUDIES)
    assert int(cases) == len(VALIDATED)


def test_readme_table_of_mechanisms_is_complete():
    """The README does not count them; the page and the README of the benchmarks do."""
    table = (
        (DOCS / "howto" / "comparing.md").read_text("utf-8").split("| example | E, Pa |")[1].split("\n\n")[0]
    )
    assert len(table.splitlines()) - 2 == 7
    assert sum(name.startswith("EX-") for name in CASES) == 15
    assert sum(name.startswith("PE-") for name in CASES) == 6


def test_readme_pages_exist():
    ways = [way.partition("#")[0] for way in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in way]
    assert len(ways) > 20
    assert [way for way in ways if not (ROOT / way).exists()] == []


# rows of the README's table of speeds -> rows of the benchmark tables: (case, beginning of the peer's name)
FRAMES = [(f"EX-{name}", "") for name in ("cantilever", "generalBending", "princeton", "beam2D", "LShape")]
MECHANISMS = (
    *("heavyTop", "fourBars", "governor", "pointPendulum"),
    *("rigidPendulum", "sliderCrank", "bricard", "sphericalChain"),
)
SPEEDS = {  # case and program of README -> rows
    ("heavy top", "Pinocchio"): [("B4", "Pinocchio")],
    ("5 bars on ball joints in space", "Pinocchio"): [("B3-5-space", "Pinocchio")],
    ("5 bars on oblique hinges", "Pinocchio"): [("B3-5-oblique", "Pinocchio")],
    ("20 bars on oblique hinges", "MuJoCo"): [("B3-20-oblique", "MuJoCo")],
    ("20 bars on parallel hinges", "MuJoCo"): [("B3-20", "MuJoCo")],
    ("5 bars on oblique hinges", "MuJoCo"): [("B3-5-oblique", "MuJoCo")],
    ("ten natural frequencies of a beam", "Exudyn"): [("EX-eigenmodes", "")],
    ("eight mechanisms", "Exudyn"): [(f"EX-{name}", "Exudyn |") for name in MECHANISMS],
    ("five small frames, static", "Exudyn"): FRAMES,
    ("welded grid in motion", "Exudyn"): [("EX-grid", "")],
    ("100 bars on oblique hinges", "MuJoCo"): [("B3-100-oblique", "MuJoCo")],
    ("falling cantilever in space", "Exudyn"): [("B2-space", "Exudyn")],
    ("flying spaghetti", "Exudyn"): [("B1", "Exudyn")],
}
STACKS = "two to ten cubes"  # this table has times, not ratios


def spans(cell):
    """Pairs of numbers "a to b" of a cell; a single number is both."""
    matches = re.findall(r"([\d.]+)(?:\+? to ([\d.]+))?", cell)
    return [(float(a), float(b or a)) for a, b in matches]


def test_readme_speeds_equal_the_benchmarks():
    measured = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    lines = TEXT.split("| case | compared with |")[1].split("\n\n")[0].splitlines()[2:]
    stacks, *table = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    assert stacks[0].startswith(STACKS)
    times = re.findall(r"^\| \d+ \| ([\d.]+) \| ([\d.]+) \| .*; .*\|$", measured, re.MULTILINE)
    ratios = [float(peer) / float(own_time) for own_time, peer in times]
    assert spans(stacks[3])[0] == pytest.approx((min(ratios), max(ratios)), rel=0.06)
    assert [(case, peer) for case, peer, *_ in table] == list(SPEEDS)
    for (case, peer, *cells), rows in zip(table, SPEEDS.values(), strict=True):
        for column, cell in zip((-2, -1), cells, strict=True):
            ranges = []
            for name, program in rows:
                line = re.search(rf"^\| {re.escape(name)} \| {re.escape(program)}.*$", measured, re.MULTILINE)
                assert line is not None, (name, program)
                ranges += spans(line.group(0).strip("| ").split(" | ")[column])
            extremes = (min(a for a, _ in ranges), max(b for _, b in ranges))
            assert spans(cell)[0] == pytest.approx(extremes, rel=0.06), (case, peer)


def test_readme_lists_slower_rows_first():
    lines = TEXT.split("| case | compared with |")[1].split("\n\n")[0].splitlines()[3:]
    least = [spans(line[1:-1].split("|")[2])[0][0] for line in lines]
    assert least == sorted(least)
