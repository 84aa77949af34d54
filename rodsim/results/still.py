"""Draw a motion as one still picture, for media that cannot animate it: several overlaid times, earlier ones paler."""

from __future__ import annotations

import io

import numpy as np

from rodsim.results import contact_surfaces, marks, native, overlay, stored_states
from rodsim.results.bare_bodies import BareBodies
from rodsim.results.camera import fit, plane_of_motion, upward, view_direction
from rodsim.results.drawing import Drawing
from rodsim.results.painter import Painter
from rodsim.results.scene import SceneBuilder, merge
from rodsim.results.sources import Source
from rodsim.results.static_words import Clock

TIMES = 6  # largest number of overlaid times
SIZE = (960, 600)  # width and height, pixels
PALE = 0.8  # part of white in the colour of the first time
ROD, BODY = np.array([222, 98, 50]) / 255, np.array([66, 104, 160]) / 255


def still(source: Source) -> bytes:
    """Return a PNG picture of rods, bodies, supports and contact surfaces at up to TIMES times."""
    from PIL import Image

    layout, drawing = source.layout, Drawing(source.layout)
    chosen = np.unique(np.linspace(0, source.n_outputs - 1, min(TIMES, source.n_outputs)).round().astype(int))
    with source.held():
        states = [stored_states.read(source, int(i)) for i in chosen]
        times = source.read(native.TIME)
    t = times[chosen]
    bare = BareBodies(layout, 1.0, 0)
    points = np.concatenate([own.points(state) for own in (drawing, bare) for state in states])
    points = points[np.isfinite(points).all(axis=1)]
    size = float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
    n = len(layout.rods) + len(layout.bodies)
    up = upward(layout.gravity)
    holding = marks.Marks(layout, size, up, n)
    touched = contact_surfaces.ContactSurfaces(layout, size, states, n + len(marks.COLORS))
    bare = BareBodies(layout, size, n + len(marks.COLORS) + len(contact_surfaces.COLORS))
    points = np.concatenate([points, *(own.surface(states[0]).vertices for own in (holding, touched, bare))])
    normal = plane_of_motion(np.array([own.r for own in states]), np.array([own.quat for own in states]))
    camera = fit(points, *view_direction(points, up, normal), SIZE[0] / SIZE[1])
    builder = SceneBuilder(layout, size, camera.pixel(SIZE[1]))
    of_parts = np.concatenate([np.tile(ROD, (len(layout.rods), 1)), np.tile(BODY, (len(layout.bodies), 1))])
    surfaces, colors = [], []
    for k, state in reversed(
        list(enumerate(states))
    ):  # the first of coincident surfaces is seen: the last time
        pale = PALE * (1.0 - (k + 1) / len(states))
        surface = merge([own.surface(state) for own in (builder, holding, touched, bare)])
        faded = of_parts + (1.0 - of_parts) * pale
        of_bare = faded[[len(layout.rods) + k for k in bare.numbers]]
        palette = np.concatenate([faded, marks.COLORS, contact_surfaces.COLORS, of_bare])
        surfaces.append(surface)
        colors.append(palette[surface.owner])
    picture = Painter(camera, *SIZE).draw(merge(surfaces), np.concatenate(colors))
    picture = overlay.write_axes(picture, camera.axes, camera.pixel(SIZE[1]))
    digits = overlay.digits_for(float(t[-1] - t[0]) / 10)
    clock = Clock.of(layout, times)
    picture = overlay.write_text(picture, clock.span(float(t[0]), float(t[-1]), digits))
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()
