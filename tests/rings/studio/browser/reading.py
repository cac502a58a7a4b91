"""Numbers out of drawings: what an SVG plot of the page shows, read by its own ticks as a person would."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tests.rings.studio.browser.desk import Desk

# every curve's vertices and every tick label of a plot, in the plot's own pixels; paths only move and draw straight lines
DRAWN = """(selector) => {
  const svg = document.querySelector(selector + " svg.lw-plot-svg");
  const texts = Array.from(svg.querySelectorAll(".ticks text"), (t) =>
    [Number(t.getAttribute("x")), Number(t.getAttribute("y")), t.getAttribute("text-anchor"), t.textContent]);
  const curves = (which) => Array.from(svg.querySelectorAll(which), (p) => p.getAttribute("d"));
  return {texts, curves: curves("path.curve:not(.faint)"), faint: curves("path.curve.faint"),
          unit: document.querySelector(selector + " .lw-plot-unit").textContent};
}"""
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


class Shown(NamedTuple):
    """Curves in the plot's units, and how much of a unit one pixel is."""

    curves: list[np.ndarray]  # (points, 2) each
    faint: list[np.ndarray]
    pixel: tuple[float, float]


def vertices(path: str) -> np.ndarray:
    """Corner points of a path of straight lines (M, L, and H and V between them)."""
    out: list[tuple[float, float]] = []
    for letter, numbers in re.findall(r"([MLHVZz])([^MLHVZz]*)", path):
        found = [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", numbers)]
        if letter == "H":
            out += [(x, out[-1][1]) for x in found]
        elif letter == "V":
            out += [(out[-1][0], y) for y in found]
        else:
            out += list(zip(found[::2], found[1::2], strict=True))
    return np.array(out)


def number(label: str) -> float:
    """A tick label: minus signs, degree signs, parts of pi."""
    text = label.replace("−", "-").replace("°", "").replace(" ", "").replace(" ", "").replace("π", "p")
    if "p" in text:
        top, _, bottom = text.partition("/")
        factor = top.replace("p", "")
        return np.pi * (float(factor + "1") if factor in ("", "-") else float(factor)) / float(bottom or 1)
    return float(text)


def size_of(unit: str) -> float:
    """What one of a plot's units is, of newtons or newton meters: "kN" and "10³ N m" are thousands."""
    power = re.search(r"10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", unit)
    if power:
        return 10.0 ** int(power.group(1).translate(SUPERSCRIPTS))
    prefix = re.search(r"\b([mkM]?)N\b", unit)
    return {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6}[prefix.group(1) if prefix else ""]


def scale(places: list[float], labels: list[str]) -> np.poly1d:
    """From pixels to values through the first and the last tick; angles that begin again after a cycle go on."""
    values = [number(label) for label in labels]
    turn = 360.0 if "°" in labels[-1] else 2 * np.pi
    for k in range(1, len(values)):
        while values[k] <= values[k - 1] and places[k] > places[k - 1]:
            values[k] += turn
    return np.poly1d(np.polyfit([places[0], places[-1]], [values[0], values[-1]], 1))


def plot(desk: Desk, selector: str = "#torque") -> Shown:
    """The curves of a plot as its axes tell them."""
    drawn = desk.page.evaluate(DRAWN, selector)
    below = [t for t in drawn["texts"] if t[2] == "middle"]
    left = min(t[0] for t in drawn["texts"])
    beside = [t for t in drawn["texts"] if t[2] == "end" and t[0] == left]
    unit = size_of(drawn["unit"])
    x, y = scale([t[0] for t in below], [t[3] for t in below]), unit * scale([t[1] - 3.5 for t in beside], [t[3] for t in beside])

    def read(paths: list[str]) -> list[np.ndarray]:
        return [np.column_stack([x(p[:, 0]), y(p[:, 1])]) for p in (vertices(path) for path in paths if path)]

    return Shown(read(drawn["curves"]), read(drawn["faint"]), (abs(float(x[1])), abs(float(y[1]))))
