"""Pages of the Python reference, made from the docstrings while the site is built (site_hooks.py): `pages()`.

All names of `linkwright.__all__`, and of its classes every public method and property. They are asked for at run time, because verbs of
rings become methods of `Mechanism` then: a reader of the sources finds 12 of its 26 members. A test holds that no public name is left
out.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import linkwright as lw

WIDE = 100  # signatures longer than this have one argument a line
ARGUMENT = re.compile(r"([a-z][A-Za-z_]*): ")
SECTION = re.compile(r"^(Parameters|Returns|Raises|Examples)\n-+\n", re.MULTILINE)
ADDRESS = re.compile(r" at 0x[0-9a-f]+")

# page -> title, groups
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "mechanism": ("Mechanism", ("Loading", "Mechanism", "Pages", "Descriptions")),
    "results": ("Results", ("Trajectory", "Trajectories")),
    "system": ("System and state", ("System", "State", "Stepper")),
    "studies": ("Phrases and studies", ("Phrases", "Studies")),
    "design": ("Design", ("Design", "Identification")),
    "robots": ("Robots", ("Transmission", "Workspace", "TimeOptimalMotion", "OptimalMotion")),
    "simulation": ("Simulation", ("Drives", "Events", "Formulations", "Stabilizers")),
    "control": ("Control", ("Controllers", "References", "Estimation", "Comparing")),
    "connections": ("Other programs", ("Bridge", "Converters")),
    "errors": ("Errors", ("Errors",)),
}


def _in(space: str, names: str) -> tuple[str, ...]:
    return tuple(f"{space}.{name}" for name in names.split())


GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Loading": ("Load a mechanism, a built-in model or a saved result.", ("load", "check", "compile", "load_result", "models", "schema")),
    "Descriptions": ("The content of a model file: `m.description`.", ("Description", "Pose")),
    "Mechanism": ("The result of `lw.load`: motion, loads, simulation and design of a mechanism.", ("Mechanism",)),
    "Trajectory": ("The result of a cycle, a path or a simulation ([channels and results](../results.md)).", ("Trajectory",)),
    "Transmission": ("Series-parallel maps: `s.transmission(motors, joints)` ([page](../../how-to/transmissions.md)).", ("Transmission",)),
    "Trajectories": ("Results of `m.cycles(designs)`: one cycle each ([page](../../how-to/cycle.md#many-designs)).", ("Trajectories",)),
    "Phrases": (
        "Objects that every call takes in place of a phrase ([phrases](../measures.md)).",
        ("Range", "Tolerance", "Window", "Measure", "Requirement", "Goal"),
    ),
    "Studies": (
        "Many designs, measured ([studies](../../how-to/studies.md)).",
        ("study", "Study", "path_distance", "Cycle", "Path", "Run", "Equilibrium"),
    ),
    "Design": (
        "The best design for a goal ([optimization](../../how-to/optimization.md)), linkages ([synthesis](../../how-to/synthesis.md)).",
        ("synthesize", "SynthesisResult", "SynthesizedLinkage", "OptimizationResult", "ParetoFront"),
    ),
    "Workspace": ("The result of `m.workspace` ([page](../../how-to/workspace.md)).", ("Workspace", "WorkspaceModes")),
    "OptimalMotion": ("The result of `m.optimal` ([optimal control](../../how-to/optimal-control.md)).", ("OptimalMotion",)),
    "TimeOptimalMotion": ("The result of `m.time_optimal` ([fastest motion](../../how-to/time-optimal.md)).", ("TimeOptimalMotion",)),
    "Identification": (
        "Masses, friction, gains and geometry from measurements ([identification](../../how-to/identification.md)).",
        ("identify", "Identification", "excitation", "Excitation", "calibrate", "Calibration"),
    ),
    "System": ("The result of `lw.compile`: states, equations, kernels. `m.system` is the default one.", ("System",)),
    "State": ("A position with velocities, on the loops.", ("State",)),
    "Stepper": ("The result of `s.stepper(n)`: many mechanisms, step by step ([how to](../../how-to/stepping.md)).", ("Stepper",)),
    "Bridge": ("The result of `s.jax()`, `s.torch()` and `s.casadi()` ([page](../../how-to/jax-pytorch-casadi.md)).", ("Bridge",)),
    "Drives": (
        "For `simulate(drive={...})` ([drives](../drives.md)).",
        _in("drives", "torque force speed position moves law_factors voltage dc_motor"),
    ),
    "Events": (
        "For `simulate(events=[...])` ([events](../../how-to/simulate.md#events-and-switching)).",
        _in("events", "when lock unlock engage release"),
    ),
    "Controllers": (
        "For `simulate(control=...)` ([control](../../how-to/controllers.md)).",
        _in("control", "pd computed_torque projected hybrid impedance lqr control_law actuator noise encoder"),
    ),
    "References": (
        "The wanted motion of a controller.",
        _in("control", "setpoint minimum_jerk trapezoidal sinusoid polyline spline from_csv"),
    ),
    "Estimation": (
        "Sensors, and the result of `s.estimator(...)` ([state estimation](../../how-to/state-estimation.md)).",
        _in("control", "sensor imu Estimator Observability"),
    ),
    "Comparing": ("Runs in a table ([comparing](../../how-to/compare-controllers.md)).", _in("control", "compare Comparison")),
    "Formulations": (
        "For `lw.compile(formulation=...)` and `simulate(formulation=...)` ([page](../../explanation/forward-dynamics.md)).",
        _in("formulations", "AugmentedLagrangian Kkt Nullspace Projection Slm Sslm"),
    ),
    "Pages": ("A page of texts, tables and pictures.", ("Page",)),
    "Stabilizers": ("For `simulate(stabilizer=...)` ([page](../../explanation/stabilization.md)).",
        _in("stabilizers", "baumgarte post_adjust project")),
    "Converters": ("To other programs ([converters](../../how-to/export.md)).", _in("exchange", "MujocoMap mujoco_state PinocchioModel")),
    "Errors": (
        "Every error says what is wrong, where, what is allowed and what to do.",
        ("LinkwrightError", "ModelError", "AssemblyError", "SingularityError", "SimulationError", "ChannelError", "UsageError"),
    ),
}  # fmt: skip

# Public for other modules, of no use to a caller
INTERNAL = {
    "System.set_up_kernels", "System.motion", "System.closure",
    "Trajectory.instant", "Trajectory.settled_multipliers", "State.instant",
    *(f"Transmission.{x}" for x in ("over", "closed", "drivable", "efforts")),
}  # fmt: skip


def pages() -> dict[str, str]:
    """Text of each page by its name."""
    return {name: page(title, groups) for name, (title, groups) in PAGES.items()}


def page(title: str, groups: tuple[str, ...]) -> str:
    parts = [f"# {title}\n"]
    for group in groups:
        about, names = GROUPS[group]
        parts += [f"## {group}\n\n{about}\n", *(entry for name in names for entry in entries(name, alone=names == (group,)))]
    return "\n".join(parts)


def entries(name: str, *, alone: bool) -> Iterator[str]:
    """The texts of one public name: itself, then what it holds. `alone`: the group's heading is its own."""
    thing = attrgetter(name)(lw)
    if inspect.ismodule(thing):
        functions = [
            (f"{name}.{n}", f) for n, f in vars(thing).items() if inspect.isfunction(f) and f.__module__ == thing.__name__ and n[0] != "_"
        ]
        for full, function in functions:
            yield entry(f"lw.{full}", function)
    elif inspect.isclass(thing):
        yield prose(thing) if alone else f"### {name}\n\n{prose(thing)}"
        found = [(member, value) for member, value in members(thing) if f"{name}.{member}" not in INTERNAL]
        for member, value in found:
            if documented(value):
                yield entry(f"{name}.{member}", value)
        if silent := [signature(member, inner(value), is_value=is_value(value)) for member, value in found if not documented(value)]:
            yield "Further, with the letters of [notation](../../explanation/notation.md):\n\n```py\n" + "\n".join(silent) + "\n```\n"
    else:
        yield entry(f"lw.{name}", thing)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties in the order they are written, those of the class before those of its bases."""
    seen: set[str] = set()
    dir(kind)  # verbs of rings become members when they are asked for
    for owner in kind.__mro__:
        for name, value in vars(owner).items():
            if owner.__module__.startswith("linkwright") and (name == "__getitem__" or name[0] != "_") and name not in seen:
                seen.add(name)
                if inspect.isfunction(value) or is_value(value) or isinstance(value, classmethod | staticmethod):
                    yield name, value


def is_value(value: Any) -> bool:
    return isinstance(value, property | functools.cached_property)


def documented(value: Any) -> str:
    """The docstring, of properties too; that of a cached property is on the function inside."""
    return inspect.cleandoc(getattr(inner(value), "__doc__", None) or "")


def inner(value: Any) -> Any:
    if isinstance(value, property):
        return value.fget
    return getattr(value, "func", None) or getattr(value, "__func__", None) or value


def entry(name: str, value: Any) -> str:
    call = signature(name, inner(value), is_value=is_value(value))
    call = re.sub(r"^__getitem__\((.*)\)", rf"{name.partition('.')[0]}[\1]", call, flags=re.DOTALL)
    first, _, rest = prose(value).partition("\n\n")
    more = indented(f"```py\n{call}\n```\n\n{rest}".strip())
    return f'### {name.replace(".__getitem__", "[...]")}\n\n{first.strip()}\n\n??? call "Call"\n\n{more}\n'


def indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


def signature(name: str, function: Any, *, is_value: bool) -> str:
    """`turn(drive=None, *, steps: int = 360) -> Trajectory`; `Any` says nothing and is left out."""
    short = name.rpartition(".")[2] if not name.startswith("lw.") else name
    found = inspect.signature(function)
    result = "" if found.return_annotation in (inspect.Signature.empty, "Any") else f" -> {plain(found.return_annotation)}"
    if is_value:
        return f"{short}{result.replace(' -> ', ': ')}"
    parts_of_line: list[str] = []
    for p in found.parameters.values():
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not any(w.startswith("*") for w in parts_of_line):
            parts_of_line.append("*")
        parts_of_line.append(parameter(p))
    line = f"{short}({', '.join(parts_of_line)}){result}"
    return line if len(line) <= WIDE else f"{short}(\n" + "".join(f"    {w},\n" for w in parts_of_line) + f"){result}"


def parameter(p: inspect.Parameter) -> str:
    stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    kind = "" if p.annotation in (p.empty, "Any") else f": {plain(p.annotation)}"
    if p.default is p.empty:
        return f"{stars}{p.name}{kind}"
    return f"{p.name}{kind}{' = ' if kind else '='}{ADDRESS.sub('', repr(p.default))}"


def plain(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def prose(value: Any) -> str:
    """A docstring as Markdown: paragraphs as they are, what is indented stays code, stray signs are escaped."""
    head, *sections = SECTION.split(documented(value))
    lines = [line if line.startswith("    ") else escaped(line) for line in head.splitlines()]
    paragraphs = [listed(paragraph).strip() for paragraph in "\n".join(lines).split("\n\n")]
    titled = zip(sections[::2], sections[1::2], strict=True)
    return "\n\n".join([*paragraphs, *(section(title, text) for title, text in titled)]).strip() + "\n"


def section(title: str, text: str) -> str:
    """A section of a docstring: an example as a block, anything else as a list of terms and their meanings."""
    text = text.strip("\n")
    if title == "Examples":
        return f"```pycon\n{text}\n```"
    entries: list[str] = []
    for line in text.splitlines():
        if not line.startswith(" "):
            term, _, kind = line.partition(" : ")
            entries.append(f"- `{term}`{f' ({escaped(kind)})' if kind else ''}:")
        elif line.strip():
            entries[-1] += f"\n  {escaped(line.strip())}"
    return f"**{title}**\n\n" + "\n".join(entries)


def listed(paragraph: str) -> str:
    """`drive: what it is` at the beginning of every line or two: arguments, as a list."""
    if not ARGUMENT.match(paragraph):
        return paragraph
    return "\n".join(ARGUMENT.sub(r"- `\1`: ", line) if ARGUMENT.match(line) else f"  {line}" for line in paragraph.split("\n"))


def escaped(line: str) -> str:
    """Stars and angle brackets outside of backticks."""
    pieces = line.split("`")
    return "`".join(piece if i % 2 else re.sub(r"([*<])", r"\\\1", piece) for i, piece in enumerate(pieces))
