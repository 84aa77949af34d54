"""The audit measures the stated quantities, and judges only what can be judged."""

import json

import numpy as np
import pytest

from discretization.space.elements import Elements
from discretization.state_measures import element_states
from rigid.system import COINCIDENT, Constraints, State
from rodsim import Box, Material, Model, Section, simulate
from rodsim.cli.main import main
from rodsim.results import COLUMNS, MemoryWriter
from rodsim.results.audit import audit
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.outputs import stacked
from rodsim.results.tabulate import tabulate
from rodsim.results.verdicts import ROUND_OFF
from tests.support.array_systems import make_state, make_system

MASS, SPEED = 2.0, 3.0


def flight(gravity=None, grounded=False, work_until=3, spoil=None, n=11):
    """A rod of two nodes that flies uniformly after a push, as a file without stored system; `spoil` is added
    to columns from output 6 on.
    """
    rod = RodLayout("rod", [1, 2], [0], [0, 1], [0.01, 0.01])
    layout = Layout("flight", [rod], [], [], n_frames=3, n_elements=1, gravity=gravity, grounded=grounded)
    writer = MemoryWriter(layout)
    for i in range(n):
        speed = SPEED * min(i, work_until) / max(work_until, 1) if work_until else SPEED
        row = dict.fromkeys(COLUMNS, 0.0)
        row["kinetic"] = row["total"] = MASS * speed**2 / 2
        row["work"] = row["total"] if work_until else 0.0
        row["Px"], row["Lz"] = MASS * speed, -MASS * speed
        row["newton_mean"], row["newton_max"] = 3.0, 4.0
        for name, value in (spoil or {}).items():
            row[name] += value * (i >= 6)
        shapes = layout.state_shapes()
        state = State(**{name: np.zeros(shape) for name, shape in shapes.items()})
        state.r[2, 0] = 1.0
        state.quat[:, 0] = 1.0
        state.v[1:, 0] = speed
        state.totals[:] = row["work"], row["dissipation"]
        state.quat[1, 0] += (spoil or {}).get("quat_norm", 0.0) * (i >= 6)
        writer.append(0.1 * i, 10 * i, state, np.zeros((1, 6)), np.zeros((1, 6)), row)
    return writer.result()


def verdicts(result):
    return {verdict.law.split(" E")[0]: verdict.kept for verdict in audit(result).verdicts}


def test_free_flight_satisfies_every_law():
    audited = audit(flight())
    assert audited.ok
    assert audited.energy_balance == 0
    assert audited.free_from == pytest.approx(0.3)
    assert (audited.linear_momentum_drift, audited.angular_momentum_drift) == (0, 0)
    assert (audited.newton_mean, audited.newton_max, audited.n_steps) == (3, 4, 100)
    assert "all laws that can be judged were kept" in audited.text()


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        ({"total": 1e-6}, "energy balance"),
        ({"total": 1e-6}, "E + D without work"),
        ({"Py": 1e-6}, "linear momentum"),
        ({"Lx": 1e-6}, "angular momentum"),
        ({"quat_norm": 1e-9}, "unit quaternions"),
        ({"constraint": 1e-6}, "joints, positions"),
        ({"total": np.nan}, "energy balance"),
    ],
)
def test_violated_law_is_named(spoil, law):
    result = flight(spoil=spoil)
    assert verdicts(result)[law] is False
    assert not audit(result).ok
    assert "NOT KEPT" in audit(result).text()


def test_dissipated_energy_is_not_an_error():
    result = flight(spoil={"total": -2.0, "kinetic": -2.0, "dissipation": 2.0})
    assert audit(result).energy_balance < 1e-15
    assert audit(result).energy_drift < 1e-15


def test_energy_balance_is_relative_to_the_exchanged_energy():
    audited = audit(flight(spoil={"total": 9e-5}))
    assert audited.energy_scale == pytest.approx(9.0)
    assert audited.energy_balance == pytest.approx(1e-5)


def test_gravity_conserves_horizontal_linear_and_vertical_angular_momentum():
    down = np.array([0, 0, -9.81])
    assert verdicts(flight(gravity=down, spoil={"Pz": -5.0, "Lx": 3.0}))["linear momentum"] is True
    assert verdicts(flight(gravity=down, spoil={"Pz": -5.0, "Lx": 3.0}))["angular momentum"] is True
    assert verdicts(flight(gravity=down, spoil={"Px": 1e-6}))["linear momentum"] is False
    assert verdicts(flight(gravity=down, spoil={"Lz": 1e-6}))["angular momentum"] is False


def test_momentum_of_a_grounded_model_is_not_judged():
    audited = audit(flight(grounded=True, spoil={"Px": 1.0}))
    assert audited.ok
    assert audited.linear_momentum_drift is None
    assert "held to the ground" in audited.text()


