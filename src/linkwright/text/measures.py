"""Measures as text: the number of a motion that is read, its channel, and the window in which it counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from linkwright.errors import UsageError, nearest
from linkwright.text.phrases import SIGNS, Amount, Phrase, amount
from linkwright.text.units import ANGLE, LENGTH, TIME
from linkwright.text.windows import Window, window

REDUCTIONS = ("max", "min", "mean", "rms", "peak", "range", "std", "start", "end")
BEGINNINGS = (*REDUCTIONS, "stroke", "time ratio", "dwell", "straightness", "distance", "time when")
EXAMPLES = (
    '"max A.torque", "range guide while 100..180 deg", "stroke guide", "time ratio guide", "dwell guide within 1 mm", '
    '"straightness coupler.P while 90..180 deg", "distance coupler.P to points.csv", "time when tool.T.x > 0.2 m"'
)
FORMS = {
    "dwell": "dwell CHANNEL within VALUE UNIT",
    "distance": "distance POINT to FILE.csv, or max distance POINT to FILE.csv",
    "time": "time when CHANNEL > VALUE UNIT, or time ratio CHANNEL",
}


@dataclass(frozen=True)
class MeasurePhrase:
    """The parts of a measure as they are written."""

    text: str
    reduction: str
    channel: str
    window: Window | None = None
    limit: Amount | None = None  # of "time when"; of a dwell the height of its band
    above: bool = True
    by: str = ""  # unit in which a dwell is measured
    file: str = ""  # of a distance
    worst: bool = False


def measure_phrase(text: str) -> MeasurePhrase:
    """Read a measure; raise UsageError with the column."""
    p = Phrase.of(text)
    parts = p.at_keyword("while")
    body, span = (p, None) if parts is None else (parts[0], window(parts[2]))
    first = [x.text for x in body.split()[:2]]
    if first == ["time", "when"]:
        made = _when(p, body.split(2)[2:])
    elif first == ["time", "ratio"] and len(body.split()) == 3:
        made = MeasurePhrase(p.whole, "time ratio", body.split()[2].text)
    elif first[:1] == ["dwell"]:
        made = _dwell(p, body)
    elif "distance" in first and first[0] in ("distance", "max", "rms"):
        made = _distance(p, body)
    else:
        made = _reduction(p, body)
    if span is not None and made.reduction in ("when", "time ratio"):
        raise p.error(f"a {'time when' if made.reduction == 'when' else 'time ratio'} covers the whole motion, without while.")
    return made if span is None else replace(made, window=span)


def _reduction(p: Phrase, body: Phrase) -> MeasurePhrase:
    parts = [x.text for x in body.split()]
    if len(parts) == 4 and parts[2] == "on" and parts[1].endswith(".load"):
        raise body.split()[1].error(f"the load of a pin on a body is the channel {parts[1].removesuffix('.load')}.on.{parts[3]}.")
    if len(parts) != 2 and not (len(parts) > 3 and parts[2] == "in"):
        raise not_a_measure(p, parts[0] if parts else "")
    if parts[0] not in (*REDUCTIONS, "stroke", "straightness"):
        raise not_a_measure(p, parts[0])
    return MeasurePhrase(p.whole, parts[0], parts[1])


def not_a_measure(p: Phrase, begun: str) -> UsageError:
    """The error for a text that is no measure, with the form that its beginning suggests."""
    known = begun in FORMS or begun in BEGINNINGS
    hint = f"Write {FORMS.get(begun, begun + ' CHANNEL')}." if known else nearest(begun, BEGINNINGS, "They begin with")
    return UsageError(f"'{p.whole}' is not a measure.", hint, f"Examples: {EXAMPLES}.")


def _when(p: Phrase, rest: list[Phrase]) -> MeasurePhrase:
    sign = rest[0].cut(SIGNS) if rest else None
    if sign is None or "=" in (sign[1], sign[1][:1]) or len(sign[0].split()) != 1:
        raise p.error("this is not a condition: write time when CHANNEL > VALUE UNIT.", rest[0].start if rest else 0)
    return MeasurePhrase(p.whole, "when", sign[0].text, limit=amount(sign[2]), above=sign[1].startswith(">"))


def _dwell(p: Phrase, body: Phrase) -> MeasurePhrase:
    parts = body.at_keyword("within")
    if parts is None or len(parts[0].split()) != 2:
        raise not_a_measure(p, "dwell")
    counted = parts[2].at_keyword("in", last=True)
    height = amount(parts[2] if counted is None else counted[0])
    if not height.value > 0.0:
        raise parts[2].error("the band of a dwell must be higher than zero.")
    by = "" if counted is None else counted[2].text
    if counted is not None:
        try:
            known = Amount(1.0, by).dimension in (TIME, ANGLE, LENGTH)
        except UsageError as problem:
            raise counted[2].error(problem) from None
        if not known:
            raise counted[2].error(f"a dwell is measured in s or in a unit of the drive, such as deg, not in '{by}'.", name=by)
    return MeasurePhrase(p.whole, "dwell", parts[0].split()[1].text, limit=height, by=by)


def _distance(p: Phrase, body: Phrase) -> MeasurePhrase:
    parts = body.at_keyword("to")
    head = [] if parts is None else [x.text for x in parts[0].split()]
    worst = head[:1] == ["max"]
    names = [x for x in head[head.index("distance") + 1 :] if x != "of"] if "distance" in head else []
    if parts is None or not parts[2] or len(names) != 1:
        raise not_a_measure(p, "distance")
    return MeasurePhrase(p.whole, "distance", names[0], file=parts[2].text, worst=worst)
