"""Loads, dampers and viscous rods in every scheme that supports them: energy + dissipation - work, as the scheme sums it."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from discretization.time.bubnov import solve_global
from discretization.time.integrators import parse
from rodsim import Box, Model, ModelError, Section, audit, simulate
from rodsim.mechanics import integrate
from tests.support.newton_matrices import matrix_twice

H, T_END = 0.01, 0.08
EXACT = [
    ("EML", "quaternion"),
    ("REML", "quaternion"),
    ("Null-EML", "quaternion"),
    ("EML-kappa", "quaternion"),
    ("EML", "director"),
    ("EMH", "quaternion-gamma"),
    ("EM-G", "director"),
    ("GGL-EM", "director"),
    ("GGL-EM", "quaternion-gamma"),
]
TO_ITS_ORDER = [
    ("MPL", "quaternion"),
    ("IMS", "quaternion-gamma"),
    ("MPL", "director"),
    ("mG(1)", "director"),
    ("mG(2)", "quaternion-gamma"),
    ("mG(2, 2)", "director"),
    ("GL-SPARK(1)", "quaternion-gamma"),
    ("GL-SPARK(2)", "director"),
    ("Lobatto-IIIA-B(3)", "quaternion-alpha"),
]


def limb(damping=1.0, loads=True):
    """A free bent rod, a body welded to one end, another on an off-axis hinge, a damped spring and a damped torsion spring; two
    follower loads and a dead one, off the centres of mass and varying in time.
    """
    model = Model("limb", gravity=(0, 0, -9.81))
    section = Section.from_stiffness(
        EA=3e3,
        GA=2e3,
        GJ=50,
        EI=(80, 60),
        mass_per_length=2.0,
        inertia_per_length=(0.5, 0.6, 0.7),
        damping_time=0.02 * damping,
    )
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (0.7, 0.2, 0.1), (1.0, 0.9, 0)],
        section,
        n_elements=3,
        mass="lumped",
        velocity=lambda s: (0.3 * s, -0.2, 1.5 * s * s),
        angular_velocity=(0.2, 0.5, -1.0),
    )
    foot = model.add_body("foot", Box(0.3, 0.2, 0.1, density=100), position=(1.1, 1.0, 0.1))
    model.add_joint("ankle", "weld", rod.end, foot)
    ball = model.add_body("ball", Box(0.2, 0.3, 0.4, density=50), position=(-0.3, 0.1, 0.2))
    model.add_joint("hip", "revolute", rod.start, ball, at=(0, 0, 0), axis=(0, 1, 0.5))
    tip = ball.at((0.1, 0, 0))
    model.add_spring("string", foot.at((0, 0.1, 0)), tip, stiffness=40.0, length=1.0, damping=5 * damping)
    model.add_spring(
        "coil", rod.start, ball, 3.0, damping=0.7 * damping, along="rotation", axis=(0, 1, 0.5), angle=0.2
    )
    if loads:
        model.add_moment("drive", tip, lambda t: (0, 2.0 * np.cos(9 * t), 0.5), following=True)
        model.add_force(
            "thrust", foot.at((0.1, 0, 0.05)), lambda t: (0, 4 * np.sin(20 * t), 3), following=True
        )
        model.add_force("push", foot.at((0.1, 0.1, 0)), lambda t: (3 * np.sin(10 * t), 0, 0))
    return model


@cache
def shared_system(chart):
    """One system for all runs: cached results, such as the pattern of Newton's matrix, are reused."""
    return limb().mechanical_system(chart)


@cache
def run_scheme(name, chart, h=H, t_end=T_END):
    return integrate(shared_system(chart), name, h, t_end)


def balance_error(run):
    """max |E - E0 - work + dissipation|/E0, with the energy E that the scheme conserves."""
    balance = run.energy() - run.work + run.dissipation
    return np.abs(balance - balance[0]).max() / run.energy()[0]


@pytest.mark.parametrize(("name", "chart"), EXACT)
def test_energy_and_dissipation_equal_the_load_work_to_round_off(name, chart):
    run = run_scheme(name, chart)
    assert balance_error(run) < 2e-14
    assert np.all(np.diff(run.dissipation) > 0.0)
    assert np.ptp(run.work) > 1e-3 * run.energy()[0]
    assert run.dissipation[-1] > 1e-2 * run.energy()[0]


@pytest.mark.parametrize(("name", "chart"), TO_ITS_ORDER)
def test_balance_error_of_other_schemes_falls_with_their_order(name, chart):
    runs = [run_scheme(name, chart, h) for h in (H, H / 2)]
    errors = [balance_error(run) for run in runs]
    assert errors[0] < 1e-3
    assert errors[1] < errors[0] / 2 ** (parse(name).order - 0.3) or errors[1] < 2e-14
    assert np.all(np.diff(runs[0].dissipation) > 0.0)


@pytest.mark.parametrize(("name", "chart"), [*EXACT, *TO_ITS_ORDER])
def test_damped_and_driven_motions_converge_to_em(name, chart, end_of_em):
    """The difference falls at the order of the scheme."""
    result = simulate(limb(), T_END, 0.004, name, chart=chart, output_every=100)
    bound = 2e-8 if parse(name).order > 2 else 2e-5
    assert np.abs(end_state(result) - end_of_em).max() < bound


def end_state(result):
    return np.concatenate([result.rod("rod").r[-1].ravel(), result.body("ball").center_of_mass[-1]])


@pytest.fixture(scope="module")
def end_of_em():
    """Reference: `em`, whose error is a series in h^2, extrapolated twice."""
    ends = [end_state(simulate(limb(), T_END, 0.002 / n, output_every=1000)) for n in (1, 2, 4)]
    once = [fine + (fine - coarse) / 3 for coarse, fine in pairwise(ends)]
    return once[1] + (once[1] - once[0]) / 15


