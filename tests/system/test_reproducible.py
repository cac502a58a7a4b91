"""The same call gives the same bits: in any order of calls, recompiled, pickled, reopened, and from code that is made again.

docs/reference/versions.md lists what is promised. `test_bits` asks questions of all kinds in random order.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.results.files import identical
from linkwright.simulation.run_batch import run_batch
from linkwright.system.mechanism import mechanism_of
from tests import exports

MODEL = "carpet-scraper"
DRIVE = "J1"
KERNELS = ("forward", "rates", "energy", "derivatives", "points")


@pytest.fixture(scope="module")
def given() -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities as numbers: the state every call below begins with."""
    st = lw.compile(MODEL).assemble(q={DRIVE: 0.1}, v={DRIVE: 1.0})
    return st.q.copy(), st.v.copy()


def bits(x: Any) -> bytes:
    """Everything a kernel or a run returned."""
    if isinstance(x, lw.Trajectory):
        return b"".join(np.ascontiguousarray(a).tobytes() for a in (x.t, x.q, x.v, x.a))
    parts = [getattr(x, name) for name in x._fields] if hasattr(x, "_fields") else [x]
    return b"".join(np.ascontiguousarray(a).tobytes() for a in parts)


def calls(s: lw.System, given: tuple[np.ndarray, np.ndarray]) -> dict[str, Callable[[], bytes]]:
    """The calls by name, each from the same numbers."""
    q, v = given
    tau = np.linspace(-0.5, 0.5, len(v))
    st = s.state(q, v)
    inputs = {"energy": (q, v), "points": (q, v)}
    out: dict[str, Callable[[], bytes]] = {name: lambda name=name: bits(s.kernel(name)(*inputs.get(name, (q, v, tau)))) for name in KERNELS}
    out["kkt"] = lambda: bits(s.kernel("forward", "kkt")(q, v, tau))
    out["lanes"] = lambda: bits(s.kernel("forward")(np.array([q, q]), np.array([v, 0.5 * v]), tau))
    out["run"] = lambda: bits(s.simulate(st, 0.1, tolerance=1e-8))
    out["fixed steps"] = lambda: bits(s.simulate(st, 0.02, integrator="rk4", step=1e-3))
    out["driven run"] = lambda: bits(s.simulate(st, 0.05, drive={DRIVE: lw.drives.torque("0.3 N m")}))
    out["batch"] = lambda: run_batch(compiled_of(s), [st, s.state(q, 0.5 * v)], 0.02, sample_interval=0.01)[DRIVE].tobytes()
    return out


def asked(s: lw.System, given: tuple[np.ndarray, np.ndarray], order: Callable[[list[str]], list[str]] = list) -> dict[str, bytes]:
    found = calls(s, given)
    return {name: found[name]() for name in order(list(found))}


def others(s: lw.System) -> None:
    """Calls in between."""
    for k in range(45):
        st = s.assemble(q={DRIVE: 0.01 * k})
    s.forward(st)
    s.inverse(st)
    mechanism_of(s).cycle(steps=12)


@pytest.fixture(scope="module")
def first(given: tuple[np.ndarray, np.ndarray]) -> dict[str, bytes]:
    return asked(lw.compile(MODEL), given)


def test_in_any_order_and_after_other_calls(given: tuple[np.ndarray, np.ndarray], first: dict[str, bytes]) -> None:
    s = lw.compile(MODEL)
    backwards = asked(s, given, lambda names: names[::-1])
    assert backwards == first
    others(s)
    mixed = asked(s, given, lambda names: list(np.random.default_rng(3).permutation(names)))
    assert mixed == first


def test_of_copies_and_after_pickling(given: tuple[np.ndarray, np.ndarray], first: dict[str, bytes]) -> None:
    s = lw.load(MODEL).system
    assert asked(pickle.loads(pickle.dumps(s)), given) == first
    assert asked(s, given) == first
    assert asked(copy.deepcopy(s), given) == first


def test_from_code_that_is_made_again(given: tuple[np.ndarray, np.ndarray], first: dict[str, bytes], monkeypatch: Any) -> None:
    """Without the cache every kernel is traced and compiled for this system; time loops are those of the process."""
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    found = calls(lw.compile(MODEL), given)
    for name in ("forward", "run"):
        assert found[name]() == first[name], name


def test_a_run_that_is_saved_and_opened(given: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    s = lw.compile(MODEL)
    run = s.simulate(s.state(*given), 0.1, tolerance=1e-8)
    again = lw.load_result(run.save(tmp_path / "run.npz"))
    assert bits(again) == bits(run) and identical(again, run)
    assert again.save(tmp_path / "again.npz").read_bytes() == (tmp_path / "run.npz").read_bytes()


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.writing.losses.LossWarning")  # prescribed speeds
@pytest.mark.parametrize("ending", ["yaml", "urdf", "sdf", "xml", "c", "js"])
def test_exports_are_the_same_bytes(ending: str, tmp_path: Path) -> None:
    """Of a mechanism that was just read, one that has computed, and its copy by pickling."""
    m = lw.load("four-bar")
    texts = []
    for k, one in enumerate((lw.load("four-bar"), m, pickle.loads(pickle.dumps(m)))):
        if one is m:
            _ = m.cycle(steps=12)["A.torque"], m.simulate(0.01), m.info()
        if ending in ("c", "js"):
            s = one.system
            made = exports.c(s, ["kinematics"]) if ending == "c" else exports.script(s, ["kinematics"], name="m")
            texts.append(made if isinstance(made, str) else str(sorted(made.items())))
            continue
        path = tmp_path / f"{k}" / f"model.{ending}"
        path.parent.mkdir()
        one.save(path) if ending == "yaml" else one.export(path)
        texts.append(path.read_text(encoding="utf-8"))
    assert texts[0] == texts[1] == texts[2]
