"""Rods in trees of bodies: motion, forces and invariants of the general solver, for rods on joints, between bodies and free."""

from functools import partial

import numpy as np
import pytest

from rigid.joints import JOINTS
from rodsim import Box, MassProperties, Material, Model, Section, audit, simulate
from tests.support.mechanisms import AXIS, JOINT_OPTIONS, branched, looped
from tests.support.trees import CLOSE, run, same
from tests.support.user_kinds import Triangle

RUBBER = Section.circular(0.02, Material(E=1e7, nu=0.3, density=1000.0))
OBLIQUE = Section.from_stiffness(
    EA=4e3, GA=(1e3, 2e3), GJ=3.0, EI=(4.0, 6.0), mass_per_length=1.2, inertia_per_length=(3e-3, 1e-3, 2e-3)
)
GRAVITY = (1.0, 2.0, -9.0)
WHEEL = MassProperties(0.4, np.diag([2e-3, 3e-3, 4e-3]))


def clamped_rod(section=RUBBER, elements=6, **options):
    """A rod clamped at its start, with distributed loads and a body at its end."""
    model = Model("clamped", gravity=GRAVITY)
    rod = model.add_rod("rod", [(0, 0, 0), (0.6, 0, 0), (1.0, 0.3, 0.1)], section, elements, **options)
    model.add_joint("clamp", "clamp", rod.start)
    bob = model.add_body("bob", WHEEL, (1.0, 0.3, 0.0))
    model.add_joint("string", "spherical", rod.end, bob, at=(1.0, 0.3, 0.1))
    model.add_force("push", rod.end, lambda t: (0.0, 0.3 * np.sin(20.0 * t), 0.1))
    model.add_force("rocket", rod.at(0.5), (0.0, 0.2, 0.1), following=True)
    return model


def body_between_rods():
    """A body between two rods, one supported at its far end and one attached to the body, with parallel springs."""
    model = Model("both ways", gravity=GRAVITY)
    one = model.add_rod("one", [(0, 0, 0), (0.5, 0, 0)], RUBBER, 3)
    body = model.add_body("body", WHEEL, (0.6, 0.0, 0.05), angular_velocity=(0.0, 1.0, 2.0))
    other = model.add_rod("other", [(0.7, 0, 0.1), (0.7, 0.4, 0.1)], OBLIQUE, 4)
    model.add_joint("foot", "revolute", model.ground, one.start, at=(0, 0, 0), axis=(0, 1, 0.2))
    model.add_joint("hand", "universal", one.end, body, at=(0.5, 0, 0), axis=(0, 1, 0), second_axis=(0, 0, 1))
    model.add_joint("ball", "spherical", body.at_world((0.7, 0, 0.1)), other.start)
    model.add_bushing("bush", body, other.start, [40.0, 50.0, 60.0, 0.3, 0.2, 0.1], 0.02)
    model.add_spring("cord", model.ground.at((0.5, 0.4, 0.6)), other.at(0.5), 20.0, damping=0.1)
    return model


def branches():
    """Three rods on one body, each with a body at its end; one of these slides along a line."""
    model = Model("branches", gravity=GRAVITY)
    hub = model.add_body("hub", WHEEL, (0, 0, 0))
    model.add_joint("post", "cylindrical", model.ground, hub, at=(0, 0, 0), axis=(0, 0.1, 1))
    for k, (kind, options) in enumerate(
        [("weld", {}), ("spherical", {}), ("prismatic", {"axis": (1.0, -0.2, 0.0)})]
    ):
        direction = np.array([np.cos(2.0 * k), np.sin(2.0 * k), 0.1 * k])
        rod = model.add_rod(f"rod {k}", [0.1 * direction, 0.6 * direction], RUBBER, 2 + k)
        end = model.add_body(f"end {k}", WHEEL, 0.65 * direction)
        model.add_joint(f"root {k}", "weld", hub, rod.start)
        pair = (rod.end, end.at_world(0.6 * direction)) if k % 2 else (end.at_world(0.6 * direction), rod.end)
        model.add_joint(f"tip {k}", kind, *pair, **options)
    return model


def free_rod():
    """A free rod with bodies welded to both ends."""
    model = Model("free", gravity=(0.0, 0.0, 0.0))
    spin = {"angular_velocity": (0.5, 1.0, 2.0)}
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], RUBBER, 5)
    for name, end, x in (("left", rod.start, 0.0), ("right", rod.end, 1.0)):
        body = model.add_body(name, WHEEL, (x, 0.0, 0.1), **(spin if name == "left" else {}))
        model.add_joint(name, "weld", body, end)
    return model


