"""Numbers of the drawing: put in as symbols they give what the file read again with them gives."""

from __future__ import annotations

import pytest

from linkwright.errors import LinkwrightError
from linkwright.model import file as modelfile
from linkwright.model import library
from linkwright.model.file.value_fitting import flat, missed
from linkwright.model.parameters import every_parameter
from tests.refusals import refused
from tests.sweeps import every_model

EQUAL = 1e-12  # of the largest number of a kind: round-off of expressions against floats
WRITTEN = (
    "{name: x, plane: xz, parameters: {L: 0.3 m}, drawing: {A: [0, 0], B: [L, 0.1]}, "
    "bodies: {ground: {pins: [A]}, bar: {pins: [A], points: [B]}}}"
)
ON_A_LINE = ("parallelogram-middle", "scissor-lift")  # three pins of a body: off the line it is a plate


@pytest.mark.parametrize("model", every_model("boot-lid", "carpet-scraper", "punch-press", "rssr", "scissor-lift", "wiper"))
def test_symbols_are_the_file_read_again(model: str) -> None:
    d = modelfile.read(library.path(model))
    for name, x in d.drawn_numbers.items():
        value = x + 0.004
        again, put_in = modelfile.reread(d, **{name: value}).numbers(), d.numbers({name: value})
        off = [k for k in missed(flat(put_in), flat(again), EQUAL) if k[0] != "parameters"]
        if model in ON_A_LINE:
            off = [k for k in off if k[2] not in ("com", "inertia")]
        assert not off, (name, off[:3])
        starts = [[x for b in z.bodies for x in b.start.at] for z in (put_in, again)]
        assert starts[0] == pytest.approx(starts[1], abs=1e-12), name


def test_which_numbers_of_a_drawing_can_vary() -> None:
    wiper = modelfile.read(library.path("wiper")).drawn_numbers
    assert list(wiper) == [*(f"{p}.{a}" for p in "ABCDP" for a in "xy"), "crank.length", "rocker.length"]
    assert wiper["C.x"] == 0.905 and wiper["crank.length"] == pytest.approx((0.15**2 + 0.26**2) ** 0.5, rel=1e-15)
    # a sketch whose bodies have lengths of their own, written with parameters
    assert modelfile.read(library.path("four-bar")).drawn_numbers == {}
    assert list(modelfile.read_text(WRITTEN).drawn_numbers) == ["A.x", "A.z", "B.z"]


def test_derived_numbers_follow_a_pin() -> None:
    """The mass of a bar by its section is in proportion to its length; a center in the drawing stays there, one in the body does not."""
    text = """
name: bar
plane: xy
drawing: {A: [0, 0], B: [0.4, 0], C: [0.2, 0.3]}
bodies:
  ground: {pins: [A]}
  bar: {pins: [A], points: [B], bars: [[A, B]], bar: {section: {diameter: 20 mm}, material: steel}}
  plate: {pins: [A], points: [C], mass: 2, com: [0.1, 0.1], inertia: 0.01}
"""
    d = modelfile.read_text(text)
    here, there = d.numbers(), d.numbers({"B.x": 0.6, "C.y": 0.5, "A.x": 0.05})
    assert there.body("bar").mass / here.body("bar").mass == pytest.approx(0.55 / 0.4, rel=1e-12)
    assert there.body("bar").com[:2] == pytest.approx((0.275, 0.0)) and there.body("plate").com[:2] == pytest.approx((0.05, 0.1))


def test_every_named_number_can_be_changed_in_a_call() -> None:
    d = modelfile.read(library.path("boot-lid"))
    for name, p in every_parameter(d).items():
        value = 1.001 * p.value if p.value else 0.001 * (p.size or 1.0)
        assert every_parameter(modelfile.reread(d, **{name: value}))[name].value == pytest.approx(value, rel=1e-12, abs=1e-15), name
    both = modelfile.reread(modelfile.reread(d, **{"lid.mass": 15.0}), **{"S.x": 0.16})  # an earlier change stays
    assert both.numbers().body("lid").mass == pytest.approx(15.0) and both.drawn_numbers["S.x"] == 0.16
    assert both.numbers({"S.y": 0.13}).body("lid").mass == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("D.y", "2 kg", "must be length"),
        ("Q.x", 1.0, "no number 'Q.x'"),
        ("lid.mass", -1.0, "below zero"),
        ("gas.force", "3 m", "must be force"),
        ("crank", 1.0, "neither a parameter"),
        ("A.x", float("nan"), "number"),
    ],
)
def test_wrong_numbers_in_a_call(name: str, value: object, message: str) -> None:
    with pytest.raises(LinkwrightError, match=message):
        modelfile.reread(modelfile.read(library.path("boot-lid")), **{name: value})


def test_expressions_and_sketches() -> None:
    with refused(LinkwrightError, name="B.x"):
        modelfile.reread(modelfile.read_text(WRITTEN), **{"B.x": 0.9})
    d = modelfile.read(library.path("four-bar"))  # the sketch moves, nothing else: its bodies have lengths of their own
    moved = modelfile.reread(d, **{"C.x": 0.9})
    assert dict(moved.drawing)["C"][0] == 0.9 and not missed(flat(moved.numbers()), flat(d.numbers()), 0.0)
