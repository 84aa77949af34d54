"""Models symmetric about a plane: the step with three unknowns per frame equals that of `em`; other models are not accepted."""

from __future__ import annotations

import numpy as np
import pytest

from rigid import quaternions
from rigid.joints import JOINTS
from rodsim import Box, ConvergenceError, MassProperties, Model, Result, Section, audit, signals, simulate

TURN = quaternions.normalize(np.array([0.8, 0.3, -0.2, 0.45]))
SHIFT = np.array([0.3, -0.2, 0.5])


def world(x, y, z=0.0):
    """A vector of the plane, with z along its normal, in model axes."""
    return quaternions.rotate(TURN, np.array([x, y, z], float))


def section(D=0.0, mixed=0.0):
    """A section that couples stretch, shear and bending in the plane, and twist with the rest out of it."""
    full = np.diag([3e3, 1e3, 9e2, 5.0, 8.0, 6.0])
    inside, outside = [0, 1, 5], [2, 3, 4]  # d3 is along the normal
    full[np.ix_(inside, inside)] += np.array([[0, 50, 9], [50, 0, -7], [9, -7, 0]])
    full[np.ix_(outside, outside)] += np.array([[0, 6, 3], [6, 0, 1], [3, 1, 0]])
    full[3, 5] = full[5, 3] = mixed
    return Section.from_stiffness(
        C=full, D=D * full, mass_per_length=1.3, inertia_per_length=(0.02, 0.012, 0.008)
    )


def body(model, name, x, y, angle=0.3, **motion):
    """A body that is symmetric about the plane only; its axes are oblique to it."""
    principal_axes = quaternions.normalize(np.array([0.7, 0.4, 0.3, -0.5]))
    J = quaternions.to_matrix(quaternions.conjugate(principal_axes))
    inertia = J @ np.array([[0.3, 0.05, 0], [0.05, 0.4, 0], [0, 0, 0.6]]) @ J.T
    center = quaternions.rotate(quaternions.conjugate(principal_axes), np.array([0.05, -0.1, 0.0]))
    about = quaternions.from_rotation_vector(world(0, 0, angle))
    quat = quaternions.multiply(about, quaternions.multiply(TURN, principal_axes))
    return model.add_body(name, MassProperties(1.7, inertia, center), SHIFT + world(x, y), quat, **motion)


def spun(kind="", rate=1.0):
    """Two joined bodies in flight."""
    model = Model(kind or "spun", gravity=world(3, -9))
    spins = rate * world(0, 0, 1)
    a = body(model, "a", 0.2, 0.1, angular_velocity=spins, velocity=world(0.3, 0.2))
    b = body(model, "b", 0.9, 0.4, 1.1)
    return model, a, b


JOINT_OPTIONS = {
    "universal": {"axis": world(0, 0, 1), "second_axis": world(0.6, 0.8)},
    "revolute": {"axis": world(0, 0, 1)},
    "planar": {"axis": world(0, 0, 1)},
    "point_on_plane": {"axis": world(0.6, 0.8)},
    "generic": {"locked": ("x", "rx", "ry", "rz")},
}
JOINT_OPTIONS |= {kind: {"axis": world(0.6, 0.8)} for kind in ("prismatic", "cylindrical", "point_on_line")}
EXTRA_OPTIONS = {"screw": {"axis": world(0, 0, 1), "pitch": 0.3}}
EXTRA_OPTIONS["constant_velocity"] = {"axis": world(1, 0), "second_axis": world(0.6, 0.8)}


def joined(kind):
    """Two bodies with this joint, or a body and the ground."""
    model, a, b = spun(kind)
    options, at = JOINT_OPTIONS.get(kind, {}) | EXTRA_OPTIONS.get(kind, {}), SHIFT + world(0.5, 0.3)
    if kind == "clamp":
        a.velocity[:], a.angular_velocity[:] = 0.0, 0.0
        model.add_joint("hinge", "revolute", a, b, at=at, axis=world(0, 0, 1))
        model.add_joint("joint", kind, a, at=at)
    elif kind == "distance":
        model.add_joint("joint", kind, a.at_world(at), b.at_world(SHIFT + world(0.8, 0.5)))
    elif kind == "generic":  # locked axes are those of a, which is oblique: use an upright body
        model = Model(kind, gravity=world(3, -9))
        straight = quaternions.multiply(TURN, quaternions.from_rotation_vector([0, 0, 0.4]))
        a = model.add_body(
            "a", Box(1, 0.3, 0.2, density=20), SHIFT, straight, angular_velocity=world(0, 0, 1)
        )
        b = body(model, "b", 0.9, 0.4, 1.1)
        model.add_joint("joint", kind, a, b, at=at, **options)
    else:
        model.add_joint("joint", kind, a, b, at=at, **options)
    return model


