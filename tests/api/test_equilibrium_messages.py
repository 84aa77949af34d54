"""Messages about equilibria.

Progress of the search, instability, loads below round-off, and the path from an unstable equilibrium.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from rigid import quaternions
from rodsim import Box, Model, Newton, Result, audit, equilibrium
from rodsim.cli.main import main
from rodsim.results.equilibrium_text import describe_origin
from rodsim.statics.equilibrium_results import Equilibrium
from rodsim.warnings import RoundedForcesWarning, UnstableEquilibriumWarning
from tests.support.statics_models import bend, cantilever, section


@contextmanager
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("constant", [(), ("gravity",)])
@pytest.mark.parametrize("EA", [1e14, 1e17])
def test_load_below_the_round_off_of_the_stiffness_bends_correctly(EA: float, constant: tuple) -> None:
    """The deflection is q L^4/(8 EI) = 4.3e-8 of the length; eps EA is a fiftieth of the load."""
    weight = 1e-14 * EA  # N, of 1 kg
    EI = weight / 8 / 4.3e-8
    model, _, _ = cantilever(section(EA=EA, GA=EA, GJ=EI, EI=EI), 1.0, 12)
    model.gravity[:] = (0.0, 0.0, -weight)
    with pytest.warns(RoundedForcesWarning, match=r"model 'cantilever': .* N are left unbalanced"):
        result = equilibrium(model, constant=constant)
    # lumped weights are exact in bending; shear adds 1e-7 of it
    assert result.state().r[-1, 2] == pytest.approx(-4.3e-8, rel=1e-6)
    assert result.newton_iterations.sum() > 0
    assert 1e-6 < result.statics["unbalanced"] < 1.0
    assert "unbalanced" in describe_origin(result.description)[-1]


def test_small_load_applied_in_increments_bends_by_as_much() -> None:
    model, _, end = cantilever(section(EA=1e16, GA=1e16, GJ=1e9, EI=1e9), 1.0, 12)
    model.add_force("push", end, (0.0, 0.0, 1.0))
    result = equilibrium(model, method=Newton(factors=np.linspace(0.25, 1.0, 4)))
    assert result.rod("rod").r[:, -1, 2] == pytest.approx(result.t / 3e9, rel=5e-3)


@pytest.mark.parametrize(("seed", "offset"), [(0, 0.0), *((seed, 1e-15) for seed in range(4))])
def test_rigid_motion_is_not_excited_by_round_off(seed: int, offset: float) -> None:
    """A bar on a ball joint may rotate about its axis; a load along it is below the round-off of parallel
    stiff springs. With an offset of 1e-15 no pivot of the tangent is zero, and the springs pull by as much.
    """
    random = np.random.default_rng(seed)
    place, end = (0.5, 0.3, 0.1) + offset * random.uniform(-1, 1, 3), np.array([1.0, 0.3, 0.1])
    rotated = quaternions.normalize([1.0, *(offset * random.uniform(-1, 1, 3))])
    model = Model("bar")
    bar = model.add_body("bar", Box(1.0, 0.1, 0.1, density=1.0), position=place, orientation=rotated)
    model.add_joint("ball", "spherical", model.ground.at((0, 0.3, 0.1)), bar.at((-0.5, 0, 0)))
    for k, way in enumerate(((0.3, 0.7, 0.0), (0.3, 0.0, 0.7))):
        stay = model.ground.at(end + way), bar.at((0.5, 0, 0))
        model.add_spring(f"stay {k}", *stay, 1e17, length=np.hypot(0.3, 0.7))
    model.add_force("push", bar.at((0.5, 0, 0)), (0.0, 1.0, 0.0))
    result = equilibrium(model)
    assert np.abs(result.state().quat[1] - result.state(0).quat[1]).max() < 1e-12


def test_loads_above_round_off_give_no_warning() -> None:
    model, _, end = cantilever(section(EA=2e7, GA=8e6, GJ=150.0, EI=170.0), 1.0, 10)
    model.add_force("push", end, (0.0, 0.0, -1.0))
    with no_warnings():
        result = equilibrium(model)
    assert not {"unbalanced", "unstable"} & set(result.statics)


def test_very_slender_rod_needs_no_more_load_steps() -> None:
    """sqrt(EA L^2/EI) = 2.6e5: strain increments of a correction are known to more than EA/EI L^2 digits."""
    width = 100.0 * np.sqrt(12.0) / 2.6e5
    with pytest.warns(RoundedForcesWarning):
        thin = equilibrium(bend(width, 600.0 * width**4, 8))
    usual = equilibrium(bend(0.01, 6e-6, 8))
    assert thin.n_outputs <= 8
    # 8.7 of the usual one: round-off decides between five and six steps
    assert thin.newton_iterations[1:].mean() < 10
    assert thin.state().r[-1] == pytest.approx(usual.state().r[-1], abs=1e-3)


def twisted(turns: float, **options: Any) -> Equilibrium:
    """A rod between clamps, one rotated about the axis of the rod, which stays straight; it may buckle where
    tan(M L/2 EI) = M L/2 EI.
    """
    model = Model("twisted")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(EA=1e4, GA=5e3, GJ=1.0, EI=1.0), 16)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    return equilibrium(model, motions={"right": {"rotation": (2 * np.pi * turns, 0, 0)}}, **options)


def test_a_rod_is_twisted_stably_up_to_its_critical_moment() -> None:
    with no_warnings():
        assert np.abs(twisted(8.9 / (2 * np.pi)).state().r[:, 1:]).max() < 1e-12


@pytest.mark.parametrize(("moment", "pivots"), [(9.1, 2), (17.0, 4)])  # roots: 8.987, 15.45, in two planes
def test_unstable_equilibrium_is_reported_with_its_pivots_and_origin(moment: float, pivots: int) -> None:
    with pytest.warns(
        UnstableEquilibriumWarning, match=rf"{pivots} negative pivots, .*rod 'rod', node \d+ .*'leave'"
    ):
        result = twisted(moment / (2 * np.pi))
    unstable = result.statics["unstable"]
    assert unstable["pivots"] == pivots
    # the first of the load steps beyond 8.987
    assert unstable["from"] == result.t[result.t * moment > 8.987][0]
    assert "unstable from load factor" in describe_origin(result.description)[-1]
    assert np.abs(result.state().r[:, 1:]).max() < 1e-12


@pytest.mark.parametrize("moment", [10.0, 17.0])  # with two and with four unstable directions
def test_path_leads_from_an_unstable_to_a_stable_equilibrium(moment: float) -> None:
    with no_warnings():
        result = twisted(moment / (2 * np.pi), unstable="leave")
    assert np.abs(result.state().r[:, 1:]).max() > 1e-3
    assert result.statics["left"] > 0
    assert "unstable" not in result.statics
    assert result.load_factor[-2:] == pytest.approx([1.0, 1.0])
    assert result.energy["elastic"][-1] < result.energy["elastic"][-2]
    assert audit(result).ok


def upright(**options: Any) -> Equilibrium:
    model = Model("bar", gravity=(0, 0, -9.81))
    body = model.add_body("bar", Box(0.1, 0.1, 1.0, density=1000.0), position=(0, 0, 0.5))
    model.add_joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    return equilibrium(model, **options)


def test_upright_bar_is_reported_unstable_and_leaves_to_hanging() -> None:
    with pytest.warns(UnstableEquilibriumWarning, match=r"1 negative pivot,.*'bar' turns about \(0, 1, 0\)"):
        assert upright().state().r[1, 2] == 0.5
    assert upright(unstable="leave").state().r[1] == pytest.approx((0, 0, -0.5), abs=1e-9)


def test_zero_energy_motion_is_not_reported_as_unstable() -> None:
    """A ball on a spherical joint may rotate about the vertical; the tangent of a follower load cannot be
    judged.
    """
    model = Model("hanging", gravity=(0, 0, -9.81))
    body = model.add_body("ball", Box(0.3, 0.2, 0.1, density=1000.0), position=(0.2, 0.1, -0.5))
    model.add_joint("ball", "spherical", model.ground, body, at=(0.2, 0.1, 0))
    with no_warnings():
        equilibrium(model)


def violated_laws(result: Result, factor: float, off: float) -> set[str]:
    """Violated laws if the file states other loads, or an offset `off` (m) of the ground side of a clamp."""
    result_copy = Result(result._source)
    statics = result_copy.description["statics"]
    statics["loads"]["varying"][0] = [factor * x for x in statics["loads"]["varying"][0]]
    statics["motions"]["right"]["path"][-1][0][1] += off
    try:
        return {v.law for v in audit(Result(result_copy._source)).verdicts if v.kept is False} - {
            "table of the run"
        }
    finally:
        statics["loads"]["varying"][0] = [x / factor for x in statics["loads"]["varying"][0]]
        statics["motions"]["right"]["path"][-1][0][1] -= off


def test_audit_detects_force_errors_of_3e_8_and_joint_errors_of_3e_9() -> None:
    """Relative load errors of 1e-11 and joint offsets of 1e-12 m are below the bounds, 1e-9 and 1e-10."""
    model = Model("strip")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(EA=100.0, GA=50.0, GJ=2.0, EI=2.0), 8)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    model.add_force("push", rod.at(0.5), (0.0, 3.0, 1.0))
    result = equilibrium(model, motions={"right": {"displacement": (-0.02, 0.01, 0.0)}})
    assert violated_laws(result, 1.0, 0.0) == set()
    assert violated_laws(result, 1.0 + 3e-8, 0.0) == {"equilibrium, forces"}
    assert violated_laws(result, 1.0, 3e-9) == {"joints, positions"}
    assert violated_laws(result, 1.0 + 1e-11, 1e-12) == set()


# --- progress of a search, on a terminal or if requested


HINGED_BAR_SCENE = """
gravity: [0, 0, -9.81]
bodies: [{name: bar, shape: {type: box, size: [1, 0.1, 0.1], mass: 1}, position: [0.5, 0, 0]}]
joints: [{name: pin, kind: hinge, a: ground, b: bar, at: [0, 0, 0], axis: [0, 1, 0]}]
torsion_springs: [{name: coil, a: ground, b: bar, axis: [0, 1, 0], stiffness: 8}]
equilibrium: {}
"""


def hinged_bar(stiffness=8.0):
    """A bar on a hinge with a torsion spring, under its weight."""
    model = Model("bar", gravity=(0, 0, -9.81))
    body = model.add_body("bar", Box(1, 0.1, 0.1, mass=1), (0.5, 0, 0))
    model.add_joint("pin", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_spring("coil", model.ground, body, stiffness, along="rotation", axis=(0, 1, 0))
    return model


def shown_counts(text):
    """Numbers of equilibria and load factors in the order in which the progress line showed them."""
    return re.findall(r"(\d+) equilibria[^\r]*?load factor ([\d.e+-]+), Newton \d+", text)


@pytest.mark.parametrize("method", ["newton", "arc-length"])
def test_equilibrium_search_shows_its_load_factors(method, capsys, monkeypatch):
    result = equilibrium(hinged_bar(), method=method, progress=True)
    shown = shown_counts(capsys.readouterr().err)
    assert int(shown[-1][0]) == result.n_outputs
    assert float(shown[-1][1]) == pytest.approx(result.load_factor[-1], rel=1e-5)


def test_no_progress_without_terminal_or_if_disabled(capsys, monkeypatch):
    equilibrium(hinged_bar())
    assert shown_counts(capsys.readouterr().err) == []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    equilibrium(hinged_bar(), progress=False)
    assert shown_counts(capsys.readouterr().err) == []


def test_equilibrium_command_shows_progress_on_a_terminal_unless_quiet(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    scene = tmp_path / "bar.yaml"
    scene.write_text(HINGED_BAR_SCENE)
    assert main(["equilibrium", str(scene), "--quiet"]) == 0
    assert shown_counts(capsys.readouterr().err) == []
    assert main(["equilibrium", str(scene), "--overwrite"]) == 0
    assert shown_counts(capsys.readouterr().err)[-1][1] == "1"