@pytest.mark.parametrize("name", ["EML-kappa", "GGL-EM", "mG(2)", "GL-SPARK(2)"])
def test_result_totals_are_those_of_the_scheme(name):
    """Totals equal those of the system and approximate those of `em`, however the steps are divided."""
    result = simulate(limb(), T_END, H, name, output_every=3)
    chart = result.layout.description["run"]["chart"]
    run = run_scheme(name, chart)
    assert result.audit_column("work")[-1] == run.work[-1]
    assert result.audit_column("dissipation")[-1] == run.dissipation[-1]
    em = simulate(limb(), T_END, H)
    for column in ("work", "dissipation"):
        assert run.totals[-1, ("work", "dissipation").index(column)] == pytest.approx(
            em.audit_column(column)[-1], rel=5e-3
        )


def test_audit_of_a_damped_driven_model_closes():
    """The balance uses the frames' own velocities: those of GGL-EM satisfy the joints."""
    report = audit(simulate(limb(), T_END, H, "GGL-EM"))
    assert report.energy_balance < 1e-12


@pytest.mark.parametrize("name", ["EML-kappa", "MPL", "GGL-EM", "mG(2)", "GL-SPARK(2)"])
def test_damping_preserves_the_momenta_that_the_scheme_conserves(name):
    """No loads and no gravity; the rod and the dampers act between frames only."""
    model = limb(loads=False)
    model.gravity = np.zeros(3)
    chart = None if name in ("GGL-EM", "GL-SPARK(2)", "mG(2)") else "quaternion"
    system = model.mechanical_system(chart or "director")
    run = integrate(system, name, H, T_END)
    joined = parse(name).joined
    promised = joined.directors if chart is None else joined.quaternions
    moved = {s.name: np.ptp(run.momentum(s)) for s in system.symmetries}
    for law, letter in (("linear momentum", "P"), ("angular momentum", "L")):
        if law in promised:
            assert max(moved[f"{letter}{axis}"] for axis in "xyz") < 1e-11, law
    assert run.dissipation[-1] > 0.0


def test_kappa_changes_by_the_moment_of_the_loads():
    """A free body under a force off its centre: L changes over a step by h pbar x f."""
    model = Model("thrown")
    body = model.add_body("box", Box(0.5, 0.3, 0.2, density=100), angular_velocity=(1.0, 2.0, -3.0))
    X, f = np.array([0.1, 0.2, -0.1]), np.array([4.0, -30.0, 20.0])
    model.add_force("push", body.at(X), f)
    system = model.mechanical_system("quaternion")
    run = integrate(system, "EML-kappa", 0.05, 0.5)
    w, x, y, z = run.q[:, 3:].T
    R = np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    points = run.q[:, :3] + np.einsum("ijk,j->ki", R, X)
    L = np.array([run.momentum(s) for s in system.symmetries if s.name[0] == "L"]).T
    impulse = 0.05 * np.cross((points[1:] + points[:-1]) / 2, f)
    assert np.abs(np.diff(L, axis=0) - impulse).max() < 1e-13 * np.abs(L).max()


def test_global_elements_close_the_energy_balance():
    """The balance holds at the element ends of BG(2), whose order is 2."""
    system = limb().mechanical_system("director")
    defects = []
    for h in (0.01, 0.005):
        run = solve_global(system, h, 0.01, k=2)
        ends = slice(None, None, 2)
        assert np.all(np.isnan(run.totals[1::2]))
        balance = (run.hamiltonian() - run.work + run.dissipation)[ends]
        defects.append(np.abs(balance - balance[0]).max() / run.hamiltonian()[0])
        assert np.all(np.diff(run.dissipation[ends]) > 0.0)
    assert defects[1] < 1e-3
    assert defects[1] < defects[0] / 2**1.7


@pytest.mark.parametrize("name", ["VI-S", "VI-A(0.5)", "VI-B(0.5, 0.5)"])
def test_variational_schemes_reject_damping_and_measure_load_work(name):
    with pytest.raises(ModelError, match=r"VI-.* is variational.*use GGL-EM, EML-kappa, mG or em"):
        simulate(limb(), T_END, H, name)
    system = limb(damping=0.0).mechanical_system("director")
    defects = []
    for h in (H, H / 2):
        run = integrate(system, name, h, T_END)
        defects.append(balance_error(run))
        assert not np.any(run.dissipation)
    assert defects[1] < defects[0] / 2 ** (parse(name).order - 0.3)


def test_compositions_with_negative_substeps_reject_damping():
    with pytest.raises(ModelError, match=r"order 4 takes negative substeps.*use mG\(2\)"):
        simulate(limb(), T_END, H, "EML-kappa(order=4)")
    run = integrate(limb(damping=0.0).mechanical_system("quaternion"), "EML-kappa(order=4)", H, 0.04)
    assert balance_error(run) < 2e-14


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("EML-kappa", "quaternion"),
        ("GGL-EM", "director"),
        ("GGL-EM", "quaternion-gamma"),
        ("mG(1)", "director"),
    ],
)
def test_colouring_covers_every_damper_entry_of_the_newton_matrix(integrator, chart, monkeypatch):
    scheme, system = parse(integrator).fitted(limb().mechanical_system(chart))
    coloured, matrix, _, _ = matrix_twice(scheme, system, monkeypatch)
    assert np.abs((coloured - matrix) / np.abs(matrix).max(axis=1, keepdims=True)).max() < 1e-13
