"""Shared models and helpers: mechanisms."""

from __future__ import annotations

import numpy as np

from rigid import quaternions
from rigid.joints import JOINTS
from rodsim import (
    Box,
    MassProperties,
    Model,
    Section,
)


def arms():
    """Two bars, pinned to the ground and to each other, springs, a follower moment and a force that varies."""
    model = Model("arms", gravity=(0, 0, -9.81))
    first = model.add_body("first", Box(1, 0.2, 0.1, density=100), position=(0.5, 0, 0))
    second = model.add_body("second", Box(1, 0.1, 0.2, density=100), position=(1.5, 0, 0))
    model.add_joint("shoulder", "spherical", a=model.ground, b=first, at=(0, 0, 0))
    model.add_joint("elbow", "revolute", a=first, b=second, at=(1, 0, 0), axis=(0, 1, 0.5))
    model.add_spring("cord", model.ground.at((2, 0, 1)), second.at_world((2, 0, 0)), stiffness=50.0)
    model.add_spring("coil", first, second, 3.0, along="rotation", axis=(0, 1, 0.5), angle=0.2)
    model.add_moment("drive", second.at_world((2, 0, 0)), (0, 2.0, 0.5), following=True)
    model.add_force("push", second.at_world((2, 0, 0)), lambda t: (0.0, np.sin(10 * t), 0.0))
    return model


def slider():
    """Three bodies, a prismatic and a spherical joint."""
    model = Model("slider")
    turned = quaternions.normalize(np.array([0.9, 0.2, -0.1, 0.3]))
    a = model.add_body("a", Box(1, 0.3, 0.2, density=100), (0, 0, 0), angular_velocity=(0.5, 1, 2))
    b = model.add_body("b", Box(0.7, 0.4, 0.3, density=80), (0.8, 0.2, 0.1), turned, (1, 0.5, -0.4))
    c = model.add_body("c", Box(0.5, 0.2, 0.6, density=90), (1.3, 0.6, 0), angular_velocity=(2, -1, 1))
    model.add_joint("rail", "prismatic", a, b, at=(0.4, 0.1, 0.1), axis=(0.3, 1, 0.2))
    model.add_joint("ball", "spherical", b, c, at=(1.1, 0.4, 0.1))
    return model


def flail(mass="lumped"):
    """An elastic rod welded to a body."""
    model = Model("flail")
    section = Section.from_stiffness(
        EA=400, GA=200, GJ=3, EI=4, mass_per_length=2, inertia_per_length=(0.03, 0.01, 0.02)
    )
    head = model.add_body("head", Box(0.3, 0.2, 0.4, density=90), (0, 0, 0), angular_velocity=(1, 2, 3))
    rod = model.add_rod(
        "rod", [(0.15, 0, 0), (1.15, 0, 0)], section, 5, mass=mass, velocity=lambda s: (0, s, 1 - s)
    )
    model.add_joint("weld", "weld", head, rod.start)
    return model


def hinges(branch=True):
    """Unequal bodies in a plane on off-centre hinges, one of them on the first."""
    model = Model("hinges", gravity=(2.0, 0.0, -9.0))
    support, bodies = model.ground, []
    for k, (x, z) in enumerate([(0.0, 0.0), (0.7, 0.4), (1.5, 0.1), (2.0, -0.6)]):
        at = (0.7, 0.0, 0.4) if k == 3 and branch else (x, 0.0, z)
        mass = MassProperties(1.0 + 0.3 * k, np.diag([0.05, 0.06 + 0.01 * k, 0.05]))
        bodies.append(model.add_body(f"body {k}", mass, (at[0] + 0.4, 0.0, at[2] - 0.1 * k)))
        support = bodies[0] if k == 3 and branch else support
        pair = (bodies[k], support) if k == 1 else (support, bodies[k])
        model.add_joint(f"joint {k}", "revolute", *pair, at=at, axis=(0.0, 1.0, 0.0))
        support = bodies[k]
    return model


AXIS = {kind: (1, 2, -1) for kind, joint in JOINTS.items() if joint.axis}
JOINT_OPTIONS = {
    "universal": {"second_axis": (2, -1, 0)},
    "constant_velocity": {"second_axis": (1, 1.2, 0.3)},
}
JOINT_OPTIONS |= {"screw": {"pitch": 0.3}, "generic": {"locked": ("x", "z", "ry")}}


def joined(kind):
    """Two joined moving bodies in a general pose; a clamp connects one to the ground."""
    rng = np.random.default_rng(2)
    model = Model(kind)
    poses = [
        {
            "position": rng.standard_normal(3),
            "orientation": quaternions.normalize(rng.standard_normal(4)),
            "velocity": rng.standard_normal(3),
            "angular_velocity": rng.standard_normal(3),
        }
        for _ in range(2)
    ]
    a = model.add_body("a", Box(0.3, 0.4, 0.5, density=100), **poses[0])
    if kind == "clamp":
        model.add_joint("joint", kind, a, at=(0.1, 0.2, 0.3))
    else:
        b = model.add_body("b", Box(0.5, 0.2, 0.3, density=200), **poses[1])
        sides = (a, b) if not JOINTS[kind].apart else (a.at((0.2, 0.1, -0.3)), b.at((-0.1, 0.3, 0.2)))
        at = None if JOINTS[kind].apart else (0.1, 0.2, 0.3)
        model.add_joint("joint", kind, *sides, at=at, axis=AXIS.get(kind), **JOINT_OPTIONS.get(kind, {}))
    return model


