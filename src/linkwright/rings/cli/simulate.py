"""`linkwright simulate`: the motion in time, driven as the file says or otherwise; partial results are saved when it stops early."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from linkwright import files
from linkwright.errors import LinkwrightError, SimulationError, UsageError
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, CliOption, option
from linkwright.simulation.options import Options, about

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory
    from linkwright.system.mechanism import Mechanism

AGREE = 1e-9  # rad or m: start positions closer than this are the same
SETTINGS = {
    "integrator": ("NAME", options.integrator),
    "tolerance": ("X", options.tolerance),
    "step": ("TIME", options.time),
    "formulation": ("NAME", options.formulation),
    "stabilizer": ("NAME", options.stabilizer),
    "sample_interval": ("TIME", options.sampling),
}  # options of `m.simulate` that the command line has, and how their values are written
IN_PYTHON = " The trajectory up to there is in the error's `run`."


def run(given: argparse.Namespace) -> int:
    outputs.check(_wanted(given), given.force)
    options.csv_marks(given, given.file)
    options.check_resolution(given)
    m = loading.load(given)
    if given.speed:
        m = m.with_(start={f"{n}.v": loading.in_file_units(m, f"{n}.v", text) for n, text in given.speed})
    drives = _drives(m, given)
    settings = _settings(given)
    with console.waiting("compiling the mechanism"):
        _check_start(m, drives, given)
        if given.channels or sys.stderr.isatty():
            # a run of no length reports wrong names before long work, and compiles what the real one needs before its bar appears
            _channels(m.simulate(0, drive=drives, **settings), given)
    stopped: SimulationError | None = None
    try:
        found = m.simulate(given.duration, drive=drives, **settings)
    except SimulationError as problem:
        if problem.run is None:
            raise
        stopped, found = problem, problem.run
    return _report(m, found, stopped, given)


def _report(m: Mechanism, found: Trajectory, stopped: SimulationError | None, given: argparse.Namespace) -> int:
    """Print and write what there is, then say why it is not all of it."""
    from linkwright.rings.cli import run_text

    names = _channels(found, given)
    if given.json:
        outputs.print_json("simulate/1", run_text.data(m, found, names))
    else:
        console.show(run_text.text(m, found))
    written, problems = _write(found, names, given)
    outputs.report_files(written, given.json)
    rest = f"what was computed up to t = {found.t[-1]:.6g} s is {f'in {given.file}' if given.file in written else 'shown'}"
    early = stopped is not None or found.certificate.status == "interrupted"
    if problems and not early:
        raise problems[0]
    for problem in problems:
        console.error(str(problem))
    if stopped is not None:
        console.error(f"{str(stopped).replace(IN_PYTHON, '')} Nothing is lost: {rest}.")
        return 1
    if found.certificate.status == "interrupted":
        print(f"interrupted; {rest}", file=sys.stderr)
        return console.exit_code_of_signal()
    return 0


# -------------------------------------------------------------------- what is asked for


def _wanted(given: argparse.Namespace) -> list[outputs.Wanted]:
    return [
        (given.file, outputs.TABLES),
        (given.plot, files.PICTURES),
        (given.page, outputs.PAGES),
        (given.animation, files.ANIMATIONS),
    ]


def _settings(given: argparse.Namespace) -> dict[str, Any]:
    """Options of the run that were given."""
    return {name: value for name in SETTINGS if (value := getattr(given, name)) is not None}


def _drives(m: Mechanism, given: argparse.Namespace) -> dict[str, Any]:
    """The file's drives (none with --free), and in their place those of --drive."""
    from linkwright.drives import drives_of_description

    out = {} if given.free else drives_of_description(m.description)
    return out | {name: loading.drive(m, name, text) for name, text in given.drive}


