"""The file of a model given by name or path, found without reading it: quick, for checks before anything heavy is imported."""

from __future__ import annotations

import os
from pathlib import Path

from linkwright import files
from linkwright.errors import ModelError, UsageError, nearest
from linkwright.model import library as models

SEE = "'linkwright docs limits'"

_FILES = {
    (".xacro",): "Xacro is not read. Write the macros out first (xacro robot.urdf.xacro > robot.urdf) and load the URDF",
    (
        ".srdf",
    ): "SRDF has no links and joints of its own. Load the URDF that it belongs to and name the driven joints: drives=['hip', 'knee']",
    (".usdz",): "USDZ is not read. Unpack it (unzip robot.usdz) and load the layer inside, .usd, .usda or .usdc",
    (".wbt", ".proto", ".ttt", ".ttm"): "Worlds of other simulators are not read. Export the robot from there as URDF, and load that file",
    (".dwg",): "DWG is not read. Save the drawing as DXF",
    (".step", ".stp", ".iges", ".igs", ".sldasm", ".sldprt", ".ipt", ".iam", ".f3d", ".fcstd"): "CAD files are not read",
    (".adm", ".slx", ".mdl", ".sam"): "Models of other simulation programs are not read",
    (".xlsx", ".xls", ".ods"): "Spreadsheets are not read. Tables of loads and references are CSV files",
    (".csv", ".txt"): "A table is not a model. Name CSV files of loads and references in a model",
    (".stl", ".obj", ".dae", ".glb", ".gltf", ".ply"): "A mesh is not a model. `mesh:` of a body takes its mass data from an STL file",
    (".npz", ".parquet"): "This is the file of a run: lw.load_result(path) reads it",
    (".py",): "A Python script is not a model. Run it with python",
}


def foreign(path: Path) -> str:
    """Why a file of this type is no model and what to do, or empty."""
    for endings, sentence in _FILES.items():
        if path.suffix.lower() in endings:
            others = ", ".join((*files.ROBOTS, *files.SKETCHES))
            models = " Models are YAML files ('linkwright docs model-file'), dicts, "
            models += f"and files of other programs ({others}; 'linkwright docs import')."
            ready = "" if sentence.endswith(("reads it", "python")) else models
            return f"{sentence}.{ready} See {SEE}."
    return ""


def _inner(path: Path) -> str:
    """Return what to do with a model that has a second ending, as `robot.urdf.txt`; empty for others."""
    inside = Path(path.stem).suffix.lower()
    known = (*files.MODELS, *files.ROBOTS, *files.SKETCHES)
    renamed = inside in known and path.suffix.lower() != ".xacro"  # which is written out, not renamed
    return f"By its name it was {path.stem}: take the ending {path.suffix} off. " if renamed else ""


def model_file(model: str | os.PathLike[str]) -> Path:
    """The file of a model given by a built-in name or a path."""
    text = os.fspath(model)
    known = text.lower().endswith((*files.MODELS, *files.ROBOTS, *files.SKETCHES))
    looks_like_path = isinstance(model, os.PathLike) or known or os.sep in text or "/" in text
    if not looks_like_path and text in models.names():
        return models.path(text)
    why = foreign(Path(text))
    if why:
        raise UsageError(f"'{text}' is not a model file. {_inner(Path(text))}{why}", name=text)
    if looks_like_path or Path(text).exists():
        return Path(text)
    raise UsageError(f"there is no built-in model '{text}' and no file of that name.", nearest(text, models.names(), "Built-in models"))


def existing(path: Path) -> Path:
    """The path, if something is there that can be read."""
    try:
        path.stat()
    except (OSError, ValueError) as error:  # ValueError: a path the system cannot even spell
        name = str(path)
        shown = name if name.isprintable() else ascii(name)[1:-1]  # readable letters stay as they are
        raise ModelError(f"'{shown}' cannot be read: {getattr(error, 'strerror', None) or error}. Check the path.", name=shown) from error
    return path
