"""Every phrase of a range, a tolerance or a value means the same in every verb, or is refused with the same sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError, UsageError
from linkwright.rings.control.gym.limits import draw_of_parameters
from linkwright.rings.control.gym.servo import ServoBank
from linkwright.rings.design.optimization.variables import variables
from linkwright.rings.design.studies.analyses import case_of
from linkwright.rings.robots.time_optimal.limits import read_limits
from linkwright.text.ranges_and_tolerances import Range, Tolerance, meaning
from tests.refusals import refused
from tests.rings.design.studies.models import SLIDER

LOW, HIGH, ROD, WIDTH = 0.18, 0.26, 0.2, 1e-4
SLIDE = float(np.sqrt(0.2**2 - 0.05**2))  # with the crank upright
COARSE = {"case": lw.Cycle(steps=12)}
UPRIGHT = {**SLIDER, "drawing": {"A": [0, 0], "B": [0, 0.05], "C": [0.19365, 0]}}
MODEL = lw.load(UPRIGHT)
FILE = lw.load(
    {**UPRIGHT, "units": ["mm"], "drawing": {"A": [0, 0], "B": [0, 50], "C": [193.65, 0]}, "gravity": 0}
)  # bare numbers are millimeters
PUSHED = lw.load({**UPRIGHT, "drive": {"slide": "0.1 m/s"}}).cycle("slide", start="0 m", stop="0.01 m", steps=8)
Ends = tuple[float, float]

RANGES = (
    "180..260 mm",
    "0.18 m..260 mm",
    "2*90..260 mm",
    "180 mm..26 cm",
    (0.18, 0.26),
    ("180 mm", 0.26),
    "0.18..0.26 SI",
    Range(180, 260, "mm"),
)
WIDTHS = ("+- 0.1 mm", "+/- 0.1 mm", "±0.1 mm", "+- 100 um", Tolerance(0.1, "mm"))
SHARES = ("2 %", "+- 2 %", "+- 2 per cent", Tolerance(2, "%"))
VALUES = ("0.1 mm", 1e-4, "2*0.05 mm")
MEANINGLESS = ("260..180 mm", "180..260 kg m", "180..26x mm", "about 3 mm", {"low": 1}, [], (1, 2, 3.5), "+- -1 mm")


def study(given: Any, m: lw.Mechanism = MODEL) -> Ends:
    (v,) = lw.study(m, {"l": given}, "range slide", plan="sobol", count=1, **COARSE).plan.variations
    return v.low, v.high


def optimize(given: Any, m: lw.Mechanism = MODEL) -> Ends:
    (v,) = variables({"l": given}, m.description, case_of("cycle"))
    return v.low, v.high


def workspace(given: Any, m: lw.Mechanism = MODEL) -> Ends:
    values = m.workspace({"piston.C.x": given}, "reach").axes[0].values
    return float(values[0]), float(values[-1])


def gym(given: Any, m: lw.Mechanism = MODEL) -> Ends:
    drawn = draw_of_parameters({"l": given}, ["l"], compiled_of(lw.compile(m, parameters=["l"])), ServoBank({}, (), (), 1, 0.01)).ranges[
        "l"
    ]
    return float(drawn[0]), float(drawn[-1])


def turns(given: Any, m: lw.Mechanism = MODEL) -> Ends:
    t = m.cycles({"l": given}, steps=12, read="slide")
    lengths = [t.design(at)["l"] for at in np.ndindex(t.shape)]
    return lengths[0], lengths[-1]


def fastest(given: Any) -> Ends:
    """A limit is a force here: millinewtons in place of millimeters."""
    in_newton = given.replace("mm", "mN").replace("cm", "cN").replace("um", "uN") if isinstance(given, str) else given
    unit = {"mm": "mN"}.get(getattr(given, "unit", ""), "")
    if unit:
        in_newton = type(given)(*(v for k, v in vars(given).items() if k in ("low", "high", "width")), unit)
    (limit,) = read_limits({"slide.force": in_newton}, PUSHED)
    return limit.low, limit.high


def tolerances(given: Any, m: lw.Mechanism = MODEL, method: str = "sobol") -> float:
    (found,) = m.tolerances({"l": given}, "start slide", method=method, count=1, **COARSE).results
    width = found.contributions[0].tolerance
    assert width is not None
    return width


ENDS: dict[str, Callable[..., Ends]] = {"study": study, "optimize": optimize, "map": workspace, "gym": gym, "turns": turns}
HALVES: dict[str, Callable[..., float]] = {
    "tolerances": tolerances,
    "linear": partial(tolerances, method="linear"),
    "corners": partial(tolerances, method="corners"),
}
VERBS: dict[str, Callable[..., Any]] = {**ENDS, **HALVES, "fastest": fastest}


@pytest.mark.parametrize("verb", ENDS)
def test_a_range_has_the_same_ends(verb: str) -> None:
    for given in RANGES:
        assert ENDS[verb](given) == pytest.approx((LOW, HIGH), rel=1e-14), given


@pytest.mark.parametrize("verb", HALVES)
def test_a_range_is_a_tolerance_of_half_its_width(verb: str) -> None:
    for given in RANGES:
        assert HALVES[verb](given) == pytest.approx(0.5 * (HIGH - LOW), rel=1e-12), given


def test_a_range_is_a_limit() -> None:
    for given in ("180..260 mm", "2*90..260 mm", (0.18, 0.26), "0.18..0.26 SI", Range(180, 260, "mm")):
        assert fastest(given) == pytest.approx((LOW, HIGH), rel=1e-14), given


@pytest.mark.parametrize("verb", ["study", "optimize", "gym", "map"])
def test_a_tolerance_is_about_the_present_value(verb: str) -> None:
    present = SLIDE if verb == "map" else ROD
    for given in WIDTHS:
        assert ENDS[verb](given) == pytest.approx((present - WIDTH, present + WIDTH), rel=1e-12), given
    for given in SHARES:
        assert ENDS[verb](given) == pytest.approx((0.98 * present, 1.02 * present), rel=1e-12), given


@pytest.mark.parametrize("verb", HALVES)
def test_a_tolerance_and_a_value_are_half_widths(verb: str) -> None:
    for given in (*WIDTHS, *VALUES):
        assert HALVES[verb](given) == pytest.approx(WIDTH, rel=1e-12), given
    for given in SHARES:
        assert HALVES[verb](given) == pytest.approx(0.02 * ROD, rel=1e-12), given


def test_a_limit_holds_in_both_directions() -> None:
    for given in ("0.1 mm", 1e-4, "+- 0.1 mm", "2*0.05 mm", Tolerance(0.1, "mm")):
        assert fastest(given) == pytest.approx((-WIDTH, WIDTH), rel=1e-12), given


@pytest.mark.parametrize("verb", ["study", "gym", "turns"])
def test_one_value_is_itself(verb: str) -> None:
    for given in ("210 mm", 0.21, "0.21 m", "2*105 mm"):
        assert ENDS[verb](given) == pytest.approx((0.21, 0.21), rel=1e-14), given


def test_about_another_value() -> None:
    for verb in ("study", "optimize", "gym", "map"):
        for given in ("210 +- 0.1 mm", "21 cm +- 0.1 mm", Tolerance(0.1, "mm", about=210)):
            assert ENDS[verb](given) == pytest.approx((0.2099, 0.2101), rel=1e-12), (verb, given)


@pytest.mark.parametrize("verb", [*ENDS, *HALVES])
def test_a_bare_number_of_a_text_is_in_the_units_of_the_file(verb: str) -> None:
    if verb in HALVES:
        assert HALVES[verb]("180..260", FILE) == pytest.approx(0.04, rel=1e-12)
        assert HALVES[verb]("0.1", FILE) == HALVES[verb]("+- 0.1", FILE) == pytest.approx(WIDTH, rel=1e-12)
    else:
        assert ENDS[verb]("180..260", FILE) == pytest.approx((LOW, HIGH), rel=1e-12)
        assert ENDS[verb]((0.18, 0.26), FILE) == pytest.approx((LOW, HIGH), rel=1e-12)  # numbers are SI


def sentence(verb: str, given: Any) -> str:
    """The refusal without the name of the number in front of it."""
    with pytest.raises(LinkwrightError) as refused:
        VERBS[verb](given)
    return re.sub(
        r"^(?:the tolerance of |over: |randomize: |limits: )?'?(?:l|piston\.C\.x|slide\.force)'?(?:: | = | (?=must be))",
        "",
        str(refused.value),
    )


@pytest.mark.parametrize(
    ("given", "verbs", "said"),
    [
        ("0.1 mm", ("optimize", "map"), "0.1 mm is not a range: it is one value."),
        (1e-4, ("optimize", "map"), "0.0001 is not a range: it is one value."),
        ([0.18, 0.26], ("optimize",), "0.18, 0.26 is not a range: it is a list of values."),
        ([0.18, 0.26], ("tolerances", "linear", "corners"), "0.18, 0.26 is not a tolerance: it is a list of values."),
        ("+- 0.1 mm", ("turns",), "+- 0.1 mm has no single values: it is a tolerance."),
        ("2 %", ("fastest",), "+- 2 % is a tolerance of the present value, and there is none here"),
    ],
)
def test_a_phrase_of_another_kind_is_refused_with_one_sentence(given: Any, verbs: tuple[str, ...], said: str) -> None:
    found = {sentence(verb, given) for verb in verbs}
    assert len(found) == 1 and found.pop().startswith(said)


@pytest.mark.parametrize("given", MEANINGLESS, ids=str)
def test_what_has_no_meaning_is_refused_with_one_sentence(given: Any) -> None:
    verbs = [v for v in VERBS if v != "fastest" and not (isinstance(given, list) and v == "turns")]
    found = {sentence(verb, given) for verb in verbs}
    assert len(found) == 1, found


@pytest.mark.parametrize(
    "text", ["880..930 mm", "0.88..0.93 SI", "1..2 / 5", "+- 0.1 mm", "+- 2 %", "200 +- 0.1 mm", "-5..5 N m / 3", "1e-07..2 s"]
)
def test_a_phrase_is_printed_as_it_is_read(text: str) -> None:
    found = meaning(text)
    assert str(found) == text and meaning(str(found)) == found


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: lw.Range(2, 1, "mm"), "is empty"),
        (lambda: lw.Range(1, float("inf")), "finite"),
        (lambda: lw.Range("1 mm", 2), "is a number"),
        (lambda: lw.Range(1, 2, "mmm"), "'mmm' is not a unit"),
        (lambda: lw.Range(1, 2, "mm", 1), "2 to 1,000,000"),
        (lambda: lw.Tolerance(-1, "mm"), "zero or more"),
        (lambda: lw.Tolerance(2, "%", about=3), "to the present value"),
        (lambda: lw.Range.parse("+- 1 mm"), "a tolerance is not a range"),
        (lambda: lw.Tolerance.parse("1..2 mm"), "a range is not a tolerance"),
    ],
)
def test_objects_are_checked_when_they_are_made(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make()


@pytest.mark.parametrize(
    ("text", "column"),
    [("880..93x mm", 8), ("1..2 mmm", 6), ("200 +- 1 parsec", 10), ("1,5..2 mm", 2), ("normal(1 mm, 2 flops)", 16), ("1..2*(3 mm", 11)],
)
def test_the_column_of_a_mistake_is_named(text: str, column: int) -> None:
    with pytest.raises(UsageError, match=f"'{re.escape(text)}', column {column}: "):
        meaning(text)


def test_bounds_of_random_ranges_are_read_back() -> None:
    rng = np.random.default_rng(3)
    for low, span in zip(rng.normal(size=50) * 10.0 ** rng.integers(-6, 6, 50), 10.0 ** rng.uniform(-3, 3, 50), strict=True):
        made = Range(low, low + span, "mm")
        assert meaning(str(made)) == made == Range.parse(str(made))


WINDOWED = "range slide while 20..140 deg"
PARTS = lw.Measure(WINDOWED, "range", "slide", lw.Window(20, 140, "deg"))
MEASURED: dict[str, Callable[[Any], Any]] = {
    "measure": lambda given: MODEL.cycle(steps=24).measure(given),
    "cycles": lambda given: MODEL.cycles({"l": [0.2, 0.21]}, steps=24).measure(given)[0],
    "study": lambda given: lw.study(MODEL, {"l": [0.2]}, given, lw.Cycle(steps=24))[WINDOWED][0],
    "tolerances": lambda given: MODEL.tolerances(["l"], given, case=lw.Cycle(steps=24))[WINDOWED].nominal,
    "optimize": lambda given: (
        MODEL.optimize(lw.Goal("min", given) if isinstance(given, lw.Measure) else f"min {given}", {"l": (0.2, 0.21)}, search="none",
                       starts=1, case=lw.Cycle(steps=24)).goals[0].before
    ),
}  # fmt: skip


@pytest.mark.parametrize("verb", MEASURED)
def test_a_measure_and_its_window_may_be_objects(verb: str) -> None:
    value = MODEL.cycle(steps=24).measure(WINDOWED)
    for given in (WINDOWED, PARTS, lw.Measure.parse(WINDOWED)):
        assert float(MEASURED[verb](given)) == pytest.approx(float(value), rel=1e-12), given


def test_goals_and_requirements_may_be_objects() -> None:
    text = "max A.torque < 3 N m"
    objects = lw.Goal.parse("min rms A.torque"), lw.Requirement.parse(text)
    assert str(objects[0]) == "min rms A.torque" and str(objects[1]) == text
    assert lw.Requirement(lw.Measure.parse("max A.torque"), high=3, unit="N m") == objects[1]
    case = {"case": lw.Cycle(steps=24), "search": "none", "starts": 1}
    by_text = MODEL.optimize("min rms A.torque", {"l": "200..210 mm"}, [text], **case)
    by_object = MODEL.optimize(objects[0], {"l": lw.Range(200, 210, "mm")}, [objects[1]], **case)
    assert by_object.numbers == by_text.numbers and by_object.goals[0].after == by_text.goals[0].after


@pytest.mark.parametrize(
    ("read", "text", "column"),
    [
        (lw.Window.parse, "100..180 degg", 10),
        (lw.Window.parse, "A.v > 2 radd/s", 9),
        (lw.Measure.parse, "range slide while 20..140 degg", 27),
        (lw.Requirement.parse, "max A.torque <= 3 N mm m m x", 19),
        (lw.Measure.parse, "peak C.load on rod", 6),
    ],
)
def test_windows_and_comparisons_name_the_column(read: Callable[[str], Any], text: str, column: int) -> None:
    with pytest.raises(UsageError, match=f"'{re.escape(text)}', column {column}: "):
        read(text)


def test_synthesis_reads_the_same_quantities() -> None:
    plain, product = (lw.synthesize(dead_centers={"stroke": x, "time_ratio": 1.2}, count=1).best for x in ("100 mm", "2*5 cm"))
    assert plain.text("a") == product.text("a")
    with refused(UsageError, name="100 mmm"):
        lw.synthesize(dead_centers={"stroke": "100 mmm", "time_ratio": 1.2})
