"""Files of others are not taken for our own."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from linkwright import files
from linkwright.errors import UsageError
from linkwright.files.ownership_marks import signed
from linkwright.rings.studio.live import asset
from tests.refusals import refused


@pytest.mark.parametrize(
    "text",
    [
        "t [s],F [N]\n0.0,1.0\n",  # a table of somebody's own, in our notation
        '"t [s]","F [N]"\r\n0,1.50\r\n',  # numbers as people write them
        '"F [N]","t [s]"\r\n0.0,1.0\r\n',
        '"t [s]","F [N]"\r\n' + "0.0,1.0\r\n" * 5 + "0.5,1.50\r\n",  # a table of ours whose sixth row was edited
        '"t [s]"' + ',"F [N]"' * 9 + "\r\n0.5" + ",1.0" * 8 + ",about 1\r\n",  # or the tenth column
        "# measured with linkwright: no\nt,F\n",
        "",
    ],
)
def test_tables_of_people(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    assert not files.made_by_linkwright(path)


def test_a_long_table_of_ours_is_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"{0.001 * k!r},nan,{1 / (k + 1)!r}\r\n" for k in range(4000))  # the part that is read ends within a number
    path.write_text('"t [s]","F [N]","M [N m]"\r\n' + rows, encoding="utf-8", newline="")
    assert files.made_by_linkwright(path)


def test_other_formats_of_other_programs(tmp_path: Path) -> None:
    from matplotlib.figure import Figure
    from PIL import Image

    for ending in (".png", ".svg", ".pdf"):
        Figure(figsize=(1, 1)).savefig(tmp_path / f"a{ending}")
    Image.new("P", (8, 8)).save(tmp_path / "a.gif", comment=b"another program")
    np.savez(tmp_path / "a.npz", linkwrigh=np.zeros(3), t=np.zeros(3))
    (tmp_path / "a.html").write_text("<html><body>Linkwright</body></html>")
    (tmp_path / "a.yaml").write_text("name: Linkwright\n")
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + b"\xff" * 40 + b"PAR1")
    (tmp_path / "b.parquet").write_bytes(b"")
    (tmp_path / "a.mp4").write_bytes(b"\0\0\0\x18ftypisom" + b"\0" * 100)
    (tmp_path / "a.txt").write_text("Linkwright")
    for path in tmp_path.iterdir():
        assert not files.made_by_linkwright(path), path.name
    assert not files.made_by_linkwright(tmp_path / "absent.png")


def test_a_foreign_archive_with_our_name_inside_is_foreign(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("photos.txt", "mine")
        archive.writestr("linkwright.npy", "")
    (tmp_path / "a.npz").write_bytes(data.getvalue())
    assert not files.made_by_linkwright(tmp_path / "a.npz")


def test_only_files_of_others_need_force(tmp_path: Path) -> None:
    absent, own, foreign, edited = (tmp_path / name for name in ("absent.csv", "own.csv", "foreign.csv", "edited.yaml"))
    own.write_bytes(b'"t [s]","F [N]"\r\n0.0,1.0\r\n')
    foreign.write_text("t,F\n0,1\n")
    edited.write_text(signed("name: a\n") + "# mine\n")
    for force in (False, True):
        assert files.guarded(absent, [".csv"], force=force) == absent
        assert files.guarded(own, [".csv"], force=force) == own
    assert files.guarded(foreign, [".csv"], force=True) == foreign
    with refused(UsageError, file="foreign.csv"):
        files.guarded(foreign, [".csv"], force=False)
    with refused(UsageError, file="edited.yaml"):
        files.guarded(edited, [".yaml"], force=False)


def test_the_page_carries_the_mark_that_is_looked_for() -> None:
    assert files.GENERATOR in asset("shell/page.html")
