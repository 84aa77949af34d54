"""Local audit: residuals of the local laws of stored states vanish with order 2 for every integrator, and errors are located."""

import json
from functools import cache

import numpy as np
import pytest

from rigid.quaternions import rotate
from rodsim import Box, Model, Result, ResultError, Section, local_audit, signals, simulate
from rodsim.cli.main import main
from rodsim.results.local_plot import plot_local
from rodsim.results.writer import MemoryWriter
from tests.support.results_sample import in_memory

SECTION = Section.from_stiffness(
    EA=60.0, GA=40.0, GJ=3.0, EI=(2.0, 4.0), mass_per_length=1.5, inertia_per_length=(0.5, 0.2, 0.3)
)
LAWS = ("energy", "momentum", "angular_momentum", "material_momentum")


def norm(x):
    return float(np.sqrt(np.mean(x**2)))


def push(s):
    """Zero at the ends of a rod, to the third derivative, so that no kink travels along it."""
    return np.sin(np.pi * s) ** 4 * np.array([0.8, -0.5, 1.0])


def spin(s):
    return np.sin(np.pi * s) ** 4 * np.array([1.0, 0.7, -0.4])


def flying_rod(
    element="se3", n_elements=12, gravity=(0.0, 0.0, -2.0), closed=False, mass="lumped", **options
):
    """A rod, or a ring, with travelling waves."""
    model = Model("flying", gravity=gravity)
    curve = [(0, 0, 0), (2, 0, 0)]
    if closed:
        curve = lambda s: (np.cos(2 * np.pi * s) / 3, np.sin(2 * np.pi * s) / 3, 0.0)  # noqa: E731
    rod = model.add_rod(
        "rod",
        curve,
        options.pop("section", SECTION),
        n_elements,
        closed=closed,
        velocity=push,
        angular_velocity=spin,
        mass=mass,
        element=element,
        **options,
    )
    return model, rod


@cache
def relative_norms(element, closed, integrator, chart, n):
    """Residuals of the laws relative to their terms, with n steps and proportionally many elements."""
    model, _ = flying_rod(element, 3 * n, closed=closed)
    result = simulate(
        model, 0.32, 0.32 / n, output_every=1, integrator=integrator, chart=chart, progress=False
    )
    return {law.law: law.relative for law in local_audit(result).rod("rod").laws}


def observed_orders(element, closed, integrator="em", chart=None, sizes=(12, 24)):
    norms = [relative_norms(element, closed, integrator, chart, n) for n in sizes]
    return {law: np.log2(norms[0][law] / norms[1][law]) for law in norms[0]}


@pytest.mark.parametrize(
    ("element", "closed"),
    [("se3", False), ("se3", True), ("relative(2)", False), ("lagrange(3)", True), ("relative(4)", False)],
)
def test_residuals_of_runs_with_em_vanish_with_order_2(element, closed):
    observed = observed_orders(element, closed)
    for law in LAWS[: 3 if closed else 4]:
        assert observed[law] == pytest.approx(2.0, abs=0.25), (law, observed)


@pytest.mark.slow
def test_residuals_of_a_run_in_a_chart_vanish_with_order_2():
    observed = observed_orders("se3", False, "EML", "director", (8, 16))
    for law in LAWS:
        assert observed[law] == pytest.approx(2.0, abs=0.4), (law, observed)


def stored_run(path, n=8, element="se3", **options):
    model, _ = flying_rod(element, 3 * n)
    simulate(model, 0.32, 0.32 / n, output=path, overwrite=True, progress=False, **options)
    return path


def test_tampered_state_is_located_by_the_residual(tmp_path):
    import h5py

    path = stored_run(tmp_path / "run.vtkhdf", n=32)
    before = local_audit(Result.load(path)).rod("rod")
    with h5py.File(path, "r+") as file:
        file["rodsim/v"][20, 1 + 40, 2] += 0.2  # a fifth of the push
    after = local_audit(Result.load(path)).rod("rod")
    for law in ("energy", "momentum", "angular_momentum"):
        old, new = before.law(law), after.law(law)
        assert new.largest > 10 * old.largest
        assert pytest.approx(after.S[39]) == new.S  # node 40 belongs to box 39
        at = np.unravel_index(np.argmax(np.abs(new.values)), new.values.shape)
        assert at[0] in (19, 20)
        assert (new.t, new.largest) == (after.t[at[0]], np.abs(new.values).max())
        untouched = np.ones(len(after.S), bool)
        untouched[38:41] = False
        assert np.array_equal(old.values[:, untouched], new.values[:, untouched])


