"""Contact elements of spheres, circles, capsules, boxes, hulls, meshes, rods and planes: potential of a gap, and losses.

Each line of the table is a kind with its frames and its parameters in the order of X. A kind `..._LOSS` is the dissipation
(restitution, friction, rolling and drilling resistance) that acts in addition to the energy of the kind without the suffix.

    kind                 frames                          parameters
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
    PLANE_SPHERE_LOSS    plane, sphere                   parameters of PLANE_SPHERE, loss (11), own (4)
    PLANE_CIRCLE_LOSS    plane, body                     parameters of PLANE_CIRCLE, loss (11), own (4)
    PLANE_ROD_LOSS       plane, nodes a, b               parameters of PLANE_ROD, loss (11), own (4)
    SPHERES_LOSS         a, b                            parameters of SPHERES, radius of a, loss (11), own (4)
    SPHERE_BOX_LOSS      sphere, box                     parameters of SPHERE_BOX, radius of the sphere, loss (11), own (4)
    BOX_ROD_LOSS         box, nodes a, b                 parameters of BOX_ROD, radius of the rod, loss (11), own (4)
    SPHERE_MESH_LOSS     sphere, mesh                    parameters of SPHERE_MESH, radius of the sphere, loss (11), own (4)
    MESH_ROD_LOSS        mesh, nodes a, b                parameters of MESH_ROD, radius of the rod, loss (11), own (4)
    BOXES_LOSS           a, b                            parameters of BOXES, radius of a, loss (11), own (4)
    SPHERE_CORE_LOSS     sphere, hull                    parameters of SPHERE_CORE, radius of the sphere, loss (11), own (4)
    CORE_ROD_LOSS        hull, nodes a, b                parameters of CORE_ROD, radius of the rod, loss (11), own (4)
    HULLS_LOSS           a, b                            parameters of HULLS, radius of a, loss (11), own (4)
    ROUND_HULLS_LOSS     a, round b                      parameters of ROUND_HULLS, radius of a, loss (11), own (4)
    CAPSULES_LOSS        a, b                            parameters of CAPSULES, radius of a, loss (11), own (4)
    MESH_HULL_LOSS       mesh, hull                      parameters of MESH_HULL, radius of the hull, loss (11), own (4)
    MESH_ROUND_LOSS      mesh, round body                parameters of MESH_ROUND, radius of the body, loss (11), own (4)
    EDGES_LOSS           a, b                            parameters of EDGES, radius of a, loss (11), own (4)
    rod_loss(1, M)       sphere, M nodes in a row        law (4), rho, Xa (3), M, radius of a, loss (11), own (4)
    rod_loss(2, M)       nodes a1, a2, M nodes in a row  law (4), rho, m, L, M, radius of a, loss (11), own (4)

law: see `normal_laws`. rho: radius, or sum of both radii. N, P: normal and a point of a plane, in the plane's frame. X: centre
of a sphere or circle, in its frame. X1, X2: ends of a capsule's axis, or of an edge. half: half of the sides of a box's core,
X being its centre. core: parameters of a hull or a body of revolution, of variable number, see `rigid.kinematics.cores`.
triangles: see `mesh_features`. ridges: see `mesh_hulls`. A, R: axis and radius of a circle. m, L: an element of length L has
the stations (contact points on its chord) i/m, i = 0 .. m; each represents a length L/m, those at the ends half of it, and k is
per length. La, Lb: lengths that the nodes a and b of a multi-node element represent, with m = 1. minus: 1 if the contribution
of the vertex b2 is subtracted, since the next segment has it too. loss, own: see `friction`. The radius of a determines where
between the axes the surfaces touch.
"""
