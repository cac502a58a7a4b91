"""Elements between two points on the page of a mechanism in space, by their looks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwright.rings.studio import live
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.test_element_symbols import hung

DRAWN: dict[str, np.ndarray] = {}


@pytest.fixture
def shown(desk: Callable[..., Desk], tmp_path: Path) -> Callable[[str], np.ndarray]:
    """(height, width): brightest channel of the page's drawing of an arm with such an element."""

    def draw(section: str) -> np.ndarray:
        if section not in DRAWN:
            page = live.write(hung(tmp_path, section, space=True), tmp_path / f"{section}.html")
            DRAWN[section] = desk(page, still=True).pixels().astype(int).max(axis=-1)
        return DRAWN[section]

    return draw


def test_a_bushing_in_space_is_rubber_between_sleeves(shown: Callable[[str], np.ndarray]) -> None:
    ring, line = shown("bushings"), shown("tethers")
    paper = line > 225
    rubber, steel = paper & (ring < 80), paper & (ring > 100) & (ring < 200)
    rows, columns = np.nonzero(rubber | steel)
    assert rubber.sum() > 30 and steel.sum() > 100
    middle, size = np.median(columns), np.sqrt(rubber.sum() + steel.sum())
    assert np.mean(np.abs(columns - middle) < size) > 0.95, "in one place, about as wide as high"
    assert np.ptp(rows[np.abs(columns - middle) < size]) > 12


def test_the_dashes_of_a_damper_are_drawn_in_space(shown: Callable[[str], np.ndarray]) -> None:
    broken, line = shown("dampers"), shown("tethers")
    gaps = np.flatnonzero(((broken > 225) & (line < 150)).any(axis=0))
    assert 1 + np.count_nonzero(np.diff(gaps) > 3) >= 3
