"""Making a study: `lw.study` with everything it is given checked before the first row, and studies opened from their folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from linkwright.api import (
    Description,
    LinkwrightError,
    Measure,
    Mechanism,
    State,
    UsageError,
    call_explained,
    load,
    modelfile,
    parse_unit,
    ranges,
    written_values,
)
from linkwright.kernels import source_modules
from linkwright.results.files import versions
from linkwright.results.measures import BEGINNINGS, REDUCTIONS, check, unit_of_measure
from linkwright.results.measures import measure as measure_of
from linkwright.rings.design.studies.analyses import Case, Equilibrium, case_again, case_of
from linkwright.rings.design.studies.evaluation import MeasureFunction, Work, digest
from linkwright.rings.design.studies.execution import run
from linkwright.rings.design.studies.plans import Drawn, Plan, Rows
from linkwright.rings.design.studies.plans import plan as plan_of
from linkwright.rings.design.studies.store import FORMAT, FolderStore, MemoryStore, manifest_of, unusable
from linkwright.rings.design.studies.study import VERDICT_COLUMNS, Study
from linkwright.rings.design.studies.variations import Variation, variation
from linkwright.rings.design.studies.varied_numbers import Target, VariedNumbers, expanded, need_different, target

EQUATIONS = ("rings.design.studies.evaluation",)  # what this module imports decides the rows


@call_explained
def study(
    mechanism: Mechanism | str | os.PathLike[str],
    vary: Any,
    measure: Any,
    case: Any = "cycle",
    *,
    plan: Literal["grid", "corners", "one at a time", "sobol", "latin", "random", "saltelli"] | None = None,
    count: int | None = None,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    executor: Any = None,
    threads: int | None = None,
    progress: Any = None,
    traces: Sequence[str] = (),
    thinned: int = 100,
) -> Study:
    """Compute many designs of a mechanism and measure each.

    Parameters
    ----------
    mechanism : Mechanism, str or path
        Mechanism, name of a built-in model or path of a model file.
    vary : mapping, sequence of str or pandas.DataFrame
        Numbers by name ("crank.mass", "start.A", "drive.A", "control.P") with a list, "180..260 mm / 20", "200 +- 0.1 mm",
        "normal(200 mm, 0.1 mm)" or a distribution of scipy.stats. A pandas frame has the rows in SI.
    measure : str, sequence of str or mapping
        Measures as text ("max A.torque", "range guide while 100..180 deg"), or functions of the result by name.
    case : str or case, default "cycle"
        Motion that is measured: "cycle", "settle", lw.Cycle, lw.Path, lw.Run, lw.Equilibrium(...), or a function of a mechanism.
    plan : str, optional
        Plan of the designs (default: a grid of ranges, sobol with a count). "sobol", "latin", "random" and "saltelli" draw `count` rows.
    count : int, optional
        Number of designs: rows that a plan draws.
    seed : int, default 0
        Random seed.
    folder : str or path, optional
        Folder to write to: rows are stored as they are done, and the same call continues the study.
    executor : concurrent.futures.Executor, optional
        Executor that computes the rows, or the executor of a Dask client.
    threads : int, optional
        Number of cores to use (default: all).
    progress : bool or callable, optional
        False writes no lines to stderr. A function is called instead.
    traces, thinned : sequence of str, int
        Channels that are stored for each row, in so many samples.

    Returns
    -------
    Study
        Rows with their numbers and measures, and the reason of every row without a result.

    Raises
    ------
    LinkwrightError
        If a name, a range or a measure is not understood.

    Examples
    --------
    >>> s = lw.study("four-bar", {"L1": "280..320 mm / 3"}, "range rocker.angle", lw.Cycle(steps=24))
    >>> len(s)
    3
    """
    described, done = (mechanism if isinstance(mechanism, Mechanism) else load(mechanism)).description, case_of(case)
    rows = _rows_of(vary, described, done, plan, count, seed)
    found, key = _planned(described, done, rows, measure, folder, traces, thinned)
    _need_executor(executor)
    assert found.work is not None
    run(found.work, rows, found.store, key, executor, threads, progress)
    return found


def without_rows(described: Description, vary: Mapping[str, Any], measure: Any, case: Any) -> Study:
    """The study of a request that computes no design but the file's: its names, measures and units are checked."""
    done = case_of(case)
    variations = _rows_of(vary, described, done, "random", 1, 0).variations
    return _planned(described, done, Rows(variations, np.zeros((0, len(variations)))), measure, None, (), 100)[0]


