"""A model's or run's files and the page built from them, again whenever they are saved.

Files are watched by their stamps (time, size, inode); they are read only when a stamp has changed and then stayed the same for a while.
Only regular files are read. The files that a model refers to are those of its last readable text.
"""

from __future__ import annotations

import contextlib
import hashlib
import html
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from linkwright.api import LinkwrightError, System, UsageError, files, modelfile
from linkwright.model.library.file_lookup import model_file
from linkwright.model.meshes.reading import MESHES
from linkwright.model.meshes.reading import MOST_BYTES as MOST_OF_A_MESH
from linkwright.rings.exchange import model_loading
from linkwright.rings.studio import live
from linkwright.system import load

LOOK = 0.2  # s between looks at the files
SETTLE = 0.3  # s a file must stay the same before it is read: editors write in pieces
GLANCE = 0.05  # s between looks while it settles
COARSE = 3.0  # s: clocks of some disks tick no finer, so a file as young as this is read again although its stamp is the same
LEAVE = 0.2  # s a build gets to end when the server stops; then it is left alone, as a daemon
SOURCES = (*MESHES, ".csv")  # endings of files a model may refer to


class Built(NamedTuple):
    """A page ready to be served, and the version it is."""

    version: str
    page: bytes
    problem: str  # "" if the model can be shown


class Subject:
    """A model's or run's file: the files it is made of, and the page made from them."""

    def __init__(self, source: str | os.PathLike[str], changes: dict[str, Any], steps: int | None = None):
        text = os.fspath(source)
        self.is_run = text.lower().endswith(files.RUNS)
        self.path = Path(text) if self.is_run else model_file(source)
        self.source, self.changes, self.steps = source, changes, steps
        if not self.path.is_file():
            raise UsageError(
                f"there is no file '{self.path}'. Give a built-in model's name, a YAML file, or a saved run (.npz, .parquet).",
                name=self.path,
            )
        if self.is_run and changes:
            raise UsageError(f"a saved run cannot be changed ({', '.join(changes)}). Change the model and simulate it again.", name="run")
        self.others: tuple[Path, ...] = ()
        self._scanned = b""  # digest of the text whose references are known

    def stamps(self) -> tuple[Any, ...]:
        """Time, size and inode of every file: all that a look at the folder costs."""
        return tuple(files.stamp(path) for path in (self.path, *self.others))

    def fingerprint(self) -> str:
        """A text that changes with the content of any of the files; also when one comes or goes. A run is known by its stamp."""
        digest = hashlib.sha256()
        if self.is_run:
            digest.update(repr(self.stamps()).encode())
            return digest.hexdigest()[:16]
        text = _content(self.path, modelfile.MOST_BYTES)
        known = hashlib.sha256(text).digest()
        if known != self._scanned:
            found = mentioned(self.path.parent, text)
            self.others, self._scanned = self.others if found is None else found, known
        for content in (text, *(_content(path, MOST_OF_A_MESH) for path in self.others)):
            digest.update(content + b"\0")
        return digest.hexdigest()[:16]

    def young(self) -> bool:
        """True if a file is so young that its next change might have the same stamp."""
        newest = max((s[0] for s in self.stamps() if s), default=0)
        return abs(time.time() - 1e-9 * newest) < COARSE

    def build(self, version: str) -> Built:
        """The page of the files as they are, or the page with the message why there is none."""
        reload = reload_path(version)
        try:
            if self.is_run:
                run = load.run(self.path)
                text = live.text(run.system, run=run, reload=reload, static=run.static)
            else:
                text = live.text(System(model_loading.description(self.source, **self.changes)), reload=reload, steps=self.steps)
            return Built(version, text.encode(), "")
        except LinkwrightError as problem:
            message = " ".join(str(problem).split())
        except Exception as problem:  # the server outlives whatever a half-written model can cause
            message = f"Linkwright itself failed on this model ({type(problem).__name__}: {problem}). Please report it with the model."
        return Built(version, live.error_text(self.path.name, message, reload=reload).encode(), message)


