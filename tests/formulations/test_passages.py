"""The quick answers in singular passages: kernels and small matrices against the float path, state by state."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright import passage
from linkwright.compiler.kernels import Variant
from linkwright.compiler.planning import samples
from linkwright.linalg import factor
from linkwright.quick_passage import QuickPassage
from linkwright.rank_revealing import RankRevealing
from tests.compiler.test_variants import WORKSHOP, close, cut_row, given, inputs

CROSSING = {
    "slider-crank": ("slider-crank", "A", 1.5 * np.pi, {}),
    "change point": ("change-point-four-bar", "A", np.pi, {}),
    "chain": ("parallelogram-chain", "G0", 0.0, {}),
    "redundant and passing": ("parallelogram-middle", "A", np.pi, {}),
    "with a rotor": ("change-point-four-bar", "A", np.pi, {"armature": (0.2, 0.0, 0.0), "power": True}),
}


def crossing(case):
    model, drive, angle, how = CROSSING[case]
    s = lw.compile(lw.load(model))
    k = s.kernels.variant(Variant(**how))

    def row(distance):
        st = s.assemble({drive: angle + distance}, {drive: 3.0})
        near = np.concatenate([np.asarray(st.near[n], dtype=float) for n in s.tree.cuts])
        return {"q": st.q, "v": st.v, "t": np.zeros(1), "tau": np.linspace(-1.0, 1.0, s.tree.nv), "near": near}

    return s, k, row


@pytest.mark.parametrize("case", CROSSING)
def test_quick_rates_are_those_of_the_float_path(case):
    s, k, row = crossing(case)
    rank = RankRevealing(k)
    assert rank._quick is not None
    weakest = []
    for distance in (-0.3, -1e-2, 3e-4, 1e-5, -1e-7, 1e-9, 0.0):
        x = row(distance)
        quick, slow = rank._quick.rates(x), rank.slow_rates(x)
        assert quick is not None, "answered without the float path"
        close(quick["a"], slow["a"], 1e-7)  # both amplify round-off by 1/s in rows that are kept, s > 1e-3
        if k.chosen.power:
            close(quick["power"], slow["power"], 1e-9)
        f = factor(s.loops.dimensionless(s.loops.at(x["q"], x["v"], 0.0, k.equations().near(x["q"], x["near"])))[1])
        weakest.append(f.s[len(k.plan.keep or f.s) - 1])  # of the rows that are independent elsewhere
    assert min(weakest) < 1e-6 and max(weakest) > 1e-2, "from far off to the middle of the passage"


@pytest.mark.parametrize("case", ["slider-crank", "change point", "chain", "redundant and passing"])
@pytest.mark.parametrize("distance", [0.2, 1e-4, 1e-9])
def test_quick_projections_are_those_of_the_float_path(case, distance, rng):
    s, k, row = crossing(case)
    rank, x = RankRevealing(k), row(distance)
    off = {**x, "q": x["q"] + 1e-7 * rng.normal(size=s.tree.nq), "v": x["v"] + 1e-6 * rng.normal(size=s.tree.nv)}
    quick, slow = rank.projection(off), rank.slow_projection(off)
    # the float path stops at a residual of 1e-13, this one at round-off; what a weak row leaves open is multiplied by 1/s
    np.testing.assert_allclose(quick["q"], slow["q"], atol=1e-10)
    np.testing.assert_allclose(quick["v"], slow["v"], atol=1e-8)
    for name in ("residual", "rate_residual"):
        assert quick[name] == pytest.approx(slow[name], rel=1e-6)
    assert quick["correction"] == pytest.approx(slow["correction"], rel=1e-4)
    again = rank.projection({**off, "q": quick["q"], "v": quick["v"]})
    assert again["residual"] < (1e-10 if distance < 0.1 else 1e-14)  # s d + d^2 remains of a lost row: s < 1e-3, d = 1e-7


@pytest.mark.parametrize(
    ("model", "drivers"), [(WORKSHOP, ("z",)), (WORKSHOP, ("A",)), ("carpet-scraper", ()), ("stewart", ()), ("bennett", ())]
)
def test_rates_along_the_motion_are_exact(model, drivers, rng):
    """Forward mode while tracing against complex steps of the closure, drivers going on as they move."""
    s = lw.compile(lw.load(model))
    k = s.kernels.variant(Variant(drivers=drivers))
    st = samples(k.loops, s.start.q, dict(s.start.near), 2, seed=8)[1]
    law = given(k, st, rng.normal(size=len(drivers)))
    x = inputs(k, st, np.zeros(k.tree.nv), law)
    found = QuickPassage(k).at(x)
    eq = k.equations().moved(*(law.values() or ((), (), ())), at=0.3)
    right = passage.along(eq.loops, st.q, st.v, 0.3, eq.near(st.q, cut_row(k, st)))
    T = eq.usual_terms(st.q, st.v, np.array([0.3]), x["near"])
    close(found.along.Jdot, right.Jdot, 1e-12)
    close(found.along.kdot, right.kdot, 1e-12)
    close(found.along.third, right.third, 1e-12)
    close(found.J, T.dimensionless_J(), 1e-12)
    close(found.M, T.M * T.columns * T.columns[:, None], 1e-12)
    close(found.k, T.k / T.row_scale, 1e-12)


def test_at_rest_the_float_path_explains():
    _, k, row = crossing("slider-crank")
    x = row(0.0)
    with pytest.raises(lw.SingularityError, match="branch"):
        k.fallbacks["loop_rates"]({**x, "v": 0.0 * x["v"]})
