"""The glossary is alphabetical, names each term once, and names modules that exist."""

import re

import pytest

from tests.support.pages import DOCS, ROOT

TERMS = (DOCS / "glossary.md").read_text("utf-8").split("## Terms")[1].split("## Symbols")[0]
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TERMS.splitlines()
    if line.startswith("| ")
][1:]


def sort_key(term):
    return re.sub(r"[^a-z0-9 ]", "", term.lower())


def test_terms_are_unique_and_alphabetical():
    terms = [row[0] for row in ROWS]
    assert len(terms) > 150
    assert terms == sorted(set(terms), key=sort_key)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_modules_of_a_term_exist(row):
    for module in re.findall(r"`((?:rigid|discretization|rodsim)(?:\.\w+)+)`", row[3]):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or path.is_dir(), module
