"""Like subsystems evaluated by one code of their class: the same quantities as body by body, on floats and on symbols."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.kinematics import skeleton
from linkwright.mechanics.kinematics.motion import counted_references, motion
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.rings.papers.chain_cost import chain, moving_state
from linkwright.system.system import System
from tests.sweeps import every_model

ROUND_OFF = 1e-12  # times the size of the largest entry: sums are added up in another order


@pytest.fixture
def every_class(monkeypatch):
    """Subsystems without any like them have classes too."""
    monkeypatch.setattr(skeleton, "FEWEST_NODES", 1)
    monkeypatch.setattr(skeleton, "FEWEST", 1)


def close(a, b):
    size = max((np.abs(x).max(initial=0.0) for x in b), default=0.0)
    return all(np.abs(np.asarray(x, dtype=float) - y).max(initial=0.0) <= ROUND_OFF * (1.0 + size) for x, y in zip(a, b, strict=True))


def collected(loops, q, v, near, world_axes):
    """Motion, terms and coordinates of the cut joints."""
    skel = loops.skel
    m = motion(skel, q, v, world_axes=world_axes)
    T = terms(loops, q, v, 0.0, near, body_axes=m if world_axes else None)
    c = T.place.closure
    found = [m.W, m.B, m.Q, m.p, m.r, m.s_w, m.s_v, m.w, m.u, m.dw, m.du, list(m.X[-1]), list(m.A), list(T.I), list(T.bias)]
    found += [[T.blocks[key] for key in sorted(T.blocks)], list(T.k_parts), [c.phi, c.b], [G for p in c.parts for _, G in p.G]]
    found += [list(c.turns.values()), list(counted_references(skel, q, near).values())]
    return m, found


def compared(system, monkeypatch, world_axes):
    q, v = system.start.q, np.random.default_rng(1).normal(size=system.tree.nv)
    near = system.start.references
    m, classed = collected(compiled_of(system).loops, q, v, near, world_axes)
    assert m.like is not None
    monkeypatch.setitem(skeleton.LIKE.of(compiled_of(system).loops.skel), "all", None)
    plain, each = collected(compiled_of(system).loops, q, v, near, world_axes)
    assert plain.like is None and all(close(a, b) for a, b in zip(classed, each, strict=True))


@pytest.mark.parametrize("world_axes", [False, True])
@pytest.mark.parametrize("name", every_model("bennett", "carpet-scraper", "rssr"))
def test_classes_of_all_models(name, world_axes, every_class, monkeypatch):
    system = System(modelfile.read(models.path(name)))
    compared(system, monkeypatch, world_axes)


def test_all_cells_of_a_chain_are_one_class():
    """The first cell too, whose bodies are those of the lowest numbers; the last one has no neighbor."""
    assert sorted(len(x) for x in skeleton.LikeParts(compiled_of(chain(12)).loops.skel).classes) == [1, 12]


@pytest.mark.slow
def test_a_chain_and_a_lift_have_few_classes(monkeypatch):
    lift = System(modelfile.read(models.path("scissor-lift"), N=30))
    for system, most in ((chain(60), 2), (lift, 5)):
        assert len(skeleton.like_parts(compiled_of(system).loops.skel).classes) <= most
        compared(system, monkeypatch, True)


def test_symbols_give_the_program_of_body_by_body(monkeypatch):
    system = chain(60)
    skel = compiled_of(system).loops.skel
    found = []
    for like in (skeleton.like_parts(skel), None):
        monkeypatch.setitem(skeleton.LIKE.of(skel), "all", like)
        g = TraceGraph()
        q, v = g.input("q", skel.tree.nq), g.input("v", skel.tree.nv)
        T = terms(compiled_of(system).loops, q, v, 0.0, skel.unpack(q, skel.pack(skel.start_coordinates)))
        found.append(g.program([("h", T.h), ("M", np.concatenate([np.ravel(x) for x in T.I])), ("k", T.k)]))
    assert found[0].operations == found[1].operations
    x = np.concatenate(moving_state(system))
    y, z = (interpret(p, x) for p in found)
    assert np.abs(y - z).max() <= ROUND_OFF * np.abs(z).max()


def test_a_motion_travels():
    system = chain(60)
    m = motion(compiled_of(system).loops.skel, *moving_state(system))
    assert m.X[3] is m.X[3]
    again = pickle.loads(pickle.dumps(m))
    assert again.like is not None and np.array_equal(again.X[3].R, m.X[3].R) and np.array_equal(again.p, m.p)


def test_what_depends_on_numbers_is_evaluated_body_by_body(every_class):
    system = chain(12)
    q, v = moving_state(system)
    step = motion(compiled_of(system).loops.skel, q + 1e-20j, v + 0j)  # a complex step
    assert step.like is None and motion(compiled_of(system).loops.skel, q, v).like is not None
