"""List the kinds of interactions, except constraints of joints and rod elements: `INTERACTIONS`.

A new energy, dissipation or constraint is a file of its own (`rigid.interactions.kinds` lists its contents) and one line at the
end of the list; the position in the list is the number of the kind in files. Kinds without a number follow: gears of any size,
contact losses of any number of nodes, and kinds that a script registers or that the text of an energy generates.
"""

from __future__ import annotations

from discretization.space.bushing import BUSHING, BUSHING_DAMPER
from discretization.space.free_bushing import FREE_BUSHING, FREE_BUSHING_DAMPER
from rigid.interactions.contact.box_losses import BOX_ROD_LOSS, BOXES_LOSS, SPHERE_BOX_LOSS
from rigid.interactions.contact.box_points import BOX_ROD, SPHERE_BOX
from rigid.interactions.contact.boxes import BOXES
from rigid.interactions.contact.capsule_losses import CAPSULES_LOSS
from rigid.interactions.contact.capsules import CAPSULE_ROD, CAPSULES, SPHERE_CAPSULE
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
from rigid.interactions.contact.lines import RODS, SPHERE_ROD, SPHERES
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
from rigid.interactions.contact.planes import PLANE_ROD, PLANE_SPHERE
from rigid.interactions.contact.round_hulls import MESH_ROUND, ROUND_HULLS
from rigid.interactions.drag import DRAG
from rigid.interactions.gear import GEARS
from rigid.interactions.joint_friction import JOINT_FRICTION
from rigid.interactions.law_springs import (
    ANGLE_DAMPER,
    ANGLE_SPRING,
    DISPLACEMENT_DAMPER,
    DISPLACEMENT_SPRING,
    LENGTH_DAMPER,
    LENGTH_SPRING,
)
from rigid.interactions.loads import LOADS
from rigid.interactions.numbered import Numbered
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.interactions.spring import SPRING
from rigid.interactions.torsion_spring import TORSION_SPRING

INTERACTIONS = Numbered(
    [
        BUSHING,
        BUSHING_DAMPER,
        LENGTH_SPRING,
        LENGTH_DAMPER,
        DISPLACEMENT_SPRING,
        DISPLACEMENT_DAMPER,
        ANGLE_SPRING,
        ANGLE_DAMPER,
        DRAG,
        JOINT_FRICTION,
        PRESSED_EDGE,
        FREE_BUSHING,
        FREE_BUSHING_DAMPER,
        SPRING,
        TORSION_SPRING,
        PLANE_SPHERE,
        PLANE_ROD,
        SPHERES,
        SPHERE_ROD,
        RODS,
        PLANE_SPHERE_LOSS,
        PLANE_ROD_LOSS,
        SPHERES_LOSS,
        PLANE_CIRCLE,
        PLANE_CIRCLE_LOSS,
        SPHERE_CAPSULE,
        CAPSULE_ROD,
        CAPSULES,
        *LOADS,
        SPHERE_BOX,
        BOXES,
        SPHERE_BOX_LOSS,
        BOXES_LOSS,
        BOX_ROD,
        BOX_ROD_LOSS,
        SPHERE_MESH,
        MESH_ROD,
        SPHERE_MESH_LOSS,
        MESH_ROD_LOSS,
        SPHERE_CORE,
        CORE_ROD,
        SPHERE_CORE_LOSS,
        CORE_ROD_LOSS,
        HULLS,
        HULLS_LOSS,
        ROUND_HULLS,
        ROUND_HULLS_LOSS,
        CAPSULES_LOSS,
        MESH_HULL,
        MESH_HULL_LOSS,
        MESH_ROUND,
        MESH_ROUND_LOSS,
        EDGES,
        EDGES_LOSS,
    ]
)
INTERACTIONS.add_families([*GEARS.values(), *ROD_LOSSES.values()])
