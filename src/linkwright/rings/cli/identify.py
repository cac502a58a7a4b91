"""`linkwright identify` and `linkwright calibrate`: parameters of a model from measurements of the machine."""

from __future__ import annotations

import argparse
from typing import Any

from linkwright.api import UsageError, files
from linkwright.rings.cli import loading, options, outputs
from linkwright.rings.cli.parser import CliCommand, option
from linkwright.rings.cli.verb_options import Verb, by_name

DIGITS = 12  # of numbers that are written into a model file; no measurement has more
EVERY = "*"  # all drives, or all encoders
ONE_EACH = {"metavar": "JOINT", "action": "append"}
IDENTIFY = Verb(
    "linkwright.rings.robots.identification:identify", without=("mechanism", "data", "consistent"), written={"friction": ONE_EACH}
)
CALIBRATION = Verb("linkwright.rings.robots.identification:calibrate", without=("mechanism", "poses", "vary"))


def run(given: argparse.Namespace) -> None:
    outputs.check([(given.output, files.MODELS)], given.force)
    m = loading.load(given)
    from linkwright.rings.robots.identification import identify

    chosen = IDENTIFY.given(given)
    if "friction" in chosen:
        chosen |= {"friction": _friction(chosen.pop("friction"))}
    _written(identify(m, given.data, **_all(chosen, "armature", "gains")), given, "identify")


def run_calibrate(given: argparse.Namespace) -> None:
    outputs.check([(given.output, files.MODELS)], given.force)
    m = loading.load(given)
    from linkwright.rings.robots.identification import calibrate

    vary = by_name(given.vary, "--vary")
    if any(vary.values()):
        raise UsageError("--vary names the numbers that are sought, without values: --vary '*.length' --vary E.x")
    found = calibrate(m, given.data, list(vary), **_all(CALIBRATION.given(given), "offsets"))
    _written(found, given, "calibrate")


def _written(found: Any, given: argparse.Namespace, command: str) -> None:
    """The model file, and the result as text or JSON."""
    written = outputs.write([(given.output, lambda path: found.mechanism.save(path, digits=DIGITS, force=given.force))])
    outputs.deliver(command, given, found.as_dict, lambda: str(found), written)


def _all(chosen: dict[str, Any], *names: str) -> dict[str, Any]:
    """Options in which '*' is True."""
    return chosen | {name: True for name in names if chosen.get(name) == [EVERY]}


def _friction(given: list[str]) -> Any:
    """Joints, or kinds by joint: `A`, `A=coulomb,load`, `*` for all drives."""
    if given == [EVERY]:
        return True
    found = {}
    for text in given:
        name, _, kinds = text.partition("=")
        if name.strip() == EVERY:
            raise UsageError("--friction '*' has all drives already. Give it alone, or name the joints.")
        found[name.strip()] = options.listed(kinds) or ["coulomb", "viscous"]
    return found


OUTPUT = options.OUTPUT("the model with the new numbers (.yaml)")

COMMAND = CliCommand(
    name="identify",
    topic="identification",
    help="masses, inertias, friction and drive gains from measured positions and torques",
    about="Identify masses, centers of mass, inertias, friction and gains from runs of the machine: CSV or Parquet files with the columns "
    "t, and of every drive its position (A) and torque or force (A.torque), units in the heads ('A [deg]'). Printed are the combinations "
    "that the data determine, with standard deviations, and the unknowns that stay open. -o writes the model with the numbers found.",
    examples=(
        "linkwright identify five-bar run.csv --friction '*' --filter '20 Hz' -o identified.yaml",
        "linkwright identify five-bar first.csv second.csv --noise A='2 N mm' --noise E='2 N mm' --json",
    ),
    options=(
        options.MODEL,
        option("data", metavar="FILE", nargs="+", help="measured runs (.csv, .parquet)"),
        IDENTIFY,
        *options.LOADING,
        OUTPUT,
        *options.BOTH,
    ),
    run=run,
)  # fmt: skip

CALIBRATE = CliCommand(
    name="calibrate",
    topic="identification",
    help="lengths, pins and encoder offsets from measured poses",
    about="Calibrate geometric numbers and encoder offsets from a CSV or Parquet file with one row for each pose: the position of every "
    "drive (A), and coordinates of points (tool.P.x), distances ('tool.P - ground.Q'), angles, or further encoders; units in the heads. "
    "Combinations that no column depends on are named and stay as in the model. -o writes the model with the numbers found.",
    examples=(
        "linkwright calibrate five-bar poses.csv --vary '*.length' --vary E.x --offsets A -o calibrated.yaml",
        "linkwright calibrate five-bar poses.csv --vary left.length --noise A='0.01 deg' --json",
    ),
    options=(
        options.MODEL,
        option("data", metavar="FILE", help="measured poses (.csv, .parquet)"),
        options.vary("L1, E.x, left.length"),
        CALIBRATION,
        *options.LOADING,
        OUTPUT,
        *options.BOTH,
    ),
    run=run_calibrate,
)  # fmt: skip
