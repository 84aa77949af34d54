"""List the kinds of interactions, except constraints of joints and rod elements: `INTERACTIONS`.

A new energy, dissipation or constraint is a file of its own (`rigid.interactions.kinds` lists its contents) and one line at the
end of the list; the position in the list is the number of the kind in files. Kinds without a number follow: gears of any size,
contact losses of any number of nodes, tendons, actuations of all elements but the default one, and kinds that a script registers
or that the text of an energy generates.
"""

from __future__ import annotations

from discretization.space import (
    cayley_element,
    lagrange_element,
    midpoint_element,
    relative_element,
    se3_span,
    string_element,
)
from discretization.space.bearing_circulation import CIRCULATION
from discretization.space.bushing import BUSHING, BUSHING_DAMPER
from discretization.space.free_bushing import FREE_BUSHING, FREE_BUSHING_DAMPER
from discretization.space.se3_dual import SE3_ACTUATION
from discretization.space.strain_constraints import STRAIN_CONSTRAINTS
from rigid.interactions.added_mass import ADDED_MASSES
from rigid.interactions.airfoil import AIRFOIL
from rigid.interactions.chambers import GAS_CHAMBERS, LIQUID_CHAMBERS, PUMPED_CHAMBERS
from rigid.interactions.contact.box_dissipation import (
    BOX_ROD_DISSIPATION,
    BOXES_DISSIPATION,
    SPHERE_BOX_DISSIPATION,
)
from rigid.interactions.contact.box_points import BOX_ROD, SPHERE_BOX
from rigid.interactions.contact.boxes import BOXES
from rigid.interactions.contact.capsule_dissipation import CAPSULES_DISSIPATION
from rigid.interactions.contact.capsules import CAPSULE_ROD, CAPSULES, SPHERE_CAPSULE
from rigid.interactions.contact.circles import PLANE_CIRCLE
from rigid.interactions.contact.core_dissipation import (
    CORE_ROD_DISSIPATION,
    HULLS_DISSIPATION,
    ROUND_HULLS_DISSIPATION,
    SPHERE_CORE_DISSIPATION,
)
from rigid.interactions.contact.core_points import CORE_ROD, SPHERE_CORE
from rigid.interactions.contact.edge_dissipation import EDGES_DISSIPATION
from rigid.interactions.contact.edges import EDGES
from rigid.interactions.contact.hulls import HULLS
from rigid.interactions.contact.mesh_dissipation import (
    MESH_HULL_DISSIPATION,
    MESH_ROD_DISSIPATION,
    MESH_ROUND_DISSIPATION,
    SPHERE_MESH_DISSIPATION,
)
from rigid.interactions.contact.mesh_hulls import MESH_HULL
from rigid.interactions.contact.mesh_points import MESH_ROD, SPHERE_MESH
from rigid.interactions.contact.planes import PLANE_ROD, PLANE_SPHERE
from rigid.interactions.contact.round_hulls import MESH_ROUND, ROUND_HULLS
from rigid.interactions.contact.sphere_rod_contacts import RODS, SPHERE_ROD, SPHERES
from rigid.interactions.contact.sphere_rod_dissipation import (
    PLANE_CIRCLE_DISSIPATION,
    PLANE_ROD_DISSIPATION,
    PLANE_SPHERE_DISSIPATION,
    ROD_DISSIPATIONS,
    SPHERES_DISSIPATION,
)
from rigid.interactions.drag import DRAG
from rigid.interactions.fluid_drag import BODY_DRAG, LINE_DRAG
from rigid.interactions.gear import GEARS
from rigid.interactions.inerters import INERTERS
from rigid.interactions.joint_friction import JOINT_FRICTION, ROTATION_DAMPING
from rigid.interactions.kind_registry import KindRegistry
from rigid.interactions.law_springs import (
    ANGLE_DAMPER,
    ANGLE_SPRING,
    DISPLACEMENT_DAMPER,
    DISPLACEMENT_SPRING,
    LENGTH_DAMPER,
    LENGTH_SPRING,
)
from rigid.interactions.loads import BUOYANCY, LOADS, MOVING_FORCE
from rigid.interactions.measure_forces import MEASURE_FORCES
from rigid.interactions.pressure import PRESSED_EDGE, VARYING_PRESSED_EDGE
from rigid.interactions.reeved_tendons import REEVED
from rigid.interactions.spring import SPRING
from rigid.interactions.tendon_friction import TENDON_FRICTIONS
from rigid.interactions.tendon_length import ELASTIC_TENDONS, TENDON_LENGTHS, VARYING_TENDONS
from rigid.interactions.torsion_spring import TORSION_SPRING

INTERACTIONS = KindRegistry(
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
        PLANE_SPHERE_DISSIPATION,
        PLANE_ROD_DISSIPATION,
        SPHERES_DISSIPATION,
        PLANE_CIRCLE,
        PLANE_CIRCLE_DISSIPATION,
        SPHERE_CAPSULE,
        CAPSULE_ROD,
        CAPSULES,
        *LOADS,
        SPHERE_BOX,
        BOXES,
        SPHERE_BOX_DISSIPATION,
        BOXES_DISSIPATION,
        BOX_ROD,
        BOX_ROD_DISSIPATION,
        SPHERE_MESH,
        MESH_ROD,
        SPHERE_MESH_DISSIPATION,
        MESH_ROD_DISSIPATION,
        SPHERE_CORE,
        CORE_ROD,
        SPHERE_CORE_DISSIPATION,
        CORE_ROD_DISSIPATION,
        HULLS,
        HULLS_DISSIPATION,
        ROUND_HULLS,
        ROUND_HULLS_DISSIPATION,
        CAPSULES_DISSIPATION,
        MESH_HULL,
        MESH_HULL_DISSIPATION,
        MESH_ROUND,
        MESH_ROUND_DISSIPATION,
        EDGES,
        EDGES_DISSIPATION,
        *INERTERS.values(),
        *MEASURE_FORCES.values(),
        VARYING_PRESSED_EDGE,
        SE3_ACTUATION,
        ROTATION_DAMPING,
        BUOYANCY,
        LINE_DRAG,
        BODY_DRAG,
        *ADDED_MASSES.values(),
        AIRFOIL,
        MOVING_FORCE,
        *STRAIN_CONSTRAINTS.values(),
        CIRCULATION,
    ]
)
INTERACTIONS.add_families([*GEARS.values(), *ROD_DISSIPATIONS.values()])
for tendons in (TENDON_FRICTIONS, TENDON_LENGTHS, ELASTIC_TENDONS, VARYING_TENDONS, *REEVED):
    INTERACTIONS.add_families(tendons.values())
for elements in (
    se3_span,
    lagrange_element,
    relative_element,
    cayley_element,
    midpoint_element,
    string_element,
):
    INTERACTIONS.add_families(elements.ACTUATIONS.values())
for chambers in (GAS_CHAMBERS, LIQUID_CHAMBERS, PUMPED_CHAMBERS):
    INTERACTIONS.add_families(chambers.values())
