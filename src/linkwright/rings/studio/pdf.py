"""A page as PDF, printed by the headless Chromium of this machine; without one the message says how to print by hand.

    print_pdf(html, "report.pdf")

The same page gives the same bytes with the same Chromium: its time stamps are taken out. `chromium` and `LAUNCH` are also what the tests
of the page, the pictures of the documentation and `linkwright bench page` use.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from linkwright.api import UsageError, files

PDF = (".pdf",)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
NOT_FOUND = (
    "no Chromium was found, and the page is only shown by a browser. Install Chromium or Chrome (`make browser` does so where "
    "apt-get may; on Debian: apt-get install chromium), or give its path: CHROMIUM=/path/to/chromium."
)
BY_HAND = (
    "a PDF is printed by Chromium, Chrome or Edge, and none was found here. Install one (Debian: apt-get install chromium), give its path, "
    "CHROMIUM=/path/to/chromium, or write the report as .html, open it in any browser and print it there into a PDF: only the sheets "
    "are printed."
)
# Containers lack what the sandbox needs, and little shared memory; nothing may call home; WebGL comes from software.
LAUNCH = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
)
_STAMP = re.compile(rb"/(?:CreationDate|ModDate) ?\([^)]*\)")
_NODE = re.compile(rb"\(node(\d{8})\)")
_CREATOR = re.compile(rb"/Creator ?\((?:\\.|[^)\\])*\)")


def chromium() -> str | None:
    """The program that shows pages: $CHROMIUM, the first known name on the path, or where other systems keep it."""
    named = os.environ.get("CHROMIUM", "")
    candidates = [shutil.which(named)] if named else [*(shutil.which(name) for name in NAMES), *PLACES]
    return next((str(x) for x in candidates if x and Path(x).is_file()), None)


def need_chromium() -> str:
    """Return the program that prints; raise UsageError that says how to do without where there is none."""
    program = chromium()
    if program is None:
        raise UsageError(BY_HAND)
    return program


def print_pdf(page: str, path: str | os.PathLike[str]) -> Path:
    """Print a page that needs no script into a PDF, atomically."""
    program = need_chromium()
    patience = 120.0  # s for a print; two sheets take one or two
    with tempfile.TemporaryDirectory(prefix="linkwright-print-") as place:
        source, target = Path(place, "report.html"), Path(place, "report.pdf")
        source.write_text(page, encoding="utf-8", newline="\n")
        command = [
            program, *LAUNCH, "--headless", "--disable-gpu", f"--user-data-dir={place}/profile", "--no-pdf-header-footer",
            f"--print-to-pdf={target}", source.as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, timeout=patience, check=False)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise UsageError(f"'{program}' could not print the report: {problem}. {BY_HAND}", name=program) from None
        if not target.is_file() or not target.stat().st_size:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise UsageError(f"'{program}' printed nothing{': ' + last[0][:200] if last else ''}. {BY_HAND}", name=program)
        content = _without_stamps(target.read_bytes())
    with files.replacing(path, PDF) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def _without_stamps(pdf: bytes) -> bytes:
    """The document without the time it was made, with Linkwright as its creator and names of its nodes that do not depend on how the
    browser laid the page out; every offset stays."""
    order = {name: k + 1 for k, name in enumerate(sorted(set(_NODE.findall(pdf))))}
    pdf = _NODE.sub(lambda m: b"(node%08d)" % order[m.group(1)], pdf)
    pdf = _STAMP.sub(lambda m: b" " * len(m.group()), pdf)
    own = f"/Creator ({files.OWNER})".encode()
    return _CREATOR.sub(lambda m: own.ljust(len(m.group())) if len(m.group()) >= len(own) else m.group(), pdf)
