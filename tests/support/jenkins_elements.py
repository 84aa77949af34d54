"""Jenkins elements: an elastic bristle that slides at a limit, the simplest interaction whose internal variables are updated.

From the origin of frame a to that of frame b, with 1 variable z along the first axis of a, or 3 along all axes. With ds the
change of the displacement along these axes over a step,

    T* = k (z0 + ds/2),   T = T* min(1, limit/|T*|),   z1 = 2 T/k - z0, or T/k if it slides,   stored k |z|^2/2        (1)

The value T/k is taken if T . ds less the stored energy is not below zero, otherwise 2 T/k - z0. And a wall, which acts on one
side. They are registered like kinds of a script, but by hand: those have no internal variables and no sides.
"""

import numpy as np

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Condensed, Kind, dissipation, dual_function, no_bend, value_function
from rodsim.interactions.registration import KINDS, UserKind, register_kind

K, LIMIT, Z = 24, 25, 26  # behind the parameters of two anchors


@inline_kernel
def displacement(y, i):
    """Displacement of the origin of b, along axis i of a."""
    total = 0.0j
    for l in range(3):
        total += y[0, 1 + i, l] * (y[1, 0, l] - y[0, 0, l])
    return total


@inline_kernel
def trial(y0, y1, X, i):
    """T* along axis i."""
    return X[K] * (X[Z + i] + 0.5 * (displacement(y1, i) - displacement(y0, i)))


@inline_kernel
def force_scale(square, limit):
    """T/T*, a function of |T*|^2."""
    return limit / np.sqrt(square) if square.real > limit * limit else 1.0 + 0.0j


@inline_kernel
def add_tension(T, i, y0, y1, out):
    """The discrete derivative of T times the displacement along axis i."""
    for l in range(3):
        f = 0.5 * T * (y0[0, 1 + i, l] + y1[0, 1 + i, l])
        out[1, 0, l] += f
        out[0, 0, l] -= f
        out[0, 1 + i, l] += 0.5 * T * (y0[1, 0, l] - y0[0, 0, l] + y1[1, 0, l] - y1[0, 0, l])


def _registered(kind, numbers):
    KINDS[kind.name] = user_kind = UserKind(kind.name, kind, numbers, kind.name, (True,) * kind.arity)
    register_kind(user_kind)
    return user_kind


def _jenkins(count):
    @dual_function
    def dual(y0, y1, X, lam, out):
        out[:2] = 0.0
        square = 0.0j
        for i in range(count):
            square += trial(y0, y1, X, i) ** 2
        scale = force_scale(square, X[LIMIT])
        for i in range(count):
            add_tension(scale * trial(y0, y1, X, i), i, y0, y1, out)

    @dual_function
    def holds(y, z, X, lam, out):
        out[:2] = 0.0
        square = 0.0j
        for i in range(count):
            square += trial(y, y, X, i) ** 2
        scale = force_scale(square, X[LIMIT])
        for i in range(count):
            add_tension(scale * trial(y, y, X, i), i, y, y, out)

    @dual_function
    def update_internal(y0, y1, X, lam, out):
        square, lost = 0.0j, 0.0
        for i in range(count):
            square += trial(y0, y1, X, i) ** 2
        scale = force_scale(square, X[LIMIT]).real
        for i in range(count):
            T = scale * trial(y0, y1, X, i).real
            lost += T * (displacement(y1, i) - displacement(y0, i)).real
            lost -= 0.5 * (T * T / X[K] - X[K] * X[Z + i] ** 2)
        for i in range(count):
            T = scale * trial(y0, y1, X, i).real
            slides = scale < 1.0 and lost >= 0.0
            out[0, 0, i] = T / X[K] if slides else 2.0 * T / X[K] - X[Z + i]

    @value_function
    def stored_energy(y, X, out):
        out[0] = 0.0
        for i in range(count):
            out[0] += 0.5 * X[K] * X[Z + i] ** 2

    kind = dissipation(f"jenkins {count}", 2, dual, holds)
    kind = kind._replace(
        n_internal=count, condensed=Condensed(update_internal=update_internal, stored_energy=stored_energy)
    )
    return _registered(kind, (("k", 0), ("limit", 0), ("z", count)))


