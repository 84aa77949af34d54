"""The painter in software: what is nearer is seen, whatever is drawn first, and faces are lit."""

import numpy as np
import pytest

from rodsim.results.camera import fit
from rodsim.results.painter import Painter
from rodsim.results.scene import Surface, merge

SMALL = (160, 100)
SQUARE = np.array([[-1.0, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])


def square(y, size):
    """A square in the plane y, seen from -y."""
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    return Surface(size * SQUARE + [0, y, 0], np.tile([0.0, -1, 0], (4, 1)), faces, np.zeros(4, int))


def painted(*surfaces_and_colors, even=False):
    """Middle pixels of pictures from one painter: each of a list of (square, colour)."""
    camera = fit(2 * SQUARE, (0, -1, 0), (0, 0, 1), 1.6)
    painter = Painter(camera, *SMALL, even=even)
    found = []
    for drawn in surfaces_and_colors:
        surface = merge([part for part, _ in drawn])
        found.append(painter.draw(surface, np.concatenate([np.tile(color, (4, 1)) for _, color in drawn])))
    return found


RED, BLUE = (0.8, 0.0, 0.0), (0.0, 0.0, 0.8)


@pytest.mark.parametrize("order", [1, -1])
def test_painter_shows_what_is_nearer_whatever_is_drawn_first(order):
    near, far = (square(-0.5, 0.3), RED), (square(0.5, 1.0), BLUE)
    (picture,) = painted([near, far][::order])
    assert picture[50, 80, 0] > picture[50, 80, 2] + 100
    assert picture[50, 65, 2] > picture[50, 65, 0] + 100


def test_painter_forgets_one_frame_before_the_next():
    near, far = (square(-0.5, 0.3), RED), (square(0.5, 1.0), BLUE)
    _, second, third = painted([near], [far], [far])
    assert np.array_equal(second, painted([far])[0])
    assert np.array_equal(second, third)


def test_painter_shows_the_first_of_two_faces_in_one_plane():
    """Bars of a chain that lie in one plane overlap at their joints: no hatching."""
    first, second = square(0.0, 0.8), square(0.0, 0.7)
    for part in (first, second):
        part.vertices[:, 1] = 0.37 * part.vertices[:, 0] + 0.21 * part.vertices[:, 2]
    (picture,) = painted([(first, RED), (second, BLUE)])
    seen = picture.min(axis=2) < 200
    assert np.mean(picture[seen][:, 2] > picture[seen][:, 0]) < 0.02


@pytest.mark.parametrize("even", [False, True])
def test_painter_lights_faces_that_turn_to_the_light_and_shades_colours_of_fields_less(even):
    """The brighter light comes from the upper left; in colours that mean numbers it changes little."""
    brightness = []
    for normal in ([-0.45, -0.6, 0.65], [0.0, -0.3, -0.95]):
        turned = square(0.0, 1.0)
        turned = turned._replace(normals=np.tile(normal / np.linalg.norm(normal), (4, 1)))
        (picture,) = painted([(turned, (0.5, 0.5, 0.5))], even=even)
        brightness.append(int(picture[50, 80, 0]))
    ratio = brightness[0] / brightness[1]
    assert (1.1 < ratio < 1.5) if even else (ratio > 1.6)
