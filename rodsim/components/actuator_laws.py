"""Laws of actuators: equations of states and a force, written as texts, and ready-made ones such as a motor.

A law is data; `equations_of` returns its texts and parameters, of which `rodsim.interactions.state_equations` makes a kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.kinds import MAX_INTERNAL_VARIABLES
from rodsim.expressions import canonical
from rodsim.interactions.registration import INPUTS
from rodsim.interactions.state_equations import RATE, Q, names_of


@dataclass(frozen=True, eq=False)
class Equations:
    """Return states with rates as texts, and a force on the coordinate q of an actuator.

    With q counted from its value at t = 0 and its rate q_rate, the states x and the inputs u follow

        x' = f(x, u, q, q_rate),   force F(x, u, q, q_rate)

    by the midpoint rule. F acts on q: a moment on an angle, N m, a force along a displacement or apart on a distance, N. Names in
    the texts that are neither states, q, q_rate nor parameters are inputs, at most three. Texts may contain + - * / ** and
    sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, atan and pi.

    Parameters
    ----------
    equations : mapping of str to str
        Text of the rate of each state, at most 8.
    force : str
        Text of the force.
    energy : str, default ""
        Text of the energy that the states store, J; what is not stored counts as external work.
    parameters : mapping of str to float, optional
        Values of parameters in the texts.

    Raises
    ------
    ModelError
        If a text is not an expression, or a name is used twice.

    Examples
    --------
    >>> from rodsim import actuators
    >>> actuators.Equations({"x": "(u - x)/T"}, force="k*x", parameters={"T": 0.1, "k": 5.0}).inputs
    ('u',)
    """

    equations: Mapping[str, str]
    force: str
    energy: str = ""
    parameters: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        owner = "Equations"
        if not isinstance(self.equations, Mapping) or not self.equations:
            raise ModelError(
                f'{owner}: equations = {shown(self.equations)}; give the rate of each state as a text, {{"x": "-x/T + u"}}'
            )
        states = tuple(self.equations)
        texts = {name: _canonical(owner, text) for name, text in self.equations.items()}
        object.__setattr__(self, "equations", texts)
        object.__setattr__(self, "force", _canonical(owner, self.force))
        object.__setattr__(self, "energy", _canonical(owner, self.energy) if self.energy else "")
        values = {
            name: checks.number(owner, f"parameters[{name!r}]", x)
            for name, x in (self.parameters or {}).items()
        }
        object.__setattr__(self, "parameters", values)
        known = {*self._names(), *states}
        for name in values:
            if name not in known or name in (*states, Q, RATE):
                raise ModelError(
                    f"{owner}: the parameter '{name}' is not in the texts, or is a state; remove or rename it"
                )

    def _names(self) -> set[str]:
        """Return all names in the texts that are not states."""
        texts = [*self.equations.values(), self.force, *([self.energy] if self.energy else [])]
        return {name for text in texts for name in names_of(text)} - set(self.equations)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs, sorted."""
        return tuple(sorted(self._names() - {Q, RATE, *(self.parameters or {})}))


def _canonical(owner: str, text: object) -> str:
    """Return an expression as Python writes it; ModelError if it is not one."""
    if not isinstance(text, str):
        raise ModelError(f"{owner}: {shown(text)} is not a text; write an expression such as '-x/T + u'")
    return canonical(owner, text, names_of(text))


@dataclass(frozen=True)
class DCMotor:
    """Return a motor with brushes: L di/dt = U - R i - K q_rate, moment K i, input U, state i.

    The energy of the inductance, L i^2/2, is stored; the electrical work less the heat R i^2 is external work.

    Parameters
    ----------
    resistance : float
        R, ohm.
    inductance : float
        L, H.
    constant : float
        Moment per current, N m/A, and voltage per rate of the shaft, V s/rad.
    gear : float, default 1
        Rotations of the shaft per rotation of the joint.

    Raises
    ------
    ModelError
        If a number is not positive (resistance may be zero).

    Examples
    --------
    >>> from rodsim import actuators
    >>> actuators.DCMotor(resistance=1.0, inductance=0.05, constant=0.05)
    DCMotor(resistance=1.0, inductance=0.05, constant=0.05, gear=1.0)
    """

    resistance: float
    inductance: float
    constant: float
    gear: float = 1.0

    def __post_init__(self) -> None:
        checks.number("DCMotor", "resistance", self.resistance, at_least=0.0)
        for name in ("inductance", "constant", "gear"):
            checks.number("DCMotor", name, getattr(self, name), positive=True)

    def texts(self) -> Equations:
        """Return its equations.

        Returns
        -------
        Equations
        """
        numbers = {"R": self.resistance, "L": self.inductance, "K": self.constant * self.gear}
        return Equations({"i": "(U - R*i - K*q_rate)/L"}, "K*i", "L*i**2/2", numbers)