def rod(D=0.0, mass="mean", element="se3", n=6):
    """A clamped bent rod with a body at its end; loads of all kinds in the plane."""
    model = Model("rod", gravity=world(1, -5))
    curve = [SHIFT + world(np.sin(s), 1 - np.cos(s)) for s in np.linspace(0, 1, 9)]
    elastic_rod = model.add_rod("rod", curve, section(D), n, up=world(0, 0, 1), mass=mass, element=element)
    model.add_joint("clamp", "clamp", elastic_rod.start)
    tip = body(model, "tip", 0.9, 0.5)
    model.add_joint("weld", "weld", elastic_rod.end, tip)
    model.add_force("push", elastic_rod.at(0.5), signals.Sine(30.0, 0.7).along(world(0.3, 1)))
    model.add_moment("turn", elastic_rod.end, world(0, 0, 2.0))
    model.add_distributed_load("wind", elastic_rod, world(0, 4))
    return model


def actuated(*more, n=9):
    """A rod whose rest strains in the plane vary in time; more: further strains."""
    model = rod(1e-3, n=n)
    for k, strain in enumerate(("K3", "Gamma1", "Gamma2", *more)):
        value = signals.Sine(0.3 / (k + 1), 0.7 + k)
        model.add_actuation(f"muscle {k}", "rod", strain, value, shape=lambda s: 1.0 - 0.5 * s)
    return model


def rod_with_followers():
    """A hinged rod between bodies, with a follower force and a follower moment."""
    model = Model("followed", gravity=world(1, -5))
    elastic_rod = model.add_rod("rod", [SHIFT, SHIFT + world(1, 0.3)], section(1e-3), 4, up=world(0, 0, 1))
    model.add_joint("pin", "revolute", model.ground, elastic_rod.start, at=SHIFT, axis=world(0, 0, 1))
    a, b = body(model, "a", 1.4, 0.2), body(model, "b", 1.2, 0.8)
    model.add_joint("hinge", "spherical", elastic_rod.end, a, at=SHIFT + world(1, 0.3))
    model.add_joint("branch", "revolute", elastic_rod.end, b, at=SHIFT + world(1, 0.3), axis=world(0, 0, 1))
    model.add_force("follower", elastic_rod.at(0.5), (0.5, 9.0, 0.0), following=True)
    straight = quaternions.rotate(quaternions.conjugate(b.orientation), world(0, 0, 3.0))
    model.add_moment("spin", b.at((0, 0, 0)), straight, following=True)
    return model


def hang_bodies(model, joints, kind="revolute"):
    """Bodies connected to the ground and to each other at points of the plane; kind: of all but the first joint."""
    for k, (a, b, x, y) in enumerate(joints):
        about = {"axis": world(0, 0, 1)} if kind == "revolute" or not k else {}
        model.add_joint(f"joint {k}", kind if k else "revolute", a, b, at=SHIFT + world(x, y), **about)
    return model


def four_bars(kind="revolute"):
    """Bars between the ground and each other; the hinges are redundant in space."""
    model = Model("four bars", gravity=world(3, -9))
    a, b, c = (body(model, name, *at) for name, at in (("a", (0, 0.5)), ("b", (0.6, 1)), ("c", (1.4, 0.5))))
    ground = model.ground
    return hang_bodies(
        model, [(ground, a, 0, 0), (a, b, 0.1, 1), (b, c, 1.2, 1.1), (ground, c, 1.4, 0)], kind
    )


def two_loops():
    """Two four-bars that share a bar, and one body outside both."""
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
    """The slider has rows to the ground, which are eliminated before hinges."""
    model = Model("slider", gravity=world(3, -9))
    crank, arm, slider = (
        body(model, name, *at)
        for name, at in (("crank", (0, 0.2)), ("arm", (0.5, 0.3)), ("slider", (1.1, 0)))
    )
    joints = [(model.ground, crank, 0, 0), (crank, arm, 0.1, 0.4), (arm, slider, 1.1, 0.1)]
    hang_bodies(model, joints, "spherical")
    model.add_joint("guide", "prismatic", model.ground, slider, at=SHIFT + world(1.1, 0), axis=world(1, 0.2))
    return model


def slider_in_two_loops():
    """The slider is the first body, and its loops are cut at the ground."""
    model = Model("slider in two loops", gravity=world(3, -9))
    slider = body(model, "slider", 0, 1)
    model.add_joint("guide", "prismatic", model.ground, slider, at=SHIFT + world(0, 1), axis=world(1, 0.2))
    for k, x in enumerate((-1, 1)):
        arm, rocker = body(model, f"arm {k}", 0.5 * x, 0.9), body(model, f"rocker {k}", x, 0.3)
        ends = (slider, arm, 0.1 * x, 1.1), (arm, rocker, x, 0.8), (model.ground, rocker, 1.1 * x, 0)
        for n, (a, b, *at) in enumerate(ends):
            model.add_joint(f"joint {k} {n}", "spherical", a, b, at=SHIFT + world(*at))
    return model


