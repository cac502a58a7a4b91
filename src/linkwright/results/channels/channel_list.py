"""Names that can be read from a result, with unit and meaning: a sequence of texts that prints as a table and filters.

c.channels                all of them, as a table
c.channels("torque")      a part of a name or a word of the meaning
c.channels("*.torque")    a pattern
c.channels("N m")         a unit, also one that the table does not show, such as "rpm"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from linkwright.errors import LinkwrightError, UsageError
from linkwright.files.tables import Result, Table
from linkwright.properties import cached_property
from linkwright.results.channels import Channel
from linkwright.results.tables import unit_of
from linkwright.text.patterns import is_pattern, matching


class ChannelList(Sequence[str], Result):
    """Names of channels in their order, with their units and meanings."""

    def __init__(self, names: Sequence[str], channel: Callable[[str], Channel], units: tuple[str, ...], whose: str):
        self._names, self._channel, self._units, self._whose = list(names), channel, units, whose

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> ChannelList: ...
    def __getitem__(self, index: int | slice) -> str | ChannelList:
        return self.of(self._names[index]) if isinstance(index, slice) else self._names[index]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, ChannelList | list | tuple) else NotImplemented

    __hash__ = None  # as of a list

    def __call__(self, text: str) -> ChannelList:
        """Return the channels that match a part of a name, a pattern, a unit or a word of the meaning."""
        if not isinstance(text, str):
            raise UsageError(
                f"channels are filtered by a text: a part of a name, a pattern, a unit or a word, not {text!r:.60}.", value=text
            )
        if is_pattern(text):
            return self.of(matching(text, self._names))
        return self.of([name for name in self._names if self._matches(name, text)])

    def _matches(self, name: str, text: str) -> bool:
        channel = self._channel(name)
        return text in name or text.casefold() in channel.meaning.casefold().split() or self._measures(channel, text)

    def _measures(self, channel: Channel, unit: str) -> bool:
        """True if a channel can be read in a unit."""
        if unit == unit_of(self._units, channel.dimension)[0]:
            return True
        try:
            return channel.size_of(unit) > 0.0
        except LinkwrightError:
            return False

    def of(self, names: Sequence[str]) -> ChannelList:
        """Return a list of other names that can be read from the same result."""
        return ChannelList(names, self._channel, self._units, self._whose)

    def table(self) -> Table:
        """Return a row for each channel: its name, the unit of the model file, and its meaning."""
        found = [self._channel(name) for name in self._names]
        rows = [(name, unit_of(self._units, c.dimension)[0], c.meaning) for name, c in zip(self._names, found, strict=True)]
        return Table.of(["channel", "unit", "meaning"], rows, f"channels of {self._whose}")

    def __str__(self) -> str:
        return str(self.table()) if len(self) else f"no channels of {self._whose}"

    __repr__ = __str__
