"""A joint type of a user's own, registered by one line: every part of the program finds it, and no other file knows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.joints import JOINTS
from linkwright.rings.exchange.writing.pinocchio import pinocchio_model
from linkwright.rings.studio.live.scene_data import places, references, shapes
from linkwright.rings.studio.scene import Scene, Stage
from linkwright.system.mechanism import mechanism_of
from tests import ROOT, exports, factory
from tests.joints import test_joints as contract
from tests.joints.pin_arc import PinArc, arc_model
from tests.rings.studio.live.engine_runs import made, run
from tests.rings.studio.live.test_engine import CYCLE, check_cycle

RADIUS = float(np.hypot(0.095, 0.75))  # of C about D in the drawing
ROUND_OFF = 1e-11  # newtons, newton meters and meters of mechanisms with loads of 16 N: 361 closed positions, a few hundred roundings each


@pytest.fixture(autouse=True)
def pin_arc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JOINTS, "pin_arc", PinArc)


@pytest.fixture
def arc() -> lw.Mechanism:
    return lw.load(arc_model(RADIUS, rocker=False))


@pytest.fixture
def four_bar() -> lw.Mechanism:
    return lw.load(arc_model(RADIUS, rocker=True))


@pytest.mark.parametrize("seed", range(3))
def test_the_registry_wide_contract_holds(seed: int) -> None:
    contract.test_subspace_is_the_derivative_of_the_pose("pin_arc", seed)
    contract.test_bias_is_the_derivative_of_the_subspace("pin_arc", seed)
    contract.test_coordinates_invert_the_pose("pin_arc", seed)
    contract.test_closed_joint_has_zero_residual_and_orthonormal_rows("pin_arc")
    contract.test_gradient_and_curvature_are_exact_where_the_joint_is_open("pin_arc", seed)


def test_motion_torque_and_loads_are_those_of_the_four_bar(arc: lw.Mechanism, four_bar: lw.Mechanism) -> None:
    """The rocker without mass carries the force along its length, as the arc does."""
    one, two = arc.cycle(), four_bar.cycle()
    for channel in ("coupler.P", "coupler.P.v", "coupler.P.a", "crank.angle", "coupler.angle.v", "coupler.angle.a"):
        np.testing.assert_allclose(one[channel], two[channel], atol=ROUND_OFF * (1.0 + np.abs(two[channel]).max()), err_msg=channel)
    for pin, body in (("A", "ground"), ("B", "coupler"), ("C", "coupler")):
        np.testing.assert_allclose(one.load(pin, on=body).force, two.load(pin, on=body).force, atol=ROUND_OFF)
        np.testing.assert_allclose(one.load(pin, on=body).moment, two.load(pin, on=body).moment, atol=ROUND_OFF)
    torque = [np.array([x.loads.tau["A"] for x in c._instants[::12]]) for c in (one, two)]
    np.testing.assert_allclose(torque[0], torque[1], atol=ROUND_OFF)
    travel = RADIUS * np.arctan2(one["coupler.C.y"], one["coupler.C.x"] - 1.0)
    np.testing.assert_allclose(one["C.slide"], travel, atol=ROUND_OFF)


def test_the_pin_may_be_in_the_tree(arc: lw.Mechanism) -> None:
    """Cut at B, the coupler is carried by the arc: the same accelerations of the same state."""
    whole, other = arc.system, lw.compile(arc, cuts=["B"])
    assert whole.tree.cuts == ("C",) and "C" in other.tree.node_of_joint
    st, there = whole.assemble({"A": 0.7}, v={"A": 3.0}), other.assemble({"A": 0.7}, v={"A": 3.0})
    a, b = (compiled_of(s).instant(x, s.forward(x, {"A": 1.5}).a) for s, x in ((whole, st), (other, there)))
    for node in ("crank", "coupler"):
        mine, theirs = (x.A[s.tree.node_of_body[node]][2] for x, s in ((a, whole), (b, other)))
        assert mine == pytest.approx(theirs, rel=1e-9)


def test_a_native_run_is_that_of_the_four_bar(arc: lw.Mechanism, four_bar: lw.Mechanism) -> None:
    free = [m.system.assemble({"A": 0.4}, v={"A": 5.0}) for m in (arc, four_bar)]
    one, two = (m.system.simulate(st, 0.5, tolerance=1e-11) for m, st in zip((arc, four_bar), free, strict=True))
    assert one.certificate.ok and "native" in str(one.certificate)
    np.testing.assert_allclose(one["coupler.P"][-1], two["coupler.P"][-1], atol=1e-9)  # the tolerance over some 50 steps


def test_the_model_file_reads_and_writes_it(arc: lw.Mechanism, tmp_path: Path) -> None:
    again = lw.load(arc.save(tmp_path / "arc.yaml"))
    for m in (arc, again):
        assert m.system.description.joint("C").options == (("radius", RADIUS),)
    np.testing.assert_allclose(again.cycle(steps=12)["coupler.P"], arc.cycle(steps=12)["coupler.P"], atol=ROUND_OFF)
    model = arc_model(RADIUS, rocker=False)
    model["joints"]["C"]["radius"] = "750 mm"
    assert lw.load(model).description.joint("C").options == (("radius", 0.75),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"radius": None}, "a pin_arc needs its `radius:`, the radius of the arc"),
        ({"radius": "2 kg"}, "radius"),
        ({"type": "curved_slot"}, "Did you mean 'pin_arc'"),
        ({"type": "revolute"}, "only a pin_arc has a radius, not a revolute joint"),
        ({"radios": 0.7}, "Did you mean 'radius'"),
    ],
)
def test_model_file_errors_name_it(change: dict[str, Any], words: str) -> None:
    model = arc_model(RADIUS, rocker=False)
    model["joints"]["C"] = {k: v for k, v in (model["joints"]["C"] | change).items() if v is not None}
    with pytest.raises(lw.ModelError, match=words):
        lw.load(model)


def test_the_summary_lists_its_stroke_and_freedom(arc: lw.Mechanism) -> None:
    text = str(arc.info())
    assert re.search(r"C\.slide +1\.253\d? \.\. +1\.890\d", text), text
    assert "pin_arc" in str(arc.topology) and "full turn" in text
    assert [r.joint_type for r in arc.cycle().bearings().rows if r.pin == "C"] == ["pin_arc", "pin_arc"]


def test_the_drawing_shows_an_arc_and_no_pivot(arc: lw.Mechanism, four_bar: lw.Mechanism, tmp_path: Path) -> None:
    turn = arc.cycle(steps=48)
    scene = Scene(arc.system, turn)
    (guide,) = scene.guides
    assert guide.turns and guide.node == -1
    np.testing.assert_allclose(np.linalg.norm(guide.curve, axis=1), RADIUS, atol=ROUND_OFF)  # about D, F's origin
    ends = guide.curve[[0, -1], :2] + [1.0, 0.0]
    way = RADIUS * np.arctan2(ends[:, 1], ends[:, 0] - 1.0)
    np.testing.assert_allclose(way, [turn["C.slide"].min(), turn["C.slide"].max()], atol=ROUND_OFF)
    at = np.array([0.905, 0.75, 0.0]) - [1.0, 0.0, 0.0]
    assert abs(guide.tangent(at) @ at) < 0.02 * RADIUS  # along the arc; its chords are 33rds of the travel
    grounded = {p.name for p in scene.pins if p.grounded}
    assert grounded == {"A"} and {p.name for p in Scene(four_bar.system, four_bar.cycle(steps=48)).pins if p.grounded} == {"A", "D"}
    still = Scene(arc.system, None).guides[0]
    assert abs(still.tangent(at) @ at) < 1e-3 * RADIUS
    assert arc.plot("mechanism", tmp_path / "arc.svg").read_text(encoding="utf-8").count("<path") > four_bar.plot(
        "mechanism", tmp_path / "bar.svg"
    ).read_text(encoding="utf-8").count("<path")


def test_the_scene_of_the_page_moves_with_the_radius(arc: lw.Mechanism) -> None:
    system = arc.system
    scene = Scene(system, mechanism_of(system).cycle(steps=12))
    (guide,) = shapes(scene)["guides"]
    assert guide["turns"] and guide["type"] == "pin_arc" and len(guide["curve"]) == 33
    points = np.array([p["at"] for p in guide["curve"]])
    np.testing.assert_allclose(np.linalg.norm(points - [1.0, 0.0, 0.0], axis=1), RADIUS, atol=ROUND_OFF)
    refs = references(scene)
    numbers = np.array(places(system.description, refs), float).reshape(-1, 3)
    np.testing.assert_allclose(numbers[[p["place"] for p in guide["curve"]]], points, atol=ROUND_OFF)
    numbers = np.array(places(arc.description.numbers({"R": 0.8}), refs), float).reshape(-1, 3)[[p["place"] for p in guide["curve"]]]
    np.testing.assert_allclose(np.linalg.norm(numbers - [1.0, 0.0, 0.0], axis=1), 0.8, atol=ROUND_OFF)
    stage = Stage(scene.skel, scene.start)
    assert np.linalg.norm(points - stage.place(-1, [0.905, 0.75, 0.0]), axis=1).min() < 0.02


def test_the_engine_of_the_page_computes_it(arc: lw.Mechanism) -> None:
    from linkwright.rings.studio.live import cycle_data

    page = made(arc.system)
    (got,) = run({"arc": page}, [("arc", CYCLE, {"at": cycle_data.compared_samples(page.motion.turn)})])
    check_cycle(page, got)


def test_page_and_report_are_written(arc: lw.Mechanism, tmp_path: Path) -> None:
    page = arc.show(tmp_path / "arc.html").read_text(encoding="utf-8")
    assert '"pin_arc"' in page and '"curve"' in page
    report = arc.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert ("C.slide" in report and "<svg" in report) or "data:image" in report


@pytest.mark.parametrize(("write", "program"), [(exports.mjcf, "MuJoCo"), (pinocchio_model, "Pinocchio")])
def test_converters_refuse_it_by_name(arc: lw.Mechanism, write: Any, program: str) -> None:
    for model in (arc, arc.system, lw.compile(arc, cuts=["B"])):
        with pytest.raises(UsageError, match=f"{program} has no counterpart of the pin_arc joint 'C'"):
            write(model)


def test_random_mechanisms_draw_it() -> None:
    kinds = (*factory.PLANAR, "pin_arc")
    drawn = [factory.random_tree(np.random.default_rng(seed), 6, kinds, planar=True) for seed in range(12)]
    assert any(j.type == "pin_arc" and dict(j.options)["radius"] > 0 for x in drawn for j in x.skel.tree.description.joints)


def test_no_other_file_knows_joint_types_by_name() -> None:
    """Type names are compared in the rooms of joints and of files only: the model's and those of other programs."""
    plain = "|".join(set(JOINTS) - {"free", "fixed", "planar", "screw"})  # these are also words for other things
    compared = re.compile(
        rf"\.type (?:==|!=|in|not in) [(\[{{]?\"(?:{'|'.join(JOINTS)})\"|\w (?:==|!=|in|not in) [(\[{{]?\"(?:{plain})\"|\"(?:{plain})\": "
    )
    source = ROOT / "src" / "linkwright"
    allowed = [source / x for x in ("joints", "model/file", "rings/exchange")]  # the last names others' joints
    found = [
        f"{path.relative_to(source)}:{i}: {line.strip()}"
        for path in sorted(source.rglob("*.py"))
        if not any(path.is_relative_to(x) for x in allowed)
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if compared.search(line)
    ]
    assert not found, found
