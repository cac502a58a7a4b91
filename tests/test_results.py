"""Every result answers the same questions in the same words: a new result has to be listed here, and cannot invent its own.

The classes are found by walking the package, so that a result without a factory fails.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import api
from linkwright.errors import RENAMED, Renamed
from linkwright.files import read_csv_table
from linkwright.files.tables import Column, Result, Table
from linkwright.results.checks import Checks
from linkwright.rings import verbs as all_verbs
from linkwright.rings.papers import Entry, Item, Reproduced
from linkwright.rings.robots.workspace import workspace
from linkwright.verbs import RingVerbs
from tests.mechanics.constraints.test_belt import around, pulleys
from tests.rings.control.test_analysis import controllers, crank
from tests.rings.design.optimization.models import SLIDER_CRANK
from tests.rings.design.test_cams import loaded as cam_model
from tests.rings.design.test_cylinders import BEAM
from tests.rings.robots.identification.machines import five_bar_run, measured
from tests.rings.robots.identification.test_calibrate import VARY, poses
from tests.rings.robots.workspace.robots import robot
from tests.rings.synthesis.test_bound_checks import BOX, POSES

NOT_RESULTS = {  # a `table` that is a part of something else
    "linkwright.system.cycles.DesignReader": "arrays of many designs",
    "linkwright.rings.studio.page.Page": "adds a table to a page",
}
OTHER_WORDS = ("to_csv", "to_excel", "frame", "dataset", "remarks", "remark", "warnings", "as_list", "check", "draw", "rows_text", "header")


@cache
def four_bar() -> Any:
    return lw.load("four-bar").cycle(steps=72)


@cache
def run() -> Any:
    return lw.load("four-bar").simulate(0.05)


@cache
def study() -> Any:
    return lw.study("four-bar", {"L1": "0.28..0.32 / 3"}, ["max A.torque", "rms A.torque"])


def loose() -> Any:
    gear = {"joints": ["A", "D"], "radii": ["20 mm", "40 mm"], "play": "0.1 mm"}
    bodies = {"ground": {"pins": ["A", "D"]}, "pinion": {"pins": ["A"]}, "wheel": {"pins": ["D"]}}
    drawing = {"A": [0, 0], "D": [0.06, 0]}
    return lw.load({"name": "loose", "plane": "xy", "drawing": drawing, "bodies": bodies, "gears": {"g": gear}, "drive": {"A": "60 rpm"}})


@cache
def crossing() -> Any:
    s = lw.load("carpet-scraper").system
    return s, s.assemble(q={"J1": 0.0}, v={"J1": 4.7})


@cache
def compared() -> Any:
    return lw.control.compare(
        *crank(9.81), 0.5, {**controllers(), "refused": {"control": controllers()["1act"], "most_steps": 2}}, sample_interval=0.01
    )


@cache
def optimum() -> Any:
    return lw.load(SLIDER_CRANK).optimize("min rms A.torque", {"r": "30..60 mm"}, count=16, starts=1)


FACTORIES: dict[str, Callable[[], Any]] = {
    "Workspace": lambda: workspace(robot("five-bar"), {"left_rod.C.x": (0.0, 0.2, 6), "left_rod.C.y": (0.15, 0.3, 6)}, "dexterity"),
    "WorkspaceModes": lambda: workspace(robot("3-rrr"), {"platform.x": (0.2, 0.8, 4), "platform.y": (-0.3, 0.3, 4)}, "reach", modes="all"),
    "Balanced": lambda: lw.load("four-bar").balance(counterweights={"crank": {"mass": 5}, "rocker": {"mass": 5}}, steps=24),
    "Bearings": lambda: four_bar().bearings(),
    "BeltTable": lambda: lw.load(pulleys(around(0.04, 0.06, pretension="20 N"))).cycle(steps=12).belts(),
    "Branches": lambda: four_bar().system.branches({"A": 1.0}),
    "Calibration": lambda: lw.calibrate(lw.load("five-bar"), poses(0), VARY, offsets=True),
    "ChannelList": lambda: four_bar().channels,
    "CamDesign": lambda: cam_model().cam(),
    "Certificate": lambda: run().certificate,
    "Checks": lambda: run().checks(),
    "Comparison": compared,
    "Controllability": lambda: four_bar().system.controllable(four_bar().system.start),
    "ControlReport": lambda: next(iter(compared().runs.values())).control(),
    "Crosscheck": lambda: crossing()[0].crosscheck(crossing()[1]),
    "CycleLoads": lambda: cycle_loads(four_bar()),
    "CylinderTable": lambda: lw.load(BEAM).cycle(steps=12).cylinders(),
    "Determinacy": lambda: four_bar().system.determinacy(four_bar().system.start),
    "DriveSizing": lambda: four_bar().drive_sizing(motor={"Kt": "0.05 N m/A", "R": "0.4 ohm", "max_torque": "1 N m"}, gear_ratio=20),
    "Dwells": lambda: four_bar().dwells("D", "5 deg"),
    "Efforts": lambda: efforts(four_bar()),
    "OptimalMotion": lambda: lw.load("five-bar").optimal(
        "least effort", {"A": "100 deg", "E": "60 deg"}, duration=0.3, limits={"*.torque": "1.5 N m"}, steps=8
    ),
    "PredictiveController": lambda: lw.load("five-bar").predictive({"*.torque": "1.5 N m"}, steps=4),
    "TimeOptimalMotion": lambda: lw.load("five-bar").time_optimal(
        {"left_rod.C": lambda s: (0.06 + 0.08 * s, 0.24 - 0.02 * s)}, {"*.torque": "1.5 N m"}, steps=40
    ),
    "Flywheel": lambda: four_bar().flywheel(0.05),
    "FreeBody": lambda: four_bar().free_body("coupler", at="60 deg"),
    "HoldingRange": lambda: lw.load("flap").holding_range(steps=4),
    "GicmView": lambda: crossing()[0].gicm(crossing()[1]),
    "ImportReport": lambda: imported(),
    "Identification": lambda: lw.identify(lw.load("five-bar"), measured(five_bar_run(), 1e-3, 0)),
    "Linearized": lambda: lw.load("four-bar").system.linearize(lw.load("four-bar").system.start),
    "LoadHistory": lambda: four_bar().load("C", on="rocker"),
    "LoadCases": lambda: four_bar().load_cases(),
    "Loads": lambda: four_bar().system.inverse(four_bar().system.start),
    "LostMotion": lambda: loose().lost_motion("D", steps=4),
    "MotorChoices": lambda: four_bar().choose_motor(gearbox=False),
    "Observability": lambda: four_bar().system.estimator({"A.v": "1 deg/s"}, every="5 ms").observability(),
    "OptimizationResult": optimum,
    "ParetoFront": lambda: lw.load(SLIDER_CRANK).optimize(
        ["max range guide", "min rms A.torque"], {"r": "30..60 mm", "slider.mass": "0.5..2 kg"}, count=8, starts=1, points=2
    ),
    "Polynomials": lambda: lw.load("ankle").system.transmission(["left", "right"], ["pitch", "roll"]).polynomials(2),
    "Reproduced": lambda: Reproduced("Paper", 1, Entry("(1)", "a sum"), (Item("(1)", "a sum", "3.0", "3.01", "agrees", 0.01, 0.02),)),
    "Requirements": lambda: requirements(four_bar(), ["max A.torque < 1 N m", "full turn"]),
    "SobolIndices": lambda: lw.study("four-bar", {"L1": "0.28..0.32", "L2": "0.9..1"}, "max A.torque", plan="saltelli", count=16).indices(),
    "Study": study,
    "StudySummary": lambda: study().summary(),
    "Summary": lambda: lw.load("four-bar").info(),
    "SynthesisResult": lambda: lw.synthesize(poses=POSES, kind="four-bar", bounds={"pivots": BOX}, unit="mm", count=2),
    "ToleranceAnalysis": lambda: lw.load("four-bar").tolerances({"L1": "+- 1 mm", "L2": "+- 1 mm"}, "max A.torque", count=32),
    "TopologyView": lambda: lw.load("wiper").topology,
    "Trajectory": four_bar,
    "Trajectories": lambda: lw.load("four-bar").cycles({"L1": [0.28, 0.3, 5.0]}, steps=12),
    "VelocityPlan": lambda: velocity_plan(four_bar(), "30 deg"),
}


def imported() -> Any:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # drives and the start belong to no URDF
        return lw.load(lw.load("four-bar").export(Path(folder) / "bar.urdf", dialect="constraint")).imported


def cycle_loads(c: Any) -> Any:
    return importlib.import_module("linkwright.rings.design.cycle_loads").cycle_loads(c)


def efforts(c: Any) -> Any:
    return importlib.import_module("linkwright.rings.design.drive_duty").efforts(c)


def requirements(c: Any, texts: list[str]) -> Any:
    return importlib.import_module("linkwright.rings.design.optimization.requirements").requirements(c, texts)


def velocity_plan(c: Any, at: str) -> Any:
    return importlib.import_module("linkwright.rings.design.velocity_plan").velocity_plan(c, at)


@cache
def classes() -> dict[str, type]:
    """All classes of the package, by module and name."""
    out = {}
    for found in pkgutil.walk_packages(lw.__path__, "linkwright."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, x in vars(module).items():
            if inspect.isclass(x) and x.__module__ == found.name:
                out[f"{found.name}.{name}"] = x
    return out


def results() -> dict[str, type]:
    return {x.__name__: x for x in classes().values() if issubclass(x, Result) and x is not Result and "table" in vars(x)}


def test_every_result_has_a_factory() -> None:
    assert set(results()) == set(FACTORIES)


def test_a_class_with_a_table_is_a_result() -> None:
    own = {k for k, x in classes().items() if inspect.isfunction(vars(x).get("table")) and not issubclass(x, Result)}
    assert own == set(NOT_RESULTS)
    others = {"to_csv", "to_excel", "to_parquet"}
    assert not {k for k, x in classes().items() if others & set(vars(x)) and k != "linkwright.files.tables.Table"}


def test_what_prints_several_lines_is_a_result() -> None:
    """A report is a result, whatever returns it: it then has a table, files and the words of all others."""
    reports = {k: x for k, x in classes().items() if "__str__" in vars(x) and "\\n" in inspect.getsource(vars(x)["__str__"])}
    assert len(reports) > 20 and not [k for k, x in reports.items() if not issubclass(x, Result | Table)]


def test_what_shows_itself_in_a_notebook_is_a_result() -> None:
    shown = {k: x for k, x in classes().items() if "_repr_html_" in vars(x) and not x.__name__.endswith("Verbs")}
    assert shown and not [k for k, x in shown.items() if not issubclass(x, Result | Table | RingVerbs)]  # a mechanism is its page


def test_plain_data_come_from_results_and_their_parts() -> None:
    """A class with `as_dict` is a result, or stands in the annotations of one (a row of its table), at any depth."""
    with_data = {k: x for k, x in classes().items() if inspect.isfunction(vars(x).get("as_dict")) and not issubclass(x, Result | Table)}
    named = {x.__name__ for x in with_data.values()}
    owners = [x for x in classes().values() if issubclass(x, Result)]
    found: set[str] = set()
    while owners:
        texts = " ".join(annotations(x) for x in owners)
        new = {n for n in named - found if re.search(rf"\b{n}\b", texts)}
        found |= new
        owners = [x for x in with_data.values() if x.__name__ in new]
    assert found == named


def annotations(kind: type) -> str:
    """The types of fields, properties and answers of a class."""
    out = [str(x) for n, x in vars(kind).get("__annotations__", {}).items() if not n.startswith("_")]
    for x in (x for n, x in vars(kind).items() if not n.startswith("_")):
        member = inspect.unwrap(getattr(x, "fget", None) or getattr(x, "func", None) or x) if x is not None else x
        out += [str(a) for a in getattr(member, "__annotations__", {}).values()] if callable(member) else []
    return " ".join(out)


@cache
def public() -> frozenset[type]:
    """The classes that a user meets: those of `lw.__all__`, and what their members and calls are annotated with, at any depth."""
    by_name: dict[str, list[type]] = {}
    for x in classes().values():
        by_name.setdefault(x.__name__, []).append(x)
    spaces = [getattr(lw, n) for n in lw.__all__ if inspect.ismodule(getattr(lw, n))]
    met = [*(getattr(lw, n) for n in lw.__all__), *(getattr(s, n) for s in spaces for n in getattr(s, "__all__", ()))]
    texts = [str(getattr(inspect.unwrap(x), "__annotations__", {}).get("return", "")) for x in met if inspect.isfunction(x)]
    found = {x for x in met if inspect.isclass(x)}
    open_ = set(found)
    while open_ or texts:
        texts += [annotations(base) for x in open_ for base in (*x.__mro__, *vars(all_verbs).values()) if is_of(base, x)]
        named = {k for text in texts for n in re.findall(r"[A-Za-z]\w*", text) for k in by_name.get(n, ())}
        open_, texts = named - found, []
        found |= open_
    return frozenset(found)


def is_of(base: Any, kind: type) -> bool:
    """True for a class of the package among the bases of a class, or with verbs of rings for it."""
    own = inspect.isclass(base) and base.__module__.startswith("linkwright")
    return own and (base in kind.__mro__ or base.__name__ == f"{kind.__name__}Verbs")


def test_a_motion_is_a_trajectory() -> None:
    """Samples of times and coordinates: one type for a motion, one for many of them."""
    assert {lw.Trajectory, lw.Trajectories, lw.State, lw.Study} <= public() and len(public()) > 200
    motions = {x.__name__ for x in public() if hasattr(x, "__len__") and {"t", "q"} <= members(x)}
    assert motions == {"Trajectory"}
    many = {x.__name__ for x in public() if {"measure", "derivatives", "ok", "why", "to_xarray", "__getitem__"} <= members(x)}
    assert many == {"Trajectories"}


def members(kind: type) -> set[str]:
    return {n for base in kind.__mro__ for n in (*vars(base), *vars(base).get("__annotations__", {}))}


@cache
def made(name: str) -> Any:
    return FACTORIES[name]()


@pytest.mark.parametrize("name", FACTORIES)
def test_every_result_answers_the_same_questions(name: str, tmp_path: Path) -> None:
    found, kind = made(name), results()[name]
    assert isinstance(found, kind)
    t = found.table()
    assert isinstance(t, Table) and t.title and len(t) > 0 and all(isinstance(c, Column) and c.name for c in t.columns)
    assert len(set(t.names)) == len(t.names) and all(len(c) == len(t) for c in t.columns)
    assert "unit" in t or not [c.name for c in t.columns if c.values.dtype.kind == "f" and not c.unit]  # "-" says that there is none
    text = t.text()
    assert all(f"[{c.unit}]" in text for c in t.columns if c.unit) and len(text.splitlines()) >= len(t) + 1
    assert isinstance(str(found), str) and str(found)
    json.dumps(t.as_dict(), allow_nan=False)
    assert isinstance(found.as_dict(), dict) and json.dumps(found.as_dict())
    assert not [word for word in OTHER_WORDS if hasattr(kind, word) and (name, word) != ("Trajectory", "frame")]  # its loops
    _same_words(found)
    _files(t, tmp_path)


def _same_words(found: Any) -> None:
    if hasattr(found, "notes"):
        assert isinstance(found.notes, tuple) and all(isinstance(x, str) for x in found.notes)
    if hasattr(found, "ok"):
        assert isinstance(found.ok, bool) or (isinstance(found.ok, np.ndarray) and found.ok.dtype == bool)
    if hasattr(found, "why") and not isinstance(found.why, np.ndarray):
        assert isinstance(found.why, str) or (isinstance(found.why, Mapping) and all(isinstance(x, str) for x in found.why.values()))
    if hasattr(found, "checks"):
        assert isinstance(found.checks(), Checks)
    if hasattr(found, "plot"):
        assert "path" in inspect.signature(found.plot).parameters
    assert {"path", "sep", "decimal"} <= set(inspect.signature(found.save).parameters)


def _files(t: Table, folder: Path) -> None:
    for ending in ("csv", "xlsx", "parquet", "json"):
        assert t.save(folder / f"x.{ending}").stat().st_size > 0
    read = read_csv_table(folder / "x.csv", 10**8)
    assert list(read.header) == [c.head.strip() for c in t.columns] and len(read.rows) == len(t)
    frame = t.to_pandas()
    assert list(frame.columns) == t.names and frame.attrs["units"] == t.units


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_gives_the_new_one(old: str) -> None:
    owner, _, member = old.partition(".")
    every = {*classes().values(), lw.Mechanism, lw.System}
    (kind,) = [x for x in every if x.__name__ == owner and issubclass(x, Renamed | RingVerbs)]
    bare = object.__new__(kind)
    with pytest.raises(AttributeError) as problem:
        getattr(bare, member)
    assert RENAMED[old] in str(problem.value) and owner in str(problem.value)
    if RENAMED[old].startswith("st["):  # channels of a state
        assert all(np.isfinite(lw.load("four-bar").system.start[name]) for name in re.findall(r"st\['([\w.]+)'\]", RENAMED[old]))
        return
    new = RENAMED[old].partition("(")[0].partition(",")[0]
    if new.startswith("t["):  # one of many motions
        new = "__getitem__"
    if new.startswith("linkwright.api."):  # internals, by the interface of the core
        assert new.removeprefix("linkwright.api.") in api.__all__
        return
    if new.startswith("s."):  # a method of the system
        kind, new = lw.System, new.removeprefix("s.")
    if new.startswith("m."):  # a verb of the mechanism
        kind, new = lw.Mechanism, new.removeprefix("m.")
    if new.startswith("lw."):
        assert hasattr(lw, new.removeprefix("lw."))
        return
    new = new.partition(".")[0]
    assert hasattr(kind, new) or new in kind.__annotations__
