"""A model in the browser that follows its file: one page from this machine, built again whenever the file is saved.

The server listens on 127.0.0.1 only, and answers only to those who know its key, a random part of the address that is printed on the
terminal and changes with every start: other users of the machine cannot read the page. Behind the key are two addresses, the page and
`version`, a short text that changes when a new page is ready. The browser is opened with a ticket that leads to the key and is valid once,
because every user may see the arguments of a process. Requests that other sites make the browser send are refused.

With an editor (`linkwright edit`) there are those of `rings/studio/editor/requests.py` below `edit/` too. They alone take requests with a
body: of a stated length, limited, of the content type that no other site can send without asking, and only with the page's own `Origin`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Generator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from linkwright.api import UsageError
from linkwright.rings.studio.editor.requests import Editor, Reply
from linkwright.rings.studio.file_watch import Subject, Workshop
from linkwright.rings.studio.page import opened

HOST = "127.0.0.1"
PATIENCE = 20.0  # s a first visitor waits for the first page
SILENT = 20.0  # s after which a connection that sends nothing is closed
LONGEST = 45.0  # s after which any connection is closed, however slowly it continues to send
DISCARDED, PAUSE = 200_000_000, 2.0  # bytes of a refused request that are read, and s without any after which the rest is not waited for

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


class Handler(BaseHTTPRequestHandler):
    """Answers the page and its version to the user's own browser; everyone else is refused."""

    server_version, sys_version = "linkwright", ""
    timeout = SILENT
    server: Server

    def do_GET(self) -> None:
        if not self._own():
            self._answer(HTTPStatus.FORBIDDEN, "This page is open only to the browser of this machine, at its own address.")
            return
        path, _, query = self.path.partition("?")
        key, *rest = path.removeprefix("/").split("/")
        if path == "/" and self.server.redeemed(query):
            self._answer(HTTPStatus.SEE_OTHER, "", location=self.server.address)
        elif not _same(key, self.server.key):
            self._answer(HTTPStatus.FORBIDDEN, "Open the whole address that Linkwright printed: its last part is the key to this page.")
        elif not rest:
            self._answer(HTTPStatus.SEE_OTHER, "", location=self.server.address)
        elif rest == ["version"]:
            self._answer(HTTPStatus.OK, self.server.version)
        elif rest == [""]:
            self._answer(HTTPStatus.OK, self.server.page, "text/html")
        elif len(rest) == 2 and rest[0] == "edit" and self.server.editor is not None:
            with self.server.computing(self.request):
                reply = self.server.editor.get(rest[1], query)
            self._reply(reply)
        else:
            self._answer(HTTPStatus.NOT_FOUND, "There is only one page here.")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """A change by the editor's page."""
        path, _, query = self.path.partition("?")
        key, *rest = path.removeprefix("/").split("/")
        editor = self.server.editor
        if editor is None or len(rest) != 2 or rest[0] != "edit":
            self._refuse()
        elif not self._own() or not self.headers.get("Origin"):
            self._answer(HTTPStatus.FORBIDDEN, "This page is open only to the browser of this machine, at its own address.")
        elif not _same(key, self.server.key):
            self._answer(HTTPStatus.FORBIDDEN, "Open the whole address that Linkwright printed: its last part is the key to this page.")
        elif self._take(editor, rest[1], query):
            return
        self._discard_body()

    def _take(self, editor: Editor, name: str, query: str) -> bool:
        """Read the body of a request, if it may have one, and do it; False if its body is not read."""
        most, kind = editor.limit(name)
        length = self.headers.get("Content-Length", "")
        given = (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        if not most:
            self._refused(HTTPStatus.NOT_FOUND, "There is no such address.")
        elif self.headers.get("Transfer-Encoding") or not re.fullmatch("[0-9]{1,12}", length):
            self._refused(HTTPStatus.LENGTH_REQUIRED, "The length of the request is missing.")
        elif int(length) > most:
            self._refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The request is too large: at most {most / 1e6:g} MB are taken.")
        elif given != kind:
            self._refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The request must be {kind}.")
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                with self.server.computing(self.request):
                    reply = editor.post(name, query, body)
                self._reply(reply)
            return True
        return False

    def _discard_body(self) -> None:
        """Read the rest of a refused request: a connection that is closed before loses the answer on its way."""
        self.close_connection = True
        length = self.headers.get("Content-Length", "")
        left = min(int(length), DISCARDED) if re.fullmatch("[0-9]{1,12}", length) else 0
        with contextlib.suppress(OSError):
            self.wfile.flush()
            self.connection.settimeout(PAUSE)
            while left > 0 and (piece := self.rfile.read(min(left, 65536))):
                left -= len(piece)

    def _refused(self, status: HTTPStatus, text: str) -> None:
        self._json(status, {"kind": "refused", "text": text})

    def _reply(self, reply: Reply) -> None:
        self._json(reply.status, reply.content)

    def _json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        self._answer(status, text, "application/json")

    def _refuse(self) -> None:
        if self._own():
            self._answer(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD are answered here.")
        else:
            self._answer(HTTPStatus.FORBIDDEN, "This page is open only to the browser of this machine, at its own address.")

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = _refuse

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

    def _answer(self, status: HTTPStatus | int, content: str | bytes, kind: str = "text/plain", location: str = "") -> None:
        data = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if location:
            self.send_header("Location", location)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no request with a short text instead of the library's page."""
        unknown = code == HTTPStatus.NOT_IMPLEMENTED
        self._answer(HTTPStatus.METHOD_NOT_ALLOWED if unknown else code, "Only GET and HEAD are answered here.")

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests."""


class Server(ThreadingHTTPServer):
    """The server of one model or run: `with Server("wiper") as s: s.address`; with `edit` a model file and its editor."""

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
        edit: bool = False,
    ):
        self.editor = Editor(Path(source)) if edit else None
        self.workshop = None if edit else Workshop(Subject(source, changes or {}, steps), out)
        self.key = secrets.token_urlsafe(16)
        self._ticket = ""
        self._lock = threading.Lock()
        self._since: dict[socket.socket, float] = {}  # open connections and when they began
        try:
            super().__init__((HOST, port), Handler)
        except OverflowError as problem:
            raise UsageError(
                f"port {port} is none: ports are numbers from 1 to 65535, and 0 for any that is free.", name="port"
            ) from problem
        except OSError as problem:
            why = "is used by another program" if problem.errno == errno.EADDRINUSE else f"cannot be used ({problem.strerror or problem})"
            raise UsageError(f"port {port} {why}. Choose another, or none: then a free one is taken.", name="port") from problem
        if self.workshop is not None:
            self.workshop.start()

    def server_bind(self) -> None:
        """Without asking for the machine's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that goes away in the middle of an answer."""

    @property
    def address(self) -> str:
        """Address of the page, with the key to it."""
        return f"http://{HOST}:{self.server_port}/{self.key}/"

    def ticket(self) -> str:
        """An address that leads to the page once; a new one takes the place of the last."""
        with self._lock:
            self._ticket = secrets.token_urlsafe(16)
            return f"http://{HOST}:{self.server_port}/?open={self._ticket}"

    def redeemed(self, query: str) -> bool:
        """True if a query holds the ticket, which is used up by this."""
        with self._lock:
            right = bool(self._ticket) and _same(query, f"open={self._ticket}")
            if right:
                self._ticket = ""
            return right

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._since[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._since.pop(request, None)
        super().shutdown_request(request)

    @contextlib.contextmanager
    def computing(self, request: Any) -> Generator[None]:
        """A connection whose request is complete: the time that the answer takes to compute does not count."""
        with self._lock:
            self._since.pop(request, None)
        try:
            yield
        finally:
            with self._lock:
                self._since[request] = time.monotonic()

    def service_actions(self) -> None:
        """Close connections that have been open too long: a byte now and then keeps a connection from being silent."""
        with self._lock:
            late = [request for request, since in self._since.items() if time.monotonic() - since > LONGEST]
        for request in late:
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    @property
    def name(self) -> str:
        """Name of the file that is shown."""
        return self.editor.session.path.name if self.editor is not None else self.workshop.subject.path.name if self.workshop else ""

    @property
    def page(self) -> bytes:
        if self.editor is not None:
            return self.editor.page().encode()
        if self.workshop is not None:
            self.workshop.ready.wait(PATIENCE)
            if self.workshop.built is not None:
                return self.workshop.built.page
        return WAITING.encode()

    @property
    def version(self) -> str:
        if self.editor is not None:
            return self.editor.session.version
        return self.workshop.built.version if self.workshop is not None and self.workshop.built is not None else ""

    def server_close(self) -> None:
        super().server_close()
        if self.workshop is not None:
            self.workshop.stop()


def serve(
    source: str | os.PathLike[str],
    *,
    port: int = 0,
    browser: bool = True,
    out: Callable[[str], Any] = print,
    steps: int | None = None,
    edit: bool = False,
    **changes: Any,
) -> int:
    """Show a model (built-in name or file) or a saved run in the browser until Ctrl-C, building it again when it is saved.

    `steps` are those of the page's cycle, `changes` those of `lw.load`; `edit`: a model file that is drawn and changed in the page.
    Returns 0 after Ctrl-C, the ordinary way to end it; what a subclass of KeyboardInterrupt stands for (SIGTERM on the command line) is
    left to the caller.
    """
    with Server(source, port=port, out=out, changes=changes, steps=steps, edit=edit) as server:
        try:
            does = "is edited" if edit else "is shown"
            out(f"{server.name} {does} at {server.address} and follows the file. Ctrl-C ends.")
            if browser and not opened(server.ticket()):
                out("No browser could be opened: open that address yourself.")
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt as stop:
            if type(stop) is not KeyboardInterrupt:
                raise
            out("Ended.")
    return 0


def _same(given: str, right: str) -> bool:
    """Compare in a time that does not depend on how much agrees."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), right.encode())
