"""Notebook output: the page itself, in a frame that can see nothing around it."""

from __future__ import annotations

import html.parser
from typing import Any

import pytest

import linkwright as lw
from linkwright.rings.studio import live
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused


class Frames(html.parser.HTMLParser):
    """The attributes of all frames, unescaped as a browser does, and the text beside them."""

    def __init__(self, source: str):
        super().__init__()
        self.frames: list[dict[str, str | None]] = []
        self.tags: list[str] = []
        self.words = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def four_bar() -> lw.Mechanism:
    return lw.load("four-bar")


def test_a_mechanism_is_its_page(four_bar: lw.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    make = live.text
    monkeypatch.setattr(live, "text", lambda *subject, **options: pages.append(make(*subject, **options)) or pages[-1])
    cell = Frames(four_bar._repr_html_())
    (frame,) = cell.frames
    assert [frame["srcdoc"]] == pages and "</html>" in pages[0], "escaped so that the browser reads back exactly the page"
    assert set((frame["sandbox"] or "").split()) == {"allow-scripts", "allow-downloads", "allow-popups"}
    assert cell.tags == ["iframe", "p"], "nothing of the page gets out of its frame"
    assert "four-bar: 1 degree of freedom, driven at" in cell.words


def test_turns_and_runs_play_in_it(four_bar: lw.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(live, "text", lambda subject, run=None, **_: asked.append((subject, run)) or '<p title="a\'b">&amp;</p>')
    c = four_bar.cycle(steps=24)
    cell = Frames(c._repr_html_() or "")
    assert cell.frames[0]["srcdoc"] == '<p title="a\'b">&amp;</p>' and "25 samples" in cell.words
    assert asked[-1] == (four_bar.system, None), "the page makes this turn itself"
    other = four_bar.cycle(steps=24, speed="7 rpm")
    other._repr_html_()
    assert asked[-1][1] is other, "a turn at another speed is put into it"
    of_system = mechanism_of(lw.compile(four_bar, cuts=four_bar.topology.cuts)).cycle(steps=24, speed="7 rpm")
    of_system._repr_html_()
    assert asked[-1][1] is of_system, "results of a System show themselves as well"


def test_a_result_without_a_mechanism_prints_as_text(four_bar: lw.Mechanism) -> None:
    from dataclasses import replace

    bare = replace(four_bar.cycle(steps=4), system=None)
    assert bare._repr_html_() is None
    with refused(lw.UsageError, name="show"):
        bare.show("page.html")


def test_a_mechanism_that_does_not_assemble_says_so() -> None:
    m = lw.load("four-bar", L1="9 m")
    with pytest.raises(lw.LinkwrightError) as problem:
        m.cycle()
    words = Frames(m._repr_html_()).words
    assert " ".join(str(problem.value).split()) == words
