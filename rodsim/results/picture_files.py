"""Write pictures and movies to files, which appear under their names only when they are complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rodsim.results.atomic_write import atomic_file
from rodsim.results.canvases import Picture
from rodsim.results.errors import ResultError, check_path


def picture_path(path: object) -> Path:
    """Return the path of a picture or movie; raise ResultError if its ending is not that of a format that can be written."""
    from PIL import Image

    checked = check_path("render", path)
    # formats that PIL can write, not only read
    endings = {end for end, format in Image.registered_extensions().items() if format in Image.SAVE}
    if checked.suffix.lower() not in endings:
        raise ResultError(
            f"render to '{checked}': no format '{checked.suffix}'; end it in .png, .mp4 or .gif"
        )
    return checked


@contextmanager
def movie(path: Path, keep: Path | None, fps: int) -> Iterator[Callable[[Picture], Any]]:
    """Open a movie and yield a function that appends a frame to it.

    `path`: file to write, .gif, or another ending for MP4. `keep`: file that must not be overwritten. `fps`: frames per second.
    """
    import imageio.v2 as imageio

    with atomic_file(path, keep) as file:
        if path.suffix.lower() == ".gif":
            gif: Any = imageio.get_writer(file, mode="I", duration=1000 / fps, loop=0)
            with gif:
                yield gif.append_data
        else:
            yield from _mp4(file, fps)


def _mp4(path: Path, fps: int) -> Iterator[Callable[[Picture], Any]]:
    """Yield a function that appends a frame to an MP4 movie; raise OSError if ffmpeg lost frames, which it does not report."""
    import imageio.v2 as imageio
    from imageio_ffmpeg import count_frames_and_secs

    mp4: Any = imageio.get_writer(path, fps=fps, codec="libx264", quality=8, macro_block_size=2)
    frames = 0

    def add(picture: Picture) -> None:
        nonlocal frames
        mp4.append_data(picture)
        frames += 1

    try:
        with mp4:
            yield add
        complete = frames > 0 and count_frames_and_secs(str(path))[0] == frames
    except (OSError, RuntimeError) as error:
        raise OSError("ffmpeg could not write the movie; is the disk full?") from error
    if not complete:
        raise OSError("ffmpeg did not write the whole movie; is the disk full?")


def save(picture: Picture, path: Path, keep: Path | None) -> None:
    """Write a picture to `path`; `keep`: file that must not be overwritten."""
    from PIL import Image

    with atomic_file(path, keep) as file:
        Image.fromarray(picture).save(file)
