"""papers/Koul2013/README.md: every number in its tables computed again, and the matrices behind them against the reference data."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations import create
from linkwright.results.measures.extremes import curve_extremes
from linkwright.rings.papers import errata, koul, koul_cost, koul_eliminations, koul_matrices, koul_printed, koul_runs
from linkwright.rings.papers.chain_cost import without_structure
from linkwright.rings.papers.operation_counts import Tally, variables
from tests import ROOT
from tests.reference import load
from tests.rings.papers import koul_by_hand

PAGE = (ROOT / "papers" / "Koul2013" / "README.md").read_text(encoding="utf-8")
SAHA = load("saha")
SCRAPER = SAHA["carpet_scraper"]["forward_dynamics"]["A_R"]["t0"]
EXAMPLES = {"scraper": koul_matrices.scraper, "3-RRR": koul_matrices.manipulator}
LISTED = {"scraper": SCRAPER["intermediate_paper_form"], "3-RRR": SAHA["rrr_3"]["t0"]["intermediate_paper_form"]}


def table(first: str) -> list[list[str]]:
    """Rows of the one table whose heading begins like this."""
    (found,) = re.findall(rf"^\| ?{re.escape(first)}.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[x.strip() for x in line.strip("|").split("|")] for line in found.splitlines()]


def same(shown: list[str], values: list[float]) -> None:
    """As many digits as are shown."""
    for text, value in zip(shown, values, strict=True):
        digits = len(text.partition(".")[2])
        assert float(text) == pytest.approx(value, abs=0.5000001 * 10.0**-digits), f"{text} is {value}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_matrices_of_the_paper(name):
    """Ours and those written out by hand are the listed ones; the eliminations give the listed multipliers."""
    s, st = EXAMPLES[name]()
    e, listed = koul_matrices.example(s), LISTED[name]
    for m in (koul_matrices.paper_form(s, st), koul_by_hand.LINKS[s.description.name].matrices(*koul_matrices.angles(s, st))):
        for key, x in {"I": m.I, "phi": m.phi, "J": m.J, "Psi": m.Psi, "GICM_Ibar": m.gicm, "Psibar": m.Psi_bar}.items():
            np.testing.assert_allclose(x, listed[key], atol=1e-12)  # entries up to 124, listed to 16 digits
        ways = [koul_eliminations.system_approach(m), koul_eliminations.system_level(m)]
        if name == "scraper":
            ways.append(koul_eliminations.scraper_subsystems(m, e))
        else:
            ways += [koul_eliminations.manipulator_subsystems(m, e), koul_eliminations.manipulator_whole(m, e, corrected=True)]
        for lam in ways:
            np.testing.assert_allclose(lam, listed["lam"], rtol=0.0, atol=1e-9)


def test_the_reference_is_the_derivation_by_hand():
    """koul_reference.json: at the start for the matrices, in motion for the Coriolis terms."""
    for (s, start), (_, st) in zip((koul_matrices.scraper(), koul_matrices.manipulator()), koul_matrices.in_motion(), strict=True):
        links, there = koul_by_hand.LINKS[s.description.name], koul_printed.reference(s.description.name)
        for found, right in zip(there.start, links.matrices(*koul_matrices.angles(s, start)), strict=True):
            np.testing.assert_allclose(found, right, rtol=0.0, atol=1e-12)  # entries up to 124, angles to round-off
        theta, rate = koul_matrices.angles(s, st)
        np.testing.assert_allclose(there.moving_I, links.matrices(theta, rate).I, rtol=0.0, atol=1e-13)
        np.testing.assert_allclose(there.moving_C, links.coriolis(theta, rate), rtol=0.0, atol=1e-13)


def test_the_upper_triangle_of_the_appendix_is_what_it_says():
    """(53): the last two block rows hold -I-bar_11, -I-bar_12 and minus the Schur complement."""
    s, st = koul_matrices.manipulator()
    m, e = koul_matrices.paper_form(s, st), koul_matrices.example(s)
    K, _ = koul_eliminations.eliminated(m, e)
    assert np.abs(np.tril(K, -7)[7:, :7]).max() < 1e-12 and np.abs(K[9:, 7:9]).max() < 1e-12  # nothing left below
    G = m.gicm
    np.testing.assert_allclose(K[7:9, 7:], -G[:2], atol=1e-13)
    np.testing.assert_allclose(K[9:, 9:], -(G[2:, 2:] - G[2:, :2] @ np.linalg.solve(G[:2, :2], G[:2, 2:])), atol=1e-13)


def test_misprints():
    s, st = koul_matrices.scraper()
    theta, _ = koul_matrices.angles(s, st)
    robot, start = koul_matrices.manipulator()
    pose, _ = koul_matrices.angles(robot, start)
    J, K = koul_matrices.paper_form(s, st).J, koul_matrices.paper_form(robot, start).J
    np.testing.assert_allclose(koul_printed.printed_scraper(theta, corrected=True), J, atol=1e-14)
    np.testing.assert_allclose(koul_printed.printed_manipulator(pose, corrected=True), K, atol=1e-14)
    first = np.abs(koul_printed.printed_scraper(theta, corrected=False) - J)
    second = np.abs(koul_printed.printed_manipulator(pose, corrected=False) - K)
    assert np.argwhere(first > 1e-9).tolist() == [[3, 1]] and np.argwhere(second > 1e-9).tolist() == [[1, 0], [1, 1]]
    off = [re.search(r"(0\.\d+) (?:m|N) off", e.found) for e in errata.of_paper("Koul2013")]
    shown = [x.group(1) for x in off if x is not None]
    same(shown, [first.max(), second.max(), float(koul_eliminations.whole_elimination().deviation or 0.0)])
    read = koul_printed.printed_scraper(theta, corrected=False, lengths=koul_by_hand.TABLE_LENGTHS)
    assert (np.abs(read - J) > 1e-9).sum() == 12 and "12 entries of J are wrong" in PAGE


def test_multipliers_and_accelerations():
    rows = {head: cells for head, *cells in table("| scraper | 3-RRR")}
    for column, (name, example) in enumerate(EXAMPLES.items()):
        s, st = example()
        lam, acc = LISTED[name]["lam"], s.forward(st)
        for i in range(len(lam) // 2):
            same(rows[f"lambda_{i + 1} (N)"][column].split(", "), lam[2 * i : 2 * i + 2])
        drives = ["J1"] if name == "scraper" else ["J1", "J8", "J9"]
        same(rows["q'' of the drives (rad/s^2)"][column].split(", "), [acc[j] for j in drives])
        same([rows["condition of the GICM"][column]], [LISTED[name]["GICM_cond"]])


def test_masses_felt_at_opened_pins():
    s, st = koul_matrices.scraper()
    m, e = koul_matrices.paper_form(s, st), koul_matrices.example(s)
    parts = {"crank alone": 1, "rocker and coupler alone": 2, "pantograph alone": 3}
    for pin, who, low, high in table("opened pin | subsystem"):
        shares = koul_eliminations.shares(m, e, *[("J8", "J9", "J10").index(pin) + 1] * 2)
        block = shares[parts[who]] if who in parts else sum(shares.values())
        weak, strong = np.linalg.eigvalsh(block)
        same([low], [1.0 / strong])
        if high == "none moves":
            assert weak == pytest.approx(0.0, abs=1e-15)
            assert strong == pytest.approx(3.0 / 1.5, rel=1e-12)  # a rod of 1.5 kg, a third of it at its end
        else:
            same([high], [1.0 / weak])
    felt = koul_matrices.apparent_masses(s, st)
    same([x for pin, who, *x in table("opened pin | subsystem") if who == "both" and pin == "J8" for x in x], list(felt["J8"]))


@pytest.mark.slow
def test_runs_are_as_close_as_the_page_says():
    items = [koul_runs.free_scraper(), koul_runs.forced_scraper(), koul_runs.free_manipulator(), koul_runs.forced_manipulator()]
    for item, (figure, *_, off) in zip(items, table("figure | what"), strict=True):
        assert item.where == f"Fig. {figure}" and item.figure is not None
        assert item.deviation is not None and item.deviation < float(off)
    torque = curve_extremes(*koul_runs.scraper_torque())
    assert f"from {torque.low:.2f} to {torque.high:.2f} N m" in PAGE
    assert "up to 30.9 N m" in PAGE and "up to 30.9 N m" in items[3].computed


def test_operations():
    """Alike is compared with alike: both methods with every entry a number, or both with zeros folded."""
    ways = {"every entry a number": "full", "zeros folded": "folded"}
    rows = table("counted |")
    assert [(way, name) for way, name, *_ in rows] == [(way, name) for way in ways for name in EXAMPLES]
    said = koul_cost.multiplier_cost().computed
    for way, name, slm, sslm, fewer, printed in rows:
        pair = getattr(koul_cost.operations(name), ways[way])
        assert (int(slm), int(sslm)) == pair and f"{name} {slm} and {sslm} ({fewer} % fewer)" in said
        same([fewer, printed], [koul_cost.saved(pair), koul_cost.saved(koul_cost.TABLE_4[name])])
    savings = [koul_cost.saved(pair) for rows in koul_cost.TABLE_3.values() for pair in rows]
    assert f"{min(savings):.1f} to {max(savings):.1f} % less" in PAGE


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("formulation", ["slm", "sslm"])
def test_full_counts_are_those_of_matrices_without_zeros(name, formulation):
    """Random matrices of the same sizes have no zero to fold: counted as they are, they need exactly the full counts."""
    rng, tally = np.random.default_rng(3), Tally()
    s, st = EXAMPLES[name]()
    q, v, tau = (variables(x, tally) for x in (st.q, st.v, np.ones(len(st.v))))
    t = terms(compiled_of(s).loops, q, v)  # its vectors stay: the scraper's coupler, hinged at its center, has no bias
    if formulation == "slm":
        t = without_structure(t, tally)
    inertias = [(x := rng.normal(size=I.shape)) @ x.T + len(I) * np.eye(len(I)) for I in t.I]
    blocks = {key: variables(rng.normal(size=block.shape), tally) for key, block in t.blocks.items()}
    dense = replace(t, I=tuple(variables(I, tally) for I in inertias), blocks=blocks)
    before = tally.counts()
    create(formulation)(dense, tau)
    assert (tally.counts() - before).total == koul_cost.operations(name).full[koul_cost.BOTH.index(formulation)]


def test_whole_simulations(monkeypatch):
    """Operations of Table 3's six runs, all of whose steps are the same at 1e-8; times are measured, not tested."""
    rows = [(name, row) for name in koul_cost.EXAMPLES for row in koul_cost.SIMULATIONS]
    for key, (name, row, printed, fewer, _) in zip(rows, table("example | simulation"), strict=True):
        assert key == (name, row)
        same([printed], [koul_cost.saved(koul_cost.TABLE_3[name][list(koul_cost.SIMULATIONS).index(row)])])
        if row != "free, 15 s":  # there round-off, which depends on the processor, decides about steps
            slm, sslm = (EXAMPLES[name]()[0].kernel("forward", f).program.operations for f in koul_cost.BOTH)
            same([fewer], [koul_cost.saved((slm, sslm))])
    monkeypatch.setattr(koul_cost, "kernel_ratio", lambda name: 0.75)
    monkeypatch.setattr(koul_cost, "whole", lambda name, row: koul_cost.Whole(1.01 if "forced" in row else 0.8, 0.9))
    item = koul_cost.simulation_cost()
    assert item.verdict == "differs" and item.deviation == 2.0, "two of the six take more"


