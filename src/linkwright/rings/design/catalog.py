"""Catalog of motors and gearboxes: a CSV file with a row for each, units in its header; the built-in one has typical data.

    kind, name, rated_torque [N m], max_torque [N m], max_speed [rpm], J [kg cm^2], Kt [N m/A], R [ohm], gear_ratio [-], mass [kg], ...

A motor needs name, rated_torque, max_torque, max_speed, J and either Kt and R or the heat at rated torque; supply_voltage, rated_speed,
friction, viscous, mass and price are used if they are there. A gearbox (kind `gearbox`) needs name, gear_ratio, rated_torque and
max_torque, both at its output; efficiency, max_speed and J (at its input), mass and price may follow. An empty cell is a value that is
not given.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkwright.api import KINDS, Source, UsageError, files, listing, nearest, quantity, sheets
from linkwright.rings.design.drive_sizing import Motor

BUILT_IN = Path(__file__).with_name("motors.csv")
COLUMNS = {  # dimension of every column; of the names none
    "kind": None, "name": None, "rated_torque": "torque", "max_torque": "torque", "rated_speed": "angular speed",
    "max_speed": "angular speed", "J": "inertia", "Kt": "torque constant", "R": "resistance", "heat": "power", "supply_voltage": "voltage",
    "friction": "torque", "viscous": "torsional damping", "gear_ratio": "pure number", "efficiency": "pure number", "mass": "mass",
    "price": "pure number",
}  # fmt: skip
NEEDED = {"motor": ("rated_torque", "max_torque", "max_speed", "J"), "gearbox": ("gear_ratio", "rated_torque", "max_torque")}
MAY_BE_ZERO = ("J", "friction", "viscous", "mass", "price")


@dataclass(frozen=True)
class CatalogMotor:
    """A motor of a catalog, in SI; `where` is its line."""

    name: str
    motor: Motor
    mass: float | None
    price: float | None
    where: Source


@dataclass(frozen=True)
class Gearbox:
    """A gearbox of a catalog, in SI: torques at the output, speed and inertia at the input."""

    name: str
    gear_ratio: float
    efficiency: float
    rated_torque: float
    max_torque: float
    max_speed: float | None = None
    J: float = 0.0
    mass: float | None = None
    price: float | None = None
    where: Source | None = None


@dataclass(frozen=True)
class Catalog:
    """Motors and gearboxes to choose from."""

    path: str
    motors: tuple[CatalogMotor, ...]
    gearboxes: tuple[Gearbox, ...]


def read_catalog(path: str | os.PathLike[str] | None = None) -> Catalog:
    """Read a CSV file of motors and gearboxes, by default the built-in one; raise UsageError with the line for what is wrong in it."""
    most_bytes = 5_000_000
    table = files.read_csv_table(BUILT_IN if path is None else path, most_bytes)
    _check_columns(table)
    motors, gearboxes = [], []
    for line, cells in table.rows:
        row = dict(zip(table.names, cells, strict=True))
        here, kind = Source(table.path, line), row.get("kind", "motor") or "motor"
        if kind not in NEEDED:
            raise sheets.TableError(f"'{kind}' is not a kind of row.", here, nearest(kind, NEEDED, "Kinds"))
        values = _values(table, row, kind, here)
        (motors if kind == "motor" else gearboxes).append((_motor if kind == "motor" else _gearbox)(row["name"], values, here))
    if not motors:
        raise sheets.TableError(
            "the catalog holds no motor. Add a row for each: kind, name, rated_torque and so on.", Source(table.path, 1)
        )
    return Catalog("the built-in catalog" if path is None else table.path, tuple(motors), tuple(gearboxes))


def _check_columns(table: sheets.CsvTable) -> None:
    here = Source(table.path, table.header_line)
    if not table.names:
        raise sheets.TableError(
            f"the catalog has no header. Name its columns in the first row: {', '.join(COLUMNS)}.", here, allowed=COLUMNS
        )
    for name, unit in zip(table.names, table.units, strict=True):
        if name not in COLUMNS:
            raise sheets.TableError(f"there is no column '{name}' in a catalog.", here, nearest(name, COLUMNS, "Columns"))
        kind = COLUMNS[name]
        if kind not in (None, "pure number") and not unit:
            raise sheets.TableError(
                f"the column '{name}' has no unit. Write it after the name, such as `{name} [{_example(kind)}]`.", here, name=name
            )
        try:
            if kind is not None and unit not in ("", "-"):
                quantity(f"1 {unit}", KINDS[kind], f"the column '{name}'")
        except UsageError as problem:
            raise sheets.TableError(str(problem), here) from problem
    needs_kinds = "gear_ratio" in table.names and "kind" not in table.names
    missing = [n for n in ("name", *NEEDED["motor"]) if n not in table.names] + (["kind"] if needs_kinds else [])
    if not {"Kt", "R"} <= set(table.names) and "heat" not in table.names:
        missing.append("Kt and R, or heat")
    if missing:
        raise sheets.TableError(
            f"the catalog lacks the column{'s' if len(missing) > 1 else ''} {listing(missing)}. Add them to its header.", here
        )


def _example(kind: str | None) -> str:
    return {"torque": "N m", "angular speed": "rpm", "inertia": "kg m^2", "mass": "kg", "power": "W"}.get(kind or "", "its unit")


def _values(table: sheets.CsvTable, row: Mapping[str, str], kind: str, here: Source) -> dict[str, float]:
    """Numbers of a row in SI, those that are given."""
    units = dict(zip(table.names, table.units, strict=True))
    what = f"{kind} '{row['name']}'"
    if not row["name"]:
        raise sheets.TableError(f"this {kind} has no name. Give it one.", here)
    out = {}
    for name, dimension in COLUMNS.items():
        text = row.get(name, "")
        if dimension is None or not text:
            continue
        unit = units[name] if units[name] != "-" else ""
        try:
            x = quantity(f"{text} {unit}".strip(), KINDS[dimension], f"{what}: {name}")
        except UsageError as problem:
            raise sheets.TableError(str(problem), here) from problem
        if x < 0.0 or (x == 0.0 and name not in MAY_BE_ZERO):
            raise sheets.TableError(f"{what}: {name} is {text}. It must be greater than zero.", here, name=what)
        out[name] = x
    missing = [name for name in NEEDED[kind] if name not in out]
    if kind == "motor" and not {"Kt", "R"} <= set(out) and "heat" not in out:
        missing.append("Kt and R, or heat")
    if missing:
        raise sheets.TableError(f"{what} has no {listing(missing)}. Fill the cell{'s' if len(missing) > 1 else ''}.", here, name=what)
    return out


def _motor(name: str, x: Mapping[str, float], here: Source) -> CatalogMotor:
    if x["max_torque"] < x["rated_torque"]:
        raise sheets.TableError(f"motor '{name}': max_torque is below rated_torque. Exchange or correct them.", here, name=name)
    data: dict[str, Any] = {
        k: x[k] for k in ("rated_torque", "max_torque", "max_speed", "rated_speed", "J", "friction", "viscous") if k in x
    }
    if "Kt" in x and "R" in x:
        made = Motor(Kt=x["Kt"], R=x["R"], Ke=x["Kt"], supply_voltage=x.get("supply_voltage"), **data)
    else:  # heat goes with the square of the torque: a winding of one ampere at rated torque has this resistance
        made = Motor(Kt=x["rated_torque"], R=x["heat"], Ke=0.0, **data)
    return CatalogMotor(name, made, x.get("mass"), x.get("price"), here)


def _gearbox(name: str, x: Mapping[str, float], here: Source) -> Gearbox:
    if x["max_torque"] < x["rated_torque"]:
        raise sheets.TableError(f"gearbox '{name}': max_torque is below rated_torque. Exchange or correct them.", here, name=name)
    if not x.get("efficiency", 1.0) <= 1.0:
        raise sheets.TableError(
            f"gearbox '{name}': efficiency is {x['efficiency']:g}. It is at most 1. Write 96 % as 0.96.",
            here,
            name=name,
            value=x["efficiency"],
        )
    return Gearbox(
        name, x["gear_ratio"], x.get("efficiency", 1.0), x["rated_torque"], x["max_torque"], x.get("max_speed"), x.get("J", 0.0),
        x.get("mass"), x.get("price"), here,
    )  # fmt: skip