def test_known_loads_are_sources_and_unknown_ones_are_excluded():
    force, moment = np.array([3.0, 1.0, -2.0]), np.array([0.4, -0.3, 0.2])
    sine = signals.Sine(amplitude=1.0, frequency=1.0, phase=0.3)
    audits = {}
    for known in (True, False):
        model, rod = flying_rod(n_elements=40)
        pull = sine.along(force)
        value = pull if known else lambda t, pull=pull: pull(np.array(t))
        model.add_force("pull", rod.at(0.5, (0.0, 0.4, 0.3)), value)
        model.add_moment("turn", rod.at(0.25), moment, following=True)
        result = simulate(model, 0.1, 0.0025, output_every=1, progress=False)
        audits[known] = local_audit(result)
    history = result.rod("rod")
    rod, unknown = audits[True].rod("rod"), audits[False].rod("rod")
    at = {s: int(np.argmin(np.abs(rod.S - s))) for s in (0.5, 1.0)}
    h = rod.S[1] - rod.S[0]
    # the effect of the loads at their nodes, 20 and 10
    q, w = history.quat[:, 20], rotate(history.quat[:, 20], history.Omega[:, 20])
    arm, pulled = rotate(q, [0.0, 0.4, 0.3]), pull(result.t)
    turned = rotate(history.quat[:, 10], moment)
    acting = {
        ("momentum", 1.0): pulled,
        ("angular_momentum", 1.0): np.cross(history.r[:, 20] + arm, pulled),
        ("energy", 1.0): np.sum(pulled * (history.v[:, 20] + np.cross(w, arm)), axis=1)[:, None],
        ("angular_momentum", 0.5): turned,
        ("energy", 0.5): (history.Omega[:, 10] @ moment)[:, None],
    }
    for (law, S), does in acting.items():
        residual, source = rod.law(law).values[:, at[S]], np.linalg.norm(does, axis=1) / h
        assert np.isfinite(residual).all()
        assert norm(residual) < (0.05 if law == "energy" else 1e-3) * norm(source), (law, S)
    for law in ("energy", "momentum", "angular_momentum"):
        residual = np.isnan(unknown.law(law).values)
        assert residual[:, at[1.0]].all()
        assert residual.sum() == len(residual)
    assert np.isnan(rod.law("material_momentum").values).sum() == 2 * len(rod.t)
    assert any("'pull'" in note for note in audits[False].not_covered)
    assert not any("pull" in note for note in audits[True].not_covered)


def test_curved_stress_free_rod_at_rest_has_zero_residual():
    model = Model("ring")
    curve = lambda s: (np.cos(4 * s), np.sin(4 * s), 0.3 * s)  # noqa: E731
    model.add_rod("rod", curve, SECTION, 20, twist=1.0)
    rod_audit = local_audit(simulate(model, 0.1, 0.01, output_every=1, progress=False)).rod("rod")
    assert max(law.largest for law in rod_audit.laws) < 1e-9


def test_joints_are_reported_as_not_covered_but_springs_are_covered():
    model, rod = flying_rod(n_elements=12, gravity=(0, 0, 0))
    section = Section.from_stiffness(
        EA=60.0, GA=40.0, GJ=3.0, EI=2.0, mass_per_length=1.5, inertia_per_length=0.3, damping_time=0.01
    )
    model.add_rod("thick", [(0, 1, 0), (2, 1, 0)], section, 6)
    model.add_rod("one", [(0, 2, 0), (2, 2, 0)], section, 1)
    body = model.add_body("box", Box(0.1, 0.1, 0.1, density=1000.0), (1.0, 0.0, 0.0))
    model.add_joint("weld", "weld", body, rod.at(0.5))
    model.add_spring("spring", rod.at(0.25), model.ground.at((0.5, 0.0, 1.0)), 10.0)
    report = local_audit(simulate(model, 0.05, 0.01, progress=False))
    notes = "\n".join(report.not_covered)
    for words in ("joint 'weld'", "rod 'one'", "at its two ends", "momentum in the 1 boxes on whose nodes"):
        assert words in notes
    assert "spring" not in notes
    assert "viscous" not in notes
    values = report.rod("rod").law("momentum").values
    assert np.isnan(values).all(axis=0).sum() == 1
    assert [rod.rod for rod in report.rods] == ["rod", "thick"]


