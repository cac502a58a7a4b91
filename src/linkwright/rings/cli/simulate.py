"""`linkwright simulate`: the motion in time, driven as the file says or otherwise; partial results are saved when it stops early."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from linkwright.api import LinkwrightError, UsageError, errors, files
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, CliOption, option
from linkwright.simulation.options import Options, about

if TYPE_CHECKING:
    from linkwright.api import Mechanism, Trajectory

AGREE = 1e-9  # rad or m: start positions closer than this are the same
SETTINGS = ("integrator", "tolerance", "step", "formulation", "stabilizer", "sample_interval")  # options of a run on the command line
IN_PYTHON = " The trajectory up to there is in the error's `run`."


def run(given: argparse.Namespace) -> int:
    outputs.check(_wanted(given), given.force)
    options.csv_marks(given, given.output)
    options.check_resolution(given)
    m = loading.load(given)
    drives = loading.drives(m, given)
    settings = _settings(given)
    with console.waiting("compiling the mechanism"):
        _check_start(m, drives, given)
        if given.channels or sys.stderr.isatty():
            # a run of no length reports wrong names before long work, and compiles what the real one needs before its bar appears
            _channels(m.simulate(0, drive=drives, **settings), given)
    stopped: errors.SimulationError | None = None
    try:
        found = m.simulate(given.duration, drive=drives, **settings)
    except errors.SimulationError as problem:
        if problem.run is None:
            raise
        stopped, found = problem, problem.run
    return _report(m, found, stopped, given)


def _report(m: Mechanism, found: Trajectory, stopped: errors.SimulationError | None, given: argparse.Namespace) -> int:
    """Print and write what there is, then say why it is not all of it."""
    from linkwright.rings.cli import run_text

    names = _channels(found, given)
    if given.json:
        outputs.print_json("simulate", run_text.data(m, found, names))
    else:
        console.show(run_text.text(m, found))
    written, problems = _write(found, names, given)
    outputs.report_files(written, given.json)
    rest = f"the result up to t = {found.t[-1]:.6g} s is {f'in {given.output}' if given.output in written else 'shown'}"
    interrupted = found.certificate is not None and found.certificate.status == "interrupted"
    early = stopped is not None or interrupted
    if problems and not early:
        raise problems[0]
    for problem in problems:
        console.error(str(problem))
    if stopped is not None:
        console.error(f"{str(stopped).replace(IN_PYTHON, '')} Nothing is lost: {rest}.")
        return 1
    if interrupted:
        print(f"interrupted; {rest}", file=sys.stderr)
        return console.exit_code_of_signal()
    return 0


# -------------------------------------------------------------------- what is asked for


def _wanted(given: argparse.Namespace) -> list[outputs.Wanted]:
    return [
        (given.output, outputs.TABLES),
        (given.plot, files.PICTURES),
        (given.page, outputs.PAGES),
        (given.animation, files.ANIMATIONS),
    ]


def _settings(given: argparse.Namespace) -> dict[str, Any]:
    """Options of the run that were given."""
    return {name: value for name in SETTINGS if (value := getattr(given, name)) is not None}


def _check_start(m: Mechanism, drives: dict[str, Any], given: argparse.Namespace) -> None:
    """A start position or speed that a prescribed motion would overrule is an error, not ignored."""
    from linkwright.api import compiled_of
    from linkwright.drives import prescribed

    motions = prescribed(compiled_of(m.system), drives, m.system.start).motions
    for name, _ in given.set:
        joint = name.removesuffix(".v")
        if joint in motions:
            asked = float(m.system.start[name])
            if abs(motions[joint][joint != name] - asked) > AGREE * max(1.0, abs(asked)):
                raise UsageError(
                    f"--set {name}: the motion of '{joint}' is prescribed by its drive, which begins elsewhere. Let it go with --undriven, "
                    f"or give it another drive: --drive {joint}='2 N m', or --drive {joint}=undriven.",
                    name=joint,
                )


def _channels(found: Trajectory, given: argparse.Namespace) -> list[str]:
    """Channels of tables, JSON and plots: those asked for, or the main ones."""
    if given.channels is None:
        return [n for n in found._main_channels() if found[n].ndim == 1]
    for name in given.channels:
        if found[name].ndim != 1:
            raise UsageError(f"--channels: '{name}' has several components. Name one of them, such as {name}.x or {name}.size.", name=name)
    return ["t", *(n for n in given.channels if n != "t")]


# -------------------------------------------------------------------- files


def _write(found: Trajectory, names: list[str], given: argparse.Namespace) -> tuple[list[str], list[LinkwrightError]]:
    """All files asked for: those written, and why others were not. One that cannot be made does not keep the others from being written."""
    jobs = (
        (given.output, lambda path: found.save(path, channels=names, **options.csv_marks(given, path))),
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


class RunSettings:
    """Options of a run, from their one list in the simulation."""

    @property
    def options(self) -> list[CliOption]:
        return [_setting(x) for x in fields(Options) if x.name in SETTINGS]


def _setting(x: Any) -> CliOption:
    metavar, reader = options.READERS[x.name]
    ending = "" if x.default is None else f" (default {x.default})".replace("e-0", "e-")
    return option(f"--{x.name.replace('_', '-')}", metavar=metavar, type=reader, help=lambda: about(x.name) + ending)


COMMAND = CliCommand(
    name="simulate",
    topic="simulate",
    help="simulate the motion in time, driven as in the file or undriven",
    about="Simulate a mechanism for DURATION seconds, driven as in its file, and print its end, the energies and the run's "
    "certificate. Ctrl-C ends early and keeps the computed part. The model needs masses.",
    examples=(
        "linkwright simulate wiper 5 -o wiper.npz --plot wiper.png",
        "linkwright simulate four-bar '2 s' --undriven --set A=90deg --set A.v=10rpm --page swing.html",
        "linkwright simulate wiper 2 --drive A='6 N m' --channels A,A.v,energy.total --json",
    ),
    options=(
        options.MODEL,
        option("duration", metavar="DURATION", type=options.time, help="duration in seconds, or with a unit ('200 ms', '2 min')"),
        *options.LOADING,
        options.UNDRIVEN,
        options.DRIVE,
        RunSettings(),
        options.CHANNELS,
        options.OUTPUT("the run as .npz or .parquet (everything), .csv or .xlsx (channels, in the file's units)"),
        *options.MARKS,
        options.PLOT("curves over time"),
        options.PAGE("the page that plays this run"),
        options.ANIMATION,
        options.RESOLUTION,
        *options.BOTH,
    ),
    run=run,
)
