"""The documentation site builds without a warning, contains every public name, and has no broken links."""

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from sphinx.util.inventory import InventoryFile

from tests.support import public_interface
from tests.support.pages import DOCS, ROOT

LOADED_TAGS = ("script", "img", "link", "source", "iframe", "video")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does, or use the one it has just built."""
    if built := os.environ.get("RODSIM_SITE"):
        return ROOT / built
    out = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--nitpicky", "--builder", "html"]
    command = [
        sys.executable,
        "-m",
        "sphinx",
        *options,
        "-d",
        str(out / "read"),
        str(DOCS),
        str(out / "html"),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return out / "html"


class Page(HTMLParser):
    """Links, loaded resources and anchors of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.fetched, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADED_TAGS and (values.get("rel") != "canonical"):
            self.fetched.append(values.get("src") or values.get("href") or "")


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


def test_all_links_of_the_site_are_valid(pages):
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in pages[target].ids):
                broken.append(f"{path.name}: {link}")
    assert not broken


def test_site_loads_no_external_resource(site, pages):
    outside = {
        link for page in pages.values() for link in page.fetched if urlsplit(link).scheme not in ("", "data")
    }
    styles = [
        path
        for path in site.rglob("*.css")
        if re.search(r"@import\s|url\(['\"]?https?:", path.read_text("utf-8"))
    ]
    assert not outside
    assert not styles


# signals are tested below, helpers for interactions are described on a page
PUBLIC = [
    name
    for name in public_interface.MODULES
    if not name.startswith(("rodsim.interactions", "rodsim.signals"))
]


def public_names():
    """Public names, including methods and properties of the classes."""
    seen = []
    listed = [thing for _, thing in public_interface.public_names(PUBLIC) if inspect.isclass(thing)]
    for name, thing in public_interface.public_names(PUBLIC):
        if any(thing is other for other in seen):  # in more than one module
            continue
        seen.append(thing)
        yield name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in public_interface.members(thing, listed).items():
                if inspect.isroutine(value) or isinstance(value, property):
                    yield f"{name}.{member}"


def test_every_public_name_is_in_the_reference(site):
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, link: link)
    inventory = getattr(inventory, "data", inventory)  # Sphinx 8 and 9
    documented = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    expected = set(public_names())
    assert len(expected) > 140
    assert expected - documented == set()


def test_every_signal_is_in_the_reference(site):
    from rigid import signals

    page = (site / "reference" / "api" / "signals.html").read_text(encoding="utf-8")
    kinds = [
        name
        for name, kind in vars(signals).items()
        if isinstance(kind, type) and issubclass(kind, signals.Signal)
    ]
    assert len(kinds) > 9
    assert [name for name in kinds if f"rodsim.signals.{name}" not in page] == []


def test_formulas_are_rendered_as_mathml(pages, site):
    theory = "".join(path.read_text(encoding="utf-8") for path in (site / "theory").glob("*.html"))
    assert theory.count("<math") > 50
    assert "MathJax" not in theory
