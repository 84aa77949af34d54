"""Checks of `rodsim doctor`, a finding for each, in the order of the report."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator

from rodsim.doctor import installed_packages
from rodsim.doctor.findings import ABSENT, BROKEN, OK, Finding
from rodsim.doctor.probe_processes import ask

REINSTALL = "pip install --force-reinstall"
INSTALL = "install the program with its packages, in its folder: pip install ."
COMPILING = 600.0  # time limit of the small run, which may compile, s


def examine(quick: bool) -> Iterator[Finding]:
    """Yield the findings one by one; `quick`: True to omit checks that take longer than a few seconds."""
    yield from _checked("program", lambda: [installed_packages.program()])
    yield from _checked("packages", installed_packages.packages)
    yield from _checked("processor", lambda: [_processor()])
    checks: list[Callable[[], Finding]] = [_libraries, _cache]
    if not quick:
        checks += [_run, _opengl, _window, _ffmpeg]
    for check in checks:
        yield from _checked(check.__name__.strip("_"), lambda check=check: [check()])  # type: ignore[misc]


def _checked(name: str, look: Callable[[], list[Finding]]) -> list[Finding]:
    """Return the findings of a check; if the check itself fails, a finding that reports this."""
    try:
        return look()
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{type(error).__name__}: {error} ({os.path.basename(frame.filename)}:{frame.lineno})"
        return [Finding(name, BROKEN, f"the check itself failed: {at}", "please report this")]


def _processor() -> Finding:
    """Return the finding on cores, memory and environment variables that affect runs."""
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    data: dict[str, object] = {"cores": cores, "usable": usable}
    description = f"{usable} of {cores} cores usable; a run uses one"
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        data["memory_bytes"] = memory
        description += f", {memory / 2**30:.1f} GiB of memory"
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_DISABLE_JIT")
    variables = {name: os.environ[name] for name in names if name in os.environ}
    description += "".join(f", {name}={value}" for name, value in variables.items())
    if variables.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return Finding(
            "processor",
            BROKEN,
            description,
            "unset NUMBA_DISABLE_JIT: nothing is compiled, runs take 1000 times longer",
        )
    return Finding("processor", OK, description, data=data)


def _libraries() -> Finding:
    """Return the finding on whether all required packages can be imported."""
    needed = installed_packages.needed()
    if not needed:
        return Finding("libraries", ABSENT, "not tried: the required packages are not known", INSTALL)
    answer = ask("libraries", *needed, limit=120.0)
    if "error" in answer:
        return Finding("libraries", BROKEN, f"importing them {answer['error']}", f"{REINSTALL} rodsim")
    faults: dict[str, str] = answer["faults"]
    if faults:
        description = "; ".join(f"{name} cannot be imported, {why}" for name, why in faults.items())
        return Finding(
            "libraries", BROKEN, description, f"{REINSTALL} {' '.join(faults)}", {"faults": faults}
        )
    return Finding("libraries", OK, "all can be imported")


def _cache() -> Finding:
    """Return the finding on the cache of compiled kernels."""
    answer = ask("cache")
    if "error" in answer:
        return Finding("cache", BROKEN, answer["error"], _remedy_for(answer["error"]))
    size = f"{answer['kernels']} kernels, {answer['bytes'] / 2**20:.0f} MiB"
    if answer["fault"]:
        description = f"compiled code cannot be cached in {answer['folder']}: {answer['fault']}; {size}"
        cure = f"every start compiles again, which takes up to a minute. {answer['remedy']}"
        return Finding("cache", BROKEN, description, cure, answer)
    description = f"{answer['folder']}: {size}, "
    description += "named by NUMBA_CACHE_DIR" if answer["given"] else "of this version"
    description += (
        ""
        if answer["kernels"]
        else "; empty: a first run compiles what it needs, `rodsim compile` everything"
    )
    cure = ""
    if answer["older"]:
        description += f"; caches of other versions next to it: {len(answer['older'])}, {answer['older_bytes'] / 2**20:.0f} MiB"
        cure = "those may be deleted" + ("" if answer["given"] else "; after 30 days without use they are")
    return Finding("cache", OK, description, cure, answer)


def _run() -> Finding:
    """Return the finding on a small run: its times and its energy balance."""
    answer = ask("run", limit=COMPILING)
    if "error" in answer:
        return Finding("small run", BROKEN, answer["error"], _remedy_for(answer["error"]))
    steps, elements = answer["steps"], answer["elements"]
    rate = steps * elements / answer["again"]
    first = (
        f"cold, {answer['compiled']} kernels were compiled" if answer["compiled"] else "warm, from the cache"
    )
    description = f"{steps} steps of a rod of {elements} elements: first {answer['first']:.2f} s ({first}), "
    description += (
        f"again {answer['again'] * 1e3:.0f} ms: {rate / 1e3:.0f} thousand steps of an element a second; "
    )
    description += f"energy conserved to {answer['energy_balance']:.0e}"
    if not answer["energy_balance"] < 1e-10:
        return Finding(
            "small run",
            BROKEN,
            description,
            "energy should be conserved to round-off; please report this",
            answer,
        )
    return Finding("small run", OK, description, data=answer)


def _opengl() -> Finding:
    """Return the finding on whether VTK draws without a window."""
    answer = ask("opengl")
    painted = "matplotlib draws pictures and movies, more plainly"
    if "why" in answer:
        return Finding("OpenGL", ABSENT, painted, answer["why"], answer)
    if "error" in answer:
        cure = INSTALL if "ModuleNotFoundError" in answer["error"] else _opengl_remedy()
        return Finding("OpenGL", ABSENT, f"VTK: {answer['error']}; {painted}", cure, answer)
    description = f"draws off screen with {answer['window']} on {answer['renderer'] or 'an unnamed renderer'}"
    if not answer["red"]:
        return Finding(
            "OpenGL", ABSENT, f"{description}, but its picture is empty; {painted}", _opengl_remedy(), answer
        )
    return Finding("OpenGL", OK, description, data=answer)


def _remedy_for(error: str) -> str:
    """Return the remedy for the error of a probe."""
    if "ModuleNotFoundError" in error:
        return INSTALL
    return "see what is broken above; if nothing is, please report this"


def _opengl_remedy() -> str:
    """Return the remedy if OpenGL does not work."""
    return "on Debian or Ubuntu `apt-get install libegl1 libgl1-mesa-dri`, or start under `xvfb-run`"


def _window() -> Finding:
    """Return the finding on whether there is a screen for windows."""
    answer = ask("window", limit=20.0)
    if "screen" in answer:
        return Finding("window", OK, f"there is a screen: {answer['screen']}", data=answer)
    why = answer.get("why") or answer["error"]
    return Finding(
        "window", ABSENT, f"no screen: {why}", "log in with one (ssh -X), or start under `xvfb-run`", answer
    )


def _ffmpeg() -> Finding:
    """Return the finding on whether ffmpeg can write movies."""
    answer = ask("ffmpeg")
    if "error" in answer or answer["fault"] or not answer["encoder"]:
        why = answer.get("error") or answer["fault"] or f"{answer['program']} has no encoder libx264"
        return Finding(
            "movies", BROKEN, f"no .mp4: {why}", f"{REINSTALL} imageio-ffmpeg; .gif works without", answer
        )
    description = f"ffmpeg {answer['version']} with {answer['encoder']}, {answer['program']}"
    return Finding("movies", OK, description, data=answer)
