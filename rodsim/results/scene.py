"""All shapes of a model that are fixed to frames, for pictures: rods, bodies, supports, pulleys and contact surfaces."""

from __future__ import annotations

from collections.abc import Sequence

from rigid.system import Floats, State
from rodsim.results import contact_surfaces, support_symbols, tendon_shapes
from rodsim.results.layout import Layout
from rodsim.results.shapes import MAX_REFINED_TRIANGLES, Shape, body_shapes, join, rod_shape


def scene(
    layout: Layout,
    size: float,
    up: Floats,
    states: Sequence[State],
    pixel: float = 0.0,
    rounded: int = MAX_REFINED_TRIANGLES,
) -> Shape:
    """Return the shapes of a model as one.

    `size`: size of the scene, m; thin rods are drawn thick enough to be visible in it. `up`: (3,) unit vector. `states`: states
    in which planes are large enough for all that may touch them. `pixel`: length that a pixel shows, m; 0 if not known.
    `rounded`: largest number of triangles of smooth bodies when they are refined.
    """
    first_point, rods = 0, []
    for number, rod in enumerate(layout.rods):
        rods.append(rod_shape(rod, first_point, number, size, pixel))
        first_point += len(rod.frames)
    n_rods, parts = len(layout.rods), len(layout.rods) + len(layout.bodies)
    return join(
        [
            *rods,
            *body_shapes(layout.bodies, n_rods, first_point, size, pixel, rounded),
            *support_symbols.supports(layout, size, up, parts),
            *tendon_shapes.discs(layout, size, parts),
            *contact_surfaces.shapes(layout, size, states, parts + len(support_symbols.COLORS)),
        ]
    )