def test_too_coarse_outputs_are_reported():
    model, _ = flying_rod(n_elements=24)
    report = local_audit(simulate(model, 1.6, 0.01, output_every=16, progress=False))
    law = report.rod("rod").law("momentum")
    assert law.relative > 0.01
    fine = local_audit(simulate(flying_rod(n_elements=24)[0], 1.6, 0.01, output_every=1, progress=False))
    assert fine.rod("rod").law("momentum").norm < 0.1 * law.norm
    # the audit of every second output equals that of a run that stores every second output
    half = local_audit(simulate(flying_rod(n_elements=24)[0], 1.6, 0.01, output_every=2, progress=False))
    for law in LAWS:
        assert fine.rod("rod").law(law).every_second == pytest.approx(
            half.rod("rod").law(law).norm, rel=1e-12
        )


def test_blocks_of_outputs_give_the_same_audit(monkeypatch):
    result = simulate(flying_rod(n_elements=8)[0], 0.3, 0.01, output_every=1, progress=False)
    complete = local_audit(result)
    monkeypatch.setattr("rodsim.results.local_audit.BLOCK", 1)
    parts = local_audit(result)
    for a, b in zip(complete.rods[0].laws, parts.rods[0].laws, strict=True):
        assert np.array_equal(a.values, b.values)
        assert (b.norm, b.size, b.every_second) == pytest.approx((a.norm, a.size, a.every_second), rel=1e-12)
        assert (a.t, a.S) == (b.t, b.S)


def test_command_prints_draws_and_rejects(tmp_path, capsys):
    path = stored_run(tmp_path / "run.vtkhdf")
    assert main(["audit", "--local", str(path), "-o", str(tmp_path / "pictures")]) == 0
    printed = capsys.readouterr().out
    assert all(words in printed for words in ("energy", "angular momentum", "at most", "not covered"))
    assert (tmp_path / "pictures" / "local-rod.png").stat().st_size > 10_000
    assert main(["audit", "--local", "--json", str(path)]) == 0
    report = json.loads(capsys.readouterr().out)
    laws = {law["law"]: law for law in report["rods"][0]["laws"]}
    assert set(laws) == set(LAWS)
    assert 0 < laws["momentum"]["norm"] < laws["momentum"]["size"]
    assert main(["audit", str(path), "-o", str(tmp_path)]) == 2
    assert "--local" in capsys.readouterr().err


def without_rods():
    model = Model("box")
    model.add_body("box", Box(0.1, 0.1, 0.1, density=1000.0))
    return simulate(model, 0.1, 0.1, progress=False)


def without_inner_nodes():
    model = Model("short")
    model.add_rod("short", [(0, 0, 0), (1, 0, 0)], SECTION, 1)
    return simulate(model, 0.1, 0.1, progress=False)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (without_rods, "no rods"),
        (without_inner_nodes, "no node between"),
        (lambda: MemoryWriter(flying_rod()[0].build().layout).result(), "no output"),
    ],
)
def test_result_without_rods_is_rejected(make, words):
    with pytest.raises(ResultError, match=words):
        local_audit(make())


def test_single_output_is_rejected():
    with pytest.raises(ResultError, match="one output"):
        local_audit(in_memory(1))


def test_pictures_of_similarly_named_rods_have_unique_names(tmp_path, monkeypatch):
    """The content of the pictures is tested above."""
    from matplotlib.figure import Figure

    monkeypatch.setattr("rodsim.results.local_plot.picture", lambda rod: Figure())
    model = Model("two")
    for k, name in enumerate(("a/b", "a b")):
        model.add_rod(name, [(0, k, 0), (1, k, 0)], SECTION, 4, velocity=push)
    report = local_audit(simulate(model, 0.1, 0.01, progress=False))
    assert len({path.name for path in plot_local(report, tmp_path)}) == 2
