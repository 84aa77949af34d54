"""Check which packages are installed, against the requirements in the metadata of the program."""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from pathlib import Path

import rodsim
from rodsim.doctor.findings import ABSENT, BROKEN, OK, Finding

PROGRAM = "rodsim"
USERS = ("studies", "report", "notebook", "shell")  # extras for users; the others are for developers
_REQUIREMENT = re.compile(
    r"^([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?([^;)]*)\)?\s*(?:;.*?extra == ['\"]([^'\"]+)['\"])?"
)


def program() -> Finding:
    """Return the finding on version and location of the program and of Python."""
    folder = Path(rodsim.__file__).parent
    text = f"{rodsim.__version__} in {folder}, Python {platform.python_version()} ({sys.executable}), {platform.platform()}"
    data = {
        "version": rodsim.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    data |= {"executable": sys.executable, "folder": str(folder)}
    if sys.platform == "win32":
        return Finding(PROGRAM, BROKEN, text, "Windows is not supported: install it in WSL", data)
    return Finding(PROGRAM, OK, text, data=data)


def packages() -> list[Finding]:
    """Return the findings on the required packages, then on those of each extra."""
    try:
        required = _bounds_by_extra(metadata.requires(PROGRAM) or [])
    except metadata.PackageNotFoundError:
        cure = "install the program with its packages, in its folder: pip install ."
        return [Finding("packages", BROKEN, "the program is not installed: its needs are not known", cure)]
    core = required.pop("", {})
    findings = [_core(core)]
    return findings + [_extra(name, required[name]) for name in sorted(required, key=_order) if name != "all"]


def needed() -> list[str]:
    """Return the names of the required packages without extras; empty if they are not known."""
    try:
        return list(_bounds_by_extra(metadata.requires(PROGRAM) or []).get("", {}))
    except metadata.PackageNotFoundError:
        return []


def _bounds_by_extra(lines: list[str]) -> dict[str, dict[str, str]]:
    """Return the requirements: extra ("" for none) -> package -> version bounds, such as ">=2.0"."""
    bounds_of: dict[str, dict[str, str]] = {}
    for line in lines:
        match = _REQUIREMENT.match(line)
        if (
            match and match[1] != PROGRAM
        ):  # skip an extra of rodsim named by another extra: its packages are listed as well
            bounds_of.setdefault(match[3] or "", {})[match[1]] = match[2].strip()
    return bounds_of


def _core(required: dict[str, str]) -> Finding:
    """Return the finding on the required packages."""
    versions, missing = _versions(required)
    description = ", ".join(f"{name} {version}" for name, version in versions.items())
    if missing:
        cure = "pip install " + " ".join(f"'{name}{required[name]}'" for name in missing)
        return Finding("packages", BROKEN, f"{_list(missing)}; {description}", cure, {"versions": versions})
    return Finding("packages", OK, description, data={"versions": versions})


def _extra(extra: str, required: dict[str, str]) -> Finding:
    """Return the finding on the packages of an extra."""
    versions, missing = _versions(required)
    name, data = f"extra {extra}", {"versions": versions, "missing": list(missing)}
    if missing:
        return Finding(name, ABSENT, _list(missing), f"pip install '{PROGRAM}[{extra}]'", data)
    installed = (
        [f"{k} {v}" for k, v in versions.items()] if extra in USERS else [f"all {len(versions)} packages"]
    )
    return Finding(name, OK, ", ".join(installed), data=data)


def _versions(required: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the versions of the packages that are installed and new enough, and the reasons for the others."""
    versions, missing = {}, {}
    for name, bounds in required.items():
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing[name] = "missing"
            continue
        least = re.search(r">=\s*([0-9.]+)", bounds)
        if least and _numbers(versions[name]) < _numbers(least[1]):
            missing[name] = f"{versions.pop(name)} is too old"
    return versions, missing


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of the release part of a version, without trailing zeros."""
    numbers = [int(x) for x in re.match(r"[0-9.]*", version)[0].split(".") if x]  # type: ignore[index]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _list(missing: dict[str, str]) -> str:
    """Return the missing packages with the reasons, in one line."""
    return ", ".join(f"{name}: {why}" for name, why in missing.items())


def _order(extra: str) -> tuple[int, str]:
    """Return the sort key of an extra: those for users first, then the others by name."""
    return (USERS.index(extra) if extra in USERS else len(USERS), extra)
