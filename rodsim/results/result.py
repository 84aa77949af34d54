"""Give access to a result as numpy arrays: times, energies, momenta, and the history of every rod, body and joint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discretization.drives import WORK
from discretization.time.adaptive import ERROR, LARGEST, N_CONTROL, NOISE, SMALLEST, STEPS, SUM
from rigid.checks import number, shown
from rigid.errors import DamagedFileWarning, ModelError
from rigid.lazy_modules import LazyModule
from rigid.system import Floats, Ints, State
from rigid.user_warnings import warn_user
from rodsim._compat import accept_old_methods
from rodsim.adaptive_steps import StepHistory
from rodsim.html_tables import some
from rodsim.results import native_format, stored_states
from rodsim.results.array_sources import Source, open_source
from rodsim.results.audit_columns import ALGORITHMIC, ANGULAR_MOMENTUM, COLUMNS, ENERGIES, LINEAR_MOMENTUM
from rodsim.results.contact_history import ContactHistory, contact_names
from rodsim.results.distances import Distance
from rodsim.results.errors import ResultError, UnknownName
from rodsim.results.event_history import EventHistory, stop_times
from rodsim.results.fluid_history import IN_FLUIDS, FluidHistory
from rodsim.results.gear_history import history_of
from rodsim.results.histories import BodyHistory, RodHistory
from rodsim.results.interaction_history import InteractionHistory
from rodsim.results.joint_history import JointHistory
from rodsim.results.layout import Layout
from rodsim.results.sensor_history import ControllerHistory, SensorHistory
from rodsim.results.storage import Changed
from rodsim.results.tendon_history import (
    BELT,
    CHAMBER,
    TENDON,
    BeltHistory,
    ChamberHistory,
    TendonHistory,
)
from rodsim.results.tight_bends import TightBend, tight_bends

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rodsim.results.audit_report import Audit
    from rodsim.results.canvases import Picture
    from rodsim.results.events import Event
    from rodsim.results.local_audit import LocalAudit

_page = LazyModule("rodsim.reporting.page")  # does not influence results, unlike the modules imported above

accept_old_methods(StepHistory)  # here, because its module is one of those that `rodsim._compat` imports

CHECKED_BYTES = 2**28  # bytes whose checksums are verified when a file is opened: a few tenths of a second


def _check_name(kind: str, name: str, names: list[str]) -> None:
    """Raise UnknownName if a name is not one of the known ones."""
    if name not in names:
        known = ", ".join(f"'{item}'" for item in names)
        raise UnknownName(
            f"no {kind} '{name}'; " + (f"the {kind}s are {known}" if names else "there are none")
        )


@accept_old_methods
class Result:
    """Hold the outputs of a run; arrays are read when they are used.

    `simulate` returns a result, and `Result.load` reads one from a file. T is the number of outputs: `t` has shape (T,), arrays
    of rods (T, n_nodes, ...) or (T, n_elements, ...), arrays of bodies, joints and contacts (T, ...). Methods make pictures,
    files and audits: `plot`, `render`, `render_movie`, `export`, `report`, `view`, `audit`.

    Parameters
    ----------
    source : Source
        Storage of the outputs, a file or memory. `simulate` and `Result.load` create it; users do not need to.

    Raises
    ------
    ResultError
        If `source` is a path.

    Examples
    --------
    >>> from rodsim import Result
    >>> result = Result.load("run.vtkhdf")
    >>> result.n_outputs, result.bodies, result.rods
    (6, ['block'], ['cord'])
    >>> result.rod("cord").r.shape
    (6, 5, 3)
    >>> bool(result.energy["total"][-1] < 1e-3)
    True
    >>> result.audit().ok
    True
    """

    def __init__(self, source: Source) -> None:
        if isinstance(source, str | Path):
            raise ResultError(
                f"Result: {shown(str(source))} is a path. Use Result.load({shown(str(source))})."
            )
        self._source = source
        self._audit: Floats | None = None
        self._contacts: dict[str, ContactHistory] = {}

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read the result file `path`, even while a run writes it.

        A DamagedFileWarning is issued if the file does not match its checksums. Checked are the model and all outputs; in a
        file of more than 256 MB only as many outputs at both ends as fill this size (`audit` checks all).

        Parameters
        ----------
        path : Path or str
            A file that `simulate` or `equilibrium` wrote with `output=`.

        Returns
        -------
        Result
            Its arrays are read when they are used.

        Raises
        ------
        FileNotFoundError: the file does not exist.
        ResultError: the file is not a rodsim result, cannot be read, or has a newer format.

        Examples
        --------
        >>> from rodsim import Result
        >>> Result.load("run.vtkhdf")
        <Result 'run.vtkhdf': 6 outputs; rods cord; bodies block>
        """
        source = open_source(Path(path))
        result = cls(source)
        n, size = result.n_outputs, source.size
        some = n if size <= CHECKED_BYTES else max(1, int(n * (CHECKED_BYTES / size) / 2))
        parts = [slice(0, n)] if 2 * some >= n else [slice(0, some), slice(n - some, n)]
        changed = {str(change): None for part in parts for change in result.find_damage(part) or ()}
        if changed:
            warn_user(
                f"result file '{path}' is damaged: {', '.join(changed)} is not what was written. Run the simulation again",
                DamagedFileWarning,
            )
        return result

    def refresh(self) -> Result:
        """Read the current number of outputs of the file.

        Returns
        -------
        Result
            A new result of this file that includes the outputs added since this one was opened. This one does not change.

        Raises
        ------
        ResultError
            If the file cannot be read.
        """
        return Result(self._source.refreshed())

    def __repr__(self) -> str:
        location = f"'{self.path}'" if self.path else "in memory"
        parts = [
            f"{kind} {some(names)}" for kind, names in (("rods", self.rods), ("bodies", self.bodies)) if names
        ]
        return f"<{type(self).__name__} {location}: {'; '.join([f'{self.n_outputs} outputs', *parts])}>"

    @property
    def path(self) -> Path | None:
        """Path of the result file; None if the result is in memory."""
        return self._source.path

    @property
    def layout(self) -> Layout:
        """Layout of the stored arrays: parts, joints, shapes."""
        return self._source.layout

    @property
    def description(self) -> dict[str, Any]:
        """Description of the built model and of the run, as plain data."""
        return self.layout.description

    @property
    def n_outputs(self) -> int:
        """Number of outputs, T."""
        return self._source.n_outputs

    @property
    def rods(self) -> list[str]:
        """Names of the rods."""
        return [rod.name for rod in self.layout.rods]

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies."""
        return [body.name for body in self.layout.bodies]

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return [joint.name for joint in self.layout.joints]

    def rod(self, name: str) -> RodHistory:
        """Return the history of one rod.

        Parameters
        ----------
        name : str
            As given to `Model.add_rod`, one of `rods`.

        Returns
        -------
        RodHistory
            Positions, velocities, strains and stresses, with the outputs as first axis.

        Raises
        ------
        UnknownName
            If there is no such rod; the message lists the names.
        """
        return RodHistory(self._source, self._find("rod", name, self.layout.rods))

    def body(self, name: str) -> BodyHistory:
        """Return the history of one body.

        Parameters
        ----------
        name : str
            As given to `Model.add_body`, one of `bodies`.

        Returns
        -------
        BodyHistory
            Positions and velocities, with the outputs as first axis.

        Raises
        ------
        UnknownName
            If there is no such body; the message lists the names.
        """
        return BodyHistory(self._source, self._find("body", name, self.layout.bodies))

    def joint(self, name: str) -> JointHistory:
        """Return the history of one joint, a gear or a drive.

        Parameters
        ----------
        name : str
            As given to `Model.add_joint`, one of `joints`.

        Returns
        -------
        JointHistory
            Forces, moments and coordinates, with the outputs as first axis.

        Raises
        ------
        UnknownName
            If there is no such joint; the message lists the names.
        """
        layout = self._find("joint", name, self.layout.joints)
        return history_of(self._source, layout)

    @property
    def sensors(self) -> list[str]:
        """Names of the sensors."""
        return list(self.description.get("sensors", ()))

    def sensor(self, name: str) -> SensorHistory:
        """Return the history of one sensor.

        Parameters
        ----------
        name : str
            As given to `Model.add_sensor`, one of `sensors`.

        Returns
        -------
        SensorHistory
            Value and rate, and what controllers read, with the outputs as first axis.

        Raises
        ------
        UnknownName
            If there is no such sensor; the message lists the names.
        """
        _check_name("sensor", name, self.sensors)
        return SensorHistory(self._source, name)

    @property
    def controllers(self) -> list[str]:
        """Names of the controllers."""
        return list(self.description.get("controllers", ()))

    def controller(self, name: str) -> ControllerHistory:
        """Return the history of one controller.

        Parameters
        ----------
        name : str
            As given to `Model.add_controller`, one of `controllers`.

        Returns
        -------
        ControllerHistory
            Its outputs, with the outputs of the result as first axis.

        Raises
        ------
        UnknownName
            If there is no such controller; the message lists the names.
        """
        _check_name("controller", name, self.controllers)
        return ControllerHistory(self._source, name)

    @property
    def event_names(self) -> list[str]:
        """Names of the events of the model."""
        return list(self.description.get("events", ()))

    def event(self, name: str) -> EventHistory:
        """Return the history of one event of the model.

        Parameters
        ----------
        name : str
            As given to `Model.add_event`, one of `event_names`.

        Returns
        -------
        EventHistory
            How often and when it happened, and the energy lost at its impulses.

        Raises
        ------
        UnknownName
            If there is no such event; the message lists the names.
        """
        _check_name("event", name, self.event_names)
        return EventHistory(self._source, name)

    @property
    def interactions(self) -> list[str]:
        """Names of the actuators, and of the interactions of user-defined kinds, that have states."""
        return [name for name, other in self.description.get("others", {}).items() if "states" in other]

    def interaction(self, name: str) -> InteractionHistory:
        """Return the history of the states of an actuator or of an interaction of a user-defined kind.

        Parameters
        ----------
        name : str
            As given to `Model.add_actuator` or `Model.add_interaction`, one of `interactions`.

        Returns
        -------
        InteractionHistory
            Its states, with the outputs of the result as first axis.

        Raises
        ------
        UnknownName
            If there is no such interaction with states; the message lists the names.
        """
        _check_name("interaction with states", name, self.interactions)
        return InteractionHistory(self._source, name)

    @property
    def tendons(self) -> list[str]:
        """Names of the tendons."""
        return [name for name, other in self.description.get("others", {}).items() if other["kind"] == TENDON]

    def tendon(self, name: str) -> TendonHistory:
        """Return the history of a tendon.

        Parameters
        ----------
        name : str
            As given to `Model.add_tendon`, one of `tendons`.

        Returns
        -------
        TendonHistory
            Its length, tension and angles of wrap, with the outputs of the result as first axis.

        Raises
        ------
        UnknownName
            If there is no such tendon; the message lists the names.
        """
        _check_name("tendon", name, self.tendons)
        return TendonHistory(self._source, name)

    @property
    def chambers(self) -> list[str]:
        """Names of the chambers."""
        return [
            name for name, other in self.description.get("others", {}).items() if other["kind"] == CHAMBER
        ]

    def chamber(self, name: str) -> ChamberHistory:
        """Return the history of a chamber.

        Parameters
        ----------
        name : str
            As given to `Model.add_chamber`, one of `chambers`.

        Returns
        -------
        ChamberHistory
            Its volume and pressure, with the outputs of the result as first axis.

        Raises
        ------
        UnknownName
            If there is no such chamber; the message lists the names.
        """
        _check_name("chamber", name, self.chambers)
        return ChamberHistory(self._source, name)

    @property
    def parts_in_fluids(self) -> list[str]:
        """Names of the submerged rods, submerged bodies and airfoils."""
        entries = self.description.get("others", {}).items()
        return [name for name, entry in entries if entry["kind"] in IN_FLUIDS]

    def in_fluid(self, name: str) -> FluidHistory:
        """Return the forces of a fluid on a part.

        Parameters
        ----------
        name : str
            As given to `Model.add_submerged_rod`, `add_submerged_body` or `add_airfoil`, one of `parts_in_fluids`.

        Returns
        -------
        FluidHistory
            Drag, buoyancy, inertia, added mass and angles of attack, with the outputs of the result as first axis.

        Raises
        ------
        UnknownName
            If there is no such part; the message lists the names.
        """
        _check_name("part in a fluid", name, self.parts_in_fluids)
        return FluidHistory(self._source, name)

    @property
    def belts(self) -> list[str]:
        """Names of the belts."""
        return [name for name, other in self.description.get("others", {}).items() if other["kind"] == BELT]

    def belt(self, name: str) -> BeltHistory:
        """Return the history of a belt.

        Parameters
        ----------
        name : str
            As given to `Model.add_belt`, one of `belts`.

        Returns
        -------
        BeltHistory
            Elongations and tensions of its spans, with the outputs of the result as first axis.

        Raises
        ------
        UnknownName
            If there is no such belt; the message lists the names.
        """
        _check_name("belt", name, self.belts)
        return BeltHistory(self._source, name)

    @property
    def contacts(self) -> list[str]:
        """Names of the contacts."""
        return contact_names(self._source)

    @property
    def tight_bends(self) -> tuple[TightBend, ...]:
        """Rods with self-contact that were bent tighter than their radius, where self-penetration may go undetected."""
        return tuple(tight_bends(self._source))

    def contact(self, name: str) -> ContactHistory:
        """Return the history of one contact.

        Parameters
        ----------
        name : str
            As given to `Model.add_contact`, one of `contacts`.

        Returns
        -------
        ContactHistory
            Gaps, forces, slip and energy, with the outputs as first axis.

        Raises
        ------
        UnknownName
            If there is no such contact; the message lists the names.
        """
        if name not in self.contacts:
            names = ", ".join(f"'{known}'" for known in self.contacts)
            raise UnknownName(
                f"no contact '{name}'; " + (f"the contacts are {names}" if names else "there are none")
            )
        if name not in self._contacts:
            self._contacts[name] = ContactHistory(self._source, name)
        return self._contacts[name]

    def distance(self, a: str, b: str) -> Floats:
        """Compute the distance between two surfaces or points at all outputs.

        Rods are treated as round about the chords between their nodes, with the radius of their sections.

        Parameters
        ----------
        a, b : str
            Name of a sphere, plane or rod; name of a body, which stands for its reference point; or a point: `NAME@X,Y,Z` on a
            body (m, body axes), `NAME@0.3` on a rod (fraction of its length).

        Returns
        -------
        ndarray (T,)
            Distance, m; negative if one is inside the other.

        Raises
        ------
        UnknownName
            If there is no such surface, rod or body; the message lists the names.
        ResultError
            If a text is not a name or a point, or there is no distance between these two.
        """
        return Distance(self.layout, a, b).of(self.states(slice(0, self.n_outputs)))

    def state(self, index: int = -1) -> State:
        """Return the full state at one output, bitwise as it was computed.

        Parameters
        ----------
        index : int, default -1
            Number of the output; a negative one counts from the end.

        Returns
        -------
        State
            State of n frames: `r` (n, 3) m, unit quaternions `quat` (n, 4), `v` (n, 3) m/s, `Omega` (n, 3) rad/s in body axes.
            Further fields hold the data that a run needs to resume.

        Raises
        ------
        IndexError
            If there is no such output.
        ResultError
            If `index` is not an integer.
        """
        i = self.index(index)
        return stored_states.read(self._source, i)

    def states(self, outputs: slice) -> State:
        """Return the full states at several outputs.

        Parameters
        ----------
        outputs : slice
            The outputs [start, stop).

        Returns
        -------
        State
            The fields of `state`, with the output as first axis.
        """
        return stored_states.read(self._source, outputs)

    def element_values(self, name: str, outputs: slice) -> Floats:
        """Return strains or stresses of all rod elements at several outputs.

        Parameters
        ----------
        name : {"strains", "stresses"}
            Strains (Gamma, K), 1 and 1/m, or stresses (N, M), N and N m.
        outputs : slice
            The outputs [start, stop).

        Returns
        -------
        ndarray (T, n_elements, 6)
            Values of T outputs, in section axes.
        """
        return self._source.read(name, outputs)

    def picture_array(self, name: str, outputs: slice, shape: tuple[int, ...]) -> NDArray[Any] | None:
        """Return an array that the file stores for drawing.

        Parameters
        ----------
        name : str
            Name of the dataset in the group VTKHDF of the file.
        outputs : slice
            The outputs [start, stop).
        shape : tuple of int
            Expected shape of one output.

        Returns
        -------
        ndarray (T, *shape) or None
            The values of T outputs; None if the result is in memory, or nothing is stored under this name.

        Raises
        ------
        ResultError
            If the file cannot be read, or the dataset has another shape.
        """
        return self._source.picture_array(name, outputs, shape)

    def keep_open(self) -> AbstractContextManager[Any]:
        """Keep the file open for all reads in a `with` block.

        Use it as `with result.keep_open():`. Outputs that are added to the file meanwhile are not visible.

        Returns
        -------
        context manager
            Does nothing if the result is in memory.
        """
        return self._source.keep_open()

    def find_damage(self, outputs: slice | None = None) -> list[Changed] | None:
        """Compare the file with the checksums that were written with it.

        Parameters
        ----------
        outputs : slice, optional
            The outputs [start, stop) to check; by default all. The model is always checked.

        Returns
        -------
        list of Changed or None
            Parts of the file that have changed since they were written; empty if the file is intact. None if the result is in
            memory, or its file was written by an older version without checksums.
        """
        return self._source.find_damage(slice(0, self.n_outputs) if outputs is None else outputs)

    def strains(self, index: int = -1) -> Floats:
        """Return the strains of all rod elements at one output.

        Parameters
        ----------
        index : int, default -1
            Number of the output; a negative one counts from the end.

        Returns
        -------
        ndarray (n_elements, 6)
            (Gamma, K) in section axes, 1 and 1/m.

        Raises
        ------
        IndexError
            If there is no such output.
        """
        return self._source.read("strains", self.index(index))

    def stresses(self, index: int = -1) -> Floats:
        """Return the stresses of all rod elements at one output.

        Parameters
        ----------
        index : int, default -1
            Number of the output; a negative one counts from the end.

        Returns
        -------
        ndarray (n_elements, 6)
            (N, M) in section axes, N and N m.

        Raises
        ------
        IndexError
            If there is no such output.
        """
        return self._source.read("stresses", self.index(index))

    def index(self, index: int) -> int:
        """Return the number of an output counted from the start.

        Parameters
        ----------
        index : int
            Number of the output; a negative one counts from the end.

        Returns
        -------
        int
            From 0 to `n_outputs` - 1.

        Raises
        ------
        IndexError
            If there is no such output; the message says how many there are.
        ResultError
            If `index` is not an integer.
        """
        if not isinstance(index, int | np.integer):
            raise ResultError(
                f"result '{self.layout.name}': {shown(index)} is not the number of an output. Use states(slice(...)) for several."
            )
        if not -self.n_outputs <= index < self.n_outputs:
            raise IndexError(f"output {index} of a result with {self.n_outputs} outputs")
        return index % self.n_outputs

    def index_at(self, t: float) -> int:
        """Return the number of the output nearest to a time.

        Parameters
        ----------
        t : float
            Time, s.

        Returns
        -------
        int
            From 0 to `n_outputs` - 1.

        Raises
        ------
        ResultError
            If the result holds no output.
        ModelError
            If `t` is not a finite number.
        """
        time = number("result", "t", t)
        if self.n_outputs == 0:
            raise ResultError(f"t = {time:g} s: the result holds no output; run the simulation first")
        gaps = np.abs(self.t - time)
        return int(
            np.argmin(np.where(np.isnan(gaps), np.inf, gaps))
        )  # a damaged time (nan) is never the nearest

    @property
    def t(self) -> Floats:
        """(T,) times of the outputs, s."""
        return self._source.read(native_format.TIME)

    @property
    def step(self) -> Ints:
        """(T,) number of steps since t = 0."""
        return self._source.read(native_format.STEP)

    @property
    def energy(self) -> NDArray[Any]:
        """(T,) energies, J: a structured array with the fields kinetic, elastic, gravity, spring, total."""
        energy = np.empty(self.n_outputs, dtype=[(name, np.float64) for name in ENERGIES])
        for name in ENERGIES:
            energy[name] = self.audit_column(name)
        return energy

    @property
    def steps(self) -> StepHistory | None:
        """(T,) history of adaptive steps: number, smallest, largest, estimated error and its growth; None with fixed dt."""
        if not self.layout.n_control:
            return None
        control = self._source.read("control")
        number, smallest, largest, error = (control[:, k].copy() for k in (STEPS, SMALLEST, LARGEST, ERROR))
        growth: Floats = np.ones(len(error))
        if self.layout.n_control > N_CONTROL:
            growth = np.maximum(error / np.maximum(control[:, SUM], 10.0 * NOISE), 1.0)
        tolerance = float(self.description.get("run", {}).get("error", 0.0))
        return StepHistory(number.astype(np.int64), smallest, largest, error, growth, tolerance)

    @property
    def work(self) -> Floats:
        """(T,) work done by loads and drives since t = 0, J."""
        return self.audit_column("work")

    @property
    def drives(self) -> list[str]:
        """Names of all prescribed motions: drives of joints, driven frames."""
        return list(self.layout.drives)

    def drive_work(self, name: str | None = None) -> Floats:
        """Return the work done by drives since t = 0; it is part of `work`.

        Parameters
        ----------
        name : str, optional
            Name of a drive, one of `drives`; by default the sum of all.

        Returns
        -------
        ndarray (T,)
            Work, J; zero if the model has no drive.

        Raises
        ------
        UnknownName
            If there is no such drive; the message lists the names.
        """
        names = self.layout.drives
        if name is not None and name not in names:
            raise UnknownName(f"no drive '{name}'; there are {', '.join(names) or 'none'}")
        if not names:
            return np.zeros(self.n_outputs)
        work = self.layout.internal.part(self._source.read("own"), "drive")[..., WORK]
        return work.sum(axis=1) if name is None else work[:, names.index(name)]

    @property
    def dissipation(self) -> Floats:
        """(T,) energy dissipated by dampers and viscous rods since t = 0, J."""
        return self.audit_column("dissipation")

    @property
    def algorithmic(self) -> Floats:
        """(T,) energy removed by the integrator since t = 0, J; zero for all integrators except `em-d`.

        It is the sum of the energy that the integrator has dissipated and the small energy stored in its history variables.
        """
        return self._numerical_energies().sum(axis=1)

    @property
    def algorithmic_dissipation(self) -> Floats:
        """(T,) energy dissipated by the integrator since t = 0, J: the part of `algorithmic` that never decreases."""
        return self._numerical_energies()[:, 1]

    def _numerical_energies(self) -> Floats:
        """Return the energy in the integrator's history variables and the energy it has dissipated (T, 2), J."""
        return self._source.read("algorithmic") if self.layout.n_memory else np.zeros((self.n_outputs, 2))

    @property
    def linear_momentum(self) -> Floats:
        """(T, 3) linear momentum, kg m/s."""
        return self._momentum(LINEAR_MOMENTUM)

    @property
    def angular_momentum(self) -> Floats:
        """(T, 3) angular momentum about the origin, kg m^2/s.

        For integrators in a chart it is formed from the momenta of the integrator, which conserves it.
        """
        return self._momentum(ANGULAR_MOMENTUM)

    def _momentum(self, names: tuple[str, ...]) -> Floats:
        chart_based = self._chart_momenta
        return np.stack(
            [chart_based[name] if name in chart_based else self.audit_column(name) for name in names], axis=1
        )

    @cached_property
    def _chart_momenta(self) -> dict[str, Floats]:
        """Columns formed from the momenta of an integrator in a chart; {} for other integrators.

        The audit table holds the momenta formed from the velocities of the frames.
        """
        if not self.layout.n_chart or self.n_outputs == 0:
            return {}
        from rodsim.results.chart_invariants import ChartReader

        try:
            return ChartReader(self).read(self.states(slice(0, self.n_outputs))).columns
        except ModelError:  # an older file without its system
            return {}

    @property
    def constraint_residual(self) -> Floats:
        """(T,) largest position residual max |g| of all joints."""
        return self.audit_column("constraint")

    @property
    def velocity_residual(self) -> Floats:
        """(T,) largest velocity residual max |G v| of all joints."""
        return self.audit_column("velocity_constraint")

    @property
    def ended_by(self) -> tuple[Event | str, ...]:
        """Events of `simulate` that ended the run, and names of events of the model; empty if the run reached its `t_end`."""
        from rodsim.results.events import Watch, event_from

        if self.n_outputs == 0:
            return ()
        entries, stops = self.description.get("run", {}).get("events", ()), self.description.get("events", {})
        t = float(stop_times(self.layout, self.state().internal[None])[0])
        names = [name for name, event in stops.items() if event["stop"] and self.event(name).time[-1] == t]
        events = [event_from(entry) for entry in entries]
        return (*(Watch(events, self.layout).holding(self.state()) if events else ()), *names)

    @property
    def quat_norm_error(self) -> Floats:
        """(T,) largest quaternion error max ||q| - 1| of all frames."""
        return self.audit_column("quat_norm")

    @property
    def newton_iterations(self) -> Floats:
        """(T,) mean number of Newton iterations per step since the previous output."""
        return self.audit_column("newton_mean")

    @property
    def halvings(self) -> Floats:
        """(T,) number of step halvings since the previous output."""
        return self.audit_column("halvings")

    def audit_column(self, name: str) -> Floats:
        """Return a column of the audit table, or the column "algorithmic".

        Parameters
        ----------
        name : str
            "kinetic", "elastic", "gravity", "spring", "total", "work", "dissipation", "Px", "Py", "Pz", "Lx", "Ly", "Lz",
            "constraint", "velocity_constraint", "quat_norm", "newton_mean", "newton_max", "halvings" or "algorithmic"; see
            `rodsim.results.audit_columns`.

        Returns
        -------
        ndarray (T,)
            Energies and work in J, linear momentum in kg m/s, angular momentum in kg m^2/s.

        Raises
        ------
        UnknownName
            If there is no such column; the message lists the names.
        """
        if name == ALGORITHMIC:
            return self.algorithmic
        if name not in COLUMNS:
            raise UnknownName(f"no audit column '{name}'; there are {', '.join(COLUMNS)}")
        if self._audit is None:
            self._audit = self._source.read(native_format.AUDIT)
        return self._audit[:, COLUMNS.index(name)]

    def to_xarray(self, parts: Collection[str] | None = None) -> Any:
        """Return the result as an in-memory dataset of xarray.

        Every array has named dimensions, a unit and a description, see `rodsim.results.dataset`.

        Parameters
        ----------
        parts : collection of str, optional
            Names of the rods, bodies, joints, contacts, sensors and controllers to include; by default all. Arrays of the whole
            model are always included.

        Returns
        -------
        xarray.Dataset
            Arrays with named dimensions; "t" is the dimension of the outputs.

        Raises
        ------
        MissingExtra
            If xarray is not installed (`pip install 'rodsim[notebook]'`).
        UnknownName
            If there is no such part; the message lists the names.
        """
        from rodsim.results.dataset import dataset

        return dataset(self._source, parts, (self.linear_momentum, self.angular_momentum))

    def animate(self, frames: int = 100, height: int = 600) -> Any:
        """Return the motion as a plotly figure that can be rotated, with a play button and a slider.

        A notebook shows the figure if it is the last line of a cell. If plotly figures cannot be shown, as on web sites that
        display notebooks, a still picture is shown instead.

        Parameters
        ----------
        frames : int, default 100
            Largest number of outputs shown, chosen evenly; at most 2000.
        height : int, default 600
            Height in pixels, from 100 to 10000.

        Returns
        -------
        plotly.graph_objects.Figure
            The figure.

        Raises
        ------
        MissingExtra
            If plotly is not installed (`pip install 'rodsim[notebook]'`).
        ResultError
            If the result holds no output, or nothing to draw.
        ModelError
            If an argument is out of its range.
        """
        from rodsim.results.animation import figure

        return figure(self, frames, height)

    def audit(self) -> Audit:
        """Audit the result, see `rodsim.audit`.

        Returns
        -------
        Audit
            `ok` is True if all invariants that the integrator guarantees were conserved; `text` lists the findings.

        Raises
        ------
        ResultError
            If the result holds no output.
        """
        from rodsim.results.audit import audit

        return audit(self)

    def local_audit(self) -> LocalAudit:
        """Measure the residuals of the local balance laws of the rods, see `rodsim.local_audit`.

        Returns
        -------
        LocalAudit
            Size and location of the largest residual, for each rod and each law.

        Raises
        ------
        ResultError
            If there is nothing to measure: no rod with three nodes, only one output, or an older file without masses.
        """
        from rodsim.results.local_audit import local_audit

        return local_audit(self)

    def plot(
        self, kind: str = "overview", path: Path | str | None = None, points: Sequence[str] | None = None
    ) -> Figure:
        """Draw one kind of plot, or the overview of all, see `rodsim.plot`.

        Parameters
        ----------
        kind : str, default "overview"
            "overview", "energy", "balance", "momentum", "residuals", "newton", "contacts", "sensors", "controllers", "path",
            "distance" or, for equilibria, "load".
        path : Path or str, optional
            File to write, .png, .pdf or .svg. By default none is written.
        points : sequence of str, optional
            For "path": names of bodies, or rods as "name" (both ends) or "name:node"; by default all bodies and rods. For
            "distance": two surfaces or points as in `Result.distance`, or several pairs one after the other.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which can be changed further.

        Raises
        ------
        ResultError
            If the kind, a point or the ending of `path` is unknown, or the result holds no output.
        """
        from rodsim.results.plot import plot

        return plot(self, kind, path, points)

    def render(
        self,
        path: Path | str | None = None,
        times: float | Sequence[float] | None = None,
        *,
        size: tuple[int, int] = (1600, 1000),
        view: ArrayLike | str | None = None,
        up: ArrayLike | None = None,
        ground: bool = False,
        labels: bool = True,
        engine: Literal["auto", "opengl", "matplotlib", "painter"] = "auto",
        color: str | None = None,
    ) -> Picture:
        """Make a still picture, see `rodsim.render`.

        Parameters
        ----------
        path : Path or str, optional
            File to write, .png. By default none is written.
        times : float or sequence of float, optional
            One time (s) or several, drawn over each other, earlier ones paler. For equilibria these are load factors, or
            lengths of the path. By default times are spaced evenly over the run.
        size : pair of int, default (1600, 1000)
            Width and height in pixels.
        view : (3,) array or str, optional
            Viewpoint: a direction, or "iso", "front", "side", "top" or "azimuth/elevation" in degrees. By default the direction
            from which most is seen.
        up : (3,) array, optional
            The direction that is up in the picture. By default opposite to gravity, or z without gravity.
        ground : bool, default False
            Draw a grid below everything.
        labels : bool, default True
            Write names, times, the colour bar, axes and a scale (valid in the middle of the scene).
        engine : {"auto", "opengl", "matplotlib"}, default "auto"
            "opengl" draws with VTK, "matplotlib" more plainly and without OpenGL; "auto" takes VTK if it can draw here. "painter"
            is the former name of "matplotlib".
        color : str, optional
            Quantity to colour by, with a colour bar: "speed", or for rods "strain", "curvature", "force", "moment" or a
            component such as "K2" or "N1". By default each family of names has its own colour.

        Returns
        -------
        (height, width, 3) array of uint8
            The picture.

        Raises
        ------
        ResultError
            If there is nothing to draw, a time is outside of the run, or the ending of `path`, engine, view or quantity is
            unknown.
        ModelError
            If another argument is invalid.
        NoOpenGL
            If engine is "opengl" and VTK cannot draw; the message says how to install it.
        """
        from rodsim.results.render import render

        return render(
            self,
            path,
            times,
            size=size,
            view=view,
            up=up,
            ground=ground,
            labels=labels,
            engine=engine,
            color=color,
        )

    def render_movie(
        self,
        path: Path | str,
        *,
        speed: float = 1.0,
        fps: int = 25,
        size: tuple[int, int] = (1280, 720),
        view: ArrayLike | str | None = None,
        up: ArrayLike | None = None,
        ground: bool = False,
        labels: bool = True,
        engine: Literal["auto", "opengl", "matplotlib", "painter"] = "auto",
        color: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Make a movie, see `rodsim.render_movie`.

        Parameters
        ----------
        path : Path or str
            File to write, .mp4 or .gif.
        speed : float, default 1.0
            Seconds of the run shown per second; between outputs the motion is interpolated.
        fps : int, default 25
            Pictures per second.
        size : pair of int, default (1280, 720)
            Width and height in pixels.
        view : (3,) array or str, optional
            Viewpoint: a direction, or "iso", "front", "side", "top" or "azimuth/elevation" in degrees. By default the direction
            from which most is seen.
        up : (3,) array, optional
            The direction that is up in the picture. By default opposite to gravity, or z without gravity.
        ground : bool, default False
            Draw a grid below everything.
        labels : bool, default True
            Write names, times, the colour bar, axes and a scale (valid in the middle of the scene).
        engine : {"auto", "opengl", "matplotlib"}, default "auto"
            "opengl" draws with VTK, "matplotlib" more plainly and without OpenGL; "auto" takes VTK if it can draw here. "painter"
            is the former name of "matplotlib".
        color : str, optional
            Quantity to colour by, with a colour bar: "speed", or for rods "strain", "curvature", "force", "moment" or a
            component such as "K2" or "N1". By default each family of names has its own colour.
        progress : callable, optional
            Called with (frames done, total number of frames).

        Returns
        -------
        int
            The number of frames.

        Raises
        ------
        ResultError
            If there is nothing to draw or too many frames, or the ending of `path`, engine, view or quantity is unknown.
        ModelError
            If another argument is invalid.
        NoOpenGL
            If engine is "opengl" and VTK cannot draw; the message says how to install it.
        """
        from rodsim.results.render import render_movie

        return render_movie(
            self,
            path,
            speed=speed,
            fps=fps,
            size=size,
            view=view,
            up=up,
            ground=ground,
            labels=labels,
            engine=engine,
            color=color,
            progress=progress,
        )

    def export(
        self,
        path: Path | str,
        format: str | None = None,
        every: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Path]:
        """Write outputs in another format, see `rodsim.export`.

        Parameters
        ----------
        path : Path or str
            The .pvd or .xdmf file; files of single outputs are written to a folder of that name next to it.
        format : {"pvd", "vtu", "xdmf"}, optional
            File format. By default it follows from the ending of `path`.
        every : int, default 1
            Write every `every`-th output, and the last.
        progress : callable, optional
            Called with (outputs done, total number of outputs).

        Returns
        -------
        list of Path
            The files written, `path` first.

        Raises
        ------
        ModelError, ResultError
            If the format is unknown, the result holds no output, or there is nothing to draw.
        FileNotFoundError
            If the folder of `path` does not exist.
        """
        from rodsim.results.export import export

        return export(self, path, format, every, progress)

    def report(self, path: Path | str) -> Path:
        """Write a self-contained HTML page about the result, which needs no network, see `rodsim.report`.

        Parameters
        ----------
        path : Path or str
            File to write, .html.

        Returns
        -------
        Path
            Path of the page.

        Raises
        ------
        ResultError
            If the result holds no output, the path does not end in .html, or plotly is missing.
        OSError
            If the page cannot be written.
        """
        return Path(_page.report(self, path))

    def view(self, color: str | None = None, camera: ArrayLike | str | None = None) -> None:
        """Show the result in a window until it is closed, see `rodsim.view`.

        Parameters
        ----------
        color : str, optional
            Quantity to colour by, see `color` of `render`.
        camera : (3,) array or str, optional
            Viewpoint, see `view` of `render`.

        Raises
        ------
        NoOpenGL
            If no window can be opened on this machine; the message says how to fix it.
        ResultError
            If the colour or view is unknown, or there is nothing to draw.
        """
        from rodsim.results.viewer import view

        view(self, color, camera)

    def _repr_html_(self) -> str:
        """Return an HTML summary for notebooks."""
        from rodsim.results.html import result_html

        return result_html(self._source, type(self).__name__)

    def _find(self, kind: str, name: str, items: list[Any]) -> Any:
        """Return the part called `name`; raise UnknownName, with the names of all parts of this kind, if there is none."""
        for item in items:
            if item.name == name:
                return item
        names = ", ".join(f"'{item.name}'" for item in items)
        plural = {"rod": "rods", "body": "bodies", "joint": "joints"}[kind]
        raise UnknownName(
            f"no {kind} '{name}'; " + (f"the {plural} are {names}" if names else f"there are no {plural}")
        )


ResultLike = Result | Path | str


def opened(owner: str, result: ResultLike) -> Result:
    """Return `result`, loaded if it is the path of a file; raise ResultError unless it is a result with outputs.

    `owner`: name of the function for the message.
    """
    if isinstance(result, str | Path):
        result = Result.load(result)
    check_result(owner, result)
    return result


def check_result(owner: str, result: object) -> None:
    """Raise ResultError unless `result` is a Result and holds an output; `owner`: name of the function for the message."""
    if not isinstance(result, Result):
        raise ResultError(
            f"{owner}: expected a result or the path of a result file, got {shown(result)}. Give what `simulate` or "
            "`Result.load` returns, or a path."
        )
    if result.n_outputs < 1:
        raise ResultError(f"{owner}: the result holds no output. Run the simulation first.")
