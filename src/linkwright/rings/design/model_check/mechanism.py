"""The check of a mechanism that was read: stages, then remedies for what did not pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkwright.api import LinkwrightError, Mechanism, check_results
from linkwright.rings.design.model_check.request import CheckRequest, Deadline
from linkwright.rings.design.model_check.stages import Stages

NOT_COMPUTED = "interference: not computed, because links have no widths and layers here"
MOST = 4  # remedies of a check


def check_mechanism(m: Mechanism, asked: CheckRequest) -> check_results.Checks:
    """Return all stages of a mechanism with remedies."""
    readable = check_results.Check("readable", "passed", "the model was read", stage="readable")
    found = [readable, *Stages(m, asked).run()]
    return check_results.Checks(*remedied(m, asked, found))


def over_constrained(x: check_results.Check) -> bool:
    """True for the check on mobility of a mechanism that moves only while its dimensions are exact."""
    return x.name == "mobility" and x.verdict == "unknown" and bool(x.where)


def remedied(
    m: Mechanism, asked: CheckRequest, found: Sequence[check_results.Check]
) -> tuple[tuple[check_results.Check, ...], tuple[str, ...]]:
    """Return the checks with remedies for those that did not pass, and remarks on the search."""
    wrong = [i for i, x in enumerate(found) if x.verdict == "failed" or over_constrained(x) or x.name == "units"]
    if not wrong or not asked.remedy_time:
        return tuple(found), (NOT_COMPUTED,)
    from linkwright.rings.design.model_check import search, structure  # here: a model that is right does not need the edits of files

    deadline, out, searched = Deadline(asked.remedy_time), list(found), set()
    for i in wrong:
        x = found[i]
        if x.text.startswith(check_results.NOT_COMPUTED):
            continue
        remedies: list[check_results.Remedy] = []
        try:
            remedies += search.slips(m, asked, deadline) if x.name == "units" else structure.remedies(m, asked, x, deadline)
            if x.verdict == "failed" and x.stage not in searched and x.stage in search.SEARCHED:
                searched.add(x.stage)
                remedies += search.remedies(m, asked, x, deadline)
        except LinkwrightError as problem:
            remedies += [check_results.Remedy(f"none was found: {' '.join(str(problem).split())}")]
        out[i] = replace(x, remedies=tuple(remedies[:MOST]))
    hit = (f"the search of remedies ended after {asked.remedy_time:g} s",) if deadline.hit else ()
    return tuple(out), (NOT_COMPUTED, *hit)
