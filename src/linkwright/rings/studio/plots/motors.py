"""Motors in the plane of speed and torque: the cycle against a motor's limits, or the path of a simulated motor.

torque_speed(sizing, "motor.png")           what `c.drive_sizing(motor=...)` found
motor(run, "motors.png")                    every DC motor of a run, with what voltage and current allow
"""

from __future__ import annotations

import ast
import re
from typing import Any, Unpack

import numpy as np

from linkwright.api import ChannelError, LinkwrightError, Trajectory, UsageError, nearest, unit_of
from linkwright.drives import DCMotor, motor_of
from linkwright.rings.design.cycle_averages import time_mean
from linkwright.rings.design.drive_sizing import drive_sizing
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, drawn, four, legend
from linkwright.rings.studio.style import DRIVEN, PALETTE, Theme

MOST_MOTORS = 6
FAR = 4.0  # limits farther away than this many times what was used do not stretch the picture


def motor(
    c: Trajectory,
    path: Place = None,
    *,
    drive: str | None = None,
    motor: Any = None,
    gear_ratio: Any = None,
    efficiency: Any = None,
    lead: Any = None,
    **paper: Unpack[Paper],
) -> Any:
    """The motors a run was driven by (one: `drive`); of a cycle the cycle a motor would see (`motor`, `gear_ratio`, `lead`, ...)."""
    driven = [n.split(".")[1] for n in c.columns if n.startswith("motor.") and n.endswith(".current")]
    if motor is None and driven:
        if drive is not None and drive not in driven:
            raise ChannelError(f"'{drive}' has no motor in this run.", nearest(drive, driven, "Motors"))
        return _of_run(c, [drive] if drive is not None else driven[:MOST_MOTORS], path, **paper)
    if c.system is None:
        raise UsageError(
            "no motor drove this run, and it cannot be sized for one here: take the cycle or run from lw.load(...).", name="motor"
        )
    given = {"motor": motor, "gear_ratio": gear_ratio, "efficiency": efficiency, "lead": lead}
    sizing = drive_sizing(c, drive, **{k: x for k, x in given.items() if x is not None})
    return torque_speed(sizing, path, **paper)


# -------------------------------------------------------------------- of a run


def plate(c: Trajectory, drive: str) -> DCMotor | None:
    """Data of a motor: as given to the run, else as the model's file says."""
    motor_call = re.search(r"lw\.motor\([^()]*\)", str(dict(c.settings.get("drive") or {}).get(drive, "")))
    try:
        if motor_call:
            call = ast.parse(motor_call.group(0), mode="eval").body
            return motor_of({k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}) if isinstance(call, ast.Call) else None
        own = next((dict(d.motor) for d in c.skel.tree.description.numbers().drives if d.joint == drive and d.motor), None)
        return motor_of(own) if own else None
    except (LinkwrightError, ValueError, SyntaxError):
        return None


def _of_run(c: Trajectory, drives: list[str], path: Place, **paper: Unpack[Paper]) -> Any:
    def make(frame: Frame) -> Any:
        columns = min(len(drives), 3)
        rows = -(-len(drives) // columns)
        figure = frame.figure({1: 6.2, 2: 8.4}.get(columns, 11.0), (4.2 if columns == 1 else 3.5) * rows + 0.3)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, name in zip(grid, drives, strict=False):
            _motor(axes, c, name, plate(c, name), frame.look)
        for axes in grid[len(drives) :]:
            axes.set_axis_off()
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8, handlelength=1.6)
        return figure

    return drawn(make, path, **paper)


