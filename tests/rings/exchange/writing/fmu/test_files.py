"""FMU files: their sources compile without a warning and alone, and wrong requests are refused with a sentence each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fmpy.validation import validate_fmu

import linkwright as lw
from linkwright.errors import LinkwrightError, UsageError
from linkwright.rings.exchange.writing.fmu import binaries
from tests.refusals import refused
from tests.rings.exchange.writing.fmu.units import CS, export, opened
from tests.sweeps import sweep

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """FMUs of a mechanism with a motor, stops and a cut joint, in both versions, unpacked."""
    place = tmp_path_factory.mktemp("fmu")
    m = lw.load("3-rrr-motors")
    for version in ("2.0", "3.0"):
        export(m, place / f"unit{version[0]}.fmu", version=version, parameters=["l1", "m7"])
        zipfile.ZipFile(place / f"unit{version[0]}.fmu").extractall(place / version)
    return place


@sweep("version", ["2.0", "3.0"], now=["3.0"])
def test_sources_are_strict_c99_and_all_that_is_needed(version, folder, tmp_path):
    sources = folder / version / "sources"
    names = sorted(p.name for p in sources.glob("*.c"))
    for name in names:
        done = subprocess.run(
            ["gcc", *STRICT, "-fPIC", "-c", name, "-o", tmp_path / f"{name}.o"], cwd=sources, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        fast = subprocess.run(["gcc", "-ffast-math", "-E", name, "-o", os.devnull], cwd=sources, capture_output=True, text=True)
        computes = not name.endswith("_absent.c")  # functions of FMI that are not there: no number in them
        assert bool(fast.returncode) == computes == ("compile without -ffast-math" in fast.stderr)
    shutil.copytree(folder / version, tmp_path / "again")
    library = next((tmp_path / "again" / "binaries").rglob("unit*"))
    subprocess.run(["gcc", "-shared", "-o", str(library), *(f"{name}.o" for name in names), "-lm"], cwd=tmp_path, check=True)
    packed = tmp_path / "again.fmu"
    with zipfile.ZipFile(packed, "w") as z:
        for path in (tmp_path / "again").rglob("*"):
            z.write(path, path.relative_to(tmp_path / "again"))
    with opened(str(packed)) as built, opened(str(folder / f"unit{version[0]}.fmu")) as ours:
        for u in (built, ours):
            u.begin({"A1.voltage": 5.0})
            u.step(0.0, 0.1)
        assert np.allclose(built.get("P.x", "A1.v"), ours.get("P.x", "A1.v"), rtol=1e-9)


def test_descriptions_name_the_sources(folder):
    for version, file, tag in (("2.0", "modelDescription.xml", "File name"), ("3.0", "sources/buildDescription.xml", "SourceFile name")):
        text = (folder / version / file).read_text()
        for source in (folder / version / "sources").glob("*.c"):
            assert f'{tag}="{source.name}"' in text
    assert validate_fmu(str(folder / "unit2.fmu")) == validate_fmu(str(folder / "unit3.fmu")) == []


def test_nothing_of_python_is_needed(folder):
    library = next((folder / "3.0" / "binaries").rglob("unit3.so"))
    linked = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    assert "python" not in linked and "libm" in linked


def test_the_same_model_gives_the_same_file(tmp_path):
    """No dates, no random token; another parameter set is another token."""
    m = lw.load("slider-crank-equal")
    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        texts.append(Path(m.export(tmp_path / name / "unit.fmu", platforms=[])).read_bytes())
    assert texts[0] == texts[1]
    other = Path(m.export(tmp_path / "unit.fmu", platforms=[], parameters=[]))
    assert token(other) != token(tmp_path / "a" / "unit.fmu")


def token(path: Path) -> str:
    return zipfile.ZipFile(path).read("modelDescription.xml").decode().split("instantiationToken=")[1].split()[0]


def test_kinds_and_platforms(tmp_path):
    m = lw.load("slider-crank-equal")
    only = zipfile.ZipFile(m.export(tmp_path / "unit.fmu", platforms=[], interface="cs"))
    text = only.read("modelDescription.xml").decode()
    assert "<CoSimulation" in text and "<ModelExchange" not in text and "reinit" not in text
    assert not [n for n in only.namelist() if n.startswith("binaries")]
    assert binaries.chosen_platforms(["win64", "x86_64-linux"]) == [binaries.PLATFORMS[n] for n in ("x86_64-windows", "x86_64-linux")]
    assert len(binaries.chosen_platforms("all")) == 5


def test_names_of_files_become_names_of_c(tmp_path):
    m = lw.load("slider-crank-equal")
    for stem, identifier in (("my-press 2", "my_press_2"), ("3rrr", "m3rrr"), ("double", "double_model"), ("é", "model")):
        text = zipfile.ZipFile(m.export(tmp_path / f"{stem}.fmu", platforms=[])).read("modelDescription.xml").decode()
        assert f'modelIdentifier="{identifier}"' in text


def test_names_with_punctuation_survive(tmp_path):
    """Names as the model file allows them, in XML and in C strings."""
    m = lw.load(
        {
            "name": "odd <&> names",
            "plane": "xy",
            "drawing": {"A": [0, 0], "B": [1, 0]},
            "bodies": {"ground": {"pins": ["A"]}, "bär-1": {"pins": ["A"], "points": ["B"], "mass": 1, "com": "B", "inertia": 0.1}},
        }
    )
    path = export(m, tmp_path / "unit.fmu", drive={}, inputs={"A": "torque"})
    assert validate_fmu(path) == []
    with opened(path, CS) as u:
        u.begin({"bär-1.mass": 2.0})
        assert u.get("der(A.v)")[0] == pytest.approx(0.0, abs=1e-12)
        assert u.description.modelName == "odd <&> names"


def test_titles_that_xml_cannot_hold_are_cleaned(tmp_path):
    bodies = {"ground": {"pins": ["A"]}, "bar": {"pins": ["A"], "points": ["B"], "mass": 1}}
    m = lw.load({"name": "a\x07b\n<c>", "plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]}, "bodies": bodies})
    path = m.export(tmp_path / "unit.fmu", platforms=[])
    assert validate_fmu(str(path)) == [] and "a b &lt;c&gt;" in zipfile.ZipFile(path).read("modelDescription.xml").decode()


# -------------------------------------------------------------------- wrong requests

WRONG = {
    "version": ({"version": "1.0"}, "no FMI version '1.0'"),
    "interface": ({"interface": "se"}, "interface is 'me'"),
    "option": ({"output": ["A"]}, "export to fmu has no option 'output'. Did you mean 'outputs'"),
    "unknown input": ({"inputs": {"Q": "torque"}}, "there is no joint, cylinder, body or parameter 'Q'"),
    "kind of input": ({"inputs": {"A": "temperature"}}, "'A' cannot be a 'temperature'"),
    "effort of the other kind": ({"inputs": {"A": "force"}}, "'A' takes a torque, not a force"),
    "no motor": ({"inputs": {"A": "voltage"}}, "'A' has no motor"),
    "body as joint": ({"inputs": {"crank": "torque"}}, "'crank' is a body, which has no torque"),
    "joint as body": ({"inputs": {"A": "wrench"}}, "'A' is a joint or cylinder, which has no wrench"),
    "no dict": ({"inputs": 3}, "inputs is a dict"),
    "output": ({"outputs": ["C.lode"]}, "there is no channel 'C.lode'. Did you mean 'C.load'"),
    "parameter": ({"parameters": ["L9"]}, "there is no parameter 'L9'"),
    "platform": ({"platforms": "amiga"}, "there is no platform 'amiga'"),
    "name": ({"name": "a b"}, "'a b' cannot be the name of an FMU"),
    "keyword": ({"name": "while"}, "'while' cannot be the name of an FMU"),
    "python law": (
        {"drive": {"A": lw.drives.torque(lambda t, st: 1.0 if st["A"] > 0 else 2.0)}, "inputs": []},
        "is Python code that cannot be compiled: make it an input, inputs={'A': 'torque'}",
    ),
    "sampled": ({"drive": {"A": lw.drives.torque(lambda t: t, every=0.1)}, "inputs": []}, "is sampled every 0.1 s"),
    "many points": (
        {"drive": {"A": lw.drives.torque((np.linspace(0, 1, 5000), np.linspace(0, 1, 5000)))}, "inputs": []},
        "has too many points to be compiled: make it an input",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(case, tmp_path):
    options, sentence = WRONG[case]
    with pytest.raises(UsageError) as caught:
        lw.load("four-bar").export(tmp_path / "unit.fmu", **options)
    assert sentence in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_motions_that_cannot_be_prescribed(tmp_path):
    with refused(UsageError, name="S1"):
        lw.load("stewart").export(tmp_path / "unit.fmu", inputs={"S1": "motion"})
    with refused(LinkwrightError, name="D"):
        lw.load("four-bar").export(tmp_path / "unit.fmu", inputs={"A": "speed", "D": "speed"})


def test_a_model_without_masses(tmp_path):
    bodies = {"ground": {"pins": ["A"]}, "bar": {"pins": ["A"], "points": ["B"]}}
    m = lw.load({"plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]}, "bodies": bodies})
    with refused(UsageError, name="mass"):
        m.export(tmp_path / "unit.fmu")


def test_a_missing_compiler_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(binaries.shutil, "which", lambda name: None)
    monkeypatch.setattr(binaries, "find_spec", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    m = lw.load("slider-crank-equal")
    with refused(UsageError, name="C compiler"):
        m.export(tmp_path / "unit.fmu")
    with refused(UsageError, name="zig"):
        m.export(tmp_path / "unit.fmu", platforms="win64")
    assert m.export(tmp_path / "unit.fmu", platforms=[]).exists()
    monkeypatch.setenv("CC", "no-such-compiler")
    with refused(UsageError, name="no-such-compiler"):
        m.export(tmp_path / "unit.fmu")


def test_a_compiler_that_fails_is_quoted(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", f"{sys.executable} -c 'raise SystemExit(\"it hurts\")'")
    with pytest.raises(LinkwrightError, match="failed: it hurts"):
        lw.load("slider-crank-equal").export(tmp_path / "unit.fmu")


@pytest.mark.slow
def test_one_machine_builds_for_all(tmp_path):
    """By zig; what the libraries are shows in their first bytes. Only the one of this machine is run."""
    m = lw.load("slider-crank-equal")
    path = m.export(tmp_path / "unit.fmu", platforms="all")
    z = zipfile.ZipFile(path)
    heads = {n.split("/")[1]: z.read(n)[:20] for n in z.namelist() if n.startswith("binaries")}
    assert heads["x86_64-windows"][:2] == b"MZ"
    assert heads["x86_64-linux"][:4] == heads["aarch64-linux"][:4] == b"\x7fELF"
    assert heads["x86_64-linux"][18] == 62 and heads["aarch64-linux"][18] == 183  # e_machine
    assert heads["x86_64-darwin"][:8] == bytes.fromhex("cffaedfe07000001") and heads["aarch64-darwin"][:8] == bytes.fromhex(
        "cffaedfe0c000001"
    )
    assert len(z.read("binaries/aarch64-darwin/unit.dylib")) > 20_000


@pytest.mark.slow
def test_zig_gives_what_the_compiler_here_gives(tmp_path, monkeypatch):
    m = lw.load("four-bar")
    ours = export(m, tmp_path / "ours.fmu", parameters=[])
    monkeypatch.setattr(binaries.shutil, "which", lambda name: None)  # no compiler here: zig takes its place
    monkeypatch.delenv("CC", raising=False)
    zigs = export(m, tmp_path / "zig.fmu", parameters=[])
    with opened(ours) as a, opened(zigs) as b:
        for u in (a, b):
            u.begin()
            u.step(0.0, 0.2)
        assert np.allclose(a.get("A", "D", "C.load"), b.get("A", "D", "C.load"), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_the_least_fmu_is_strict_c99_too(version, tmp_path):
    """No loops, no inputs, no parameters, no outputs, no break points: no array has a length of zero, no condition is always false."""
    bodies = {"ground": {"pins": ["A"]}, "bar": {"pins": ["A"], "points": ["B"], "mass": 1, "com": "B", "inertia": 0.1}}
    m = lw.load({"name": "bar", "plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]}, "bodies": bodies, "gravity": [0, -9.81]})
    path = export(m, tmp_path / "bar.fmu", version=version, inputs=[], outputs=[], parameters=[])
    assert validate_fmu(path) == []
    zipfile.ZipFile(path).extractall(tmp_path / "bar")
    for source in (tmp_path / "bar" / "sources").glob("*.c"):
        done = subprocess.run(["gcc", *STRICT, "-c", source.name, "-o", "o.o"], cwd=source.parent, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    with opened(path) as u:
        u.begin()
        u.step(0.0, 0.5)
        energy = 0.5 * 1.1 * u.get("A.v")[0] ** 2 + 9.81 * np.sin(u.get("A")[0])  # a pendulum from the horizontal
        assert abs(energy) < 1e-7
