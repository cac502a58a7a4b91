"""`linkwright reproduce`: the published examples computed again, what is printed beside what comes out, figures as pictures."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from linkwright.cli import console, options, outputs
from linkwright.cli.parser import CliCommand, option


def run(given: argparse.Namespace) -> None:
    from linkwright import papers
    from linkwright.papers import overview

    keys = papers.papers_named(given.paper)
    folder = None if given.output is None else overview.Folder(given.output, keys, force=given.force)
    found: list[tuple[str, papers.Item]] = []
    written: list[str] = []
    for key in keys:
        if not given.json:
            print(key)
        for compute in papers.items(key):
            with console.waiting(f"{key}: computing"):
                item = compute()
                picture = None if folder is None else folder.picture(key, item)
            found.append((key, item))
            if picture is not None:
                written.append(str(picture))
            if not given.json:
                _print(item)
    if given.json:
        outputs.print_json("reproduce/1", {"items": [{"paper": key, **item.as_dict(key)} for key, item in found]})
    else:
        print(f"\n{overview.counted(item for _, item in found)}")
    if folder is not None:
        outputs.report_files([*written, str(folder.index(found))], given.json)


def _print(item: Any) -> None:
    """One item: verdict and place, then what is printed, what comes out and how far apart they are."""
    from linkwright.papers import overview

    rows = {"printed": item.printed, "computed": item.computed, "deviation": overview.measured(item), "note": item.why}
    lines = [f"  {item.verdict:<9}  {item.where}: {item.what}", *(f"{'':13}{name:<10}{said}" for name, said in rows.items() if said)]
    print("\n".join(console.wrapped(x, 23) for x in lines))
    sys.stdout.flush()


COMMAND = CliCommand(
    name="reproduce",
    help="reproduce published examples, with verdicts",
    about="Reproduce the examples of the papers behind this program: printed value, computed value, and a verdict on each.",
    examples=("linkwright reproduce", "linkwright reproduce Aghili2005 -o figures", "linkwright reproduce koul --json"),
    options=(
        option(
            "paper", metavar="PAPER", nargs="?", default="all", help="one paper's key or first author (default: all papers), or synthesis"
        ),
        option("-o", "--output", metavar="FOLDER", help="draw the figures again into this folder, with a page of all items (index.html)"),
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
