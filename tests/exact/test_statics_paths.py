"""Paths of equilibria by arc-length: limits, turning points, bifurcations and branches against published values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rigid import quaternions
from rodsim import ArcLength, Model, ModelError, Result, audit, equilibrium
from rodsim.cli.main import main
from tests.support.statics_models import LEE_FOLLOWING, lee_frame, section


def bifurcations(result: Result) -> list[float]:
    return [event["load_factor"] for event in result.events if event["kind"] == "bifurcation"]


@pytest.mark.slow
def test_lee_frame_under_a_following_load() -> None:
    model, point = lee_frame(20, "relative(4)", following=True)
    frame = int(np.flatnonzero(np.abs(model.build().state.r - [24.0, 120.0, 0.0]).max(axis=1) < 1e-9)[0])
    local = quaternions.rotate(quaternions.conjugate(model.build().state.quat[frame]), [0.0, -4e4, 0.0])
    monitors = {"u": (point, (1, 0, 0)), "v": (point, (0, 1, 0))}
    result = equilibrium(model, {"load": local}, method="arc-length", monitors=monitors)
    limits = [event for event in result.events if event["kind"] == "limit"]
    for event, (load, u, v) in zip(limits, LEE_FOLLOWING, strict=True):
        assert 4e4 * event["load_factor"] == pytest.approx(load, rel=3e-5)
        assert event["monitors"]["u"] == pytest.approx(u, abs=1e-3)
        assert event["monitors"]["v"] == pytest.approx(v, abs=1e-3)


def deep_arch(element: str, n: int) -> tuple[Model, Any]:
    """Arch of 215 degrees, radius 100, one end clamped, the other on a hinge, a load at the crown."""
    model, half = Model("deep arch"), np.deg2rad(215.0) / 2

    def arc(s: float) -> np.ndarray:
        return 100.0 * np.array([np.sin(half * (2 * s - 1)), np.cos(half * (2 * s - 1)), 0.0])

    cross_section = section(EA=1e8, GA=1e10, GJ=1e9, EI=1e6)
    rod = model.add_rod("arch", arc, cross_section, n, element=element, up=(0, 0, 1))
    model.add_joint("clamp", "clamp", rod.start)
    model.add_joint("hinge", "revolute", rod.end, model.ground, axis=(0, 0, 1))
    model.add_force("load", rod.at(0.5), (0, -1000.0, 0))
    return model, rod


def test_deep_arch_has_the_limit_of_dadeppo_and_schmidt() -> None:
    """P = 897 = 8.97 EI/R^2 for the inextensible arch."""
    model, rod = deep_arch("relative(4)", 40)
    monitors = {"v": (rod.at(0.5), (0, -1, 0)), "by name": (f"{rod.name}@0.5", (0, -1, 0))}
    result = equilibrium(model, method=ArcLength({"v": (-1.0, 116.0)}), monitors=monitors)
    assert np.array_equal(result.monitor("by name"), result.monitor("v"))
    limits = [event["load_factor"] for event in result.events if event["kind"] == "limit"]
    assert 1000.0 * limits[0] == pytest.approx(897.0, abs=0.5)
    assert result.monitor("v")[-1] == pytest.approx(116.0, abs=1e-8)


def right_angle_frame(element: str, n: int) -> tuple[Model, Any]:
    """Cantilever frame of two thin legs, loaded in its plane at the end of the second."""
    E, nu, h, t, L = 71240.0, 0.31, 30.0, 0.6, 240.0
    G = E / 2 / (1 + nu)
    cross_section = section(
        EA=E * h * t, GA=G * h * t, GJ=G * h * t**3 / 3, EI=[E * t * h**3 / 12, E * h * t**3 / 12]
    )
    model = Model("frame")
    a = model.add_rod("a", [(0, 0, 0), (L, 0, 0)], cross_section, n, element=element, up=(0, 1, 0))
    b = model.add_rod("b", [(L, 0, 0), (L, -L, 0)], cross_section, n, element=element, up=(1, 0, 0))
    model.add_joint("clamp", "clamp", a.start)
    model.add_joint("corner", "weld", a.end, b.start)
    model.add_force("load", b.end, (2.0, 0, 0))
    return model, b


def test_right_angle_frame_buckles_sideways_and_the_branch_is_followed() -> None:
    """Critical load 1.088 after Argyris et al. 1979 with shells and beams."""
    model, leg = right_angle_frame("relative(2)", 20)
    monitors = {"z": (leg.end, (0, 0, 1))}
    flat = equilibrium(model, method="arc-length", monitors=monitors)
    assert 2.0 * bifurcations(flat)[0] == pytest.approx(1.088, rel=5e-3)
    assert np.abs(flat.monitor("z")).max() < 1e-6
    sides = []
    for branch in (1, -1):
        result = equilibrium(model, method=ArcLength({"z": (-60.0, 60.0)}, branch=branch), monitors=monitors)
        assert result.statics["stopped"] == "z"
        sides.append(result.monitor("z")[-1])
        assert np.all(np.diff(result.load_factor[3:]) > 0.0)  # the buckled frame carries more
    assert sorted(sides) == pytest.approx([-60.0, 60.0], abs=1e-6)


SCENE = """
name: arch
materials: {m: {E: 1.0e7, nu: 0.3, density: 1000}}
rods:
  - name: arch
    curve: [[-1, 0, 0], [-0.5, 0, 0.2], [0, 0, 0.27], [0.5, 0, 0.2], [1, 0, 0]]
    section: {type: rectangle, width: 0.05, height: 0.02, material: m}
    n_elements: 20
    up: [0, 0, 1]
