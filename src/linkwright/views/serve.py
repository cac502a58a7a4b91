"""A model in the browser that follows its file: one page from this machine, built again whenever the file is saved.

The server listens on 127.0.0.1 only and knows two addresses: `/`, the page, and `/version`, a short text that changes when a new
page is ready. It reads nothing else from the disk for anybody, and refuses requests that other sites make the browser send.
A thread looks at the files and builds; meanwhile the last page keeps being served. A model that cannot be read gives a page with
the message, which gives way to the mechanism once the file is right.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import socketserver
import threading
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from linkwright import files, loading
from linkwright.errors import LinkwrightError, UsageError
from linkwright.models.finding import model_file
from linkwright.system import System
from linkwright.views import live
from linkwright.views.page import opened

HOST = "127.0.0.1"
LOOK = 0.2  # s between looks at the files
READ = 10  # looks after which they are read in any case
SETTLE = 0.1  # s a file must stay the same before it is read: editors write in pieces
PATIENCE = 20.0  # s a first visitor waits for the first page
SOURCES = (".stl", ".csv")  # endings of files a model may refer to

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
WAITING = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>Linkwright</title></head>'
    "<body><p>The mechanism is being computed; this page comes back in a moment.</p></body></html>"
)


class Built(NamedTuple):
    """A page ready to be served, and the version it is."""

    version: str
    page: bytes
    problem: str  # "" if the model is fine


# -------------------------------------------------------------------- what to build


class Subject:
    """A model's or run's file: the files it is made of, and the page made from them."""

    def __init__(self, source: str | os.PathLike[str], changes: dict[str, Any], steps: int | None = None):
        text = os.fspath(source)
        self.is_run = text.lower().endswith(files.RUNS)
        self.path = Path(text) if self.is_run else model_file(source)
        self.source, self.changes, self.steps = source, changes, steps
        if not self.path.is_file():
            raise UsageError(f"there is no file '{self.path}'. Give a shipped model's name, a YAML file, or a saved run (.npz, .parquet).")
        if self.is_run and changes:
            raise UsageError(f"a saved run cannot be changed ({', '.join(changes)}); change the model and simulate it again.")
        self.others: tuple[Path, ...] = ()

    def fingerprint(self) -> str:
        """Changes with the content of any of the files; also when one comes or goes."""
        if not self.is_run:
            self.others = mentioned(self.path, self.others)
        digest = hashlib.sha256()
        for path in (self.path, *self.others):
            try:
                digest.update(path.read_bytes())
            except OSError as problem:
                digest.update(f"no file: {problem.errno}".encode())
            digest.update(b"\0")
        return digest.hexdigest()[:16]

    def stamps(self) -> tuple[Any, ...]:
        """What a look at the folder tells without reading: cheap, and enough to know that nothing happened."""
        return tuple(_stamp(path) for path in (self.path, *self.others))

    def build(self, version: str) -> Built:
        """The page of the files as they are, or the page that says what is wrong with them."""
        reload = f"/version?have={version}"
        try:
            if self.is_run:
                run = loading.run(self.path)
                text = live.text(run.source.system, run=run, reload=reload)
            else:
                text = live.text(System(loading.description(self.source, **self.changes)), reload=reload, steps=self.steps)
            return Built(version, text.encode(), "")
        except LinkwrightError as problem:
            message = " ".join(str(problem).split())
        except Exception as problem:  # the server outlives whatever a half-written model can cause
            message = f"Linkwright itself failed on this model ({type(problem).__name__}: {problem}). Please report it with the model."
        return Built(version, live.error_text(self.path.name, message, reload=reload).encode(), message)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        s = path.stat()
    except OSError:
        return ()
    return (s.st_mtime_ns, s.st_size, s.st_ino)


def mentioned(path: Path, known: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Meshes and tables that a model file refers to; those `known` before if it cannot be read just now."""
    import yaml

    try:
        tokens = list(yaml.scan(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return tuple(known)
    names = [t.value for t in tokens if isinstance(t, yaml.ScalarToken) and t.value.lower().endswith(SOURCES)]
    found = (path.parent / name for name in names if "\0" not in name)
    return tuple(dict.fromkeys(p for p in found if p.is_file() or not p.exists()))  # not pipes, whose reading may never end


class Workshop:
    """Builds the page in its own thread whenever the files have changed and come to rest."""

    def __init__(self, subject: Subject, out: Callable[[str], Any]):
        self.subject, self.out = subject, out
        self.ready, self.stopped = threading.Event(), threading.Event()
        self.built: Built | None = None
        self.thread = threading.Thread(target=self._work, name="linkwright page", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.stopped.set()
        if self.thread.is_alive():
            self.thread.join(5.0)

    def _work(self) -> None:
        seen: Any = None
        for look in itertools.count():
            if self.stopped.is_set():
                return
            stamps = self.subject.stamps()
            again = look % READ == 0 and not self.subject.is_run  # clocks of some disks are too coarse to show every change
            if (stamps != seen or again) and self._changed():
                self._build()
            seen = stamps
            self.stopped.wait(LOOK)

    def _changed(self) -> bool:
        """Whether the content is another than that of the page, once it has stopped changing."""
        before = self.subject.fingerprint()
        while self.built is None or before != self.built.version:
            if self.built is not None and self.stopped.wait(SETTLE):
                return False
            now = self.subject.fingerprint()
            if now == before:
                return True
            before = now
        return False

    def _build(self) -> None:
        began = time.perf_counter()
        previous, name = self.built, self.subject.path.name
        self.built = self.subject.build(self.subject.fingerprint())
        self.ready.set()
        if self.built.problem:
            self._say(f"{name}: {self.built.problem}" if name not in self.built.problem else self.built.problem)
        elif previous is not None:
            self._say(f"{name}: built again in {time.perf_counter() - began:.1f} s")

    def _say(self, text: str) -> None:
        """Whoever read the output may have gone; the page goes on."""
        with contextlib.suppress(OSError, ValueError):
            self.out(text)


# -------------------------------------------------------------------- how it is served


class Handler(BaseHTTPRequestHandler):
    """Answers `/` and `/version` to the user's own browser, and nothing to anybody else."""

    server_version, sys_version = "linkwright", ""
    timeout = 20  # s after which a silent connection is closed
    server: Server

    def do_GET(self) -> None:
        if not self._own():
            self._answer(HTTPStatus.FORBIDDEN, "This page answers only to the browser of this machine, at its own address.")
            return
        path = self.path.partition("?")[0]
        if path == "/version":
            self._answer(HTTPStatus.OK, self.server.version)
        elif path == "/":
            self._answer(HTTPStatus.OK, self.server.page, "text/html")
        else:
            self._answer(HTTPStatus.NOT_FOUND, "There is only one page here, at /.")

    do_HEAD = do_GET

    def _refuse(self) -> None:
        if self._own():
            self._answer(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD are answered here.")
        else:
            self._answer(HTTPStatus.FORBIDDEN, "This page answers only to the browser of this machine, at its own address.")

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = _refuse

    def _own(self) -> bool:
        """Asked for by its own name, and by no other site: names that resolve to this machine are not enough."""
        places = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        site = self.headers.get("Sec-Fetch-Site", "none")
        return (
            len(hosts) == 1
            and hosts[0].lower() in places
            and all(x.lower() in {f"http://{p}" for p in places} for x in origins)
            and site in ("none", "same-origin")
        )

    def _answer(self, status: HTTPStatus | int, content: str | bytes, kind: str = "text/plain") -> None:
        data = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Requests that are none: a short text instead of the library's page."""
        unknown = code == HTTPStatus.NOT_IMPLEMENTED
        self._answer(HTTPStatus.METHOD_NOT_ALLOWED if unknown else code, "Only GET and HEAD are answered here.")

    def log_message(self, format: str, *args: Any) -> None:
        """Visits are nobody's business."""


class Server(ThreadingHTTPServer):
    """The server of one model or run: `with Server("wiper") as s: s.address`."""

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # elsewhere it would let two programs have one port

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        port: int = 0,
        out: Callable[[str], Any] = print,
        changes: dict[str, Any] | None = None,
        steps: int | None = None,
    ):
        self.workshop = Workshop(Subject(source, changes or {}, steps), out)
        try:
            super().__init__((HOST, port), Handler)
        except OverflowError as problem:
            raise UsageError(f"port {port} is none: ports are numbers from 1 to 65535, and 0 for any that is free.") from problem
        except OSError as problem:
            why = "is used by another program" if problem.errno == errno.EADDRINUSE else f"cannot be used ({problem.strerror or problem})"
            raise UsageError(f"port {port} {why}. Choose another, or none: then a free one is taken.") from problem
        self.workshop.start()

    def server_bind(self) -> None:
        """Without asking for the machine's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is nothing to tell."""

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server_port}/"

    @property
    def page(self) -> bytes:
        self.workshop.ready.wait(PATIENCE)
        return self.workshop.built.page if self.workshop.built is not None else WAITING.encode()

    @property
    def version(self) -> str:
        return self.workshop.built.version if self.workshop.built is not None else ""

    def server_close(self) -> None:
        super().server_close()
        self.workshop.stop()


def serve(
    source: str | os.PathLike[str],
    *,
    port: int = 0,
    browser: bool = True,
    out: Callable[[str], Any] = print,
    steps: int | None = None,
    **changes: Any,
) -> int:
    """Show a model (shipped name or file) or a saved run in the browser until Ctrl-C, building it again when it is saved.

    `steps` are those of the page's cycle, `changes` those of `lw.load`. Returns 0, the exit code of a program ended as it should be.
    """
    with Server(source, port=port, out=out, changes=changes, steps=steps) as server:
        try:
            out(f"{server.workshop.subject.path.name} is shown at {server.address} and follows the file. Ctrl-C ends.")
            if browser and not opened(server.address):
                out("No browser could be opened: open that address yourself.")
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            out("Ended.")
    return 0
