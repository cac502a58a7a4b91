"""Sweeps: which values are quick, named by themselves, by id or by number, and slips that are refused."""

from __future__ import annotations

import pytest

from tests.sweeps import every_model, sweep


def quick(mark: pytest.MarkDecorator) -> list[object]:
    """The values that `make test` takes."""
    return [x.values[0] if len(x.values) == 1 else x.values for x in mark.args[1] if not any(m.name == "slow" for m in x.marks)]


def test_quick_values_are_named_in_any_way() -> None:
    assert quick(sweep("n", range(5), now=2)) == [0, 1]
    assert quick(sweep("n", ["a", "b", "c"], now=["c", "a"])) == ["a", "c"]
    assert quick(sweep("n", ["a", "b", "c"], later=["b"])) == ["a", "c"]
    assert quick(sweep(("n", "m"), [(1, "x"), (2, "y")], now=[(2, "y")])) == [(2, "y")]
    assert quick(sweep("n", [{"step": 1}, {"step": 2}], now=["two"], ids=["one", "two"])) == [{"step": 2}]
    assert quick(sweep("n", [1, pytest.param(2, id="two")], now=["two"])) == [2]
    assert quick(sweep("n", [1, 2], now=["2"], ids=str)) == [2]


def test_what_was_marked_stays_marked() -> None:
    mark = sweep("n", [pytest.param(1, marks=pytest.mark.slow), 2, 3], now=2, ids=["a", "b", "c"])
    assert quick(mark) == [2] and mark.kwargs["ids"] == ["a", "b", "c"]


@pytest.mark.parametrize("options", [{"now": ["d"]}, {"later": ["d"]}, {"now": 3}, {"now": 0}, {"now": ["a", "b", "c"]}, {}])
def test_names_that_are_none_and_sweeps_without_a_rest_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        sweep("n", ["a", "b", "c"], **options)


def test_models_that_are_none_are_refused() -> None:
    with pytest.raises(AssertionError):
        every_model("no such model")
