"""Make the kind of an actuator whose equations are texts: states x with rates f, and a force F on one measure q.

    x1 - x0 = h f(xbar, u, qbar, (q1 - q0)/h),   F = F(xbar, u, qbar, (q1 - q0)/h)                              (1)

Bars are averages over the step: the midpoint rule. u are the inputs, constant in a step. The force does the work F (q1 - q0),
exactly (`rodsim.interactions.helpers`). An energy E(x) of a text is accounted for as stored; what is not stored is external work.

The name of the kind contains the whole definition, so that a file which names it needs no script:

    state equations: i' = (U - R * i - K * q_rate) / L; force = K * i; energy = L * i ** 2 / 2; inputs = U; q = angle

q counts from its value at t = 0. The numbers of an interaction are the parameters in the order of their names, then q at t = 0,
three inputs, and the states.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from discretization.interaction_kinds import INTERACTIONS
from discretization.space.laws.writing import value_function
from rigid.checks import shown
from rigid.compilation.generated_modules import load_module
from rigid.errors import ModelError
from rigid.interactions.kinds import MAX_INTERNAL_VARIABLES, Kind
from rodsim.expressions import LAW_FUNCTIONS, canonical, parameters_of, tree_of
from rodsim.interactions.internal_states import kind_with_states
from rodsim.interactions.measure_states import solved_on_the_measure
from rodsim.interactions.registration import INPUTS, with_signal
from rodsim.interactions.user_functions import ANCHOR, digest_of

COORDINATES = ("angle", "displacement", "distance")  # measures q that have a force
Q, RATE = "q", "q_rate"  # names of the measure and of its rate in texts
_PREFIX = "state equations: "
_RESERVED = {*LAW_FUNCTIONS, "pi", Q, RATE}


@dataclass(frozen=True)
class StateEquations:
    """Hold the texts of an actuator in canonical form, by `parse_state_equations`."""

    states: tuple[str, ...]
    rates: tuple[str, ...]  # texts of x', in the order of the states
    force: str
    energy: str  # "": none
    inputs: tuple[str, ...]
    coordinate: str  # one of `COORDINATES`

    @property
    def texts(self) -> tuple[str, ...]:
        """Return all texts."""
        return (*self.rates, self.force, *([self.energy] if self.energy else []))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters, in their order among the numbers."""
        known = (*self.states, *self.inputs, Q, RATE)
        return tuple(sorted({name for text in self.texts for name in parameters_of(text, known)}))

    @property
    def name(self) -> str:
        """Return the name of the kind."""
        parts = [f"{state}' = {rate}" for state, rate in zip(self.states, self.rates, strict=True)]
        parts += [f"force = {self.force}", f"energy = {self.energy}", f"inputs = {', '.join(self.inputs)}"]
        return _PREFIX + "; ".join([*parts, f"q = {self.coordinate}"])


def parse_state_equations(
    owner: str,
    equations: dict[str, str],
    outputs: tuple[str, str],
    inputs: tuple[str, ...],
    coordinate: str,
) -> StateEquations:
    """Check texts and names and return them; ModelError if one is not an expression, or a name is taken.

    equations: rate of each state; outputs: texts of force and energy ("": none).
    """
    states, (force, energy) = tuple(equations), outputs
    if not 1 <= len(states) <= MAX_INTERNAL_VARIABLES:
        raise ModelError(f"{owner}: has {len(states)} equations; give one to {MAX_INTERNAL_VARIABLES}")
    if len(inputs) > INPUTS:
        raise ModelError(f"{owner}: has {len(inputs)} inputs, {', '.join(inputs)}; there may be {INPUTS}")
    for name in (*states, *inputs):
        if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
            raise ModelError(f"{owner}: {shown(name)} cannot name a state or an input; choose another word")
    texts = [canonical(owner, text, names_of(text)) for text in (*equations.values(), force)]
    energy = canonical(owner, energy, names_of(energy)) if energy else ""
    if wrong := set(names_of(energy)) & {*inputs, Q, RATE} if energy else set():
        raise ModelError(
            f"{owner}: its energy {shown(energy)} contains {min(wrong)}; it may depend on states alone"
        )
    return StateEquations(states, tuple(texts[:-1]), texts[-1], energy, inputs, coordinate)


def names_of(text: str) -> tuple[str, ...]:
    """Return all names in an expression that are not functions or pi, sorted."""
    return parameters_of(text, ())


def from_name(name: str) -> Kind | None:
    """Return the kind of this name if it is one of state equations, else None; ValueError if it only begins like one."""
    if not name.startswith(_PREFIX):
        return None
    parts = [part.partition(" = ") for part in name.removeprefix(_PREFIX).split("; ")]
    equations = {key.removesuffix("'"): text for key, _, text in parts if key.endswith("'")}
    rest = {key: text for key, _, text in parts if not key.endswith("'")}
    try:
        outputs = rest["force"], rest["energy"]
        inputs = tuple(x for x in rest["inputs"].split(", ") if x)
        parsed = parse_state_equations("state equations", equations, outputs, inputs, rest["q"])
    except (KeyError, ModelError) as error:
        raise ValueError(f"{shown(name)} has no state equations: {error}") from None
    if parsed.name != name or parsed.coordinate not in COORDINATES:
        raise ValueError(f"{shown(name)} has no state equations")
    return state_equations_kind(parsed)


