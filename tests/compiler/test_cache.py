"""Objects on disk: found again, never trusted when damaged or foreign, harmless when the place cannot be used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwright
from linkwright.compiler import cache, native
from linkwright.compiler.graph import trace
from linkwright.compiler.program import Program

SOURCE = str(Path(linkwright.__file__).parents[1])
KEY = "ab" * 32
META = {"work": 3, "inputs": [["q", [2], 0]]}
CODE = bytes(range(256)) * 5


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path))
    return tmp_path / "objects"


def entry(place: Path) -> Path:
    (path,) = place.glob("*.lwo")
    return path


def test_an_entry_is_found_again(place: Path) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, META, CODE)
    assert cache.get(KEY) == (META, CODE)
    assert cache.get("cd" * 32) is None
    cache.put(KEY, META, b"")
    assert cache.get(KEY) == (META, b"")
    assert [p.name for p in place.iterdir()] == [KEY + ".lwo"]


def test_every_damage_is_noticed(place: Path) -> None:
    cache.put(KEY, META, CODE)
    path = entry(place)
    good = path.read_bytes()
    for length in [0, 1, 19, 20, 90, 116, 120, len(good) - 1]:
        path.write_bytes(good[:length])
        assert cache.get(KEY) is None, f"cut to {length} bytes"
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :])
        assert cache.get(KEY) is None, f"a bit of byte {at} flipped"
    path.write_bytes(good + b"x")
    assert cache.get(KEY) is None
    cache.put(KEY, META, CODE)  # made again
    assert cache.get(KEY) == (META, CODE)


def test_an_entry_under_another_name_is_foreign(place: Path) -> None:
    cache.put(KEY, META, CODE)
    other = "cd" * 32
    os.rename(entry(place), place / (other + ".lwo"))
    assert cache.get(other) is None and cache.get(KEY) is None


def test_a_directory_in_the_place_of_an_entry_is_no_entry(place: Path) -> None:
    (place / (KEY + ".lwo")).mkdir(parents=True)
    cache.put(KEY, META, CODE)
    assert cache.get(KEY) is None
    assert not list(place.glob(".*"))  # nothing half-written stays


def test_the_cache_can_be_switched_off_or_be_impossible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for value in ("off", "OFF", str(file / "below"), str(file)):
        monkeypatch.setenv("LINKWRIGHT_CACHE", value)
        cache.put(KEY, META, CODE)
        assert cache.get(KEY) is None
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    assert cache.directory() is None


def test_places_follow_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LINKWRIGHT_CACHE")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    expected = {"linux": tmp_path / "xdg", "darwin": tmp_path / "Library" / "Caches", "win32": tmp_path / "local"}
    for platform, base in expected.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert cache.directory() == base / "linkwright" / "objects"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/path")  # to be ignored, says its standard
    assert cache.directory() == tmp_path / ".cache" / "linkwright" / "objects"


def test_the_oldest_entries_go_first(place: Path) -> None:
    names = [f"{i:064x}" for i in range(6)]
    for age, name in enumerate(names):
        cache.put(name, {}, bytes(1000))
        os.utime(place / (name + ".lwo"), (1e9 - age, 1e9 - age))
    assert cache.get(names[5]) is not None  # the oldest, used just now
    stale = place / f".dead.{'0' * 8}-1-{'0' * 16}.part.lwo"
    stale.write_bytes(b"")
    os.utime(stale, (1e9, 1e9))
    cache.prune(place, limit=3 * (entry_size := (place / (names[0] + ".lwo")).stat().st_size))
    assert entry_size > 1000 and not stale.exists()
    assert sorted(p.name[:64] for p in place.iterdir()) == sorted([names[5], names[0], names[1]])
    cache.prune(place / "absent")


def test_it_stays_small_by_itself(monkeypatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 20_000)
    for i in range(200):
        cache.put(cache.key(i), {}, bytes(1000))
    place = cache.directory()
    assert place is not None
    kept = sum(1 for _ in place.iterdir())
    assert 10 < kept < 80  # about 18 fit; the size is looked at once in eight entries, on average


def test_keys_tell_everything_apart() -> None:
    base = {"model": "abc", "options": [1, 2.5, None, True]}
    keys = {cache.key(x) for x in [base, {**base, "model": "abd"}, {**base, "options": [1, 2.5000000000000004, None, True]}, [base]]}
    assert len(keys) == 4 and all(len(k) == 64 for k in keys)
    assert cache.key({"b": 1, "a": 2}) == cache.key({"a": 2, "b": 1})


def test_many_writers_and_readers_at_once() -> None:
    contents = {i: bytes([i]) * 50_000 for i in range(8)}

    def write_and_read(i: int) -> bool:
        for _ in range(20):
            cache.put(KEY, {"i": i}, contents[i])
            found = cache.get(KEY)
            if found is None or found[1] != contents[found[0]["i"]]:
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write_and_read, range(8)))


SECOND = """
import sys
import numpy as np
from linkwright.compiler import native
def forbidden():
    raise SystemExit("traced again")
