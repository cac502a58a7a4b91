"""Motion channels of the page's engine against those of the cycle in Python: every name, kind and value."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.results.trajectory import Trajectory
from tests.rings.studio.live.engine_runs import Page, made, run, shipped
from tests.sweeps import sweep

# loops, sliders, cylinders as drives, cut joints, several drives; in the plane and in space
MODELS = ("four-bar", "excavator", "punch-press", "boot-lid", "jansen-leg", "rssr-7r", "wiper", "scissor-lift", "3-rrr", "delta")
SAME = 1e-9  # of the largest value of the kind: both solve the same equations, near dead centers the loads lose three digits of them
# an advantage has poles where the output rests, so that its reciprocal is compared
READ = """const rates = (name, x) => (name.endsWith(".advantage") ? x.map((y) => 1 / y) : x);
return Object.fromEntries(e.channels.list.map(({name, kind}) => [name, [kind, rates(name, e.channels.read(name))]]))"""


def values(listed: list[float | None]) -> np.ndarray:
    return np.array([np.nan if x is None else x for x in listed], dtype=float)


def of_turn(c: Trajectory, name: str) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1.0 / c[name] if name.endswith(".advantage") else np.asarray(c[name], dtype=float)


@sweep("name", MODELS, now=["boot-lid"])
def test_channels_are_those_of_the_turn(name: str) -> None:
    page = shipped(name)
    c = page.motion.turn
    assert c is not None
    found = run({name: page}, [(name, READ, 0)])[0]
    assert set(found) <= set(c.channels), sorted(set(found) - set(c.channels))
    right = {n: of_turn(c, n) for n in found}
    largest: dict[str, float] = {}
    for n, x in right.items():
        kind = f"advantage {found[n][0]}" if n.endswith(".advantage") else found[n][0]
        largest[kind] = max(largest.get(kind, 0.0), float(np.abs(x[np.isfinite(x)]).max(initial=0.0)))
    for n, (kind, listed) in found.items():
        assert kind == c.dimension(n).replace(" ", "_"), n
        here = values(listed)
        known = np.isfinite(here) & np.isfinite(right[n])
        if n.endswith(".curvature"):  # divided by the square of the speed, which leaves no digits where the point almost rests
            speed = c[n.replace(".curvature", ".speed")]
            known &= speed > 1e-2 * np.nanmax(speed)
        size = largest[f"advantage {kind}" if n.endswith(".advantage") else kind]
        assert np.abs(here - right[n])[known].max(initial=0.0) <= SAME * max(size, 1e-300), n
        if not n.endswith((".advantage", ".curvature")):
            assert not np.isnan(here[np.isfinite(right[n])]).any(), f"{n} has gaps"


def test_every_kind_of_motion_is_listed() -> None:
    """Travel, velocity, acceleration, jerk, transmission angle, mechanical advantage, pin loads, power: of the slider of a press."""
    page = shipped("punch-press")
    things = [{"kind": "pin", "name": "slide"}, {"kind": "body", "name": "ram"}, {"kind": "point", "name": "ram.R"}]
    job = "return [e.channels.list, ...x.map((p) => e.channels.of(p))].map((list) => list.map(({name}) => name))"
    names, *offered = run({"press": page}, [("press", job, things)])[0]
    wanted = {"t", "slide", "slide.v", "slide.a", "slide.jerk", "slide.advantage", "R.transmission_angle", "ram.R.x", "E.torque", "E.power"}
    assert wanted <= set(names)
    assert (
        {"slide", "slide.v", "slide.on.ram.magnitude"} <= set(offered[0])
        and "slide.on.ram.magnitude" in offered[1]
        and "ram.R.y" in offered[2]
    )


def changed(name: str, **values: float) -> tuple[Page, Trajectory]:
    return shipped(name), made(lw.load(name).with_(**values).system).motion.turn or pytest.fail("no turn")


def test_another_length_has_the_channels_of_that_design_and_the_file_keeps_its_own() -> None:
    """Lengths changed by a slider, against a turn of the changed model; the curves of the file's values are those from before."""
    page, right = changed("four-bar", L1=0.26)
    names = [
        "D",
        "D.v",
        "D.jerk",
        "coupler.P.x",
        "coupler.P.ay",
        "coupler.P.jx",
        "rocker.angle",
        "C.transmission_angle",
        "C.on.rocker.magnitude",
    ]
    before, there, file = run(
        {"bar": page},
        [
            ("bar", "return x.map((n) => e.channels.read(n))", names),
            ("bar", "e.set({L1:.26});return x.map((n) => e.channels.read(n))", names),
            ("bar", "e.set({L1:.26});return x.map((n) => e.channels.read(n, e.original))", names),
        ],
    )
    for n, first, now, old in zip(names, before, there, file, strict=True):
        size = np.abs(right[n]).max()
        assert np.abs(values(now) - right[n]).max() <= SAME * size, n
        assert first == old and np.abs(values(now) - values(first)).max() > 1e-3 * size, n
