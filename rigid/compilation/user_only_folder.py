"""Make folders for code that is run later: cached code is trusted, so only the user may write to its folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def make_private(folder: Path) -> Path:
    """Make a folder that only its owner can access, if it does not exist; return it.

    Raise OSError if that is impossible, and PermissionError if the folder belongs to someone else or others can write to it:
    files that they leave there would be executed.
    """
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise
    if hasattr(os, "getuid"):  # Windows protects the folders of a user by other means
        status = folder.stat()
        if status.st_uid != os.getuid():
            raise PermissionError(f"'{folder}' belongs to user {status.st_uid}, not to you ({os.getuid()})")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(
                f"others can write to '{folder}' (mode {stat.S_IMODE(status.st_mode):o}), so its code is not run"
            )
    return folder
