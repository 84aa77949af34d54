"""Trees with driven frames and joints: motion, forces and drive work equal those of the general solver."""

import numpy as np
import pytest

from rigid.joints import JOINTS
from rodsim import Box, MassProperties, Material, Model, Section, audit, simulate
from rodsim.signals import Sine, Steady
from tests.support.mechanisms import AXIS, JOINT_OPTIONS
from tests.support.trees import CLOSE, run, same

GRAVITY = (1.0, 2.0, -9.0)
H = 2e-3
BAR = Box(0.5, 0.1, 0.1, density=300.0)


def bodies_on_table(kind, reverse=False, rod=False):
    """Bodies on joints, the first of them, or a rod before it, on a moving and rotating table; a damped spring to it."""
    model = Model("table", gravity=GRAVITY)
    table = model.add_driven(
        "table",
        displacement=lambda t: (0.1 * np.sin(8.0 * t), 0.05 * t, 0.0),
        turn=Sine(0.2, 1.0),
        axis=(0, 1, 1),
    )
    last, x = table.at((0, 0, 0)), 0.0
    if rod:
        section = Section.circular(0.02, Material(E=1e7, nu=0.3, density=1000.0))
        first_rod = model.add_rod("rod", [(0, 0, 0), (0.5, 0, 0)], section, 3)
        model.add_joint("root", "weld", table, first_rod.start)
        last, x = first_rod.end, 0.5
    for k in range(3):
        body = model.add_body(f"body {k}", BAR, (x + 0.25 + 0.5 * k, 0.0, 0.0))
        options = {"axis": AXIS[kind]} if kind in AXIS else {}
        apart = (-0.25, 0, 0) if kind != "distance" else (-0.1, 0.1, 0.05)
        ends = (last, body.at(apart))
        model.add_joint(
            f"joint {k}", kind, *(ends[::-1] if reverse else ends), **options | JOINT_OPTIONS.get(kind, {})
        )
        last = body.at((0.25, 0, 0))
    model.add_spring("cord", table.at((0, 0, 1)), body.at((0, 0, 0)), 50.0, damping=0.3)
    return model


def arm():
    """A chain of hinges and a slider; one hinge and the slider are driven."""
    model, last = Model("arm", gravity=GRAVITY), None
    kinds = ("revolute", "revolute", "prismatic", "revolute", "revolute", "universal")
    for k, kind in enumerate(kinds):
        body = model.add_body(f"body {k}", BAR, (0.25 + 0.5 * k, 0.0, 0.0))
        options = {"second_axis": (0, 0, 1)} if kind == "universal" else {}
        ends = [last if last is not None else model.ground, body]
        model.add_joint(f"joint {k}", kind, *ends, at=(0.5 * k, 0, 0), axis=(0.0, 1.0, 0.0), **options)
        last = body
    model.add_drive("motor", "joint 1", Sine(0.3, 2.0))
    model.add_drive("piston", "joint 2", Sine(0.05, 1.0))
    return model


def swinging_ring():
    """A ring of hinged bodies between two driven frames; a loop closes at one of them."""
    model, axis = Model("ring", gravity=GRAVITY), (0.0, 1.0, 0.0)
    left = model.add_driven("left", displacement=lambda t: (0.0, 0.05 * np.sin(6.0 * t), 0.1 * t))
    right = model.add_driven(
        "right", position=(2.0, 0, 0), displacement=lambda t: (0.0, 0.05 * np.sin(6.0 * t), 0.0)
    )
    last, points = left.at((0, 0, 0)), [(k / 3, 0.0, -0.4 * np.sin(np.pi * k / 6)) for k in range(7)]
    for k in range(6):
        middle = 0.5 * np.add(points[k], points[k + 1])
        body = model.add_body(f"body {k}", MassProperties(1.0, np.diag([2e-3, 2e-2, 2e-2])), middle)
        kind, options = ("spherical", {}) if k % 2 else ("revolute", {"axis": axis})
        model.add_joint(f"joint {k}", kind, last, body, at=points[k], **options)
        last = body
    model.add_joint("close", "spherical", last.at_world((2.0, 0, 0)), right.at((0, 0, 0)))
    return model


def shaft():
    """A weightless shaft at rest until a frame rotates one end; the other slides and rotates in an off-axis bearing."""
    model = Model("shaft", gravity=(0.0, 0.0, 0.0))
    motor = model.add_driven("motor", turn=lambda t: 5.0 * t * t, axis=(1, 0, 0))
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=10.0, EI=1.0, mass_per_length=0.1, inertia_per_length=1e-4
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)
    disc = model.add_body("disc", MassProperties(1.0, np.diag([1e-2, 5e-3, 5e-3])), (0.5, 0.02, 0.0))
    model.add_joint("coupling", "weld", motor, rod.start, at=(0, 0, 0))
    model.add_joint("seat", "weld", rod.at(0.5), disc)
    model.add_joint("bearing", "cylindrical", model.ground, rod.end, axis=(1, 0, 0))
    return model


CASES = {
    "arm": arm,
    "from rest": shaft,
    "loop": swinging_ring,
    "rod": lambda: bodies_on_table("revolute", rod=True),
}
CASES |= {
    f"{kind}, {'body' if reverse else 'table'} first": lambda kind=kind, reverse=reverse: bodies_on_table(
        kind, reverse
    )
    for kind in JOINTS
    for reverse in (False, True)
    if kind != "clamp"
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_driven_trees_move_as_by_the_general_solver(name):
    results = [run(CASES[name](), 30, H, solver=solver) for solver in ("auto", "general")]
    same(*(result.state() for result in results), CLOSE | {"lam": 1e-8, "internal": 1e-10, "totals": 1e-10})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["arm", "rod", "loop", "revolute, body first"])
def test_energy_change_is_the_drive_work(name):
    audit_report = audit(run(CASES[name](), 300, H, output_every=30))
    assert audit_report.ok, audit_report.text()
    assert audit_report.energy_balance < 1e-13


def test_driven_tree_resumes_bitwise(tmp_path):
    part = tmp_path / "part.vtkhdf"
    uninterrupted = run(arm(), 20, H, output_every=5)
    run(arm(), 10, H, output_every=5, output=part)
    resumed = run(arm(), 20, H, output_every=5, output=part, resume=True)
    assert all(np.array_equal(x, y) for x, y in zip(uninterrupted.state(), resumed.state(), strict=True))


def test_tree_with_mostly_driven_joints_uses_the_general_solver():
    model = arm()
    model.add_drive("second", "joint 3", Steady(0.5))
    assert "solver" not in simulate(model, 2 * H, H, progress=False).description["run"]
