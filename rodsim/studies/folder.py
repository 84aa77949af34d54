"""The folder of a study: a journal of cases as they are done, the table, results and pictures.

    cases.jsonl     a line a case, in the order in which they came: keys, measures, errors; only ever added to
    table.csv, table.parquet     the table, whole or not at all
    results/case-0007.vtkhdf     results that are kept

A line that a kill has torn is left out when the journal is read again, and its case is done again.
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
    """A study's folder, held against other writers until `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise StudyError(f"'{path}' is no folder; give the name of a folder for the study")
        path.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(path / JOURNAL)
        self._file: IO[str] | None = None

    def done(self) -> dict[str, Outcome]:
        """Outcomes by key, of all studies that have written here."""
        found: dict[str, Outcome] = {}
        for line in _lines(self.path / JOURNAL):
            with contextlib.suppress(ValueError, KeyError, TypeError):  # torn
                outcome = _outcome(json.loads(line))
                found[outcome.key] = outcome
        return found

    def add(self, outcome: Outcome, values: dict[str, Any]) -> None:
        """A line for an outcome, and its result as a file where it brought one."""
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
        """Where the result of a case stands: under its key, its number may be another in the next study."""
        return self.path / RESULTS / f"case-{number:04d}-{key[:8]}.vtkhdf"

    def kept(self, key: str) -> Path | None:
        """The result of a case that is here already."""
        return kept_result(self.path, key)

    def close(self) -> None:
        """End of writing."""
        try:
            if self._file is not None:
                with named(self.path / JOURNAL):
                    self._file.close()  # writes what a full disk did not take
        finally:
            self._lock.release()


def kept_result(folder: Path, key: str) -> Path | None:
    """The result of a case in the folder of a study, where it was kept."""
    return next(iter(sorted((folder / RESULTS).glob(f"case-*-{key[:8]}.vtkhdf"))), None)


def _lines(path: Path) -> Iterator[str]:
    if path.exists():
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from file


def _ends_whole(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(0, 2)
        if file.tell() == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _outcome(record: dict[str, Any]) -> Outcome:
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
