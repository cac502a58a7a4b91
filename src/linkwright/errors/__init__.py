"""Every error a user can meet: what went wrong, where, what is allowed and what to do.

All of them derive from `LinkwrightError`, so `except lw.LinkwrightError` catches whatever
bad input can cause. The text is one paragraph a person can act on; data that a program may
want (the place, the gap, the names allowed) is in attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from numbers import Integral
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Some = TypeVar("Some")
FOREIGN = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError)  # raised below a call with a value of the wrong kind


@dataclass(frozen=True)
class Source:
    """A place in a model file; `line` counts from 1, 0 when a dict has no lines."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


ECHOED = 200  # characters of the user's own text in a message
UNBROKEN = 500  # characters without a space that are cut outside of quotes, too; paths are shorter
LONGEST = 4000  # of a message


def readable(message: str) -> str:
    """A message without control characters, which a terminal would obey, and without pages of quoted input."""
    text = message
    if len(text) > ECHOED:
        # a quote opens after a space or bracket; elsewhere it closes a name or is an apostrophe, and what follows is the message itself
        quoted = rf"(?<![^\s(\[,:=])'(?=\S)[^']{{{ECHOED + 1},}}'(?!\w)"
        text = re.sub(quoted, lambda m: f"'{_ends(m[0][1:-1])}'", text)
        text = re.sub(rf"\S{{{UNBROKEN},}}", lambda m: _ends(m[0]), text)
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
    return visible(text)


def _ends(text: str) -> str:
    """Beginning and end of a long text."""
    return f"{text[: ECHOED // 2]} ... {text[-ECHOED // 4 :]} ({len(text)} characters)"


