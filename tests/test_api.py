"""The interface of the core: every name is there, and rings use little else."""

from __future__ import annotations

import ast
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from linkwright import api

ROOT = Path(__file__).parents[1]
MOST_NAMES = 150
MOST_EXCEPTIONS = 242  # imports of rings past the interface; the list only shrinks


def exceptions() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return next(c["ignore_imports"] for c in contracts if c["name"] == "Rings use the interface of the core")


def shown_to_checkers() -> dict[str, str]:
    """Name of the interface: where type checkers see it."""
    tree = ast.parse(Path(api.__file__).read_text(encoding="utf-8"))
    block = next(x for x in tree.body if isinstance(x, ast.If))
    return {a.asname or a.name: f"{x.module}.{a.name}" for x in block.body if isinstance(x, ast.ImportFrom) for a in x.names}


def test_the_interface_is_small() -> None:
    assert len(api.__all__) == len(set(api.__all__)) <= MOST_NAMES


def test_exceptions_only_shrink() -> None:
    assert len(exceptions()) <= MOST_EXCEPTIONS


@pytest.mark.parametrize("name", api.__all__)
def test_a_name_is_found_where_type_checkers_see_it(name: str) -> None:
    found, (module, _, attribute) = getattr(api, name), shown_to_checkers()[name].rpartition(".")
    assert found is (import_module(f"{module}.{attribute}") if isinstance(found, ModuleType) else getattr(import_module(module), attribute))


def test_type_checkers_see_nothing_else() -> None:
    assert set(shown_to_checkers()) == set(api.__all__) == set(dir(api))


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sunshine'"):
        _ = api.sunshine
