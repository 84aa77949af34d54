"""Check the tests: change one line of the product at a time, and see whether a test fails.

    python -m tests.support.mutants sample   # write the list (fixed seed)
    python -m tests.support.mutants cover    # record which tests run which lines and kernels (two passes over the tests)
    python -m tests.support.mutants run      # try the mutants of the list that have not been tried
    python -m tests.support.mutants check    # try again what was killed, by the tests that killed it

A mutant is one changed line: a comparison or a guard turned round, a sign or a factor changed, the first element taken instead
of the last, a term or a statement dropped. Lines are drawn at random, all executable lines of functions and all constants of
modules with the same probability. The list `mutants.csv` holds for each mutant its line before and after, and the test that
failed ("": no test failed, and `tried` says how many ran).

Tests are chosen by the coverage of single lines. The lines of compiled kernels are not seen by it: `cover` also runs the quickest
tests of each file without the compiler, at most SECONDS each, and records which functions they call. `run` and `check` work on
copies of the repository, so that the working tree is never changed; of the machine code of the unchanged program a copy takes
what does not depend on the changed file.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import functools
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_suffix(".csv")
BUILD = ROOT / "build" / "mutants"
PACKAGES = ("rigid", "discretization", "rodsim")
SEED, COUNT = 1, 300
MOST_TESTS, MOST_FILES = 20, 8  # tests that are tried; test files, if no test is known to run the line
LIMIT = 300  # s, per mutant
SMALL, SECONDS = 2, 6  # tests of each file that run without the compiler, and their time limit
# first words of decorators of functions that are not compiled
PYTHON = {
    *("property", "functools", "cache", "cached_property", "classmethod", "staticmethod", "wraps"),
    *("contextlib", "contextmanager", "dataclass", "model_validator", "field_validator", "override", "overload"),
}  # fmt: skip


class Mutant(NamedTuple):
    """One changed line, and the outcome of the tests."""

    number: str
    file: str
    line: str  # when it was drawn
    before: str
    after: str
    killed_by: str = ""  # a test, "timeout", or "" if no test failed
    tried: str = ""  # number of tests that ran, or "nothing runs the line"
    way: str = ""  # how the failed test was run: "compiled" or "uncompiled"


COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}


class _Line:
    """The changes of one line: (start, end, text) in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.changes: list[tuple[int, int, str]] = []

    def columns(self, node: ast.AST) -> tuple[int, int]:
        """Columns of a node that is on a single line."""
        data = self.text.encode()
        return len(data[: node.col_offset].decode()), len(data[: node.end_col_offset].decode())  # type: ignore[attr-defined]

    def between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> None:
        """Replace an operator between two nodes."""
        start, end = self.columns(left)[1], self.columns(right)[0]
        at = self.text.find(old, start, end)
        if at >= 0:
            self.changes.append((at, at + len(old), new))

    def whole(self, node: ast.AST, new: str) -> None:
        """Replace a node."""
        self.changes.append((*self.columns(node), new))

    def part(self, node: ast.AST) -> str:
        """Text of a node."""
        start, end = self.columns(node)
        return self.text[start:end]


def _number(value: float) -> str:
    """Return another number; a threshold gets one that differs much."""
    if isinstance(value, int):
        return str(value + 1)
    return repr(1e3 * value) if 0.0 < value < 1e-2 else repr(2.0 * value if value else 1.0)


def _change(node: ast.AST, line: _Line) -> None:
    """Add the changes of one node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        line.between(node.left, node.comparators[0], *COMPARISONS[type(node.ops[0])])
    elif isinstance(node, ast.BoolOp):
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        line.between(node.values[0], node.values[1], *words)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        line.whole(node, line.part(node.operand))
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        line.between(node.left, node.right, *OPERATORS[type(node.op)])
        if isinstance(node.op, ast.Add | ast.Sub):
            line.whole(node, f"({line.part(node.left)})")
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.UnaryOp):
        index = line.part(node.slice)
        if index in ("0", "-1"):
            line.whole(node.slice, "-1" if index == "0" else "0")
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        line.whole(node, _number(node.value))
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        if node.test.lineno == node.test.end_lineno:
            line.whole(node.test, f"not ({line.part(node.test)})")
            line.whole(node.test, "False")
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        old, new = OPERATORS[type(node.op)]
        line.between(node.target, node.value, old + "=", new + "=")
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        line.whole(node, "pass")


def _skipped(tree: ast.Module) -> set[ast.AST]:
    """Nodes of strings and types: docstrings, annotations, raised messages, imports, decorators."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        excluded: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef):
            excluded = [
                node.returns,
                *node.decorator_list,
                *(part.annotation for part in ast.walk(node.args) if isinstance(part, ast.arg)),
            ]
        elif isinstance(node, ast.ClassDef):
            excluded = [*node.decorator_list, *node.bases]
        elif isinstance(node, ast.AnnAssign):
            excluded = [node.annotation]
        elif isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            excluded = [node]
        skipped.update(inner for part in excluded if part is not None for inner in ast.walk(part))
    return skipped


