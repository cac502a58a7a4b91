"""Cases of the closed-loop set: JSON files, read and checked. The format is described in benchmarks/closed-loop-set/README.md.

A case that is wrong is refused with a `SetError` that names the file, the place in it, what is there and what is allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.closed_loop_set import DATA
from linkwright.errors import LinkwrightError, nearest

FORMAT = "closed-loop-set 1"
NEEDED = ("format", "name", "title", "source", "corrections", "tasks")
OPTIONAL = ("notes", "plane", "gravity", "bodies", "joints", "forces", "start", "data")
JOINTS = {  # what each type has besides name, bodies and point
    "revolute": ("axis",),
    "prismatic": ("axis",),
    "cylindrical": ("axis",),
    "universal": ("axes",),
    "spherical": (),
    "fixed": (),
}
FORCES = {
    "spring": ("between", "stiffness", "free_length", "damping"),
    "torque": ("joint", "value"),
    "force": ("joint", "value"),
    "damping": ("joint", "value"),
}
MEASURES = {  # what a quantity of a mechanism can be, and the keys that say of what
    "rotation": ("joint",),
    "rotation rate": ("joint",),
    "rotation acceleration": ("joint",),
    "travel": ("joint",),
    "travel rate": ("joint",),
    "travel acceleration": ("joint",),
    "position": ("body", "point", "component"),
    "velocity": ("body", "point", "component"),
    "acceleration": ("body", "point", "component"),
    "effort": ("joint",),
    "force": ("joint", "component"),
    "moment": ("joint", "component"),
    "kinetic energy": (),
    "total energy": (),
}
KINDS = {  # tasks of a mechanism in motion, and what each must give; other kinds are free and state what they ask under `given`
    "free motion": ("time",),
    "accelerations": (),
    "inverse dynamics": ("accelerations",),
    "joint forces": (),
}


class SetError(LinkwrightError):
    """A file of the set is not as its format asks."""


@dataclass(frozen=True)
class Quantity:
    """A number that is asked for. The error of an answer is |answer - value| / scale."""

    name: str
    unit: str
    value: float
    uncertainty: float
    scale: float
    measure: Mapping[str, str] | None
    digits: str


@dataclass(frozen=True)
class Task:
    """A question on a case: what is given, what is asked, how the reference was obtained."""

    id: str
    kind: str
    given: Mapping[str, Any]
    quantities: tuple[Quantity, ...]
    obtained: str
    script: str

    def error(self, values: Mapping[str, float]) -> float:
        """Return the largest error of answers, each over the scale of its quantity."""
        return max(abs(float(values[q.name]) - q.value) / q.scale for q in self.quantities)


@dataclass(frozen=True)
class Case:
    """A case as its file says; `raw` holds bodies, joints, forces and start."""

    name: str
    title: str
    tasks: tuple[Task, ...]
    raw: Mapping[str, Any] = field(repr=False)

    def task(self, name: str) -> Task:
        for task in self.tasks:
            if task.id == name:
                return task
        raise SetError(f"case '{self.name}' has no task '{name}'. {nearest(name, [t.id for t in self.tasks], 'Its tasks')}")


def every(folder: Path = DATA / "cases") -> list[Case]:
    """Return all cases of the set, by name."""
    return [read(path) for path in sorted(folder.glob("*.json"))]


def named(name: str, folder: Path = DATA / "cases") -> Case:
    path = folder / f"{name}.json"
    if not path.is_file():
        raise SetError(f"there is no case '{name}'. {nearest(name, [p.stem for p in sorted(folder.glob('*.json'))], 'Cases')}")
    return read(path)


def read(path: Path) -> Case:
    """Return the case of a file, every part of it checked."""
    return checked(loaded(path), path.name, path.stem)


def loaded(path: Path) -> Any:
    """Return the JSON of a file of the set."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (ValueError, OSError) as problem:
        raise SetError(f"{path.name}: not read: {problem}.") from None


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def checked(raw: Any, file: str, stem: str | None = None) -> Case:
    """Return a case from its JSON; raise SetError with the place of the first thing that is wrong."""
    at = Place(file)
    at.keys(raw, NEEDED, OPTIONAL)
    if raw["format"] != FORMAT:
        raise at("format").wrong(raw["format"], f'"{FORMAT}"')
    for key in ("name", "title"):
        at(key).text(raw[key])
    if stem is not None and raw["name"] != stem:
        raise at("name").wrong(raw["name"], f"the name of the file, {stem!r}")
    for key in ("source", "corrections", "notes"):
        at(key).texts(raw.get(key, []))
    if not raw["source"]:
        raise at("source").wrong(raw["source"], "at least one citation, or 'own'")
    if raw.get("bodies") is not None:
        _mechanism(raw, at)
    tasks = tuple(_task(t, at("tasks", i), raw) for i, t in enumerate(at("tasks").items(raw["tasks"])))
    at("tasks").unique([t.id for t in tasks])
    return Case(raw["name"], raw["title"], tasks, raw)


