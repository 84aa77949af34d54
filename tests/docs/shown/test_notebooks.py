"""The notebooks of `examples/notebooks` run from top to bottom; their assertions check the results."""

import ast
import re
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient

import rodsim

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NAMES = [file.stem for file in NOTEBOOKS]
# `%reset` would also remove `__spec__`, without which no worker starts
CLEAR_NAMES = "[get_ipython().user_ns.pop(name) for name in {*get_ipython().user_ns} - {*get_ipython().user_ns_hidden}];"


def open_notebook(file):
    book = nbformat.read(file, as_version=4)
    if not hasattr(rodsim, "sweep"):  # of the extra "studies"
        book.cells = [cell for cell in book.cells if "studies" not in cell.metadata.get("tags", [])]
    return book


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One kernel for all notebooks, which imports everything once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))  # the kernel uses this package, not an installed one
        patch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel(cwd=str(tmp_path_factory.mktemp("notebooks")))
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=NAMES)
def test_a_notebook_runs_and_its_assertions_hold(file, kernel):
    """From the first cell on: names of the notebook before are removed."""
    book = open_notebook(file)
    book.cells.insert(0, nbformat.v4.new_code_cell(CLEAR_NAMES))
    client = NotebookClient(book, km=kernel, timeout=600)
    executed = client.execute()
    client.kc.stop_channels()
    shown = [output for cell in executed.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds
    # no warning of rodsim: it would need an explanation
    texts = [x.text for x in shown if x.output_type == "stream" and x.name == "stderr"]
    assert not [text for text in texts if "Warning" in text and "rodsim" in text]


def test_the_three_documented_notebooks_exist():
    assert NAMES == ["first_rod", "parameter_study", "rigid_against_flexible"]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=NAMES)
def test_notebooks_have_small_outputs_and_assert_their_numbers(file):
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    kinds = {kind for cell in code for output in cell.outputs for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds
    assert file.stat().st_size < 300_000
    asserts = [
        node for cell in code for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Assert)
    ]
    assert len(asserts) >= 3
    assert book.metadata.kernelspec.name == "python3"
    assert book.cells[0].source.startswith("# ")


@pytest.mark.parametrize("file", NOTEBOOKS, ids=NAMES)
def test_notebooks_named_by_a_notebook_exist(file):
    text = "\n".join(cell.source for cell in nbformat.read(file, as_version=4).cells)
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (file.parent / link).is_file()
