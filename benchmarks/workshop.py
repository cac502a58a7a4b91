"""A place to compile small programs for timing: the compilers, a directory for what they make, and running processes.

Everything made is stored in one directory, a temporary one unless given, under names that depend on sources and command, so
that a directory used again saves compiling again. Without a compiler `Unavailable` says so.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.bench.cases import Unavailable
from linkwright import files

NATIVE = Path(__file__).parent / "native"
COMPILERS = {"c": ("CC", ("gcc", "cc", "clang")), "c++": ("CXX", ("g++", "c++", "clang++"))}
LONGEST = 1200.0  # seconds a compiler may take


def version(package: str) -> str:
    """Version of an installed package, or `Unavailable`."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise Unavailable(f"the package '{package}' is not installed") from None


class Conversation:
    """A process that answers every line written to it with one line."""

    def __init__(self, command: Sequence[str]):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, line: str) -> list[float]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise Unavailable(f"the timing program ended at '{line}' with code {self.process.wait()}")
        return [float(x) for x in answer.split()]

    def close(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        if self.process.stdout:
            self.process.stdout.close()
        self.process.wait(timeout=60)


class Workshop:
    """Compiles, keeps and starts timing programs; a context manager that ends what it started."""

    def __init__(self, directory: str | os.PathLike[str] | None = None, say: Callable[[str], None] = lambda text: None):
        self._temporary = tempfile.TemporaryDirectory(prefix="linkwright-bench-") if directory is None else None
        self.directory = Path(self._temporary.name if self._temporary else directory or ".")
        self.directory.mkdir(parents=True, exist_ok=True)
        self.say = say  # reports long work
        self._open: list[Conversation] = []
        self._failed: dict[Path, str] = {}

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for talk in self._open:
            talk.close()
        if self._temporary:
            self._temporary.cleanup()

    def compiler(self, language: str) -> str:
        variable, names = COMPILERS[language]
        for name in (os.environ.get(variable, ""), *names):
            if name and shutil.which(name):
                return name
        raise Unavailable(f"no {language.upper()} compiler found ({', '.join(names)})")

    def build(
        self, language: str, sources: Sequence[Path], flags: Sequence[str], *, libraries: Sequence[str] = (), suffix: str = ""
    ) -> Path:
        """Compile `sources[0]` (the others only show when it has changed) unless the directory has the result already."""
        command = [self.compiler(language), *flags, str(sources[0])]
        key = hashlib.sha256("\0".join([*command, *libraries, *(s.read_text(encoding="utf-8") for s in sources)]).encode())
        target = self.directory / f"{sources[0].stem}-{key.hexdigest()[:16]}{suffix}"
        if target in self._failed:
            raise Unavailable(self._failed[target])
        if not target.exists():
            if language == "c++":
                self.say(f"compiling {sources[0].name} against C++ headers, which takes a minute or two ...")
            with files.atomic(target, durable=False) as part:
                done = subprocess.run([*command, "-o", str(part), *libraries], capture_output=True, text=True, timeout=LONGEST)
                if done.returncode:
                    errors = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
                    self._failed[target] = f"{sources[0].name} does not compile: {errors[0][:300]}"
                    raise Unavailable(self._failed[target])
        return target

    def library(self, source: Path, flags: Sequence[str]) -> ctypes.CDLL:
        """A C file as a shared library in this process."""
        return ctypes.CDLL(str(self.build("c", [source], [*flags, "-shared", "-fPIC"], libraries=["-lm"], suffix=".so")))

    def timing_loop(self, name: str) -> Any:
        """A function of native/timing_loop.c: (function, pointer, pointer, seconds) -> nanoseconds of one call."""
        loop = getattr(self.library(NATIVE / "timing_loop.c", ["-O2"]), name)
        loop.restype, loop.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double]
        return loop

    def talk(self, command: Sequence[str]) -> Conversation:
        talk = Conversation(command)
        self._open.append(talk)
        return talk
