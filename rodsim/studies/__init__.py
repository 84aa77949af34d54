"""Parameter studies: run a scene, model or function with many parameter values, on one machine or many; one table of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rodsim.studies.convergence import Convergence as Convergence
    from rodsim.studies.convergence import SchemeChoice as SchemeChoice
    from rodsim.studies.convergence import cheapest_scheme as cheapest_scheme
    from rodsim.studies.convergence import converge as converge
    from rodsim.studies.errors import StudyError as StudyError
    from rodsim.studies.errors import StudyStopped as StudyStopped
    from rodsim.studies.study_results import Sweep as Sweep
    from rodsim.studies.study_runner import sweep as sweep
else:
    from rodsim.lazy_exports import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "rodsim.studies.convergence": "Convergence SchemeChoice cheapest_scheme converge",
            "rodsim.studies.errors": "StudyError StudyStopped",
            "rodsim.studies.study_results": "Sweep",
            "rodsim.studies.study_runner": "sweep",
        },
    )
