"""Checked numbers of the papers' mechanisms; `load()` reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load(name: str) -> dict[str, Any]:
    return json.loads((Path(__file__).parent.parent / "data" / f"{name}.json").read_text(encoding="utf-8"))
