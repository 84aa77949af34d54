"""Define `Friction`, the friction of a contact as one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from numpy.typing import ArrayLike

__all__ = ["Friction"]


@dataclass(frozen=True)
class Friction:
    """Describe the friction of a contact, for `Model.add_contact(..., friction=Friction(...))`.

    `friction` also accepts a number, the coefficient alone, or a pair of coefficients (static, kinetic). Values are checked when
    the contact is added.

    Parameters
    ----------
    coefficient : float
        Kinetic coefficient of Coulomb's friction.
    static : float, optional
        Static coefficient, not below `coefficient`. Default: `coefficient`.
    tangential_stiffness : float, optional
        Stiffness of the spring that holds a sticking point, in the units of the stiffness of the contact. Default: the stiffness
        of a linear law; required for other laws.
    rolling : float, default 0.0
        Moment against rolling, divided by the normal force, m.
    drilling : float or "friction", default 0.0
        Moment against a rotation about the normal, divided by the normal force, m. Friction alone does not resist a rotation of
        a round face about the normal. With "friction", on planes, each rim of radius R of a cylinder or cone has the value 2/3
        coefficient R, which is exact for a face that presses evenly. Corners, points and rods have none, since friction acts on
        each of them separately. It also brakes a body that rolls on the edge of a rim.
    anisotropy : array_like, shape (3,), default (1.0, 1.0, 1.0)
        Factors of friction on rods: forwards along the rod, backwards, and sideways.

    Examples
    --------
    >>> from rodsim import Box, Friction, Model
    >>> model = Model("m", gravity=(0, 0, -9.81))
    >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, 0.05))
    >>> floor = model.add_plane("floor", "ground@0,0,0", normal=(0, 0, 1))
    >>> solid = model.add_solid("block", block)
    >>> model.add_contact("rubs", solid, floor, stiffness=1e5, friction=Friction(0.3, static=0.4, rolling=1e-3))
    <contact 'rubs' of solid 'block', plane 'floor'>
    """

    coefficient: float
    static: float | None = None
    tangential_stiffness: float | None = None
    rolling: float = 0.0
    drilling: float | Literal["friction"] = 0.0
    anisotropy: ArrayLike = (1.0, 1.0, 1.0)

    @classmethod
    def of(cls, value: float | tuple[float, float] | Friction) -> Friction:
        """Return a number, a pair or a Friction as a Friction.

        Parameters
        ----------
        value : float, pair of float or Friction
            Coefficient, or (static, kinetic).

        Returns
        -------
        Friction

        Examples
        --------
        >>> from rodsim import Friction
        >>> Friction.of((0.4, 0.3)).static
        0.4
        """
        if isinstance(value, Friction):
            return value
        if isinstance(value, tuple | list) and len(value) == 2:
            return cls(value[1], static=value[0])
        return cls(value)  # checked when the contact is added


def friction_fields(value: Any) -> Mapping[str, Any]:
    """Return the fields of a contact entry for a coefficient, a pair of them or a Friction."""
    if not isinstance(value, Friction):
        return {"friction": value}
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    coefficient, static = values.pop("coefficient"), values.pop("static")
    return {"friction": coefficient if static is None else (static, coefficient), **values}


def merged_friction(field: str, value: Any, friction: Any) -> Friction:
    """Return a Friction with one field changed; `friction` = None stands for a coefficient of 0."""
    return replace(Friction.of(0.0 if friction is None else friction), **{field: value})
