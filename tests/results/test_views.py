"""Results as numpy, pandas and xarray have them: the same numbers, units told, packages asked for by name."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright import errors
from linkwright.errors import ChannelError, UsageError
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.results.runs import free_run


def test_dicts_of_arrays():
    run = free_run("wiper")
    every = run.read()
    assert list(every) == run._main_channels() and all(x.shape == (61,) for x in every.values())
    assert set(run.read("coupler.P")) == {"coupler.P"}
    some = run.read(["A.v", "B.v", "coupler.P"], units={"A.v": "rpm", "length": "mm"})
    assert some["A.v"] == pytest.approx(run["A.v", "rpm"]) and (some["B.v"] == run["B.v"]).all()
    assert some["coupler.P"] == pytest.approx(run["coupler.P"] * 1e3)


def test_pandas():
    run = free_run("wiper")
    table = run.to_pandas(["A", "coupler.P", "C.on.rocker.magnitude"], units="file")
    assert table.index.name == "t" and list(table.columns) == ["A", "coupler.P[0]", "coupler.P[1]", "C.on.rocker.magnitude"]
    symbol, size = run.unit("A")
    assert table.attrs["units"]["A"] == symbol and table["A"].to_numpy() == pytest.approx(run["A"] / size)
    assert run.to_pandas().attrs["units"]["A.v"] == "rad/s"
    assert table.loc[run.t[7], "C.on.rocker.magnitude"] == run["C.on.rocker.magnitude"][7]


def test_xarray():
    run = free_run("stewart", 0.1, 21)
    data = run.to_xarray(["energy.total", "platform.C", "platform.rotation", "lam.S1"])
    assert data["energy.total"].attrs["units"] == "J" and data.t.attrs["units"] == "s" and data.attrs["mechanism"] == "stewart"
    C = data["platform.C"]
    assert C.sel({C.dims[1]: "z"}).values == pytest.approx(run["platform.C"][:, 2]) and data["platform.rotation"].shape == (21, 4)
    assert float(C.sel(t=0.05, method="nearest")[0]) == run["platform.C"][10, 0]


def test_what_cannot_be_had(monkeypatch):
    run = free_run("wiper")
    for units, words in (("mm", "units are 'file'"), ({"speeed": "rpm"}, "neither one of the channels nor a dimension")):
        with pytest.raises(UsageError, match=words):
            run.read(["A"], units=units)
    with refused(ChannelError, name="A"):
        run.read(["A"], units={"A": "mm"})
    with refused(ChannelError, name="Q"):
        run.to_pandas(["Q"])

    def missing(name: str):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(errors, "import_module", missing)
    for view, name in ((run.to_pandas, "pandas"), (run.to_xarray, "xarray")):
        with pytest.raises(UsageError, match=f"pip install {name}"):
            view(["A"])
    assert isinstance(run.read(["A"])["A"], np.ndarray)


def test_results_of_a_bare_system_have_the_verbs_of_all():
    bare, own = mechanism_of(lw.System(lw.load("wiper").description)).cycle(steps=8), lw.load("wiper").cycle(steps=8)
    assert str(bare.bearings()) == str(own.bearings())
