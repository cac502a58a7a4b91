"""A folder with the papers' figures drawn again, and a page that shows every item with its verdict.

Files are `<paper>-<place>.png` and `index.html`; the page needs nothing but the pictures beside it.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from linkwright import files
from linkwright.errors import LinkwrightError, UsageError
from linkwright.papers import VERDICTS, Item

INDEX = "index.html"
_LOOK = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #22303c; background: #fff }
article { border-top: 1px solid #d5dbe1; padding: .6rem 0 } h2 { margin-top: 2.2rem } h3 { font-size: 1rem; margin: .2rem 0 }
dl { display: grid; grid-template-columns: 6.5rem 1fr; gap: .1rem .8rem; margin: .3rem 0 } dt { color: #5c6b79 } dd { margin: 0 }
.agrees { color: #1d6f53 } .differs { color: #b03a17 } .undecided { color: #7a6410 } img { max-width: 100%; margin-top: .4rem }
"""


class Folder:
    """Folder of pictures and page. With `force` also files that Linkwright did not make are overwritten."""

    def __init__(self, path: str | Path, keys: Sequence[str], *, force: bool = False) -> None:
        self.path = Path(path)
        if not str(path).strip() or (self.path.exists() and not self.path.is_dir()):
            raise UsageError(f"'{path}' is not a folder; give the name of one for the pictures, which is made if it does not exist.")
        old = [INDEX, *(f"{key}-*.png" for key in keys)] if self.path.is_dir() and not force else []
        for there in (p for pattern in old for p in sorted(self.path.glob(pattern))):
            files.guarded(there, (there.suffix,), force=force)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise LinkwrightError(f"cannot make the folder '{path}': {problem.strerror or problem}. Choose another place.") from problem

    def picture(self, key: str, item: Item) -> Path | None:
        """The item's figure, if it has one."""
        name = item.figure_name(key)
        if name is None or item.figure is None:
            return None
        place = files.checked(self.path / name, files.PICTURES)
        item.figure(place)
        return place

    def index(self, found: Iterable[tuple[str, Item]]) -> Path:
        """The page, once all items are there."""
        return files.write_text(self.path / INDEX, files.PAGES, page(list(found)))


def counted(found: Iterable[Item]) -> str:
    """`31 items: 27 agrees, 3 differs, 1 undecided`."""
    counts = Counter(item.verdict for item in found)
    return f"{sum(counts.values())} items: " + ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v])


def measured(item: Item) -> str:
    """The deviation, what it is measured from and what is allowed; "" where the verdict rests on none."""
    if item.deviation is None:
        return ""
    origin = f" from {item.reference}" if item.reference else ""
    return f"{item.deviation:.1e}{origin}" + (f", allowed {item.tolerance:.0e}" if item.tolerance is not None else "")


def page(found: Sequence[tuple[str, Item]]) -> str:
    """All items as HTML, paper by paper."""
    title = "The papers' examples, computed again"
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{files.GENERATOR}<title>{title}</title>',
        f"<style>{_LOOK}</style></head><body>",
        f"<h1>{title}</h1>\n<p>{html.escape(counted(item for _, item in found))}. Figures are drawn from what is computed here.</p>",
    ]
    for key in dict.fromkeys(key for key, _ in found):
        parts.append(f"<h2>{html.escape(key)}</h2>")
        parts += [_article(key, item) for k, item in found if k == key]
    return "\n".join([*parts, "</body></html>", ""])


def _article(key: str, item: Item) -> str:
    rows = {"printed": item.printed, "computed": item.computed, "deviation": measured(item), "note": item.why}
    facts = "".join(f"<dt>{name}</dt><dd>{html.escape(said)}</dd>" for name, said in rows.items() if said)
    where, what = html.escape(item.where), html.escape(item.what)
    name = item.figure_name(key)
    picture = f'<img src="{name}" alt="{html.escape(f"{item.where}: {item.what}", quote=True)}">' if name else ""
    return f'<article><h3><span class="{item.verdict}">{item.verdict}</span> {where}: {what}</h3><dl>{facts}</dl>{picture}</article>'