def strut_at_a_hinge():
    """The strut connects two bodies at their joint, so that the support of the second body is not determined by it alone."""
    model = Model("strut", gravity=world(3, -9))
    a, b = body(model, "a", 0, 0.5), body(model, "b", 0.6, 1)
    hang_bodies(model, [(model.ground, a, 0, 0), (a, b, 0.1, 1)], "spherical")
    ends = b.at_world(SHIFT + world(0.1, 1)), model.ground.at(SHIFT + world(1.5, 1.5))
    model.add_joint("strut", "distance", *ends)
    return model


def rod_in_a_loop():
    """Two bars on the ground with a bent rod on hinges between them; a second rod is part of a separate ring of bodies."""
    model = Model("rods", gravity=world(2, -6))
    a, b = body(model, "a", 0, 0.4), body(model, "b", 1, 0.4)
    curve = [SHIFT + world(x, 1 + 0.3 * x * (1 - x)) for x in np.linspace(0, 1, 7)]
    elastic_rod = model.add_rod("rod", curve, section(1e-3), 5, up=world(0, 0, 1))
    hang_bodies(
        model, [(model.ground, a, 0, 0), (model.ground, b, 1.1, 0), (a, elastic_rod.start, 0, 1)], "spherical"
    )
    model.add_joint("last", "revolute", elastic_rod.end, b, at=SHIFT + world(1, 1), axis=world(0, 0, 1))
    ring = [body(model, name, *at) for name, at in (("c", (3, 0)), ("d", (4, 0.5)), ("e", (3, 1)))]
    model.add_joint("ring 0", "weld", ring[0], ring[1], at=SHIFT + world(3.5, 0.2))
    second_rod = model.add_rod(
        "more", [SHIFT + world(3, 1.2), SHIFT + world(4, 0.8)], section(), 3, up=world(0, 0, 1)
    )
    model.add_joint("ring 1", "spherical", ring[1], second_rod.end, at=SHIFT + world(4, 0.8))
    model.add_joint("ring 2", "weld", second_rod.start, ring[2], at=SHIFT + world(3, 1.2))
    model.add_joint("ring 3", "spherical", ring[2], ring[0], at=SHIFT + world(3.1, 0.4))
    return model


def sprung_bodies(damping=0.0, rod=False):
    """Springs between neighbours, outside the tree, and to the ground, off the centres; torsion springs of all kinds."""
    model = Model("sprung", gravity=world(3, -9))
    ground, bodies = (
        model.ground,
        [body(model, name, *at) for name, at in (("a", (0, 0.5)), ("b", (1, 1)), ("c", (2, 0.5)))],
    )
    a, b, c = bodies
    hang_bodies(model, [(ground, a, 0, 0), (a, b, 0.4, 0.9), (b, c, 1.6, 0.9)], "spherical")
    d = body(model, "d", 3, 1, velocity=world(-0.5, 0.3), angular_velocity=world(0, 0, 2))
    options = {"stiffness": 30.0, "damping": damping}
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
        model.add_spring(f"spring {k}", *points, length=0.0 if k == 1 else 0.4, **options)
    turning = {"along": "rotation", "axis": world(0, 0, 1), "stiffness": 4.0, "damping": 0.1 * damping}
    model.add_spring("base", ground, a, angle=0.2, **turning)
    model.add_spring("elbow", b, a, angle=-0.3, **turning)
    model.add_spring("far", c, d, **(turning | {"axis": world(0, 0, -1)}))
    if rod:
        elastic_rod = model.add_rod(
            "rod", [SHIFT + world(0, -1), SHIFT + world(1, -1.2)], section(), 4, up=world(0, 0, 1)
        )
        model.add_spring(
            "cord", elastic_rod.at(0.5), b.at_world(SHIFT + world(1, 0.8)), length=0.5, **options
        )
        model.add_spring("end", elastic_rod.end, ground, **turning)
        model.add_joint("loop", "spherical", ground, c, at=SHIFT + world(2.2, 0.2))
    return model


def wheel():
    """The wheel rotates by more than two turns in a second, which its torsion spring counts."""
    model = Model("wheel")
    disc = body(model, "wheel", 0, 0, angular_velocity=world(0, 0, 18))
    model.add_joint("axle", "revolute", model.ground, disc, at=SHIFT, axis=world(0, 0, 1))
    model.add_spring("coil", disc, model.ground, 0.1, along="rotation", axis=world(0, 0, -1))
    return model


