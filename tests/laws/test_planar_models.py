"""Models that are symmetric about a plane: the step with three unknowns a frame is that of `em`, and the rest is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.known_facts import digest_of
from discretization.multipliers import multipliers_of
from discretization.planar.arrays import COINCIDENT, DISTANCE
from discretization.planar.mirror import directions_of_frames
from discretization.planar.nets import net_of
from discretization.planar.order import MANY, order_of, trees_of
from discretization.planar.plane import plane_of
from discretization.planar.stepper import PlanarStepper, planar_of
from discretization.planar.symmetry import Symmetry
from discretization.state_measures import constraint_residual
from discretization.time.advance import GENERAL
from discretization.time.stepper import Stepper
from rigid import quaternions
from rigid.joints import JOINTS
from rodsim import Box, ConvergenceError, MassProperties, Model, Result, Section, audit, signals, simulate
from rodsim.results.going_on import GoingOn

TURN = quaternions.normalize(np.array([0.8, 0.3, -0.2, 0.45]))
SHIFT = np.array([0.3, -0.2, 0.5])


def world(x, y, z=0.0):
    """A vector of the plane, z along its normal, as the model has it."""
    return quaternions.rotate(TURN, np.array([x, y, z], float))


def section(D=0.0, mixed=0.0):
    """With a matrix that couples stretch, shear and bending in the plane, and twist and the rest out of it."""
    full = np.diag([3e3, 1e3, 9e2, 5.0, 8.0, 6.0])
    inside, outside = [0, 1, 5], [2, 3, 4]  # d3 is along the normal
    full[np.ix_(inside, inside)] += np.array([[0, 50, 9], [50, 0, -7], [9, -7, 0]])
    full[np.ix_(outside, outside)] += np.array([[0, 6, 3], [6, 0, 1], [3, 1, 0]])
    full[3, 5] = full[5, 3] = mixed
    return Section.from_stiffness(
        C=full, D=D * full, mass_per_length=1.3, inertia_per_length=(0.02, 0.012, 0.008)
    )


def body(model, name, x, y, turn=0.3, **motion):
    """Of no symmetry but that about the plane; its axes stand at no right angle to it."""
    own = quaternions.normalize(np.array([0.7, 0.4, 0.3, -0.5]))
    J = quaternions.to_matrix(quaternions.conjugate(own))
    inertia = J @ np.array([[0.3, 0.05, 0], [0.05, 0.4, 0], [0, 0, 0.6]]) @ J.T
    center = quaternions.rotate(quaternions.conjugate(own), np.array([0.05, -0.1, 0.0]))
    about = quaternions.from_rotation_vector(world(0, 0, turn))
    quat = quaternions.multiply(about, quaternions.multiply(TURN, own))
    return model.add_body(name, MassProperties(1.7, inertia, center), SHIFT + world(x, y), quat, **motion)


def spun(kind="", rate=1.0):
    """Two bodies in flight, joined."""
    model = Model(kind or "spun", gravity=world(3, -9))
    spins = rate * world(0, 0, 1)
    a = body(model, "a", 0.2, 0.1, angular_velocity=spins, velocity=world(0.3, 0.2))
    b = body(model, "b", 0.9, 0.4, 1.1)
    return model, a, b


def three(z=0.0):
    """The same, and two more beside them, one off the plane by z."""
    model, a, b = spun()
    body(model, "c", 0.5, 1.0)
    body(model, "d", -0.5, 0.2).position[:] += world(0, 0, z)
    return model, a, b


TOLD = {
    "universal": {"axis": world(0, 0, 1), "second_axis": world(0.6, 0.8)},
    "revolute": {"axis": world(0, 0, 1)},
    "planar": {"axis": world(0, 0, 1)},
    "point_on_plane": {"axis": world(0.6, 0.8)},
    "generic": {"locked": ("x", "rx", "ry", "rz")},
}
TOLD |= {kind: {"axis": world(0.6, 0.8)} for kind in ("prismatic", "cylindrical", "point_on_line")}
IN_SPACE = {"screw": "screw", "constant_velocity": "crossed"}
MORE = {"screw": {"axis": world(0, 0, 1), "pitch": 0.3}}
MORE["constant_velocity"] = {"axis": world(1, 0), "second_axis": world(0.6, 0.8)}


def joined(kind):
    """Two bodies with this joint, or a body and the ground."""
    model, a, b = spun(kind)
    told, at = TOLD.get(kind, {}) | MORE.get(kind, {}), SHIFT + world(0.5, 0.3)
    if kind == "clamp":
        model.add_joint("hinge", "revolute", a, b, at=at, axis=world(0, 0, 1))
        model.add_joint("joint", kind, a, at=at)
    elif kind == "distance":
        model.add_joint("joint", kind, a.at_world(at), b.at_world(SHIFT + world(0.8, 0.5)))
    elif kind == "generic":  # locked axes are those of a, which stand askew: of a body that stands straight
        model = Model(kind, gravity=world(3, -9))
        straight = quaternions.multiply(TURN, quaternions.from_rotation_vector([0, 0, 0.4]))
        a = model.add_body(
            "a", Box(1, 0.3, 0.2, density=20), SHIFT, straight, angular_velocity=world(0, 0, 1)
        )
        b = body(model, "b", 0.9, 0.4, 1.1)
        model.add_joint("joint", kind, a, b, at=at, **told)
    else:
        model.add_joint("joint", kind, a, b, at=at, **told)
    return model


def rod(D=0.0, mass="mean", element="se3", n=6):
    """A bent rod with a body at its end, clamped; loads of all sorts in the plane."""
    model = Model("rod", gravity=world(1, -5))
    curve = [SHIFT + world(np.sin(s), 1 - np.cos(s)) for s in np.linspace(0, 1, 9)]
    own = model.add_rod("rod", curve, section(D), n, up=world(0, 0, 1), mass=mass, element=element)
    model.add_joint("clamp", "clamp", own.start)
    tip = body(model, "tip", 0.9, 0.5)
    model.add_joint("weld", "weld", own.end, tip)
    model.add_force("push", own.at(0.5), signals.Sine(30.0, 0.7).along(world(0.3, 1)))
    model.add_moment("turn", own.end, world(0, 0, 2.0))
    model.add_distributed_load("wind", own, world(0, 4))
    return model


def followed():
    """A hinged rod that hangs between bodies, a force and a moment that follow."""
    model = Model("followed", gravity=world(1, -5))
    own = model.add_rod("rod", [SHIFT, SHIFT + world(1, 0.3)], section(1e-3), 4, up=world(0, 0, 1))
    model.add_joint("pin", "revolute", model.ground, own.start, at=SHIFT, axis=world(0, 0, 1))
    a, b = body(model, "a", 1.4, 0.2), body(model, "b", 1.2, 0.8)
    model.add_joint("hinge", "spherical", own.end, a, at=SHIFT + world(1, 0.3))
    model.add_joint("branch", "revolute", own.end, b, at=SHIFT + world(1, 0.3), axis=world(0, 0, 1))
    model.add_force("follower", own.at(0.5), (0.5, 9.0, 0.0), following=True)
    straight = quaternions.rotate(quaternions.conjugate(b.orientation), world(0, 0, 3.0))
    model.add_moment("spin", b.at((0, 0, 0)), straight, following=True)
    return model


def hung(model, joints, kind="revolute"):
    """Bodies hung on the ground and on each other at places of the plane; kind: of all but the first joint."""
    for k, (a, b, x, y) in enumerate(joints):
        about = {"axis": world(0, 0, 1)} if kind == "revolute" or not k else {}
        model.add_joint(f"joint {k}", kind if k else "revolute", a, b, at=SHIFT + world(x, y), **about)
    return model


def four_bars(kind="revolute"):
    """Between the ground and each other; of revolutes, which repeat each other in space."""
    model = Model("four bars", gravity=world(3, -9))
    a, b, c = (body(model, name, *at) for name, at in (("a", (0, 0.5)), ("b", (0.6, 1)), ("c", (1.4, 0.5))))
    ground = model.ground
    return hung(model, [(ground, a, 0, 0), (a, b, 0.1, 1), (b, c, 1.2, 1.1), (ground, c, 1.4, 0)], kind)


def two_loops():
    """Two four-bars that share a bar, and one body that hangs in neither."""
    model = four_bars("spherical")
    _, b, c = model.bodies.values()
    d, e = body(model, "d", 2, 1), body(model, "e", 2.5, 0.5)
    model.add_joint("more 0", "spherical", c, d, at=SHIFT + world(1.5, 0.9))
    model.add_joint("more 1", "spherical", d, e, at=SHIFT + world(2.4, 1.1))
    model.add_joint("more 2", "spherical", model.ground, e, at=SHIFT + world(2.5, 0.1))
    model.add_joint("more 3", "spherical", b, body(model, "f", 1, 2), at=SHIFT + world(0.9, 1.4))
    model.add_force("push", d.at((0, 0, 0)), world(5, 2))
    return model


def slider_crank():
    """The slider has rows to the ground, which are taken before hinges."""
    model = Model("slider", gravity=world(3, -9))
    crank, arm, slider = (
        body(model, name, *at)
        for name, at in (("crank", (0, 0.2)), ("arm", (0.5, 0.3)), ("slider", (1.1, 0)))
    )
    joints = [(model.ground, crank, 0, 0), (crank, arm, 0.1, 0.4), (arm, slider, 1.1, 0.1)]
    hung(model, joints, "spherical")
    model.add_joint("guide", "prismatic", model.ground, slider, at=SHIFT + world(1.1, 0), axis=world(1, 0.2))
    return model


def rod_in_a_loop():
    """Two bars on the ground, a bent rod of hinges between them; a second rod lies in a ring of bodies of its own."""
    model = Model("rods", gravity=world(2, -6))
    a, b = body(model, "a", 0, 0.4), body(model, "b", 1, 0.4)
    curve = [SHIFT + world(x, 1 + 0.3 * x * (1 - x)) for x in np.linspace(0, 1, 7)]
    own = model.add_rod("rod", curve, section(1e-3), 5, up=world(0, 0, 1))
    hung(model, [(model.ground, a, 0, 0), (model.ground, b, 1.1, 0), (a, own.start, 0, 1)], "spherical")
    model.add_joint("last", "revolute", own.end, b, at=SHIFT + world(1, 1), axis=world(0, 0, 1))
    ring = [body(model, name, *at) for name, at in (("c", (3, 0)), ("d", (4, 0.5)), ("e", (3, 1)))]
    model.add_joint("ring 0", "weld", ring[0], ring[1], at=SHIFT + world(3.5, 0.2))
    more = model.add_rod(
        "more", [SHIFT + world(3, 1.2), SHIFT + world(4, 0.8)], section(), 3, up=world(0, 0, 1)
    )
    model.add_joint("ring 1", "spherical", ring[1], more.end, at=SHIFT + world(4, 0.8))
    model.add_joint("ring 2", "weld", more.start, ring[2], at=SHIFT + world(3, 1.2))
    model.add_joint("ring 3", "spherical", ring[2], ring[0], at=SHIFT + world(3.1, 0.4))
    return model


def sprung(damping=0.0, rod=False):
    """Springs between neighbours, beside the tree, to the ground, with points off the centres; torsion springs of all sorts."""
    model = Model("sprung", gravity=world(3, -9))
    ground, bodies = (
        model.ground,
        [body(model, name, *at) for name, at in (("a", (0, 0.5)), ("b", (1, 1)), ("c", (2, 0.5)))],
    )
    a, b, c = bodies
    hung(model, [(ground, a, 0, 0), (a, b, 0.4, 0.9), (b, c, 1.6, 0.9)], "spherical")
    d = body(model, "d", 3, 1, velocity=world(-0.5, 0.3), angular_velocity=world(0, 0, 2))
    told = {"stiffness": 30.0, "damping": damping}
    for k, (one, two, p, q) in enumerate(
        [
            (a, b, (0.1, 0.6), (1.1, 1.2)),
            (a, c, (0.2, 0.4), (2.1, 0.3)),
            (ground, b, (1, 3), (0.8, 1.1)),
            (d, ground, (3.1, 1.2), (4, 1)),
            (c, d, (2, 0.6), (2.8, 1)),
        ]
    ):
        points = [
            side.at(SHIFT + world(*x)) if side is ground else side.at_world(SHIFT + world(*x))
            for side, x in ((one, p), (two, q))
        ]
        model.add_spring(f"spring {k}", *points, length=0.0 if k == 1 else 0.4, **told)
    turning = {"along": "rotation", "axis": world(0, 0, 1), "stiffness": 4.0, "damping": 0.1 * damping}
    model.add_spring("base", ground, a, angle=0.2, **turning)
    model.add_spring("elbow", b, a, angle=-0.3, **turning)
    model.add_spring("far", c, d, **(turning | {"axis": world(0, 0, -1)}))
    if rod:
        own = model.add_rod(
            "rod", [SHIFT + world(0, -1), SHIFT + world(1, -1.2)], section(), 4, up=world(0, 0, 1)
        )
        model.add_spring("cord", own.at(0.5), b.at_world(SHIFT + world(1, 0.8)), length=0.5, **told)
        model.add_spring("end", own.end, ground, **turning)
        model.add_joint("loop", "spherical", ground, c, at=SHIFT + world(2.2, 0.2))
    return model


def steppers(model, h=0.01, order=2):
    built = model.build()
    planar = planar_of(built.system, Symmetry(built.state, built.load_directions))
    assert not isinstance(planar, str), planar
    given = {"drive_values": built.drive_values}
    plane = PlanarStepper(built.system, planar, h, order, built.load_values, **given)
    return built, plane, Stepper(built.system, h, order, built.load_values, **given)


MODELS = {
    **{kind: (lambda kind=kind: joined(kind)) for kind in JOINTS if kind not in IN_SPACE},
    "free": lambda: spun()[0],
    "rod": rod,
    "consistent damped rod": lambda: rod(2e-3, "consistent"),
    "lumped rod": lambda: rod(0.0, "lumped"),
    "rod of eight": lambda: rod(n=8),
    "damped rod of nine": lambda: rod(2e-3, "consistent", n=9),
    "followed": followed,
}


def point_in_a_loop():
    """A mass that is a point hangs between two bodies of a four-bar."""
    model = four_bars("spherical")
    a, _, c = model.bodies.values()
    point = model.add_body("point", MassProperties(0.8, (0, 0, 0)), SHIFT + world(0.7, -0.4))
    model.add_joint("string 0", "distance", point.at((0, 0, 0)), a.at_world(SHIFT + world(0.1, 0.3)))
    model.add_joint("string 1", "distance", point.at((0, 0, 0)), c.at_world(SHIFT + world(1.3, 0.3)))
    return model


LOOPS = {
    "a point in a loop": point_in_a_loop,
    "four bars": lambda: four_bars("spherical"),
    "four bars on revolutes": four_bars,
    "two loops": two_loops,
    "slider and crank": slider_crank,
    "rods in loops": rod_in_a_loop,
}


def net(kind, D=0.0, mass="mean", spring=False, sliding=False):
    """Four fields of bent rods, joined at their nodes and held on the left; bodies in two nodes, a rod on a guide, and one field
    with braces that are hinged where they cross.

    sliding: rods slide on the bodies and hang on them by bars without mass.
    """
    model = Model("net", gravity=world(2, -6))
    nodes = [(x, y) for x in range(3) for y in range(3)]
    pairs = [(a, b) for a in nodes for b in nodes if b in ((a[0] + 1, a[1]), (a[0] or -1, a[1] + 1))]
    pairs += [((1, 1), (2, 2)), ((1, 2), (2, 1))]
    ends = {}
    for a, b in pairs:
        middle = 0.5 * (np.array(a) + b) + np.array((0.05, 0.08)) * (0 in np.subtract(b, a))
        curve = [SHIFT + world(*x) for x in (a, middle, b)]
        own = model.add_rod(
            f"rod {a} {b}", curve, section(D), 2 + (a == (1, 0)), up=world(0, 0, 1), mass=mass
        )
        for node, end in ((a, own.start), (b, own.end)):
            ends.setdefault(node, []).append(end)
    for node in ((1, 1), (2, 0)):
        k = node[1]
        at = SHIFT + world(*node)
        lump = body(model, f"lump {k}", node[0] + 0.05, node[1] + 0.1)
        ends[node].insert(0 if sliding else k, lump)
        model.add_force(f"push {k}", lump.at_world(at), world(4 - 6 * k, 3))
    for node, own in ends.items():
        at = SHIFT + world(*node)
        if node == (0, 0):
            model.add_joint("clamp", "clamp", own[0], at=at)
        if node == (0, 1):
            model.add_joint("pin", "spherical", model.ground, own[0], at=at)
        for k, end in enumerate(own[1:]):
            parts = (own[0], end) if k % 2 else (end, own[0])
            if sliding and own[0] in model.bodies.values():
                at_bar = own[0].at_world(at + world(0.3 - 0.2 * k, 0.4)), end
                slide = {
                    "kind": "prismatic",
                    "a": parts[0],
                    "b": parts[1],
                    "at": at,
                    "axis": world(0.6, 0.3 + k),
                }
                bar = {"kind": "distance", "a": at_bar[k % 2], "b": at_bar[1 - k % 2]}
                for told in (slide, bar) if k else (bar, slide):
                    model.add_joint(f"{told['kind']} {node} {k}", **told)
            else:
                model.add_joint(f"node {node} {k}", kind, *parts, at=at)
    braces = (own.at(0.5) for own in list(model.rods.values())[-2:])
    model.add_joint("crossing", "spherical", *braces, at=SHIFT + world(1.5, 1.5))
    guide = {"at": SHIFT + world(2, 1), "axis": world(0.3, 1)}
    model.add_joint("guide", "point_on_line", model.ground, ends[2, 1][0], **guide)
    if spring:
        model.add_spring("cord", ends[0, 0][0], ends[2, 1][0], stiffness=40.0, damping=0.5, length=1.0)
    return model


def ring():
    """A closed rod, hinged to a body inside at two of its frames and, at every second one, to another closed rod upon it."""
    model = Model("ring", gravity=world(1, -4))
    turns = np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False)
    curve = [SHIFT + world(np.cos(t), 0.8 * np.sin(t)) for t in turns]
    own = model.add_rod("rim", curve, section(), 10, up=world(0, 0, 1), closed=True)
    tyre = model.add_rod("tyre", curve, section(), 10, up=world(0, 0, 1), closed=True)
    for k in range(1, 10, 2):
        model.add_joint(f"rivet {k}", "spherical", own.at(k / 10), tyre.at(k / 10))
    spoke = body(model, "spoke", 0.5, 0)
    model.add_joint("pin", "spherical", own.start, spoke, at=SHIFT + world(1, 0))
    model.add_joint("far", "spherical", spoke, own.at(0.5), at=SHIFT + world(-1, 0))
    return model


def driven_crank(first="ground"):
    """A slider crank whose crank is turned, a force on its slider; first: which part the crank's hinge names first."""
    model = slider_crank()
    crank = model.bodies["crank"]
    parts = (model.ground, crank) if first == "ground" else (crank, model.ground)
    at = {"at": SHIFT, "axis": world(0, 0, 1)}
    model.joints.pop("joint 0")
    model.add_joint("motor", "revolute", *parts, **at)
    model.add_drive("speed", "motor", signals.Sine(1.5, 0.8))
    model.add_force("load", model.bodies["slider"].at((0, 0, 0)), world(5, 2))
    return model


