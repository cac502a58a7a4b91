"""Calibration of synthetic machines: closed forms give the measurements and the Cramer-Rao bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from tests.refusals import refused

VARY = ["left.length", "left_rod.length", "right_rod.length", "right.length", "E.x"]
TRUE = np.array([0.0805, 0.2195, 0.2208, 0.0797, 0.2004, 0.01, -0.02])  # lengths, E.x, offsets of A and E
ANGLE, PLACE = 1e-4, 2e-5  # rad, m
TIP = ("left_rod.C.x", "left_rod.C.y")


def tip(p: np.ndarray, A: np.ndarray, E: np.ndarray) -> np.ndarray:
    """Upper intersection of two circles about the ends of the cranks."""
    b, d = p[0] * np.exp(1j * A), p[4] + p[3] * np.exp(1j * E)
    gap = np.abs(d - b)
    along = (p[1] ** 2 - p[2] ** 2 + gap**2) / (2.0 * gap)
    return b + (along + 1j * np.sqrt(p[1] ** 2 - along**2)) * (d - b) / gap


def angles(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return rng.uniform(0.8, 2.3, n), rng.uniform(0.8, 2.3, n)


def poses(seed: int, n: int = 30) -> dict[str, np.ndarray]:
    (A, E), rng = angles(n), np.random.default_rng(seed)
    C = tip(TRUE, A, E)
    columns = [A + TRUE[5], E + TRUE[6], C.real, C.imag]
    return {
        name: x + s * rng.standard_normal(n) for name, x, s in zip(("A", "E", *TIP), columns, (ANGLE, ANGLE, PLACE, PLACE), strict=True)
    }


def bound(n: int = 30) -> np.ndarray:
    """Cramer-Rao bound with the poses unknown: information of all readings about (p, o) and the 2 n angles, by differences."""
    A, E = angles(n)

    def readings(z: np.ndarray) -> np.ndarray:
        a, e = z[7 : 7 + n], z[7 + n :]
        C = tip(z, a, e)
        return np.concatenate([(a + z[5]) / ANGLE, (e + z[6]) / ANGLE, C.real / PLACE, C.imag / PLACE])

    z = np.concatenate([TRUE, A, E])
    J = np.array([(readings(z + h) - readings(z - h)) / 2e-6 for h in 1e-6 * np.eye(len(z))]).T
    return np.sqrt(np.diag(np.linalg.inv(J.T @ J)))[:7]


def calibrated(seed: int) -> lw.Calibration:
    noise = {"A": ANGLE, "E": ANGLE, **dict.fromkeys(TIP, PLACE)}
    return lw.calibrate(lw.load("five-bar"), poses(seed), VARY, offsets=True, noise=noise)


def test_deviations_are_the_bound_and_errors_within_twice() -> None:
    found = [calibrated(seed) for seed in range(4)]
    np.testing.assert_allclose(found[0].deviations, bound(), rtol=0.05)  # at the estimate in place of the truth
    errors = np.array([c.values for c in found]) - TRUE
    assert (np.sqrt((errors**2).mean(axis=0)) / bound()).max() < 2.0
    assert 0.5 < np.mean([c.variance for c in found]) < 1.5


@pytest.mark.slow
def test_fifty_seeds_are_within_twice_the_bound() -> None:
    errors = np.array([calibrated(seed).values for seed in range(50)]) - TRUE
    ratio = np.sqrt((errors**2).mean(axis=0)) / bound()
    assert ratio.max() < 1.4
    assert ratio.min() > 0.7


def test_calibrated_mechanism_and_file_have_the_tip_where_it_was_measured(tmp_path: Path) -> None:
    A, E = angles(20)
    C = tip(TRUE, A, E)
    data = {"A": A, "E": E, TIP[0]: C.real, TIP[1]: C.imag}
    found = lw.calibrate(lw.load("five-bar"), data, VARY)
    np.testing.assert_allclose(found.values, TRUE[:5], atol=1e-12)
    found.mechanism.save(tmp_path / "calibrated.yaml", digits=12)
    for m in (found.mechanism, lw.load(tmp_path / "calibrated.yaml")):
        s = m.system
        there = np.array([s.point(s.assemble({"A": a, "E": e}), "left_rod.C") for a, e in zip(A[:5], E[:5], strict=True)])
        np.testing.assert_allclose(there[:, 0] + 1j * there[:, 1], C[:5], atol=1e-10)


def test_distances_and_angles() -> None:
    A, E = angles(25)
    C = tip(TRUE, A, E)
    for more in ({"left_rod.C - ground.A": np.abs(C)}, {"left_rod.angle": np.angle(C - TRUE[0] * np.exp(1j * A))}):
        names = VARY if "left_rod.angle" not in more else VARY[:3]
        truth = TRUE[: len(names)]
        model = lw.load("five-bar").with_(**dict(zip(VARY[3:], TRUE[3:5].tolist(), strict=True)))
        found = lw.calibrate(model, {"A": A, "E": E, **more}, names)
        np.testing.assert_allclose(found.values, truth, atol=1e-9)


def test_loop_closure_alone_leaves_the_size_open() -> None:
    """Three or four encoders of a five-bar, one of them in the pin that closes the loop: a machine of any size has the same angles."""
    A, E = angles(30)
    b, d, C = TRUE[0] * np.exp(1j * A), TRUE[4] + TRUE[3] * np.exp(1j * E), tip(TRUE, A, E)
    left, right = np.angle(C - b), np.angle(C - d)
    m = lw.load("five-bar")
    assert m.system.tree.cuts == ("C",)
    for data in ({"B": left - A + 0.03}, {"B": left - A + 0.03, "C": right - left + 0.05}):
        found = lw.calibrate(m, {"A": A + 0.01, "E": E, **data}, VARY, offsets=["A", *data])
        assert len(found.unobservable) == 1
        assert all(name in found.unobservable[0] for name in VARY)
        size = found.values[4] / TRUE[4]
        np.testing.assert_allclose(found.values[:5] / size, TRUE[:5], atol=1e-9)
        np.testing.assert_allclose(found.values[5:], [0.01, 0.03, 0.05][: 1 + len(data)], atol=1e-9)


@pytest.mark.slow
def test_orientations_in_space() -> None:
    """Stewart platform: offsets of six legs and a joint from places and orientations of the plate."""
    from scipy.spatial.transform import Rotation

    m = lw.load("stewart")
    s, rng = m.system, np.random.default_rng(0)
    names, offsets = compiled_of(s).drive_names, 1e-3 * np.arange(-2.0, 4.0)
    start = np.asarray(compiled_of(s).drive_positions(s.start), dtype=float)
    x = start + rng.uniform(-0.03, 0.03, (6, 6))
    st = [s.assemble(dict(zip(names, row.tolist(), strict=True))) for row in x]
    point = next(f"platform.{p.name}" for p in s.description.body("platform").points)
    data: dict[str, Any] = {n: x[:, k] + offsets[k] for k, n in enumerate(names)}
    data |= {f"{point}.{a}": [s.point(z, point)[i] for z in st] for i, a in enumerate("xyz")}
    turned = Rotation.from_matrix([s.pose(z, "platform").R for z in st]).as_rotvec()
    data |= {f"platform.r{a}": turned[:, i] for i, a in enumerate("xyz")}
    number = next(f.name for f in lw.compile(m, parameters=["ground.*.x"]).parameters)
    value = next(f.value for f in lw.compile(m, parameters=[number]).parameters)
    found = lw.calibrate(m, data, [number], offsets=True)
    np.testing.assert_allclose(found.values, [value, *offsets], atol=1e-9)


WRONG = {
    "leave nothing to compare with": {"A": [1.0, 1.2], "E": [1.0, 1.1]},
    "too few for 5 unknowns": {"A": [1.0], "E": [1.0], "left_rod.C.x": [0.1]},
    "Column 'E' is missing": {"A": [1.0], TIP[0]: [0.1], TIP[1]: [0.2]},
    "is not a joint, point or distance": {"A": [1.0], "E": [1.0], "left_rod.Q.x": [0.1]},
    "not finite": {"A": [1.0, np.nan], "E": [1.0, 1.1], TIP[0]: [0.1, 0.1]},
}


@pytest.mark.parametrize("text", WRONG)
def test_refused(text: str) -> None:
    with pytest.raises(lw.UsageError, match=text):
        lw.calibrate(lw.load("five-bar"), WRONG[text], VARY)


def test_refused_names() -> None:
    m = lw.load("five-bar")
    with refused(lw.UsageError, name="left.lenght"):
        lw.calibrate(m, poses(0), ["left.lenght"])
    with refused(lw.UsageError, name="B", allowed=("A", "E")):
        lw.calibrate(m, poses(0), VARY, offsets=["B"])
    with refused(lw.UsageError, name="vary"):
        lw.calibrate(m, poses(0), ["left.mass"])
    with refused(lw.UsageError, name="poses"):
        short = m.with_(**{"left_rod.length": 0.12, "right_rod.length": 0.12})
        lw.calibrate(short, {"A": [3.1, 1.5, 1.6], "E": [0.0, 1.5, 1.6], TIP[0]: [0.1, 0.1, 0.1]}, ["left.length"])
