"""From a name, a path or a dict to a description, whatever program wrote the file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwright.api import Body, Description, UsageError, modelfile
from linkwright.model.description import NO_INERTIA, ZERO3
from linkwright.model.library.file_lookup import model_file
from linkwright.rings.exchange.caller_warnings import warn_caller
from linkwright.rings.exchange.import_report import Imported, ImportReport
from linkwright.rings.exchange.reading.importers import ENDINGS, importer_of, is_importable
from linkwright.rings.exchange.reading.start_pose import near_closed
from linkwright.rings.exchange.reading.structure_recognition import understand
from linkwright.system import load


def description(model: str | os.PathLike[str] | Mapping[str, Any], folders: Any = None, **changes: Any) -> Description:
    """A model from a built-in name, a path or a dict; keywords change parameters, gravity, cuts or start, or are options of its format.

    `folders` are those from which meshes and included files of another program's file may be read.
    """
    if is_importable(model) and not isinstance(model, Mapping):
        return _imported(model_file(model), folders, changes)
    if folders is not None:
        raise UsageError(
            f"folders hold meshes and models that other programs' files name ({', '.join(ENDINGS)}). Leave them out here.", name="folders"
        )
    return load.description(model, **changes)


def _imported(path: Path, folders: Any, changes: dict[str, Any]) -> Description:
    chosen = importer_of(path)
    options = {name: changes.pop(name) for name in chosen.options if name in changes}
    read = chosen.read(path, folders=folders, **options)
    if read.text:  # a model file already, with nothing to be understood
        made = modelfile.read_made(read.text, path, with_masses(read).report, **changes)
        _warn(read.report)  # a drawing has no masses, which needs no warning
        return made
    found = with_masses(understand(near_closed(read)))
    made = modelfile.read_converted(found.description, path, found.report, **changes)
    _warn(found.report)
    return made


def _warn(report: ImportReport) -> None:
    """Warn once of all that the report warns of."""
    warning = report.warning()
    if warning is not None:
        warn_caller(warning)


# Masses of imported bodies: links without one, and what they cost.


def with_masses(imported: Imported) -> Imported:
    """The import with links without a mass as massless bodies, if others have one; those that move on their own are reported."""
    d = imported.description
    moving = d.moving
    if all(b.mass is None for b in moving):
        said = ("no link has a mass: kinematics only. Masses can be given by name, as `link.mass`",) if moving else ()
        return replace(imported, report=replace(imported.report, notes=(*imported.report.notes, *said)))
    held = Counter(end for j in d.joints for end in (j.first, j.second))
    armed = {j.second for j in d.joints if j.armature != 0.0}
    bodies, said = [], []
    for b in d.bodies:
        if b is not d.bodies[0] and not b.chain and not b.mass and b.inertia == NO_INERTIA:
            if held[b.name] == 1 and b.name not in armed:
                said.append(_idle(b, next(j.name for j in d.joints if b.name in (j.first, j.second))))
            b = replace(b, mass=0.0, com=ZERO3)
        bodies.append(b)
    report = replace(imported.report, notes=(*imported.report.notes, *said))
    return replace(imported, description=replace(d, bodies=tuple(bodies)), report=report)


def _idle(body: Body, joint: str) -> str:
    needed = f"forward dynamics needs a mass ('{body.name}.mass') or a fixed joint"
    return f"link '{body.name}' has no mass, and joint '{joint}' alone holds it: {needed}"
