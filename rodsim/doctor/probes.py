"""Probes that may crash or hang, run in separate processes: `python -m rodsim.doctor.probes NAME` prints the result as JSON."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_MODULES = {"pyyaml": "yaml"}  # package -> module, if the names differ


def libraries(*packages: str) -> dict[str, Any]:
    """Import packages and return those that cannot be imported, with the reasons."""
    import importlib

    faults = {}
    for package in packages:
        name = _MODULES.get(package.lower(), package.replace("-", "_"))
        try:
            importlib.import_module(name)
        except Exception as error:  # any error is reported
            faults[package] = f"{type(error).__name__}: {error}"
    return {"faults": faults}


def opengl() -> dict[str, Any]:
    """Draw a red triangle on white with VTK, without a window, and return the number of red pixels and the renderer."""
    import numpy as np

    from rodsim.results.opengl import missing

    why = missing()
    if why:
        return {"why": why}
    import pyvista

    plotter: Any = pyvista.Plotter(off_screen=True, window_size=[64, 64])
    plotter.set_background("white")
    plotter.add_mesh(pyvista.Triangle(), color="red", lighting=False)
    picture = np.asarray(plotter.screenshot(None, return_img=True))
    window = plotter.render_window.GetClassName()
    renderer = [
        line.split(":", 1)[1].strip()
        for line in plotter.render_window.ReportCapabilities().splitlines()
        if line.startswith("OpenGL renderer string")
    ]
    red = int(np.sum((picture[..., 0] > 200) & (picture[..., 1] < 60)))
    return {"red": red, "window": window, "renderer": renderer[0] if renderer else ""}


def window() -> dict[str, Any]:
    """Return the screen on which a window can be opened, or why there is none."""
    if sys.platform != "linux":
        return {"screen": sys.platform}
    display = os.environ.get("DISPLAY", "")
    if not display:
        return {"why": "no DISPLAY"}
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    return {"screen": display} if x11.XOpenDisplay(None) else {"why": f"DISPLAY={display} does not answer"}


def ffmpeg() -> dict[str, Any]:
    """Return program and version of ffmpeg, whether it has the encoder of movies, and the error of a test encoding."""
    import imageio_ffmpeg

    program = imageio_ffmpeg.get_ffmpeg_exe()
    listed = subprocess.run(
        [program, "-hide_banner", "-encoders"], capture_output=True, text=True, check=True
    ).stdout
    encoder = "libx264" if "libx264 " in listed else ""
    test = f"-f lavfi -i color=size=64x64:duration=0.2 -c:v {encoder or 'mpeg4'} -f null -".split()
    process = subprocess.run([program, "-v", "error", *test], capture_output=True, text=True)
    version = imageio_ffmpeg.get_ffmpeg_version()
    return {
        "program": program,
        "version": version,
        "encoder": encoder,
        "fault": process.stderr.strip()[-300:],
    }


def cache() -> dict[str, Any]:
    """Return the folder of compiled kernels, their number and size, whether more can be written, and caches of other versions."""
    import tempfile

    from rigid.compilation import cache_folder

    folder, fault = Path(cache_folder.TRIED), cache_folder.FAULT
    if not fault:
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(bytes(2**20))  # a full disk accepts an empty file
        except OSError as error:
            fault = cache_folder.reason(error)
    files = [file for file in folder.glob("**/*") if file.suffix in (".nbi", ".nbc")]
    siblings = [
        x
        for x in folder.parent.glob("*")
        if x.is_dir() and cache_folder.is_version_folder(x.name) and x != folder
    ]
    return {
        "folder": str(folder),
        "given": bool(os.environ.get("NUMBA_CACHE_DIR", "")),
        "kernels": sum(file.suffix == ".nbi" for file in files),
        "bytes": sum(file.stat().st_size for file in files),
        "fault": fault,
        "remedy": cache_folder.REMEDY,
        "older": [str(other) for other in siblings],
        "older_bytes": sum(x.stat().st_size for other in siblings for x in other.glob("**/*") if x.is_file()),
    }


def run() -> dict[str, Any]:
    """Simulate a clamped rod twice; return both times (s), the number of compiled kernels and the energy balance."""
    import numba.core.event as event

    from rodsim import Material, Model, Section, audit, simulate

    rubber = Material(E=2e6, nu=0.45, density=1100)
    model = Model("small", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], Section.circular(0.02, rubber), n_elements=20)
    model.add_joint("wall", "clamp", rod.start)
    steps, times = 200, []
    with event.install_recorder("numba:compile") as recorder:
        for _ in range(2):
            start_time = time.perf_counter()
            result = simulate(model, steps * 2.5e-3, 2.5e-3)
            times.append(time.perf_counter() - start_time)
    compiled = len(recorder.buffer) // 2
    seconds = {"first": times[0], "again": times[1], "steps": steps, "elements": 20}
    return {**seconds, "compiled": compiled, "energy_balance": audit(result).energy_balance}


PROBES: dict[str, Callable[..., dict[str, Any]]] = {
    f.__name__: f for f in (libraries, opengl, window, ffmpeg, cache, run)
}


def main(arguments: Sequence[str]) -> None:
    """Run the probe named by the first argument and print its result, or its error, as JSON."""
    name, *extra = arguments
    try:
        answer = PROBES[name](*extra)
    except Exception as error:  # any error is reported
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
