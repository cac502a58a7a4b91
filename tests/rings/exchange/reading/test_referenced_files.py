"""Files named by a file: found in the folders given, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwright.errors import UsageError
from linkwright.rings.exchange.reading.referenced_files import Folders
from tests.refusals import refused


def package(at: Path) -> Path:
    (at / "arm" / "urdf").mkdir(parents=True)
    (at / "arm" / "meshes").mkdir()
    (at / "arm" / "package.xml").write_text("<package><name>arm_description</name></package>")
    (at / "arm" / "meshes" / "a.stl").write_text("")
    (at / "secret.txt").write_text("")
    return at / "arm" / "urdf" / "r.urdf"


def test_packages_and_relative_paths(tmp_path: Path) -> None:
    robot = package(tmp_path)
    mesh = tmp_path / "arm" / "meshes" / "a.stl"
    folders = Folders.of(robot)
    for name in ("package://arm_description/meshes/a.stl", "package://arm/meshes/a.stl", "../meshes/a.stl", f"file://{mesh}", str(mesh)):
        assert folders.find(name) == (mesh.resolve(), ""), name
    assert Folders.of(robot, tmp_path).find("package://arm/meshes/a.stl")[0] == mesh.resolve()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../../secret.txt", "outside the folders"),
        ("file:///etc/hostname", "outside the folders"),
        ("/etc/hostname", "outside the folders"),
        ("package://arm/../../../../etc/hostname", "outside the folders"),
        ("package://arm/%2e%2e/%2e%2e/secret.txt", "outside the folders"),
        ("http://example.org/a.stl", "Nothing is fetched"),
        ("package://other/a.stl", "no such file"),
        ("", "empty"),
        ("a\0b", "no such file"),
    ],
)
def test_nothing_else_is_found(tmp_path: Path, name: str, why: str) -> None:
    found, reason = Folders.of(package(tmp_path)).find(name)
    assert found is None and why in reason


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    robot = package(tmp_path)
    (robot.parent / "link.stl").symlink_to(tmp_path / "secret.txt")
    assert Folders.of(robot).find("link.stl")[0] is None


def test_folders_must_exist(tmp_path: Path) -> None:
    with refused(UsageError, file="nowhere"):
        Folders.of(tmp_path / "r.urdf", [tmp_path / "nowhere"])
    with refused(UsageError, value=3):
        Folders.of(tmp_path / "r.urdf", [3])
