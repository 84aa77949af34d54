"""Effect of `unstable` on unstable equilibria, in Python, in scenes and on the command line."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from discretization.linearisation import eigen
from rigid import quaternions
from rigid.errors import UnstableEquilibriumWarning
from rodsim import ConvergenceError, Model, Newton, Result, equilibrium
from rodsim.cli.main import main
from rodsim.results import Audit
from tests.support.statics_models import cantilever, section

STRETCHED = section(EA=1e5, GA=1e5, GJ=1.0, EI=1.0)
EULER = np.pi**2 / 4


def pressed_cantilever(load: float, n: int = 8) -> Model:
    """A straight cantilever under a dead axial force: unstable above Euler's load."""
    model, _, end = cantilever(section(EA=1e5, GA=1e5, GJ=1.0, EI=[1.0, 3.0]), 1.0, n)
    model.add_force("press", end, (-load, 0.0, 0.0))
    return model


def test_unstable_equilibrium_is_returned_by_default_with_a_warning() -> None:
    with pytest.warns(UnstableEquilibriumWarning, match="1 negative pivot,"):
        result = equilibrium(pressed_cantilever(4.0))
    assert result.statics["unstable"]["pivots"] == 1
    assert result.load_factor[-1] == 1.0


def test_stop_ends_before_the_first_unstable_equilibrium() -> None:
    factors = [0.2, 0.4, 0.6, 0.8, 1.0]
    with pytest.raises(ConvergenceError, match=r"load factor 0\.8 is unstable") as caught:
        equilibrium(pressed_cantilever(4.0), method=Newton(factors=factors), unstable="stop")
    assert caught.value.t == 0.8
    assert "1 negative pivot," in str(caught.value)
    np.testing.assert_allclose(caught.value.result.load_factor, [0.0, 0.2, 0.4, 0.6])
    assert 4.0 * 0.6 < EULER < 4.0 * 0.8


def test_stop_changes_nothing_on_a_stable_path() -> None:
    np.testing.assert_array_equal(
        equilibrium(pressed_cantilever(2.0), unstable="stop").state().r,
        equilibrium(pressed_cantilever(2.0)).state().r,
    )


def test_few_eigenvectors_are_computed_however_many_pivots_are_negative(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    counts = []
    original = eigen.conservative

    def conservative(lin, n):  # type: ignore[no-untyped-def]
        counts.append(n)
        return original(lin, n)

    monkeypatch.setattr(eigen, "conservative", conservative)
    with pytest.warns(UnstableEquilibriumWarning):
        result = equilibrium(pressed_cantilever(600.0, 24))
    assert result.statics["unstable"]["pivots"] > 10
    assert max(counts) <= 12


def test_unstable_from_is_the_last_stable_point_of_the_path() -> None:
    """A rod between clamps that is compressed beyond 4 pi^2 EI/L^2, released and compressed again."""
    model = Model("pressed twice")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], STRETCHED, 8)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    path = {"displacement": lambda factor: [-6e-4 * np.sin(2 * np.pi * factor) ** 2, 0.0, 0.0]}
    with pytest.warns(UnstableEquilibriumWarning):
        result = equilibrium(
            model, method=Newton(factors=[0.25, 0.5, 0.7, 0.75], first_step=1.0), motions={"right": path}
        )
    assert result.statics["unstable"]["from"] == 0.7


