"""Tolerances in the report: both estimates of every measure, contributions ranked, the share outside the limits, and the drawn designs."""

from __future__ import annotations

from typing import Any

from linkwright.api import UsageError, counted
from linkwright.rings.design.studies.tolerances import ToleranceAnalysis
from linkwright.rings.studio.report_parts import figure, note, pair, paragraph, part, shown
from linkwright.rings.studio.study_plots import plot


def check(given: Any) -> None:
    """Raise UsageError unless this is an analysis of tolerances."""
    if not isinstance(given, ToleranceAnalysis):
        raise UsageError(f"tolerances are what m.tolerances(...) gives, not {type(given).__name__}.", value=given)


def section(t: ToleranceAnalysis) -> str:
    """The part of the report about tolerances."""
    out = []
    for k, r in enumerate(t.results):
        unit, size = r.shown
        limits = {r.measure: r.limits} if r.limits != (None, None) else None
        drawn = plot(t.study, "histogram", measures=[r.measure], limits=limits, size=(3.6, 2.6))
        out.append(paragraph(f"{r.measure}: {r.nominal / size:.6g} {unit} with the values of the file."))
        both = shown(r.estimates()) + shown(r.effects())
        verdict = r.verdict(t.rows)
        caption = counted(len(t.study), "drawn design", spec=",") + (f"; {verdict}" if verdict else "")
        out.append(pair(both, figure(drawn, f"rp-tolerance-{k}", f"distribution of {r.measure}", caption)))
    how = "exact derivatives" if t.exact else "differences"
    said = f"From and to are three standard deviations of the linear estimate ({how}), and as rare quantiles of the drawn designs."
    return part("Tolerances", *out, note(said), *(note(x) for x in t.notes))
