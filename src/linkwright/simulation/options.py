"""The options of `simulate`, listed once: name, type, default and meaning.

`simulate`, `run_batch`, `lw.Run`, `lw.control.compare` and `linkwright simulate` read them here, `checked` checks their values.
`RunOptions` has their names and types for callers, `Options` the defaults and meanings, in the same order; a test compares the two.
Nothing heavy is imported until a meaning that names formulations is asked for: the command line reads them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter, cleandoc, signature
from math import inf
from numbers import Integral, Real
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from linkwright.errors import LinkwrightError, UsageError, counted, no_option

if TYPE_CHECKING:
    import numpy as np

    from linkwright.drives.base import DriveSpecification
    from linkwright.errors.arguments import Numbers
    from linkwright.integrators import Method
    from linkwright.mechanics.formulations import Formulation
    from linkwright.simulation.feedback.actuators import Actuator
    from linkwright.simulation.feedback.base import Control
    from linkwright.simulation.feedback.encoders import Encoder
    from linkwright.simulation.feedback.noise import Noise
    from linkwright.simulation.stabilizers import Stabilizer


Function = TypeVar("Function", bound=Callable[..., Any])
LOOSE = 1e-5  # tolerance from which on order 5 needs fewer evaluations than order 8
STEPPING = "stepping"
CONTACT = ("events", STEPPING)
SAMPLES = 500  # of a run, if nothing else is said
WIDE = 100  # columns of a docstring


class BatchOptions(TypedDict, total=False):
    """The options of a batch of runs, which a study shares among its rows."""

    drive: Mapping[str, DriveSpecification] | None
    control: Control | Callable[..., Any] | None
    actuators: Actuator | Mapping[str, Actuator] | None
    noise: Noise | None
    encoders: Encoder | Mapping[str, Encoder] | None
    delay: float | str | None
    integrator: str | Method
    step: float | str | None
    tolerance: float
    stabilizer: str | Stabilizer | Sequence[str | Stabilizer]
    sample_interval: float | str | Numbers | None
    formulation: str | Formulation | None
    wrench: Mapping[str, Any] | None
    parameters: Mapping[str, Any] | Numbers | None
    engine: str | None
    progress: bool | Callable[[float], Any] | None
    smallest_step: float | str
    largest_step: float | str
    most_steps: int | None


class RunOptions(BatchOptions, total=False):
    """The options of `simulate`: those of a batch, and those of a single run."""

    events: Sequence[Any]
    off: Sequence[str]
    certify: bool
    contact: str | None


def _option(default: Any, about: str, objects: str = "") -> Any:
    """An option: its meaning, and the objects it takes in Python beside what can be written."""
    return field(default=default, metadata={"about": about, "objects": objects})


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything that can be said of a run beside its start and duration."""

    drive: Mapping[str, Any] | None = _option(
        None,
        "by joint or cylinder, torque, speed, position or voltage of lw.drives each. Other joints move freely",
    )
    control: Any = _option(
        None,
        "pd, projected, hybrid, impedance, computed_torque or lqr of lw.control, which drives the joints it names, or a "
        "function of t and the state that returns the efforts of all drives",
    )
    actuators: Any = _option(None, "lw.control.actuator(...) for the drives of a controller, or a dict of them")
    noise: Any = _option(None, "lw.control.noise(...) on what a controller measures")
    encoders: Any = _option(None, "lw.control.encoder(...) at all drives of a sampled controller, or a dict of them by joint or cylinder")
    delay: Any = _option(None, "seconds from the measurement of a controller to its effort")
    integrator: Any = _option(
        "dopri",
        "integration method: dopri (adaptive, order 8, or 5 for tolerances from 1e-5 on), rk4 (fixed step), rodas (stiff)",
        "a Method of linkwright.integrators",
    )
    step: Any = _option(None, "fixed step, or first step ('1 ms')")
    tolerance: float = _option(1e-9, "error allowed per step, relative to the size of states")
    stabilizer: Any = _option(
        "project",
        "method that closes the loops: project, baumgarte, post_adjust, none, or two joined by +, with options "
        "as in project(metric=euclidean, velocities=false, every=10)",
        "lw.stabilizers.project(...), lw.stabilizers.baumgarte(...), lw.stabilizers.post_adjust(...) or a list",
    )
    sample_interval: Any = _option(
        None, f"time between samples (0.01, '10 ms') or 'steps'; {SAMPLES} intervals if not given", "an array of times"
    )
    formulation: Any = _option(
        None, "formulation of the equations: {formulations} (default: sslm)", "a formulation with options of its own"
    )
    wrench: Mapping[str, Any] | None = _option(None, "external wrenches, by body")
    parameters: Any = _option(None, "values of the parameters of lw.compile(parameters=...)")
    engine: str | None = _option(None, "native or python")
    progress: Any = _option(None, "True for a bar, False for none, or a function of t that is called")
    smallest_step: Any = _option(0.0, "shortest step allowed, in seconds")
    largest_step: Any = _option(inf, "longest step allowed, in seconds")
    most_steps: int | None = _option(None, "number of steps allowed")
    events: Any = _option((), "lw.events.when(...), names of channels or functions, in a list")
    off: Sequence[str] = _option((), "constraints that are switched off at the start")
    certify: bool = _option(False, "True to run again with half the step and report the error")
    contact: str | None = _option(
        None, "how contacts and stops act: events (default) locates every impact, stepping takes equal steps of `step` with impulses"
    )

    @property
    def method(self) -> Method:
        """`dopri` is of order 8, and of order 5 where the tolerance is loose."""
        from linkwright.integrators import method_of

        if self.integrator == "dopri":
            return method_of("dopri5" if self.tolerance >= LOOSE else "dopri8")
        return method_of(self.integrator)

    @property
    def adaptive(self) -> bool:
        return self.method.adaptive

    @property
    def formulated(self) -> str:
        """Name of the formulation, with the options of an object of one's own."""
        f = self.formulation
        return "sslm" if f is None else f if isinstance(f, str) else repr(f)

    @property
    def of_the_stepper(self) -> dict[str, Any]:
        names = ("step", "tolerance", "engine", "smallest_step", "largest_step", "most_steps")
        return {name: getattr(self, name) for name in names}


