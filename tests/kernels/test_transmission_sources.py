"""Transmissions in C and JavaScript compute what Python computes; C under the strictest warnings, in both precisions."""

from __future__ import annotations

import ctypes
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.kernels import transmission_sources
from tests.compiler.samples import node
from tests.kernels.test_c_sources import TYPES, WARNINGS
from tests.refusals import refused
from tests.system.test_named_terms import LEG

POSES = np.array([[0.1745, 0.1], [-0.3, -0.2], [0.7, 0.25]])
SPEEDS = np.array([2.0, -1.0])
FIELDS = {"motor": (2,), "joint": (2,), "motor_speed": (2,), **dict.fromkeys(("J", "J_rate", "K", "K_rate", "M"), (2, 2)), "h": (2,)}
DRIVER = """
const a = require("./ankle.js"), out = [];
for (const pose of %s) {
  const r = a.toMotors(pose), map = a.at(r.q, %s), back = a.toJoints(r.motor, r.q);
  const tau = a.jointTorques(map, [7, 3]);
  const plain = {motor: [...map.motor], joint: [...map.joint], motorSpeed: [...map.motorSpeed], back: [...back.joint]};
  out.push({...map, ...plain, tau, again: a.motorTorques(map, tau)});
}
let said = "";
try { a.toMotors([1]); } catch (problem) { said = problem.message; }
console.log(JSON.stringify({out, far: a.toMotors([3, 0.3]).ok, said}));
"""


@pytest.fixture(scope="module")
def t() -> lw.Transmission:
    return lw.load("ankle").system.transmission(["left", "right"], ["pitch", "roll"])


@pytest.fixture(scope="module")
def truth(t: lw.Transmission) -> list[dict[str, Any]]:
    """Terms by the names of the C, from Python."""
    x = t.at(joints=POSES, v=dict(zip(t.joints, SPEEDS, strict=True)))
    every = {**{name: getattr(x, name) for name in FIELDS if name not in "Mh"}, "M": x.whole.M, "h": x.whole.h}
    return [{name: np.asarray(values)[i] for name, values in every.items()} for i in range(len(POSES))]


@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-10), pytest.param("single", 2e-4, marks=pytest.mark.slow)])
def test_c_in_both_precisions(t: lw.Transmission, truth: list[Any], tmp_path: Path, precision: str, tolerance: float) -> None:
    """Positions, map and torques; floats have 7 digits, of which the rates lose three."""
    number, kind = TYPES[precision]
    for name, text in transmission_sources.c(t.core.kernels, t._sides, name="ankle", precision=precision).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    call = ["gcc", *WARNINGS, "-O0", "-fPIC", "-shared", "-o", "ankle.so", "ankle.c", "-lm"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = ctypes.CDLL(str(tmp_path / "ankle.so"))
    start = np.array((number * t.core.tree.nq).in_dll(code, "ankle_back_start_q"), dtype=kind)
    for pose, wanted in zip(POSES, truth, strict=True):
        q, motor, joint = start.copy(), np.zeros(2, kind), np.zeros(2, kind)
        assert code.ankle_to_motors(*_pointers(q, pose.astype(kind), motor)) == 0
        assert code.ankle_to_joints(*_pointers(q, motor, joint)) == 0
        np.testing.assert_allclose(joint, pose, atol=tolerance)
        struct = np.zeros(sum(int(np.prod(shape)) for shape in FIELDS.values()), kind)
        assert code.ankle_at(*_pointers(q, SPEEDS.astype(kind), struct)) == 0
        at = 0
        for name, shape in FIELDS.items():
            n = int(np.prod(shape))
            np.testing.assert_allclose(struct[at : at + n].reshape(shape), wanted[name], atol=tolerance, err_msg=name)
            at += n
        tau, again = np.zeros(2, kind), np.zeros(2, kind)
        code.ankle_joint_torques(*_pointers(struct, np.array([7.0, 3.0], kind), tau))
        code.ankle_motor_torques(*_pointers(struct, tau, again))
        np.testing.assert_allclose(tau, wanted["J"].T @ [7.0, 3.0], rtol=tolerance)
        np.testing.assert_allclose(again, [7.0, 3.0], rtol=tolerance)
    before = q.copy()
    assert code.ankle_to_motors(*_pointers(q, np.array([3.0, 0.3], kind), motor)) != 0 and (q == before).all()


def _pointers(*arrays: np.ndarray) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(x.ctypes.data) for x in arrays]


