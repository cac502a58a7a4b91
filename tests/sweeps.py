"""Sweeps over models, seeds and options: a few of each kind in `make test`, all in `make test-all`. The choice stands beside the test."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from linkwright.model import library
from linkwright.model.file import read

# planar with three loops; cylinders; redundant in space; with balls in space; a platform with motors
REPRESENTATIVE = ("carpet-scraper", "excavator", "bennett", "rssr", "3-rrr-motors")
Ids = Sequence[str] | Callable[[Any], object]


@cache
def led_by_drives() -> tuple[str, ...]:
    """Names of the built-in models whose drives, or a joint in their place, decide the motion: all without surfaces that touch."""
    return tuple(n for n in library.names() if not read(library.path(n)).touch_laws)


def every_model(*chosen: str, without: tuple[str, ...] = (), touching: bool = False) -> list[Any]:
    """Return parameters for all built-in models; those not chosen (not representative, if none is chosen) are marked slow.

    `touching` has those with surfaces that touch as well: what is tested needs neither a cycle nor smooth accelerations.
    """
    values = [n for n in (library.names() if touching else led_by_drives()) if n not in without]
    now = chosen or REPRESENTATIVE
    assert all(x in values for x in now)
    return [pytest.param(x, marks=[] if x in now else [pytest.mark.slow]) for x in values]


def sweep(
    names: str | tuple[str, ...],
    values: Iterable[Any],
    *,
    now: int | Collection[Any] | None = None,
    later: Collection[Any] = (),
    ids: Ids | None = None,
    indirect: bool = False,
) -> pytest.MarkDecorator:
    """Parametrize a test, most values marked slow.

    `now` has those that are not: how many of the first, or which, themselves or by id. Or `later` has those that are.
    `indirect`: the values are those of a fixture.
    """
    several = not isinstance(names, str) or "," in names
    given = [x if isinstance(x, ParameterSet) else pytest.param(*x) if several else pytest.param(x) for x in values]
    known = [_called(i, x, ids, several) for i, x in enumerate(given)]
    named = [*(now if isinstance(now, Collection) else ()), *later]
    assert all(any(_among(x, [y]) for x in known) for y in named), f"{named} names something else than {known}"
    if isinstance(now, int):
        chosen = set(range(now))
    else:
        chosen = {i for i, x in enumerate(known) if (not _among(x, later) if now is None else _among(x, now))}
    assert 0 < len(chosen) < len(given), "A sweep has values for now and for later"
    marked = [x if i in chosen else pytest.param(*x.values, marks=[*x.marks, pytest.mark.slow], id=x.id) for i, x in enumerate(given)]
    return pytest.mark.parametrize(names, marked, ids=ids, indirect=indirect)


def _called(place: int, given: ParameterSet, ids: Ids | None, several: bool) -> list[Any]:
    """All that a value may be named by: itself and its id."""
    value = tuple(given.values) if several else given.values[0]
    own = given.id if ids is None else ids[place] if not callable(ids) else None if several else ids(value)
    return [value, own]


def _among(called: list[Any], listed: Iterable[Any]) -> bool:
    return any(type(x) is type(y) and x == y for x in called for y in listed)
