"""Sources that decide a traced program: nothing that runs while tracing is missing, nothing of the views is among them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import linkwright as lw
from linkwright.kernels import source_modules
from linkwright.kernels.equations.by_name import Asked
from linkwright.kernels.equations.tasks import task_rows
from linkwright.kernels.tracing import KERNELS

PACKAGE = Path(lw.__file__).parent


def rooms(modules: list[str]) -> set[str]:
    files = source_modules.closure(*(name.removeprefix("linkwright.") for name in modules))
    return {path.relative_to(PACKAGE).parts[0] for path in files}


def test_every_module_that_runs_while_planning_and_tracing_is_among_the_sources() -> None:
    scraper = lw.compile("carpet-scraper", engine="python").kernels
    redundant = lw.compile("parallelogram-middle", engine="python").kernels  # multipliers that are not unique
    made = [*((scraper, name) for name in KERNELS), (redundant, "forward")]
    more: dict[str, dict[str, Any]] = {"operational": {"tasks": "crank.A.x"}}
    more |= {name: {"asked": Asked(tuple(task_rows(scraper.tree.description, ["crank.A"])), 1)} for name in ("named_motion", "named_terms")}
    seen: set[str] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        for kernels, name in made:
            assert kernels.get(name, **more.get(name, {})).program.operations >= 0
    finally:
        sys.setprofile(None)
    ran = {Path(name).resolve() for name in seen if Path(name).resolve().is_relative_to(PACKAGE)}
    assert len(ran) > 30, "tracing was watched"
    missing = ran - source_modules.closure(*(name.removeprefix("linkwright.") for name in scraper.modules))
    assert not missing, sorted(str(p.relative_to(PACKAGE)) for p in missing)


def test_rooms_above_the_kernels_do_not_decide_programs() -> None:
    found = rooms(lw.compile("four-bar").kernels.modules)
    below = {"kernels", "mechanics", "joints", "topology", "compiler", "numerics"}
    assert below <= found
    above = {"rings", "system", "simulation", "drives", "integrators"}
    assert not found & {*above, "system/mechanism.py"}


def test_a_changed_equation_changes_the_digest_and_a_changed_view_does_not(tmp_path: Path, monkeypatch: Any) -> None:
    import shutil

    copy = tmp_path / "linkwright"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "vendor"))
    monkeypatch.setattr(source_modules, "_ROOT", copy)

    def digest() -> str:
        source_modules.digest.cache_clear()
        source_modules.closure.cache_clear()
        return source_modules.digest("kernels.kernels", "motion.assembly")

    try:
        first = digest()
        edits = {"rings/studio/style.py": False, "rings/design/summary.py": False, "joints/revolute.py": True, "topology/tree.py": True}
        for name, changes in edits.items():
            with (copy / name).open("a", encoding="utf-8") as file:
                file.write("\n# changed\n")
            assert (digest() != first) is changes, name
            first = digest()
    finally:
        source_modules.digest.cache_clear()
        source_modules.closure.cache_clear()
