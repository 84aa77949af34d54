"""Draws surfaces with VTK's OpenGL renderer, off screen or in a window."""

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
    """Why OpenGL cannot be used here, and the cure; None where it can.

    VTK ends the process with a segmentation fault when it renders without OpenGL, so this is asked before.
    Only the window is made, nothing drawn.
    """
    window = _window_class()
    if window == "vtkOSOpenGLRenderWindow" and not any(_loads(f"libOSMesa.so{v}") for v in ("", ".8", ".6")):
        return CURE
    if window == "vtkXOpenGLRenderWindow" and sys.platform == "linux" and not os.environ.get("DISPLAY"):
        return CURE
    return None


def no_window() -> str | None:
    """Why no window can be opened here, and the cure; None where one can."""
    if sys.platform.startswith("linux"):
        if not os.environ.get("DISPLAY"):
            return WINDOW_CURE
        if _window_class() in ("vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow"):  # no X server answered
            return f"DISPLAY = '{os.environ['DISPLAY']}' does not answer; {WINDOW_CURE}"
    return missing()


def _window_class() -> str:
    """The kind of window VTK makes here; nothing is drawn."""
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401, registers the windows
    from vtkmodules.vtkCommonCore import vtkLogger
    from vtkmodules.vtkRenderingCore import vtkRenderWindow

    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # VTK reports every kind of window it cannot have
    try:
        return str(vtkRenderWindow().GetClassName())
    finally:
        vtkLogger.SetStderrVerbosity(before)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


class Canvas:
    """Draws surfaces that keep their triangles, many times over: the frames of a movie. A context manager."""

    def __init__(
        self, camera: Camera, width: int, height: int, even: bool = False, window: str | None = None
    ) -> None:
        """even: as `rodsim.results.painter.Painter`; window: the title of a window, where there is to be one."""
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
            # in a window they go with the viewer
            kind, place = (
                ("scene light", camera.axes @ direction) if window is None else ("camera light", direction)
            )
            self._plotter.add_light(pyvista.Light(position=tuple(place), intensity=strength, light_type=kind))
        self._look(camera)

    def draw(self, surface: Surface, colors: Floats) -> NDArray[np.uint8]:
        """The picture (height, width, 3) of a surface with colors (n, 3) in 0..1 at its vertices."""
        self.place(surface, colors)
        self._plotter.render()
        return self.picture()

    def picture(self) -> NDArray[np.uint8]:
        """What is drawn now, (height, width, 3)."""
        return np.asarray(self._plotter.screenshot(None, return_img=True))[..., :3]

    def place(self, surface: Surface, colors: Floats) -> None:
        """What is to be drawn next."""
        if self._mesh is None or self._mesh.n_points != len(surface.vertices):
            self._mesh = self._add_mesh(surface)
        self._mesh.points = surface.vertices.astype(np.float32)
        self._mesh.point_data["Normals"][:] = surface.normals
        self._mesh.point_data["rgb"][:] = (255 * np.clip(colors, 0, 1)).astype(np.uint8)
        self._mesh.GetPointData().Modified()
        self._mesh.Modified()
        self._plotter.renderer.ResetCameraClippingRange()

    def add_lines(self, lines: list[tuple[Floats, tuple[int, int, int]]]) -> None:
        """Thin lines between pairs of end points (2, 3), each with a colour 0..255."""
        if not lines:
            return
        ends = np.concatenate([ends for ends, _ in lines])
        color = [c / 255 for c in lines[0][1]]
        self._plotter.add_lines(ends, color=color, width=2, name="grid")

    def shade(self, even: bool) -> None:
        """Even light, for colours that mean values, or light that shows shapes."""
        self._even = even
        if self._material is not None:
            self._material.ambient = EVEN_AMBIENT if even else AMBIENT
            self._material.diffuse = EVEN_DIFFUSE if even else DIFFUSE
            self._material.specular = EVEN_SHINE if even else SHINE

    @property
    def plotter(self) -> Any:
        """pyvista's, for what else there is in a window."""
        return self._plotter

    def close(self) -> None:
        """Free the window."""
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
        return actor.mapper.dataset  # pyvista may have made a copy: this is what is drawn

    def _look(self, camera: Camera) -> None:
        view = self._plotter.camera
        view.position, view.focal_point = tuple(camera.position), tuple(camera.focus)
        view.up = tuple(camera.axes[:, 1])
        view.view_angle = float(np.degrees(ANGLE))
        self._plotter.renderer.camera_set = True
