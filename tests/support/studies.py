"""A scene that is varied, and whether the picture of a study shows its results."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from rodsim.scenes.reading import read
from rodsim.studies.study import made_parameter
from rodsim.studies.study_schema import ParameterEntry
from rodsim.studies.study_targets import scene_target

SCENE = """
name: pendulum
sections:
  thin: {type: stiffness, EA: 1000, GA: 1000, GJ: 10, EI: 10, mass_per_length: 1, inertia_per_length: [0.1, 0.05, 0.05]}
rods:
  - {name: cord.5, curve: [[0, 0, 0], [1, 0, 0]], section: thin, n_elements: 4}
  - {name: cord, curve: [[0, 1, 0], [1, 1, 0]], section: thin, n_elements: 4, velocity: [0, 0, 1]}
bodies:
  - {name: ball, shape: {type: sphere, radius: 0.1, density: 100}, position: [3, 0, 0], velocity: [1, 2, 2]}
joints:
  - {name: hip, kind: revolute, a: {rod: cord, s: 0}, b: ground, axis: [0, 1, 0]}
loads:
  - {name: push, kind: force, on: ball, value: {function: triangle, peak: 3, t_peak: 0.01, t_end: 0.02, direction: [0, 0, 1]}}
run: {t_end: 0.05, dt: 0.01}
"""


def written(folder):
    """The scene as a file."""
    file = folder / "scene.yaml"
    file.write_text(SCENE)
    return file


def base_of(scene_file, **paths):
    """The base of a study of the scene, with these paths by the names of their parameters."""
    source = read(scene_file)
    entries = {
        name: made_parameter(name, ParameterEntry(path=path, values=[1])).places
        for name, path in paths.items()
    }
    return scene_target(source.file, source.data, source.lines, scene_file.parent, entries)


def unconfirmed_statements(*studies):
    """(source, statement) of statements in papers that the studies do not confirm."""
    return {(claim.source, claim.statement) for study in studies for claim in study.claims if not claim.holds}


def is_drawn(study, path) -> bool:
    """Whether every curve has numbers within its axes, and the picture has the colours of the curves (all else is grey)."""
    for panel in study.panels:
        for line in panel.lines:
            x, y = np.asarray(line.x, float), np.asarray(line.y, float)
            shown = np.isfinite(x) & np.isfinite(y)
            if panel.scale in ("log", "semilog"):
                shown &= y > 0.0
            if panel.scale == "log":
                shown &= x > 0.0
            assert shown.sum() > 1, (panel.title, line.label)
    assert all(panel.lines for panel in study.panels)
    with pytest.MonkeyPatch.context() as patch:  # the layout of the panels takes longer than drawing them
        patch.setattr(ConstrainedLayoutEngine, "execute", lambda self, figure: None)
        save = Figure.savefig
        patch.setattr(Figure, "savefig", lambda self, file, dpi: save(self, file, dpi=dpi / 2))
        return coloured(study.draw(path)) > 75 * len(study.panels) > 0


def coloured(path) -> int:
    """Pixels of a picture that are not grey."""
    red, green, blue = np.moveaxis(np.asarray(Image.open(path).convert("RGB")), 2, 0)
    most, least = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    return int((most - least > 60).sum())