NAMES = tuple(x.name for x in fields(Options))
NOT_OF_A_BATCH = tuple(name for name in NAMES if name not in BatchOptions.__annotations__)


def about(name: str) -> str:
    """Return the meaning of an option. Names of formulations come from their registry, which is imported for them only."""
    text = str(next(x.metadata["about"] for x in fields(Options) if x.name == name))
    if "{formulations}" not in text:
        return text
    from linkwright.mechanics.formulations import FORMULATIONS

    return text.replace("{formulations}", ", ".join(FORMULATIONS))


def options_of(given: Mapping[str, Any], where: str = "") -> Options:
    """Return the options; raise an error that names the nearest one where a name is unknown."""
    for name in given:
        if name not in NAMES:
            said = no_option("simulate", str(name), NAMES)
            raise UsageError(said.after(where) if where else said)
    return Options(**given)


def takes_options(kind: type[RunOptions], **defaults: Any) -> Callable[[Function], Function]:
    """A function with `**options: Unpack[kind]`: its signature at run time names them, its docstring explains them at `{options}`.

    `defaults` are texts for options that have another meaning there, by name.
    """

    def named(function: Function) -> Function:
        own = [p for p in signature(function).parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        taken = [x for x in fields(Options) if x.name in kind.__annotations__ and x.name not in {p.name for p in own}]
        types = {name: getattr(x, "__forward_arg__", x) for name, x in kind.__annotations__.items()}
        more = [Parameter(x.name, Parameter.KEYWORD_ONLY, default=x.default, annotation=types[x.name]) for x in taken]
        vars(function)["__signature__"] = signature(function).replace(parameters=[*own, *more])
        texts = {x.name: "; also ".join(t for t in (defaults.get(x.name) or about(x.name), x.metadata["objects"]) if t) for x in taken}
        wrapped = {name: fill(f"{text}.", WIDE, initial_indent="    ", subsequent_indent="    ") for name, text in texts.items()}
        lines = [f"{x.name} : {types[x.name]}, default {x.default!r}\n{wrapped[x.name]}" for x in taken]
        function.__doc__ = cleandoc(function.__doc__ or "").replace("{options}", "\n".join(lines))  # 3.13 has no indents to follow
        return function

    return named


# ---------------------------------------------------------------- the values of a run's options, checked once, with errors that name them

MOST_SAMPLES = 5_000_000
WANTED = {
    "sample_interval": "seconds between samples (0.01, '10 ms'), times, or 'steps'",
    "duration": "seconds (5, '200 ms')",
    "step": "seconds",
}


def time_of(name: str, value: Any) -> float:
    """A time option in seconds."""
    from linkwright.model.file import quantity
    from linkwright.text.units import KINDS

    try:
        return float(quantity(value, KINDS["time"], name))
    except (LinkwrightError, TypeError, ValueError) as error:
        raise UsageError(f"{name} is {WANTED.get(name, 'a time')}, not {value!r}.", name=name, value=value) from error


def number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UsageError(f"{name} is a number, not {value!r}.", name=name, value=value)
    return float(value)


def by_name(name: str, given: Any) -> None:
    """That a dict is a dict."""
    if given is not None and not isinstance(given, Mapping):
        example = "{'A': lw.drives.torque('2 N m')}" if name == "drive" else "{'platform': [0, 0, 0, 10, 0, 0]}"
        raise UsageError(f"{name} is a dict by name, {name}={example}, not {given!r:.60}.", name=name, value=given)


def checked(given: Options) -> Options:
    """Return the options with times in seconds and the stabilizer as an object, or raise an error that says which one is wrong."""
    from linkwright.integrators import method_of
    from linkwright.mechanics import formulations
    from linkwright.simulation import stabilizers

    method = method_of(given.integrator)
    chosen = formulations.registered(given.formulation)
    h = None if given.step is None else time_of("step", given.step)
    if not method.adaptive and h is None:
        raise UsageError(f"{method.name} has fixed steps: give step=, for example step=0.001.", name=method.name)
    most, progress = given.most_steps, given.progress
    if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 1):
        raise UsageError(f"most_steps is a whole number of one or more, not {most!r}.", name="most_steps", value=most)
    bounds = {n: time_of(n, x) if isinstance(x := getattr(given, n), str) else number(n, x) for n in ("smallest_step", "largest_step")}
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise UsageError(f"progress is True, False or a function of t, not {progress!r}.", name="progress", value=progress)
    if given.contact not in (None, *CONTACT):
        raise UsageError(
            f"contact is 'events' or 'stepping', not {given.contact!r:.60}.", name="contact", value=given.contact, allowed=CONTACT
        )
    stabilizer = stabilizers.create(given.stabilizer)
    tolerance = number("tolerance", given.tolerance)
    for name in ("drive", "wrench"):
        by_name(name, getattr(given, name))
    return replace(given, step=h, tolerance=tolerance, stabilizer=stabilizer, formulation=chosen, **bounds)


