"""The audit measures what it says, and judges only what can be judged."""

import json

import numpy as np
import pytest

from rigid.system import State
from rodsim.results import COLUMNS, MemoryWriter
from rodsim.results.audit import audit
from rodsim.results.layout import Layout, RodLayout

MASS, SPEED = 2.0, 3.0


def flight(gravity=None, grounded=False, work_until=3, spoil=None, n=11):
    """A rod of two nodes that flies straight on after a push; `spoil` adds to columns from output 6 on."""
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
        writer.append(0.1 * i, 10 * i, state, np.zeros((1, 6)), np.zeros((1, 6)), row)
    return writer.result()


def verdicts(result):
    return {verdict.law.split(" E")[0]: verdict.kept for verdict in audit(result).verdicts}


def test_free_flight_keeps_every_law():
    found = audit(flight())
    assert found.ok
    assert found.energy_balance == 0
    assert found.free_from == pytest.approx(0.3)
    assert (found.linear_momentum_drift, found.angular_momentum_drift) == (0, 0)
    assert (found.newton_mean, found.newton_max, found.n_steps) == (3, 4, 100)
    assert "all laws that can be judged were kept" in found.text()


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        ({"total": 1e-6}, "energy balance"),
        ({"total": 1e-6}, "energy without work"),
        ({"Py": 1e-6}, "linear momentum"),
        ({"Lx": 1e-6}, "angular momentum"),
        ({"quat_norm": 1e-9}, "unit quaternions"),
        ({"constraint": 1e-6}, "joints, positions"),
        ({"total": np.nan}, "energy balance"),
    ],
)
def test_broken_law_is_named(spoil, law):
    result = flight(spoil=spoil)
    assert verdicts(result)[law] is False
    assert not audit(result).ok
    assert "NOT KEPT" in audit(result).text()


def test_dissipated_energy_is_no_error():
    result = flight(spoil={"total": -2.0, "kinetic": -2.0, "dissipation": 2.0})
    assert audit(result).energy_balance < 1e-15
    assert audit(result).energy_drift < 1e-15


def test_energy_balance_is_relative_to_the_energy_turned_over():
    found = audit(flight(spoil={"total": 9e-5}))
    assert found.energy_scale == pytest.approx(9.0)
    assert found.energy_balance == pytest.approx(1e-5)


def test_gravity_keeps_linear_momentum_across_and_angular_along_it():
    down = np.array([0, 0, -9.81])
    assert verdicts(flight(gravity=down, spoil={"Pz": -5.0, "Lx": 3.0}))["linear momentum"] is True
    assert verdicts(flight(gravity=down, spoil={"Pz": -5.0, "Lx": 3.0}))["angular momentum"] is True
    assert verdicts(flight(gravity=down, spoil={"Px": 1e-6}))["linear momentum"] is False
    assert verdicts(flight(gravity=down, spoil={"Lz": 1e-6}))["angular momentum"] is False


def test_momentum_of_a_grounded_model_is_not_judged():
    found = audit(flight(grounded=True, spoil={"Px": 1.0}))
    assert found.ok
    assert found.linear_momentum_drift is None
    assert "held to the ground" in found.text()


def test_drift_is_not_judged_while_loads_act():
    found = audit(flight(work_until=10))
    assert (found.free_from, found.energy_drift, found.linear_momentum_drift) == (None, None, None)
    assert found.ok


def test_audit_as_json_has_every_number():
    data = json.loads(audit(flight()).to_json())
    assert data["ok"] is True
    assert data["verdicts"][0]["law"].startswith("energy balance")
    assert json.loads(audit(flight(spoil={"total": np.nan})).to_json())["energy_balance"] is None


def test_audit_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no output"):
        audit(flight(n=0))
