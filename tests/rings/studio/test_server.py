"""The loopback server: one page, built again when the file is saved, for the user's own browser only."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import linkwright as lw
from linkwright.model import library as models
from linkwright.rings.studio import file_watch, live, page, server
from tests.refusals import refused

MODEL = """
name: small
plane: xy
drawing: {A: [0, 0], B: [0, 0.1], C: [0.4, 0.3], D: [0.4, 0]}
bodies:
  ground: {pins: [A, D]}
  crank: {pins: [A, B]}
  coupler: {pins: [B, C]}
  rocker: {pins: [D, C]}
drive: {A: 10 rpm}
"""

SETTLE = file_watch.SETTLE  # as it is; shorter in most tests


def quick_text(subject: lw.System, *, run: object = None, reload: str | None = None, steps: int | None = None, static: bool = False) -> str:
    """A short stand-in for the page: what the server serves is tested here, what is in it elsewhere."""
    d = subject.description
    asked = ("" if steps is None else f", {steps} steps") + (", static" if static else "")
    return f"<html><body>page of {d.name}, {len(d.bodies)} bodies, run {run is not None}, reload {reload}{asked}</body></html>"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "text", quick_text)
    monkeypatch.setattr(file_watch, "LOOK", 0.02)
    monkeypatch.setattr(file_watch, "SETTLE", 0.1)
    monkeypatch.setattr(file_watch, "GLANCE", 0.01)


class Served:
    """A running server, and questions to it."""

    def __init__(self, path: Path | str, **options: Any):
        self.said: list[str] = []
        self.server = server.Server(path, out=self.said.append, **options)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def ask(self, path: str = "", method: str = "GET", *, whole: bool = False, **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers of a path behind the key; `whole` paths are taken as they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        connection.request(
            method, path if whole else f"/{self.server.key}/{path}", headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        found = (answer.status, answer.read().decode(), dict(answer.getheaders()))
        connection.close()
        return found

    def until(self, right: Callable[[str], bool]) -> str:
        """The page once it is as it should be; fails after some seconds."""
        end = time.monotonic() + 10.0
        while time.monotonic() < end:
            text = self.ask()[1]
            if right(text):
                return text
            time.sleep(0.02)
        raise AssertionError(f"the page stays {text!r}")

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def served(tmp_path: Path, quick: None) -> Iterator[Served]:
    path = tmp_path / "small.yaml"
    path.write_text(MODEL, encoding="utf-8")
    one = Served(path)
    yield one
    one.close()


def test_two_addresses_and_nothing_else(served: Served) -> None:
    status, text, headers = served.ask()
    assert status == 200 and "page of small, 4 bodies" in text
    assert headers["Content-Type"] == "text/html; charset=utf-8" and headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["connect-src"] == "'self'" and policy["base-uri"] == "'none'"
    status, version, _ = served.ask("version")
    assert status == 200 and f"reload version?have={version}" in text, "relative to the page's own address"
    assert served.ask(f"version?have={version}")[1] == version
    for path in ("small.yaml", "../small.yaml", "/small.yaml", "version/", "index.html", "%2e%2e/"):
        assert served.ask(path)[0] == 404, path
    status, text, headers = served.ask("", "HEAD")
    assert status == 200 and text == "" and int(headers["Content-Length"]) > 20


def test_only_reading(served: Served) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"):
        status, text, headers = served.ask("", method)
        assert status == 405 and "GET" in headers["Allow"] and "<" not in text


def test_other_sites_are_refused(served: Served) -> None:
    port = served.server.server_port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"0.0.0.0:{port}", ""):
        assert served.ask("", Host=host)[0] == 403, host
    assert served.ask("", Host=f"localhost:{port}")[0] == 200
    for origin in ("http://evil.example", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}", "null"):
        assert served.ask("version", Origin=origin)[0] == 403, origin
    assert served.ask("version", Origin=f"http://127.0.0.1:{port}")[0] == 200
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        assert served.ask("", Sec_Fetch_Site=site)[0] == status, site
    # two Host lines: which one a proxy or a browser meant cannot be known
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example\r\n\r\n".encode())
        assert raw.recv(100).split()[1] == b"403"
    # nobody outside this machine can connect: it listens on the loopback alone
    assert served.server.socket.getsockname()[0] == "127.0.0.1"


def test_the_page_needs_its_key(served: Served) -> None:
    """Other users of the machine reach the port, but do not know the address; the ticket for the browser is valid once."""
    key, port = served.server.key, served.server.server_port
    assert served.server.address == f"http://127.0.0.1:{port}/{key}/" and len(key) >= 22, "128 random bits"
    wrong = key[:-1] + ("a" if key[-1] != "a" else "b")
    for path in ("/", "/version", f"/{wrong}/", f"/{wrong}/version", f"/{key[:-1]}/", f"/{key}x/", "/?open=", f"/?open={key}", "/\u00e9/"):
        status, text, _ = served.ask(quote(path, safe="/?="), whole=True)
        assert status == 403 and "page of" not in text and key not in text, path
    assert served.ask(f"/{key}", whole=True)[2]["Location"] == served.server.address
    ticket = served.server.ticket().partition(f":{port}")[2]
    status, _, headers = served.ask(ticket, whole=True)
    assert status == 303 and headers["Location"] == served.server.address
    assert served.ask(ticket, whole=True)[0] == 403, "used up"
    old, new = (served.server.ticket().partition(f":{port}")[2] for _ in range(2))
    assert (served.ask(old, whole=True)[0], served.ask(new, whole=True)[0]) == (403, 303)
    other = Served(served.server.workshop.subject.path)
    assert other.server.key != key
    other.close()


def test_a_connection_that_drips_is_closed(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LONGEST", 0.3)
    address = ("127.0.0.1", served.server.server_port)
    with socket.create_connection(address, timeout=10) as drip, pytest.raises(OSError):
        for _ in range(500):  # a byte every 20 ms never is a silence
            drip.sendall(b"G")
            time.sleep(0.02)
    assert served.ask()[0] == 200


def test_the_page_follows_the_file(served: Served, tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    served.ask()
    first = served.ask("version")[1]
    beside = tmp_path / "new.tmp"  # as editors write: beside it, then renamed
    beside.write_text(MODEL.replace("name: small", "name: other"), encoding="utf-8")
    os.replace(beside, path)
    text = served.until(lambda page: "page of other" in page)
    second = served.ask("version")[1]
    assert second != first and f"have={second}" in text
    path.write_text(MODEL.replace("coupler: {pins: [B, C]}", "coupler: {pins: [B, X]}"), encoding="utf-8")
    text = served.until(lambda page: 'id="problem"' in page)
    third = served.ask("version")[1]
    assert "page of other" in text and third not in (first, second), "the last good mechanism stays, with the message"
    assert f"have={third}" in text and f"have={second}" not in text
    with pytest.raises(lw.ModelError) as problem:
        lw.load(path)
    words = " ".join(str(problem.value).split())
    assert words.rpartition("small.yaml")[2].split("'")[0] in text.replace("&#x27;", "'"), "the same message, with its line"
    assert any("small.yaml:" in line for line in served.said)
    path.unlink()  # gone for a moment, as some editors do
    served.until(lambda page: "cannot" in page or "no file" in page)
    path.write_text(MODEL, encoding="utf-8")
    served.until(lambda page: "page of small" in page)
    assert served.ask("version")[1] == first, "the same content is the same version"


def test_a_file_is_read_when_it_has_settled(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watch, "SETTLE", 2 * SETTLE)  # far more than the pauses, also on a busy machine
    path = tmp_path / "small.yaml"
    served.ask()
    lines = MODEL.replace("name: small", "name: slow").splitlines(keepends=True)
    with path.open("w", encoding="utf-8") as out:  # a piece every 30 ms
        for line in lines:
            out.write(line)
            out.flush()
            time.sleep(0.03)
    served.until(lambda page: "page of slow" in page)
    assert [line for line in served.said if "built again" not in line] == [], "no half of it was ever built"


def test_files_that_the_model_refers_to(tmp_path: Path, quick: None) -> None:
    path, table = tmp_path / "loaded.yaml", tmp_path / "push.csv"
    force = "loads: {push: {on: rocker, at: C, force: [{over: t, csv: push.csv}, 0]}}\n"
    path.write_text(MODEL + force, encoding="utf-8")
    table.write_text("0, 1\n1, 2\n", encoding="utf-8")
    one = file_watch.Subject(path, {})
    before = one.fingerprint()
    assert one.others == (table,)
    table.write_text("0, 1\n1, 3\n", encoding="utf-8")
    assert one.fingerprint() != before
    path.write_text("name: 'sma", encoding="utf-8")  # half written: what was known stays
    assert one.fingerprint() != before and one.others == (table,)


def test_a_file_is_watched_by_its_stamp(tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """At rest nothing is read or parsed; a change of time, size or inode is seen."""
    path = tmp_path / "small.yaml"
    path.write_text(MODEL, encoding="utf-8")
    os.utime(path, (1e9, 1e9))
    read: list[str] = []
    content, scan = file_watch._content, file_watch.mentioned
    monkeypatch.setattr(file_watch, "_content", lambda *a: read.append("read") or content(*a))
    monkeypatch.setattr(file_watch, "mentioned", lambda *a: read.append("parsed") or scan(*a))
    one = Served(path)
    one.ask()
    first = one.ask("version")[1]
    looks = one.server.workshop.subject.stamps
    assert read == ["read", "parsed"]
    for _ in range(20):
        looks()
    time.sleep(0.3)  # fifteen looks of the workshop
    assert read == ["read", "parsed"], "by its stamp alone"
    os.utime(path, (1e9 + 1, 1e9 + 1))  # touched: read again, and the same
    end = time.monotonic() + 10
    while len(read) < 3 and time.monotonic() < end:
        time.sleep(0.02)
    assert read == ["read", "parsed", "read"] and one.ask("version")[1] == first
    one.close()


def test_a_pipe_in_the_place_of_the_file_is_a_problem_and_not_a_wait(served: Served, tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    served.ask()
    path.unlink()
    os.mkfifo(path)
    served.until(lambda page: 'id="problem"' in page)
    path.unlink()
    path.write_text(MODEL, encoding="utf-8")
    served.until(lambda page: 'id="problem"' not in page and "page of small" in page)


def test_changes_and_saved_runs(tmp_path: Path, quick: None) -> None:
    run = lw.load("four-bar").cycle(steps=12).save(tmp_path / "run.npz")
    one = Served(run)
    assert "page of four-bar" in one.ask()[1] and "run True" in one.ask()[1] and "static" not in one.ask()[1]
    still = Served(lw.load("four-bar").cycle(steps=12, speed=0).save(tmp_path / "still.npz"))
    assert "run True" in still.ask()[1] and "static" in still.ask()[1]
    still.close()
    one.close()
    with refused(lw.UsageError, name="run"):
        server.Server(run, changes={"L1": 1.0})
    other = Served("four-bar", changes={"Lx": "3 m"})
    assert "page of four-bar" not in other.ask()[1] and "Lx" in other.ask()[1]
    other.close()
    assert any("Lx" in line for line in other.said)
    finer = Served("four-bar", steps=720)
    assert ", 720 steps" in finer.ask()[1]
    finer.close()


def test_what_cannot_be_served(tmp_path: Path, quick: None) -> None:
    with refused(lw.UsageError, file="missing.yaml"):
        server.Server(tmp_path / "missing.yaml")
    with refused(lw.UsageError, name="wipper"):
        server.Server("wipper")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with refused(lw.UsageError, name="port"):
            server.Server("four-bar", port=taken.getsockname()[1])
    with refused(lw.UsageError, name="port"):
        server.Server("four-bar", port=70000)


def test_ctrl_c_ends_it_well(monkeypatch: pytest.MonkeyPatch, quick: None) -> None:
    said: list[str] = []
    monkeypatch.setattr(server, "opened", lambda address: False)

    def interrupted(self: server.Server, poll_interval: float = 0.5) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(server.Server, "serve_forever", interrupted)
    assert server.serve("four-bar", out=said.append) == 0
    assert said[0].startswith("four-bar.yaml is shown at http://127.0.0.1:") and said[-1] == "Ended."
    assert any("open that address yourself" in line for line in said)

    class Terminated(KeyboardInterrupt):
        """As the command line raises on SIGTERM, whose exit code is 143."""

    def terminated(self: server.Server, poll_interval: float = 0.5) -> None:
        raise Terminated

    monkeypatch.setattr(server.Server, "serve_forever", terminated)
    with pytest.raises(Terminated):
        server.serve("four-bar", out=said.append)


def test_no_display_means_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser of the console must not take the terminal over."""
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: asked.append(address) or True)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    assert not page.opened("http://127.0.0.1:9/") and not asked
    monkeypatch.setenv("DISPLAY", ":0")
    assert page.opened("http://127.0.0.1:9/") and asked == ["http://127.0.0.1:9/"]


