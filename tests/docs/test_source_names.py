"""Names of the source in texts: the map of the source has every package in its layer; files and modules that pages name exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests import ROOT
from tests.sources import PACKAGE, python_files, source

MAP = ROOT / "docs" / "contributing" / "extension-points.md"
READMES = sorted(PACKAGE.rglob("README.md"))
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", ROOT / "llms.txt", *sorted((ROOT / "docs").rglob("*.md")), *READMES]
ROW = re.compile(r"^\| (\d+) \| `([\w/.]+)` \|", re.MULTILINE)
ENDINGS = "py|js|ts|c|cpp|md|csv|npz|yaml"
PATH = re.compile(r"(?<![\w./<>*-])(?:[\w<>*-]+/)+(?:[\w<>*.-]*\w)?")
FILE = re.compile(rf"(?<![\w./<>*-])(?:[\w-]+/)*\w+\.(?:{ENDINGS})(?![\w(/])")
CODE = re.compile(r"`([^`\n]+)`")
MODULE = re.compile(r"(?<![\w/\"-])linkwright((?:\.\w+)+)(?![\w/])")
FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
DOTTED = re.compile(r"`((?:[a-z_]\w*\.)+\w+)`")
FORMER_MODULES = {"controllers", "driver", "recording", "stepping", "tableaux", "walk"}
CHANNELS = {"base.linear"}  # of a body that is called base
FORMER = {"views", "bridges", "gym", "studies", "optimization", "optimisation", "identification", "formats", "atlas", "bench"}


@cache
def rooms() -> frozenset[str]:
    """Names with which a path into the source begins: packages, rings, and rings that were packages."""
    return frozenset({p.parent.name for pattern in ("*", "rings/*") for p in PACKAGE.glob(f"{pattern}/__init__.py")} | FORMER)


def layers() -> list[set[str]]:
    """Return the layers of import-linter, lowest first."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (contract,) = (c for c in tomllib.loads(text)["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return [set(re.findall(r"\w+", layer)) for layer in reversed(contract["layers"])]


def mapped() -> list[tuple[int, str]]:
    """Return (layer, path) of the rows of the map."""
    return [(int(layer), path.rstrip("/")) for layer, path in ROW.findall(MAP.read_text(encoding="utf-8"))]


def test_the_map_has_every_package_and_ring_once() -> None:
    def inside(folder: Path) -> set[str]:
        modules = {p for p in folder.glob("*.py") if p.name != "__init__.py"}
        return {p.relative_to(PACKAGE).as_posix() for p in modules | {p.parent for p in folder.glob("*/__init__.py")}}

    assert sorted(path for _, path in mapped()) == sorted((inside(PACKAGE) - {"rings"}) | inside(PACKAGE / "rings"))


def test_the_map_has_the_layers_of_import_linter() -> None:
    numbers = [layer for layer, _ in mapped()]
    assert numbers == sorted(numbers)
    rows = {n: {path.split("/")[0].removesuffix(".py") for layer, path in mapped() if layer == n} for n in numbers}
    assert rows == dict(enumerate(layers(), 1))


def exists(name: str, page: Path) -> bool:
    """A path from the root, from the package or from the page's own folder; `<name>` and `*` fit any name."""
    pattern = re.sub(r"<\w+>", "*", name.rstrip("/"))
    return any(next(base.glob(pattern), None) is not None for base in (ROOT, PACKAGE, page.parent))


