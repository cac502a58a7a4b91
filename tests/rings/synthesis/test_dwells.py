"""Dwell linkages: solved from their plain description, and the engine's turn rests and moves as asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.synthesis.bound_checks import missed_bounds
from linkwright.rings.synthesis.dwells import DWELL_FORMS, DwellFit, DwellLimits, _notes, arcs, dwells, lines
from linkwright.rings.synthesis.linkage import slider_crank
from linkwright.rings.synthesis.placement import SlidePlacement, placed
from linkwright.rings.synthesis.results import SynthesizedLinkage
from tests.sweeps import sweep

WINDOW = np.deg2rad(80.0)


def measured(x: SynthesizedLinkage, window: float = 80.0) -> tuple[float, float, float]:
    """Range in the dwell and over the cycle, and the least transmission angle at the slider's pin, of the engine's turn."""
    c = lw.load(x.document).cycle(steps=720)
    assert c.full_turn
    y = c[x.linkage.output]
    slotted = "slotted" in x.linkage.kind
    transmission = np.pi / 2.0 if slotted else float(c["F.transmission_angle"].min())
    return float(np.ptp(y[: round(2 * window) + 1])), float(np.ptp(y)), transmission


def check_slider(found: list[SynthesizedLinkage]) -> None:
    """The task: rest within 0.2 mm over 80 deg, stroke 100 mm, rod angle limited."""
    best = found[0]
    assert best.usable and best.error < 2e-4
    rest, stroke, transmission = measured(best)
    # samples of 0.5 deg miss extremes by less than 1e-4 of the stroke
    assert rest < 2e-4 and rest == pytest.approx(best.error, rel=0.02)
    assert stroke == pytest.approx(0.1, rel=1e-4) and best.measures["stroke"] == pytest.approx(0.1, rel=1e-12)
    assert transmission > np.deg2rad(29.0)  # 30 deg at 129 positions
    assert best.measures["longest link"] < 0.6 * 1.001


@pytest.mark.slow
def test_the_pusher_rests_within_a_fraction_of_a_millimeter() -> None:
    found, facts, notes = dwells(stroke=0.1, dwell_angle=WINDOW, tolerance=1e-3, kind="stephenson III slider")
    assert notes == () and facts["optima"] >= 3
    check_slider(found)
    assert [x.error for x in found] == sorted(x.error for x in found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["stephenson III slider", "watt II slider", "slotted slider", None])
def test_every_slider_from_several_seeds(kind: str | None, seed: int) -> None:
    check_slider(dwells(stroke=0.1, dwell_angle=WINDOW, tolerance=1e-3, kind=kind, seed=seed, start=np.deg2rad(100.0))[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["watt II", "slotted rocker"])
def test_rockers_rest_and_swing(kind: str) -> None:
    found, _, _ = dwells(stroke=np.deg2rad(40.0), dwell_angle=WINDOW, kind=kind, starts=2048, count=2, longest=0.3)
    best = found[0]
    c = lw.load(best.document).cycle(steps=720)
    y = np.unwrap(c["output.angle"])
    assert c.full_turn and np.ptp(y[:161]) < np.deg2rad(0.1)
    assert np.ptp(y[:161]) == pytest.approx(best.error, rel=0.02)
    assert 40.0 - 0.01 < np.rad2deg(np.ptp(y)) < 40.0 * 1.021  # at least the swing that was asked for, at most 2 % more
    assert best.measures["longest link"] == pytest.approx(0.3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["stephenson III", "watt II", "slotted rocker"])
def test_every_rocker_from_several_seeds(kind: str, seed: int) -> None:
    found, _, _ = dwells(stroke=np.deg2rad(40.0), dwell_angle=WINDOW, kind=kind, seed=seed)
    c = lw.load(found[0].document).cycle(steps=720)
    y = np.unwrap(c["output.angle"])
    assert c.full_turn and np.ptp(y[:161]) < np.deg2rad(0.1) and 39.99 < np.rad2deg(np.ptp(y)) < 40.84


@pytest.mark.slow
def test_the_dwell_begins_where_it_is_asked_for() -> None:
    found, _, _ = dwells(stroke=0.1, dwell_angle=WINDOW, kind="slotted slider", start=np.deg2rad(100.0), starts=1024, count=1)
    pins = found[0].linkage.pins
    angle = np.angle((pins["A"] - pins["O"]) / (pins["C"] - pins["O"]), deg=True)
    assert angle == pytest.approx(100.0, abs=1e-9)
    rest, stroke, _ = measured(found[0])
    assert rest < 2e-4 and stroke == pytest.approx(0.1, rel=1e-4)


def test_a_placed_linkage_and_its_mirror_image_move_alike() -> None:
    """Turned, shifted and mirrored: the slide keeps its motion, counted away from the rest, and the box chooses the side of the crank."""
    linkage = slider_crank(0.0, 0.05, 0.25 + 0.03j, -1.0 + 0.0j)
    plain = lw.load(linkage.document()).cycle(steps=36)["guide"]
    answer = SynthesizedLinkage(linkage, 0.0)
    assert placed(answer, -1.0, SlidePlacement()) is answer
    speeds = []
    for side in (-1.0, 1.0):
        wanted = SlidePlacement.of(np.pi / 2.0, [0.1, 0.2], (0.1 + min(side, 0.0), 0.1 + max(side, 0.0), -1.0, 1.0))
        found = placed(answer, -1.0, wanted)
        c = lw.load(found.document).cycle(steps=36)
        assert c["guide"] == pytest.approx(-plain, abs=1e-12)
        path = c["slider.C"][:, :2]
        assert path == pytest.approx(np.column_stack([0.0 * plain + 0.1, c["guide"] + 0.2]), abs=1e-12)
        assert wanted.outside(found.linkage) == 0.0 and not found.notes
        speeds.append(found.speed)
    assert sorted(speeds) == ["-60 rpm", "60 rpm"]
    far = placed(answer, -1.0, SlidePlacement.of(0.0, [0.0, 0.0], (0.0, 1.0, 0.0, 1.0)))
    assert missed_bounds(far, {"pivots": (0.0, 1.0, 0.0, 1.0)}, "mm")[0] == "pivots: A lies 250 mm left of the box"


def test_the_nearer_image_is_taken_with_its_own_distance() -> None:
    """Crank pivots 30 mm beside the guide, on one side or the other; a box 10 mm beyond either of them."""
    answer = SynthesizedLinkage(slider_crank(0.0, 0.05, 0.25 + 0.03j, -1.0 + 0.0j), 0.0)
    speeds = set()
    for box in ((-1.0, 1.0, 0.04, 0.2), (-1.0, 1.0, -0.2, -0.04)):
        wanted = SlidePlacement.of(0.0, [0.0, 0.0], box)
        found = placed(answer, -1.0, wanted)
        assert wanted.outside(found.linkage) == pytest.approx(0.01)
        assert "A lies 10 mm" in missed_bounds(found, {"pivots": box}, "mm")[0]
        speeds.add(found.speed)
    assert speeds == {"60 rpm", "-60 rpm"}


def test_notes_speak_of_what_was_asked_for() -> None:
    box, over = {"have their pivots in the box": "widen the box"}, {"stay within the overshoot": "allow more overshoot"}
    assert list(_notes(1e-3, True, box | over, 1e-3, "m")) == [] == list(_notes(1e-3, True, {}, None, "m"))
    assert list(_notes(1e-3, False, over, 1e-3, "m")) == [
        "No linkages stay within the overshoot. You can allow more overshoot or take more starts."
    ]
    (best,) = _notes(2e-3, True, over, 1e-3, "m")
    assert best.startswith("The output of linkages that stay within the overshoot rests within 0.002 m at best, not within 0.001 m.")
    best, none = _notes(2e-3, False, box | over, 1e-3, "m")
    assert best.startswith("The output rests within 0.002 m at best") and "in the box and stay within the overshoot. You can " in none


@pytest.mark.slow
def test_notes_of_a_search_in_a_box() -> None:
    task = {"stroke": 0.1, "dwell_angle": WINDOW, "kind": "slotted slider", "starts": 64, "count": 3}
    _, _, (note,) = dwells(**task, at=[0.0, 0.0], within=(5.0, 6.0, 5.0, 6.0))
    assert note == "No linkages have their pivots in the box; widen the box, move the slider or take more starts."
    found, _, (note,) = dwells(**task, at=[0.0, 0.0], within=(-5.0, 5.0, -5.0, 5.0), tolerance=1e-12)
    assert note.startswith(f"The output of linkages that have their pivots in the box rests within {found[0].error:.3g} m at best")


@pytest.mark.slow
def test_a_slider_in_its_place_in_a_machine() -> None:
    """Direction, rest and box of the pivots by the engine's turn; the mirror image moves alike with its crank turned the other way."""
    task = {"stroke": 0.06, "dwell_angle": np.deg2rad(70.0), "kind": "watt II slider", "starts": 512, "count": 8}
    (free, *_), _, _ = dwells(**task)
    boxes = [(-0.005, 0.4, -0.4, 0.4), (-0.4, 0.005, -0.4, 0.4)]  # right and left of the guide: one of them needs the mirror image
    turned = set()
    for box in boxes:
        found, _, _ = dwells(**task, direction=np.pi / 2.0, at=[0.0, 0.1], within=box, overshoot=0.0)
        best = found[0]
        turned |= {x.speed for x in found}
        pivots = [best.linkage.pins[p] for p in best.linkage.bodies["ground"]]
        assert all(box[0] <= z.real <= box[1] for z in pivots) and best.measures["overshoot"] < 1e-5
        c = lw.load(best.document).cycle(steps=360)
        path = c["slider.F"]
        assert np.ptp(path[:, 0]) < 1e-12 and path[0, :2] == pytest.approx([0.0, 0.1], abs=1e-12)
        assert path[:, 1].min() == pytest.approx(0.1, abs=1e-4) and path[:, 1].max() == pytest.approx(0.16, abs=1e-4)
        assert c["guide"].max() == pytest.approx(0.06, abs=1e-4)  # counts away from the rest
        missed = [x for x in found if x.notes]
        assert found[len(found) - len(missed) :] == missed and all("outside of the box" in x.notes[0] for x in missed)
    assert turned == {"60 rpm", "-60 rpm"} and free.speed == "60 rpm"


