"""Everything that pushes in a description is in one list, and reaches every reader: equations, free bodies, report, page."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright import elements
from linkwright.api import compiled_of
from linkwright.kernels.page_kernels import acting_on
from linkwright.rings.studio import report_forces

EVERYTHING = {
    "name": "everything",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"O": [0, 0], "P": [0.5, 0]},
    "bodies": {
        "ground": {"pins": ["O"], "points": {"W": [0.1, -0.5], "V": [0.7, -0.4]}},
        "arm": {"pins": ["O"], "points": ["P"], "mass": 2, "com": "P", "inertia": 0.01},
    },
    "springs": {
        "torsion": {"joint": "O", "stiffness": "3 N m/rad"},
        "coil": {"between": ["ground.W", "arm.P"], "stiffness": "50 N/m", "free_length": "0.2 m"},
        "strip": {"type": "constant", "between": ["ground.W", "arm.P"], "force": "6 N"},
        "bar": {"type": "bar", "joint": "O", "stiffness": "2 N m/rad", "end_stiffness": "40 N m/rad", "min": "-20 deg", "max": "12 deg"},
        "gas": {"type": "gas", "between": ["ground.V", "arm.P"], "force": "40 N", "length": "0.9 m", "stroke": "0.5 m", "progression": 1.3},
    },
    "dampers": {
        "oil": {"joint": "O", "coefficient": "0.3 N m s/rad"},
        "strut": {"between": ["ground.W", "arm.P"], "coefficient": "4 N s/m"},
    },
    "friction": {"O": {"coulomb": "0.2 N m"}},
    "stops": {"O": {"max": "10 deg", "stiffness": "100 N m/rad"}, "push": {"max": "0.4 m", "stiffness": "30 N/m"}},
    "bushings": {"rubber": {"between": ["ground.V", "arm.P"], "stiffness": "20 N/m", "damping": "1 N s/m", "torsion": "0.4 N m/rad"}},
    "tethers": {"strap": {"between": ["ground.W", "arm.P"], "stiffness": "60 N/m", "length": "0.3 m"}},
    "freewheels": {"sprag": {"joint": "O", "capacity": "0.7 N m", "drag": "0.1 N m", "speed": "2 deg/s", "blocks": "forward"}},
    "loads": {"pull": {"on": "arm.P", "force": [3, -4]}},
    "cylinders": {"push": {"between": ["ground.V", "arm.P"], "force": "12 N"}},
    "drive": {"O": {"moves": [{"to": "30 deg", "in": "1 s"}]}},
}


PUSHING = {x for x in elements.ELEMENTS if x.law is not elements.ModelElement.law}


def test_the_list_has_every_element_with_a_law() -> None:
    """And what has none: it pushes by rows of a run, as a rope does when it becomes taut, and nothing at an instant."""
    listed = {x for field in elements.ACTING for x in elements.held(field)}
    assert {x for x in listed if x.law is not elements.ModelElement.law} == PUSHING
    assert {x.acts.fget(None) for x in listed - PUSHING} == {elements.IDLE}  # whatever its numbers are
    assert not any(x.constraint for x in listed)


@pytest.fixture(scope="module")
def mechanism() -> lw.Mechanism:
    return lw.load(EVERYTHING)


def test_this_mechanism_has_every_kind(mechanism: lw.Mechanism) -> None:
    assert {type(x) for x in mechanism.description.acting} == PUSHING
    assert [f.name for f in compiled_of(mechanism.system).forces] == [x.name for x in mechanism.description.acting]


def test_every_force_has_its_row_in_a_free_body(mechanism: lw.Mechanism) -> None:
    c = mechanism.cycle(steps=20)
    angle = c["O"][12]
    body = c.free_body("arm", at=float(angle))
    loads = [r for r in body.rows if r.kind == "load"]
    names = sorted(x.name for x in mechanism.description.acting)
    assert sorted(r.name for r in loads) == names, "nothing is left for 'friction by load, given wrenches'"
    assert body.residual < 1e-12
    rows = {(r.name, bool(np.any(np.round(r.force, 12)))): r for r in loads}
    stop = rows["O", False]  # friction in O has the same name: both are moments
    moments = [r.moment[2] for r in loads if r.name == "O"]
    assert min(moments) == pytest.approx(-100.0 * (angle - math.radians(10.0)), rel=1e-9) and np.allclose(stop.at, 0.0)
    tip = np.array([0.5 * math.cos(angle), 0.5 * math.sin(angle), 0.0])
    for name in ("coil", "gas", "strut", "pull", "push"):
        assert np.allclose(rows[name, True].at, tip, atol=1e-12), name
    over = np.linalg.norm(tip - [0.7, -0.4, 0.0]) - 0.4
    pushes = sorted(np.linalg.norm(r.force) for r in loads if r.name == "push")
    assert pushes == pytest.approx(sorted([12.0, 30.0 * over]), rel=1e-9), "the cylinder, and the stop at its end"


def test_every_force_is_in_the_page_and_in_the_report(mechanism: lw.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_forces, "MOST_LOADS", 99)
    s, names = mechanism.system, sorted(x.name for x in mechanism.description.acting)
    k = compiled_of(s).kernels
    still = (s.start.q, np.zeros(1), np.zeros(k.sizes.nd), np.zeros(k.sizes.nc), 0.0)
    found = acting_on(k.equations(()), *still, compiled_of(s).skel.pack(s.start.references))
    assert sorted(x.name for x in found if x.kind in ("element", "applied")) == names
    lines = report_forces.acting(s, mechanism.cycle(steps=20))
    assert len(lines) == len(names) and all(any(n in line for line in lines) for n in names)