def test_drift_is_not_judged_while_loads_act():
    audited = audit(flight(work_until=10))
    assert (audited.free_from, audited.energy_drift, audited.linear_momentum_drift) == (None, None, None)
    assert audited.ok


def test_audit_as_json_has_every_number():
    data = json.loads(audit(flight()).to_json())
    assert data["ok"] is True
    assert data["verdicts"][0]["law"].startswith("energy balance")
    assert json.loads(audit(flight(spoil={"total": np.nan})).to_json())["energy_balance"] is None


# -- laws of the states ----------------------------------------------------------------------------------

ENERGY = 9.0  # J, of two bodies of 1 kg with 3 m/s


def two_bodies(stiffness=0.0):
    """Two bodies of 1 kg, 1 m apart along x, whose points at the second coincide; a spring between them, or
    none.
    """
    one = Constraints(
        np.array([COINCIDENT]),
        np.array([[1, 2]]),
        np.array([[1.0, 0, 0]]),
        *np.zeros((3, 1, 3)),
        np.zeros(1),
        np.zeros(1, np.int64),
    )
    frames = np.array([[1, 2]])
    C = stiffness * np.eye(6)[None]
    rod = Elements(frames, np.ones(1), C, 0 * C, np.zeros((1, 6)), np.zeros(1))
    return make_system(np.ones(2), np.tile(0.25 * np.eye(3), (2, 1, 1)), rod, one)


def flown_result(spoil=None, gravity=(0, 0, 0), stiffness=0.0, n=11, spoil_table=None, integrator="em"):
    """Two bodies pushed along x until output 3; `spoil(state)` gives the states from output 6 on."""
    system = two_bodies(stiffness)._replace(gravity=np.array(gravity, float))
    rod = RodLayout("pair", [1, 2], [0], [0, 1], [0.01, 0.01])
    run = {"run": {"integrator": integrator}}
    layout = Layout("pair", [rod], [], [], run, 3, 1, n_multipliers=3, system=system, grounded=False)
    writer = MemoryWriter(layout)
    for i in range(n):
        speed = SPEED * min(i, 3) / 3
        state = make_state(system, [[0, 0, 0], [1, 0, 0]], v=np.tile([speed, 0, 0], (2, 1)))
        state.totals[0] = speed**2
        if spoil is not None and i >= 6:
            state = spoil(state)
        row = tabulate(system, 0.1, np.array([i]), stacked([state]), np.zeros((1, 3))).audit[0]
        table = dict(zip(COLUMNS, row, strict=True))
        if spoil_table is not None and i >= 6:
            table |= {name: table[name] + value for name, value in spoil_table.items()}
        writer.append(0.1 * i, i, state, *element_states(system, state), table)
    return writer.result()


def shift_of_state(**changes):
    """Function that adds `changes` to a state: field=(frame, axis, value)."""

    def spoil(state):
        arrays = {name: getattr(state, name).copy() for name in changes}
        for name, shifts in changes.items():
            for frame, axis, value in shifts:
                arrays[name][frame, axis] += value
        return state._replace(**arrays)

    return spoil


# At the threshold: 2 m v dv = 1e-10 E;  2 m dv = 1e-10 sqrt(2 M E);  m dv l = 1e-10 sqrt(2 I E) with I = 1 + 2 trace/2
AT_THRESHOLD = {
    "energy balance": lambda x: shift_of_state(v=[(k, 0, x * 1e-10 * ENERGY / (2 * SPEED)) for k in (1, 2)]),
    "E + D without work": lambda x: shift_of_state(
        v=[(k, 0, x * 1e-10 * ENERGY / (2 * SPEED)) for k in (1, 2)]
    ),
    "linear momentum": lambda x: shift_of_state(v=[(k, 1, x * 0.5e-10 * 6.0) for k in (1, 2)]),
    "angular momentum": lambda x: shift_of_state(
        v=[(1, 1, -x * 1e-10 * np.sqrt(31.5)), (2, 1, x * 1e-10 * np.sqrt(31.5))]
    ),
    "unit quaternions": lambda x: shift_of_state(quat=[(1, 0, x * 1e-12)]),
    # the model's points are 0.5 m from its middle
    "joints, positions": lambda x: shift_of_state(r=[(2, 0, x * 0.5e-10)]),
}


@pytest.mark.parametrize("law", AT_THRESHOLD)
@pytest.mark.parametrize("times", [0.95, 1.05])
def test_law_is_violated_at_its_threshold(law, times):
    judged = verdicts(flown_result(AT_THRESHOLD[law](times)))
    assert judged.pop(law) is (times < 1)
    if law not in ("energy balance", "E + D without work"):
        assert False not in judged.values()