MODELS = {
    **{kind: (lambda kind=kind: joined(kind)) for kind in JOINTS if kind not in EXTRA_OPTIONS},
    "free": lambda: spun()[0],
    "rod": rod,
    "consistent damped rod": lambda: rod(2e-3, "consistent"),
    "lumped rod": lambda: rod(0.0, "lumped"),
    "rod of eight": lambda: rod(n=8),
    "damped rod of nine": lambda: rod(2e-3, "consistent", n=9),
    "followed": rod_with_followers,
    "wheel": wheel,
}


def point_in_a_loop():
    """A point mass between two bodies of a four-bar."""
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
    "slider in two loops": slider_in_two_loops,
    "strut at a hinge": strut_at_a_hinge,
    "rods in loops": rod_in_a_loop,
}


def net(kind, D=0.0, mass="mean", spring=False, sliding=False):
    """Four fields of bent rods, joined at their nodes and supported on the left; bodies in two nodes, a rod on a guide, and one
    field
    with braces that are hinged at their crossing.

    sliding: rods slide on the bodies and are connected to them by massless bars.
    """
    model = Model("net", gravity=world(2, -6))
    nodes = [(x, y) for x in range(3) for y in range(3)]
    pairs = [(a, b) for a in nodes for b in nodes if b in ((a[0] + 1, a[1]), (a[0] or -1, a[1] + 1))]
    pairs += [((1, 1), (2, 2)), ((1, 2), (2, 1))]
    ends = {}
    for a, b in pairs:
        middle = 0.5 * (np.array(a) + b) + np.array((0.05, 0.08)) * (0 in np.subtract(b, a))
        curve = [SHIFT + world(*x) for x in (a, middle, b)]
        bent = model.add_rod(
            f"rod {a} {b}", curve, section(D), 2 + (a == (1, 0)), up=world(0, 0, 1), mass=mass
        )
        for node, end in ((a, bent.start), (b, bent.end)):
            ends.setdefault(node, []).append(end)
    for node in ((1, 1), (2, 0)):
        k = node[1]
        at = SHIFT + world(*node)
        lump = body(model, f"lump {k}", node[0] + 0.05, node[1] + 0.1)
        ends[node].insert(0 if sliding else k, lump)
        model.add_force(f"push {k}", lump.at_world(at), world(4 - 6 * k, 3))
    for node, joined_parts in ends.items():
        at = SHIFT + world(*node)
        if node == (0, 0):
            model.add_joint("clamp", "clamp", joined_parts[0], at=at)
        if node == (0, 1):
            model.add_joint("pin", "spherical", model.ground, joined_parts[0], at=at)
        for k, end in enumerate(joined_parts[1:]):
            parts = (joined_parts[0], end) if k % 2 else (end, joined_parts[0])
            if sliding and joined_parts[0] in model.bodies.values():
                at_bar = joined_parts[0].at_world(at + world(0.3 - 0.2 * k, 0.4)), end
                slide = {
                    "kind": "prismatic",
                    "a": parts[0],
                    "b": parts[1],
                    "at": at,
                    "axis": world(0.6, 0.3 + k),
                }
                bar = {"kind": "distance", "a": at_bar[k % 2], "b": at_bar[1 - k % 2]}
                for options in (slide, bar) if k else (bar, slide):
                    model.add_joint(f"{options['kind']} {node} {k}", **options)
            else:
                model.add_joint(f"node {node} {k}", kind, *parts, at=at)
    braces = (brace.at(0.5) for brace in list(model.rods.values())[-2:])
    model.add_joint("crossing", "spherical", *braces, at=SHIFT + world(1.5, 1.5))
    guide = {"at": SHIFT + world(2, 1), "axis": world(0.3, 1)}
    model.add_joint("guide", "point_on_line", model.ground, ends[2, 1][0], **guide)
    if spring:
        model.add_spring("cord", ends[0, 0][0], ends[2, 1][0], stiffness=40.0, damping=0.5, length=1.0)
    return model


def net_and_strut():
    """A body on a node that a strut supports: the support of the body is not determined by it alone."""
    model = net("weld")
    tail, node = body(model, "tail", 2.4, 2.1), SHIFT + world(2, 2)
    model.add_joint("tail", "spherical", tail, model.rods["rod (1, 1) (2, 2)"].end, at=node)
    model.add_joint("strut", "distance", tail.at_world(node), model.ground.at(SHIFT + world(3, 3)))
    return model


def ring():
    """A closed rod, hinged to a body inside at two of its frames and, at every second one, to another closed rod on top."""
    model = Model("ring", gravity=world(1, -4))
    turns = np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False)
    curve = [SHIFT + world(np.cos(t), 0.8 * np.sin(t)) for t in turns]
    rim = model.add_rod("rim", curve, section(), 10, up=world(0, 0, 1), closed=True)
    tyre = model.add_rod("tyre", curve, section(), 10, up=world(0, 0, 1), closed=True)
    for k in range(1, 10, 2):
        model.add_joint(f"rivet {k}", "spherical", rim.at(k / 10), tyre.at(k / 10))
    spoke = body(model, "spoke", 0.5, 0)
    model.add_joint("pin", "spherical", rim.start, spoke, at=SHIFT + world(1, 0))
    model.add_joint("far", "spherical", spoke, rim.at(0.5), at=SHIFT + world(-1, 0))
    return model


