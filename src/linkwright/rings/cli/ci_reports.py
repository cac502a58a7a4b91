"""Reports of a check for continuous integration: JUnit XML and SARIF 2.1.0."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from linkwright.api import check_results

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"failed": "error", "unknown": "note"}
XML_BAD = {c: " " for c in range(32) if chr(c) not in "\t\n\r"}  # not allowed in XML 1.0


def junit(found: check_results.Checks, model: str) -> str:
    """Return the checks as a JUnit test suite: a test case for each, an unknown one is skipped with its reason."""
    cases = [_case(x, model) for x in found]
    counts = f'tests="{len(found)}" failures="{len(found.failed)}" errors="0" skipped="{len(found.unknown)}"'
    mark = "<!-- Written by Linkwright -->"
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        mark,
        f'<testsuites name="Linkwright" {counts}>',
        f"  <testsuite name={_quoted(model)} {counts}>",
    ]
    return "\n".join([*head, *cases, "  </testsuite>", "</testsuites>", ""])


def _case(x: check_results.Check, model: str) -> str:
    place, _, line = x.place.rpartition(":")
    at = f' file={_quoted(place)} line="{line}"' if place and line.isdigit() else ""
    head = f"    <testcase name={_quoted(x.name)} classname={_quoted(f'{model}.{x.stage}')}{at}"
    if x.verdict == "passed":
        return f"{head}/>"
    body = "\n".join([_said(x), *(f"fix: {r.text}" for r in x.remedies)])
    if x.verdict == "unknown":
        return f"{head}>\n      <skipped message={_quoted(body)}/>\n    </testcase>"
    return f"{head}>\n      <failure message={_quoted(x.text)}>{escape(body.translate(XML_BAD))}</failure>\n    </testcase>"


def _quoted(text: str) -> str:
    return quoteattr(text.translate(XML_BAD))


def _said(x: check_results.Check) -> str:
    return f"{x.place}: {x.text}" if x.place else x.text


def sarif(found: check_results.Checks, model: str) -> str:
    """Return the checks as SARIF: a rule for each stage, a result for each check that did not pass, with its place and its remedies."""
    from linkwright import __version__
    from linkwright.api import check_results

    stages = list(dict.fromkeys(x.stage for x in found))
    rules = [{"id": s, "shortDescription": {"text": f"stage {s}"}} for s in stages]
    driver = {"name": "Linkwright", "version": __version__, "rules": rules}
    told = [x for x in found if x.verdict in LEVELS and not x.text.startswith(check_results.NOT_COMPUTED)]
    results = [_result(x, model, stages.index(x.stage)) for x in told]
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=1) + "\n"


def _result(x: check_results.Check, model: str, rule: int) -> dict[str, Any]:
    text = "\n".join([f"{x.name}: {x.text}", *(f"Fix: {r.text}." for r in x.remedies)])
    place, _, line = x.place.rpartition(":")
    file, row = (place, int(line)) if place and line.isdigit() else (x.place or model, 1)
    location = {"physicalLocation": {"artifactLocation": {"uri": file.replace("\\", "/")}, "region": {"startLine": max(1, row)}}}
    return {
        "ruleId": x.stage, "ruleIndex": rule, "level": LEVELS[x.verdict], "message": {"text": text}, "locations": [location],
        "properties": {"verdict": x.verdict, "value": x.value, "limit": x.limit, "remedies": [dict(r.changes) for r in x.remedies]},
    }  # fmt: skip