def _check_start(m: Mechanism, drives: dict[str, Any], given: argparse.Namespace) -> None:
    """A start position or speed that a prescribed motion would overrule is an error, not ignored."""
    from linkwright.drives import prescribed

    motions = prescribed(m.system.core, drives, m.system.start)
    for flag, names, i in (("--set", given.set, 0), ("--speed", given.speed, 1)):
        for name in (n for n, _ in names if n in motions):
            asked = float(m.system.start[name if i == 0 else f"{name}.v"])
            if abs(motions[name][i] - asked) > AGREE * max(1.0, abs(asked)):
                raise UsageError(
                    f"{flag} {name}: the motion of '{name}' is prescribed by its drive, which begins elsewhere. Let it go with --free, "
                    f"or give it another drive: --drive {name}='2 N m', or --drive {name}=free."
                )


def _channels(found: Trajectory, given: argparse.Namespace) -> list[str]:
    """Channels of tables, JSON and plots: those asked for, or the main ones."""
    if given.channels is None:
        return [n for n in found._main_channels() if found[n].ndim == 1]
    for name in given.channels:
        if found[name].ndim != 1:
            raise UsageError(f"--channels: '{name}' has several components; name one of them, such as {name}.x or {name}.size.")
    return ["t", *(n for n in given.channels if n != "t")]


# -------------------------------------------------------------------- files


def _write(found: Trajectory, names: list[str], given: argparse.Namespace) -> tuple[list[str], list[LinkwrightError]]:
    """All files asked for: those written, and why others were not. One that cannot be made does not keep the others from being written."""
    jobs = (
        (given.file, lambda path: found.save(path, channels=names, **options.csv_marks(given, path))),
        (given.plot, lambda path: found.plot(given.channels or "overview", path)),
        (given.page, lambda path: found.show(path)),
        (given.animation, lambda path: found.animate(path, resolution=given.resolution)),
    )
    written: list[str] = []
    problems: list[LinkwrightError] = []
    for path, make in jobs:
        if path:
            try:
                with console.waiting(f"writing {path}"):
                    make(path)
                written.append(path)
            except LinkwrightError as problem:
                problems.append(problem)
    return written, problems


def _setting(name: str, metavar: str, kind: Callable[[str], Any]) -> CliOption:
    """An option of `m.simulate` on the command line."""
    default = next(x.default for x in fields(Options) if x.name == name)
    ending = "" if default is None else f" (default {default})".replace("e-0", "e-")
    return option(f"--{name.replace('_', '-')}", metavar=metavar, type=kind, help=lambda: about(name) + ending)


COMMAND = CliCommand(
    name="simulate",
    help="simulate the motion in time, driven as in the file or free",
    about="Simulate a mechanism for DURATION seconds, driven as its file says, and print where it ends, the energies and the run's "
    "certificate. Ctrl-C ends early and keeps what was computed. The model needs masses.",
    examples=(
        "linkwright simulate wiper 5 -o wiper.npz --plot wiper.png",
        "linkwright simulate four-bar '2 s' --free --set A=90deg --speed A=10rpm --page swing.html",
        "linkwright simulate wiper 2 --drive A='6 N m' --channels A,A.v,energy.total --json",
    ),
    options=(
        options.MODEL,
        option("duration", metavar="DURATION", type=options.time, help="how long: seconds, or with a unit ('200 ms', '2 min')"),
        options.PARAM,
        options.SET,
        option(
            "--speed", metavar="JOINT=VALUE", action="append", type=options.assignment, default=[], help="start speed of a joint (A=10rpm)"
        ),
        options.FREE,
        options.DRIVE,
        options.CUTS,
        options.FOLDER,
        *(_setting(name, *written) for name, written in SETTINGS.items()),
        option("--channels", metavar="A,B", type=options.listed, help="what files, plots and JSON show (default: joints, angles, points)"),
        option(
            "-o",
            "--output",
            dest="file",
            metavar="FILE",
            help="save the run: .npz, .parquet (everything), .csv, .xlsx (channels, file's units)",
        ),
        options.SEP,
        options.DECIMAL,
        option("--plot", metavar="FILE", help="curves over time: .png, .svg or .pdf"),
        option("--page", metavar="FILE", help="the page that plays this run: .html"),
        options.ANIMATION,
        options.RESOLUTION,
        options.FORCE,
        options.JSON,
    ),
    run=run,
)