@functools.cache
def _changes(file: Path) -> dict[int, list[str]]:
    """Changed texts of every line of functions and of constants, by line number."""
    text = file.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            inside.update(inner for part in node.body for inner in ast.walk(part))
        elif isinstance(node, ast.Assign) and node in tree.body and ast.unparse(node.targets[0]).isupper():
            inside.update(ast.walk(node.value))
    changed: dict[int, _Line] = {}
    for node in sorted(
        inside - _skipped(tree),
        key=lambda inner: (getattr(inner, "lineno", 0), getattr(inner, "col_offset", 0)),
    ):
        first = getattr(node, "lineno", 0)
        if first and (node.end_lineno == first or isinstance(node, ast.If | ast.While)):  # type: ignore[attr-defined]
            _change(node, changed.setdefault(first, _Line(lines[first - 1])))
    return {
        number: sorted(
            {line.text[:start] + new + line.text[end:] for start, end, new in line.changes} - {line.text}
        )
        for number, line in sorted(changed.items())
        if line.changes
    }


def _parses(file: Path, number: int, text: str) -> bool:
    lines = file.read_text().splitlines()
    try:
        ast.parse("\n".join([*lines[: number - 1], text, *lines[number:]]))
    except SyntaxError:
        return False
    return True


def sample() -> list[Mutant]:
    """Draw the list."""
    drawn, mutants = random.Random(SEED), []
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    lines = [(file, number) for file in files for number in _changes(file)]
    drawn.shuffle(lines)
    for file, number in lines:
        text = drawn.choice(_changes(file)[number])
        if _parses(file, number, text):
            before, name = file.read_text().splitlines()[number - 1], file.relative_to(ROOT).as_posix()
            mutants.append(Mutant(str(len(mutants) + 1), name, str(number), before, text))
        if len(mutants) == COUNT:
            break
    return mutants


class TooLong(BaseException):
    """A test takes too long without the compiler."""


_running = False  # a test with a time limit


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Limit the time of a test, and record its calls if it passes: as a plugin of pytest, `-p tests.support.mutants`.

    MUTANT_CALLS: the output file, one line per test.
    """
    global _running
    called: set[CodeType] = set()
    record, began = os.environ.get("MUTANT_CALLS"), time.perf_counter()
    signal.signal(signal.SIGALRM, _too_long)
    _running = True
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 1.0)  # repeat each second, in case the exception is caught
    if record:
        sys.setprofile(lambda frame, event, _: called.add(frame.f_code) if event == "call" else None)
    try:
        result = yield
    finally:
        sys.setprofile(None)
        _running = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    if record:
        names = sorted(_named(code) for code in called if _is_ours(code.co_filename))
        with open(record, "a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid, time.perf_counter() - began, names]) + "\n")
    return result


def _is_ours(file: str) -> bool:
    return any(file.startswith(f"{ROOT / package}{os.sep}") for package in PACKAGES)


def _named(code: CodeType) -> str:
    return f"{Path(code.co_filename).relative_to(ROOT).as_posix()}:{code.co_name}"


def _too_long(*_: object) -> None:
    if _running:
        raise TooLong(f"more than {SECONDS} s")


def cover() -> None:
    """Run all tests, and small ones without the compiler; record which test runs which line and calls which kernel.

    `build/mutants/compiled` contains the lines of each test, compiled.xml its duration and whether it passed.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    place = BUILD / "compiled"
    place.unlink(missing_ok=True)
    covered = [*(f"--cov={package}" for package in PACKAGES), "--cov-context=test", "--cov-report="]
    spread = ["--numprocesses", "auto", "--dist", "loadfile", f"--junitxml={place}.xml"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *covered, *spread, "--ignore", "tests/docs/shown"],
        cwd=ROOT,
        env=os.environ | {"COVERAGE_FILE": str(place), "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    _record_calls()


def _record_calls() -> None:
    """Run small tests without the compiler, each file in a separate process, and store their calls in `build/mutants/calls`."""
    of_file: dict[str, dict[str, str]] = defaultdict(dict)  # the first test of a function is its quickest
    for test in sorted(_seconds(BUILD / "compiled.xml").items(), key=lambda item: item[1]):
        file, name = test[0].split("::", 1)
        if file.split("/")[1] in ("laws", "exact", "core") and (ROOT / file).exists():
            of_file[file].setdefault(name.split("[")[0], test[0])
    (BUILD / "calls").unlink(missing_ok=True)

    def recorded(file: str) -> None:
        tests = list(of_file[file].values())[:SMALL]
        environment = {
            "NUMBA_DISABLE_JIT": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MUTANT_CALLS": str(BUILD / "calls"),
        }
        options = ["-n", "0", "--tb=no", "-q", "-p", "no:cacheprovider", "-p", "tests.support.mutants"]
        with contextlib.suppress(subprocess.TimeoutExpired):  # processes that cannot be stopped
            subprocess.run(
                [sys.executable, "-m", "pytest", *options, *tests],
                cwd=ROOT, env=os.environ | environment, check=False, capture_output=True, timeout=10 * SECONDS,
            )  # fmt: skip

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(recorded, sorted(of_file)))