def visible(text: str) -> str:
    """The text with control characters written out (`\\x1b`), so that a terminal shows them instead of obeying."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


class Suggestion(str):
    """The end of a message about an unknown name, with the name and the names that are allowed."""

    name: str
    allowed: tuple[str, ...]

    def __new__(cls, text: str, name: str, allowed: Iterable[str]) -> Suggestion:
        made = super().__new__(cls, text)
        made.name, made.allowed = name, tuple(allowed)
        return made

    def after(self, text: str) -> Suggestion:
        """Return the whole message: a text and this end of it."""
        return Suggestion(f"{text} {self}", self.name, self.allowed)


class LinkwrightError(Exception):
    """Base of all errors that a user's input can cause. Sentences are joined to one message.

    Data for programs are in attributes. `name` is what the message is about: the name that does not exist, or the element or
    argument at fault. `value` is the value that cannot be used, and `allowed` are the names or values that can be given instead. A
    `Suggestion` among the sentences sets `name` and `allowed`. `index` is the place, in a batch, of the state that caused the error.
    """

    index: int | None = None

    def __init__(self, *given: Any, name: Any = "", value: Any = None, allowed: Iterable[Any] = ()):
        hint = next((x for x in given if isinstance(x, Suggestion)), Suggestion("", "", ()))
        self._name, self._value, self._allowed = str(name) or hint.name, value, tuple(map(str, allowed)) or hint.allowed
        if len(given) > 1 and all(isinstance(x, str) for x in given):
            given = (" ".join(x for x in given if x),)
        super().__init__(*(readable(x) if isinstance(x, str) else x for x in given))

    def _from_cause(self, own: Any, attribute: str) -> Any:
        """Return what the message is about, or what the error that it repeats is about."""
        unknown = own is None or (isinstance(own, (str, tuple)) and not own)
        return getattr(self.__cause__, attribute) if unknown and isinstance(self.__cause__, LinkwrightError) else own

    @property
    def name(self) -> str:
        """The unknown name, or the element or argument at fault, or "" if the mistake has no name."""
        return self._from_cause(self._name, "name")

    @property
    def value(self) -> object:
        """The value that cannot be used."""
        return self._from_cause(self._value, "value")

    @property
    def allowed(self) -> tuple[str, ...]:
        """Names or values that can be given instead."""
        return self._from_cause(self._allowed, "allowed")

    def __reduce__(self) -> Any:
        """Keep a value only if another process can read it: functions and objects stay behind."""
        data = {"_name": self.name, "_value": _portable(self.value), "_allowed": self.allowed}
        return _again, (type(self), self.args, vars(self) | data)


def _again(kind: type[LinkwrightError], args: tuple[Any, ...], data: dict[str, Any]) -> LinkwrightError:
    """Return an error that was pickled, without its constructor."""
    made = kind.__new__(kind, *args)
    made.args = args
    vars(made).update(data)
    return made


def _portable(value: Any) -> Any:
    plain = (str, bytes, bool, int, float, complex, type(None))
    if isinstance(value, (list, tuple)):
        return [_portable(x) for x in value]
    return value if isinstance(value, plain) or type(value).__module__ == "numpy" else None


class ModelError(LinkwrightError):
    """The model file (or dict) does not describe a mechanism. `where` is the file and the line. `at` is the place in the text of a
    number or an expression, where known."""

    at: int | None = None

    def __init__(self, message: str, where: Source | None = None, *more: str, **data: Any):
        self.where = where
        self.message = readable(" ".join(x for x in (message, *more) if x))
        super().__init__(f"{where}: {message}" if where else message, *more, **data)


class UnfinishedModel(ModelError):
    """The model lacks a part and is right otherwise: no ground, or a pin at which nothing else is hinged."""


class AssemblyError(LinkwrightError):
    """The loops cannot be closed from here (`gap` in meters, `loop` names the worst one)."""

    def __init__(self, message: str, *more: str, gap: float = float("nan"), loop: str = "", **data: Any):
        self.gap, self.loop = gap, loop
        super().__init__(message, *more, **data)


class SingularityError(LinkwrightError):
    """The configuration does not determine the result (`singular_values` measure how nearly it does)."""

    def __init__(self, message: str, *more: str, singular_values: tuple[float, ...] = (), **data: Any):
        self.singular_values = singular_values
        super().__init__(message, *more, **data)


class ChannelError(LinkwrightError):
    """A result has no channel of that name."""


class UsageError(LinkwrightError):
    """A call got an argument it cannot use."""


class NoMotorError(UsageError):
    """No motor of a catalog suits a drive; the cycle itself is computed."""


class SimulationError(LinkwrightError):
    """A run could not continue. `run` holds everything up to there."""

    def __init__(self, message: str, run: Any = None, **data: Any):
        self.run = run
        super().__init__(message, **data)


NUMERALS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}
MOST_NAMES = 60  # of a list in a message; of a longer one the most similar are shown


def listing(names: Iterable[str], most: int = 12) -> str:
    """`a, b, c, ... (40 in all)`: names for an error message, bounded in length."""
    all_names = [str(n) for n in names]
    if len(all_names) <= most:
        return ", ".join(all_names)
    return ", ".join(all_names[:most]) + f", ... ({len(all_names)} in all)"


def counted(count: int, noun: str, plural: str = "", spec: str = "") -> str:
    """Return a number with its noun, `1 pose`, `3 poses`, `2 moving bodies`; `plural` where it is none of -s, -es and -ies, `spec` as of
    a format ("," for thousands)."""
    if count == 1:
        return f"1 {noun}"
    if not plural:
        irregular = re.search(r"([^aeiou])y$", noun)
        plural = f"{noun[:-1]}ies" if irregular else f"{noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
    return f"{count:{spec}} {plural}"


def degrees_of_freedom(count: int) -> str:
    """Return `1 degree of freedom`, `3 degrees of freedom`."""
    return counted(count, "degree of freedom", "degrees of freedom")


def nearest(name: str, allowed: Iterable[str], kind: str, synonyms: Mapping[str, str] | None = None) -> Suggestion:
    """The tail of an unknown-name message: did-you-mean, then what is allowed, all of it up to MOST_NAMES.

    Letters' case does not matter for the guess; `synonyms` are other names of allowed ones.

    >>> nearest("copler", ["crank", "coupler"], "Bodies")
    "Did you mean 'coupler'? Bodies: crank, coupler."
    """
    every = [str(a) for a in allowed]
    hint = _hint(str(name), every, synonyms or {})
    if len(every) > MOST_NAMES:
        alike = get_close_matches(str(name), every, n=12, cutoff=0.0)
        return Suggestion(f"{hint}{kind}: {', '.join(alike)}, ... ({len(every)} in all).", str(name), every)
    return Suggestion(f"{hint}{kind}: {listing(every, MOST_NAMES) or 'none'}.", str(name), every)


def nearest_channel(name: str, known: Sequence[str]) -> Suggestion:
    """The same for channels, whose names have parts: what is allowed are the channels of the joint or body that was meant, or all of these.

    >>> nearest_channel("torque", ["A", "A.torque", "crank", "crank.angle"])
    "Did you mean 'A.torque'? Channels: A, A.torque."
    >>> nearest_channel("krank.angel", ["A", "A.torque", "crank", "crank.angle"])
    "Did you mean 'crank.angle'? Channels: crank, crank.angle."
    """
    heads = list(dict.fromkeys(n.split(".")[0] for n in known))
    guess = _channel_meant(name, known)
    head = name.split(".")[0]
    head = head if head in heads else guess.split(".")[0]
    family = [n for n in known if n.split(".")[0] == head] or sorted(heads)
    return nearest(name, family, "Channels", {name.lower(): guess})


def _channel_meant(name: str, known: Sequence[str]) -> str:
    """The shortest channel that ends with a name, else the one that is nearest part by part, else as a whole; empty if none is near."""
    if ends := [n for n in known if n.lower().endswith(f".{name.lower()}")]:
        return min(ends, key=lambda n: (n.startswith("ground."), n.count(".")))
    parts, left = name.split("."), [n.split(".") for n in known]
    for i, part in enumerate(parts):
        meant = _guess(part, list(dict.fromkeys(n[i] for n in left if len(n) > i)), {})
        left = [n for n in left if len(n) > i and n[i] == meant]
    return next((".".join(n) for n in left if len(n) == len(parts)), "") or next(iter(get_close_matches(name, known, n=1, cutoff=0.8)), "")


def nearest_by_group(name: str, groups: Mapping[str, Sequence[str]], kind: str, synonyms: Mapping[str, str] | None = None) -> Suggestion:
    """The same with what is allowed under headings."""
    every = [n for names in groups.values() for n in names]
    shown = "; ".join(f"{group}: {listing(names, MOST_NAMES)}" for group, names in groups.items())
    return Suggestion(f"{_hint(name, every, synonyms or {})}{kind}: {shown}.", name, every)


def _hint(name: str, allowed: Sequence[str], synonyms: Mapping[str, str]) -> str:
    renamed = [new for new in OLD_KEYS.get(name, ()) if new in allowed]
    if renamed:
        return f"'{name}' has a new name: write {' or '.join(repr(new) for new in renamed)}. "
    guess = _guess(name, allowed, synonyms)
    return _shared_pin(name, allowed) or (f"Did you mean '{guess}'? " if guess else "")


def _shared_pin(name: str, allowed: Sequence[str]) -> str:
    """A pin of three bodies or more has a joint for each pair, `A:crank` and `A:brace`: say so where `A` is asked for."""
    head, _, tail = name.partition(".")
    there = [a for a in allowed if a.startswith(f"{head}:") and a.partition(".")[2] == tail] if head else []
    if len(there) < 2:
        return ""
    bodies, joints = (NUMERALS.get(n, str(n)) for n in (len(there) + 1, len(there)))
    return f"{bodies.capitalize()} bodies meet at {head}, so there are {joints} joints. Take {' or '.join(there)}. "


def _guess(name: str, allowed: Sequence[str], synonyms: Mapping[str, str]) -> str:
    """The allowed name that was meant; empty if none is near."""
    low = name.lower()
    if synonyms.get(low) in allowed:
        return synonyms[low]
    for known in allowed:
        if known.lower() == low:
            return known
    close = get_close_matches(name, allowed, n=1, cutoff=0.6) or get_close_matches(low, allowed, n=1, cutoff=0.6)
    return close[0] if close else ""


def whole_number(value: Any, name: str, least: int, most: int) -> int:
    """Return a whole number within its bounds; raise UsageError for anything else."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= most:
        raise UsageError(f"{name} must be a whole number from {least} to {most}, not {value!r:.60}.", name=name, value=value)
    return int(value)


