"""docs/evidence/peer_cases.md claims only what a test or benchmark shows."""

import re
import warnings
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import rodsim_frames, rodsim_slender
from benchmarks.mechanism_cases import MECHANISMS
from benchmarks.registry import CASES
from benchmarks.rodsim_mechanisms import mechanism_model, run
from benchmarks.slender import Slender
from benchmarks.sweeps import SWEEPS
from rodsim.building.initial_velocities import fit_velocities
from rodsim.warnings import InitialVelocityWarning

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "evidence" / "peer_cases.md").read_text()
ROWS = [[c.strip() for c in x.strip("|").split(" | ")] for x in TEXT.splitlines() if re.match(r"\| .*/", x)]


# tests in other files whose models have the parameters of a peer's file
PEER_PARAMETER_TESTS = {"test_right_angle_frame_buckles_sideways_and_the_branch_is_followed"}


def test_direct_peer_cases_name_existing_tests_or_benchmarks():
    for name, _, today, by in ROWS:
        files = re.findall(r"(tests/\w+/\w+\.py) `(\w+)`", by)
        for file, test in files:
            assert f"def {test}(" in (ROOT / file).read_text(), (name, file, test)
        cases = re.findall(r"\b(?:(?:EX|PE)-\w+|B\d)\b", by)
        for case in cases:
            assert case in CASES, (name, case)
            assert case in SWEEPS, (name, case)
        assert today not in "YL" or files or cases, name


def test_cases_with_peer_parameters_name_their_place():
    for name, _, today, by in ROWS:
        tests = re.findall(r"tests/exact/test_peer_parameters_\w+\.py `", by)
        cases = re.findall(r"\b(?:EX|PE)-\w+", by)
        matches = set(re.findall(r"`(\w+)`", by)) & PEER_PARAMETER_TESTS
        assert (today == "Y") == bool(tests or cases or matches), name


def test_peer_case_counts_equal_the_table():
    count = Counter(today[0] for _, _, today, _ in ROWS)
    match = re.search(r"Y (\d+), L (\d+), W (\d+), N (\d+) of (\d+)", TEXT)
    assert match is not None
    assert [int(n) for n in match.groups()] == [*(count[word] for word in "YLWN"), len(ROWS)]


def test_peer_benchmarks_have_runs_of_both_programs():
    for name in CASES:
        if name.startswith(("EX-", "PE-")):
            assert {"rodsim", "Exudyn" if name.startswith("EX") else "PyElastica"} == set(SWEEPS[name])


@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
@pytest.mark.parametrize("case", MECHANISMS, ids=lambda c: c.name)
def test_initial_velocities_of_peer_mechanisms_satisfy_their_joints(case):
    """Inconsistent data would be changed, with a warning, to a motion that the peer does not compute."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitialVelocityWarning)
        built = mechanism_model(case).build()
        fit_velocities(built)


@pytest.mark.parametrize(
    ("name", "steps", "order", "bound"),
    [
        ("EX-heavyTop", 400, 4, 2e-10),
        ("EX-fourBars", 200, 4, 3e-8),
        ("EX-governor", 1000, 2, 2e-4),
        ("EX-pointPendulum", 200, 4, 1e-6),
        ("EX-rigidPendulum", 200, 4, 2e-6),
        ("EX-sliderCrank", 400, 4, 3e-5),
        ("EX-bricard", 100, 4, 1e-10),
        ("EX-sphericalChain", 100, 4, 1e-10),
    ],
)
@pytest.mark.filterwarnings("ignore::rigid.errors.RedundantJointsWarning")
def test_peer_mechanisms_reach_their_reference(name, steps, order, bound):
    case = CASES[name]
    result = run(case, len(case.bodies), case.t_end / steps, order)
    assert bound / 20 < result.error < bound
    if not case.springs:
        assert abs(result.energy_drift) < 1e-11


@pytest.mark.parametrize(
    "name",
    [
        *("EX-cantilever", "EX-princeton", "EX-generalBending", "EX-LShape", "EX-beam2D", "EX-eigenmodes"),
        *("PE-timoshenko", "PE-bend45", "PE-distributed"),
    ],
)
def test_peer_references_are_approached_with_order_2(name):
    case = CASES[name]
    at = rodsim_slender.run if isinstance(case, Slender) else rodsim_frames.run
    coarse, fine = (at(case, n, 1.0).error for n in (32, 64))
    assert 3.8 < coarse / fine < 4.2


def test_tapered_bar_is_stretched_exactly():
    assert rodsim_slender.run(CASES["PE-stretch"], 2, 1.0).error < 1e-13


@pytest.mark.parametrize(
    ("name", "n", "h", "least", "most"),
    [
        ("PE-cantilever", 10, 0.5, 3.8, 4.2),
        ("EX-grid", 1, 0.004, 3.5, 4.7),
        ("PE-pendulum", 20, 0.01, 1.5, 4.5),
    ],
)
def test_peer_motions_converge(name, n, h, least, most):
    """Mesh and step halved together; the rubber of the pendulum has not reached its order there."""
    case = CASES[name]
    at = rodsim_slender.run if isinstance(case, Slender) else rodsim_frames.run
    coarse, fine = at(case, n, h).error, at(case, 2 * n, h / 2).error
    assert least < coarse / fine < most
    assert fine < 0.1


def test_every_peer_case_marked_as_run_is_run():
    """Each benchmark named by a row marked Y is a parameter of a test above."""
    named = {case for *_, today, by in ROWS if today == "Y" for case in re.findall(r"\b(?:EX|PE)-\w+", by)}
    text = Path(__file__).read_text("utf-8")
    assert len(named) > 18
    assert {case for case in named if f'"{case}"' not in text} == set()
