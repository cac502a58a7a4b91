"""Options that export formats share: lists, numbers, a transmission of named motors and joints."""

from __future__ import annotations

from linkwright.errors import UsageError
from linkwright.rings.exchange.formats.base import listed, number, transmission_of, tree_of
from tests.refusals import refused


class Mechanism:
    """A mechanism whose transmissions are the names that were asked for."""

    class Transmission(tuple):
        def tree(self) -> str:
            return "tree of " + " and ".join(" ".join(x) for x in self)

    @property
    def system(self) -> Mechanism:
        return self

    def transmission(self, motors: list[str], joints: list[str]) -> Transmission:
        return self.Transmission((motors, joints))


def test_a_transmission_has_both_motors_and_joints() -> None:
    m = Mechanism()
    assert transmission_of(m, None, None, {"kernels": ["forward"]}) is None  # the whole mechanism, with its options
    assert transmission_of(m, ["a"], ["b", "c"], {"kernels": None}) == (["a"], ["b", "c"])
    assert tree_of(m, None, None) is m
    assert tree_of(m, ["a"], ["b", "c"]) == "tree of a and b c"
    with refused(UsageError, name="motors"):
        transmission_of(m, ["a"], None, {})
    with refused(UsageError, name="motors"):
        tree_of(m, None, ["b"])
    with refused(UsageError, name="kernels"):
        transmission_of(m, ["a"], ["b"], {"parameters": None, "kernels": ["forward"]})


def test_values_of_flags() -> None:
    assert listed(" A, B ,,C") == ["A", "B", "C"] and listed(" , ") == []
    assert number("-2.5e-3") == -0.0025
    with refused(UsageError, name="3,5"):
        number("3,5")
