"""Scripts of docs/make/ as modules, with their neighbors importable."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from tests import ROOT


def docs_script(name: str) -> ModuleType:
    """docs/make/<name>.py, imported as `python docs/make/<name>.py` would find it."""
    folder = str(ROOT / "docs" / "make")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)
