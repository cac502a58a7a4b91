"""The check of a file: whether it can be read, then everything that follows. A file that cannot be read is a failed stage, not an error."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from linkwright.api import LinkwrightError, Mechanism, ModelError, call_explained, check_results, errors, file_nodes, goals, load, modelfile
from linkwright.rings.design.model_check.mechanism import NOT_COMPUTED, check_mechanism
from linkwright.rings.design.model_check.request import STAGES, CheckRequest
from linkwright.rings.design.model_check.stages import not_computed, one_line

Check = check_results.Check
LIKE = 3  # names that are tried in place of an unknown one


@call_explained
def check(
    model: str | os.PathLike[str] | Mapping[str, Any] | Mechanism,
    require: str | goals.Requirement | Sequence[str | goals.Requirement] = (),
    *,
    drive: str | None = None,
    start: float | str | None = None,
    stop: float | str | None = None,
    run: float | str | None = None,
    remedy_time: float | str = 5.0,
) -> check_results.Checks:
    """Check a model from its file to the requirements on its motion: one list, with a remedy for what failed.

    The stages are readable, complete, assembles, mobility, moves, loads, limits and requirements. A file that cannot be read fails the
    first stage, with file and line; it raises no error.

    Parameters
    ----------
    model : str, path, dict or Mechanism
        Model: built-in name, file, dict, or a mechanism that was read.
    require : str, Requirement or sequence
        Requirements on the motion: "C.transmission_angle > 40 deg", "stroke guide = 100 mm +- 0.1 mm", "full turn".
    drive : str, optional
        Drive of the cycle (default: the first drive of the model).
    start : float or str, optional
        Position at which the drive begins. By default the whole cycle is looked at.
    stop : float or str, optional
        Position at which the drive ends.
    run : float or str, optional
        Duration of a run that is checked in place of a cycle.
    remedy_time : float or str, default 5.0
        Time for the search of remedies. 0 searches for none.

    Returns
    -------
    Checks
        Verdict of each stage with its text, its place in the file, value, limit and remedies.

    Raises
    ------
    UsageError
        If a requirement cannot be read, or names a channel that the motion does not have.

    Examples
    --------
    >>> found = lw.check("wiper", ["C.transmission_angle > 25 deg", "full turn"])
    >>> found.verdict, found["moves"].text
    ('passed', "'A' turns fully")
    """
    asked = CheckRequest.of(require, drive, start, stop, run, remedy_time)
    if isinstance(model, Mechanism):
        return check_mechanism(model, asked)
    try:
        m = load(model)
    except LinkwrightError as problem:
        return _unread(model, problem, asked)
    return check_mechanism(m, asked)


def _unread(model: Any, problem: LinkwrightError, asked: CheckRequest) -> check_results.Checks:
    unfinished = isinstance(problem, errors.UnfinishedModel)
    stage = "complete" if unfinished else "readable"
    where = problem.where if isinstance(problem, ModelError) else None
    text = problem.message if isinstance(problem, ModelError) else str(problem)
    remedies = tuple(_renamed(model, problem)) if asked.remedy_time else ()
    failed = Check(stage, "failed", one_line(text), where=problem.name, stage=stage, place=str(where or ""), remedies=remedies)
    before = [Check("readable", "passed", "the text is a model file", stage="readable")] if unfinished else []
    rest = [x for name in STAGES[STAGES.index(stage) + 1 :] for x in not_computed(name, asked, stage)]
    return check_results.Checks((*before, failed, *rest), (NOT_COMPUTED,))


def _renamed(model: Any, problem: LinkwrightError) -> Iterator[check_results.Remedy]:
    """The nearest known name in place of an unknown one, if the file can be read then."""
    where = problem.where if isinstance(problem, ModelError) else None
    if where is None or not where.line or not isinstance(model, (str, os.PathLike)) or not problem.allowed:
        return
    path = Path(model)
    text = file_nodes.text_of(path)
    lines = text.splitlines(keepends=True)
    if where.line > len(lines):
        return
    word = re.compile(rf"(?<![\w.]){re.escape(problem.name)}(?!\w)")
    for name in get_close_matches(problem.name, problem.allowed, n=LIKE, cutoff=0.5):
        line, count = word.subn(name, lines[where.line - 1])
        if not count:
            continue
        mended = "".join([*lines[: where.line - 1], line, *lines[where.line :]])
        remedy = check_results.Remedy(
            f"write '{name}' for '{problem.name}' in line {where.line}", {}, ({"do": "set_text", "text": mended},), verified=True
        )
        if _reads_further(mended, path, where.line):
            yield remedy
            return


def _reads_further(text: str, path: Path, line: int) -> bool:
    try:
        modelfile.read_text(text, path.name)
    except ModelError as problem:
        return problem.where is not None and problem.where.line != line
    except LinkwrightError:
        return False
    return True
