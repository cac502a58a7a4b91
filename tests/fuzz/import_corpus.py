"""Sound files of every other kind that is read: robots, sketches, tables, meshes, saved runs, studies. Made once, from the product's own
exports and from texts of the tests."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import linkwright as lw
from tests.fuzz import corpus
from tests.model.meshes import shapes
from tests.rings.exchange.reading.mjcf import files as mjcf
from tests.rings.exchange.reading.sdf import models as sdf
from tests.rings.exchange.reading.sketches import drawings
from tests.rings.exchange.reading.urdf import robots
from tests.rings.exchange.reading.usd import stages

Files = dict[str, bytes]  # by name; the first one is opened
EXPORTED = ("wiper", "slider-crank-equal", "five-bar", "rssr", "boot-lid")
MESHED = """\
name: meshed
plane: xy
units: [mm, kg, deg, rpm]
drawing: {{A: [0, 0], B: [30, 40], C: [180, 0]}}
bodies:
  ground: {{pins: [A]}}
  crank: {{pins: [A, B], mesh: {{file: {0}, material: steel, unit: mm}}}}
  rod: {{pins: [B, C], mass: 0.3, visuals: [{{mesh: {0}, unit: mm}}]}}
  piston: {{pins: [C], mass: 0.5}}
joints:
  guide: {{type: prismatic, between: [ground, piston], at: C, axis: [1, 0]}}
drive: {{A: 60 rpm}}
"""
CAM = """\
name: cam
plane: xy
units: [mm, kg, deg, rpm]
drawing: {A: [0, 0], B: [30, 0], F: [0, 60]}
bodies:
  ground: {pins: [A]}
  cam: {pins: [A], points: [B], mass: 0.4, inertia: 1e-4 kg m^2}
  follower: {points: [F], mass: 0.3}
joints:
  lift: {type: prismatic, between: [ground, follower], at: F, axis: [0, 1]}
