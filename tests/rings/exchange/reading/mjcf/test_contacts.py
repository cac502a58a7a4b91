"""Contacts from MJCF against MuJoCo: gaps of every pair, the filter of pairs, the combined friction, a robot that stands."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.contact import contact_gaps, touches
from linkwright.rings.exchange.import_report import ImportedModelWarning
from linkwright.system.compiled import compiled_of
from tests.refusals import refused
from tests.rings.exchange.reading.mjcf.files import written

FORMS = {
    "sphere": 'type="sphere" size="0.07"',
    "capsule": 'type="capsule" size="0.04 0.15"',
    "box": 'type="box" size="0.1 0.05 0.08"',
}
PAIR = """
<mujoco><option gravity="0 0 0"/><worldbody>{floor}
  <body name="a" pos="0 0 1"><freejoint/><geom name="one" {one} pos="0.1 -0.05 0.02" euler="20 30 40" mass="1"/></body>{other}
</worldbody></mujoco>
"""
FLOOR = '<geom name="floor" type="plane" size="1 1 1" pos="0.3 0.1 -0.2" euler="10 -20 30"/>'
OTHER = """<body name="b" pos="0.4 0 1"><joint type="ball"/><body name="tip" pos="0 0.1 0">
  <geom name="two" {two} euler="5 6 7" mass="1"/></body></body>"""
STATES = 40
PAIRS = ["sphere plane", "capsule plane", "box plane", "sphere sphere", "sphere capsule", "capsule capsule", "sphere box"]


def gap(m: lw.Mechanism, qpos: np.ndarray) -> float:
    """Smallest gap of all places at a position of MuJoCo's free joint and ball."""
    q = [*qpos[3:7], *qpos[:3], *qpos[7:]]
    return float(contact_gaps(compiled_of(m.system).skel, np.array(q))["g"].min())


@pytest.mark.parametrize("pair", PAIRS)
def test_gaps_are_those_of_mujoco(tmp_path: Path, pair: str) -> None:
    one, two = pair.split()
    plane = two == "plane"
    text = PAIR.format(floor=FLOOR if plane else "", one=FORMS[one], other="" if plane else OTHER.format(two=FORMS[two]))
    m = lw.load(written(tmp_path, text), contacts="ground" if plane else ["a with tip"])
    model = mujoco.MjModel.from_xml_string(text)
    data, rng, checked = mujoco.MjData(model), np.random.default_rng(3), 0
    for _ in range(STATES):
        qpos = model.qpos0.copy()
        mujoco.mj_integratePos(model, qpos, rng.normal(size=model.nv), 0.9)
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        theirs = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, np.zeros(6))
        if not plane and theirs < 0.0:  # bodies deep inside each other: only the sign is comparable
            assert gap(m, qpos) < 0.0
            continue
        assert gap(m, qpos) == pytest.approx(theirs, abs=1e-9)  # round-off of both
        checked += 1
    assert checked > STATES // 2


ROBOT = """
<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1" friction="0.4"/>
  <body name="table" pos="2 0 0"><geom name="top" type="sphere" size="0.1"/></body>
  <body name="trunk" pos="0 0 0.31"><freejoint name="base"/><geom name="hull" type="box" size="0.2 0.1 0.05" mass="3" friction="0.7"/>
    <body name="leg" pos="0.15 0 0"><joint name="hip" axis="0 1 0"/><geom name="thigh" type="sphere" size="0.02" mass="1" friction="0.3"/>
      <body name="foot" pos="0 0 -0.2"><joint name="knee" axis="0 1 0"/>
        <geom name="sole" type="sphere" size="0.03" mass="0.2" friction="0.1" priority="{priority}"/>
        <geom name="ghost" type="sphere" size="0.03" mass="0.1" contype="2" conaffinity="2"/>
        <geom name="slick" type="sphere" size="0.01" mass="0.1" condim="1" friction="0"/>
        <geom name="can" type="cylinder" size="0.01 0.1" mass="0.1"/></body></body></body>
</worldbody><contact>{contact}</contact></mujoco>
"""


def mujocos_pairs(model: mujoco.MjModel) -> dict[frozenset[str], float]:
    """Pairs of geoms and their friction that MuJoCo finds with all geoms in one place, by margins that reach everywhere."""
    model.geom_margin[:], model.body_margin[:], model.pair_margin[:] = 10.0, 10.0, 10.0
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    out = {}
    for c in data.contact:
        names = frozenset(model.geom(int(g)).name for g in (c.geom1, c.geom2))
        out[names] = float(c.friction[0]) if c.dim >= 3 else 0.0
    return out


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.import_report.ImportedModelWarning")
@pytest.mark.parametrize("priority", [0, 1])
@pytest.mark.parametrize(
    "contact",
    [
        "",
        '<exclude body1="foot" body2="trunk"/><exclude body1="world" body2="leg"/>',
        '<pair geom1="hull" geom2="thigh" friction="0.9 0.9" condim="3"/><pair geom1="ghost" geom2="floor"/>',
    ],
)
def test_pairs_and_their_friction_are_those_of_mujoco(tmp_path: Path, contact: str, priority: int) -> None:
    text = ROBOT.format(contact=contact, priority=priority)
    bodies = ["trunk", "leg", "foot"]
    wanted = ["ground", *(f"{a} with {b}" for i, a in enumerate(bodies) for b in bodies[i + 1 :])]
    theirs = mujocos_pairs(mujoco.MjModel.from_xml_string(text))
    mine = {}
    for item in wanted:
        try:
            d = lw.load(written(tmp_path, text), contacts=[item]).description
        except lw.UsageError:
            continue  # the filter leaves nothing of two bodies
        mine |= {frozenset(pair): float(x.mu) for x in d.contacts for pair in x.pairs}
    assert mine == pytest.approx({pair: mu for pair, mu in theirs.items() if "can" not in pair})  # a cylinder has no closed form


