"""One page that shows a result: the model, its motion, what was kept, and where the numbers come from.

`page` puts it together; `thinning` says what a page holds of a long result; `motion` and `curves` are what is drawn,
`tables` and `findings` what is written, `markup` and `arrays` how.
"""

from __future__ import annotations

from rodsim.reporting.page import report

__all__ = ["report"]
