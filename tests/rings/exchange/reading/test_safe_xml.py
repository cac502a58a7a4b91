"""XML of strangers: every element knows its line; what is hostile or malformed gets one message and costs little."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from linkwright.errors import LinkwrightError, ModelError
from linkwright.numerics.memory_and_threads import all_in_use
from linkwright.rings.exchange.reading.safe_xml import DEEPEST, MOST_BYTES, MOST_ELEMENTS, parse_xml, read_xml, root_name
from tests.refusals import refused

GOOD = """<?xml version="1.0"?>
<!-- a comment -->
<robot name="r" xmlns:drake="http://drake.mit.edu">
  <link name="a"/>
  <drake:ball_constraint>
    <drake:p value="1 2 3"/>
  </drake:ball_constraint>
  <mass> 1.5 </mass>
</robot>
"""


def test_elements_know_their_lines_and_prefixes() -> None:
    root = parse_xml(GOOD, "r.urdf", ("robot",))
    assert [(x.tag, x.where.line) for x in root] == [("link", 4), ("drake:ball_constraint", 5), ("mass", 8)]
    assert root.children[1].children[0].numbers("value", 3) == (1.0, 2.0, 3.0)
    assert root.content("mass") == 1.5 and root.content("more", 2.0) == 2.0


HOSTILE = {
    "bomb": '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><robot name="&b;"/>',
    "external": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot><link name="&x;"/></robot>',
    "external subset": '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><robot/>',
    "parameter entity": '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]><robot/>',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_document_types_are_refused_with_their_line(text: str) -> None:
    with refused(ModelError, line=2):
        parse_xml(f'<?xml version="1.0"?>\n{text}', "r.urdf")


MALFORMED = {
    "<robot>\n<link>\n</robot>": r"r\.urdf:3: the XML is malformed inside <link> of line 2, column 3: mismatched tag",
    "": r"r\.urdf:1: the file has no XML element",
    "joints: {}": r"malformed",
    "<robot>&undefined;</robot>": "undefined entity",
    '<robot a="1" a="2"/>': "duplicate attribute",
    "<robot/><robot/>": "junk after document",
    b"<robot name='\xe9'/>": "is not UTF-8",
    b"<?xml version='1.0' encoding='no-such'?><robot/>": "encoding",
    b"\x00\x01\x02": "r.urdf",
    b"<robot>\x00</robot>": "malformed",
}


@pytest.mark.parametrize("text", MALFORMED, ids=repr)
def test_malformed_text_has_one_message(text: str | bytes) -> None:
    with pytest.raises(ModelError, match=MALFORMED[text]) as problem:
        parse_xml(text, "r.urdf")
    assert "\n" not in str(problem.value)


def test_other_encodings_are_read() -> None:
    text = "<?xml version='1.0' encoding='{}'?><robot name='é'/>"
    for name in ("latin-1", "utf-16"):
        assert parse_xml(text.format(name).encode(name), "r").get("name") == "é"


@all_in_use()  # what other tests hold is not collected meanwhile: the processor time is that of reading
def test_sizes_are_bounded(tmp_path: Path) -> None:
    """Refused in a small part of the seconds that reading all of it would take (1 s: a loaded machine)."""
    huge = tmp_path / "huge.urdf"
    with huge.open("wb") as stream:
        stream.truncate(100_000_000)  # sparse: the size is what counts
    cases = [("<a>" * 100_000, f"more than {DEEPEST} deep"), ("<r>" + "<a/>" * (MOST_ELEMENTS + 5), f"more than {MOST_ELEMENTS}")]
    for text, message in cases:
        began = time.thread_time()
        with pytest.raises(ModelError, match=message):
            parse_xml(text, "r")
        assert time.thread_time() - began < 1.0
    with refused(LinkwrightError, file="huge.urdf"):
        read_xml(huge)
    with refused(ModelError, name="text"):
        parse_xml(b" " * (MOST_BYTES + 1), "r")


BAD_NUMBERS = {
    "x": "'x' is not a number",
    "1,5": "written with a point: 1.5",
    "nan": "must be finite",
    "inf": "must be finite",
    "1_0": "not a number",
    "1e40": "larger than any machine",
    "٣": "not a number",
    "0x10": "not a number",
    "": "needs an attribute",
}


@pytest.mark.parametrize("text", BAD_NUMBERS, ids=repr)
def test_numbers_are_strict(text: str) -> None:
    element = parse_xml(f'<robot>\n<mass name="m" value="{text}"/></robot>', "r.urdf").children[0]
    with pytest.raises(ModelError, match=rf"^r\.urdf:2: <mass name='m'>: .*{BAD_NUMBERS[text]}"):
        element.number("value")


def test_rows_of_numbers_and_missing_parts() -> None:
    element = parse_xml('<a xyz="1 2" rpy="0,0,0" kind="round"/>', "r")
    for call, message in (
        (lambda: element.numbers("xyz", 3), "xyz needs 3 numbers separated by spaces, not 2"),
        (lambda: element.numbers("rpy", 3), "without commas"),
        (lambda: element.attribute("name"), 'needs an attribute name="..."'),
        (lambda: element.attribute("kind", ("rounded", "flat")), "Did you mean 'rounded'"),
        (lambda: element.need("child"), "needs an element <child>"),
        (lambda: element.flag("maybe", "static"), "static must be true or false"),
    ):
        with pytest.raises(ModelError, match=message):
            call()
    assert element.as_number("-inf", infinite=True) == float("-inf") and element.as_number("1e31", infinite=True) == float("inf")


def test_the_root_decides_the_format(tmp_path: Path) -> None:
    file = tmp_path / "m.xml"
    file.write_text("<?xml version='1.0'?>\n<mujoco><unclosed>")  # the rest is another reader's business
    assert root_name(file) == "mujoco"
    with refused(ModelError, value="<robot> or <sdf>", line=1):
        parse_xml("<a/>", "r", ("robot", "sdf"))
