"""Random requests to the two servers: the page of a model, which follows its file, and the editor.

An input is a model's text and a few steps: requests as the page sends them, with random operations and arguments; requests that no page
sends; connections that break off or are slow; another program that writes the file. After every input the server still answers, the file
holds what the session says, and nothing else is left in the folder.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linkwright.rings.studio import file_watch, server
from linkwright.rings.studio.editor import page_kernels, session
from tests.fuzz import corpus
from tests.fuzz.changes.texts import change_text
from tests.fuzz.changes.trees import change_tree, copied, yaml_text
from tests.fuzz.judging import UNFIT, Finding, strict
from tests.fuzz.request_steps import Step, some_steps

WAITING = 60.0  # s by the clock for one answer
GONE = (BrokenPipeError, ConnectionError, TimeoutError)  # of a client that left: expected


@dataclass(frozen=True)
class RequestInput:
    """A model's text, the server that shows it, and what is sent."""

    text: str
    edit: bool
    steps: tuple[Step, ...]

    def shown(self) -> str:
        lines = "\n".join(f"  {s.kind}: {json.dumps(s.content, default=repr)[:600]}" for s in self.steps)
        return f"{'editor' if self.edit else 'page'}:\n{lines}\n{self.text[:3000]}"


class Requests:
    """The target of `python -m tests.fuzz server`."""

    name = "server"

    def make(self, rng: random.Random) -> RequestInput:
        edit = rng.random() < 0.75
        k = rng.randrange(len(corpus.small_texts()))
        text = corpus.small_texts()[k]
        if rng.random() < 0.3:
            text = rng.choice(("", "name: empty\nplane: xy\n", corpus.BARS, corpus.SLIDER, "drawing: {A: [0, 0]}\n"))
        elif rng.random() < 0.2:
            tree = copied(corpus.trees()[corpus.texts().index(text)])
            change_tree(rng, tree, corpus.trees())
            text = yaml_text(tree)
        elif rng.random() < 0.2:
            text = change_text(rng, text)
        text = text.replace("\0", "").encode("utf-8", "replace").decode()
        return RequestInput(text, edit, some_steps(rng, text, edit))

    def run(self, given: RequestInput, folder: Path) -> str:
        """Send everything to a server of its own; return what became of it."""
        path = folder / "model.yaml"
        path.write_bytes(given.text.encode())
        with _impatient(), strict():
            one = _Served(path, given.edit, repr(given).lower())
            try:
                for step in given.steps:
                    one.do(step)
                one.judge()
            finally:
                one.close()
            one.judge_folder(folder)
        return "edited" if given.edit else "shown"

    def smaller(self, given: RequestInput) -> Iterator[RequestInput]:
        for k in range(len(given.steps)):
            yield replace(given, steps=given.steps[:k] + given.steps[k + 1 :])
        lines = given.text.splitlines(keepends=True)
        for k in range(len(lines)):
            yield replace(given, text="".join(lines[:k] + lines[k + 1 :]))


@contextlib.contextmanager
def _impatient() -> Iterator[None]:
    """Waiting times of the servers, short."""
    places: tuple[tuple[Any, str, float], ...] = (
        (session, "SETTLE", 0.005),
        (session, "PATIENCE", 0.2),
        (page_kernels, "IDLE", 0.0),
        (file_watch, "LOOK", 0.01),
        (file_watch, "SETTLE", 0.01),
        (file_watch, "GLANCE", 0.005),
        (file_watch, "COARSE", 0.0),
    )
    before = [getattr(module, name) for module, name, _ in places]
    for module, name, value in places:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(places, before, strict=True):
            setattr(module, name, value)


