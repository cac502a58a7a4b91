"""The JSON Schema of the model file: it accepts every model of the repository, refuses misspelled keys, and has the reader's keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from linkwright import elements
from linkwright.elements import Gear, Tether
from linkwright.elements.base import either, needs
from linkwright.errors import LinkwrightError, ModelError
from linkwright.model.file import read_text
from linkwright.model.file.schema import schema
from linkwright.model.file.text_nodes import FileNode, from_text
from tests import ROOT
from tests.elements import corpus
from tests.elements.good_entries import BASES, GOOD, HELPERS, Good
from tests.model.file import reader_keys

SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
FENCE = re.compile(r"^```yaml[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODELS = sorted(
    path
    for folder in ("src/linkwright/model/library", "src/linkwright/rings/cli/templates", "gallery", "examples", "tests/data/elements")
    for path in (ROOT / folder).rglob("*.yaml")
    if re.search(r"^bodies:", path.read_text(encoding="utf-8"), re.MULTILINE)
)


def plain(node: FileNode) -> Any:
    """The value of a node as YAML 1.2 has it."""
    if node.entries is not None:
        return {key: plain(entry) for key, entry in node.entries.items()}
    if node.items is not None:
        return [plain(item) for item in node.items]
    text = node.text or ""
    if node.span is not None and node.span.style in ("'", '"'):
        return text
    if text in ("", "null", "~"):
        return None
    if text in ("true", "false"):
        return text == "true"
    return (int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)) if NUMBER.match(text) else text


def faults(text: str) -> list[str]:
    found = sorted(VALIDATOR.iter_errors(plain(from_text(text, "m.yaml"))), key=str)
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in found]


def whole(good: Good, pairs: corpus.Pairs) -> str:
    helpers = "".join(f"{key}: {text}\n" for key, text in HELPERS[good.base].items() if key != good.section)
    return BASES[good.base] + helpers + "\n".join(corpus.Entry(good.base, good.section, good.name, pairs).lines()) + "\n"


def test_it_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_model_of_the_repository_is_accepted(path: Path):
    assert not faults(path.read_text(encoding="utf-8"))


def test_models_in_the_documentation_are_accepted():
    pages = {page.name: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").rglob("*.md"))}
    blocks = [(name, block) for name, text in pages.items() for block in FENCE.findall(text)]
    complete = [(name, block) for name, block in blocks if re.search(r"^bodies:", block, re.MULTILINE) and "..." not in block]
    assert len(complete) > 5
    assert not {name: found for name, block in complete if (found := faults(block))}


@pytest.mark.parametrize("good", GOOD, ids=str)
def test_good_entries_are_accepted_and_misspelled_keys_refused(good: Good):
    assert not faults(whole(good, good.pairs))
    own = _own(corpus.Entry(good.base, good.section, good.name, good.pairs))
    assert VALIDATOR.is_valid(own)  # sections stand alone, so that a fault below is that of the key
    ((section, ((name, keys),)),) = ((section, entries.items()) for section, entries in own.items())
    for key in keys:
        for wrong in (f"{key}x", key.capitalize()):
            assert not VALIDATOR.is_valid({section: {name: {wrong if k == key else k: v for k, v in keys.items()}}}), wrong


ABOUT_KEYS = re.compile(r"`|lacks '|has no key '|exactly one of|[Kk]eep one|Leave one")
BEYOND_KEYS = {  # messages about keys that the schema cannot know -> why
    "touch in contact": "another entry",
    "Define it under `parameters:`": "names",
    "A speed is written `A.v: 45 rpm`": "names",
    "`mu` alone does nothing in a hinge": "the joint decides",
    "a slider has no lever": "the joint decides",
    "needs `length:`, the length of the block": "the joint decides",
    "a pin has no `length`": "the joint decides",
    "Take out `free_position` and `preload`": "the joint decides",
    "the face of a swinging follower needs two points": "the joint decides",
    "turns, so it takes a torque": "the joint decides",
    "so the motor needs an inertia": "the joint may have an armature",
    "a cylinder has no gearbox": "names",
    "A rack is written `pinion:`": "the joints decide",
    "which is a rigid stop already": "another section",
    "`teeth` need the `pitch:` of the belt": "the belt has it, not the pulley",
    "a groove guides a roller": "`groove: false` is allowed",
    "a crossed belt runs `around:` two pulleys": "`crossed: false` is allowed",
    "with an inductance L the time constant": "L may be 0",
    "whose pulleys one body carries": "the bodies decide",
    "turns one pulley only": "the bodies decide",
    "give the direction in which the rope is wound": "the drawing decides",
    "may pass it on either side": "the drawing decides",
    "coincide. Give `length:`": "the drawing decides",
    "belts are planar": "another section",
    "moment is a single number in a plane": "another section",
    "the speed would jump": "neighbors decide",
    "Take `monotone` or `cubic`": "elsewhere straight lines are allowed",
}


def _own(entry: corpus.Entry) -> Any:
    """The section of an entry; None where it is no YAML, which no schema sees."""
    try:
        return plain(from_text("\n".join(entry.lines()) + "\n", "m.yaml"))
    except LinkwrightError:
        return None


@cache
def _judged(section: str) -> dict[str, bool]:
    """Entries of a section that are YAML, and whether the schema accepts them."""
    own = {name: _own(entry) for name, entry in corpus.entries(section).items()}
    return {name: VALIDATOR.is_valid(value) for name, value in own.items() if value is not None}


@pytest.mark.parametrize("section", corpus.sections())
def test_keys_that_the_reader_misses_or_finds_contradicting_are_refused(section: str):
    stored = corpus.stored(section)
    given = _judged(section)
    refused = {name for name, accepted in given.items() if not accepted}
    assert not [name for name in refused if stored[name].startswith("ok")]
    missed = [name for name in given if ABOUT_KEYS.search(stored[name]) and not stored[name].startswith("ok") and name not in refused]
    assert not {name: stored[name] for name in missed if not any(piece in stored[name] for piece in BEYOND_KEYS)}


def test_exceptions_of_the_schema_are_messages_of_entries_that_it_accepts():
    said = {corpus.stored(s)[name] for s in corpus.sections() for name, accepted in _judged(s).items() if accepted}
    assert not [piece for piece in BEYOND_KEYS if not any(piece in message for message in said)]


TETHER = "between: [ground.E, coupler.P], stiffness: 2 N/mm"
CONDITIONS = [  # on the keys of a tether, which has none; keys of an entry; what reading it says
    (either("stiffness", "length", needed=False), f"{TETHER}, length: 9", "has `stiffness` and `length`. Keep one."),
    (either(("length",)), TETHER, "has no `length`. Add one."),
    (either("length", "between"), f"{TETHER}, length: 9", "has `length` and `between`. Keep one."),
    (needs("stiffness", "length"), TETHER, "has `stiffness` without `length`. Add one, or take `stiffness` out."),
    (needs("length", "between"), f"{TETHER}, length: 9", ""),
    (either("length", "between"), TETHER, ""),
]


@pytest.mark.parametrize(("rule", "keys", "said"), CONDITIONS)
def test_conditions_of_an_element_are_those_of_reader_and_schema(rule, keys, said, monkeypatch):
    monkeypatch.setattr(Tether, "together", (rule,))
    text = BASES["plane"] + "tethers: {x: {" + keys + "}}\n"
    assert Draft202012Validator(schema()).is_valid(plain(from_text(text, "m.yaml"))) == (not said)
    with pytest.raises(ModelError) if said else nullcontext() as found:
        read_text(text, "m.yaml")
    assert not said or str(found.value.message) == f"tether 'x' {said}"


def _records(form: Any) -> Iterator[dict[str, Any]]:
    """Closed objects in a schema."""
    if isinstance(form, dict):
        if "properties" in form and form.get("additionalProperties") is False:
            yield form
        form = list(form.values())
    for inner in form if isinstance(form, list) else ():
        yield from _records(inner)


def test_the_schema_has_the_keys_of_the_reader():
    own = {(frozenset(x["properties"]), frozenset(x.get("required", ()))) for x in _records(SCHEMA)}
    gear = frozenset(elements.keys(Gear))
    missing = {where: sorted(keys[0]) for where, keys in reader_keys.checks() if keys not in own and keys[0] != gear}
    assert not missing


def _misspelled(value: Any) -> Iterator[Any]:
    """The value with one of its keys misspelled, at every depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {(f"{k}.x y" if k == key else k): v for k, v in value.items()}
            for changed in _misspelled(inner):
                yield {**value, key: changed}
    if isinstance(value, list):
        for i, inner in enumerate(value):
            for changed in _misspelled(inner):
                yield [*value[:i], changed, *value[i + 1 :]]


