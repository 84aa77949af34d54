"""Write the page of the gallery from `gallery.yaml`, and compute its numbers."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import yaml
from marks import between
from sphinx.application import Sphinx

PAGE, MARK = "gallery", "entries"
DOCS = Path(__file__).parents[1]
SCENES = DOCS.parent / "examples" / "scenes"
Entry = dict[str, Any]


def entries() -> list[Entry]:
    """Return all entries in order."""
    rows: list[Entry] = yaml.safe_load((DOCS / "gallery.yaml").read_text(encoding="utf-8"))
    return rows


def picture(entry: Entry) -> Path:
    """Return the file of the picture of an entry."""
    drawn = DOCS / "images" / "gallery" / entry["picture"]
    return (
        drawn if drawn.exists() or "times" in entry or "draw" in entry else DOCS / "images" / entry["picture"]
    )


def names() -> dict[str, Any]:
    """Return the names that the Python of an entry may use."""
    import numpy as np

    from rodsim import audit, compare, simulate
    from rodsim.scenes.model_from_scene import load

    def run_scene(name: str) -> Any:
        scene = load(SCENES / f"{name}.yaml")
        run = scene.scene.run
        assert run is not None
        return simulate(scene.model, run.t_end, run.dt, run.integrator, output_every=run.output_every)

    def stiffer(model: Any, stiffness: float, t_end: float, dt: float) -> Any:
        """Return a result, and the ratio of its error to that of parts four times as stiff, against the rigid twin."""
        twin = simulate(model(stiffness).as_rigid(), t_end, dt)
        results = [simulate(model(k), t_end, dt) for k in (stiffness, 4 * stiffness)]
        soft, stiff = (compare(twin, result) for result in results)
        apart = [
            max(row.rms for row in comparison.rows if row.kind == "point") for comparison in (soft, stiff)
        ]
        return results[0], apart[0] / apart[1]

    return {"np": np, "audit": audit, "simulate": simulate, "run_scene": run_scene, "stiffer": stiffer}


def computed(entry: Entry) -> tuple[float, dict[str, Any]]:
    """Run the Python of an entry; return its number and the names that the Python defines."""
    known = names()
    exec(entry["result"], known)
    return float(eval(entry["number"], known)), known


def number(entry: Entry) -> str:
    """Return the text of the number that a test checks."""
    unit = "" if entry["unit"] == "1" else f" {entry['unit']}"
    return f"**{entry['expected']:.10g}{unit}**, asserted within {entry['within']:.0e}."


def way(entry: Entry) -> str:
    """Return the path of the picture relative to docs."""
    return picture(entry).relative_to(DOCS).as_posix()


def entry_as_text(entry: Entry) -> str:
    """Return one entry as plain Markdown; its picture links to its code."""
    title, source = entry["title"], entry["source"]
    picture_of_code = f"[![{title}]({way(entry)})](../{source})"
    file = f"[`{source}`](../{source})"
    text = fill(
        f"{entry['text'].strip()} {number(entry)}", 100, break_long_words=False, break_on_hyphens=False
    )
    return f"## {title}\n\n{picture_of_code}\n\n{text}\n{file}"


def card(entry: Entry) -> str:
    """Return one entry as a card of the site."""
    return f""":::{{grid-item-card}} {entry["title"]}
:img-top: {way(entry)}

{entry["text"]}

{number(entry)}

`{entry["source"]}`
:::
"""


def in_repository(page: str) -> str:
    """Return the page for readers of the repository: entries below each other."""
    return between(page, MARK, "\n\n".join(entry_as_text(entry) for entry in entries()))


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Insert the entries as cards."""
    if name == PAGE:
        cards = "\n".join(card(entry) for entry in entries())
        source[0] = between(source[0], MARK, f"::::{{grid}} 1 2 2 3\n:gutter: 3\n\n{cards}::::\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill the page when it is read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
