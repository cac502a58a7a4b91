"""What the command line imports: nothing heavy for help and lists, and nothing before a request that cannot be done is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "scipy", "matplotlib", "llvmlite", "yaml", "rich", "PIL")
SCRIPT = f"""
import sys
from linkwright.rings.cli import main
code = main(sys.argv[1:])
print(code, *(m for m in {HEAVY!r} if m in sys.modules), sep="|", file=sys.stderr)
"""


def ran(words: list[str], folder: Path) -> tuple[str, str]:
    """(exit code and heavy modules, what was printed) of a command in a process of its own."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], cwd=folder, capture_output=True, text=True, timeout=60)
    lines = done.stderr.strip().splitlines()
    return lines[-1], done.stdout + "\n".join(lines[:-1])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--version"], 0, "linkwright 0."),
        (["--help"], 0, "exit codes"),
        ([], 0, "Shipped models"),
        (["new", "--list"], 0, "Templates"),
        (["cycle", "--help"], 0, "--animation"),
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
        (["simulate", "wiper", "1", "--sample-interval", "run.csv"], 2, "the file is given with -o run.csv"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_nothing_heavy_is_imported_without_need(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    (tmp_path / "there.html").write_text("written by a person", encoding="utf-8")
    found, text = ran(words, tmp_path)
    assert found == str(code), text
    assert said in text


def test_the_package_itself_is_light(tmp_path: Path) -> None:
    script = f"import sys, linkwright; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
