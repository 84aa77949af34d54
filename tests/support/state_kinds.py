"""Kinds whose internal variables have rate equations, as a script would write them.

lag      force k x along the line between two anchors, tau x' = l - rest - x: a filter between a measured distance and a force
servo    force P (l - target) + I x, x' = l - target: PI control of a distance
bead     V = k |d - s t|^2/2 of an anchor b at d from the line along the first axis t of a; s at its minimum, dV/ds = 0
"""

import numpy as np

import rodsim
from rodsim.interactions import average, dot, minus, norm, push, times, turn

AXIS = (1.0, 0.0, 0.0)


def pull(y0, y1, force, out):
    """A force that attracts both anchors, along the mean of the line between them."""
    d0, d1 = minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0])
    f = times(2.0 * force / (norm(d0) + norm(d1)), average(d0, d1))
    push(out, 1, f)
    push(out, 0, times(-1.0, f))


def length(y0, y1):
    """The mean of the distance over the step."""
    return 0.5 * (norm(minus(y0[1, 0], y0[0, 0])) + norm(minus(y1[1, 0], y1[0, 0])))


@rodsim.interaction("lag", frames=2, numbers=("k", "tau", "rest"), states=("x",))
class LAG:
    def evolve(y0, y1, x0, x1, h, X, out):
        out[0] = X[1] * (x1[0] - x0[0]) / h - (length(y0, y1) - X[2] - 0.5 * (x0[0] + x1[0]))

    def step_dual(y0, y1, x0, x1, h, X, out):
        pull(y0, y1, X[0] * 0.5 * (x0[0] + x1[0]), out)


@rodsim.interaction("servo", frames=2, numbers=("P", "I", "target"), states=("x",))
class SERVO:
    def evolve(y0, y1, x0, x1, h, X, out):
        out[0] = (x1[0] - x0[0]) / h - (length(y0, y1) - X[2])

    def step_dual(y0, y1, x0, x1, h, X, out):
        pull(y0, y1, X[0] * (length(y0, y1) - X[2]) + X[1] * 0.5 * (x0[0] + x1[0]), out)


def along(y):
    """d . t."""
    return dot(minus(y[1, 0], y[0, 0]), y[0, 1])


@rodsim.interaction("bead", frames=2, numbers=("k",), states=("s",))
class BEAD:
    def value(y, s, X):
        d = minus(y[1, 0], y[0, 0])
        return 0.5 * X[0] * (dot(d, d) - 2.0 * s[0] * along(y) + s[0] * s[0])

    def evolve(y0, y1, s0, s1, h, X, out):
        out[0] = s0[0] + s1[0] - along(y0) - along(y1)

    def step_dual(y0, y1, s0, s1, h, X, out):
        s = 0.5 * (s0[0] + s1[0])
        d = average(minus(y0[1, 0], y0[0, 0]), minus(y1[1, 0], y1[0, 0]))
        f = times(X[0], minus(d, times(s, average(y0[0, 1], y1[0, 1]))))
        push(out, 1, f)
        push(out, 0, times(-1.0, f))
        turn(out, 0, AXIS, times(-X[0] * s, d))


def settled(result):
    """States (N, k) of all outputs."""
    from discretization.internal_variables import part

    return np.asarray(part(result.layout.system, result.states(slice(None)), "settled"))
