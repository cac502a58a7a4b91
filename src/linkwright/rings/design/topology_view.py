"""Topology as `m.topology` shows it: the structural tables of topology with the numerical ranks beside them.

The structural part is pure graph work; the numerical part (true mobility, redundant rows, idle degrees of freedom) needs
an assembled position, is computed on first use, and says so if the mechanism does not assemble.
"""

from __future__ import annotations

from typing import Any

from linkwright.api import LinkwrightError, Result, System, Table, counted, essentials
from linkwright.api import solve_orders as order
from linkwright.api import topology_report as report
from linkwright.mechanics.closing.mobility import Mobility
from linkwright.properties import cached_property


class TopologyView(Result):
    """Loops, cuts, subsystems, solve order and mobility of a mechanism; `print` it for the tables."""

    __getstate__ = essentials

    def __init__(self, system: System):
        self._system = system
        self._tree = system.tree

    @property
    def subsystems(self) -> tuple[Any, ...]:
        return self._tree.subsystems

    @property
    def loops(self) -> tuple[Any, ...]:
        return self._tree.loops

    @property
    def cuts(self) -> tuple[str, ...]:
        return self._tree.cuts

    @cached_property
    def order(self) -> Any:
        """Steps in which the subsystems are determinate for the model's drives."""
        return order.solve_order(self._tree, [d.joint for d in self._system.description.drives])

    @property
    def ranks(self) -> Mobility:
        """Numerical ranks: degrees of freedom, idle degrees of freedom, redundant rows."""
        return self._system.mobility

    @property
    def mobility(self) -> int:
        """True mobility by rank, idle degrees of freedom included."""
        return self._system.mobility.mobility

    def table(self) -> Table:
        """Return the joints as a table; its `parts` are subsystems, loops, cuts, the patterns of J and of the GICM, and the order."""
        found = report.tables(self._tree, [d.joint for d in self._system.description.drives])
        first, *rest = (Table.of(x.heads, x.rows, x.title, [x.note] if x.note else []) for x in found)
        return Table(first.columns, first.title, first.notes, tuple(rest))

    def __str__(self) -> str:
        text = report.report(self._tree, [d.joint for d in self._system.description.drives])
        return f"{text}\n\n{self._ranks_text()}"

    def _ranks_text(self) -> str:
        try:
            r = self.ranks
        except LinkwrightError as problem:
            return f"Mobility by rank: not known, the mechanism does not assemble ({problem})"
        structural = report.grubler(self._system.description)
        lines = [
            "Mobility",
            f"  Gruebler count {structural}, true mobility {r.mobility} "
            f"(rank {r.rank} of {counted(r.rows, 'row')}, {self._tree.nv} velocities, {r.positions} positions looked at)",
        ]
        lines += [f"  idle degree of freedom: {' + '.join(group)} can spin without moving anything else" for group in r.idle]
        lines += [f"  redundant: {x}" for x in r.redundant]
        if r.singular_start:
            lines.append(f"  the start position is singular: rank {r.start_rank} there")
        return "\n".join(lines)