code = native.load(["spring", 3.0], forbidden)
(y,), status = code.call_many([[[1.0, 2.0]], [[0.5]]])
print(code.call([1.0, 2.0, 0.5])[0].tolist() == y[0].tolist(), y[0].tolist(), [b.name for b in code.inputs])
print("linkwright.compiler.state_lanes" in sys.modules)
"""


def test_a_second_process_needs_neither_equations_nor_compilation() -> None:
    traced = []

    def spring() -> Program:
        traced.append(1)
        return trace(lambda q, v: {"f": np.sin(q) * 3.0 - v}, q=2, v=1)

    code = native.load(["spring", 3.0], spring)
    y, status = code.call([1.0, 2.0, 0.5])
    code.call_many([[[1.0, 2.0]], [[0.5]]])
    assert len(traced) == 1 and status == 0
    np.testing.assert_allclose(y, 3 * np.sin([1.0, 2.0]) - 0.5, rtol=1e-15)
    done = subprocess.run(
        [sys.executable, "-c", SECOND], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": SOURCE}, timeout=60
    )
    assert done.stdout.splitlines() == [f"True {y.tolist()} ['q', 'v']", "False"], done.stderr


def test_a_damaged_entry_is_made_again(place: Path) -> None:
    def program() -> Program:
        return trace(lambda x: {"y": x * 2.0}, x=3)

    native.load("double", program).call([1.0, 2.0, 3.0])
    good = {path: path.read_bytes() for path in place.iterdir()}
    assert len(good) == 2, "the program's digest, and its code"
    for path, content in good.items():
        path.write_bytes(content[:200])
        y, _ = native.load("double", program).call([1.0, 2.0, 3.0])
        assert y.tolist() == [2.0, 4.0, 6.0] and path.read_bytes() == content


def test_code_of_other_users_is_not_loaded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, META, CODE)
    honest = os.fstat
    for owner, taken in ((os.getuid(), True), (0, True), (os.getuid() + 4711, False)):
        monkeypatch.setattr(os, "fstat", lambda fd, owner=owner: os.stat_result([*honest(fd)[:4], owner, *honest(fd)[5:10]]))
        assert (cache.get(KEY) is not None) == taken, owner
    monkeypatch.undo()
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(place.parent))
    assert cache.get(KEY) is not None
    there = os.stat(place)
    foreign = os.stat_result([*there[:4], os.getuid() + 4711, *there[5:10]])  # whose owner may put any file of ours there
    look = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **how: foreign if path == place else look(path, **how))
    assert cache.get(KEY) is None


def test_code_that_others_can_change_is_not_loaded(place: Path) -> None:
    for mask in (0o022, 0):  # usual, and none
        shutil.rmtree(place, ignore_errors=True)
        before = os.umask(mask)
        try:
            cache.put(KEY, META, CODE)
        finally:
            os.umask(before)
        assert place.stat().st_mode & 0o777 == 0o700 and entry(place).stat().st_mode & 0o777 == 0o600
    for path, closed in ((entry(place), 0o600), (place, 0o700)):
        for mode in (0o020, 0o002, 0o022):
            path.chmod(closed | mode)
            assert cache.get(KEY) is None, f"{path.name}: {closed | mode:o}"
        path.chmod(closed)
        assert cache.get(KEY) == (META, CODE)
    place.chmod(0o777)
    cache.put(KEY, META, CODE)
    assert place.stat().st_mode & 0o777 == 0o777 and cache.get(KEY) is None


def test_permissions_of_a_folder_it_did_not_make_stay(place: Path, tmp_path: Path) -> None:
    """A link to a folder that is shared: nothing is put there, and nobody is locked out."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    place.symlink_to(shared)
    cache.put(KEY, META, CODE)
    assert shared.stat().st_mode & 0o777 == 0o777 and not list(shared.iterdir()) and cache.get(KEY) is None


