"""`linkwright reproduce`: every item of the papers computed again, what is printed and what comes out, figures as pictures."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from linkwright.rings.cli import console, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

if TYPE_CHECKING:
    from linkwright.rings.papers import Item, Reproduced


def run(given: argparse.Namespace) -> None:
    from linkwright.rings import papers
    from linkwright.rings.papers import overview

    keys = papers.papers_named(given.paper)
    folder = None if given.folder is None else overview.Folder(given.folder, keys, force=given.force)
    found: list[Reproduced] = []
    written: dict[str, None] = {}
    for key in keys:
        if not given.json:
            print(f"{key}: {len(papers.entries(key))} items")
        every = papers.reproduce(key)
        while True:
            with console.waiting(f"{key}: computing"):
                row = next(every, None)
                if row is not None and folder is not None:
                    written |= {str(folder.picture(key, item)): None for item in row.items if item.figure is not None}
            if row is None:
                break
            found.append(row)
            if not given.json:
                _print(row, given.details)
    if given.json:
        outputs.print_json("reproduce", {"items": [row.as_dict() for row in found]})
    else:
        print(f"\n{overview.counts(found)}")
    if folder is not None:
        outputs.report_files([*written, str(folder.index(found))], given.json)


def _print(row: Reproduced, details: bool) -> None:
    """One item: verdict, place and claim; on what the verdict rests and where it is computed; with details every computation."""
    from linkwright.rings.papers import overview

    lines = [f"{row.number:>4}  {row.verdict:<9}  {row.place}: {row.claim}"]
    facts = {"deviation": overview.measured(row.decisive), "why": row.why, "computed": ", ".join(row.computed_in)}
    if details:
        lines += [f"{'':17}{line}" for item in row.items for line in _details(item)]
        facts = {"why": row.entry.why, "in": ", ".join(row.computed_in)}
    lines += [f"{'':17}{name:<10}{said}" for name, said in facts.items() if said]
    print("\n".join(console.wrapped(x, 27) for x in lines))
    sys.stdout.flush()


def _details(item: Item) -> list[str]:
    from linkwright.rings.papers import overview

    rows = {"printed": item.printed, "computed": item.computed, "deviation": overview.measured(item), "note": item.why}
    return [f"{item.where}: {item.what}", *(f"{name:<10}{said}" for name, said in rows.items() if said)]


COMMAND = CliCommand(
    name="reproduce",
    topic="papers",
    help="reproduce the papers, item by item, with verdicts",
    about="Compute every item of the source papers again: its place, the result of the check, the deviation and the place of "
        "the computation.",
    examples=("linkwright reproduce", "linkwright reproduce Aghili2005 --details --folder figures", "linkwright reproduce koul --json"),
    options=(
        option(
            "paper", metavar="PAPER", nargs="?", default="all", help="key or first author of a paper (default: all papers), or synthesis"
        ),
        option("--details", action="store_true", help="every computation: what is printed, what comes out, notes"),
        options.folder("the figures drawn again, with a page of all items (index.html)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
