"""What may come out of an input: results of finite numbers, or a LinkwrightError with a message for people; and within which time.

Times are those of the processor, so that a busy machine makes no findings. A limit raises `TimeLimitExceeded` where Python runs; code
that does not end is stopped by the process that watches (`watching.py`).
"""

from __future__ import annotations

import contextlib
import re
import signal
import traceback
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import linkwright
from linkwright.errors import LinkwrightError, ModelError
from linkwright.rings.exchange.import_report import ImportedModelWarning
from linkwright.rings.exchange.writing.losses import LossWarning

READ = 5.0  # s of processor time to read an input
USE = 60.0  # s for everything that is done with it: a run that ends near a singular position takes half a minute (docs/evidence/limits.md)
UNFIT = re.compile(
    r"Traceback|\bnan\b|<class '|<function |object at 0x|array\(|np\.float64|dtype|LinAlgError|site-packages|\.py:\d", re.IGNORECASE
)
LONGEST = 5000  # characters of a message
PRODUCT = Path(linkwright.__file__).parent


class Finding(Exception):
    """Something that may not come out of any input."""


class TimeLimitExceeded(BaseException):
    """An input takes longer than its limit. Not an Exception, so that nothing on the way catches it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExceeded after this much processor time; never where there is no such clock (Windows)."""
    if not hasattr(signal, "ITIMER_PROF"):
        yield
        return

    def late(number: int, frame: Any) -> None:
        raise TimeLimitExceeded(f"longer than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Warnings are errors, except those that are meant for users of imports, exports and pictures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ImportedModelWarning)
        warnings.simplefilter("ignore", LossWarning)
        warnings.filterwarnings("ignore", "body '.*' is drawn without its mesh", UserWarning)
        yield


def judge_error(error: LinkwrightError, given: str = "", with_line: bool = False) -> None:
    """Raise Finding for a message that is not fit for people. `given` is the input: its own words may come back.

    `with_line`: the input is a text with lines, so that a ModelError says which one."""
    text = str(error)
    for match in UNFIT.finditer(text):
        if match[0].lower() not in given.lower():
            raise Finding(f"message with {match[0]!r}: {text}") from error
    if not text.strip() or len(text) > LONGEST:
        raise Finding(f"message of {len(text)} characters: {text[:200]}") from error
    if with_line and isinstance(error, ModelError) and (error.where is None or not error.where.line):
        raise Finding(f"message without a line: {text}") from error


def judge_numbers(named: Mapping[str, Any], what: str) -> None:
    """Raise Finding if a number is not finite."""
    for name, values in named.items():
        array = np.asarray(values)
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            raise Finding(f"{what}: {name} is not finite")


def judge_text(text: str, what: str, given: str = "") -> None:
    """Raise Finding for a text with numbers that are none. `given` is the input: its own words may come back."""
    found = re.search(r"(?<![\w.'\"/-])(?:nan|NaN|inf|-inf|Infinity)(?![\w.'\"/-])", text)
    if found is not None and found[0] not in given:
        raise Finding(f"{what} shows '{found[0]}': ...{text[max(0, found.start() - 80) : found.end() + 20]}...")


def signature(problem: BaseException) -> str:
    """What makes two findings the same: the type and the place in the product, or the kind of message."""
    if isinstance(problem, Finding):
        return "Finding: " + re.sub(r"[\d'].*", "", str(problem))[:40]
    ours = [f for f in traceback.extract_tb(problem.__traceback__) if Path(f.filename).is_relative_to(PRODUCT)]
    last = ours[-1] if ours else None
    if isinstance(problem, TimeLimitExceeded):  # anywhere in a long loop: the caller tells more than the innermost line
        return f"TimeLimitExceeded in {' < '.join(dict.fromkeys(f'{Path(f.filename).stem}.{f.name}' for f in reversed(ours[-3:])))}"
    return f"{type(problem).__name__} in {Path(last.filename).stem}.{last.name}" if last is not None else type(problem).__name__
