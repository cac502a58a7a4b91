"""Friction cones of contact forces, |f_t| <= mu f_n, as they are and as pyramids inside them for linear and quadratic programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.results.labeled_arrays import Labeled

if TYPE_CHECKING:
    from linkwright.system.named_terms import NamedTerms

MOST_SIDES = 64  # of a pyramid: then it lacks a thousandth of the cone


@dataclass(frozen=True)
class FrictionCones:
    """Cones of the forces f at the contacts, in the rows of `Jc`.

    `rows @ f <= 0` is a pyramid inside each cone. `mu`, `normal` and `tangents` by contact describe the cones themselves, in the axes of
    the rows.
    """

    rows: Labeled
    mu: Mapping[str, float]
    normal: Mapping[str, np.ndarray]
    tangents: Mapping[str, np.ndarray]  # (1, 2) in a plane, (2, 3) in space

    def excess(self, f: Any) -> Labeled:
        """Return |f_t| - mu f_n by contact: positive outside of the cone."""
        parts = np.split(np.asarray(f, dtype=float), np.cumsum([len(n) for n in self.normal.values()])[:-1])
        out = []
        for part, (name, n) in zip(parts, self.normal.items(), strict=True):
            out.append(float(np.linalg.norm(self.tangents[name] @ part) - self.mu[name] * (n @ part)))
        return Labeled(np.array(out), tuple(self.normal))


def friction_cones(terms: NamedTerms, mu: Any, normals: Mapping[str, Any], sides: int) -> FrictionCones:
    """See `NamedTerms.cones`."""
    names, planar = terms.contacts, terms.core.description.planar
    if not names:
        raise UsageError("contacts are not named: s.named_terms(..., contacts=['foot.heel']).", name="contacts")
    if isinstance(sides, bool) or not isinstance(sides, int) or not 3 <= sides <= MOST_SIDES:
        raise UsageError(f"sides: a pyramid has 3 to {MOST_SIDES} sides, not {sides!r}.", name="sides", value=sides)
    for given, what in ((mu if isinstance(mu, Mapping) else {}, "mu"), (normals, "normals")):
        for name in given:
            if name not in names:
                raise UsageError(f"{what}: there is no contact '{name}' here.", nearest(str(name), list(names), "Contacts"), name=str(name))
    count = 2 if planar else 3
    blocks, labels, found, axes, across = [], [], {}, {}, {}
    for i, name in enumerate(names):
        found[name] = _friction(terms, name, mu)
        axes[name] = n = _normal(terms, name, normals, count)
        across[name] = t = _tangents(n)
        one = _pyramid(n, t, found[name], sides)
        block = np.zeros((len(one), count * len(names)))
        block[:, count * i : count * (i + 1)] = one
        blocks.append(block)
        labels += [f"{name}.{k}" for k in range(len(one))]
    return FrictionCones(Labeled(np.concatenate(blocks), labels, terms.contact_rows), found, axes, across)


def _friction(terms: NamedTerms, name: str, mu: Any) -> float:
    own = {x.name: float(x.mu) for x in terms.touches}
    value = mu.get(name) if isinstance(mu, Mapping) else mu
    if value is None:
        if name not in own:
            raise UsageError(f"the friction of '{name}' is missing: cones(0.8) or cones({{'{name}': 0.8}}).", name=name)
        return own[name]
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not (np.isfinite(value) and value >= 0.0):
        raise UsageError(f"mu of '{name}' is a number of at least zero, not {value!r:.60}.", name=name, value=value)
    return float(value)


def _normal(terms: NamedTerms, name: str, normals: Mapping[str, Any], count: int) -> np.ndarray:
    """Unit normal in the rows of a contact: its first row at a contact of the model, in the world at a point."""
    if name in {x.name for x in terms.touches}:
        if name in normals:
            raise UsageError(f"normals: the surfaces of '{name}' have their own normal. Leave it out.", name=name)
        return np.eye(count)[0]
    if name in normals:
        n = np.asarray(normals[name], dtype=float)
        if n.shape not in ((count,), (3,)) or not np.isfinite(n).all() or not np.linalg.norm(n[:count]) > 0.0:
            raise UsageError(f"normals: that of '{name}' is a direction of {count} numbers, not {normals[name]!r:.60}.", name=name, value=n)
    else:
        n = -np.asarray(terms.core.skel.gravity, dtype=float)
        if not np.linalg.norm(n[:count]) > 0.0:
            raise UsageError(f"without gravity there is no default normal: cones(mu, normals={{'{name}': [0, 0, 1]}}).", name=name)
    return n[:count] / np.linalg.norm(n[:count])


def _tangents(n: np.ndarray) -> np.ndarray:
    """Unit vectors that are perpendicular to a normal and each other."""
    if len(n) == 2:
        return np.array([[-n[1], n[0]]])
    first = np.cross(np.eye(3)[int(np.argmin(np.abs(n)))], n)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(n, first)])


def _pyramid(n: np.ndarray, t: np.ndarray, mu: float, sides: int) -> np.ndarray:
    """Rows that are not positive inside: also -n, which counts without friction. The edges of the pyramid lie on the cone."""
    if len(t) == 1:
        return np.array([*t, *-t, np.zeros(2)])[:2] - mu * n if mu > 0.0 else np.array([t[0], -t[0], -n])
    at = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
    faces = np.stack([np.cos(at), np.sin(at)], axis=1) @ t - mu * np.cos(np.pi / sides) * n
    return faces if mu > 0.0 else np.concatenate([faces, -n[None]])
