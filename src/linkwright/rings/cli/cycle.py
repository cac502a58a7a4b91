"""`linkwright cycle`: one cycle of the drive, with efforts and loads where the model has masses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from linkwright.api import LinkwrightError, UsageError, counted, errors, files
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb

if TYPE_CHECKING:
    from linkwright.api import check_results
    from linkwright.rings.design.cycle_loads import CycleLoads

CYCLE = Verb("linkwright.system.mechanism:Mechanism.cycle", without=("drive",))
HANG = 17  # columns before the text of a check
SMOOTH = 60  # samples below which a path would be drawn as a polygon: pictures then take a cycle of their own


def run(given: argparse.Namespace) -> None:
    wanted: list[outputs.Wanted] = [
        (given.output, outputs.TABLES),
        (given.plot, files.PICTURES),
        (given.picture, files.PICTURES),
        (given.animation, files.ANIMATIONS),
        (given.load_cases, (".csv", ".xlsx")),
    ]
    outputs.check(wanted, given.force)
    marks = _csv_marks(given)
    options.check_resolution(given)
    asked = _asked(given.measure)
    m = loading.load(given)
    if given.plot and given.loads and not _massless(m):
        outputs.check([*wanted, *((path, files.PICTURES) for path in _load_plots(given.plot))], given.force)
    with console.waiting("computing the cycle"):
        c = m.cycle(**_settings(m, given))
    _check_channels(c, given.channels or ())
    numbers = _measures(c, asked)
    required = _required(c, given.require)
    loads = _loads(m, c, given.loads)
    motors, no_motor = _motors(c, given)
    checks = c.checks()
    if given.json:
        data = _data(m, c, loads, given, numbers, checks)
        data |= {"requirements": [r.as_dict() for r in required.rows]} if required.rows else {}
        outputs.print_json("cycle", data | ({} if motors is None else {"motors": motors}))
    else:
        measured = "".join(f"\n{line}" for line in _measured_lines(numbers))
        motion = f"{_text(m, c, given.stop is not None)}{measured}"
        more = [str(x) for x in (motors if no_motor is None else None, required if required.rows else None) if x is not None]
        console.show("\n\n".join([motion, str(loads), *more, console.wrapped(str(checks), HANG)]))
    outputs.report_files(_write(m, c, loads, given, marks), given.json)
    failed = [] if no_motor is None else [str(no_motor)]
    if not required.ok:
        missed = [f"{r.text} ({r.how})" if r.how else r.text for r in required.rows if not r.met]
        failed.append(f"{len(missed)} of {len(required.rows)} requirements not met by '{m.name}': {'; '.join(missed)}.")
    if failed:
        raise UsageError(" ".join(failed))


def _motors(c: Any, given: argparse.Namespace) -> tuple[Any, errors.NoMotorError | None]:
    """Suitable motors (as data for --json), or the reason why there is none: the cycle is shown and written in either case."""
    if given.choose_motor is None:
        return None, None
    try:
        found = c.choose_motor(given.choose_motor or None, drive=_lead(given)[0], sort=given.sort)
    except errors.NoMotorError as none:
        return {"suitable": 0, "rows": [], "why": str(none)}, none
    return found.as_dict() if given.json else found, None


def _required(c: Any, texts: Sequence[str]) -> Any:
    from linkwright.rings.design.optimization.requirements import requirements

    return requirements(c, texts)


def _csv_marks(given: argparse.Namespace) -> dict[str, dict[str, str | None]]:
    """Separator and decimal mark for each table that is CSV; at least one is, where they are given."""
    tables = [path for path in (given.output, given.load_cases) if path]
    comma = [path for path in tables if path.lower().endswith(".csv")]
    marks = options.csv_marks(given, comma[0] if comma else None)
    return {path: marks if path in comma else {} for path in tables}


def _settings(m: Any, given: argparse.Namespace) -> dict[str, Any]:
    """Options of `m.cycle`; numbers without a unit are in the file's."""
    out = CYCLE.given(given)
    lead, pace = _lead(given)
    if pace and "speed" in out:
        raise UsageError(f"--drive {lead}={pace} and --speed {given.speed} are two speeds. Give one of them.")
    if pace:
        out["speed"] = pace
    if lead is not None:
        out["drive"] = lead
    joint = lead or next((d.joint for d in m.description.drives), "")
    rotary = loading.cycles(m, joint)
    kinds = {"start": ("angle", "length"), "stop": ("angle", "length"), "speed": ("angular speed", "speed")}
    return out | {name: loading.with_unit(m, out[name], kinds[name][not rotary]) for name in kinds if name in out}


