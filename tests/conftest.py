"""What every test may rely on: no display, and random numbers that are the same in every run."""

from __future__ import annotations

import contextlib
import gc
import getpass
import importlib
import os
import signal
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import numpy as np

os.environ.setdefault("MPLBACKEND", "Agg")
# Python keeps what it compiles beside the sources (make clean removes it), also where the environment asks it not to: otherwise each
# of the hundred processes that tests start compiles the package again, a second or two every time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Workers share the cores already. numpy's library would share matrices of sixty rows as well, and spend most of its time waiting;
# it reads this when numpy is first imported, which is why nothing here does so.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# compiled code of all workers in one place that is not the user's; its key holds the source, so nothing stale is ever met
os.environ.setdefault("LINKWRIGHT_CACHE", str(Path(tempfile.gettempdir()) / f"linkwright-tests-{getpass.getuser()}"))

# Code is made in a third of the time; tests of the compiler and of kernels (their own conftest.py) and `make test-all` take the good one.
os.environ.setdefault("LINKWRIGHT_OPTIMIZATION", "0")

# A shell starts background jobs with interrupts ignored, and Python leaves it so: tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A worker holds some million objects (models, programs, traces); going through them as often as Python does takes a tenth of the time.
gc.set_threshold(200_000, 50, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for systems and environments that lack some of the packages."""
    parser.addoption("--installed", action="store_true", help="leave out, and name, files that need packages which are not installed")
    parser.addoption("--timing", action="store_true", help="say where processor time goes, and write it to build/test-times.csv")


def pytest_configure(config: pytest.Config) -> None:
    """Measure the processor time of every test, if that is asked for."""
    from tests.timing import Timing

    if config.getoption("timing"):
        config.pluginmanager.register(Timing(config.rootpath / "build" / "test-times.csv"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file out that cannot run here, if that is asked for; otherwise it fails."""
    from tests.installed import reason

    return True if config.getoption("installed") and reason(collection_path) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the files that were left out, and why."""
    from tests.installed import left_out

    if config.getoption("installed"):
        terminalreporter.section("left out")
        for path, why in left_out().items():
            terminalreporter.line(f"{path}: {why}")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin, of several workers, with an own share of the files. In a fresh clone pytest rewrites the assertions of each file, most of the
    time of collecting them: so each is rewritten by one worker, and found beside the sources by the others."""
    given = getattr(session.config, "workerinput", None)
    if given is None or list(session.config.args) != session.config.getini("testpaths"):
        return
    left_out = {Path(x).resolve() for x in session.config.getoption("ignore") or ()}
    found = sorted(Path(__file__).parent.rglob("test_*.py"))
    files = [x for x in found if x not in left_out and not pytest_ignore_collect(x, session.config)]
    for path in files[int(given["workerid"].removeprefix("gw")) :: given["workercount"]]:
        with contextlib.suppress(Exception):  # which collecting it reports
            importlib.import_module(".".join(path.relative_to(Path(__file__).parents[1]).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Take everything imported and collected out of the collector's sight."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print as into a file; parallel runs of the tests set a width."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def without_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports with empty pictures, in a third of the time: for tests of everything else; rings/studio/test_report.py has all."""
    from linkwright.rings.studio import report_figures, report_tolerances

    def figure(drawn: object, name: str, alt: str, caption: str = "") -> str:
        return f'<figure class="rp-figure"><svg role="img" id="{name}"></svg>{caption}</figure>'

    monkeypatch.setattr(report_figures, "figure", figure)
    monkeypatch.setattr(report_tolerances, "figure", figure)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the test's own name: independent of order, of workers and of other tests."""
    import numpy as np

    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