def sample_times(wanted: Any, t0: float, t1: float) -> np.ndarray | None:
    """When to sample; None: after every step."""
    import numpy as np

    if isinstance(wanted, str) and wanted == "steps":
        return None
    if wanted is None:
        return np.linspace(t0, t1, SAMPLES + 1)
    if np.ndim(wanted) == 0:
        every = time_of("sample_interval", wanted)
        if not every > 0.0:
            raise UsageError(
                f"sample_interval is an interval longer than zero, times, or 'steps', not {wanted!r}.", name="sample_interval", value=wanted
            )
        count = int(np.floor((t1 - t0) / every * (1.0 + 1e-12)))
        if count > MOST_SAMPLES:
            raise UsageError(
                f"a sample every {every:g} s would give {counted(count, 'sample')}. At most {MOST_SAMPLES} are allowed. Take a "
                "longer interval.",
                name="sample_interval",
            )
        times = t0 + every * np.arange(count + 1)
        return np.append(times, t1) if t1 - times[-1] > 1e-9 * every else np.minimum(times, t1)
    times = np.array([time_of("sample_interval", x) for x in np.asarray(wanted, dtype=object).ravel()], dtype=float)
    if len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        raise UsageError("sample_interval: times are finite numbers in increasing order.", name="sample_interval")
    return times
