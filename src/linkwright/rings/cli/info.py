"""`linkwright info`: what a mechanism is."""

from __future__ import annotations

import argparse
from typing import Any

from linkwright.rings.cli import console, loading, options
from linkwright.rings.cli.outputs import print_json
from linkwright.rings.cli.parser import CliCommand, option


def run(given: argparse.Namespace) -> None:
    m = loading.load(given, shows_import=True)
    with console.waiting("looking at it"):
        summary = m.info()
    if given.json:
        more = {"topology": _topology(m)} if given.internals else {}
        print_json("info", summary.as_dict() | more | ({"import": m.imported.as_dict()} if m.imported else {}))
        return
    console.show(str(summary))
    if m.imported is not None:
        console.show(f"\n{m.imported}")
    if given.internals:
        console.show(f"\n{m.topology}")


def _topology(m: Any) -> dict[str, Any]:
    t = m.topology
    return {
        "mobility": t.mobility,
        "cuts": list(t.cuts),
        "subsystems": [list(s.bodies) for s in t.subsystems],
        "loops": [
            {"name": x.name, "kind": x.kind, "rows": list(x.labels), "joints": list(x.joints), "subsystems": list(x.subsystems)}
            for x in t.loops
        ],
    }


COMMAND = CliCommand(
    name="info",
    topic="cycle",
    help="degrees of freedom, reach, swing and transmission of a mechanism",
    about="Print degrees of freedom and drives, full turn or reach, swing of the links, transmission angles, mass.",
    examples=(
        "linkwright info wiper",
        "linkwright info scissor-lift --param N=5",
        "linkwright info carpet-scraper --internals --cuts J8,J9,J10",
    ),
    options=(
        options.MODEL,
        *options.LOADING,
        option("--internals", action="store_true", help="loops, cuts, subsystems, solve order, ranks"),
        options.JSON,
    ),
    run=run,
)