def named_paths(page: Path) -> Iterator[str]:
    """Yield the paths into the repository that a page names in code spans and links, outside of its examples."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for span in CODE.findall(text):
        for name in PATH.findall(span):
            if name.startswith("src/") or name.split("/")[0] in rooms() | {"tests", "tools", "benchmarks"}:
                yield name
    yield from re.findall(r"\]\((?:\.\./)*(src/[^)#\s]+)", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_paths_and_modules_on_a_page_exist(page: Path) -> None:
    assert [name for name in named_paths(page) if not exists(name, page)] == []
    text = page.read_text(encoding="utf-8")
    assert [name for name in MODULE.findall(text) if not importable(name[1:].split("."))] == []


@cache
def _members(module: str) -> set[str]:
    return set(dir(import_module(module)))


def importable(parts: list[str]) -> bool:
    """Whether `linkwright.x.y` is a module, or a name in one; what follows a name is not looked at."""
    folder, module = PACKAGE, "linkwright"
    for part in parts:
        if (folder / part).is_dir() or (folder / f"{part}.py").is_file():
            folder, module = folder / part, f"{module}.{part}"
        else:
            return part in _members(module)
    return True


def test_files_that_packages_list_exist() -> None:
    """The text at the top of a package lists its files."""
    missing = []
    for path in python_files("src"):
        if path.name != "__init__.py":
            continue
        text = re.sub(r'"[^"\n]*"|`[^`\n]*`', "", ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        missing += [f"{path.relative_to(ROOT)}: {name}" for name in FILE.findall(text) if name.endswith(".py") and not exists(name, path)]
    assert missing == []


@cache
def modules() -> frozenset[str]:
    """Names of all modules and packages below `linkwright`, such as `rings.design.cams`."""
    found = (p.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".") for p in python_files("src"))
    return frozenset(name.removesuffix(".__init__") for name in found)


@cache
def homes(first: str) -> frozenset[str]:
    """Packages that hold a module or package of a name; "" is `linkwright` itself."""
    return frozenset(name.rpartition(".")[0] for name in modules() if name.rpartition(".")[2] == first)


@cache
def packages() -> frozenset[str]:
    return frozenset({part for name in modules() for part in name.split(".")[:-1]} | FORMER | FORMER_MODULES)


def names_a_module(name: str, path: Path) -> bool:
    """Whether `a` of `a.b` is a package, a module next to the text, or a module with an underscore in its name."""
    first, last = name.split(".")[0], name.split(".")[-1]
    neighbor = first == path.stem or (path.parent / f"{first}.py").is_file()
    found = first in {"linkwright"} | packages() or neighbor or ("_" in first and bool(homes(first)))
    return found and name not in CHANNELS and last not in {*ENDINGS.split("|"), "png"}


def in_the_source(name: str) -> bool:
    """Whether `a.b` is a module, or a name in one, from any package that holds `a`."""
    parts = name.removeprefix("linkwright.").split(".")
    return any(importable([*(home.split(".") if home else ()), *parts]) for home in {"", *homes(parts[0])})


def missing_modules(path: Path, text: str) -> list[str]:
    return [name for name in DOTTED.findall(text) if names_a_module(name, path) and not in_the_source(name)]


def test_modules_that_docstrings_name_exist() -> None:
    texts = [(path, text) for path in python_files("src") for text in source(path).docstrings]
    assert [f"{path.relative_to(ROOT)}: {x}" for path, text in texts for x in missing_modules(path, text)] == []


@pytest.mark.parametrize(
    ("name", "found"),
    [("views/page.py", False), ("motion/atlas", False), ("optimisation/", False), ("src/linkwright/joints", True), ("joints/<x>.py", True)],
)
def test_names_of_former_folders_are_found(name: str, found: bool, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"The code is in `{name}`.\n", encoding="utf-8")
    assert list(named_paths(page)) == [name] and exists(name, page) is found


@pytest.mark.parametrize(("name", "found"), [("motion.atlas", False), ("model.file.reader", True), ("views", False), ("load", True)])
def test_names_of_former_modules_are_found(name: str, found: bool) -> None:
    assert importable(name.split(".")) is found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("simulation.feedback.time_integrals", True),
        ("simulation.feedback.integrals", False),
        ("control_performance.integral", True),
        ("control_performance.sunshine", False),
        ("controllers.analysis", False),
        ("A.torque", True),
        ("lw.load", True),
        ("cams.py", True),
    ],
)
def test_modules_in_a_docstring_are_found(name: str, found: bool) -> None:
    path = PACKAGE / "simulation" / "feedback" / "control_performance.py"
    assert missing_modules(path, f"See `{name}`.") == ([] if found else [name])
