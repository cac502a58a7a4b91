"""A script for pages and node: see `linkwright.kernels.export`."""

from __future__ import annotations

from typing import Any

from linkwright.rings.exchange.formats.base import (
    TRANSMISSION,
    ExportedTexts,
    ExportFormat,
    ExportOption,
    listed,
    transmission_of,
    warn_of_losses,
)


def texts(
    mechanism: Any,
    file: str,
    folder: str | None,
    *,
    kernels: Any = None,
    parameters: Any = None,
    drives: Any = None,
    name: str | None = None,
    motors: Any = None,
    joints: Any = None,
) -> ExportedTexts:
    from linkwright.api import transmission_sources
    from linkwright.kernels import export

    t = transmission_of(mechanism, motors, joints, {"kernels": kernels, "parameters": parameters, "drives": drives})
    if t is not None:
        return ExportedTexts({file: transmission_sources.javascript(t.core.kernels, t._sides, name=name or "transmission")})
    warn_of_losses(mechanism, "script", laws=False)
    known = getattr(mechanism, "system", mechanism).kernels
    return ExportedTexts({file: export.javascript(known, kernels, parameters=parameters, drives=drives, name=name or "mechanism")})


FORMAT = ExportFormat(
    name="script",
    endings=(".js",),
    about="a script for pages and node that computes everything itself",
    options=(
        ExportOption("kernels", "kernels by name (default: forward and inverse dynamics and more)", metavar="A,B", read=listed),
        ExportOption("parameters", "numbers that stay inputs: names or patterns", metavar="A,B", read=listed),
        ExportOption("drives", "drives: joints and cylinders in place of the model's", metavar="A,B", read=listed),
        ExportOption("name", "name of files and symbols inside (default: mechanism, or transmission)", metavar="NAME"),
        *TRANSMISSION,
    ),
    texts=texts,
)
