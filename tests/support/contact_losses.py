"""Models and helpers of several test files: contact losses."""

import numpy as np
import pytest

from rigid.interactions.contact.box_losses import BOX_ROD_LOSS, BOXES_LOSS, SPHERE_BOX_LOSS
from rigid.interactions.contact.box_points import BOX_ROD, SPHERE_BOX
from rigid.interactions.contact.boxes import BOXES
from rigid.interactions.contact.capsule_losses import CAPSULES_LOSS
from rigid.interactions.contact.capsules import CAPSULES
from rigid.interactions.contact.circles import PLANE_CIRCLE
from rigid.interactions.contact.core_losses import (
    CORE_ROD_LOSS,
    HULLS_LOSS,
    ROUND_HULLS_LOSS,
    SPHERE_CORE_LOSS,
)
from rigid.interactions.contact.core_points import CORE_ROD, SPHERE_CORE
from rigid.interactions.contact.edge_losses import EDGES_LOSS
from rigid.interactions.contact.edges import EDGES
from rigid.interactions.contact.hulls import HULLS
from rigid.interactions.contact.losses import (
    PLANE_CIRCLE_LOSS,
    PLANE_ROD_LOSS,
    PLANE_SPHERE_LOSS,
    ROD_LOSSES,
    SPHERES_LOSS,
)
from rigid.interactions.contact.mesh_hulls import MESH_HULL
from rigid.interactions.contact.mesh_losses import (
    MESH_HULL_LOSS,
    MESH_ROD_LOSS,
    MESH_ROUND_LOSS,
    SPHERE_MESH_LOSS,
)
from rigid.interactions.contact.mesh_points import MESH_ROD, SPHERE_MESH
from rigid.interactions.contact.planes import PLANE_SPHERE
from rigid.interactions.contact.round_hulls import MESH_ROUND, ROUND_HULLS
from rodsim import Model, Sphere
from tests.support.contacts import (
    BOX_KINDS,
    CORE_KINDS,
    MESH_KINDS,
    PLANE_ROD,
    RODS,
    SPHERE_ROD,
    SPHERES,
    Touch,
    touch,
)

EPS = 1e-40
H = 1e-2
ELEMENT, SPHERE = ROD_LOSSES[2, 2], ROD_LOSSES[1, 2]
ENERGY = {
    PLANE_SPHERE_LOSS: PLANE_SPHERE,
    PLANE_CIRCLE_LOSS: PLANE_CIRCLE,
    PLANE_ROD_LOSS: PLANE_ROD,
    SPHERES_LOSS: SPHERES,
    SPHERE: SPHERE_ROD,
    ELEMENT: RODS,
    SPHERE_BOX_LOSS: SPHERE_BOX,
    BOXES_LOSS: BOXES,
    BOX_ROD_LOSS: BOX_ROD,
    SPHERE_CORE_LOSS: SPHERE_CORE,
    CORE_ROD_LOSS: CORE_ROD,
    HULLS_LOSS: HULLS,
    ROUND_HULLS_LOSS: ROUND_HULLS,
    CAPSULES_LOSS: CAPSULES,
    SPHERE_MESH_LOSS: SPHERE_MESH,
    MESH_ROD_LOSS: MESH_ROD,
    MESH_HULL_LOSS: MESH_HULL,
    MESH_ROUND_LOSS: MESH_ROUND,
    EDGES_LOSS: EDGES,
}
WITH_RADIUS = (SPHERES_LOSS, SPHERE_BOX_LOSS, BOXES_LOSS, BOX_ROD_LOSS, SPHERE_CORE_LOSS, CORE_ROD_LOSS)
WITH_RADIUS += (
    HULLS_LOSS,
    ROUND_HULLS_LOSS,
    CAPSULES_LOSS,
    SPHERE_MESH_LOSS,
    MESH_ROD_LOSS,
    MESH_HULL_LOSS,
    MESH_ROUND_LOSS,
    EDGES_LOSS,
)
KINDS = pytest.mark.parametrize("kind", ENERGY, ids=lambda kind: kind.name)


def loss(
    b=0.0,
    c=0.0,
    rest=1e-3,
    mu=(0.0, 0.0),
    kt=2e3,
    drill=0.0,
    roll=0.0,
    ways=(1.0, 1.0, 1.0),
    own=(0, 0, 0, 0),
):
    return np.array([b, c, rest, *mu, kt, drill, roll, *ways, *own], float)


ALL = {"b": 0.4, "c": 0.1, "mu": (0.5, 0.3), "drill": 0.02, "roll": 0.01, "own": (0.01, -0.02, 0.015, 0.0)}
ALL |= {"ways": (0.5, 1.7, 0.8)}


def numbers(kind, of_energy, of_loss):
    """Of the loss, from those of the energy, with the number of nodes and the radius of a where there are any."""
    if kind in WITH_RADIUS:
        of_energy = np.concatenate([of_energy, [0.1]])
    elif kind in (SPHERE, ELEMENT):
        of_energy = np.concatenate([of_energy[:-1], [2.0, 0.1]])
    return np.concatenate([of_energy, of_loss])


def lossy(kind, law="linear", seed=0, step=0.02, **options):
    """That touches at both ends of a step, boxes in shorter ones, none in the core; of rods with no vertex taken off."""
    step = min(step, 0.05) if ENERGY[kind] in (*BOX_KINDS, *CORE_KINDS, *MESH_KINDS, EDGES) else step
    t = touch(ENERGY[kind], law, seed, step)
    X = t.X.copy()
    if kind in (SPHERE, ELEMENT):
        X[-1] = 0.0
    return Touch(kind, numbers(kind, X, loss(**options)), t.y0, t.y1), X


def falling(**loses) -> Model:
    """A ball falls on a floor and into the way of another, which is thrown."""
    model = Model("balls", gravity=(0, 0, -9.81) if loses else (0, 0, 0))
    one = model.add_body("one", Sphere(0.05, density=1000), (0, 0, 0.055), velocity=(0.5, 0, -0.5))
    other = model.add_body("other", Sphere(0.05, density=1000), (0.13, 0.02, 0.07), velocity=(-0.5, 0, 0))
    spheres = [model.add_sphere(own.name, own, 0.05) for own in (one, other)]
    model.add_contact("both", *spheres, stiffness=2e4, **loses)
    if loses:
        floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
        model.add_contact("floor", spheres, floor, stiffness=2e4, **loses)
    return model
