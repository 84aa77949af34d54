"""Translate advice in error messages from Python to the terms of scenes and of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable

# Names in quotes are the user's and are not translated.
_NAME = re.compile(r"(?<![\w=])'[^']*'(?!\w)")

_FUNCTIONS = {"simulate": "rodsim run", "equilibrium": "rodsim equilibrium", "modes": "rodsim modes"}
_PREFIXES = {"simulate": "run", "equilibrium": "equilibrium"}

Replacement = str | Callable[[re.Match[str]], str]


def _scene_list_name(match: re.Match[str]) -> str:
    """Return the list of a scene to which a method `add_...` of `Model` adds."""
    from rodsim.components.base import COMPONENT_TYPES

    word = match[1]
    known = (*COMPONENT_TYPES, "rods", "bodies", "driven")
    fitting = [key for key in known if key in (word, f"{word}s", f"{word}es", f"{word[:-1]}ies")]
    return f"`{fitting[0] if fitting else 'loads'}:`"


_RULES: tuple[tuple[re.Pattern[str], Replacement], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^(simulate|equilibrium): ", lambda match: f"{_PREFIXES[match[1]]}: "),
        (r"\(in a scene (`[^`]*`), in Python `[^`]*`\)", r"(\1)"),
        (r"equilibrium\(method=[\"']arc-length[\"']\)", "`rodsim equilibrium --method arc-length`"),
        (r"method=ArcLength\((\w+)=([^()]*)\)", r"`method: arc-length, \1: \2`"),
        (r"method=Newton\((\w+)=([^()]*)\)", r"`method: newton, \1: \2`"),
        (r"\bAdaptive steps\b", "steps chosen by `error:`"),
        (r"\bAdaptive\(error\)", "`error:`"),
        (r"start=equilibrium\(model\), --equilibrium", "--equilibrium"),
        (r"rod\.start, rod\.end or rod\.at\(s\)", "{rod: name, s: 0.5}"),
        (r"rod\.at\(s\)", "{rod: name, s: 0.5}"),
        (r"body\.at\(\.\.\.\)", "{body: name, at: [x, y, z]}"),
        (r"model\.ground\.at\((point|\.\.\.)\)", "{ground: [x, y, z]}"),
        (r"`([^`]+)\.at\(\.\.\.\)`", r"`{body: \1, at: [x, y, z]}`"),
        (r"`(simulate|equilibrium|modes)`", lambda match: f"`{_FUNCTIONS[match[1]]}`"),
        (r"\badd_(\w+)", _scene_list_name),
        (r"`with_(law|centers|relaxation)`", r"`\1:`"),
        (r"\bSpringLaw\.table\(\.\.\.\)", "{type: table, x: [...], force: [...]}"),
        (r"(?<![\w-])(\w+)=\(([^()]*)\)", r"`\1: [\2]`"),
        (r"`(\w+)=`", r"`\1:`"),
        (r"(?<![\w-])(\w+)='([\w().-]+)'", r"`\1: \2`"),
        (r"(?<![\w-])(\w+)=(True|False)\b", lambda match: f"`{match[1]}: {match[2].lower()}`"),
        (r"(?<![\w-])(\w+)=(\d[\d.e+-]*)\b", r"`\1: \2`"),
        (r"(?<![\w-])(\w+)=\[\.\.\.\]", r"`\1: [...]`"),
        (r"(?<![\w-])(\w+)=(?=[\s;,)]|$)", r"`\1:`"),
        (r", or as a callable", ", or as a named curve"),
    )
)


def in_scene_terms(text: str) -> str:
    """Return a message with its advice in the terms of scenes and of the command line."""
    names: list[str] = []

    def hide(match: re.Match[str]) -> str:
        names.append(match[0])
        return f"\0{len(names) - 1}\0"

    text = _NAME.sub(hide, text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return re.sub(r"\0(\d+)\0", lambda match: names[int(match[1])], text)
