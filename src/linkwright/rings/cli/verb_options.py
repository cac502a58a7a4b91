"""Options of a command from the signature and the docstring of its verb.

    CYCLE = Verb("linkwright.system.mechanism:Mechanism.cycle", without=("drive",))
    options=(options.MODEL, CYCLE, options.OUTPUT, ...)     the options --steps, --speed, --start and --stop
    m.cycle(**CYCLE.given(given))                           the values that were given, by keyword

The annotation of a parameter decides how its value is written, and the first sentence below its name in `Parameters` is its help. Further
sentences are for Python. The file of a verb is read as text and not imported, because help and wrong usage should not wait for numpy.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Any

from linkwright.api import UsageError
from linkwright.rings.cli import options
from linkwright.rings.cli.parser import CliOption, option

PACKAGE = Path(__file__).resolve().parents[2]
HEAD = re.compile(r"^(\w+(?:, \w+)*) : (.+)$")  # of a parameter in a docstring
SENTENCE = re.compile(r"^(.+?)(?:\.(?=\s+[A-Z\"`])|\.?$)", re.DOTALL)
NEEDED = object()  # default of a parameter that has none


@dataclass(frozen=True)
class VerbParameter:
    """A parameter of a verb as its source has it."""

    name: str
    annotation: str
    default: Any
    about: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """Alternatives of the annotation, None aside."""
        tree = ast.parse(self.annotation, mode="eval").body
        return tuple(x for x in _alternatives(tree) if x != "None")

    @property
    def help(self) -> str:
        """Return the first sentence, as a command line says it."""
        found = SENTENCE.match(" ".join(self.about.split()))
        text = (found[1] if found else "").replace("`", "").replace('"', "'")
        return text if text[1:2].isupper() else text[:1].lower() + text[1:]

    @property
    def shown_default(self) -> str:
        """Return the default as text; empty for one that says nothing."""
        plain = isinstance(self.default, (str, int, float)) and not isinstance(self.default, bool) and self.default != ""
        return f"{self.default}".replace("e-0", "e-") if plain else ""


@dataclass(frozen=True)
class Verb:
    """A function by `module:name` or `module:Class.name`, and the options that it gives to a command.

    `only` are the parameters that the command line has, or `without` those that it does not have or has in another way. `written` has
    settings of argparse for those that are written otherwise than their annotation says.
    """

    address: str
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    written: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, VerbParameter]:
        """Parameters that the command line has, by name."""
        every = parameters(self.address)
        return {name: every[name] for name in self.only or every if name not in self.without}

    @property
    def options(self) -> list[CliOption]:
        """Return an option for each parameter."""
        return [option_of(x, self.written.get(name)) for name, x in self.parameters.items()]

    def given(self, values: argparse.Namespace) -> dict[str, Any]:
        """Return the values that were given, by keyword; raise UsageError for a name with two values."""
        out: dict[str, Any] = {}
        for name in self.parameters:
            value = getattr(values, name)
            if value is None or value is False or value == []:
                continue
            out[name] = by_name(value, flag_of(self.parameters[name])) if _is_pairs(value) else value
        return out


def by_name(pairs: Iterable[tuple[str, Any]], flag: str) -> dict[str, Any]:
    """Return values by name; raise UsageError if one is there twice."""
    out: dict[str, Any] = {}
    for name, value in pairs:
        if name in out:
            raise UsageError(f"{flag}: '{name}' is there twice.", name=name)
        out[name] = value
    return out


def option_of(x: VerbParameter, written: Mapping[str, Any] | None = None) -> CliOption:
    """Return the option of a parameter."""
    settings: dict[str, Any] = {"dest": x.name, **_settings(x), **(written or {})}
    ending = f" (default {x.shown_default})" if x.shown_default and "default" not in x.help else ""
    if settings.get("choices"):
        ending = f": {', '.join(settings['choices'])}{ending}"
    repeated = " (may be repeated)" if settings.get("action") == "append" else ""
    settings.setdefault("help", f"{x.help}{ending}{repeated}".replace("%", "%%"))
    if x.default is NEEDED:
        settings["required"] = True
    return option(flag_of(x), **settings)


def flag_of(x: VerbParameter) -> str:
    """Return the flag of a parameter: its name, in the singular if it may be repeated."""
    word = x.name.replace("_", "-")
    repeated = _settings(x).get("action") == "append"
    return f"--{word.removesuffix('s') if repeated and not word.endswith('ss') else word}"


def _settings(x: VerbParameter) -> dict[str, Any]:
    """How a value is written: by the name, which means the same in every command, or by the annotation."""
    if x.name in options.READERS:
        metavar, reader = options.READERS[x.name]
        return {"metavar": metavar, "type": reader}
    kinds = x.kinds
    choices = [y for kind in kinds if kind.startswith("Literal[") for y in ast.literal_eval(f"({kind[8:-1]},)")]
    if choices:
        return {"metavar": "NAME", "choices": choices}
    if kinds == ("bool",):
        return {"action": argparse.BooleanOptionalAction if x.default is True else "store_true", "default": None}
    if any(kind.startswith("Mapping[") for kind in kinds):
        return {"metavar": "NAME=VALUE", "type": options.assignment, "action": "append"}
    if "Names" in kinds:
        return {"metavar": "A,B", "type": options.listed}
    if any(kind.startswith("Sequence[") for kind in kinds):
        return {"metavar": "TEXT", "action": "append"}
    if kinds in (("int",), ("float",)):
        return {"metavar": "N", "type": options.whole} if kinds == ("int",) else {"metavar": "X", "type": options.number}
    return {"metavar": x.name.upper().replace("_", "-")}


def _is_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, tuple) for x in value)


# -------------------------------------------------------------------- source


@cache
def parameters(address: str) -> dict[str, VerbParameter]:
    """Return the parameters of a function in the order of its signature, with what its docstring says about them."""
    module, _, path = address.partition(":")
    tree = _module(module)
    function = _function(tree, path)
    a = function.args
    needed = [NEEDED] * (len(a.posonlyargs) + len(a.args) - len(a.defaults))
    defaults = [*needed, *(_value(x, tree) for x in a.defaults), *(NEEDED if x is None else _value(x, tree) for x in a.kw_defaults)]
    about = described(ast.get_docstring(function) or "")
    found = {}
    for x, default in zip([*a.posonlyargs, *a.args, *a.kwonlyargs], defaults, strict=True):
        if x.arg != "self":
            found[x.arg] = VerbParameter(x.arg, ast.unparse(x.annotation) if x.annotation else "Any", default, about.get(x.arg, ""))
    unpacked = ast.unparse(a.kwarg.annotation) if a.kwarg is not None and a.kwarg.annotation is not None else ""
    return found | (_of_dict(_class(tree, unpacked[7:-1])) if unpacked.startswith("Unpack[") else {})


def _of_dict(kind: ast.ClassDef) -> dict[str, VerbParameter]:
    """Return the keys of a TypedDict, whose docstring has their meaning."""
    about = described(ast.get_docstring(kind) or "")
    keys = {ast.unparse(x.target): ast.unparse(x.annotation) for x in kind.body if isinstance(x, ast.AnnAssign)}
    return {name: VerbParameter(name, annotation, None, about.get(name, "")) for name, annotation in keys.items()}


def described(docstring: str) -> dict[str, str]:
    """Return the texts of the section `Parameters` by name."""
    _, _, section = cleandoc(docstring).partition("Parameters\n----------\n")
    out: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        head = HEAD.match(line)
        if head:
            names = head[1].split(", ")
        elif line.startswith("    "):
            out |= {name: f"{out.get(name, '')} {line.strip()}".strip() for name in names}
        elif line.strip():  # the next section
            break
    return out


@cache
def _module(name: str) -> ast.Module:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8"))


def _function(tree: ast.Module, path: str) -> ast.FunctionDef:
    """Return the definition of `name` or `Class.name`, its overloads aside."""
    nodes: list[ast.stmt] = tree.body
    owner, _, name = path.rpartition(".")
    if owner:
        nodes = _class(tree, owner).body
    return [x for x in nodes if isinstance(x, ast.FunctionDef) and x.name == name][-1]


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    return next(x for x in ast.walk(tree) if isinstance(x, ast.ClassDef) and x.name == name)


def _value(node: ast.expr, tree: ast.Module) -> Any:
    """Return a default: a literal, or a constant of the module."""
    if isinstance(node, ast.Name):
        for x in tree.body:
            if isinstance(x, ast.Assign) and any(isinstance(y, ast.Name) and y.id == node.id for y in x.targets):
                return _value(x.value, tree)
    try:
        return ast.literal_eval(node)
    except ValueError:  # an expression: the help has its value
        return None


def _alternatives(node: ast.expr) -> list[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [ast.unparse(node)]
