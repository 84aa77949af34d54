"""Replace slow parts of numba's compiler by faster ones with the same results.

Two thirds of the time of a first compilation are numba's Python. Some parts compute the same result again and again; one compiles
Python's text functions, some thirty of them, for the message of an error that our kernels never raise. They are private parts of
numba: each is replaced only if its source is the one for which the replacement was written (`KNOWN`), and otherwise left alone.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import inspect
import warnings
from typing import Any

from llvmlite.binding import ffi
from numba.core import base, compiler, event, ir, postproc, targetconfig, transforms, types, utils
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.extending import overload

# first digits of SHA-256 of the sources, in numba 0.65 to 0.68; the last four in 0.68
KNOWN: dict[str, tuple[str, ...]] = {
    "_rec_list_vars": ("054700e9100b",),
    "order_by_target_specificity": ("e937ed208fd8",),
    "ufunc_can_cast": ("61c29048d7ec",),
    "ol_raise_with_shape_context_generic": ("2503332d1d47",),
    "ol_raise_with_shape_context_cpu": ("021158a7acf2", "8f63a200b37b"),
    "get_call_type": ("6559c167bfc0",),
    "get_function": ("a3602598ea18",),
    "run": ("e1a8e77d6f17",),
    "_optimize_functions": ("9439219fa946",),
    "_optimize_final_module": ("e405bd473752",),
}


class KernelFlags(compiler.Flags):
    """numba's settings of one compilation, with fast comparison and hash: numba compares them for each operator that it types."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        """Return all settings by name."""
        return {**_DEFAULTS, **self._values}

    def __hash__(self) -> int:
        return _HASH


_DEFAULTS = compiler.Flags().values()
_HASH = hash(compiler.Flags())  # depends on the names alone


def variables_in(_: Any, value: Any) -> list[Any]:
    """Collect the variables in a value, in place of `ir.Inst._rec_list_vars`, which tests each value against six types
    one by one.
    """
    found: list[Any] = []
    _gather(value, found)
    return found


_WITHOUT = {str, int, float, bool, type(None), ir.Loc}  # types without variables, extended at run time


def _gather(value: Any, found: list[Any]) -> None:
    """Append the variables in a value to `found`."""
    of = type(value)
    if of is ir.Var:
        found.append(value)
    elif of in _WITHOUT:
        return
    elif isinstance(value, dict):
        for each in value.values():
            _gather(each, found)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _gather(each, found)
    elif isinstance(value, ir.Var):
        found.append(value)
    elif isinstance(value, ir.Inst):
        found.extend(value.list_vars())
    else:
        _WITHOUT.add(of)


def ordered_once(order: Any) -> Any:
    """Cache `order_by_target_specificity`, which numba calls for the same few operators at each of their uses."""

    @functools.lru_cache(1024)
    def ordered(target: Any, candidates: Any, key: Any) -> Any:
        return tuple(order(target, candidates, key))

    def of(target: Any, candidates: Any, fnkey: Any = "") -> Any:
        return list(ordered(target, tuple(candidates), fnkey)) if candidates else []

    return of


def short_if_ours(short: Any, long: Any) -> Any:
    """Choose between two implementations of an error message: the short one in our kernels, numba's in those of others."""

    @functools.wraps(long)  # numba reads the names of its arguments
    def chosen(src_shapes: Any, index_shape: Any) -> Any:
        return (short if of_ours() else long)(src_shapes, index_shape)

    return chosen


def short_words(arrayobj: Any) -> Any:
    """Replace `raise_with_shape_context`, the error if an array does not fit into the part of another that it is assigned to.

    In our kernels its message does not contain the shapes.
    """
    short, long = arrayobj.ol_raise_with_shape_context_generic, arrayobj.ol_raise_with_shape_context_cpu

    def raise_with_shape_context(src_shapes: Any, index_shape: Any) -> None:
        raise NotImplementedError

    overload(raise_with_shape_context, target="generic")(short)
    overload(raise_with_shape_context, target="CPU")(short_if_ours(short, long))
    return raise_with_shape_context


def of_ours() -> bool:
    """Return True if the function that is being compiled is one of our kernels, or part of one."""
    return isinstance(targetconfig.ConfigStack.top_or_none(), KernelFlags)


