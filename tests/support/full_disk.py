"""Simulate a full disk on POSIX systems."""

import resource
from contextlib import contextmanager


@contextmanager
def files_end_at(size):
    """Limit files to `size` bytes, as on a full disk; Python ignores the signal that reports it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