# -------------------------------------------------------------------- parts


def _mechanism(raw: Mapping[str, Any], at: Place) -> None:
    for key in ("gravity", "joints", "start"):
        if key not in raw:
            raise SetError(f"{at}: a case with bodies needs '{key}'.")
    at("gravity").vector(raw["gravity"])
    if raw.get("plane") not in (None, "xy"):
        raise at("plane").wrong(raw["plane"], '"xy" (all motion in that plane), or no such key')
    for i, body in enumerate(at("bodies").items(raw["bodies"])):
        _body(body, at("bodies", i))
    bodies = [b["name"] for b in raw["bodies"]]
    at("bodies").unique([*bodies, "ground"])
    for i, joint in enumerate(at("joints").items(raw["joints"])):
        _joint(joint, at("joints", i), [*bodies, "ground"])
    at("joints").unique([j["name"] for j in raw["joints"]])
    for i, force in enumerate(at("forces").items(raw.get("forces", []))):
        _force(force, at("forces", i), raw)
    at("start").keys(raw["start"], ("velocities",))
    at("start", "velocities").mapping(raw["start"]["velocities"])
    for name, twist in raw["start"]["velocities"].items():
        place = at("start", "velocities", name)
        place.one_of(name, bodies)
        place.keys(twist, ("angular", "linear"))
        place("angular").vector(twist["angular"])
        place("linear").vector(twist["linear"])


def _body(body: Any, at: Place) -> None:
    at.keys(body, ("name", "mass", "center", "inertia"), ("points",))
    at("name").text(body["name"])
    if at("mass").number(body["mass"]) < 0:
        raise at("mass").wrong(body["mass"], "a mass in kg, zero or more")
    at("center").vector(body["center"])
    rows = [at("inertia", i).vector(row) for i, row in enumerate(at("inertia").items(body["inertia"]))]
    I = np.array(rows)
    if I.shape != (3, 3) or not np.allclose(I, I.T, rtol=0, atol=1e-14 * max(1e-300, float(np.abs(I).max()))):
        raise at("inertia").wrong(body["inertia"], "a symmetric 3x3 matrix in kg m^2 about the center, global axes")
    if np.linalg.eigvalsh(I)[0] < -1e-14 * float(np.abs(I).max()):
        raise at("inertia").wrong(body["inertia"], "a matrix without negative principal moments")
    at("points").mapping(body.get("points", {}))
    for name, point in body.get("points", {}).items():
        at("points", name).vector(point)


