"""Contact entries: which surfaces on parts and which rods resist penetration, and by which law."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from rigid.checks import count, number, shown, vector, word
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.base import (
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    CheckContext,
    Component,
    ParameterType,
    adapt_check,
    component,
    parameter,
)
from rodsim.components.contact_law_expressions import check_text, coefficients_of, law_text
from rodsim.components.model_parts import Anchor, Body, Driven, Ground, Rod, section_at
from rodsim.components.part_lookup import find_surface
from rodsim.components.surfaces import (
    MeshSurface,
    PlaneSurface,
    SolidSurface,
    SphereSurface,
    SurfaceComponent,
)

LAWS = ("power", "barrier")  # built-in laws, each defined by its numbers
BY_FRICTION = "friction"  # value of `drilling`: resistance computed from friction and the radius of a rim
# m/s; restitution fades out far below this speed; a smaller value is a kink for Newton's method
REST_SPEED = 1e-2


Surface = SphereSurface | SolidSurface | PlaneSurface | MeshSurface | Rod
SurfaceLike = Surface | str


_UNKNOWN = (
    "boxes, capsules, hulls, cylinders and cones touch each other, spheres and rods; balls and flat hulls touch planes alone: "
    "of a ball make a sphere"
)


def has_core(surface: Surface) -> bool:
    """Return True if the surface is a box, hull or body of revolution, solids with a core that touch with their rounding."""
    return isinstance(surface, SolidSurface) and (surface.is_box or surface.is_hull or surface.is_round)


class Pair(NamedTuple):
    """Two surfaces that resist each other: planes first, rods last; the same rod twice means self-contact."""

    a: Surface
    b: Surface

    @property
    def is_per_length(self) -> bool:
        """True if the stiffness of the pair is per length of rod."""
        return isinstance(self.b, Rod) and not isinstance(self.a, SphereSurface)

    @property
    def has_plane(self) -> bool:
        """True if the first surface is a plane."""
        return isinstance(self.a, PlaneSurface)

    def __str__(self) -> str:
        return f"{describe_surface(self.a)} and {describe_surface(self.b)}"


def describe_surface(surface: SurfaceComponent | Rod) -> str:
    """Return the kind and name of a surface, for messages."""
    return str(surface) if isinstance(surface, Rod) else f"{surface.word} '{surface.name}'"


# --- checks of field values


def _check_surface(context: CheckContext, value: Any) -> Surface:
    """Return `value` if it is a rod or surface of the model, else raise ModelError."""
    if isinstance(value, Rod):
        context.check_is_in_model(value)
    elif not isinstance(value, SurfaceComponent):
        raise ModelError(
            f"{context.owner}: {shown(value)} is not a surface; give a rod, or the return value of "
            "add_sphere, add_solid, add_plane or add_mesh"
        )
    elif getattr(context.model, value.table).get(value.name) is not value:
        raise ModelError(
            f"{context.owner}: {describe_surface(value)} belongs to another model; use surfaces of this one"
        )
    return value


def _check_surfaces(context: CheckContext, what: str, value: Any) -> tuple[Surface, ...]:
    """Check one surface or a non-empty list of distinct surfaces and return them as a tuple."""
    several = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not several:
        raise ModelError(
            f"{context.owner}: {what} is an empty list; give a sphere, a solid, a plane, a mesh, a rod or several"
        )
    surfaces = [_check_surface(context, item) for item in several]
    for k, surface in enumerate(surfaces):
        if surface in surfaces[:k]:
            raise ModelError(
                f"{context.owner}: {what} names {describe_surface(surface)} twice; remove one of them"
            )
    return tuple(surfaces)


def _check_ignored(context: CheckContext, what: str, value: Any) -> tuple[tuple[Surface, Surface], ...]:
    """Check a list of pairs of surfaces that do not touch and return it as a tuple."""
    if not isinstance(value, list | tuple) or not all(
        isinstance(x, list | tuple) and len(x) == 2 for x in value
    ):
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)}; give a list of pairs, as [(ball, floor), (ball, wall)]"
        )
    return tuple((_check_surface(context, x), _check_surface(context, y)) for x, y in value)


def _check_friction(context: CheckContext, what: str, value: Any) -> tuple[float, float]:
    """Check one coefficient or a pair and return (static, kinetic) coefficient of friction [1]."""
    both = tuple(value) if isinstance(value, list | tuple | np.ndarray) else (value, value)
    if len(both) != 2:
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)} has {len(both)} values. Expected one coefficient, or (static, kinetic)."
        )
    static, kinetic = (number(context.owner, what, x, at_least=0.0) for x in both)
    if kinetic > static:
        raise ModelError(
            f"{context.owner}: {what}: the kinetic coefficient {kinetic:g} is above the static one, {static:g}; give "
            "(static, kinetic), the kinetic one not above the other"
        )
    return static, kinetic


def _check_drilling(context: CheckContext, what: str, value: Any) -> float | str:
    """Check a drilling resistance: a length (m) or the word `BY_FRICTION`."""
    if isinstance(value, str):
        return word(context.owner, what, value, (BY_FRICTION,))
    return number(context.owner, what, value, at_least=0.0)


def _check_factors(context: CheckContext, what: str, value: Any) -> Floats:
    """Check the three positive factors of anisotropic friction."""
    factors = vector(context.owner, what, value)
    if factors.min() <= 0.0:
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)} has a factor that is not positive; give three above 0: forth, back, aside"
        )
    return factors


def _check_restitution(context: CheckContext, what: str, value: Any) -> float:
    """Check a coefficient of restitution, in (0, 1]."""
    e = number(context.owner, what, value)
    if not 0.0 < e <= 1.0:
        raise ModelError(
            f"{context.owner}: {what} = {e:g} is outside (0, 1]; give the speed after an impact over that before it, 1 where "
            "nothing is lost"
        )
    return e


def _check_law_argument(context: CheckContext, what: str, value: Any) -> str:
    """Check a contact law: the name of a built-in law, or a polynomial of the depth as text."""
    return value if value in LAWS else law_text(context.owner, value, LAWS)


def _check_exponent(context: CheckContext, what: str, value: Any) -> float:
    """Check the exponent of a power law, at least 1."""
    n = number(context.owner, what, value)
    if n < 1.0:
        raise ModelError(
            f"{context.owner}: {what} = {n:g} is below 1, which makes the stiffness infinite at the touch; give 1 (linear), 1.5 "
            "(Hertz) or more"
        )
    return n


def _names(surfaces: Iterable[Surface]) -> list[str]:
    return [surface.name for surface in surfaces]


def _resolve_names(owner: str, model: Any, value: Any) -> Any:
    """Replace names by the surfaces of the model, in lists nested to any depth."""
    if isinstance(value, str):
        return find_surface(owner, model, value)
    return [_resolve_names(owner, model, x) for x in value] if isinstance(value, list | tuple) else value


SURFACES = ParameterType("surfaces", _check_surfaces, _names, by_name=_resolve_names)
IGNORED = ParameterType(
    "surface pairs", _check_ignored, lambda value: [_names(pair) for pair in value], by_name=_resolve_names
)
FRICTION, COUNT = ParameterType("friction", _check_friction), ParameterType("count", adapt_check(count))


DRILLING = ParameterType("drilling", _check_drilling)


@component
class Contact(Component):
    """Contact between surfaces: the law that acts when they touch."""

    key, word, list_description, table = "contacts", "contact", "surfaces that resist each other", "contacts"
    a: tuple[Surface, ...] = parameter(
        SURFACES, "name of a sphere, a solid, a plane, a mesh or a rod, or a list of them"
    )
    b: tuple[Surface, ...] = parameter(
        SURFACES, "surfaces that they touch; default: all of a among each other, a single rod itself", None
    )
    stiffness: float = parameter(
        POSITIVE, "k of the law; for rods, among themselves or on planes, per length [N/m^n, N/m^(n+1)]", None
    )
    law: str = parameter(
        ParameterType("contact law", _check_law_argument),
        "power: k depth^n; barrier: V = -k (gap - reach)^2 log(gap/reach); or the force as a polynomial of depth",
        LAWS[0],
    )
    exponent: float = parameter(
        ParameterType("number", _check_exponent), "n of a power: 1 linear, 1.5 Hertz [1]", 1.0
    )
    reach: float = parameter(POSITIVE, "gap at which a barrier begins [m]", None)
    restitution: float = parameter(
        ParameterType("number", _check_restitution), "speed after an impact over that before it [1]", 1.0
    )
    damping: float = parameter(
        NOT_NEGATIVE, "c of a force c times rate of depth times normal force (Hunt-Crossley) [s/m]", 0.0
    )
    rest_speed: float = parameter(
        POSITIVE, "impact speed far below which restitution dissipates nothing [m/s]", REST_SPEED
    )
    friction: tuple[float, float] = parameter(
        FRICTION, "coefficient of Coulomb's friction, or static and kinetic [1]", 0.0
    )
    tangential_stiffness: float = parameter(
        POSITIVE,
        "stiffness of sticking friction, in units of stiffness; default: the stiffness of a linear law [N/m, N/m^2]",
        None,
    )
    rolling: float = parameter(NOT_NEGATIVE, "moment against rolling over normal force [m]", 0.0)
    drilling: float | str = parameter(
        DRILLING,
        "moment against a rotation about the normal over normal force; friction: on planes, 2/3 friction R of each rim [m]",
        0.0,
    )
    anisotropy: Floats = parameter(
        ParameterType("vector", _check_factors),
        "factors of friction on rods: forwards along the rod, backwards, sideways [1]",
        (1.0, 1.0, 1.0),
    )
    radius: float = parameter(POSITIVE, "radius of the rods; default: that of their sections [m]", None)
    stations: int = parameter(
        COUNT,
        "intervals into which an element of a rod is divided; contact is evaluated at their ends [1]",
        None,
    )
    itself: bool = parameter(FLAG, "whether rods touch themselves as well", False)
    ignore: tuple[tuple[Surface, Surface], ...] = parameter(IGNORED, "pairs of names without contact", None)

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner = context.owner
        a, b, ignore = values["a"], values["b"], values["ignore"] or ()
        values["ignore"] = ignore or None
        if len(a) == 1 and b is None:
            if not isinstance(a[0], Rod):
                raise ModelError(
                    f"{owner}: {describe_surface(a[0])} alone meets nothing; give what it meets as b"
                )
            values["itself"] = True
        surfaces = a if b is None else (*a, *b)
        for pair in ignore:
            for surface in pair:
                if surface not in surfaces:
                    raise ModelError(
                        f"{owner}: ignore names {describe_surface(surface)}, which is not in a or b; remove it"
                    )
        pairs = _pairs(a, b, values["itself"], ignore)
        _check_used(owner, a, b, pairs, ignore)
        for other in context.model.contacts.values():
            known = set(other.pairs)
            repeated = [pair for pair in pairs if pair in known]
            if repeated:
                raise ModelError(
                    f"{owner}: {repeated[0]} meet in contact '{other.name}' already; remove them, or give ignore=[...]"
                )
        _check_law(owner, values, pairs)

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs that can touch; pairs that joints hold together are removed when the model is built."""
        return _pairs(self.a, self.b, self.itself, self.ignore or ())

    @cached_property
    def coefficients(self) -> tuple[float, ...]:
        """Coefficients of depth^n, n = 1, 2, 3, of a law given as text (N/m^n, for rods per length); empty for other laws."""
        return () if self.law in LAWS else coefficients_of(f"{self.word} '{self.name}'", self.law)

    @property
    def drilling_length(self) -> float:
        """Moment against a rotation about the normal over the normal force (m), for contacts without a rim."""
        return 0.0 if isinstance(self.drilling, str) else self.drilling

    def drilling_of_rim(self, radius: float) -> float:
        """Return the moment against a rotation about the normal over the normal force (m) for a rim of this radius (m).

        A round face that presses evenly resists with 2/3 of the kinetic friction times its radius.
        """
        return 2.0 / 3.0 * self.friction[1] * radius if isinstance(self.drilling, str) else self.drilling

    @property
    def is_single_pair(self) -> bool:
        """True if the contact names exactly one pair; it then acts even if a joint connects the two parts."""
        return self.b is not None and len(self.a) == len(self.b) == 1

    @property
    def references(self) -> Iterator[Any]:
        yield from dict.fromkeys((*self.a, *(self.b or ())))

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        contact = replace(self, **changed)
        return contact if contact.pairs else None