def driven_slider():
    """A body moved to and fro on another one that falls, a bent rod on it."""
    model = spun()[0]
    a, b = model.bodies.values()
    rail = {"at": SHIFT + world(0.4, 0.3), "axis": world(0.6, 0.8)}
    model.add_joint("rail", "prismatic", b, a, **rail)
    model.add_drive("stroke", "rail", signals.Sine(0.2, 1.1))
    curve = [SHIFT + world(x, 0.5 + 0.2 * x * x) for x in np.linspace(0, 0.6, 5)]
    own = model.add_rod("rod", curve, section(1e-3), 3, up=world(0, 0, 1))
    model.add_joint("weld", "weld", a, own.start)
    model.add_joint(
        "wrist", "revolute", own.end, body(model, "c", 0.7, 0.7), at=curve[-1], axis=world(0, 0, 1)
    )
    model.add_drive("twist", "wrist", signals.Sine(0.7, 0.9))
    model.add_force("push", own.at(0.5), signals.Sine(2.0, 0.6).along(world(1, 2)))
    model.add_spring("coil", model.ground, b, 3.0, along="rotation", axis=world(0, 0, 1))
    return model


DRIVEN = {
    "driven crank": driven_crank,
    "driven crank from the other side": lambda: driven_crank("crank"),
    "driven slider": driven_slider,
}
NETS = {
    "welded net": lambda: net("weld"),
    "hinged net": lambda: net("spherical"),
    "damped net": lambda: net("weld", 1e-3, "consistent"),
    "net and a spring": lambda: net("weld", spring=True),
    "sliding net": lambda: net("weld", sliding=True),
    "ring": ring,
}
SPRUNG = {
    "springs": sprung,
    "springs and dampers": lambda: sprung(2.0),
    "springs, a loop and a rod": lambda: sprung(2.0, rod=True),
}
MODELS |= LOOPS | NETS | DRIVEN | SPRUNG


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize("name", MODELS)
def test_the_motion_is_that_in_space(name):
    built, plane, space = steppers(MODELS[name]())
    ends = [own.advance(own.start(built.state), 0, 100)[0] for own in (plane, space)]
    moved = np.abs(ends[1].r - built.state.r).max()
    assert moved > 0.05 or name == "clamp"
    for field, close in (
        ("r", 1e-13),
        ("quat", 1e-13),
        ("v", 1e-11),
        ("Omega", 1e-11),
        ("totals", 1e-12),
        ("own", 1e-12),
    ):
        a, b = (getattr(end, field) for end in ends)
        assert np.abs(a - b).max(initial=0.0) < close * max(1.0, np.abs(b).max(initial=0.0)), field
    # impulses by the step: places are rounded, and multipliers are their second differences
    known = ~np.repeat(multipliers_of(built.system).repeats, multipliers_of(built.system).rows)
    lam = [end.lam[known] for end in ends]
    assert np.abs(lam[0] - lam[1]).max(initial=0.0) < 1e-8 * max(1.0, np.abs(lam[1]).max(initial=0.0))
    assert np.abs(constraint_residual(built.system, ends[0])).max(initial=0.0) < 1e-14


