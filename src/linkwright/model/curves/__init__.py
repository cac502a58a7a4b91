"""Curves: functions of one variable, mostly time, with first and second derivative; one file for each kind.

    lines        constants, constant speed, constant acceleration
    polynomial   one polynomial
    piecewise    polynomials between breaks, once or again and again, and their integrals
    tables       through points: straight lines, cubic splines, the monotone quintic (`monotone`), splines through samples
    profiles     moves from rest to rest, and programs of moves and dwells
    sine         oscillations
    formula      expressions of the model file and traced functions, exactly differentiated
    functions    Python functions of a caller's, checked; traced where possible, else differentiated numerically (`differences`)
    combined     offset and factor, several components together
    reading      numbers, texts, points and functions as a caller writes them; `csv_columns` reads them from files

`drives`, `control` and `motion.following` read what a caller writes into these; couplings are curves of a coordinate.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

Jet = tuple[Any, Any, Any]  # f, f', f''
MOST_TRACED = 400  # breaks of a curve that are compiled; a longer one is looked up in Python


class Curve(Protocol):
    """curve(x) = (f, f', f''), for x a number, an array, a complex number or a traced value.

    Of a curve of several components each of the three is a list with an entry per component.
    """

    size: int = 0  # components; 0: one number, not a list
    traceable: bool = True  # x may be a traced value; else the curve is evaluated in Python
    notes: tuple[str, ...] = ()  # on its accuracy, for a user

    def __call__(self, x: Any, /) -> Jet: ...

    def value(self, x: Any, /) -> Any:
        return self(x)[0]

    def corners(self, first: float, last: float, /) -> np.ndarray:
        """Places between these where a derivative jumps, as far as they are known."""
        return np.zeros(0)

    def doubt(self, x: np.ndarray, /) -> Any:
        """An estimate of the error of f'', zero where it is exact; an array, or a list with an array per component."""
        zero = np.zeros(np.shape(x))
        return [zero] * self.size if self.size else zero
