"""Contact elements of spheres, circles, capsules, boxes, hulls, meshes, rods and planes: potential of a gap, and losses.

Each line of the table is a kind with its frames and its parameters in the order of X. A kind `..._DISSIPATION` is the dissipation
(restitution, friction, rolling and drilling resistance) that acts in addition to the energy of the kind without the suffix.

    kind                        frames                          parameters
    PLANE_SPHERE                plane, sphere                   law (4), rho, N (3), P (3), X (3)
    PLANE_CIRCLE                plane, body                     law (4), rho, N (3), P (3), X (3), A (3), R
    PLANE_ROD                   plane, nodes a, b               law (4), rho, N (3), P (3), m, L, of many nodes La, Lb
    SPHERES                     a, b                            law (4), rho, Xa (3), Xb (3)
    SPHERE_ROD                  sphere, nodes b1, b2            law (4), rho, Xa (3), minus
    SPHERE_CAPSULE              sphere, capsule                 law (4), rho, Xa (3), Xb1 (3), Xb2 (3)
    CAPSULE_ROD                 capsule, nodes a, b             law (4), rho, m, L, X1 (3), X2 (3)
    CAPSULES                    a, b                            law (4), rho, Xa1 (3), Xa2 (3), Xb1 (3), Xb2 (3)
    SPHERE_BOX                  sphere, box                     law (4), rho, Xa (3), Xb (3), half (3)
    BOX_ROD                     box, nodes a, b                 law (4), rho, m, L, X (3), half (3)
    SPHERE_MESH                 sphere, mesh                    law (4), rho, Xa (3), triangles
    MESH_ROD                    mesh, nodes a, b                law (4), rho, m, L, triangles
    BOXES                       a, b                            law (4), rho, Xa (3), half a (3), Xb (3), half b (3)
    SPHERE_CORE                 sphere, hull                    law (4), rho, Xa (3), core
    CORE_ROD                    hull, nodes a, b                law (4), rho, m, L, core
    HULLS                       a, b                            law (4), rho, core a, core b
    ROUND_HULLS                 a, round b                      law (4), rho, core a, core b
    MESH_HULL                   mesh, hull                      law (4), rho, core, ridges, triangles
    MESH_ROUND                  mesh, round body                law (4), rho, core, ridges, triangles
    EDGES                       a, b                            law (4), rho, Xa1 (3), Xa2 (3), Xb1 (3), Xb2 (3)
    RODS                        nodes a1, a2, b1, b2            law (4), rho, m, L, minus
    PLANE_SPHERE_DISSIPATION    plane, sphere                   those of PLANE_SPHERE, loss (11), internal (4)
    PLANE_CIRCLE_DISSIPATION    plane, body                     those of PLANE_CIRCLE, loss (11), internal (4)
    PLANE_ROD_DISSIPATION       plane, nodes a, b               those of PLANE_ROD, loss (11), internal (4)
    SPHERES_DISSIPATION         a, b                            those of SPHERES, radius of a, loss (11), internal (4)
    SPHERE_BOX_DISSIPATION      sphere, box                     those of SPHERE_BOX, radius of sphere, loss (11), internal (4)
    BOX_ROD_DISSIPATION         box, nodes a, b                 those of BOX_ROD, radius of the rod, loss (11), internal (4)
    SPHERE_MESH_DISSIPATION     sphere, mesh                    those of SPHERE_MESH, radius of sphere, loss (11), internal (4)
    MESH_ROD_DISSIPATION        mesh, nodes a, b                those of MESH_ROD, radius of the rod, loss (11), internal (4)
    BOXES_DISSIPATION           a, b                            those of BOXES, radius of a, loss (11), internal (4)
    SPHERE_CORE_DISSIPATION     sphere, hull                    those of SPHERE_CORE, radius of sphere, loss (11), internal (4)
    CORE_ROD_DISSIPATION        hull, nodes a, b                those of CORE_ROD, radius of the rod, loss (11), internal (4)
    HULLS_DISSIPATION           a, b                            those of HULLS, radius of a, loss (11), internal (4)
    ROUND_HULLS_DISSIPATION     a, round b                      those of ROUND_HULLS, radius of a, loss (11), internal (4)
    CAPSULES_DISSIPATION        a, b                            those of CAPSULES, radius of a, loss (11), internal (4)
    MESH_HULL_DISSIPATION       mesh, hull                      those of MESH_HULL, radius of the hull, loss (11), internal (4)
    MESH_ROUND_DISSIPATION      mesh, round body                those of MESH_ROUND, radius of the body, loss (11), internal (4)
    EDGES_DISSIPATION           a, b                            those of EDGES, radius of a, loss (11), internal (4)
    rod_dissipation(1, M)       sphere, M nodes in a row        law (4), rho, Xa (3), M, radius of a, loss (11), internal (4)
    rod_dissipation(2, M)       nodes a1, a2, M nodes in a row  law (4), rho, m, L, M, radius of a, loss (11), internal (4)

law: see `normal_laws`. rho: radius, or sum of both radii. N, P: normal and a point of a plane, in the plane's frame. X: centre
of a sphere or circle, in its frame. X1, X2: ends of a capsule's axis, or of an edge.

half: half of the sides of a box's core, X being its centre. core: parameters of a hull or a body of revolution, of variable
number, see `rigid.kinematics.cores`. triangles: see `mesh_features`. ridges: see `mesh_hulls`. A, R: axis and radius of a circle.

m, L: an element of length L has the stations (contact points on its chord) i/m, i = 0 .. m. Each represents a length L/m, those
at the ends half of it, and k is per length. La, Lb: lengths that the nodes a and b of a multi-node element represent, with
m = 1. minus: 1 if the contribution of the vertex b2 is subtracted, since the next segment has it too.

loss, internal: see `friction`. The radius of a determines where between the axes the surfaces touch.
"""