def _planned(
    described: Description, done: Case, rows: Plan, measure: Any, folder: Any, traces: Sequence[str], thinned: int
) -> tuple[Study, str]:
    """A study before its first row, everything checked, and the key of its folder."""
    wanted = _measures(measure)
    _need_other_names(rows.names, [m.name for m in wanted])
    stored = [traces] if isinstance(traces, str) else list(traces)
    targets = tuple(target(name, described, done) for name in rows.names)
    _within_bounds(described, rows.variations)
    work = Work(VariedNumbers(described, targets), done, tuple(wanted), tuple(stored), thinned)
    shown = _checked(work, wanted, stored)
    units = {name: si for name, (si, _, _) in shown.items()}
    manifest = _manifest(described, work, rows, shown)
    key = digest({name: manifest[name] for name in ("format", "model", "work", "plan", "equations")})
    names = tuple(m.name for m in wanted)
    store: MemoryStore | FolderStore = MemoryStore() if folder is None else FolderStore(Path(folder), key, rows.names, list(names))
    said = store.begin(manifest) if isinstance(store, FolderStore) else ""
    return Study(work, rows, store, rows.names, names, units, manifest, len(rows), said), key


def opened(place: Any) -> Study:
    """A study from its folder, as far as it is done."""
    manifest = manifest_of(Path(place))
    store = FolderStore(Path(place), manifest["key"], manifest["names"], manifest["measures"])
    work, rows = _work_again(Path(place), manifest)
    names, measures = (tuple(manifest[x]) for x in ("names", "measures"))
    return Study(work, rows, store, names, measures, manifest["units"], manifest, int(manifest["plan"]["rows"]))


def _work_again(place: Path, manifest: Mapping[str, Any]) -> tuple[Work | None, Plan | None]:
    """Return the work and the plan of a manifest, to be continued; (None, None) if it had functions."""
    again = manifest.get("again")
    if not isinstance(again, dict):
        return None, None
    try:
        described = modelfile.read_text(manifest["model"], f"{place}")
        done = case_again(again["case"])
        rows = _rows_of(again["vary"], described, done, again["plan"], again["n"], again["seed"], known=True)
        targets = tuple(target(name, described, done) for name in rows.names)
        traces = manifest["work"]["traces"], manifest["work"]["thinned"]
        work = Work(VariedNumbers(described, targets), done, tuple(_measures(again["measure"])), tuple(traces[0]), traces[1])
        return work, rows
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise unusable(place) from problem


def _again(work: Work, rows: Plan) -> dict[str, Any] | None:
    """The call in text and numbers; None where it has objects or functions, which a folder cannot hold."""
    case, vary = work.case.as_text(), {v.name: v.as_text() for v in rows.variations}
    if case is None or isinstance(rows, Rows) or None in vary.values():
        return None
    if not all(isinstance(m, Measure) and m.target is None for m in work.measures):  # points of a file may be elsewhere later
        return None
    drawn = isinstance(rows, Drawn)
    seed, n = (rows.seed, rows.n) if drawn else (0, None)
    return {
        "case": case,
        "vary": vary,
        "measure": {m.name: m.text for m in work.measures if isinstance(m, Measure)},
        "plan": rows.kind,
        "n": n,
        "seed": seed,
    }


def _rows_of(vary: Any, described: Description, done: Case, name: str | None, count: int | None, seed: int, *, known: bool = False) -> Plan:
    """The plan of `vary`; `known` if it was read before, from a model whose units were still there."""
    if hasattr(vary, "columns") and hasattr(vary, "to_numpy"):
        names = [str(c) for c in vary.columns]
        need_different(names)
        if name not in (None, "rows") or count is not None:
            raise UsageError("the rows of a frame are taken as they are. plan= and count= belong to ranges.", name="rows")
        try:
            table = np.asarray(vary.to_numpy(), dtype=float)
        except (TypeError, ValueError):
            raise UsageError("vary: the frame has entries that are not numbers. Columns are numbers in SI.", name="vary") from None
        if not len(table) or not np.isfinite(table).all():
            raise UsageError("vary: the frame needs rows, and finite numbers (in SI) in all of them.", name="vary")
        columns = [variation(c, table[:, i].tolist(), None) for i, c in enumerate(names)]
        return Rows(tuple(columns), table)
    if not isinstance(vary, Mapping) or not vary:
        raise UsageError('vary is a dict, {"rod": "180..260 mm / 20"}, or a pandas frame with a column for every number.', name="vary")
    found = []
    for key, given in expanded(vary, described).items():
        t = target(key, described, done)
        if not known:
            _need_unit(described, t, given)
        sizes = partial(written_values.bare_size, described) if t.bare or t.dimension is not None else None
        found.append(variation(key, given, t.dimension, sizes, nominal=t.nominal))
    return plan_of(name, found, count, seed)


