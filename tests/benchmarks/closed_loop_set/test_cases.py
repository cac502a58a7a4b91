"""Files of the closed-loop set: every case is valid, its start satisfies its joints, and what is wrong is refused with the place."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from benchmarks.closed_loop_set import DATA, cases
from benchmarks.closed_loop_set.cases import SetError, checked
from benchmarks.closed_loop_set.references import makers

EVERY = cases.every()
MOVING = [c for c in EVERY if c.raw.get("bodies")]


def four_bars() -> dict[str, Any]:
    return json.loads((DATA / "cases" / "four-bars-2.json").read_text(encoding="utf-8"))


def test_every_file_is_a_case_with_a_script() -> None:
    assert {c.name for c in EVERY} >= {"four-bars-2", "four-bars-40"}
    assert {c.name for c in EVERY} <= set(makers()), "a case without a function that makes it"
    root = DATA.parent.parent
    for c in EVERY:
        for task in c.tasks:
            assert (root / task.script).is_file(), f"{c.name}, {task.id}: {task.script}"


@pytest.mark.parametrize("case", MOVING, ids=lambda c: c.name)
def test_the_start_satisfies_every_joint(case: cases.Case) -> None:
    """Velocities of both bodies at a joint, from the file alone; round-off of positions times speeds."""
    raw = case.raw
    still = {"angular": [0, 0, 0], "linear": [0, 0, 0]}
    moving = {b["name"]: (b["center"], raw["start"]["velocities"].get(b["name"], still)) for b in raw["bodies"]}
    moving["ground"] = ([0, 0, 0], still)
    size = 1e-14 * (1 + max(np.abs(v[key]).max() for _, v in moving.values() for key in ("angular", "linear")))
    for j in raw["joints"]:
        (pa, va), (pb, vb) = moving[j["body_a"]], moving[j["body_b"]]
        at = np.array(j["point"])
        dv = np.array(vb["linear"]) + np.cross(vb["angular"], at - pb) - va["linear"] - np.cross(va["angular"], at - pa)
        dw = np.array(vb["angular"], float) - va["angular"]
        free = [np.array(a) for a in j.get("axes", [j["axis"]] if "axis" in j else [])]
        kind = j["type"]
        slides = kind in ("prismatic", "cylindrical")
        turns = kind not in ("prismatic", "fixed")
        assert np.abs(dv - (free[0] * (free[0] @ dv) if slides else 0)).max() < size, f"{j['name']} opens"
        if kind != "spherical":
            held = dw - sum((a * (a @ dw) for a in free), np.zeros(3)) if turns else dw
            assert np.abs(held).max() < size, f"{j['name']} turns about another axis than its own"


END = {"body": "ground", "point": [0, 0, 0]}
SPRING = {"name": "s", "type": "spring", "between": [END, END, END], "stiffness": 1, "free_length": 1, "damping": 0}
INVERSE = {**four_bars()["tasks"][0], "kind": "inverse dynamics"}
WRONG = [
    (("format",), "closed-loop-set 9", 'format: found "closed-loop-set 9", expected "closed-loop-set 1"'),
    (("name",), "other", "expected the name of the file, 'four-bars-2'"),
    (("source",), [], "source: found [], expected at least one citation"),
    (("gravity",), [0, -9.81], "gravity: found [0, -9.81], expected three numbers"),
    (("bodies", 0, "mass"), -1, "bodies[0].mass: found -1, expected a mass in kg"),
    (("bodies", 0, "mass"), "1 kg", 'bodies[0].mass: found "1 kg", expected a number'),
    (("bodies", 0, "inertia", 0), [1, 2, 0], "bodies[0].inertia"),
    (("bodies", 1, "name"), "crank0", "the name 'crank0' is used twice"),
    (("joints", 0, "type"), "hinge", "joints[0].type: there is no 'hinge'"),
    (("joints", 0, "axis"), [0, 0, 2], "joints[0].axis: found [0, 0, 2], expected a direction of length 1"),
    (("joints", 0, "body_b"), "crnk0", "Did you mean 'crank0'?"),
    (("joints", 0, "body_b"), "ground", "expected another body than body_a"),
    (("joints", 0, "pitch"), 1, "unknown key 'pitch'"),
    (("start", "velocities", "cranck0"), {"angular": [0, 0, 0], "linear": [0, 0, 0]}, "Did you mean 'crank0'?"),
    (("tasks", 0, "given"), {}, "'time' is missing"),
    (("tasks", 0, "given", "time"), -1, "expected a time in s after the start"),
    (("tasks", 0, "quantities"), [], "at least one quantity"),
    (("tasks", 0, "quantities", 0, "uncertainty"), 1e-9, "references have 12 digits"),
    (("tasks", 0, "quantities", 0, "scale"), 0, "a typical size above zero"),
    (("tasks", 0, "quantities", 0, "digits"), "1.5", "the same number as value"),
    (("tasks", 0, "quantities", 0, "measure", "joint"), "A9", "there is no 'A9'"),
    (("tasks", 0, "quantities", 0, "measure", "what"), "angle", "there is no 'angle'"),
    (("tasks", 0, "quantities", 0, "digits"), "about 3", 'digits: found "about 3", expected the same number as value'),
    (("tasks", 0, "quantities", 0, "digits"), 3, "digits: found 3, expected the same number as value"),
    (("tasks", 1, "id"), "early", "the name 'early' is used twice"),
    (("start", "velocities"), [], "start.velocities: found [], expected an object"),
    (("bodies", 0, "points"), [1], "bodies[0].points: found [1], expected an object"),
    (("joints", 0, "name"), 7, "joints[0].name: found 7, expected a text"),
    (("forces",), [{"name": "", "type": "torque", "joint": "A0", "value": 1}], 'forces[0].name: found "", expected a text'),
    (("forces",), [SPRING], "forces[0].between: found"),
    (("tasks", 0), {**INVERSE, "given": {"accelerations": [1]}}, "tasks[0].given.accelerations: found [1], expected an object"),
]


@pytest.mark.parametrize(("place", "value", "said"), WRONG, ids=lambda x: ".".join(map(str, x)) if isinstance(x, tuple) else "")
def test_wrong_files_are_refused(place: tuple[Any, ...], value: Any, said: str) -> None:
    raw = copy.deepcopy(four_bars())
    inner = raw
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(SetError) as problem:
        checked(raw, "four-bars-2.json", "four-bars-2")
    assert said in str(problem.value) and str(problem.value).startswith("four-bars-2.json")


def test_broken_json_is_refused(tmp_path: Any) -> None:
    for text in ("{", '{"name": NaN}'):
        (tmp_path / "a.json").write_text(text, encoding="utf-8")
        with pytest.raises(SetError, match=r"a\.json: not read"):
            cases.read(tmp_path / "a.json")
    with pytest.raises(SetError, match="Did you mean 'four-bars-2'"):
        cases.named("four-bar-2")