CASES = {
    "clamped": clamped_rod,
    "another section": lambda: clamped_rod(OBLIQUE),
    "consistent mass": lambda: clamped_rod(mass="consistent"),
    "viscous": lambda: clamped_rod(
        Section.circular(0.02, Material(E=1e7, nu=0.3, density=1000.0, damping_time=1e-3))
    ),
    "one element": lambda: clamped_rod(elements=2),
    "nine frames": lambda: clamped_rod(elements=9),
    "both ways": body_between_rods,
    "branches": branches,
    "free": free_rod,
}


@pytest.mark.parametrize("integrator", ["em", "em4"])
@pytest.mark.parametrize("name", CASES)
def test_rods_on_trees_move_as_with_the_general_solver(name, integrator):
    if integrator == "em4" and name in ("viscous", "both ways"):
        pytest.skip("compositions are refused where something dissipates")
    states = [run(CASES[name](), 40, 2e-3, integrator, solver).state() for solver in ("auto", "general")]
    same(
        *states, CLOSE | ({"lam": 1e-7} if integrator == "em4" else {})
    )  # of substeps of a tenth of the step


@pytest.mark.parametrize("first", ["rod", "body"])
@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "clamp"])
def test_rod_attaches_to_every_joint_kind(kind, first):
    model = Model(kind, gravity=GRAVITY)
    body = model.add_body("body", WHEEL, (0.0, 0.0, 0.0), angular_velocity=(0.3, 0.2, 0.1))
    rod = model.add_rod("rod", [(0.1, 0.05, 0), (0.5, 0.1, 0)], RUBBER, 3)
    if first == "rod":
        model.add_joint("clamp", "clamp", rod.end)
    else:
        model.add_joint("post", "spherical", model.ground, body, at=(-0.1, 0, 0))
    options = {"axis": AXIS[kind]} if kind in AXIS else {}
    near = body.at_world((0.1, 0.05, 0) if kind != "distance" else (0.0, 0.3, 0.1))
    model.add_joint("joint", kind, near, rod.start, **options | JOINT_OPTIONS.get(kind, {}))
    same(*(run(model, 20, 2e-3, solver=solver).state() for solver in ("auto", "general")), CLOSE)


@pytest.mark.parametrize("name", CASES)
def test_rods_on_trees_keep_their_invariants(name):
    audit_report = audit(run(CASES[name](), 500, 2e-3, output_every=50))
    assert audit_report.ok, audit_report.text()
    assert audit_report.energy_balance < 1e-14


@pytest.mark.parametrize(
    ("elements", "h", "most"), [(8, 1e-3, 2.1), (8, 1e-2, 3.6), (64, 1e-3, 2.2), (64, 1e-2, 3.8)]
)
def test_newton_converges_quadratically_in_rods(elements, h, most):
    assert run(clamped_rod(elements=elements), 50, h).newton_iterations[-1] <= most


def test_rods_on_trees_resume_bitwise(tmp_path):
    part = tmp_path / "part.vtkhdf"
    uninterrupted = run(branches(), 20, 2e-3, output_every=5)
    run(branches(), 10, 2e-3, output_every=5, output=part)
    resumed = run(branches(), 20, 2e-3, output_every=5, output=part, resume=True)
    assert all(np.array_equal(x, y) for x, y in zip(uninterrupted.state(), resumed.state(), strict=True))
    assert audit(resumed).ok


def body_on_cancelling_spring(h, tied):
    """A body on a spring so compressed that its inertia and the spring cancel across it for a step h; tied: to another one,
    which is unsupported across.
    """
    model, m, k, compression = Model("on a strut"), 1.0, 100.0, 0.5
    length = compression * k * h * h / (4.0 * m)  # m, of a spring with the force k compression
    box = Box(0.5, 0.4, 0.3, mass=m)
    if tied:  # and before it, so that this one is eliminated while it is linked
        other = model.add_body("other", box, (1.0, 0.0, 0.0), angular_velocity=(1e-9, 0, 0))
    body = model.add_body("body", box, (0.0, 0.0, 0.0), velocity=(1e-9, 0.0, 0.0))
    ends = model.ground.at((0.2, 0.3, 0.1 + length)), body.at((0.2, 0.3, 0.1))
    model.add_spring("strut", *ends, k, length=length + compression)
    if tied:
        model.add_bushing("tie", body, other, [0.0, 0.0, 5.0, 0.3, 0.2, 0.1])
    return model


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("h", [0.02, 0.05, 0.1])
def test_rows_are_exchanged_if_inertia_and_a_strut_cancel(h, tied):
    result, expected = (
        run(body_on_cancelling_spring(h, tied), 1, h, solver=solver) for solver in ("auto", "general")
    )
    same(result.state(), expected.state(), dict.fromkeys(CLOSE, 1e-10))
    assert result.halvings.sum() == 0
    assert result.newton_iterations[-1] <= expected.newton_iterations[-1] + 1


