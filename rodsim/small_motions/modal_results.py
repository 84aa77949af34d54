"""Present mode shapes as results, which ParaView and `rodsim render` show one mode after the other.

The time of an output is the number of the mode plus the phase of its motion in [0, 1).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discretization.characteristic_length import extent
from discretization.linearisation.perturbed_state import perturb_state
from rigid import checks
from rigid.system import State
from rodsim.results.outputs import stacked
from rodsim.results.result import Result
from rodsim.results.tabulate import tabulate
from rodsim.results.writer import MemoryWriter, ResultWriter
from rodsim.running.plan import check_output
from rodsim.small_motions.modal_analysis import Modes


def mode_shapes(
    modes: Modes,
    output: str | Path | None = None,
    amplitude: float = 0.1,
    phases: int = 24,
    overwrite: bool = False,
) -> Result:
    """Return the motions of modes as a result, in a file or in memory, for pictures and movies.

    Mode k passes once through its phases at times k to k + 1.

    Parameters
    ----------
    modes : Modes
        The modes, as `rodsim.modes` returns them.
    output : str or Path, optional
        File to write (`.vtkhdf`). Default: keep the result in memory.
    amplitude : float, default 0.1
        Largest displacement, relative to the size of the model.
    phases : int, default 24
        Number of outputs of each mode.
    overwrite : bool, default False
        Whether to replace a file that exists.

    Returns
    -------
    Result
        The shapes, one output for each phase of each mode.

    Raises
    ------
    ModelError
        If `amplitude` or `phases` is not positive.
    FileExistsError
        If the file exists and `overwrite` is False.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, modes
    >>> from rodsim.linear import mode_shapes
    >>> model = Model("beam")
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 8)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> shapes = mode_shapes(modes(model, 3))
    >>> shapes.n_outputs
    72
    """
    amplitude = checks.number("mode_shapes", "amplitude", amplitude, positive=True)
    phases = checks.count("mode_shapes", "phases", phases)
    layout, system = modes.built.layout, modes.built.system
    layout.description["run"] = {"integrator": "modes", "dt": 1.0 / phases, "output_every": 1}
    layout.description["modes"] = [
        {"Hz": float(f), "growth": float(g), "kind": kind}
        for f, g, kind in zip(modes.frequency, modes.growth, modes.kinds, strict=True)
    ]
    count = len(modes.values)
    writer: MemoryWriter | ResultWriter = MemoryWriter(layout)
    if output is not None:
        check_output(Path(output), False, overwrite)
        writer = ResultWriter.create(output, layout, count * phases)
    try:
        for k in range(count):
            states = [displaced(modes, k, j / phases, amplitude) for j in range(phases)]
            steps = (k + 1) * phases + np.arange(phases)
            writer.extend(tabulate(system, 1.0 / phases, steps, stacked(states), np.zeros((phases, 3))))
    finally:
        writer.close()
    return writer.result() if isinstance(writer, MemoryWriter) else Result.load(writer.path)


def displaced(modes: Modes, k: int, phase: float, amplitude: float) -> State:
    """Return the state displaced by mode k at a phase in [0, 1): by the real part of the shape times exp(2 pi i phase)."""
    state, shape = modes.linear.state, modes.shapes[k]
    size = extent(state.r)
    largest = max(np.abs(shape[:, :3]).max(), 0.2 * size * np.abs(shape[:, 3:]).max())
    x = amplitude * size / largest * np.real(shape * np.exp(2j * np.pi * phase))
    displaced_state = perturb_state(modes.built.system, state, x)
    zero = np.zeros_like(state.v)
    return displaced_state._replace(v=zero, Omega=zero, lam=np.zeros_like(state.lam), totals=np.zeros(2))
