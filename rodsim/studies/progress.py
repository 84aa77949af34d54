"""Progress of a study, shown on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rodsim.studies.cases import Outcome


class Progress:
    """Progress bar on stderr: finished cases, rate, remaining time and number of failed cases."""

    def __init__(self, total: int, known: Mapping[int, Outcome], show: bool | None) -> None:
        self._bar = None
        self._speaks = show is not False
        self._failed = sum(bool(outcome.error) for outcome in known.values())
        self._counted = set(known)
        if show if show is not None else sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=len(known), unit="case", dynamic_ncols=True, smoothing=0.1)
            self._tell()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def took(self, outcome: Outcome) -> None:
        """Count an outcome; a case that is run again for its result file counts once."""
        if outcome.number in self._counted:
            return
        self._counted.add(outcome.number)
        self._failed += bool(outcome.error)
        if self._bar is not None:
            self._bar.update(1)
            self._tell()

    def tell(self, words: str) -> None:
        """Print a line on stderr, also if no bar is shown."""
        if self._bar is not None:
            self._bar.write(f"rodsim: {words}", file=sys.stderr)
        elif self._speaks:
            print(f"rodsim: {words}", file=sys.stderr, flush=True)

    def _tell(self) -> None:
        if self._bar is not None and self._failed:
            self._bar.set_postfix_str(f"{self._failed} failed", refresh=False)
