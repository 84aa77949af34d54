"""Check the language of docstrings, comments, messages, names and pages.

    python -m tests.support.prose           # compare all files with the baseline; exit code 1 if they differ
    python -m tests.support.prose PATH ...  # list all findings of these files or folders, and their replacements
    python -m tests.support.prose --shrink  # lower the baseline to the present counts; it never rises

`prose_words.csv` lists words with their replacements. A pattern of an identifier matches whole names where they are
defined. `prose_baseline.csv` holds the findings that are older than this check, by file and rule. If that file is missing,
`--shrink` writes it.
"""

from __future__ import annotations

import ast
import csv
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.passages import MARKER, names, page_lines, paragraphs, python_passages, sentences

ROOT = Path(__file__).parents[2]
WORDS, BASELINE = (Path(__file__).with_name(f"prose_{name}.csv") for name in ("words", "baseline"))
PLACES = ("rigid", "discretization", "rodsim", "tests", "benchmarks", "examples", "docs", ".")
EXEMPT = {"tests/docs/test_language.py", "tests/support/prose.py"}  # they quote what they refuse
SENTENCE = {"docstring": 40, "page": 45}  # largest number of words
LINE, LINES = 100, {"CHANGELOG.md": 140}  # characters of a line of a page; exceptions
OPENING = re.compile(
    r"(The same|As (of|in|for|`)|Of |What |Those|That of|It |They |Its |Their |Whose|Which|Where )"
)


class Finding(NamedTuple):
    """One place in one file, and what to write there."""

    line: int
    rule: str
    text: str
    advice: str


@cache
def words() -> list[tuple[str, str, re.Pattern[str], str]]:
    """Read the table of words: rule, where, pattern, replacement."""
    with WORDS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        (row["rule"], row["where"], re.compile(f"(?i:{row['pattern']})"), row["replacement"]) for row in rows
    ]


def check(source: str, suffix: str, page: str = "") -> list[Finding]:
    """Return the findings in the text of a ".py" or ".md" file, by line; page: its name, for limits of its lines."""
    findings: list[Finding] = []
    if suffix == ".py":
        nodes = list(ast.walk(ast.parse(source)))
        passages = list(python_passages(source, nodes))
        for number, name in names(nodes):
            for rule, where, pattern, advice in words():
                if where == "identifier" and pattern.fullmatch(name):
                    findings.append(Finding(number, f"name: {rule}", name, advice))
    else:
        lines = list(page_lines(source))
        passages = list(paragraphs("page", lines))
        for number, line in lines:
            body = line.strip()
            limit = LINES.get(page, LINE)
            if len(line) > limit and body[0] not in "|#" and " " in body[MARKER.match(body).end() :]:
                findings.append(Finding(number, "line", line[:40], f"at most {limit} characters"))
    for passage in passages:
        if passage.kind == "opening":
            if opening := OPENING.match(passage.text):
                advice = "open with a verb or with the noun of the field"
                findings.append(Finding(passage.numbers[0], "opening", opening[0], advice))
            continue
        for rule, where, pattern, advice in words():
            for match in pattern.finditer(passage.text) if where == "text" else ():
                findings.append(Finding(passage.line(match.start()), rule, match[0], advice))
        limit = SENTENCE.get(passage.kind, sys.maxsize)
        for start, text in sentences(passage):
            if (length := len(re.findall(r"[A-Za-z][\w'-]*", text))) > limit:
                advice = f"{length} words, at most {limit}"
                findings.append(Finding(passage.line(start), "sentence", text[:40], advice))
    return sorted(findings)


def files(place: str) -> list[Path]:
    """Return the Python files and pages of a file or folder; of the root only those directly in it."""
    path = ROOT / place
    inside = [path] if path.is_file() else path.glob("*") if path == ROOT else path.rglob("*")
    return sorted(file for file in inside if file.suffix in (".py", ".md"))


def count() -> tuple[Counter[tuple[str, str]], dict[tuple[str, str], list[Finding]]]:
    """Return the number and the list of findings by file and rule."""
    by_rule: dict[tuple[str, str], list[Finding]] = {}
    for file in [file for place in PLACES for file in files(place)]:
        name = file.relative_to(ROOT).as_posix()
        for finding in check(file.read_text("utf-8"), file.suffix, name) if name not in EXEMPT else ():
            by_rule.setdefault((name, finding.rule), []).append(finding)
    return Counter({key: len(findings) for key, findings in by_rule.items()}), by_rule


def read() -> Counter[tuple[str, str]]:
    """Read the baseline."""
    with BASELINE.open(encoding="utf-8", newline="") as file:
        return Counter({(row["file"], row["rule"]): int(row["count"]) for row in csv.DictReader(file)})


def write(counts: Counter[tuple[str, str]]) -> None:
    """Write the baseline."""
    rows = [f"{file},{rule},{number}\n" for (file, rule), number in sorted(counts.items())]
    BASELINE.write_text("file,rule,count\n" + "".join(rows), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code."""
    places = [argument for argument in arguments if argument != "--shrink"]
    if places:
        listed = [
            f"{file}:{finding.line}: {finding.rule}: {finding.text.strip()} -> {finding.advice}"
            for file in [file for place in places for file in files(str(Path(place).resolve()))]
            for finding in check(file.read_text("utf-8"), file.suffix, file.name)
        ]
        print("\n".join(listed) or "no findings")
        return int(bool(listed))
    now, by_rule = count()
    known = read() if BASELINE.exists() else now
    if "--shrink" in arguments:
        write(now & known)
        return 0
    for (name, rule), number in (now - known).items():
        for finding in by_rule[name, rule]:
            print(f"{name}:{finding.line}: {rule}: {finding.text.strip()} -> {finding.advice}")
        print(f"{name}: {number} more of '{rule}' than in {BASELINE.name}. Rewrite as many of these.")
    gone = known - now
    if gone:
        print(f"{BASELINE.name}: {gone.total()} findings no longer exist. Run with --shrink.")
    return int(now != known)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