def _pairs(
    a: Sequence[Surface], b: Sequence[Surface] | None, itself: bool, ignore: Iterable[tuple[Surface, Surface]]
) -> list[Pair]:
    """Return all pairs of a contact that can touch, each once; `itself`: True if rods also touch themselves."""
    surfaces = (*a, *(b or ()))
    ranks = {id(surface): _rank(surface) for surface in surfaces}
    both = combinations(a, 2) if b is None else product(a, b)
    candidates = [Pair(x, y) if ranks[id(x)] <= ranks[id(y)] else Pair(y, x) for x, y in both]
    if itself:
        candidates += [Pair(x, x) for x in surfaces if isinstance(x, Rod)]
    excluded, part = (
        {_canonical_pair(*ignored) for ignored in ignore},
        {id(surface): _unrestricted_body(surface) for surface in surfaces},
    )
    touching = []
    for pair in dict.fromkeys(candidates):
        one, other = part[id(pair.a)], part[id(pair.b)]
        apart = one is not None and other is not None and one is not other
        if pair not in excluded and (apart or not _no_contact_reason(pair, itself)):
            touching.append(pair)
    return touching


def _unrestricted_body(surface: Surface) -> Body | None:
    """Return the body that carries a surface if the surface can touch every surface of any other body, else None.

    Most pairs are of such surfaces, which need no further check.
    """
    if isinstance(surface, Rod | PlaneSurface) or (
        isinstance(surface, SolidSurface) and not (surface.is_capsule or has_core(surface))
    ):
        return None
    return surface.on.part if isinstance(surface.on.part, Body) else None


