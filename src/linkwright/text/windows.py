"""Windows: the part of a motion that a measure counts, `100..180 deg`, `0.2..0.5 s`, `A.v > 2 rad/s`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from linkwright.errors import UsageError
from linkwright.properties import cached_property
from linkwright.text.expressions import FUNCTIONS
from linkwright.text.phrases import DOTS, SIGNS, Amount, Phrase, alike, amount, number_text, with_unit
from linkwright.text.units import ANGLE, TIME, Dimension


@dataclass(frozen=True)
class Window:
    """A part of a motion, `lw.Window(100, 180, "deg")`: samples whose channel is in a range.

    Without a channel it is the time or the leading drive, depending on the unit. A range whose first number is larger goes through the
    end of the cycle, `lw.Window(300, 60, "deg")`. One end may be infinite: `lw.Window(2, math.inf, "rad/s", "A.v")` is "A.v > 2 rad/s".
    """

    low: float
    high: float
    unit: str = ""
    channel: str = ""

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, float(getattr(self, name)))
        through = not self.channel and self.dimension in (ANGLE, TIME)
        if math.isnan(self.low + self.high) or self.low == self.high or (self.low > self.high and not through):
            raise UsageError(f"the range {self} is empty: its first number must be the smaller one.")

    @classmethod
    def parse(cls, text: str) -> Window:
        """Read "100..180 deg", "A 100..180 deg" or "A.v > 2 rad/s"."""
        return window(Phrase.of(text))

    def __str__(self) -> str:
        if math.isinf(self.low) or math.isinf(self.high):
            end, sign = (self.high, "<") if math.isinf(self.low) else (self.low, ">")
            return with_unit(f"{self.channel} {sign} {number_text(end)}", self.unit)
        return with_unit(f"{self.channel} {number_text(self.low)}..{number_text(self.high)}".lstrip(), self.unit)

    @cached_property
    def dimension(self) -> Dimension | None:
        """Dimension of the written unit, or None."""
        return Amount(0.0, self.unit).dimension

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Low and high in SI."""
        return Amount(self.low, self.unit).si, Amount(self.high, self.unit).si

    def axis(self, drive: str) -> str:
        """The channel that decides. Empty if there is no leading drive."""
        return self.channel or ("t" if self.dimension == TIME else drive)

    @property
    def wraps(self) -> bool:
        return not self.low < self.high


def window(p: Phrase) -> Window:
    """Read a window; raise UsageError with the column."""
    dots = p.cut(DOTS)
    if dots is not None:
        parts = dots[0].split(1)
        named = len(parts) == 2 and parts[0].text[0].isalpha() and parts[0].text not in (*FUNCTIONS, "pi")
        a, b = alike(amount(parts[1] if named else dots[0]), amount(dots[2]), p)
        return _made(p, a.value, b.value, b.unit, parts[0].text if named else "")
    sign = p.cut(SIGNS)
    if sign is None or not sign[0] or len(sign[0].split()) > 1 or "=" in (sign[1], sign[1][:1]):
        raise p.error(f"after while comes a range, 100..180 deg, or a condition, A.v > 2 rad/s, not '{p.text}'.", value=p.text)
    limit = amount(sign[2])
    ends = (limit.value, math.inf) if sign[1].startswith(">") else (-math.inf, limit.value)
    return _made(p, *ends, limit.unit, sign[0].text)


def _made(p: Phrase, low: float, high: float, unit: str, channel: str) -> Window:
    try:
        return Window(low, high, unit, channel)
    except UsageError as problem:
        raise p.error(problem) from None
