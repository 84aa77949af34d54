"""Shared models and helpers: contact dissipation."""

import numpy as np
import pytest

from rodsim import Model, Sphere
from tests.support.contacts import (
    BOX_KINDS,
    CONTACTS,
    CORE_KINDS,
    EDGES,
    MESH_KINDS,
    RODS,
    SPHERE_ROD,
    Touch,
    touch,
)

H = 1e-2
LOSSES = {
    name.removeprefix("loss of contact of "): kind for name, kind in CONTACTS.items() if "loss of" in name
}
ROD_DISSIPATIONS = {  # a sphere, or an element, next to this many nodes
    (frames, nodes): LOSSES[f"{who} and {nodes} nodes"]
    for frames, who in ((1, "a sphere"), (2, "an element"))
    for nodes in range(2, 12)
    if f"{who} and {nodes} nodes" in LOSSES
}
SPHERE, ELEMENT = ROD_DISSIPATIONS[1, 2], ROD_DISSIPATIONS[2, 2]
PLANE_LOSSES = tuple(LOSSES[f"a plane and a {what}"] for what in ("sphere", "circle", "rod"))
PLANE_SPHERE_DISSIPATION, _, PLANE_ROD_DISSIPATION = PLANE_LOSSES
SPHERES_DISSIPATION = LOSSES["spheres"]
ENERGY = {loss: CONTACTS[name] for name, loss in LOSSES.items() if name in CONTACTS}
ENERGY |= {SPHERE: SPHERE_ROD, ELEMENT: RODS}
KINDS = pytest.mark.parametrize("kind", ENERGY, ids=lambda kind: kind.name)


def loss(
    b=0.0, c=0.0, rest=1e-3, mu=(0.0, 0.0), kt=2e3, drill=0.0, roll=0.0, ways=(1, 1, 1), internal=(0, 0, 0, 0)
):
    return np.array([b, c, rest, *mu, kt, drill, roll, *ways, *internal], float)


ALL = {
    "b": 0.4,
    "c": 0.1,
    "mu": (0.5, 0.3),
    "drill": 0.02,
    "roll": 0.01,
    "internal": (0.01, -0.02, 0.015, 0.0),
}
ALL |= {"ways": (0.5, 1.7, 0.8)}


def numbers(kind, of_energy, of_loss):
    """Parameters of the dissipation from those of the energy, with the number of nodes and the radius of a if there are any."""
    if kind in (SPHERE, ELEMENT):
        of_energy = np.concatenate([of_energy[:-1], [2.0, 0.1]])
    elif kind not in PLANE_LOSSES:
        of_energy = np.concatenate([of_energy, [0.1]])
    return np.concatenate([of_energy, of_loss])


def lossy(kind, law="linear", seed=0, step=0.02, **options):
    """A dissipative contact that touches at both ends of a step, with shorter steps for boxes and no pose inside a core; for rods
    without vertex terms.
    """
    step = min(step, 0.05) if ENERGY[kind] in (*BOX_KINDS, *CORE_KINDS, *MESH_KINDS, EDGES) else step
    t = touch(ENERGY[kind], law, seed, step)
    X = t.X.copy()
    if kind in (SPHERE, ELEMENT):
        X[-1] = 0.0
    return Touch(kind, numbers(kind, X, loss(**options)), t.y0, t.y1), X


def falling(**loses) -> Model:
    """A ball falls on a floor and into the way of a thrown ball."""
    model = Model("balls", gravity=(0, 0, -9.81) if loses else (0, 0, 0))
    one = model.add_body("one", Sphere(0.05, density=1000), (0, 0, 0.055), velocity=(0.5, 0, -0.5))
    other = model.add_body("other", Sphere(0.05, density=1000), (0.13, 0.02, 0.07), velocity=(-0.5, 0, 0))
    spheres = [model.add_sphere(body.name, body, 0.05) for body in (one, other)]
    model.add_contact("both", *spheres, stiffness=2e4, **loses)
    if loses:
        floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
        model.add_contact("floor", spheres, floor, stiffness=2e4, **loses)
    return model
