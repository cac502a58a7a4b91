"""Reactions that are not unique, side by side: least norm, with given stiffnesses, with rows released.

Where constraints are redundant every code reports some choice. This table shows which components are certain and
what each choice makes of the others, so that no bearing is designed for a number that statics does not determine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from linkwright.files.tables import Cell, Result, Table
from linkwright.mechanics.inverse.loads import Loads

COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


@dataclass(frozen=True)
class ReactionComponent:
    """One component of one joint's reaction, world axes, on its second body."""

    joint: str
    component: str
    unique: bool
    values: tuple[float, ...]  # one a choice


@dataclass(frozen=True)
class Determinacy(Result):
    """Every reaction component with its verdict, and its value by each choice."""

    choices: tuple[str, ...]
    rows: tuple[ReactionComponent, ...]
    planar: bool

    @property
    def loose(self) -> list[tuple[str, str]]:
        """(joint, component) of everything that depends on how the redundancy is resolved."""
        return [(r.joint, r.component) for r in self.rows if not r.unique]

    def table(self) -> Table:
        """Return every component in SI (N and N m), with its value by each choice."""
        verdicts = {True: "yes", False: "no, it depends on how the redundancy is resolved"}
        heads = [("joint", ""), ("component", ""), *((x, "SI", ".6g") for x in self.choices), ("unique", "")]
        rows = [(r.joint, r.component, *r.values, Cell(r.unique, verdicts[r.unique])) for r in self.rows]
        return Table.of(heads, rows, "determinacy")


def determinacy(choices: Mapping[str, Loads], planar: bool) -> Determinacy:
    """The table of several answers to one problem."""
    answers = list(choices.values())
    shown = [0, 1] if planar else list(range(6))
    rows = []
    for joint in answers[0].joints:
        wrenches = [a.reaction(joint) for a in answers]
        unique = np.concatenate([wrenches[0].unique_force, wrenches[0].unique_moment])
        values = [np.concatenate([w.force, w.moment]) for w in wrenches]
        rows += [ReactionComponent(joint, COMPONENTS[i], bool(unique[i]), tuple(float(v[i]) for v in values)) for i in shown]
    return Determinacy(tuple(choices), tuple(rows), planar)
