"""The page of a study: one HTML file that needs nothing from outside.

Of a grid: sliders over its axes that choose a design, its measures, their curves along the slider that moves, and a map of two axes. Of
other plans: designs as points over two columns, with the numbers of the one under the pointer. Above MOST_DESIGNS a page holds some of
them: of a grid fewer values of its longest axes, so that it remains a grid; else a sample. The page says so. All sentences on it are
computed there from what it holds.
"""

from __future__ import annotations

import html
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import files
from linkwright.rings.design.studies.study import Study
from linkwright.rings.studio import live
from linkwright.rings.studio.study_columns import StudyColumn, StudyTable, table
from linkwright.rings.studio.style import RAMP

MOST_DESIGNS = 20_000
# with the page of a mechanism
SHARED = (live.FIRST, "base/dom.js", "base/format.js", "engine/extremes.js", "plots/scale.js", "plots/plots.js", "plots/tools.js")
OWN = tuple(f"study/{name}.js" for name in ("columns", "axes", "values", "curves", "map", "grid", "points", "main"))


def write(study: Study, path: str | os.PathLike[str]) -> Path:
    """Write the page of a study."""
    files.checked(path, files.PAGES)
    return files.write_text(path, files.PAGES, text(study))


def text(study: Study) -> str:
    """Return the page of a study."""
    return filled(contents(study), str(study.manifest["name"]), "study")


def filled(data: dict[str, Any], title: str, kind: str) -> str:
    """Return the page with these contents."""
    scripts = [f"var STUDY={live.json_text(data)};", *(live.short(live.asset(name)) for name in SHARED + OWN)]
    return live.filled(
        "study/page.html",
        title=html.escape(title),
        kind=kind,
        style=live.styles("panels/panels.css", "shell/page.css", "study/study.css"),
        scripts="\n".join(live.script_element(s) for s in scripts),
    )


def contents(study: Study, most: int = MOST_DESIGNS) -> dict[str, Any]:
    """Return what the page shows: designs with their numbers, measures, and reasons of designs that failed or are unknown."""
    data = table(study)
    why, unknown = study.why, study.unknown
    at, axes = (
        _cells(data, most) if data.kind == "grid" else _points(data, most)
    )  # rows of the table, -1 where a cell of the grid is not computed
    there = np.maximum(at, 0)
    rows = np.where(at >= 0, data.rows[there], -1)
    reasons, open_ = ({k: texts[int(row)] for k, row in enumerate(rows) if int(row) in texts} for texts in (why, unknown))
    listed = list(dict.fromkeys([*reasons.values(), *open_.values()]))
    return {
        "name": study.manifest["name"],
        "plan": data.kind,
        "total": study.total,
        "done": len(data.rows),
        "rows": rows.tolist(),
        "axes": axes,
        "variables": [] if axes else [_column(v, v.values[there], at) for v in data.variables],
        "measures": [_column(c, c.values[there], at) for c in data.measures],
        "reasons": listed,
        "failed": {str(k): listed.index(text) for k, text in reasons.items()},
        "unknown": {str(k): listed.index(text) for k, text in open_.items()},
        "notChecked": list(study.not_checked),
        "ramp": list(RAMP),
    }


def _column(c: StudyColumn, values: np.ndarray, at: np.ndarray) -> dict[str, Any]:
    rounded = rounded_values(np.where(at >= 0, values, np.nan))
    return {"name": c.name, "symbol": c.symbol, "values": [x if math.isfinite(x) else None for x in rounded]}


def rounded_values(values: np.ndarray) -> list[float]:
    """Numbers with as many decimals as the span of their column needs."""
    known = values[np.isfinite(values)]
    if not len(known):
        return values.tolist()
    span = float(np.ptp(known)) or float(np.abs(known).max()) or 1.0
    steps = 1e6  # of the span of a column: numbers in a page are rounded to one of them
    decimals = int(np.clip(np.ceil(-np.log10(span / steps)), -300, 300))
    return [round(x, decimals) if np.isfinite(x) else x for x in values.tolist()]


def _cells(data: StudyTable, most: int) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """Cells of the grid, the last axis fastest, and its axes; fewer values of the longest axes where there are too many."""
    levels = [np.unique(v.values) for v in data.variables]
    lengths = [len(x) for x in levels]
    while np.prod(lengths, dtype=float) > most:
        longest = int(np.argmax(lengths))
        lengths[longest] = max(1, min(lengths[longest] - 1, int(0.95 * lengths[longest])))
    chosen = [x[np.unique(np.round(np.linspace(0, len(x) - 1, n)).astype(int))] for x, n in zip(levels, lengths, strict=True)]
    place, inside = np.zeros(len(data.rows), dtype=np.int64), np.ones(len(data.rows), dtype=bool)
    for v, x in zip(data.variables, chosen, strict=True):
        k = np.minimum(np.searchsorted(x, v.values), len(x) - 1)
        inside &= x[k] == v.values
        place = place * len(x) + k
    cells = np.full(int(np.prod([len(x) for x in chosen])), -1, dtype=np.int64)
    cells[place[inside]] = np.flatnonzero(inside)
    axes = [
        {"name": v.name, "symbol": v.symbol, "values": rounded_values(x), "of": len(full)}
        for v, x, full in zip(data.variables, chosen, levels, strict=True)
    ]
    return cells, axes


def _points(data: StudyTable, most: int) -> tuple[np.ndarray, list[dict[str, Any]]]:
    n = len(data.rows)
    return (np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))), []