def test_the_script_in_node(t: lw.Transmission, truth: list[Any], tmp_path: Path) -> None:
    (tmp_path / "ankle.js").write_text(transmission_sources.javascript(t.core.kernels, t._sides, name="ankle"), encoding="utf-8")
    program = DRIVER % (json.dumps(POSES.tolist()), json.dumps(SPEEDS.tolist()))
    done = subprocess.run([*node(), "-e", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    names = {"motor_speed": "motorSpeed", "J_rate": "Jrate", "K_rate": "Krate"}
    for found, wanted, pose in zip(said["out"], truth, POSES, strict=True):
        for name in FIELDS:
            np.testing.assert_allclose(found[names.get(name, name)], wanted[name], atol=1e-10, err_msg=name)
        np.testing.assert_allclose(found["back"], pose, atol=1e-10)
        np.testing.assert_allclose(found["again"], [7.0, 3.0], rtol=1e-10)
    assert said["far"] is False and said["said"] == "2 numbers are needed: pitch, roll"


@pytest.mark.slow
def test_files_by_their_ending(tmp_path: Path) -> None:
    m = lw.load("ankle")
    names = {"motors": ["left", "right"], "joints": ["pitch", "roll"]}
    for file in ("ankle.js", "ankle.c", "ankle.hpp"):
        m.export(tmp_path / file, **names)  # .hpp writes its own .c and .h again
    found = sorted(x.name for x in tmp_path.iterdir())
    assert found == ["ankle.c", "ankle.h", "ankle.hpp", "ankle.js", "ankle_loader.cpp", "ankle_plugin.xml", "ankle_urdf.xml"]
    assert "int ankle_to_joints(double *q" in (tmp_path / "ankle.h").read_text(encoding="utf-8")
    (tmp_path / "mine_loader.cpp").write_text("// mine", encoding="utf-8")
    for file, options, text in (
        ("x.c", {"motors": ["left"]}, "name the joints as well"),
        ("x.c", {**names, "kernels": ["forward"]}, "'kernels' belongs to the whole mechanism"),
        ("x.hpp", {}, "needs motors"),
        ("x-y.hpp", names, "'x_y.hpp', not 'x-y.hpp'"),
        ("mine.hpp", names, "mine_loader.cpp' belongs to"),
        ("x.hpp", {**names, "namespace": "a b"}, "identifier"),
    ):
        with pytest.raises(UsageError, match=text):
            m.export(tmp_path / file, **options)


def test_a_floating_base_has_no_code() -> None:
    knee = lw.load(LEG).system.transmission("crank", "knee")
    with refused(UsageError, name="base"):
        assert knee._sides


@pytest.mark.slow
def test_other_joints_are_held_at_the_start(tmp_path: Path) -> None:
    """The stick of an excavator by its cylinder: boom and bucket do not enter, and stay where they are."""
    s = lw.load("excavator").system
    stick = s.transmission("J13", "J7")
    assert stick.parts == ("stick_barrel", "stick_rod") and len(stick.others) == 2
    text = transmission_sources.javascript(stick.core.kernels, stick._sides, name="stick")
    (tmp_path / "stick.js").write_text(text, encoding="utf-8")
    angle = float(s.start["J7"]) + 0.1
    program = f"const s=require('./stick.js');console.log(JSON.stringify([...s.toMotors([{angle!r}]).motor]))"
    done = subprocess.run([*node(), "-e", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    np.testing.assert_allclose(json.loads(done.stdout), stick.to_motors({"J7": angle}), atol=1e-10)
