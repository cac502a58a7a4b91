"""Closed forms of dyadic linkages against the engine's turn, and their derivatives against complex steps and the engine's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.numerics.levenberg_marquardt import levenberg_marquardt
from linkwright.rings.synthesis.candidate_linkages import drawn
from linkwright.rings.synthesis.dual_arrays import Dual, constant, dimensions
from linkwright.rings.synthesis.dwells import DWELL_FORMS, DwellForm
from linkwright.rings.synthesis.dyad_steps import Anchor, CrankStep, LinkagePositions, positions, rounded_sine
from linkwright.rings.synthesis.linkage_forms import SIX_BAR_FORMS, LinkageForm, geared_five_bar
from linkwright.rings.synthesis.non_dyad_closure import ClosingBar, CoupledStep, walked
from tests.rings.synthesis.real_steps import real_positions
from tests.sweeps import sweep

FORMS = [form for forms in SIX_BAR_FORMS.values() for form in forms] + [geared_five_bar(-2.0), geared_five_bar(1.5)]
IDS = [f"{f.kind} {getattr(f.steps[-1], 'start', f.path).body} {k}" for k, f in enumerate(FORMS)]
DYADIC = [k for k, f in enumerate(FORMS) if f.coupled is None]
Arrays = dict[str, np.ndarray]
STEP = 1e-30  # of complex steps


def chosen(form: LinkageForm, count: int = 300) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], LinkagePositions, int]:
    """Random shapes, their flags, their positions over one turn, and the one that is farthest from a dead center."""
    rng = np.random.default_rng(5)
    shape, flags = form.sample(rng.random((count, form.sampled)), rng)
    shape |= {"w.re": np.full(count, 0.3), "w.im": np.full(count, 0.4)}
    numbers = form.numbers({n: constant(v) for n, v in shape.items()}, flags)
    theta = np.broadcast_to(np.linspace(0.0, 2.0 * np.pi, 37), (count, 37))
    if form.coupled is None:
        known = positions(form.steps, numbers, constant(theta))
        worst = np.max([np.abs(np.broadcast_to(c.value, theta.shape)).max(1) for c in known.closings.values()], axis=0)
        return shape, flags, known, int(worst.argmin())
    found, gap = walked(form.steps, numbers, theta, {b: flags[f"guess:{b}"] for b, _ in form.coupled.hanging})
    flags = {f"guess:{b}": a for b, a in found.items()}
    known = positions(form.steps, {**numbers, **{n: constant(f) for n, f in flags.items()}}, constant(theta))
    (side,) = (np.abs(s.value).min(1) for s in known.sides.values())
    return shape, flags, known, int(np.where(gap.max(1) < 1e-9, side, -1.0).argmax())


def row(known: LinkagePositions, form: Any, k: int) -> np.ndarray:
    return np.broadcast_to(known.point(form.path).value, (300, 37))[k]


@sweep("form", FORMS, now=["watt I crank 0", "watt II rocker 4", "stephenson I rocker 6", "stephenson II coupler 7"], ids=IDS)
def test_positions_are_those_of_the_engine(form: LinkageForm) -> None:
    _, _, known, k = chosen(form)
    linkage = drawn(form.kind, form.steps, known, candidate=k, points=[form.path])
    c = lw.load(linkage.document()).cycle(steps=36)
    assert c.full_turn
    name = f"{form.path.body}.{form.path.pin}"
    path = row(known, form, k)
    # the engine closes loops to about 1e-12 of the size of the mechanism; the best of 300 has no dead center near
    assert np.abs(c[f"{name}.x"] + 1j * c[f"{name}.y"] - path).max() < 1e-10 * (1.0 + np.abs(path).max())


@pytest.mark.parametrize("kind", ["stephenson III slider", "slotted slider", "slotted rocker"])
def test_sliders_and_slots_are_those_of_the_engine(kind: str) -> None:
    form = DWELL_FORMS[kind]
    rng = np.random.default_rng(3)
    shape, flags = form.sample(rng.random((300, 6 + form.sampled)), np.linspace(0.0, 1.0, 9), rng)
    numbers = form.numbers({n: constant(v) for n, v in shape.items() if n != "start"}, flags)
    theta = shape["start"][:, None] + np.linspace(0.0, 2.0 * np.pi, 37)
    known = positions(form.steps, numbers, constant(theta))
    worst = np.max([np.abs(np.broadcast_to(c.value, theta.shape)).max(1) for c in known.closings.values()], axis=0)
    if form.rotary:
        worst = np.maximum(worst, 1.0 / known.travels["output"].value.min(1))  # a pin near the rocker's pivot
    k = int(worst.argmin())
    c = lw.load(drawn(kind, form.steps, known, candidate=k).document()).cycle(steps=36)
    assert c.full_turn
    if form.rotary:
        angle = np.unwrap(np.angle(known.poses["output"].direction.value[k]))
        measured = c["output.angle"]
    else:
        angle, measured = known.travels["slider"].value[k], c["guide"]
    assert np.abs((measured - measured[0]) - (angle - angle[0])).max() < 1e-10 * (1.0 + np.abs(angle).max())


def complex_steps(form: Any, columns: Arrays, flags: Arrays, theta: np.ndarray, body: str, at: str) -> np.ndarray:
    """Derivatives (N, K, n + 1) of a point by all columns and the crank angle, through the second implementation."""
    names = list(columns)
    out = []
    for j in range(len(names) + 1):
        moved = {n: v[:, None] + (1j * STEP if k == j else 0.0) for k, (n, v) in enumerate(columns.items())}
        angle = theta + (1j * STEP if j == len(names) else 0.0)
        numbers: dict[str, Any] = {n: f[:, None] for n, f in flags.items()}
        for name, value in moved.items():
            stem, _, part = name.rpartition(".")
            if part == "re":
                numbers[stem] = (value, moved[f"{stem}.im"])
            elif part != "im":
                numbers[name] = value
        if "a" in numbers:  # slack dimensions
            s, drag, half = numbers.get("s", 1.0), numbers["drag"].astype(float), (numbers["b"] + numbers["c"]) / 2.0
            numbers |= {"r1": s + half * (1.0 - drag), "r2": s + half * drag}
            numbers |= {"r3": s + (numbers["a"] + numbers["c"]) / 2.0, "r4": s + (numbers["a"] + numbers["b"]) / 2.0}
        if "h" in numbers:
            numbers["g"] = (-numbers["h"] * np.sin(numbers["phi"]), numbers["h"] * np.cos(numbers["phi"]))
        poses = real_positions(form.steps, numbers, angle)
        (x, y), (ux, uy) = poses[body]
        wx, wy = numbers[at] if at else (0.0, 0.0)
        px, py = x + wx * ux - wy * uy, y + wx * uy + wy * ux
        out.append(np.broadcast_to(np.imag(px) + 1j * np.imag(py), theta.shape) / STEP)
    return np.stack(out, -1)


@pytest.mark.parametrize("form", [FORMS[k] for k in DYADIC], ids=[IDS[k] for k in DYADIC])
def test_derivatives_equal_complex_steps(form: LinkageForm) -> None:
    shape, flags, known, _ = chosen(form)
    names = (*form.names, "w.re", "w.im")
    theta = np.broadcast_to(np.linspace(0.0, 2.0 * np.pi, 37), (300, 37))
    closed = np.max([np.abs(np.broadcast_to(c.value, theta.shape)).max(1) for c in known.closings.values()], axis=0) < 0.99
    assert closed.sum() > 100
    x = np.stack([shape[n][closed] for n in names], 1)
    some = {n: f[closed] for n, f in flags.items()}
    columns = dict(zip(names, dimensions(x), strict=True))
    last = {len(names): np.ones_like(theta[closed])}
    path = positions(form.steps, form.numbers(columns, some), Dual(theta[closed], last)).point(form.path)
    expected = complex_steps(form, {n: shape[n][closed] for n in names}, some, theta[closed], form.path.body, form.path.at)
    mine = path.jacobian(len(names) + 1)
    # both are exact: round-off, divided by the sine of the transmission angle (0.14 at least), twice where dyads follow each other
    assert np.abs(mine - expected).max() < 1e-10 * np.abs(expected).max()
    assert (np.abs(expected).max(axis=(0, 1)) > 1e-3).all()  # every dimension has an influence


@pytest.mark.parametrize("kind", DWELL_FORMS)
def test_derivatives_of_outputs_equal_complex_steps(kind: str) -> None:
    form: DwellForm = DWELL_FORMS[kind]
    rng = np.random.default_rng(8)
    shape, flags = form.sample(rng.random((200, 6 + form.sampled)), np.linspace(0.0, 1.0, 9), rng)
    names = [n for n in form.columns if n != "start"]
    theta = shape["start"][:, None] + np.linspace(0.0, 1.0, 5)
    known = positions(form.steps, form.numbers({n: constant(shape[n]) for n in names}, flags), constant(theta))
    closed = np.max([np.abs(np.broadcast_to(c.value, theta.shape)).max(1) for c in known.closings.values()], axis=0) < 0.99
    assert closed.sum() > 40
    # the point (1, 0) of the output has the derivatives of its origin and of its direction
    shape = {n: shape[n][closed] for n in names} | {"unit.re": np.ones(closed.sum()), "unit.im": np.zeros(closed.sum())}
    flags, theta = {n: f[closed] for n, f in flags.items()}, theta[closed]
    columns = dict(zip(shape, dimensions(np.stack(list(shape.values()), 1)), strict=True))
    known = positions(form.steps, form.numbers(columns, flags), Dual(theta, {len(shape): np.ones_like(theta)}))
    mine = known.point(Anchor(form.output, "U", "unit")).jacobian(len(shape) + 1)
    expected = complex_steps(form, shape, flags, theta, form.output, "unit")
    assert np.abs(mine - expected).max() < 1e-10 * np.abs(expected).max()


def test_derivatives_of_a_coupled_closure_are_those_of_the_engine() -> None:
    form, _ = SIX_BAR_FORMS["stephenson II"]
    shape, flags, known, k = chosen(form)
    names = (*form.names, "w.re", "w.im")
    x = np.array([[shape[n][k] for n in names]])
    theta = np.linspace(0.0, 2.0 * np.pi, 37)[None, :]
    numbers = form.numbers(dict(zip(names, dimensions(x), strict=True)), {n: f[[k]] for n, f in flags.items()})
    path = positions(form.steps, numbers, Dual(theta)).point(form.path)
    c = lw.load(drawn(form.kind, form.steps, known, candidate=k, points=[form.path]).document()).cycle(steps=36)
    pairs = {"d1": "coupler.B.x", "d2.im": "coupler.E.y", "w.im": "coupler.P.y", "l1": "rod.D.x", "l2": "link.F.x"}
    found = c.derivatives(list(pairs.values()))
    for mine, theirs in pairs.items():
        expected = found["coupler.P.x", theirs] + 1j * found["coupler.P.y", theirs]
        assert np.abs(expected).max() > 1e-3
        # a Newton iteration ends at gaps of 1e-13, far from a dead center
        assert np.abs(path.slope[names.index(mine)][0] - expected).max() < 1e-9 * (1.0 + np.abs(expected).max())


def test_a_platform_on_three_links_closes_like_the_engine() -> None:
    """Stephenson III driven at the link that is not part of its four-bar: one link hangs, the platform hangs on its end."""
    step = CoupledStep(
        (("rod", Anchor("crank", "A", "r")), ("platform", Anchor("rod", "B", "l"))),
        (
            ClosingBar("left", Anchor("ground", "C", "c"), Anchor("platform", "D", "d"), "lc"),
            ClosingBar("right", Anchor("ground", "E", "e"), Anchor("platform", "F", "f"), "le"),
        ),
    )
    steps = (CrankStep("crank", Anchor("ground", "O")), step)
    # two links upright, one level: the platform is guided well
    drawing = {"A": 0.3 + 0j, "B": 0.2 + 1.5j, "C": 1.5 - 0.2j, "D": 1.4 + 1.6j, "E": 4.0 + 1.7j, "F": 2.0 + 1.9j}
    rod, along = drawing["B"] - drawing["A"], drawing["D"] - drawing["B"]
    frame = along / abs(along)
    numbers = {
        "r": 0.3, "l": abs(rod), "c": drawing["C"], "e": drawing["E"], "d": abs(along), "f": (drawing["F"] - drawing["B"]) / frame,
        "lc": abs(drawing["D"] - drawing["C"]), "le": abs(drawing["F"] - drawing["E"]),
    }  # fmt: skip
    given = {n: constant([v]) for n, v in numbers.items()}
    theta = np.linspace(0.0, 2.0 * np.pi, 73)[None, :]
    start = {"rod": np.angle([rod]), "platform": np.angle([along])}
    found, gap = walked(steps, given, theta, start)
    assert gap.max() < 1e-12
    known = positions(steps, {**given, **{f"guess:{b}": constant(a) for b, a in found.items()}}, constant(theta))
    linkage = drawn("platform", steps, known)
    assert all(abs(linkage.pins[n] - z) < 1e-12 for n, z in drawing.items())
    c = lw.load(linkage.document()).cycle(steps=72)
    f = known.pins["F"].value[0]
    assert c.full_turn and np.abs(c["platform.F.x"] + 1j * c["platform.F.y"] - f).max() < 1e-10
    (side,) = (s.value[0] for s in known.sides.values())
    assert (side * side[0]).min() > 0.0  # no dead center over the cycle: one sign


def test_the_root_at_a_dead_center_is_smooth_and_fades() -> None:
    c = np.linspace(0.9, 1.2, 3001)[None, :]
    sine = rounded_sine(Dual(c, {0: np.ones_like(c)}))
    inside = c[0] < 0.999
    assert np.allclose(sine.value[0, inside], np.sqrt(1.0 - c[0, inside] ** 2), rtol=0.0, atol=1e-15)
    assert (np.diff(sine.value[0]) <= 0.0).all() and sine.value[0, -1] < 1e-12
    h = 1e-9  # in the rounded part the curvature is of the order 1e9: differences of that step have an error of a few per cent
    c = 1.0 + np.array([[-4e-7, -2e-7, 0.0, 2e-7, 4e-7]])
    slope = rounded_sine(Dual(c, {0: np.ones_like(c)})).slope[0]
    numeric = (rounded_sine(Dual(c + h)).value - rounded_sine(Dual(c - h)).value) / (2.0 * h)
    assert np.allclose(slope, numeric, rtol=0.02)


def test_a_search_returns_from_links_that_do_not_close() -> None:
    """Levenberg-Marquardt on the closings alone: dyads that are open by up to their own size close."""
    form = SIX_BAR_FORMS["stephenson III"][0]
    rng = np.random.default_rng(2)
    shape, flags = form.sample(rng.random((64, form.sampled)), rng)
    shape["l1"], shape["l2"] = 0.4 * shape["l1"], 0.4 * shape["l2"]
    theta = np.broadcast_to(np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False), (64, 24))
    x = np.stack([shape[n] for n in form.names], 1)

    def residuals(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = form.numbers(dict(zip(form.names, dimensions(x), strict=True)), {n: f[rows] for n, f in flags.items()})
        c = positions(form.steps, numbers, Dual(theta[rows])).closings["F"]
        over = np.abs(c.value) - 0.9
        return np.maximum(over, 0.0), (np.sign(c.value) * (over > 0.0))[..., None] * c.jacobian(x.shape[1])

    rows = np.arange(64)
    assert (residuals(x, rows)[0].max(1) > 0.1).sum() > 55  # nearly all are open somewhere
    low = np.array([-np.inf if n.endswith((".re", ".im")) else 0.05 for n in form.names])
    done = levenberg_marquardt(residuals, x, low, np.full(len(low), np.inf), iterations=60)
    assert (residuals(done.x, rows)[0].max(1) < 0.05).sum() >= 60  # closed, with a transmission angle of at least 18 deg
