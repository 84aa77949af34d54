"""Mutated scenes, run by hand: `python -m tests.support.fuzz_scenes 1000 --seed 1`; prints the counts of their outcomes.

A scene of `examples/scenes` is changed in its text (characters, lines, tokens, tags, nesting) or in its data
(types, extreme numbers, deletions, duplicates, names), then read, checked, built and, if all of this succeeds,
taken a few steps. It may be valid (`ok`), rejected with file, line and object (`refused`), or fail to converge
(`stopped`, which is a valid outcome). A `crash` is any other exception, or a warning that is not one of the package for the
user; `slow` exceeds the limit. The outcome of one scene does not depend on the other scenes.
"""

from __future__ import annotations

import argparse
import collections
import copy
import functools
import itertools
import random
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from rigid.errors import ConvergenceError, InitialVelocityWarning, ModelError, RedundantJointsWarning
from rodsim.components.model_warnings import ModelCheckWarning
from rodsim.scenes.errors import SceneError
from rodsim.scenes.model_from_scene import load
from rodsim.simulation import simulate

SCENES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.yaml"))
LIMIT = 10.0  # s for one scene
STEPS = 2
# in C, if available: Python would take half of the time
_LOADER, _DUMPER = (getattr(yaml, f"C{name}", getattr(yaml, name)) for name in ("SafeLoader", "SafeDumper"))

TAGS = ["!!timestamp", "!!bool", "!!int", "!!float", "!!null", "!!binary", "!!str", "!!set", "!!omap", "!!seq",
        "!!map", "!!python/name:os.system", "!!python/tuple", "!mine", "&a", "*a", "!!merge", "!!value"]  # fmt: skip
TOKENS = ["{", "}", "[", "]", ":", ",", "- ", "#", "'", '"', "|", ">", "%YAML 9.9\n", "---\n", "...\n", "\t",
          "\0", "\x85", "\u2028", "\ufeff", "ü", "𝄞", "<<: ", "? ", "0x", "1_0", "1:30", "~", "=", ".inf", "-.nan", "1e999",
          "9" * 400, "9" * 5000, "null", "yes", "[" * 60, "{a: " * 60, "'" * 3]  # fmt: skip
NUMBERS = [0, -1, 1, 2, 3, 1e-300, 5e-324, 1e-60, 1e-45, 1e-12, 1e8, 1e12, 1e20, 1e30, 1e49, 1e50, 1e51, 1e100, 1e154, 1e308,
           -1e30, -1e-30, float("inf"), float("-inf"), float("nan"), 10**30, 10**400, 2**63, -(2**63), 0.5, -0.0, 1e-7, 9e18,
           100_000, 3600]  # fmt: skip
VALUES = [None, True, False, "", "a", "1", "0.1", "nan", "ground", "\0", "a\0b", "\x1b[31m", "\ud800", "x" * 300,
          "ü'\"", [], {}, [[]], [None], [1, 2], [1, 2, 3], [0, 0, 0], [[0, 0, 0], [1, 0, 0]], ["1", "2", "3"],
          [True, False, True], {"a": 1}, {"type": "sphere"}, {"ground": [0, 0, 0]}, {"rod": "arm", "s": 0.5},
          {"body": "ground"}, [1e200, 0, 0], [1e-200, 0, 0], b"bytes"]  # fmt: skip