def _motor(axes: Any, c: Trajectory, name: str, known: DCMotor | None, look: Theme) -> None:
    """Torque of the coils, Kt i, over the speed of the shaft; without a plate the current."""
    symbol, size = unit_of(c.skel.tree.description.units, "angular speed")
    speed, current = c[f"motor.{name}.speed"], c[f"motor.{name}.current"]
    torque = current * float(known.Kt) if known is not None else current
    if known is not None:
        _allowed(axes, known, speed, torque, size, look)
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.axvline(0.0, color=look.faint, lw=0.9)
    axes.plot(speed / size, torque, color=DRIVEN, lw=1.7, label="path of the run", zorder=4)
    axes.plot(speed[0] / size, torque[0], "o", ms=5.5, mfc=look.paper, mec=DRIVEN, mew=1.5, ls="none", label="start", zorder=5)
    axes.plot(speed[-1] / size, torque[-1], "s", ms=5.0, color=DRIVEN, mec=look.paper, mew=0.8, ls="none", label="end", zorder=5)
    axes.set_xlabel(f"speed of the motor [{symbol}]", parse_math=False)
    axes.set_ylabel("torque of the coils [N m]" if known is not None else "current [A]")
    volts = float(np.abs(c[f"motor.{name}.voltage"]).max())
    limit = f" of {float(known.supply_voltage):g} V" if known is not None and known.supply_voltage is not None else " V"
    axes.set_title(
        f"{name}: up to {four(volts)}{limit}, {four(float(np.abs(current).max()))} A", fontsize=8.5, loc="left", parse_math=False
    )
    if known is not None:
        right = axes.secondary_yaxis("right", functions=(lambda y: y / float(known.Kt), lambda i: i * float(known.Kt)))
        right.set_ylabel("current [A]")
        right.spines["right"].set_visible(True)


def _allowed(axes: Any, m: DCMotor, speed: np.ndarray, torque: np.ndarray, size: float, look: Theme) -> None:
    """Torque that voltage and current allow over the speeds shown: R i = u - Ke w with |u| <= rated, |i| <= max_current."""
    if m.supply_voltage is None and m.max_current is None:
        return
    reach = max(float(np.abs(speed).max()), 1e-9)
    w = np.linspace(min(-0.15 * reach, 1.25 * float(speed.min())), max(0.15 * reach, 1.25 * float(speed.max())), 400)
    most = np.full(len(w), np.inf) if m.max_current is None else np.full(len(w), float(m.Kt * m.max_current))
    top, bottom = most.copy(), -most
    if m.supply_voltage is not None:
        top = np.minimum(top, m.Kt * (m.supply_voltage - m.Ke * w) / m.R)
        bottom = np.maximum(bottom, m.Kt * (-m.supply_voltage - m.Ke * w) / m.R)
    used = FAR * max(float(np.abs(torque).max()), 1e-9)
    axes.fill_between(w / size, bottom, top, color=PALETTE[5], alpha=0.12, lw=0.0)
    for k, edge in enumerate((top, bottom)):
        axes.plot(w / size, edge, color=PALETTE[5], lw=1.3, label="limit of voltage and current" if k == 0 else None)
    edges = (min(float(bottom.min()), float(torque.min())), max(float(top.max()), float(torque.max())))
    low, high = max(edges[0], -used), min(edges[1], used)
    axes.set_ylim(low - 0.06 * (high - low), high + 0.06 * (high - low))
    axes.set_xlim(w[0] / size, w[-1] / size)


# -------------------------------------------------------------------- of a cycle


