"""Result files and compiled code of kinds registered by a script.

Their content is read where the kinds are not registered.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import rodsim
from discretization.interaction_kinds import INTERACTIONS
from discretization.system import fingerprint
from rigid.errors import ModelError
from rodsim import Result, audit, compare
from rodsim.cli.main import main
from rodsim.interactions import average, minus, norm, push, registration, times
from rodsim.results.errors import ResultError
from tests.support import state_kinds
from tests.support.results_sample import without_digests
from tests.support.user_kinds import Spring, bodies, kinds, pair, run, texts


@pytest.fixture
def other_process():
    """Simulate another process: only built-in kinds are registered; afterwards the registry is restored."""
    before, known = INTERACTIONS[INTERACTIONS.built_in :], dict(registration.KINDS)

    def leave_process():
        del INTERACTIONS[INTERACTIONS.built_in :]
        registration.KINDS.clear()

    yield leave_process
    INTERACTIONS[INTERACTIONS.built_in :] = before
    registration.KINDS.update(known)


def test_file_opens_without_its_registered_kinds(other_process, tmp_path):
    """The file can be read, compared and exported; its audit names the kind and the remedy."""
    path, second = tmp_path / "run.vtkhdf", tmp_path / "again.vtkhdf"
    run(kinds(), output=path)
    run(kinds(), output=second)
    other_process()
    result = Result.load(path)
    assert result.energy["spring"][-1] > 0.0
    assert compare(result, Result.load(second)).worst() == 0.0
    assert "linear spring" in str(result.description["others"])
    assert main(["export", str(path), "-o", str(tmp_path / "run.pvd")]) == 0
    assert main(["render", str(path), "-o", str(tmp_path / "run.png")]) == 0
    with pytest.raises(ModelError, match="is not registered"):
        rodsim.report(result, tmp_path / "page.html")
    with pytest.raises(ModelError, match=r"interaction '.*' is not registered.*import the script"):
        audit(result)
    with pytest.raises(
        ModelError, match=r"'linear spring' is not a registered interaction; registered: none"
    ):
        kinds_of_names(bodies(2))


def test_file_of_kinds_with_states_opens_without_registration(other_process, tmp_path):
    """The states are read with their number stored in the file; an older file without it is rejected, naming
    the kind.
    """
    model = pair("ours")
    a, b = (body.at((0, 0, 0)) for body in model.bodies.values())
    model.add_interaction("filter", state_kinds.LAG, a, b, k=3.0, tau=0.1, rest=0.5, x=0.0)
    path, older = tmp_path / "run.vtkhdf", tmp_path / "older.vtkhdf"
    states = state_kinds.settled(run(model, output=path))
    shutil.copy(path, older)
    other_process()
    opened = Result.load(path)
    assert np.array_equal(state_kinds.settled(opened), states)
    assert np.ptp(states) > 0.0
    with pytest.raises(ModelError, match=r"interaction 'lag' is not registered.*import the script"):
        audit(opened)
    with h5py.File(older, "r+") as file:
        del file["rodsim/layout/system/others/own_variables"]
        without_digests(file)
    other_process()
    with pytest.raises(ResultError, match=r"'lag' .* import the script"):
        Result.load(older)
    # the current file has the number that the older one lacks
    assert np.array_equal(state_kinds.settled(Result.load(path)), states)


def kinds_of_names(model):
    a, b = model.bodies.values()
    model.add_interaction("spring", "linear spring", a, b, k=1.0, l0=1.0)


def test_file_of_text_interactions_is_audited_without_registration(other_process, tmp_path):
    path = tmp_path / "run.vtkhdf"
    run(texts(), output=path)
    other_process()
    audited = audit(Result.load(path))
    assert audited.ok, audited.text()
    assert audited.energy_balance < 1e-12


def test_command_imports_the_registering_script(other_process, tmp_path, capsys):
    path = tmp_path / "run.vtkhdf"
    run(kinds(), output=path)
    other_process()
    assert main(["audit", str(path)]) == 2
    assert "is not registered" in capsys.readouterr().err
    assert main(["audit", str(path), "--import", str(tmp_path / "none.py")]) == 2
    assert "none.py: is not a Python file" in capsys.readouterr().err
    assert (
        main(["audit", str(path), "--import", str(Path(__file__).parents[1] / "support" / "user_kinds.py")])
        == 0
    )


def test_files_do_not_depend_on_registered_kinds(other_process):
    before = fingerprint(texts().build().system), fingerprint(kinds().build().system)
    kinds_before, registered = dict(registration.KINDS), INTERACTIONS[INTERACTIONS.built_in :]
    other_process()
    registration.KINDS.update(kinds_before)
    for kind in reversed(registered):
        INTERACTIONS.register(kind)
    assert (fingerprint(texts().build().system), fingerprint(kinds().build().system)) == before


def test_kind_with_changed_code_cannot_resume_a_file(other_process, tmp_path):
    path = tmp_path / "run.vtkhdf"
    model = pair("kind")
    in_memory = run(model, t_end=0.05, output=path)

    @rodsim.interaction("linear spring", frames=2, numbers=("k", "l0"))
    class Twice:
        def value(y, X):
            e = norm(minus(y[1, 0], y[0, 0])) - X[1]
            return X[0] * e * e

        def dual(y0, y1, X, out):
            d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
            mean = 0.5 * (norm(d0) + norm(d1))
            f = times(2.0 * X[0] * (mean - X[1]) / mean, average(d0, d1))
            push(out, 1, f)
            push(out, 0, times(-1.0, f))

    before = path.read_bytes()
    with pytest.raises(
        ResultError, match=r"other code of the kind 'linear spring' \(of interaction 'spring'\)"
    ):
        run(pair("kind"), output=path, resume=True)
    assert path.read_bytes() == before
    for result in (in_memory, Result.load(path)):
        audited = audit(result)
        assert not audited.ok
        assert (
            "the code of 'linear spring' (of interaction 'spring') is not that of the run" in audited.text()
        )
    # the cures
    assert audit(run(pair("kind"), start=Result.load(path))).ok
    run(model, output=path, resume=True)
    assert audit(Result.load(path)).ok


USER_MODULE = (
    "from typing import Any, NamedTuple\nclass Point(NamedTuple):\n    x: Any\n    y: Any\n    z: Any\n"
)
SCRIPT_WITH_TYPES = (
    "import sys; sys.path.insert(0, {folder!r}); import theirs; from rigid.linear_algebra import dot\n"
)
SCRIPT_WITH_TYPES += "assert dot(theirs.Point(1.0, 2.0, 3.0), theirs.Point(1.0, 2.0, 3.0)) == 14.0\n"
SCRIPT_WITHOUT_TYPES = (
    "from rigid.linear_algebra import dot\nassert dot((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)) == 14.0\n"
)


def test_script_with_numba_types_does_not_break_cached_kernels(tmp_path):
    """The index of a kernel contains all its signatures: one with a type of a missing module makes all
    unreadable.
    """
    (tmp_path / "theirs.py").write_text(USER_MODULE)
    where = {
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": "/usr/bin",
    }
    for script in (SCRIPT_WITH_TYPES.format(folder=str(tmp_path)), SCRIPT_WITHOUT_TYPES):
        completed = subprocess.run(
            [sys.executable, "-c", script], env=where, cwd=tmp_path, capture_output=True, text=True
        )
        assert completed.returncode == 0, completed.stderr[-2000:]


def test_machine_code_of_a_user_kind_has_a_separate_cache():
    folder = Path(Spring.kind.value._folder)
    assert folder.parent.name == "own_kinds"
    assert any(f"_value_{Spring.digest[:16]}" in path.name for path in folder.rglob("*.nbc"))


def test_cached_machine_code_does_not_contain_the_script_name(other_process, tmp_path):
    """The module would be imported when the code is loaded, under any name that the script then has."""
    path = tmp_path / "kind.py"
    path.write_text(KIND)
    spec = importlib.util.spec_from_file_location("kind_that_runs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    binaries = list(Path(module.Kind.kind.dual._folder).rglob("*.nbc"))
    assert len(binaries) >= 2  # the cache may also serve other checkouts
    assert not any(b"kind_that_runs" in binary.read_bytes() for binary in binaries)
    other_process()


KIND = """
import rodsim
from rodsim.interactions import average, dot, minus, push, times

def apart(y):
    return minus(y[1, 0], y[0, 0])

@rodsim.interaction("of a file", frames=2)
class Kind:
    def value(y, X):
        d = apart(y)
        return 1.5 * dot(d, d)

    def dual(y0, y1, X, out):
        f = times(3.0, average(apart(y0), apart(y1)))
        push(out, 1, f)
        push(out, 0, times(-1.0, f))
"""
