"""Packages that are installed as extras."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from linkwright.api import UsageError


def package(name: str, verb: str) -> Any:
    """Return an imported package; raise UsageError with the command that installs it where it is missing."""
    try:
        return import_module(name)
    except ImportError as problem:
        if isinstance(problem, ModuleNotFoundError) and problem.name == name:
            raise UsageError(f"{verb} needs the package {name}: pip install 'linkwright[{name}]'.", name=verb) from None
        raise UsageError(f"{verb} needs the package {name}, whose import fails: {problem}", name=verb) from problem
