"""Shapes at rest on each other: at the depth of the contact law nothing moves, and the depth follows from the stiffness.

The stiffness of a contact is that of a whole face, or of a lying cylinder or capsule: corners, rims and
crossings of edges share it. A body that starts at the depth of its weight therefore stays there, with one
Newton iteration per step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from rodsim import Model, equilibrium
from tests.support.contacts import ground
from tests.support.solids import (
    ALONG_X,
    ALONG_Y,
    GROUND_POINT,
    MESHES,
    UP,
    A,
    G,
    K,
    R,
    about,
    add,
    change,
    roof,
    run,
)

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


# --- one body


class Rest(NamedTuple):
    """A body on a surface whose top is at height 0."""

    shape: str
    quat: Any
    below: str
    height: float  # of the reference point of the body above its first contact
    part: float = 1.0  # of the active stiffness
    mass: float = 1.0
    size: tuple[float, ...] | None = None
    radius: float | None = None
    omega: tuple[float, float, float] = GROUND_POINT
    k: float = K
    friction: float = 0.0
    steps: int = 50

    @property
    def depth(self):
        return self.mass * G / (self.part * self.k)

    def model(self, depth=None):
        model = Model("rest", gravity=(0, 0, -G))
        if self.below == "plane":
            below = add(model, "plane", "below")
        elif self.below in ("box", "bar"):
            size = (0.4 if self.below == "box" else 0.06, 0.4, A)
            below = add(model, "box", "below", (0, 0, -A / 2), size=size, held=True)
        elif self.below == "cylinder":
            below = add(model, "cylinder", "below", (0, 0, -A / 2), held=True)
        else:
            top = MESHES[self.below.removeprefix("rounded ")][0][:, 2].max() + R
            below = add(model, self.below, "below", (0, 0, -top), on_ground=True)
        z = self.height - (self.depth if depth is None else depth)
        surface = add(
            model, self.shape, "it", (0, 0, z), self.quat, GROUND_POINT, self.omega,
            mass=self.mass, size=self.size, radius=self.radius,
        )  # fmt: skip
        model.add_contact("c", surface, below, self.k, friction=self.friction)
        return model


# a vertex has the mean area share of its faces: 1/6 of the hexagon, 1/4 of each of two squares
HEXAGONAL = 6.0 * (3**0.5 / 4 + 1 / 2) / (3**0.5 * 1.5 + 2.0)
LONG = {"mass": 2.0, "steps": 10_000}
ON_PLANE = {
    "box": Rest("box", UP, "plane", 0.075, size=(0.2, 0.1, 0.15), radius=0.0, **LONG),
    "rounded box": Rest("box", UP, "plane", 0.075, size=(0.2, 0.1, 0.15), radius=0.02, **LONG),
    "standing cylinder": Rest("cylinder", UP, "plane", 0.075, size=(0.1, 0.15), radius=0.0, **LONG),
    "lying cylinder": Rest("cylinder", ALONG_X, "plane", 0.1, size=(0.1, 0.3), radius=0.0, **LONG),
    "rounded lying cylinder": Rest("cylinder", ALONG_X, "plane", 0.1, size=(0.1, 0.3), radius=0.03, **LONG),
    "lying capsule": Rest("capsule", ALONG_X, "plane", 0.1, size=(0.1, 0.3), **LONG),
    "ball": Rest("sphere", UP, "plane", 0.1, size=(0.1,), **LONG),
    "cone on its base": Rest("cone", (0, 1, 0, 0), "plane", 0.2, size=(0.1, 0.2), radius=0.0, **LONG),
}
RESTING = {
    **{f"{name} on a plane": case for name, case in ON_PLANE.items()},
    **{f"{name} on a rough plane": case._replace(friction=0.5) for name, case in ON_PLANE.items()},
    "mesh on a plane": Rest("rounded cube", UP, "plane", A / 2, steps=1000),
    "mesh without radius on a plane": Rest("cube", UP, "plane", A / 2 - R),
    "trough on a plane": Rest("rounded trough", UP, "plane", R, steps=1000),
    "mesh on a mesh": Rest("rounded cube", UP, "rounded cube", A / 2, steps=1000),
    "mesh on a finer mesh": Rest("rounded cube", UP, "rounded fine cube", A / 2, steps=1000),
    "fine mesh on a sheet": Rest("rounded fine cube", UP, "rounded sheet", A / 2, steps=1000),
    # four crossings of edges in addition to the four corners
    "mesh on a trough": Rest("rounded cube", UP, "rounded trough", A / 2, 2.0, steps=1000),
    "hexagon on a box": Rest("hexagon", UP, "box", A / 2 + R, HEXAGONAL, k=1e6),
    "capsule on a box": Rest("capsule", ALONG_X, "box", 0.02, k=1e6),
    "capsule on a bar": Rest("capsule", ALONG_X, "bar", 0.02, k=1e6),  # where it crosses both edges
    "cylinder lying on a box": Rest("cylinder", ALONG_Y, "box", A / 2, k=1e6),
    # each of 32 points of the rim has half of the stiffness
    "cylinder spinning on a box": Rest("cylinder", UP, "box", A / 2, 16.0, omega=(0, 0, 2.0), k=1e6),
    "cylinder spinning on another": Rest("cylinder", UP, "cylinder", A / 2, 16.0, omega=(0, 0, 2.0), k=1e6),
}


@pytest.mark.parametrize("name", RESTING)
def test_shape_at_its_equilibrium_depth_stays_at_rest(name):
    case = RESTING[name]
    result = run(case.model(), case.steps * 1e-3, every=case.steps // 10)
    body, contact, spins = result.body("it"), result.contact("c"), any(case.omega)
    assert change(body.r) < (1e-11 if case.steps == 10_000 else 1e-12)
    assert change(body.Omega) < 1e-10
    if not spins:
        assert change(body.quat) < (1e-12 if case.steps == 1000 else 1e-10)
        assert result.newton_iterations.max() <= (1.0 if case.steps >= 1000 else 1.1)
    assert contact.normal_force == pytest.approx(case.mass * G, rel=1e-9)
    assert contact.depth == pytest.approx(case.depth, rel=1e-9)
    assert result.distance("it", "below") == pytest.approx(-case.depth, rel=1e-9)


@pytest.mark.parametrize("name", ["box", "standing cylinder", "lying capsule", "ball"])
def test_equilibrium_on_a_plane_has_the_depth_of_the_law(name):
    case = ON_PLANE[name]
    model = case.model(depth=0.0)
    guide = [1.0, 1.0, 0, 0, 0, 1.0]  # against motions that the plane does not prevent
    model.add_bushing("guide", model.ground, model.bodies["it"], guide, at=(0, 0, case.height))
    assert equilibrium(model).body("it").r[-1, 2] == pytest.approx(case.height - case.depth, abs=1e-12)


# --- several bodies


@pytest.mark.parametrize(
    ("base", "shapes"),
    [
        ("box", ["box"]),
        ("box", ["box"] * 3),
        ("box", ["box"] * 10),
        ("hull cube", ["hull cube", "box"]),
        ("hull cube", ["hull cube", "hull cube"]),
    ],
    ids=["1 box", "3 boxes", "10 boxes", "box on hull", "hull on hull"],
)
def test_stack_stays_at_rest(base, shapes):
    """Each is as deep in the one below as the weight of all above requires."""
    model, k, n, z = Model("stack", gravity=(0, 0, -G)), 1e6, len(shapes), 0.0
    size = (0.4, 0.4, A) if base == "box" else None
    stack = [add(model, base, "base", (0, 0, -A / 2), size=size, held=True)]
    for i, shape in enumerate(shapes):
        z += A / 2 - (n - i) * G / k
        stack.append(add(model, shape, f"it {i}", (0, 0, z)))
        z += A / 2
    model.add_contact("c", stack, stiffness=k)
    result = run(model, 0.1, every=50)
    assert result.newton_iterations.max() < 1.1  # rounding may require another iteration occasionally
    for i in range(n):
        body = result.body(f"it {i}")
        assert change(body.r) < 1e-13
        assert np.abs(body.quat[:, 1:]).max() < 1e-9
    assert result.contact("c").touching.tolist() == [n] * 3
    assert result.contact("c").normal_force == pytest.approx(G * n * (n + 1) / 2, rel=1e-9)
    assert change(result.energy["total"]) < 1e-13


@pytest.mark.parametrize("tilt", [0.0, 1e-4])
def test_crossed_planks_are_supported_at_their_edge_crossings(tilt):
    """No corner is close: four crossings have the full stiffness. A tilted plank swings and does not fall."""
    b, L, m = 0.04, 0.3, 0.5
    model = Model("planks", gravity=(0, 0, -G))
    low = add(model, "box", "low", size=(L, b, b), radius=0.002, held=True)
    place = np.array([0, 0, b - m * G / K])
    high = add(model, "box", "high", place, about((1, 0, 0), tilt), mass=m, size=(b, L, b), radius=0.002)
    model.add_contact("c", low, high, K)
    result = run(model, 0.1, 5e-4)
    angle = 2.0 * result.body("high").quat[:, 1]
    if tilt == 0.0:
        assert np.abs(result.body("high").r - place).max() < 1e-13
        assert np.abs(angle).max() < 1e-9
        assert result.newton_iterations.max() <= 1.0
    else:
        assert angle.min() < -0.5 * tilt
        assert np.abs(angle).max() < 1.05 * tilt


def test_capsule_across_two_others_loads_each_by_half():
    model, z = Model("bridge", gravity=(0, 0, -G)), 0.07 - 0.5 * G / K
    bars = [add(model, "bar", f"bar {k}", (x, 0, 0), on_ground=True) for k, x in enumerate((-0.1, 0.1))]
    model.add_contact("c", add(model, "long capsule", "it", (0, 0, z), ALONG_X), bars, K)
    result = run(model, 1.0, every=100)
    assert result.newton_iterations.max() <= 1.0
    assert np.abs(result.body("it").r - (0, 0, z)).max() < 1e-14
    assert result.contact("c").normal_force == pytest.approx(G, rel=1e-10)
    assert result.contact("c").force[:, 2] == pytest.approx(G, rel=1e-10)
    assert result.contact("c").touching.tolist() == [2] * 11
    assert result.distance("it", "bar 0") == pytest.approx(z - 0.07, rel=1e-10)


# --- force and energy at a given depth


@pytest.mark.parametrize("shift", [(1e-4, 0.0), (1e-3, 0.0), (0.02, 0.0), (1e-4, 1e-4), (0.02, 0.01)])
def test_shifted_equal_box_faces_keep_their_stiffness(shift):
    """Both share a rectangle of four corners. The distance of two close corners enters at fourth order."""
    depth, model = 1e-5, Model("shift", gravity=GROUND_POINT)
    model.add_contact("c", add(model, "box", "a"), add(model, "box", "b", (*shift, A - depth)), K)
    energy = run(model, 1e-4, 1e-4).contact("c").energy[0]
    assert energy == pytest.approx(0.5 * K * depth**2, rel=4e-3)


@pytest.mark.parametrize("aside", [0.0, 0.001, 0.004, 0.03])
def test_equal_mesh_faces_press_each_other_along_the_normal(aside):
    """Adjacent corners count once: nothing pushes equal faces sideways."""
    depth, model = 2e-4, Model("shift", gravity=GROUND_POINT)
    surface = add(model, "rounded cube", "it", (aside, 0, A - depth))
    model.add_contact("c", surface, add(model, "rounded cube", "below", on_ground=True), K)
    contact = run(model, 1e-5, 1e-5).contact("c")
    assert contact.force[0] == pytest.approx([0, 0, K * depth], abs=1e-9)
    assert contact.normal_force[0] == pytest.approx(K * depth, rel=1e-9)
    assert contact.point[0] == pytest.approx([0.5 * aside, 0, 0.5 * (A - depth)], abs=1e-5)


@pytest.mark.parametrize(
    ("mesh", "top", "part"),
    [
        (MESHES["peak"], 0.05, 0.25),
        (roof(1.0), 0.0, 0.5),
        (roof(0.1), 0.0, 0.5 * 4 * np.sin(0.05)),
    ],
    ids=["peak", "roof", "gentle roof"],
)
def test_mesh_peaks_and_ridges_have_fractional_stiffness(mesh, top, part):
    """A vertex, or each of two crossings of a ridge with edges of the face, has a quarter of the stiffness."""
    depth, model = 2e-4, Model("pressed", gravity=GROUND_POINT)
    below = model.add_mesh("below", model.ground.at(GROUND_POINT), vertices=mesh[0], triangles=mesh[1])
    model.add_contact("c", add(model, "box", "it", (0, 0, top + A / 2 - depth)), below, K)
    contact = run(model, 1e-5, 1e-5).contact("c")
    assert contact.normal_force[0] == pytest.approx(part * K * depth, rel=1e-9)
    assert contact.force[0] == pytest.approx([0.0, 0.0, part * K * depth], abs=1e-9)
    assert contact.point[0] == pytest.approx([0.0, 0.0, top], abs=1e-9)


@pytest.mark.parametrize(
    ("shape", "quat", "height", "depths"),
    [
        ("capsule", ALONG_X, 0.02 - 1.0 + (1.0 - 0.05**2) ** 0.5, (1e-4, 3e-4, 7e-4)),  # lower at its ends
        ("box", UP, A / 2, (1e-4, 2e-4, 4e-4)),
    ],
    ids=["capsule", "box"],
)
def test_gently_curved_mesh_stiffens_with_depth(shape, quat, height, depths):
    dome = ground(60, lambda x, y: (1.0 - x**2 - y**2) ** 0.5 - 1.0, 0.07)
    forces = [0.0]
    for depth in depths:
        model = Model("dome", gravity=GROUND_POINT)
        below = model.add_mesh("below", model.ground.at(GROUND_POINT), vertices=dome[0], triangles=dome[1])
        model.add_contact("c", add(model, shape, "it", (0, 0, height - depth), quat), below, 1e4)
        forces.append(run(model, 1e-5, 1e-5).contact("c").force[0, 2])
    assert np.diff(forces).min() > 0.0


def distance_to_segment(x, a, b):
    t = np.clip(np.dot(x - a, b - a) / np.dot(b - a, b - a), 0.0, 1.0)
    return np.linalg.norm(x - a - t * (b - a))


@pytest.mark.parametrize("square", [0.0, 0.5e-10, 1.5e-10, 4e-10, 1e-8, 1e-4, 0.01])
def test_energy_of_nearly_parallel_capsules_matches_the_formula(square):
    """V = w U(D) + (1 - w) sum U(D_i)/2, w = (1 + kappa) y/(y + kappa), y = sin^2 - 1e-10, but not below 0.

    U = k depth^2/2; D_i are the distances of the ends. One capsule is tilted in the plane of both, so that D
    is that of its lower end. The tolerance shows parts of w above 1e-12.
    """
    radius, L, kappa = 0.05, 0.4, 0.01
    tilt = np.arcsin(np.sqrt(square))
    height = 2.0 * radius - 0.004 + 0.5 * L * np.sqrt(square)
    model = Model("pair", gravity=GROUND_POINT)
    one = add(model, "long capsule", "a", GROUND_POINT, ALONG_X)
    other = add(model, "long capsule", "b", (0, 0, height), about((0, 1, 0), np.pi / 2 - tilt))
    model.add_contact("c", one, other, K, exponent=1.0)
    result = run(model, 1e-6, 1e-6)

    axis = 0.5 * L * np.array([np.cos(tilt), 0.0, np.sin(tilt)])
    a, b = np.array([[-0.5 * L, 0, 0], [0.5 * L, 0, 0]]), np.array([0, 0, height]) + np.array([-axis, axis])
    ends = [distance_to_segment(x, *b) for x in a] + [distance_to_segment(x, *a) for x in b]
    energy = [0.5 * K * max(2.0 * radius - D, 0.0) ** 2 for D in (min(ends), *ends)]
    y = max(square - 1e-10, 0.0)
    w = (1.0 + kappa) * y / (y + kappa)
    expected = w * energy[0] + (1.0 - w) * 0.5 * sum(energy[1:])
    for energy_value in (result.energy["total"][0], result.contact("c").energy[0]):
        assert energy_value == pytest.approx(expected, rel=2e-13)