class _Covered:
    """Map of the tests that run a line, or call a function without the compiler."""

    def __init__(self) -> None:
        import coverage

        self._data = coverage.CoverageData(str(BUILD / "compiled"))
        self._data.read()
        self._seconds = _seconds(BUILD / "compiled.xml")
        self._calls: dict[str, list[tuple[float, str]]] = defaultdict(list)
        if (BUILD / "calls").exists():
            for row in (BUILD / "calls").read_text(encoding="utf-8").splitlines():
                test, seconds, names = json.loads(row)
                for name in {*names, *(name.split(":")[0] for name in names)}:
                    self._calls[name].append((seconds, test))

    def tests(self, mutant: Mutant) -> list[str]:
        """Tests that run the line of a mutant, the quickest first."""
        lines = self._data.contexts_by_lineno(str(ROOT / mutant.file))
        contexts = lines.get(int(mutant.line), [])
        known = {context.split("|")[0] for context in contexts} & self._seconds.keys()
        return sorted(known, key=lambda test: (self._seconds[test], test))

    def calling(self, mutant: Mutant) -> list[str]:
        """Small tests that call the function of a mutant, or for a constant any function of its module; the quickest first."""
        functions = _functions(mutant)
        name = f"{mutant.file}:{functions[-1].name}" if functions else mutant.file
        return [test for _, test in sorted(self._calls[name])]


def _seconds(report: Path) -> dict[str, float]:
    """Duration of each passed test, from pytest's report."""
    cases = ElementTree.parse(report).iter("testcase")
    return {
        f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}": float(case.get("time", 0.0))
        for case in cases
        if not len(case)
    }


def _spread(tests: list[str]) -> list[str]:
    """At most MOST_TESTS, from as many files as possible."""
    by_file = defaultdict(list)
    for test in tests:
        by_file[test.split("::")[0]].append(test)
    turns = [test for k in range(MOST_TESTS) for names in by_file.values() for test in names[k : k + 1]]
    chosen = turns[:MOST_TESTS]
    return sorted(chosen, key=tests.index)


def _functions(mutant: Mutant) -> list[ast.FunctionDef]:
    """The functions that contain the line, the outermost first."""
    number = int(mutant.line)
    return [
        node
        for node in ast.walk(ast.parse((ROOT / mutant.file).read_text()))
        if isinstance(node, ast.FunctionDef) and node.lineno <= number <= (node.end_lineno or 0)
    ]


def _compiled(mutant: Mutant) -> bool:
    """Whether numba compiles the line: in a function that it compiles, or a constant of a module."""
    functions = _functions(mutant)
    decorators = [_name(decorator) for node in functions for decorator in node.decorator_list]
    return (
        any(name not in PYTHON for name in decorators) if functions else not mutant.file.startswith("rodsim")
    )