def driven_crank(first="ground"):
    """A slider-crank with driven crank and a force on its slider; first: the part that the crank's hinge names first."""
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
    """A body driven to and fro on a falling one, with a bent rod."""
    model = spun()[0]
    a, b = model.bodies.values()
    rail = {"at": SHIFT + world(0.4, 0.3), "axis": world(0.6, 0.8)}
    model.add_joint("rail", "prismatic", b, a, **rail)
    model.add_drive("stroke", "rail", signals.Sine(0.2, 1.1))
    curve = [SHIFT + world(x, 0.5 + 0.2 * x * x) for x in np.linspace(0, 0.6, 5)]
    elastic_rod = model.add_rod("rod", curve, section(1e-3), 3, up=world(0, 0, 1))
    model.add_joint("weld", "weld", a, elastic_rod.start)
    model.add_joint(
        "wrist", "revolute", elastic_rod.end, body(model, "c", 0.7, 0.7), at=curve[-1], axis=world(0, 0, 1)
    )
    model.add_drive("twist", "wrist", signals.Sine(0.7, 0.9))
    model.add_force("push", elastic_rod.at(0.5), signals.Sine(2.0, 0.6).along(world(1, 2)))
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
    "strut in a net": net_and_strut,
    "ring": ring,
}
SPRUNG = {
    "springs": sprung_bodies,
    "springs and dampers": lambda: sprung_bodies(2.0),
    "springs, a loop and a rod": lambda: sprung_bodies(2.0, rod=True),
}
MODELS |= LOOPS | NETS | DRIVEN | SPRUNG | {"actuated": actuated}


def planar_and_spatial_runs(model, t_end=1.0, dt=0.01, integrator="em", **options):
    """Runs of the same model with the planar and the general solver."""
    runs = [
        simulate(model, t_end, dt, integrator, solver=solver, progress=False, **options)
        for solver in ("auto", "general")
    ]
    assert [run.description["run"].get("solver") for run in runs] == ["planar", None]
    return runs


CLOSE = {"r": 1e-13, "quat": 1e-13, "v": 1e-11, "Omega": 1e-11, "totals": 1e-12, "internal": 1e-12}


def assert_same(one, other):
    """Compare the end states of runs, and the determined joint forces."""
    for field, close in CLOSE.items():
        a, b = (getattr(run.state(), field) for run in (one, other))
        assert np.abs(a - b).max(initial=0.0) < close * max(1.0, np.abs(b).max(initial=0.0)), field
    # impulses per step: positions are rounded, and forces are their second differences
    pairs = [(one.joint(name), other.joint(name)) for name in one.joints]
    determined = [(a.force[-1], b.force[-1]) for a, b in pairs if a.determined and b.determined]
    determined += [(a.moment[-1], b.moment[-1]) for a, b in pairs if a.determined and b.determined]
    size = max((np.abs(b).max() for _, b in determined), default=0.0)
    assert all(np.abs(a - b).max() < 1e-8 * max(1.0, size) for a, b in determined)
    assert one.constraint_residual[-1] < 1e-14


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize("name", MODELS)
def test_planar_motion_equals_the_spatial_motion(name):
    plane, space = planar_and_spatial_runs(MODELS[name](), output_every=100)
    assert np.abs(space.state().r - space.state(0).r).max() > 0.05 or name == "clamp"
    assert_same(plane, space)


def stiffly_sprung():
    model = sprung_bodies(2.0)
    for spring in (*model.springs.values(), *model.torsions.values()):
        object.__setattr__(spring, "stiffness", 20.0 * spring.stiffness)
    return model


def pushed_hard():
    model = rod_with_followers()
    model.loads["follower"].value[:] *= 40.0
    return model


@pytest.mark.parametrize(
    ("make", "h", "most"),
    [
        (pushed_hard, 0.02, 3.5),  # 3; with a wrong sign in the tangent 4
        (stiffly_sprung, 0.02, 3.3),  # 2.95; with one wrong entry of the tangent 4.9 or more
        (lambda: net("weld", spring=True), 0.05, 3.2),
        (lambda: rod(2e-3, "consistent", n=9), 0.05, 3.2),
        (ring, 0.05, 1.2),
        (driven_crank, 0.05, 4.4),
        (driven_slider, 0.05, 4.75),
    ],
)
def test_newton_converges_quadratically(make, h, most):
    """The number of iterations is asserted exactly; a wrong sign in an elimination or a tangent would add one per step."""
    run = simulate(make(), 20 * h, h, output_every=20, progress=False)
    assert run.description["run"]["solver"] == "planar"
    assert run.newton_iterations[-1] < most


