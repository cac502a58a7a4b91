"""Every code block of README and docs runs and prints what it says; every link leads somewhere.

```python blocks of one page run one after another in one namespace; a number printed is the one in its comment. A block whose
title is a file name is that file. Complete ```yaml models (with `bodies:`) are read and assembled. In ```console blocks every
`$ linkwright ...` line is run, and the lines shown under it must be among those printed, in this order; `...` stands for lines
left out, and round-off figures (1.0e-14) may differ.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import shlex
import textwrap
import warnings
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.model import library
from linkwright.rings import cli
from linkwright.rings.exchange import LossWarning
from linkwright.system import mechanism
from tests import ROOT
from tests.docs.test_docstrings import with_examples
from tests.sweeps import sweep

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "papers").rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)  # also inside a tab, indented
SHOWN = re.compile(r"\)\s+# ((?:-?\d+(?:\.\d+)?\b[, ]*)+)(?![\w.])")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
FILE = re.compile(r'title="([\w-]+\.\w+)"')
HEAVY = ("JAX", "PyTorch")  # titles of blocks that need these packages: tests/rings/exchange/bridges runs them
ENDINGS = "html|png|svg|pdf|csv|xlsx|npz|parquet|gif|yaml"
WRITES = re.compile(rf"\.(?:save|show|report|plot|animate)\((?:[^\n]*, )?\"([\w-]+\.(?:{ENDINGS}))\"")
QUICK = (  # pages that compute for a second or less
    "contributing/testing", "evidence/verification", "explanation/conventions", "explanation/topology", "help", "how-to/cams",
    "how-to/drawings", "how-to/events", "how-to/export", "how-to/import", "how-to/jax-pytorch-casadi", "how-to/robots", "how-to/ros2",
    "how-to/stepping", "how-to/which-verb", "index", "reference/channels", "reference/edits", "reference/errors", "reference/model-file",
    "reference/models", "reference/python/index", "start/concepts", "start/draw", "start/first-mechanism", "tutorials/coming-from",
    "tutorials/slider-crank",
)  # fmt: skip
ROUND_OFF = re.compile(r"\d(\.\d+)?e-1\d")


def blocks(page: Path, *languages: str, heavy: str = "") -> list[tuple[int, str]]:
    """(line, text) of the fenced blocks of a page in these languages: those with the title of a heavy package, or those without."""
    found = [(line, block, info) for line, language, block, info in fenced(page) if language in languages]
    return [(line, block) for line, block, info in found if heavy == next((x for x in HEAVY if f'title="{x}"' in info), "")]


def fenced(page: Path) -> list[tuple[int, str, str, str]]:
    """(line, language, text, what follows the language) of the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start()) + 2, m.group(2), textwrap.dedent(m.group(4)), m.group(3)) for m in FENCE.finditer(text)]


def files(page: Path) -> list[tuple[int, str]]:
    """(line, code that writes it) of the blocks that are a file."""
    titled = [(line, FILE.search(info), block) for line, _, block, info in fenced(page)]
    return [(line, f"__import__('pathlib').Path({t[1]!r}).write_text({block!r}, encoding='utf-8')") for line, t, block in titled if t]


def pages_with(*languages: str) -> list[Path]:
    return [p for p in PAGES if blocks(p, *languages)]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_there_is_something_to_check() -> None:
    assert {p.name for p in pages_with("python")} >= {"README.md", "first-mechanism.md", "cycle.md"}
    assert {p.name for p in pages_with("console")} >= {"first-mechanism.md", "cycle.md"}


@cache
def shipped(model: str) -> lw.Mechanism:
    return mechanism.load(model)


def load(model: Any, **changes: Any) -> lw.Mechanism:
    """`lw.load`, with one mechanism for all pages of a built-in model: a mechanism is a value, its system is computed once."""
    plain = isinstance(model, str) and not changes and model in library.names()
    return shipped(model) if plain else mechanism.load(model, **changes)


@sweep("page", pages_with("python"), now=["README.md", "papers/Aghili2005/README.md", *(f"docs/{page}.md" for page in QUICK)], ids=name)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lw, "load", load)
    monkeypatch.chdir(tmp_path)
    run(page, sorted([*files(page), *blocks(page, "python")]))


def run_with(package: str) -> None:
    """Run the blocks that need a heavy package."""
    chosen = [p for p in PAGES if blocks(p, "python", heavy=package)]
    assert chosen
    for page in chosen:
        run(page, blocks(page, "python", heavy=package))