couplings: {law: {from: A, to: lift, csv: cam.csv}}
drive: {A: 60 rpm}
"""
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="1100mm" height="900mm" viewBox="0 0 1100 900">'
    '<g id="pins"><circle cx="0" cy="800" r="12"/>'
    '<circle cx="150" cy="540" r="12"/><circle cx="905" cy="50" r="12"/><circle cx="1000" cy="800" r="12"/></g>'
    '<g id="links" transform="scale(1)">'
    '<line x1="0" y1="800" x2="150" y2="540"/><path d="M 150 540 L 905 50"/><polyline points="905,50 1000,800"/></g>'
    '<g id="ground"><path d="m -30 840 l 30 -40 l 30 40 z"/><path d="M 970 840 L 1000 800 L 1030 840 Z"/></g></svg>'
)
WANTED = "x [mm];y [mm];angle [deg]\n0;0;0\n10;5;40\n22;9;80\n30;8;120\n41;3;170\n"
REFERENCE = "t [s];A [deg]\n0;0\n0.1;10\n0.2;25\n0.3;60\n0.4;80\n"


@cache
def sound(kind: str) -> tuple[Files, ...]:
    """Sound inputs of a kind."""
    with tempfile.TemporaryDirectory(prefix="fuzz-corpus-") as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(MAKERS[kind](Path(place)))


def _exported(folder: Path, ending: str) -> list[Files]:
    return [{f"{n}{ending}": lw.load(n).export(folder / f"{n}{ending}").read_bytes()} for n in EXPORTED]


def _urdf(folder: Path) -> list[Files]:
    out = []
    for name in robots.DIALECTS:
        path = robots.written(folder, name)
        beside = path.with_suffix(".yaml")
        more = {"loop_closures.yaml": robots.CLOSURE_FILES[name].encode()} if name in robots.CLOSURE_FILES else {}
        out.append({path.name: path.read_bytes(), **({beside.name: beside.read_bytes()} if beside.is_file() else more)})
    return out + _exported(folder, ".urdf")


def _sdf(folder: Path) -> list[Files]:
    bodies = [sdf.sdf(x) for x in (sdf.OLD, sdf.NEW, sdf.FREE_ROCKER)]
    texts = [*bodies, sdf.WORLD.format(f'<model name="m">{sdf.OLD}</model>')]
    return [{"m.sdf": text.encode()} for text in texts] + _exported(folder, ".sdf")


def _usd(folder: Path) -> list[Files]:
    stages.four_bar(folder / "four.usda").Save()
    stages.four_bar(folder / "four.usdc", unit=0.01).Save()
    own = [{name: (folder / name).read_bytes()} for name in ("four.usda", "four.usdc")]
    return own + _exported(folder, ".usda")


def _mjcf(folder: Path) -> list[Files]:
    texts = [mjcf.TREE, mjcf.SPATIAL, *(mjcf.FOUR_BAR.format(equality=x) for x in mjcf.CLOSURES.values())]
    texts += [mjcf.COUPLED.format(equality=x) for x in mjcf.COUPLINGS.values()] + [mjcf.SPLIT.format(weld=x) for x in mjcf.WELDS.values()]
    return [{"m.xml": text.encode()} for text in texts] + _exported(folder, ".xml")


def _dxf(folder: Path) -> list[Files]:
    own = [drawings.wiper(), drawings.wiper(names=False), drawings.wiper(unit=0)]
    read = [drawings.saved(x, folder / "own.dxf").read_bytes() for x in own]
    return [{"m.dxf": data} for data in read]


def _svg(folder: Path) -> list[Files]:
    return [{"m.svg": SVG.encode()}]


def _meshes(folder: Path) -> list[Files]:
    out = []
    for ending in ("stl", "ascii.stl", "obj", "glb", "gltf"):
        path = shapes.written(folder, ending, shapes.plate(8))
        beside = {p.name: p.read_bytes() for p in folder.glob("gltf_buffer*")} if ending == "gltf" else {}
        out.append({path.name: path.read_bytes(), **beside, "model.yaml": MESHED.format(path.name).encode()})
    return out


def _runs(folder: Path) -> list[Files]:
    out = []
    for name, ending in (("wiper", "npz"), ("wiper", "parquet"), ("rssr", "npz"), ("boot-lid", "parquet")):
        m = lw.load(name)
        for run in (m.cycle(steps=6), m.simulate(0.05)):
            out.append({f"run.{ending}": run.save(folder / f"run.{ending}").read_bytes()})
    return out


def _studies(folder: Path) -> list[Files]:
    place = folder / "study"
    lw.study("four-bar", {"L1": "280..320 mm / 3"}, "range D", lw.Cycle(steps=6), folder=place, threads=1)
    files = {p.relative_to(place).as_posix(): p.read_bytes() for p in sorted(place.rglob("*")) if p.is_file()}
    return [files]


def _measured(folder: Path) -> list[Files]:
    run = lw.load("four-bar").cycle(steps=60)
    table = run.read(["t", "A", "A.torque"])
    rows = zip(table["t"], table["A"], table["A.torque"], strict=True)
    return [{"run.csv": ("t [s];A [rad];A.torque [N m]\n" + "".join(f"{t};{a};{u}\n" for t, a, u in rows)).encode()}]


def _catalogs(folder: Path) -> list[Files]:
    from linkwright.rings.design.catalog import BUILT_IN

    lines = BUILT_IN.read_text(encoding="utf-8").splitlines(keepends=True)
    return [{"motors.csv": "".join([*lines[:14], *lines[-2:]]).encode()}, {"motors.csv": "".join(lines).encode()}]


MAKERS: dict[str, Callable[[Path], list[Files]]] = {
    "urdf": _urdf,
    "sdf": _sdf,
    "mjcf": _mjcf,
    "usd": _usd,
    "dxf": _dxf,
    "svg": _svg,
    "mesh": _meshes,
    "run": _runs,
    "study": _studies,
    "table": lambda folder: [{"cam.csv": corpus.TABLE.encode(), "model.yaml": CAM.encode()}],
    "wanted": lambda folder: [{"path.csv": WANTED.encode()}],
    "reference": lambda folder: [{"motion.csv": REFERENCE.encode()}],
    "measured": _measured,
    "catalog": _catalogs,
}
