"""Head of the report: title block with number, revision, author, company and date, as far as they are given."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from linkwright.errors import UsageError, counted, nearest
from linkwright.model.file.report_section import MOST_CURVES, MOST_LETTERS
from linkwright.model.report_block import TEXTS, ReportBlock

LABELS = {"number": "No.", "revision": "Revision", "author": "Author", "company": "Company", "date": "Date"}


def title_block(file: ReportBlock, texts: Mapping[str, Any], curves: Sequence[str] | str | None) -> ReportBlock:
    """Return the block of the file with what the call gives in its place."""
    given: dict[str, Any] = {}
    for name, said in texts.items():
        if name not in TEXTS:
            raise UsageError(f"a report has no '{name}'. {nearest(name, TEXTS, 'Texts of its title block')}")
        if said is None:
            continue
        plain = " ".join(str(said).split())
        if len(plain) > MOST_LETTERS:
            raise UsageError(f"{name} of the report has {counted(len(plain), 'letter')}; a title block has room for {MOST_LETTERS}.")
        given[name] = plain
    if curves is not None:
        named = [curves] if isinstance(curves, str) else list(curves)
        if not all(isinstance(x, str) for x in named) or len(named) > MOST_CURVES:
            raise UsageError(f"curves of a report are names of up to {MOST_CURVES} channels, such as ['A.torque'], not {curves!r:.60}.")
        given["curves"] = tuple(dict.fromkeys(named))
    return replace(file, **given)


def head(kind: str, name: str, about: str, block: ReportBlock) -> str:
    """Return the head of the sheet; the title block is at its right."""
    subtitle = f'<p class="rp-about">{html.escape(about)}</p>' if about else ""
    rows = [(LABELS[x], getattr(block, x)) for x in LABELS if getattr(block, x)]
    made = f"Linkwright {import_module('linkwright').__version__}"
    inside = "".join(f"<tr><th scope='row'>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows)
    titles = f'<table class="rp-block"><tbody>{inside}</tbody></table>' if rows else ""
    of = f"{kind} report" + (f" · {html.escape(name)}" if block.title and block.title != name else "")
    return (
        f'<header class="rp-head"><div><p class="rp-kind">{of}</p><h2>{html.escape(block.title or name)}</h2>{subtitle}</div>'
        f'<div class="rp-made">{titles}<p>{made}</p></div></header>\n'
    )
