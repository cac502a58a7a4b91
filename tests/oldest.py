"""Constraints with the lowest declared versions of all dependencies, for `make test-oldest`.

    python -m tests.oldest                 constraints to standard output: numpy==2.1, scipy==1.15, ...

Dependencies of the package and of the extras that users install are held to their lower bounds. Tools of the tests alone (pytest, ruff,
hatchling) are not: nothing of the product depends on them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from tests import ROOT

TOOLS = ("test", "test-all", "docs")  # extras for developers
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*(?P<bounds>[^;]*?)\s*(?:;(?P<marker>.*))?\Z")
LOWEST = re.compile(r"(?:>=|==)\s*([0-9][0-9.]*)")


def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared(given: Mapping[str, Any]) -> Iterator[str]:
    """Requirements of the package and of the extras that users install."""
    yield from given["dependencies"]
    for extra, requirements in given["optional-dependencies"].items():
        if extra not in TOOLS:
            yield from requirements


def constraints(given: Mapping[str, Any]) -> dict[str, str]:
    """Lowest version of each dependency by name; one without a lower bound is refused."""
    lowest: dict[str, str] = {}
    for requirement in declared(given):
        found = REQUIREMENT.match(requirement)
        name = found["name"].lower() if found else ""
        bound = LOWEST.search(found["bounds"]) if found else None
        if bound is None:
            raise SystemExit(f"pyproject.toml: '{requirement}' has no lower bound; write {name or 'name'}>=version.")
        if lowest.setdefault(name, bound[1]) != bound[1]:
            raise SystemExit(f"pyproject.toml: {name} has the lower bounds {lowest[name]} and {bound[1]}; one of them is enough.")
    return dict(sorted(lowest.items()))


if __name__ == "__main__":
    sys.stdout.write("".join(f"{name}=={version}\n" for name, version in constraints(project()).items()))