def state_equations_kind(equations: StateEquations) -> Kind:
    """Return the kind of state equations, registered."""
    return INTERACTIONS.register(_kind(equations))


@functools.cache
def _kind(of: StateEquations) -> Kind:
    """Load the generated module of state equations and return its kind."""
    module = load_module(_source(of))
    names = ("evolve", "step_dual", *(["value"] if of.energy else []))
    functions = {name: getattr(module, name) for name in names}
    digest, count = digest_of(2, functions, len(of.states)), len(of.states)
    kind = kind_with_states(of.name, 2, count, functions, digest, drives=True)
    kind = solved_on_the_measure(kind, module, of.coordinate, digest, _is_affine(of))
    return with_signal(kind, 2 * ANCHOR + len(of.parameters) + 1) if of.inputs else kind


def _is_affine(of: StateEquations) -> bool:
    """Return whether all rates are affine functions of the states, as far as their operations show."""
    known = (*of.states, *of.inputs, Q, RATE, *of.parameters)
    return all(_degree(tree_of(text, known), len(of.states)) <= 1 for text in of.rates)


def _degree(node: Any, states: int) -> int:
    """Return the degree of a syntax tree as a polynomial of its first variables, the states; 2 stands for any other function."""
    name, *parts = node
    if name in ("num", "par", "strain"):
        return int(name == "strain" and parts[0] < states)
    degrees = [_degree(part, states) for part in parts]
    if not any(degrees):
        return 0
    if name in ("add", "sub", "neg"):
        return max(degrees)
    if name == "mul" or (name == "div" and degrees[1] == 0):
        return sum(degrees)
    return 2


def _source(of: StateEquations) -> str:
    """Return the source text of the module with the functions of the kind, as a script would write them."""
    parameters, variables = of.parameters, (*of.states, *of.inputs, Q, RATE)
    first_input = len(parameters) + 1
    values = [
        *(f"0.5*(x0[{k}] + x1[{k}])" for k in range(len(of.states))),
        *(f"X[{first_input + k}] + 0j" for k in range(len(of.inputs))),
        f"q - X[{len(parameters)}]",
        "rate",
        *(f"X[{k}] + 0j" for k in range(len(parameters))),
    ]
    tree = lambda text: tree_of(text, (*variables, *parameters))  # noqa: E731
    rates = [line for k, text in enumerate(of.rates) for line in value_function(tree(text), f"rate_{k}")]
    stored = []
    if of.energy:
        stored = [
            *value_function(tree(of.energy), "stored"),
            "def stored_at(x, X):",
            "    return stored(gathered(x, x, 0j, 0j, X), X, 0)",
            "",
            "",
            "def value(y, x, X):",
            "    return stored_at(x, X)",
            "",
        ]
    return "\n".join(
        [
            f"# {of.name!r}",
            "from discretization.space.laws.functions import PARAMETERS",
            "from rigid.compilation import real_functions as real",
            f"from rodsim.interactions.helpers import {of.coordinate}, push_{of.coordinate}",
            "",
            "",
            *rates,
            *value_function(tree(of.force), "force"),
            "def gathered(x0, x1, q, rate, X):",
            f"    return ({', '.join(values)},)",
            "",
            "",
            "def over_step(q, x0, x1, h, X):",
            "    return gathered(x0, x1, 0.5*(q[0] + q[1]), q[2]/h, X)",
            "",
            "",
            "def rates_at(q, x0, x1, h, X):",
            "    e = over_step(q, x0, x1, h, X)",
            f"    return ({', '.join(f'rate_{k}(e, X, 0)' for k in range(len(of.states)))},)",
            "",
            "",
            "def evolve_at(q, _, x0, x1, h, X, out):",
            "    rates = rates_at(q, x0, x1, h, X)",
            *(f"    out[{k}] = (x1[{k}] - x0[{k}])/h - rates[{k}]" for k in range(len(of.states))),
            "",
            "",
            "def force_at(q, x0, x1, h, X):",
            "    return force(over_step(q, x0, x1, h, X), X, 0)",
            "",
            "",
            "def evolve(y0, y1, x0, x1, h, X, out):",
            f"    q = {of.coordinate}(y0, y1, 0, 1)",
            "    evolve_at(q, q, x0, x1, h, X, out)",
            "",
            "",
            "def step_dual(y0, y1, x0, x1, h, X, out):",
            f"    q = {of.coordinate}(y0, y1, 0, 1)",
            f"    push_{of.coordinate}(out, y0, y1, 0, 1, -force_at(q, x0, x1, h, X))",
            "",
            "",
            *stored,
        ]
    )