def test_newton_converges_quadratically_under_forces_that_follow():
    model = followed()
    model.loads["follower"].value[:] *= 40.0
    built, plane, _ = steppers(model, h=0.02)
    report = plane.advance(plane.start(built.state), 0, 20)[1]
    assert report.iterations < 3.5 * report.solves  # 3; with a wrong sign in the tangent 4


def test_newton_converges_quadratically_with_stiff_springs():
    model = sprung(2.0)
    for each in (*model.springs.values(), *model.torsions.values()):
        object.__setattr__(each, "stiffness", 20.0 * each.stiffness)
    built, plane, _ = steppers(model, h=0.02)
    report = plane.advance(plane.start(built.state), 0, 20)[1]
    assert report.iterations < 3.3 * report.solves  # 2.95; with one wrong entry of the tangent 4.9 or more


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda: net("weld", spring=True), 3.2),
        (lambda: rod(2e-3, "consistent", n=9), 3.2),
        (ring, 1.2),
        (driven_crank, 4.4),
        (driven_slider, 4.75),
    ],
)
def test_newton_converges_quadratically(make, most):
    """As often as here, and not once a step more, as where a sign of an elimination or of a tangent is wrong."""
    built, plane, _ = steppers(make(), h=0.05)
    report = plane.advance(plane.start(built.state), 0, 20)[1]
    assert report.iterations < most * report.solves