joints:
  - {name: left, kind: clamp, a: {rod: arch, s: 0}}
  - {name: right, kind: clamp, a: {rod: arch, s: 1}}
loads: [{name: load, kind: force, on: {rod: arch, s: 0.5}, value: [0, 0, -20]}]
equilibrium:
  method: arc-length
  monitors: [{name: crown, point: {rod: arch, s: 0.5}, direction: [0, 0, -1]}]
"""


def test_static_command_and_result_readers_accept_a_scene(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    scene, out = tmp_path / "arch.yaml", tmp_path / "arch.vtkhdf"
    scene.write_text(SCENE)
    assert main(["check", str(scene)]) == 0
    assert main(["equilibrium", str(scene), "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "limit at load factor" in printed
    assert "equilibrium, forces  " in printed
    assert "NOT KEPT" not in printed
    for command in (["info"], ["audit"], ["plot", "--what", "load", "-o", str(tmp_path / "load.png")]):
        assert main([command[0], str(out), *command[1:]]) == 0
    assert main(["equilibrium", str(scene), "-o", str(out)]) == 2  # not overwritten without the option
    assert main(["run", str(scene), "-o", str(tmp_path / "run.vtkhdf")]) == 2
    assert "has no `run`" in capsys.readouterr().err


def test_equilibrium_and_run_of_one_scene_use_separate_files(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """`--overwrite` of one command does not replace the file of the other."""
    monkeypatch.chdir(tmp_path)
    scene = tmp_path / "arch.yaml"
    scene.write_text(SCENE + "run: {t_end: 0.002, dt: 0.001}\n")
    assert main(["run", "arch.yaml", "--quiet"]) == 0
    before = (tmp_path / "arch.vtkhdf").read_bytes()
    for _ in range(2):
        assert main(["equilibrium", "arch.yaml", "--quiet", "--overwrite", "--method", "newton"]) == 0
        assert (tmp_path / "arch.vtkhdf").read_bytes() == before
    assert "statics" in Result.load(tmp_path / "arch-equilibrium.vtkhdf").description


def test_audit_detects_a_false_equilibrium() -> None:
    model, rod = deep_arch("se3", 12)
    model.loads.pop("load")
    model.add_force("load", rod.at(0.5), (0, -300.0, 0))
    result = equilibrium(model)
    assert audit(result).ok
    result.description["statics"]["loads"]["varying"][0][1] *= 1.01
    report = audit(result)
    assert not report.ok
    assert "equilibrium, forces" in next(v.law for v in report.verdicts if v.kept is False)


def test_moved_joints_are_audited_at_their_new_positions() -> None:
    model = Model("strip")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(EA=1e4, GA=5e3, GJ=2.0, EI=2.0), 8)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    result = equilibrium(
        model, motions={"right": {"displacement": (-0.2, 0.1, 0.0), "rotation": (0, 0, 0.4)}}
    )
    assert result.constraint_residual.max() < 1e-12
    assert audit(result).ok
    result.description["statics"]["motions"]["right"]["path"][-1][0][1] += 1e-3
    assert "joints, positions" in {v.law for v in audit(Result(result._source)).verdicts if v.kept is False}


def test_unknown_static_method_is_rejected() -> None:
    with pytest.raises(ModelError, match="'arclength' is not known"):
        equilibrium(deep_arch("se3", 12)[0], method="arclength")


@pytest.mark.parametrize("stiffness", [1.0, 1.0 + 1e-10, 1.0 + 1e-8, 1.001])
def test_simultaneously_critical_modes_are_found_for_any_step_ends(stiffness: float) -> None:
    """A straight rod, bent to a ring, is twisted: two modes out of its plane pass zero, the determinant keeps
    its sign.

    A step that ends between both has one more negative eigenvalue, or two, depending on round-off.
    """
    model, twist = Model("twisted ring"), 14.0
    ring = model.add_rod(
        "ring",
        lambda s: np.array([np.sin(2 * np.pi * s), 1.0 - np.cos(2 * np.pi * s), 0.0]) / (2 * np.pi),
        section(EA=1e6, GA=1e6, GJ=1.0, EI=1.0),
        40,
        up=(0, 0, 1),
        stress_free=[(0, 0, 0), (1, 0, 0)],
        stress_free_up=(0, 0, 1),
    )
    model.add_joint("start", "clamp", ring.start)
    model.add_joint("end", "clamp", ring.end)
    model.add_spring("plane", ring.at(0.5), model.ground.at((0, 1 / np.pi, 50.0)), stiffness)
    motions = {"end": {"rotation": (-twist, 0, 0)}}
    result = equilibrium(model, motions=motions, method=ArcLength(stop={"load_factor": (0, 1)}))
    critical = twist * np.unique(np.round(bifurcations(result), 6))
    assert critical == pytest.approx([2.0 * np.pi * np.sqrt(3.0)], rel=2e-3)  # Michell 1889, GJ = EI
