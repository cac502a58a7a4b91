"""`linkwright identify` and `linkwright calibrate`: numbers of a model from measurements of the machine."""

from __future__ import annotations

import argparse
from typing import Any

from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.cli import console, loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

EVERY = "*"  # all drives, or all encoders
DIGITS = 12  # of numbers that are written into a model file; no measurement has more


def run(given: argparse.Namespace) -> None:
    outputs.check([(given.output, files.MODELS)], given.force)
    m = loading.load(given)
    from linkwright.rings.robots.identification import identify

    found = identify(
        m,
        given.data,
        bodies=given.bodies,
        friction=_friction(given.friction),
        armature=_all_or(given.armature),
        gains=_all_or(given.gains),
        columns=_once(given.column, "--column"),
        filter=given.filter,
        noise=_once(given.noise, "--noise") or None,
        robust=given.robust,
        prior=given.prior,
    )
    _written(found, given, "identify/1", _identification(found))


def run_calibrate(given: argparse.Namespace) -> None:
    outputs.check([(given.output, files.MODELS)], given.force)
    m = loading.load(given)
    from linkwright.rings.robots.identification import calibrate

    noise, columns = _once(given.noise, "--noise") or None, _once(given.column, "--column")
    found = calibrate(m, given.data, given.vary, offsets=_all_or(given.offsets), noise=noise, columns=columns)
    _written(found, given, "calibrate/1", _calibration(found))


def _written(found: Any, given: argparse.Namespace, schema: str, data: dict[str, Any]) -> None:
    """The model file, and the result as text or JSON."""
    written = []
    if given.output is not None:
        found.mechanism.save(given.output, digits=DIGITS, force=given.force)
        written.append(given.output)
    if given.json:
        outputs.print_json(schema, data)
    else:
        console.show(str(found))
    outputs.report_files(written, given.json)


def _identification(found: Any) -> dict[str, Any]:
    rows = zip(found.names, found.values.tolist(), found.deviations.tolist(), strict=True)
    return {
        "model": found.description.name,
        "base": [{"name": n, "value": x, "deviation": s} for n, x, s in rows],
        "possible": found.possible,
        "condition": found.condition,
        "samples": len(found.t),
        "residual": found.residual,
        "gains": {n: {"value": x, "deviation": s} for n, (x, s) in found.gains.items()},
        "unknown": {kind.replace(" ", "_"): list(names) for kind, names in found.unknown.items()},
        "values": found.values_by_name,
    }


def _calibration(found: Any) -> dict[str, Any]:
    rows = zip(found.names, found.before.tolist(), found.values.tolist(), found.deviations.tolist(), strict=True)
    return {
        "model": found.description.name,
        "values": [{"name": n, "before": b, "value": x, "deviation": s} for n, b, x, s in rows],
        "unobservable": list(found.unobservable),
        "condition": found.condition,
        "residual": found.residual,
    }


def _friction(given: list[str]) -> Any:
    """Joints, or kinds by joint: `A`, `A=coulomb,load`, `*` for all drives."""
    if given == [EVERY]:
        return True
    found = {}
    for text in given:
        name, _, kinds = text.partition("=")
        if name.strip() == EVERY:
            raise UsageError("--friction '*' has all drives already; give it alone, or name the joints.")
        found[name.strip()] = options.listed(kinds) or ["coulomb", "viscous"]
    return found


def _all_or(names: list[str] | None) -> Any:
    return True if names == [EVERY] else names or ()


def _once(given: list[tuple[str, str]], flag: str) -> dict[str, str]:
    """Values by name; UsageError where one is there twice."""
    out: dict[str, str] = {}
    for name, value in given:
        if name in out:
            raise UsageError(f"{flag}: '{name}' is there twice.")
        out[name] = value
    return out


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number larger than zero")
    return value


COLUMN = option(
    "--column", metavar="NAME=HEAD", action="append", type=options.assignment, default=[], help="the column of a quantity that has another "
    "name in the file (A=enc1); may be repeated"
)  # fmt: skip
OUTPUT = option("-o", "--output", metavar="FILE", help="write the model file with the new numbers (.yaml)")
LOADED = (options.PARAM, options.SET, options.CUTS, options.FOLDER)

COMMAND = CliCommand(
    name="identify",
    help="masses, inertias, friction and drive gains from measured positions and torques",
    about="Identify masses, centers of mass, inertias, friction and gains from runs of the machine: CSV or Parquet files with the columns "
    "t, and of every drive its position (A) and torque or force (A.torque), units in the heads ('A [deg]'). Printed are the combinations "
    "that the data determine, with standard deviations, and what they leave open; -o writes the model with the numbers found.",
    examples=(
        "linkwright identify five-bar run.csv --friction '*' --filter '20 Hz' -o identified.yaml",
        "linkwright identify five-bar first.csv second.csv --noise A='2 N mm' --noise E='2 N mm' --json",
    ),
    options=(
        options.MODEL,
        option("data", metavar="FILE", nargs="+", help="measured runs (.csv, .parquet)"),
        option("--bodies", metavar="A,B", type=options.listed, help="bodies whose masses are sought (default: all)"),
        option("--friction", metavar="JOINT", action="append", default=[], help="Coulomb and viscous friction of a joint (A), kinds of it "
               "(A=coulomb,viscous,load), or of all drives ('*'); may be repeated"),
        option("--armature", metavar="A,B", type=options.listed, help="drives whose rotor inertia is sought, or '*'"),
        option("--gains", metavar="A,B", type=options.listed, help="drives whose signal has an unknown factor, or '*'"),
        option("--filter", metavar="FREQUENCY", help="cut-off of a zero-phase filter of positions and torques ('20 Hz')"),
        option("--noise", metavar="DRIVE=VALUE", action="append", type=options.assignment, default=[], help="standard deviation of a "
               "drive's torque (A='2 N mm'); of all drives, or left out"),
        option("--robust", action="store_true", help="outliers count less (Huber)"),
        option("--prior", metavar="X", type=_positive, default=1e-3, help="how strongly the model's own values hold what the data leave "
               "open (default 0.001)"),
        COLUMN,
        *LOADED,
        OUTPUT,
        options.FORCE,
        options.JSON,
    ),
    run=run,
)  # fmt: skip

CALIBRATE = CliCommand(
    name="calibrate",
    help="lengths, pins and encoder offsets from measured poses",
    about="Calibrate geometric numbers and encoder offsets from a CSV or Parquet file with one row for each pose: the position of every "
    "drive (A), and coordinates of points (tool.P.x), distances ('tool.P - ground.Q'), angles, or further encoders; units in the heads. "
    "Combinations that no column depends on are named and stay as in the model; -o writes the model with the numbers found.",
    examples=(
        "linkwright calibrate five-bar poses.csv --vary '*.length' --vary E.x --offsets A -o calibrated.yaml",
        "linkwright calibrate five-bar poses.csv --vary left.length --noise A='0.01 deg' --json",
    ),
    options=(
        options.MODEL,
        option("data", metavar="FILE", help="measured poses (.csv, .parquet)"),
        option("--vary", metavar="NAME", action="append", required=True, help="a number of the model or a pattern: L1, E.x, '*.length'; "
               "may be repeated"),
        option("--offsets", metavar="A,B", type=options.listed, help="encoders with an unknown zero, or '*'"),
        option("--noise", metavar="COLUMN=VALUE", action="append", type=options.assignment, default=[], help="standard deviation of a "
               "column (A='0.01 deg'); may be repeated"),
        COLUMN,
        *LOADED,
        OUTPUT,
        options.FORCE,
        options.JSON,
    ),
    run=run_calibrate,
)  # fmt: skip
