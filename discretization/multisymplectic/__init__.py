"""Multisymplectic integrators of one rod, for reference: the formulation z in R^22 of `discretization.continuum` on boxes.

    grid                a rod on n_elements equal elements, its ends, its start
    one_step            Newton's method, and tangent solutions, of a step given by a residual
    preissmann          the box of Preissmann: means over four corners, implicit, order 2, constraint in the middle of a box
    euler_box           differences to one side: explicit but for the constraint at the nodes, order 1
    variational_box     a discrete Lagrangian on the four corners, constraint at the nodes: implicit, order 2
    march               runs, and the discrete two-form along tangent solutions
    spectra             ranks of a step and eigenvalues of its linearisation: which ends are well posed
    laws                local laws of runs, and momenta

docs/rod_pde.md has what is measured. For models with joints and loads take the schemes of `discretization.time`.
"""
