"""Subject of a plot: the trajectory, the system or the tree behind whatever was handed in."""

from __future__ import annotations

from typing import Any

from linkwright.api import System, Trajectory, UsageError, mechanism_of, spanning_tree


def system_of(subject: Any) -> System:
    """The System of a Mechanism, a System or a Trajectory."""
    if isinstance(subject, Trajectory):
        found = subject.system
        return found if isinstance(found, System) else System(subject.skel.tree.description, subject.skel.tree.cuts)
    found = getattr(subject, "system", subject)
    if not isinstance(found, System):
        raise UsageError(
            f"a plot is made of a mechanism (lw.load(...)), a cycle or a run, not of {type(subject).__name__}.", name="subject"
        )
    return found


def tree_of(subject: Any) -> spanning_tree.Tree:
    return subject.skel.tree if isinstance(subject, Trajectory) else system_of(subject).tree


def trajectory_of(subject: Any) -> Trajectory:
    """The cycle or run itself; of a mechanism one cycle."""
    found = subject if isinstance(subject, Trajectory) else mechanism_of(system_of(subject)).cycle()
    if len(found) < 2:
        raise UsageError("one sample is not a curve: plot a cycle or a run with at least two samples.", name="subject")
    return found
