"""The built-in mechanisms: one YAML file each, data and header only.

Every file begins with a comment that says what the mechanism is and where its numbers come from,
and has an `about:` line for lists. Reading a model is the business of `model.file`.

Examples
--------
>>> "wiper" in lw.models.names(), lw.models.path("wiper").suffix
(True, '.yaml')
>>> lw.models.about("wiper")
'Windscreen wiper: a crank-rocker four-bar, 45 rpm'
"""

from __future__ import annotations

from pathlib import Path

from linkwright.errors import UsageError, nearest

__all__ = ["about", "names", "path"]

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names of the built-in models, in alphabetical order."""
    return sorted(p.stem for p in _FOLDER.glob("*.yaml"))


def path(name: str) -> Path:
    """Return the file of a built-in model."""
    if name not in (known := names()):
        raise UsageError(f"there is no built-in model '{name}'.", nearest(name, known, "Models"))
    return _FOLDER / f"{name}.yaml"


def about(name: str) -> str:
    """Return the model's `about:` line, without reading the rest of the file."""
    with path(name).open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("about:"):
                return line.removeprefix("about:").strip().strip("\"'")
    return ""


def __dir__() -> list[str]:
    return sorted(__all__)