def _lead(given: argparse.Namespace) -> tuple[str | None, str]:
    """The joint that is driven, if one is named, and its speed."""
    if len(given.drive) > 1:
        raise UsageError(f"a cycle has one drive, but --drive names {' and '.join(name for name, _ in given.drive)}. Give one of them.")
    return given.drive[0] if given.drive else (None, "")


def _text(m: Any, c: Any, ranged: bool) -> str:
    from linkwright.rings.studio.cycle_table import turn_table

    symbol, size = c.unit(c.drive)
    way = f"'{c.drive}' from {c[c.drive][0] / size:.6g} to {c[c.drive][-1] / size:.6g} {symbol}"
    cycle = way if ranged else f"one {'full turn' if c.full_turn else 'cycle'} of '{c.drive}'"
    time = "" if c.static else f", {c.t[-1] - c.t[0]:.6g} s"
    head = f"{m.name}: {cycle}, {counted(len(c) - 1, 'step')}{time}"
    cams = [console.wrapped(x, 6) for s in _cams(m, c) for x in (f"cam {s.text}", *(f"warning: {w}" for w in s.notes))]
    return "\n".join([head, *(console.wrapped(f"note: {n}", 6) for n in c.notes), *cams, "", turn_table(c).text()])


def _cams(m: Any, c: Any) -> Sequence[Any]:
    from linkwright.rings.design.cams import summaries

    return summaries(m.system, c)


def _asked(texts: Sequence[str]) -> list[Any]:
    """Measures as text, read before anything is computed."""
    from linkwright.results.measures import measure

    return [measure(text) for text in texts]


def _check_channels(c: Any, names: Sequence[str]) -> None:
    """Raise ChannelError for channels that are not there, UsageError for vectors."""
    for name in names:
        if c[name].ndim > 1:
            raise UsageError(f"--channels {name} is a vector: name one component, such as {name}.x.")


def _measures(c: Any, measures: Sequence[Any]) -> list[dict[str, Any]]:
    """Measures of the cycle: in SI, and as text in the units of the file."""
    from linkwright.results.measures import check, unit_of_measure

    out: list[dict[str, Any]] = []
    for m in measures:
        check([m], c)
        value, (shown, size) = m.read_from(c), unit_of_measure(m, c, c.skel.tree.description.units)
        note = value.note(m.name, lambda x, size=size, shown=shown: f"{x / size:.2g} {shown}".rstrip())
        text = f"{value / size:.6g}{value.mark} {shown}".rstrip()
        open_ended = {"sampling_error": None if value.grows else value.error, "grows_without_bound": value.grows_at or None}
        out.append({"name": m.name, "value": float(value), "unit": unit_of_measure(m, c)[0], "shown": text, "note": note, **open_ended})
    return out


def _measured_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    from linkwright.api import text_tables

    notes = [x["note"] for x in found if x["note"]]
    return ["", *text_tables.aligned([(x["name"], x["shown"]) for x in found]), *notes] if found else []


def _massless(m: Any) -> list[str]:
    return [b.name for b in m.description.bodies[1:] if b.mass is None]


def _loads(m: Any, c: Any, wanted: bool) -> CycleLoads:
    from linkwright.rings.design.cycle_loads import CycleLoads, cycle_loads

    if not wanted:
        return CycleLoads("kinematics only, as asked for")
    if _massless(m):
        return CycleLoads(f"kinematics only: no mass given for {', '.join(_massless(m))}")
    try:
        _with_progress(c)
        return cycle_loads(c)
    except LinkwrightError as problem:
        return CycleLoads(f"no loads: {' '.join(str(problem).split())}")


def _with_progress(c: Any) -> None:
    """Compute the loads of all samples; on a terminal show how far it is."""
    if not sys.stderr.isatty():
        return
    from rich.console import Console
    from rich.progress import track

    for x in track(c._one_by_one, description="loads", console=Console(stderr=True), transient=True):
        _ = x.loads


def _channel_names(c: Any, loads: CycleLoads, more: Sequence[str]) -> list[str]:
    """Motion, if loads were computed every load that is one number, and channels by name."""
    known = c._load_channels
    motion = [n for n in c._main_channels() if n not in known]
    return list(dict.fromkeys([*motion, *(() if loads.why else (n for n in known if c[n].ndim == 1)), *more]))