def test_a_dropped_robot_stands_on_its_feet(tmp_path: Path) -> None:
    feet = "".join(
        f'<geom name="foot{i}" type="sphere" size="0.02" pos="{x} {y} -0.1" mass="0.1"/>'
        for i, (x, y) in enumerate([(0.2, 0.1), (0.2, -0.1), (-0.2, 0)])
    )
    text = f"""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body name="robot" pos="0 0 0.3"><freejoint name="base"/>
      <geom name="hull" type="ellipsoid" size="0.2 0.1 0.05" mass="2"/>{feet}</body>
    </worldbody></mujoco>"""
    with pytest.warns(ImportedModelWarning, match="ellipsoid and plane"):
        m = lw.load(written(tmp_path, text), contacts="ground")
    run = m.simulate(0.6)
    assert run.certificate.ok
    assert run["base.z"][-1] == pytest.approx(0.12, abs=1e-9)  # centers of the feet 0.1 m below, their radius 0.02 m
    total = sum(run[f"{t.name}.force"][-1] for t in touches(m.description))
    assert total == pytest.approx(2.3 * 9.81, rel=1e-9)


def test_contacts_stay_out_without_the_option(tmp_path: Path) -> None:
    path = written(tmp_path, PAIR.format(floor=FLOOR, one=FORMS["box"], other=""))
    for options in ({}, {"contacts": "none"}):
        m = lw.load(path, **options)
        assert not m.description.contacts
        assert not m.description.surfaces
        assert any(x.startswith("2 contact shapes") and 'contacts="ground"' in x for x in m.imported.dropped)


def test_shapes_of_merged_bodies_move_with_them(tmp_path: Path) -> None:
    text = PAIR.format(floor="", one=FORMS["sphere"], other="").replace(
        "<worldbody>", f'<worldbody><body name="ramp" pos="0.1 0.2 0.3" euler="0 25 0">{FLOOR}</body>'
    )
    m = lw.load(written(tmp_path, text), contacts=["a with ramp"])
    (plane,) = [x for x in m.description.surfaces if x.type == "plane"]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    assert plane.body == "ground"
    assert plane.normal == pytest.approx(data.geom("floor").xmat.reshape(3, 3)[:, 2], abs=1e-12)
    assert gap(m, model.qpos0) == pytest.approx(mujoco.mj_geomDistance(model, data, 0, 1, 10.0, np.zeros(6)), abs=1e-9)


def test_the_saved_model_has_its_contacts(tmp_path: Path) -> None:
    m = lw.load(written(tmp_path, PAIR.format(floor=FLOOR, one=FORMS["capsule"], other="")), contacts=["a"])
    m.save(tmp_path / "saved.yaml")
    again = lw.load(tmp_path / "saved.yaml").description
    assert [(x.name, x.pairs, x.mu) for x in again.contacts] == [("a_ground", (("one", "floor"),), 1.0)]


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    path = written(
        tmp_path, PAIR.format(floor=FLOOR, one=FORMS["box"], other=OTHER.format(two='type="sphere" size="0.1" contype="0" conaffinity="0"'))
    )
    with refused(lw.UsageError, name="tipp"):
        lw.load(path, contacts=["tipp"])
    with refused(lw.UsageError, name="a"):
        lw.load(path, contacts=["a with tip"])
    for wrong in (3, [], "", ["a with b with tip"], [("a", 3)], b"a"):
        with refused(lw.UsageError, name="contacts"):
            lw.load(path, contacts=wrong)


def test_what_contacts_lose_is_reported(tmp_path: Path) -> None:
    text = """<mujoco><asset><hfield name="hills" nrow="3" ncol="3" size="1 1 1 1"/></asset><worldbody>
      <geom name="land" type="hfield" hfield="hills"/><geom name="floor" type="plane" size="1 1 1"/>
      <body name="a" pos="0 0 1"><freejoint/><geom name="ball" type="sphere" size="0.1" condim="6" margin="0.01"/></body>
      <body name="b" pos="1 0 1"><freejoint/><geom name="skid" type="sphere" size="0.1"/></body>
    </worldbody><contact><pair geom1="ball" geom2="land"/><pair geom1="skid" geom2="floor" friction="0.5 0.3"/></contact></mujoco>"""
    with pytest.warns(ImportedModelWarning):
        m = lw.load(written(tmp_path, text), contacts="ground")
    assert {x.name: x.mu for x in m.description.contacts} == {"b_ground": 0.3, "a_ground": 1.0}
    assert set(m.imported.moving) == {
        "1 contact pair",
        "friction that differs in two directions: the smaller one acts in both",
        "torsional and rolling friction of contacts (condim 4 and 6)",
        "margins of contacts, which act before surfaces touch",
    }
