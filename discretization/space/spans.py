"""Arrays of the rod elements between several frames: spans of order p, with p points where strains and stresses are evaluated.

The energy of a span is the sum over its points of weight/2 (e - e0)^T C (e - e0), e = (Gamma, K), plus the energy of a law of
`laws`. Its viscous stress is D de/dt, and it may have a Maxwell branch (`relaxation`). Points are numbered in the order of the
spans, each between two neighbouring frames (`interpolation`). A rod has therefore as many points as intervals between its
frames, as with `Elements`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from discretization.space import maxwell_branch
from discretization.space.interpolation import MOST
from discretization.space.laws import AXIAL, EXPRESSIONS, GENERAL, LAWS
from discretization.space.laws.expressions import law_of
from discretization.space.laws.functions import (
    LAW_FUNCTIONS,
    PARAMETERS,
    density_of_number,
    energy_of_number,
    quotient_of_number,
)
from discretization.space.rod_elements import BY_NUMBER, STRING
from discretization.space.rod_gauss_points import (
    INVARIANT,
    LAW,
    POINT,
    STRAIN0,
    general_between,
    invariant_of,
    six,
)
from rigid.compilation.decorators import allocating_kernel
from rigid.interactions.kinds import Group, Kind, group, whole
from rigid.system import Floats, Ints

MOST_FRAMES = MOST + 1
SLACK = next(k for k, law in enumerate(LAWS) if law.word == "slack")
_STRING = next(k for k, element in enumerate(BY_NUMBER) if element.word == STRING)


class Spans(NamedTuple):
    """Rod elements of order p, each between p + 1 frames; m elements with g points."""

    kind: Ints  # (m,) number in `rod_elements.BY_NUMBER`
    frames: Ints  # (m, MOST_FRAMES) the first p + 1 are used, the others are -1
    length: Floats  # (m,) stress-free length, m
    coupling: Floats  # (m,) kg: kinetic energy - coupling |sum a_i v_i|^2/2, a = `interpolation.leading`; 0: lumped mass
    ends: Ints  # (g, 2) frames on both sides of a point
    weight: Floats  # (g,) length of the rod that a point represents, m
    stiffness: Floats  # (g, 6, 6) maps (Gamma, K) - strain0 to (N, M)
    damping: Floats  # (g, 6, 6) maps the strain rate to the viscous part of (N, M)
    strain0: Floats  # (g, 6) strains (Gamma, K) of the stress-free shape
    law: Ints  # (g,) number in `laws.LAWS` of a law added to the linear one, -1: none; from EXPRESSIONS on: expression
    parameters: Floats  # (g, k) parameters of the law
    expressions: np.ndarray  # uint8 characters: texts of `laws.expressions`, one per line
    branch: Floats  # (g, 6, 6) stiffness C1 of a Maxwell branch, see `relaxation`
    relaxation: Floats  # (g,) relaxation time tau of the branch, s; 0: no branch

    @property
    def order(self) -> Ints:
        """Order p of each span, (m,)."""
        return np.array([element.order for element in BY_NUMBER], dtype=np.int64)[self.kind]

    @property
    def first(self) -> Ints:
        """First point of each span, then the number of points, (m + 1,)."""
        return np.concatenate([[0], np.cumsum(self.order)]).astype(np.int64)

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of the expressions."""
        return tuple(self.expressions.tobytes().decode().split("\n")) if self.expressions.size else ()


def as_bytes(texts: tuple[str, ...]) -> np.ndarray:
    """Return expressions as an array of characters, the inverse of `Spans.texts`."""
    return np.frombuffer("\n".join(texts).encode(), np.uint8).copy()


@functools.cache
def no_spans() -> Spans:
    """Return the empty `Spans`, one object for all models without spans."""
    number, none, pair = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 2), np.int64)
    matrices = np.zeros((0, 6, 6))
    frames = np.zeros((0, MOST_FRAMES), np.int64)
    strains, parameters = np.zeros((0, 6)), np.zeros((0, 0))
    return Spans(
        number,
        frames,
        none,
        none,
        pair,
        none,
        matrices,
        matrices,
        strains,
        number,
        parameters,
        as_bytes(()),
        matrices,
        none,
    )