def _data(
    m: Any, c: Any, loads: CycleLoads, given: argparse.Namespace, numbers: Sequence[dict[str, Any]], checks: check_results.Checks
) -> dict[str, Any]:
    import numpy as np

    return {
        "model": m.name,
        "drive": c.drive,
        "full_turn": None if c.full_turn is None else bool(c.full_turn),
        "notes": list(c.notes),
        "ok": checks.ok,
        "verdict": checks.verdict,
        "checks": checks.as_dict()["checks"],
        "static": c.static,
        "singular": [asdict(x) for x in c.singular],
        "near_singular": np.flatnonzero(c.near_singular).tolist(),
        "steps": len(c) - 1,
        "channels": outputs.channel_data(c, _channel_names(c, loads, given.channels or ())),
        "measures": [{key: x[key] for key in ("name", "value", "unit", "sampling_error", "grows_without_bound")} for x in numbers],
        "loads": loads.as_dict(),
        "cams": [asdict(x) for x in _cams(m, c)],
    }


def _load_plots(plot: str) -> list[str]:
    """`curves.png` brings `curves-torque.png`, `curves-loads.png` and `curves-hodographs.png`."""
    stem, ending = os.path.splitext(plot)
    return [f"{stem}-{what}{ending}" for what in ("torque", "loads", "hodographs")]


def _write(m: Any, c: Any, loads: CycleLoads, given: argparse.Namespace, marks: dict[str, dict[str, str | None]]) -> list[str]:
    from linkwright.rings.studio import animation, picture, plots

    written = [p for p in (given.output, given.plot) if p]
    if given.output:
        c.save(given.output, channels=_channel_names(c, loads, given.channels or ()), **marks[given.output])
    if given.load_cases:
        if loads.why:
            raise UsageError(f"--load-cases: {loads.why}.")
        c.load_cases().save(given.load_cases, **marks[given.load_cases])
        written.append(given.load_cases)
    if given.plot:
        plots.overview(c, given.plot)
        written += _write_load_plots(m, c, given) if not loads.why else []
    if given.picture:
        picture.draw(m, given.picture, turn=c if len(c) > SMOOTH else None)
    if given.animation:
        animation.animate(m, given.animation, turn=c if len(c) > SMOOTH else None, resolution=given.resolution)
    return written + [p for p in (given.picture, given.animation) if p]


def _write_load_plots(m: Any, c: Any, given: argparse.Namespace) -> list[str]:
    from linkwright.rings.studio.plots import efforts
    from linkwright.rings.studio.plots.hodographs import hodographs as plot_hodographs

    torque, loads, hodographs = _load_plots(given.plot)
    efforts.torque(c, torque)
    efforts.pin_loads(c, loads)
    if not m.description.planar:  # a hodograph is a curve in the plane
        return [torque, loads]
    plot_hodographs(c, hodographs)
    return [torque, loads, hodographs]


COMMAND = CliCommand(
    name="cycle",
    topic="cycle",
    help="one cycle of the drive: motion, drive torques, loads of every pin",
    about="Move a mechanism through one cycle of its drive. A drive that cannot turn fully swings inside its reach. "
    "With masses in the model it also computes what the drives must do and what every pin carries.",
    examples=(
        "linkwright cycle wiper --speed '30 rpm' --start 30deg --stop 150deg -o wiper.csv",
        'linkwright cycle punch-press --measure "dwell ram.R.y within 1 mm" --measure "time ratio ram.R.y"',
        "linkwright cycle wiper --choose-motor --sort mass",
    ),
    options=(
        options.MODEL,
        *options.LOADING,
        options.drive("A, or at a speed of its own A='30 rpm'. Other drives hold still (default: the model's drive)"),
        CYCLE,
        option(
            "--loads",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="torques and forces of drives and loads of pins, if the model has masses (default)",
        ),
        options.MEASURE,
        options.REQUIRE,
        options.CHANNELS,
        options.OUTPUT("all channels as .csv or .xlsx (the file's units), .npz or .parquet (SI)"),
        *options.MARKS,
        option("--load-cases", metavar="FILE", help="load cases to write (.csv, .xlsx): every link at its worst instants, in its axes"),
        options.PLOT("curves of angles, sliders and points, and with loads also FILE-torque, FILE-loads and FILE-hodographs"),
        option("--picture", metavar="FILE", help="picture to write (.png, .svg, .pdf): the start position with paths of points"),
        options.ANIMATION,
        options.RESOLUTION,
        options.CHOOSE_MOTOR,
        options.SORT,
        *options.BOTH,
    ),
    run=run,
)
