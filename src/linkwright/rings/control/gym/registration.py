"""Names of tasks for gymnasium.make and gymnasium.make_vec."""

from __future__ import annotations

from typing import Any

import gymnasium

from linkwright.api import UsageError, nearest
from linkwright.rings.control.gym.task import Task
from linkwright.rings.control.gym.tasks import TASKS

NAMESPACE = "linkwright"


def register(id: str, task: Task | str) -> None:
    """Register a task, or a built-in one by its name; an id that is registered already is replaced."""
    gymnasium.registry.pop(id, None)
    gymnasium.register(
        id,
        entry_point=f"{__name__}:make_env",
        vector_entry_point=f"{__name__}:make_vector",
        kwargs={"task": task},
    )


def register_shipped() -> None:
    """Register the built-in tasks under linkwright/..."""
    for name in TASKS:
        register(f"{NAMESPACE}/{name}", name)


def found(task: Task | str) -> Task:
    """A task, or the built-in one of that name."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise UsageError(f"there is no built-in task '{task}'.", nearest(str(task), list(TASKS), "Tasks"))
    return TASKS[task]()


def make_env(task: Task | str, render_mode: str | None = None, **changes: Any) -> Any:
    """Return an environment of a task, with some of its fields changed: horizon="1 s"."""
    return found(task).with_(**changes).env(render_mode=render_mode)


def make_vector(
    task: Task | str,
    num_envs: int = 1,
    render_mode: str | None = None,
    autoreset_mode: Any = "NextStep",
    threads: int | None = None,
    max_episode_steps: int | None = None,
    **changes: Any,
) -> Any:
    """Return many environments of a task, with some of its fields changed."""
    if max_episode_steps is not None:
        changes["horizon"] = int(max_episode_steps)
    return found(task).with_(**changes).vector(num_envs, autoreset_mode=autoreset_mode, threads=threads, render_mode=render_mode)
