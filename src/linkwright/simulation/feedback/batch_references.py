"""Check that one controller serves runs from several states: references that begin at the position of the first one do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.kinematics.motion import Skeleton, motion
from linkwright.model.curves.references import read_reference
from linkwright.numerics.tolerances import SAME_PLACE
from linkwright.results.state import State
from linkwright.simulation.feedback.controller_program import BoundControl
from linkwright.simulation.feedback.task_coordinates import tasks_of, values_of


def need_same_references(bound: BoundControl, runs: int, begin: Callable[[int], tuple[Skeleton, State]], times: np.ndarray) -> None:
    """Refuse runs for which a reference would be another one than for the first, at which the controller is bound; `begin(i)` is
    where run i begins."""
    reference = bound.written.reference
    if not isinstance(reference, Mapping):  # a State or a Trajectory does not depend on where a run begins
        return
    for (name, given), path in zip(reference.items(), bound.paths, strict=True):
        what, known = f"reference of '{name}'", [path(t)[0] for t in times]
        kinds, here = _here(*begin(0), name)
        elsewhere = read_reference(given, kinds, [x + 1.0 for x in here], what, bound.description, t=begin(0)[1].t)
        if all(elsewhere(t)[0] == x for t, x in zip(times, known, strict=True)):
            continue
        if any(np.abs(np.subtract(_here(*begin(i), name)[1], here)).max() > SAME_PLACE for i in range(1, runs)):
            raise UsageError(
                f"the {what} begins at the position of the first state, but '{name}' differs among the runs: give it start= (or center=), "
                "or simulate them one by one.",
                name=name,
            )


def _here(skel: Skeleton, st: State, name: str) -> tuple[list[str], list[float]]:
    """(kinds, values) of a coordinate's components at a state."""
    tasks = tasks_of(skel, name)
    return [k for x in tasks for k in x.kinds], values_of(tasks, skel, motion(skel, st.q, st.v), st.references)
