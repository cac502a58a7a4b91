"""Compare a tag with every place that has the version, before a release: python -m tests.release v0.1.0"""

from __future__ import annotations

import ast
import re
import sys

import yaml

from tests import ROOT
from tests.oldest import project


def versions() -> dict[str, str]:
    """The version as each file has it."""
    package = ast.parse((ROOT / "src/linkwright/__init__.py").read_text(encoding="utf-8"))
    own = next(n.value.value for n in package.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__version__")
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    return {
        "pyproject.toml": project()["version"],
        "src/linkwright/__init__.py": str(own),
        "CITATION.cff": str(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]),
        "recipe/recipe.yaml": str(recipe["context"]["version"]),
    }


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