def add_springs(number):
    """This many springs between two parts, and one to the ground."""
    model, a, b = spun()
    for k in range(number):
        model.add_spring(f"spring {k}", a.at((0, 0, 0)), b.at((0, 0, 0)), stiffness=1.0)
    model.add_spring("to the ground", a.at((0, 0, 0)), model.ground.at(SHIFT), stiffness=1.0)
    return model


def three_bodies(z=0.0):
    """Separate bodies, the last one off the plane by z."""
    model = spun()[0]
    body(model, "c", 0.5, 1.0)
    body(model, "d", -0.5, 0.2).position[:] += world(0, 0, z)
    return model


def changed_model(change):
    """Two unconnected bodies, modified by `change`."""
    model, a, b = spun()
    change(model, a, b)
    return model


def add(array, *vector):
    array += world(*vector)


def bent_rod(material, **options):
    model = Model("bent")
    curve = [SHIFT, SHIFT + world(0.5, 0.2), SHIFT + world(1, 0)]
    model.add_rod("rod", curve, material, 4, up=world(0, 0, 1), **options)
    return model


def obliquely_damped():
    plain = {"EA": 1, "GA": 1, "GJ": 1, "EI": 1, "mass_per_length": 1, "inertia_per_length": 1}
    return Section.from_stiffness(**plain, D=section(1, 1).stiffness)


def rotated_out_of_plane():
    model = joined("cylindrical")
    model.add_drive("twist", "joint", signals.Sine(0.5, 1.0), of="angle")
    return model


def loop_of_guides():
    model = Model("loop")
    corners = [body(model, name, *at) for name, at in (("a", (0, 0)), ("b", (1, 0)), ("c", (0.5, 1)))]
    for k, x in enumerate((0.4, 0.7, 0.2)):
        guide = {"at": SHIFT + world(x, 0.2 + 0.3 * k), "axis": world(x, 1)}
        model.add_joint(f"guide {k}", "prismatic", corners[k], corners[k - 1], **guide)
    return model


def parallel_rockers():
    """Three parallel rockers, of which two would suffice."""
    model = Model("rockers")
    beam = body(model, "beam", 1, 1)
    for x in range(3):
        rocker = body(model, f"rocker {x}", x, 0.5)
        model.add_joint(f"low {x}", "spherical", model.ground, rocker, at=SHIFT + world(x, 0))
        model.add_joint(f"high {x}", "spherical", rocker, beam, at=SHIFT + world(x, 1))
    return model


AT, OFF = (0, 0, 0), 1e-6
HINGED, PLATE = SHIFT + world(0.5, 0.3), [[1, 0, 1e-5], [0, 1, 0], [1e-5, 0, 1.5]]
COIL = {"stiffness": 3.0, "along": "rotation"}
CHANGES = {
    "a velocity": lambda m, a, b: add(a.velocity, 0, 0, OFF),
    "an angular velocity": lambda m, a, b: add(a.angular_velocity, 0, OFF),
    "gravity": lambda m, a, b: add(m.gravity, 0, 0, OFF),
    "an inertia": lambda m, a, b: m.add_body("c", MassProperties(1.0, PLATE), SHIFT + world(2, 1), TURN),
    "a force": lambda m, a, b: m.add_force("f", a.at(AT), world(1, 0, OFF)),
    "the place of a force": lambda m, a, b: m.add_force(
        "f", a.at_world(SHIFT + world(0.3, 0, OFF)), world(1, 0)
    ),
    "a moment": lambda m, a, b: m.add_moment("m", a.at(AT), world(1, 0)),
    "a force of unknown direction": lambda m, a, b: m.add_force("f", a.at(AT), lambda t: world(t, 0)),
    "the axis of a hinge": lambda m, a, b: m.add_joint(
        "j", "revolute", a, b, at=HINGED, axis=world(0, OFF, 1)
    ),
    "the place of a hinge": lambda m, a, b: m.add_joint(
        "j", "revolute", a, b, at=HINGED + world(0, 0, OFF), axis=world(0, 0, 1)
    ),
    "a spring": lambda m, a, b: m.add_spring(
        "s", a.at(AT), b.at_world(SHIFT + world(1, 0.3, OFF)), stiffness=3.0
    ),
    "a coil across": lambda m, a, b: m.add_spring("s", a, b, axis=world(1, 0), **COIL),
    "a coil aside": lambda m, a, b: m.add_spring("s", a, b, axis=world(0, OFF, 1), **COIL),
    "a bushing": lambda m, a, b: m.add_bushing("s", a.at(AT), b, 3.0 * np.eye(6)),
}
NON_PLANAR = {
    "screw": lambda: joined("screw"),
    "constant velocity": lambda: joined("constant_velocity"),
    "a body off the plane": lambda: three_bodies(OFF),
    "a stiffness": lambda: bent_rod(section(mixed=0.1)),
    "a damping": lambda: bent_rod(obliquely_damped()),
    **{
        f"an actuation of {strain}": (lambda strain=strain: actuated(strain))
        for strain in ("Gamma3", "K1", "K2")
    },
    "a stress-free shape": lambda: bent_rod(section(), rest_strains=(0, 0, 0, 0.1, 0, 0)),
    "another element": lambda: rod(element="relative(2)"),
    "a drive out of the plane": rotated_out_of_plane,
    "a loop of guides": loop_of_guides,
    "joints that repeat each other": parallel_rockers,
    "so many springs": lambda: add_springs(33),
}
NON_PLANAR |= {name: (lambda change=change: changed_model(change)) for name, change in CHANGES.items()}
PLANAR = {"two bodies": lambda: spun()[0], "four bodies": three_bodies, "springs": lambda: add_springs(32)}


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize("change_name", [*NON_PLANAR, *PLANAR])
def test_non_planar_models_use_the_spatial_solver(change_name):
    run = simulate((NON_PLANAR | PLANAR)[change_name](), 0.01, 0.01, progress=False).description["run"]
    assert (run.get("solver") == "planar") == (change_name in PLANAR)


