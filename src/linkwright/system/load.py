"""From a name or a file to what can be computed with: descriptions of models, and results as they were saved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from linkwright import files
from linkwright.errors import UsageError
from linkwright.model import file as modelfile
from linkwright.model.coordinates import coordinate_or_none
from linkwright.model.description import Description
from linkwright.model.library.file_lookup import model_file
from linkwright.results import files as run_files
from linkwright.results.trajectory import Trajectory
from linkwright.system.compiled import compiled_of
from linkwright.system.system import System


def description(model: str | os.PathLike[str] | Mapping[str, Any], **changes: Any) -> Description:
    """A model from a built-in name, a path or a dict; keywords change parameters, gravity, cuts or start."""
    if isinstance(model, Mapping):
        return modelfile.read(model, **changes)
    if not isinstance(model, (str, os.PathLike)):
        raise UsageError(f"a model is a built-in name, a path or a dict, not {type(model).__name__}.", value=model, name="model")
    return modelfile.read(model_file(model), **changes)


def of_other_program(model: Any) -> bool:
    """True for the path of a file that another program wrote, by its ending."""
    endings = (*files.ROBOTS, *files.SKETCHES)
    return isinstance(model, (str, os.PathLike)) and os.path.splitext(os.fspath(model))[1].lower() in endings


def run(path: str | os.PathLike[str]) -> Trajectory:
    """A cycle or run from its file: the same numbers, with its System."""
    stored = run_files.read(path)
    about = stored.about
    try:
        return _restored(stored, about)
    except run_files.Misfit as problem:
        raise run_files.damaged(stored.path, str(problem)) from problem


def _restored(stored: run_files.Stored, about: Mapping[str, Any]) -> Trajectory:
    system = System(stored.model, about["cuts"] if about["cuts_given"] else None, about["length"])
    if list(system.tree.cuts) != about["cuts"]:  # another version would cut elsewhere today
        system = System(stored.model, about["cuts"], about["length"])
    found = Trajectory(compiled_of(system).skel, **stored.fields(compiled_of(system).skel), system=system, drives=tuple(about["drives"]))
    for name in about["drives"]:
        if coordinate_or_none(system.description, name) is None:
            raise run_files.Misfit(f"'drives' names '{name[:60]}', which its mechanism does not have")
    if about["certificate"] is None:
        return found
    return replace(found, proof=_proof(found, system, stored))


def _proof(found: Trajectory, system: System, stored: run_files.Stored) -> Any:
    """Certificate and passages of the file, to be compared with its samples when somebody asks."""
    from linkwright.results.files import schema
    from linkwright.simulation.certificate import Certificate, run_checks
    from linkwright.simulation.proof import Reopened
    from linkwright.simulation.singularity_crossings import Passage

    about = stored.about
    try:
        certificate = Certificate(**schema.of_class(Certificate, about["certificate"], "certificate"))
        passages = tuple(Passage(**schema.of_class(Passage, x, f"passages[{i}]")) for i, x in enumerate(about["passages"]))
        str(run_checks(certificate, passages))  # every number can be printed
    except (TypeError, ValueError, KeyError, AttributeError) as problem:
        raise run_files.Misfit(f"'certificate' or 'passages' cannot be used: {problem}") from problem
    return Reopened(found, compiled_of(system), certificate, passages, files.shown(stored.path.name))