def arch():
    """A rod clamped at both ends, with a body on the crown."""
    model = Model("arch", gravity=GRAVITY)
    rod = model.add_rod("rod", [(0, 0, 0), (0.5, 0, 0.4), (1, 0, 0)], RUBBER, 6)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    bob = model.add_body("bob", WHEEL, (0.5, 0.0, 0.5))
    model.add_joint("crown", "spherical", rod.at(0.5), bob)
    return model


def bridge(kind):
    """Both ends on such joints, with a body attached to the middle by one more."""
    model = Model("bridge", gravity=GRAVITY)
    rod = model.add_rod("rod", [(0, 0, 0), (0.5, 0.1, 0.3), (1, 0, 0)], RUBBER, 4)
    body = model.add_body("body", WHEEL, (0.5, 0.1, 0.2))
    for name, one, other, at in (
        ("left", model.ground, rod.start, (0, 0, 0)),
        ("right", rod.end, model.ground, (1, 0, 0)),
        ("hook", rod.at(0.5), body, (0.5, 0.1, 0.3)),
    ):
        model.add_joint(name, kind, one, other, **joint_placement(kind, at))
    return model


def ring(kind):
    """Four rods on such joints in a ring, supported by a body."""
    model = Model("ring", gravity=GRAVITY)
    points = [(0, 0, 0), (0.6, 0, 0.1), (0.7, 0.5, 0), (0, 0.6, 0.2)]
    rods = [model.add_rod(f"rod {k}", [points[k], points[(k + 1) % 4]], RUBBER, 2) for k in range(4)]
    for k in range(4):
        ends = (rods[k - 1].end, rods[k].start)
        model.add_joint(f"joint {k}", kind, *ends[:: 1 - 2 * (k % 2)], **joint_placement(kind, points[k]))
    body = model.add_body("body", WHEEL, (0.3, 0.0, 0.4))
    model.add_joint("hang", "spherical", model.ground, body, at=(0.3, 0.0, 0.5))
    model.add_joint("hold", "spherical", body, rods[0].at(0.5), at=(0.3, 0, 0.05))
    return model


def closed_ring(kind):
    """A ring of bodies closed by such a joint, with a rod on one of them."""
    model, last = Model("closed", gravity=GRAVITY), None
    points = [(0.5 * k, 0.0, -0.5 * np.sin(0.2 * np.pi * k)) for k in range(6)]
    across = {"axis": (0, 1, 0), "second_axis": (1, 0, 0)}
    for k in range(5):
        body = model.add_body(f"body {k}", WHEEL, 0.5 * np.add(points[k], points[k + 1]))
        kind_of = ("spherical", {}) if k % 2 else ("universal", across)
        model.add_joint(f"joint {k}", kind_of[0], last or model.ground, body, at=points[k], **kind_of[1])
        last = body
    ends = [last.at_world(points[5]), model.ground.at((2.5, 0, 0.4) if kind == "distance" else points[5])]
    options = {key: value for key, value in joint_placement(kind, points[5]).items() if key != "at"}
    model.add_joint("close", kind, *ends, **options)
    rod = model.add_rod("rod", [points[3], np.add(points[3], (0, 0, -0.6))], RUBBER, 2)
    model.add_joint("mast", "weld", model.bodies["body 2"], rod.start)
    return model


def joint_placement(kind, at):
    """Return the position and axes of a joint."""
    if kind == "distance":
        return {}
    options = {"axis": AXIS[kind]} if kind in AXIS else {}
    return {"at": at} | options | JOINT_OPTIONS.get(kind, {})