def run(page: Path, sources: list[tuple[int, str]]) -> None:
    """Blocks one after another in one namespace; a printed number is the one in the comment beside it."""
    namespace: dict[str, object] = {"__name__": page.stem}
    text = page.read_text(encoding="utf-8").splitlines()
    for line, source in sources:
        for written in WRITES.findall(source):  # as after an earlier run: results are replaced
            Path(written).write_text("an older file")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LossWarning)  # exports say what they leave out, as the pages do
            for statement in ast.parse("\n" * (line - 1) + source).body:  # tracebacks show the page's own line
                printed = io.StringIO()
                with redirect_stdout(printed):
                    exec(compile(ast.Module([statement], []), str(page), "exec"), namespace)
                shown = SHOWN.search(text[statement.end_lineno - 1]) if statement.end_lineno else None
                if shown and ast.unparse(statement).startswith("print("):
                    agree(shown[1], printed.getvalue(), f"{name(page)}:{statement.lineno}")


def agree(shown: str, printed: str, place: str) -> None:
    """The numbers at the start of a comment are those printed, to the digits shown; of tables and sentences a comment shows a part."""
    wanted, found = shown.replace(",", " ").split(), NUMBER.findall(printed)
    for number, value in zip(wanted, found, strict=True) if len(wanted) == len(found) else ():
        step = 10.0 ** -len(number.partition(".")[2])
        assert abs(float(number) - float(value)) <= 0.51 * step, f"{place} shows {shown!r}, but prints {printed!r}"


def complete_models() -> list[tuple[str, str]]:
    found = [(f"{name(p)}:{line}", text) for p in pages_with("yaml") for line, text in blocks(p, "yaml")]
    return [(where, text) for where, text in found if re.search(r"^bodies:", text, re.MULTILINE)]


@pytest.mark.parametrize(("where", "text"), complete_models(), ids=[where for where, _ in complete_models()])
def test_yaml_models_assemble(where: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(text, encoding="utf-8")
    s = lw.compile(lw.load(path))
    # 1e-10 m: far above round-off, far below any length in these models
    assert abs(s.closure(s.start).phi).max(initial=0.0) < 1e-10


@sweep(
    "page",
    pages_with("console"),
    now=[f"docs/{page}.md" for page in ("start/first-mechanism", "start/draw", "how-to/cams", "how-to/drawings", "tutorials/lecture")],
    ids=name,
)
def test_console_blocks_print_what_they_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run(page, files(page))
    for _, text in blocks(page, "console"):
        for command, shown in commands(text):
            words = shlex.split(command)
            assert words[0] == "linkwright"
            assert cli.main(words[1:]) == 0, command
            printed = [rounded(x) for x in capsys.readouterr().out.splitlines()]
            position = 0
            for line in (rounded(x) for x in shown if x != "..."):
                assert line in printed[position:], f"{command} does not print {line!r} (there or later), but\n" + "\n".join(printed)
                position = printed.index(line, position) + 1


def commands(text: str) -> list[tuple[str, list[str]]]:
    out: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            out.append((line[2:], []))
        elif out:
            out[-1][1].append(line.rstrip())
    return out


def rounded(line: str) -> str:
    return ROUND_OFF.sub("#", line.rstrip())


def test_links_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not re.match(r"https?:|mailto:", target) and not (page.parent / target).exists():
                broken.append(f"{name(page)}: {target}")
    assert not broken


# Classes that calls return, and the calls; every other public name is used by its own name.
RETURNED = {
    "Workspace": r"\.(?:map|workspace)\(",
    "WorkspaceModes": r"modes=\"all\"", "Bridge": r"\.(?:jax|casadi)\(", "Calibration": r"lw\.calibrate\(",
    "Excitation": r"lw\.excitation\(",
    "OptimalMotion": r"\bm\.optimal\(",
    "TimeOptimalMotion": r"\.time_optimal\(", "Identification": r"lw\.identify\(",
    "OptimizationResult": r"\.optimize\(", "ParetoFront": r"\.optimize\(", "State": r"\.assemble\(",
    "Stepper": r"\.stepper\(", "Study": r"lw\.study",
    "SynthesisResult": r"lw\.synthesize\(", "SynthesizedLinkage": r"lw\.synthesize\(", "System": r"lw\.compile\(",
    "Trajectory": r"\.cycle\(", "Transmission": r"\.transmission\(", "Trajectories": r"\.cycles\(",
}  # fmt: skip


def test_every_public_name_has_a_running_example() -> None:
    """On a page, or in a docstring whose example runs (test_docstrings)."""
    pages = [text for page in PAGES for heavy in ("", *HEAVY) for _, text in blocks(page, "python", heavy=heavy)]
    code = "\n".join([*pages, *(inspect.getdoc(thing) or "" for thing in with_examples().values())])
    without = [x for x in lw.__all__ if not re.search(RETURNED.get(x, rf"\blw\.{re.escape(x)}\b"), code)]
    assert not without, f"write a block for {without}, as an example of its docstring or on the page of its topic"
    assert RETURNED.keys() <= set(lw.__all__)
