"""Report of a result as one web page: the model, its motion, the audit, and the origin of the numbers.

`page` assembles the page; `thinning` selects outputs and nodes of a long result; `motion` and `time_curves` prepare the drawings,
`tables` and `result_sections` the text; `markup` and `embedded_data` write HTML and data.
"""

from __future__ import annotations

from rodsim.reporting.page import report

__all__ = ["report"]
