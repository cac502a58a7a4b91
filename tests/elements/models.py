"""Models whose answers are stored: everything, the built-in ones, and those that scripts of gallery and examples spell out."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, NamedTuple

import linkwright as lw
from linkwright.model.file import read_text
from tests.elements.canonical import FOLDER

ROOT = Path(__file__).parents[2]
EVERYTHING = ("everything-plane", "everything-space")
LARGE = {"parallelogram-chain": {"N": 4}, "scissor-lift": {"N": 2}}  # fewer repetitions: the same elements, sooner


class Given(NamedTuple):
    """A mechanism and the text of its file, empty if it is none."""

    mechanism: Any
    text: str = ""


def everything(place: str) -> Path:
    """The file with one of each element, in a "plane" or in "space"."""
    return FOLDER / f"everything-{place}.yaml"


def names() -> list[str]:
    """Names of all models."""
    return [*EVERYTHING, *lw.models.names(), *_scripted()]


def given(name: str) -> Given:
    """A model by its name."""
    if name in EVERYTHING:
        path = FOLDER / f"{name}.yaml"
        return Given(lw.Mechanism(read_text(path.read_text(encoding="utf-8"), path.name)), path.read_text(encoding="utf-8"))
    if name in lw.models.names():
        path = lw.models.path(name)
        return Given(lw.load(name, **LARGE.get(name, {})), path.read_text(encoding="utf-8"))
    if name in (texts := documented()):
        return Given(lw.Mechanism(read_text(texts[name], "model.yaml")), texts[name])
    return Given(lw.load(_scripted()[name]))


def documented() -> dict[str, str]:
    """Texts of complete models in the documentation, by page and number."""
    found = {}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        blocks = re.findall(r"^```yaml[^\n]*\n(name:.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        found.update({f"docs-{page.stem}-{k}": block for k, block in enumerate(blocks) if "\nbodies:" in block})
    return found


def _scripted() -> dict[str, dict[str, Any]]:
    """Models written out in calls of `lw.load`, by folder, script and number."""
    found = {}
    for script in sorted([*(ROOT / "gallery").glob("*.py"), *(ROOT / "examples").glob("*.py")]):
        tree = ast.parse(script.read_text(encoding="utf-8"))
        calls = [x for x in ast.walk(tree) if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and x.func.attr == "load"]
        dicts = [x.args[0] for x in calls if x.args and isinstance(x.args[0], ast.Dict)]
        for k, node in enumerate(dicts):
            try:
                found[f"{script.parent.name}-{script.stem}-{k}"] = ast.literal_eval(node)
            except ValueError:  # made of variables
                continue
    return found
