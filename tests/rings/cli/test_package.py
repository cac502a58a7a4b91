"""The package's surface: public names, one import path each, and a fast import."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

import linkwright as lw
from tests import ROOT


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
    """Neither `import linkwright` nor loading a model pulls in plotting, scipy or a compiler. The start is closed by a kernel, with
    llvmlite and nothing else of them."""
    shown = "print('|', *sys.modules)"
    code = f"import sys, linkwright; print(*sys.modules); m = linkwright.load('wiper'); {shown}; m.system.start; {shown}"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=True)
    first, loaded, started = done.stdout.split("|")
    heavy = {"matplotlib", "scipy", "PIL", "rich", "numba", "llvmlite"}
    assert not heavy & set(first.split()) and "yaml" not in first.split()
    assert not heavy & set(loaded.split()) and not (heavy - {"llvmlite"}) & set(started.split())


def test_version_is_the_same_everywhere() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{lw.__version__}"' in text
    try:
        assert version("linkwright") == lw.__version__
    except PackageNotFoundError:  # run from the sources, nothing installed
        assert not list(ROOT.glob("src/*.egg-info"))


@pytest.mark.parametrize("start", ["runpy.run_module('linkwright', run_name='__main__')", "sys.exit(entry_point()())"])
def test_an_interrupt_during_the_imports_is_told_in_one_line(start: str) -> None:
    """Ctrl-C arrives while argparse is looked for; the entry point is what pyproject.toml names for the installed command."""
    (module, name) = re.findall(r'^linkwright = "([\w.]+):(\w+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[0]
    code = f"""
import importlib, os, runpy, signal, sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "argparse":
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with interrupts ignored
sys.meta_path.insert(0, Pressed())
sys.argv = ["linkwright", "models"]
entry_point = lambda: getattr(importlib.import_module({module!r}), {name!r})
{start}
"""
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True)
    assert done.returncode == 130 and done.stdout == "" and done.stderr == "interrupted\n"
