"""Options that several commands share, and the reading of their values."""

from __future__ import annotations

import argparse
import re
from importlib import import_module

from linkwright import files
from linkwright.errors import LinkwrightError, UsageError, nearest
from linkwright.rings.cli.parser import option

MOST_STEPS = 100_000
STEPS_DEFAULT = 360
TIMES = ("s", "ms", "us", "min", "h")
TIME = re.compile(rf"(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*({'|'.join(TIMES)})?")


def assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name.strip(), value.strip()


def steps(text: str) -> int:
    if not text.isdigit() or not 2 <= int(text) <= MOST_STEPS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps: a whole number from 2 to {MOST_STEPS}")
    return int(text)


def csv_marks(given: argparse.Namespace, path: str | None) -> dict[str, str | None]:
    """`sep` and `decimal` for the file of a table; UsageError where they were given and none is CSV."""
    marks = {"sep": given.sep, "decimal": given.decimal}
    if path is not None and path.lower().endswith(".csv"):
        return marks
    if any(x is not None for x in marks.values()):
        raise UsageError("--sep and --decimal are for tables in .csv files; give the name of one, or leave them out.")
    return {}


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
    plain = TIME.fullmatch(text.strip())
    if text.strip().startswith("-") or (plain is None and not (set(text) & set("*/(^") and any(c.isdigit() for c in text))):
        point = " (decimals are written with a point)" if "," in text else ""
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a time of zero or more: seconds, or a number with a unit, {', '.join(TIMES)}, such as '200 ms'{point}"
        )
    return text


def sampling(text: str) -> str:
    if text == "steps":
        return text
    if text.lower().endswith((*files.TABLES, *files.PAGES)):
        raise argparse.ArgumentTypeError(f"it is the time between samples (0.01, '10 ms') or 'steps'; the file is given with -o {text}")
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


def check_resolution(given: argparse.Namespace) -> None:
    """Raise UsageError if a resolution is given and no animation is."""
    if given.resolution is not None and given.animation is None:
        raise UsageError("--resolution is that of an animation; name its file: --animation turn.mp4")


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


MODEL = option("model", metavar="MODEL", help="a shipped model's name, or the path of a file (YAML, URDF, SDF, MJCF, DXF, SVG)")
SUBJECT = option(
    "model", metavar="MODEL", help="a shipped model's name, or the path of a file (YAML, URDF, SDF, MJCF, DXF, SVG, .npz, .parquet)"
)
PARAM = option(
    "--param", metavar="NAME=VALUE", action="append", type=assignment, default=[], help="change a parameter (L1=400mm); may be repeated"
)
SET = option(
    "--set",
    metavar="JOINT=VALUE",
    action="append",
    type=assignment,
    default=[],
    help="start position of a joint (A=30deg); may be repeated",
)
STEPS = option("--steps", metavar="N", type=steps, default=None, help=f"equal steps of the cycle (default {STEPS_DEFAULT})")
CUTS = option("--cuts", metavar="J1,J2", type=listed, help="joints to cut, instead of the program's choice")
FOLDER = option(
    "--folder",
    metavar="DIR",
    action="append",
    default=[],
    help="a folder in which meshes and included files of a URDF, SDF or MJCF may be read; may be repeated",
)
JSON = option("--json", action="store_true", help="machine-readable output, SI units (docs/command-line.md lists the fields)")
FORCE = option("--force", action="store_true", help="overwrite files that Linkwright did not make")
SEP = option(
    "--sep", metavar="MARK", choices=(",", ";", "tab"), help="separator in .csv files: ',' (default), ';' (default with --decimal ,) or tab"
)
DECIMAL = option("--decimal", metavar="MARK", choices=(".", ","), help="decimal mark in .csv files: '.' (default) or ','")
ANIMATION = option("--animation", metavar="FILE", help="the motion as .gif (or .mp4 where ffmpeg is installed)")
RESOLUTION = option(
    "--resolution",
    metavar="SIZE",
    type=resolution,
    help="of the animation: 720p, 1080p (default of .mp4), 1440p, 2160p, or pixels such as 1280x720",
)
FREE = option("--free", action="store_true", help="without the file's drives: everything moves freely")
DRIVE = option(
    "--drive",
    metavar="JOINT=VALUE",
    action="append",
    type=assignment,
    default=[],
    help="drive a joint otherwise: a torque (A='2 N m'), speed, position, voltage of its motor, expression of t, moves "
    "(A='90 deg in 0.4 s by 345, dwell 0.2 s'), or 'free'",
)
