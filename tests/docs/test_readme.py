"""What README counts and lists is what there is."""

import argparse
import re

import pytest

from benchmarks.registry import CASES
from discretization.time.em_names import em_integrator
from discretization.time.integrators import parse
from rigid.joints import JOINTS
from rodsim.cli.main import LISTED, parser
from rodsim.papers.claims_report import STUDIES
from rodsim.validation.registry import CASES as VALIDATED
from tests.support.pages import DOCS, ROOT

TEXT = (ROOT / "README.md").read_text("utf-8")
NUMBERS = {"six": 6, "seven": 7, "eight": 8, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15}


def row(name):
    """The second cell of a row of README's table of what there is."""
    found = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", TEXT, re.MULTILINE)
    assert found is not None, name
    return found.group(1)


def test_the_commands_of_readme_are_all_commands():
    listed = set(re.findall(r"^    rodsim (\w+)", TEXT, re.MULTILINE))
    assert listed == {name for names in LISTED.values() for name in names}
    [older] = re.findall(r"The commands (`[^.]*) are parts of these", TEXT)
    [commands] = [a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)]
    assert listed | set(re.findall(r"`(\w+)`", older)) == set(commands.choices)


def test_the_templates_of_readme_are_all_templates():
    listed = re.search(r"a commented scene to begin with: ([\w, -]+)", TEXT)
    assert listed is not None
    assert set(listed[1].split(", ")) == {p.stem for p in (ROOT / "rodsim" / "templates").glob("*.yaml")}


def test_the_joints_of_readme_are_all_joints():
    words = row("joints").split(";")[0].replace("(massless rod)", "")
    listed = {word.strip().replace(" ", "_") for word in words.split(",")}
    assert listed == set(JOINTS) | {"gears"}


def test_the_integrators_of_readme_are_known():
    named = re.findall(r"`(em[\w-]*)(?:\((?:rho)\))?`", row("integrators"))
    assert len(named) == 9
    for name in named:
        assert em_integrator("em-d(0.8)" if name == "em-d" else name) is not None
    others = row("and, in quaternions or directors")
    for said, scheme in (
        *((name, name) for name in ("EML", "REML", "Null-EML", "EML-kappa")),
        *(("midpoint", "MPL"), ("Gonzalez", "EM-G"), ("variational", "VI-S"), ("energy-momentum", "GGL-EM")),
        *(("mG(k)", "mG(2)"), ("SPARK", "GL-SPARK(2)"), ("Lobatto pairs", "Lobatto-IIIA-B(2)")),
    ):
        assert said in others
        assert parse(scheme).order >= 1


def test_the_counts_of_readme_are_those_of_what_is_counted():
    papers, cases = re.search(r"(\w+), each claim .*?; (\d+) more cases", row("published examples")).groups()
    assert NUMBERS[papers] == len(STUDIES)
    assert int(cases) == len(VALIDATED)
    mechanisms = re.search(r"(\w+) mechanisms become rigid as 1/E", row("rigid against flexible")).group(1)
    table = (
        (DOCS / "howto" / "comparing.md").read_text("utf-8").split("| example | E, Pa |")[1].split("\n\n")[0]
    )
    assert NUMBERS[mechanisms] == len(table.splitlines()) - 2
    exudyn, elastica = re.search(r"All (\d+) test models of Exudyn and (\w+) of PyElastica's", TEXT).groups()
    assert int(exudyn) == sum(name.startswith("EX-") for name in CASES)
    assert NUMBERS[elastica] == sum(name.startswith("PE-") for name in CASES)
    direct, of = re.search(r"\[(\d+) of (\d+) with the peers' own parameters\]", TEXT).groups()
    said = re.search(
        r"Y (\d+), .* of (\d+)\.", (DOCS / "evidence" / "peer_cases.md").read_text("utf-8")
    ).groups()
    assert (direct, of) == said


def test_the_pages_of_readme_are_there():
    ways = [way.partition("#")[0] for way in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in way]
    assert len(ways) > 25
    assert [way for way in ways if not (ROOT / way).exists()] == []


