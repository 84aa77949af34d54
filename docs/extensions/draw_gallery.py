"""Draw the pictures of the gallery: run `python docs/extensions/draw_gallery.py [PICTURE ...]` after an example has changed."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from gallery import Entry, computed, entries, picture

SIZE = (560, 380)  # pixels: below 100 kB


def draw(entry: Entry) -> None:
    """Draw one picture: render it at the times of the entry, or run the Python code of the entry."""
    from matplotlib.figure import Figure

    from rodsim import render

    _, known = computed(entry)
    path = picture(entry)
    path.parent.mkdir(exist_ok=True)
    if "draw" in entry:
        figure = Figure(figsize=(5.6, 3.8), dpi=100, layout="constrained")
        exec(entry["draw"], {**known, "ax": figure.subplots()})
        figure.savefig(path)
    else:
        view = entry.get("view")
        render(known["result"], path, entry["times"], size=SIZE, view=view, labels=False)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for entry in entries():
        wanted = "times" in entry or "draw" in entry
        chosen = sys.argv[1:]
        if wanted and (not chosen or entry["picture"] in chosen):
            draw(entry)
