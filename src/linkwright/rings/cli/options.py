"""Options that commands share, and the reading of their values: a flag has one meaning in all commands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from linkwright.api import LinkwrightError, UsageError, files, nearest, readings
from linkwright.rings.cli.parser import CliOption, option

MOST_STEPS = 100_000
STEPS_DEFAULT = 360
TIMES = ("s", "ms", "us", "min", "h")


# -------------------------------------------------------------------- values


def assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name.strip(), value.strip()


def named(text: str) -> tuple[str, str]:
    """NAME=VALUE, or a name alone, whose value is empty."""
    name, _, value = text.partition("=")
    if not name.strip():
        raise argparse.ArgumentTypeError(f"'{text}' has no name: write NAME=VALUE")
    return name.strip(), value.strip()


def whole(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 on")
    return int(text)


def count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None


def steps(text: str) -> int:
    if not text.isdigit() or not 2 <= int(text) <= MOST_STEPS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps: a whole number from 2 to {MOST_STEPS}")
    return int(text)


def listed(text: str) -> list[str]:
    return [x.strip() for x in text.split(",") if x.strip()]


def tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a tolerance: a number between 0 and 1, for example 1e-9")
    return value


def time(text: str) -> str:
    """A time of zero or more; expressions are left to the model's reader."""
    found = readings.LITERAL.match(text.strip())
    plain = found is not None and found["unit"].strip() in ("", *TIMES)
    if text.strip().startswith("-") or (not plain and not (set(text) & set("*/(^") and any(c.isdigit() for c in text))):
        point = " (decimals are written with a point)" if "," in text else ""
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a time of zero or more: seconds, or a number with a unit, {', '.join(TIMES)}, such as '200 ms'{point}"
        )
    return text


def sampling(text: str) -> str:
    if text == "steps":
        return text
    if text.lower().endswith((*files.TABLES, *files.PAGES)):
        raise argparse.ArgumentTypeError(f"it is the time between samples (0.01, '10 ms') or 'steps'. The file is given with -o {text}")
    return time(text)


def port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port: a whole number from 0 (any free one) to 65535")
    return int(text)


def resolution(text: str) -> str:
    """A name such as 1080p or pixels such as 1280x720."""
    if not re.fullmatch(r"(720|1080|1440|2160)p|\d{3,4}[xX]\d{3,4}", text.strip()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size of frames: 720p, 1080p, 1440p, 2160p, or pixels such as 1280x720")
    return text.strip()


def integrator(text: str) -> str:
    return _registered(text, import_module("linkwright.integrators").INTEGRATORS, "integrator")


def formulation(text: str) -> str:
    return _registered(text, ["auto", *import_module("linkwright.mechanics.formulations").FORMULATIONS], "formulation")


def stabilizer(text: str) -> str:
    try:
        import_module("linkwright.simulation.stabilizers").create(text)
    except LinkwrightError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from problem
    return text


def _registered(text: str, known: object, kind: str) -> str:
    names = [str(x) for x in known] if isinstance(known, (list, dict)) else []
    if text not in names:
        raise argparse.ArgumentTypeError(f"there is no {kind} '{text}'. {nearest(text, names, f'{kind.capitalize()}s')}")
    return text


# how a parameter of this name is written, whatever the verb: (metavar, reader)
READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "channels": ("A,B", listed),
    "count": ("N", count),
    "drives": ("A,B", listed),
    "duration": ("TIME", time),
    "folder": ("DIR", str),
    "formulation": ("NAME", formulation),
    "integrator": ("NAME", integrator),
    "pause": ("TIME", time),
    "points": ("N", count),
    "resolution": ("SIZE", resolution),
    "sample_interval": ("TIME", sampling),
    "seed": ("N", whole),
    "stabilizer": ("NAME", stabilizer),
    "starts": ("N", count),
    "step": ("TIME", time),
    "steps": ("N", steps),
    "threads": ("N", count),
    "tolerance": ("X", tolerance),
    "within": ("TIME", time),
}


# -------------------------------------------------------------------- checks


def csv_marks(given: argparse.Namespace, path: str | None) -> dict[str, str | None]:
    """`sep` and `decimal` for the file of a table; UsageError where they were given and none is CSV."""
    marks = {"sep": given.sep, "decimal": given.decimal}
    if path is not None and path.lower().endswith(".csv"):
        return marks
    if any(x is not None for x in marks.values()):
        raise UsageError("--sep and --decimal are for tables in .csv files. Give the name of one, or leave them out.")
    return {}


def check_resolution(given: argparse.Namespace) -> None:
    """Raise UsageError if a resolution is given and no animation is."""
    if given.resolution is not None and given.animation is None:
        raise UsageError("--resolution is the size of an animation. Name its file: --animation cycle.mp4")


def case_of(given: argparse.Namespace) -> Any:
    """Return the case of a study or search: a run with --simulate, else a cycle of so many --steps."""
    from linkwright.rings.design.studies.analyses import Cycle, Run

    if given.simulate is None:
        return Cycle(steps=given.steps or STEPS_DEFAULT)
    if given.steps is not None:
        raise UsageError("--steps is for a cycle. A run has --simulate alone.")
    return Run(given.simulate)


# -------------------------------------------------------------------- shared options