def test_keys_depend_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for instructions that a processor lacks would end the program."""
    own = cache.host()
    others = [own, replace(own, features=own.features + ",+other"), replace(own, cpu="other"), replace(own, triple="other")]
    keys = set()
    try:
        for host in others:
            monkeypatch.setattr(cache, "host", lambda host=host: host)
            cache._environment.cache_clear()
            keys.add(cache.key("x"))
    finally:
        cache._environment.cache_clear()
    assert len(keys) == len(others)


def test_keys_depend_on_the_characteristic_length() -> None:
    """The length scales the rows of the loops, so pivots and with them the code are others."""
    four = [linkwright.compile("four-bar", length=x) for x in (None, "1 m", "2 m")]
    assert len({s.kernels.model_key for s in four}) == 3


def test_equal_programs_are_compiled_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    honest = native._make
    monkeypatch.setattr(native, "_make", lambda kind, program: made.append(kind) or honest(kind, program))

    def program(factor: float = 2.0) -> Program:
        return trace(lambda x: {"y": x * factor}, x=3)

    for code in (native.load("first", program), native.load("other parts", program), native.NativeCode.of(program())):
        assert code.call([1.0, 2.0, 3.0])[0].tolist() == [2.0, 4.0, 6.0]
    assert made == ["one"]
    assert native.NativeCode.of(program(3.0)).call([1.0, 2.0, 3.0])[0].tolist() == [3.0, 6.0, 9.0] and made == ["one", "one"]


def test_batches_need_no_code_of_one_state(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs, outputs and the number of operations are known from the program, in a second process from the cache."""
    made, traced = [], []
    honest = native._make
    monkeypatch.setattr(native, "_make", lambda kind, program: made.append(kind) or honest(kind, program))

    def program() -> Program:
        traced.append(True)
        return trace(lambda x: {"y": x * 2.0, "none": 0.0 * x}, x=3)

    first, again = native.load("parts", program), native.load("parts", program)
    assert first.call_many([[[1.0, 2.0, 3.0]] * 20])[0][0].tolist() == [[2.0, 4.0, 6.0]] * 20 and made == ["many"]
    meta = {x: again.meta[x] for x in ("inputs", "outputs", "operations", "zeros")}
    assert meta == program().outline and len(traced) == 2 and made == ["many"]
    assert first.call([1.0, 2.0, 3.0])[0].tolist() == [2.0, 4.0, 6.0, 0.0, 0.0, 0.0] and made == ["many", "one"]


def test_code_made_quickly_gives_the_same_bits_under_another_key(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM may change how code is laid out, never a rounding: sums of products, quotients, roots and sines of 200 states."""

    def f(x: np.ndarray) -> dict[str, np.ndarray]:
        y = np.sin(x) * x[::-1] + np.sqrt(1.0 + x * x)
        return {"y": np.array([y @ x, (y[0] * y[1] - y[2]) / (2.0 + y[3] * y[3]), np.cos(y[1]) * x[2] - x[0] * y[3]])}

    x, found, keys = np.random.default_rng(0).normal(size=(200, 4)), [], []
    for level in ("1", "0"):
        monkeypatch.setenv("LINKWRIGHT_OPTIMIZATION", level)
        code = native.NativeCode.of(trace(f, x=4))
        found.append([np.asarray(code.call_many([x])[0][0]), np.array([code.call(row)[0] for row in x])])
        keys.append(cache.key(["one"]))
    assert keys[0] != keys[1]
    for many, one in found:
        assert np.array_equal(many, found[0][0]) and np.array_equal(one, found[0][1])


def test_keys_depend_on_the_modules_that_write_code() -> None:
    """A module that was renamed would take all of them out of the keys: changed code would then run from old entries."""
    assert len(cache._text_of_the_generator()) == 64
