"""Free directions of joints of closed form that slide, or that have another element between body and parent.

For each direction the elimination reads the free translation and rotation (s, a), and the directions (n, m) in which the joint
transmits no force and no moment. It also reads the derivative of this condition by the rotation of the body or of its parent. A
point of
frame b on a line perpendicular to the directions d1, d2 of frame a, or on a plane perpendicular to d1, moves along

    line    s = d1 x d2,   n = d1bar x d2bar          plane    s across d1,   n = d1bar x (s x d1)                  (1)

with d1, d2 at the end of the step and d1bar, d2bar averaged over it, which are the directions of the multipliers.
"""

from __future__ import annotations

from discretization.trees.bodies import store_vector, vector_at
from discretization.trees.data_layout import (
    AXIS,
    CONDITION,
    END_1,
    END_2,
    FREE_AXIS,
    FREE_M,
    FREE_N,
    FREE_SHIFT,
    FREE_SIZE,
    MEAN_1,
    MEAN_2,
    NEXT,
    TURNS,
    TURNS_BODY,
    TURNS_PARENT,
)
from discretization.trees.spanning_tree import BALL, HINGE, UNIVERSAL, WELD
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.linear_algebra import cross, dot, plus, times

NONE = (0.0, 0.0, 0.0)


@internal_kernel
def store_free_directions(tree, i, f, couple):
    """Compute the free directions of the joint of body i and store them in `tree.directions`; f, `couple`: force and moment of
    the joint.
    """
    w, q, slides, kind = (
        tree.joint_data[tree.joint[i]],
        tree.directions[tree.general_index[i]],
        tree.slides[i],
        tree.kind[i],
    )
    of_body = tree.side[i] < 0  # True if the body is frame a, to which lines and planes are fixed
    d1, b1 = vector_at(w, END_1), vector_at(w, MEAN_1)
    d = slides
    if slides == 1:
        d2, b2 = vector_at(w, END_2), vector_at(w, MEAN_2)
        turning = times(0.5, plus(cross(d1, cross(b2, f)), cross(d2, cross(f, b1))))
        _put(q, 0, cross(d1, d2), NONE, cross(b1, b2), NONE, turning, of_body)
    elif slides == 2:
        one = _across(d1)
        for j in range(2):
            s = one if j == 0 else cross(d1, one)
            v = cross(s, d1)
            _put(q, j, s, NONE, cross(b1, v), NONE, times(0.5, cross(d1, cross(v, f))), of_body)
    elif slides == 3:
        for j in range(3):
            _put(q, j, _unit(j), NONE, _unit(j), NONE, NONE, True)
    if kind == BALL:
        for j in range(3):
            _put(q, d + j, NONE, _unit(j), NONE, _unit(j), NONE, True)
    elif kind != WELD:
        for j in range(2 if kind == UNIVERSAL else 1):
            o = NEXT * j
            turning = times(0.5, cross(vector_at(w, TURNS + o), couple))
            with_body = j == 0 if kind != HINGE else not of_body
            _put(
                q, d + j, NONE, vector_at(w, AXIS + o), NONE, vector_at(w, CONDITION + o), turning, with_body
            )


@inline_kernel
def _put(q, j, s, a, n, m, turning, with_body):
    """Store direction j. `turning`: derivative of its condition by rotation, of the body if `with_body`, otherwise
    of its parent.
    """
    o = FREE_SIZE * j
    store_vector(q, o + FREE_SHIFT, s)
    store_vector(q, o + FREE_AXIS, a)
    store_vector(q, o + FREE_N, n)
    store_vector(q, o + FREE_M, m)
    store_vector(q, o + TURNS_BODY, turning if with_body else NONE)
    store_vector(q, o + TURNS_PARENT, NONE if with_body else turning)


@inline_kernel
def _unit(j):
    """Return the unit vector along axis j."""
    return 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2)


@inline_kernel
def _across(d):
    """Return a unit vector perpendicular to a unit vector."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    j = 0 if x <= y and x <= z else 1 if y <= z else 2
    a = cross(d, _unit(j))
    return times(1.0 / dot(a, a) ** 0.5, a)