@pytest.mark.parametrize("kind", IN_SPACE)
def test_joints_without_a_plane_form_are_taken_in_space(kind):
    built = joined(kind).build()
    assert IN_SPACE[kind] in plane_of(built.system, Symmetry(built.state, built.load_directions))


def asymmetric():
    """Models that differ from planar ones by one thing, with what is said of it."""
    model, a, b = spun()
    a.velocity[:] += world(0, 0, 1e-6)
    yield model, "a velocity leaves the plane"
    model, a, b = spun()
    a.angular_velocity[:] += world(0, 1e-6)
    yield model, "an angular velocity is not about the normal"
    model, a, b = three()
    model.gravity[:] += world(0, 0, 1e-6)
    yield model, "gravity is not in the plane"
    model, a, b = spun()
    model.add_body(
        "plate", MassProperties(1.0, [[1, 0, 1e-5], [0, 1, 0], [1e-5, 0, 1.5]]), SHIFT + world(2, 1), TURN
    )
    yield model, "no principal axis of inertia"
    yield three(z=1e-6)[0], "do not lie in one plane"
    model, a, b = spun()
    model.add_force("aside", a.at((0, 0, 0)), world(1, 0, 1e-6))
    yield model, "a load leaves the plane"
    model, a, b = spun()
    model.add_force("lever", a.at_world(SHIFT + world(0.3, 0, 1e-6)), world(1, 0))
    yield model, "a load does not act in the plane"
    model, a, b = spun()
    model.add_moment("torque", a.at((0, 0, 0)), world(1, 0))
    yield model, "a load leaves the plane"
    model, a, b = spun()
    model.add_force("free", a.at((0, 0, 0)), lambda t: world(t, 0))
    yield model, "direction is not known"
    model, a, b = spun()
    model.add_joint("hinge", "revolute", a, b, at=SHIFT + world(0.5, 0.3), axis=world(0, 1e-6, 1))
    yield model, "neither in the plane nor along"
    model, a, b = spun()
    model.add_joint("hinge", "revolute", a, b, at=SHIFT + world(0.5, 0.3, 1e-6), axis=world(0, 0, 1))
    yield model, "a joint does not lie in the plane"
    for number, model in enumerate((Model("twist"), Model("shape"))):
        curve = [SHIFT, SHIFT + world(0.5, 0.2), SHIFT + world(1, 0)]
        bent = {"rest_strains": (0, 0, 0, 0.1, 0, 0)} if number else {}
        model.add_rod("rod", curve, section(mixed=0.0 if number else 0.1), 4, up=world(0, 0, 1), **bent)
        yield model, ("stiffness of a section couples", "stress-free shape of a rod leaves")[number]
    model = Model("damped")
    own = Section.from_stiffness(
        EA=1, GA=1, GJ=1, EI=1, mass_per_length=1, inertia_per_length=1, D=section(1, 1).stiffness
    )
    model.add_rod("rod", [SHIFT, SHIFT + world(0.5, 0.2), SHIFT + world(1, 0)], own, 4, up=world(0, 0, 1))
    yield model, "damping of a section couples"
    model, a, b = spun()
    model.add_spring("cord", a.at((0, 0, 0)), b.at_world(SHIFT + world(1, 0.3, 1e-6)), stiffness=3.0)
    yield model, "a spring does not lie in the plane"
    for axis in (world(1, 0), world(0, 1e-6, 1)):
        model, a, b = spun()
        model.add_spring("coil", a, b, 3.0, along="rotation", axis=axis)
        yield model, "a torsion spring does not turn in the plane"
    model, a, b = spun()
    model.add_bushing("mount", a.at((0, 0, 0)), b, 3.0 * np.eye(6))
    yield model, "bushings act"
    model = rod(element="relative(2)")
    yield model, "other elements"
    model = joined("cylindrical")
    model.add_drive("twist", "joint", signals.Sine(0.5, 1.0), of="angle")
    yield model, "out of the plane"
    model = Model("loop")
    corners = [body(model, name, *at) for name, at in (("a", (0, 0)), ("b", (1, 0)), ("c", (0.5, 1)))]
    for k, x in enumerate((0.4, 0.7, 0.2)):
        guide = {"at": SHIFT + world(x, 0.2 + 0.3 * k), "axis": world(x, 1)}
        model.add_joint(f"guide {k}", "prismatic", corners[k], corners[k - 1], **guide)
    yield model, "close a loop"
    model = Model("three parallel rockers, of which two would do")
    beam = body(model, "beam", 1, 1)
    for x in range(3):
        rocker = body(model, f"rocker {x}", x, 0.5)
        model.add_joint(f"low {x}", "spherical", model.ground, rocker, at=SHIFT + world(x, 0))
        model.add_joint(f"high {x}", "spherical", rocker, beam, at=SHIFT + world(x, 1))
    yield model, "repeat each other"


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize(("model", "reason"), [pytest.param(*each, id=each[1]) for each in asymmetric()])
def test_what_is_not_symmetric_is_taken_in_space_and_why_is_said(model, reason):
    built = model.build()
    found = planar_of(built.system, Symmetry(built.state, built.load_directions))
    assert isinstance(found, str)
    assert reason in found


