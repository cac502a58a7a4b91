"""`linkwright bench page` measures in a browser of its own, and says what to do where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.bench import page
from linkwright.errors import UsageError
from linkwright.rings.studio import pdf


@pytest.mark.slow
def test_the_page_is_measured() -> None:
    command = [sys.executable, "-m", "linkwright", "bench", "page", "--quick", "--models", "four-bar", "--json"]
    source = str(Path(page.__file__).parents[4])
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": source})
    assert done.returncode == 0, done.stderr
    rows = {row["quantity"]: row for row in json.loads(done.stdout)["results"]}
    assert set(rows) == {"page written", "page ready", "page parameter"}
    # a page that is ready in a millisecond, or a change that takes as long as opening, would be measured wrongly
    assert rows["page ready"]["ns"] > 1e6 and 0 < rows["page parameter"]["ns"] < rows["page ready"]["ns"]


def test_without_a_browser_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    assert pdf.chromium() is None
    with pytest.raises(UsageError, match="make browser"):
        page.rows(("four-bar",))