def numbers_of(spans: Spans, use: Ints, matrices: Floats, strain0: Floats | None = None) -> Floats:
    """Return the numbers (k, :) of the spans `use`, all of one order, with these matrices (g, 6, 6) and strains (g, 6)."""
    order = int(spans.order[use[0]])
    at = points_between(spans, use)
    points = np.zeros((len(use), order, POINT))
    points[..., :STRAIN0] = matrices[at].reshape(len(use), order, 36)
    if strain0 is not None:
        points[..., STRAIN0:INVARIANT] = strain0[at]
        for number in np.unique(spans.law[spans.law >= 0]):
            has = spans.law[at] == number
            points[has, INVARIANT], points[has, LAW] = _law_numbers(spans, int(number))
            points[has, PARAMETERS : PARAMETERS + spans.parameters.shape[1]] = spans.parameters[at][has]
    head = np.column_stack([np.full(len(use), float(order)), spans.length[use]])
    return np.concatenate([head, points.reshape(len(use), -1)], axis=1)


_expressions: dict[
    str, int
] = {}  # text of an expression: its number in `LAW_FUNCTIONS`, in the order of registration


def _law_numbers(spans: Spans, number: int) -> tuple[int, int]:
    """Register a law in `LAW_FUNCTIONS`; return its invariant and its number there."""
    if number < EXPRESSIONS:
        kernels = LAWS[number].kernels()
        LAW_FUNCTIONS.put(1 + number, energy=kernels.energy, quotient=kernels.quotient)
        return LAWS[number].invariant, 1 + number
    text = spans.texts[number - EXPRESSIONS]
    expression, place = law_of(text), _expressions.setdefault(text, EXPRESSIONS + len(_expressions))
    LAW_FUNCTIONS.put(place, density=expression.density, stress=expression.stress)
    return GENERAL, place


def _groups(
    spans: Spans, use: Ints, table_name: str, matrices: Floats, strain0: Floats | None
) -> list[Group]:
    """Group the spans `use` by kind; `table_name`: the name of the table of kinds in the module of an element."""
    groups = []
    for number in np.unique(spans.kind[use]):
        selected, element = use[spans.kind[use] == number], BY_NUMBER[number]
        kind: Kind = getattr(element.kernels(), table_name)[element.order]
        numbers = numbers_of(spans, selected, matrices, strain0)
        row = 6 * spans.first[selected] if kind.rows else selected
        groups.append(group(kind, spans.frames[selected, : element.order + 1], numbers, row))
    return groups


def energies_of(spans: Spans) -> list[Group]:
    """Return the groups of the stored energies of the spans."""
    return _groups(spans, np.arange(len(spans.kind)), "ENERGIES", spans.stiffness, spans.strain0)


def dissipations_of(spans: Spans, branch: Floats | None = None) -> list[Group]:
    """Return the groups of the dissipations of the spans whose material is viscous or relaxes.

    branch (g, 6): strains of the Maxwell branches of the spans that relax, by default zero.
    """
    lossy, relaxing = viscous(spans), _with_some(spans, spans.relaxation > 0.0)
    groups = _groups(spans, np.setdiff1d(lossy, relaxing), "DISSIPATIONS", spans.damping, None)
    for viscous_group in _groups(spans, relaxing, "DISSIPATIONS", spans.damping, None):
        points, k = points_between(spans, viscous_group.row), len(viscous_group.row)
        damping, stiffness = (
            matrices[points].reshape(*points.shape, 36) for matrices in (spans.damping, spans.branch)
        )
        material = np.concatenate([damping, stiffness, spans.relaxation[points][..., None]], axis=-1)
        strains = np.zeros((k, viscous_group.kind.arity - 1, 6)) if branch is None else branch[points]
        numbers = np.column_stack([viscous_group.numbers, material.reshape(k, -1), strains.reshape(k, -1)])
        element = BY_NUMBER[spans.kind[viscous_group.row[0]]]
        kind = maxwell_branch.relaxing(viscous_group.kind, element.kernels().STRAINS[element.order])
        groups.append(viscous_group._replace(kind=kind, numbers=numbers))
    return groups


def points_between(spans: Spans, use: Ints) -> Ints:
    """Return the points (k, p) of the spans `use`, all of one order."""
    return np.asarray(spans.first[use][:, None] + np.arange(spans.order[use[0]]))