def torque_speed(sizing: Any, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """The cycle of the motor as a closed curve of torque over speed, inside its continuous and its peak region.

    `sizing` is what `c.drive_sizing(motor=...)` returns. The cross is the RMS torque at the mean speed: it must lie inside the
    continuous region, the whole cycle inside the peak region.
    """
    if sizing.motor is None:
        raise UsageError(
            "no motor is given: pass motor={'Kt': ..., 'R': ...} (to the sizing, or to this plot) or write `dc_motor` in the model.",
            name="motor",
        )

    def make(frame: Frame) -> Any:
        figure = frame.figure(6.4, 4.4)
        axes = figure.subplots()
        _regions(axes, sizing, frame.look)
        _cycle(axes, sizing, frame.look)
        return figure

    return drawn(make, path, **paper)


def _regions(axes: Any, sizing: Any, look: Theme) -> None:
    """Continuous and peak torque over speed, in all four quadrants that are used."""
    m, (symbol, size) = sizing.motor, unit_of(sizing.units, "angular speed")
    speed, torque = sizing.motor_speed, sizing.motor_torque
    no_load = m.supply_voltage / m.Ke if m.supply_voltage is not None and m.Ke > 0.0 else np.inf
    ends = [x for x in (m.max_speed, no_load if np.isfinite(no_load) else None) if x is not None]
    fastest = min(ends) if ends else 1.25 * float(np.abs(speed).max() or 1.0)
    both = float(speed.min()) < -1e-9 * max(1.0, float(np.abs(speed).max()))
    down = float(speed.min()) < 0.0 and not float(speed.max()) > 0.0
    w = np.linspace(0.0, fastest, 200)
    bound = 1.3 * max(float(np.abs(torque).max()), m.max_torque or 0.0, m.rated_torque or 0.0)
    drives, brakes = np.minimum(m.peak_curve(w), bound), np.minimum(np.where(np.isfinite(m.peak_curve(-w)), m.peak_curve(-w), bound), bound)
    for sign in [-1.0] if down else [1.0, -1.0] if both else [1.0]:
        label = "peak" if sign > 0 or down else None
        if m.max_torque is not None or m.supply_voltage is not None:
            axes.fill_between(sign * w / size, sign * np.maximum(drives, 0.0), -sign * brakes, color=PALETTE[5], alpha=0.13, lw=0.0)
            axes.plot(sign * w / size, sign * np.maximum(drives, 0.0), color=PALETTE[5], lw=1.4, label=label)
            axes.plot(sign * w / size, -sign * brakes, color=PALETTE[5], lw=1.4)
        if m.rated_torque is not None:
            end = min(m.rated_speed if m.rated_speed is not None else fastest, fastest)
            v = np.linspace(0.0, end, 100)
            lasting = np.maximum(np.minimum(m.peak_curve(v), m.rated_torque), 0.0)
            axes.fill_between(sign * v / size, sign * lasting, -sign * m.rated_torque, color=PALETTE[1], alpha=0.18, lw=0.0)
            axes.plot(sign * v / size, sign * lasting, color=PALETTE[1], lw=1.4, label="continuous" if label else None)
            axes.plot(sign * v / size, np.full(len(v), -sign * m.rated_torque), color=PALETTE[1], lw=1.4)
    axes.axhline(0.0, color=look.faint, lw=0.9)
    axes.axvline(0.0, color=look.faint, lw=0.9)
    axes.set_xlabel(f"motor speed [{symbol}]", parse_math=False)


def _cycle(axes: Any, sizing: Any, look: Theme) -> None:
    size = unit_of(sizing.units, "angular speed")[1]
    speed, torque = sizing.motor_speed / size, sizing.motor_torque
    axes.plot(np.append(speed, speed[0]), np.append(torque, torque[0]), color=DRIVEN, lw=1.8, label="cycle")
    k = int(np.argmax(np.abs(torque)))
    axes.plot(speed[k], torque[k], "o", ms=5.0, color=DRIVEN, mec=look.paper, mew=0.8, zorder=5)
    t = sizing.history.t
    mean = time_mean(t, np.abs(speed)) * (-1.0 if speed.max() <= 0.0 else 1.0)
    rms = sizing.rms(torque)
    axes.plot(mean, rms, "x", ms=7.5, mew=2.0, color=look.ink, label=f"RMS torque {rms:.3g} N m", zorder=6)
    axes.set_ylabel("motor torque [N m]")
    kind = "" if sizing.history.rotary else " rad/m"
    axes.set_title(f"{sizing.history.name}: ratio {sizing.gear_ratio:.4g}{kind}, peak {abs(torque[k]):.3g} N m", fontsize=9, loc="left")
    axes.margins(0.04)
    legend(axes)