@dataclass(frozen=True)
class HydraulicCylinder:
    """Return a double-acting cylinder with a servo valve: states p1, p2, the pressures of its chambers, Pa; input u, its opening.

        p1' = E (Q1 - A1 q_rate)/(V1 + A1 q),   p2' = E (A2 q_rate - Q2)/(V2 - A2 q),   force A1 p1 - A2 p2

    With u > 0 oil flows from the supply to chamber 1 and from chamber 2 to the tank, with u < 0 the other way, each flow with
    the root of the pressure difference d,

        Q = valve u d/(d^2 + laminar^2)^(1/4)

    which is linear for small d. Openings are u+ = (u + sqrt(u^2 + underlap^2))/2 and u- = u - u+.

    Parameters
    ----------
    area : float
        A1, area of the piston, m^2.
    rod_area : float
        A2, area of the ring on the side of the rod, m^2.
    volume, rod_volume : float
        V1, V2: volumes of oil in both chambers and their pipes at t = 0, m^3.
    bulk_modulus : float
        E, Pa.
    valve : float
        Flow at u = 1, m^3/s/sqrt(Pa).
    supply : float
        Pressure of the supply, Pa.
    tank : float, default 0
        Pressure of the tank, Pa.
    laminar : float, default 1e4
        Pressure difference below which the flow is linear, Pa.
    underlap : float, default 1e-3
        Opening of the closed valve: it leaks.

    Raises
    ------
    ModelError
        If a number is not positive, or the tank's pressure is not below that of the supply.

    Examples
    --------
    >>> from rodsim import actuators
    >>> oil = {"volume": 1e-4, "rod_volume": 1e-4, "bulk_modulus": 1.6e9, "valve": 1e-7, "supply": 2e7}
    >>> actuators.HydraulicCylinder(area=1e-3, rod_area=8e-4, **oil).tank
    0.0
    """

    area: float
    rod_area: float
    volume: float
    rod_volume: float
    bulk_modulus: float
    valve: float
    supply: float
    tank: float = 0.0
    laminar: float = 1e4
    underlap: float = 1e-3

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name == "tank":
                checks.number("HydraulicCylinder", "tank", value)
            else:
                checks.number("HydraulicCylinder", entry.name, value, positive=True)
        if not self.tank < self.supply:
            raise ModelError(
                f"HydraulicCylinder: tank = {self.tank} is not below supply = {self.supply}. Exchange them"
            )

    def texts(self) -> Equations:
        """Return its equations.

        Returns
        -------
        Equations
        """
        flow = "valve*({})*(u + {}sqrt(u**2 + underlap**2))/2/(({})**2 + laminar**2)**0.25"
        from_supply, to_tank = (
            (lambda p, sign: flow.format(f"supply - {p}", sign, f"supply - {p}")),
            (lambda p, sign: flow.format(f"{p} - tank", sign, f"{p} - tank")),
        )
        into_1 = f"{from_supply('p1', '')} + {to_tank('p1', '-1*')}"
        out_of_2 = f"{to_tank('p2', '')} + {from_supply('p2', '-1*')}"
        equations = {
            "p1": f"E*({into_1} - A1*q_rate)/(V1 + A1*q)",
            "p2": f"E*(A2*q_rate - ({out_of_2}))/(V2 - A2*q)",
        }
        names = {"A1": self.area, "A2": self.rod_area, "V1": self.volume, "V2": self.rod_volume}
        names |= {"E": self.bulk_modulus}
        names |= {name: getattr(self, name) for name in ("valve", "supply", "tank", "laminar", "underlap")}
        return Equations(equations, "A1*p1 - A2*p2", "", names)


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Return a linear system between the coordinate and its force: x' = A x + B w, force C x + D w, w = (q, q_rate, u1, u2, u3).

    Columns of B and D after the first two belong to the inputs u1, u2, u3; their number is that of the inputs.

    Parameters
    ----------
    A : array_like, shape (n, n)
        At most 8 states x1, x2, ...
    B : array_like, shape (n, 2 + m)
        Of q, q_rate and m inputs.
    C : array_like, shape (n,)
        Force for each state.
    D : array_like, shape (2 + m,), default 0
        Force for each of w.

    Raises
    ------
    ModelError
        If the shapes do not fit.

    Examples
    --------
    >>> from rodsim import actuators
    >>> actuators.StateSpace(A=[[-10.0]], B=[[0.0, 0.0, 10.0]], C=[5.0]).texts().inputs
    ('u1',)
    """

    A: ArrayLike
    B: ArrayLike
    C: ArrayLike
    D: ArrayLike = 0.0

    def __post_init__(self) -> None:
        A, B = (
            checks.array("StateSpace", name, np.atleast_2d(getattr(self, name)), (None, None))
            for name in "AB"
        )
        C, D = np.ravel(np.asarray(self.C, float)), np.ravel(np.asarray(self.D, float))
        n, width = len(A), B.shape[1]
        D = np.full(width, D[0]) if len(D) == 1 and not D[0] else D
        if A.shape != (n, n) or len(B) != n or not 2 <= width <= 2 + INPUTS or len(C) != n or len(D) != width:
            raise ModelError(
                f"StateSpace: A, B, C, D have shapes {A.shape}, {B.shape}, {C.shape}, {D.shape}. With n states and m = 0 to "
                f"{INPUTS} inputs give (n, n), (n, 2 + m), (n,) and (2 + m,)"
            )
        if n > MAX_INTERNAL_VARIABLES:
            raise ModelError(f"StateSpace: has {n} states; there may be {MAX_INTERNAL_VARIABLES}")
        for name, value in zip("ABCD", (A, B, C, D), strict=True):
            object.__setattr__(self, name, value)

    def texts(self) -> Equations:
        """Return its equations, whose parameters are the entries that are not zero.

        Returns
        -------
        Equations
        """
        A, B, C, D = (np.asarray(getattr(self, name), float) for name in "ABCD")
        words = [Q, RATE, *(f"u{k + 1}" for k in range(B.shape[1] - 2))]
        states = [f"x{k + 1}" for k in range(len(A))]
        numbers: dict[str, float] = {}

        def sum_of(row: str, on_states: Any, on_inputs: Any) -> str:
            """Return the text of a linear form, and note its coefficients."""
            entries = {f"{row}_{name}": (name, x) for name, x in zip(states, on_states, strict=True)}
            entries |= {f"{row}_{name}": (name, x) for name, x in zip(words, on_inputs, strict=True)}
            used = {key: (name, x) for key, (name, x) in entries.items() if x or name[0] == "u"}
            numbers.update({key: float(x) for key, (_, x) in used.items()})
            return " + ".join(f"{key}*{name}" for key, (name, _) in used.items()) or "0"

        equations = {name: sum_of(f"A{k + 1}", A[k], B[k]) for k, name in enumerate(states)}
        force = sum_of("C", C, D)
        return Equations(equations, force, "", numbers)


@dataclass(frozen=True)
class FirstOrderLag:
    """Return a force that follows its input with a delay: x' = (gain u - x)/time, force x, input u, state x.

    Parameters
    ----------
    time : float
        Time constant, s.
    gain : float, default 1
        Force at rest for the input 1.

    Raises
    ------
    ModelError
        If the time is not positive.

    Examples
    --------
    >>> from rodsim import actuators
    >>> actuators.FirstOrderLag(time=0.05, gain=20.0)
    FirstOrderLag(time=0.05, gain=20.0)
    """

    time: float
    gain: float = 1.0

    def __post_init__(self) -> None:
        checks.number("FirstOrderLag", "time", self.time, positive=True)
        checks.number("FirstOrderLag", "gain", self.gain)

    def texts(self) -> Equations:
        """Return its equations.

        Returns
        -------
        Equations
        """
        return Equations({"x": "(gain*u - x)/T"}, "x", "", {"gain": self.gain, "T": self.time})


ActuatorLaw = Equations | DCMotor | HydraulicCylinder | StateSpace | FirstOrderLag
# by word in scenes
ACTUATOR_LAWS: dict[str, type[Any]] = {
    "equations": Equations,
    "dc motor": DCMotor,
    "hydraulic cylinder": HydraulicCylinder,
    "state space": StateSpace,
    "first-order lag": FirstOrderLag,
}


def equations_of(law: ActuatorLaw) -> Equations:
    """Return the equations of a law."""
    return law if isinstance(law, Equations) else law.texts()


def check_actuator_law(context: Any, what: str, value: Any) -> ActuatorLaw:
    """Check that a value is the law of an actuator."""
    if isinstance(value, tuple(ACTUATOR_LAWS.values())):
        law: Any = value
        return law
    raise ModelError(
        f"{context.owner}: law = {shown(value)} is not the law of an actuator. Give actuators.DCMotor(...), or another of "
        "`rodsim.actuators`"
    )


def describe_actuator_law(law: ActuatorLaw) -> dict[str, Any]:
    """Return a law as words and numbers."""
    values = {entry.name: getattr(law, entry.name) for entry in fields(law)}
    return {"law": type(law).__name__} | {
        name: value.tolist()
        if isinstance(value, np.ndarray)
        else dict(value)
        if isinstance(value, Mapping)
        else value
        for name, value in values.items()
    }
