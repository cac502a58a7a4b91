"""Texts of exports for tests, of a mechanism or of a system with cuts, a length or parameters of its own."""

from __future__ import annotations

import warnings
from typing import Any

from linkwright.rings.exchange import LossWarning, formats


def mjcf(subject: Any, **options: Any) -> str:
    """MuJoCo's XML."""
    return formats.FORMATS["mjcf"].as_texts(subject, **options)["model.xml"]


def c(subject: Any, kernels: Any = None, **options: Any) -> dict[str, str]:
    """The C sources by file name; tests of drives that are inputs there expect that loss."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossWarning)
        return formats.FORMATS["c"].as_texts(subject, kernels=kernels, **options)


def script(subject: Any, kernels: Any = None, **options: Any) -> str:
    """The script, likewise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossWarning)
        (text,) = formats.FORMATS["script"].as_texts(subject, kernels=kernels, **options).values()
    return text
