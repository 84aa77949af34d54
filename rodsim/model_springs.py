"""The part of `Model` that adds bushings, springs with laws, and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import array, direction, number, shown, vector, word
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.parts.anchor_checks import Attaching
from rodsim.parts.entries import Attachable
from rodsim.parts.force_entries import COORDINATES, BushingEntry, Held, LawEntry
from rodsim.parts.model_parts import Ground
from rodsim.parts.spring_laws import Law, check_resists


class LawSprings(Attaching):
    """Bushings, springs and dampers with laws of their own, limits."""

    def add_bushing(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        at: ArrayLike | None = None,
        axes: ArrayLike | None = None,
        rest: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ) -> BushingEntry:
        """Hold `b` to `a` by a spring-damper in all six directions.

        stiffness, damping: 6 numbers, or 6 x 6, symmetric: of three displacements (N/m) and three rotations (N m/rad). at:
        world point of both markers at t = 0, m; without it each is at its anchor. axes: (3, 3), world directions of the
        displacements and rotations as columns, right-handed; by default those of the world. rest: coordinates without force,
        m and rad, counted from markers that coincide.

        Rotations are components of the rotation vector (angle times axis), right up to nearly pi; displacements those of the
        screw motion from marker a to marker b, which without a turn is the distance of the markers
        (`discretization.space.bushing`). Both have the same sign and size seen from a and from b.

        Where `stiffness` resists no turn about one direction, a free axis, that turn is free through any number of turns:
        rotations are then the shortest turn that takes the free axis of a to that of b, right up to nearly pi, and
        displacements those of marker b from marker a, both in the axes of a, the housing of the bearing; `damping` may
        resist the turn as well (`discretization.space.free_bushing`). So it is where nothing resists any turn.

        Raises ModelError where a matrix is not symmetric or negative somewhere, or `axes` is no rotation.
        """
        owner = f"bushing '{name}'"
        first, second = self._pair(name, owner, a, b, points=at is None)
        entry = BushingEntry(
            name,
            first,
            second,
            None if at is None else vector(owner, "at", at),
            _axes(owner, axes),
            _matrix(owner, "stiffness", stiffness),
            _matrix(owner, "damping", damping),
            vector(owner, "rest", rest, 6),
        )
        self.others[name] = entry
        return entry

    def add_law_spring(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        law: Law | None = None,
        damping: Law | None = None,
        of: str = "length",
        axis: ArrayLike | None = None,
    ) -> LawEntry:
        """Add a spring with the force `law(x)` against x, and a damper with the force `damping(dx/dt)` against its rate.

        a, b: anchors or parts. law, damping: a `Law` each; one may be left out. of: what x is. "length": the distance
        of the anchors, m;
        "displacement": that of b from a along the world direction `axis`, fixed on a; "angle": the turn of b against
        a about it, rad,
        zero at t = 0, within half a turn of the middle of the law: for parts that a joint of this axis joins.

        Raises ModelError where neither law nor damping is given, a damper feeds energy in, or `axis` is missing or too much.
        """
        return self._add_law(f"spring '{name}'", name, a, b, law, damping, of, axis, stops=False)

    def _add_law(
        self,
        owner: str,
        name: str,
        a: Attachable,
        b: Attachable,
        law: Law | None,
        damping: Law | None,
        of: str,
        axis: ArrayLike | None,
        stops: bool,
    ) -> LawEntry:
        word(owner, "of", of, COORDINATES)
        first, second = self._pair(name, owner, a, b, points=of != "angle")
        if (of == "length") != (axis is None):
            raise ModelError(
                f"{owner}: of = '{of}' {'has no axis; leave it out' if axis is not None else 'needs `axis=`'}"
            )
        if law is None and damping is None:
            raise ModelError(f"{owner}: has neither law nor damping; give one of them")
        for what, given in (("law", law), ("damping", damping)):
            if given is not None and not isinstance(given, Law):
                raise ModelError(
                    f"{owner}: {what} = {shown(given)} is no Law; give Law.table(...) or its kin"
                )
        if damping is not None:
            check_resists(owner, damping)
        along = None if axis is None else direction(owner, "axis", axis)
        entry = LawEntry(name, first, second, of, along, law, damping, stops)
        self.others[name] = entry
        return entry

    def add_limit(
        self,
        name: str,
        a: Attachable,
        b: Attachable,
        stiffness: float,
        width: float,
        lower: float | None = None,
        upper: float | None = None,
        of: str = "angle",
        axis: ArrayLike | None = None,
    ) -> LawEntry:
        """Stop an angle, a displacement or a length at `lower` and `upper`: a spring that is there only beyond them.

        a, b, of, axis: as in `add_law_spring`. stiffness: N/m or N m/rad. width: m or rad. lower, upper: m or rad;
        one may be left out.
        The force begins smoothly, as stiffness gap^2/(2 width), and is linear where the gap is above `width`.

        Raises ModelError where lower is not below upper, or neither is given.
        """
        law = Law.limit(stiffness, width, lower, upper)
        return self._add_law(f"limit '{name}'", name, a, b, law, None, of, axis, stops=True)

    def _pair(self, name: str, owner: str, a: Any, b: Any, points: bool) -> tuple[Held, Held]:
        """What it holds on to; points: places on the parts, which the ground alone is not."""
        self._new_among(self.others, "bushing or spring", name)
        first, second = self._holder(owner, a), self._holder(owner, b)
        for thing in (first, second):
            if points and isinstance(thing, Ground):
                raise ModelError(f"{owner}: {thing} alone is no point; give model.ground.at(point)")
        self._check_apart(owner, first, second)
        return first, second


def _matrix(owner: str, what: str, given: ArrayLike) -> Floats:
    """A symmetric 6 x 6 matrix that is nowhere negative, of that, its diagonal, or one number."""
    found = np.asarray(given, dtype=object)
    if found.ndim == 0:
        diagonal = np.full(6, number(owner, what, given))
        matrix = np.diag(diagonal)
    elif found.ndim == 1:
        matrix = np.diag(vector(owner, what, given, 6))
    else:
        matrix = array(owner, what, given, (6, 6))
    if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise ModelError(f"{owner}: {what} is not symmetric")
    lowest = np.linalg.eigvalsh(matrix)[0]
    if lowest < -1e-12 * np.abs(matrix).max():
        raise ModelError(f"{owner}: {what} has the eigenvalue {lowest:.3g}; it must not be negative")
    return 0.5 * (matrix + matrix.T)


def _axes(owner: str, given: ArrayLike | None) -> Floats:
    axes = np.eye(3) if given is None else array(owner, "axes", given, (3, 3))
    if np.abs(axes.T @ axes - np.eye(3)).max() > 1e-6 or np.linalg.det(axes) < 0.0:
        raise ModelError(f"{owner}: axes are no right-handed set of unit vectors; give one as columns")
    left, _, right = np.linalg.svd(axes)
    return left @ right