def net():
    """Rods that cross in nine knots, supported at two corners, with a spring across and loads on three of them."""
    model, knots = Model("net", gravity=GRAVITY), {}
    for i, j in np.ndindex(3, 3):
        for name, di, dj in (("x", 1, 0), ("y", 0, 1)):
            if i + di < 3 and j + dj < 3:
                rod = model.add_rod(f"{name} {i} {j}", [(i, j, 0), (i + di, j + dj, 0)], RUBBER, 2)
                knots.setdefault((i, j), []).append(rod.start)
                knots.setdefault((i + di, j + dj), []).append(rod.end)
    for (i, j), (first, *remaining) in knots.items():
        for k, other in enumerate(remaining):
            model.add_joint(f"knot {i} {j} {k}", "weld", *((first, other) if k % 2 else (other, first)))
    for i, kind in ((0, "spherical"), (2, "revolute")):
        model.add_joint(f"pin {i}", kind, model.ground, knots[i, 2][0], **joint_placement(kind, (i, 2, 0)))
    model.add_spring("across", knots[0, 0][0], knots[2, 1][0], 30.0)
    model.add_interaction(
        "among", Triangle, knots[0, 0][0], knots[1, 0][0], knots[0, 1][0], k=5.0, u=(1.0, 0.0, 0.0)
    )
    return model


def add_hanging_rod(model):
    """The model with a rod on its last body."""
    last = list(model.bodies.values())[-1]
    rod = model.add_rod("rod", [last.position, np.add(last.position, (1, 0, 0))], RUBBER, 2)
    model.add_joint("mast", "weld", last, rod.start)
    return model


def springs_across():
    """Bodies on joints, with springs between some that no joint connects, and one parallel to a joint."""
    model = branched()
    body = list(model.bodies.values())
    for k, (one, other) in enumerate([(0, 7), (3, 6), (2, 5), (1, 4)]):
        model.add_spring(
            f"across {k}", body[one].at((0.1, 0, 0)), body[other].at((0, 0.1, 0)), 40.0, damping=0.1
        )
    return model


LINKED = {"arch": arch, "net": net, "springs across": springs_across}
LINKED |= {
    f"bridge, {kind}": partial(bridge, kind) for kind in JOINTS if kind not in ("clamp", "distance", "weld")
}
LINKED |= {f"closed, {kind}": partial(closed_ring, kind) for kind in JOINTS if kind != "clamp"}
LINKED |= {"loops of bodies beside rods": lambda: add_hanging_rod(looped())}
LINKED |= {f"ring, {kind}": partial(ring, kind) for kind in JOINTS if kind not in ("clamp", "distance")}


@pytest.mark.parametrize("name", LINKED)
def test_links_between_tree_bodies_act_as_with_the_general_solver(name):
    results = [run(LINKED[name](), 20, 2e-3, solver=solver) for solver in ("auto", "general")]
    # gravity changed by one ulp changes forces in loops by 6e-10 of the largest
    same(*(result.state() for result in results), CLOSE | {"lam": 2e-8})
    assert results[0].newton_iterations[-1] <= 3.0


@pytest.mark.parametrize("name", ["arch", "net", "springs across", "ring, revolute", "closed, prismatic"])
def test_linked_tree_bodies_keep_their_invariants(name):
    audit_report = audit(run(LINKED[name](), 300, 2e-3, output_every=50))
    assert audit_report.ok, audit_report.text()


def fans():
    """Chains from one body to the ground, all closed by joints, and a rod on it."""
    model = Model("fans", gravity=GRAVITY)
    hub = model.add_body("hub", WHEEL, (0, 0, 0))
    for k in range(12):
        direction, last = np.array([np.cos(0.5 * k), np.sin(0.5 * k), 0.1 * (k % 3)]), hub
        points = [j * direction + (0.0, 0.0, 0.3 * (j % 2)) for j in range(4)]
        for j in range(3):
            bar = model.add_body(f"bar {k} {j}", WHEEL, 0.5 * (points[j] + points[j + 1]))
            model.add_joint(f"joint {k} {j}", "spherical", last, bar, at=points[j])
            last = bar
        model.add_joint(f"foot {k}", "spherical", model.ground, last, at=points[3])
    rod = model.add_rod("rod", [(0, 0, 0.1), (0, 0, 1)], RUBBER, 2)
    model.add_joint("mast", "weld", hub, rod.start)
    return model


def test_many_joint_loops_with_rods_use_the_general_solver():
    assert "solver" not in simulate(fans(), 4e-3, 2e-3, progress=False).description["run"]
