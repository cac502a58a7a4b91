"""Title block of a report: what people write on a drawing so that it can be filed, and the curves they want in it."""

from __future__ import annotations

from dataclasses import dataclass

TEXTS = ("title", "number", "revision", "author", "company", "date")


@dataclass(frozen=True)
class ReportBlock:
    """Texts of a title block, empty where not given, and channels that the report shows as curves. Nothing is filled in by itself."""

    title: str = ""
    number: str = ""  # of the document or drawing
    revision: str = ""
    author: str = ""
    company: str = ""
    date: str = ""
    curves: tuple[str, ...] = ()
