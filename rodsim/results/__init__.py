"""Results of a run, on disk or in memory, and the audits, pictures and exported files made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rodsim.results.audit_columns import COLUMNS as COLUMNS
    from rodsim.results.audit_report import Audit as Audit
    from rodsim.results.contact_history import ContactHistory as ContactHistory
    from rodsim.results.errors import NoOpenGL as NoOpenGL
    from rodsim.results.errors import ResultError as ResultError
    from rodsim.results.errors import UnknownName as UnknownName
    from rodsim.results.event_history import EventHistory as EventHistory
    from rodsim.results.fluid_history import FluidHistory as FluidHistory
    from rodsim.results.gear_history import GearHistory as GearHistory
    from rodsim.results.histories import BodyHistory as BodyHistory
    from rodsim.results.histories import RodHistory as RodHistory
    from rodsim.results.interaction_history import InteractionHistory as InteractionHistory
    from rodsim.results.joint_history import JointHistory as JointHistory
    from rodsim.results.layout import JointLayout as JointLayout
    from rodsim.results.layout import Layout as Layout
    from rodsim.results.local_audit import LocalAudit as LocalAudit
    from rodsim.results.result import Result as Result
    from rodsim.results.sensor_history import ControllerHistory as ControllerHistory
    from rodsim.results.sensor_history import SensorHistory as SensorHistory
    from rodsim.results.steady_rotation import SteadyRotation as SteadyRotation
    from rodsim.results.tendon_history import BeltHistory as BeltHistory
    from rodsim.results.tendon_history import ChamberHistory as ChamberHistory
    from rodsim.results.tendon_history import TendonHistory as TendonHistory
    from rodsim.results.writer import MemoryWriter as MemoryWriter
    from rodsim.results.writer import ResultWriter as ResultWriter
    from rodsim.results.writer import recover as recover
else:
    from rodsim.lazy_exports import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "rodsim.results.audit_report": "Audit",
            "rodsim.results.audit_columns": "COLUMNS",
            "rodsim.results.contact_history": "ContactHistory",
            "rodsim.results.errors": "NoOpenGL ResultError UnknownName",
            "rodsim.results.fluid_history": "FluidHistory",
            "rodsim.results.gear_history": "GearHistory",
            "rodsim.results.histories": "BodyHistory RodHistory",
            "rodsim.results.joint_history": "JointHistory",
            "rodsim.results.layout": "JointLayout Layout",
            "rodsim.results.local_audit": "LocalAudit",
            "rodsim.results.result": "Result",
            "rodsim.results.interaction_history": "InteractionHistory",
            "rodsim.results.event_history": "EventHistory",
            "rodsim.results.sensor_history": "ControllerHistory SensorHistory",
            "rodsim.results.steady_rotation": "SteadyRotation",
            "rodsim.results.tendon_history": "BeltHistory ChamberHistory TendonHistory",
            "rodsim.results.writer": "MemoryWriter ResultWriter recover",
        },
        hidden=["COLUMNS", "JointLayout", "Layout", "MemoryWriter", "ResultWriter"],  # private to the package
    )
