"""Errors are asserted by their data; the wording of a room's messages is in its one table.

    with refused(lw.UsageError, name="Q", allowed=("A", "B")):
        s.inverse(st, release={"Q": ["tx"]})

The data are attributes of the error: `name`, `value`, `allowed`, `line` of the model file, `loop`; `file` is the last part of a path that
`name` is. The message must also contain a line of
`wording.txt` in the folder of the room (`tests/joints/wording.txt`), where `<name>` is the name of the error and `*` any text. A changed
message is changed there, and not in every test that meets it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from linkwright.errors import LinkwrightError

TESTS = Path(__file__).parent
FIELDS = ("name", "value", "allowed", "line", "loop", "file")


def refused(kind: type[LinkwrightError], **data: Any) -> Any:
    """Return a context that must raise an error of a kind with these data and a wording of the caller's room."""
    assert data and set(data) <= set(FIELDS), f"data of an error are {', '.join(FIELDS)}"
    return _refused(kind, data, table_of(Path(sys._getframe(1).f_code.co_filename)))


@contextmanager
def _refused(kind: type[LinkwrightError], data: dict[str, Any], table: Path) -> Iterator[pytest.ExceptionInfo[Any]]:
    with pytest.raises(kind) as found:
        yield found
    assert {key: _data(found.value, key) for key in data} == data, found.value
    said, name = str(found.value), found.value.name
    assert any(pattern.search(said) for pattern in _patterns(table, name)), f"no line of {table.relative_to(TESTS)} is in: {said}"


def _data(error: Any, key: str) -> Any:
    if key == "line":
        return getattr(error.where, "line", 0)
    return Path(error.name).name if key == "file" else getattr(error, key)


def table_of(path: Path) -> Path:
    """Return the table of the room that a module of the tests belongs to."""
    rooms = path.relative_to(TESTS).parts[:-1]
    return TESTS.joinpath(*rooms[: 2 if rooms[:1] == ("rings",) else 1], "wording.txt")


@cache
def _patterns(table: Path, name: str) -> list[re.Pattern[str]]:
    return [pattern_of(line, name) for line in table.read_text(encoding="utf-8").splitlines() if line]


def pattern_of(line: str, name: str) -> re.Pattern[str]:
    """Return what a line of a table means for an error about a name."""
    parts = {"<name>": re.escape(name), "*": ".*?"}
    return re.compile("".join(parts.get(x, re.escape(x)) for x in re.split(r"(<name>|\*)", line)), re.DOTALL)
