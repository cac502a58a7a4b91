"""`m.export` over the registry of formats: to a file by its ending, as texts without a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.exchange.formats import FORMATS
from tests.refusals import refused
from tests.rings.design.test_cams import loaded

MOTORS = {"motors": ["left", "right"], "joints": ["pitch", "roll"]}
ASKED: dict[str, tuple[Any, dict[str, Any]]] = {"ros2": (lambda: lw.load("ankle"), MOTORS), "cam": (loaded, {"steps": 36})}
pytestmark = pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.LossWarning")


@pytest.mark.parametrize("name", [n for n, x in FORMATS.items() if x.texts is not None])
def test_without_a_path_the_same_texts_come_as_strings(name: str, tmp_path: Path) -> None:
    load, options = ASKED.get(name, (lambda: lw.load("four-bar"), {}))
    m = load()
    texts = m.export(format=name, **options)
    ending = FORMATS[name].endings[0]
    path = tmp_path / f"model{ending}"
    assert m.export(path, format=name, **options) == path
    assert f"model{ending}" in texts and {x.name for x in tmp_path.iterdir()} == set(texts)
    for file, text in texts.items():
        written = (tmp_path / file).read_bytes().decode()
        if name == "dxf":  # head and tail have the time
            written, text = (x.partition("ENTITIES")[2].partition("OBJECTS")[0] for x in (written, text))
        assert text and written == text


def test_a_file_that_is_no_text_needs_a_path() -> None:
    with refused(UsageError, name="format"):
        lw.load("four-bar").export(format="fmu")
    with refused(UsageError, name="path"):
        lw.load("four-bar").export()


def test_a_second_file_of_another_origin_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "bar.h").write_text("/* mine */", encoding="utf-8")
    with refused(UsageError, file="bar.h"):
        lw.load("four-bar").export(tmp_path / "bar.c")
    assert (tmp_path / "bar.h").read_text(encoding="utf-8") == "/* mine */" and not (tmp_path / "bar.c").exists()
    for _ in range(2):  # its own files
        lw.load("four-bar").export(tmp_path / "other.c", parameters=["L1"], name="press")
    assert "int press_forward(" in (tmp_path / "other.h").read_text(encoding="utf-8")


def test_options_of_systems_are_options_of_the_export() -> None:
    m = lw.load("four-bar")
    moved = m.export(format="c", moved=["A"], drives=["A"], name="bar")
    assert sorted(moved) == ["bar.c", "bar.h"] and "const double *acceleration" in moved["bar.h"]
    full, small = (m.export(format="c", fallback=x)["model.c"] for x in (True, False))
    assert len(small) < 0.9 * len(full)
    assert "var linkage=" in m.export(format="script", kernels=["points"], name="linkage")["linkage.js"]