def _file(flag: str, what: str, short: str = "") -> Callable[[str], CliOption]:
    """An option that names a file to write; called with details for a command."""
    flags = (short, flag) if short else (flag,)
    return lambda more: option(*flags, metavar="FILE", help=f"{what}: {more}")


def _repeated(flag: str, metavar: str, kind: Callable[[str], Any], text: str) -> CliOption:
    return option(flag, metavar=metavar, action="append", type=kind, default=[], help=f"{text} (may be repeated)")


def folder(what: str) -> CliOption:
    """The option that names a folder for results."""
    return option("--folder", metavar="DIR", type=str, help=f"folder to write to: {what}")


def vary(how: str) -> CliOption:
    """The option that names parameters that vary, with how a command writes their ranges."""
    return needed(_repeated("--vary", "NAME[=RANGE]", named, f"parameter that varies, or a pattern such as '*.length': {how}"))


def needed(x: CliOption) -> CliOption:
    """Return an option that must be given."""
    return option(*x.flags, **x.settings, required=True)


MODEL = option("model", metavar="MODEL", help="name of a built-in model, or path of a file (YAML, URDF, SDF, MJCF, DXF, SVG)")
SUBJECT = option(
    "model", metavar="MODEL", help="name of a built-in model, or path of a file (YAML, URDF, SDF, MJCF, DXF, SVG, .npz, .parquet)"
)
PARAM = _repeated("--param", "NAME=VALUE", assignment, "parameter of the model with another value (L1=400mm)")
SET = _repeated("--set", "JOINT=VALUE", assignment, "start position or speed of a joint (A=30deg, A.v=10rpm)")
CUTS = option("--cuts", metavar="J1,J2", type=listed, help="joints to cut, instead of the program's choice")
FOLDERS = option(
    "--folders",
    metavar="DIR",
    action="append",
    default=[],
    help="folder in which meshes and included files of a URDF, SDF or MJCF may be read (may be repeated)",
)
LOADING = (PARAM, SET, CUTS, FOLDERS)
STEPS = option("--steps", metavar="N", type=steps, help=f"number of equal steps: of the cycle (default {STEPS_DEFAULT})")
SIMULATE = option("--simulate", metavar="TIME", type=time, help="duration of a run that takes the place of the cycle ('2', '200 ms')")
MEASURE = _repeated(
    "--measure", "TEXT", str, "measure of the motion: 'max A.torque', 'stroke guide', 'dwell guide within 1 mm', 'range guide while "
    "100..180 deg'"
)  # fmt: skip
REQUIRE = _repeated(
    "--require", "TEXT", str, "requirement on the motion: 'stroke guide = 400 mm +- 2 mm', 'C.transmission_angle > 40 deg', 'range guide < "
    "1 mm while 100..180 deg', 'coupler.P within 0..300 x 0..200 mm', 'full turn'"
)  # fmt: skip
CHOOSE_MOTOR = option(
    "--choose-motor", metavar="CSV", nargs="?", const="", help="catalog of motors and gearboxes to choose from for the cycle (default: "
    "the built-in one, with typical data)"
)  # fmt: skip
SORT = option("--sort", choices=("heat", "mass", "price"), default="heat", help="order of the motors (default heat)")
CHANNELS = option("--channels", metavar="A,B", type=listed, help="channels: in files, plots and --json (A.v,C.load,'*.torque')")
NO_BROWSER = option("--no-browser", dest="browser", action="store_false", help="address printed instead of a page in the browser")
PORT = option("--port", metavar="N", type=port, default=0, help="port of the page (default: any that is free)")
OUTPUT = _file("--output", "file to write", "-o")
PLOT = _file("--plot", "plot to write (.png, .svg, .pdf)")
PAGE = _file("--page", "page to write (.html)")
ANIMATION = _file("--animation", "animation to write")("the motion as .gif (or .mp4 if ffmpeg is installed)")
RESOLUTION = option(
    "--resolution", metavar="SIZE", type=resolution, help="size of the animation: 720p, 1080p (default of .mp4), 1440p, 2160p, or pixels "
    "such as 1280x720"
)  # fmt: skip
SEP = option(
    "--sep",
    metavar="MARK",
    choices=(",", ";", "tab"),
    help="separator in .csv files: ',' (default), ';' (default with --decimal ,) or tab",
)
DECIMAL = option("--decimal", metavar="MARK", choices=(".", ","), help="decimal mark in .csv files: '.' (default) or ','")
MARKS = (SEP, DECIMAL)
UNDRIVEN = option("--undriven", action="store_true", help="motion without the drives of the file")


def drive(how: str) -> CliOption:
    """The option that names drives, with what their values mean in a command."""
    return _repeated("--drive", "JOINT[=VALUE]", named, f"joint or cylinder to drive: {how}")


DRIVE = drive(
    "a torque or force (A='2 N m'), speed, position, voltage of its motor, expression of t, moves (A='90 deg in 0.4 s by 345, dwell "
    "0.2 s'), or 'undriven'"
)
FORCE = option("--force", action="store_true", help="files that Linkwright did not write are overwritten")
JSON = option("--json", action="store_true", help="result as JSON in SI units ('linkwright schema COMMAND' prints the fields)")
BOTH = (FORCE, JSON)
