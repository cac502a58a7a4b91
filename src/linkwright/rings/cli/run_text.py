"""A simulated run at a glance, as text in the file's units and as data in SI: where it ends, efforts, energies, events, the certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.api import counted, joints, tolerances
from linkwright.rings.cli import console, outputs

MOST_ROWS = 14
ENERGIES = ("energy.kinetic", "energy.potential", "energy.rotors", "energy.total", "work.in", "work.loads", "work.lost")
HANG = 17  # columns before the text of a line of the certificate


def coordinates(run: Any) -> list[str]:
    """Channels of the joints (drives first), cylinders that are driven, and angles of the bodies where they say more."""
    d = run.skel.tree.description
    driven = [x.joint for x in d.drives]
    names = [*driven]
    for j in d.joints:
        jt = joints.create(j.type, j.options)
        names += [f"{j.name}.{part}" if part else j.name for part in (jt.q_names if "quaternion" not in jt.coordinate_kinds else ())]
    known = set(run.channels)
    return list(dict.fromkeys(n for n in names if n in known and run[n].ndim == 1))


def rate_of(run: Any, name: str) -> np.ndarray | None:
    return run[f"{name}.v"] if f"{name}.v" in run.channels else None


# -------------------------------------------------------------------- data


def data(m: Any, run: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the data that `simulate --json` prints: SI and radians."""
    certificate, checks = run.certificate, run.checks()
    return {
        "model": m.name,
        "status": certificate.status,
        "ok": checks.ok,
        "verdict": checks.verdict,
        "checks": checks.as_dict()["checks"],
        "duration": float(run.t[-1] - run.t[0]),
        "samples": len(run),
        "notes": list(run.notes),
        "end": {n: _ending(run, n) for n in coordinates(run)},
        "efforts": {n: _spread(run.t, run[n]) for n in efforts(run)},
        "energy": {n: {"start": float(run[n][0]), "end": float(run[n][-1])} for n in energies(run)},
        "certificate": certificate.as_dict(),
        "events": [{"time": e.time, "name": e.name, "values": dict(e.values)} for e in run.events],
        "passages": [p._asdict() for p in run.passages],
        "channels": outputs.channel_data(run, names),
    }


def _ending(run: Any, name: str) -> dict[str, Any]:
    rate = rate_of(run, name)
    return {"value": float(run[name][-1]), "rate": None if rate is None else float(rate[-1])}


def _spread(t: np.ndarray, values: np.ndarray) -> dict[str, float]:
    """Extremes, and the RMS over time: samples need not be equally far apart."""
    from linkwright.rings.design.cycle_averages import time_mean

    return {"min": float(values.min()), "max": float(values.max()), "rms": float(np.sqrt(time_mean(t, values**2)))}


def efforts(run: Any) -> list[str]:
    """Recorded torques and forces of drives."""
    return [n for n in run.columns if n.count(".") == 1 and n.endswith((".torque", ".force"))]


def energies(run: Any) -> list[str]:
    known = set(run.channels)
    return [n for n in ENERGIES if n in known]


# -------------------------------------------------------------------- text


def text(m: Any, run: Any) -> str:
    """Return the text that `simulate` prints."""
    driven = ", ".join(run.settings.get("drive") or ()) or "nothing"
    head = f"{m.name}: {run.t[-1] - run.t[0]:.6g} s simulated, {counted(len(run), 'sample')}, driven: {driven}"
    notes = [console.wrapped(f"note: {n}", 6) for n in run.notes if n not in run.certificate.notes]
    parts = ["\n".join([head, *notes]), _end_table(run), _effort_table(run), _energy_table(run), _event_lines(run)]
    return "\n\n".join([*(p for p in parts if p), console.wrapped(str(run.checks()), HANG)])


def _lines(header: list[str], rows: list[list[str]]) -> str:
    """Numbers that are written with the digits of their largest, below their heads; empty without rows."""
    from linkwright.api import text_tables

    return "\n".join(text_tables.aligned([header, *rows], left=1)) if rows else ""


def _end_table(run: Any) -> str:
    names = coordinates(run)
    rows = []
    for n in names[:MOST_ROWS]:
        (symbol, size), values, rate = run.unit(n), run[n], rate_of(run, n)
        pace = "" if rate is None else f"{_numbers(rate / run.unit(f'{n}.v')[1], -1)[0]} {run.unit(f'{n}.v')[0]}"
        end, low, high = _numbers(values / size, -1, int(values.argmin()), int(values.argmax()))
        rows.append([n, f"{end} {symbol}", pace, low, high])
    if not rows:
        return ""
    more = f"\nand {counted(len(names) - len(rows), 'more coordinate')}" if len(names) > len(rows) else ""
    return _lines(["joint", "at the end", "speed", "smallest", "largest"], rows) + more


def _effort_table(run: Any) -> str:
    rows = []
    for n in efforts(run)[:MOST_ROWS]:
        symbol, size = run.unit(n)
        spread = _spread(run.t, run[n] / size)
        rows.append([n, *_numbers(np.array([spread[k] for k in ("min", "max", "rms")]), 0, 1, 2), symbol])
    return _lines(["effort", "min", "max", "RMS", "unit"], rows)


def _energy_table(run: Any) -> str:
    rows = []
    for n in energies(run):
        symbol, size = run.unit(n)
        values = run[n] / size
        rows.append([n, *_numbers(np.array([values[0], values[-1], values[-1] - values[0]]), 0, 1, 2), symbol])
    return _lines(["energy", "at the start", "at the end", "change", "unit"], rows)


def _event_lines(run: Any) -> str:
    lines = []
    for e in run.events:
        details = "".join(f", {k} {v}" for k, v in e.values.items())
        lines.append(f"event: t = {e.time:.9g} s, {e.name}{details}")
    return "\n".join(lines)


def _numbers(values: np.ndarray, *places: int) -> list[str]:
    """Some of the values to five digits; what is round-off beside the largest is zero."""
    largest = float(np.abs(values).max(initial=0.0))
    return [f"{0.0 if abs(values[i]) < tolerances.ROUND_OFF * largest else values[i] + 0.0:.5g}" for i in places]
