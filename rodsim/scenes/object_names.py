"""Name the objects of scenes in messages: "rod 'arm'", or "rod 3" if it has no name."""

from __future__ import annotations

from typing import Any

from rigid.checks import name_fault
from rodsim.components.base import COMPONENT_TYPES
from rodsim.scenes.errors import Path

PARTS = {
    "materials": "material",
    "sections": "section",
    "rods": "rod",
    "bodies": "body",
    "driven": "driven frame",
}


def objects() -> dict[str, str]:
    """Return the word for one object of each list or mapping of a scene, by key."""
    return PARTS | {key: kind.word for key, kind in COMPONENT_TYPES.items()}


def name_object(data: Any, path: Path) -> str:
    """Return a description of the object that contains `path`, such as "rod 'arm'", or the key of the section of the scene."""
    if not path:
        return "scene"
    head = str(path[0]) if str(path[0]).isprintable() else repr(path[0])
    known = objects()
    if head in known and len(path) > 1:
        items, key = data.get(head), path[1]
        item = items[key] if isinstance(items, list) and isinstance(key, int) else None
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(path[1], str):
            return f"{known[head]} {quoted(path[1])}"
        return f"{known[head]} {path[1] + 1 if name_fault(name) else quoted(name)}"
    return head


def quoted(text: Any) -> str:
    """Return a text of the user in quotes, on one line and without control characters."""
    return f"'{text}'" if str(text).isprintable() else repr(text)
