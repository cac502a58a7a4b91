"""Files from Windows, and files that are written there: paths, encodings, line ends and names, as far as they can be tested without it."""

from __future__ import annotations

import ast
import ntpath
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import linkwright as lw
from linkwright import files
from linkwright.compiler import cache
from linkwright.errors import ModelError
from linkwright.files import writing
from linkwright.model.meshes.reading import read_corners
from linkwright.rings.exchange.reading.referenced_files import Folders, local_path
from tests import ROOT
from tests.refusals import refused
from tests.sources import python_files

MARK = b"\xef\xbb\xbf"  # with which Notepad and Excel begin UTF-8
MODEL = """name: Übung
plane: xy
units: [mm, kg, deg, rpm]
drawing: {A: [0, 0], B: [0, 40], C: [120, 90], D: [100, 0]}
bodies:
  ground: {pins: [A, D]}
  crank: {pins: [A, B], mass: 0.3}
  coupler: {pins: [B, C], mass: 0.9}
  rocker: {pins: [D, C], mass: 0.8}
drive: {A: 45 rpm}
"""
URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="arm">
    <inertial><origin xyz="0.1 0 0"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="J" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
</robot>
"""
STL = """solid part
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid part
"""
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="100mm" height="100mm" viewBox="0 0 100 100">
<line x1="10" y1="90" x2="10" y2="60"/>
</svg>
"""


def both(path: Path, text: str, mark: bytes = b"") -> tuple[Path, Path]:
    """The same text with line ends of Unix, and with those of Windows and a mark of UTF-8."""
    unix, windows = path, path.with_stem(path.stem + "-windows")
    unix.write_bytes(text.encode())
    windows.write_bytes(mark + text.replace("\n", "\r\n").encode())
    return unix, windows


def test_a_model_with_line_ends_and_marks_of_windows(tmp_path: Path) -> None:
    unix, windows = (lw.load(p) for p in both(tmp_path / "m.yaml", MODEL, MARK))
    assert windows.description.name == "Übung"
    torque = windows.cycle(steps=8)["A.torque"]
    np.testing.assert_allclose(unix.cycle(steps=8)["A.torque"], torque, atol=1e-13)  # 0.02 N m; one may be interpreted, one machine code


def test_tables_with_line_ends_and_marks_of_windows(tmp_path: Path) -> None:
    for text in ("t,F\n0,1.5\n1,2.5\n", "t;F\n0;1,5\n1;2,5\n"):
        unix, windows = (files.read_csv_table(p, 1000) for p in both(tmp_path / "t.csv", text, MARK))
        assert unix.header == windows.header == ("t", "F") and unix.rows == windows.rows


def test_robots_meshes_and_sketches_with_line_ends_of_windows(tmp_path: Path) -> None:
    unix, windows = (lw.load(p) for p in both(tmp_path / "r.urdf", URDF, MARK))
    assert [b.mass for b in unix.description.bodies] == [b.mass for b in windows.description.bodies]
    ours, theirs = (read_corners(p) for p in both(tmp_path / "part.stl", STL))
    np.testing.assert_array_equal(ours, theirs)
    from linkwright.rings.exchange.reading.sketches.svg import read_svg

    drawn, there = (read_svg(p) for p in both(tmp_path / "s.svg", SVG, MARK))
    np.testing.assert_array_equal(drawn.strokes[0].points, there.strokes[0].points)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_other_encodings_are_refused_with_the_way_out(tmp_path: Path, encoding: str) -> None:
    """A text editor of Windows that saves "ANSI" or "Unicode"."""
    place = tmp_path / "m.yaml"
    place.write_bytes(MODEL.encode(encoding))
    with refused(ModelError, line=1):
        lw.load(place)


def test_paths_of_windows_in_robots(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes" / "a.stl"
    mesh.write_text("")
    folders = Folders.of(tmp_path / "r.urdf")
    for name in (
        r"meshes\a.stl",
        r".\meshes\a.stl",
        rf"package://{tmp_path.name}\meshes\a.stl",
        rf"package://{tmp_path.name}/meshes\a.stl",
    ):
        assert folders.find(name) == (mesh.resolve(), ""), name
    assert folders.find(r"..\..\..\..\etc\hostname")[0] is None
    assert folders.find(r"meshes\b.stl") == (None, "there is no such file")
    assert local_path("/C:/robots/a.stl", windows=True) == "C:/robots/a.stl" and ntpath.isabs("C:/robots/a.stl")
    assert local_path("/C:/robots/a.stl", windows=False) == "/C:/robots/a.stl"
    assert local_path("/srv/a.stl", windows=True) == "/srv/a.stl"


def test_the_cache_is_in_the_profile_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LINKWRIGHT_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache.directory() == tmp_path / "linkwright" / "objects"
    monkeypatch.delenv("LOCALAPPDATA")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache.directory() == tmp_path / "AppData" / "Local" / "linkwright" / "objects"


def test_files_are_written_without_what_windows_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No O_NOFOLLOW and O_CLOEXEC, no flushing of folders, no signal 0 to look for a process: os.kill would end it there."""
    killed: list[int] = []
    there = {name: getattr(os, name) for name in dir(os) if name not in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK")}
    monkeypatch.setattr(writing, "os", SimpleNamespace(**{**there, "name": "nt", "kill": lambda pid, signal: killed.append(pid)}))
    left = tmp_path / f".old.{writing._host()}-999999-{'0' * 16}.part.csv"
    left.write_text("")
    place = tmp_path / "out.csv"
    with writing.atomic(place) as temporary:
        temporary.write_bytes(b"1\n")
    writing.remove_leftovers(tmp_path)
    assert place.read_bytes() == b"1\n" and not killed and left.exists(), "whether a process lives is not known there: a day must pass"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([left.name, "out.csv"])


def test_texts_have_line_feeds_on_every_system(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.csv", (".csv",), "a\nü\n")
    assert (tmp_path / "a.csv").read_bytes() == b"a\n\xc3\xbc\n"


@pytest.mark.slow
def test_every_text_is_read_and_written_with_its_encoding() -> None:
    """The encoding of Windows is not UTF-8, and it writes line feeds as two letters: both are given wherever a text is opened."""
    found, seen = [], 0
    for path in python_files("src"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            named = {k.arg: k.value for k in node.keywords}
            what = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            own = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in ("files", "modelfile")
            modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if (what in ("read_text", "write_text") and isinstance(node.func, ast.Attribute) and not own) or (
                what == "open" and isinstance(node.func, ast.Name) and not any("b" in mode for mode in modes) and len(node.args) > 1
            ):
                seen += 1
                writes = what == "write_text" or "w" in modes
                if "encoding" not in named or (writes and "newline" not in named):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)[:80]}")
    assert seen > 10 and not found, "\n".join(found)


def test_names_of_files_exist_on_windows() -> None:
    """No letters and names that Windows reserves, no two that differ in case alone, no path too long for an unpacked archive."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.splitlines() or [p.relative_to(ROOT).as_posix() for p in (ROOT / "src").rglob("*")]
    reserved = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
    wrong = [n for n in names if re.search(r'[<>:"|?*\\]', n) or any(reserved.fullmatch(x) or x.endswith((".", " ")) for x in n.split("/"))]
    twice = [n for n, count in Counter(n.lower() for n in names).items() if count > 1]
    assert len(names) > 500 and not wrong and not twice and max(map(len, names)) < 150
