"""The tables of docs/reference/command-line.md are those of the program, and every table of the program is on the page."""

from __future__ import annotations

import importlib.util
import re
import sys

from tests import ROOT

TEXT = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")


def test_generated_tables_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_command_line", ROOT / "docs" / "make" / "make_command_line.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "docs" / "make"))
    try:
        spec.loader.exec_module(make)
    finally:
        sys.path.remove(str(ROOT / "docs" / "make"))
    assert make.renewed(TEXT, make.TABLES) == TEXT, "run python docs/make/make_command_line.py"
    assert sorted(re.findall(r"<!-- table: ([\w-]+) -->", TEXT)) == sorted(make.TABLES)