def test_all_sorts_of_axes_in_space_are_taken_as_they_are():
    """A plane across an axis of space has no digits that round."""
    model = Model("straight", gravity=(0, 0, -9.81))
    model.add_body("bar", Box(1, 0.1, 0.1, density=10), (0.5, 0, 0), angular_velocity=(0, 2, 0))
    built = model.build()
    plane = plane_of(built.system, Symmetry(built.state, built.load_directions))
    np.testing.assert_array_equal(np.abs(plane.basis), [[1, 0, 0], [0, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("along", range(3))
@pytest.mark.parametrize("across", [1, 2])
def test_an_axis_of_space_is_found_as_by_singular_vectors(along, across, monkeypatch):
    """Of a bar along one axis that falls along another one, or a little aside; the plane has no digits that round."""
    axes, last = np.eye(3), (along + across) % 3
    for aside in (0.0, 1e-3, -1e-9, 1e-13):
        model = Model("bar", gravity=(-9.81 * axes[last] + aside * axes[along]).tolist())
        bar = model.add_body("bar", Box(1, 1, 1, density=10), tuple(0.5 * axes[along]))
        other = model.add_body("other", Box(1, 1, 1, density=10), tuple(1.5 * axes[along]))
        model.add_joint("pin", "spherical", bar, other, at=tuple(axes[along]))
        built = model.build()
        asked = built.system, Symmetry(built.state, built.load_directions)
        found = plane_of(*asked)
        with monkeypatch.context() as patched:
            patched.setattr("discretization.planar.plane._axis_across", lambda *_: None)
            assert digest_of(found) == digest_of(plane_of(*asked))
        assert np.array_equal(np.abs(found.normal), axes[3 - along - last])


def test_directions_of_frames_are_found_as_by_quaternions_to_the_bit():
    """Three of a rod, and others turned in all ways; each quaternion is p o the turn between both sets of directions."""
    rng = np.random.default_rng(4)
    quat = quaternions.normalize(rng.standard_normal((9, 4)))
    quat[:4] = np.eye(4)  # and half turns about the axes
    turns = quaternions.to_matrix(quaternions.normalize(rng.standard_normal((40, 4))))
    for basis in (np.eye(3), np.eye(3)[[1, 2, 0]], *turns):
        frame, pairs = rng.permutation(9), np.array([[4, 5], [5, 6]])
        across, half = np.empty((9, 3, 3)), np.empty((9, 8))
        directions_of_frames(quat, basis, pairs, np.empty((9, 3)), frame, across, half)
        normals = quaternions.rotate(quaternions.conjugate(quat), basis[2])
        normals = np.where(np.abs(normals) < 1e-14, 0.0, normals)
        normals = (normals / np.linalg.norm(normals, axis=1, keepdims=True))[[0, 1, 2, 3, 4, 4, 4, 7, 8]][
            frame
        ]
        first = np.where(np.abs(normals[:, :1]) > 0.9, np.eye(3)[1], np.eye(3)[0])
        first = first - np.sum(first * normals, axis=1)[:, None] * normals
        first = first / np.linalg.norm(first, axis=1, keepdims=True)
        expected = np.stack([first, np.cross(normals, first), normals], axis=1)
        assert np.array_equal(across, expected)
        base = quaternions.from_matrix(np.einsum("ai,naj->nij", basis, across))
        base = quaternions.normalize(base)
        turned = quaternions.multiply(np.append(0.0, basis[2]), base)
        assert np.array_equal(half, np.concatenate([base, turned], axis=1))


def straight(rod=False):
    """Three bars in a line, held at one end, in the plane of two axes: numbers of the plane are those in space; and a rod."""
    model = Model("straight", gravity=(0, 0, -9.81))
    last = model.ground.at((0, 0, 0))
    for k in range(3):
        bar = model.add_body(f"bar {k}", Box(1, 0.1, 0.1, density=1000), (k + 0.5, 0, 0))
        model.add_joint(f"joint {k}", "revolute", last, bar.at((-0.5, 0, 0)), axis=(0, 1, 0))
        last = bar.at((0.5, 0, 0))
    if rod:
        plain = Section.from_stiffness(
            C=np.diag([3e3, 1e3, 9e2, 5, 8, 6]), mass_per_length=1.3, inertia_per_length=(0.02, 0.01, 0.01)
        )
        own = model.add_rod("rod", [(3, 0, 0), (4, 0, 0)], plain, 2)
        model.add_joint("weld", "weld", own.start, bar)
    return model


@pytest.mark.parametrize(
    ("make", "order"),
    [
        (followed, 2),
        (lambda: joined("revolute"), 2),
        (straight, 2),
        (lambda: joined("revolute"), 4),
        (straight, 4),
        (rod, 4),
        (lambda: straight(rod=True), 2),
        (lambda: joined("revolute"), 6),
    ],
)
def test_runs_go_on_to_the_bit_and_keep_the_order(make, order):
    """Also where they are divided in the middle, and by halves of steps that fail."""
    model = make()
    built, plane, space = steppers(model, order=order)
    assert plane.tables.aligned == (model.name == "straight")
    state = plane.start(built.state)
    before = [array.copy() for array in state]
    whole, _ = plane.advance(state, 0, 12)
    part, _ = plane.advance(plane.advance(state, 0, 5)[0], 5, 7)
    kept, _ = plane.record(state, 0, 4, 3)
    assert all(np.array_equal(a, b) for a, b in zip(state, before, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(whole, part, strict=True))
    assert all(np.array_equal(a, b[-1]) for a, b in zip(whole, kept, strict=True))
    other, _ = space.advance(space.start(built.state), 0, 12)
    assert np.abs(whole.r - other.r).max() < 1e-13


def test_a_parallelogram_passes_its_dead_points():
    """Where all bars are in one line the hinges do not hold each other independently."""
    model = Model("parallelogram", gravity=world(0, -9))
    turn = {"angular_velocity": world(0, 0, -4)}
    own = {"shape": MassProperties(1.0, (0.06, 0.07, 0.1)), "orientation": TURN}
    a, c = (
        model.add_body(name, position=SHIFT + world(x, 0.5), velocity=world(2, 0), **own, **turn)
        for name, x in (("a", 0), ("c", 1))
    )
    b = model.add_body("b", position=SHIFT + world(0.5, 1), velocity=world(4, 0), **own)
    hung(model, [(model.ground, a, 0, 0), (a, b, 0, 1), (b, c, 1, 1), (model.ground, c, 1, 0)], "spherical")
    runs = [simulate(model, 3.0, 0.01, solver=own, progress=False) for own in ("auto", "general")]
    assert [run.description["run"].get("solver", GENERAL) for run in runs] == ["planar", GENERAL]
    assert np.ptp(runs[0].body("a").r @ world(1, 0)) > 0.9  # all the way round
    assert np.abs(runs[0].body("b").r - runs[1].body("b").r).max() < 1e-11
    energy = runs[0].energy["total"]
    assert np.abs(energy - energy[0]).max() < 1e-12 * runs[0].energy["kinetic"].max()


def test_loops_are_cut_so_that_trees_are_short():
    """Rockers on the ground, 1 to 33, each hinged to the next one by a bar: no tree is of more than a rocker and its bar."""
    loops = 32
    rockers = np.arange(loops + 1) + 1
    bars = rockers[:-1] + loops + 1
    joints = [
        np.stack([0 * rockers, rockers], 1),
        np.stack([rockers[:-1], bars], 1),
        np.stack([bars, rockers[1:]], 1),
    ]
    sort = np.full(3 * loops + 1, COINCIDENT)
    order = order_of(2 * loops + 2, np.zeros((0, 2), np.int64), np.concatenate(joints), sort)
    assert len(order.closing) == loops
    assert trees_of(order, np.array([[0, 1]])).max() == 2 * loops + 1
    sizes = np.diff(trees_of(order, np.arange(2 * loops + 1)[:, None])[:-1, 0])
    assert sizes.max() == 2


def graph(seed):
    """Chains of elements and joints of all sorts of rows between their frames: arguments of `order_of`."""
    own = np.random.default_rng(seed)
    n = int(own.integers(6, 20))
    frames = np.arange(1, n)
    elements = np.stack([frames[:-1], frames[1:]], 1)[own.random(n - 2) < 0.6]
    joints = np.array([own.choice(n, 2, replace=False) for _ in range(own.integers(2, n))])
    joints = np.unique(np.sort(joints, axis=1), axis=0)
    return n, elements, joints, own.choice([COINCIDENT, COINCIDENT, DISTANCE], len(joints))


def of_graphs(find):
    """Orders of three hundred of them, those that are found."""
    found = [(graph(seed), find(*graph(seed))) for seed in range(300)]
    taken = [(given, order) for given, order in found if not isinstance(order, str)]
    assert len(taken) > 50
    return taken


@pytest.mark.parametrize("find", [order_of, net_of])
def test_trees_follow_one_another(find):
    """So that each is solved by itself: none stands in the midst of another one, and parents come behind."""
    for _, order in of_graphs(find):
        k = len(order.frame)
        assert sorted(order.frame) == list(range(1, k + 1))
        assert (order.parent > np.arange(k)).all()
        root = np.arange(k + 1)
        for s in range(k - 1, -1, -1):
            root[s] = root[order.parent[s]] if order.parent[s] < k else s
        assert (np.diff(root[:k]) >= 0).all()


def test_frames_of_a_net_leave_all_that_they_are_next_to_next_to_each_other():
    """Every two that an element or a joint joins, and every two behind a frame that are next to it, are next to each other."""
    for (_, elements, joints, sort), order in of_graphs(net_of):
        k = len(order.frame)
        place = np.full(k + 1, k)
        place[order.frame] = np.arange(k)
        behind = [
            [int(p), *order.beyond[slice(*order.first_next[s : s + 2])].tolist()] if p < k else []
            for s, p in enumerate(order.parent)
        ]
        joined = {tuple(sorted(pair)) for pair in place[np.concatenate([elements, joints])].tolist()}
        joined |= {(a, b) for own in behind for i, a in enumerate(own) for b in own[i + 1 :]}
        assert all(b in behind[a] for a, b in joined if b < k)
        for s in range(k):  # no more than three rows hold it, two where these go to two
            own = [j for j, pair in enumerate(place[joints]) if pair.min() == s]
            rows = sum(2 if sort[j] == COINCIDENT else 1 for j in own)
            assert rows <= 3 - (len({int(place[joints[j]].max()) for j in own}) > 1)


def test_a_frame_hangs_on_three_rows_of_one_other_alone():
    """A hinge to the next frame and a bar to the ground may depend on each other: the hinge is put in afterwards."""
    joints, none = np.array([[0, 1], [1, 2], [0, 2]]), np.zeros((0, 2), np.int64)
    assert order_of(3, none, joints, np.array([COINCIDENT, COINCIDENT, DISTANCE])).closing.tolist() == [1]
    assert order_of(3, none, joints[:2], np.array([COINCIDENT, COINCIDENT])).closing.tolist() == []


@pytest.mark.parametrize(("springs", "taken"), [(32, True), (33, False)])
def test_so_many_springs_between_parts_are_taken_as_documented(springs, taken):
    model, a, b = spun()
    for k in range(springs):
        model.add_spring(f"spring {k}", a.at((0, 0, 0)), b.at((0, 0, 0)), stiffness=1.0)
    model.add_spring("to the ground", a.at((0, 0, 0)), model.ground.at(SHIFT), stiffness=1.0)
    built = model.build()
    found = planar_of(built.system, Symmetry(built.state, built.load_directions))
    assert (found == MANY) != taken


def test_torsion_springs_count_full_turns():
    model = Model("wheel")
    wheel = body(model, "wheel", 0, 0, angular_velocity=world(0, 0, 9))
    model.add_joint("axle", "revolute", model.ground, wheel, at=SHIFT, axis=world(0, 0, 1))
    model.add_spring("coil", wheel, model.ground, 0.1, along="rotation", axis=world(0, 0, -1))
    built, plane, space = steppers(model)
    ends = [own.advance(own.start(built.state), 0, 250)[0] for own in (plane, space)]
    assert abs(ends[0].own[0]) > 4.0 * np.pi
    assert np.abs(ends[0].own - ends[1].own).max() < 1e-12


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize(
    ("make", "integrator"),
    [
        (four_bars, "em4"),
        (two_loops, "em"),
        (slider_crank, "em"),
        (sprung, "em4"),
        (lambda: sprung(2.0), "em"),
        (lambda: net("weld", 1e-3), "em"),
        (ring, "em4"),
        (driven_crank, "em4"),
        (driven_slider, "em"),
    ],
)
def test_loops_and_springs_keep_energy_and_are_audited(make, integrator):
    result = simulate(make(), 5.0, 0.01, integrator, progress=False)
    assert result.description["run"]["solver"] == "planar"
    energy = result.energy["total"] - result.work + result.dissipation
    assert np.abs(energy - energy[0]).max() < 1e-12 * result.energy["kinetic"].max()
    assert audit(result).ok


def test_energy_does_not_drift():
    """A chain of hinged bodies and a rod over thousands of steps: as in space at round-off, with a sign that does not repeat."""
    model = Model("chain", gravity=world(3, -9))
    a, b = body(model, "a", 0.2, 0.1), body(model, "b", 0.9, 0.4, 1.1)
    model.add_joint("pin", "revolute", model.ground, a, at=SHIFT, axis=world(0, 0, 1))
    model.add_joint("hinge", "revolute", a, b, at=SHIFT + world(0.5, 0.3), axis=world(0, 0, 1))
    own = model.add_rod(
        "rod", [SHIFT + world(1, 0.5), SHIFT + world(1.5, 1)], section(), 4, up=world(0, 0, 1)
    )
    model.add_joint("weld", "weld", own.start, b)
    result = simulate(model, 40.0, 0.01, solver="auto", progress=False)
    assert result.description["run"]["solver"] == "planar"
    energy = result.energy["total"]
    size = np.abs(result.energy["kinetic"]).max()
    assert np.abs(energy - energy[0]).max() < 3e-12 * size
    assert audit(result).ok


def test_what_is_held_only_together_with_others_is_taken_by_the_general_solver():
    """A body between two bars without mass in one line: their rows are the same for it alone, until it leaves the line."""
    model = Model("line", gravity=world(0, -9))
    a, b = (body(model, name, x, 0, 0.0) for name, x in (("a", 1), ("b", 2)))
    model.add_joint("pin", "revolute", model.ground, a, at=SHIFT + world(1, -1), axis=world(0, 0, 1))
    places = [
        (a.at_world(SHIFT + world(1, 0)), b.at_world(SHIFT + world(2, 0))),
        (b.at_world(SHIFT + world(2, 0)), model.ground.at(SHIFT + world(3, 0))),
    ]
    for k, points in enumerate(places):
        model.add_joint(f"bar {k}", "distance", *points)
    built, plane, space = steppers(model)
    ends = [own.advance(own.start(built.state), 0, 40) for own in (plane, space)]
    assert ends[0][1].halvings == 0
    assert np.abs(ends[0][0].r - ends[1][0].r).max() < 1e-13
    part, _ = plane.advance(plane.advance(plane.start(built.state), 0, 1)[0], 1, 39)
    assert all(np.array_equal(x, y) for x, y in zip(part, ends[0][0], strict=True))


@pytest.mark.parametrize(("make", "h", "order"), [(followed, 0.6, 2), (straight, 0.5, 2), (straight, 1.5, 2)])
def test_steps_that_fail_are_halved(make, h, order):
    """They begin where the step before ended, which between two axes the state is told of only then."""
    built, plane, space = steppers(make(), h, order)
    ends = [own.advance(own.start(built.state), 0, 3) for own in (plane, space)]
    assert ends[0][1].halvings > 0
    assert np.abs(ends[0][0].r - ends[1][0].r).max() < 1e-11


def test_an_element_that_closes_to_half_a_turn_ends_the_run_with_this_reason_as_in_space():
    """Its energy has no bound there, and behind it there is another branch of the equations."""
    bent = 2.3  # rad, of the one element
    model = Model("bow")
    plain = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=1, EI=1, mass_per_length=1, inertia_per_length=(0.1, 0.05, 0.05)
    )

    def arc(s):
        return np.sin(bent * s) / bent, (1.0 - np.cos(bent * s)) / bent, 0.0

    bow = model.add_rod(
        "bow", arc, plain, 1, up=(0, 0, 1), stress_free=arc, angular_velocity=lambda s: (0, 0, 60 * s)
    )
    model.add_joint("clamp", "clamp", bow.start)
    built, *each = steppers(model, 0.02)
    said, times = [], []
    for own in each:
        with pytest.raises(ConvergenceError) as error:
            own.advance(own.start(built.state), 0, 20)
        said.append(str(error.value))
        times.append(error.value.t)
    assert all(
        "the relative rotation of the two ends of a rod element or of a bushing passed pi" in x for x in said
    )
    assert times[0] == times[1] > 0.0


def test_a_composition_that_fails_is_taken_in_halves_from_its_start():
    """Whatever substeps of it were solved: as with steps of half the length from there."""
    built, plane, _ = steppers(straight(), 2.0, 4)
    half, state, halved = steppers(straight(), 1.0, 4)[1], plane.start(built.state), 0
    for k in range(4):
        end, report = plane.advance(state, k, 1)
        if report.halvings == 1:
            other, _ = half.advance(state, 2 * k, 2)
            for one, two in zip(end, other, strict=True):
                assert np.abs(one - two).max(initial=0.0) < 1e-9
            halved += 1
        state = end
    assert halved > 0


@pytest.mark.parametrize("make", [rod, driven_crank])
def test_results_are_audited_and_resumed_to_the_bit(make, tmp_path):
    """By themselves, and as they began: a run in space stays in space."""
    for solver in ("auto", "general"):
        whole, parts = (tmp_path / f"{name} {solver}.vtkhdf" for name in ("whole", "parts"))
        first = simulate(make(), 0.3, 0.01, output=whole, output_every=3, solver=solver, progress=False)
        simulate(make(), 0.12, 0.01, output=parts, output_every=3, solver=solver, progress=False)
        then = simulate(make(), 0.3, 0.01, output=parts, output_every=3, resume=True, progress=False)
        assert ("solver" in first.description["run"]) == (solver == "auto")
        assert then.description["run"] == first.description["run"]
        for a, b in zip(first.state(-1), then.state(-1), strict=True):
            assert np.array_equal(a, b)
        found = audit(Result.load(parts))
        assert found.ok, str(found)
        assert GoingOn(then).solver == first.description["run"].get("solver", GENERAL)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning")
def test_a_driven_run_that_starts_from_another_stays_in_its_plane():
    first = simulate(driven_crank(), 0.4, 0.01, progress=False)
    ends = [
        simulate(driven_crank(), 0.3, 0.01, start=first, solver=solver, progress=False)
        for solver in ("auto", "general")
    ]
    assert ends[0].description["run"]["solver"] == "planar"
    assert np.abs(ends[0].state(-1).r - ends[1].state(-1).r).max() < 1e-13
    assert abs(ends[0].drive_work("speed")[-1] - ends[1].drive_work("speed")[-1]) < 1e-11


def test_the_order_is_that_of_the_integrator():
    def end(n, order):
        built, plane, _ = steppers(joined("revolute"), 2.0 / n, order)
        return plane.advance(plane.start(built.state), 0, n)[0].r

    exact = end(80, 6)
    for order, n in ((2, 80), (4, 16), (6, 5)):
        coarse, fine = (np.abs(end(k * n, order) - exact).max() for k in (1, 2))
        assert abs(np.log2(coarse / fine) - order) < 0.25
