"""Control laws for `Model.add_controller`, which map measured numbers to outputs."""

from rodsim.components.control_laws import PID, External, Formula, StateFeedback, Table, lqr

__all__ = ["External", "Formula", "PID", "StateFeedback", "Table", "lqr"]  # noqa: RUF022  in the order of `sorted`, as all public modules
