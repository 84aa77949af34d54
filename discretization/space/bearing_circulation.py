"""Circulation of a bearing: the forces of the antisymmetric part A of its stiffness matrix, which has no energy.

In the coordinates x = (u, 0, t) of `free_bushing`, measured in the axes of the support, an unsymmetric stiffness K is

    K = S + A,   S = (K + K^T)/2,   A = -A^T                                                              (1)

S is the energy x . S x/2 of a bushing with a free axis. The force -A x is perpendicular to x and has no potential: around a
closed orbit of the shaft it does work, in proportion to the area of the orbit. Over a step it is that of the mean of x, so that
its work is -(x1 - x0) . A (x0 + x1)/2 exactly, which counts as work of a load (`Kind.works`). Numbers: those of `free_bushing`,
with A in place of the stiffness.
"""

from __future__ import annotations

from discretization.space.free_bushing import dual
from rigid.interactions.kinds import Kind, no_bend
from rigid.interactions.pressure import nothing

CIRCULATION = Kind("circulation of a bearing", 2, 0, nothing, dual, no_bend, works=True)