def _joint(joint: Any, at: Place, bodies: Sequence[str]) -> None:
    at.keys(joint, ("name", "type", "body_a", "body_b", "point"), ("axis", "axes"))
    at("type").one_of(joint["type"], JOINTS)
    at.keys(joint, ("name", "type", "body_a", "body_b", "point", *JOINTS[joint["type"]]))
    at("name").text(joint["name"])
    for key in ("body_a", "body_b"):
        at(key).one_of(joint[key], bodies)
    if joint["body_a"] == joint["body_b"]:
        raise at("body_b").wrong(joint["body_b"], "another body than body_a")
    at("point").vector(joint["point"])
    axes = [at("axis").unit(joint["axis"])] if "axis" in joint else [at("axes", i).unit(a) for i, a in enumerate(joint.get("axes", []))]
    if "axes" in joint and (len(axes) != 2 or abs(np.dot(*axes)) > 1e-15):
        raise at("axes").wrong(joint["axes"], "two axes at right angles, the first on body_a, the second on body_b")


def _force(force: Any, at: Place, raw: Mapping[str, Any]) -> None:
    at.keys(force, ("name", "type"), tuple({k for keys in FORCES.values() for k in keys}))
    at("type").one_of(force["type"], FORCES)
    at.keys(force, ("name", "type", *FORCES[force["type"]]))
    at("name").text(force["name"])
    if force["type"] == "spring":
        for key in ("stiffness", "free_length", "damping"):
            at(key).number(force[key])
        if len(at("between").items(force["between"])) != 2:
            raise at("between").wrong(force["between"], "two ends")
        for i, end in enumerate(force["between"]):
            place = at("between", i)
            place.keys(end, ("body", "point"))
            place("body").one_of(end["body"], [*(b["name"] for b in raw["bodies"]), "ground"])
            place("point").vector(end["point"])
    else:
        at("joint").one_of(force["joint"], [j["name"] for j in raw["joints"]])
        at("value").number(force["value"])


def _task(task: Any, at: Place, raw: Mapping[str, Any]) -> Task:
    at.keys(task, ("id", "kind", "quantities", "obtained", "script"), ("given",))
    for key in ("id", "kind", "obtained", "script"):
        at(key).text(task[key])
    given = task.get("given", {})
    at("given").mapping(given)
    known = KINDS.get(task["kind"])
    if known is not None:
        at("given").keys(given, known)
        if not raw.get("bodies"):
            raise at("kind").wrong(task["kind"], "a kind that needs no bodies: this case has none")
        if "time" in given and at("given", "time").number(given["time"]) <= 0:
            raise at("given", "time").wrong(given["time"], "a time in s after the start")
        at("given", "accelerations").mapping(given.get("accelerations", {}))
        for name, value in given.get("accelerations", {}).items():
            at("given", "accelerations").one_of(name, [j["name"] for j in raw["joints"]])
            at("given", "accelerations", name).number(value)
    quantities = tuple(
        _quantity(q, at("quantities", i), raw, known is not None) for i, q in enumerate(at("quantities").items(task["quantities"]))
    )
    if not quantities:
        raise at("quantities").wrong([], "at least one quantity")
    at("quantities").unique([q.name for q in quantities])
    return Task(task["id"], task["kind"], given, quantities, task["obtained"], task["script"])


def _quantity(q: Any, at: Place, raw: Mapping[str, Any], measured: bool) -> Quantity:
    at.keys(q, ("name", "unit", "value", "uncertainty", *(["measure"] if measured else [])), ("scale", "digits", "measure"))
    for key in ("name", "unit"):
        at(key).text(q[key])
    value, uncertainty = at("value").number(q["value"]), at("uncertainty").number(q["uncertainty"])
    scale = at("scale").number(q.get("scale", abs(value)))
    if not scale > 0:
        raise at("scale").wrong(q.get("scale"), "a typical size above zero; needed where the value is zero")
    if not 0 <= uncertainty <= 1e-12 * scale:
        raise at("uncertainty").wrong(q["uncertainty"], f"from 0 to 1e-12 of the scale {scale:g}: references have 12 digits")
    digits = q.get("digits", "")
    if not _same(digits, value):
        raise at("digits").wrong(digits, f"the same number as value, {value!r}, with more digits")
    if measured:
        _measure(q["measure"], at("measure"), raw)
    return Quantity(q["name"], q["unit"], value, uncertainty, scale, q.get("measure"), digits)


