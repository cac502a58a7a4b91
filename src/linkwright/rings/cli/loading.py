"""Models and runs from the arguments of a command line. A bare number means what it would mean in the model's file."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwright.api import ModelError, UsageError, files, visible
from linkwright.model.library.file_lookup import existing, model_file

if TYPE_CHECKING:
    from linkwright.api import Mechanism, Trajectory


def is_run(word: str) -> bool:
    """True if a word names a saved cycle or run."""
    return word.lower().endswith(files.RUNS)


def load(options: argparse.Namespace, *, shows_import: bool = False) -> Mechanism:
    """Return the model with `--param`, `--cuts` and `--set` put in.

    Warnings of a file of another program are printed on stderr, unless the command shows the report of the import, which has them.
    """
    changes: dict[str, Any] = dict(options.param)
    if getattr(options, "cuts", None) is not None:
        changes["cuts"] = options.cuts
    if options.folders:
        changes["folders"] = options.folders
    m = load_named(options.model, changes, shows_import=shows_import)
    start = {name: in_file_units(m, name, text) for name, text in options.set}
    return m.with_(start=start) if start else m


def load_named(model: str, changes: Mapping[str, Any] | None = None, *, shows_import: bool = False) -> Mechanism:
    """Return the mechanism of a built-in name or a file; warnings of an import are printed on stderr, unless the command shows them."""
    if is_run(model):
        raise UsageError(
            f"'{model}' is a saved run. This needs a model. 'linkwright {model}' plays the run, 'report' describes it.", name=model
        )
    existing(model_file(model))
    from linkwright.api import load  # only now: it takes the first part of a second

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        m = load(model, **(changes or {}))
    for warning in () if shows_import else said:
        print(visible(f"warning: {warning.message}"), file=sys.stderr)
    return m


def open_run(options: argparse.Namespace) -> Trajectory:
    """A saved cycle or run."""
    refuse_changes(options)
    existing(Path(options.model))
    from linkwright.api import Trajectory
    from linkwright.system.mechanism import load_result

    found = load_result(options.model)
    if not isinstance(found, Trajectory):
        raise UsageError(f"'{options.model}' is the folder of a study. A saved cycle or run is needed.", name=options.model)
    return found


def refuse_changes(options: argparse.Namespace) -> None:
    """Raise if an option that changes the model is given with a saved run."""
    for flag in ("param", "set", "cuts", "folders"):
        if getattr(options, flag, None):
            raise UsageError(
                f"--{flag} changes a model, but '{options.model}' is a run that was computed already. Give the model instead.",
                name=options.model,
            )
    if getattr(options, "steps", None) is not None:
        raise UsageError(
            f"--steps divide the cycle of a model, but '{options.model}' is a run with samples of its own. Leave it out.",
            name=options.model,
        )


# -------------------------------------------------------------------- values


def in_file_units(m: Mechanism, name: str, text: str) -> str | list[Any]:
    """Position `A` or speed `A.v` of a joint: degrees where the file writes degrees; `[x, y, ...]` for a joint of several."""
    from linkwright.api import joints, lengths

    joint, _, part = name.removesuffix(".v").partition(".")
    types = {j.name: joints.create(j.type, j.options) for j in m.description.joints}
    sliding, speed = joint in lengths(m.description), name.endswith(".v")
    if joint in types and not part and text.startswith("[") and text.endswith("]"):
        names, rate = (types[joint].v_names, ".v") if speed else (types[joint].q_names, "")
        given = [x.strip() for x in text[1:-1].split(",")]
        return [in_file_units(m, f"{joint}.{n}{rate}", x) for n, x in zip(names, given, strict=False)] + given[len(names) :]
    if joint in types:
        jt = types[joint]
        if part in jt.q_names and jt.coordinate_kinds[jt.q_names.index(part)] == "quaternion":
            return text
        rates = joints.speed_names(jt)
        if part in joints.attitudes(jt) and text.startswith("[") and text.endswith("]"):
            given = [x.strip() for x in text[1:-1].split(",")]
            return given if part == "quat" else [with_unit(m, x, "angle") for x in given]
        if part in rates:
            sliding, speed = joints.velocity_kinds(jt)[rates[part]] == "length", True
        else:
            sliding = (jt.coordinate_kinds[jt.q_names.index(part)] if part in jt.q_names else "") == "length"
    kind = ("speed" if speed else "length") if sliding else ("angular speed" if speed else "angle")
    return with_unit(m, text, kind)


def with_unit(m: Mechanism, text: str, kind: str) -> str:
    """A text that certainly has a unit."""
    from linkwright.api import KINDS, display_unit

    try:
        float(text)
    except ValueError:
        return text
    return f"{text} {display_unit(m.description.units, KINDS[kind])[0]}"


def cycles(m: Mechanism, name: str) -> bool:
    """True if a joint turns, or slides (so do cylinders)."""
    from linkwright.api import is_rotary, movable

    return name not in movable(m.description) or is_rotary(m.system.description, name)


# -------------------------------------------------------------------- drives


def drives(m: Mechanism, options: argparse.Namespace) -> dict[str, Any]:
    """The file's drives (none with --undriven), and in their place those of --drive."""
    from linkwright.drives import drives_of_description

    out = {} if options.undriven else drives_of_description(m.description)
    return out | {name: drive(m, name, text) for name, text in options.drive}


