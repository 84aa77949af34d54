"""Copy states in compiled code."""

from discretization.assembly.workspace import copy
from rigid.compilation.decorators import internal_kernel


@internal_kernel
def copy_state(source, target):
    """Copy the values of one state into another."""
    for f in range(source.r.shape[0]):
        for i in range(3):
            target.r[f, i], target.v[f, i] = source.r[f, i], source.v[f, i]
            target.Omega[f, i] = source.Omega[f, i]
        for i in range(4):
            target.quat[f, i] = source.quat[f, i]
    copy(source.lam, target.lam)
    copy(source.internal, target.internal)
    copy(source.memory, target.memory)
    copy(source.totals, target.totals)
