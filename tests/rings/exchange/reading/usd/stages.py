"""USD files of our own, written by usd-core in the ways of Isaac Lab and Newton: one four-bar (A 0,0; D 0.8,0; B 0,0.3; C 0.7,0.6)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

BODIES = {  # place, mass, center of mass, of a body with moments of inertia 0.001, 0.001, 0.002
    "crank": ((0.0, 0.0, 0.0), 0.3, (0.0, 0.15, 0.0)),
    "coupler": ((0.0, 0.3, 0.0), 0.9, (0.35, 0.15, 0.0)),
    "rocker": ((0.8, 0.0, 0.0), 0.8, (-0.05, 0.3, 0.0)),
}
HINGES = {  # bodies and places in them
    "A": ("", "crank", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "B": ("crank", "coupler", (0.0, 0.3, 0.0), (0.0, 0.0, 0.0)),
    "D": ("", "rocker", (0.8, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "C": ("coupler", "rocker", (0.7, 0.3, 0.0), (-0.1, 0.6, 0.0)),
}


def stage(path: Path, *, unit: float = 1.0, kilograms: float = 1.0, up: str = "Y", gravity: bool = True) -> Usd.Stage:
    """An empty stage with units and a scene."""
    path.parent.mkdir(parents=True, exist_ok=True)
    s = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(s, unit)
    UsdGeom.SetStageUpAxis(s, up)
    UsdPhysics.SetStageKilogramsPerUnit(s, kilograms)
    if gravity:
        scene = UsdPhysics.Scene.Define(s, "/physicsScene")
        scene.CreateGravityDirectionAttr(Gf.Vec3f(0, -1, 0) if up == "Y" else Gf.Vec3f(0, 0, -1))
        scene.CreateGravityMagnitudeAttr(9.81 / unit)
    return s


def body(
    s: Usd.Stage, path: str, at: Sequence[float], mass: float, com: Sequence[float], moments: Sequence[float] = (0.001, 0.001, 0.002),
    unit: float = 1.0, kilograms: float = 1.0,
) -> Any:  # fmt: skip
    """A rigid body, numbers in SI."""
    prim = UsdGeom.Xform.Define(s, path)
    prim.AddTranslateOp().Set(Gf.Vec3d(*(x / unit for x in at)))
    prim.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(1, 0, 0, 0))
    UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())
    mapi = UsdPhysics.MassAPI.Apply(prim.GetPrim())
    mapi.CreateMassAttr(mass / kilograms)
    mapi.CreateCenterOfMassAttr(Gf.Vec3f(*(x / unit for x in com)))
    mapi.CreateDiagonalInertiaAttr(Gf.Vec3f(*(x / (kilograms * unit**2) for x in moments)))
    return prim.GetPrim()


def joint(
    s: Usd.Stage, path: str, kind: Any, first: str, second: str, at0: Sequence[float] = (0, 0, 0), at1: Sequence[float] = (0, 0, 0),
    unit: float = 1.0, axis: str = "Z", closes: bool = False,
) -> Any:  # fmt: skip
    """A joint between two prims, places in meters."""
    made = kind.Define(s, path)
    if first:
        made.CreateBody0Rel().SetTargets([first])
    if second:
        made.CreateBody1Rel().SetTargets([second])
    made.CreateLocalPos0Attr(Gf.Vec3f(*(x / unit for x in at0)))
    made.CreateLocalPos1Attr(Gf.Vec3f(*(x / unit for x in at1)))
    if axis and hasattr(made, "CreateAxisAttr"):
        made.CreateAxisAttr(axis)
    if closes:
        made.CreateExcludeFromArticulationAttr(True)
    return made


def four_bar(
    path: Path, root: str = "/robot", *, unit: float = 1.0, kilograms: float = 1.0, up: str = "Y", excluded: bool = True
) -> Usd.Stage:
    """The four-bar with its loop at C."""
    s = stage(path, unit=unit, kilograms=kilograms, up=up)
    top = UsdGeom.Xform.Define(s, root)
    s.SetDefaultPrim(top.GetPrim())
    UsdPhysics.ArticulationRootAPI.Apply(top.GetPrim())
    for name, (at, mass, com) in BODIES.items():
        body(s, f"{root}/{name}", at, mass, com, unit=unit, kilograms=kilograms)
    for name, (first, second, at0, at1) in HINGES.items():
        ends = [f"{root}/{x}" if x else "" for x in (first, second)]
        joint(s, f"{root}/joints/{name}", UsdPhysics.RevoluteJoint, *ends, at0, at1, unit, closes=excluded and name == "C")
    drive = UsdPhysics.DriveAPI.Apply(s.GetPrimAtPath(f"{root}/joints/A"), "angular")
    drive.CreateMaxForceAttr(5.0 / (kilograms * unit**2))
    return s


def attribute(prim: Any, name: str, value: Any, kind: Any = None) -> None:
    """An attribute of another program."""
    prim.CreateAttribute(name, kind or Sdf.ValueTypeNames.Float).Set(value)
