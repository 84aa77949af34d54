"""The mooring line of `moorings.py` in MoorDyn v2: lumped masses and explicit steps (PyPI `moordyn`)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import moordyn
import numpy as np

from benchmarks.moorings import ANCHOR, FAIRLEAD, LINE, OUTPUT, T_END, Outcome, displacement

INPUT = """A line on the sea bed
---- LINE TYPES ----
TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
chain {d} {mass} {EA} {BA} 0 {Cd} {Ca} {CdAx} {Ca}
---- POINTS ----
ID Attachment X Y Z Mass Volume CdA Ca
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed {a[0]} {a[1]} {a[2]} 0 0 0 0
2 Coupled {b[0]} {b[1]} {b[2]} 0 0 0 0
---- LINES ----
ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs
(#) (name) (ID) (ID) (m) (-) (-)
1 chain 1 2 {length} {n} -
---- OPTIONS ----
0 writeLog
{h} dtM
rk4 tScheme
{g} g
{depth} WtrDpth
{kb} kb
0 cb
---- END ----
"""


@contextmanager
def quiet() -> Iterator[None]:
    """Discard what the library writes to the standard output."""
    saved, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)


def run(n: int, h: float) -> Outcome:
    """Run the line of n segments with steps h.

    In a step MoorDyn moves the fairlead at a constant velocity; that is the mean one here, so that its position is that of
    the motion after every step. The force at the fairlead has the inertia of half a segment added, as in rodsim.
    """
    begun = process_time()
    with tempfile.TemporaryDirectory() as folder, quiet():
        path = Path(folder) / "line.txt"
        path.write_text(
            INPUT.format(
                a=ANCHOR, b=FAIRLEAD, n=n, h=h, BA=LINE.EA * LINE.damping_time, depth=-ANCHOR[2],
                kb=LINE.bed / LINE.d, **LINE._asdict()
            )
        )  # fmt: skip
        system = moordyn.Create(str(path))
        moordyn.SetVerbosity(system, moordyn.LEVEL_NONE)
        moordyn.Init(system, list(FAIRLEAD), [0.0, 0.0, 0.0])
        prepared = process_time()
        line, (x, y, z) = moordyn.GetLine(system, 1), FAIRLEAD
        steps, every = round(T_END / h), round(OUTPUT / h)
        path_x = x + displacement(h * np.arange(steps + 1))
        places, speeds = path_x.tolist(), (np.diff(path_x) / h).tolist()
        forces = [moordyn.GetLineNodeForce(line, n)]
        try:
            for k in range(steps):
                moordyn.Step(system, (places[k], y, z), (speeds[k], 0.0, 0.0), k * h, h)
                if (k + 1) % every == 0:
                    forces.append(moordyn.GetLineNodeForce(line, n))
        finally:
            moordyn.Close(system)
        ended = process_time()
    force, t, e = np.array(forces), OUTPUT * np.arange(len(forces)), 1e-3
    water = LINE.Ca * LINE.rho * np.pi * LINE.d**2 / 4.0
    half = (LINE.mass + water) * LINE.length / n / 2.0
    force[:, 0] -= half * (displacement(t + e) - 2.0 * displacement(t) + displacement(t - e)) / e**2
    return Outcome(np.linalg.norm(force, axis=1), ended - prepared, ended - begun)
