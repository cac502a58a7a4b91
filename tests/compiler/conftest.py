"""Code as users have it: tests elsewhere take code that is made quickly."""

from __future__ import annotations

from collections.abc import Generator

import pytest


@pytest.fixture(scope="module", autouse=True)
def good_code() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKWRIGHT_OPTIMIZATION", "1")
        yield