def _need_unit(described: Description, t: Target, given: Any) -> None:
    """Raise UsageError where a parameter of the file is given in a unit that does not suit what is written with it."""
    unit = ranges.unit_written(given) if not hasattr(given, "ppf") else ""
    if unit and t.bare and described.document is not None:
        size, dimension = parse_unit(unit)
        try:
            modelfile.reread(described, **{t.name: f"{t.nominal * written_values.bare_size(described, dimension) / size!r} {unit}"})
        except LinkwrightError as problem:
            raise UsageError(f"vary: {t.name} = {given} does not suit the model: {problem}", name="vary") from problem


def _measures(given: Any) -> list[Measure | MeasureFunction]:
    """Texts, functions, or a dict of them by name."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        single = isinstance(given, str | Measure) or callable(given)
        items = [given] if single else list(given) if isinstance(given, Iterable) else []
        pairs = [(None, x) for x in items]
    if not pairs:
        raise UsageError(
            f'measure is what to read of every design: "max A.torque". They begin with {", ".join(BEGINNINGS)}.',
            name="measure",
            allowed=BEGINNINGS,
        )
    out: list[Measure | MeasureFunction] = []
    for name, x in pairs:
        if callable(x):
            out.append(MeasureFunction(str(name or getattr(x, "__name__", "function")), x))
        else:
            found = measure_of(x)
            out.append(found if name is None else replace(found, label=str(name)))
    texts = [m.name for m in out]
    twice = sorted({t for t in texts if texts.count(t) > 1})
    if twice:
        raise UsageError(f"measure: {', '.join(map(repr, twice))} is there twice. Functions get names by a dict.", name="measure")
    return out


def _need_other_names(names: Sequence[str], measures: Sequence[str]) -> None:
    """Raise UsageError where two columns of the table would have one name."""
    twice = sorted(set(measures) & {*names, *VERDICT_COLUMNS, "row"})
    if twice:
        raise UsageError(
            f"measure: {', '.join(map(repr, twice))} is the name of another column of the table. Give it another one.", name="measure"
        )


def _checked(work: Work, wanted: Sequence[Measure | MeasureFunction], stored: Sequence[str]) -> dict[str, tuple[str, str, float]]:
    """Units of the measures (SI, the file's, its size), by the result with the values of the file; raise an error where a measure is not
    there."""
    try:
        result = work.of_file
    except LinkwrightError as problem:
        raise UsageError(f"the model with the numbers of its file cannot be computed: {problem}") from problem
    units: dict[str, tuple[str, str, float]] = {}
    plain = [m for m in wanted if isinstance(m, Measure)]
    if isinstance(result, State):
        for m in plain:
            _ = result[m.channel]
            units[m.name] = ("", "", 1.0)
        if isinstance(work.case, Equilibrium) and any(m.window is not None or m.reduction not in REDUCTIONS for m in plain):
            raise UsageError(
                f"an equilibrium is one position: measures are {', '.join(REDUCTIONS)} there, without `while`.", allowed=REDUCTIONS
            )
        return units
    check(plain, result)
    for name in stored:
        result._channel(name)
    mine = result.skel.tree.description.units
    return {m.name: (unit_of_measure(m, result)[0], *unit_of_measure(m, result, mine)) for m in plain}


def _manifest(described: Description, work: Work, rows: Plan, units: Mapping[str, tuple[str, str, float]]) -> dict[str, Any]:
    plain = json.loads(json.dumps(work.described(), default=str))
    return {
        "format": FORMAT,
        "name": described.name,
        "model": modelfile.write(described),
        "work": plain,
        "plan": json.loads(json.dumps(rows.described(), default=str)),
        "names": list(rows.names),
        "measures": [m.name for m in work.measures],
        "units": {name: si for name, (si, _, _) in units.items()},
        "shown": {name: [symbol, size] for name, (_, symbol, size) in units.items()},
        "equations": source_modules.digest(*EQUATIONS),
        "not_checked": list(work.not_checked),
        "versions": versions(),
        "again": _again(work, rows),
    }


def _within_bounds(described: Description, variations: Sequence[Variation]) -> None:
    """Raise UsageError where a range leaves the `min:` and `max:` of its parameter."""
    bounds = {name: (low, high) for name, low, high in described.bounds}
    for v in variations:
        low, high = bounds.get(v.name, (None, None))
        below, above = np.isfinite(v.low) and low is not None and v.low < low, np.isfinite(v.high) and high is not None and v.high > high
        if below or above:
            raise UsageError(f"{v.name} = {v.text} leaves its bounds in the file, min and max: {_end(low)} .. {_end(high)}.", name=v.name)


def _end(x: float | None) -> str:
    return "" if x is None else f"{x:.6g}"


def _need_executor(executor: Any) -> None:
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise UsageError(
            f"executor has no submit(): give a concurrent.futures.Executor, or client.get_executor() of Dask, not {executor!r:.60}.",
            name="executor",
            value=executor,
        )
