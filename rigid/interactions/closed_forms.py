"""Select the closed forms of constraints by the number of their kind: one compiled function of each form for all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rigid.compilation.decorators import named_kernel
from rigid.interactions.constraints import CONSTRAINTS


def dispatch_by_number(name: str, functions: Sequence[Any]) -> Any:
    """Return a kernel (number, *arguments) that calls functions[number](*arguments).

    The kernel must not be called with a number whose function is None. It is a chain of branches that the compiler sees through,
    so that small functions are inlined; there is no table of addresses.
    """
    defined = [(number, function) for number, function in enumerate(functions) if function is not None]
    chain = _last(name, defined[-1][1])
    for number, function in defined[-2::-1]:
        chain = _link(name, number, function, chain)
    return chain


def _last(name: str, function: Any) -> Any:
    """Return the end of the chain: a kernel that calls the function for every number."""

    def choose(kind_number: Any, *arguments: Any) -> Any:
        return function(*arguments)

    return named_kernel(f"{name}_else", choose)


def _link(name: str, number: int, function: Any, next_link: Any) -> Any:
    """Return a kernel that calls the function for this number, else the rest of the chain."""

    def choose(kind_number: Any, *arguments: Any) -> Any:
        if kind_number == number:
            return function(*arguments)
        return next_link(kind_number, *arguments)

    return named_kernel(f"{name}_{number}", choose)


def _dispatched_form(form: str) -> Any:
    """Return the kernel that selects this closed form by the number of the kind."""
    return dispatch_by_number(form, [kind.closed and getattr(kind.closed, form) for kind in CONSTRAINTS])


hidden_value_of = _dispatched_form("hidden_value")
hidden_derivative_of = _dispatched_form("hidden_derivative")
