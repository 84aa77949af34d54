"""The gallery: the page that is made of `gallery.yaml`, and how its numbers are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from marks import between
from sphinx.application import Sphinx

PAGE, MARK = "gallery", "entries"
DOCS = Path(__file__).parents[1]
SCENES = DOCS.parent / "examples" / "scenes"
Entry = dict[str, Any]


def entries() -> list[Entry]:
    """All of them, in their order."""
    found: list[Entry] = yaml.safe_load((DOCS / "gallery.yaml").read_text(encoding="utf-8"))
    return found


def picture(entry: Entry) -> Path:
    """Its file."""
    own = DOCS / "images" / "gallery" / entry["picture"]
    return own if own.exists() or "times" in entry or "draw" in entry else DOCS / "images" / entry["picture"]


def names() -> dict[str, Any]:
    """What the Python of an entry may use."""
    import numpy as np

    from rodsim import audit, compare, simulate
    from rodsim.scenes.model_from_scene import load

    def run_scene(name: str) -> Any:
        scene = load(SCENES / f"{name}.yaml")
        run = scene.scene.run
        assert run is not None
        return simulate(scene.model, run.t_end, run.dt, run.integrator, output_every=run.output_every)

    def stiffer(model: Any, stiffness: float, t_end: float, dt: float) -> Any:
        """A result, and its difference from the rigid twin over that of parts four times stiffer."""
        twin = simulate(model(stiffness).rigidified(), t_end, dt)
        results = [simulate(model(k), t_end, dt) for k in (stiffness, 4 * stiffness)]
        soft, stiff = (compare(twin, result) for result in results)
        apart = [max(row.rms for row in found.rows if row.kind == "point") for found in (soft, stiff)]
        return results[0], apart[0] / apart[1]

    return {"np": np, "audit": audit, "simulate": simulate, "run_scene": run_scene, "stiffer": stiffer}


def computed(entry: Entry) -> tuple[float, dict[str, Any]]:
    """The number of an entry as it is now, and the names that its Python has made."""
    known = names()
    exec(entry["result"], known)
    return float(eval(entry["number"], known)), known


def number(entry: Entry) -> str:
    """What a test finds again."""
    unit = "" if entry["unit"] == "1" else f" {entry['unit']}"
    return f"**{entry['expected']:.10g}{unit}**, asserted within {entry['within']:.0e}."


def way(entry: Entry) -> str:
    """Of its picture, from docs."""
    return picture(entry).relative_to(DOCS).as_posix()


def entry_as_text(entry: Entry) -> str:
    """One entry as plain Markdown."""
    title, source = entry["title"], entry["source"]
    file = f"[`{source}`](../{source})"
    return f"## {title}\n\n![{title}]({way(entry)})\n\n{entry['text'].strip()} {number(entry)} {file}"


def card(entry: Entry) -> str:
    """One entry as a card of the site."""
    return f""":::{{grid-item-card}} {entry["title"]}
:img-top: {way(entry)}

{entry["text"]}

{number(entry)}

`{entry["source"]}`
:::
"""


def in_repository(page: str) -> str:
    """The page as it is read without the site: an entry below the other."""
    return between(page, MARK, "\n\n".join(entry_as_text(entry) for entry in entries()))


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the entries in their place, as cards."""
    if name == PAGE:
        cards = "\n".join(card(entry) for entry in entries())
        source[0] = between(source[0], MARK, f"::::{{grid}} 1 2 2 3\n:gutter: 3\n\n{cards}::::\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill the page when it is read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
