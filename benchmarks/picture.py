"""Plot errors of all programs over their time, one panel for each case.

python -m benchmarks.run --picture FILE

From a record written by `--json`: `python -m benchmarks.picture RECORD [RECORD ...] -o FILE`; if a case is in
several records, the last one is used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.measurement import Measurement
from benchmarks.pareto_fronts import front
from benchmarks.registry import CASES
from benchmarks.report import family, is_ours
from rodsim.results.atomic_write import atomic_file
from rodsim.results.plot import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 4
MARKERS = "osD^v"


def draw(runs: Sequence[Measurement], path: Path | str) -> Path:
    """Write the picture (.png, .pdf, .svg) of all cases with runs of several programs.

    Raises ValueError if there is none.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cases = [name for name in CASES if len(_families(runs, name)) > 1]
    if not cases:
        raise ValueError("no case was run by two programs; install a peer (pip install '.[bench]')")
    columns = min(COLUMNS, len(cases))
    rows = -(-len(cases) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.2 * rows + 0.6), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
    programs = dict.fromkeys(name for case in cases for name in _families(runs, case))
    styles = {
        name: {"color": COLORS[k % len(COLORS)], "marker": MARKERS[k % len(MARKERS)]}
        for k, name in enumerate(programs)
    }
    for ax, name in zip(all_axes, cases, strict=False):
        _panel(ax, name, [m for m in runs if m.case == name], styles)
    for ax in all_axes[len(cases) :]:
        ax.set_axis_off()
    handles = [all_axes[0].plot([], [], label=name, **look)[0] for name, look in styles.items()]
    handles += [
        all_axes[0].plot([], [], color="grey", linestyle=line, label=label)[0]
        for line, label in (("-", "loop"), (":", "whole call"))
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    figure.supxlabel("time, s")
    figure.supylabel("relative error")
    target = Path(path)
    with atomic_file(target) as file:
        figure.savefig(file, format=target.suffix.lstrip(".") or "png")
    return target


def _families(runs: Iterable[Measurement], case: str) -> dict[str, None]:
    """Programs that have a run of the case with an error."""
    return dict.fromkeys(family(m) for m in runs if m.case == case and front([m]))


def _panel(ax: Axes, name: str, runs: Sequence[Measurement], styles: dict[str, dict[str, Any]]) -> None:
    for program in sorted(_families(runs, name), key=list(styles).index):
        of_program = [m for m in runs if family(m) == program]
        size = 5.0 if is_ours(of_program[0]) else 3.5
        of_loop, of_call = (
            front(of_program),
            front(replace(m, wall_s=m.whole_s) for m in of_program if m.whole_s > 0.0),
        )
        for best, line in ((of_loop, "-"), (of_call, ":")):
            where = [m.wall_s for m in best], [m.error for m in best]
            ax.loglog(*where, linestyle=line, linewidth=1.2, markersize=size, **styles[program])
    ax.xaxis.set_minor_formatter("")  # for less than a decade their labels would overlap
    title = CASES[name].title
    title = (title.partition(": ")[2] or title).split(",")[0]  # without the name of a peer's file
    ax.set_title(fill(title, 36), fontsize="medium")
    ax.grid(True, which="major", linewidth=0.3)
    ax.tick_params(labelsize="small")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, or 2 on a wrong argument."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.picture", description=__doc__)
    parser.add_argument("record", nargs="+", type=Path, help="record written by `benchmarks.run --json`")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the picture")
    arguments = parser.parse_args(argv)
    runs: dict[str, list[Measurement]] = {}
    for record in arguments.record:
        recorded = [Measurement(**run) for run in json.loads(record.read_text())["runs"]]
        runs |= {name: [m for m in recorded if m.case == name] for name in {m.case for m in recorded}}
    print(f"written: {draw([m for of_case in runs.values() for m in of_case], arguments.output)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
