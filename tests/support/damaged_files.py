"""Damaged result files: outcome of every command. `python -m tests.support.damaged_files 300 --seed 1` tries many.

Files are damaged by bytes, as by a disk, and by h5py, as by another program: objects removed, of another kind, shape
or type; numbers doubled, not finite or out of range; changed attributes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from rodsim import Box, Model, Section, simulate
from rodsim.cli.main import main
from rodsim.cli.messages import user_error_classes
from tests.support.results_sample import without_digests

STEPS, H = 4, 0.01
SOFT = Section.from_stiffness(
    EA=60.0, GA=40.0, GJ=3.0, EI=(2.0, 4.0), mass_per_length=1.5, inertia_per_length=(0.5, 0.2, 0.3)
)


def model() -> Model:
    """A rod on a hinge with a block at its end, on springs and under a load: an entry in every table that `em` stores."""
    made = Model("damaged", gravity=(0.0, 0.3, -9.81))
    rod = made.add_rod("rod", [(0, 0, 0), (1, 0, 0)], SOFT, 3)
    block = made.add_body("block", Box(0.1, 0.2, 0.3, density=300.0), position=(1.0, 0.0, 0.0))
    made.add_joint("pin", "revolute", made.ground, rod.start, axis=(0, 1, 0))
    made.add_joint("glue", "weld", rod.end, block)
    made.add_spring("string", made.ground.at((1, 0, 1)), block.at((0, 0, 0)), 10.0, damping=0.1)
    made.add_spring("coil", made.ground, rod.start, 5.0, along="rotation", axis=(0, 1, 0))
    made.add_force("push", block.at((0, 0, 0)), (0.0, 1.0, 0.0))
    return made


def run(path: Path, steps: int = STEPS, resume: bool = False) -> None:
    """Run the model whose file is damaged."""
    simulate(model(), steps * H, H, output=path, output_every=1, resume=resume, progress=False)


def content(path: Path) -> dict[str, bytes]:
    """All that h5py reads of a file: paths, shapes, numbers, attributes."""
    contents: dict[str, bytes] = {}
    with h5py.File(path, "r") as file:

        def add(name: str, item: object) -> None:
            attrs = sorted((k, np.asarray(v).tobytes(), str(v)) for k, v in item.attrs.items())  # type: ignore[attr-defined]
            contents[name] = repr((type(item).__name__, attrs)).encode()
            if isinstance(item, h5py.Dataset):
                contents[name] += repr((item.shape, item.dtype.str)).encode()
                contents[name] += (
                    repr(item[...].tolist()).encode() if item.dtype.kind == "O" else item[...].tobytes()
                )

        file.visititems(add)
    return contents


def by_bytes(path: Path, dice: random.Random) -> str:
    """Remove, zero or change bytes."""
    data = bytearray(path.read_bytes())
    used = len(data.rstrip(b"\0"))  # the rest is padding
    how = dice.choice(("cut", "lost", "head", "anywhere"))
    if how == "cut":
        data = data[: dice.randrange(used)]
    elif how == "lost":
        at = dice.randrange(used - 64)
        del data[at : at + dice.choice((1, 8, 64))]
    else:
        for _ in range(dice.choice((1, 3, 30))):
            data[dice.randrange(20_000 if how == "head" else used)] = dice.randrange(256)
    path.write_bytes(data)
    return f"bytes {how}"


def by_h5py(path: Path, dice: random.Random) -> str:
    """Change one object."""
    with h5py.File(path, "r+", libver=("earliest", "v108"), locking=False) as file:
        names: list[str] = []
        file.visit(names.append)
        name = dice.choice([n for n in names if n.startswith(("rodsim", "VTKHDF"))])
        item = file[name]
        hows = ["gone", "named datatype", "group", "attribute"]
        numbers = isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu" and item.size
        hows += 3 * ["doubled", "number", "shape", "type"] if numbers else []
        how = dice.choice(hows)
        if how == "attribute":
            if not item.attrs:
                return "nothing"
            key = dice.choice(sorted(item.attrs))
            value = dice.choice([None, -1, 7, 2**40, "text", np.arange(3)])
            del item.attrs[key]
            if value is not None:
                item.attrs[key] = value
            return f"{name}: attribute {key} = {value}"
        if how in ("doubled", "number"):
            array = item[...]
            if how == "doubled":
                array = 2 * array
            else:
                wrong = [np.nan, np.inf, 1e300, -1.0] if array.dtype.kind == "f" else [-1, -7, 5, 100, 2**40]
                place = dice.randrange(min(array.size, 500))
                array.reshape(-1)[place] = np.array(dice.choice(wrong)).astype(array.dtype)
            item[...] = array
            return f"{name}: {how}"
        array = item[...] if numbers else None
        del file[name]
        if how == "named datatype":
            file[name] = np.dtype("f8")
        elif how == "group":
            file.create_group(name)
        elif how == "shape":
            file[name] = dice.choice([array[:-1], array.reshape(-1), array[None], array.reshape(-1)[0]])
        elif how == "type":
            file[name] = array.astype(dice.choice(["f4", "f8", "i4", "i8", "S3", "u1"]))
        return f"{name}: {how}"


COMMANDS = (
    ["info"],
    ["audit"],
    ["audit", "--local"],
    ["compare"],
    ["export"],
    ["plot"],
    ["report"],
    ["resume"],
)


def tried(path: Path, sound: Path, folder: Path, command: list[str]) -> tuple[int | None, str]:
    """The exit code of a command, None if it crashed, and its messages."""
    output = io.StringIO()
    arguments = {
        "compare": ["compare", str(sound), str(path)],
        "export": ["export", str(path), "--format", "pvd", "-o", str(folder / "out.pvd")],
        "plot": ["plot", str(path), "-o", str(folder / "out.png")],
        "report": ["report", str(path), "-o", str(folder / "out.html")],
    }.get(command[0], [*command, str(path)])
    if command == ["audit", "--local"]:
        arguments += ["-o", str(folder)]
    with warnings.catch_warnings(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        warnings.simplefilter("ignore")
        try:
            if command == ["resume"]:
                run(path, STEPS + 2, resume=True)
                return 0, output.getvalue()
            return main(arguments), output.getvalue()
        except user_error_classes() as error:
            return 2, str(error)
        except Exception:
            return None, traceback.format_exc()


def fuzz(
    count: int, seed: int, folder: Path, older: bool = False, commands: tuple[list[str], ...] = COMMANDS
) -> Iterator[tuple[int, str, list[str]]]:
    """For this many damaged files: the number, the damage, and what is wrong with the reaction of commands."""
    sound, path = folder / "sound.vtkhdf", folder / "damaged.vtkhdf"
    if not sound.exists():
        run(sound)
    start = folder / "start.vtkhdf"
    shutil.copy(sound, start)
    if older:
        with h5py.File(start, "r+", libver=("earliest", "v108"), locking=False) as file:
            without_digests(file)
    expected = content(start)
    for k in range(seed, seed + count):
        dice = random.Random(k)
        shutil.copy(start, path)
        how = (by_bytes if k % 2 else by_h5py)(path, dice)
        faults = []
        try:
            same = content(path) == expected
        except Exception:
            same = False
        for command in commands:
            code, output = tried(path, sound, folder, command)
            if code is None:
                faults.append(f"{' '.join(command)} crashed: {output}")
            elif command == ["audit"] and code == 0 and not (same or older):
                faults.append("audit does not notice it")
        yield k, how, faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--older", action="store_true", help="files without digests")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        for k, how, faults in fuzz(options.count, options.seed, Path(name), options.older):
            bad += bool(faults)
            for fault in faults:
                print(f"{k}: {how}: {fault}", flush=True)
    print(f"{options.count} files, {bad} with faults")