JENKINS = {count: _jenkins(count) for count in (1, 3)}


C, RATE = 25, 26  # of `STRUT`


def _strut():
    """A spring k between two frames, defined by the stored energy of a dissipative kind, with a damper c along the first axis
    of a. Its internal variable is the rate of the displacement over the step. The stored energy depends on the poses, the
    dissipation on h.
    """

    @inline_kernel
    def force(y0, y1, X, lam):
        s0, s1 = displacement(y0, 0), displacement(y1, 0)
        return 0.5 * X[K] * (s0 + s1) + lam[0] * X[C] * (s1 - s0)

    @dual_function
    def dual(y0, y1, X, lam, out):
        out[:2] = 0.0
        add_tension(force(y0, y1, X, lam), 0, y0, y1, out)

    @dual_function
    def holds(y, z, X, lam, out):
        out[:2] = 0.0
        add_tension(X[K] * displacement(y, 0) + X[C] * X[RATE], 0, y, y, out)

    @dual_function
    def update_internal(y0, y1, X, lam, out):
        out[0, 0, 0] = lam[0] * (displacement(y1, 0) - displacement(y0, 0))

    @value_function
    def stored_energy(y, X, out):
        out[0] = 0.5 * X[K] * displacement(y, 0) ** 2

    kind = dissipation("strut", 2, dual, holds)
    kind = kind._replace(
        n_internal=1, condensed=Condensed(update_internal=update_internal, stored_energy=stored_energy)
    )
    return _registered(kind, (("k", 0), ("c", 0), ("rate", 0)))


STRUT = _strut()
STIFFNESS, HEIGHT = 12, 13  # behind the parameters of one anchor


def _wall(one_sided):
    """V = k depth^2/2 of the origin of a frame, which stays above `height` along the third axis of space."""

    @value_function
    def value(y, X, out):
        depth = X[HEIGHT] - y[0, 0, 2]
        out[0] = 0.5 * X[STIFFNESS] * depth * depth if depth.real > 0.0 else 0.0j

    @dual_function
    def dual(y0, y1, X, lam, out):
        out[:1] = 0.0
        a, b = X[HEIGHT] - y0[0, 0, 2], X[HEIGHT] - y1[0, 0, 2]
        force = -0.5 * lam[0] * X[STIFFNESS]
        if a.real > 0.0 and b.real > 0.0:
            out[0, 0, 2] = force * (a + b)
        elif a.real > 0.0:
            out[0, 0, 2] = force * a * a / (a - b)
        elif b.real > 0.0:
            out[0, 0, 2] = force * b * b / (b - a)

    name = "wall" if one_sided else "wall that is always asked"
    return _registered(Kind(name, 1, 0, value, dual, no_bend, one_sided=one_sided), (("k", 0), ("height", 0)))


WALLS = {one_sided: _wall(one_sided) for one_sided in (False, True)}


def _chain(frames):
    """V = k/2 sum |p_(j+1) - p_j|^2 for the origins of this many frames."""

    @value_function
    def value(y, X, out):
        out[0] = 0.0
        for j in range(frames - 1):
            for i in range(3):
                out[0] += 0.5 * X[12 * frames] * (y[j + 1, 0, i] - y[j, 0, i]) ** 2

    @dual_function
    def dual(y0, y1, X, lam, out):
        out[:frames] = 0.0
        for j in range(frames - 1):
            for i in range(3):
                d = y0[j + 1, 0, i] - y0[j, 0, i] + y1[j + 1, 0, i] - y1[j, 0, i]
                out[j + 1, 0, i] += 0.5 * lam[0] * X[12 * frames] * d
                out[j, 0, i] -= 0.5 * lam[0] * X[12 * frames] * d

    return _registered(Kind(f"chain of {frames}", frames, 0, value, dual, no_bend), (("k", 0),))


CHAIN = _chain(12)
