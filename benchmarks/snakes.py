"""Run PyElastica's continuum snake with rodsim and with PyElastica (benchmarks/README.md).

    python -m benchmarks.snakes

Two periods; the table has the forward speed of the mass centre in the second one, compared with `LIMIT`. Both
programs approach it by refinement: rodsim with stiff bristles, PyElastica with a damper that keeps its snake
on the ground. Both run in turn; each row is the least processor time of some rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import NamedTuple

from examples.contact import snake
from rodsim import simulate

LIMIT = 27.2e-3  # m/s, accurate to 0.02e-3
TOLERANCE = 1e-6  # Newton tolerance of a step
ROUNDS = 3


class Outcome(NamedTuple):
    """Result of one run."""

    speed: float  # m/s
    loop_s: float  # processor time, s, without set-up
    whole_s: float  # with it


def of_rodsim(n: int, h: float) -> Outcome:
    """Measure the two calls of a user, and the run of a prepared model."""
    settings = {"t_end": 2 * snake.PERIOD, "dt": h, "output_every": 5, "tolerance": TOLERANCE}
    begin = process_time()
    result = simulate(snake.model(n), progress=False, **settings)  # type: ignore[arg-type]
    whole_s = process_time() - begin
    prepared = snake.model(n).prepare(progress=False, **settings)
    begin = process_time()
    prepared.run()
    return Outcome(snake.speed(result), process_time() - begin, whole_s)


def of_pyelastica(n: int, h: float) -> Outcome:
    """Run the case as in its file except for n and h."""
    from benchmarks.peers import pyelastica_snake

    outcome = pyelastica_snake.run(n, h)
    return Outcome(outcome.speed, outcome.loop_s, outcome.whole_s)


ROWS: dict[tuple[str, int, float], Callable[[int, float], Outcome]] = {
    **{("rodsim", n, 0.02): of_rodsim for n in (20, 40, 56, 80)},
    **{
        ("PyElastica", n, h): of_pyelastica
        for n, h in (
            (12, 1.4e-4),
            (20, 1.4e-4),
            (25, 1.4e-4),
            (25, 1e-4),
            (50, 1e-4),
            (50, 5e-5),
            (100, 5e-5),
        )
    },
}


def line(name: str, n: int, h: float, rounds: list[Outcome]) -> str:
    """Return a line of the table."""
    speed = rounds[0].speed
    loop, whole_s = min(outcome.loop_s for outcome in rounds), min(outcome.whole_s for outcome in rounds)
    return f"{name:12s} {n:4d} {h:8.1e} {1e3 * speed:8.2f} {100 * (speed / LIMIT - 1):7.1f} % {loop:8.3f} {whole_s:8.3f}"


def main() -> None:
    """Print the table."""
    rows = dict(ROWS)
    try:
        import elastica  # noqa: F401
    except ImportError:
        print("PyElastica is not installed")
        rows = {key: program for key, program in rows.items() if key[0] == "rodsim"}
    outcomes: dict[tuple[str, int, float], list[Outcome]] = {key: [] for key in rows}
    for program, n, h in {
        (run, 10, 1e-4 if name == "PyElastica" else 0.02) for (name, _, _), run in rows.items()
    }:
        program(n, h)  # compiled
    for _ in range(ROUNDS):
        for key, program in rows.items():
            outcomes[key].append(program(*key[1:]))
    print(f"{'':12s} elem.    step     mm/s     error     loop    whole")
    for key, rounds in outcomes.items():
        print(line(*key, rounds))


if __name__ == "__main__":
    main()
