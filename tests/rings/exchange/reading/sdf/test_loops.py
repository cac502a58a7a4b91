"""The four-bar of the URDF tests in SDF: old and new versions, nested and included models, a world; the same accelerations."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from tests.refusals import refused
from tests.rings.exchange.reading.sdf.models import HINGES, LINKS, NEW, OLD, WORLD, joint, link, sdf
from tests.rings.exchange.reading.urdf.test_dialects import GRAVITY, OURS, accelerations

CLOSED = joint("C", "coupler", "rocker", "<pose>-0.1 0.6 0 0 0 0</pose>")
BALL = (
    "<drake:ball_constraint><drake:ball_constraint_body_A>coupler</drake:ball_constraint_body_A>"
    "<drake:ball_constraint_body_B>rocker</drake:ball_constraint_body_B><drake:ball_constraint_p_AP>0.7 0.3 0</drake:ball_constraint_p_AP>"
    "<drake:ball_constraint_p_BQ>-0.1 0.6 0</drake:ball_constraint_p_BQ></drake:ball_constraint>"
)
ROCKER = (
    '<model name="part" canonical_link="rocker"><pose>0.8 0 0 0 0 0</pose>' + link("rocker", ">0 0 0 0 0 0", 0.8, -0.05, 0.3) + "</model>\n"
)
TWO = link("crank", ">0 0 0 0 0 0", 0.3, 0, 0.15) + link("coupler", ">0 0.3 0 0 0 0", 0.9, 0.35, 0.15)
FIRST = joint("A", "world", "crank") + joint("B", "crank", "coupler")
NESTED = TWO + ROCKER + FIRST + joint("D", "world", "part::rocker") + joint("C", "coupler", "part", "<pose>-0.1 0.6 0 0 0 0</pose>")

FILES = {
    "1.5": sdf(OLD, "1.5"),
    "1.6": sdf(OLD, "1.6"),
    "1.9": sdf(NEW, "1.9", ' canonical_link="crank"'),
    "nested": sdf(NESTED, "1.10"),
    "ball": sdf(LINKS + HINGES + BALL),
    "must be loop": sdf(LINKS + CLOSED.replace("<axis>", "<must_be_loop_joint>true</must_be_loop_joint><axis>") + HINGES),
    "world": WORLD.format(f'<model name="m">{LINKS}{HINGES}{CLOSED}</model>'),
}


@pytest.mark.parametrize("name", FILES)
def test_the_four_bar_moves_alike(tmp_path: Path, name: str) -> None:
    """1e-12: the same equations in other frames. In 1.9 the plane is upright, so that the standard gravity acts in it."""
    path = tmp_path / "m.sdf"
    path.write_text(FILES[name])
    m = lw.load(path) if name in ("1.9", "world") else lw.load(path, gravity=GRAVITY)
    assert m.system.mobility.freedoms == 1
    assert accelerations(m) == pytest.approx(accelerations(lw.load(OURS)), rel=1e-12)
    report = m.imported
    assert report is not None and len(report.gaps) == 1 and report.gaps[0][1] < 1e-15
    assert (report.gaps[0][0] == "C") == (name != "ball")


def included(folder: Path, merge: bool, uri: str = "model://part") -> Path:
    (folder / "part").mkdir()
    (folder / "part" / "model.config").write_text('<model><name>part</name><sdf version="1.9">part.sdf</sdf></model>')
    inner = '<frame name="foot" attached_to="rocker"><pose>-0.1 0.6 0 0 0 0</pose></frame>' + link("rocker", ">", 0.8, -0.05, 0.3)
    (folder / "part" / "part.sdf").write_text(sdf(inner, name="part"))
    owner = "" if merge else "part::"
    text = (
        TWO
        + f'<include merge="{str(merge).lower()}"><uri>{uri}</uri><pose>0.8 0 0 0 0 0</pose></include>\n'
        + FIRST
        + joint("D", "world", f"{owner}rocker")
        + joint("C", "coupler", f"{owner}foot")
    )
    (folder / "m.sdf").write_text(sdf(text))
    return folder / "m.sdf"


def test_a_merged_model_by_its_placement_frame(tmp_path: Path) -> None:
    """The frame `foot` of the included model is put on C, from which its link follows."""
    path = included(tmp_path, True)
    pose = "<placement_frame>foot</placement_frame><pose>0.7 0.6 0 0 0 0</pose>"
    path.write_text(path.read_text().replace("<pose>0.8 0 0 0 0 0</pose>", pose))
    assert accelerations(lw.load(path, gravity=GRAVITY)) == pytest.approx(accelerations(lw.load(OURS)), rel=1e-12)


@pytest.mark.parametrize("merge", [False, True])
def test_included_models(tmp_path: Path, merge: bool) -> None:
    m = lw.load(included(tmp_path, merge), gravity=GRAVITY)
    assert accelerations(m) == pytest.approx(accelerations(lw.load(OURS)), rel=1e-12)
    body = "rocker" if merge else "part::rocker"
    assert [p.name for p in m.description.body(body).points] == ["foot" if merge else "part::foot"]
    again = lw.load(m.save(tmp_path / "again.yaml"))
    assert accelerations(again) == pytest.approx(accelerations(m), rel=1e-14)


def test_includes_outside_and_in_circles_are_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = included(inner, False)
    (tmp_path / "part").mkdir()
    for uri, why in (
        ("model://other", "'model://other' is not read: there is no such file"),
        ("../part/x.sdf", "outside the folders"),
        ("https://fuel.gazebosim.org/x", "Nothing is fetched from a network"),
        ("m.sdf", "includes itself"),
    ):
        path.write_text(sdf(f"<include><uri>{uri}</uri></include>"))
        with pytest.raises(lw.LinkwrightError, match=rf"m\.sdf:4: <include>: .*{why}"):
            lw.load(path)
    path.write_text(sdf("<include><uri>model://part</uri></include>"))
    (inner / "part" / "part.sdf").write_text(sdf("<include><uri>../m.sdf</uri></include>", name="part"))
    with refused(lw.LinkwrightError, line=4):
        lw.load(path)


def test_includes_that_multiply_are_refused(tmp_path: Path) -> None:
    """Twenty files, each including the next one twice, are a million models: refused by their bytes, in seconds."""
    for i in range(18):
        inner = "".join(f"<include><uri>m{i + 1}.sdf</uri><name>x{k}</name></include>\n" for k in "ab")
        (tmp_path / f"m{i}.sdf").write_text(sdf(inner + " " * 20_000, name=f"m{i}"))
    (tmp_path / "m18.sdf").write_text(sdf('<link name="l"/>'))
    with refused(lw.LinkwrightError, line=4):
        lw.load(tmp_path / "m0.sdf")