@pytest.mark.parametrize("place", ["space", "plane"])
def test_wrong_keys_are_refused_at_every_depth(place: str):
    text = (ROOT / "tests" / "data" / "elements" / f"everything-{place}.yaml").read_text(encoding="utf-8")
    sections = [{section: entries} for section, entries in plain(from_text(text, "m.yaml")).items()]
    assert all(VALIDATOR.is_valid(section) for section in sections)  # alone too, so that a fault below is that of the key
    changed = [x for section in sections for x in _misspelled(section)]
    assert len(changed) > 200
    assert not [x for x in changed if VALIDATOR.is_valid(x)]


WRONG = {
    "springs: {s: {type: gas, between: [ground.E, coupler.P], stiffness: 3 N/m}}": "stiffness",
    "springs: {s: {joint: A, stifness: 3}}": "stifness",
    "springs: {s: {type: leaf, joint: A, stiffness: 3}}": "leaf",
    "springs: {s: {joint: A, stiffness: -1}}": "minimum",
    "dampers: {d: {coefficient: 3}}": "joint",
    "dampers: {d: {joint: A, between: [ground.E, coupler.P], coefficient: 3}}": "valid under each",
    "rods: {r: {between: [ground.E]}}": "too short",
    "loads: {l: {on: coupler.P}}": "force",
    "gears: {g: {joints: [A, D], radii: [1, 2], radius: 3}}": "joints",
    "drive: {A: {speeed: 3}}": "speeed",
    "drive: {A: {dc_motor: {Kt: 1}}}": "R",
    "drive: {A: {moves: [{to: 3, im: 2}]}}": "im",
    "spring: {s: {joint: A, stiffness: 3}}": "spring",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_fault_is_named(text: str):
    found = list(_deepest(VALIDATOR.iter_errors(plain(from_text(BASES["plane"] + text, "m.yaml")))))
    assert any(WRONG[text] in message for message in found), found


def _deepest(errors: Any) -> Iterator[str]:
    for error in errors:
        yield error.message
        yield from _deepest(error.context)
