"""The collector of cycles waits while many objects are made, and comes back whatever happens."""

from __future__ import annotations

import gc

import pytest

from linkwright.numerics.memory_and_threads import all_in_use


def test_the_collector_waits_and_comes_back():
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), all_in_use():
        with all_in_use():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        with all_in_use():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
