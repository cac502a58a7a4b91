"""Every example of the format's reference is a complete model that reads and writes back."""

from __future__ import annotations

import re

import pytest

from linkwright.model.file import read_text, write
from linkwright.model.file.reader import MODEL_KEYS
from tests import ROOT

PAGE = (ROOT / "docs" / "reference" / "model-file.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=[re.findall(r"name: (\S+)", e)[0] for e in EXAMPLES])
def test_example(text):
    d = read_text(text)
    assert not d.warnings
    assert read_text(write(d)) == d


def test_every_key_is_explained():
    assert all(f"`{key}`" in PAGE for key in MODEL_KEYS)