def swung() -> Model:
    model = Model("doors", gravity=(0.0, 1.0, -9.0))
    support = model.ground
    for k in range(3):
        bar = model.add_body(f"bar {k}", Box(1.0, 0.1, 0.2, density=300), position=(k + 0.5, 0, 0))
        model.add_joint(f"joint {k}", "revolute", support, bar, at=(k, 0, 0), axis=(0.2 * k, 1.0, 0.1))
        support = bar
    return model


KINDS = ("revolute", "spherical", "universal", "prismatic", "revolute", "weld", "cylindrical", "spherical")
# for models of a few metres and 10 m/s: positions and orientations agree to 1e-13. Both solvers round dr to
# 1e-16, so that velocities 2 dr/h - v0 differ by 1e-16/h per step, and forces by the resulting momentum change per step
SAME = {"r": 1e-13, "quat": 1e-13, "internal": 1e-13, "totals": 1e-12}
SAME |= {
    "v": 1e-10,
    "Omega": 2e-10,
    "lam": 1e-6,
    "memory": 1e-6,
}  # for compositions, whose substeps are a tenth of h


def branched(kinds=KINDS, gravity=(1.0, 2.0, -9.0), held=True):
    """Bodies of different shapes on off-centre joints about oblique axes; every other joint names the child first."""
    rng = np.random.default_rng(3)
    model = Model("tree", gravity=gravity)
    bodies, positions = [], []
    for i, kind in enumerate(kinds):
        parent = -1 if i == 0 else int(rng.integers(max(0, i - 3), i))
        at = np.zeros(3) if i == 0 else positions[parent] + (0.3, 0.2, 0.1)
        positions.append(np.add(at, (0.4, -0.1, 0.2)))
        shape = Box(0.5 + 0.1 * i, 0.3, 0.2, density=100.0)
        moving = {} if held or i else {"angular_velocity": (1.0, -2.0, 3.0), "velocity": (0.3, 0.2, 0.1)}
        bodies.append(model.add_body(f"body {i}", shape, position=positions[i], **moving))
        if i == 0 and not held:
            continue
        options = {"axis": rng.standard_normal(3)} if JOINTS[kind].axis else {}
        if kind == "universal":
            options = {"axis": (1.0, 0.0, 0.0), "second_axis": (0.0, 1.0, 0.0)}
        ends = [model.ground if parent < 0 else bodies[parent], bodies[i]]
        model.add_joint(f"joint {i}", kind, *(ends if i % 2 else ends[::-1]), at=at, **options)
    return model


RINGS = {  # joints from the ground over bodies and back to it; the first in a name is the redundant one that closes the loop
    "ball at the ground": ("revolute", "weld", "universal", "universal", "spherical"),
    "ball": ("prismatic", "universal", "spherical", "universal"),
    "hinge": ("revolute",) * 7,
    "universal": ("universal",) * 6,
    "weld": ("universal",) * 3 + ("weld",) + ("universal",) * 3,
    "ball at a root": ("revolute", "spherical", "universal", "revolute"),
    "ball, over others": ("spherical",) * 5,
    "ball, over a slider": ("revolute", "prismatic", "universal", "spherical", "universal"),
}
ACROSS = (
    {"axis": (0, 0.6, 0.8), "second_axis": (1, 0, 0)},
    {"axis": (0.6, 0.8, 0), "second_axis": (-0.8, 0.6, 0)},
)


def looped(names=tuple(RINGS), bridge=True, gravity=(1.0, 2.0, -9.0)):
    """Rings of joints; with a bridge, a bar and a spring connect several of them, and every other joint names the child first."""
    rng = np.random.default_rng(5)
    model, bodies = Model("loops", gravity=gravity), {}
    for number, (name, kinds) in enumerate(RINGS.items()):
        angles = np.linspace(0.0, np.pi, len(kinds))
        at = np.stack([2.0 * np.cos(angles), 2.0 * np.sin(angles), 0.0 * angles], axis=1)
        at += 0.2 * rng.standard_normal(at.shape) + (0.0, 0.0, 2.0 * number)
        axes = rng.standard_normal((len(kinds), 3))
        last = model.ground
        for k, kind in enumerate(kinds if name in names else ()):
            segment = model.ground
            if k < len(kinds) - 1:
                shape = Box(0.6 + 0.1 * k, 0.3, 0.2, density=100.0)
                segment = model.add_body(f"{name} {k}", shape, position=0.5 * (at[k] + at[k + 1]))
                bodies[name, k] = segment
            options = {"axis": axes[k]} if JOINTS[kind].axis else {}
            options = ACROSS[k % 2] if kind == "universal" else options
            model.add_joint(
                f"{name} joint {k}",
                kind,
                *((last, segment) if k % 2 else (segment, last)),
                at=at[k],
                **options,
            )
            last = segment
    if bridge:
        bar = model.add_body("bridge", Box(0.2, 0.2, 2.0, density=100.0), position=(0.3, 1.8, 5.0))
        model.add_joint("near", "spherical", bodies["hinge", 2], bar, at=(0.3, 1.8, 4.0))
        model.add_joint("far", "universal", bar, bodies["universal", 2], at=(0.3, 1.8, 6.0), **ACROSS[0])
    if bridge and "ball" in names:
        ends = bodies["ball", 1].at((0.1, 0.0, 0.1)), bodies["weld", 4].at((0.0, 0.1, 0.0))
        model.add_spring("across", *ends, 50.0, damping=0.0 if gravity[0] else 0.5)
    return model


def without_older_history(state):
    """The state without the history before the last step."""
    return state._replace(memory=state.memory[: 6 * len(state.r)])


def differences(one, other):
    """The largest difference of each field that exceeds its limit."""
    sizes = {n: np.abs(x - y).max(initial=0.0) for n, x, y in zip(one._fields, one, other, strict=True)}
    return {name: size for name, size in sizes.items() if size > SAME.get(name, 0.0)}
