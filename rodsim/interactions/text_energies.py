"""Make the kind of an energy that is written as a text of named measures, from the text and the frames of each measure.

    V(e_1, ..., e_n),   dual = sum_k s_k de_k,   s = discrete derivative of V between both ends                 (1)

s is exact (`discretization.space.laws.writing`): s . (e(y1) - e(y0)) = V1 - V0, and so is each de_k: de_k . (y1 - y0) = e_k(y1) -
e_k(y0) (`rigid.interactions.measures`). Both are symmetric in the ends. The name of the kind contains the whole definition,

    energy: k*(d - 1)**2/2; d = distance(0, 1)

so that a file which names it needs no script. Measures refer to frames by their indices in an interaction. The numbers of an
interaction are those of the measures, the parameters in the order of their names, then a constant stress for each measure, which
is zero unless there is a prestress.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.space.laws.writing import functions_of, helpers
from rigid.checks import shown
from rigid.compilation.generated_modules import load_module
from rigid.errors import ModelError
from rigid.interactions.kinds import MAX_FRAMES, MAX_STRAINS, Kind, StrainEnergy, no_bend
from rigid.interactions.measures import WIDTHS
from rigid.interactions.torsion_spring import TURN
from rigid.system import Floats
from rodsim.expressions import LAW_FUNCTIONS, canonical, parameters_of, tree_of

_PREFIX = "energy: "
_MEASURE = re.compile(r"(\w+) = (\w+)\((\d+), (\d+)\)")
RESERVED = {*LAW_FUNCTIONS, "pi"}


@dataclass(frozen=True)
class MeasureTerm:
    """Hold a named measure between two frames a, b of an interaction."""

    name: str
    word: str
    a: int
    b: int


@dataclass(frozen=True)
class EnergyExpression:
    """Hold the text of an energy and the measures in it."""

    text: str  # energy in canonical form
    measures: tuple[MeasureTerm, ...]

    @property
    def name(self) -> str:
        """Return the name of the kind."""
        return "; ".join(
            [_PREFIX + self.text, *(f"{m.name} = {m.word}({m.a}, {m.b})" for m in self.measures)]
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the measures."""
        return tuple(m.name for m in self.measures)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters, in their order among the numbers."""
        return parameters_of(self.text, self.variables)

    @property
    def frames(self) -> int:
        """Return the number of frames of an interaction."""
        return 1 + max(max(m.a, m.b) for m in self.measures)

    @property
    def first_parameter(self) -> int:
        """Return the index of the first parameter among the numbers."""
        return sum(WIDTHS[m.word] for m in self.measures)


def parse_energy(owner: str, text: str, measures: tuple[MeasureTerm, ...]) -> EnergyExpression:
    """Check a text and its measures and return them; ModelError if the text is not an energy of exactly these measures."""
    if not 1 <= len(measures) <= MAX_STRAINS:
        raise ModelError(f"{owner}: has {len(measures)} measures; give one to {MAX_STRAINS}")
    variables = tuple(m.name for m in measures)
    for name in variables:
        if not name.isidentifier() or name in RESERVED:
            raise ModelError(f"{owner}: {shown(name)} cannot name a measure; choose another word")
    expression = EnergyExpression(canonical(owner, text, variables), measures)
    used = set(re.findall(r"[^\W\d]\w*", expression.text))
    unused = [name for name in variables if name not in used]
    if unused:
        raise ModelError(
            f"{owner}: its energy {shown(text)} does not contain the measure '{unused[0]}'; remove it"
        )
    return expression


def from_name(name: str) -> Kind | None:
    """Return the kind of this name if it is an energy as a text, else None; ValueError if it only begins like one."""
    if not name.startswith(_PREFIX):
        return None
    text, *measure_texts = name.removeprefix(_PREFIX).split("; ")
    parts = [_MEASURE.fullmatch(measure_text) for measure_text in measure_texts]
    measures = tuple(MeasureTerm(m[1], m[2], int(m[3]), int(m[4])) for m in parts if m is not None)
    fits = all(m.word in WIDTHS and max(m.a, m.b) < MAX_FRAMES and m.a != m.b for m in measures)
    try:
        expression = parse_energy("energy", text, measures) if fits and all(parts) else None
    except ModelError as error:
        raise ValueError(str(error)) from None
    if expression is None or expression.name != name:
        raise ValueError(f"{shown(name)} is not an energy of measures")
    return energy_kind(expression)


def energy_kind(energy: EnergyExpression) -> Kind:
    """Return the kind of an energy, registered."""
    return INTERACTIONS.register(_kind(energy))


@functools.cache
def _kind(energy: EnergyExpression) -> Kind:
    """Load the generated module of an energy and return its kind."""
    module = load_module(_source(energy))
    count, first = len(energy.measures), energy.first_parameter + len(energy.parameters)
    angles = all(m.word == "angle" for m in energy.measures)
    strain_energy = StrainEnergy(
        count,
        module.strains,
        module.strains_dual,
        module.law,
        functools.partial(_shifted, first),
        TURN if angles else 0.0,
    )
    return Kind(
        energy.name, energy.frames, 0, module.value, module.dual, no_bend, strain_energy=strain_energy
    )


def _shifted(first: int, X: Floats, de: Floats, dstress: Floats) -> Floats:
    """Add `dstress` to the constant stresses among the numbers X."""
    X[:, first:] += dstress
    return X


def energy_parameters(
    energy: EnergyExpression, of_measures: list[Floats], parameters: dict[str, float]
) -> Floats:
    """Return the numbers of one interaction, with constant stresses of zero."""
    values = [parameters[name] for name in energy.parameters]
    return np.concatenate([*of_measures, values, np.zeros(len(energy.measures))])


def _source(energy: EnergyExpression) -> str:
    """Return the source text of the module with the functions of the kind."""
    count, first = len(energy.measures), energy.first_parameter
    constant = first + len(energy.parameters)
    offsets = np.cumsum([0, *(WIDTHS[m.word] for m in energy.measures)])[:-1].tolist()
    strains = [
        f"measures.{m.word}(y, {m.a}, {m.b}, X, {at})" for m, at in zip(energy.measures, offsets, strict=True)
    ]
    spread = [
        f"    measures.add_{m.word}(y0, y1, {m.a}, {m.b}, X, {at}, w[{k}], out)"
        for k, (m, at) in enumerate(zip(energy.measures, offsets, strict=True))
    ]
    numbers = range(count)
    constant_terms = "".join(f" + X[{constant + k}]*e[{k}]" for k in numbers)
    stresses = ", ".join(f"lam[0]*(s[{k}] + X[{constant + k}])" for k in numbers)
    return "\n".join(
        [
            f"# {energy.name!r}",
            f"# {helpers()}",
            "from discretization.space.laws import slopes",
            "from discretization.space.laws.functions import PARAMETERS",
            "from rigid.compilation import real_functions as real",
            "from rigid.compilation.decorators import inline_kernel",
            "from rigid.interactions import measures",
            "from rigid.interactions.kinds import dual_function, stress_function, value_function",
            "",
            f"AT = {first} - PARAMETERS",
            "",
            "",
            *functions_of(tree_of(energy.text, energy.variables), "inline_kernel", "inline_kernel"),
            "",
            "@inline_kernel",
            "def strains_of(y, X):",
            f"    return ({', '.join([*strains, *['0j'] * (6 - count)])})",
            "",
            "",
            "@inline_kernel",
            "def spread(y0, y1, X, w, out):",
            f"    measures.clear_duals(out, {energy.frames})",
            *spread,
            "",
            "",
            "@value_function",
            "def value(y, X, out):",
            "    e = strains_of(y, X)",
            f"    out[0] = density(e, X, AT){constant_terms}",
            "",
            "",
            "@dual_function",
            "def dual(y0, y1, X, lam, out):",
            "    s = stress(strains_of(y0, X), strains_of(y1, X), X, AT)",
            f"    spread(y0, y1, X, ({stresses},), out)",
            "",
            "",
            "@value_function",
            "def strains(y, X, out):",
            "    e = strains_of(y, X)",
            *(f"    out[{k}] = e[{k}]" for k in numbers),
            "",
            "",
            "@dual_function",
            "def strains_dual(y0, y1, X, lam, out):",
            f"    spread(y0, y1, X, ({', '.join(f'lam[{k}]' for k in numbers)},), out)",
            "",
            "",
            "@stress_function",
            "def law(e, X, out):",
            f"    f = ({', '.join([*(f'e[{k}]' for k in numbers), *['0j'] * (6 - count)])})",
            "    s = stress(f, f, X, AT)",
            *(f"    out[{k}] = s[{k}] + X[{constant + k}]" for k in numbers),
            "",
        ]
    )


def acts_on_axes(measured: MeasureTerm) -> dict[int, Any]:
    """Return, for each of its two frames, True if the measure acts on its axes wherever its points are."""
    free = ("distance", "strain")
    return {
        measured.a: measured.word not in free,
        measured.b: measured.word not in (*free, "displacement"),
    }
