"""Compare a tag with every place that has the version, before a release: python -m tests.release v0.1.0"""

from __future__ import annotations

import re
import sys

from tests import ROOT
from tests.oldest import project

PLACES = {  # by text: a release is checked before anything is installed
    "src/linkwright/__init__.py": r'^__version__ = "([^"]+)"$',
    "CITATION.cff": r"^version: (\S+)$",
    "recipe/recipe.yaml": r'^  version: "([^"]+)"$',
}


def versions() -> dict[str, str]:
    """The version as each file has it; empty where it has none."""
    found = {"pyproject.toml": project()["version"]}
    for place, pattern in PLACES.items():
        match = re.search(pattern, (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)
        found[place] = match[1] if match else ""
    return found


def differences(tag: str) -> list[str]:
    """Sentences about each place that does not fit a tag, the changelog among them."""
    wanted = tag.removeprefix("v")
    found = [f"{place} has version {version}, the tag is {tag}" for place, version in versions().items() if version != wanted]
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d$", log, re.MULTILINE):
        found.append(f"CHANGELOG.md has no section '## [{wanted}] - YYYY-MM-DD'")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(differences(sys.argv[1])) or 0)