def test_torques_as_sums_of_harmonics():
    """Between its samples a torque is what the inverse gives there."""
    angle, torque = koul_runs.scraper_torque()
    every_other = koul_runs.periodic(torque[::2], float(angle[-1]))
    assert np.abs(every_other(angle) - torque).max() < 1e-9  # of 101 N m; 256 samples resolve its sixty harmonics


def test_where_the_platform_stands():
    item = koul.initial_configuration()
    assert item.verdict == "agrees" and "59.993 deg" in item.computed and "59.993 deg" in PAGE
    (s, st), (robot, start) = koul.scraper(), koul.manipulator()
    open_by = [
        s.closure(st).phi,
        s.closure(st).J @ st.v,
        robot.closure(start).phi,
    ]  # position and speed of the scraper; the manipulator is at rest
    assert f"loops closed to {max(np.abs(np.concatenate(open_by)).max(), 1e-17):.0e} m" in item.computed
    assert f"theta_1 = {koul.upright_angle():.4f} rad" in PAGE


def test_another_geometry_would_be_noticed(monkeypatch):
    """The items that agree can fail: a millimeter, and a block of the excavator."""
    links = replace(koul_by_hand.SCRAPER, masses=(1.501, *koul_printed.MASSES[1:]))
    there = koul_printed.reference("carpet-scraper")
    (s, st), _ = koul_matrices.in_motion()
    here = links.matrices(*koul_matrices.angles(s, st))
    wrong = {"carpet-scraper": there._replace(start=here, moving_I=here.I), "3-rrr": koul_printed.reference("3-rrr")}
    assert koul_matrices.matrices_at_start().verdict == koul_matrices.complement().verdict == "agrees"
    monkeypatch.setattr(koul_matrices, "reference", wrong.__getitem__)
    assert koul_matrices.matrices_at_start().verdict == koul_matrices.complement().verdict == "differs"
    monkeypatch.setattr(koul_matrices, "EXCAVATOR", ((1, 1, 1), *koul_matrices.EXCAVATOR[1:]))
    assert koul_matrices.excavator_blocks().verdict == "differs"
