"""Steps of an input for the servers: requests of the editor's page with random operations, and requests that no page sends."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from linkwright.errors import LinkwrightError
from linkwright.model.edits import OPERATIONS
from linkwright.model.edits.drawing_draft import Draft, read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from tests.fuzz import corpus, odd
from tests.fuzz.changes.containers import change_json
from tests.fuzz.changes.texts import change_bytes, change_text

# every argument that an operation takes, so that each may be met by each
ARGUMENTS = (
    "through",
    "at",
    "ground",
    "body",
    "points",
    "ids",
    "by",
    "axis",
    "between",
    "on",
    "force",
    "joint",
    "value",
    "mass",
    "id",
    "to",
    "point",
    "name",
    "text",
    "path",
    "length",
    "line",
    "angle",
    "stiffness",
    "damping",
    "torque",
    "ratio",
    "file",
    "scale",
    "opacity",
    "width",
    "height",
    "from",
    "radius",
    "free",
    "pins",
    "unit",
    "bodies",
    "distance",
    "pin",
    "link",
    "kind",
    "section",
    "material",
    "slot",
    "stroke",
    "teeth",
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000020000000308020000003688499f0000001249444154789c63fccfc0c0c0c0c400030800181b5d0105d9b3f72f0000000049454e44ae426082"
)
POST = b"POST /KEY/edit/%s HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:PORT\r\n"
LINES = (
    b"GET /KEY/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    b"GET /KEY/edit/state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://evil.example\r\n\r\n",
    b"GET /KEY/../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    b"GET /KEY/edit/..%2f..%2fetc HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    b"GET /KEY/edit/kernels?id=%00&fresh=1&fresh=2 HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    b"GET /?open=x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    b"GET http://127.0.0.1/KEY/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    POST % b"do" + b"Content-Type: application/json\r\nContent-Length: 5\r\n\r\n{}",
    POST % b"do" + b"Content-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n{}",
    POST % b"do" + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    POST % b"undo" + b"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
    b"PUT /KEY/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\n\r\nabc",
    b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    b"HEAD /KEY/ HTTP/1.0\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    b"BREW /KEY/ HTTP/9.9\r\n\r\n",
    b"GET /KEY/ HTTP/1.1\r\n" + b"X: y\r\n" * 300 + b"\r\n",
    b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n",
    b"GET /KEY/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\r\n\r\n\r\n",
    b"",
)
ADDRESSES = (
    "",
    "version",
    "version?have=1",
    "edit/state",
    "edit/version",
    "edit/backdrop",
    "edit/kernels",
    "edit/kernels?id=k1",
    "edit/kernels?id=k1&fresh=1",
    "edit/",
    "edit/no",
    "edit/do",
    "edit/kernels?" + "a=1&" * 40,
    "%2e%2e",
    "edit/kernels?id=" + "x" * 3000,
    "edit/state?%ff=%00",
)


@dataclass(frozen=True)
class Step:
    """Something that is done to a server: `kind` is a method of what serves, `content` its arguments."""

    kind: str
    content: dict[str, Any]


def some_steps(rng: random.Random, text: str, edit: bool) -> tuple[Step, ...]:
    """A few steps for a server that begins with this text."""
    draft = _draft(text)
    return tuple(_step(rng, text, draft, edit) for _ in range(rng.randint(1, 12 if edit else 5)))


def _draft(text: str) -> Draft:
    try:
        return read_draft(EditSheet(text, "model.yaml"))
    except LinkwrightError:
        return read_draft(EditSheet(corpus.BARS, "model.yaml"))


def _step(rng: random.Random, text: str, draft: Draft, edit: bool) -> Step:
    kind = rng.random()
    if not edit:
        if kind < 0.35:
            return Step("write", {"text": _other_text(rng, text)})
        return _raw(rng) if kind < 0.7 else Step("get", {"path": rng.choice(ADDRESSES)})
    if kind < 0.6:
        return _edit(rng, text, draft)
    if kind < 0.7:
        return Step("get", {"path": rng.choice(ADDRESSES)})
    if kind < 0.8:
        return _raw(rng)
    if kind < 0.86:
        return Step("write", {"text": _other_text(rng, text)})
    if kind < 0.88:
        return Step("remove", {})
    if kind < 0.92:
        return Step("post", {"path": rng.choice(("edit/undo", "edit/redo")), "body": {"base": "?"}})
    if kind < 0.95:
        return rng.choice(
            (
                Step("post", {"path": "edit/resolve", "body": {"choose": rng.choice(("mine", "theirs", "merged", "", 3, None))}}),
                Step(
                    "post",
                    {
                        "path": "edit/save",
                        "body": {"name": rng.choice(("", "copy", "../x", "a/b", ".hidden", "x" * 300, "nul\0", "model.yaml", 5, ["x"]))},
                    },
                ),
                Step(
                    "post",
                    {
                        "path": f"edit/upload?name={rng.choice(('a.png', 'b.svg', '..%2fx.png', 'x.exe', '', 'c.dxf'))}",
                        "body": change_bytes(rng, PNG),
                    },
                ),
            )
        )
    several = [
        _edit(rng, text, draft) if rng.random() < 0.6 else Step("get", {"path": rng.choice(ADDRESSES[:8])})
        for _ in range(rng.randint(2, 5))
    ]
    return Step("together", {"requests": [{"kind": s.kind, "content": s.content} for s in several]})


def _other_text(rng: random.Random, text: str) -> str:
    new = rng.choice(corpus.small_texts()) if rng.random() < 0.3 else text
    return change_text(rng, new).replace("\0", "").encode("utf-8", "replace").decode()


def _raw(rng: random.Random) -> Step:
    data = rng.choice(LINES)
    if rng.random() < 0.3:
        data = change_bytes(rng, data)
    return Step("raw", {"data": data, "pause": rng.choice((0.0, 0.0, 0.01)), "answered": rng.random() < 0.5})


def _edit(rng: random.Random, text: str, draft: Draft) -> Step:
    """An edit: right ones mostly, some with odd arguments, a few that are no edit."""
    kind = rng.random()
    if kind < 0.06:
        op: dict[str, Any] = {"do": "set_text", "text": _other_text(rng, text)}
    else:
        op = _operation(rng, draft)
    if kind > 0.5:
        for _ in range(rng.choice((1, 1, 2))):
            op[rng.choice([*op, rng.choice(ARGUMENTS)])] = _argument(rng, draft)
    body: dict[str, Any] = {"base": "?", "ops": [op] if rng.random() < 0.8 else [op, _operation(rng, draft)]}
    if rng.random() < 0.1:
        body |= {"drag": "d1", "label": odd.scalar(rng)}
    if rng.random() < 0.2:
        body["answers"] = {
            f"drawing.{n}.{i}": rng.choice(("replace", "parameter:L", "parameter:half", "x")) for n in draft.points for i in range(2)
        }
    if kind > 0.95:
        changed = json.loads(change_json(rng, json.dumps(body)))
        return Step(
            "post", {"path": "edit/do", "body": {**changed, "base": "?"} if isinstance(changed, dict) and rng.random() < 0.7 else changed}
        )
    return Step("post", {"path": "edit/do", "body": body})


def _argument(rng: random.Random, draft: Draft) -> Any:
    names = [*draft.points, *draft.bodies, *draft.joints] or ["A"]
    ids = [f"{k}:{n}" for k in ("point", "body", "joint", "spring", "load", "rod", "drive", "parameter") for n in names[:4]]
    return rng.choice(
        (
            rng.choice(names),
            rng.choice(ids),
            odd.scalar(rng),
            odd.scalar(rng),
            [odd.scalar(rng), 1],
            [0.1, 0.2],
            [1e300, -1e300],
            [1e-300, 0],
            [],
            {},
            None,
            True,
            0,
            -1,
            1e308,
            10**30,
            [rng.choice(names), rng.choice(names)],
            {"at": [0.1, 0.2]},
            {"at": odd.scalar(rng)},
            [[0, 0]],
            {rng.choice(names): [0.3, 0.1]},
            {rng.choice(names): odd.scalar(rng)},
            [rng.choice(ids)],
            ["bodies", rng.choice(names), "mass"],
            "x" * 100_000,
            [[[[[]]]]],
        )
    )


def _operation(rng: random.Random, d: Draft) -> dict[str, Any]:
    """An operation on parts that are there."""
    points, bodies, joints = [n for n in d.points if "." not in n] or ["A"], [*d.bodies] or ["ground"], [*d.joints] or ["A"]
    parts = [f"{'drive' if s == 'drive' else s.removesuffix('s')}:{n}" for s, n in d.parts]
    ids = [f"body:{b}" for b in bodies] + [f"point:{p}" for p in points] + [f"joint:{j}" for j in joints] + parts

    def at() -> list[float]:
        return [round(rng.uniform(-1, 1), 3), round(rng.uniform(-1, 1), 3)]

    def where() -> Any:
        return rng.choice(points) if rng.random() < 0.6 else {"at": at(), "ground": rng.random() < 0.3}

    name = rng.choice([n for n in OPERATIONS if n != "set_text"])
    known: dict[str, dict[str, Any]] = {
        "add_link": {"through": [where() for _ in range(rng.randint(1, 3))]},
        "add_pin": {"at": at(), "ground": rng.random() < 0.5},
        "add_point": {"at": at(), "body": rng.choice(bodies)},
        "move": {"points": {rng.choice(points): at()}} if rng.random() < 0.5 else {"ids": [rng.choice(ids)], "by": at()},
        "add_slider": {"at": where(), "axis": at()},
        "add_load": {"on": rng.choice(points), "force": [10.0, "-5 N"]},
        "set_drive": {"joint": rng.choice(joints), "value": rng.choice(("10 rpm", "2 N m", "sin(t)", "", None))},
        "set_mass": {"body": rng.choice(bodies), "mass": "0.4 kg"},
        "set_length": {"body": rng.choice(bodies), "length": "200 mm"},
        "rename": {"id": rng.choice(ids), "to": rng.choice((f"n{rng.randint(0, 99)}", rng.choice(odd.NAMES), rng.choice(points)))},
        "delete": {"ids": rng.sample(ids, min(len(ids), rng.randint(1, 3)))},
        "duplicate": {"ids": rng.sample(ids, min(len(ids), rng.randint(1, 3))), "by": at()},
        "mirror": {"ids": [rng.choice(ids)], "line": [at(), at()], "axis": at(), "at": at()},
        "join": {"point": rng.choice(points), "to": rng.choice(points)},
        "set_ground": {"point": rng.choice(points), "ground": rng.random() < 0.5},
        "extend_link": {"body": rng.choice(bodies), "to": where(), "through": [where()]},
        "set_value": {
            "path": [rng.choice(("bodies", "drawing", "parameters", "drive", "springs")), rng.choice((*bodies, *points)), "mass"],
            "value": "3",
        },
        "set_parameter": {"name": rng.choice((*points, "L1", "q")), "value": odd.scalar(rng)},
        "add_gears": {"between": [rng.choice(joints), rng.choice(joints)], "ratio": 2, "joints": [rng.choice(joints), rng.choice(joints)]},
    }
    pair = {"between": [rng.choice(points), rng.choice(points)]}
    return {"do": name, **known.get(name, pair)}
