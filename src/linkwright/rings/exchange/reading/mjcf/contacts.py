"""Geoms that may touch by MuJoCo's own filter, with the friction that MuJoCo combines for each pair."""

from __future__ import annotations

from collections.abc import Iterator

from linkwright.api import GROUND, Description, counted
from linkwright.rings.exchange.reading.contact_shapes import HOW, AllowedPair, CollisionShape, ContactRequest, with_contacts
from linkwright.rings.exchange.reading.mjcf.bodies import pose
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import CompiledMjcf, mujoco
from linkwright.rings.exchange.reading.mjcf.names import MjcfNames
from linkwright.rings.exchange.reading.notes import ImportNotes

SLIDING = 3  # condim from which a pair has friction; above it torsion and rolling are resisted as well


def touching(there: CompiledMjcf, names: MjcfNames, d: Description, request: ContactRequest, notes: ImportNotes) -> Description:
    """Return the description with the contacts that a caller asks for."""
    return with_contacts(d, request, _shapes(there, names), _Filter(there, notes).pairs(), notes)


def leave_contacts(there: CompiledMjcf, notes: ImportNotes) -> None:
    """Report geoms that could touch, where no contact is asked for."""
    m = there.model
    colliding = sum(bool(m.geom_contype[g] or m.geom_conaffinity[g]) for g in range(m.ngeom))
    if colliding:
        notes.lose(f"{counted(colliding, 'contact shape')} ({HOW})")
    elif notes.counts["contact pair"]:
        notes.lose(f"what touches by pairs ({HOW})")


def _shapes(there: CompiledMjcf, names: MjcfNames) -> list[CollisionShape]:
    """All geoms by number."""
    m, types = there.model, mujoco().mjtGeom
    kinds = {
        int(getattr(types, f"mjGEOM_{x.upper()}")): x
        for x in ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
    }
    places = {g.id: g for g in there.spec.geoms}
    out = []
    for g in range(m.ngeom):
        body = int(m.geom_bodyid[g])
        size, kind = [float(x) for x in m.geom_size[g]], kinds.get(int(m.geom_type[g]), "shape of another kind")
        form = {"sphere": (size[0],), "capsule": (size[0], 2.0 * size[1]), "box": tuple(2.0 * x for x in size)}.get(kind, ())
        held, rigid = (names.bodies.get(b, GROUND) for b in (body, int(m.body_weldid[body])))
        where = there.place(places.get(g))
        out.append(CollisionShape(m.geom(g).name, held, rigid, kind, form, pose(m.geom_pos[g], m.geom_quat[g]), where))
    return out


class _Filter:
    """Pairs of geoms as `mj_collision` takes them: those that <pair> lists, and all others whose bits and bodies agree."""

    def __init__(self, there: CompiledMjcf, notes: ImportNotes):
        self.m, self.notes = there.model, notes
        flags, bits = int(self.m.opt.disableflags), mujoco().mjtDisableBit
        self.off, self.parents_touch = bool(flags & bits.mjDSBL_CONTACT), bool(flags & bits.mjDSBL_FILTERPARENT)
        signatures = {int(x) for x in self.m.exclude_signature}
        self.excluded = {frozenset((x >> 16, x & 0xFFFF)) for x in signatures}

    def pairs(self) -> Iterator[AllowedPair]:
        m, listed = self.m, set()
        if self.off:
            return
        for k in range(m.npair):
            a, b = int(m.pair_geom1[k]), int(m.pair_geom2[k])
            listed.add(frozenset((a, b)))
            if self._weld(a) != self._weld(b):
                yield AllowedPair(a, b, self._mu(int(m.pair_dim[k]), m.pair_friction[k][:2], float(m.pair_margin[k])))
        for a in range(m.ngeom):
            for b in range(a + 1, m.ngeom):
                if self._bits(a, b) and self._bodies(a, b) and frozenset((a, b)) not in listed:
                    yield AllowedPair(a, b, self._combined(a, b))

    def _bits(self, a: int, b: int) -> bool:
        m = self.m
        return bool(int(m.geom_contype[a]) & int(m.geom_conaffinity[b]) or int(m.geom_contype[b]) & int(m.geom_conaffinity[a]))

    def _bodies(self, a: int, b: int) -> bool:
        """False for one rigid body, for parent and child unless one is fixed to the world, and for <exclude>."""
        m, first, second = self.m, self._weld(a), self._weld(b)
        if first == second or frozenset((int(m.geom_bodyid[a]), int(m.geom_bodyid[b]))) in self.excluded:
            return False
        related = first == self._parent(second) or second == self._parent(first)
        return self.parents_touch or not first or not second or not related

    def _weld(self, g: int) -> int:
        return int(self.m.body_weldid[self.m.geom_bodyid[g]])

    def _parent(self, weld: int) -> int:
        return int(self.m.body_weldid[self.m.body_parentid[weld]])

    def _combined(self, a: int, b: int) -> float:
        """Friction of the geom with the higher priority, or the larger one."""
        m = self.m
        p, q = int(m.geom_priority[a]), int(m.geom_priority[b])
        among = (a, b) if p == q else (a,) if p > q else (b,)
        mu = max(float(m.geom_friction[g][0]) for g in among)
        return self._mu(max(int(m.geom_condim[g]) for g in among), (mu, mu), max(float(m.geom_margin[g]) for g in (a, b)))

    def _mu(self, condim: int, friction: tuple[float, float], margin: float) -> float:
        if condim > SLIDING:
            self.notes.lose("torsional and rolling friction of contacts (condim 4 and 6)", mechanism=True)
        if margin:
            self.notes.lose("margins of contacts, which act before surfaces touch", mechanism=True)
        if condim < SLIDING:
            return 0.0
        if friction[0] != friction[1]:
            self.notes.lose("friction that differs in two directions: the smaller one acts in both", mechanism=True)
        return float(min(friction))
