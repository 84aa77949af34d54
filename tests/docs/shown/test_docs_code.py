"""Code in the documentation: Python runs, scenes can be built, commands are valid."""

import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml
from pydantic import TypeAdapter

from rodsim.cli.main import parser
from rodsim.scenes.model_from_scene import load
from rodsim.scenes.schema import Scene
from tests.support.pages import DOCS, PAGES, ROOT, blocks, named

WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]
WITH_YAML = [page for page in PAGES if blocks(page, "yaml")]
COMMAND = re.compile(r"^(?:\.venv/bin/)?rodsim -*\w.*$", re.MULTILINE)
INDENTED = re.compile(r"^ {4}(rodsim \w.*)$", re.MULTILINE)
INTERPRETED = "<!-- interpreted"  # pages that would compile much for one use are run without the compiler


# each script in its folder; the process ends with the first that fails
RUN_SCRIPTS = """
import os, runpy, sys
for script in sys.argv[1:]:
    os.chdir(os.path.dirname(script))
    sys.path[0] = os.path.dirname(script)
    runpy.run_path(script, run_name="__main__")
    print("done", script, flush=True)
"""


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory):
    """Map each page to "done" or its error; all in one process without the compiler, which imports everything
    once.
    """
    scripts = {}
    for page in WITH_PYTHON:
        if INTERPRETED in page.read_text(encoding="utf-8"):
            scripts[page] = tmp_path_factory.mktemp("page") / f"{page.stem}.py"
            text = "\n".join(block.code for block in blocks(page, "python"))
            scripts[page].write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", RUN_SCRIPTS, *map(str, scripts.values())],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    lines = run.stdout.splitlines()
    return {page: "done" if f"done {script}" in lines else run.stderr for page, script in scripts.items()}


@pytest.mark.parametrize("page", WITH_PYTHON, ids=named)
@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_python_of_a_page_runs(page, tmp_path, monkeypatch, request):
    """One namespace for each page, from top to bottom; a failure names the line of the page."""
    if INTERPRETED in page.read_text(encoding="utf-8"):
        outcome = request.getfixturevalue("interpreted")[page]
        assert outcome == "done", outcome
        return
    if "from sectionproperties" in page.read_text(
        encoding="utf-8"
    ):  # of an extra that not every environment has
        pytest.importorskip("sectionproperties")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    namespace = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", WITH_YAML, ids=named)
def test_yaml_of_a_page_can_be_built(page, tmp_path):
    """Complete scenes are built as by `rodsim check`; fragments are checked against the schema."""
    for k, block in enumerate(blocks(page, "yaml")):
        data = yaml.safe_load(block.code)
        if "scene" in data:  # a study with a scene
            continue
        if "run" in data or "equilibrium" in data:
            scene = tmp_path / f"{k}.yaml"
            scene.write_text(block.code, encoding="utf-8")
            load(scene).model.build()
            continue
        unknown = set(data) - set(Scene.model_fields)
        assert not unknown, f"{named(page)}:{block.line}: no key of a scene: {unknown}"
        for key, value in data.items():
            TypeAdapter(Scene.model_fields[key].annotation).validate_python(value, strict=True)


def commands():
    """Lines that call rodsim, in shell blocks and indented ones."""
    parameters = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        lines = [line for block in blocks(page, "sh") for line in COMMAND.findall(block.code)]
        parameters += [
            pytest.param(line, id=f"{named(page)}: {line[:60]}") for line in lines + INDENTED.findall(text)
        ]
    return parameters


@pytest.mark.parametrize("line", commands())
def test_commands_in_the_documentation_are_known(line):
    words = shlex.split(line.split(" > ")[0], comments=True)[1:]
    if words != ["--version"]:
        parser().parse_args(words)


def test_pages_of_each_kind_exist():
    """The tests above do not run on empty lists."""
    assert DOCS / "tutorials" / "first_steps.md" in WITH_PYTHON
    assert DOCS / "reference" / "scenes.md" in WITH_YAML
    assert len(commands()) > 20


def test_files_named_by_the_contribution_guide_exist():
    names = set(re.findall(r"`([\w./]+)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    files = {name for name in names if "/" in name and "NAME" not in name}
    modules = {name.replace(".", "/") for name in names if re.match(r"(rigid|discretization|rodsim)\.", name)}
    assert len(files) > 30
    assert len(modules) > 15
    assert [name for name in files if not (ROOT / name).exists()] == []
    paths = [ROOT / name for name in modules]
    assert [path for path in paths if not (path.exists() or path.with_suffix(".py").exists())] == []


def test_citation_has_the_current_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["version"] == project["version"]
    assert cited["license"] == project["license"]
    assert {"cff-version", "message", "title", "authors", "type"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