def drive(m: Mechanism, name: str, text: str) -> Any:
    """`A=45 rpm` is a speed, `A=90 deg` a position, `A=2 N m` an effort, `A=12 V` a voltage; a bare number is a speed, as in the file.

    `A=90 deg in 0.4 s by 345, dwell 0.2 s` are moves."""
    from linkwright.api import KINDS, matches, unit_kinds
    from linkwright.drives import moves, position, speed, torque, voltage
    from linkwright.model.file.moves import is_program, listed

    if not text:
        raise UsageError(f"--drive {name} has no value. Give a speed, a position, an effort, a voltage or moves: --drive {name}='2 N m'.")
    if text == "free":
        raise UsageError(f"--drive {name}: 'free' has a new name: write '{name}=undriven'.")
    if text == "undriven":
        return torque(0.0)
    rotary = cycles(m, name)
    if is_program(text):
        pieces = listed(text, f"--drive {name}")
        kind = "angle" if rotary else "length"
        return moves([{k: with_unit(m, x, kind) if k == "to" else x for k, x in piece.items()} for piece in pieces])
    text = with_unit(m, text, "angular speed" if rotary else "speed")
    kinds = ("angular speed", "angle", "torque") if rotary else ("speed", "length", "force")
    makers = dict(zip((*kinds, "voltage"), (speed, position, torque, voltage), strict=True))
    dimension = _dimension(m, name, text)
    for kind, make in makers.items():
        if matches(dimension, KINDS[kind]):
            return make(text)
    examples = "45 rpm, 90 deg or 2 N m" if rotary else "20 mm/s, 50 mm or 100 N"
    raise UsageError(
        f"--drive {name}: '{text}' is {unit_kinds.describe(dimension)}. "
        f"Give a speed, a position, an effort, a voltage or moves: {examples}, "
        f"12 V or '{'90 deg' if rotary else '50 mm'} in 0.4 s, dwell 0.2 s'.",
        name=text,
    )


def _dimension(m: Mechanism, name: str, text: str) -> Any:
    """Of a value or an expression of t and channels."""
    from linkwright.api import file_nodes
    from linkwright.model.file.channel_laws import ChannelDimensions
    from linkwright.text.quantities import QuantityAlgebra, read_quantity

    channels = ChannelDimensions.of(m.description)
    try:
        return read_quantity(file_nodes.from_python(text, "--drive"), QuantityAlgebra(channel=channels.quantity)).dimension
    except ModelError as problem:
        raise UsageError(f"--drive {name}={text}: {problem.message}") from problem