def reload_path(version: str) -> str:
    """Address at which a page asks for a newer version of itself, relative to its own."""
    return f"version?have={version}"


def with_problem(good: Built, version: str, message: str) -> Built:
    """The last page that could be built, with the message why there is no newer one."""
    banner = (
        f'<div id="problem" role="alert"><b>{html.escape(message)}</b> Shown is the last version that could be read; '
        "the page reloads when the file is saved again.</div>"
    )
    page = good.page.replace(reload_path(good.version).encode(), reload_path(version).encode())
    return Built(version, page.replace(b"<body>", b"<body>" + banner.encode(), 1), message)


def _content(path: Path, limit: int) -> bytes:
    try:
        return files.read_regular(path, limit)
    except LinkwrightError as problem:
        return f"unreadable: {problem}".encode()


def mentioned(folder: Path, text: bytes) -> tuple[Path, ...] | None:
    """Meshes and tables that a model's text refers to; None if it is no YAML."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = yaml.parse(text.decode("utf-8-sig"), Loader=loader)
        names = [e.value for e in events if isinstance(e, yaml.ScalarEvent) and e.value.lower().endswith(SOURCES)]
    except (UnicodeDecodeError, yaml.YAMLError):
        return None
    return tuple(dict.fromkeys(folder / name for name in names if "\0" not in name))


class Workshop:
    """Builds the page in its own thread whenever the files have changed and come to rest."""

    def __init__(self, subject: Subject, out: Callable[[str], Any]):
        self.subject, self.out = subject, out
        self.ready, self.stopped = threading.Event(), threading.Event()
        self.built: Built | None = None
        self.good: Built | None = None  # the last page without a problem
        self.thread = threading.Thread(target=self._work, name="linkwright page", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.stopped.set()
        if self.thread.is_alive():
            self.thread.join(LEAVE)

    def _work(self) -> None:
        seen: Any = None
        while not self.stopped.is_set():
            stamps = self.subject.stamps()
            if stamps != seen or (self.subject.young() and not self.subject.is_run):
                self._update()
                stamps = self.subject.stamps() if stamps == seen else stamps
            seen = stamps
            self.stopped.wait(LOOK)

    def _update(self) -> None:
        """Build what has changed, once it has stopped changing."""
        while self._settled():
            stamps = self.subject.stamps()
            version = self.subject.fingerprint()
            if self.built is not None and version == self.built.version:
                return
            began = time.perf_counter()
            made = self.subject.build(version)
            if self.stopped.is_set():
                return
            # a file that changed while it was read: half of it may have been read
            if self.built is None or not made.problem or self.subject.stamps()[:1] == stamps[:1]:
                self._publish(made, time.perf_counter() - began)
                return

    def _settled(self) -> bool:
        """Wait until the stamps stay the same for a while; false if the server stops. The first page does not wait."""
        if self.built is None:
            return not self.stopped.is_set()
        before, since = self.subject.stamps(), time.monotonic()
        while time.monotonic() - since < SETTLE:
            if self.stopped.wait(min(GLANCE, SETTLE)):
                return False
            now = self.subject.stamps()
            if now != before:
                before, since = now, time.monotonic()
        return True

    def _publish(self, made: Built, seconds: float) -> None:
        previous, name = self.built, self.subject.path.name
        if not made.problem:
            self.good = made
        self.built = with_problem(self.good, made.version, made.problem) if made.problem and self.good is not None else made
        self.ready.set()
        if made.problem:
            self._say(f"{name}: {made.problem}" if name not in made.problem else made.problem)
        elif previous is not None:
            self._say(f"{name}: built again in {seconds:.1f} s")

    def _say(self, text: str) -> None:
        """Print; a reader that has gone does not end the server."""
        with contextlib.suppress(OSError, ValueError):
            self.out(text)
