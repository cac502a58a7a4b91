"""Writes the tables of docs/explanation/papers.md and of the pages of the papers again: every item, and the errata.

    python docs/make/make_papers.py

Items are computed (two minutes); errata come from src/linkwright/rings/papers/errata.py. The text of the pages is written by hand; the text
between `<!-- table: name -->` and `<!-- end -->` comes from here, and tests compare it with what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from blocks import renewed, table  # beside this file

from linkwright.rings import papers
from linkwright.rings.papers import Reproduced, aghili_passage, errata, overview

DOCS = Path(__file__).resolve().parents[1]
PAGES = (
    DOCS / "explanation" / "papers.md",
    *(DOCS.parent / "papers" / key / "README.md" for key in papers.PAPERS),
)


def main() -> None:
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8"), TABLES), encoding="utf-8")
        print(f"{page.parent.name}/{page.name}: {page.stat().st_size / 1000:.0f} KB")


@cache
def reproduced(key: str) -> tuple[Reproduced, ...]:
    return tuple(papers.reproduce(key))


def items(found: Sequence[Reproduced]) -> str:
    """One row for each item of a paper; reasons below, for items that do not agree."""
    rows = [(row.number, plain(row.place), plain(row.claim), row.verdict, deviation(row), modules(row)) for row in found]
    reasons = [f"- {row.number}, {plain(row.place)}: {plain(row.why)}." for row in found if row.why]
    return "\n\n".join(
        [table(("", "place", "item", "verdict", "deviation", "computed in `linkwright.rings.papers`"), rows), "\n".join(reasons)]
    )


def deviation(row: Reproduced) -> str:
    """The decisive deviation and what is allowed."""
    item = row.decisive
    if item is None or item.deviation is None:
        return ""
    return f"{item.deviation:.0e}" + ("" if item.tolerance is None else f", allowed {item.tolerance:.0e}")


def modules(row: Reproduced) -> str:
    return ", ".join(f"`{name}`" for name in row.computed_in)


def plain(text: str) -> str:
    """Text in a Markdown cell as it is."""
    return text.replace("|", "\\|").replace("_", "\\_").replace("*", "\\*")


def misprints(key: str) -> str:
    rows = [tuple(plain(x) for x in (e.place, e.printed, e.correct, e.found)) for e in errata.of_paper(key)]
    return table(("place", "printed", "correct", "how it was found"), rows)


def summary() -> str:
    found = [row for key in papers.PAPERS for row in reproduced(key)]
    rows = []
    for key in papers.PAPERS:
        verdicts = [row.verdict for row in found if row.paper == key]
        page = f"[{key}](../../papers/{key}/README.md)"
        rows.append((page, len(verdicts), *(verdicts.count(v) for v in papers.VERDICTS), len(errata.of_paper(key))))
    return f"{table(('paper', 'items', *papers.VERDICTS, 'errata'), rows)}\n\n{overview.counted(found)}."


TABLES: Mapping[str, Callable[[], str]] = {
    "summary": summary,
    "passages": lambda: f"{aghili_passage.statement()}.",
    **{f"items-{key}": lambda key=key: items(reproduced(key)) for key in papers.PAPERS},
    **{f"errata-{key}": partial(misprints, key) for key in papers.PAPERS},
}

if __name__ == "__main__":
    main()