def test_strange_sources_and_gone_readers_do_not_stop_the_building(tmp_path: Path) -> None:
    """A name no system can spell, a pipe that is never filled, an output that is closed: the page still follows its file."""
    model = tmp_path / "m.yaml"
    text = models.path("wiper").read_text(encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.csv")
    model.write_text(text + '# "\\0.csv" \nabout2: "\\0.csv"\nabout3: pipe.csv\nabout4: there.csv\n', encoding="utf-8")
    subject = file_watch.Subject(model, {})
    assert len(subject.fingerprint()) == 16 and [p.name for p in subject.others] == ["pipe.csv", "there.csv"]
    assert subject.stamps()[1:] == ((), ()), "neither is a regular file"

    def gone(_: str) -> None:
        raise BrokenPipeError

    workshop = file_watch.Workshop(subject, gone)
    workshop._update()
    assert workshop.built is not None and "about2" in workshop.built.problem


def test_the_end_does_not_wait_for_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build takes as long as it takes; Ctrl-C and SIGTERM leave it alone."""
    begun, go = threading.Event(), threading.Event()

    def slow(*_: Any, **__: Any) -> str:
        begun.set()
        go.wait(30)
        return ""

    monkeypatch.setattr(live, "text", slow)
    path = tmp_path / "small.yaml"
    path.write_text(MODEL, encoding="utf-8")
    one = Served(path)
    assert begun.wait(20)
    one.close()
    assert one.server.workshop.thread.is_alive() and one.server.workshop.thread.daemon, "it was not waited for"
    assert file_watch.LEAVE < 0.5, "s: most of the second in which Ctrl-C ends it is left for the interpreter"
    go.set()
    one.server.workshop.thread.join(10)
    assert one.server.workshop.built is None, "nothing is published after the end"


def test_a_file_written_in_pieces_is_read_after_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces 0.1 s apart for a second, on a clock of its own: with the wait as it is shipped nothing is read between two of them."""
    path = tmp_path / "small.yaml"
    path.write_text(MODEL, encoding="utf-8")
    workshop = file_watch.Workshop(file_watch.Subject(path, {}), print)
    workshop.built = file_watch.Built("1", b"", "")
    clock = [0.0]
    monkeypatch.setattr(file_watch.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(workshop.subject, "stamps", lambda: (min(int(10.0 * clock[0] + 1e-9), 10),))  # another one with every piece

    def wait(seconds: float) -> bool:
        clock[0] += seconds
        return False

    monkeypatch.setattr(workshop.stopped, "wait", wait)
    assert workshop._settled()
    assert clock[0] >= 1.0 + 0.1, "read while it was being written"
    assert clock[0] < 2.0