def _name(decorator: ast.expr) -> str:
    """First word of a decorator."""
    return ast.unparse(decorator).split("(")[0].split(".")[0].lstrip("_")


def _importing(mutant: Mutant) -> list[str]:
    """Test files that name the module, then those that share most words with its path."""
    module = mutant.file.removesuffix(".py").replace("/", ".")
    words = {word.rstrip("s") for word in re.split("[/_.]", mutant.file)} - {"py", *PACKAGES}
    scored = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        if "docs" in file.parts:
            continue
        words_of_file = {word.rstrip("s") for word in file.stem.split("_")}
        scored.append(
            (module not in file.read_text(), -len(words_of_file & words), file.relative_to(ROOT).as_posix())
        )
    return [name for unnamed, shared, name in sorted(scored) if not unnamed or shared][:MOST_FILES]


def _copy(folder: Path) -> Path:
    """A copy of the tracked files with their times, whose machine code can be that of the unchanged kernels (MUTANT_HASH)."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    file = folder / "rigid" / "compilation" / "cache_folder.py"
    head = "def _hash_of_sources() -> str:\n"
    inserted = '    if os.environ.get("MUTANT_HASH"):\n        return os.environ["MUTANT_HASH"]\n'
    text = file.read_text()
    docstring, remaining = text.split(head)[1].split("\n", 1)
    file.write_text(text.split(head)[0] + head + docstring + "\n" + inserted + remaining)
    return folder


@functools.cache
def _imports() -> dict[str, set[str]]:
    """Files that import a file, by its path."""
    importers: dict[str, set[str]] = defaultdict(set)
    for file in sorted(path for top in (*PACKAGES, "tests") for path in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            )
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}", *(f"{node.module}.{name}" for name in names)]
            for name in names:
                importers[name.replace(".", "/") + ".py"].add(file.relative_to(ROOT).as_posix())
    return importers


def _users(file: str) -> set[str]:
    """The file, and those that import it, directly or indirectly."""
    users, waiting = {file}, [file]
    while waiting:
        new = _imports()[waiting.pop()] - users
        users |= new
        waiting.extend(new)
    return users


def _fill(workspace: Path, folder: Path, known: Path, mutant: Mutant) -> None:
    """Link the machine code of the unchanged program that does not include the mutant, as numba names its folders."""
    shutil.rmtree(workspace, ignore_errors=True)
    changed = _users(mutant.file) if _compiled(mutant) else {mutant.file}
    for place in sorted({file.parent for top in PACKAGES for file in (folder / top).rglob("*.py")}):
        module, cache_folder = (
            f"{place.name}_{hashlib.sha1(str(path).encode()).hexdigest()}"
            for path in (place, ROOT / place.relative_to(folder))
        )
        target = workspace / "rodsim" / known.name / module
        for file in (known / cache_folder).glob("*.nb*"):
            if (place.relative_to(folder) / file.name.split(".")[0]).as_posix() + ".py" not in changed:
                target.mkdir(parents=True, exist_ok=True)
                os.link(file, target / file.name)


def _known() -> Path:
    """The folder with the machine code of the unchanged program."""
    code = "from rigid.compilation.cache_folder import CACHE_DIRECTORY as folder; print(folder)"
    return Path(
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    )


def _place(file: Path, mutant: Mutant) -> int:
    """Index of the line nearest to where the mutant was drawn; -1 if the line no longer exists."""
    same = [k for k, text in enumerate(file.read_text().splitlines()) if text == mutant.before]
    return min(same, key=lambda k: abs(k + 1 - int(mutant.line)), default=-1)


def _tried(folder: Path, mutant: Mutant, steps: list[tuple[list[str], dict[str, str]]]) -> Mutant:
    """The mutant with the test that failed; steps: tests, and the environment in which they run."""
    file, count = folder / mutant.file, 0
    text, at, times = file.read_text(), _place(file, mutant), file.stat()
    if at < 0:
        return mutant._replace(tried="the line has gone")
    lines = text.splitlines(keepends=True)
    lines[at] = mutant.after + "\n"
    file.write_text("".join(lines))
    try:
        for tests, where in steps:
            if not tests:
                continue
            way = "uncompiled" if "NUMBA_DISABLE_JIT" in where else "compiled"
            command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "--no-header", "--tb=no", *tests]
            environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(folder)}
            try:
                run = subprocess.run(
                    command,
                    cwd=folder,
                    env=os.environ | environment | where,
                    capture_output=True,
                    text=True,
                    timeout=LIMIT,
                )
            except subprocess.TimeoutExpired:
                return mutant._replace(killed_by="timeout", tried=str(count + len(tests)), way=way)
            failed = [row for row in run.stdout.splitlines() if row.startswith(("FAILED ", "ERROR "))]
            count += len(tests)
            if run.returncode not in (0, 5):
                killer = (
                    failed[0].split(" ", 1)[1].split(" - ")[0] if failed else f"exit code {run.returncode}"
                )
                return mutant._replace(killed_by=killer, tried=str(count), way=way)
        return mutant._replace(killed_by="", tried=str(count) if count else "nothing runs the line")
    finally:
        file.write_text(text)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # numba and Python compare it


def _steps(mutant: Mutant, covered: _Covered) -> list[tuple[list[str], dict[str, str]]]:
    if not _compiled(mutant):
        return [(_spread(covered.tests(mutant)), {})]
    return [(_spread(covered.calling(mutant)), {"NUMBA_DISABLE_JIT": "1"})]


class _Bench:
    """A copy of the program on which mutants are tried in sequence."""

    def __init__(self, place: Path, known: Path) -> None:
        self._folder, self._room, self._known = _copy(place / "copy"), place / "room", known

    def tried(self, mutant: Mutant, steps: list[tuple[list[str], dict[str, str]]]) -> Mutant:
        """The mutant with the test that failed."""
        _fill(self._room, self._folder, self._known, mutant)
        environment = {"NUMBA_CACHE_DIR": str(self._room), "MUTANT_HASH": self._known.name}
        return _tried(self._folder, mutant, [(tests, environment | where) for tests, where in steps])


def run(jobs: int) -> None:
    """Try the mutants that have not been tried."""
    covered, known = _Covered(), _known()
    mutants = read()
    lock = threading.Lock()
    waiting = [k for k, mutant in enumerate(mutants) if not mutant.tried]
    waiting.sort(key=lambda k: _compiled(mutants[k]))

    def work(number: int) -> None:
        with tempfile.TemporaryDirectory() as place:
            bench = _Bench(Path(place), known)
            while True:
                with lock:
                    if not waiting:
                        return
                    k = waiting.pop(0)
                    steps = _steps(mutants[k], covered)
                outcome = bench.tried(mutants[k], steps)
                with lock:
                    mutants[k] = outcome
                    write(mutants)
                    print(
                        outcome.number, outcome.file, outcome.killed_by or "ALIVE", outcome.tried, flush=True
                    )

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, range(jobs)))


def read() -> list[Mutant]:
    """Read the list."""
    with LIST.open(newline="") as file:
        return [Mutant(**row) for row in csv.DictReader(file)]


def write(mutants: Sequence[Mutant]) -> None:
    """Write the list."""
    with LIST.open("w", newline="") as file:
        table = csv.DictWriter(file, Mutant._fields, lineterminator="\n")
        table.writeheader()
        table.writerows(mutant._asdict() for mutant in mutants)


def check(jobs: int) -> int:
    """Retry the killed mutants; return how many survive now."""
    known, alive = _known(), 0
    killed = [mutant for mutant in read() if mutant.killed_by]

    def again(part: Sequence[Mutant]) -> list[Mutant]:
        with tempfile.TemporaryDirectory() as place:
            bench, outcomes = _Bench(Path(place), known), []
            for mutant in part:
                tests = [mutant.killed_by] if "::" in mutant.killed_by else _importing(mutant)
                where = {"NUMBA_DISABLE_JIT": "1"} if mutant.way == "uncompiled" else {}
                outcomes.append(bench.tried(mutant, [(tests, where)]))
                print(outcomes[-1].number, outcomes[-1].file, outcomes[-1].killed_by or "ALIVE", flush=True)
            return outcomes

    with ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(again, [killed[k::jobs] for k in range(jobs)]):
            alive += sum(not mutant.killed_by for mutant in part)
    return alive


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("act", choices=["sample", "cover", "run", "check"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.act == "sample":
        write(sample())
    elif options.act == "cover":
        cover()
    elif options.act == "run":
        run(options.jobs)
    else:
        return int(check(options.jobs) > 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
