"""MJCF, the models of MuJoCo: names and intent from its specification, numbers from its compiler, loops understood afterwards."""

from __future__ import annotations

from linkwright.rings.exchange.reading.mjcf.reading import read_mjcf

__all__ = ["read_mjcf"]
