"""A structural zero: a number whose type implies that it is zero, so that formulas of space reduce to those of the plane.

`Zero` is a numba type without data:

    ZERO x = x ZERO = ZERO,   ZERO/x = ZERO,   ZERO + x = x + ZERO = x - ZERO = x,   ZERO - x = -x,   -ZERO = ZERO          (1)

A kernel on tuples of numbers, compiled for vectors (x, y, ZERO) and matrices with ZERO in the entries that vanish in the plane,
is the kernel of the plane: terms with ZERO leave no instruction behind. The remaining operations are those of the formulas of
space in the same order. Both kernels therefore give bit-identical numbers, since adding a floating-point zero changes none.

If one branch gives ZERO and another a number, the result is a number. Division by ZERO is an error when a kernel is compiled.

Without the compiler (NUMBA_DISABLE_JIT) ZERO is a Python object with the same rules.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_builtin, lower_cast, lower_constant
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import NativeValue, box, models, register_model, typeof_impl, unbox

from rigid.lanes import VECTOR, Lanes

_BYTE = ir.IntType(8)
_NOTHING = ir.Constant(_BYTE, 0)
_NUMBERS = (types.Float, types.Integer, Lanes)


class Zero(types.Type):
    """Numba type of ZERO."""

    def __init__(self) -> None:
        super().__init__(name="Zero")

    def unify(self, typing: Any, other: Any) -> Any:
        """Return the type of a variable that may be ZERO or a number: that of the number."""
        return other if isinstance(other, types.Float | Lanes) else None


_TYPE = Zero()


class _Zero:
    """Class of ZERO outside of compiled code."""

    __array_ufunc__ = None  # arrays of NumPy leave operations with ZERO to the methods below

    def __repr__(self) -> str:
        return "ZERO"

    def __float__(self) -> float:
        return 0.0

    def __mul__(self, other: Any) -> Any:
        return self

    __rmul__ = __truediv__ = __mul__

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __rsub__ = __add__

    def __sub__(self, other: Any) -> Any:
        return -other

    def __neg__(self) -> Any:
        return self


# models in Python use it as a number: `ZERO * 2.0` is ZERO, `ZERO + 2.0` is 2.0
ZERO: Any = _Zero()


@typeof_impl.register(_Zero)
def _type_of(value: Any, context: Any) -> Zero:
    return _TYPE


@register_model(Zero)
class _Model(models.PrimitiveModel):
    """Data model of one byte that is never read: the compiler has no type without a size."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of, _BYTE)


@box(Zero)
def _boxed(of: Any, value: Any, context: Any) -> Any:
    """Return 0.0 to Python for a result that is ZERO."""
    return context.pyapi.float_from_double(context.context.get_constant(types.float64, 0.0))


@unbox(Zero)
def _unboxed(of: Any, value: Any, context: Any) -> Any:
    """Unbox ZERO, which has no data."""
    return NativeValue(_NOTHING)


@lower_constant(Zero)
def _constant(context: Any, builder: Any, of: Any, value: Any) -> Any:
    return _NOTHING


@lower_cast(Zero, types.Float)
def _number(context: Any, builder: Any, of: Any, to: Any, x: Any) -> Any:
    """Convert ZERO to the number 0."""
    return context.get_constant(to, 0.0)


@lower_cast(Zero, Lanes)
def _lanes(context: Any, builder: Any, of: Any, to: Any, x: Any) -> Any:
    """Convert ZERO to lanes of 0."""
    return ir.Constant(VECTOR, [0.0] * 8)


def _result_type(is_product: bool, a: Any, b: Any) -> Any:
    """Return the type of an operation on ZERO and a number or ZERO; None if neither is ZERO or one is neither ZERO nor
    a number.
    """
    if _TYPE not in (a, b) or not all(
        operand is _TYPE or isinstance(operand, _NUMBERS) for operand in (a, b)
    ):
        return None
    if is_product:
        return _TYPE
    other = b if a is _TYPE else a
    return types.float64 if isinstance(other, types.Integer) else other


def _operation(function: Callable[..., Any], is_product: bool, is_difference: bool) -> None:
    """Define (1) for one operator in numba."""
    is_quotient = function in (operator.truediv, operator.itruediv)

    @infer_global(function)
    class _(AbstractTemplate):
        def generic(self, arguments: Any, named: Any) -> Any:
            if named or len(arguments) != 2 or (is_quotient and arguments[1] is _TYPE):
                return None
            result = _result_type(is_product, *arguments)
            return None if result is None else signature(result, *arguments)

    def lower(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        result = sig.return_type
        if result is _TYPE:
            return _NOTHING
        left_is_zero = sig.args[0] is _TYPE
        at = 1 if left_is_zero else 0
        x = context.cast(builder, values[at], sig.args[at], result)
        return builder.fneg(x) if left_is_zero and is_difference else x

    for other in _NUMBERS:
        lower_builtin(function, Zero, other)(lower)
        lower_builtin(function, other, Zero)(lower)
    lower_builtin(function, Zero, Zero)(lower)


for _names, _is_product, _is_difference in (
    (("add", "iadd"), False, False),
    (("sub", "isub"), False, True),
    (("mul", "imul"), True, False),
    (("truediv", "itruediv"), True, False),
):
    for _name in _names:
        _operation(getattr(operator, _name), _is_product, _is_difference)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, arguments: Any, named: Any) -> Any:
        return signature(_TYPE, _TYPE) if arguments == (_TYPE,) else None


@lower_builtin(operator.neg, Zero)
def _negative(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    return _NOTHING
