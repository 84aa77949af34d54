"""Pictures on machines without working VTK.

Matplotlib draws them, and only the subprocess that probes VTK may crash.
"""

import os
import subprocess
import sys
import warnings

import imageio.v3 as iio
import numpy as np
import pytest

from rodsim import render, render_movie
from rodsim.results import opengl
from rodsim.results import render as rendering
from tests.support.results_sample import in_memory, sample_layout, write

SMALL = (160, 100)
LIBRARIES = (
    "libEGL.so.1",
    "libEGL.so",
    "libOSMesa.so",
    "libOSMesa.so.8",
    "libOSMesa.so.6",
    "libGL.so.1",
    "libGLX.so.0",
)
DRAW_SCRIPT = """
import sys, warnings
from rodsim import render, render_movie
from rodsim.results import opengl
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    render(sys.argv[1], sys.argv[2] + ".png", size=(160, 100))
    render_movie(sys.argv[1], sys.argv[2] + ".gif", size=(160, 100), fps=4)
print(repr(opengl.window_class()), [str(own.message) for own in said if "matplotlib" in str(own.message)])
"""


@pytest.fixture
def without_opengl(monkeypatch):
    """Make VTK appear unable to draw."""
    monkeypatch.setattr(opengl, "missing", lambda: opengl.REMEDY)
    rendering._must_use_matplotlib.cache_clear()
    yield
    rendering._must_use_matplotlib.cache_clear()


@pytest.fixture
def without_libraries(tmp_path, monkeypatch):
    """An environment in which no OpenGL library can be loaded, with an empty cache of probe results."""
    if not sys.platform.startswith("linux"):
        pytest.skip("libraries are hidden as on Linux")
    folder = tmp_path / "empty"
    folder.mkdir()
    for name in LIBRARIES:
        (folder / name).touch()
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return {name: value for name, value in environment.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}


def ink_fraction(picture):
    return np.mean(picture.min(axis=2) < 245)


def test_fallback_renderer_draws_and_is_reported_once(without_opengl, tmp_path):
    result = in_memory(6)
    with pytest.warns(UserWarning, match="matplotlib draws .*apt-get install libegl1"):
        picture = render(result, tmp_path / "a.png", size=SMALL, ground=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0.02 < ink_fraction(render(result, size=SMALL, color="speed")) < 0.6
        n = render_movie(result, tmp_path / "a.gif", fps=8, size=SMALL)
    assert 0.02 < ink_fraction(picture) < 0.6
    assert len(iio.imread(tmp_path / "a.gif")) == n > 1


def test_explicit_opengl_without_libraries_is_rejected_with_remedy(without_opengl):
    with pytest.raises(RuntimeError, match=r"apt-get install libegl1.*engine='matplotlib'"):
        render(in_memory(2), size=SMALL, engine="opengl")


def test_old_engine_name_is_accepted():
    result = in_memory(2)
    one, other = (render(result, size=SMALL, engine=engine) for engine in ("painter", "matplotlib"))
    assert np.array_equal(one, other)


def test_a_process_without_opengl_libraries_draws_and_does_not_crash(without_libraries, tmp_path):
    write(tmp_path / "a.vtkhdf", sample_layout(), range(6))
    arguments = [sys.executable, "-c", DRAW_SCRIPT, str(tmp_path / "a.vtkhdf"), str(tmp_path / "a")]
    completed = subprocess.run(arguments, env=without_libraries, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.startswith("'' ['render: matplotlib draws")
    assert completed.stdout.count("apt-get") == 1
    assert ink_fraction(iio.imread(tmp_path / "a.png")[..., :3]) > 0.02
    assert not list((tmp_path / "cache").rglob("vtk-*"))  # the libraries may be installed later


def test_opengl_probe_result_is_cached(tmp_path, monkeypatch):
    monkeypatch.setattr(opengl.platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    calls = []

    def answer(*arguments, **options):
        calls.append(arguments)
        return subprocess.CompletedProcess(arguments, 0, stdout="vtkEGLRenderWindow\n")

    monkeypatch.setattr(opengl.subprocess, "run", answer)
    for _ in range(2):
        opengl.window_class.cache_clear()
        assert opengl.window_class() == "vtkEGLRenderWindow"
    assert len(calls) == 1
    monkeypatch.setenv("LD_LIBRARY_PATH", "elsewhere")
    opengl.window_class.cache_clear()
    opengl.window_class()
    assert len(calls) == 2
    monkeypatch.undo()
    opengl.window_class.cache_clear()
