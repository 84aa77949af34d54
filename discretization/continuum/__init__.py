"""The rod as a partial differential equation, in the symbols of Celledoni and Säfström (2009), "003".

u = (phi, q): line of centroids phi(S, t), m, and orientation q(S, t), a unit quaternion as a vector of R^4. Every function
accepts arrays (..., n), one row per point (S, t), and returns one row per point; derivatives of the fields are arguments with
`_S`, `_t`, `_SS` in their names. All functions but the checks of `material` accept complex arguments (complex steps).

    quaternions         L, R, E of (13)-(16)
    kinematics          strains and angular velocities (2), (3), (6), (18)-(21)
    material            rho_A, J_rho, C_N, C_M and their extensions to R^4 (5), (11), (22)
    lagrangian          densities T, U, Lagrangian (24)-(27), Legendre transforms (28), (29), (48), (49)
    hamiltonian         density h (31), variational derivatives (60)-(71), equations of motion (32)-(39), multiplier (72), (73)
    balances            the equations of Simo and Reissner (9), (10)
    multisymplectic     z in R^22, M, K, S, grad S (40), (47)-(59), multiplier (74), (75)
    conservation        local and global laws of energy, material momentum, momentum, angular momentum, two-form (41)-(46)
    local_laws          the same laws on a grid of stored states

Formulas that differ from the print of 003 are marked "printed". docs/evidence/papers.md lists them;
`rodsim reproduce rod-pde` decides.
"""
