"""What the pages of the papers, the conventions and the limits name is there: modules, test files, tests, functions, numbers of limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT

PAGES = [
    *sorted((ROOT / "papers").glob("*/README.md")),
    ROOT / "docs" / "explanation" / "conventions.md",
    ROOT / "docs" / "evidence" / "limits.md",
]
TESTS = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def spoken(page: Path) -> list[str]:
    """Everything in single backticks outside of code blocks."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_what_a_page_names_is_there(page: Path) -> None:
    names = spoken(page)
    missing = [n for n in names if n.startswith("tests/") and not (ROOT / n).is_file()]
    missing += [n for n in names if re.fullmatch(r"test_\w+", n) and f"def {n}(" not in TESTS]
    missing += [n for n in names if re.fullmatch(r"(?!tests/)(\w+/)*(?!test_)\w+\.py", n) and not list((ROOT / "src/linkwright").rglob(n))]
    missing += [n for n in names if re.fullmatch(r"test_\w+\.py", n) and not list((ROOT / "tests").rglob(n))]
    modules = [n.removeprefix("linkwright.").replace(".", "/") for n in names if re.fullmatch(r"linkwright(\.\w+)+", n)]
    missing += [n for n in modules if not (ROOT / "src/linkwright" / n).is_dir() and not (ROOT / "src/linkwright" / f"{n}.py").is_file()]
    assert not missing


def test_every_page_of_a_paper_names_code_and_tests() -> None:
    for page in PAGES[:4]:
        names = spoken(page)
        assert sum(n.startswith(("tests/", "test_")) for n in names) >= 4, page.name
        assert sum(n.endswith(".py") and "test" not in n for n in names) >= 3, page.name


def test_stated_sizes_are_those_of_the_code() -> None:
    from linkwright.compiler import lanes
    from linkwright.integrators import integration
    from linkwright.kernels import kernel
    from linkwright.model.file import bodies, repeat, text_nodes
    from linkwright.rings.studio.live import sliders
    from linkwright.simulation import options, run_batch
    from linkwright.topology import cuts

    text = (ROOT / "docs" / "evidence" / "limits.md").read_text(encoding="utf-8")
    assert f"{text_nodes.MOST_BYTES // 1_000_000} MB, {bodies.MOST_BODIES:,} bodies, {repeat.MOST_COPIES:,} copies" in text
    assert f"up to {cuts.MOST_TREES:,} trees" in text
    assert f"{integration.MOST_STEPS:,} by default" in text
    assert f"{options.MOST_SAMPLES // 1_000_000} million samples" in text and f"{run_batch.MOST_NUMBERS * 8 // 10**9} GB of results" in text
    assert f"{sliders.MOST_MASSES} masses, {sliders.MOST_POINTS} points" in text
    code = (ROOT / "docs" / "explanation" / "native-code.md").read_text(encoding="utf-8")
    assert f"Beyond some {kernel.LARGE:,} operations" in code and f"Beyond {lanes.MOST:,} one state" in code
