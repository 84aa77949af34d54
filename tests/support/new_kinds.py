"""Interaction kinds that the package does not have, as users would write them, and an entry for a model.

Of three frames each, with points p = r + R X:

    halfway     rows     p_b - (1 - s) p_a - s p_c = 0, three of them
    rope        a row    |p_a - p_b| + |p_c - p_b| - L = 0, over a small pulley at p_b
    straight    energy   k |p_a - 2 p_b + p_c - e0|^2/2

and of two frames with an internal variable:

    coil     energy   k (alpha - alpha0)^2/2, alpha counted through turns
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import Interaction
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import (
    Kind,
    StrainEnergy,
    dual_function,
    frame,
    store,
    stress_function,
    value_function,
    vector,
)
from rigid.interactions.torsion_spring import TORSION_SPRING
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import average, dot, minus, plus, times
from rodsim import Model
from rodsim.components.forces import Attachment, InteractionComponent, Poses
from tests.support.completeness import BRICK, OBLIQUE, SOFT

NUMBER = 9  # behind the three points: s, L, k


@inline_kernel
def points(y, X):
    """p_a, p_b, p_c."""
    return (
        point(frame(y, 0), vector(X, 0)),
        point(frame(y, 1), vector(X, 3)),
        point(frame(y, 2), vector(X, 6)),
    )


@inline_kernel
def store_forces(fa, fb, fc, X, out):
    """Store the forces at the three points."""
    store(on_point(fa, vector(X, 0)), out, 0)
    store(on_point(fb, vector(X, 3)), out, 1)
    store(on_point(fc, vector(X, 6)), out, 2)


@value_function
def halfway_value(y, X, out):
    a, b, c = points(y, X)
    for i in range(3):
        out[i] = b[i] - (1.0 - X[NUMBER]) * a[i] - X[NUMBER] * c[i]


@dual_function
def halfway_dual(y0, y1, X, lam, out):
    f = (lam[0], lam[1], lam[2])
    store_forces(times(X[NUMBER] - 1.0, f), f, times(-X[NUMBER], f), X, out)


@dual_function
def halfway_bend(y, z, X, lam, out):
    out[:] = 0.0


@value_function
def rope_value(y, X, out):
    a, b, c = points(y, X)
    d, e = minus(a, b), minus(c, b)
    out[0] = dot(d, d) ** 0.5 + dot(e, e) ** 0.5 - X[NUMBER]


@inline_kernel
def pull(d0, d1, lam):
    """lam times the discrete derivative of |d|."""
    return times(2.0 * lam / (dot(d0, d0) ** 0.5 + dot(d1, d1) ** 0.5), average(d0, d1))


@dual_function
def rope_dual(y0, y1, X, lam, out):
    a0, b0, c0 = points(y0, X)
    a1, b1, c1 = points(y1, X)
    f, g = pull(minus(a0, b0), minus(a1, b1), lam[0]), pull(minus(c0, b0), minus(c1, b1), lam[0])
    store_forces(f, times(-1.0, plus(f, g)), g, X, out)


@inline_kernel
def turned(d, z, lam):
    """Derivative of lam d/|d| along z."""
    size = dot(d, d) ** 0.5
    return times(lam / size, minus(z, times(dot(d, z) / (size * size), d)))


@inline_kernel
def rates(z, X):
    """Rates of the points: the same function, linear in poses."""
    return points(z, X)


@dual_function
def rope_bend(y, z, X, lam, out):
    a, b, c = points(y, X)
    u, v, w = rates(z, X)
    f, g = turned(minus(a, b), minus(u, v), lam[0]), turned(minus(c, b), minus(w, v), lam[0])
    store_forces(f, times(-1.0, plus(f, g)), g, X, out)


@inline_kernel
def bent(y, X):
    """p_a - 2 p_b + p_c."""
    a, b, c = points(y, X)
    return minus(plus(a, c), times(2.0, b))


@value_function
def straight_value(y, X, out):
    e = plus(bent(y, X), vector(X, NUMBER + 1))
    out[0] = 0.5 * X[NUMBER] * dot(e, e)


@dual_function
def straight_dual(y0, y1, X, lam, out):
    e = plus(average(bent(y0, X), bent(y1, X)), vector(X, NUMBER + 1))
    f = times(lam[0] * X[NUMBER], e)
    store_forces(f, times(-2.0, f), f, X, out)


@dual_function
def no_bend(y, z, X, lam, out):
    out[:] = 0.0


@value_function
def strains(y, X, out):
    out[0], out[1], out[2] = bent(y, X)


@dual_function
def energy_of_strains(y0, y1, X, lam, out):
    f = (lam[0], lam[1], lam[2])
    store_forces(f, times(-2.0, f), f, X, out)


@stress_function
def law(e, X, out):
    for i in range(3):
        out[i] = X[NUMBER] * (e[i] + X[NUMBER + 1 + i])


def shifted(X: Any, de: Any, dstress: Any) -> Any:
    X = X.copy()
    X[:, NUMBER + 1 :] += de
    return X


HALFWAY = Kind("halfway", 3, 3, halfway_value, halfway_dual, halfway_bend)
ROPE = Kind("rope", 3, 1, rope_value, rope_dual, rope_bend, steep=True)
STRAIGHT = Kind(
    "straight",
    3,
    0,
    straight_value,
    straight_dual,
    no_bend,
    strain_energy=StrainEnergy(3, strains, energy_of_strains, law, shifted),
)


# of two frames, with an internal variable: a torsion spring by its duals alone
COIL = TORSION_SPRING._replace(name="coil of a test", loop=0, parallel_damper=None)


@dataclass(frozen=True, eq=False)
class Coil(InteractionComponent):
    """An interaction like `Model.add_spring` along a rotation."""

    plural = "coils"
    name: str
    a: Attachment
    b: Attachment
    axis: tuple[float, float, float]
    stiffness: float
    angle0: float = 0.0

    @property
    def kind(self) -> str:
        return COIL.name

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        a, b = poses.frame_of(self.a), poses.frame_of(self.b)
        axis = np.array(self.axis) / np.linalg.norm(self.axis)
        U = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        U /= np.linalg.norm(U)
        directions = poses.local(a, U), poses.local(a, np.cross(axis, U)), poses.local(b, U)
        numbers = np.concatenate([*directions, [self.stiffness, self.angle0, 0.0, 0.0]])
        return [Interaction(COIL, (a, b), numbers, (0.0, self.stiffness))]

    def described(self) -> dict[str, Any]:
        return {"kind": self.kind, "a": str(self.a), "b": str(self.b), "stiffness": self.stiffness}


@dataclass(frozen=True, eq=False)
class ThreePoints(InteractionComponent):
    """One of the kinds between points of three parts."""

    plural = "new kinds"
    name: str
    a: Attachment
    b: Attachment
    c: Attachment
    of: Kind
    number: float = 0.0

    @property
    def kind(self) -> str:
        return self.of.name

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        points: Any = [poses.place(x) for x in (self.a, self.b, self.c)]  # type: ignore[arg-type]
        arm = float(max(np.linalg.norm(place.X) for place in points))
        size = (1.0, arm) if self.of.rows else (self.number, self.number * arm)
        number = self.number
        if self.of is ROPE:  # the initial length
            a, b, c = (place.world for place in points)
            number = float(np.linalg.norm(a - b) + np.linalg.norm(c - b))
        initial = np.zeros(3) if self.of is STRAIGHT else np.zeros(0)
        numbers = np.concatenate([*(place.X for place in points), [number], initial])
        return [Interaction(self.of, [place.frame for place in points], numbers, size)]

    def described(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "a": str(self.a),
            "b": str(self.b),
            "c": str(self.c),
            "number": self.number,
        }


@contextmanager
def registered(*kinds: Kind) -> Iterator[None]:
    """Register more kinds."""
    before = len(INTERACTIONS)
    INTERACTIONS.extend(kinds)
    try:
        yield
    finally:
        del INTERACTIONS[before:]


def three_points() -> Model:
    """A rod with its end between two bodies, a rope over a third, a fourth on it; all on bushings."""
    model = Model("three points", gravity=OBLIQUE)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 4, mass="lumped")
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("push", rod.at(0.5), (-1.0, 0.0, 0.0))
    bodies = []
    for k, place in enumerate(((1, -1, 0), (1, 1, 0), (2, 0.5, 0.3), (2.5, -0.8, 0.2))):
        body = model.add_body(f"body {k}", BRICK, position=place)
        model.add_bushing(f"bushing {k}", model.ground, body, 80.0, at=place)
        bodies.append(body)
    a, b, c, d = bodies
    corner = (0.2, 0.1, -0.1)
    model.others["half"] = ThreePoints(
        "half", a.at((0.1, 0, 0.1)), rod.end, b.at((-0.1, 0, -0.1)), HALFWAY, 0.5
    )
    model.others["rope"] = ThreePoints("rope", a.at(corner), c.at(corner), d.at(corner), ROPE)
    model.others["line"] = ThreePoints("line", b.at(corner), c.at(corner), d.at(corner), STRAIGHT, 20.0)
    model.others["coil"] = Coil("coil", model.ground, d, (0, 0.6, 0.8), 3.0, 0.4)
    return model