def _rank(surface: Surface) -> tuple[int, str]:
    """Return the sort key of a surface within a pair: number of its kind, then its name."""
    order = (PlaneSurface, SphereSurface, SolidSurface, MeshSurface, Rod)
    return next(k for k, kind in enumerate(order) if isinstance(surface, kind)), surface.name


def _canonical_pair(x: Surface, y: Surface) -> Pair:
    """Return the pair in canonical order; surfaces of one kind are sorted by name, so that the order given does not matter."""
    return Pair(x, y) if _rank(x) <= _rank(y) else Pair(y, x)


def _no_contact_reason(pair: Pair, itself: bool) -> str:
    """Return the reason why two surfaces cannot touch; an empty text if they can."""
    a, b = pair
    if a is b:
        return "" if isinstance(a, Rod) and itself else f"{describe_surface(a)} is on both sides"
    if isinstance(b, PlaneSurface):
        return "planes do not meet planes"
    if not isinstance(a, PlaneSurface) and not _touch_beyond_planes(pair):
        return f"{describe_surface(a)} and {describe_surface(b)}: {_UNKNOWN}"
    at = [x.on.part if isinstance(x, SurfaceComponent) else x for x in pair]
    if all(isinstance(part, Ground | Driven) for part in at):
        return f"neither {describe_surface(a)} nor {describe_surface(b)} is on a part that moves freely"
    one_place = isinstance(b, Rod) or not isinstance(at[0], Rod) or a.on.s == b.on.s  # type: ignore[union-attr]
    if at[0] is at[1] and one_place:
        return (
            f"{describe_surface(a)} and {describe_surface(b)} are on {at[0]} both"
            if b is not at[0]
            else f"{describe_surface(a)} is on {b}"
        )
    return ""