# rows of README's table of speeds -> rows of the tables of the benchmarks: (case, beginning of the peer's name)
FRAMES = [(f"EX-{name}", "") for name in ("cantilever", "generalBending", "princeton", "beam2D", "LShape")]
MECHANISMS = (
    *("heavyTop", "fourBars", "governor", "pointPendulum"),
    *("rigidPendulum", "sliderCrank", "bricard", "sphericalChain"),
)
SPEEDS = {
    "heavy top beside Pinocchio": [[("B4", "Pinocchio")]],
    "5 pinned bars in space beside Pinocchio": [[("B3-5-space", "Pinocchio")]],
    "5 bars on oblique hinges beside Pinocchio": [[("B3-5-oblique", "Pinocchio")]],
    "20 bars on oblique hinges": [[("B3-20-oblique", "MuJoCo")], [("B3-20-oblique", "Pinocchio")]],
    "20 pinned bars in their plane": [[("B3-20", "MuJoCo")], [("B3-20", "Pinocchio")]],
    "5 pinned bars in their plane beside Pinocchio": [[("B3-5", "Pinocchio")]],
    "5 bars on oblique hinges beside MuJoCo": [[("B3-5-oblique", "MuJoCo")]],
    "5 pinned bars in space beside MuJoCo": [[("B3-5-space", "MuJoCo")]],
    "5 pinned bars in their plane beside MuJoCo": [[("B3-5", "MuJoCo")], [("B3-5", "Exudyn")]],
    "100 bars on oblique hinges": [[("B3-100-oblique", "Pinocchio")], [("B3-100-oblique", "MuJoCo")]],
    "100 pinned bars in their plane": [[("B3-100", peer)] for peer in ("Pinocchio", "MuJoCo", "Exudyn")],
    "five small frames at rest": [FRAMES],
    "falling cantilever in its plane": [[("B2", "Exudyn")]],
    "a welded grid in motion": [[("EX-grid", "")], [("EX-eigenmodes", "")]],
    "heavy top beside MuJoCo": [[("B4", "MuJoCo")], [("B4", "Exudyn")]],
    "eight mechanisms": [[(f"EX-{name}", "Exudyn |") for name in MECHANISMS]],
    "5 pinned bars in space beside Exudyn": [[("B3-5-space", "Exudyn")]],
    "falling cantilever in space": [[("B2-space", "Exudyn")]],
    "flying spaghetti": [[("B1", "Exudyn")]],
}
STACKS = "two to ten cubes"  # their table has times, not ratios


def spans(cell):
    """The pairs of numbers "a to b" of a cell; one alone is both."""
    found = re.findall(r"([\d.]+)(?:\+? to ([\d.]+))?", cell)
    return [(float(a), float(b or a)) for a, b in found]


def test_the_speeds_of_readme_are_those_of_the_benchmarks():
    measured = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    table = TEXT.split("| | loop | whole call |")[1].split("\n\n")[0].splitlines()[2:]
    stacks = [float(x) for x in re.findall(r"[\d.]+", next(line for line in table if STACKS in line))]
    times = re.findall(r"^\| \d+ \| ([\d.]+) \| ([\d.]+) \| .*; .*\|$", measured, re.MULTILINE)
    ratios = [float(peer) / float(ours) for ours, peer in times]
    assert stacks == pytest.approx([min(ratios), max(ratios)], rel=0.06)
    table = [line for line in table if STACKS not in line]
    assert len(table) == len(SPEEDS)
    for line, (name, groups) in zip(table, SPEEDS.items(), strict=True):
        words, *cells = (c.strip() for c in line.strip("|").split(" | "))
        assert words.startswith(name)
        for column, cell in zip((-2, -1), cells, strict=True):
            said = spans(cell)
            assert len(said) == len(groups), words
            for (low, high), rows in zip(said, groups, strict=True):
                found = []
                for case, peer in rows:
                    at = re.search(rf"^\| {re.escape(case)} \| {re.escape(peer)}.*$", measured, re.MULTILINE)
                    assert at is not None, (case, peer)
                    found += spans(at.group(0).strip("| ").split(" | ")[column])
                least, most = min(a for a, _ in found), max(b for _, b in found)
                assert abs(low / least - 1) < 0.06, words
                assert abs(high / most - 1) < 0.06, words