def test_round_off_of_stiff_forces_violates_no_law():
    """N = 10 steps of h = 0.1 s, two frames at 3 m/s, the force on each known to eps EA."""
    EA = 1e9
    rounding = 4 * 0.1 * np.sqrt(10) * np.finfo(float).eps * EA * np.sqrt(2) * SPEED
    assert rounding > 100 * ROUND_OFF * ENERGY
    for times in (0.95, 1.05):
        spoil = shift_of_state(
            v=[(k, 0, (times * rounding + ROUND_OFF * ENERGY) / (2 * SPEED)) for k in (1, 2)]
        )
        assert verdicts(flown_result(spoil, stiffness=EA))["energy balance"] is (times < 1)
        assert verdicts(flown_result(spoil, stiffness=1e-3 * EA))["energy balance"] is False


def test_zero_momenta_are_scaled_by_the_model():
    """A rod bent to a ring and welded: 5 kJ of energy in a stress that cannot move it."""
    circle = lambda s: (np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0)  # noqa: E731
    model = Model("ring")
    section = Section.circular(0.01, Material(E=2.1e11, nu=0.3, density=7850.0))
    rod = model.add_rod("ring", circle, section, 24, stress_free=[(0, 0, 0), (2 * np.pi, 0, 0)])
    model.add_joint("weld", "weld", rod.start, rod.end)
    audited = audit(simulate(model, 0.02, 0.001))
    mass = 7850 * np.pi * 0.01**2 * 2 * np.pi
    assert audited.linear_momentum_scale == pytest.approx(np.sqrt(2 * mass * audited.energy_scale), rel=1e-6)
    assert audited.angular_momentum_scale == pytest.approx(np.sqrt(2 * mass * audited.energy_scale), rel=1e-2)
    assert audited.ok


def test_steel_wire_with_large_steps_violates_no_law():
    model = Model("wire", gravity=(0, 0, -9.81))
    section = Section.circular(0.0005, Material(E=2.1e11, nu=0.3, density=7850.0))
    model.add_joint(
        "end", "spherical", model.add_rod("wire", [(0, 0, 0), (1, 0, 0)], section, 20).start, model.ground
    )
    assert audit(simulate(model, 5.0, 0.05)).ok


def test_energy_without_work_is_judged_with_what_was_dissipated():
    def slowed(state):
        return state._replace(v=state.v / 3, totals=state.totals + np.array([0, 8.0]))

    audited = audit(flown_result(slowed))
    assert audited.energy_drift < 1e-15
    assert {v.law: v.kept for v in audited.verdicts}["E + D without work"] is True
    assert verdicts(flown_result(lambda state: state._replace(v=state.v / 3)))["E + D without work"] is False


def test_gravity_is_known_from_the_stored_system():
    falling = shift_of_state(v=[(k, 2, -1.0) for k in (1, 2)])
    assert verdicts(flown_result(falling, gravity=(0, 0, -9.81)))["linear momentum"] is True
    assert verdicts(flown_result(falling))["linear momentum"] is False


def test_energy_is_not_judged_for_integrators_without_that_invariant():
    spoil = shift_of_state(v=[(1, 0, 1e-3)])
    audited = audit(flown_result(spoil, integrator="VI-A(0.5)"))
    assert audited.ok
    assert "'VI-A(0.5)' need not conserve it" in audited.text()
    assert not audit(flown_result(spoil, integrator="em4")).ok
    assert not audit(flown_result(shift_of_state(quat=[(1, 0, 1e-9)]), integrator="VI-A(0.5)")).ok


@pytest.mark.parametrize("spin", [0.5, 1e-13])
def test_velocity_scale_of_a_director_chart_without_joints(spin):
    """The rates of the director constraints are errors of |Omega|."""
    model = Model("free")
    orientation = np.array([0.9, 0.3, -0.2, 0.1]) / np.linalg.norm([0.9, 0.3, -0.2, 0.1])
    model.add_body(
        "body", Box(0.5, 0.3, 0.2, density=100.0), orientation=orientation, angular_velocity=(spin, 0, -spin)
    )
    audited = audit(simulate(model, 0.2, 0.01, "GGL-EM", chart="director", output_every=1, progress=False))
    assert audited.ok, audited.text()
    assert audited.velocity_scale == pytest.approx(np.sqrt(2.0) * spin, rel=0.1)


@pytest.mark.parametrize(("unit", "code"), [(1e-12, 0), (-1.0, 4)])
def test_run_exits_with_4_if_its_audit_fails(unit, code, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("rodsim.results.verdicts.UNIT", unit)
    scene = tmp_path / "ball.yaml"
    scene.write_text(
        "bodies: [{name: b, shape: {type: sphere, radius: 1, mass: 1}}]\nrun: {t_end: 0.1, dt: 0.1}"
    )
    assert main(["run", str(scene), "-o", str(tmp_path / "a.vtkhdf")]) == code
    assert ("NOT KEPT" in capsys.readouterr().out) is (code == 4)
    # the scene requests no audit
    assert main(["run", str(scene), "-o", str(tmp_path / "b.vtkhdf"), "--quiet"]) == 0
