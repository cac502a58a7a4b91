"""Pages as files: the one that computes by itself, written and opened; and a static one of headings, tables and pictures.

Both are one HTML file each that needs nothing from outside.
"""

from __future__ import annotations

import base64
import html
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from linkwright.api import (
    LinkwrightError,
    System,
    Table,
    Trajectory,
    UsageError,
    compiled_of,
    cycles,
    files,
    mechanism_of,
    whole_number,
)

MOST_BYTES = 100_000_000  # of a picture put into a page
KINDS = {".png": "image/png", ".gif": "image/gif", ".svg": "image/svg+xml"}

STYLE = """
:root { color-scheme: light dark; --ink: #22303c; --paper: #fff; --faint: #8593a0; --line: #dde3e8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ee; --paper: #12181f; --line: #2b3742; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1.2rem; }
pre { background: color-mix(in srgb, var(--ink) 5%, var(--paper)); border-radius: .4rem; }
pre { padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
figure { display: inline-block; margin: .5rem 1rem .5rem 0; vertical-align: top; }
img { max-width: 100%; height: auto; background: #fff; border-radius: .4rem; } figcaption { color: var(--faint); font-size: .85rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .85rem; }
a { color: inherit; text-decoration-color: #c8421a; text-underline-offset: .2em; font-weight: 600; }
th, td { text-align: right; padding: .15rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
"""


@dataclass
class Page:
    """Collect sections of texts, tables and pictures, and write them as one HTML file.

    Examples
    --------
    >>> mechanism = lw.load("wiper")
    >>> picture = mechanism.plot("mechanism", "mechanism.svg")
    >>> page = lw.Page("A wiper").heading("Mechanism").text(mechanism.info()).picture(picture, "as it starts")
    >>> "<h2>Mechanism</h2>" in page.save("wiper.html").read_text(encoding="utf-8")
    True
    """

    title: str
    parts: list[str] = field(default_factory=list)

    def heading(self, text: str) -> Page:
        return self._add(f"<h2>{html.escape(text)}</h2>")

    def paragraph(self, text: str) -> Page:
        return self._add(f"<p>{html.escape(text)}</p>")

    def text(self, text: Any) -> Page:
        """Preformatted text, such as what `info` prints."""
        return self._add(f"<pre>{html.escape(str(text))}</pre>")

    def table(self, t: Table) -> Page:
        """A table of a result."""
        head = "".join(f"<th>{html.escape(c.head)}</th>" for c in t.columns)
        rows = (map(html.escape, (c.text(i) for c in t.columns)) for i in range(len(t)))
        body = "".join("<tr>" + "".join(f"<td>{x}</td>" for x in row) + "</tr>\n" for row in rows)
        return self._add(f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>')

    def picture(self, path: str | os.PathLike[str], caption: str = "") -> Page:
        """An image file, put into the page itself."""
        path = Path(path)
        files_kind = KINDS.get(path.suffix.lower())
        if files_kind is None:
            raise LinkwrightError(f"cannot show '{path}': unsupported file type. Use {', '.join(KINDS)}.", name=path)
        data = base64.b64encode(files.read_regular(path, MOST_BYTES)).decode("ascii")
        alt = html.escape(caption or path.stem, quote=True)
        return self._add(
            f'<figure><img alt="{alt}" src="data:{files_kind};base64,{data}"><figcaption>{html.escape(caption)}</figcaption></figure>'
        )

    def link(self, name: str, text: str) -> Page:
        """Path of a file next to the page."""
        return self._add(f'<p><a href="{html.escape(quote(name), quote=True)}">{html.escape(text)}</a></p>')

    def _add(self, part: str) -> Page:
        self.parts.append(part)
        return self

    def html(self) -> str:
        """Return the page as one text."""
        title = html.escape(self.title)
        meta = f'<meta charset="utf-8">{files.GENERATOR}<meta name="viewport" content="width=device-width, initial-scale=1">'
        head = f"{meta}<title>{title}</title><style>{STYLE}</style>"
        body = "\n".join(self.parts)
        return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body><h1>{title}</h1>\n{body}\n</body></html>\n'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page. An older file of that name is replaced."""
        return files.write_text(path, files.PAGES, self.html())


def write(subject: Any, path: str | os.PathLike[str], *, run: Trajectory | None = None, steps: int | None = None) -> Path:
    """The page of a Mechanism or System that computes by itself, with a run in it to play; `steps` of its cycle."""
    from linkwright.rings.studio import live

    return live.write(subject, path, steps=checked_steps(steps), **played(subject, run))


def show(
    subject: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    run: Trajectory | None = None,
    steps: int | None = None,
    browser: bool | None = None,
    widget: bool = False,
    height: int | None = None,
) -> Any:
    """The page of a Mechanism or System in the browser or in a file, or as a widget."""
    if widget:
        return _widget(subject, path, run, height)
    if height is not None:
        raise UsageError("height is for a widget: m.show(widget=True, height=700). A page has the height of its window.", name="height")
    return shown(_name(subject), lambda place: write(subject, place, run=run, steps=steps), path, browser)


def _widget(subject: Any, path: Any, run: Trajectory | None, height: int | None) -> Any:
    from linkwright.api import Mechanism
    from linkwright.rings.studio.widget import widget

    if path is not None:
        raise UsageError("a widget is not a file: take widget=True or the path out.", name="widget")
    mechanism = subject if isinstance(subject, Mechanism) else Mechanism(compiled_of(subject).described)
    return widget(mechanism, run=run, **({} if height is None else {"height": height}))


def shown(name: str, write: Callable[[Path], Path], path: str | os.PathLike[str] | None = None, browser: bool | None = None) -> Path:
    """Write a page, without `path` among the temporary files, and open it there (or as `browser` says); where that cannot be, say where
    it is."""
    browser = path is None if browser is None else browser
    if path is None:
        plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in name) or "mechanism"
        path = Path(tempfile.mkdtemp(prefix="linkwright-")) / f"{plain}.html"
    written = write(Path(path) if isinstance(path, str | os.PathLike) else path)
    if browser and not opened(written.resolve().as_uri()):
        print(f"No browser could be opened. The page is {written.resolve()}")
    return written


def has_screen() -> bool:
    """True if a browser can show something: there is a display, or a browser is named."""
    screen = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in screen)


def opened(address: str) -> bool:
    """Open an address in the user's browser; False where there is none (no display: a browser of the console would not do)."""
    import webbrowser

    if not has_screen():
        return False
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


def checked_steps(steps: Any) -> int | None:
    """The number of steps of a cycle, refused before the long work if it is none: a page would only say that there is no cycle."""
    return None if steps is None else whole_number(steps, "steps", 2, cycles.MOST_STEPS)


def played(subject: Any, run: Trajectory | None) -> dict[str, Any]:
    """`run` and `static` of a page that plays this: a cycle of the file's drives is the page's own cycle and is not put into it."""
    if run is None or run.proof is not None or not run.drive:
        return {"run": run}
    system: System = getattr(subject, "system", subject)
    same = mechanism_of(system).cycle(steps=len(run) - 1) if len(run) > 2 else run
    own = np.array_equal(same.t, run.t) and np.array_equal(same.q, run.q)
    return {"run": None if own else run, "static": run.static}


def _name(subject: Any) -> str:
    return getattr(subject, "system", subject).description.name
