"""The command line: `linkwright info`, `turn`, `models`.

Exit codes: 0 fine, 1 the model or the request cannot be done (one paragraph on stderr), 2 wrong usage. Output works on
any console encoding and in pipes; files are never overwritten unless --force is given.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from linkwright import joints
from linkwright.errors import LinkwrightError, UsageError, nearest

if TYPE_CHECKING:
    from linkwright.machine.cycle_loads import CycleLoads

COMMANDS = ("info", "turn", "models", "bench")
MOST_STEPS = 100_000
SMOOTH = 60  # samples below which a path would be drawn as a polygon: pictures then take a turn of their own


class Parser(argparse.ArgumentParser):
    """argparse with one-paragraph errors and examples kept as written."""

    def __init__(self, **options: Any):
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}. Try '{self.prog} --help'.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        _printable(stream)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except LinkwrightError as problem:
        print("error:", " ".join(str(problem).split()), file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _printable(stream: TextIO) -> None:
    """Print '?' for what the console's encoding lacks, instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _run(words: list[str]) -> int:
    if not words:
        print(_welcome())
        return _flushed()
    parser = build_parser()
    if words[0] not in COMMANDS and not words[0].startswith("-"):
        hint = f" To look at a model: linkwright info {words[0]}." if _is_model(words[0]) else ""
        parser.error(f"there is no command '{words[0]}'. {nearest(words[0], COMMANDS, 'Commands').rstrip('.')}.{hint}".rstrip("."))
    options = parser.parse_args(words)
    {"info": run_info, "turn": run_turn, "models": run_models, "bench": run_bench}[options.command](options)
    return _flushed()


def _flushed() -> int:
    sys.stdout.flush()
    return 0


def _is_model(word: str) -> bool:
    from linkwright import models

    return word in models.names() or word.endswith((".yaml", ".yml"))


def _welcome() -> str:
    from linkwright import __version__

    return (
        f"Linkwright {__version__}: mechanisms with closed kinematic loops.\n\n"
        f"Shipped models\n{_model_list()}\n\n"
        "Try\n"
        "  linkwright info wiper\n"
        "  linkwright turn wiper --picture wiper.png --animation wiper.gif\n"
        "  linkwright turn four-bar --param L1=0.25 -o four-bar.csv\n\n"
        "A model of your own is a YAML file: linkwright info my-linkage.yaml. Help: linkwright --help"
    )


def _model_list() -> str:
    from linkwright import models

    names = models.names()
    width = max(len(n) for n in names)
    return "\n".join(f"  {n:<{width}}  {models.about(n)}" for n in names)


# -------------------------------------------------------------------- options


def build_parser() -> Parser:
    from linkwright import __version__
    from linkwright.bench import command as bench

    parser = Parser(
        prog="linkwright",
        description="Mechanisms with closed kinematic loops: what they are and how they move.",
        epilog="examples:\n  linkwright models\n  linkwright info wiper\n  linkwright turn wiper --plot curves.png\n\n"
        "exit codes: 0 fine, 1 cannot be done (the reason is on stderr), 2 wrong usage",
    )
    parser.add_argument("--version", action="version", version=f"linkwright {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    _info_options(commands)
    _turn_options(commands)
    bench.add_options(commands)
    listing = commands.add_parser(
        "models", help="list the shipped models", description="List the shipped models.", epilog="example:\n  linkwright models --json"
    )
    listing.add_argument("--json", action="store_true", help="machine-readable output")
    return parser


def _model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a shipped model's name, or the path of a YAML file")
    parser.add_argument(
        "--param", metavar="NAME=VALUE", action="append", type=_assignment, default=[], help="change a parameter (L1=400mm)"
    )
    parser.add_argument(
        "--set", metavar="JOINT=VALUE", action="append", type=_assignment, default=[], help="start position of a joint (A=30deg)"
    )
    parser.add_argument(
        "--cuts", metavar="J1,J2", type=lambda s: [x for x in s.split(",") if x], help="joints to cut, instead of the program's choice"
    )
    parser.add_argument("--json", action="store_true", help="machine-readable output, SI units (docs/kinematics.md describes it)")


def _info_options(commands: Any) -> None:
    parser = commands.add_parser(
        "info",
        help="freedoms, reach, swing and transmission of a mechanism",
        description="What a mechanism is: freedoms and drives, full turn or reach, swing of the links, transmission angles, mass.",
        epilog="examples:\n  linkwright info wiper\n  linkwright info scissor-lift --param N=5\n"
        "  linkwright info carpet-scraper --internals\n"
        "  linkwright info carpet-scraper --internals --cuts J8,J9,J10\n  linkwright info my-linkage.yaml --json",
    )
    _model_options(parser)
    parser.add_argument("--internals", action="store_true", help="also loops, cuts, subsystems, solve order, ranks")


def _turn_options(commands: Any) -> None:
    parser = commands.add_parser(
        "turn",
        help="one cycle of the drive: motion, drive efforts, loads of every pin",
        description="Turn a mechanism through one cycle of its drive. A drive that cannot turn fully swings inside its reach. "
        "With masses in the model it also computes what the drives must do and what every pin carries.",
        epilog="examples:\n  linkwright turn wiper\n  linkwright turn wiper --speed '30 rpm' --set A=90deg -o wiper.csv\n"
        "  linkwright turn jansen-leg --picture leg.png --animation leg.gif\n  linkwright turn four-bar --param L1=0.25 --plot curves.png\n"
        "  linkwright turn five-bar --drive A --json",
    )
    _model_options(parser)
    parser.add_argument(
        "--drive", metavar="JOINT", help="turn this joint or cylinder (default: the model's drive); other drives hold still"
    )
    parser.add_argument("--steps", metavar="N", type=_steps, default=360, help="equal steps of the cycle (default 360)")
    parser.add_argument("--speed", metavar="SPEED", help="speed of the drive, with unit ('30 rpm', '0.1 m/s')")
    parser.add_argument("-o", "--output", metavar="FILE", help="write all channels: .csv (the file's units) or .npz (SI)")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="curves of angles and points: .png, .svg or .pdf; with loads also FILE-torque, FILE-loads and FILE-hodographs",
    )
    parser.add_argument(
        "--loads", action=argparse.BooleanOptionalAction, default=True, help="efforts and pin loads, where the model has masses (default)"
    )
    parser.add_argument("--picture", metavar="FILE", help="the start position with the paths of marked points: .png, .svg or .pdf")
    parser.add_argument("--animation", metavar="FILE", help="one cycle as .gif (or .mp4 where ffmpeg is installed)")
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name.strip(), value.strip()


