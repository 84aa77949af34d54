"""Samples of the motion of a result that can be compared between meshes: positions of its parts at given times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rodsim.parts.points import parse_point
from rodsim.studies.errors import StudyError

if TYPE_CHECKING:
    from rodsim.results.result import Result

MOST_PARTS = 20


@dataclass(frozen=True)
class MotionSamples:
    """Sampler of a result: largest displacement of a point (m), then positions of bodies and of start, middle and end of rods.

    `times`: sample times (s); None: only the last output. Of more than 20 parts, 20 evenly spaced ones are sampled.
    """

    times: tuple[float, ...] | None

    def __call__(self, result: Result) -> Iterator[float]:
        from rodsim.comparing.points import motion, parts_of, usual_points

        names = parts_of(result)
        points = {text: parse_point(text, names).part for text in usual_points(result, result)}
        parts = list(dict.fromkeys(points.values()))
        few = np.unique(np.linspace(0, len(parts) - 1, min(len(parts), MOST_PARTS)).round().astype(int))
        chosen = {parts[k] for k in few}
        at = self._outputs(result)
        way, samples = 0.0, []
        for text, part in points.items():
            if part in chosen:
                r = motion(result, "the result", text).r
                way = max(way, float(np.linalg.norm(r - r[0], axis=1).max()))
                samples.append(r[at].ravel())
        return iter([way, *np.concatenate(samples).tolist()])

    def _outputs(self, result: Result) -> list[int]:
        """Return the indices of the outputs at the sample times; raise StudyError if a time has no output."""
        if self.times is None:
            return [-1]
        t = result.t
        found = [int(np.argmin(np.abs(t - time))) for time in self.times]
        missed = [time for time, k in zip(self.times, found, strict=True) if abs(t[k] - time) > 1e-9 * t[-1]]
        if missed:
            raise StudyError(
                f"there is no output at t = {missed[0]:g} s; choose dt and output_every that have one"
            )
        return found
