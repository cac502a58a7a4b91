"""FMUs (functional mock-up units) of FMI 2.0 and 3.0, for model exchange and co-simulation.

    m.export("wiper.fmu", inputs={"A": "torque"}, outputs=["A", "C.load"], version="3.0")

The mechanism with its drives is traced (`equations`), written as C (`sources`), compiled (`binaries`) and packed with its description.
An FMU holds its sources and needs no Python where it runs; loops are closed inside (docs/how-to/fmu-c-javascript.md).
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from linkwright.api import UsageError, compiled_of, files
from linkwright.compiler.c99 import is_reserved
from linkwright.rings.exchange.writing.fmu.binaries import chosen_platforms, compiler_for, library
from linkwright.rings.exchange.writing.fmu.description import KINDS_OF_FMU, FmuDescription
from linkwright.rings.exchange.writing.fmu.equations import equations
from linkwright.rings.exchange.writing.fmu.inputs import read_inputs
from linkwright.rings.exchange.writing.fmu.sources import sources
from linkwright.rings.exchange.writing.fmu.variables import entries_of, finite_starts, one_line, states_of
from linkwright.simulation.run import chosen_drives

ENDINGS = (".fmu",)
VERSIONS = ("2.0", "3.0")
STOP = 1.0  # s, suggested to simulators
_THEN = (2024, 1, 1, 0, 0, 0)  # the date of every file inside: equal models give equal files


def write_fmu(
    system: Any,
    path: Any,
    *,
    version: Any = "3.0",
    interface: str = "both",
    drive: Mapping[str, Any] | None = None,
    inputs: Any = None,
    outputs: Sequence[str] | str | None = None,
    parameters: Sequence[str] | str | None = None,
    platforms: str | Iterable[str] | None = None,
    start: Any = None,
    name: str | None = None,
) -> Path:
    """Write an FMU. The options are those of `Mechanism.export`."""
    place = files.checked(path, ENDINGS)
    fmi, kinds = _version(version), _kinds(interface)
    targets = chosen_platforms(platforms)
    for target in targets:
        compiler_for(target)  # a missing compiler shows before long work
    identifier = _identifier(place.stem if name is None else name, given=name is not None)
    texts, description = _texts(system, identifier, fmi, kinds, drive, inputs, outputs, parameters, start)
    binaries = {t: library(texts, t) for t in targets}
    with files.replacing(place, ENDINGS) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as packed:
        for inside, content in _contents(texts, description, fmi).items():
            packed.writestr(_entry(inside), content)
        for target, binary in binaries.items():
            folder = target.fmi2 if fmi == "2.0" else target.fmi3
            packed.writestr(_entry(f"binaries/{folder}/{identifier}{target.ending}"), binary)
        packed.comment = files.OWNER.encode()
    return Path(path)


def _texts(
    system: Any,
    identifier: str,
    fmi: str,
    kinds: tuple[str, ...],
    drive: Any,
    inputs: Any,
    outputs: Sequence[str] | str | None,
    parameters: Sequence[str] | str | None,
    start: Any,
) -> tuple[dict[str, str], FmuDescription]:
    """C sources and the description of a mechanism."""
    chosen = chosen_drives(compiled_of(system).described, drive, None)
    plan = read_inputs(system, chosen, inputs, start)
    names = [parameters] if isinstance(parameters, str) else parameters
    eq = equations(system, plan, names, [outputs] if isinstance(outputs, str) else outputs)
    states = states_of(eq)
    entries = entries_of(eq, states, eq.shown)
    finite_starts(entries)
    tolerance = 1e-9  # of the integrator inside, where the simulator names none
    texts = sources(eq, states, identifier, "@TOKEN@", fmi, tolerance)
    d = system.description
    digest = hashlib.sha256("".join([fmi, *kinds, *(x.name for x in entries), *texts.values()]).encode()).hexdigest()
    token = "{" + "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])) + "}"
    texts = {k: v.replace("@TOKEN@", token) for k, v in texts.items()}
    files_c = tuple(sorted(n for n in texts if n.endswith(".c")))
    switches = eq.programs["switches"].n_out
    about = one_line(getattr(d, "about", "") or "")
    shown = one_line(d.name or "") or identifier
    return texts, FmuDescription(
        shown,
        identifier,
        about,
        token,
        import_module("linkwright").__version__,
        kinds,
        tuple(entries),
        switches,
        files_c,
        STOP,
        tolerance,
    )


def _contents(texts: Mapping[str, str], description: FmuDescription, fmi: str) -> dict[str, str]:
    out = {"modelDescription.xml": description.xml(fmi)}
    out |= {f"sources/{k}": v for k, v in texts.items()}
    if fmi != "2.0":
        out["sources/buildDescription.xml"] = description.build()
    return out


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _THEN)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _version(version: Any) -> str:
    text = str(version)
    known = {"2": "2.0", "2.0": "2.0", "3": "3.0", "3.0": "3.0"}
    if text not in known:
        raise UsageError(f"there is no FMI version {version!r} here. Use '2.0' or '3.0'.", name=version)
    return known[text]


def _kinds(interface: Any) -> tuple[str, ...]:
    if interface not in KINDS_OF_FMU:
        raise UsageError(
            f"interface is 'me' (model exchange), 'cs' (co-simulation) or 'both', not {interface!r}.", name="interface", value=interface
        )
    return KINDS_OF_FMU[interface]


def _identifier(text: str, *, given: bool) -> str:
    """A name for files and C symbols: a given one must be fit for it, that of a file is made so."""
    if not isinstance(text, str) or not text:
        raise UsageError("the name of an FMU is a text of letters, digits and _.")
    longest_name = 60
    if given:
        if not re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII) or is_reserved(text) or len(text) > longest_name:
            raise UsageError(
                f"{text!r:.80} cannot be the name of an FMU: take letters, digits and _, at most {longest_name}, and no C keyword.",
                name=text,
            )
        return text
    plain = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")[:longest_name] or "model"
    plain = f"m{plain}" if plain[0].isdigit() else plain
    return f"{plain}_model" if is_reserved(plain) else plain


__all__ = ["ENDINGS", "write_fmu"]
