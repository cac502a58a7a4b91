"""Python functions behind the address of a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.compiler import callbacks


def test_callbacks_have_the_form_of_a_kernel() -> None:
    back = callbacks.Callback(lambda x: [x[0] + x[1], x[0] * x[1], 1.0], 2, 3)
    for kernel in (back, callbacks.from_address(back.address)):
        y = np.zeros(4)
        assert kernel(np.array([2.0, 5.0, 9.0]), y, np.zeros(0)) == 0
        assert y.tolist() == [7.0, 10.0, 1.0, 0.0]
    infinite = callbacks.Callback(lambda x: [np.inf], 1, 1)
    assert callbacks.from_address(infinite.address)(np.zeros(1), np.zeros(1), np.zeros(0)) == callbacks.NOT_FINITE


def test_a_callback_that_raises_keeps_the_error(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(x: np.ndarray) -> None:
        raise KeyError("lost")

    back = callbacks.Callback(fail, 1, 1)
    assert callbacks.from_address(back.address)(np.zeros(1), np.zeros(1), np.zeros(0)) == callbacks.FAILED
    assert isinstance(back.error, KeyError)
    assert capfd.readouterr().err == ""
