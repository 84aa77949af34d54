"""Contact of spheres, circles, capsules, boxes, hulls, meshes, rods and planes: energies of a gap, and what is lost beside each.

    kind                 frames                          numbers
    PLANE_SPHERE         plane, sphere                   law (4), rho, N (3), P (3), X (3)
    PLANE_CIRCLE         plane, body                     law (4), rho, N (3), P (3), X (3), A (3), R
    PLANE_ROD            plane, nodes a, b               law (4), rho, N (3), P (3), m, L, of many nodes La, Lb
    SPHERES              a, b                            law (4), rho, Xa (3), Xb (3)
    SPHERE_ROD           sphere, nodes b1, b2            law (4), rho, Xa (3), minus
    SPHERE_CAPSULE       sphere, capsule                 law (4), rho, Xa (3), Xb1 (3), Xb2 (3)
    CAPSULE_ROD          capsule, nodes a, b             law (4), rho, m, L, X1 (3), X2 (3)
    CAPSULES             a, b                            law (4), rho, Xa1 (3), Xa2 (3), Xb1 (3), Xb2 (3)
    SPHERE_BOX           sphere, box                     law (4), rho, Xa (3), Xb (3), half (3)
    BOX_ROD              box, nodes a, b                 law (4), rho, m, L, X (3), half (3)
    SPHERE_MESH          sphere, mesh                    law (4), rho, Xa (3), triangles
    MESH_ROD             mesh, nodes a, b                law (4), rho, m, L, triangles
    BOXES                a, b                            law (4), rho, Xa (3), half a (3), Xb (3), half b (3)
    SPHERE_CORE          sphere, hull                    law (4), rho, Xa (3), core
    CORE_ROD             hull, nodes a, b                law (4), rho, m, L, core
    HULLS                a, b                            law (4), rho, core a, core b
    ROUND_HULLS          a, round b                      law (4), rho, core a, core b
    MESH_HULL            mesh, hull                      law (4), rho, core, ridges, triangles
    MESH_ROUND           mesh, round body                law (4), rho, core, ridges, triangles
    EDGES                a, b                            law (4), rho, Xa1 (3), Xa2 (3), Xb1 (3), Xb2 (3)
    RODS                 nodes a1, a2, b1, b2            law (4), rho, m, L, minus
    PLANE_SPHERE_LOSS    plane, sphere                   those of PLANE_SPHERE, loss (11), own (4)
    PLANE_CIRCLE_LOSS    plane, body                     those of PLANE_CIRCLE, loss (11), own (4)
    PLANE_ROD_LOSS       plane, nodes a, b               those of PLANE_ROD, loss (11), own (4)
    SPHERES_LOSS         a, b                            those of SPHERES, radius of a, loss (11), own (4)
    SPHERE_BOX_LOSS      sphere, box                     those of SPHERE_BOX, radius of the sphere, loss (11), own (4)
    BOX_ROD_LOSS         box, nodes a, b                 those of BOX_ROD, radius of the rod, loss (11), own (4)
    SPHERE_MESH_LOSS     sphere, mesh                    those of SPHERE_MESH, radius of the sphere, loss (11), own (4)
    MESH_ROD_LOSS        mesh, nodes a, b                those of MESH_ROD, radius of the rod, loss (11), own (4)
    BOXES_LOSS           a, b                            those of BOXES, radius of a, loss (11), own (4)
    SPHERE_CORE_LOSS     sphere, hull                    those of SPHERE_CORE, radius of the sphere, loss (11), own (4)
    CORE_ROD_LOSS        hull, nodes a, b                those of CORE_ROD, radius of the rod, loss (11), own (4)
    HULLS_LOSS           a, b                            those of HULLS, radius of a, loss (11), own (4)
    ROUND_HULLS_LOSS     a, round b                      those of ROUND_HULLS, radius of a, loss (11), own (4)
    CAPSULES_LOSS        a, b                            those of CAPSULES, radius of a, loss (11), own (4)
    MESH_HULL_LOSS       mesh, hull                      those of MESH_HULL, radius of the hull, loss (11), own (4)
    MESH_ROUND_LOSS      mesh, round body                those of MESH_ROUND, radius of the body, loss (11), own (4)
    EDGES_LOSS           a, b                            those of EDGES, radius of a, loss (11), own (4)
    rod_loss(1, M)       sphere, M nodes in a row        law (4), rho, Xa (3), M, radius of a, loss (11), own (4)
    rod_loss(2, M)       nodes a1, a2, M nodes in a row  law (4), rho, m, L, M, radius of a, loss (11), own (4)

law: `normal_laws`; rho: radius, or the sum of both; N, P: normal and a point of a plane in its frame; X: centre in the frame
of its sphere or circle; X1, X2: ends of a capsule's axis, or of an edge; half: of the sides of a box's core, X its centre;
core: as many numbers as it has, of a hull or a body of revolution, `rigid.kinematics.cores`; triangles: `mesh_features`;
ridges: `mesh_hulls`; A, R: axis and radius of a circle; m, L: an element of length L has the stations i/m, i = 0 .. m, each
for a length L/m, those at the ends for half of it, and k is per length; La, Lb: lengths for which the nodes a and b of an
element of many stand, m = 1; minus, 1: the vertex b2 is taken off, since the next segment has it too. loss, own: `friction`;
the radius of a says where between the axes the surfaces touch.
"""