class _Served:
    """A server in this process, what it said, and what went wrong inside."""

    def __init__(self, path: Path, edit: bool, given: str):
        self.path, self.edit, self.given = path, edit, given
        self.wrong: list[BaseException] = []
        self.version = ""
        served = self

        class Listening(server.Server):
            def handle_error(self, request: Any, client_address: Any) -> None:
                import sys

                problem = sys.exc_info()[1]
                if problem is not None and not isinstance(problem, GONE):
                    served.wrong.append(problem)

        self.server = Listening(path, edit=edit, out=lambda text: None)
        if self.server.editor is not None:
            for table in (self.server.editor.gets, self.server.editor.posts):
                for name, function in list(table.items()):
                    table[name] = self._recorded(function)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def _recorded(self, function: Any) -> Any:
        """The same, with the exceptions that are no answers noted."""
        from linkwright.errors import LinkwrightError

        def call(given: Any) -> Any:
            try:
                return function(given)
            except LinkwrightError:
                raise
            except Exception as problem:
                self.wrong.append(problem)
                raise

        return call

    # ---------------------------------------------------------------- steps

    def do(self, step: Step) -> None:
        getattr(self, f"_{step.kind}")(**step.content)
        if self.wrong:
            raise self.wrong[0]

    def _get(self, path: str) -> None:
        self._asked("GET", f"/{self.server.key}/{path}", None, {})

    def _post(self, path: str, body: Any) -> None:
        """As the page does; `base` is filled in with the version that the server named last."""
        if isinstance(body, dict) and body.get("base") == "?":
            body = {**body, "base": self.version or self.server.version}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        self._asked(
            "POST", f"/{self.server.key}/{path}", data, {"Content-Type": kind, "Origin": f"http://127.0.0.1:{self.server.server_port}"}
        )

    def _together(self, requests: list[dict[str, Any]]) -> None:
        """Several at the same time."""
        threads = [threading.Thread(target=self._quiet, args=(r,), daemon=True) for r in requests]
        for t in threads:
            t.start()
        for t in threads:
            t.join(WAITING)
            if t.is_alive():
                raise Finding("requests at the same time are not answered")

    def _quiet(self, request: dict[str, Any]) -> None:
        try:
            getattr(self, f"_{request['kind']}")(**request["content"])
        except BaseException as problem:
            self.wrong.append(problem)

    def _raw(self, data: bytes, pause: float = 0.0, answered: bool = False) -> None:
        """Bytes as they are; KEY and PORT stand for those of the server. The connection is left at once, or after the answer."""
        sent = data.replace(b"KEY", self.server.key.encode()).replace(b"PORT", str(self.server.server_port).encode())
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.server_port), timeout=WAITING) as s:
            s.sendall(sent[: len(sent) // 2])
            time.sleep(pause)
            s.sendall(sent[len(sent) // 2 :])
            if answered:
                s.shutdown(socket.SHUT_WR)
                got = b""
                while piece := s.recv(65536):
                    got += piece
                self._judge_answer(200, got[:200_000].decode("utf-8", "replace"))

    def _write(self, text: str) -> None:
        """Another program writes the file."""
        self.path.write_text(text, encoding="utf-8", newline="\n")
        time.sleep(0.03)

    def _remove(self) -> None:
        self.path.unlink(missing_ok=True)
        time.sleep(0.01)

    def _asked(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=WAITING)
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8")
        except TimeoutError as late:
            raise Finding(f"{method} {path.partition('/')[2][:60]} is not answered") from late
        except (http.client.HTTPException, OSError, UnicodeError) as problem:
            if self.wrong:
                return
            raise Finding(f"{method} {path[-60:]}: {type(problem).__name__} {problem}") from problem
        finally:
            connection.close()
        self._judge_answer(answer.status, text, "json" in (answer.getheader("Content-Type") or ""))

    # ---------------------------------------------------------------- judging

    def _judge_answer(self, status: int, text: str, is_json: bool = False) -> None:
        if status >= 500:
            if not self.wrong:
                raise Finding(f"status {status}: {text[:300]}")
            return
        if is_json:
            found = json.loads(text, parse_constant=_refused)
            self.version = found.get("version") or self.version
            unfit = UNFIT.search(str(found.get("text"))) if found.get("kind") == "refused" else None
            if unfit is not None and unfit[0].lower() not in self.given:
                raise Finding(f"message with {unfit[0]!r}: {found['text'][:300]}")

    def judge(self) -> None:
        """The server still answers, and is right about the file."""
        self._get("edit/version" if self.edit else "version")
        self._get("")
        if self.wrong:
            raise self.wrong[0]
        editor = self.server.editor
        if editor is not None:
            editor.session.look()
            state, _ = editor.session.state()
            place = editor.session.path
            if state == session.SAVED and place.read_bytes().decode("utf-8") != editor.session.text:
                raise Finding("the file does not hold the text of the session")
        elif self.server.workshop is not None and (built := self.server.workshop.built) and "Linkwright itself failed" in built.problem:
            raise Finding(built.problem[:300])

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(WAITING)

    def judge_folder(self, folder: Path) -> None:
        left = [p.name for p in folder.iterdir() if p.name.startswith(".") or "tmp" in p.name.lower()]
        if left:
            raise Finding(f"files left: {left}")


def _refused(name: str) -> Any:
    raise Finding(f"{name} in JSON")
