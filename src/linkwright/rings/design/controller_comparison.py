"""Several controllers on one task, side by side. If a run fails, its row has the reason.

    result = lw.control.compare(s, st, 5, {"two motors": lw.control.projected(...), "one motor": lw.control.projected(...)})
    print(result); result.best("rms"); result.plot("efforts.png")

`simulation.feedback.control_performance` computes the numbers; this module runs, gathers and prints them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.api import (
    Cell,
    Control,
    LinkwrightError,
    Result,
    State,
    System,
    Table,
    Trajectory,
    UsageError,
    call_explained,
    errors,
    essentials,
    nearest,
    show,
    unit_of,
)
from linkwright.properties import cached_property
from linkwright.rings.design.control_report import ROUTINE_NOTES, ControlReport, control_report, in_metric
from linkwright.simulation.feedback.control_law import as_control
from linkwright.simulation.options import RunOptions, options_of, takes_options

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper

SHORT = 160  # characters of a reason in a table


@dataclass(frozen=True)
class Row(errors.Renamed):
    """One controller on the task. `why` says why there are no numbers; `run` then is what was computed so far, if anything."""

    name: str
    run: Trajectory | None
    report: ControlReport | None
    why: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        return () if self.run is None else tuple(self.run.notes)


@dataclass(frozen=True)
class ComparedQuantity:
    """A column of the table: what it is called, and the dimension of its numbers ("" for counts, "share" of time)."""

    text: str
    dimension: str = ""

    def unit(self, units: tuple[str, ...]) -> tuple[str, float]:
        """(symbol, size in SI) in a file's units."""
        own = {"": ("-", 1.0), "share": ("%", 0.01), "energy": ("J", 1.0)}
        return own[self.dimension] if self.dimension in own else unit_of(units, self.dimension)