def _touch_beyond_planes(pair: Pair) -> bool:
    """Return True if all solids of a pair can touch surfaces other than planes."""
    return all(x.is_capsule or has_core(x) for x in pair if isinstance(x, SolidSurface))


def _check_used(
    owner: str,
    a: Sequence[Surface],
    b: Sequence[Surface] | None,
    pairs: Sequence[Pair],
    ignore: Iterable[tuple[Surface, Surface]],
) -> None:
    """Raise ModelError if a surface of the contact is in no pair."""
    used = {x for pair in pairs for x in pair}
    for side, partners in ((a, a if b is None else b), (b or (), a)):
        for x in side:
            if x in used:
                continue
            reasons = [
                _no_contact_reason(_canonical_pair(x, y), False)
                for y in partners
                if y is not x or len(partners) == 1
            ]
            words = next((word for word in reasons if word), "all that it meets is in ignore")
            raise ModelError(
                f"{owner}: {describe_surface(x)} collides with nothing: {words}; give it a partner, or remove it"
            )


def _check_law(owner: str, values: dict[str, Any], pairs: Sequence[Pair]) -> None:
    """Raise ModelError if law, stiffness, radius, friction and drilling do not fit each other or the pairs."""
    barrier, sorts = values["law"] == "barrier", {pair.is_per_length for pair in pairs}
    text = values["law"] not in LAWS
    linear = check_text(owner, values, len(sorts) == 2) if text else not barrier and values["exponent"] == 1.0
    if barrier and values["reach"] is None:
        raise ModelError(f"{owner}: a barrier begins at a gap; give reach= (m)")
    if not barrier and values["reach"] is not None:
        raise ModelError(
            f"{owner}: reach = {values['reach']:g}, but a power law begins where surfaces meet; remove it"
        )
    if barrier and values["exponent"] != 1.0:
        raise ModelError(
            f"{owner}: exponent = {values['exponent']:g}, but a barrier has no exponent; remove it"
        )
    if len(sorts) == 2 and values["stiffness"] is not None:
        one = [next(pair for pair in pairs if pair.is_per_length is kind) for kind in (True, False)]
        raise ModelError(
            f"{owner}: stiffness = {values['stiffness']:g} is per length for {one[0]}, but not for {one[1]}; make two contacts"
        )
    surfaces = list(dict.fromkeys(x for pair in pairs for x in pair))
    if values["stiffness"] is None and not text:
        if False in sorts:
            pair = next(pair for pair in pairs if not pair.is_per_length)
            raise ModelError(
                f"{owner}: {pair} have no material from which a stiffness follows; give stiffness= (N/m^n)"
            )
        if barrier or values["exponent"] != 1.0:
            raise ModelError(
                f"{owner}: the stiffness that follows from materials is that of a linear law; give stiffness= (N/m^(n+1))"
            )
        for rod in surfaces:
            if isinstance(rod, Rod) and section_at(rod, 0.5).modulus == 0.0:
                raise ModelError(
                    f"{owner}: the section of {rod} has no Young's modulus from which a stiffness follows; "
                    "give stiffness= (N/m^2)"
                )
    thick = isinstance(values["radius"], float)
    thin = {
        surface
        for surface in surfaces
        if not _has_radius(surface) and not (thick and isinstance(surface, Rod))
    }
    for pair in pairs if thin else ():
        if not pair.has_plane and thin.issuperset(pair):
            if isinstance(pair.b, SolidSurface):
                raise ModelError(
                    f"{owner}: {pair} have no rounding, which limits how deep they may interpenetrate; give radius= to "
                    "one of them, a few hundredths of its shortest side"
                )
            raise ModelError(
                f"{owner}: {pair} have no radius, and points cannot touch points. Set the radius of one of them."
            )
    if np.ptp(values["anisotropy"]) > 0.0 and (
        values["friction"][0] == 0.0 or not any(isinstance(pair.b, Rod) for pair in pairs)
    ):
        raise ModelError(
            f"{owner}: anisotropy needs friction on rods, which this contact does not have; remove it"
        )
    if values["drilling"] == BY_FRICTION:
        if values["friction"][0] == 0.0:
            raise ModelError(f"{owner}: drilling = 'friction', but there is no friction; give friction=")
        for pair in pairs:
            if not any(isinstance(x, PlaneSurface) for x in pair):
                raise ModelError(
                    f"{owner}: drilling = 'friction' is available for planes only, and {pair} has none; give a length (m): "
                    "2/3 of friction times the radius of what touches"
                )
    if values["friction"][0] > 0.0 and values["tangential_stiffness"] is None and not linear:
        raise ModelError(f"{owner}: friction with a law that is not linear needs tangential_stiffness=")


def _has_radius(surface: Surface) -> bool:
    """Return False if the radius or rounding of the surface is 0; two such surfaces cannot touch each other."""
    if isinstance(surface, Rod):
        return any(section_at(surface, s).radius > 0.0 for s in (0.0, 0.5, 1.0))
    if isinstance(surface, MeshSurface) or has_core(surface):
        return surface.radius > 0.0  # type: ignore[union-attr]
    return not isinstance(surface, SphereSurface) or surface.radius > 0.0


def stiffness_of(pair: Pair) -> float:
    """Return the contact stiffness k = pi/4 E* of a pair with rods (N/m^2); 0 if a Young's modulus is not known.

    1/E* = sum of 1/E of both rods, or 1/E of the one rod if the other surface is a plane. This is the stiffness of two parallel
    cylinders of any radii, without the contribution of Poisson's ratio, which is at most a third. For crossing rods it gives pi/2
    times the force of Hertz.
    Source: V. L. Popov, Contact Mechanics and Friction, 2nd ed., 2017, chapter 5.
    """
    moduli = [section_at(rod, 0.5).modulus for rod in pair if isinstance(rod, Rod)]
    return 0.0 if 0.0 in moduli else float(0.25 * np.pi / sum(1.0 / E for E in moduli))