def strains_of(spans: Spans) -> list[Group]:
    """Return groups of interactions whose rows are (Gamma, K) - strain0 of all points."""
    return _groups(spans, np.arange(len(spans.kind)), "STRAINS", spans.stiffness, spans.strain0)


def simple_strings(spans: Spans) -> np.ndarray:
    """Return which spans are strings with a linear material, slack in compression or not ((m,) bool)."""
    law = spans.law[spans.first[:-1]]
    simple: np.ndarray = (spans.kind == _STRING) & ((law < 0) | (law == SLACK))
    return simple


def viscous(spans: Spans) -> Ints:
    """Return the numbers of the spans whose material is viscous or relaxes."""
    return _with_some(spans, np.any(spans.damping, axis=(1, 2)) | (spans.relaxation > 0.0))


def _with_some(spans: Spans, selected: np.ndarray) -> Ints:
    """Return the numbers of the spans that have at least one point with `selected` (g,) true."""
    return (
        np.flatnonzero(np.add.reduceat(selected, spans.first[:-1]) > 0)
        if len(spans.kind)
        else np.zeros(0, int)
    )


@allocating_kernel
def _law_stresses(first, X, strain, out):
    """Add the stresses of laws at strains (t, g, 6) to `out`, the linear ones; replace them for laws in all strains."""
    for t in range(strain.shape[0]):
        for g in range(strain.shape[1]):
            at, e = first[g], strain[t, g]
            Gamma, K = (e[0], e[1], e[2]), (e[3], e[4], e[5])
            if whole(X[at + LAW]) != 0:
                if whole(X[at + INVARIANT]) == GENERAL:
                    N, M = general_between(Gamma, K, Gamma, K, X, at)
                    for i in range(3):
                        out[t, g, i], out[t, g, 3 + i] = N[i].real, M[i].real
                    continue
                x = invariant_of(Gamma, K, X, at) + 0j
                s = quotient_of_number(whole(X[at + LAW]), X)(x, x, X, at).real
                if whole(X[at + INVARIANT]) == AXIAL:
                    out[t, g, 0] += s
                else:
                    out[t, g, 4] += s * X[at + 28] * K[1]
                    out[t, g, 5] += s * X[at + 35] * K[2]


@allocating_kernel
def _law_energies(first, X, strain, out):
    """Add the energies of laws at strains (t, g, 6) to `out`, the linear ones; replace them for laws in all strains."""
    for t in range(strain.shape[0]):
        for g in range(strain.shape[1]):
            at, e = first[g], strain[t, g]
            Gamma, K = (e[0], e[1], e[2]), (e[3], e[4], e[5])
            if whole(X[at + LAW]) != 0:
                if whole(X[at + INVARIANT]) == GENERAL:
                    out[t, g] = density_of_number(whole(X[at + LAW]), X)(six(Gamma, K), X, at).real
                else:
                    x = invariant_of(Gamma, K, X, at) + 0j
                    out[t, g] += energy_of_number(whole(X[at + LAW]), X)(x, X, at).real


def with_laws(spans: Spans, strain: Floats, linear: Floats) -> Floats:
    """Return stresses (..., g, 6) of strains less the stress-free ones: `linear`, those of the linear law, plus those of laws."""
    return _beyond_linear(_law_stresses, spans, strain, linear)


def energies_with_laws(spans: Spans, strain: Floats, linear: Floats) -> Floats:
    """Return stored energies per length (..., g), J/m, of strains less the stress-free ones.

    linear (..., g): energies of the linear law, to which those of laws are added.
    """
    return _beyond_linear(_law_energies, spans, strain, linear)


def _beyond_linear(add: Any, spans: Spans, strain: Floats, linear: Floats) -> Floats:
    """Apply the kernel `add`, `_law_stresses` or `_law_energies`, to the results `linear` of the linear law."""
    numbers = [
        numbers_of(spans, np.array([k]), spans.stiffness, spans.strain0)[0, 2:]
        for k in range(len(spans.kind))
    ]
    many = np.ascontiguousarray(strain).reshape(-1, *strain.shape[-2:])
    out = np.array(linear, float).reshape(len(many), *linear.shape[strain.ndim - 2 :])
    add(POINT * np.arange(len(spans.weight)), np.concatenate(numbers), many, out)
    return out.reshape(linear.shape)
