"""Find and load cached kernels in a fraction of the time that numba's own cache takes.

A module has dozens of kernels, of which a session calls a few. numba looks up the folder of each kernel when it is decorated, and
tries whether it can be written; here this is postponed to the first call. Before it loads machine code numba sets up everything
that its compiler knows, the types and functions of Python and numpy, which takes a quarter of a second. Cached code needs none
of it, and the compiler sets it up by itself if something is left to compile. Besides machine code numba stores the code that the
compiler inlines if another kernel calls this one, and reads that, too. Here it is read when something is compiled; the names
defined in the machine code are stored with it.

The module uses parts of numba that may change; `tests/core/test_compilation.py` then fails. If a part is not as it was when this
was written, numba's own code is used.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
from typing import Any

import llvmlite.binding
import numba
from numba.core import caching, codegen
from numba.core.runtime import rtsys

from rigid.compilation.cache_folder import CACHE_DIRECTORY, report_not_cached
from rigid.compilation.closure_names import is_named_by_contents

_config: Any = numba.config
# names that occur in the function of numba that `_LoadedLibrary` replaces
_NAMES = {
    *("create_library", "isinstance", "ll", "parse_bitcode", "ValueError"),
    *("_final_module", "_finalize_final_module", "_shared_module", "enable_object_caching"),
    *("_set_compiled_object", "_codegen", "_engine", "_load_defined_symbols"),
}  # fmt: skip


@functools.cache
def _as_read() -> bool:
    """Return True if numba loads machine code as it did when this was written."""
    try:
        load: Any = codegen.JITCodeLibrary._unserialize
        names = set(load.__func__.__code__.co_names)
        return names == _NAMES and callable(codegen.JitEngine._load_defined_symbols)
    except AttributeError:
        return False


class _LoadedLibrary(codegen.JITCodeLibrary):
    """Library of machine code from the disk; the code that the compiler inlines is read when it is first needed."""

    _bitcode: bytes | None = None
    _module: Any = None

    @property
    def _shared_module(self) -> Any:
        """Return the LLVM module that the compiler inlines."""
        if self._module is None and self._bitcode is not None:
            self._module = llvmlite.binding.parse_bitcode(self._bitcode)
        return self._module

    @_shared_module.setter
    def _shared_module(self, module: Any) -> None:
        self._module = module

    @classmethod
    def of(cls, owner: Any, state: Any, names: frozenset[str]) -> Any:
        """Load a library as numba's `_unserialize` does; `names` are those of everything that its machine code defines."""
        name, _, (machine_code, bitcode) = state
        library = cls(owner, name)
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._bitcode = bitcode
        library._finalize_final_module()
        owner._engine._defined_symbols |= names
        return library


class _OurFolder(caching.UserProvidedCacheLocator):
    """Locator of the folder that is set, also if it cannot be written to: cached code on a read-only disk is loaded.

    numba would try other folders, whose names have no hash of our sources, and find old machine code there.
    """

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the locator of any function that has a file."""
        return cls(py_func, py_file)

    def ensure_cache_path(self) -> None:
        """Make the folder of the kernel's file."""
        os.makedirs(self.get_cache_path(), exist_ok=True)


class _Results(caching.CompileResultCacheImpl):
    """Serialised form of a compiled kernel: numba's, and the names that its machine code defines."""

    _locator_classes: list[type[object]] = [_OurFolder]  # noqa: RUF012

    def reduce(self, cres: Any) -> Any:
        """Return what numba stores, and the defined names if there is machine code; the text of the types of all
        variables is omitted.
        """
        cres.library._ensure_finalized()
        needed = [*{*cres.reload_init, *cres.library._reload_init}]  # also those of inlined kernels
        reduced = super().reduce(cres._replace(type_annotation="", reload_init=needed))
        if reduced[0][1] != "object":
            return reduced, None
        module = cres.library._get_module_for_linking()
        names = {
            one.name
            for definitions in (module.functions, module.global_variables)
            for one in definitions
            if not one.is_declaration
        }
        return reduced, frozenset(names)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the compiled kernel of its serialised form."""
        payload, names = payload if len(payload) == 2 else (payload, None)
        owner = target_context.codegen()
        if names is None or not _as_read():
            return _calling_the_same(super().rebuild(target_context, payload))
        before = vars(owner).get("unserialize_library")  # loader of an enclosing call of this method
        owner.unserialize_library = lambda state: _LoadedLibrary.of(owner, state, names)
        try:
            return _calling_the_same(super().rebuild(target_context, payload))
        finally:
            del owner.unserialize_library
            if before is not None:
                owner.unserialize_library = before


def _calling_the_same(loaded: Any) -> Any:
    """Copy the requirements of a loaded kernel to its library, so that its callers have them too: numba drops them
    when it loads.
    """
    loaded.library._reload_init.update(loaded.reload_init)
    return loaded


class KernelCache(caching.FunctionCache):
    """numba's cache of a kernel, with the folder and the index class that were set when the kernel was decorated.

    Nothing is cached if there is no folder, if the kernel has no file, or if writing fails.
    """

    _impl_class = _Results

    def __init__(self, py_func: Any) -> None:
        self._py_func = py_func
        self._where = _config.CACHE_DIR, caching.IndexDataCacheFile

    def __getattr__(self, name: str) -> Any:
        """Run numba's constructor when one of the attributes that it sets is first requested."""
        if name.startswith("__") or "_where" not in self.__dict__:
            raise AttributeError(name)
        where = self.__dict__.pop("_where")
        if not where[0] or not os.path.exists(inspect.getfile(self._py_func)):
            self._cache_path, self._enabled = "", False
            return getattr(self, name)
        # disable other locators, which users of numba can choose
        settings = {"CACHE_DIR": where[0], "CACHE_LOCATOR_CLASSES": ""}
        before = {key: getattr(_config, key, "") for key in settings}, caching.IndexDataCacheFile
        vars(_config).update(settings)
        caching.IndexDataCacheFile = where[1]  # type: ignore[misc]
        try:
            super().__init__(self._py_func)
        finally:
            vars(_config).update(before[0])
            caching.IndexDataCacheFile = before[1]  # type: ignore[misc]
        return getattr(self, name)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return the key of an entry: what a kernel encloses is part of its name, or of the key, where numba puts it."""
        if not is_named_by_contents(self._py_func):
            return super()._index_key(sig, codegen)
        return sig, codegen.magic_tuple(), hashlib.sha256(self._py_func.__code__.co_code).hexdigest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached kernel for this signature, or None."""
        rtsys.initialize(target_context)  # machine code calls numba's functions for memory by their names
        with contextlib.suppress(OSError):
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache a compiled kernel; report if that fails."""
        if not CACHE_DIRECTORY:
            report_not_cached()
        try:
            self._save_overload(sig, data)
        except OSError as error:
            report_not_cached(error)
