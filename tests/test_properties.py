"""Properties that are computed once, asked by several threads."""

from __future__ import annotations

import re
import threading

from linkwright.properties import cached_property
from tests.sources import PACKAGE, python_files


class Mechanism:
    """A plan that needs a start of another object, and a start that needs a plan of another."""

    def __init__(self, both: threading.Barrier | None = None) -> None:
        self.both = both

    @cached_property
    def plan(self) -> str:
        if self.both is None:
            return "plan"
        self.both.wait(10)  # now the other thread computes a start
        return f"plan after {Mechanism().start}"

    @cached_property
    def start(self) -> str:
        if self.both is None:
            return "start"
        self.both.wait(10)
        return f"start after {Mechanism().plan}"


def test_threads_with_mechanisms_of_their_own_do_not_wait_for_each_other() -> None:
    both, found = threading.Barrier(2), dict[str, str]()
    work = [
        threading.Thread(target=lambda name=name: found.update({name: getattr(Mechanism(both), name)}), daemon=True)
        for name in ("plan", "start")
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(10)
    assert found == {"plan": "plan after start", "start": "start after plan"}


def test_a_value_is_computed_once_for_each_object() -> None:
    counts: list[int] = []

    class Counted:
        @cached_property
        def x(self) -> int:
            counts.append(1)
            return 7

    a, b = Counted(), Counted()
    assert (a.x, a.x, b.x, len(counts)) == (7, 7, 7, 2) and "x" in vars(a)
    del a.x
    assert a.x == 7 and len(counts) == 3


LOCKED = re.compile(r"from functools import [^\n]*\bcached_property|functools\.cached_property")


def test_every_property_of_the_package_is_without_a_lock() -> None:
    sources = [path for path in python_files("src") if path != PACKAGE / "properties.py"]
    locked = [path.name for path in sources if LOCKED.search(path.read_text(encoding="utf-8"))]
    assert len(sources) > 800 and not locked, "import cached_property from linkwright.properties"
