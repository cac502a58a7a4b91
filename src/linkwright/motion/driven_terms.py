"""Terms of a motion that its drives hold, on symbols: what channels of jerk, mechanical advantage and transmission by force read.

With A = [J; S], the loops' Jacobian and the rows S of the drives, eliminated in the order that the kernels have:

    tangent    A T = [0; 1]            velocities of the tree per unit speed of each drive
    jerk       A j = [0; f'''] - d/dt [J a + k; s'']   with a held and the drives' laws f
    push       A' (lam, u) = -Q        multipliers and efforts that balance a unit load with row Q', and the load itself

`results.driven_samples` solves the same for samples that are known; in a singular position, where it decides on numbers, kernels refuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.errors import ChannelError
from linkwright.kernels.channel_program import ReadPlace
from linkwright.kernels.equations.kinematic import Driven
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_places import effort_place
from linkwright.numerics.scalars import eliminate
from linkwright.results.driven_samples import PUSH


class HeldTerms(Mapping[str, Any]):
    """Terms by name, each solved for when it is asked for."""

    def __init__(self, p: ReadPlace, at: Instant):
        self.p, self.at = p, at
        self._found: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(("tangent", "jerk"))

    def __len__(self) -> int:
        return 2

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in ("tangent", "jerk") or name.startswith(PUSH))

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        if name not in self._found:
            self._found[name] = self._push(name.removeprefix(PUSH)) if name.startswith(PUSH) else getattr(self, f"_{name}")()
        return self._found[name]

    @cached_property
    def _driven(self) -> Driven:
        p, still = self.p, np.zeros(len(self.p.eq.drives))
        given = {"q": p.q, "near": p.near, "drive": still, "speed": still, "acceleration": still}
        return p.eq.driven_solutions(given, following=True)[0]

    def _tangent(self) -> Any:
        d, eq = self._driven, self.p.eq
        unit = np.zeros((len(d.c.phi), len(eq.drives)))
        unit[len(d.c.phi) - len(eq.drives) :] = np.eye(len(eq.drives))
        return d.solve(unit)[0].ravel()

    def _jerk(self) -> Any:
        p, still = self.p, np.zeros(len(self.p.eq.drives))

        def accelerations(x: Instant) -> Any:
            return p.eq.driven_accelerations(x.q, x.v, x.known_a, still, still, still, p.near)["gap"]

        right = -self.at.rate(accelerations, 0.0 * p.a)
        right[len(right) - len(still) :] = right[len(right) - len(still) :] + p.third
        return self._driven.solve(right)[0]

    def _push(self, name: str) -> Any:
        place = effort_place(self.at.skel.tree.description, name)
        if place is None:
            raise ChannelError(f"'{name}' is not a place for a force.", name=name)
        d = self._driven
        rows, columns = d.order
        z, _ = eliminate(d.J.T, -place.rows(self.at)[0], (columns, rows))
        weights = np.zeros(len(d.c.phi), dtype=object)
        weights[d.rows] = z[: len(d.rows)]
        return np.concatenate([weights, [1.0]])