def test_two_unstable_directions_are_both_left() -> None:
    """Two separate columns: one perturbation moves one of them."""
    model = Model("two columns")
    for name, y, EI in (("a", 0.0, [1.0, 9.0]), ("b", 1.0, [1.1, 9.0])):
        rod = model.add_rod(name, [(0, y, 0), (1, y, 0)], section(EA=1e5, GA=1e5, GJ=1.0, EI=EI), 6)
        model.add_joint(f"foot {name}", "clamp", rod.start)
        model.add_force(f"press {name}", rod.end, (-4.0, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnstableEquilibriumWarning)
        result = equilibrium(model, unstable="leave")
    for name in "ab":
        assert result.rod(name).r[-1][-1, 0] < 0.9
    assert result.load_factor.tolist()[-3:] == [1.0, 1.0, 1.0]
    assert result.statics["left"] == result.newton_iterations[-2:].sum()


def test_unstable_equilibrium_is_returned_if_no_motion_leads_to_a_stable_one(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("rodsim.statics.equilibrium_stability.relax", lambda *_, **__: None)  # found none
    with pytest.warns(UnstableEquilibriumWarning) as caught:
        result = equilibrium(pressed_cantilever(4.0), unstable="leave")
    assert [warning.category for warning in caught] == [UnstableEquilibriumWarning]
    assert "left" not in result.statics
    assert "unbalanced" not in result.statics


def test_stability_is_not_judged_under_follower_loads() -> None:
    """The stiffness of follower loads is not symmetric: stability does not follow from an energy."""
    model, _, end = cantilever(section(EA=1e5, GA=1e5, GJ=1.0, EI=[1.0, 3.0]), 1.0, 8)
    frame = model.build().state.quat[-1]
    local = quaternions.rotate(quaternions.conjugate(frame), np.array([-30.0, 0.0, 0.0]))
    model.add_force("press", end, local, following=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnstableEquilibriumWarning)
        assert "unstable" not in equilibrium(model).statics


SCENE = """
name: column
sections: {s: {type: stiffness, EA: 1.0e5, GA: 1.0e5, GJ: 1.0, EI: [1.0, 3.0], mass_per_length: 1.0, inertia_per_length: 1.0}}
rods: [{name: rod, curve: [[0, 0, 0], [1, 0, 0]], section: s, n_elements: 8}]
joints: [{name: foot, kind: clamp, a: {rod: rod, s: 0}}]
loads: [{name: press, kind: force, on: {rod: rod, s: 1}, value: [-4.0, 0, 0]}]
equilibrium: {UNSTABLE}
"""


@pytest.fixture
def column(tmp_path):  # type: ignore[no-untyped-def]
    """The command for this scene, and the path of its result; `load`: N."""

    def write_scene(in_scene: str, load: float = 4.0) -> tuple[list[str], Path]:
        scene, out = tmp_path / "column.yaml", tmp_path / "column.vtkhdf"
        scene.write_text(SCENE.replace("UNSTABLE", in_scene).replace("-4.0", str(-load)))
        return ["equilibrium", str(scene), "-o", str(out)], out

    return write_scene


@pytest.mark.parametrize(
    ("in_scene", "option", "code", "last"),
    [
        ("", [], 3, "unstable from load factor"),
        ("unstable: leave", [], 0, "written to"),
        ("unstable: leave", ["--unstable", "keep"], 3, "unstable from load factor"),
        ("", ["--unstable", "leave"], 0, "written to"),
    ],
)
def test_command_reports_instability_in_its_last_line(  # type: ignore[no-untyped-def]
    column, capsys, in_scene, option, code, last
) -> None:
    command, out = column(in_scene)
    assert main([*command, *option]) == code
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert last_line.startswith(last)
    assert last_line.endswith("1 negative pivot at the end") == (code == 3)
    assert main([*command, "--overwrite", "--quiet", *option]) == code
    assert Result.load(out).description["statics"]["load_factor"][-1] == 1.0


def test_unstable_end_of_an_arc_length_path_is_reported_without_failure(column, capsys) -> None:  # type: ignore[no-untyped-def]
    """The path itself was requested, and its events state where it becomes unstable."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnstableEquilibriumWarning)
        assert equilibrium(pressed_cantilever(4.0), method="arc-length").statics["unstable"]["pivots"] == 1
    assert main(column("method: arc-length")[0]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("unstable from load factor")


@pytest.mark.parametrize("load", [2.0, 4.0])
def test_violated_law_takes_precedence_over_instability(load, column, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(Audit, "ok", property(lambda self: False))
    assert main(column("", load)[0]) == 4


def test_stopped_scene_exits_with_3_and_keeps_its_outputs(column, capsys) -> None:  # type: ignore[no-untyped-def]
    command, out = column("unstable: stop")
    assert main(command) == 3
    assert "is unstable" in capsys.readouterr().err
    assert Result.load(out).n_outputs == 1


def test_error_without_equilibrium_is_not_masked(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    """Nothing supports the mass along its rail: no equilibrium is found, and no file is written."""
    scene, out = tmp_path / "rail.yaml", tmp_path / "rail.vtkhdf"
    scene.write_text(
        """
name: rail
gravity: [1.0, 0, -9.81]
bodies: [{name: car, shape: {type: box, size: [1, 1, 1], density: 1.0}}]
joints: [{name: rail, kind: prismatic, a: {body: car}, b: ground, at: [0, 0, 0], axis: [1, 0, 0]}]
equilibrium: {constant: [gravity], relaxation: false}
"""
    )
    assert main(["equilibrium", str(scene), "-o", str(out)]) == 3
    message = capsys.readouterr().err
    assert "no equilibrium found beyond load factor 0" in message
    assert "no result was written" in message
    assert not out.exists()


def test_singular_scene_prints_no_lapack_messages(tmp_path, monkeypatch, capfd) -> None:  # type: ignore[no-untyped-def]
    """Two free bodies on a rope over a pulley: six columns of the tangent are zero."""
    scene = Path(__file__).parents[2] / "examples" / "scenes" / "pulley.yaml"
    shutil.copy(scene, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["equilibrium", "pulley.yaml"]) == 3
    printed = capfd.readouterr()
    assert "6 motions that no joint and no stiffness holds" in printed.err
    assert "illegal value" not in printed.out + printed.err
