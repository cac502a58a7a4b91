"""Verbs of rings reach Mechanism, System and Trajectory by name, without an import of a ring in the core."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

import linkwright as lw
from linkwright import verbs
from linkwright.rings import verbs as typed
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.sources import PACKAGE

CLASSES = (lw.Mechanism, lw.System, lw.Trajectory)


def _rings_with_verbs() -> list[str]:
    folders = [p for p in (PACKAGE / "rings").iterdir() if (p / "verbs.py").is_file()]
    return sorted(p.name for p in folders)


def test_every_ring_with_verbs_is_asked() -> None:
    assert sorted(verbs.RINGS) == _rings_with_verbs()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_what_a_type_checker_sees_is_what_a_program_finds(cls: type) -> None:
    seen = getattr(typed, f"{cls.__name__}Verbs")
    parts = [getattr(import_module(f"linkwright.rings.{ring}.verbs"), f"{cls.__name__}Verbs", None) for ring in verbs.RINGS]
    names = [name for part in parts if part is not None for name in vars(part) if not name.startswith("__")]
    assert names and len(names) == len(set(names)), "one verb, one ring"
    assert {name for name in names if hasattr(seen, name)} == set(names)
    assert set(names) <= set(dir(cls))
    for name in names:
        member = inspect.getattr_static(cls, name)
        assert inspect.getdoc(getattr(member, "fget", None) or getattr(member, "func", None) or member)


def test_a_cycle_imports_no_ring() -> None:
    program = (
        "import sys, linkwright as lw; c = lw.load('four-bar').cycle(steps=12); c['B'];"
        "print([x for x in sys.modules if x.startswith('linkwright.rings')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_verbs_are_members_like_others() -> None:
    m = lw.load("four-bar")
    assert {"optimize", "export", "show", "cycle"} <= set(dir(m))
    assert "serve a goal best" in (inspect.getdoc(m.optimize) or "")
    assert inspect.signature(lw.Mechanism.optimize).parameters["starts"].default == 8
    assert {"linearize", "jax", "transmission"} <= set(dir(lw.System))
    c = m.cycle(steps=12)
    assert {"bearings", "plot", "control"} <= set(dir(c))
    assert len(pickle.loads(pickle.dumps(c))) == len(c)
    assert len(mechanism_of(lw.System(m.description)).cycle(steps=12).bearings().rows)


def test_calls_of_verbs_are_explained() -> None:
    m = lw.load("four-bar")
    with refused(lw.UsageError, name="goals"):
        m.optimize("min rms A.torque", {}, **{"goals": 3})
    with refused(lw.UsageError, name="name", allowed=("a text", "None")):
        m.cam([*"lift"])


def test_a_name_that_nothing_has() -> None:
    m = lw.load("four-bar")
    for thing, name in ((m, "optimizes"), (lw.Mechanism, "optimizes")):
        assert not hasattr(thing, name)
        with pytest.raises(AttributeError, match="'Mechanism' has no attribute 'optimizes'"):
            getattr(thing, name)


def test_a_missing_ring_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Machine(verbs.RingVerbs):
        """A class of the core."""

    def found(name: str) -> object:
        return None if name == "linkwright.rings.design" else find_spec(name)

    verb, machine = "optimize", Machine()
    monkeypatch.setattr(verbs, "find_spec", found)
    verbs._at_hand.cache_clear()
    try:
        with pytest.raises(AttributeError, match="not installed may have it: design"):
            getattr(machine, verb)
        with refused(lw.UsageError, name="design"):
            verbs.ring_function("design", "study_of_folder", "the folder of a study")
    finally:
        verbs._at_hand.cache_clear()


def test_an_error_inside_a_property_is_its_own() -> None:
    class Machine(verbs.RingVerbs):
        """A class of the core."""

        @property
        def broken(self) -> float:
            raise AttributeError("inside")

    with pytest.raises(AttributeError, match="inside"):
        _ = Machine().broken
