"""Schemes on frames as users would write them: one with its own equations, one of substeps of `em`.

em-drag            the step of `em`, with the force -c m vbar on each frame, so that v1 = v0 (1 - c h/2)/(1 + c h/2)
em4-triple         three substeps of `em`, Yoshida 1990: g, 1 - 2 g, g, g = 1/(2 - 2^(1/3)); order 4
"""

from contextlib import contextmanager
from unittest import mock

from discretization.assembly.step_equations import assemble
from discretization.time.em_family import EM_FAMILY, EmIntegrator
from discretization.time.newton import FOLDED

C = 2.0
G = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))


def _dragged(system, numbering, hidden, state, work, h, tangent):
    """h c m vbar = c m dr."""
    if assemble(system, numbering, state, work, h, tangent) != 0:
        return FOLDED
    for f in range(system.frames.mass.shape[0]):
        if system.frames.fixed[f] == 0:
            at, drag = numbering.frame[f], C * system.frames.mass[f]
            for i in range(3):
                work.residual[at + i] += drag * work.dr[f, i]
                if tangent:
                    work.values[numbering.frame_base[f] + i + i * numbering.frame_stride[f]] += drag
    return 0


DRAG = EmIntegrator(2, invariants=frozenset({"position"}), equations=_dragged)
TRIPLE = EmIntegrator(4, fractions=(G, 1.0 - 2.0 * G, G))


@contextmanager
def registered():
    """Register both schemes."""
    schemes = {
        name: lambda text, name=name, made=made: made if text == name else None
        for name, made in (("em-drag", DRAG), ("em4-triple", TRIPLE))
    }
    with mock.patch.dict(EM_FAMILY, schemes):
        yield
