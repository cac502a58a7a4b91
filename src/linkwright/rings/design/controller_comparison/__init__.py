"""Report of a controlled run, and several controllers side by side on one task.

    print(run.control())
    result = lw.control.compare(s, st, 5, {"two motors": lw.control.projected(...), "one motor": lw.control.projected(...)})
    print(result); result.best("rms"); result.plot("efforts.png")

The numbers are those of `controllers.analysis`; this package runs, gathers and prints them.
"""

from __future__ import annotations

from linkwright.rings.design.controller_comparison.control_report import ControlReport, control_report
from linkwright.rings.design.controller_comparison.table import Comparison, Row, compare

__all__ = ["Comparison", "ControlReport", "Row", "compare", "control_report"]
