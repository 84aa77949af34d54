"""Draw surfaces, texts and lines: with VTK, off screen or in a window, or with matplotlib if VTK cannot draw.

Both canvases show the same scene from the same camera. matplotlib shades each triangle evenly and sorts
whole triangles by depth, so that parts that are large or penetrate each other are not always hidden correctly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats, Ints
from rodsim.results.camera import ANGLE, Camera
from rodsim.results.labels import INK, letter_size
from rodsim.results.shapes import with_normals

Picture = NDArray[np.uint8]  # (height, width, 3)

# directions of the lights in the camera's axes (right, up, towards the viewer), and their strengths
LIGHTS = ((np.array([-0.45, 0.65, 0.6]), 0.55), (np.array([0.75, -0.1, 0.65]), 0.28))
SAMPLES = 8  # multisampling; VTK takes fewer if the driver has no more
GLOSS = 24  # exponent of highlights
GRID = np.array([218, 221, 226]) / 255
# shift towards the viewer, as a part of the camera's distance, by which the first of coplanar faces is seen; for SHIFTED objects
DEPTH_SHIFT, SHIFTED = 2e-5, 8


def shading(even: bool) -> tuple[float, float, float]:
    """Return the factors of ambient, diffuse and specular light.

    `even`: colours represent values, so that shaded colours must be near to those of the colour bar.
    """
    return (0.72, 0.42, 0.05) if even else (0.45, 0.9, 0.2)


class VtkCanvas:
    """Draw with VTK by pyvista. A context manager."""

    def __init__(
        self, camera: Camera, width: int, height: int, even: bool = False, window: str | None = None
    ) -> None:
        """Create the renderer, off screen unless `window` (the title of the window to open) is given.

        `width`, `height`: pixels. `even`: True for little shading.
        """
        import pyvista

        self.width, self.height, self._camera, self._even = width, height, camera, even
        shown = {"off_screen": True} if window is None else {"off_screen": False, "title": window}
        self._verbosity = _silence_vtk()
        self.plotter: Any = pyvista.Plotter(window_size=[width, height], lighting="none", **shown)
        self.plotter.set_background("white")
        self.plotter.enable_anti_aliasing("msaa", multi_samples=SAMPLES)
        for direction, strength in LIGHTS:
            light = pyvista.Light(position=tuple(direction), intensity=strength, light_type="camera light")
            self.plotter.add_light(light)
        view = self.plotter.camera
        view.position, view.focal_point = tuple(camera.position), tuple(camera.focus)
        view.up, view.view_angle = tuple(camera.axes[:, 1]), float(np.degrees(ANGLE))
        self.plotter.camera_set = True

    def draw(self, vertices: Floats, faces: Ints, owner: Ints, colors: Floats) -> None:
        """Set the surface to draw: vertices (n, 3), m, faces (m, 3), owners (n,) and colors (n, 3) in 0..1 of the vertices."""
        rank = SHIFTED - 1 - owner % SHIFTED
        shift = DEPTH_SHIFT * self._camera.distance * rank[:, None] * self._camera.axes[:, 2]
        rgb = (255 * np.clip(colors, 0, 1)).astype(np.uint8)
        mesh = with_normals(vertices + shift, faces, rgb=rgb)
        ambient, diffuse, specular = shading(self._even)
        actor = self.plotter.add_mesh(
            mesh, scalars="rgb", rgb=True, name="scene", render=False, reset_camera=False, culling="back",
            ambient=ambient, diffuse=diffuse, specular=specular, specular_power=GLOSS,
        )  # fmt: skip
        actor.prop.interpolation = "Phong"

    def ground(self, ends: Floats) -> None:
        """Draw grid lines in the scene; ends (n, 2, 3), m."""
        self.plotter.add_lines(ends.reshape(-1, 3), color=GRID, width=1.5, name="ground")

    def text(
        self, name: str, x: float, y: float, text: str, color: Floats = INK, align: str = "left"
    ) -> None:
        """Write a text at its vertical middle; `name`: of the text that it replaces, `align`: "left", "center" or "right"."""
        import pyvista

        style = pyvista.TextProperty(
            color=tuple(color), font_size=letter_size(self.height), font_file=_font_file(),
            justification_horizontal=align, justification_vertical="center",
        )  # fmt: skip
        # VTK reads formulas between "$" and columns between "|"
        label = pyvista.Text(text.replace("$", r"\$").replace("|", "\N{DIVIDES}"))
        label.prop = style
        label.GetPositionCoordinate().SetCoordinateSystemToNormalizedViewport()
        label.position = (x / self.width, 1 - y / self.height)
        self.plotter.add_actor(label, name=name, reset_camera=False, render=False)

    def lines(self, name: str, ends: Floats, colors: Floats, width: float) -> None:
        """Draw lines over the picture; ends (n, 2, 2), colors (n, 3) in 0..1, width in pixels."""
        import pyvista
        from vtkmodules.vtkRenderingCore import vtkActor2D, vtkCoordinate, vtkPolyDataMapper2D

        n = len(ends)
        points = np.zeros((2 * n, 3))
        points[:, :2] = ends.reshape(-1, 2) / (self.width, -self.height) + (0, 1)
        mesh = pyvista.PolyData(
            points, lines=np.insert(np.arange(2 * n).reshape(-1, 2), 0, 2, axis=1).ravel()
        )
        mesh.cell_data["rgb"] = np.round(255 * colors).astype(np.uint8)
        coordinate, mapper, actor = vtkCoordinate(), vtkPolyDataMapper2D(), vtkActor2D()
        coordinate.SetCoordinateSystemToNormalizedViewport()
        mapper.SetInputData(mesh)
        mapper.SetTransformCoordinate(coordinate)
        mapper.SetScalarModeToUseCellData()
        actor.SetMapper(mapper)
        actor.GetProperty().SetLineWidth(max(1.0, width))
        self.plotter.add_actor(actor, name=name, reset_camera=False, render=False)

    def erase(self, *prefixes: str) -> None:
        """Remove the texts and lines whose names begin with one of `prefixes`."""
        for name in [name for name in self.plotter.actors if name.startswith(prefixes)]:
            self.plotter.remove_actor(name, render=False)

    def shade(self, even: bool) -> None:
        """Set the light of the next surface: `even` for colours that represent values, else light that shows shapes."""
        self._even = even

    def picture(self) -> Picture:
        """Render, and return the picture."""
        self.plotter.renderer.ResetCameraClippingRange()
        self.plotter.render()
        return np.asarray(self.plotter.screenshot(None, return_img=True))[..., :3]

    def close(self) -> None:
        """Close the window and restore the verbosity of VTK."""
        from vtkmodules.vtkCommonCore import vtkLogger

        self.plotter.close()
        vtkLogger.SetStderrVerbosity(self._verbosity)

    def __enter__(self) -> VtkCanvas:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class FlatCanvas:
    """Draw with matplotlib. A context manager."""

    def __init__(self, camera: Camera, width: int, height: int, even: bool = False) -> None:
        """Create the figure; arguments as of `VtkCanvas`."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.width, self.height, self._camera, self._even = width, height, camera, even
        self._figure = FigureCanvasAgg(Figure(figsize=(width / 100, height / 100), dpi=100))
        self._axes: Any = self._figure.figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        self._axes.set_axis_off()
        self._artists: dict[str, Any] = {}

    def draw(self, vertices: Floats, faces: Ints, owner: Ints, colors: Floats) -> None:
        """Set the surface to draw: vertices (n, 3), m, faces (m, 3), owners (n,) and colors (n, 3) in 0..1 of the vertices."""
        from matplotlib.collections import PolyCollection

        pixels, depth = self._camera.project(vertices, self.width, self.height)
        corners, a = pixels[faces], (vertices @ self._camera.axes)[faces]
        (x1, y1), (x2, y2) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
        # y counts downwards, which reverses the orientation of triangles that face the viewer
        front = (x2 * y1 - x1 * y2 > 0) & np.all(depth[faces] > 0, axis=1)
        order = np.flatnonzero(front)[np.argsort(-depth[faces].mean(axis=1)[front])]
        normals = np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0])[order]
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        ambient, diffuse, _ = shading(self._even)
        bright = np.full(len(order), ambient)
        for direction, strength in LIGHTS:
            bright += diffuse * strength * np.maximum(normals @ direction / np.linalg.norm(direction), 0.0)
        shaded = np.clip(colors[faces[order]].mean(axis=1) * bright[:, None], 0, 1)
        drawn = PolyCollection(
            list(corners[order]), facecolors=shaded, edgecolors=shaded, linewidths=0.3, zorder=2
        )
        self._replace("scene", self._axes.add_collection(drawn, autolim=False))

    def ground(self, ends: Floats) -> None:
        """Draw grid lines in the scene; ends (n, 2, 3), m."""
        pixels, _ = self._camera.project(ends.reshape(-1, 3), self.width, self.height)
        self.lines("ground", pixels.reshape(-1, 2, 2), np.tile(GRID, (len(ends), 1)), 1.0, zorder=1)

    def text(
        self, name: str, x: float, y: float, text: str, color: Floats = INK, align: str = "left"
    ) -> None:
        """Write a text at its vertical middle; `name`: of the text that it replaces, `align`: "left", "center" or "right"."""
        size = 0.72 * letter_size(self.height)  # of pixels in points
        style = {"fontsize": size, "color": color, "parse_math": False, "zorder": 3}
        self._replace(name, self._axes.text(x, y, text, ha=align, va="center_baseline", **style))

    def lines(self, name: str, ends: Floats, colors: Floats, width: float, zorder: int = 3) -> None:
        """Draw lines over the picture; ends (n, 2, 2), colors (n, 3) in 0..1, width in pixels."""
        from matplotlib.collections import LineCollection

        drawn = LineCollection(
            list(ends), colors=colors, linewidths=0.72 * width, zorder=zorder, capstyle="projecting"
        )
        self._replace(name, self._axes.add_collection(drawn, autolim=False))

    def picture(self) -> Picture:
        """Return the picture."""
        self._figure.draw()
        return np.asarray(self._figure.buffer_rgba())[..., :3].copy()

    def _replace(self, name: str, artist: Any) -> None:
        """Remove the artist that had this name."""
        if name in self._artists:
            self._artists[name].remove()
        self._artists[name] = artist

    def __enter__(self) -> FlatCanvas:
        return self

    def __exit__(self, *error: object) -> None:
        self._artists.clear()


Canvas = VtkCanvas | FlatCanvas


def _silence_vtk() -> Any:
    """Let VTK report errors only (the search for a display is not an error), and return its verbosity before."""
    from vtkmodules.vtkCommonCore import vtkLogger

    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    return before


def _font_file() -> str:
    """Return the file of matplotlib's font: pictures have the same letters on every machine."""
    import matplotlib

    return str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf")