@dataclass(frozen=True)
class Comparison(Result):
    """Controllers on one task. `rows`, `runs` by name, `result["hybrid"]` the row of one. Prints as a table."""

    __getstate__ = essentials

    rows: tuple[Row, ...]
    window: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise UsageError(f"no controller '{name}' was compared.", nearest(str(name), [r.name for r in self.rows], "Compared"))

    @property
    def runs(self) -> dict[str, Trajectory]:
        """Return the runs that reached their end."""
        return {r.name: r.run for r in self.rows if r.run is not None and r.report is not None}

    @property
    def ok(self) -> np.ndarray:
        """Return a mask of the controllers whose run reached its end."""
        return np.array([not r.why for r in self.rows], dtype=bool)

    @property
    def why(self) -> dict[str, str]:
        """Return the reasons of the runs that failed, by controller."""
        return {r.name: r.why for r in self.rows if r.why}

    def between(self, t0: Any, t1: Any) -> Comparison:
        """Return the same comparison over a part of the time."""
        rows = [_reported(r.name, r.run, (t0, t1)) if r.report is not None and r.run is not None else r for r in self.rows]
        spans = [(r.report.start, r.report.end) for r in rows if r.report is not None]
        return Comparison(tuple(rows), spans[0] if spans else None)

    # ---------------------------------------------------------------- values

    @cached_property
    def _reports(self) -> list[ControlReport]:
        return [r.report for r in self.rows if r.report is not None]

    @cached_property
    def _one_kind(self) -> str:
        """Kind of all efforts: torques, forces, or "mixed"."""
        kinds = {r.efforts.kind for r in self._reports}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @cached_property
    def quantities(self) -> dict[str, ComparedQuantity]:
        """Return the columns with values, by the name `best` and `values` take."""
        several = any(len(r.efforts.by_drive) > 1 for r in self._reports)  # then a norm of all of them is beside the peak of one
        texts = EFFORTS_OF_SEVERAL if several else EFFORTS
        out = {name: ComparedQuantity(text, "force" if self._one_kind == "force" else "torque") for name, text in texts.items()}
        for name, text, word, _ in DEVIATIONS:
            kinds = dict.fromkeys(kind for r in self._reports for kind in getattr(r, word))
            out |= {name if len(kinds) == 1 else f"{name}.{kind}": ComparedQuantity(text, kind) for kind in kinds}
        out |= {"settled": ComparedQuantity("settled after", "time")} if any(r.tracking for r in self._reports) else {}
        out["work"] = ComparedQuantity("work", "energy")
        for name, text in SHARES.items():
            if any(getattr(r, name) for r in self._reports):
                out[name] = ComparedQuantity(text, "share")
        return out if self.window else out | {"steps": ComparedQuantity("steps")}

    def values(self, quantity: str) -> dict[str, float | None]:
        """Return one column in SI by controller, None if a run failed or has no such number."""
        if quantity not in self.quantities:
            raise UsageError(f"there is no column '{quantity}' here.", nearest(str(quantity), self.quantities, "Columns"))
        return {r.name: None if r.report is None else self._value(r.report, quantity) for r in self.rows}

    def _value(self, r: ControlReport, quantity: str) -> float | None:
        if quantity in EFFORTS:
            return float(getattr(r.efforts, f"metric_{quantity}" if self._one_kind == "mixed" else quantity))
        for name, _, word, number in DEVIATIONS:
            if quantity.partition(".")[0] == name:
                vector = getattr(r, word).get(self.quantities[quantity].dimension)
                return None if vector is None else getattr(vector, number)
        return r.shown_work if quantity == "work" else getattr(r, quantity)

    def best(self, quantity: str = "rms") -> str:
        """Return the name of the controller with the smallest value of a column (work: the least, braking counts as negative)."""
        found = {name: x for name, x in self.values(quantity).items() if x is not None}
        if not found:
            raise UsageError(f"no controller has a '{quantity}' to compare{', all failed' if not self._reports else ''}.", name=quantity)
        return min(found, key=lambda name: found[name])

    # ---------------------------------------------------------------- for people

    @cached_property
    def _units(self) -> tuple[str, ...]:
        return self._reports[0].units if self._reports else ()

    def table(self) -> Table:
        """Return the figures in the file's units, a row for each controller. `why` has the reason of a run that failed."""
        quantities = self.quantities if self._reports else {}
        heads = [("controller", ""), *((q.text, q.unit(self._units)[0]) for q in quantities.values()), ("ok", ""), ("why", "")]
        found = {name: self.values(name) for name in quantities}
        rows: list[list[Any]] = []
        for r in self.rows:
            cells = [_cell(found[n][r.name], q, self._units, r.report) for n, q in quantities.items()]
            cells[:1] = [Cell(None, "failed")] if r.why and cells else cells[:1]
            rows.append([r.name, *cells, not r.why, r.why])
        return Table.of(heads, rows, "controllers", self.notes)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Return the lines under the table: reasons, notes, how efforts are weighed, what was followed."""
        out = [f"{name} failed: {_short(why)}" for name, why in self.why.items()]
        if self.window is not None:
            out.append(f"between t = {self.window[0]:.6g} s and {self.window[1]:.6g} s")
        if self._one_kind == "mixed" and self._reports:
            out.append(f"efforts: torques, and {in_metric(self._reports[0].efforts.length)}")
        followed = {r.name: ", ".join(r.report.tracking) for r in self.rows if r.report is not None}
        if len(set(followed.values())) > 1:
            out.append("errors are of different coordinates: " + "; ".join(f"{n} follows {x or 'nothing'}" for n, x in followed.items()))
        doubtful = {r.name: r.report.efforts.doubt for r in self.rows if r.report is not None and r.report.efforts.doubt > 1e-2}
        out += [
            f"{n}: the RMS effort is read from few samples, to about {show(100.0 * x)} %. Give sample_interval=..."
            for n, x in doubtful.items()
        ]
        out += [f"{r.name}: {_short(note)}" for r in self.rows for note in r.notes if note not in ROUTINE_NOTES and r.report is not None]
        return tuple(out)

    def __str__(self) -> str:
        t = self.table()
        shown = Table(tuple(c for c in t.columns if c.name != "why" and (c.name != "ok" or self.why)))
        return "\n".join([shown.text(), *self.notes])

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, names: Sequence[str] | None = None, **options: Unpack[Paper]
    ) -> Figure | Path:
        """Norm of the efforts, errors and force errors over time of all controllers, or of those in `names`; of one alone what it
        followed and did (matplotlib Figure, or with `path` the file)."""
        runs = self.runs
        if not runs:
            raise UsageError("no run came to its end, so there is nothing to plot.", name="run")
        chosen = list(runs) if names is None else self._chosen(names)
        name, *others = chosen
        return runs[name].plot("control", path, other={n: runs[n] for n in others}, name=name, **options)

    def _chosen(self, names: Sequence[str]) -> list[str]:
        chosen = list(dict.fromkeys([names] if isinstance(names, str) else names))
        if not chosen:
            raise UsageError(f"names=[] leaves nothing to plot. Choose from {', '.join(self.runs)}.", name="names")
        for name in chosen:
            if self[name].report is None:
                raise UsageError(f"'{name}' did not come to its end, so it cannot be plotted: {_short(self[name].why)}", name=name)
        return chosen


EFFORTS = {"rms": "RMS effort", "peak": "peak effort"}
EFFORTS_OF_SEVERAL = {"rms": "RMS of all drives", "peak": "peak of one drive"}
DEVIATIONS = (  # name, text, of a report by kind, number of the deviation of the vector
    ("error", "largest error", "errors", "largest"),
    ("rms_error", "RMS error", "errors", "rms"),
    ("force_error", "largest force error", "force_errors", "largest"),
)
SHARES = {"saturated": "at limits", "damped": "damped"}


def _cell(x: float | None, q: ComparedQuantity, units: tuple[str, ...], report: ControlReport | None) -> Any:
    if x is None:
        return Cell(None, "not yet") if q.dimension == "time" and report is not None and report.tracking else None
    return round(x) if q.text == "steps" else float(x) / q.unit(units)[1]


def _short(text: str) -> str:
    """The first sentence, not too long."""
    first = text.split(". ")[0].strip().rstrip(".") + "."
    return first if len(first) <= SHORT else first[: SHORT - 3].rstrip() + "..."


@call_explained
@takes_options(RunOptions)
def compare(subject: Any, st: State | None, duration: Any, controllers: Mapping[str, Any], **options: Unpack[RunOptions]) -> Comparison:
    """Run several controllers on one task: the same mechanism, start, duration and samples.

    Parameters
    ----------
    subject : System or Mechanism
        The mechanism.
    st : State or None
        Start of all runs, or None for the start of the model file.
    duration : float or str
        Seconds, or a text with a unit ("200 ms").
    controllers : Mapping[str, Any]
        By name: a controller (`lw.control.projected(...)`), a function of t and the state, or a dict of the options below, `control`
        among them, which come before the options of all runs.
    {options}

    Returns
    -------
    Comparison
        A table of drive torques and forces, errors and work. If a run fails, its row has the reason, and the other runs continue.

    Examples
    --------
    >>> wiper = lw.load("wiper")
    >>> target = {"A": lw.control.setpoint("90 deg")}
    >>> table = lw.control.compare(wiper, None, 0.2, {"soft": lw.control.pd(target, 5, 1), "stiff": lw.control.pd(target, 50, 5)})
    >>> [row.name for row in table]
    ['soft', 'stiff']
    """
    system = getattr(subject, "system", subject)
    if not isinstance(system, System):
        raise UsageError(
            f"compare runs a mechanism, lw.load(...) or lw.compile(...), not {type(subject).__name__}.", value=subject, name="compare"
        )
    if not isinstance(controllers, Mapping) or not controllers:
        raise UsageError(
            "controllers is a dict by name, such as {'two motors': lw.control.projected(...), 'one motor': ...}.", name="controllers"
        )
    settings = {str(name): _options(str(name), given, options) for name, given in controllers.items()}
    start = system.start if st is None else st
    rows: list[Row] = []
    for name, given in settings.items():
        row = _row(name, system, start, duration, given)
        rows.append(row)
        if row.why.startswith("interrupted"):
            rows += [Row(x, None, None, "not run") for x in list(settings)[len(rows) :]]
            break
    return Comparison(tuple(rows))


def _options(name: str, given: Any, shared: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `simulate` for one controller; unknown ones are mistakes of the call, not of a run."""
    if isinstance(given, Mapping):
        out = {**shared, **given}
    elif isinstance(given, Control) or callable(given):
        out = {**shared, "control": as_control(given)}
    else:
        raise UsageError(
            f"'{name}' is lw.control.projected(...) or another controller, a function of t and the state, or a dict of options, not "
            f"{type(given).__name__}.",
            name=name,
            value=given,
        )
    options_of(out, f"'{name}':")
    return out


def _row(name: str, system: Any, st: State, duration: Any, options: Mapping[str, Any]) -> Row:
    try:
        run = system.simulate(st, duration, **options)
    except errors.SimulationError as problem:
        return Row(name, problem.run, None, str(problem).replace(" The trajectory up to there is in the error's `run`.", ""))
    except LinkwrightError as problem:
        return Row(name, None, None, str(problem))
    if run.notes and run.notes[-1].startswith("interrupted at"):
        return Row(name, run, None, run.notes[-1])
    return _reported(name, run, None)


def _reported(name: str, run: Trajectory | None, between: Any) -> Row:
    assert run is not None
    return Row(name, run, control_report(run, between))
