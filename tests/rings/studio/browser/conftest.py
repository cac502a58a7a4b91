"""One browser for all tests of a worker; for each test a fresh profile without a network; pages written once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.rings.studio import live
from linkwright.rings.studio.pdf import LAUNCH, NOT_FOUND, chromium
from tests.rings.studio.browser.desk import Desk


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


def launched(playwright: Any, *more: str) -> Any:
    """Chromium with these further arguments. Without one a test fails with the way out: a page nobody looked at is not tested."""
    program = chromium()
    if program is None:
        pytest.fail(NOT_FOUND, pytrace=False)
    return playwright.chromium.launch(executable_path=program, args=[*LAUNCH, *more])


@pytest.fixture(scope="session")
def browser(playwright: Any) -> Iterator[Any]:
    started = launched(playwright)
    yield started
    started.close()


@pytest.fixture
def desk(browser: Any) -> Iterator[Callable[..., Desk]]:
    """Opens a page of a profile of its own: `desk(path, "#s=120", width=360, dark=True, ...)`. Its console must stay empty."""
    opened: list[Desk] = []

    def open_page(path: Path | str, fragment: str = "", *, ready: bool = True, **options: Any) -> Desk:
        opened.append(Desk(browser, **options))
        return opened[-1].open(path, fragment, ready=ready)

    yield open_page
    for one in opened:
        one.close()
    for one in opened:
        assert not one.requests, f"the page asked the network for {one.requests}"
        assert not one.complaints, "the page complains: " + "\n".join(one.complaints)


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a built-in model, written once for all workers."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "pages"
    place.mkdir(exist_ok=True)

    @cache
    def write(name: str) -> Path:
        path = place / f"{name}.html"
        return path if path.exists() else live.write(lw.load(name), path)  # it appears whole or not at all

    return write
