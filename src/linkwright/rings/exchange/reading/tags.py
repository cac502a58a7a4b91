"""Tags of a format by the element around them: what is read, what is left out, and what was probably misspelled.

A misspelled tag would change the mechanism without a word (`<axsi>` leaves the axis at its default), so an unknown tag or attribute that
is one or two letters away from one of its place is an error. Others are programs' own, and are left out and listed with their lines.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from linkwright.api import ModelError
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.safe_xml import XmlElement


@dataclass(frozen=True)
class TagPlace:
    """Inside one element: tags that are read, tags left out with the name the report has for one, tags and attributes that are known."""

    read: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()  # of the format, without a meaning for the mechanism: not mentioned
    attributes: tuple[str, ...] = ()  # empty: not looked at
    unknown: str = "<{}> element"  # what the report calls a tag that is not known
    picture: bool = False  # only drawn: checked where it is read, because a fault there costs the picture and not the model


def check_tags(element: XmlElement, places: Mapping[str, TagPlace], notes: ImportNotes, around: str = "") -> None:
    """Refuse misspelled tags and attributes in an element and all inside it, and note the tags that are left out.

    `places` are by tag, or by `outer/tag` where it depends on the element around it. Elements without a place are not looked into.
    """
    place = _place(places, element, around)
    if place is None:
        return
    every = (*place.read, *place.left, *place.known)
    for name in element.attributes if place.attributes else ():
        meant = misspelled(name, place.attributes)
        if meant:
            raise element.error(f"there is no attribute {name}. Did you mean {meant}?")
    for child in element:
        if child.tag in place.left:
            notes.drop(place.left[child.tag])
        elif child.tag not in every:
            meant = misspelled(child.tag, every)
            if meant:
                raise child.error(f"there is no such element in <{element.tag}>. Did you mean <{meant}>?", name=child.tag)
            notes.drop(place.unknown.format(child.tag), str(child.where))
        inside = _place(places, child, element.tag)
        if inside is None or not inside.picture:
            check_tags(child, places, notes, element.tag)


def _place(places: Mapping[str, TagPlace], element: XmlElement, around: str) -> TagPlace | None:
    return places.get(f"{around}/{element.tag}") or places.get(element.tag)


@contextmanager
def only_a_picture(element: XmlElement, notes: ImportNotes) -> Generator[None]:
    """Read an element that is only drawn: a fault inside the block becomes a warning of the report."""
    try:
        yield
    except ModelError as problem:
        notes.warn(f"{str(problem).rstrip('.')}; this <{element.tag}> is not drawn")


def misspelled(name: str, known: Collection[str]) -> str:
    """The known name that an unknown one was meant to be; empty where it is known, or like none."""
    if name in known:
        return ""
    near = {x: _letters_apart(name.lower(), x.lower()) for x in known}
    best = min(near, key=lambda x: near[x], default="")
    short = 5  # letters up to which a name may differ by one letter, longer ones by two
    return best if best and near[best] <= (1 if len(best) <= short else 2) else ""


def _letters_apart(one: str, other: str) -> int:
    """Letters to be put in, taken out, changed or swapped with their neighbor."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before, row = [0] * (len(other) + 1), list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
