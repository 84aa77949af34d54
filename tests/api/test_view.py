"""The window of a result on a virtual display: slider, keys, colours."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from rodsim.cli.main import main
from tests.support.results_sample import sample_layout, write

ROOT = Path(__file__).parents[2]
DRIVEN = """
    import sys, time
    import numpy as np
    from rodsim import Result
    from rodsim.results import viewer

    viewer.SIZE = (640, 400)  # drawn in software: the fewer pixels the better
    pictures, times = {}, {}
    result = Result.load(sys.argv[1])
    with viewer.Viewer(result, color="speed") as window:
        plotter = window._plotter
        window.open()

        def keep(name):
            pictures[name], times[name] = window.picture(), window.t

        def press(key):
            plotter.iren.interactor.SetKeySym(key)
            plotter.iren.interactor.InvokeEvent("KeyPressEvent")

        keep("start")
        slider = window._slider
        slider.GetRepresentation().SetValue(0.3)
        slider.InvokeEvent("InteractionEvent")
        keep("slid")
        press("Right")
        keep("right")
        press("c")
        keep("other")
        assert window._color == "strain"
        window.color(None)
        keep("parts")
        window.show(0.0)
        press("space")
        assert window.playing
        time.sleep(0.2)
        window.tick()
        keep("played")
        window.show(result.t[-1])
        window.tick()
        keep("end")
        assert not window.playing

    # as the command does it, closed by a timer instead of a hand
    open_window = viewer.Viewer.run

    def run(self):
        self._plotter.iren.add_observer("TimerEvent", lambda *_: self._plotter.iren.terminate_app())
        self._plotter.show(auto_close=False, interactive=False, interactive_update=True)
        self._plotter.iren.create_timer(50)
        open_window(self)

    viewer.Viewer.run = run
    from rodsim.cli.main import main

    code = main(["view", sys.argv[1], "--color", "K2", "--camera", "iso"])
    np.savez(sys.argv[2], code=code, **pictures, **{f"t_{k}": v for k, v in times.items()})
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "sample.vtkhdf"
    write(path, sample_layout(), range(11))  # t = 0 to 0.5
    return path


@pytest.fixture(scope="module")
def window_pictures(sample):
    """Pictures and times of a session in a window."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("no Xvfb: no display to open a window on")
    ends = os.pipe()
    screen = [server, "-displayfd", str(ends[1]), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    with subprocess.Popen(screen, pass_fds=[ends[1]], stderr=subprocess.DEVNULL) as display:
        try:
            os.close(ends[1])
            number = os.read(ends[0], 16).decode().strip()
            out = sample.with_suffix(".npz")
            completed = subprocess.run(
                [sys.executable, "-c", textwrap.dedent(DRIVEN), str(sample), str(out)],
                env={**os.environ, "DISPLAY": f":{number}", "PYTHONPATH": str(ROOT)},
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        finally:
            display.terminate()
            os.close(ends[0])
    assert completed.returncode == 0, completed.stderr
    with np.load(out) as stored:
        return dict(stored)


def changed_fraction(a, b):
    """Fraction of the scene, above the slider, that differs."""
    return np.mean(np.abs(a[:320].astype(int) - b[:320]).max(axis=2) > 20)


def test_view_shows_the_scene(window_pictures):
    assert window_pictures["start"].shape == (400, 640, 3)
    assert len(np.unique(window_pictures["start"][:320].reshape(-1, 3), axis=0)) > 100


def test_view_slider_moves_the_scene(window_pictures):
    assert window_pictures["t_slid"] == 0.3
    assert changed_fraction(window_pictures["start"], window_pictures["slid"]) > 0.005


def test_arrow_key_shows_the_next_output(window_pictures):
    assert window_pictures["t_right"] == pytest.approx(0.35)
    assert changed_fraction(window_pictures["slid"], window_pictures["right"]) > 0.001


def test_view_colours_change_without_motion(window_pictures):
    assert window_pictures["t_other"] == window_pictures["t_right"]
    assert changed_fraction(window_pictures["other"], window_pictures["parts"]) > 0.01
    ink = [np.any(window_pictures[name][:320, 100:550] != 255, axis=2) for name in ("other", "parts")]
    assert np.mean(ink[0] != ink[1]) < 0.01


def test_space_key_plays_to_the_end(window_pictures):
    assert window_pictures["t_played"] > 0
    assert changed_fraction(window_pictures["start"], window_pictures["played"]) > 0
    assert window_pictures["t_end"] == 0.5


def test_view_command_ends_with_its_window(window_pictures):
    assert window_pictures["code"] == 0


def test_missing_display_is_reported(sample, monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert main(["view", str(sample)]) == 2
    assert "xvfb-run" in capsys.readouterr().err
