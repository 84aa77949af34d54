"""Messages of errors that a user can cause; any other error is a defect of rodsim and shows a traceback."""

from __future__ import annotations

from rigid.errors import ModelError
from rodsim.cli.scene_words import in_scene_words
from rodsim.results.errors import ResultError
from rodsim.scenes.errors import SceneError

USER_ERRORS = (SceneError, ModelError, ResultError, OSError)


def words(error: BaseException) -> str:
    """Return the message of an error, with a line for each problem, in terms of scenes and the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"'{error.filename}': {error.strerror}"
    return in_scene_words(str(error))
