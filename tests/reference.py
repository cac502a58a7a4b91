"""Checked numbers of the papers' mechanisms; `load()` reads them."""

from __future__ import annotations

import json
from typing import Any

from tests import ROOT


def load(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "tests" / "data" / f"{name}.json").read_text(encoding="utf-8"))
