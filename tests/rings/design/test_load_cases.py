"""Load cases: in equilibrium, at the worst instants, with the inertia field that finite-element programs take."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import linkwright as lw
from linkwright import files
from linkwright.model import library
from linkwright.model.description import Body
from linkwright.results.measures.extremes import curve_extremes
from linkwright.rings import cli
from linkwright.rings.design.load_cases import LoadCase
from tests.refusals import refused
from tests.sweeps import sweep

MODELS = ["wiper", "punch-press", "carpet-scraper", "stewart", "rssr", "boot-lid"]
ROUND_OFF = 1e-11  # of the largest force: sums of a dozen terms, reactions solved with a condition of some thousands


def body_field(case: LoadCase, body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the center of mass of weight and inertia, from the field alone (Newton and Euler in body axes)."""
    com, inertia = np.array(body.com, dtype=float), np.array(body.inertia, dtype=float)
    w, alpha = case.spin, case.spin_rate
    acceleration = case.acceleration + np.cross(alpha, com) + np.cross(w, np.cross(w, com))
    return -body.mass * (acceleration - case.gravity), -(inertia @ alpha + np.cross(w, inertia @ w))


@sweep("name", MODELS, now=["wiper", "rssr"])
def test_cases_are_in_equilibrium_and_agree_with_their_field(name: str) -> None:
    c = lw.load(name).cycle(steps=36)
    found = c.load_cases()
    d = c.skel.tree.description
    assert {x.body for x in found} == {b.name for b in d.bodies[1:]}
    assert found.residual < ROUND_OFF
    for case in found:
        force, moment = body_field(case, d.body(case.body))
        own = [a for a in case.actions if a.kind in ("weight", "inertia")]
        size = max(np.linalg.norm(a.force) for a in case.actions) + 1e-9
        assert np.allclose(sum((a.force for a in own), np.zeros(3)), force, rtol=0.0, atol=1e-9 * size)
        assert np.allclose(sum((a.moment for a in own), np.zeros(3)), moment, rtol=0.0, atol=1e-9 * size)


def test_worst_instants_of_pins_are_those_of_the_bearing_table() -> None:
    c = lw.load("wiper").cycle(steps=72)
    found, table = c.load_cases(), c.bearings()
    for case in found:
        for reason in case.reasons:
            if reason.startswith("max acc") or reason.startswith("max ang"):
                continue
            pin = reason.removeprefix("max ")
            force = next(a.force for a in case.actions if a.name == pin)
            assert np.linalg.norm(force) == pytest.approx(table[pin, case.body].max, rel=1e-7)
    (fastest,) = [x for x in found["rocker"] if "max angular acceleration" in x.reasons]
    assert abs(fastest.spin_rate[2]) == pytest.approx(curve_extremes(c.t, c["rocker.angle.a"]).size, rel=1e-7)
    assert abs(fastest.spin_rate[2]) > np.abs(c["rocker.angle.a"]).max() * (1.0 + 1e-6)  # of all samples
    assert "max acceleration" not in {r for x in found["crank"] for r in x.reasons}  # constant over the cycle


def test_pins_lie_where_the_body_has_them() -> None:
    m = lw.load("wiper")
    for case in m.cycle(steps=12).load_cases(["coupler"]):
        for a in case.actions:
            if a.kind == "pin":
                assert np.allclose(a.at, m.description.point(("coupler", a.name)).at, atol=1e-12)


def test_drives_springs_and_friction_act_at_their_joints(tmp_path: Path) -> None:
    """A couple may be drawn anywhere without a change of equilibrium: only its place says at which joint it acts."""
    text = library.path("wiper").read_text(encoding="utf-8")
    path = tmp_path / "wiper.yaml"
    springs, dampers = "coil: {joint: C, stiffness: 2 N m/rad, free_position: 0 deg}", "oil: {joint: B, coefficient: 0.1 N m s/rad}"
    friction = "seal: {joint: D, coulomb: 0.5 N m}"
    path.write_text(f"{text}springs: {{{springs}}}\ndampers: {{{dampers}}}\nfriction: {{{friction}}}\n", encoding="utf-8")
    m = lw.load(path)
    expected = {"drive A": "A", "coil": "C", "oil": "B", "seal": "D"}
    seen = set()
    for case in m.cycle(steps=6).load_cases():
        for a in case.actions:
            if a.name in expected:
                seen.add((a.name, case.body))
                assert np.allclose(a.at, m.description.point((case.body, expected[a.name])).at, atol=1e-12), (case.body, a.name)
                assert np.allclose(a.force, 0.0, atol=1e-9) and abs(a.moment[2]) > 1e-6
    both = {("coil", "coupler"), ("coil", "rocker"), ("oil", "crank"), ("oil", "coupler")}
    assert seen == {("drive A", "crank"), ("seal", "rocker")} | both


def test_files_hold_one_row_per_point_and_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["cycle", "wiper", "--steps", "36", "--load-cases"]
    assert cli.main([*words, "cases.csv", "--decimal", ","]) == 0 and cli.main([*words, "cases.xlsx"]) == 0
    with open("cases.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    sums: dict[tuple[str, str], np.ndarray] = {}
    for row in rows:
        x, y, fx, fy, mz = (float(row[k].replace(",", ".")) for k in ("x [mm]", "y [mm]", "Fx [N]", "Fy [N]", "Mz [N m]"))
        key = row["body"], row["case"]
        sums[key] = sums.get(key, np.zeros(3)) + np.array([fx, fy, mz + 1e-3 * (x * fy - y * fx)])
    assert len(sums) >= 6 and max(np.abs(x).max() for x in sums.values()) < 1e-12  # N and N m: forces are below 30 N
    sheet = openpyxl.load_workbook("cases.xlsx").active
    assert sheet is not None and sheet.max_row == len(rows) + 1
    assert files.made_by_linkwright("cases.csv") and files.made_by_linkwright("cases.xlsx")
    assert cli.main([*words, "cases.csv", "--no-loads"]) != 0


def test_wrong_names_and_missing_masses(tmp_path: Path) -> None:
    c = lw.load("wiper").cycle(steps=12)
    with refused(lw.UsageError, name="rokcer", allowed=("crank", "coupler", "rocker")):
        c.load_cases("rokcer")
    with refused(lw.UsageError, name="crank", allowed=("rocker",)):
        c.load_cases("rocker")["crank"]
    with refused(lw.UsageError, file="a.txt"):
        c.load_cases().save(tmp_path / "a.txt")
