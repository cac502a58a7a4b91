"""Addresses of the editor's server and what they do. `rings/studio/server.py` has checked who asks before anything comes here.

    GET   edit/state, edit/version, edit/backdrop, edit/kernels?id=..
    POST  edit/do, edit/undo, edit/redo, edit/resolve, edit/save, edit/upload?name=..

Every answer is JSON with its `kind`: answer, ask, refused, conflict, version, kernels, uploaded. Requests that are well formed have status
200, also where they cannot be done; the kind says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from linkwright.api import LinkwrightError, ModelError, UsageError, files
from linkwright.model.edits import Edited
from linkwright.model.file.backdrop import read_backdrop
from linkwright.rings.studio import live
from linkwright.rings.studio.editor import backdrop
from linkwright.rings.studio.editor.responses import EditAnswers, conflict_json
from linkwright.rings.studio.editor.session import Conflict, Session

MOST_JSON = 1_200_000  # bytes of a request: a text of a million characters, and what is around it
JSON, BYTES = "application/json", "application/octet-stream"

FOLDER = "editor"  # of the assets


class MalformedRequest(UsageError):
    """A request that no page of ours sends."""


class Reply(NamedTuple):
    """Status and JSON of an answer."""

    status: HTTPStatus
    content: dict[str, Any]


class Editor:
    """The editor of one file, for a server."""

    def __init__(self, path: Path):
        self.session = Session(path)
        self.answers = EditAnswers(self.session)
        self.gets: dict[str, Callable[[Mapping[str, str]], Reply]] = {
            "state": lambda query: self._state(),
            "version": lambda query: self._version(),
            "backdrop": lambda query: self._backdrop(),
            "kernels": lambda query: Reply(HTTPStatus.OK, self.answers.kernels(query.get("id", ""), bool(query.get("fresh")))),
        }
        self.posts: dict[str, Callable[[Mapping[str, Any]], Reply]] = {
            "do": self._do,
            "undo": lambda given: self._moved(self.session.undo, given),
            "redo": lambda given: self._moved(self.session.redo, given),
            "resolve": self._resolve,
            "save": self._save,
        }

    def page(self) -> str:
        """The page, with the first answer in it."""
        self.session.look()
        return page_text(self.answers.state())

    # ---------------------------------------------------------------- who answers what

    def get(self, name: str, query: str) -> Reply:
        """The answer to a question."""
        if name not in self.gets:
            return Reply(HTTPStatus.NOT_FOUND, {"kind": "refused", "text": "There is no such address."})
        return self._guarded(lambda: self.gets[name](_fields(query)))

    def limit(self, name: str) -> tuple[int, str]:
        """Most bytes of a request, and its content type; 0 for what cannot be sent."""
        if name == "upload":
            return backdrop.MOST_BYTES, BYTES
        return (MOST_JSON, JSON) if name in self.posts else (0, "")

    def post(self, name: str, query: str, body: bytes) -> Reply:
        """Do what a request asks for."""
        if name == "upload":
            return self._guarded(lambda: self._upload(_fields(query).get("name", ""), body))
        return self._guarded(lambda: self.posts[name](_read(body)))

    def _guarded(self, work: Callable[[], Reply]) -> Reply:
        try:
            return work()
        except MalformedRequest as problem:
            return Reply(
                HTTPStatus.BAD_REQUEST, {"kind": "refused", "text": str(problem), "line": None, "ids": [], "version": self.session.version}
            )
        except LinkwrightError as problem:  # the request is right, but cannot be done: an answer like any other
            where = problem.where if isinstance(problem, ModelError) else None
            text = problem.message if isinstance(problem, ModelError) else str(problem)
            line = where.line if where is not None and where.line else None
            return Reply(HTTPStatus.OK, {"kind": "refused", "text": text, "line": line, "ids": [], "version": self.session.version})
        except Exception as problem:  # the server outlives whatever a request can cause
            text = f"Linkwright itself failed on this ({type(problem).__name__}: {problem}). Please report it with the model."
            return Reply(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                {"kind": "refused", "text": text, "line": None, "ids": [], "version": self.session.version},
            )

    # ---------------------------------------------------------------- questions

    def _state(self) -> Reply:
        self.session.look()
        return Reply(HTTPStatus.OK, self.answers.state())

    def _version(self) -> Reply:
        self.session.look()
        conflict = self.session.conflict is not None
        return Reply(HTTPStatus.OK, {"kind": "version", "version": self.session.version, "file": self.answers.file(), "conflict": conflict})

    def _backdrop(self) -> Reply:
        sheet = self.answers.reader.reading().sheet
        found = read_backdrop(sheet.context, sheet.node("backdrop"))
        if found is None:
            return Reply(HTTPStatus.OK, {"kind": "none"})
        return Reply(HTTPStatus.OK, backdrop.backdrop_json(self.session.path.parent, found.file))

    # ---------------------------------------------------------------- changes

    def _do(self, given: Mapping[str, Any]) -> Reply:
        operations: Any = given.get("ops") if "ops" in given else [given.get("op")]
        answers = given.get("answers") or {}
        if not isinstance(operations, list) or not all(isinstance(op, dict) for op in operations) or not isinstance(answers, dict):
            raise MalformedRequest("an edit has `op`, an operation, or `ops`, a list of them. `answers` is a mapping.")
        drag, label = (str(given.get(k) or "")[:200] for k in ("drag", "label"))
        answers = {str(k): str(x) for k, x in answers.items()}
        if self.answers.reader.reading().stale and not any(op.get("do") == "set_text" for op in operations):
            raise UsageError(
                f"{self.session.path.name} cannot be read at the moment, so nothing can be drawn. Correct the text, or undo.",
                name=self.session.path.name,
            )
        found = self.session.edit(_version_of(given), operations, answers, drag=drag, label=label)
        if isinstance(found, Conflict):
            return Reply(HTTPStatus.OK, conflict_json(self.session, found))
        if found.questions:
            return Reply(HTTPStatus.OK, _questions(self.session, found))
        return Reply(HTTPStatus.OK, self.answers.state())

    def _moved(self, way: Callable[[str], None], given: Mapping[str, Any]) -> Reply:
        way(_version_of(given))
        return Reply(HTTPStatus.OK, self.answers.state())

    def _resolve(self, given: Mapping[str, Any]) -> Reply:
        self.session.resolve(str(given.get("choose", "")))
        return Reply(HTTPStatus.OK, self.answers.state())

    def _save(self, given: Mapping[str, Any]) -> Reply:
        self.session.save(str(given.get("name") or ""))
        return Reply(HTTPStatus.OK, self.answers.state())

    def _upload(self, name: str, body: bytes) -> Reply:
        return Reply(HTTPStatus.OK, {"kind": "uploaded", "file": backdrop.stored(self.session.path.parent, name, body)})


def _questions(session: Session, found: Edited) -> dict[str, Any]:
    return {"kind": "ask", "version": session.version, "questions": [asdict(q) for q in found.questions]}


def _version_of(given: Mapping[str, Any]) -> str:
    base = given.get("base")
    if not isinstance(base, str):
        raise MalformedRequest("`base`, the version of the text that was edited, is missing.")
    return base


def _fields(query: str) -> dict[str, str]:
    try:
        return {k: x[0] for k, x in parse_qs(query, max_num_fields=10).items()} if query else {}
    except ValueError as problem:
        raise MalformedRequest("the address has more than 10 fields.") from problem


def _read(body: bytes) -> Mapping[str, Any]:
    """The mapping of a request; raise UsageError for what is no JSON or nests too deeply."""
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise MalformedRequest("the request is not JSON.") from problem
    if not isinstance(found, dict):
        raise MalformedRequest("the request must be a JSON object.")
    if not files.is_text(json.dumps(found, ensure_ascii=False)):
        raise MalformedRequest("the request has half of a character (a lone surrogate), which no file can hold. Nothing was changed.")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)


# The editor's page: the page of a mechanism with the editor in it, and the first answer; kernels follow when it asks for them.


def page_text(answer: dict[str, Any]) -> str:
    """The page that begins with this answer."""
    known = {
        "name": answer["name"],
        "title": answer["name"],
        "axes": answer["axes"],
        "units": answer["units"],
        "planar": True,
        "edit": answer,
        "empty": True,
        "reload": None,
        "version": import_module("linkwright").__version__,
    }
    return live.assembled(answer["name"], "var mechanism=null;", known, planar=True, more=FOLDER)
