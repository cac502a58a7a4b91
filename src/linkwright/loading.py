"""From a name or a file to what can be computed with: descriptions of models, and results as they were saved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from linkwright import modelfile, results, run_files
from linkwright.description import Description
from linkwright.errors import UsageError
from linkwright.models.finding import model_file
from linkwright.results import Trajectory
from linkwright.system import LoadReader, System


def description(model: str | os.PathLike[str] | Mapping[str, Any], **changes: Any) -> Description:
    """A model from a shipped name, a path or a dict; keywords change parameters, gravity, cuts or start."""
    if isinstance(model, Mapping):
        return modelfile.read(model, **changes)
    if not isinstance(model, (str, os.PathLike)):
        raise UsageError(f"a model is a shipped name, a path or a dict, not {type(model).__name__}.")
    return modelfile.read(model_file(model), **changes)


def run(path: str | os.PathLike[str]) -> Trajectory:
    """A turn or run from its file: the same numbers, with its System behind it."""
    stored = run_files.read(path)
    told = stored.about
    system = System(stored.model, told["cuts"] if told["cuts_given"] else None, told["length"])
    if list(system.tree.cuts) != told["cuts"]:  # another version would cut elsewhere today
        system = System(stored.model, told["cuts"], told["length"])
    found = results.restored(stored, system.skel, LoadReader(system, tuple(told["drives"])))
    return found if told["certificate"] is None else replace(found, proof=_kept_proof(told))


def _kept_proof(told: Mapping[str, Any]) -> Any:
    """Certificate and passages of a run as its file tells them."""
    from linkwright.recorded import Kept
    from linkwright.simulation.certificate import Certificate, Checks
    from linkwright.simulation.passages import Passage

    def tuples(x: Mapping[str, Any]) -> dict[str, Any]:
        return {k: tuple(y) if isinstance(y, list) else y for k, y in x.items()}

    certificate, passages = Certificate.of(told["certificate"]), tuple(Passage(**tuples(x)) for x in told["passages"])
    return Kept(certificate, passages, Checks(certificate, passages))
