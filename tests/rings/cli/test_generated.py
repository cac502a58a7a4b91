"""Options from signatures: they are the verbs' own, and a flag means the same thing in every command."""

from __future__ import annotations

import argparse
import inspect
import re
from collections import defaultdict
from importlib import import_module
from typing import Any

import pytest

from linkwright.errors import UsageError
from linkwright.rings import cli
from linkwright.rings.cli import dispatch, verb_options
from linkwright.rings.cli.parser import OLD_FLAGS
from linkwright.rings.cli.verb_options import NEEDED, Verb, VerbParameter, described, option_of
from tests.refusals import refused

EVERY = (*dispatch.NAMES, "page")
VERBS = {name: x for name in EVERY for x in dispatch.command_of(name).options if isinstance(x, Verb)}
ENDS = re.compile(r":|;| \(| \[")  # of the stem of a help: details of the command follow


def actions(name: str) -> list[argparse.Action]:
    return [x for x in dispatch.parser_of(name)._actions if x.dest != "help"]


def help_of(x: argparse.Action) -> str:
    says = getattr(x, "says", None)
    return says() if says else x.help or ""


def function_of(address: str) -> Any:
    module, _, path = address.partition(":")
    found: Any = import_module(module)
    for word in path.split("."):
        found = getattr(found, word)
    return inspect.unwrap(found)


@pytest.mark.parametrize("name", VERBS)
def test_options_are_those_of_the_verb(name: str) -> None:
    """The reading of the source gives what the imported function has."""
    verb = VERBS[name]
    real = inspect.signature(function_of(verb.address)).parameters
    read = verb_options.parameters(verb.address)
    plain = {n: p for n, p in real.items() if n != "self" and p.kind is not inspect.Parameter.VAR_KEYWORD}
    assert list(read)[: len(plain)] == list(plain)
    for n, p in plain.items():
        assert read[n].annotation == p.annotation
        assert read[n].default is NEEDED if p.default is p.empty else read[n].default == p.default, n
    assert set(verb.only) | set(verb.without) | set(verb.written) <= set(read)
    assert not (set(verb.only) and set(verb.without))


@pytest.mark.parametrize("name", VERBS)
def test_every_parameter_is_described(name: str) -> None:
    for x in verb_options.parameters(VERBS[name].address).values():
        assert x.about and x.about[0].isupper() and x.about.endswith((".", ")", '"')), x.name


def test_a_flag_means_the_same_in_every_command() -> None:
    meanings: dict[str, dict[Any, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in EVERY:
        for x in actions(name):
            stem = ENDS.split(help_of(x), maxsplit=1)[0]
            reader = getattr(x.type, "__name__", None)
            for flag in x.option_strings:
                meanings[flag][stem, x.metavar, reader, type(x).__name__, x.nargs].append(name)
    different = {flag: dict(found) for flag, found in meanings.items() if len(found) > 1}
    assert different == {}
    assert len(meanings["--output"]) == 1 and all(metavar == "FILE" for _, metavar, *_ in meanings["--output"])


def test_help_begins_with_a_noun_or_its_article() -> None:
    """No verb in the imperative, no preposition; long enough to say something."""
    verbs = "write|draw|show|print|open|end|use|search|compute|change|turn|serve"
    wrong = re.compile(rf"^(of|by|how|where|which|what|also|without|{verbs})\b", re.IGNORECASE)
    for name in EVERY:
        for x in actions(name):
            text = help_of(x)
            assert len(text) > 8 and not wrong.match(text), (name, x.option_strings, text)


@pytest.mark.parametrize(("command", "flag"), [(c, f) for c, flags in OLD_FLAGS.items() for f in flags])
def test_an_old_flag_gives_the_new_one(command: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    new = OLD_FLAGS[command][flag]
    having = [n for n in ([command] if command else EVERY) if new.partition(" ")[0] in {f for x in actions(n) for f in x.option_strings}]
    assert having, "the new flag is one"
    for name in having:
        if flag in {f for x in actions(name) for f in x.option_strings}:
            continue
        with pytest.raises(SystemExit) as stop:
            dispatch.parser_of(name).refuse([flag, "3"], name)
        assert stop.value.code == 2 and f"the option '{flag}' has a new name: {new}" in capsys.readouterr().err


def test_an_old_flag_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cycle", "wiper", "--from", "30deg"]) == 2
    assert "the option '--from' has a new name: --start POSITION" in capsys.readouterr().err


def written(annotation: str, default: Any = None, name: str = "speeds") -> dict[str, Any]:
    x = option_of(VerbParameter(name, annotation, default, 'Speeds of "the" drives. Only in Python.'))
    return {"flag": x.flags[0], **x.settings}


def test_annotations_decide_how_values_are_written() -> None:
    assert written("bool", False)["action"] == "store_true"
    assert written("bool", True)["action"] is argparse.BooleanOptionalAction
    assert written("int", 3)["help"] == "speeds of 'the' drives (default 3)" and written("int", 3)["type"]("12") == 12
    assert written("float | None")["type"]("1e-3") == 1e-3
    both = written('Literal["start", "all"]', "start")
    assert both["choices"] == ["start", "all"] and both["help"].endswith(": start, all (default start)")
    pairs = written("Mapping[str, Any] | None")
    assert (pairs["flag"], pairs["action"]) == ("--speed", "append") and pairs["type"]("A=2 rad/s") == ("A", "2 rad/s")
    assert written("Names | None")["type"]("A, B") == ["A", "B"] and written("Names | None")["flag"] == "--speeds"
    texts = written("Sequence[str] | str | None")
    assert texts["flag"] == "--speed" and texts["help"].endswith("(may be repeated)")
    assert written("float | str", NEEDED)["required"] and "type" not in written("float | str")
    assert written("Mapping[str, Any]", name="stiffness")["flag"] == "--stiffness"


def test_the_section_of_parameters_is_read() -> None:
    doc = """Do it.

    Parameters
    ----------
    a, b : int
        First line
        and second. Third.
    c : str, optional
        Text.

    Returns
    -------
    d : int
        Not a parameter.
    """
    assert described(doc) == {"a": "First line and second. Third.", "b": "First line and second. Third.", "c": "Text."}


def test_values_reach_the_verb_by_keyword() -> None:
    words = ["3-rrr", "--over", "platform", "--limit", "A=0..1", "--at", "x=2", "--modes", "all"]
    given = dispatch.parser_of("workspace").parse_args(words)
    assert VERBS["workspace"].given(given) == {"limits": {"A": "0..1"}, "at": {"x": "2"}, "modes": "all"}
    twice = dispatch.parser_of("workspace").parse_args(["3-rrr", "--over", "platform", "--at", "x=2", "--at", "x=3"])
    with refused(UsageError, name="x"):
        VERBS["workspace"].given(twice)