def _steps(text: str) -> int:
    if not text.isdigit() or not 2 <= int(text) <= MOST_STEPS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps: a whole number from 2 to {MOST_STEPS}")
    return int(text)


# -------------------------------------------------------------------- commands


def _load(options: argparse.Namespace) -> Any:
    from linkwright.mechanism import load

    changes: dict[str, Any] = dict(options.param)
    if options.cuts is not None:
        changes["cuts"] = options.cuts
    m = load(options.model, **changes)
    if not options.set:
        return m
    return m.with_(start={name: _in_file_units(m, name, text) for name, text in options.set})


def _in_file_units(m: Any, name: str, text: str) -> str:
    """A bare number on the command line means what it would mean in the file: degrees where the file writes degrees."""
    from linkwright.modelfile.units import KINDS, display_unit

    joint, speed = name.removesuffix(".v").split(".")[0], name.endswith(".v")
    kinds = {j.name: joints.create(j.type, j.options).coordinate_kinds for j in m.description.joints}
    sliding = "length" in kinds.get(joint, ()) and "angle" not in kinds.get(joint, ())
    kind = ("speed" if speed else "length") if sliding else ("angular speed" if speed else "angle")
    return _with_unit(text, display_unit(m.description.units, KINDS[kind])[0])


def _with_unit(text: str, unit: str) -> str:
    try:
        float(text)
    except ValueError:
        return text
    return f"{text} {unit}"


def _speed(m: Any, options: argparse.Namespace) -> str | None:
    """The speed asked for, in the file's unit if it has none of its own."""
    from linkwright.cycle import is_rotary
    from linkwright.modelfile.units import KINDS, display_unit

    if options.speed is None:
        return None
    drives = [d.joint for d in m.description.drives]
    lead = options.drive or (drives[0] if drives else None)
    known = {*(j.name for j in m.description.joints), *(c.name for c in m.description.cylinders)}
    kind = "speed" if lead in known and not is_rotary(m.system.description, str(lead)) else "angular speed"
    return _with_unit(options.speed, display_unit(m.description.units, KINDS[kind])[0])


def _print_json(data: Any) -> None:
    print(json.dumps(data, indent=1, allow_nan=False))


def run_bench(options: argparse.Namespace) -> None:
    from linkwright.bench import command

    command.run(options)


def run_models(options: argparse.Namespace) -> None:
    from linkwright import models

    if options.json:
        _print_json({"schema": "linkwright.models/1", "models": [{"name": n, "about": models.about(n)} for n in models.names()]})
    else:
        print(_model_list())


def run_info(options: argparse.Namespace) -> None:
    m = _load(options)
    summary = m.info()
    if options.json:
        data = {"schema": "linkwright.info/1", **summary.as_dict()}
        if options.internals:
            data["topology"] = _topology(m)
        _print_json(data)
        return
    print(summary)
    if options.internals:
        print(f"\n{m.topology}")


