"""The package's surface: public names, one import path each, and a fast import."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import linkwright as lw

ROOT = Path(__file__).resolve().parent.parent.parent


def test_public_names_exist() -> None:
    for name in lw.__all__:
        assert getattr(lw, name) is not None
    assert set(lw.__all__) <= set(dir(lw))
    assert lw.models.names()
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(lw, "non" + "sense")
    for error in (lw.ModelError, lw.AssemblyError, lw.SingularityError, lw.UsageError, lw.ChannelError):
        assert issubclass(error, lw.LinkwrightError)


def test_import_is_light() -> None:
    """Neither `import linkwright` nor loading a model pulls in plotting, scipy or numba."""
    code = "import sys, linkwright; print(*sys.modules); linkwright.load('wiper').system.start; print('|', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=True)
    first, _, after = done.stdout.partition("|")
    heavy = {"matplotlib", "scipy", "PIL", "rich", "numba", "llvmlite"}
    assert not heavy & set(first.split()) and "yaml" not in first.split()
    assert not heavy & set(after.split())


def test_version_is_the_same_everywhere() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{lw.__version__}"' in text
    try:
        assert version("linkwright") == lw.__version__
    except PackageNotFoundError:  # run from the sources, nothing installed
        assert not list(ROOT.glob("src/*.egg-info"))
