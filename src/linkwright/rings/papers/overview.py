"""A folder with the papers' figures drawn again, and a page that shows every item with its verdict.

Files are `<paper>-<place>.png` and `index.html`; the page needs nothing but the pictures beside it.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from linkwright.api import LinkwrightError, Table, UsageError, files
from linkwright.rings.papers import VERDICTS, Item, Reproduced

INDEX = "index.html"
_LOOK = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #22303c; background: #fff }
article { border-top: 1px solid #d5dbe1; padding: .6rem 0 } h2 { margin-top: 2.2rem } h3 { font-size: 1rem; margin: .2rem 0 }
h4 { font-size: .93rem; font-weight: 600; margin: .5rem 0 0 }
dl { display: grid; grid-template-columns: 6.5rem 1fr; gap: .1rem .8rem; margin: .3rem 0 } dt { color: #5c6b79 } dd { margin: 0 }
.agrees { color: #1d6f53 } .differs { color: #b03a17 } .undecided { color: #7a6410 } img { max-width: 100%; margin-top: .4rem }
"""


class Folder:
    """Folder of pictures and page. With `force` also files that Linkwright did not make are overwritten."""

    def __init__(self, path: str | Path, keys: Sequence[str], *, force: bool = False) -> None:
        self.path = Path(path)
        if not str(path).strip() or (self.path.exists() and not self.path.is_dir()):
            raise UsageError(
                f"'{path}' is not a folder. Give the name of a folder for the pictures. It is made if it does not exist.", name=path
            )
        old = [INDEX, *(f"{key}-*.png" for key in keys)] if self.path.is_dir() and not force else []
        for there in (p for pattern in old for p in sorted(self.path.glob(pattern))):
            files.guarded(there, (there.suffix,), force=force)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise LinkwrightError(
                f"cannot make the folder '{path}': {problem.strerror or problem}. Choose another place.", name=path
            ) from problem

    def picture(self, key: str, item: Item) -> Path | None:
        """The item's figure, if it has one."""
        name = item.figure_name(key)
        if name is None or item.figure is None:
            return None
        place = files.checked(self.path / name, files.PICTURES)
        item.figure(place)
        return place

    def index(self, found: Iterable[Reproduced]) -> Path:
        """The page, once all items are there."""
        return files.write_text(self.path / INDEX, files.PAGES, page(list(found)))


def counted(found: Iterable[Reproduced]) -> str:
    """`104 items: 88 agree, 5 undecided, 11 differ`."""
    tally = Counter(row.verdict for row in found)
    verbs = {"agrees": "agree", "differs": "differ"}
    return f"{sum(tally.values())} items: " + ", ".join(f"{tally[v]} {verbs.get(v, v)}" for v in VERDICTS if tally[v])


def counts(found: Sequence[Reproduced]) -> str:
    """Items by paper and verdict as a table, and their sum."""
    keys = list(dict.fromkeys(row.paper for row in found))
    tally = Counter((row.paper, row.verdict) for row in found)
    rows = [(key, *(tally[key, v] for v in VERDICTS)) for key in keys]
    return "\n".join(([Table.of(["paper", *VERDICTS], rows).text(), ""] if len(keys) > 1 else []) + [counted(found)])


def measured(item: Item | None) -> str:
    """The deviation, what it is measured from and what is allowed; "" where the verdict rests on none."""
    if item is None or item.deviation is None:
        return ""
    origin = f" from {item.reference}" if item.reference else ""
    return f"{item.deviation:.1e}{origin}" + (f", allowed {item.tolerance:.0e}" if item.tolerance is not None else "")


def page(found: Sequence[Reproduced]) -> str:
    """All items as HTML, paper by paper."""
    title = "The papers, computed again"
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{files.GENERATOR}<title>{title}</title>',
        f"<style>{_LOOK}</style></head><body>",
        f"<h1>{title}</h1>\n<p>{html.escape(counted(found))}. Figures are drawn from what is computed here.</p>",
    ]
    for key in dict.fromkeys(row.paper for row in found):
        parts.append(f"<h2>{html.escape(key)}</h2>")
        shown: set[str] = set()
        parts += [_article(row, shown) for row in found if row.paper == key]
    return "\n".join([*parts, "</body></html>", ""])


def _article(row: Reproduced, shown: set[str]) -> str:
    head = f'<span class="{row.verdict}">{row.verdict}</span> {row.number}. {html.escape(row.place)}: {html.escape(row.claim)}'
    facts = _facts({"code": row.entry.code, "computed in": ", ".join(row.computed_in), "note": row.entry.why})
    return f"<article><h3>{head}</h3>{facts}{''.join(_computation(row.paper, item, shown) for item in row.items)}</article>"


def _computation(key: str, item: Item, shown: set[str]) -> str:
    """One computation; its picture where it was not shown before."""
    said = {"printed": item.printed, "computed": item.computed, "deviation": measured(item), "note": item.why}
    head = f'<h4><span class="{item.verdict}">{item.verdict}</span> {html.escape(item.where)}: {html.escape(item.what)}</h4>'
    name = item.figure_name(key)
    if name is None or name in shown:
        return head + _facts(said)
    shown.add(name)
    return head + _facts(said) + f'<img src="{name}" alt="{html.escape(f"{item.where}: {item.what}", quote=True)}">'


def _facts(said: dict[str, str]) -> str:
    rows = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in said.items() if text)
    return f"<dl>{rows}</dl>" if rows else ""
