"""Folder of a study: a journal of finished cases, the table, results and pictures.

    cases.jsonl     a line for each case, in the order in which they ended: keys, measures, errors; append-only
    table.csv, table.parquet     the table, written completely or not at all
    results/case-0007-KEY.vtkhdf     saved results, with the first 8 characters of the key

A line that is incomplete because the process was killed is skipped when the journal is read, and its case is run again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rodsim.results.lock import Lock
from rodsim.results.whole_file import named, whole_file
from rodsim.studies.cases import Outcome
from rodsim.studies.errors import StudyError
from rodsim.studies.plain_json import dumps

JOURNAL = "cases.jsonl"
RESULTS = "results"


class Folder:
    """Folder of a study, locked against other writers until `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise StudyError(f"'{path}' is no folder; give the name of a folder for the study")
        path.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(path / JOURNAL)
        self._file: IO[str] | None = None

    def done(self) -> dict[str, Outcome]:
        """Return the outcomes by key, of all studies that have written to this folder."""
        found: dict[str, Outcome] = {}
        for line in _lines(self.path / JOURNAL):
            with contextlib.suppress(ValueError, KeyError, TypeError):  # skip incomplete lines
                outcome = _outcome(json.loads(line))
                found[outcome.key] = outcome
        return found

    def add(self, outcome: Outcome, values: dict[str, Any]) -> None:
        """Append an outcome to the journal, and save its result file if it has one; `values`: parameters of the case."""
        if outcome.file is not None:
            target = self.result(outcome.key, outcome.number)
            target.parent.mkdir(exist_ok=True)
            with whole_file(target) as file:
                file.write_bytes(outcome.file)
        if self._file is None:
            torn = (self.path / JOURNAL).exists() and not _ends_whole(self.path / JOURNAL)
            self._file = open(self.path / JOURNAL, "a", encoding="utf-8")  # noqa: SIM115, closed in close()
            self._file.write("\n" if torn else "")
        record = {
            "key": outcome.key,
            "case": outcome.number,
            "values": values,
            "measures": outcome.measures,
            "error": outcome.error,
            "lost": outcome.lost,
            "seconds": round(outcome.seconds, 6),
            "notes": outcome.notes,
            "samples": outcome.samples,
        }
        with named(self.path / JOURNAL):
            self._file.write(dumps(record) + "\n")
            self._file.flush()

    def result(self, key: str, number: int) -> Path:
        """Return the path for the result of a case; it contains the key, because the number may differ in another study."""
        return self.path / RESULTS / f"case-{number:04d}-{key[:8]}.vtkhdf"

    def kept(self, key: str) -> Path | None:
        """Return the saved result file of a case; None if there is none."""
        return kept_result(self.path, key)

    def close(self) -> None:
        """Close the journal and release the lock."""
        try:
            if self._file is not None:
                with named(self.path / JOURNAL):
                    self._file.close()  # writes the buffer again if the disk was full
        finally:
            self._lock.release()


def kept_result(folder: Path, key: str) -> Path | None:
    """Return the saved result file of a case in the folder of a study; None if there is none."""
    return next(iter(sorted((folder / RESULTS).glob(f"case-*-{key[:8]}.vtkhdf"))), None)


def _lines(path: Path) -> Iterator[str]:
    if path.exists():
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from file


def _ends_whole(path: Path) -> bool:
    """Return whether a file is empty or ends with a complete line."""
    with open(path, "rb") as file:
        file.seek(0, 2)
        if file.tell() == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _outcome(record: dict[str, Any]) -> Outcome:
    """Return the outcome stored in a line of the journal, without its result file."""
    return Outcome(
        int(record["case"]),
        str(record["key"]),
        {str(name): float(x) for name, x in record["measures"].items()},
        str(record["error"]),
        bool(record["lost"]),
        float(record["seconds"]),
        tuple(record["notes"]),
        None,
        tuple(float(x) for x in record["samples"]),
    )
