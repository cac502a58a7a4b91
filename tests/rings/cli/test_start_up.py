"""What the command line imports: nothing heavy for help and lists, and nothing before a request that cannot be done is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = ("numpy", "scipy", "matplotlib", "llvmlite", "yaml", "rich", "PIL")
# One process does all commands: none may import a heavy module, and the first that does is named with it.
SCRIPT = f"""
import contextlib, io, json, sys
from linkwright.rings.cli import main
found, before = [], set()
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        code = main(words)
    heavy = {{m for m in {HEAVY!r} if m in sys.modules}}
    found.append([code, sorted(heavy - before), out.getvalue()])
    before = heavy
print(json.dumps(found))
"""
COMMANDS: list[tuple[list[str], int, str]] = [
    (["--version"], 0, "linkwright 0."),
    (["--help"], 0, "exit codes"),
    ([], 0, "Built-in models"),
    (["new", "--list"], 0, "Templates"),
    (["cycle", "--help"], 0, "--animation"),
    (["study", "--help"], 0, "--count N"),  # options of signatures: the files of the verbs are read, not imported
    (["optimize", "--help"], 0, "--require TEXT"),
    (["synthesize", "--help"], 0, "--bound NAME=VALUE"),
    (["workspace", "--help"], 0, "--orientation NAME=VALUE"),
    (["time-optimal", "--help"], 0, "--law NAME"),
    (["identify", "--help"], 0, "--friction JOINT"),
    (["report", "--help"], 0, "--revision REVISION"),
    (["completion", "bash"], 0, "complete -o filenames"),
    (["info", "nofile.yaml"], 1, "'nofile.yaml' cannot be read: No such file"),
    (["nofile.yaml", "-o", "x.html"], 1, "'nofile.yaml' cannot be read"),
    (["info", "robot.urdf"], 1, "'robot.urdf' cannot be read"),
    (["cycle", "wiper", "--nope"], 2, "there is no option '--nope'"),
    (["cycle", "wiper", "-o", "x.xls"], 1, "unsupported file type '.xls'"),
    (["info", "sketch.dxf"], 1, "'sketch.dxf' cannot be read"),
    (["cycle", "wiper", "--animation", "x.avi"], 1, "unsupported file type '.avi'"),
    (["simulate", "wiper", "1", "--page", "there.html"], 1, "there.html"),
    (["simulate", "wiper", "abc"], 2, "DURATION: 'abc' is not a time of zero or more"),
    (["simulate", "wiper", "-5"], 2, "'-5' is not a time of zero or more"),
    (["simulate", "wiper", "0,5"], 2, "decimals are written with a point"),
    (["simulate", "wiper", "1", "--step", "1mm"], 2, "--step: '1mm' is not a time"),
    (["simulate", "wiper", "1", "--sample-interval", "run.csv"], 2, "The file is given with -o run.csv"),
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Exit code, heavy modules that it imported, and what was printed, of every command."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "there.html").write_text("written by a person", encoding="utf-8")
    given = [words for words, _, _ in COMMANDS]
    done = subprocess.run([sys.executable, "-c", SCRIPT, json.dumps(given)], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return dict(zip(map(str, given), json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(("words", "code", "said"), COMMANDS, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_nothing_heavy_is_imported_without_need(ran: dict[str, list[Any]], words: list[str], code: int, said: str) -> None:
    found, heavy, text = ran[str(words)]
    assert (found, heavy) == (code, []), text
    assert said in text


def test_the_package_itself_is_light(tmp_path: Path) -> None:
    script = f"import sys, linkwright; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
