"""Multisymplectic integrators of one rod, for reference: the formulation z in R^22 of `discretization.continuum` on boxes.

    grid                a rod on n_elements equal elements, its ends, its initial state
    implicit_step       Newton's method for a step defined by a residual, and tangent solutions
    preissmann          the box of Preissmann: means over four corners, implicit, order 2, constraint in the middle of a box
    euler_box           one-sided differences: explicit except for the constraint at the nodes, order 1
    variational_box     a discrete Lagrangian on the four corners, constraint at the nodes: implicit, order 2
    time_integration    runs, and the discrete two-form along tangent solutions
    spectra             ranks of a step and eigenvalues of its linearisation: well-posed end conditions
    local_law_residuals local laws of runs

docs/theory/rod_pde.md has the measurements. For models with joints and loads use the schemes of `discretization.time`.
"""