def _same(digits: Any, value: float) -> bool:
    """True if a text has the digits of a value, or is empty."""
    try:
        return digits == "" or (isinstance(digits, str) and abs(float(digits) - value) <= 1e-15 * max(abs(value), 1e-300))
    except ValueError:
        return False


def _measure(measure: Any, at: Place, raw: Mapping[str, Any]) -> None:
    at.keys(measure, ("what",), ("joint", "body", "point", "component"))
    at("what").one_of(measure["what"], MEASURES)
    at.keys(measure, ("what", *MEASURES[measure["what"]]))
    if "joint" in measure:
        at("joint").one_of(measure["joint"], [j["name"] for j in raw["joints"]])
    if "body" in measure:
        at("body").one_of(measure["body"], [b["name"] for b in raw["bodies"]])
        body = next(b for b in raw["bodies"] if b["name"] == measure["body"])
        at("point").one_of(measure["point"], ["center", *body.get("points", {})])
    if "component" in measure:
        at("component").one_of(measure["component"], "xyz")


# -------------------------------------------------------------------- places


@dataclass(frozen=True)
class Place:
    """A place in a file, for messages: `four-bars-2.json: joints[3].axis`."""

    file: str
    path: str = ""

    def __call__(self, *steps: str | int) -> Place:
        path = self.path
        for step in steps:
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
        return Place(self.file, path)

    def __str__(self) -> str:
        return f"{self.file}: {self.path}" if self.path else self.file

    def wrong(self, found: Any, wanted: str) -> SetError:
        shown = json.dumps(found, default=str)
        return SetError(f"{self}: found {shown if len(shown) < 80 else shown[:77] + '...'}, expected {wanted}.")

    def keys(self, thing: Any, needed: Sequence[str], more: Sequence[str] = ()) -> None:
        self.mapping(thing)
        for key in needed:
            if key not in thing:
                raise SetError(f"{self}: '{key}' is missing; needed are {', '.join(needed)}.")
        for key in thing:
            if key not in needed and key not in more:
                raise SetError(f"{self}: unknown key '{key}'. {nearest(str(key), [*needed, *more], 'Allowed')}")

    def mapping(self, thing: Any) -> None:
        if not isinstance(thing, Mapping):
            raise self.wrong(thing, "an object {...}")

    def items(self, thing: Any) -> Sequence[Any]:
        if not isinstance(thing, list):
            raise self.wrong(thing, "a list [...]")
        return thing

    def text(self, thing: Any) -> str:
        if not isinstance(thing, str) or not thing.strip():
            raise self.wrong(thing, "a text")
        return thing

    def texts(self, thing: Any) -> None:
        for i, x in enumerate(self.items(thing)):
            self(i).text(x)

    def number(self, thing: Any) -> float:
        if isinstance(thing, bool) or not isinstance(thing, (int, float)) or not np.isfinite(thing):
            raise self.wrong(thing, "a number")
        return float(thing)

    def vector(self, thing: Any) -> list[float]:
        if len(self.items(thing)) != 3:
            raise self.wrong(thing, "three numbers [x, y, z]")
        return [self(i).number(x) for i, x in enumerate(thing)]

    def unit(self, thing: Any) -> np.ndarray:
        found = np.array(self.vector(thing))
        if abs(float(found @ found) - 1.0) > 1e-14:
            raise self.wrong(thing, "a direction of length 1")
        return found

    def one_of(self, name: Any, names: Iterable[str]) -> None:
        if not isinstance(name, str) or name not in list(names):
            raise SetError(f"{self}: there is no '{name}'. {nearest(str(name), list(names), 'Allowed')}")

    def unique(self, names: Sequence[str]) -> None:
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise SetError(f"{self}: the name '{sorted(twice)[0]}' is used twice.")