def found_when_asked(run: Any) -> Any:
    """Replace `PostProcessor.run`, which determines the last use of each variable after each of nine passes.

    In our kernels this is determined when it is first requested. Variables live at the start of a block are needed for
    generators and Python objects only. A kernel that counts no references needs none of it: ending a life means releasing a
    reference and setting to zero what is not read again.
    """

    @functools.wraps(run)
    def run_for_less(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        function, settings = self.func_ir, targetconfig.ConfigStack.top_or_none()
        if function.is_generator or not of_ours() or settings.enable_pyobject:
            return run(self, emit_dels, extend_lifetimes)
        function.blocks = transforms.canonicalize_cfg(function.blocks)
        function.variable_lifetime = postproc.VariableLifetime(function.blocks)
        function.generator_info = None
        if emit_dels and settings.nrt:
            self._insert_var_dels(extend_lifetimes=extend_lifetimes)

    return run_for_less


def typed_once(get_call_type: Any) -> Any:
    """Cache `BaseFunction.get_call_type`, which tries all candidates in turn at each `a + b` or `x[i]`.

    Results are cached for numbers and arrays, in our kernels only. If an operator gets new overloads later, numba makes another
    function type of it, which has its own entries.
    """
    found: dict[Any, Any] = {}

    @functools.wraps(get_call_type)
    def of(self: Any, context: Any, args: Any, kws: Any) -> Any:
        plain = not kws and of_ours() and getattr(self.typing_key, "__module__", "") == "_operator"
        if not plain or not all(isinstance(each, _PLAIN) for each in args):
            return get_call_type(self, context, args, kws)
        asked = self, context, args
        if asked not in found:
            signature = get_call_type(self, context, args, kws)
            found[asked] = signature, self._impl_keys[signature.args]
        signature, key = found[asked]
        self._impl_keys[signature.args] = key
        return signature

    return of


def without_looking_again(get_function: Any) -> Any:
    """Wrap `BaseContext.get_function`, which numba calls at each use of an array to find out whether its type converts to an
    array.

    If there is no such conversion, numba searches again everything that its extensions may have brought, in vain; this is
    skipped.
    """

    @functools.wraps(get_function)
    def of(self: Any, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        return get_function(self, fn, sig, _firstcall and not (isinstance(fn, str) and fn == "__array__"))

    return of


_PLAIN = (types.Number, types.Boolean, types.Array)


def is_known(place: Any, name: str) -> bool:
    """Return True if numba's function is one of those for which the replacements were written."""
    try:
        source = inspect.getsource(getattr(place, name))
    except (AttributeError, OSError, TypeError):
        return False
    return hashlib.sha256(source.encode()).hexdigest().startswith(KNOWN[name])


@functools.cache
def quicken() -> frozenset[str]:
    """Install the replacements once, before the first kernel is compiled; return the names of the replaced functions.

    It is not called if all machine code is cached.
    """
    from numba.np import arrayobj, numpy_support

    replaced = set()
    if all(is_known(arrayobj, f"ol_raise_with_shape_context_{target}") for target in ("generic", "cpu")):
        arrayobj.raise_with_shape_context = short_words(arrayobj)
        replaced.add("raise_with_shape_context")
    for place, name, make in (
        (ir.Inst, "_rec_list_vars", lambda _: variables_in),
        (utils, "order_by_target_specificity", ordered_once),
        (numpy_support, "ufunc_can_cast", functools.cache),
        (types.BaseFunction, "get_call_type", typed_once),
        (base.BaseContext, "get_function", without_looking_again),
        (postproc.PostProcessor, "run", found_when_asked),
    ):
        if is_known(place, name):
            setattr(place, name, make(getattr(place, name)))
            replaced.add(name)
    return frozenset(replaced)


class WhileCompiling(event.Listener):
    """Listener that is active while the outermost of the kernels being compiled is compiled.

    Python searches for cyclic garbage after every 700 new objects. The compiler makes millions of objects and leaves little
    such garbage, so that an eighth of its time was spent on the search: meanwhile the search is made after many more objects,
    unless garbage collection is off. Also, the timers of all kernels that wait for this one are not notified of each of some
    hundred thousand calls of LLVM.

    In our kernels numba's warning that functions as values are experimental is suppressed.
    """

    EVERY = 500_000  # objects; at 100,000 the search took 3 s of 57; same peak memory, 540 MB for `em`
    depth, before = 0, (0, 0, 0)

    def __init__(self) -> None:
        self._told: list[Any] = []
        self._filters: list[Any] = []

    def on_start(self, started: Any) -> None:
        """Change the settings if this is the outermost kernel."""
        if self.depth == 0:
            quicken()
            self._filters = _without_experimental() if _is_ours(started.data.get("dispatcher")) else []
            self.before = gc.get_threshold()
            gc.set_threshold(self.EVERY if self.before[0] else 0, *self.before[1:])
            self._told = _exchange_told([])
        self.depth += 1

    def on_end(self, ended: Any) -> None:
        """Restore the settings after the outermost kernel."""
        self.depth -= 1
        if self.depth == 0:
            gc.set_threshold(*self.before)
            _exchange_told(self._told)
            for each in self._filters:
                if each in warnings.filters:
                    warnings.filters.remove(each)  # type: ignore[attr-defined]


def _is_ours(dispatcher: Any) -> bool:
    """Return True if a dispatcher was made by `rigid.compilation.decorators`."""
    own = getattr(dispatcher, "_compiler", None)
    return own is not None and isinstance(own._customize_flags(compiler.Flags()), KernelFlags)


def _without_experimental() -> list[Any]:
    """Ignore numba's warning that functions as values are experimental, which users cannot act on; return the filters
    to remove.
    """
    warnings.filterwarnings("ignore", category=NumbaExperimentalFeatureWarning)
    return [warnings.filters[0]]


def _exchange_told(others: list[Any]) -> list[Any]:
    """Replace the listeners to calls of LLVM while no call is active; return the previous ones."""
    lock: Any = getattr(ffi.lib, "_lock", None)
    if not hasattr(lock, "_cblist") or not hasattr(lock, "_lock"):
        return []
    with lock._lock:
        before, lock._cblist = lock._cblist, others
    return before
