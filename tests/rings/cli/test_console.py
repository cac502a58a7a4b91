"""Poor and narrow consoles, terminals, readers that leave, and examples of the help that work."""

from __future__ import annotations

import io
import shlex
import socketserver
import sys
import time
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.cli import console, dispatch
from tests.sweeps import sweep

MODEL = """name: kurbel
about: "Ω größer als π → ∞"
plane: xy
drawing: {A: [0, 0], B: [1, 0]}
bodies:
  ground: {pins: [A]}
  crank: {pins: [A], points: [B], mass: 1, com: B, inertia: 0}
drive: {A: 60 rpm}
"""
COMMANDS = [dispatch.command_of(name) for name in ("page", *dispatch.NAMES)]
EXAMPLES = [x for c in COMMANDS for x in c.examples]


@pytest.fixture(autouse=True)
def kurbel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("größer ∞.yaml").write_text(MODEL, encoding="utf-8")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@sweep("encoding", ["ascii", "cp1252"], now=1)
def test_every_command_prints_on_poor_consoles(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "größer ∞.yaml"
    lines = [[], ["new", "--list"], ["info", path, "--internals"], ["cycle", path, "--steps", "4"], ["simulate", path, "0.1"]]
    lines += [["simulate", path, "0.1", "--json"], ["simulate", path, "0.1", "-o", "∞.csv"], ["new", "π"], [path, "--help"]]
    for words in (*lines, ["info", "∞"], ["∞"]):
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in "12")
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        code = cli.main(words)
        texts = [stream.buffer.getvalue().decode(encoding) for stream in (out, err)]
        assert code == (0 if words in lines else 1 if words[0] == "info" else 2), (words, texts)
        assert texts[0] if words in lines else not texts[0] and texts[1].count("\n") == 1
    assert {"∞.csv", "π.yaml"} <= {p.name for p in Path().iterdir()}


def test_forty_columns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for words in ([], ["models"], ["--help"], ["simulate", "--help"]):
        assert cli.main(words) == 0
        lines = capsys.readouterr().out.splitlines()
        commands = [x for x in lines if x.startswith("  linkwright ") or x.startswith("usage") or "linkwright new my.yaml --from" in x]
        assert not [x for x in lines if len(x) > 40 and x not in commands]


def test_a_word_while_it_takes_long_and_none_when_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.02)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with console.waiting("compiling"):
        time.sleep(0.2)
    said, blank, end = terminal.getvalue().split("\r")
    assert said == "compiling ..." and blank == " " * len(said) and end == ""
    monkeypatch.setattr(sys, "stderr", plain := io.StringIO())
    with console.waiting("compiling"):
        time.sleep(0.1)
    assert plain.getvalue() == ""


def test_on_a_terminal_a_run_is_compiled_under_a_word(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert cli.main(["simulate", "größer ∞.yaml", "0.1"]) == 0
    assert terminal.getvalue().startswith("compiling the mechanism ...\r") and terminal.getvalue().endswith("\r")
    assert "passed: run, loops, velocities, energy, branch, error, loads, inputs; estimated error" in capsys.readouterr().out


def test_a_reader_that_leaves_does_not_keep_files_from_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    class Left(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    gone = []
    monkeypatch.setattr(sys, "stdout", Left())
    monkeypatch.setattr(console, "to_nowhere", lambda: gone.append(True) or monkeypatch.setattr(sys, "stdout", io.StringIO()))
    assert cli.main(["cycle", "größer ∞.yaml", "--steps", "4", "-o", "kept.csv"]) == 0
    assert gone and Path("kept.csv").stat().st_size > 100


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_of_the_help_are_right_usage(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one parses and reaches its command; the slow test runs them."""
    first, *words = shlex.split(line)
    reached = []
    for command in COMMANDS:
        assert 2 <= len(command.examples) <= 3
        monkeypatch.setitem(vars(command), "run", lambda given, name=command.name: reached.append(name))
    monkeypatch.setattr(dispatch, "is_subject", lambda word: True)
    assert first == "linkwright" and cli.main(words) == 0
    assert reached == [words[0] if words[0] in dispatch.NAMES else "MODEL"]


def _run(path: Path) -> None:
    motion = {"A": "1.6 rad + 0.5 rad * sin(4 rad/s * t)", "E": "1.5 rad + 0.4 rad * sin(7 rad/s * t)"}
    lw.load("five-bar").follow(motion, duration=2.0, steps=160).save(path, channels=["t", "A", "E", "A.torque", "E.torque"])


def _poses(path: Path) -> None:
    s = lw.load("five-bar").system
    angles = np.linspace(1.0, 2.0, 5)
    rows = [(a, e, *s.point(s.assemble({"A": a, "E": e}), "left_rod.C")[:2]) for a in angles for e in angles]
    np.savetxt(path, rows, delimiter=",", header="A [rad],E [rad],left_rod.C.x [m],left_rod.C.y [m]", comments="")


def _robot(path: Path) -> None:
    Path("meshes").mkdir()
    body = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="A" type="continuous"><parent link="base"/><child link="arm"/></joint>'
    path.write_text(f'<robot name="arm"><link name="base"/><link name="arm">{body}</link>{joint}</robot>', encoding="utf-8")


FILES = {  # that examples of the help read
    "run.csv": _run, "first.csv": _run, "second.csv": _run, "poses.csv": _poses, "robot.urdf": _robot,
    "sketch.dxf": lambda path: lw.load("wiper").export(path),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("line", [x for x in EXAMPLES if x.split()[1] in dispatch.NAMES or " -o " in x])
def test_examples_of_the_help_work(line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that serve a page are ended as by Ctrl-C."""

    def ended(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(socketserver.BaseServer, "serve_forever", ended)
    monkeypatch.setattr(webbrowser, "open", lambda address: True)
    for name, make in FILES.items():
        if name in line:
            make(Path(name))
    assert cli.main(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("problem", [MemoryError(), MemoryError("Unable to allocate 8 GiB")])
def test_too_little_memory_is_a_sentence(monkeypatch, capsys, problem):
    """It was a traceback, at a limit of 450 MB."""

    def run(argv):
        raise problem

    monkeypatch.setattr(dispatch, "_run", run)
    assert dispatch.main(["info", "wiper"]) == 1
    assert "not enough memory" in capsys.readouterr().err


def test_a_library_that_cannot_be_loaded_is_a_sentence(monkeypatch):
    """llvmlite is there, but the system does not map it: too little memory, or a broken installation."""
    from linkwright.compiler import cache

    def initialize():
        raise OSError("Could not find/load shared object file")

    import llvmlite.binding

    monkeypatch.setattr(llvmlite.binding, "initialize_native_target", initialize)
    with pytest.raises(lw.UsageError, match="llvmlite is installed, but its library cannot be loaded"):
        cache.binding.__wrapped__()
