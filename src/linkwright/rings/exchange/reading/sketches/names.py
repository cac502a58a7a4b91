"""Names of pins and links of a sketch: the file's own, then texts beside them, then letters and numbers along the linkage."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from linkwright.rings.exchange.reading.sketches.drawing_contents import Label, from_segment
from linkwright.rings.exchange.reading.sketches.linkage import SketchLinkage, SketchPin, used_pins

LABEL_DISTANCE = 3.0  # heights of its letters between a text and what it names
RESERVED = {"ground"}


def name_everything(out: SketchLinkage) -> None:
    """Give every pin that is used and every link a name of its own."""
    _mark_ends(out)
    used = set(used_pins(out))
    _take_labels(out, used)
    taken: set[str] = set(RESERVED)
    order = list(_walk(out))
    letters, points = _letters(), _numbered("P", bare=True)
    for i in order:
        p = out.pins[i]
        series = points if p.marked else letters
        p.name = _free(usable(p.name), taken) if usable(p.name) else _free(next(series), taken, series)
        taken.add(p.name)
    bodies: set[str] = set(RESERVED)
    numbers = _numbered("link")
    out.links.sort(key=lambda x: min(order.index(i) for i in x.pins))
    for x in out.links:
        x.name = _free(usable(x.name), bodies) if usable(x.name) else _free(next(numbers), bodies, numbers)
        bodies.add(x.name)


def usable(name: str) -> str:
    """A text as a name of the model file, or empty: letters, digits, _ and -, a letter first."""
    longest = 40  # characters of a name
    plain = re.sub(r"[^\w-]+", "_", name.strip()).strip("_-")[:longest]
    if not plain:
        return ""
    return plain if plain[0].isalpha() else f"n{plain}"


def _mark_ends(out: SketchLinkage) -> None:
    """Ends of links without a pin become marked points, so that their paths are seen."""
    for x in out.links:
        for at in x.ends:
            near = min(out.pins, key=lambda p, a=at: np.hypot(p.at[0] - a[0], p.at[1] - a[1]))
            gap = float(np.hypot(near.at[0] - at[0], near.at[1] - at[1]))
            out.pins.append(SketchPin(at, 0.0, "", False, True))
            x.pins.append(len(out.pins) - 1)
            beside = f"(the nearest pin is {gap:.3g} mm away)"
            out.inferred.append(f"a link has an end or corner at {out.shown(at)} without a pin: a marked point {beside}")


def _take_labels(out: SketchLinkage, used: set[int]) -> None:
    """Texts name the nearest pin that has no name yet, or else the link that they are at."""
    labels = [x for x in out.sketch.labels if usable(x.text) and len(x.text.split()) == 1]
    pairs = []
    for k, label in enumerate(labels):
        for i in used:
            p = out.pins[i]
            gap = float(np.hypot(p.at[0] - label.at[0], p.at[1] - label.at[1])) - p.radius
            if not p.name and gap <= LABEL_DISTANCE * label.height:
                pairs.append((gap, k, i))
    done: set[int] = set()
    for _, k, i in sorted(pairs):
        if k not in done and not out.pins[i].name:
            done.add(k)
            out.pins[i].name = labels[k].text
    for k, label in enumerate(labels):
        if k not in done:
            _name_link(out, label)


def _name_link(out: SketchLinkage, label: Label) -> None:
    reach = [(min(from_segment(s.points, label.at) for s in x.strokes), x) for x in out.links if not x.name]
    gap, link = min(reach, key=lambda pair: pair[0], default=(np.inf, None))
    if link is not None and gap <= LABEL_DISTANCE * label.height:
        link.name = label.text


def _walk(out: SketchLinkage) -> Iterator[int]:
    """Pins along the links, from the leftmost fixed one."""
    used = list(used_pins(out))
    begin = sorted(used, key=lambda i: (not out.pins[i].grounded, out.pins[i].at))
    seen: set[int] = set()
    for first in begin:
        waiting = [first]
        while waiting:
            i = waiting.pop()
            if i in seen:
                continue
            seen.add(i)
            yield i
            nearby = [j for x in out.links if i in x.pins for j in x.pins if j not in seen]
            nearby.sort(key=lambda j: (not out.pins[j].marked, out.pins[j].grounded), reverse=False)
            waiting += nearby  # the last is taken first: hinges between links, then marked points


def _letters() -> Iterator[str]:
    n = 0
    while True:
        for c in "ABCDEFGHIJKLMNOQRSTUVWXYZ":
            yield c if n == 0 else f"{c}{n}"
        n += 1


def _numbered(word: str, bare: bool = False) -> Iterator[str]:
    n = 0
    while True:
        n += 1
        yield word if bare and n == 1 else f"{word}{n}"


def _free(wanted: str, taken: set[str], more: Iterator[str] | None = None) -> str:
    """A name that is not taken: the one wanted, the next of a series, or with a number."""
    n, name = 1, wanted
    while name in taken:
        n += 1
        name = next(more) if more is not None else f"{wanted}_{n}"
    return name
