"""Public examples import what is public: `linkwright` itself, and the modules that docs/reference/versions.md lists."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests import ROOT

IMPORT = re.compile(r"^\s*(?:from (linkwright\.[\w.]+) import|import (linkwright\.[\w.]+))", re.MULTILINE)
LISTED = re.compile(r"^\| `(linkwright\.[\w.]+)` \|", re.MULTILINE)


def public_modules() -> set[str]:
    return set(LISTED.findall((ROOT / "docs" / "reference" / "versions.md").read_text(encoding="utf-8")))


def examples() -> dict[str, str]:
    """Texts of README, pages, examples, gallery and notebooks, by path; of a notebook its code."""
    paths = [
        ROOT / "README.md",
        ROOT / "llms.txt",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*.py"),
        *(ROOT / "gallery").glob("*.py"),
    ]
    found = {path: path.read_text(encoding="utf-8") for path in paths}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return {str(path.relative_to(ROOT)): text for path, text in found.items()}


def test_public_examples_import_public_modules() -> None:
    public = public_modules()
    found = {name: {a or b for a, b in IMPORT.findall(text)} for name, text in examples().items()}
    assert len(found) > 80 and public
    private = [f"{name}: {module}" for name, modules in found.items() for module in sorted(modules - public)]
    assert not private, "\n".join(private)
    used = set().union(*found.values())
    assert public <= used, f"docs/reference/versions.md lists modules that no example imports: {sorted(public - used)}"


def test_examples_and_gallery_need_the_top_level_only() -> None:
    assert not [name for name, text in examples().items() if Path(name).parent.name in ("examples", "gallery", ".") and IMPORT.search(text)]


def test_public_modules_exist() -> None:
    for module in public_modules():
        path = ROOT / "src" / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module
