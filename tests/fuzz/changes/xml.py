"""Random changes of XML: elements, attributes and their words, texts; and of what is around them, such as entities."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from tests.fuzz import odd

Element = ElementTree.Element
HEADS = (
    '<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>',
    '<!DOCTYPE r SYSTEM "file:///etc/passwd">',
    '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
    '<?xml version="1.0" encoding="utf-16"?>',
    '<?xml version="1.1"?>',
    "<!-- -->",
    "<?php 1 ?>",
    "\ufeff",
    " \n",
)


def change_xml(rng: random.Random, text: str, donors: Sequence[str]) -> str:
    """The text with a few changes of its tree; as it is if it is no XML."""
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        return text
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        rng.choice(CHANGES)(rng, root, donors)
    out = ElementTree.tostring(root, encoding="unicode")
    out = re.sub(r"[^\S\n]*&#x?0+;", "", out)
    if rng.random() < 0.05:
        out = rng.choice(HEADS) + out
    return out


def _some(rng: random.Random, root: Element) -> Element:
    return rng.choice(list(root.iter()))


def _attribute(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    """One word of an attribute, or the text of an element."""
    holders = [e for e in root.iter() if e.attrib or (e.text or "").strip()]
    if not holders:
        return
    e = rng.choice(holders)
    if not e.attrib or ((e.text or "").strip() and rng.random() < 0.5):
        e.text = _word(rng, e.text or "")
    else:
        name = rng.choice(list(e.attrib))
        e.set(name, _word(rng, e.get(name) or ""))


def _word(rng: random.Random, text: str) -> str:
    words = text.split()
    kind = rng.randrange(6)
    if kind == 0 or not words:
        return _clean(odd.scalar(rng))
    k = rng.randrange(len(words))
    if kind == 1:
        del words[k]
    elif kind == 2:
        words.insert(k, words[k])
    else:
        try:
            words[k] = odd.near(rng, float(words[k])) if rng.random() < 0.7 else rng.choice(odd.NUMBERS)
        except ValueError:
            words[k] = _clean(odd.scalar(rng))
    return " ".join(words)


def _clean(text: str) -> str:
    """Without characters that XML cannot hold."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "", text)


def _values(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    """Two attributes change their values, mostly of the same name: references to other parts."""
    held = [(e, k) for e in root.iter() for k in e.attrib]
    if not held:
        return
    e, k = rng.choice(held)
    same = [x for x in held if x[1] == k]
    other, j = rng.choice(same if rng.random() < 0.8 else held)
    a, b = e.get(k) or "", other.get(j) or ""
    e.set(k, b)
    if rng.random() < 0.5:
        other.set(j, a)


def _drop(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    e = _some(rng, root)
    if rng.random() < 0.4 and e.attrib:
        del e.attrib[rng.choice(list(e.attrib))]
    elif len(e):
        e.remove(rng.choice(list(e)))


def _again(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    e = _some(rng, root)
    if len(e):
        child = rng.choice(list(e))
        for _ in range(rng.choice((1, 1, 1, 2, 100))):
            e.insert(rng.randint(0, len(e)), ElementTree.fromstring(ElementTree.tostring(child)))


def _graft(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    """An element of this or another text, anywhere."""
    try:
        there = ElementTree.fromstring(rng.choice(donors)) if rng.random() < 0.7 else root
    except (ElementTree.ParseError, ValueError):
        there = root
    part = ElementTree.fromstring(ElementTree.tostring(_some(rng, there)))
    parents = [e for e in root.iter() if any(c.tag == part.tag for c in e)]
    target = rng.choice(parents) if parents and rng.random() < 0.7 else _some(rng, root)
    target.append(part)


def _tag(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    e, other = _some(rng, root), _some(rng, root)
    e.tag = rng.choice((other.tag, other.tag, "x", f"{{urn:x}}{e.tag}" if "{" not in str(e.tag) else "y"))


def _new(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    """An attribute that other elements have."""
    held = [k for e in root.iter() for k in e.attrib]
    if held:
        _some(rng, root).set(rng.choice(held), _clean(odd.scalar(rng)))


def _deep(rng: random.Random, root: Element, donors: Sequence[str]) -> None:
    e, n = _some(rng, root), rng.choice((3, 30, 300))
    tag, attributes = str(e.tag), dict(e.attrib)
    for k in range(n):
        e = ElementTree.SubElement(e, tag, {**attributes, "name": f"{attributes.get('name', '')}{k}"} if rng.random() < 0.5 else attributes)


CHANGES = (_attribute, _attribute, _attribute, _attribute, _values, _values, _drop, _drop, _again, _graft, _graft, _tag, _new, _deep)
