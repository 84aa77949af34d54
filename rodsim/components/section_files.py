"""Read stiffness and mass matrices of sections from files of VABS and BeamDyn.

VABS writes one section; its order of strains is that of `Section`: extension, two shears, twist, two bendings. BeamDyn's blade
files list stations; z is along the blade, x and y across it. With d1 = z, d2 = x, d3 = y, a cyclic exchange of axes without a
change of sign, entry (i, j) of a matrix of `Section` is entry (p(i), p(j)) of BeamDyn's, p = (2, 0, 1, 5, 3, 4).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rigid.errors import ModelError
from rigid.system import Floats

BEAMDYN_ORDER = (2, 0, 1, 5, 3, 4)
_CONSISTENT = (
    1e-6  # relative difference of entries that a mass matrix has twice; files have six digits or more
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


class Matrices(NamedTuple):
    """Stiffness and mass per length about the reference line, in the order of `Section`, in the file's units."""

    stiffness: Floats  # (6, 6)
    mass: Floats  # (6, 6)


class Blade(NamedTuple):
    """Stations of a blade file."""

    fractions: Floats  # (n,) of the length of the blade
    matrices: tuple[Matrices, ...]
    damping_times: Floats  # (6,) s, viscosity over stiffness of each strain


def read_vabs(owner: str, path: Path) -> Matrices:
    """Return the matrices of a VABS result file."""
    lines = path.read_text(errors="replace").splitlines()
    stiffness = _matrix_below(lines, lambda line: "timoshenko stiffness" in line)
    mass = _matrix_below(lines, lambda line: "mass matrix" in line and "mass center" not in line)
    if stiffness is None:
        classical = any("classical stiffness" in line.lower() for line in lines)
        only = ", only the classical one, which has no shear" if classical else ""
        raise ModelError(
            f"{owner}: file '{path}' has no Timoshenko stiffness matrix{only}. Let VABS compute the Timoshenko model"
        )
    if mass is None:
        raise ModelError(f"{owner}: file '{path}' has no 6 x 6 mass matrix; give a result file (.K) of VABS")
    return Matrices(stiffness, mass)


def read_beamdyn(owner: str, path: Path) -> Blade:
    """Return the stations of a blade file of BeamDyn."""
    lines = path.read_text(errors="replace").splitlines()
    count = _value_before(owner, path, lines, "station_total")
    damped = _value_before(owner, path, lines, "damp_type")
    start = next((k for k, line in enumerate(lines) if "distributed properties" in line.lower()), None)
    if start is None:
        raise ModelError(
            f"{owner}: file '{path}' has no 'DISTRIBUTED PROPERTIES'; give a blade file of BeamDyn"
        )
    rows = [row for row in map(_numbers, lines[start + 1 :]) if row]
    n = int(count)
    if len(rows) < 13 * n or [len(row) for row in rows[: 13 * n]] != n * [1, *(12 * [6])]:
        raise ModelError(
            f"{owner}: file '{path}' announces {n} stations, but does not have a fraction and two 6 x 6 matrices for each; "
            "complete it, or correct station_total"
        )
    fractions = np.array([rows[13 * k][0] for k in range(n)])
    if fractions[0] != 0.0 or fractions[-1] != 1.0 or np.any(np.diff(fractions) <= 0.0):
        raise ModelError(
            f"{owner}: the stations of file '{path}' do not grow from 0 to 1: {fractions.tolist()}. Order and complete them"
        )
    order = np.ix_(BEAMDYN_ORDER, BEAMDYN_ORDER)
    matrices = tuple(
        Matrices(*(np.array(rows[13 * k + first : 13 * k + first + 6])[order] for first in (1, 7)))
        for k in range(n)
    )
    times = np.zeros(6)
    if damped:
        heading = next((k for k, line in enumerate(lines) if "damping coefficient" in line.lower()), start)
        rows_of_six = [row for row in map(_numbers, lines[heading + 1 : start]) if len(row) == 6]
        if not rows_of_six:
            raise ModelError(
                f"{owner}: file '{path}' has damp_type = 1, but no six damping coefficients; add them"
            )
        times = np.array(rows_of_six[0])[list(BEAMDYN_ORDER)]
    return Blade(fractions, matrices, times)


def mass_of(owner: str, matrix: Floats) -> tuple[float, Floats, Floats]:
    """Return mass per length, centre of mass (2,) and rotary inertia (3, 3) about it from a mass matrix (6, 6)."""
    m = float(np.mean(np.diag(matrix)[:3]))
    if m <= 0.0:
        raise ModelError(f"{owner}: the mass per length is {m:g} kg/m; give a positive one")
    c2, c3 = -float(matrix[5, 0]) / m, float(matrix[4, 0]) / m
    hat = np.array([[0.0, -c3, c2], [c3, 0.0, 0.0], [-c2, 0.0, 0.0]])
    expected = np.block([[m * np.eye(3), -m * hat], [m * hat, matrix[3:, 3:]]])
    length = np.sqrt(np.trace(matrix[3:, 3:]) / m)
    size = m * np.outer(*2 * [np.repeat([1.0, length], 3)])
    wrong = np.abs(matrix - expected) / size
    J = 0.5 * (matrix[3:, 3:] + matrix[3:, 3:].T)
    wrong[3:, 3:] = np.abs(matrix[3:, 3:] - J) / size[3:, 3:]
    wrong[3, 4:] = np.abs(matrix[3, 4:]) / size[3, 4:]
    if wrong.max() > _CONSISTENT:
        i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        raise ModelError(
            f"{owner}: entry ({i + 1}, {j + 1}) = {matrix[i, j]:g} of the mass matrix is not that of a section: it has the form "
            "[[m I, -m hat(c)], [m hat(c), J]] with c and the products of J across d1. Check the order of rows, and the "
            "reference point"
        )
    center = np.array([c2, c3])
    J -= m * (np.dot(center, center) * np.eye(3) - np.outer([0.0, *center], [0.0, *center]))
    J[0, 1:] = J[1:, 0] = 0.0
    return m, center, J


def _matrix_below(lines: list[str], is_heading: Callable[[str], bool]) -> Floats | None:
    """Return the first 6 x 6 numbers below a heading; None if there is no such heading."""
    start = next((k for k, line in enumerate(lines) if is_heading(line.lower())), None)
    if start is None:
        return None
    rows: list[list[float]] = []
    for line in lines[start + 1 :]:
        row = _numbers(line)
        if len(row) == 6:
            rows.append(row)
        elif rows or any(word in line.lower() for word in ("matrix", "center")):
            break
        if len(rows) == 6:
            return np.array(rows)
    return None


def _numbers(line: str) -> list[float]:
    """Return the numbers of a line that has nothing else; an empty list otherwise."""
    words = line.split()
    if not words or not all(_NUMBER.fullmatch(word) for word in words):
        return []
    return [float(re.sub("[dD]", "e", word)) for word in words]


def _value_before(owner: str, path: Path, lines: list[str], word: str) -> float:
    """Return the number at the begin of the line that has a word."""
    for line in lines:
        words = line.split()
        if len(words) > 1 and words[1].lower() == word and _NUMBER.fullmatch(words[0]):
            return float(words[0])
    raise ModelError(f"{owner}: file '{path}' has no {word}; give a blade file of BeamDyn")
