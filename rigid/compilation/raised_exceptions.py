"""Report an exception in a compiled function to the compiled code that called it.

Compiled functions call each other through C pointers, which carry no exception: numba prints it and returns to the caller, which
continues with any values that the results contain. A function of `compiled` that raises therefore returns results that no step
accepts: NaN in its last array of floats or in the number that it returns, or the status `RAISED` if it returns an integer. The
exception is still printed, by `sys.unraisablehook`, since the caller does not know what happened.

Divisions of real numbers follow IEEE and raise nothing (`rigid.compilation.decorators`), divisions of complex numbers raise
ZeroDivisionError, and functions of users may raise anything.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

RAISED = 5  # status returned by functions whose result is a status; 0 is success


def create_c_wrapper(context: Any, library: Any, fndesc: Any, environment: Any, call_helper: Any) -> None:
    """Add the function that C calls to the library, as numba's `CPUContext.create_cfunc_wrapper` does.

    Parameters
    ----------
    context : numba.core.cpu.CPUContext
    library : numba.core.codegen.CodeLibrary
        Receives a module with the wrapper.
    fndesc : numba.core.funcdesc.FunctionDescriptor
        Descriptor of the compiled function.
    environment, call_helper
        Not used; numba passes them.
    """
    module = context.create_module("cfunc_wrapper")
    kind = context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes)
    callee = ir.Function(module, kind, fndesc.llvm_func_name)
    argument_types = [context.get_value_type(argument_type) for argument_type in fndesc.argtypes]
    returned = context.get_value_type(fndesc.restype)
    wrapper = ir.Function(module, ir.FunctionType(returned, argument_types), fndesc.llvm_cfunc_wrapper_name)
    builder = ir.IRBuilder(wrapper.append_basic_block("entry"))
    status, result = context.call_conv.call_function(
        builder, callee, fndesc.restype, fndesc.argtypes, wrapper.args, attrs=("noinline",)
    )
    with builder.if_then(status.is_error, likely=False):
        _print_exception(context, builder, status, fndesc.qualname)
        for argument, value in reversed(list(zip(fndesc.argtypes, wrapper.args, strict=True))):
            if _is_array_of_floats(argument):
                _fill_with_nan(context, builder, argument, value)
                break
        builder.ret(_failed_result(context, builder, fndesc.restype, result))
    builder.ret(result)
    library.add_ir_module(module)


def _print_exception(context: Any, builder: Any, status: Any, name: str) -> None:
    """Acquire the interpreter's lock and pass the exception to `sys.unraisablehook`."""
    python = context.get_python_api(builder)
    lock = python.gil_ensure()
    context.call_conv.raise_error(builder, python, status)
    text = context.insert_const_string(builder.module, f"compiled function '{name}'; its step fails")
    message = python.string_from_string(text)
    python.err_write_unraisable(message)
    python.decref(message)
    python.gil_release(lock)


def _is_array_of_floats(kind: Any) -> bool:
    """Return True for types of C-contiguous arrays of real or complex numbers."""
    return (
        isinstance(kind, types.Array)
        and kind.layout == "C"
        and isinstance(kind.dtype, types.Float | types.Complex)
    )


def _fill_with_nan(context: Any, builder: Any, kind: Any, value: Any) -> None:
    """Generate code that fills an array with NaN."""
    array = context.make_array(kind)(context, builder, value)
    nan = _failed_result(context, builder, kind.dtype, None)
    with cgutils.for_range(builder, array.nitems) as loop:
        pointer = cgutils.gep(builder, array.data, loop.index)
        builder.store(context.get_value_as_data(builder, kind.dtype, nan), pointer)


def _failed_result(context: Any, builder: Any, kind: Any, result: Any) -> Any:
    """Return NaN, RAISED or a tuple of these; `result` if the type has no such value."""
    if isinstance(kind, types.Float):
        return context.get_constant(kind, float("nan"))
    if isinstance(kind, types.Complex):
        return context.get_constant_generic(builder, kind, complex("nan+nanj"))
    if isinstance(kind, types.Integer):
        return context.get_constant(kind, RAISED)
    if isinstance(kind, types.BaseTuple):
        kinds: Any = kind  # iteration yields the types of the entries
        parts = [_failed_result(context, builder, item_kind, None) for item_kind in kinds]
        return context.make_tuple(builder, kind, parts)
    return result
