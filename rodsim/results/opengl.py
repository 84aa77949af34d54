"""Find out whether VTK can draw on this machine, in a separate process: without OpenGL it crashes the process that draws."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

import platformdirs

REMEDY = (
    "VTK cannot draw on this machine: on Debian or Ubuntu `apt-get install libegl1 libgl1-mesa-dri` "
    "(or libosmesa6), or start under `xvfb-run`; VTK 9.4 or later is needed to draw without a display"
)
WINDOW_REMEDY = (
    "no display to open a window on: log in to a desktop, use `ssh -X`, or start under `xvfb-run`; "
    "`rodsim report` and `rodsim render` need none"
)
ANSWER_LIFETIME = 24 * 3600.0  # s: age up to which an answer of another process is used
# the variables on which the answer depends
VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "LD_LIBRARY_PATH", "LD_PRELOAD", "VTK_DEFAULT_OPENGL_WINDOW")
PROBE = """
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkCommonCore import vtkLogger
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
window = vtkRenderWindow()
window.SetOffScreenRendering(1)
window.SetSize(16, 16)
window.AddRenderer(vtkRenderer())
window.Render()
print(window.GetClassName())
"""


@cache
def window_class() -> str:
    """Return the class of windows with which VTK draws on this machine, such as "vtkEGLRenderWindow"; "" if it cannot draw.

    The answer is found by a process that draws, once in a process and about once a day on a machine. Only the answer that
    VTK can draw is stored.
    """
    file = _answer_file()
    try:
        if time.time() - file.stat().st_mtime < ANSWER_LIFETIME and (answer := file.read_text().strip()):
            return answer
    except OSError:
        pass
    try:
        process = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    answer = process.stdout.strip() if process.returncode == 0 else ""
    if answer:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(answer)
        except OSError:
            pass  # the next process asks again
    return answer


def missing() -> str | None:
    """Return why VTK cannot draw on this machine, and the remedy; None if it can."""
    return None if window_class() else REMEDY


def no_window() -> str | None:
    """Return why no window can be opened on this machine, and the remedy; None if one can be opened."""
    if sys.platform.startswith("linux"):
        if not os.environ.get("DISPLAY"):
            return WINDOW_REMEDY
        if window_class() in ("vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow"):  # no X server answered
            return f"DISPLAY = '{os.environ['DISPLAY']}' does not answer; {WINDOW_REMEDY}"
    return missing()


def _answer_file() -> Path:
    """Return the file that stores the answer for this machine, version of VTK and environment."""
    settings = [sys.executable, version("vtk"), platform.node(), *(os.environ.get(v, "") for v in VARIABLES)]
    name = hashlib.sha256("\n".join(settings).encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("rodsim")) / f"vtk-{name}.txt"