@pytest.mark.slow
def test_links_are_within_their_limits() -> None:
    found, _, _ = dwells(stroke=0.1, dwell_angle=WINDOW, kind="stephenson III slider", longest=0.25, shortest=0.03, starts=1024, count=3)
    assert found
    for x in found:
        rods = [(p, q) for body, pins in x.linkage.bodies.items() if body not in ("ground", "slider") for p, q in [pins[:2]]]
        lengths = [x.linkage.length(p, q) for p, q in [*rods, ("O", "C")]]
        assert len(lengths) == 5 and max(lengths) < 0.25 * 1.002 and min(lengths) > 0.03 / 1.002


@pytest.mark.slow
def test_a_tolerance_out_of_reach_is_said() -> None:
    found, _, notes = dwells(
        stroke=0.1, dwell_angle=np.deg2rad(240.0), tolerance=1e-6, kind="watt II slider", starts=256, count=1, transmission=0.8
    )
    assert len(notes) == 1 and ("at best" in notes[0] if found else "No linkage" in notes[0])


def test_arcs_and_lines_are_recovered() -> None:
    rng = np.random.default_rng(0)
    center, radius = rng.normal(size=20) + 1j * rng.normal(size=20), rng.uniform(0.5, 3.0, 20)
    angle = np.linspace(0.2, 1.1, 15) + rng.uniform(0.0, 6.0, (20, 1))
    found = arcs(center[:, None] + radius[:, None] * np.exp(1j * angle))
    # the ridge of 1e-12 shifts short arcs by its ratio to the least eigenvalue, some 1e-4
    assert np.abs(found[0] - center).max() < 1e-6 and np.abs(found[1] - radius).max() < 1e-6
    direction = rng.uniform(-1.5, 1.5, 20)
    middle, along = lines(center[:, None] + np.exp(1j * direction)[:, None] * np.linspace(-1.0, 2.0, 9))
    assert np.abs(np.exp(2j * along) - np.exp(2j * direction)).max() < 1e-12
    assert np.abs(((middle - center) * np.exp(-1j * direction)).imag).max() < 1e-12