def package(name: str, extra: str = "") -> Any:
    """Return an optional package, or raise UsageError that says how to install it; `extra`: that of Linkwright which brings it."""
    try:
        return import_module(name)
    except ImportError as missing:
        first = name.split(".")[0]
        install = f"'linkwright[{extra}]'" if extra else first
        raise UsageError(f"this needs the package {first}: pip install {install}", name=first) from missing


def call_explained(function: Callable[Arguments, Result], name: str = "") -> Callable[Arguments, Result]:
    """Return the function; a call with an argument that it does not have, without one that it needs, or with one that is not of its
    annotated kind becomes a `UsageError`.

    `name`: what callers know it by, where that is not its own.
    """

    @wraps(function)
    def call(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        try:
            return function(*args, **options)
        except LinkwrightError:
            raise
        except FOREIGN as problem:
            why = _misfit(function, name or getattr(function, "__name__", repr(function)), args, options)
            if not why:  # the call fits, so the error is not the caller's
                raise
            raise UsageError(why) from problem

    return call


def calls_explained(cls: type[Some]) -> type[Some]:
    """A class whose public methods answer ill-fitting calls as `call_explained` does."""
    for name, method in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isinstance(method, FunctionType):
            setattr(cls, name, call_explained(method))
        elif isinstance(method, (classmethod, staticmethod)):
            setattr(cls, name, type(method)(call_explained(method.__func__)))
    return cls


def _misfit(function: Callable[..., Any], name: str, args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Why these arguments do not fit the function, in number, name or kind; empty if they do."""
    import inspect

    from linkwright.errors.arguments import unfit

    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **options).arguments
    except TypeError:
        return _why_not(name, list(signature.parameters.values()), args, options)
    if "st" in given and not hasattr(given["st"], "skel"):
        return f"a State is needed (from s.assemble, s.state or s.start), not {type(given['st']).__name__}."
    return unfit(function, name, given)


def _why_not(name: str, known: list[Any], args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Of a call that does not fit the parameters known."""
    ordered = [p.name for p in known if p.kind <= p.POSITIONAL_OR_KEYWORD]
    given = ordered[: len(args)]
    free = [p.name for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in given and p.name != "self"]
    for option in options:
        if option in given:
            return Suggestion(f"{name} is given '{option}' twice, by its place and by its name. Take one out.", option, free)
        if option not in free and not any(p.kind == p.VAR_KEYWORD for p in known):
            return no_option(name, option, free)
    if len(args) > len(ordered):
        fewer = f"{name} takes fewer values without a name"
        return f"{fewer}. Write what they are: {listing(free, MOST_NAMES)}." if free else f"{fewer}: {listing(ordered, MOST_NAMES)}."
    lacking = [p.name for p in known if p.name in free and p.default is p.empty and p.name not in options]
    return Suggestion(f"{name} needs {' and '.join(lacking)}. Options: {listing(free, MOST_NAMES)}.", " and ".join(lacking), free)


# -------------------------------------------------------------------- names of the past

RENAMED_OPTIONS: dict[str, str] = {  # "verb.option" -> what to write instead
    "animate.turn": "c.animate(path)",
    "cam.turn": "motion",
    "curves.of": "measures",
    "derivatives.of": "channel",
    "export to c.free": "parameters",
    "export to script.free": "parameters",
    "free_body.path": "c.free_body(body).plot(path)",
    "histogram.of": "measures",
    "indices.of": "measure",
    "kernel.of": "outputs",
    "map.of": "measures",
    "optimize.n": "count",
    "optimize.of": "case",
    "optimize.subject_to": "require",
    "phase.of": "channels",
    "report.run": "run.report(path)",
    "scatter.of": "columns",
    "show.run": "run.show(path)",
    "simulate.output": "sample_interval",
    "study.n": "count",
    "study.of": "case",
    "synthesize.n": "count",
    "tornado.of": "measures",
}


def no_option(verb: str, option: str, known: Iterable[str], kind: str = "") -> Suggestion:
    """Return the message about an option that a verb does not have: its new name, or the nearest one."""
    new = RENAMED_OPTIONS.get(f"{verb}.{option}")
    if new:
        return Suggestion(f"'{option}' of {verb} has a new name: write {new}.", option, known)
    return nearest(option, known, "Options").after(f"{f'{kind}{verb!r}' if kind else verb} has no option '{option}'.")


RENAMED: dict[str, str] = {  # "Class.member" -> what to write instead
    "Workspace.frame": "to_pandas()",
    "Bridge.free": "parameters",
    "Bearings.cam_table": "table().parts",
    "CamDesign.warnings": "notes",
    "CamSummary.warnings": "notes",
    "Checks.as_list": 'as_dict()["checks"]',
    "Comparison.failed": "why",
    "Comparison.remarks": "notes",
    "Comparison.to_csv": 'save("table.csv")',
    "Comparison.to_excel": 'save("table.xlsx")',
    "Crosscheck.checks": "formulations",
    "TimeOptimalMotion.check": "used, or checks()",
    "FreeBody.draw": "plot(path)",
    "Mechanism.fastest": "time_optimal(...)",
    "Mechanism.map": "workspace(over, what)",
    "Mechanism.optimise": "optimize(...)",
    "Mechanism.page": "show(path)",
    "Mechanism.picture": 'plot("mechanism", path)',
    "Mechanism.rewrite": "save(path)",
    "Mechanism.sensitivity": 'tolerances(["L1", "*.mass"], measure)',
    "Mechanism.turn": "cycle(...)",
    "Mechanism.turns": "cycles(...)",
    "Mechanism.widget": "show(widget=True)",
    "ImportReport.warnings": "notes",
    "OptimizationResult.page": "show(path)",
    "OptimizationResult.rows": "table()",
    "Requirements.met": "ok",
    "Row.failed": "why",
    "Stepper.free": "parameters",
    "Study.dataset": "to_xarray()",
    "Study.frame": "to_pandas()",
    "Study.page": "show(path)",
    "Study.to_csv": 'save("rows.csv")',
    "Study.to_excel": 'save("rows.xlsx")',
    "Loads.free": "self_stresses",
    "LoadHistory.size": "magnitude",
    "Summary.pressure": "pressure_angles",
    "Summary.transmission": "transmission_angles",
    "Summary.warnings": "notes",
    "SynthesizedLinkage.save": "mechanism.save(path)",
    "System.c": "m.export(format='c')",
    "System.J": "s.closure(st).J",
    "System.assembler": "linkwright.api.compiled_of(s).assembler",
    "System.cycle": "m.cycle(...)",
    "System.follow": "m.follow(...)",
    "System.limits": "m.limits(joint)",
    "System.settle": "m.settle(start, hold)",
    "System.workspace": "m.workspace(over, what)",
    "System.core": "linkwright.api.compiled_of(s)",
    "System.described": "linkwright.api.compiled_of(s).described",
    "System.free": "parameters",
    "System.forces": "linkwright.api.compiled_of(s).forces",
    "System.energy": "st['energy.total'], st['energy.kinetic'] or st['energy.potential']",
    "System.javascript": "m.export(format='script')",
    "System.k": "s.closure(st).k",
    "System.map": "m.workspace(over, what)",
    "System.linearise": "linearize(...)",
    "System.loops": "linkwright.api.compiled_of(s).loops",
    "System.skel": "linkwright.api.compiled_of(s).skel",
    "System.phi": "s.closure(st).phi",
    "System.potential": "st['energy.potential']",
    "System.simulate_batch": 'lw.study(m, {"start.A": [...]}, measure, lw.Run(duration)), or stepper(n)',
    "System.turn": "m.cycle(...)",
    "ToleranceResult.rows": "effects()",
    "Trajectories.cycle": "t[i]",
    "Trajectories.turn": "t[i]",
    "Trajectory.loads": "load(pin, on=...), or read the channels of loads",
    "Trajectory.page": "show(path)",
    "Transmission.c": "m.export('map.c', motors=..., joints=...)",
    "Transmission.javascript": "m.export('map.js', motors=..., joints=...)",
    "Transmission.ros2": "m.export('map.hpp', motors=..., joints=...)",
    "Trajectory.to_numpy": "read(...)",
    "Workspace.page": "show(path)",
    "WorkspaceModes.page": "show(path)",
}

OLD_KEYS: dict[str, tuple[str, ...]] = {  # keys of files, options of calls, columns: what to write instead, where it is allowed
    "between": ("range",),
    "free": ("parameters", "free_length", "free_position", "undriven"),
    "gear": ("gear_ratio",),
    "motor_dc": ("dc_motor",),
    "rated": ("supply_voltage",),
    "ratio": ("gear_ratio",),
    "voltage": ("supply_voltage",),
}
OLD_CHANNELS = (  # ends of names of channels, and what to write instead
    (r"\.transmission\.force", ".force_transmission_angle"),
    (r"\.transmission", ".transmission_angle"),
    (r"(\.on\.[^.]+)\.size", r"\1.magnitude"),
    (r"\.push\.(pressure|flow|volume)", r".cap.\1"),
    (r"\.pull\.(pressure|flow|volume)", r".rod.\1"),
    (r"\.supply\.(pressure|flow)", r".pump.\1"),
    (r"(?<!\.cap)(?<!\.rod)(?<!\.pump)\.pressure", ".pressure_angle"),
)


def renamed_channel(name: str) -> str:
    """Return the sentence that gives the new name of a channel asked by an old one; "" for any other name."""
    for old, new in OLD_CHANNELS:
        now, found = re.subn(rf"(?<=[^.]){old}$", new, name)
        if found:
            return f"'{name}' has a new name: write '{now}'. "
    return ""


class Renamed:
    """Objects whose members had other names once: asking for such a name raises an AttributeError with the new one."""

    if not TYPE_CHECKING:  # a type checker would take every name for known

        def __getattr__(self, name: str) -> Any:
            for kind in type(self).__mro__:
                new = RENAMED.get(f"{kind.__name__}.{name}")
                if new:
                    raise AttributeError(f"'{name}' of {type(self).__name__} has a new name: write {new}.", name=name, obj=self)
            return object.__getattribute__(self, name)  # raises what a property raised, or that there is no such name