def straight_bars(rod=False):
    """Three bars in a line, supported at one end, in the plane of two axes, and a rod: planar numbers equal spatial ones."""
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
        elastic_rod = model.add_rod("rod", [(3, 0, 0), (4, 0, 0)], plain, 2)
        model.add_joint("weld", "weld", elastic_rod.start, bar)
    return model


def between_bars():
    """A body between two collinear massless bars: their rows agree for it alone, until it leaves the line."""
    model = Model("line", gravity=world(0, -9))
    a, b = (body(model, name, x, 0, 0.0) for name, x in (("a", 1), ("b", 2)))
    model.add_joint("pin", "revolute", model.ground, a, at=SHIFT + world(1, -1), axis=world(0, 0, 1))
    groups = [
        (a.at_world(SHIFT + world(1, 0)), b.at_world(SHIFT + world(2, 0))),
        (b.at_world(SHIFT + world(2, 0)), model.ground.at(SHIFT + world(3, 0))),
    ]
    for k, points in enumerate(groups):
        model.add_joint(f"bar {k}", "distance", *points)
    return model


@pytest.mark.parametrize(
    ("make", "integrator"),
    [
        (rod_with_followers, "em"),
        (lambda: joined("revolute"), "em"),
        (straight_bars, "em"),
        (lambda: joined("revolute"), "em4"),
        (straight_bars, "em4"),
        (rod, "em"),
        (rod, "em4"),
        (lambda: straight_bars(rod=True), "em"),
        (lambda: joined("revolute"), "em6"),
        (driven_crank, "em"),
        (between_bars, "em"),
        (actuated, "em"),
    ],
)
def test_runs_resume_bitwise_and_keep_the_order(make, integrator, tmp_path):
    """With any choice of outputs."""
    plane, space = planar_and_spatial_runs(make(), 0.18, integrator=integrator, output_every=18)
    assert np.abs(plane.state().r - space.state().r).max() < 1e-13
    parts = tmp_path / "parts.vtkhdf"
    for t_end, resume in ((0.06, False), (0.18, True)):
        continued = simulate(
            make(), t_end, 0.01, integrator, output=parts, output_every=3, resume=resume, progress=False
        )
    assert continued.description["run"]["solver"] == "planar"
    assert all(np.array_equal(a, b) for a, b in zip(plane.state(), continued.state(), strict=True))
    audit_report = audit(Result.load(parts))
    assert audit_report.ok, str(audit_report)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.InitialVelocityWarning")
def test_driven_run_started_from_another_stays_in_its_plane():
    first = simulate(driven_crank(), 0.4, 0.01, progress=False)
    plane, space = planar_and_spatial_runs(driven_crank(), 0.3, start=first)
    assert np.abs(plane.state().r - space.state().r).max() < 1e-13
    assert abs(plane.drive_work("speed")[-1] - space.drive_work("speed")[-1]) < 1e-11


