"""Starting points: the built-in models and the templates of `linkwright new`, one line each; the welcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from linkwright.api import UsageError, nearest
from linkwright.api import library as models
from linkwright.rings.cli import console

_FOLDER = Path(__file__).parent / "templates"
DEFAULT = "crank-rocker"
COMFORTABLE = 60  # columns from which on a name and its line are side by side


def template_names() -> list[str]:
    """Names of the templates, the default first."""
    return sorted((p.stem for p in _FOLDER.glob("*.yaml")), key=lambda n: (n != DEFAULT, n))


def template_about(name: str) -> str:
    """The template's first comment line."""
    with (_FOLDER / f"{name}.yaml").open(encoding="utf-8") as lines:
        return lines.readline().lstrip("# ").strip().rstrip(".")


def source(name: str) -> tuple[Path, str]:
    """(file, "template" or "model") of a name; no template has the name of a built-in model."""
    if name in template_names():
        return _FOLDER / f"{name}.yaml", "template"
    if name in models.names():
        return models.path(name), "model"
    known = [*template_names(), *models.names()]
    raise UsageError(
        f"there is no template or built-in model '{name}'. {nearest(name, known, 'Names')} 'linkwright new --list' shows all.",
        name=name,
        allowed=known,
    )


def model_list() -> str:
    return listing(models.names(), models.about)


def template_list() -> str:
    return listing(template_names(), template_about)


def listing(names: Sequence[str], about: Callable[[str], str]) -> str:
    """`  name  what it is`, wrapped where the console is narrow."""
    wide = max(len(n) for n in names)
    if (console.width() or COMFORTABLE) < COMFORTABLE:
        return "\n".join(f"  {n}\n{console.wrapped(f'      {about(n)}', 6)}" for n in names)
    return console.wrapped("\n".join(f"  {n:<{wide}}  {about(n)}" for n in names), indent=wide + 4)


def welcome() -> str:
    """Return the text that `linkwright` alone prints."""
    from linkwright import __version__

    return "\n".join(
        [
            console.wrapped(f"Linkwright {__version__}: mechanisms with closed kinematic loops."),
            "",
            "Built-in models",
            model_list(),
            "",
            "Try",
            "  linkwright wiper",
            "  linkwright cycle wiper --picture wiper.png --animation wiper.gif",
            "  linkwright new my.yaml",
            "",
            console.wrapped("The first command opens a page with the moving mechanism. The last command writes a model to change."),
            console.wrapped("Help: linkwright --help. Pages of the documentation: linkwright docs"),
        ]
    )