def places(data: Any, path: tuple = ()) -> Iterator[tuple]:
    """Paths to all values of a scene."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


@functools.cache
def plain_data(file: Path) -> Any:
    """The scene as plain data, not to be changed; YAML 1.1 reads the key `on` as a truth value."""
    return yaml.load(re.sub(r"\bon:", '"on":', file.read_text(encoding="utf-8")), _LOADER)


def mutated_data(data: Any, dice: random.Random) -> Any:
    """The scene with one to three values changed."""
    data = copy.deepcopy(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        paths = list(places(data))
        if not paths:
            break
        *where, last = dice.choice(paths)
        container = data
        for key in where:
            container = container[key]
        old = container[last]
        if isinstance(old, int | float) and not isinstance(old, bool) and dice.random() < 0.7:
            factor = dice.choice((-1.0, 0.0, 1e-12, 1e-6, 1e-3, 0.5, 0.999999, 2.0, 1e3, 1e6, 1e12))
            container[last] = dice.choice(
                (dice.choice(NUMBERS), old * factor if abs(old) < 10**300 else -old)
            )
        else:
            how = dice.randrange(6)
            if how == 0:
                del container[last]
            elif how == 1 and isinstance(container, list):
                container.insert(dice.randrange(len(container) + 1), copy.deepcopy(old))
            elif how == 2 and isinstance(container, dict):
                container[dice.choice((f"{last}x", "", "name", "type", "a", 7, None))] = container.pop(last)
            elif how == 3:
                *from_, key = dice.choice(paths)
                value = data
                try:
                    for step in (*from_, key):
                        value = value[step]
                except (KeyError, IndexError, TypeError):
                    continue
                container[last] = copy.deepcopy(value)
            elif how == 4:
                container[last] = dice.choice(([old], {"value": old}, str(old), [old] * 3, [[old]]))
            else:
                container[last] = dice.choice(dice.choice((VALUES, NUMBERS)))
    return data


def mutated_text(text: str, dice: random.Random) -> str:
    """The text with one to three positions changed."""
    for _ in range(dice.choice((1, 1, 2, 3))):
        how, k = dice.randrange(8), dice.randrange(len(text) + 1)
        lines = text.splitlines(keepends=True) or [""]
        line = dice.randrange(len(lines))
        if how == 0:
            text = text[:k] + dice.choice(TOKENS) + text[k:]
        elif how == 1:
            text = text[:k] + text[k + dice.choice((1, 1, 2, 10)) :]
        elif how == 2:  # a tag before a value
            spots = [m.end() for m in re.finditer(r"[:,\[-] ", text)] or [0]
            k = dice.choice(spots)
            text = f"{text[:k]}{dice.choice(TAGS)} {text[k:]}"
        elif how == 3:  # another number
            spots = list(re.finditer(r"-?\d[\d.e+-]*", text)) or [re.match("", text)]
            spot = dice.choice(spots)
            text = text[: spot.start()] + str(dice.choice(NUMBERS)) + text[spot.end() :]
        elif how == 4:
            del lines[line]
            text = "".join(lines)
        elif how == 5:
            lines.insert(dice.randrange(len(lines) + 1), lines[line])
            text = "".join(lines)
        elif how == 6:
            lines[line] = dice.choice(("  ", " ", "- ", "\t")) + lines[line]
            text = "".join(lines)
        else:
            text = text[:k] + chr(dice.choice((dice.randrange(256), dice.randrange(0xD800)))) + text[k:]
    return text


def scene_text(file: Path, dice: random.Random) -> str:
    """The scene of `file`, mutated."""
    if dice.random() < 0.4:
        return mutated_text(file.read_text(encoding="utf-8"), dice)
    data = mutated_data(plain_data(file), dice)
    how = {"sort_keys": False, "allow_unicode": dice.random() < 0.5}
    try:
        return yaml.dump(data, Dumper=_DUMPER, **how)
    except UnicodeEncodeError:  # half a character, which C cannot write
        return yaml.safe_dump(data, **how)


class TooSlow(Exception):
    """The limit was exceeded."""


def _alarm(*_: Any) -> None:
    raise TooSlow


def outcome(file: Path) -> tuple[str, str]:
    """How the scene in `file` ends, and its messages."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", InitialVelocityWarning)
            warnings.simplefilter("ignore", RedundantJointsWarning)
            warnings.simplefilter("ignore", ModelCheckWarning)  # that a step is long for a contact
            loaded = load(file)
            run = loaded.scene.run
            try:
                simulate(
                    loaded.model, STEPS * run.dt, run.dt, run.integrator, chart=run.chart, progress=False
                )
            except ModelError:
                return "refused", "run"
            except ConvergenceError:
                return "stopped", ""
    except SceneError as error:
        message = str(error)
        good = message.replace("\n", "").isprintable() and all(
            re.match(rf"{re.escape(str(file))}:\d+: \S", line) for line in message.splitlines()
        )
        return (
            ("refused", "")
            if good and message.isprintable() | ("\n" in message)
            else ("crash", f"unclear: {message}")
        )
    except TooSlow:
        return "slow", ""
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "crash", "".join(traceback.format_exception(error))
    return "ok", ""


def fuzz(
    count: int, seed: int, folder: Path, limit: float = LIMIT
) -> Iterator[tuple[str, str, str, float, str]]:
    """(name, outcome, message, seconds, text) of `count` mutants of each scene, the same for the same seed."""
    for origin in SCENES:  # compile outside the limit
        outcome(origin)
    previous = signal.signal(signal.SIGALRM, _alarm)
    file = folder / "scene.yaml"
    try:
        for origin, k in itertools.product(SCENES, range(count)):
            name = f"{origin.stem}-{seed}-{k}"
            text = scene_text(origin, random.Random(name))
            file.write_bytes(text.encode("utf-8", "surrogatepass"))
            began = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, limit)
            try:
                how, message = outcome(file)
            except TooSlow:
                how, message = "slow", ""
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            yield name, how, message, time.perf_counter() - began, text
    finally:
        signal.signal(signal.SIGALRM, previous)


def main(arguments: list[str] | None = None) -> int:
    """Fuzz, print the counts and the failures; the exit code is 1 if there are any."""
    import tempfile

    options = argparse.ArgumentParser(prog="python -m tests.support.fuzz_scenes", description=__doc__)
    options.add_argument("count", type=int, help="mutants of each scene")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--limit", type=float, default=LIMIT, help="s for one scene")
    options.add_argument("--keep", type=Path, help="folder for the scenes that crash or are slow")
    settings = options.parse_args(arguments)
    counts: collections.Counter[str] = collections.Counter()
    slowest, bad = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, how, message, seconds, text in fuzz(
            settings.count, settings.seed, Path(folder), settings.limit
        ):
            counts[how] += 1
            slowest = max(slowest, seconds)
            if how in ("crash", "slow"):
                bad += 1
                print(
                    f"--- scene {name}: {how} after {seconds:.1f} s\n{message!a:.3000}".replace("\\n", "\n"),
                    flush=True,
                )
                if settings.keep:
                    settings.keep.mkdir(exist_ok=True)
                    scene_path = settings.keep / f"{how}-{name}.yaml"
                    scene_path.write_bytes(text.encode("utf-8", "surrogatepass"))
    print(
        f"{counts.total()} scenes, seed {settings.seed}: {dict(sorted(counts.items()))}, slowest {slowest:.1f} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
