"""What a user can cause, in words; everything else is a defect of ours and shows a traceback."""

from __future__ import annotations

from rigid.errors import ModelError
from rodsim.cli.scene_words import in_scene_words
from rodsim.results.errors import ResultError
from rodsim.scenes.errors import SceneError

USER_ERRORS = (SceneError, ModelError, ResultError, OSError)


def words(error: BaseException) -> str:
    """The message of an error, on as many lines as it has problems."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"'{error.filename}': {error.strerror}"
    return in_scene_words(str(error))