def _topology(m: Any) -> dict[str, Any]:
    t = m.topology
    return {
        "mobility": t.mobility,
        "cuts": list(t.cuts),
        "subsystems": [list(s.bodies) for s in t.subsystems],
        "loops": [
            {"name": x.name, "kind": x.kind, "rows": list(x.labels), "joints": list(x.joints), "subsystems": list(x.subsystems)}
            for x in t.loops
        ],
    }


def run_turn(options: argparse.Namespace) -> None:
    from linkwright.views import files
    from linkwright.views.animation import ANIMATIONS, check_program

    wanted = (
        (options.output, (".csv", ".npz")),
        (options.plot, files.PICTURES),
        (options.picture, files.PICTURES),
        (options.animation, ANIMATIONS),
    )
    named = [os.path.abspath(path) for path, _ in wanted if path]
    if len(set(named)) < len(named):
        raise UsageError("two outputs have the same file name; give each its own.")
    for path, endings in wanted:
        if path:
            files.checked(path, endings, force=options.force)
    if options.animation:
        check_program(options.animation)
    m = _load(options)
    if options.plot and options.loads and not _massless(m):
        for path in _load_plots(options.plot):
            files.checked(path, files.PICTURES, force=options.force)
    c = m.turn(options.drive, steps=options.steps, speed=_speed(m, options))
    loads = _loads(m, c, options.loads)
    if options.json:
        _print_json(_turn_data(m, c, loads))
    else:
        _print_turn(m, c)
        print(f"\n{loads}")
    for path in _write_outputs(m, c, loads, options):
        print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)


def _print_turn(m: Any, c: Any) -> None:
    from linkwright.views.text import aligned, turn_table

    cycle = "full turn" if c.full_turn else "cycle"
    print(f"{m.name}: one {cycle} of '{c.drive}', {len(c) - 1} steps, {c.t[-1] - c.t[0]:.6g} s")
    for note in c.notes:
        print(f"note: {note}")
    print(f"\n{aligned(*turn_table(c))}")


def _massless(m: Any) -> list[str]:
    return [b.name for b in m.description.bodies[1:] if b.mass is None]


def _loads(m: Any, c: Any, wanted: bool) -> CycleLoads:
    from linkwright.machine.cycle_loads import CycleLoads, cycle_loads

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

    for x in track(c.instants, description="loads", console=Console(stderr=True), transient=True):
        _ = x.loads


def _channel_names(c: Any, loads: CycleLoads) -> list[str]:
    """Motion, and if loads were computed every load that is one number."""
    known = c.source.load_channels()
    motion = [n for n in c.main_channels() if n not in known]
    return motion if loads.why else [*motion, *(n for n in known if c[n].ndim == 1)]


def _turn_data(m: Any, c: Any, loads: CycleLoads) -> dict[str, Any]:
    from linkwright.results import unit_of

    names = _channel_names(c, loads)
    channels = {n: {"unit": unit_of((), c.dimension(n))[0], "values": [float(x) for x in c[n]]} for n in names}
    return {
        "schema": "linkwright.turn/1",
        "model": m.name,
        "drive": c.drive,
        "full_turn": bool(c.full_turn),
        "notes": list(c.notes),
        "steps": len(c) - 1,
        "channels": channels,
        "loads": loads.as_dict(),
    }


def _load_plots(plot: str) -> list[str]:
    """`curves.png` brings `curves-torque.png`, `curves-loads.png` and `curves-hodographs.png`."""
    stem, ending = os.path.splitext(plot)
    return [f"{stem}-{what}{ending}" for what in ("torque", "loads", "hodographs")]


def _write_outputs(m: Any, c: Any, loads: CycleLoads, options: argparse.Namespace) -> list[str]:
    from linkwright.views import animation, picture, plots

    written = [p for p in (options.output, options.plot) if p]
    if options.output:
        c.save(options.output, force=options.force, channels=_channel_names(c, loads))
    if options.plot:
        plots.overview(c, options.plot, force=options.force)
        written += _write_load_plots(m, c, options) if not loads.why else []
    if options.picture:
        picture.draw(m, options.picture, turn=c if len(c) > SMOOTH else None, force=options.force)
    if options.animation:
        animation.animate(m, options.animation, turn=c if len(c) > SMOOTH else None, force=options.force)
    return written + [p for p in (options.picture, options.animation) if p]


def _write_load_plots(m: Any, c: Any, options: argparse.Namespace) -> list[str]:
    from linkwright.views import load_plots

    torque, loads, hodographs = _load_plots(options.plot)
    load_plots.torque(c, torque, force=options.force)
    load_plots.pin_loads(c, loads, force=options.force)
    if not m.description.planar:  # a hodograph is a curve in the plane
        return [torque, loads]
    load_plots.hodographs(c, hodographs, force=options.force)
    return [torque, loads, hodographs]
