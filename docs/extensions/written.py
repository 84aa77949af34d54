"""Write pages from data, so that they can be read in the repository.

Run `python docs/extensions/written.py` after a change of the scene schema or of `gallery.yaml`. The site inserts its own form,
with cards and columns, between the same marks.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import gallery
import scene_reference

DOCS = Path(__file__).parents[1]


def pages() -> dict[Path, str]:
    """Return the path of each page -> its complete text."""
    made = {gallery.PAGE: gallery.in_repository, scene_reference.PAGE: scene_reference.in_repository}
    return {
        DOCS / f"{name}.md": text((DOCS / f"{name}.md").read_text("utf-8")) for name, text in made.items()
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path)