def parallelogram():
    """The linkage passes its dead points, where all bars are collinear and the hinges are dependent."""
    model = Model("parallelogram", gravity=world(0, -9))
    spin = {"angular_velocity": world(0, 0, -4)}
    options = {"shape": MassProperties(1.0, (0.06, 0.07, 0.1)), "orientation": TURN}
    a, c = (
        model.add_body(name, position=SHIFT + world(x, 0.5), velocity=world(2, 0), **options, **spin)
        for name, x in (("a", 0), ("c", 1))
    )
    b = model.add_body("b", position=SHIFT + world(0.5, 1), velocity=world(4, 0), **options)
    return hang_bodies(
        model, [(model.ground, a, 0, 0), (a, b, 0, 1), (b, c, 1, 1), (model.ground, c, 1, 0)], "spherical"
    )


def test_parallelogram_rotates_fully_as_in_space():
    plane, space = planar_and_spatial_runs(parallelogram(), 3.0)
    assert np.ptp(plane.body("a").r @ world(1, 0)) > 0.9
    assert np.abs(plane.body("b").r - space.body("b").r).max() < 1e-11


def chain():
    """Hinged bodies and a rod."""
    model = Model("chain", gravity=world(3, -9))
    a, b = body(model, "a", 0.2, 0.1), body(model, "b", 0.9, 0.4, 1.1)
    model.add_joint("pin", "revolute", model.ground, a, at=SHIFT, axis=world(0, 0, 1))
    model.add_joint("hinge", "revolute", a, b, at=SHIFT + world(0.5, 0.3), axis=world(0, 0, 1))
    curve = [SHIFT + world(1, 0.5), SHIFT + world(1.5, 1)]
    elastic_rod = model.add_rod("rod", curve, section(), 4, up=world(0, 0, 1))
    model.add_joint("weld", "weld", elastic_rod.start, b)
    return model


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize(
    ("make", "integrator", "t_end"),
    [
        (four_bars, "em4", 5.0),
        (two_loops, "em", 5.0),
        (slider_crank, "em", 5.0),
        (sprung_bodies, "em4", 5.0),
        (lambda: sprung_bodies(2.0), "em", 5.0),
        (lambda: net("weld", 1e-3), "em", 5.0),
        (ring, "em4", 5.0),
        (actuated, "em", 2.0),
        (driven_crank, "em4", 5.0),
        (driven_slider, "em", 5.0),
        (parallelogram, "em", 3.0),
        (chain, "em", 40.0),
    ],
)
def test_energy_is_conserved_and_audited(make, integrator, t_end):
    """Also over thousands of steps: the error is round-off with varying sign."""
    result = simulate(make(), t_end, 0.01, integrator, progress=False)
    assert result.description["run"]["solver"] == "planar"
    energy = result.energy["total"] - result.work + result.dissipation
    size = result.energy["kinetic"].max()
    assert np.abs(energy - energy[0]).max() < (3e-12 if t_end > 5.0 else 1e-12) * size
    assert audit(result).ok


@pytest.mark.parametrize(("make", "h"), [(rod_with_followers, 0.6), (straight_bars, 1.5)])
def test_failed_steps_are_halved(make, h):
    """Halves start from the end of the previous step, which is written to the spatial state only then."""
    plane, space = planar_and_spatial_runs(make(), 3 * h, h)
    assert plane.halvings.sum() > 0
    assert np.abs(plane.state().r - space.state().r).max() < 1e-11


def test_failed_composition_is_halved_from_its_start():
    """Regardless of the substeps already solved: equal to steps of half the length from there."""
    result = simulate(straight_bars(), 8.0, 2.0, "em4", output_every=1, progress=False)
    halved = np.flatnonzero(result.halvings == 1) - 1
    assert len(halved)
    for k in halved:
        halves = simulate(
            straight_bars(), 2.0, 1.0, "em4", start=result, start_time=result.t[k], progress=False
        )
        for one, two in zip(result.state(k + 1)[:4], halves.state()[:4], strict=True):
            assert np.abs(one - two).max() < 1e-9


def test_element_closing_to_pi_ends_the_run_as_in_space():
    """The element energy is unbounded there, with another branch of the equations behind it."""
    bent = 2.3  # rad, of the one element
    model = Model("bow")
    plain = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=1, EI=1, mass_per_length=1, inertia_per_length=(0.1, 0.05, 0.05)
    )

    def arc(s):
        return np.sin(bent * s) / bent, (1.0 - np.cos(bent * s)) / bent, 0.0

    bow = model.add_rod(
        "bow", arc, plain, 1, up=(0, 0, 1), stress_free=arc, angular_velocity=lambda s: (0, 0, 30 * s)
    )
    model.add_joint("clamp", "clamp", bow.start)
    times = []
    for solver, used_solver in (("auto", "planar"), ("general", None)):
        message = "the relative rotation of the two ends of a rod element or of a bushing passed pi"
        with pytest.raises(ConvergenceError, match=message) as error:
            simulate(model, 0.4, 0.02, solver=solver, progress=False)
        assert error.value.result.description["run"].get("solver") == used_solver
        times.append(error.value.t)
    assert times[0] == times[1] > 0.0
