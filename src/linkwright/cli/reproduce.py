"""`linkwright reproduce`: the published examples computed again, what is printed beside what comes out."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

from linkwright.cli import console, options, outputs
from linkwright.cli.parser import Command, option


def run(given: argparse.Namespace) -> None:
    from linkwright import papers

    found: list[dict[str, Any]] = []
    for key in papers.papers_named(given.paper):
        if not given.json:
            print(key)
        for compute in papers.items(key):
            with console.waiting(f"{key}: computing"):
                item = compute()
            found.append({"paper": key, **item.as_dict(key)})
            if not given.json:
                _print(item)
    if given.json:
        outputs.print_json("reproduce/1", {"items": found})
        return
    counts = Counter(x["verdict"] for x in found)
    print(f"\n{len(found)} items: " + ", ".join(f"{counts[v]} {v}" for v in papers.VERDICTS if counts[v]))


def _print(item: Any) -> None:
    """One item: verdict and place, then what is printed, what comes out and how far apart they are."""
    lines = [
        f"  {item.verdict:<9}  {item.where}: {item.what}",
        f"             printed   {item.printed}",
        f"             computed  {item.computed}",
    ]
    if item.deviation is not None:
        measured = f" from {item.reference}" if item.reference else ""
        allowed = f", allowed {item.tolerance:.0e}" if item.tolerance is not None else ""
        lines.append(f"             deviation {item.deviation:.1e}{measured}{allowed}")
    if item.why:
        lines.append(f"             note      {item.why}")
    print("\n".join(console.wrapped(x, 23) for x in lines))
    sys.stdout.flush()


COMMAND = Command(
    name="reproduce",
    help="published examples computed again, with verdicts",
    about="Compute the examples of the papers behind this program again: what they print, what comes out here, and a verdict on each.",
    examples=("linkwright reproduce", "linkwright reproduce Aghili2005", "linkwright reproduce koul --json"),
    options=(
        option("paper", metavar="PAPER", nargs="?", default="all", help="one paper's key or first author (default: all)"),
        options.JSON,
    ),
    run=run,
)
