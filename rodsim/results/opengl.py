"""Draw surfaces with VTK's OpenGL renderer, off screen or in a window."""

from __future__ import annotations

import ctypes
import os
import sys
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats
from rodsim.results.camera import ANGLE, Camera
from rodsim.results.painter import (
    AMBIENT,
    DIFFUSE,
    EVEN_AMBIENT,
    EVEN_DIFFUSE,
    EVEN_SHINE,
    GLOSS,
    LIGHTS,
    SHINE,
)
from rodsim.results.scene import Surface

CURE = (
    "no OpenGL on this machine: on Debian or Ubuntu `apt-get install libegl1 libgl1-mesa-dri` "
    "(or libosmesa6), or start under `xvfb-run`"
)

WINDOW_CURE = (
    "no display to open a window on: log in to a desktop, use `ssh -X`, or start under `xvfb-run`; "
    "`rodsim report` and `rodsim render` need none"
)


def missing() -> str | None:
    """Return why OpenGL is not available on this machine, and the remedy; None if it is available.

    VTK crashes the process with a segmentation fault if it renders without OpenGL, so call this first. It creates a window and
    draws nothing.
    """
    window = _window_class()
    if window == "vtkOSOpenGLRenderWindow" and not any(_loads(f"libOSMesa.so{v}") for v in ("", ".8", ".6")):
        return CURE
    if window == "vtkXOpenGLRenderWindow" and sys.platform == "linux" and not os.environ.get("DISPLAY"):
        return CURE
    return None


def no_window() -> str | None:
    """Return why no window can be opened on this machine, and the remedy; None if one can be opened."""
    if sys.platform.startswith("linux"):
        if not os.environ.get("DISPLAY"):
            return WINDOW_CURE
        if _window_class() in ("vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow"):  # no X server answered
            return f"DISPLAY = '{os.environ['DISPLAY']}' does not answer; {WINDOW_CURE}"
    return missing()


def _window_class() -> str:
    """Return the name of the window class that VTK uses on this machine; nothing is drawn."""
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401, registers the windows
    from vtkmodules.vtkCommonCore import vtkLogger
    from vtkmodules.vtkRenderingCore import vtkRenderWindow

    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # VTK reports each class that fails
    try:
        return str(vtkRenderWindow().GetClassName())
    finally:
        vtkLogger.SetStderrVerbosity(before)


def _loads(library: str) -> bool:
    """Return True if the shared library can be loaded."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


class Canvas:
    """Draw surfaces with fixed triangles and moving vertices repeatedly, as for the frames of a movie. A context manager."""

    def __init__(
        self, camera: Camera, width: int, height: int, even: bool = False, window: str | None = None
    ) -> None:
        """Create the renderer, off screen unless `window` is given.

        `width`, `height`: pixels. `even`: True for little shading, as in `rodsim.results.painter.Painter`. `window`: title of the
        window to open.
        """
        import pyvista
        from vtkmodules.vtkCommonCore import vtkLogger

        self._verbosity = vtkLogger.GetCurrentVerbosityCutoff()
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)  # the search for a display is not a warning
        plotter: Any = pyvista.Plotter
        shown = {"off_screen": True} if window is None else {"off_screen": False, "title": window}
        self._plotter = plotter(window_size=[width, height], lighting="none", **shown)
        self._plotter.set_background("white")
        self._plotter.enable_anti_aliasing("ssaa")
        self._mesh: Any = None
        self._material: Any = None
        self._even = even
        for direction, strength in LIGHTS:
            # in a window the lights move with the viewer
            kind, place = (
                ("scene light", camera.axes @ direction) if window is None else ("camera light", direction)
            )
            self._plotter.add_light(pyvista.Light(position=tuple(place), intensity=strength, light_type=kind))
        self._look(camera)

    def draw(self, surface: Surface, colors: Floats) -> NDArray[np.uint8]:
        """Draw a surface with colors (n, 3) in 0..1 at its vertices; return the picture (height, width, 3)."""
        self.place(surface, colors)
        self._plotter.render()
        return self.picture()

    def picture(self) -> NDArray[np.uint8]:
        """Return the picture that is drawn now (height, width, 3)."""
        return np.asarray(self._plotter.screenshot(None, return_img=True))[..., :3]

    def place(self, surface: Surface, colors: Floats) -> None:
        """Set the surface to be drawn next, with colors (n, 3) in 0..1 at its vertices."""
        if self._mesh is None or self._mesh.n_points != len(surface.vertices):
            self._mesh = self._add_mesh(surface)
        self._mesh.points = surface.vertices.astype(np.float32)
        self._mesh.point_data["Normals"][:] = surface.normals
        self._mesh.point_data["rgb"][:] = (255 * np.clip(colors, 0, 1)).astype(np.uint8)
        self._mesh.GetPointData().Modified()
        self._mesh.Modified()
        self._plotter.renderer.ResetCameraClippingRange()

    def add_lines(self, lines: list[tuple[Floats, tuple[int, int, int]]]) -> None:
        """Add thin lines, given as pairs of end points (2, 3) with a colour 0..255; all get the colour of the first line."""
        if not lines:
            return
        ends = np.concatenate([ends for ends, _ in lines])
        color = [c / 255 for c in lines[0][1]]
        self._plotter.add_lines(ends, color=color, width=2, name="grid")

    def shade(self, even: bool) -> None:
        """Set the light: `even` for colours that represent values, else light that shows shapes."""
        self._even = even
        if self._material is not None:
            self._material.ambient = EVEN_AMBIENT if even else AMBIENT
            self._material.diffuse = EVEN_DIFFUSE if even else DIFFUSE
            self._material.specular = EVEN_SHINE if even else SHINE

    @property
    def plotter(self) -> Any:
        """Return pyvista's plotter, for everything else that is shown in a window."""
        return self._plotter

    def close(self) -> None:
        """Close the window and restore the verbosity of VTK."""
        from vtkmodules.vtkCommonCore import vtkLogger

        self._plotter.close()
        vtkLogger.SetStderrVerbosity(self._verbosity)

    def __enter__(self) -> Canvas:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _add_mesh(self, surface: Surface) -> Any:
        """Add a mesh with the triangles of a surface to the plotter; return the data set that is drawn."""
        import pyvista

        faces = np.insert(surface.faces, 0, 3, axis=1).ravel()
        mesh = pyvista.PolyData(surface.vertices.astype(np.float32), faces)
        mesh.point_data["rgb"] = np.zeros((len(surface.vertices), 3), np.uint8)
        mesh.point_data["Normals"] = surface.normals.astype(np.float32)
        mesh.point_data.active_normals_name = "Normals"
        actor = self._plotter.add_mesh(
            mesh, scalars="rgb", rgb=True, name="scene", render=False, reset_camera=False, copy_mesh=False
        )
        actor.prop.interpolation = "Phong"
        actor.prop.specular_power = GLOSS
        self._material = actor.prop
        self.shade(self._even)
        return actor.mapper.dataset  # pyvista may have copied the mesh: this is the one that is drawn

    def _look(self, camera: Camera) -> None:
        """Set the camera of the plotter."""
        view = self._plotter.camera
        view.position, view.focal_point = tuple(camera.position), tuple(camera.focus)
        view.up = tuple(camera.axes[:, 1])
        view.view_angle = float(np.degrees(ANGLE))
        self._plotter.renderer.camera_set = True