@sweep("kind", DWELL_FORMS, now=["watt II slider", "slotted slider", "stephenson III"])
def test_derivatives_of_the_fit_equal_differences(kind: str) -> None:
    form = DWELL_FORMS[kind]
    rng = np.random.default_rng(4)
    limits = DwellLimits(0.6, 0.3, 2.0, 0.3, 3.0)
    shape, flags = form.sample(rng.random((200, 6 + form.sampled)), np.linspace(0.0, WINDOW, 21), rng)
    fit = DwellFit(form, WINDOW, limits, flags)
    x = np.column_stack([shape[n] for n in form.columns])
    rows = np.arange(200)
    r, jacobian = fit(x, rows)
    tame = (r[:, 21:].max(1) < 3.0) & (np.abs(jacobian).max(axis=(1, 2)) < 30.0)  # all dyads close, none at a dead center
    assert tame.sum() > 20
    wrong = 0
    for k in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[k] = 1e-6
        numeric = (fit(x + step, rows)[0] - fit(x - step, rows)[0]) / 2e-6
        # extremes and hinges have kinks: a few of the differences lie across one
        wrong += (np.abs(jacobian[..., k] - numeric)[tame].max(1) > 1e-4).sum()
    assert wrong < 0.02 * tame.sum() * x.shape[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stroke": -0.1}, "stroke"),
        ({"dwell_angle": 0.0}, "dwell_angle"),
        ({"dwell_angle": 6.0}, "no time for the stroke"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"kind": "watt III slider"}, "unknown kind"),
        ({"kind": ["watt II", "watt II slider"]}, "cannot be mixed"),
        ({"kind": "watt II", "stroke": 3.0}, "150 deg"),
        ({"longest": 0.1, "shortest": 0.2}, "longest above shortest"),
        ({"transmission": 1.6}, "between 0 and 90"),
        ({"start": float("inf")}, "start"),
        ({"starts": 1}, "starts at least 16"),
        ({"within": (0, 1, 0, 1)}, "give at"),
        ({"at": [0, 0], "within": (0, 1, 0)}, "least x, most x"),
        ({"at": [0, 0], "within": (1, 0, 0, 1)}, "least x, most x"),
        ({"at": [0, 0], "within": ["a"]}, "least x, most x"),
        ({"within": (0, 1, 0, 1), "kind": "watt II", "stroke": 1.0}, "belong to a slider"),
        ({"at": [0, 0, 0]}, "a place is"),
        ({"direction": 0.0, "kind": "watt II", "stroke": 1.0}, "belong to a slider"),
        ({"overshoot": -1e-3}, "overshoot"),
    ],
)
def test_bad_input_is_explained(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        dwells(**{"stroke": 0.1, "dwell_angle": WINDOW, **options})
