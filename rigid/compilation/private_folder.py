"""Folders for what is run later: cached code is trusted, so nobody else may write where it lies."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rigid.errors import ModelError


def make_private(folder: Path) -> Path:
    """The folder, created for its owner alone where it is not there; OSError where it cannot be.

    Raises ModelError if it belongs to someone else or others can write to it: what they leave there would be run.
    """
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise
    if hasattr(os, "getuid"):  # Windows keeps the folders of a user apart by other means
        found = folder.stat()
        if found.st_uid != os.getuid():
            raise ModelError(
                f"cache folder '{folder}' belongs to user {found.st_uid}, not to you ({os.getuid()}), and code is run from "
                "it; remove it, or name a folder of your own in XDG_CACHE_HOME"
            )
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ModelError(
                f"cache folder '{folder}' can be written by others (mode {stat.S_IMODE(found.st_mode):o}), and code is run "
                f"from it; remove it, or if you trust what is in it: chmod go-w '{folder}'"
            )
    return folder
