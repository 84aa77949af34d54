"""Places in a scene by path: `rods.cord.section.radius`, `gravity[2]`, `loads.pull.value.t_end`, `run.dt`.

An entry of a list is called by its name or by its number in brackets. A section or material that stands in the scene by name
is copied into the part that the path goes through, so that the parameter belongs to that part alone; `sections.NAME.radius` is
that of all who use it.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from rodsim.scenes.errors import Path
from rodsim.studies.errors import StudyError, near

_INDEX = re.compile(r"\[(-?\d+)\]")
_REFERRED = {"section": "sections", "material": "materials"}  # key of a name -> where what it names stands


def locate(scene: dict[str, Any], path: str) -> Path:
    """Keys and indices of the place that `path` names in the plain data of a whole scene (with its defaults)."""
    keys: list[str | int] = []
    here: Any = scene
    key: str | int
    rest, gone = path, ""
    while rest:
        index = _INDEX.match(rest)
        if index:
            here, key = _entry(path, gone, here, int(index[1]))
            word = index[0]
        else:
            if gone:
                rest = rest.removeprefix(".")
            here = _followed(scene, keys, here)
            here, key, word = _named(path, gone, here, rest)
        keys.append(key)
        gone = gone + word if index or not gone else f"{gone}.{word}"
        rest = rest[len(word) :]
    return tuple(keys)


def _entry(path: str, gone: str, here: Any, number: int) -> tuple[Any, int]:
    if here is None:
        raise _not_given(path, gone)
    if not isinstance(here, list):
        raise StudyError(f"path '{path}': {gone or 'the scene'} is no list; leave [{number}] out")
    if not -len(here) <= number < len(here):
        raise StudyError(
            f"path '{path}': {gone} has {len(here)} entries; give [0] to [{len(here) - 1}] instead of [{number}]"
        )
    return here[number], number % len(here)


def _not_given(path: str, where: str) -> StudyError:
    return StudyError(f"path '{path}': the scene gives no {where}; give it there, then vary it")


def _named(path: str, gone: str, here: Any, rest: str) -> tuple[Any, str | int, str]:
    """What the path goes to next: its value, its key, the word for it; names may contain points."""
    known = _names(here)
    fitting = [name for name in known if rest == name or (rest.startswith(name) and rest[len(name)] in ".[")]
    if fitting:
        word = max(fitting, key=len)
        return here[known[word]], known[word], word
    word = re.split(r"[.\[]", rest, maxsplit=1)[0]
    where = gone or "the scene"
    if here is None:
        raise _not_given(path, where)
    if not known:
        raise StudyError(f"path '{path}': {where} has no parts; the path ends there")
    raise StudyError(f"path '{path}': there is no '{word}' in {where}; {near(word, known)}")


def _names(here: Any) -> dict[str, str | int]:
    if isinstance(here, dict):
        return {str(key): key for key in here}
    if isinstance(here, list):
        return {item["name"]: k for k, item in enumerate(here) if isinstance(item, dict) and "name" in item}
    return {}


def _followed(scene: dict[str, Any], keys: list[str | int], here: Any) -> Any:
    """What a section or material given by name is."""
    if isinstance(here, str) and keys and keys[-1] in _REFERRED:
        return scene[_REFERRED[str(keys[-1])]].get(here, here)
    return here


def assign(data: dict[str, Any], scene: dict[str, Any], keys: Path, value: Any) -> None:
    """Put `value` at the place `keys` of `data`; what `data` leaves out on the way is taken from `scene`, its whole."""
    here: Any = data
    whole: Any = scene
    for k, key in enumerate(keys[:-1]):
        whole = _followed(scene, list(keys[: k + 1]), whole[key])
        below = here.get(key) if isinstance(here, dict) else here[key]
        if isinstance(below, str):  # a section or material by name: its own from now on
            below = copy.deepcopy(data[_REFERRED[str(key)]][below])
        elif below is None:
            below = copy.deepcopy(whole)
        here[key] = below
        here = below
    here[keys[-1]] = value
