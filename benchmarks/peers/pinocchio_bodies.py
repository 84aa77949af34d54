"""B3, B4 in Pinocchio (C++).

The articulated-body algorithm in explicit Runge-Kutta methods with fixed steps.

The compiled loop is `pinocchio_chain.cpp`. At first use it is compiled for the current processor with g++ and
the headers of the packages `pin` and `cmeel-eigen`; this takes a minute and a half and is not measured.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import subprocess
from functools import cache
from pathlib import Path
from time import process_time

import numpy as np
from scipy.integrate import DOP853
from scipy.spatial.transform import Rotation

from benchmarks.cases import ChainCase, Floats, TopCase, steps_a_part
from benchmarks.measurement import Measurement

NAME = "Pinocchio"
SOURCE = Path(__file__).with_name("pinocchio_chain.cpp")
LIBRARY = Path(__file__).parents[2] / "build" / "benchmarks" / "libpinocchio_chain.so"

# Without the larger list Boost's variant has no room for all of Pinocchio's joints.
FLAGS = [
    "-O3",
    "-march=native",
    "-DNDEBUG",
    "-std=c++17",
    "-fPIC",
    "-shared",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
]

# order -> (A, b); the method of order 8 is that of Dormand and Prince, with the weights of its last stage
METHODS: dict[int, tuple[Floats, Floats]] = {
    4: (
        np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]], float),
        np.array([1, 2, 2, 1]) / 6.0,
    ),
    8: (np.asarray(DOP853.A), np.asarray(DOP853.B)),
}


def run(
    case: ChainCase | TopCase, resolution: int, h: float, order: int = 4, hinges: bool = False
) -> Measurement:
    """Run a chain or a top with steps of `h`, s.

    Parameters
    ----------
    case : ChainCase or TopCase
    resolution : int
        Number of bodies; only labels the result.
    h : float
        Step, s.
    order : {4, 8}, default 4
        Order of the Runge-Kutta method: the classical one, or that of Dormand and Prince with 12 stages.
    hinges : bool, default False
        Hinges about y, or about the axes of the case, in place of spherical joints.

    Returns
    -------
    Measurement
        `wall_s` is the time loop, `whole_s` adds the construction of the model.

    Raises
    ------
    ImportError
        g++ or the headers are missing.
    """
    library = _library()
    steps = steps_a_part(case.t_end, h, case.instants)
    begun = process_time()
    if isinstance(case, TopCase):
        n, length, quat = 1, 0.0, case.quat
        centre = watched = (0.0, 0.0, case.offset)
        omega = Rotation.from_quat(np.roll(quat, -1)).inv().apply(case.omega)
        gravity = (0.0, 0.0, -case.gravity)
    else:
        n, length, quat = case.n_bars, case.bar_length, (1.0, 0.0, 0.0, 0.0)
        centre, watched = (0.5 * length, 0.0, 0.0), (length, 0.0, 0.0)
        omega, gravity = np.array([0.0, 0.0, case.spin]), case.weight
    axes = _array(getattr(case, "axes", ()) or [(0.0, 1.0, 0.0)] * n) if hinges else None
    A, b = METHODS[order]
    points, energies = np.zeros((case.instants, 3)), np.zeros(2)
    numbers = [_array(x) for x in (case.inertia, centre, gravity, quat, omega, A, b, watched)]
    inertia, centre_, gravity_, quat_, omega_, A_, b_, watched_ = (_pointer(x) for x in numbers)
    wall = library.run_chain(
        n,
        None if axes is None else _pointer(axes),
        ctypes.c_double(case.mass),
        inertia,
        ctypes.c_double(length),
        *(centre_, gravity_, quat_, omega_),
        *(len(b), A_, b_),
        ctypes.c_double(h),
        *(steps, case.instants, watched_, _pointer(points), _pointer(energies)),
    )
    whole_s = process_time() - begun
    name = " ".join([NAME, f"RK{order}", *(["hinges"] if hinges else [])])
    drift = (energies[1] - energies[0]) / case.energy_scale
    total = steps * case.instants
    return Measurement(name, case.name, resolution, h, total, wall, case.error(points), drift, whole_s)


@cache
def _library() -> ctypes.CDLL:
    """Compile the loop if it is missing or older than its source, and load it."""
    if not LIBRARY.exists() or LIBRARY.stat().st_mtime < SOURCE.stat().st_mtime:
        prefix = Path(str(importlib.metadata.distribution("pin").locate_file("cmeel.prefix")))
        include, lib = prefix / "include", prefix / "lib"
        LIBRARY.parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", *FLAGS, f"-I{include}", f"-I{include / 'eigen3'}", str(SOURCE), "-o", str(LIBRARY)]
        command += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lpinocchio_default"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            reason = getattr(error, "stderr", "") or str(error)
            raise ImportError(f"g++ cannot compile {SOURCE.name}: {reason[-500:]}") from error
    library = ctypes.CDLL(str(LIBRARY))
    library.run_chain.restype = ctypes.c_double
    return library


def _array(values: object) -> Floats:
    return np.ascontiguousarray(values, dtype=float)


def _pointer(array: Floats) -> ctypes._Pointer[ctypes.c_double]:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
